/* What is done with CXSparse, in each of its four forms. */
#ifndef HAUL_TESTS_CSPARSE_CASES_H
#define HAUL_TESTS_CSPARSE_CASES_H

#include "sparse.h"

typedef struct csparse_inputs {
    /* symmetric and Hermitian: factored by Cholesky; field where numbers are complex */
    entries definite, field;
    entries random;
    entries flow; /* unsymmetric: LU */
    entries tall; /* more rows than columns: QR */
    entries small;
    entries file, definite_file; /* no rows: there is none */
} csparse_inputs;

/* double or complex numbers, int or long integers */
void cs_di_cases(const csparse_inputs *in);
void cs_dl_cases(const csparse_inputs *in);
void cs_ci_cases(const csparse_inputs *in);
void cs_cl_cases(const csparse_inputs *in);

#endif
