/* Bars: bytes of the source that do not travel to the device, or not back.
 *
 * What is marked travels both ways; a bar takes one way away. Bars are ORs as all marks are: a byte
 * travels a way only if every description of it lets it, whatever is found first. Pages that are
 * barred as a whole, which is what large arrays consist of, are a bit; others have a mask, a bit a
 * byte. Blocks without bars do not know of them.
 */
#ifndef HAUL_MAP_EXCLUSIONS_H
#define HAUL_MAP_EXCLUSIONS_H

#include "map/side.h"
#include "type/type.h"

/* Bars [first, end) as `bars` says (HAUL__UNSENT, HAUL__UNRETURNED). 0: out of memory. Before or
 * after the marks. */
int haul__exclude(haul__map *map, uintptr_t first, uintptr_t end, unsigned bars);

HAUL__INLINE int haul__has_exclusions(const haul__block *block)
{
    return block->side && block->side->bars;
}

/* The bytes of a granule that have this bar; of any block. */
uint16_t haul__excluded_mask(const haul__block *block, unsigned granule, unsigned bar);
/* Have all bytes of a page it? Of all pages of the block? */
int haul__page_is_excluded(const haul__block *block, size_t page, unsigned bar);
int haul__block_is_excluded(const haul__block *block, unsigned bar);
/* Has the byte at this address it? */
int haul__is_excluded(const haul__map *map, uintptr_t address, unsigned bar);

#endif
