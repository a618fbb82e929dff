/* Cases for one of CXSparse's four forms: CS_LONG and CS_COMPLEX say which, as they do for cs.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cs.h>

#include "csparse_cases.h"
#include "csparse_types.h"

#ifdef CS_COMPLEX
#define NUMBERS "complex"
#define ENTRY(real, imaginary) ((real) + (imaginary)*I)
#else
#define NUMBERS "real"
#define ENTRY(real, imaginary) (real)
#endif
#ifdef CS_LONG
#define INTEGERS "long"
#else
#define INTEGERS "int"
#endif
#define CASES CS_NAME(_cases)

/* The library's own four, in its place: it calls them by their public names. */
void *cs_malloc(CS_INT count, size_t bytes)
{
    return pool_allocate((size_t)CS_MAX(count, 1) * bytes);
}

void *cs_calloc(CS_INT count, size_t bytes)
{
    return pool_allocate_zeros((size_t)CS_MAX(count, 1), bytes);
}

void *cs_realloc(void *block, CS_INT count, size_t bytes, CS_INT *ok)
{
    void *moved = pool_reallocate(block, (size_t)CS_MAX(count, 1) * bytes);
    *ok = moved != NULL;
    return moved ? moved : block;
}

void *cs_free(void *block)
{
    pool_release(block);
    return NULL;
}

static int types_open(void)
{
    return check_call(HAUL_DESCRIBE(types_context(), structs), types_context(), "describing");
}

static void types_close(void)
{
    HAUL_FORGET(structs);
}

/* ---- Building. */

static cs *make_triplets(const entries *e)
{
    cs *t = cs_spalloc((CS_INT)e->rows, (CS_INT)e->columns, 1, 1, 1);
    size_t k;
    for (k = 0; k < e->count; k++) {
        cs_entry(t, e->row[k], e->column[k], ENTRY(e->real[k], e->imaginary[k]));
        if (e->is_lower && e->row[k] != e->column[k])
            cs_entry(t, e->column[k], e->row[k], ENTRY(e->real[k], -e->imaginary[k]));
    }
    return t;
}

typedef enum method { CHOLESKY, LU, QR, METHODS } method;
static const char *const method_names[] = { "Cholesky", "LU", "QR" };

static solver *make_solver(const entries *e, method m)
{
    solver *s = pool_allocate_zeros(1, sizeof *s);
    CS_INT i;
    s->triplets = make_triplets(e);
    s->A = cs_compress(s->triplets);
    cs_dupl(s->A);
    s->S = m == CHOLESKY ? cs_schol(1, s->A) : cs_sqr(m == LU ? 2 : 3, s->A, m == QR);
    s->N = m == CHOLESKY ? cs_chol(s->A, s->S)
           : m == LU     ? cs_lu(s->A, s->S, 1e-3)
                         : cs_qr(s->A, s->S);
    s->D = cs_dmperm(s->A, 0);
    s->b = pool_allocate((size_t)s->A->m * sizeof *s->b);
    for (i = 0; i < s->A->m; i++)
        s->b[i] = ENTRY(1 + (double)(i % 17) / 16, (double)(i % 5) / 4);
    check(s->S && s->N && s->N->L && s->D, "the original is factored");
    return s;
}

/* ---- What the library does, with the original and with the copy. */

typedef struct work {
    solver *s;
    method m;
    int is_right;
    double norm;
    size_t rows;                    /* of all three: enough for b and x */
    CS_ENTRY *x, *direct, *product; /* A x = b by the factors; by factoring again; A x */
    cs *compressed, *blocks, *turned;
} work;

static void solve_cholesky(const solver *s, CS_ENTRY *x, CS_ENTRY *t)
{
    cs_ipvec(s->S->pinv, s->b, t, s->A->n);
    cs_lsolve(s->N->L, t);
    cs_ltsolve(s->N->L, t);
    cs_pvec(s->S->pinv, t, x, s->A->n);
}

static void solve_lu(const solver *s, CS_ENTRY *x, CS_ENTRY *t)
{
    cs_ipvec(s->N->pinv, s->b, t, s->A->n);
    cs_lsolve(s->N->L, t);
    cs_usolve(s->N->U, t);
    cs_ipvec(s->S->q, t, x, s->A->n);
}

