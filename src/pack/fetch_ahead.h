/* Prefetches of the cache lines that gather and scatter need soon. Their loops take some 100
 * instructions a line, more than a processor looks ahead by itself.
 *
 * If objects lie densely, whole cells are fetched. Else only the lines of the source that hold
 * something live: a graph may have a few objects in each of many cells, and a line fetched in vain
 * takes time and a place in the caches. The arena has no gaps, so as many bytes of it are fetched
 * as the current cell has.
 */
#ifndef HAUL_PACK_FETCH_AHEAD_H
#define HAUL_PACK_FETCH_AHEAD_H

#include "pack/plan_struct.h"

#define HAUL__FETCH_CELLS 4u
#define HAUL__FETCH_BYTES (HAUL__FETCH_CELLS * HAUL__CELL_BYTES)
#define HAUL__LINE_STARTS 0x11111111u /* a line is four granules */

/* The first granule of each line that has a live granule. */
HAUL__INLINE uint32_t haul__live_lines(uint32_t live)
{
    return (live | live >> 1 | live >> 2 | live >> 3) & HAUL__LINE_STARTS;
}

HAUL__INLINE void haul__fetch(uintptr_t at, int is_written)
{
    if (is_written)
        haul__prefetch_write(at);
    else
        haul__prefetch(at);
}

/* Fetches a line for each 64 bytes from `first` on. */
HAUL__INLINE void haul__fetch_bytes(uintptr_t first, size_t bytes, int is_written)
{
    size_t at;
    for (at = 0; at < bytes; at += HAUL__LINE)
        haul__fetch(first + at, is_written);
}

/* Fetches the lines of the cell at `address` that have a live granule. */
HAUL__INLINE void haul__fetch_lines(uintptr_t address, uint32_t live, int is_written)
{
    uint32_t lines;
    for (lines = haul__live_lines(live); lines; lines &= lines - 1)
        haul__fetch(address + haul__lowest32(lines) * HAUL__GRANULE, is_written);
}

HAUL__INLINE void haul__fetch_source(const haul__block *block, unsigned cell, uintptr_t address,
                                     int is_written)
{
    if (cell + HAUL__FETCH_CELLS < HAUL__CELLS)
        haul__fetch_lines(address + HAUL__FETCH_BYTES, block->cells[cell + HAUL__FETCH_CELLS].live,
                          is_written);
}

/* The current cell, number `cell` of its block, is at `address`, and its place is `place`. If all
 * its lines are live, those of the cells behind it are expected to be live too. */
HAUL__INLINE void haul__fetch_ahead(const haul__block *block, unsigned cell, uintptr_t address,
                                    uintptr_t place, int is_gather)
{
    const uint32_t live = block->cells[cell].live;
    if (HAUL__LIKELY(haul__live_lines(live) == HAUL__LINE_STARTS)) {
        haul__fetch_bytes(address + HAUL__FETCH_BYTES, HAUL__CELL_BYTES, !is_gather);
        haul__fetch_bytes(place + HAUL__FETCH_BYTES, HAUL__CELL_BYTES, is_gather);
        return;
    }
    haul__fetch_source(block, cell, address, !is_gather);
    haul__fetch_bytes(place + HAUL__FETCH_BYTES, (size_t)haul__bits32(live) << HAUL__GRANULE_SHIFT,
                      is_gather);
}

/* Fetches the prefixes of a page of the block, if it has any. */
HAUL__INLINE void haul__fetch_prefixes(const haul__block *block, size_t page)
{
    const uint8_t *const prefix = page < HAUL__PAGES ? haul__prefix(block, page) : NULL;
    if (prefix)
        haul__fetch_bytes((uintptr_t)prefix, HAUL__PAGE_GRANULES / 2, 0);
}

#endif
