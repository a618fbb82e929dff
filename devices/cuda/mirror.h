/* Device memory and host memory at the same addresses. */
#ifndef HAUL_CUDA_MIRROR_H
#define HAUL_CUDA_MIRROR_H

#include "gpu.h"

haul_status haul__gpu_mirror(void *state, size_t bytes, haul_mirror *mirror);
void haul__gpu_unmirror(void *state, const haul_mirror *mirror);

#endif
