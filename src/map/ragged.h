/* Ragged blocks: objects of one simple type that begin or end within a granule, and nothing else.
 *
 * A struct of 56 bytes ends within a granule. In an array at an address that is no multiple of 16
 * it shares its first and last granule with its neighbours. So live words are needed; they follow
 * from the words where objects start: all objects have the same length, and no two overlap. While
 * marking, a cell is 64 bits of starts. An object is new if the starts around its own, from a
 * length before it to a length behind, are all 0. It is known if its own is 1.
 *
 *   starts    ..0000001000000100000000100..       of objects of 6 words
 *   is it new        |-----?-----|
 *
 * Layout works out the live granules, because places need them, and keeps the starts. A granule
 * with one live word has a place like any other; the starts say which word it is. Any other mark
 * turns the block to mixed.
 */
#ifndef HAUL_MAP_RAGGED_H
#define HAUL_MAP_RAGGED_H

#include "map/bits.h"
#include "map/map.h"

/* The longest object whose neighbourhood is 64 words. */
#define HAUL__RAGGED_NEAR 32u

/* Marks one object in a block of its form; its last byte lies in `next`. 1: it is new; 0: it was
 * marked before, as this; -1: it overlaps another. */
int haul__ragged_mark(haul__block *block, haul__block *next, uintptr_t address);

/* The live words and the slots of a cell: while marking (is_placed 0), and after layout. */
uint64_t haul__ragged_live(const haul__block *block, unsigned number, int is_placed);
uint64_t haul__ragged_slots(const haul__map *map, const haul__block *block, unsigned number,
                            int is_placed);

/* After layout: the granules of a cell with one live word, and the live bytes of a granule. */
uint32_t haul__ragged_halves(const haul__block *block, unsigned number);
uint16_t haul__ragged_mask(const haul__block *block, unsigned granule);

/* Ends marking: cells get live granules, and the starts move behind the cells. Answers the number
 * of live bytes. */
size_t haul__ragged_fold(haul__block *block);
/* After that: the number of slots in the block. */
size_t haul__ragged_count(const haul__simple *simple, const haul__block *block);

#endif
