/* The parts of a solver by CXSparse, in one struct.
 *
 * A struct cs says how large it is. The factorizations do not: the arrays of css, csn and csd are
 * as long as the matrix has rows or columns, and the matrix stands elsewhere. So the cases keep the
 * parts of a solver together, and counts are read from its matrix by way of the root. Where the
 * parts are roots of their own the matrix is the context's argument.
 */
#ifndef HAUL_TESTS_CSPARSE_SOLVER_H
#define HAUL_TESTS_CSPARSE_SOLVER_H

#include <cs.h>

#include "haul.h"

typedef struct solver {
    cs *triplets, *A;
    css *S;
    csn *N;
    csd *D;
    CS_ENTRY *b;
} solver;

static inline const cs *matrix_of(const haul_here *here)
{
    return here->argument ? here->argument : ((const solver *)here->root)->A;
}

#endif