static void solve_qr(const solver *s, CS_ENTRY *x, CS_ENTRY *t)
{
    CS_INT k;
    cs_ipvec(s->S->pinv, s->b, t, s->A->m);
    for (k = 0; k < s->A->n; k++)
        cs_happly(s->N->L, k, s->N->B[k], t);
    cs_usolve(s->N->U, t);
    cs_ipvec(s->S->q, t, x, s->A->n);
}

static void solve(void *argument)
{
    static void (*const by_factors[])(const solver *, CS_ENTRY *,
                                      CS_ENTRY *) = { solve_cholesky, solve_lu, solve_qr };
    work *w = argument;
    const solver *s = w->s;
    CS_ENTRY *t;
    w->rows = (size_t)(CS_MAX(s->A->m, s->A->n) + s->S->m2);
    w->x = calloc(w->rows, sizeof *w->x);
    w->direct = calloc(w->rows, sizeof *w->x);
    w->product = calloc(w->rows, sizeof *w->x);
    t = calloc(w->rows, sizeof *t);
    by_factors[w->m](s, w->x, t);
    memcpy(w->direct, s->b, (size_t)s->A->m * sizeof *t);
    w->is_right = w->m == CHOLESKY ? (int)cs_cholsol(1, s->A, w->direct)
                  : w->m == LU     ? (int)cs_lusol(2, s->A, w->direct, 1e-3)
                                   : (int)cs_qrsol(3, s->A, w->direct);
    w->is_right = w->is_right && cs_gaxpy(s->A, w->x, w->product);
    w->norm = cs_norm(s->A);
    free(t);
}

static void rearrange(void *argument)
{
    work *w = argument;
    const solver *s = w->s;
    CS_INT *inverse = cs_pinv(s->D->p, s->A->m);
    w->compressed = cs_compress(s->triplets);
    cs_dupl(w->compressed);
    w->blocks = cs_permute(s->A, inverse, s->D->q, 1);
    w->turned = cs_transpose(s->A, 1);
    cs_free(inverse);
}

/* In place: A by 1.25; L of A with one more diagonal entry (Cholesky), U or R by 1.25. */
typedef struct change_of {
    cs *a, *l, *u;
    const CS_INT *parent;
    int is_right;
} change_of;

static void scale(cs *a)
{
    CS_INT k;
    for (k = 0; k < a->nzmax; k++)
        a->x[k] *= 1.25;
}

static void change(void *argument)
{
    change_of *c = argument;
    cs *column;
    c->is_right = 1;
    scale(c->a);
    if (c->u) {
        scale(c->u);
        return;
    }
    column = cs_spalloc(c->l->n, 1, 1, 1, 0);
    column->p[0] = 0;
    column->p[1] = 1;
    column->i[0] = c->l->n / 2;
    column->x[0] = 0.5;
    c->is_right = (int)cs_updown(c->l, 1, column, c->parent);
    cs_spfree(column);
}

/* ---- Comparing. */

static int same_matrix(const cs *a, const cs *b)
{
    size_t n, count;
    if (!a || !b || a->m != b->m || a->n != b->n || a->nz != b->nz)
        return 0;
    n = (size_t)a->n;
    count = (size_t)a->p[n];
    return memcmp(a->p, b->p, (n + 1) * sizeof *a->p) == 0 &&
           memcmp(a->i, b->i, count * sizeof *a->i) == 0 &&
           memcmp(a->x, b->x, count * sizeof *a->x) == 0;
}

static void check_solved(const work *w)
{
    double most = 0;
    size_t i;
    check(w->is_right, "the library is content with the original");
    for (i = 0; w->m != QR && i < (size_t)w->s->A->m; i++)
        most = fmax(most, CS_ABS(w->product[i] - w->s->b[i]));
    for (i = 0; i < (size_t)w->s->A->n; i++)
        most = fmax(most, CS_ABS(w->x[i] - w->direct[i]));
    check(most < 1e-6, "A x is b, but for %g", most);
}

static void check_same_solution(const work *there, const work *here)
{
    size_t bytes = here->rows * sizeof *here->x;
    check(there->is_right && there->rows == here->rows, "the library is content with the copy");
    check(memcmp(there->x, here->x, bytes) == 0,
          "the solutions by the factors are the same, bit for bit");
    check(memcmp(there->direct, here->direct, bytes) == 0,
          "the solutions from A alone are the same, bit for bit");
    check(memcmp(there->product, here->product, bytes) == 0,
          "the products are the same, bit for bit");
    check(memcmp(&there->norm, &here->norm, sizeof(double)) == 0, "norms: %g and %g", there->norm,
          here->norm);
}

