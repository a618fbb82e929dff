/* Layout: from marks to places.
 */
#ifndef HAUL_LAYOUT_H
#define HAUL_LAYOUT_H

#include "context/context.h"
#include "map/found.h"

typedef struct haul__placed {
    uint64_t granules; /* of the arena, the reserved first one included */
    size_t slots;      /* on the grid */
    size_t bytes;      /* live */
    size_t alignment;  /* of the arena's base */
} haul__placed;

/* Ends marking and gives every marked granule its place, in order of address. Sorts the map's
 * blocks and the lists of `found`. HAUL_ERROR_MEMORY, HAUL_ERROR_LIMIT (an arena that no size_t can
 * hold). */
haul_status haul__layout(haul_context *context, haul__found *found, haul__placed *placed);

/* The last block that begins at or before a granule of the arena; else the first block. */
size_t haul__block_of_granule(const haul__map *map, uint64_t granule);
/* Did the pointer lead to no elements at discovery? */
int haul__was_empty(const haul__found *found, uintptr_t pointer);
/* The first listed end of an array at this address or behind it: its number, or their count. */
size_t haul__first_array_end(const haul__found *found, uintptr_t address);
/* The end of an array that stands at this address, if ends are listed; NULL: none does. */
const haul__array_end *haul__array_end_at(const haul__found *found, uintptr_t word);

/* The source address of a granule of the arena; 0: nothing is placed there. */
uintptr_t haul__source_of(const haul__map *map, uint64_t granule);

#endif
