/* CSparse, whose analyses and factors know no sizes: they stand in another object (FAR).
 *
 * A matrix is compressed (nz is -1) or a list of triplets. css and csn hold arrays of n and n + 1
 * elements, and n is the matrix's. A problem holds the three together: it is the root, so that the
 * counts can ask it.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

typedef struct cs {
    ptrdiff_t nzmax, m, n;
    ptrdiff_t *p, *i;
    double *x;
    ptrdiff_t nz;
} cs;

typedef struct css {
    ptrdiff_t *pinv, *q, *parent, *cp, *leftmost;
    ptrdiff_t m2;
    double lnz, unz;
} css;

typedef struct csn {
    cs *L, *U;
    ptrdiff_t *pinv;
    double *B;
} csn;

typedef struct problem {
    cs *A;
    css *S;
    csn *N;
    double *b;
} problem;

enum { PROBLEMS = 12 };

static haul_type *cs_type, *css_type, *csn_type;

HAUL_FUNCTION(cs_pointers, cs, self->nz == -1 ? self->n + 1 : self->nzmax)
HAUL_FUNCTION(cs_values, cs, self->nzmax)
HAUL_FUNCTION(n_of_root, void, ((const problem *)here->root)->A->n)
HAUL_FUNCTION(n_and_one_of_root, void, ((const problem *)here->root)->A->n + 1)

static const haul_field problem_fields[] = {
    HAUL_OBJECT(problem, A, &cs_type),
    HAUL_OBJECT(problem, S, &css_type),
    HAUL_OBJECT(problem, N, &csn_type),
    HAUL_ARRAY(problem, b, HAUL_COUNT_FN(n_of_root)),
};

static void sparse_open(haul_function *n)
{
    static const haul_field cs_fields[] = {
        HAUL_ARRAY(cs, p, HAUL_COUNT_FN(cs_pointers)), HAUL_ARRAY(cs, i, HAUL_COUNT(cs, nzmax)),
        HAUL_ARRAY(cs, x, HAUL_COUNT_FN(cs_values)), /* a pattern has none */
    };
    const haul_field css_fields[] = {
        HAUL_ARRAY(css, pinv, HAUL_COUNT_FN(n_of_root)),
        HAUL_ARRAY(css, q, HAUL_COUNT_FN(n)),
        HAUL_ARRAY(css, parent, HAUL_COUNT_FN(n_of_root)),
        HAUL_ARRAY(css, cp, HAUL_COUNT_FN(n_and_one_of_root)),
        HAUL_SKIP(css, leftmost), /* of QR alone */
    };
    static const haul_field csn_fields[] = {
        HAUL_OBJECT(csn, L, &cs_type), HAUL_OBJECT(csn, U, &cs_type),
        HAUL_ARRAY(csn, pinv, HAUL_COUNT_FN(n_of_root)), HAUL_SKIP(csn, B), /* of QR alone */
    };
    cs_type = OPEN(cs, cs_fields);
    css_type = OPEN(css, css_fields);
    csn_type = OPEN(csn, csn_fields);
}

static void sparse_close(haul_type **type)
{
    haul_type_free(type);
    haul_type_free(&cs_type);
    haul_type_free(&css_type);
    haul_type_free(&csn_type);
    site_end();
}

static void cs_fill(cs *a, ptrdiff_t n, ptrdiff_t nzmax, int is_triplet)
{
    a->m = a->n = n;
    a->nzmax = nzmax;
    a->nz = is_triplet ? 0 : -1;
    a->p = put_elements((size_t)(is_triplet ? nzmax : n + 1), sizeof *a->p);
    a->i = put_elements((size_t)nzmax, sizeof *a->i);
    a->x = put_elements((size_t)nzmax, sizeof *a->x);
}

/* Ones on the diagonal, and in each column of the first half two entries in rows of the second
 * half; in a column of an upper factor the other way round, and the diagonal last. */
static void factor_fill(cs *a, ptrdiff_t n, int is_upper)
{
    ptrdiff_t j, k = 0;
    cs_fill(a, n, 3 * n, 0);
    for (j = 0; j < n; j++) {
        int more = is_upper ? j >= n / 2 : j < n / 2, e;
        a->p[j] = k;
        if (!is_upper)
            a->i[k] = j, a->x[k++] = 1;
        for (e = 0; more && e < 2; e++) {
            a->i[k] = chance(0, (int)n / 2 - 1) + (is_upper ? 0 : n / 2);
            a->x[k++] = chance(-9, 9);
        }
        if (is_upper)
            a->i[k] = j, a->x[k++] = 1;
    }
    a->p[n] = k;
}

static ptrdiff_t *permutation_make(ptrdiff_t n)
{
    ptrdiff_t *p = put_elements((size_t)n, sizeof *p), i;
    for (i = 0; i < n; i++)
        p[i] = i;
    for (i = n - 1; i > 0; i--) {
        ptrdiff_t j = chance(0, (int)i), t = p[i];
        p[i] = p[j];
        p[j] = t;
    }
    return p;
}

static void multiply(const cs *a, const double *x, double *y)
{
    ptrdiff_t j, k;
    memset(y, 0, (size_t)a->n * sizeof *y);
    for (j = 0; j < a->n; j++)
        for (k = a->p[j]; k < a->p[j + 1]; k++)
            y[a->i[k]] += a->x[k] * x[j];
}

