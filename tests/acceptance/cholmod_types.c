/* CHOLMOD's structs in Haul's words.
 *
 * All arrays are void *: what they hold is said by the struct's itype (the width of integers) and
 * by xtype and dtype (the kind of numbers), so one description serves the int and the long library,
 * and all kinds of numbers. Whether they are there at all is said by xtype, packed and is_super.
 */
#include <stdio.h>
#include <string.h>

#include "cholmod_types.h"
#include "sparse.h"

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

#define INDEX(S) .type_switch = HAUL_SWITCH(S, itype, index_cases)
#define POSITION(S) .type_switch = HAUL_SWITCH(S, itype, position_cases)
#define NUMBER(kind) .type_switch = HAUL_SWITCH_FN(kind, number_cases)

/* ---- cholmod_sparse. */

HAUL_FUNCTION(sparse_kind, cholmod_sparse, KIND(self->xtype, self->dtype))
enum { SPARSE_ROWS = 5 };
static const haul_field sparse_rows[SPARSE_ROWS] = {
    HAUL_ADDRESS(cholmod_sparse, p, .count = HAUL_COUNT_PLUS(cholmod_sparse, ncol, 1),
                 POSITION(cholmod_sparse)),
    HAUL_ADDRESS(cholmod_sparse, i, .count = HAUL_COUNT(cholmod_sparse, nzmax),
                 INDEX(cholmod_sparse)),
    HAUL_ADDRESS(cholmod_sparse, nz, .count = HAUL_COUNT(cholmod_sparse, ncol),
                 .when = HAUL_EQUALS(cholmod_sparse, packed, 0), INDEX(cholmod_sparse)),
    HAUL_ADDRESS(cholmod_sparse, x, .count = HAUL_COUNT(cholmod_sparse, nzmax),
                 .when = HAUL_DIFFERS(cholmod_sparse, xtype, CHOLMOD_PATTERN), NUMBER(sparse_kind)),
    HAUL_ADDRESS(cholmod_sparse, z, .count = HAUL_COUNT(cholmod_sparse, nzmax),
                 .when = HAUL_EQUALS(cholmod_sparse, xtype, CHOLMOD_ZOMPLEX), NUMBER(sparse_kind)),
};

/* ---- cholmod_dense. nzmax is the leading dimension times the columns. */

HAUL_FUNCTION(dense_kind, cholmod_dense, KIND(self->xtype, self->dtype))
static const haul_field dense_rows[] = {
    HAUL_ADDRESS(cholmod_dense, x, .count = HAUL_COUNT(cholmod_dense, nzmax),
                 .when = HAUL_DIFFERS(cholmod_dense, xtype, CHOLMOD_PATTERN), NUMBER(dense_kind)),
    HAUL_ADDRESS(cholmod_dense, z, .count = HAUL_COUNT(cholmod_dense, nzmax),
                 .when = HAUL_EQUALS(cholmod_dense, xtype, CHOLMOD_ZOMPLEX), NUMBER(dense_kind)),
};

/* ---- cholmod_triplet. */

HAUL_FUNCTION(triplet_kind, cholmod_triplet, KIND(self->xtype, self->dtype))
static const haul_field triplet_rows[] = {
    HAUL_ADDRESS(cholmod_triplet, i, .count = HAUL_COUNT(cholmod_triplet, nzmax),
                 INDEX(cholmod_triplet)),
    HAUL_ADDRESS(cholmod_triplet, j, .count = HAUL_COUNT(cholmod_triplet, nzmax),
                 INDEX(cholmod_triplet)),
    HAUL_ADDRESS(cholmod_triplet, x, .count = HAUL_COUNT(cholmod_triplet, nzmax),
                 .when = HAUL_DIFFERS(cholmod_triplet, xtype, CHOLMOD_PATTERN),
                 NUMBER(triplet_kind)),
    HAUL_ADDRESS(cholmod_triplet, z, .count = HAUL_COUNT(cholmod_triplet, nzmax),
                 .when = HAUL_EQUALS(cholmod_triplet, xtype, CHOLMOD_ZOMPLEX),
                 NUMBER(triplet_kind)),
};

/* ---- cholmod_factor. Four kinds: simplicial or supernodal, with numbers or symbolic. A simplicial
 * symbolic one has nothing but Perm and ColCount. x is shared: nzmax numbers in a simplicial
 * factor, xsize in a supernodal one. */

HAUL_FUNCTION(factor_kind, cholmod_factor, KIND(self->xtype, self->dtype))
HAUL_FUNCTION(factor_n, cholmod_factor, self->n)
HAUL_FUNCTION(is_simplicial, cholmod_factor, !self->is_super && self->xtype != CHOLMOD_PATTERN)
HAUL_FUNCTION(is_simplicial_zomplex, cholmod_factor,
              !self->is_super && self->xtype == CHOLMOD_ZOMPLEX)
