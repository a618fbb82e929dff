/* Cases for one of CHOLMOD's two libraries: compiled with CASES_LONG it is the one with long
 * integers.
 *
 * Every case builds objects in the pool with the library's own functions, ships them as roots of
 * one graph, and lets the library check and use the copy while the original is out of reach. What
 * comes out must be, bit for bit, what the same function makes of the original. Then values are
 * changed on the copy, brought back, and compared with the same change of a clone.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cholmod_cases.h"
#include "cholmod_types.h"

#ifdef CASES_LONG
#define CALL(function) cholmod_l_##function
#define CASES cholmod_cases_long
#define LIBRARY "long"
typedef SuiteSparse_long integer;
#else
#define CALL(function) cholmod_##function
#define CASES cholmod_cases_int
#define LIBRARY "int"
typedef int integer;
#endif

static const char *const number_names[] = { "pattern", "real", "complex", "zomplex" };

/* ---- Are two objects the same? */

static size_t number_bytes(int xtype)
{
    return xtype == CHOLMOD_PATTERN   ? 0
           : xtype == CHOLMOD_COMPLEX ? 2 * sizeof(double)
                                      : sizeof(double);
}

static int same(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || (a && b && memcmp(a, b, bytes) == 0);
}

static int same_dense(const cholmod_dense *a, const cholmod_dense *b)
{
    return a && b && a->nrow == b->nrow && a->ncol == b->ncol && a->d == b->d &&
           a->xtype == b->xtype && same(a->x, b->x, a->nzmax * number_bytes(a->xtype)) &&
           (a->xtype != CHOLMOD_ZOMPLEX || same(a->z, b->z, a->nzmax * sizeof(double)));
}

static const unsigned char *number_at(const void *numbers, integer i, int xtype)
{
    return (const unsigned char *)numbers + (size_t)i * number_bytes(xtype);
}

/* `count` entries of both, from a's place p and b's place q on. */
static int same_entries(const void *ai, const void *ax, const void *az, integer p, const void *bi,
                        const void *bx, const void *bz, integer q, integer count, int xtype)
{
    size_t n = (size_t)count;
    return same((const integer *)ai + p, (const integer *)bi + q, n * sizeof(integer)) &&
           (xtype == CHOLMOD_PATTERN ||
            same(number_at(ax, p, xtype), number_at(bx, q, xtype), n * number_bytes(xtype))) &&
           (xtype != CHOLMOD_ZOMPLEX ||
            same((const double *)az + p, (const double *)bz + q, n * sizeof(double)));
}

static integer column_count(const cholmod_sparse *a, size_t j)
{
    const integer *p = a->p, *nz = a->nz;
    return a->packed ? p[j + 1] - p[j] : nz[j];
}

static int same_sparse(const cholmod_sparse *a, const cholmod_sparse *b)
{
    size_t j;
    if (!a || !b || a->nrow != b->nrow || a->ncol != b->ncol || a->stype != b->stype ||
        a->xtype != b->xtype)
        return 0;
    for (j = 0; j < a->ncol; j++)
        if (column_count(a, j) != column_count(b, j) ||
            !same_entries(a->i, a->x, a->z, ((integer *)a->p)[j], b->i, b->x, b->z,
                          ((integer *)b->p)[j], column_count(a, j), a->xtype))
            return 0;
    return 1;
}

static int same_simplicial(const cholmod_factor *a, const cholmod_factor *b)
{
    const integer *nz = a->nz;
    size_t j;
    if (!same(a->nz, b->nz, a->n * sizeof(integer)) ||
        !same(a->next, b->next, (a->n + 2) * sizeof(integer)) ||
        !same(a->prev, b->prev, (a->n + 2) * sizeof(integer)))
        return 0;
    for (j = 0; j < a->n; j++)
        if (!same_entries(a->i, a->x, a->z, ((integer *)a->p)[j], b->i, b->x, b->z,
                          ((integer *)b->p)[j], nz[j], a->xtype))
            return 0;
    return 1;
}

