/* Streams, fences, the side stream. */
#ifndef HAUL_CUDA_STREAMS_H
#define HAUL_CUDA_STREAMS_H

#include "gpu.h"

haul_status haul__gpu_select(void *state, void *stream);
haul_status haul__gpu_fence(void *state, uint64_t *fence);
haul_status haul__gpu_poll(void *state, uint64_t fence);
haul_status haul__gpu_await(void *state, uint64_t fence);
haul_status haul__gpu_wait(void *state);
haul_status haul__gpu_signal(void *state, void *event);

void haul__gpu_drop_fences(haul__gpu *gpu);
/* The side stream. After a branch, its next order comes behind a fence; after a join, the next
 * order of the selected stream comes behind the side stream. When a join fails, the side stream is
 * idle. All streams share it: may_branch is 0 while it has work of another stream. */
int haul__gpu_may_branch(haul__gpu *gpu, const haul__gpu_visit *visit);
haul_status haul__gpu_branch(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t fence);
haul_status haul__gpu_join(haul__gpu *gpu, const haul__gpu_visit *visit);

#endif
