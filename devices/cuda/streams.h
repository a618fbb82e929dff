/* Fences, the side stream, answers. */
#ifndef HAUL_CUDA_STREAMS_H
#define HAUL_CUDA_STREAMS_H

#include "gpu.h"

void haul__gpu_drop_fences(haul__gpu *gpu);
/* The side stream. After a branch, its next order comes behind a fence; after a join, the next
 * order of the selected stream comes behind the side stream. When a join fails, the side stream is
 * idle. All streams share it: may_branch is 0 while it has work of another stream. */
int haul__gpu_may_branch(haul__gpu *gpu, const haul__gpu_visit *visit);
haul_status haul__gpu_branch(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t fence);
haul_status haul__gpu_join(haul__gpu *gpu, const haul__gpu_visit *visit);

/* ---- answer.c */

/* Sets up answers. A failure is no error: the device then works without them. */
void haul__gpu_make_answers(haul__gpu *gpu, const haul__gpu_visit *visit);
void haul__gpu_drop_answers(haul__gpu *gpu, const haul__gpu_visit *visit);
/* Fills `answer` for the next kernel on the selected stream, which then writes the next number as
 * it ends. 0: it does not. */
int haul__gpu_may_answer(haul__gpu *gpu, haul__gpu_answer *answer);
/* Has the selected stream done all its work? Spins for `seconds` at most. `ordered`: its last
 * kernel writes the number. 0: not yet, it has failed, or there are no answers. */
int haul__gpu_has_answered(haul__gpu *gpu, int ordered, double seconds);

double haul__gpu_seconds(void);

#endif
