/* CXSparse's structs in Haul's words: for one of its four forms, in one file. */
#ifndef HAUL_TESTS_CSPARSE_TYPES_H
#define HAUL_TESTS_CSPARSE_TYPES_H

#include "csparse_solver.h"

static haul_type *cs_type, *css_type, *csn_type, *csd_type, *solver_type, *entry_type;

HAUL_FUNCTION(room, cs, self->nzmax)
HAUL_FUNCTION(rows, cs, matrix_of(here)->m)
HAUL_FUNCTION(columns, cs, matrix_of(here)->n)
HAUL_FUNCTION(inverse_rows, css,
              self->leftmost ? self->m2 : matrix_of(here)->n) /* leftmost: of a QR */
HAUL_FUNCTION(column_places, css, matrix_of(here)->n + (self->leftmost ? 0 : 1))

/* Triplets have a column for each entry, compressed ones a beginning for each column and an end. */
enum { CS_ROWS = 4 };
static const haul_field cs_rows[CS_ROWS] = {
    HAUL_ARRAY(cs, p, HAUL_COUNT_PLUS(cs, n, 1), .when = HAUL_EQUALS(cs, nz, -1)),
    HAUL_ARRAY(cs, p, HAUL_COUNT(cs, nzmax), .when = HAUL_DIFFERS(cs, nz, -1)),
    HAUL_ARRAY(cs, i, HAUL_COUNT(cs, nzmax)),
    HAUL_ARRAY(cs, x, HAUL_COUNT_FN(room)), /* NULL in a pattern */
};
static const haul_field css_rows[] = {
    HAUL_ARRAY(css, pinv, HAUL_COUNT_FN(inverse_rows)),
    HAUL_ARRAY(css, q, HAUL_COUNT_FN(columns)),
    HAUL_ARRAY(css, parent, HAUL_COUNT_FN(columns)),
    HAUL_ARRAY(css, cp, HAUL_COUNT_FN(column_places)),
    HAUL_ARRAY(css, leftmost, HAUL_COUNT_FN(rows)),
};
static const haul_field csn_rows[] = {
    HAUL_OBJECT(csn, L, &cs_type),
    HAUL_OBJECT(csn, U, &cs_type),
    HAUL_ARRAY(csn, pinv, HAUL_COUNT_FN(columns)),
    HAUL_ARRAY(csn, B, HAUL_COUNT_FN(columns)),
};
static const haul_field csd_rows[] = {
    HAUL_ARRAY(csd, p, HAUL_COUNT_FN(rows)),
    HAUL_ARRAY(csd, q, HAUL_COUNT_FN(columns)),
    HAUL_ARRAY(csd, r, HAUL_COUNT_PLUS(csd, nb, 1)),
    HAUL_ARRAY(csd, s, HAUL_COUNT_PLUS(csd, nb, 1)),
};
static const haul_field solver_rows[] = {
    HAUL_OBJECT(solver, triplets, &cs_type), HAUL_OBJECT(solver, A, &cs_type),
    HAUL_OBJECT(solver, S, &css_type),       HAUL_OBJECT(solver, N, &csn_type),
    HAUL_OBJECT(solver, D, &csd_type),       HAUL_ARRAY(solver, b, HAUL_COUNT_FN(rows)),
};

static const haul_struct structs[] = {
    HAUL_PLAIN(CS_ENTRY, &entry_type),     HAUL_STRUCT(cs, &cs_type, cs_rows),
    HAUL_STRUCT(css, &css_type, css_rows), HAUL_STRUCT(csn, &csn_type, csn_rows),
    HAUL_STRUCT(csd, &csd_type, csd_rows), HAUL_STRUCT(solver, &solver_type, solver_rows),
};

#endif
