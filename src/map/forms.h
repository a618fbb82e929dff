/* Forms of blocks: turned into one another, and read alike.
 */
#ifndef HAUL_MAP_FORMS_H
#define HAUL_MAP_FORMS_H

#include "map/side.h"

/* While marking: the same marks in another form. Bare blocks without partly live granules turn to
 * uniform, all but full ones to mixed. The old block is gone. NULL: out of memory, nothing has
 * changed. */
haul__block *haul__map_turn(haul__map *map, uintptr_t address, haul__block *block, uint32_t form);
/* The uniform form for objects like these, whose far slots stand in the map from then on;
 * HAUL__NO_FORM: there are too many types; 0: out of memory. */
uint32_t haul__map_form(haul__map *map, haul__simple *kind);

/* The slots of one cell: while marking, and after layout. */
uint64_t haul__marked_slots(const haul__map *map, const haul__block *block, unsigned number);
uint64_t haul__placed_slots(const haul__map *map, const haul__block *block, unsigned number);

/* After layout: the live bytes of any placed granule. */
uint16_t haul__byte_mask(const haul__block *block, unsigned granule);
/* After layout: is it a byte of a described object, live or one of its holes? */
int haul__is_described(const haul__map *map, uintptr_t address);

#endif