static int same_supernodal(const cholmod_factor *a, const cholmod_factor *b)
{
    size_t bytes = (a->nsuper + 1) * sizeof(integer);
    return a->nsuper == b->nsuper && a->ssize == b->ssize && a->xsize == b->xsize &&
           same(a->super, b->super, bytes) && same(a->pi, b->pi, bytes) &&
           same(a->px, b->px, bytes) && same(a->s, b->s, a->ssize * sizeof(integer)) &&
           same(a->x, b->x, a->xsize * number_bytes(a->xtype));
}

static int same_factor(const cholmod_factor *a, const cholmod_factor *b)
{
    if (!a || !b || a->n != b->n || a->minor != b->minor || a->xtype != b->xtype ||
        a->is_ll != b->is_ll || a->is_super != b->is_super ||
        !same(a->Perm, b->Perm, a->n * sizeof(integer)) ||
        !same(a->ColCount, b->ColCount, a->n * sizeof(integer)))
        return 0;
    if (a->is_super)
        return same_supernodal(a, b);
    return a->xtype == CHOLMOD_PATTERN || same_simplicial(a, b);
}

/* No array has moved. */
static int same_places(const cholmod_factor *a, const cholmod_factor *b)
{
    return a->Perm == b->Perm && a->p == b->p && a->i == b->i && a->x == b->x && a->z == b->z &&
           a->nz == b->nz && a->next == b->next && a->prev == b->prev && a->super == b->super &&
           a->pi == b->pi && a->px == b->px && a->s == b->s;
}

/* ---- Building. */

static cholmod_triplet *make_triplet(const entries *e, int xtype, cholmod_common *c)
{
    cholmod_triplet *t =
        CALL(allocate_triplet)(e->rows, e->columns, e->count, e->is_lower ? -1 : 0, xtype, c);
    size_t k;
    for (k = 0; k < e->count; k++) {
        ((integer *)t->i)[k] = e->row[k];
        ((integer *)t->j)[k] = e->column[k];
        if (xtype == CHOLMOD_REAL || xtype == CHOLMOD_ZOMPLEX)
            ((double *)t->x)[k] = e->real[k];
        if (xtype == CHOLMOD_ZOMPLEX)
            ((double *)t->z)[k] = e->imaginary[k];
        if (xtype == CHOLMOD_COMPLEX) {
            ((double *)t->x)[2 * k] = e->real[k];
            ((double *)t->x)[2 * k + 1] = e->imaginary[k];
        }
    }
    t->nnz = e->count;
    return t;
}

static cholmod_sparse *make_sparse(const entries *e, int xtype, cholmod_common *c)
{
    cholmod_triplet *t = make_triplet(e, xtype, c);
    cholmod_sparse *a = CALL(triplet_to_sparse)(t, 0, c);
    CALL(free_triplet)(&t, c);
    return a;
}

/* Two columns, with three unused rows between them. */
static cholmod_dense *make_dense(size_t rows, int xtype, cholmod_common *c)
{
    cholmod_dense *b = CALL(allocate_dense)(rows, 2, rows + 3, xtype, c);
    size_t count = b->nzmax * number_bytes(xtype) / sizeof(double), k;
    for (k = 0; k < count; k++)
        ((double *)b->x)[k] = 1 + (double)(k % 17) / 16;
    for (k = 0; xtype == CHOLMOD_ZOMPLEX && k < b->nzmax; k++)
        ((double *)b->z)[k] = (double)(k % 5) / 4;
    return b;
}

typedef struct variant {
    const char *name;
    int supernodal, is_ll, is_numeric;
} variant;

