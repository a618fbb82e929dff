/* CHOLMOD's own functions on relocated copies of its matrices and factors, and descriptions that
 * must be refused.
 *
 *     haul_accept_cholmod [--seed N] [FILE...]
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cholmod_cases.h"
#include "cholmod_types.h"

static cholmod_common common;

/* ---- Widths that CHOLMOD 5 declares and does not use: long positions beside int indices, float
 * numbers. */

typedef struct survey {
    const cholmod_sparse *matrix;
    double sum;
} survey;

static void add_all(void *argument)
{
    survey *s = argument;
    const SuiteSparse_long *p = s->matrix->p;
    const int *i = s->matrix->i;
    const float *x = s->matrix->x;
    size_t j;
    SuiteSparse_long k;
    for (s->sum = 0, j = 0; j < s->matrix->ncol; j++)
        for (k = p[j]; k < p[j + 1]; k++)
            s->sum += (double)(i[k] + 1) * (double)x[2 * k] - (double)x[2 * k + 1];
}

static cholmod_sparse *make_mixed(size_t n)
{
    cholmod_sparse *a = pool_allocate_zeros(1, sizeof *a);
    size_t k;
    a->nrow = a->ncol = a->nzmax = n;
    a->itype = CHOLMOD_INTLONG;
    a->xtype = CHOLMOD_COMPLEX;
    a->dtype = CHOLMOD_SINGLE;
    a->packed = a->sorted = 1;
    a->p = pool_allocate((n + 1) * sizeof(SuiteSparse_long));
    a->i = pool_allocate(n * sizeof(int));
    a->x = pool_allocate(2 * n * sizeof(float));
    for (k = 0; k <= n; k++)
        ((SuiteSparse_long *)a->p)[k] = (SuiteSparse_long)k;
    for (k = 0; k < n; k++)
        ((int *)a->i)[k] = (int)k;
    for (k = 0; k < 2 * n; k++)
        ((float *)a->x)[k] = (float)(k % 7) / 2;
    return a;
}

static void mixed_case(void)
{
    haul_root root;
    passage p;
    survey here, there;
    case_begin("long positions, int indices, float complex numbers");
    pool_open();
    here.matrix = make_mixed(1000);
    add_all(&here);
    root = (haul_root){ (void *)(uintptr_t)here.matrix, sparse_type, 1 };
    check_audit_is_clean(&root, 1, NULL, 1);
    if (passage_open(&p, &root, 1, NULL)) {
        there.matrix = haul_device_pointer(p.shipment, here.matrix);
        if (passage_work(&p, add_all, &there))
            check(there.sum == here.sum && here.sum > 0, "the sums are the same: %g and %g",
                  there.sum, here.sum);
        passage_close(&p);
    }
    pool_empty();
    case_end();
}

/* ---- Wrong descriptions. */

HAUL_FUNCTION(twice, cholmod_sparse, 2 * self->nzmax)

static void audited_with(const char *what, cholmod_sparse *a, const haul_field *row,
                         haul_audit_kind kind, const char *path, const char *words)
{
    haul_type *type = sparse_type_with(row);
    haul_root root = { a, NULL, 1 };
    root.type = type;
    case_begin("wrong: %s; told: %s", what, words);
    if (check(type != NULL, "Haul takes the type"))
        check_audit_tells(&root, 1, kind, path, words);
    case_end();
    haul_type_free(&type);
}

static void refused_with(const char *what, cholmod_sparse *a, const haul_field *row,
                         const char *path, const char *words)
{
    haul_type *type = sparse_type_with(row);
    haul_root root = { a, NULL, 1 };
    root.type = type;
    case_begin("wrong: %s; told: %s", what, words);
    if (check(type != NULL, "Haul takes the type"))
        check_refused(&root, 1, path, NULL, words);
    case_end();
    haul_type_free(&type);
}

static cholmod_sparse *small_matrix(int xtype)
{
    cholmod_sparse *a;
    pool_open();
    a = cholmod_speye(100, 100, xtype == CHOLMOD_ZOMPLEX ? CHOLMOD_COMPLEX : xtype, &common);
    if (xtype == CHOLMOD_ZOMPLEX)
        cholmod_sparse_xtype(xtype, a, &common);
    return a;
}

static void wrong_counts(void)
{
    static const haul_field no_last =
        HAUL_BYTES(cholmod_sparse, p, HAUL_COUNT_TIMES(cholmod_sparse, ncol, sizeof(int)));
    static const haul_field too_wide = HAUL_ADDRESS(cholmod_sparse, i, .target = &long_type,
                                                    .count = HAUL_COUNT(cholmod_sparse, nzmax));
    static const haul_field one_more = HAUL_ADDRESS(
        cholmod_sparse, p, .target = &int_type, .count = HAUL_COUNT_PLUS(cholmod_sparse, ncol, 2));
    cholmod_sparse *a = small_matrix(CHOLMOD_REAL);
    audited_with("no end in p", a, &no_last, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.p[0]",
                 "only the first 400 bytes of its block of 404 are described");
    audited_with("one too many in p", a, &one_more, HAUL_AUDIT_BEYOND_BLOCK, "root.p[0]",
                 "described as 408 bytes, but its block of 404 bytes ends 4 bytes earlier");
    audited_with("int indices as long ones", a, &too_wide, HAUL_AUDIT_BEYOND_BLOCK, "root.i[0]",
                 "described as 800 bytes, but its block of 400 bytes ends 400 bytes earlier");
}

