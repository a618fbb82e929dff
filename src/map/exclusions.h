/* Exclusions: source bytes that are not sent to the device, or not returned.
 *
 * Marked bytes travel both ways; an exclusion takes one direction away. Exclusions are ORs, as all
 * marks are: a byte travels only if every description of it allows the direction, in any order of
 * discovery.
 *
 * Nearly all that is excluded are whole words, so a word takes one bit. The bits of both directions
 * stand side by side: most objects have theirs in one line of the cache. A page that is excluded as
 * a whole, as in large arrays, takes one bit. Words that are excluded in part have byte masks.
 */
#ifndef HAUL_MAP_EXCLUSIONS_H
#define HAUL_MAP_EXCLUSIONS_H

#include "map/mixed.h"
#include "type/type.h"

/* Marks [first, end) as HAUL__UNSENT, HAUL__UNRETURNED or both, before or after it becomes live. 0:
 * out of memory. */
int haul__exclude(haul__map *map, uintptr_t first, uintptr_t end, unsigned exclusions);

/* The index of HAUL__UNSENT or HAUL__UNRETURNED in haul__exclusions, and back. */
HAUL__INLINE unsigned haul__way_of(unsigned direction)
{
    return direction != HAUL__UNSENT;
}

HAUL__INLINE unsigned haul__direction_of(unsigned way)
{
    return way == 0 ? HAUL__UNSENT : HAUL__UNRETURNED;
}

HAUL__INLINE int haul__has_exclusions(const haul__block *block)
{
    const haul__exclusions *e = block->side ? &block->side->exclusions : NULL;
    return e && (e->words || e->whole[0] || e->whole[1] || e->bytes[0] || e->bytes[1]);
}

/* Fetches the excluded words at an address in the block, if it has any. */
HAUL__INLINE void haul__fetch_exclusions(const haul__block *block, uintptr_t address)
{
    const haul__excluded_words *words = block->side ? block->side->exclusions.words : NULL;
    if (words)
        haul__prefetch_write((uintptr_t)&words[haul__cell_number(address)]);
}

/* The excluded bytes of a granule, in a block of any form. Here and below, `direction` is
 * HAUL__UNSENT or HAUL__UNRETURNED. */
HAUL__INLINE uint16_t haul__excluded_mask(const haul__block *block, unsigned granule,
                                          unsigned direction)
{
    const size_t page = granule / HAUL__PAGE_GRANULES, at = granule % HAUL__PAGE_GRANULES;
    const unsigned way = haul__way_of(direction);
    const haul__exclusions *e = block->side ? &block->side->exclusions : NULL;
    uint64_t words;
    uint16_t mask;
    if (!e)
        return 0;
    if (e->whole[way] >> page & 1u)
        return HAUL__FULL_MASK;
    words = e->words ? e->words[granule / 32].way[way] : 0;
    mask = haul__bytes_of_words((unsigned)(words >> (granule % 32 * 2)) & 3u);
    return e->bytes[way] && e->bytes[way]->masks[page]
               ? (uint16_t)(mask | e->bytes[way]->masks[page][at])
               : mask;
}

/* Is all of a page excluded, as one range? */
HAUL__INLINE int haul__page_is_excluded(const haul__block *block, size_t page, unsigned direction)
{
    return block->side && (block->side->exclusions.whole[haul__way_of(direction)] >> page & 1u);
}

/* Is all of a block excluded? The byte at an address? */
int haul__block_is_excluded(const haul__block *block, unsigned direction);
int haul__is_excluded(const haul__map *map, uintptr_t address, unsigned direction);

/* The granules of a cell of which some bytes may be excluded from any of `directions`. */
HAUL__INLINE uint32_t haul__excluded_granules(const haul__block *block, unsigned cell,
                                              unsigned directions)
{
    const haul__exclusions *e = &block->side->exclusions;
    const size_t page = cell / HAUL__PAGE_CELLS;
    uint64_t words = 0;
    unsigned way;
    for (way = 0; way < 2; way++) {
        if (!(directions & haul__direction_of(way)))
            continue;
        if ((e->whole[way] >> page & 1u) || (e->bytes[way] && e->bytes[way]->masks[page]))
            return UINT32_MAX;
        words |= e->words ? e->words[cell].way[way] : 0;
    }
    return haul__any_word(words);
}

/* Is it a part of a large array of plain bytes that are not sent? */
HAUL__INLINE int haul__carries_nothing(const haul__block *block)
{
    return block->form == HAUL__FULL && haul__block_is_excluded(block, HAUL__UNSENT);
}

#endif
