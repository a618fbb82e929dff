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

HAUL_FUNCTION(sparse_kind, cholmod_sparse, KIND(self->xtype, self->dtype))
enum { SPARSE_ROWS = 5 };
static const haul_field sparse_rows[SPARSE_ROWS] = {
    HAUL_ADDRESS(cholmod_sparse, p, .count = HAUL_COUNT_PLUS(cholmod_sparse, ncol, 1), .type_switch = HAUL_SWITCH(cholmod_sparse, itype, position_cases)),
    HAUL_ADDRESS(cholmod_sparse, i, .count = HAUL_COUNT(cholmod_sparse, nzmax), .type_switch = HAUL_SWITCH(cholmod_sparse, itype, index_cases)),
    HAUL_ADDRESS(cholmod_sparse, nz, .count = HAUL_COUNT(cholmod_sparse, ncol), .when = HAUL_EQUALS(cholmod_sparse, packed, 0), .type_switch = HAUL_SWITCH(cholmod_sparse, itype, index_cases)),
    HAUL_ADDRESS(cholmod_sparse, x, .count = HAUL_COUNT(cholmod_sparse, nzmax), .when = HAUL_DIFFERS(cholmod_sparse, xtype, CHOLMOD_PATTERN), .type_switch = HAUL_SWITCH_FN(sparse_kind, number_cases)),
    HAUL_ADDRESS(cholmod_sparse, z, .count = HAUL_COUNT(cholmod_sparse, nzmax), .when = HAUL_EQUALS(cholmod_sparse, xtype, CHOLMOD_ZOMPLEX), .type_switch = HAUL_SWITCH_FN(sparse_kind, number_cases)),
};

/* ---- cholmod_dense. nzmax is the leading dimension times the columns. */

HAUL_FUNCTION(dense_kind, cholmod_dense, KIND(self->xtype, self->dtype))
static const haul_field dense_rows[] = {
    HAUL_ADDRESS(cholmod_dense, x, .count = HAUL_COUNT(cholmod_dense, nzmax), .when = HAUL_DIFFERS(cholmod_dense, xtype, CHOLMOD_PATTERN), .type_switch = HAUL_SWITCH_FN(dense_kind, number_cases)),
    HAUL_ADDRESS(cholmod_dense, z, .count = HAUL_COUNT(cholmod_dense, nzmax), .when = HAUL_EQUALS(cholmod_dense, xtype, CHOLMOD_ZOMPLEX), .type_switch = HAUL_SWITCH_FN(dense_kind, number_cases)),
};

/* ---- cholmod_triplet. */

HAUL_FUNCTION(triplet_kind, cholmod_triplet, KIND(self->xtype, self->dtype))
#define TRIPLET_INDEX .type_switch = HAUL_SWITCH(cholmod_triplet, itype, index_cases)
static const haul_field triplet_rows[] = {
    HAUL_ADDRESS(cholmod_triplet, i, .count = HAUL_COUNT(cholmod_triplet, nzmax), TRIPLET_INDEX),
    HAUL_ADDRESS(cholmod_triplet, j, .count = HAUL_COUNT(cholmod_triplet, nzmax), TRIPLET_INDEX),
    HAUL_ADDRESS(cholmod_triplet, x, .count = HAUL_COUNT(cholmod_triplet, nzmax), .when = HAUL_DIFFERS(cholmod_triplet, xtype, CHOLMOD_PATTERN), .type_switch = HAUL_SWITCH_FN(triplet_kind, number_cases)),
    HAUL_ADDRESS(cholmod_triplet, z, .count = HAUL_COUNT(cholmod_triplet, nzmax), .when = HAUL_EQUALS(cholmod_triplet, xtype, CHOLMOD_ZOMPLEX), .type_switch = HAUL_SWITCH_FN(triplet_kind, number_cases)),
};

/* ---- cholmod_factor. Four kinds: simplicial or supernodal, with numbers or symbolic. A simplicial
 * symbolic one has nothing but Perm and ColCount. x is shared: nzmax numbers in a simplicial
 * factor, xsize in a supernodal one. */

