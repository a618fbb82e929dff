/* Marking an object of a simple type that is longer than a cell, and whose last byte lies in
 * `next`. 1: it is new; 0: all of it was marked before, as this; -1: haul__mark must do it.
 */
#ifndef HAUL_MAP_MARK_LONG_H
#define HAUL_MAP_MARK_LONG_H

#include "map/map.h"

/* For blocks of the object's own uniform form. */
int haul__mark_long(haul__block *block, haul__block *next, uintptr_t address,
                    const haul__simple *simple);
/* For other blocks, except full ones. In mixed blocks the object may begin and end at any word. */
int haul__mark_long_apart(haul__block *block, haul__block *next, uintptr_t address,
                          const haul__simple *simple);

#endif
