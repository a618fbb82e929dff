/* Marking ranges of whole words in mixed blocks, with their starts (map/starts.h).
 *
 * A range is new if all bits of its words are 0, their starts included, and known if all of them
 * are its own, and it ends before the word behind it. Which of the two is no branch, for no
 * predictor could guess it.
 */
#ifndef HAUL_WALK_MARK_IN_MIXED_H
#define HAUL_WALK_MARK_IN_MIXED_H

#include "map/mixed.h"
#include "map/starts.h"
#include "walk/mark_inline.h"

/* Marks a range of whole words that lies, with the word behind it, in one cell of a mixed block
 * with starts. `slots`: of its words. */
HAUL__INLINE int haul__mark_in_cell(haul__block *block, unsigned number, unsigned shift,
                                    unsigned behind, uint64_t slots)
{
    const uint64_t start = (uint64_t)1 << shift, words = ((uint64_t)1 << behind) - start;
    const uint64_t live = haul__load_cell(&block->cells[number]);
    const uint64_t found = haul__slots(block)[number];
    const uint64_t starts = haul__starts_beside(block)[number];
    const uint64_t known = (uint64_t)0 - (uint64_t)(((live | found | starts) & words) != 0);
    slots = slots << shift & words;
    if (HAUL__UNLIKELY((((words & ~live) | ((found ^ slots) & words) | ((starts ^ start) & words) |
                         (((live | found) ^ starts) & (uint64_t)1 << behind)) &
                        known) != 0))
        return HAUL__APART;
    haul__store_cell(&block->cells[number], live | words);
    haul__slots(block)[number] = found | slots;
    haul__starts_beside(block)[number] = starts | start;
    return (int)(known + 1);
}

/* The same of a range in two cells of the block; `behind` counts from the first one. */
HAUL__INLINE int haul__mark_in_two(haul__block *block, unsigned number, unsigned shift,
                                   unsigned behind, uint64_t slots)
{
    const uint64_t start = (uint64_t)1 << shift, low = 0 - start;
    const uint64_t past = (uint64_t)1 << (behind - 64), high = past - 1;
    haul__cell *cell = &block->cells[number];
    uint64_t *bits = haul__slots(block) + number, *starts = haul__starts_beside(block) + number;
    const uint64_t live = haul__load_cell(cell), next_live = haul__load_cell(cell + 1);
    const uint64_t met = live | bits[0], next_met = next_live | bits[1];
    const uint64_t known = (uint64_t)0 - (uint64_t)((((met | starts[0]) & low) |
                                                     ((next_met | starts[1]) & high)) != 0);
    const uint64_t low_slots = slots << shift, high_slots = slots >> 1 >> (63 - shift) & high;
    if (HAUL__UNLIKELY((((low & ~live) | (high & ~next_live) | ((bits[0] ^ low_slots) & low) |
                         ((bits[1] ^ high_slots) & high) | ((starts[0] ^ start) & low) |
                         (starts[1] & high) | ((next_met ^ starts[1]) & past)) &
                        known) != 0))
        return HAUL__APART;
    haul__store_cell(cell, live | low);
    haul__store_cell(cell + 1, next_live | high);
    bits[0] |= low_slots;
    bits[1] |= high_slots;
    starts[0] |= start;
    return (int)(known + 1);
}

/* Marks a range of whole words, at most as long as a cell, in a mixed block: the bulk of a heap of
 * many types. HAUL__APART: it needs the other ways. */
HAUL__INLINE int haul__mark_in_mixed(const uintptr_t *flat, uintptr_t first, uint64_t bytes,
                                     uint64_t slots)
{
    const uintptr_t entry = flat[first >> HAUL__BLOCK_SHIFT];
    const unsigned shift = haul__word_in_cell(first), number = haul__cell_number(first);
    const unsigned behind = shift + (unsigned)(bytes >> HAUL__WORD_SHIFT);
    haul__block *block = haul__block_in(entry);
    if ((entry & HAUL__FORM_MASK) != HAUL__MIXED || !block->base || bytes > HAUL__CELL_BYTES ||
        (bytes | first) % HAUL__WORD != 0)
        return HAUL__APART;
    if (behind <= 63)
        return haul__mark_in_cell(block, number, shift, behind, slots);
    return number + 1 < HAUL__CELLS ? haul__mark_in_two(block, number, shift, behind, slots)
                                    : HAUL__APART;
}

#endif