HAUL_FUNCTION(factor_kind, cholmod_factor, KIND(self->xtype, self->dtype))
HAUL_FUNCTION(factor_n, cholmod_factor, self->n)
HAUL_FUNCTION(is_simplicial, cholmod_factor, !self->is_super && self->xtype != CHOLMOD_PATTERN)
HAUL_FUNCTION(is_simplicial_zomplex, cholmod_factor, !self->is_super && self->xtype == CHOLMOD_ZOMPLEX)
HAUL_FUNCTION(is_supernodal, cholmod_factor, self->is_super && self->xtype != CHOLMOD_PATTERN)
#define FACTOR_INDEX .type_switch = HAUL_SWITCH(cholmod_factor, itype, index_cases)
#define SIMPLICIAL_INDEX .when = HAUL_WHEN_FN(is_simplicial), .type_switch = HAUL_SWITCH(cholmod_factor, itype, index_cases)
#define SUPER_INDEX .when = HAUL_DIFFERS(cholmod_factor, is_super, 0), .type_switch = HAUL_SWITCH(cholmod_factor, itype, index_cases)
#define SUPER_POSITION .when = HAUL_DIFFERS(cholmod_factor, is_super, 0), .type_switch = HAUL_SWITCH(cholmod_factor, itype, position_cases)
static const haul_field factor_rows[] = {
    HAUL_ADDRESS(cholmod_factor, Perm, .count = HAUL_COUNT(cholmod_factor, n), FACTOR_INDEX),
    HAUL_ADDRESS(cholmod_factor, ColCount, .count = HAUL_COUNT(cholmod_factor, n), FACTOR_INDEX),
    HAUL_ADDRESS(cholmod_factor, IPerm, .count = HAUL_COUNT_FN(factor_n), FACTOR_INDEX), /* often NULL */
    HAUL_ADDRESS(cholmod_factor, p, .count = HAUL_COUNT_PLUS(cholmod_factor, n, 1), .when = HAUL_WHEN_FN(is_simplicial), .type_switch = HAUL_SWITCH(cholmod_factor, itype, position_cases)),
    HAUL_ADDRESS(cholmod_factor, i, .count = HAUL_COUNT(cholmod_factor, nzmax), SIMPLICIAL_INDEX),
    HAUL_ADDRESS(cholmod_factor, x, .count = HAUL_COUNT(cholmod_factor, nzmax), .when = HAUL_WHEN_FN(is_simplicial), .type_switch = HAUL_SWITCH_FN(factor_kind, number_cases)),
    HAUL_ADDRESS(cholmod_factor, z, .count = HAUL_COUNT(cholmod_factor, nzmax), .when = HAUL_WHEN_FN(is_simplicial_zomplex), .type_switch = HAUL_SWITCH_FN(factor_kind, number_cases)),
    HAUL_ADDRESS(cholmod_factor, nz, .count = HAUL_COUNT(cholmod_factor, n), SIMPLICIAL_INDEX),
    HAUL_ADDRESS(cholmod_factor, next, .count = HAUL_COUNT_PLUS(cholmod_factor, n, 2), SIMPLICIAL_INDEX),
    HAUL_ADDRESS(cholmod_factor, prev, .count = HAUL_COUNT_PLUS(cholmod_factor, n, 2), SIMPLICIAL_INDEX),
    HAUL_ADDRESS(cholmod_factor, super, .count = HAUL_COUNT_PLUS(cholmod_factor, nsuper, 1), SUPER_INDEX),
    HAUL_ADDRESS(cholmod_factor, pi, .count = HAUL_COUNT_PLUS(cholmod_factor, nsuper, 1), SUPER_POSITION),
    HAUL_ADDRESS(cholmod_factor, px, .count = HAUL_COUNT_PLUS(cholmod_factor, nsuper, 1), SUPER_POSITION),
    HAUL_ADDRESS(cholmod_factor, s, .count = HAUL_COUNT(cholmod_factor, ssize), SUPER_INDEX),
    HAUL_ADDRESS(cholmod_factor, x, .count = HAUL_COUNT(cholmod_factor, xsize), .when = HAUL_WHEN_FN(is_supernodal), .type_switch = HAUL_SWITCH_FN(factor_kind, number_cases)),
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

haul_type *sparse_type_with(const haul_field *row)
{
    haul_field rows[SPARSE_ROWS];
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
