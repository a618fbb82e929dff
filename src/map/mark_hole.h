/* Places for bytes that are not live.
 */
#ifndef HAUL_MAP_MARK_HOLE_H
#define HAUL_MAP_MARK_HOLE_H

#include "map/map.h"

/* Gives every granule of [first, end) a place, without making its bytes live. 0: out of memory. */
int haul__mark_hole(haul__map *map, uintptr_t first, uintptr_t end);
/* The same for bytes that belong to no object: pointers to them lead out of the graph. */
int haul__mark_gap(haul__map *map, uintptr_t first, uintptr_t end);

#endif
