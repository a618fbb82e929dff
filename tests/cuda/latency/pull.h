/* Kernels that are timed: an empty one, and one that pulls pinned memory in several shapes.
 */
#ifndef HAUL_TESTS_CUDA_LATENCY_PULL_H
#define HAUL_TESTS_CUDA_LATENCY_PULL_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A way to tell the host from within a kernel: the last of its blocks writes `ticket` to *told. */
typedef struct pull_flag {
    unsigned *arrived; /* in device memory, 0 */
    unsigned *told;    /* mapped host memory; NULL: tell nobody */
    unsigned ticket;
} pull_flag;

void pull_nothing(const pull_flag *flag, cudaStream_t stream);

/* Copies `bytes`, a multiple of 16, with `threads` in each block and `vectors` (1, 2 or 4) of 16
 * bytes for each. */
void pull_start(void *to, const void *from, size_t bytes, unsigned threads, unsigned vectors,
                const pull_flag *flag, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
