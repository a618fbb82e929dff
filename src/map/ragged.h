/* Ragged blocks: objects of one simple kind that begin or end within a granule, and nothing else.
 *
 * A struct of 56 bytes ends within a granule, and in an array at an address that is no multiple of
 * 16 it shares its first and last granule with its neighbours. So what is live is told by words,
 * and all of it by the words where objects start: each is so many words long, and no two overlap.
 * While marking, a cell is 64 bits of starts and nothing else. That an object is new is one look at
 * the starts around its own, from a length before it to a length behind: they are all 0, or its own
 * alone is 1.
 *
 *   starts    ..0000001000000100000000100..       of objects of 6 words
 *   is it new        |-----?-----|
 *
 * Layout works out the live granules, as places need them, and keeps the starts. A granule of which
 * one word is live has a place like any other; which one follows from the starts. Anything else
 * that comes to lie in such a block turns it into a mixed one.
 */
#ifndef HAUL_MAP_RAGGED_H
#define HAUL_MAP_RAGGED_H

#include "map/map.h"

/* The longest object whose neighbourhood is 64 words. */
#define HAUL__RAGGED_NEAR 32u

/* One object in blocks of its form: `next` is the one of its last byte. 1: it is new; 0: it was
 * marked before, as this; -1: it overlaps another. */
int haul__ragged_mark(haul__block *block, haul__block *next, uintptr_t address);

/* The live words and the slots of a cell: while marking (is_placed 0), and after layout. */
uint64_t haul__ragged_live(const haul__block *block, unsigned number, int is_placed);
uint64_t haul__ragged_slots(const haul__map *map, const haul__block *block, unsigned number,
                            int is_placed);

/* After layout: the live bytes of one of its granules. */
uint16_t haul__ragged_mask(const haul__block *block, unsigned granule);

/* Ends marking: cells get live granules, and the starts move behind them. Answers the live bytes.
 */
size_t haul__ragged_fold(haul__block *block);
/* After that: the slots in the block. */
size_t haul__ragged_count(const haul__simple *kind, const haul__block *block);

/* The first `count` bits, or all of them. */
HAUL__INLINE uint64_t haul__first_words(size_t count)
{
    return count == 0 ? 0 : UINT64_MAX >> (64u - (count < 64 ? count : 64));
}

/* Of two words' bits each: is one of them set? Are both? */
HAUL__INLINE uint32_t haul__granules_of(uint64_t even)
{
    uint64_t x = even & UINT64_C(0x5555555555555555);
    x = (x | x >> 1) & UINT64_C(0x3333333333333333);
    x = (x | x >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = (x | x >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (uint32_t)(x | x >> 16);
}

HAUL__INLINE uint32_t haul__any_word(uint64_t words)
{
    return haul__granules_of(words | words >> 1);
}

HAUL__INLINE uint32_t haul__both_words(uint64_t words)
{
    return haul__granules_of(words & words >> 1);
}

#endif
