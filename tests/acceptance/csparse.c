/* CXSparse's own functions on relocated copies of its matrices and factorizations.
 *
 *     haul_accept_csparse [--seed N] [FILE...]
 */
#include <stdio.h>
#include <string.h>

#include "csparse_cases.h"

int main(int count, char **words)
{
    csparse_inputs in;
    uint64_t seed = random_seed(count, words);
    printf("seed %llu\n", (unsigned long long)seed);
    memset(&in, 0, sizeof in);
    in.definite = laplacian(128, 2);
    in.field = hermitian(100);
    in.random = random_definite(1200, 3, seed);
    in.flow = convection(100);
    in.tall = gradient(50);
    in.small = laplacian(12, 2);
    matrix_from_file(count, words, 0, &in.file);
    matrix_from_file(count, words, 1, &in.definite_file);
    cs_di_cases(&in);
    cs_dl_cases(&in);
    cs_ci_cases(&in);
    cs_cl_cases(&in);
    entries_free(&in.definite);
    entries_free(&in.field);
    entries_free(&in.random);
    entries_free(&in.flow);
    entries_free(&in.tall);
    entries_free(&in.small);
    entries_free(&in.file);
    entries_free(&in.definite_file);
    return account();
}
