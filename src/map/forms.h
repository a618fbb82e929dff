/* Forms of blocks: one turned into another, and slots and bytes read in any of them.
 */
#ifndef HAUL_MAP_FORMS_H
#define HAUL_MAP_FORMS_H

#include "map/side.h"

/* While marking: turns a block into another form with the same marks. A bare block without partly
 * live granules can turn uniform; any block except a full one can turn mixed. The old block is
 * gone. NULL: out of memory, and nothing has changed. */
haul__block *haul__map_turn(haul__map *map, uintptr_t address, haul__block *block, uint32_t form);

/* The slots of one cell: while marking, and after layout. */
uint64_t haul__marked_slots(const haul__map *map, const haul__block *block, unsigned number);
uint64_t haul__placed_slots(const haul__map *map, const haul__block *block, unsigned number);

/* After layout: the live bytes of any placed granule. */
uint16_t haul__byte_mask(const haul__block *block, unsigned granule);
/* After layout: does the byte belong to a described object, be it live or skipped? */
int haul__is_described(const haul__map *map, uintptr_t address);
/* The same for a placed byte of a block. */
int haul__is_described_in(const haul__block *block, uintptr_t address);

#endif
