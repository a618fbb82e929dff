/* What memory.c offers beside its verbs. */
#ifndef HAUL_CUDA_MEMORY_H
#define HAUL_CUDA_MEMORY_H

#include "gpu.h"

/* The address of such memory for kernels; NULL where it is not pinned. */
const unsigned char *haul__gpu_mapped(const haul__gpu_visit *visit, const void *memory);
/* The pool that settings and GPU call for; gpu->pool stays NULL where there is none. What it has
 * spare goes before it. */
cudaError_t haul__gpu_make_pool(haul__gpu *gpu);
void haul__gpu_drop_spares(haul__gpu *gpu, const haul__gpu_visit *visit);
/* Whose memory an address is. 0: CUDA cannot tell. */
int haul__gpu_ask_owner(const haul__gpu_visit *visit, const void *address,
                        struct cudaPointerAttributes *owner);
/* HAUL_ERROR_ARGUMENT unless the GPU's kernels may write all of [address, address + bytes). */
haul_status haul__gpu_check_memory(haul__gpu *gpu, const haul__gpu_visit *visit,
                                   haul_address address, uint64_t bytes);
/* Forgets that it has been found out of a range that goes. */
void haul__gpu_forget(haul__gpu *gpu, haul_address address, uint64_t bytes);

#endif