static void wrong_numbers(void)
{
    static const haul_case real_only[] = { { CHOLMOD_REAL, &double_type, 0 } };
    static const haul_field as_real = HAUL_ADDRESS(cholmod_sparse, x, .target = &double_type,
                                                   .count = HAUL_COUNT(cholmod_sparse, nzmax));
    static const haul_field as_complex =
        HAUL_ADDRESS(cholmod_sparse, x, .target = &double_type, .count = HAUL_COUNT_FN(twice));
    static const haul_field real_alone =
        HAUL_ADDRESS(cholmod_sparse, x, .count = HAUL_COUNT(cholmod_sparse, nzmax),
                     .type_switch = HAUL_SWITCH(cholmod_sparse, xtype, real_only));
    static const haul_field always_there = HAUL_ADDRESS(cholmod_sparse, z, .target = &double_type,
                                                        .count = HAUL_COUNT(cholmod_sparse, nzmax));
    cholmod_sparse *real = small_matrix(CHOLMOD_REAL), *complex = small_matrix(CHOLMOD_COMPLEX);
    audited_with("complex numbers as real ones", complex, &as_real, HAUL_AUDIT_LITTLE_OF_BLOCK,
                 "root.x[0]", "only the first 800 bytes of its block of 1600 are described");
    audited_with("real numbers as complex ones", real, &as_complex, HAUL_AUDIT_BEYOND_BLOCK,
                 "root.x[0]",
                 "described as 1600 bytes, but its block of 800 bytes ends 800 bytes earlier");
    refused_with("no case for complex numbers", complex, &real_alone, "root.x",
                 "its `.type_switch` has no case for 2");
    refused_with("imaginary parts always", real, &always_there, "root.z",
                 "a NULL pointer with count 100");
}

static void wrong_kinds_of_objects(void)
{
    cholmod_sparse *a = small_matrix(CHOLMOD_REAL);
    haul_root roots[2];
    roots[0] = (haul_root){ a, sparse_type, 1 };
    roots[1] = (haul_root){ a, dense_type, 1 };
    case_begin("wrong: one object as cholmod_sparse and as cholmod_dense");
    check_refused(roots, 2, "roots[1]", "roots[0]", "cholmod_dense");
    case_end();
    case_begin("wrong: a width of integers that there is not");
    a->itype = 7;
    check_refused(roots, 1, "root.p", NULL, "its `.type_switch` has no case for 7");
    case_end();
}

/* ---- The program. */

/* A BLAS with threads of its own has read its environment when the program begins: again, with one
 * thread. */
static void use_one_thread(char **words)
{
    if (getenv("OPENBLAS_NUM_THREADS") && getenv("OMP_NUM_THREADS"))
        return;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", words);
}

static void hook_the_pool(void)
{
    SuiteSparse_config.malloc_func = pool_allocate;
    SuiteSparse_config.calloc_func = pool_allocate_zeros;
    SuiteSparse_config.realloc_func = pool_reallocate;
    SuiteSparse_config.free_func = pool_release;
}

static void transpose(entries *e)
{
    int *row = e->row;
    size_t rows = e->rows;
    e->row = e->column;
    e->column = row;
    e->rows = e->columns;
    e->columns = rows;
}

static void run(uint64_t seed, int count, char **words)
{
    inputs in;
    memset(&in, 0, sizeof in);
    in.square = laplacian(100, 2);
    in.cube = laplacian(20, 3);
    in.large = laplacian(320, 2);
    in.field = hermitian(60);
    in.random = random_definite(1500, 3, seed);
    in.wide = gradient(60);
    transpose(&in.wide);
    matrix_from_file(count, words, 1, &in.file);
    matrix_from_file(count, words, 0, &in.unsymmetric_file);
    cholmod_cases_int(&in);
    cholmod_cases_long(&in);
    entries_free(&in.square);
    entries_free(&in.cube);
    entries_free(&in.large);
    entries_free(&in.field);
    entries_free(&in.random);
    entries_free(&in.wide);
    entries_free(&in.file);
    entries_free(&in.unsymmetric_file);
}

int main(int count, char **words)
{
    uint64_t seed = random_seed(count, words);
    use_one_thread(words);
    hook_the_pool();
    printf("seed %llu\n", (unsigned long long)seed);
    if (!cholmod_types_open())
        return 1;
    run(seed, count, words);
    mixed_case();
    pool_open();
    cholmod_start(&common);
    wrong_counts();
    wrong_numbers();
    wrong_kinds_of_objects();
    cholmod_finish(&common);
    cholmod_types_close();
    return account();
}
