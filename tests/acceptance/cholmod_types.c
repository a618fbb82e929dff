/* CHOLMOD's structs in Haul's words.
 *
 * All arrays are void *: what they hold is said by the struct's itype (the width of integers) and
 * by xtype and dtype (the kind of numbers), so one description serves the int and the long library,
 * and all kinds of numbers. Whether they are there at all is said by xtype, packed and is_super.
 */
#include <stdio.h>
#include <string.h>

#include "cholmod_types.h"

haul_type *sparse_type, *dense_type, *triplet_type, *factor_type;
haul_type *int_type, *long_type, *double_type, *complex_type;
static haul_type *float_type, *float_complex_type;

/* ---- What the elements are. */

/* Indices are int unless all is long; positions in a matrix are long in CHOLMOD_INTLONG too. */
static const haul_case index_cases[] = {
    { CHOLMOD_INT, &int_type, 0 },
    { CHOLMOD_INTLONG, &int_type, 0 },
    { CHOLMOD_LONG, &long_type, 0 },
};
static const haul_case position_cases[] = {
    { CHOLMOD_INT, &int_type, 0 },
    { CHOLMOD_INTLONG, &long_type, 0 },
    { CHOLMOD_LONG, &long_type, 0 },
};

/* xtype and dtype in one number. A zomplex array holds real parts, or imaginary ones. */
#define KIND(xtype, dtype) ((xtype) + 4 * (dtype))
static const haul_case number_cases[] = {
    { KIND(CHOLMOD_REAL, CHOLMOD_DOUBLE), &double_type, 0 },
    { KIND(CHOLMOD_COMPLEX, CHOLMOD_DOUBLE), &complex_type, 0 },
    { KIND(CHOLMOD_ZOMPLEX, CHOLMOD_DOUBLE), &double_type, 0 },
    { KIND(CHOLMOD_REAL, CHOLMOD_SINGLE), &float_type, 0 },
    { KIND(CHOLMOD_COMPLEX, CHOLMOD_SINGLE), &float_complex_type, 0 },
    { KIND(CHOLMOD_ZOMPLEX, CHOLMOD_SINGLE), &float_type, 0 },
};

/* ---- cholmod_sparse. */

HAUL_COUNT_FUNCTION(sparse_kind, cholmod_sparse, KIND(self->xtype, self->dtype))
static const haul_rule sparse_index = { .choice =
                                            HAUL_BY_FIELD(cholmod_sparse, itype, index_cases) };
static const haul_rule sparse_position = { .choice = HAUL_BY_FIELD(cholmod_sparse, itype,
                                                                   position_cases) };
static const haul_rule sparse_unpacked = {
    .when = HAUL_EQUALS(cholmod_sparse, packed, 0),
    .choice = HAUL_BY_FIELD(cholmod_sparse, itype, index_cases),
};
static const haul_rule sparse_number = {
    .when = HAUL_DIFFERS(cholmod_sparse, xtype, CHOLMOD_PATTERN),
    .choice = HAUL_BY_FUNCTION(sparse_kind, number_cases),
};
static const haul_rule sparse_imaginary = {
    .when = HAUL_EQUALS(cholmod_sparse, xtype, CHOLMOD_ZOMPLEX),
    .choice = HAUL_BY_FUNCTION(sparse_kind, number_cases),
};
enum { SPARSE_ROWS = 5 };
static const haul_ref sparse_rows[SPARSE_ROWS] = {
    HAUL_CHOICES(cholmod_sparse, p, &sparse_position, HAUL_N_PLUS(cholmod_sparse, ncol, 1)),
    HAUL_CHOICES(cholmod_sparse, i, &sparse_index, HAUL_N(cholmod_sparse, nzmax)),
    HAUL_CHOICES(cholmod_sparse, nz, &sparse_unpacked, HAUL_N(cholmod_sparse, ncol)),
    HAUL_CHOICES(cholmod_sparse, x, &sparse_number, HAUL_N(cholmod_sparse, nzmax)),
    HAUL_CHOICES(cholmod_sparse, z, &sparse_imaginary, HAUL_N(cholmod_sparse, nzmax)),
};

/* ---- cholmod_dense. nzmax is the leading dimension times the columns. */