static void check_same_arrangements(const work *there, const work *here)
{
    check(same_matrix(there->compressed, here->compressed), "the triplets make the same matrix");
    check(same_matrix(there->blocks, here->blocks), "the matrices in blocks are the same");
    check(same_matrix(there->turned, here->turned), "the transposed matrices are the same");
}

static void work_free(work *w)
{
    free(w->x);
    free(w->direct);
    free(w->product);
    cs_spfree(w->compressed);
    cs_spfree(w->blocks);
    cs_spfree(w->turned);
}

/* cs_amd, cs_vcount and cs_dalloc take more than their results need. */
static int has_room_to_spare(const char *path)
{
    static const char *const known[] = { "S.q[0]", "S.pinv[0]", "D.r[0]", "D.s[0]" };
    size_t i, length = strlen(path), end;
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        end = strlen(known[i]);
        if (length >= end && strcmp(path + length - end, known[i]) == 0)
            return 1;
    }
    return 0;
}

/* Nothing but that, and hints at rows that these objects do not use. */
static void check_audit(const haul_root *roots, size_t count, int all_rows_are_used)
{
    findings f;
    size_t i;
    if (!audit(roots, count, NULL, 1, &f))
        return;
    for (i = 0; i < f.count && i < FINDINGS; i++)
        check((f.found[i].kind == HAUL_AUDIT_UNUSED_FIELD && !all_rows_are_used) ||
                  (f.found[i].kind == HAUL_AUDIT_LITTLE_OF_BLOCK &&
                   has_room_to_spare(f.found[i].path)),
              "%s: %s", f.found[i].path, f.found[i].text);
    check(f.count <= FINDINGS && f.summary.blocks > 10, "%zu findings in %zu blocks", f.count,
          f.summary.blocks);
}

/* ---- A solver as one root. */

static void change_and_return(passage *p, const solver *here)
{
    change_of copy, clone;
    memset(&copy, 0, sizeof copy);
    memset(&clone, 0, sizeof clone);
    clone.a = cs_permute(here->A, NULL, NULL, 1);
    clone.l = cs_permute(here->N->L, NULL, NULL, 1);
    clone.u = here->N->U ? cs_permute(here->N->U, NULL, NULL, 1) : NULL;
    clone.parent = here->S->parent;
    change(&clone);
    copy.a = haul_device_pointer(p->shipment, here->A);
    copy.l = haul_device_pointer(p->shipment, here->N->L);
    copy.u = haul_device_pointer(p->shipment, here->N->U);
    copy.parent = haul_device_pointer(p->shipment, here->S->parent);
    if (passage_work(p, change, &copy) && passage_return(p)) {
        check(copy.is_right && clone.is_right, "the change is made");
        check(same_matrix(here->A, clone.a),
              "A has come back as the library changes a clone of it");
        check(same_matrix(here->N->L, clone.l),
              "L has come back as the library changes a clone of it");
        check(!clone.u || same_matrix(here->N->U, clone.u),
              "U has come back as a clone of it is changed");
    }
    cs_spfree(clone.a);
    cs_spfree(clone.l);
    cs_spfree(clone.u);
}

static void solver_case(const entries *e, const char *what, method m)
{
    haul_root root;
    passage p;
    work here, there;
    case_begin("CXSparse %s, %s, %s, %s of %zu x %zu", NUMBERS, INTEGERS, method_names[m], what,
               e->rows, e->columns);
    memset(&here, 0, sizeof here);
    here.m = m;
    there = here;
    pool_open();
    here.s = make_solver(e, m);
    root = (haul_root){ here.s, solver_type, 1 };
    pool_shut();
    solve(&here);
    rearrange(&here);
    check_solved(&here);
    check_audit(&root, 1, 0);
    if (passage_open(&p, &root, 1, NULL)) {
        there.s = haul_device_pointer(p.shipment, here.s);
        if (passage_work(&p, solve, &there))
            check_same_solution(&there, &here);
        if (passage_work(&p, rearrange, &there))
            check_same_arrangements(&there, &here);
        change_and_return(&p, here.s);
        passage_close(&p);
    }
    work_free(&there);
    work_free(&here);
    pool_empty();
    case_end();
}

