/* Kernels of a user's, for the tests: some that work, one that waits, some that fail.
 */
#ifndef HAUL_TESTS_CUDA_KERNELS_H
#define HAUL_TESTS_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* words[i] += delta */
void user_add(uint64_t *words, size_t count, uint64_t delta, cudaStream_t stream);
/* The same as `user_add`, started as kernel<<<grid, block>>> is: on the legacy default stream. */
void user_add_plainly(uint64_t *words, size_t count, uint64_t delta);

/* Runs until *flag, in mapped host memory, is not 0, but for some seconds at most. */
void user_hold(const int *flag, cudaStream_t stream);

typedef struct user_node {
    struct user_node *next;
    uint64_t value;
    double *row; /* `columns` of them */
    uint64_t columns;
} user_node;

/* *sum: of all values and rows of a list; then each value is doubled and each element of a row is
 * one more. */
void user_walk(user_node *list, double *sum, cudaStream_t stream);

void user_fault(cudaStream_t stream); /* writes to an address that is not there */
void user_trap(cudaStream_t stream);  /* an illegal instruction */
/* more threads than a block can have: the error, which stays pending */
cudaError_t user_launch_wrongly(void);

#ifdef __cplusplus
}
#endif
#endif