HAUL_COUNT_FUNCTION(dense_kind, cholmod_dense, KIND(self->xtype, self->dtype))
static const haul_rule dense_number = {
    .when = HAUL_DIFFERS(cholmod_dense, xtype, CHOLMOD_PATTERN),
    .choice = HAUL_BY_FUNCTION(dense_kind, number_cases),
};
static const haul_rule dense_imaginary = {
    .when = HAUL_EQUALS(cholmod_dense, xtype, CHOLMOD_ZOMPLEX),
    .choice = HAUL_BY_FUNCTION(dense_kind, number_cases),
};
static const haul_ref dense_rows[] = {
    HAUL_CHOICES(cholmod_dense, x, &dense_number, HAUL_N(cholmod_dense, nzmax)),
    HAUL_CHOICES(cholmod_dense, z, &dense_imaginary, HAUL_N(cholmod_dense, nzmax)),
};

/* ---- cholmod_triplet. */

HAUL_COUNT_FUNCTION(triplet_kind, cholmod_triplet, KIND(self->xtype, self->dtype))
static const haul_rule triplet_index = { .choice =
                                             HAUL_BY_FIELD(cholmod_triplet, itype, index_cases) };
static const haul_rule triplet_number = {
    .when = HAUL_DIFFERS(cholmod_triplet, xtype, CHOLMOD_PATTERN),
    .choice = HAUL_BY_FUNCTION(triplet_kind, number_cases),
};
static const haul_rule triplet_imaginary = {
    .when = HAUL_EQUALS(cholmod_triplet, xtype, CHOLMOD_ZOMPLEX),
    .choice = HAUL_BY_FUNCTION(triplet_kind, number_cases),
};
static const haul_ref triplet_rows[] = {
    HAUL_CHOICES(cholmod_triplet, i, &triplet_index, HAUL_N(cholmod_triplet, nzmax)),
    HAUL_CHOICES(cholmod_triplet, j, &triplet_index, HAUL_N(cholmod_triplet, nzmax)),
    HAUL_CHOICES(cholmod_triplet, x, &triplet_number, HAUL_N(cholmod_triplet, nzmax)),
    HAUL_CHOICES(cholmod_triplet, z, &triplet_imaginary, HAUL_N(cholmod_triplet, nzmax)),
};

/* ---- cholmod_factor. Four kinds: simplicial or supernodal, with numbers or symbolic. A simplicial
 * symbolic one has nothing but Perm and ColCount. x is shared: nzmax numbers in a simplicial
 * factor, xsize in a supernodal one. */

HAUL_COUNT_FUNCTION(factor_kind, cholmod_factor, KIND(self->xtype, self->dtype))
HAUL_COUNT_FUNCTION(factor_n, cholmod_factor, self->n)
HAUL_TEST_FUNCTION(is_simplicial, cholmod_factor, !self->is_super && self->xtype != CHOLMOD_PATTERN)
HAUL_TEST_FUNCTION(is_simplicial_zomplex, cholmod_factor,
                   !self->is_super && self->xtype == CHOLMOD_ZOMPLEX)
HAUL_TEST_FUNCTION(is_supernodal, cholmod_factor, self->is_super && self->xtype != CHOLMOD_PATTERN)
static const haul_rule factor_index = { .choice =
                                            HAUL_BY_FIELD(cholmod_factor, itype, index_cases) };
