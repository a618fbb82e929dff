/* Names on a profiler's time line. */
#ifndef HAUL_CUDA_RANGES_H
#define HAUL_CUDA_RANGES_H

#include "gpu.h"

void haul__gpu_phase_begin(void *state, const char *name);
void haul__gpu_phase_end(void *state);

void haul__gpu_range_open(haul__gpu *gpu);
void haul__gpu_range_close(haul__gpu *gpu);
void haul__gpu_range_begin(haul__gpu *gpu, const char *name);
void haul__gpu_range_end(haul__gpu *gpu);

#endif
