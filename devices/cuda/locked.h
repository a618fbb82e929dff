/* Locked host memory, which the GPU reads and writes in place. */
#ifndef HAUL_CUDA_LOCKED_H
#define HAUL_CUDA_LOCKED_H

#include "gpu.h"

haul_status haul__gpu_lock(void *state, void *memory, size_t bytes);
void haul__gpu_unlock(void *state, void *memory, size_t bytes);
haul_status haul__gpu_pull(void *state, const haul_crossing *crossing);
haul_status haul__gpu_push(void *state, const haul_crossing *crossing);

#endif