static const haul_rule simplicial_index = {
    .when = HAUL_IF(is_simplicial),
    .choice = HAUL_BY_FIELD(cholmod_factor, itype, index_cases),
};
static const haul_rule simplicial_position = {
    .when = HAUL_IF(is_simplicial),
    .choice = HAUL_BY_FIELD(cholmod_factor, itype, position_cases),
};
static const haul_rule simplicial_number = {
    .when = HAUL_IF(is_simplicial),
    .choice = HAUL_BY_FUNCTION(factor_kind, number_cases),
};
static const haul_rule simplicial_imaginary = {
    .when = HAUL_IF(is_simplicial_zomplex),
    .choice = HAUL_BY_FUNCTION(factor_kind, number_cases),
};
static const haul_rule super_index = {
    .when = HAUL_DIFFERS(cholmod_factor, is_super, 0),
    .choice = HAUL_BY_FIELD(cholmod_factor, itype, index_cases),
};
static const haul_rule super_position = {
    .when = HAUL_DIFFERS(cholmod_factor, is_super, 0),
    .choice = HAUL_BY_FIELD(cholmod_factor, itype, position_cases),
};
static const haul_rule super_number = {
    .when = HAUL_IF(is_supernodal),
    .choice = HAUL_BY_FUNCTION(factor_kind, number_cases),
};
static const haul_ref factor_rows[] = {
    HAUL_CHOICES(cholmod_factor, Perm, &factor_index, HAUL_N(cholmod_factor, n)),
    HAUL_CHOICES(cholmod_factor, ColCount, &factor_index, HAUL_N(cholmod_factor, n)),
    HAUL_CHOICES(cholmod_factor, IPerm, &factor_index, HAUL_FN(factor_n)), /* often NULL */
    HAUL_CHOICES(cholmod_factor, p, &simplicial_position, HAUL_N_PLUS(cholmod_factor, n, 1)),
    HAUL_CHOICES(cholmod_factor, i, &simplicial_index, HAUL_N(cholmod_factor, nzmax)),
    HAUL_CHOICES(cholmod_factor, x, &simplicial_number, HAUL_N(cholmod_factor, nzmax)),
    HAUL_CHOICES(cholmod_factor, z, &simplicial_imaginary, HAUL_N(cholmod_factor, nzmax)),
    HAUL_CHOICES(cholmod_factor, nz, &simplicial_index, HAUL_N(cholmod_factor, n)),
    HAUL_CHOICES(cholmod_factor, next, &simplicial_index, HAUL_N_PLUS(cholmod_factor, n, 2)),
    HAUL_CHOICES(cholmod_factor, prev, &simplicial_index, HAUL_N_PLUS(cholmod_factor, n, 2)),
    HAUL_CHOICES(cholmod_factor, super, &super_index, HAUL_N_PLUS(cholmod_factor, nsuper, 1)),
    HAUL_CHOICES(cholmod_factor, pi, &super_position, HAUL_N_PLUS(cholmod_factor, nsuper, 1)),
    HAUL_CHOICES(cholmod_factor, px, &super_position, HAUL_N_PLUS(cholmod_factor, nsuper, 1)),
    HAUL_CHOICES(cholmod_factor, s, &super_index, HAUL_N(cholmod_factor, ssize)),
    HAUL_CHOICES(cholmod_factor, x, &super_number, HAUL_N(cholmod_factor, xsize)),
};

/* ---- Making them. */

static int commit(haul_type *type)
{
    if (haul_type_commit(type) == HAUL_OK)
        return 1;
    printf("%s: %s\n", haul_type_error(type)->path, haul_type_error(type)->text);
    return 0;
}

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

int cholmod_types_open(void)
{
    return haul_type_bytes("int", sizeof(int), &int_type) == HAUL_OK &&
           haul_type_bytes("SuiteSparse_long", sizeof(SuiteSparse_long), &long_type) == HAUL_OK &&
           haul_type_bytes("double", sizeof(double), &double_type) == HAUL_OK &&
           haul_type_bytes("double complex", 2 * sizeof(double), &complex_type) == HAUL_OK &&
           haul_type_bytes("float", sizeof(float), &float_type) == HAUL_OK &&
           haul_type_bytes("float complex", 2 * sizeof(float), &float_complex_type) == HAUL_OK &&
           haul_type_create("cholmod_sparse", sizeof(cholmod_sparse), sparse_rows, SPARSE_ROWS,
                            &sparse_type) == HAUL_OK &&
           haul_type_create("cholmod_dense", sizeof(cholmod_dense), dense_rows,
                            COUNT_OF(dense_rows), &dense_type) == HAUL_OK &&
           haul_type_create("cholmod_triplet", sizeof(cholmod_triplet), triplet_rows,
                            COUNT_OF(triplet_rows), &triplet_type) == HAUL_OK &&
           haul_type_create("cholmod_factor", sizeof(cholmod_factor), factor_rows,
                            COUNT_OF(factor_rows), &factor_type) == HAUL_OK &&
           commit(sparse_type) && commit(dense_type) && commit(triplet_type) && commit(factor_type);
}

void cholmod_types_close(void)
{
    haul_type **all[] = { &sparse_type, &dense_type,        &triplet_type, &factor_type,
                          &int_type,    &long_type,         &double_type,  &complex_type,
                          &float_type,  &float_complex_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

haul_type *sparse_type_with(const haul_ref *row)
{
    haul_ref rows[SPARSE_ROWS];
    haul_type *type = NULL;
    size_t i;
    for (i = 0; i < SPARSE_ROWS; i++)
        rows[i] = strcmp(sparse_rows[i].name, row->name) == 0 ? *row : sparse_rows[i];
    if (haul_type_create("cholmod_sparse", sizeof(cholmod_sparse), rows, SPARSE_ROWS, &type) !=
            HAUL_OK ||
        !commit(type))
        haul_type_free(&type);
    return type;
}
