/* Device memory and staging. */
#ifndef HAUL_CUDA_ALLOCATIONS_H
#define HAUL_CUDA_ALLOCATIONS_H

#include "gpu.h"

haul_status haul__gpu_allocate(void *state, uint64_t bytes, size_t alignment,
                               haul_address *address);
haul_status haul__gpu_allocate_in_places(void *state, uint64_t bytes, size_t alignment,
                                         const haul_placing *placings, size_t count,
                                         haul_address *address);
uint64_t haul__gpu_free_bytes(void *state);
void haul__gpu_release(void *state, haul_address address, uint64_t bytes);
haul_status haul__gpu_stage(void *state, size_t bytes, void **memory);
void haul__gpu_unstage(void *state, void *memory, size_t bytes);

/* The address of pinned host memory for kernels; NULL: it is not pinned. */
const unsigned char *haul__gpu_mapped(const haul__gpu_visit *visit, const void *memory);
/* Makes the pool; gpu->pool stays NULL if settings or GPU exclude one. Before the pool is
 * destroyed, its spare memory is dropped. */
cudaError_t haul__gpu_make_pool(haul__gpu *gpu);
void haul__gpu_drop_spares(haul__gpu *gpu, const haul__gpu_visit *visit);
/* Asks CUDA whose memory an address is. 0: CUDA cannot tell. */
int haul__gpu_ask_owner(const haul__gpu_visit *visit, const void *address,
                        struct cudaPointerAttributes *owner);
/* HAUL_ERROR_ARGUMENT unless kernels of the GPU may write all of [address, address + bytes). */
haul_status haul__gpu_check_memory(haul__gpu *gpu, const haul__gpu_visit *visit,
                                   haul_address address, uint64_t bytes);
/* Forgets check results for a range that is released. */
void haul__gpu_forget(haul__gpu *gpu, haul_address address, uint64_t bytes);

#endif
