/* Fences, the side stream, and answers: streams.c and answer.c. */
#ifndef HAUL_CUDA_STREAMS_H
#define HAUL_CUDA_STREAMS_H

#include "gpu.h"

void haul__gpu_drop_fences(haul__gpu *gpu);
/* The side stream: what it is told next comes behind a fence, and what the selected stream is told
 * after the second, behind what the side stream was told. When the second fails, the side stream
 * has nothing left to do. It is one for all streams: while another stream's work is under way
 * there, it is not to be used. */
int haul__gpu_may_branch(haul__gpu *gpu, const haul__gpu_visit *visit);
haul_status haul__gpu_branch(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t fence);
haul_status haul__gpu_join(haul__gpu *gpu, const haul__gpu_visit *visit);

/* ---- answer.c */

/* Nothing fails for want of answers. */
void haul__gpu_make_answers(haul__gpu *gpu, const haul__gpu_visit *visit);
void haul__gpu_drop_answers(haul__gpu *gpu, const haul__gpu_visit *visit);
/* The next kernel on the selected stream may end with writing the next number: where, and what
 * counts its blocks. 0: it need not. */
int haul__gpu_may_answer(haul__gpu *gpu, haul__gpu_answer *answer);
/* Has the selected stream done all that it was told? Waits, awake, so many seconds at most.
 * `ordered`: its last kernel writes the number. 0: not yet, or it has failed, or nobody can say. */
int haul__gpu_has_answered(haul__gpu *gpu, int ordered, double seconds);

double haul__gpu_seconds(void);

#endif
