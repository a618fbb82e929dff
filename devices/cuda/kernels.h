/* What runs on the GPU, for C. Each function starts one kernel on a stream and answers what the
 * start answers. */
#ifndef HAUL_CUDA_KERNELS_H
#define HAUL_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "haul/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* haul_relocation, with addresses that the GPU can follow. For `send`, bitmap and odd lie in pinned
 * host memory; for a fetch, which is the same kernel, `arena` does. */
typedef struct haul__gpu_patch {
    unsigned char *arena;
    uint64_t words;
    const uint64_t *bitmap;
    uint64_t from, bytes, delta;
    const uint64_t *odd;
    uint64_t odd_count;
    uint32_t *outside; /* on the host; NULL: nobody asks */
} haul__gpu_patch;

/* What a kernel's last block writes where, when all of its blocks have ended; `where` NULL:
 * nothing. */
typedef struct haul__gpu_answer {
    uint32_t *where; /* in pinned host memory */
    uint32_t number;
    uint32_t *done; /* in device memory, 0 before and after: the blocks that have ended */
} haul__gpu_answer;

/* haul_crossing, likewise. */
typedef struct haul__gpu_crossing {
    unsigned char *arena;
    const haul_segment *segments;
    uint64_t segment_count;
    const haul_attachment *attachments;
    uint32_t *changed; /* in pinned host memory; NULL: to the host */
    haul__gpu_answer answer;
} haul__gpu_crossing;

/* Is there code for the current GPU in the library? cudaErrorNoKernelImageForDevice: no. Loads
 * it. */
cudaError_t haul__gpu_kernels_load(void);
/* Patches an arena where it lies. There is at least one word or one odd pointer. */
cudaError_t haul__gpu_kernels_relocate(const haul__gpu_patch *patch, unsigned word_bytes,
                                       int processors, cudaStream_t stream);
/* Copies `bytes` bytes from `from` to the arena, and patches them on the way. One of the two is
 * pinned host memory, the other the device's; both addresses are multiples of 16. */
cudaError_t haul__gpu_kernels_send(const haul__gpu_patch *patch, unsigned word_bytes,
                                   const unsigned char *from, uint64_t bytes, cudaStream_t stream);
/* Gathers an arena from host memory that is locked, or scatters it there. Words have 8 bytes; there
 * is at least one segment. */
cudaError_t haul__gpu_kernels_cross(const haul__gpu_crossing *crossing, int processors,
                                    cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