static const variant variants[] = {
    { "simplicial LL'", CHOLMOD_SIMPLICIAL, 1, 1 },
    { "simplicial LDL'", CHOLMOD_SIMPLICIAL, 0, 1 },
    { "supernodal LL'", CHOLMOD_SUPERNODAL, 1, 1 },
    { "simplicial symbolic", CHOLMOD_SIMPLICIAL, 1, 0 },
    { "supernodal symbolic", CHOLMOD_SUPERNODAL, 1, 0 },
};
enum { LL, LDL, SUPER, SYMBOLIC, SUPER_SYMBOLIC, VARIANTS };

static cholmod_factor *make_factor(cholmod_sparse *a, const variant *v, cholmod_common *c)
{
    cholmod_factor *l;
    c->supernodal = v->supernodal;
    c->final_ll = v->is_ll;
    l = CALL(analyze)(a, c);
    if (v->is_numeric)
        CALL(factorize)(a, l, c);
    check(c->status == CHOLMOD_OK, "the original is factorized: status %d", c->status);
    check(l->is_super == (v->supernodal == CHOLMOD_SUPERNODAL) &&
              (l->xtype != CHOLMOD_PATTERN) == v->is_numeric &&
              (l->is_super || !v->is_numeric || l->is_ll == v->is_ll),
          "the factor is %s", v->name);
    return l;
}

/* ---- What the library does, with the original and with the copy. */

typedef struct work {
    cholmod_sparse *a;
    cholmod_factor *l;
    cholmod_dense *b;
    int is_right; /* to check_* and to all else that was called */
    double norm;
    cholmod_dense *x, *again; /* A x = b, and A x */
    cholmod_factor *twin;     /* of l, by the library */
} work;

static void start(cholmod_common *c, int xtype)
{
    CALL(start)(c);
    c->print = 0;
    c->prefer_zomplex = xtype == CHOLMOD_ZOMPLEX;
}

static cholmod_dense *product(cholmod_sparse *a, int transposed, cholmod_dense *x,
                              cholmod_common *c)
{
    double one[2] = { 1, 0 }, zero[2] = { 0, 0 };
    cholmod_dense *y = CALL(zeros)(transposed ? a->ncol : a->nrow, x->ncol, a->xtype, c);
    CALL(sdmult)(a, transposed, one, zero, x, y, c);
    return y;
}

/* A x, or A A' x if A is not symmetric: what L is a factor of. */
static cholmod_dense *system_times(cholmod_sparse *a, cholmod_dense *x, cholmod_common *c)
{
    cholmod_dense *t, *y;
    if (a->stype)
        return product(a, 0, x, c);
    t = product(a, 1, x, c);
    y = product(a, 0, t, c);
    CALL(free_dense)(&t, c);
    return y;
}

static void solve(void *argument)
{
    work *w = argument;
    cholmod_common c;
    cholmod_factor *l = w->l;
    start(&c, w->a->xtype);
    w->is_right =
        CALL(check_sparse)(w->a, &c) && CALL(check_factor)(w->l, &c) && CALL(check_dense)(w->b, &c);
    w->norm = CALL(norm_sparse)(w->a, 1, &c);
    w->twin = CALL(copy_factor)(w->l, &c);
    if (l->xtype == CHOLMOD_PATTERN) {
        l = CALL(copy_factor)(w->l, &c);
        CALL(factorize)(w->a, l, &c);
    }
    w->x = CALL(solve)(CHOLMOD_A, l, w->b, &c);
    w->again = w->x ? system_times(w->a, w->x, &c) : NULL;
    if (l != w->l)
        CALL(free_factor)(&l, &c);
    w->is_right = w->is_right && c.status == CHOLMOD_OK;
    CALL(finish)(&c);
}

/* In place: A by 1.25 (by the library where it is real); L of the new A (supernodal), of A with one
 * more diagonal entry (real LDL'), or scaled as well. */
static void scale(void *numbers, size_t count)
{
    size_t k;
    for (k = 0; k < count; k++)
        ((double *)numbers)[k] *= 1.25;
}

