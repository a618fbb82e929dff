/* What runs on the GPU, for C. Each function starts one kernel on a stream and answers what the start answers. */
#ifndef HAUL_CUDA_KERNELS_H
#define HAUL_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* haul_relocation, with addresses that the GPU can follow. For `send`, bitmap and odd lie in pinned host memory. */
typedef struct haul__gpu_patch {
    unsigned char *arena;
    uint64_t words;
    const uint64_t *bitmap;
    uint64_t from, bytes, delta;
    const uint64_t *odd;
    uint64_t odd_count;
    unsigned long long *outside; /* NULL: nobody asks */
} haul__gpu_patch;

/* Is there code for the current GPU in the library? cudaErrorNoKernelImageForDevice: no. Loads it. */
cudaError_t haul__gpu_kernels_load(void);
/* Patches an arena where it lies. There is at least one word or one odd pointer. */
cudaError_t haul__gpu_kernels_relocate(const haul__gpu_patch *patch, unsigned word_bytes, int processors,
                                       cudaStream_t stream);
/* Copies `bytes` bytes from `from`, pinned, to the arena, and patches them on the way. Both are multiples of 16. */
cudaError_t haul__gpu_kernels_send(const haul__gpu_patch *patch, unsigned word_bytes, const unsigned char *from,
                                   uint64_t bytes, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
