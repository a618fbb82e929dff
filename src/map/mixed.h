/* Mixed blocks: objects of any types side by side, marked by words.
 *
 * Most structs have whole words, wherever they lie, and few have whole granules. So while a mixed
 * block is marked, a cell is 64 bits of live words, and each cell has 64 slot bits. A dead word
 * cannot be a slot: a slot bit there says that some of its bytes are live, and a page of the side
 * says which.
 *
 *   live  slot
 *    0     0    no byte of the word is live
 *    1     0    all bytes are, as data
 *    1     1    the word is a slot
 *    0     1    some bytes are live: mostly the end of a string
 *
 * So an object of whole words is new if all these bits are 0 in its words, and known if all of them
 * are its own: one or two cells tell, and no page is read. If a word is wholly live or dead, its
 * bytes in a page are stale and mean nothing.
 *
 * Layout works out the live granules, because places need them, and brings the pages up to date. A
 * granule with one live and one dead word needs no page: a bit in `halves` marks it. Its two slot
 * bits then say which word is live (lower bit 1: the high one) and whether that is a slot (upper
 * bit).
 */
#ifndef HAUL_MAP_MIXED_H
#define HAUL_MAP_MIXED_H

#include "map/bits.h"
#include "map/side.h"

/* The mask of all bytes of a granule's words; bits 0 and 1 say which words. */
HAUL__INLINE uint16_t haul__bytes_of_words(unsigned words)
{
    return (uint16_t)((words & 1u ? HAUL__LOW_MASK : 0u) | (words & 2u ? HAUL__HIGH_MASK : 0u));
}

/* While marking: the partial words of a cell, of which only some bytes are live. */
HAUL__INLINE uint64_t haul__partial_words(const haul__block *block, unsigned number)
{
    return haul__slots(block)[number] & ~haul__load_cell(&block->cells[number]);
}

/* While marking: these words of a cell become live, as data. */
HAUL__INLINE void haul__set_words(haul__block *block, unsigned number, uint64_t words)
{
    const uint64_t live = haul__load_cell(&block->cells[number]);
    haul__slots(block)[number] &= ~(words & ~live);
    haul__store_cell(&block->cells[number], live | words);
}

/* While marking: the live bytes of any granule. */
uint16_t haul__words_mask(const haul__block *block, unsigned granule);
/* Marks some bytes of one granule. 1: some are new; 0: none; -1: out of memory. */
int haul__words_part(haul__map *map, haul__block *block, unsigned granule, uint16_t mask);

/* Sets a cell of the mixed block that a bare one turns into. The bare block's pages stay. */
void haul__words_of_bare(const haul__block *bare, haul__block *block, unsigned number);

/* Ends marking: cells get live granules. *bytes grows by the live bytes. 0: out of memory. */
int haul__words_fold(haul__map *map, haul__block *block, size_t *bytes);

/* After layout, for a granule in `halves`: is its live word the high one? Is it a slot? `coded`:
 * the slot bits of its cell. */
HAUL__INLINE unsigned haul__half_is_high(uint64_t coded, unsigned granule)
{
    return (unsigned)(coded >> (2 * granule)) & 1u;
}

HAUL__INLINE unsigned haul__half_is_slot(uint64_t coded, unsigned granule)
{
    return (unsigned)(coded >> (2 * granule + 1)) & 1u;
}

/* After layout: the slots of a cell, from its coded slot bits and its halves. */
HAUL__INLINE uint64_t haul__slots_beside(uint64_t coded, uint32_t halves)
{
    const uint64_t half = haul__words_of(halves), low = half & UINT64_C(0x5555555555555555);
    const uint64_t is_high = coded & low, is_slot = coded >> 1 & low;
    return (coded & ~half) | (is_slot & ~is_high) | (is_slot & is_high) << 1;
}

/* After layout: the slots of a cell. */
HAUL__INLINE uint64_t haul__mixed_slots(const haul__block *block, unsigned number)
{
    const uint32_t halves = haul__halves(block, number);
    return halves ? haul__slots_beside(haul__slots(block)[number], halves)
                  : haul__slots(block)[number];
}

#endif