/* ---- Its parts as roots of their own: counts come from the context's argument. */

static void parts_case(const entries *e, method m)
{
    haul_root roots[4];
    passage p;
    solver parts;
    work here, there;
    case_begin("CXSparse %s, %s, %s, four roots", NUMBERS, INTEGERS, method_names[m]);
    memset(&here, 0, sizeof here);
    memset(&parts, 0, sizeof parts);
    here.m = m;
    there = here;
    pool_open();
    here.s = make_solver(e, m);
    roots[0] = (haul_root){ here.s->A, cs_type, 1 };
    roots[1] = (haul_root){ here.s->S, css_type, 1 };
    roots[2] = (haul_root){ here.s->N, csn_type, 1 };
    roots[3] = (haul_root){ here.s->b, entry_type, (size_t)here.s->A->m };
    pool_shut();
    solve(&here);
    check_solved(&here);
    if (passage_open(&p, roots, 4, here.s->A)) {
        parts.A = haul_device_pointer(p.shipment, here.s->A);
        parts.S = haul_device_pointer(p.shipment, here.s->S);
        parts.N = haul_device_pointer(p.shipment, here.s->N);
        parts.b = haul_device_pointer(p.shipment, here.s->b);
        there.s = &parts;
        if (passage_work(&p, solve, &there))
            check_same_solution(&there, &here);
        passage_close(&p);
    }
    work_free(&there);
    work_free(&here);
    pool_empty();
    case_end();
}

/* ---- Descriptions that are wrong, and those that are right, all in one audit. */

static haul_type *cs_type_with(const haul_field *row)
{
    haul_type *type = NULL;
    haul_field fields[CS_ROWS];
    size_t i, count = 0;
    for (i = 0; i < CS_ROWS; i++)
        if (strcmp(cs_rows[i].name, row->name) != 0)
            fields[count++] = cs_rows[i];
    fields[count++] = *row;
    {
        const haul_struct what = { .name = "cs",
                                   .bytes = sizeof(cs),
                                   .type = &type,
                                   .fields = fields,
                                   .field_count = count,
                                   .field_bytes = sizeof *fields };
        check_call(haul_describe(types_context(), &what, 1), types_context(), "describing");
    }
    return type;
}

static void told_with(cs *a, const haul_field *row, haul_audit_kind kind, const char *path,
                      const char *format, size_t described, size_t block)
{
    haul_type *type = cs_type_with(row);
    haul_root root = { a, NULL, 1 };
    char words[160];
    root.type = type;
    snprintf(words, sizeof words, format, described, block);
    check_audit_tells(&root, 1, kind, path, words);
    haul_type_free(&type);
}

static void wrong_matrices(const entries *e)
{
    static const haul_field always_columns = HAUL_ARRAY(cs, p, HAUL_COUNT_PLUS(cs, n, 1));
    static const haul_field always_entries = HAUL_ARRAY(cs, p, HAUL_COUNT(cs, nzmax));
    static const haul_field no_last = HAUL_ARRAY(cs, p, HAUL_COUNT(cs, n));
    static const haul_field always_numbers = HAUL_ARRAY(cs, x, HAUL_COUNT(cs, nzmax));
    static const char part[] = "only the first %zu bytes of its block of %zu are described";
    static const char beyond[] = "described as %zu bytes, but its block of %zu bytes ends";
    cs *t, *a, *pattern;
    haul_type *type;
    haul_root root;
    size_t columns_bytes, entries_bytes, triplet_bytes;
    case_begin("CXSparse %s, %s, wrong: counts of p, x in a pattern", NUMBERS, INTEGERS);
    pool_open();
    t = make_triplets(e);
    a = cs_compress(t);
    pattern = cs_transpose(a, 0);
    columns_bytes = (size_t)(a->n + 1) * sizeof *a->p;
    entries_bytes = (size_t)a->nzmax * sizeof *a->p;
    triplet_bytes = (size_t)t->nzmax * sizeof *a->p;
    told_with(t, &always_columns, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.p[0]", part, columns_bytes,
              triplet_bytes);
    told_with(a, &always_entries, HAUL_AUDIT_BEYOND_BLOCK, "root.p[0]", beyond, entries_bytes,
              columns_bytes);
    told_with(a, &no_last, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.p[0]", part,
              columns_bytes - sizeof *a->p, columns_bytes);
    type = cs_type_with(&always_numbers);
    root = (haul_root){ pattern, type, 1 };
    check_refused(&root, 1, "root.x", NULL, "a NULL pointer with count");
    haul_type_free(&type);
    pool_empty();
    case_end();
}