static void change_matrix(cholmod_sparse *a, cholmod_common *c)
{
    cholmod_dense *factor;
    if (a->xtype != CHOLMOD_REAL) {
        scale(a->x, a->nzmax * number_bytes(a->xtype) / sizeof(double));
        if (a->xtype == CHOLMOD_ZOMPLEX)
            scale(a->z, a->nzmax);
        return;
    }
    factor = CALL(ones)(1, 1, CHOLMOD_REAL, c);
    *(double *)factor->x = 1.25;
    CALL(scale)(factor, CHOLMOD_SCALAR, a, c);
    CALL(free_dense)(&factor, c);
}

/* A column with one entry, which the update of a factor takes in its own order of rows. */
static cholmod_sparse *one_entry(size_t rows, size_t row, cholmod_common *c)
{
    cholmod_sparse *column = CALL(allocate_sparse)(rows, 1, 1, 1, 1, 0, CHOLMOD_REAL, c);
    ((integer *)column->p)[0] = 0;
    ((integer *)column->p)[1] = 1;
    ((integer *)column->i)[0] = (integer)row;
    ((double *)column->x)[0] = 0.5;
    return column;
}

static void change_factor(cholmod_factor *l, cholmod_sparse *a, cholmod_common *c)
{
    cholmod_sparse *column;
    if (l->is_super) {
        CALL(factorize)(a, l, c);
    } else if (!l->is_ll && l->xtype == CHOLMOD_REAL) {
        column = one_entry(l->n, l->n / 2, c);
        CALL(updown)(1, column, l, c);
        CALL(free_sparse)(&column, c);
    } else {
        scale(l->x, l->nzmax * number_bytes(l->xtype) / sizeof(double));
        if (l->xtype == CHOLMOD_ZOMPLEX)
            scale(l->z, l->nzmax);
    }
}

static void change(void *argument)
{
    work *w = argument;
    cholmod_factor before = *w->l;
    cholmod_common c;
    start(&c, w->a->xtype);
    change_matrix(w->a, &c);
    if (w->l->xtype != CHOLMOD_PATTERN)
        change_factor(w->l, w->a, &c);
    w->is_right = c.status == CHOLMOD_OK && same_places(&before, w->l);
    CALL(finish)(&c);
}

/* ---- A matrix, its factor and a right-hand side: three roots of one shipment. */

static void work_free(work *w, cholmod_common *c)
{
    CALL(free_dense)(&w->x, c);
    CALL(free_dense)(&w->again, c);
    CALL(free_factor)(&w->twin, c);
}

static double distance(const cholmod_dense *a, const cholmod_dense *b, size_t row)
{
    const double *x = a->x, *y = b->x;
    double most = 0;
    size_t per = number_bytes(a->xtype) / sizeof(double), k;
    for (k = row * per; k < (row + 1) * per; k++)
        most = fmax(most, fabs(x[k] - y[k]));
    return most;
}

static void check_solved(const work *w)
{
    double most = 0;
    size_t i;
    if (!check(w->is_right && w->x && w->again, "the library is content with the original"))
        return;
    for (i = 0; i < w->b->nrow; i++)
        most = fmax(most, distance(w->again, w->b, i));
    check(most < 1e-6, "A x is b, but for %g", most);
}

static void check_same_results(const work *there, const work *here)
{
    check(there->is_right,
          "check_sparse, check_factor, check_dense and all calls on the copy are content");
    check(memcmp(&there->norm, &here->norm, sizeof(double)) == 0, "norms: %g and %g", there->norm,
          here->norm);
    check(same_dense(there->x, here->x), "the solutions are the same, bit for bit");
    check(same_dense(there->again, here->again), "the products are the same, bit for bit");
    check(same_factor(there->twin, here->twin), "the library's copies of the factors are the same");
}

