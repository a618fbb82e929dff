/* Layout's door: from marks to places.
 */
#ifndef HAUL_LAYOUT_H
#define HAUL_LAYOUT_H

#include "context/context.h"
#include "map/found.h"

typedef struct haul__placed {
    uint64_t granules; /* of the arena, the reserved one included */
    size_t slots;      /* on the grid */
    size_t bytes;      /* described */
    size_t alignment;  /* that the arena's base needs */
} haul__placed;

/* Ends marking and gives every marked granule its place, in order of address. Sorts the map's
 * blocks and the odd pointers. HAUL_ERROR_MEMORY, HAUL_ERROR_LIMIT (an arena that no size_t can
 * hold). */
haul_status haul__layout(haul_context *context, haul__found *found, haul__placed *placed);

/* The source address of a granule of the arena; 0: it is in a gap. */
uintptr_t haul__source_of(const haul__map *map, uint64_t granule);

#endif
