/* Why there is no GPU. */
#ifndef HAUL_CUDA_GPUS_H
#define HAUL_CUDA_GPUS_H

#include "gpu.h"

void haul__gpu_refusal(const void *settings, haul_status status, char *text, size_t bytes);

#endif