static void change_and_return(passage *p, work *there, work *here, cholmod_common *c)
{
    cholmod_sparse matrix = *here->a;
    cholmod_factor factor = *here->l;
    work clone;
    memset(&clone, 0, sizeof clone);
    pool_shut();
    clone.a = CALL(copy_sparse)(here->a, c);
    clone.l = CALL(copy_factor)(here->l, c);
    change(&clone);
    if (passage_work(p, change, there) && passage_return(p)) {
        check(there->is_right && clone.is_right, "the change is made in place");
        check(memcmp(&matrix, here->a, sizeof matrix) == 0 && same_places(&factor, here->l),
              "the original's own pointers are as they were");
        check(same_sparse(here->a, clone.a),
              "A has come back as the library changes a clone of it");
        check(same_factor(here->l, clone.l),
              "L has come back as the library changes a clone of it");
    }
    CALL(free_sparse)(&clone.a, c);
    CALL(free_factor)(&clone.l, c);
}

static void ship_and_compare(work *here, cholmod_common *c)
{
    haul_root roots[3];
    work there;
    passage p;
    roots[0] = (haul_root){ here->a, sparse_type, 1 };
    roots[1] = (haul_root){ here->l, factor_type, 1 };
    roots[2] = (haul_root){ here->b, dense_type, 1 };
    pool_shut();
    solve(here);
    check_solved(here);
    check_audit_is_clean(roots, 3, NULL, 1);
    if (passage_open(&p, roots, 3, NULL)) {
        memset(&there, 0, sizeof there);
        there.a = haul_device_pointer(p.shipment, here->a);
        there.l = haul_device_pointer(p.shipment, here->l);
        there.b = haul_device_pointer(p.shipment, here->b);
        if (passage_work(&p, solve, &there))
            check_same_results(&there, here);
        work_free(&there, c);
        change_and_return(&p, &there, here, c);
        passage_close(&p);
    }
    work_free(here, c);
}

static void factor_case(const entries *e, const char *what, int xtype, const variant *v)
{
    cholmod_common c;
    work here;
    case_begin("CHOLMOD %s, %s, %s, %s of %zu", LIBRARY, number_names[xtype], v->name, what,
               e->rows);
    memset(&here, 0, sizeof here);
    pool_open();
    start(&c, xtype);
    here.a = make_sparse(e, xtype, &c);
    here.l = make_factor(here.a, v, &c);
    here.b = make_dense(e->rows, xtype, &c);
    ship_and_compare(&here, &c);
    CALL(finish)(&c);
    pool_empty();
    case_end();
}

/* ---- A factor that has been updated: columns that have grown have moved behind the others, so the
 * list of next and prev is not in order. And solved for a part of x, which makes the inverse
 * permutation. */

static void solve_for_one(cholmod_factor *l, cholmod_common *c)
{
    cholmod_dense *b = CALL(ones)(l->n, 1, CHOLMOD_REAL, c), *x = NULL, *y = NULL, *e = NULL;
    cholmod_sparse *wanted = one_entry(l->n, 0, c), *set = NULL;
    check(CALL(solve2)(CHOLMOD_A, l, b, wanted, &x, &set, &y, &e, c), "a part of x is solved for");
    CALL(free_dense)(&x, c);
    CALL(free_dense)(&y, c);
    CALL(free_dense)(&e, c);
    CALL(free_dense)(&b, c);
    CALL(free_sparse)(&wanted, c);
    CALL(free_sparse)(&set, c);
}

/* A column with entries in two rows. */
static cholmod_sparse *two_entries(size_t rows, size_t row, size_t other, cholmod_common *c)
{
    double one[2] = { 1, 0 };
    cholmod_sparse *a = one_entry(rows, row, c), *b = one_entry(rows, other, c);
    cholmod_sparse *both = CALL(add)(a, b, one, one, 1, 1, c);
    CALL(free_sparse)(&a, c);
    CALL(free_sparse)(&b, c);
    return both;
}

