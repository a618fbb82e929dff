/* What is done with CHOLMOD, by its int and by its long functions. */
#ifndef HAUL_TESTS_CHOLMOD_CASES_H
#define HAUL_TESTS_CHOLMOD_CASES_H

#include "sparse.h"

/* The matrices that both are given. */
typedef struct inputs {
    entries square, cube, field, random, large;
    entries wide;                   /* more columns than rows: L is a factor of A A' */
    entries file, unsymmetric_file; /* no rows: there is none */
} inputs;

void cholmod_cases_int(const inputs *in);
void cholmod_cases_long(const inputs *in);

#endif
