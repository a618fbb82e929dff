/* haul_bench_chains: the level of Linear and Dense, and the kernels' doors.
 *
 *     main.c       both structures, the ways to the device, times and checks
 *     kernels.cu   the kernels, each with and without the chain
 */
#ifndef LEVELS_H
#define LEVELS_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 32 bytes, in the order of the original. Linear has one next level, Dense next_count of them. */
typedef struct level {
    double *a;
    int a_count;
    struct level *next;
    int next_count;
} level;

/* a[i] *= factor for all n elements, in the stream. `by_chain` gets the array's own address.
 * `by_walk` gets the root, and every thread follows `steps` pointers from there, 0 to 8.
 * `by_dense` follows three, each to the last of `children`. */
void scale_by_chain(double *a, size_t n, double factor, cudaStream_t stream);
void scale_by_walk(const level *root, int steps, size_t n, double factor, cudaStream_t stream);
void scale_by_dense(const level *root, size_t children, size_t n, double factor,
                    cudaStream_t stream);
void do_nothing(cudaStream_t stream);

/* The same, and *cycles on the device becomes the most processor cycles that a thread has taken
 * inside of the kernel, unless it was more. */
void clock_chain(double *a, size_t n, double factor, unsigned long long *cycles,
                 cudaStream_t stream);
void clock_walk(const level *root, int steps, size_t n, double factor, unsigned long long *cycles,
                cudaStream_t stream);
void clock_dense(const level *root, size_t children, size_t n, double factor,
                 unsigned long long *cycles, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