/* csn without U, which another root leads to; and QR's tree as long as the matrix has rows. */
static void wrong_factors(const entries *flow, const entries *tall)
{
    static haul_type *wrong_csn, *wrong_css;
    static const haul_field without_u[] = { HAUL_OBJECT(csn, L, &cs_type),
                                            HAUL_ARRAY(csn, pinv, HAUL_COUNT_FN(columns)),
                                            HAUL_ARRAY(csn, B, HAUL_COUNT_FN(columns)) };
    static const haul_field by_rows[] = { HAUL_ARRAY(css, parent, HAUL_COUNT_FN(rows)) };
    static const haul_field solver_fields[] = { HAUL_OBJECT(solver, A, &cs_type),
                                                HAUL_OBJECT(solver, S, &wrong_css),
                                                HAUL_OBJECT(solver, N, &wrong_csn) };
    static haul_type *type;
    static const haul_struct wrong[] = { HAUL_STRUCT(csn, &wrong_csn, without_u),
                                         HAUL_STRUCT(css, &wrong_css, by_rows),
                                         HAUL_STRUCT(solver, &type, solver_fields) };
    haul_root roots[2];
    solver *s;
    char words[160];
    case_begin("CXSparse %s, %s, wrong: U forgotten, the tree by rows", NUMBERS, INTEGERS);
    check_call(HAUL_DESCRIBE(types_context(), wrong), types_context(), "describing");
    pool_open();
    s = make_solver(flow, LU);
    roots[0] = (haul_root){ s, type, 1 };
    roots[1] = (haul_root){ s->N->U, cs_type, 1 };
    check_audit_tells(roots, 2, HAUL_AUDIT_HIDDEN_POINTER, "roots[0].N+8",
                      "no field describes this pointer");
    pool_open();
    s = make_solver(tall, QR);
    roots[0].address = s;
    snprintf(words, sizeof words, "described as %zu bytes, but its block of %zu bytes ends",
             (size_t)s->A->m * sizeof(CS_INT), (size_t)s->A->n * sizeof(CS_INT));
    check_audit_tells(roots, 1, HAUL_AUDIT_BEYOND_BLOCK, "root.S.parent[0]", words);
    HAUL_FORGET(wrong);
    pool_empty();
    case_end();
}

static void audit_case(const csparse_inputs *in)
{
    haul_root roots[METHODS];
    const entries *from[METHODS];
    int m;
    case_begin("CXSparse %s, %s, an audit of all methods at once: every row is used", NUMBERS,
               INTEGERS);
    from[CHOLESKY] = from[LU] = &in->small;
    from[QR] = &in->tall;
    pool_open();
    for (m = 0; m < METHODS; m++)
        roots[m] = (haul_root){ make_solver(from[m], (method)m), solver_type, 1 };
    check_audit(roots, METHODS, 1);
    pool_empty();
    case_end();
}

void CASES(const csparse_inputs *in)
{
    const entries *definite = sizeof(CS_ENTRY) > sizeof(double) ? &in->field : &in->definite;
    if (types_open()) {
        solver_case(definite, "a square", CHOLESKY);
        solver_case(&in->random, "a random one", CHOLESKY);
        solver_case(&in->flow, "a flow", LU);
        solver_case(&in->tall, "a gradient", QR);
        if (in->definite_file.rows)
            solver_case(&in->definite_file, "a file", CHOLESKY);
        if (in->file.rows)
            solver_case(&in->file, "a file", LU);
        if (in->file.rows)
            solver_case(&in->file, "a file", QR);
        parts_case(definite, CHOLESKY);
        parts_case(&in->flow, LU);
        parts_case(&in->tall, QR);
        wrong_matrices(&in->small);
        wrong_factors(&in->small, &in->tall);
        audit_case(in);
    }
    types_close();
}
