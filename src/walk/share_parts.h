/* The parts of the map that threads mark in.
 */
#ifndef HAUL_WALK_SHARE_PARTS_H
#define HAUL_WALK_SHARE_PARTS_H

#include "walk/share.h"

/* Each thread gets a part of the map, and all that marking asks for. The map takes the parts over
 * after the loop (haul__map_join). */
void haul__give_parts(haul__discovery *d, haul__share *share);
/* Runs a loop over the sharers between two rounds of a walk by aims. Each has a part of the map. 0:
 * out of memory. */
int haul__share_run(haul__discovery *d, haul__share *share, haul__pool_work *work, void *user);

#endif
