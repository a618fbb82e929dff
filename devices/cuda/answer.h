/* A word of host memory that tells how far a stream has come. */
#ifndef HAUL_CUDA_ANSWER_H
#define HAUL_CUDA_ANSWER_H

#include "gpu.h"

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
