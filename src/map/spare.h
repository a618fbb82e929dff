/* Memory that a map keeps for the next plan: free blocks, sides, their prefixes and excluded words,
 * by size.
 */
#ifndef HAUL_MAP_SPARE_H
#define HAUL_MAP_SPARE_H

#include "map/map.h"

/* Bytes of memory of this size (HAUL__SIZE_FULL and others, map.h). */
size_t haul__spare_bytes(unsigned size);
/* Memory of this size, not initialised: kept, or new. NULL: out of memory. */
void *haul__spare_take(haul__map *map, unsigned size);
/* Memory that the map has kept; NULL: none of this size. */
void *haul__spare_pop(haul__map *map, unsigned size);
/* Keeps memory for the next time. */
void haul__spare_keep(haul__map *map, unsigned size, void *memory);
/* Gives all that is kept back to the allocator. */
void haul__spare_release(haul__map *map);
/* Lets parts, which keep none yet, take what the map keeps. */
void haul__spare_deal(haul__map *map, haul__map **parts, size_t count);
/* Takes over what the part keeps. */
void haul__spare_join(haul__map *map, haul__map *part);

#endif
