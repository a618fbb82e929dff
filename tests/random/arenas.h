/* The graph of a trial, built in arenas: in one by plain allocations, which is discovered from its
 * roots, and in one by typed allocations. Both are shipped, compared on the device with what the
 * reference says of them, brought back in both ways, and copied there.
 */
#ifndef RANDOM_ARENAS_H
#define RANDOM_ARENAS_H

#include "trial.h"

/* `host` is the reference's walk over the graph; its types' handles are in the model. Answers 1
 * when all is as it must be; else `message` names the step and the difference. */
int arenas_run(trial_world *w, choices *c, const graph *g, const reference *host,
               haul_device *device, char *message, size_t message_bytes);

#endif