HAUL_FUNCTION(is_supernodal, cholmod_factor, self->is_super && self->xtype != CHOLMOD_PATTERN)
#define SIMPLICIAL_INDEX .when = HAUL_WHEN_FN(is_simplicial), INDEX(cholmod_factor)
#define SUPER_INDEX .when = HAUL_DIFFERS(cholmod_factor, is_super, 0), INDEX(cholmod_factor)
#define SUPER_POSITION .when = HAUL_DIFFERS(cholmod_factor, is_super, 0), POSITION(cholmod_factor)
static const haul_field factor_rows[] = {
    HAUL_ADDRESS(cholmod_factor, Perm, .count = HAUL_COUNT(cholmod_factor, n),
                 INDEX(cholmod_factor)),
    HAUL_ADDRESS(cholmod_factor, ColCount, .count = HAUL_COUNT(cholmod_factor, n),
                 INDEX(cholmod_factor)),
    HAUL_ADDRESS(cholmod_factor, IPerm, .count = HAUL_COUNT_FN(factor_n),
                 INDEX(cholmod_factor)), /* often NULL */
    HAUL_ADDRESS(cholmod_factor, p, .count = HAUL_COUNT_PLUS(cholmod_factor, n, 1),
                 .when = HAUL_WHEN_FN(is_simplicial), POSITION(cholmod_factor)),
    HAUL_ADDRESS(cholmod_factor, i, .count = HAUL_COUNT(cholmod_factor, nzmax), SIMPLICIAL_INDEX),
    HAUL_ADDRESS(cholmod_factor, x, .count = HAUL_COUNT(cholmod_factor, nzmax),
                 .when = HAUL_WHEN_FN(is_simplicial), NUMBER(factor_kind)),
    HAUL_ADDRESS(cholmod_factor, z, .count = HAUL_COUNT(cholmod_factor, nzmax),
                 .when = HAUL_WHEN_FN(is_simplicial_zomplex), NUMBER(factor_kind)),
    HAUL_ADDRESS(cholmod_factor, nz, .count = HAUL_COUNT(cholmod_factor, n), SIMPLICIAL_INDEX),
    HAUL_ADDRESS(cholmod_factor, next, .count = HAUL_COUNT_PLUS(cholmod_factor, n, 2),
                 SIMPLICIAL_INDEX),
    HAUL_ADDRESS(cholmod_factor, prev, .count = HAUL_COUNT_PLUS(cholmod_factor, n, 2),
                 SIMPLICIAL_INDEX),
    HAUL_ADDRESS(cholmod_factor, super, .count = HAUL_COUNT_PLUS(cholmod_factor, nsuper, 1),
                 SUPER_INDEX),
    HAUL_ADDRESS(cholmod_factor, pi, .count = HAUL_COUNT_PLUS(cholmod_factor, nsuper, 1),
                 SUPER_POSITION),
    HAUL_ADDRESS(cholmod_factor, px, .count = HAUL_COUNT_PLUS(cholmod_factor, nsuper, 1),
                 SUPER_POSITION),
    HAUL_ADDRESS(cholmod_factor, s, .count = HAUL_COUNT(cholmod_factor, ssize), SUPER_INDEX),
    HAUL_ADDRESS(cholmod_factor, x, .count = HAUL_COUNT(cholmod_factor, xsize),
                 .when = HAUL_WHEN_FN(is_supernodal), NUMBER(factor_kind)),
};

/* ---- Making them. */

static const haul_struct structs[] = {
    HAUL_PLAIN(int, &int_type),
    HAUL_PLAIN(SuiteSparse_long, &long_type),
    HAUL_PLAIN(double, &double_type),
    { .name = "double complex", .bytes = 2 * sizeof(double), .type = &complex_type },
    HAUL_PLAIN(float, &float_type),
    { .name = "float complex", .bytes = 2 * sizeof(float), .type = &float_complex_type },
    HAUL_STRUCT(cholmod_sparse, &sparse_type, sparse_rows),
    HAUL_STRUCT(cholmod_dense, &dense_type, dense_rows),
    HAUL_STRUCT(cholmod_triplet, &triplet_type, triplet_rows),
    HAUL_STRUCT(cholmod_factor, &factor_type, factor_rows),
};

int cholmod_types_open(void)
{
    return check_call(HAUL_DESCRIBE(types_context(), structs), types_context(), "describing");
}

void cholmod_types_close(void)
{
    HAUL_FORGET(structs);
}

haul_type *sparse_type_with(const haul_field *row)
{
    haul_field rows[SPARSE_ROWS];
    haul_type *type = NULL;
    const haul_struct what[] = { HAUL_STRUCT(cholmod_sparse, &type, rows) };
    size_t i;
    for (i = 0; i < SPARSE_ROWS; i++)
        rows[i] = strcmp(sparse_rows[i].name, row->name) == 0 ? *row : sparse_rows[i];
    check_call(HAUL_DESCRIBE(types_context(), what), types_context(), "describing");
    return type;
}