/* A + column column', of which the lower triangle is kept. */
static cholmod_sparse *plus_square(cholmod_sparse *a, cholmod_sparse *column, cholmod_common *c)
{
    double one[2] = { 1, 0 };
    cholmod_sparse *all = CALL(aat)(column, NULL, 0, 1, c), *square = CALL(copy)(all, -1, 1, c);
    cholmod_sparse *sum = CALL(add)(a, square, one, one, 1, 1, c);
    CALL(free_sparse)(&all, c);
    CALL(free_sparse)(&square, c);
    return sum;
}

static void update(work *w, cholmod_common *c)
{
    const integer *order = w->l->Perm;
    size_t n = w->l->n;
    cholmod_sparse *a = w->a, *column = two_entries(n, 0, n / 2, c);
    check(CALL(updown)(1, column, w->l, c), "the original is updated");
    check(!w->l->is_monotonic, "its columns have moved");
    CALL(free_sparse)(&column, c);
    column = two_entries(n, (size_t)order[0], (size_t)order[n / 2], c);
    w->a = plus_square(a, column, c);
    CALL(free_sparse)(&column, c);
    CALL(free_sparse)(&a, c);
}

static void updated_case(const entries *e)
{
    cholmod_common c;
    work here;
    case_begin("CHOLMOD %s, real, LDL' with moved columns, of %zu", LIBRARY, e->rows);
    memset(&here, 0, sizeof here);
    pool_open();
    start(&c, CHOLMOD_REAL);
    here.a = make_sparse(e, CHOLMOD_REAL, &c);
    here.l = make_factor(here.a, &variants[LDL], &c);
    here.b = make_dense(e->rows, CHOLMOD_REAL, &c);
    update(&here, &c);
    solve_for_one(here.l, &c);
    check(here.l->IPerm != NULL, "it has an inverse permutation");
    ship_and_compare(&here, &c);
    CALL(finish)(&c);
    pool_empty();
    case_end();
}

/* ---- Matrices by themselves: triplets, packed, not packed, patterns. */

typedef struct shapes {
    cholmod_triplet *triplet;
    cholmod_sparse *packed, *loose;
    int is_right;
    cholmod_sparse *from_triplet, *transposed, *tidy;
    cholmod_factor *analyzed;
} shapes;

static void use_shapes(void *argument)
{
    shapes *s = argument;
    cholmod_common c;
    start(&c, s->packed->xtype);
    s->is_right = CALL(check_triplet)(s->triplet, &c) && CALL(check_sparse)(s->packed, &c) &&
                  CALL(check_sparse)(s->loose, &c);
    s->from_triplet = CALL(triplet_to_sparse)(s->triplet, 0, &c);
    s->transposed = CALL(transpose)(s->packed, 2, &c);
    s->tidy = CALL(transpose)(s->loose, 2, &c);
    s->analyzed = CALL(analyze)(s->loose, &c);
    s->is_right = s->is_right && c.status == CHOLMOD_OK;
    CALL(finish)(&c);
}

static void shapes_free(shapes *s, cholmod_common *c)
{
    CALL(free_sparse)(&s->from_triplet, c);
    CALL(free_sparse)(&s->transposed, c);
    CALL(free_sparse)(&s->tidy, c);
    CALL(free_factor)(&s->analyzed, c);
}

/* The same with room for one more entry behind each column, and a count for each. */
static cholmod_sparse *loosened(const cholmod_sparse *a, cholmod_common *c)
{
    cholmod_sparse *l = CALL(allocate_sparse)(a->nrow, a->ncol, a->nzmax + a->ncol, a->sorted, 0,
                                              a->stype, a->xtype, c);
    const integer *p = a->p;
    integer *q = l->p;
    size_t width = number_bytes(a->xtype), j;
    for (j = 0, q[0] = 0; j < a->ncol; j++) {
        size_t count = (size_t)(p[j + 1] - p[j]);
        ((integer *)l->nz)[j] = (integer)count;
        q[j + 1] = q[j] + (integer)count + 1;
        memcpy((integer *)l->i + q[j], (integer *)a->i + p[j], count * sizeof(integer));
        if (width)
            memcpy((char *)l->x + (size_t)q[j] * width, (char *)a->x + (size_t)p[j] * width,
                   count * width);
        if (a->xtype == CHOLMOD_ZOMPLEX)
            memcpy((double *)l->z + q[j], (double *)a->z + p[j], count * sizeof(double));
    }
    return l;
}

