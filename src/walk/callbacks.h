/* Calls of the user's callbacks.
 */
#ifndef HAUL_WALK_CALLBACKS_H
#define HAUL_WALK_CALLBACKS_H

#include "walk/pointer.h"
#include "walk/read_set.h"

/* A question to a callback. */
typedef struct haul__asked {
    haul__question question;
    haul_function *function;
    const haul__slot *slot; /* named in errors */
    haul_here here;         /* self, target, index and place */
    haul__nearest nearest;
    int by_rule; /* a rule has worked out the target */
} haul__asked;

/* Fills in the rest of asked->here, calls the function, and adds its answer to the read set. In a
 * changed graph it calls nothing, and takes the answer that the plan got. */
haul_status haul__call_back(haul__discovery *d, haul__asked *asked, unsigned mode, int64_t *answer);

#endif
