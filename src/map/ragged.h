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

#include "map/bits.h"
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

#endif
