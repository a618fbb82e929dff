/* Exclusions: source bytes that are not sent to the device, or not returned.
 *
 * Marked bytes travel both ways; an exclusion takes one direction away. Exclusions are ORs, as all
 * marks are: a byte travels only if every description of it allows the direction, in any order of
 * discovery. A page that is excluded as a whole, as in large arrays, takes one bit; others have a
 * mask, a bit a byte. Blocks without exclusions hold nothing for them.
 */
#ifndef HAUL_MAP_EXCLUSIONS_H
#define HAUL_MAP_EXCLUSIONS_H

#include "map/side.h"
#include "type/type.h"

/* Marks [first, end) as HAUL__UNSENT, HAUL__UNRETURNED or both, before or after it becomes live. 0:
 * out of memory. */
int haul__exclude(haul__map *map, uintptr_t first, uintptr_t end, unsigned exclusions);

HAUL__INLINE int haul__has_exclusions(const haul__block *block)
{
    return block->side && block->side->exclusions;
}

/* Fetches the masks of exclusions at an address in the block, if it has any. */
HAUL__INLINE void haul__fetch_exclusions(const haul__block *block, uintptr_t address)
{
    const size_t page = (address & (HAUL__BLOCK_BYTES - 1)) >> HAUL__PAGE_SHIFT;
    const size_t at = haul__granule_in_block(address) % HAUL__PAGE_GRANULES;
    unsigned way;
    for (way = 0; haul__has_exclusions(block) && way < 2; way++) {
        uint16_t *mask = block->side->exclusions->masks[way][page];
        if (mask)
            haul__prefetch_write((uintptr_t)&mask[at]);
    }
}

/* The excluded bytes of a granule, in a block of any form. Here and below, `direction` is
 * HAUL__UNSENT or HAUL__UNRETURNED. */
uint16_t haul__excluded_mask(const haul__block *block, unsigned granule, unsigned direction);
/* Is all of a page excluded? All of a block? The byte at an address? */
int haul__page_is_excluded(const haul__block *block, size_t page, unsigned direction);
int haul__block_is_excluded(const haul__block *block, unsigned direction);
int haul__is_excluded(const haul__map *map, uintptr_t address, unsigned direction);

/* Is it a part of a large array of plain bytes that are not sent? */
HAUL__INLINE int haul__carries_nothing(const haul__block *block)
{
    return block->form == HAUL__FULL && haul__block_is_excluded(block, HAUL__UNSENT);
}

#endif
