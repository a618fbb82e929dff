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
/* The source address of a granule of the arena; 0: nothing is placed there. */
uintptr_t haul__source_of(const haul__map *map, uint64_t granule);

#endif
