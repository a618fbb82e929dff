/* Folding: the end of marking in a block.
 */
#ifndef HAUL_MAP_FOLD_H
#define HAUL_MAP_FOLD_H

#include "map/map.h"

/* Partly live granules become live ones that have a byte mask. *bytes grows by the live bytes. 0:
 * out of memory. */
int haul__mark_fold(haul__map *map, haul__block *block, size_t *bytes);
/* After that: gives the page full masks, a bit a byte for every granule. 0: out of memory. */
int haul__mark_masks(haul__map *map, haul__block *block, size_t page);

#endif
