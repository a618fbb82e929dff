/* Copies to, from and across GPUs. */
#ifndef HAUL_CUDA_COPY_H
#define HAUL_CUDA_COPY_H

#include "gpu.h"

haul_status haul__gpu_copy_to(void *state, haul_address to, const void *from, size_t bytes);
haul_status haul__gpu_copy_from(void *state, void *to, haul_address from, size_t bytes);
haul_status haul__gpu_clear(void *state, haul_address at, uint64_t bytes);
haul_status haul__gpu_across(void *state, haul_address to, void *from_state, haul_address from,
                             size_t bytes);

#endif
