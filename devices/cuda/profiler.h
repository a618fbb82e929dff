/* Names on a profiler's time line: ranges.c. */
#ifndef HAUL_CUDA_PROFILER_H
#define HAUL_CUDA_PROFILER_H

#include "gpu.h"

void haul__gpu_range_open(haul__gpu *gpu);
void haul__gpu_range_close(haul__gpu *gpu);
void haul__gpu_range_begin(haul__gpu *gpu, const char *name);
void haul__gpu_range_end(haul__gpu *gpu);

#endif
