/* Calls of the user's callbacks.
 */
#ifndef HAUL_WALK_CALLBACKS_H
#define HAUL_WALK_CALLBACKS_H

#include "walk/discovery.h"
#include "walk/read_set.h"

/* Fills in the root, argument, parent and holder of `here`, calls the function, and adds its answer
 * to the read set. */
haul_status haul__call_back(haul__discovery *d, const haul__slot *slot, haul_function *function,
                            haul_here *here, haul__question question, int64_t *answer);

#endif
