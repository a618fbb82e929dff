/* The kernels, for C. Each function launches one kernel on a stream and answers the result of the
 * launch. */
#ifndef HAUL_CUDA_KERNELS_H
#define HAUL_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "haul/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* haul_relocation, with addresses for the GPU. For `send`, `bitmap` and `offsets` are in pinned
 * host memory; for `fetch`, which is the same kernel, `arena` is. */
typedef struct haul__gpu_patch {
    unsigned char *arena;
    uint64_t words;
    const uint64_t *bitmap;
    uint64_t from, bytes, delta;
    const uint64_t *offsets;
    uint64_t offset_count;
    uint32_t *outside; /* in pinned host memory; NULL: external pointers are not reported */
} haul__gpu_patch;

/* The number that a kernel's last block writes when all blocks have ended. `where` NULL: no
 * number. */
typedef struct haul__gpu_answer {
    uint32_t *where; /* in pinned host memory */
    uint32_t number;
    uint32_t *done; /* in device memory: the number of ended blocks; 0 before and after */
} haul__gpu_answer;

/* haul_crossing, with addresses for the GPU. */
typedef struct haul__gpu_crossing {
    unsigned char *arena;
    const haul_segment *segments;
    uint64_t segment_count;
    const haul_attachment *attachments;
    uint32_t *changed; /* in pinned host memory; NULL: scatter to the host */
    haul__gpu_answer answer;
} haul__gpu_crossing;

/* Loads the code for the current GPU. cudaErrorNoKernelImageForDevice: the library has none. */
cudaError_t haul__gpu_kernels_load(void);
/* Patches an arena in place. There is at least one word or one explicit relocation. */
cudaError_t haul__gpu_kernels_relocate(const haul__gpu_patch *patch, unsigned word_bytes,
                                       int processors, cudaStream_t stream);
/* Copies `bytes` bytes from `from` to the arena and patches them on the way. One of the two is
 * pinned host memory, the other device memory; both addresses are multiples of 16. */
cudaError_t haul__gpu_kernels_send(const haul__gpu_patch *patch, unsigned word_bytes,
                                   const unsigned char *from, uint64_t bytes, cudaStream_t stream);
/* Gathers an arena from locked host memory, or scatters it there. Words have 8 bytes; there is at
 * least one segment. */
cudaError_t haul__gpu_kernels_cross(const haul__gpu_crossing *crossing, int processors,
                                    cudaStream_t stream);
/* Copies strips to a buffer (`to_host`), or back. List and buffer are pinned host memory; there is
 * at least one strip. */
cudaError_t haul__gpu_kernels_strips(const haul_strip *strips, uint64_t count,
                                     unsigned char *packed, int to_host, int processors,
                                     cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
