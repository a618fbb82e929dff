/* Strips of GPU memory to a pinned buffer, and back. */
#ifndef HAUL_CUDA_STRIPS_H
#define HAUL_CUDA_STRIPS_H

#include "gpu.h"

haul_status haul__gpu_gather_strips(void *state, void *packed, size_t bytes,
                                    const haul_strip *strips, size_t count);
haul_status haul__gpu_scatter_strips(void *state, const haul_strip *strips, size_t count,
                                     const void *packed, size_t bytes);

#endif
