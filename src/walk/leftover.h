/* What a shared walk leaves to one thread (leftover.c).
 */
#ifndef HAUL_WALK_LEFTOVER_H
#define HAUL_WALK_LEFTOVER_H

#include "walk/discovery.h"

/* Do all blocks show where objects start? */
int haul__are_uniform(const haul__map *map);
/* While one thread walks on, it checks each object that it cannot mark in line, and all blocks in
 * the end. HAUL_ERROR_GRAPH: an object may overlap another, and one thread must do the whole walk.
 */
haul_status haul__check_leftover(haul__discovery *d, uintptr_t address, uint32_t number);
haul_status haul__end_leftovers(haul__discovery *d);

#endif