static void shapes_case(const entries *e, int xtype)
{
    haul_root roots[3];
    cholmod_common c;
    shapes here, there;
    passage p;
    case_begin("CHOLMOD %s, %s: triplets, packed, not packed, of %zu", LIBRARY, number_names[xtype],
               e->rows);
    memset(&here, 0, sizeof here);
    pool_open();
    start(&c, xtype);
    here.triplet = make_triplet(e, xtype, &c);
    here.packed = CALL(triplet_to_sparse)(here.triplet, 0, &c);
    here.loose = loosened(here.packed, &c);
    roots[0] = (haul_root){ here.triplet, triplet_type, 1 };
    roots[1] = (haul_root){ here.packed, sparse_type, 1 };
    roots[2] = (haul_root){ here.loose, sparse_type, 1 };
    pool_shut();
    use_shapes(&here);
    check_audit_is_clean(roots, 3, NULL, 1);
    if (passage_open(&p, roots, 3, NULL)) {
        memset(&there, 0, sizeof there);
        there.triplet = haul_device_pointer(p.shipment, here.triplet);
        there.packed = haul_device_pointer(p.shipment, here.packed);
        there.loose = haul_device_pointer(p.shipment, here.loose);
        if (passage_work(&p, use_shapes, &there)) {
            check(here.is_right && there.is_right,
                  "check_triplet, check_sparse and all calls are content");
            check(same_sparse(there.from_triplet, here.from_triplet),
                  "the triplets make the same matrix");
            check(same_sparse(there.transposed, here.transposed),
                  "the transposed matrices are the same");
            check(same_sparse(there.tidy, here.tidy), "those of what is not packed are the same");
            check(same_factor(there.analyzed, here.analyzed), "the analyses are the same");
        }
        shapes_free(&there, &c);
        passage_close(&p);
    }
    shapes_free(&here, &c);
    CALL(finish)(&c);
    pool_empty();
    case_end();
}

void CASES(const inputs *in)
{
    int xtype, v;
    for (xtype = CHOLMOD_PATTERN; xtype <= CHOLMOD_ZOMPLEX; xtype++)
        shapes_case(xtype == CHOLMOD_REAL ? &in->square : &in->field, xtype);
    for (v = 0; v < VARIANTS; v++) {
        factor_case(&in->square, "a square", CHOLMOD_REAL, &variants[v]);
        factor_case(&in->field, "a Hermitian square", CHOLMOD_COMPLEX, &variants[v]);
        factor_case(&in->field, "a Hermitian square", CHOLMOD_ZOMPLEX, &variants[v]);
        factor_case(&in->random, "a random one", v % 2 ? CHOLMOD_REAL : CHOLMOD_COMPLEX,
                    &variants[v]);
        if (in->file.rows)
            factor_case(&in->file, "a file", CHOLMOD_REAL, &variants[v]);
        if (in->unsymmetric_file.rows)
            factor_case(&in->unsymmetric_file, "A A' of a file", CHOLMOD_REAL, &variants[v]);
    }
    factor_case(&in->cube, "a cube", CHOLMOD_REAL, &variants[LDL]);
    factor_case(&in->cube, "a cube", CHOLMOD_REAL, &variants[SUPER]);
    factor_case(&in->large, "a large square", CHOLMOD_REAL, &variants[LDL]);
    factor_case(&in->large, "a large square", CHOLMOD_REAL, &variants[SUPER]);
    factor_case(&in->wide, "A A'", CHOLMOD_REAL, &variants[LL]);
    factor_case(&in->wide, "A A'", CHOLMOD_REAL, &variants[SUPER]);
    updated_case(&in->square);
}