/* A right side for a solution that is known: b[k] is row pinv[k] of L U of x, permuted by q. */
static void problem_set(problem *s, ptrdiff_t n)
{
    double *x = calloc(3 * (size_t)n, sizeof *x), *y = x + n, *z = y + n;
    ptrdiff_t k;
    CHECK(x != NULL);
    for (k = 0; k < n; k++) {
        x[k] = chance(-50, 50);
        the.told += (int64_t)x[k] * (s->S->q[k] + 1);
    }
    multiply(s->N->U, x, y);
    multiply(s->N->L, y, z);
    for (k = 0; k < n; k++)
        s->b[k] = z[s->N->pinv[k]];
    free(x);
}

static void problem_fill(problem *s, ptrdiff_t n)
{
    s->A = put_elements(1, sizeof *s->A);
    s->S = put_elements(1, sizeof *s->S);
    s->N = put_elements(1, sizeof *s->N);
    s->N->L = put_elements(1, sizeof *s->N->L);
    s->N->U = put_elements(1, sizeof *s->N->U);
    cs_fill(s->A, n, 5 * n, n % 2 == 1);
    factor_fill(s->N->L, n, 0);
    factor_fill(s->N->U, n, 1);
    s->S->parent = permutation_make(n);
    s->S->pinv = permutation_make(n);
    s->S->cp = put_elements((size_t)n + 1, sizeof *s->S->cp);
    s->N->pinv = permutation_make(n);
    s->b = put_elements((size_t)n, sizeof *s->b);
    s->S->q = permutation_make(n);
    problem_set(s, n);
}

static problem *problems_make(size_t count, ptrdiff_t n, ptrdiff_t more)
{
    problem *s = put_elements(count, sizeof *s);
    size_t k;
    for (k = 0; k < count; k++, n += more)
        problem_fill(&s[k], n);
    return s;
}

static void solve_lower(const cs *l, double *x)
{
    ptrdiff_t j, k;
    for (j = 0; j < l->n; j++)
        for (k = l->p[j] + 1; k < l->p[j + 1]; k++)
            x[l->i[k]] -= l->x[k] * x[j];
}

static void solve_upper(const cs *u, double *x)
{
    ptrdiff_t j, k;
    for (j = u->n - 1; j >= 0; j--)
        for (k = u->p[j]; k < u->p[j + 1] - 1; k++)
            x[u->i[k]] -= u->x[k] * x[j];
}

/* Solves on the spot; the matrix's own values are workspace. */
static int64_t problem_walk(void *root, size_t count)
{
    problem *s = root;
    ptrdiff_t n = s->A->n, k;
    double *x = s->A->x;
    int64_t sum = 0;
    (void)count;
    for (k = 0; k < n; k++)
        x[s->N->pinv[k]] = s->b[k];
    solve_lower(s->N->L, x);
    solve_upper(s->N->U, x);
    for (k = 0; k < n; k++) {
        s->b[s->S->q[k]] = x[k];
        sum += (int64_t)x[k] * (s->S->q[k] + 1);
        s->S->cp[k + 1] = s->S->cp[k] + s->S->parent[k] + s->S->pinv[k] + s->A->p[k] + s->A->i[k];
    }
    return sum;
}

TEST(structures_csparse,
     analyses_and_factors_without_sizes_take_them_from_the_problem_they_belong_to)
{
    haul_type *type;
    haul_root roots[PROBLEMS];
    int k;
    site_start(5);
    sparse_open(n_of_root);
    type = OPEN(problem, problem_fields);
    type_close(type);
    for (k = 0; k < PROBLEMS; k++) {
        roots[k].address = problems_make(1, 100 + 31 * k, 0);
        roots[k].type = type;
        roots[k].count = 1;
    }
    travel_and_sum_roots(roots, PROBLEMS, problem_walk);
    sparse_close(&type);
}

HAUL_FUNCTION(n_of_argument, void, here->argument ? *(const ptrdiff_t *)here->argument : -1)
HAUL_FUNCTION(entries_of_root, void, ((const problem *)here->root)->A->nzmax)

TEST(structures_csparse, a_size_that_is_not_given_is_refused_and_one_of_another_thing_told)
{
    haul_type *type;
    problem *s;
    site_start(6);
    s = problems_make(1, 200, 0);
    sparse_open(n_of_argument);
    type = OPEN(problem, problem_fields);
    type_close(type);
    refuse_ship(s, type, 1, HAUL_ERROR_GRAPH, "root.S.q", "its callback answered -1");
    the.options.argument = &s->A->n;
    travel_and_sum(s, type, 1, problem_walk);
    haul_type_free(&type);
    haul_type_free(&css_type);
    haul_type_free(&csn_type);
    haul_type_free(&cs_type);
    sparse_open(entries_of_root);
    type = OPEN(problem, problem_fields);
    type_close(type);
    audit_tells(s, type, 1, HAUL_AUDIT_BEYOND_BLOCK, "root.S.q[0]",
                sizeof(ptrdiff_t) == 8 ? "described as 8000 bytes, but its block of 1600 bytes"
                                       : "described as 4000 bytes, but its block of 800 bytes");
    sparse_close(&type);
}

/* The trap of sizes that are taken from the root: an array of problems is one root, and its first
 * problem answers. */
TEST(structures_csparse, sizes_of_the_first_of_several_roots_in_a_row_are_told)
{
    haul_type *type;
    problem *s;
    site_start(7);
    s = problems_make(2, 300, -100);
    sparse_open(n_of_root);
    type = OPEN(problem, problem_fields);
    type_close(type);
    audit_tells(s, type, 2, HAUL_AUDIT_BEYOND_BLOCK, "root[1].b[0]",
                "described as 2400 bytes, but its block of 1600 bytes");
    sparse_close(&type);
}
