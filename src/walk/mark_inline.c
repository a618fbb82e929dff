/* Marking in line, the rarer cases: mixed blocks, objects without pointers in any block, objects
 * longer than a cell, and ragged ones near the ends of a block.
 */
#include "walk/mark_inline.h"
#include "map/mark_long.h"
#include "map/mixed.h"
#include "map/ragged.h"

/* The words of an object that begins with its cell, as a mask. */
HAUL__INLINE uint64_t words_of(const haul__met_type *met)
{
    return UINT64_MAX >> (64u - (met->simple.bytes >> HAUL__WORD_SHIFT));
}

/* Marks an object in one cell of a mixed block. It is new if none of its words is live, in whole or
 * in part. */
HAUL__INLINE int mark_in_cell(haul__block *block, uintptr_t address, const haul__met_type *met)
{
    const unsigned shift = haul__word_in_cell(address);
    const uint64_t words = words_of(met) << shift, slots = met->simple.slots << shift;
    haul__cell *cell = haul__cell_of(block, address);
    uint64_t *bits = &haul__slots(block)[haul__cell_number(address)];
    const uint64_t live = haul__load_cell(cell), found_slots = *bits;
    const uint64_t known = (uint64_t)0 - (uint64_t)((live & words) != 0);
    const uint64_t differs = (words & ~live) | ((found_slots ^ slots) & words);
    if (HAUL__UNLIKELY(((differs & known) | (found_slots & words & ~known)) != 0))
        return HAUL__APART;
    haul__store_cell(cell, live | words);
    *bits = found_slots | slots;
    return (int)(known + 1);
}

/* Marks an object in mixed blocks, at most as long as a cell. Its words lie in one cell or two; if
 * in one, `high` is 0. */
HAUL__INLINE int mark_words(haul__block *block, haul__block *next_block, uintptr_t address,
                            const haul__met_type *met)
{
    const uintptr_t last = address + met->simple.bytes - 1;
    const unsigned shift = haul__word_in_cell(address);
    const uint64_t words = words_of(met), slots = met->simple.slots;
    const uint64_t low = words << shift, high = words >> 1 >> (63 - shift);
    const uint64_t low_slots = slots << shift, high_slots = slots >> 1 >> (63 - shift);
    haul__cell *cell = haul__cell_of(block, address), *next = haul__cell_of(next_block, last);
    uint64_t *bits = &haul__slots(block)[haul__cell_number(address)];
    uint64_t *next_bits = &haul__slots(next_block)[haul__cell_number(last)];
    const uint64_t live = haul__load_cell(cell), next_live = haul__load_cell(next);
    const uint64_t found_slots = *bits, next_slots = *next_bits;
    const uint64_t known = (uint64_t)0 - (uint64_t)(((live & low) | (next_live & high)) != 0);
    const uint64_t differs = (low & ~live) | (high & ~next_live) |
                             ((found_slots ^ low_slots) & low) | ((next_slots ^ high_slots) & high);
    const uint64_t partial = (found_slots & low) | (next_slots & high);
    if (HAUL__UNLIKELY(((differs & known) | (partial & ~known)) != 0))
        return HAUL__APART;
    haul__store_cell(cell, live | low);
    *bits = found_slots | low_slots;
    haul__store_cell(next, haul__load_cell(next) | high);
    *next_bits |= high_slots;
    return (int)(known + 1);
}

/* Marks an object in a mixed block. An object without pointers is also marked in any block that is
 * not ragged, if none of its granules is marked there. */
HAUL__NOINLINE int haul__mark_near_apart(uintptr_t entry, uintptr_t address,
                                         const haul__met_type *met)
{
    haul__block *block = haul__block_in(entry);
    const uint32_t granules = met->simple.granules << haul__granule_in_cell(address);
    haul__cell *cell;
    if ((entry & HAUL__FORM_MASK) == HAUL__MIXED)
        return mark_in_cell(block, address, met);
    if (!(entry & 1u))
        return HAUL__APART;
    cell = haul__cell_of(block, address);
    if (met->simple.slots || block->words || (cell->live & granules) ||
        (block->form == HAUL__BARE && (cell->aux & granules)))
        return HAUL__APART;
    cell->live |= granules;
    return HAUL__FRESH;
}

HAUL__NOINLINE int haul__mark_over_apart(haul__block *block, haul__block *next_block,
                                         uintptr_t address, const haul__met_type *met)
{
    if (block->form != HAUL__MIXED || next_block->form != HAUL__MIXED)
        return HAUL__APART;
    return mark_words(block, next_block, address, met);
}

/* Marks an object that need not begin or end with a granule: in mixed blocks, near the ends of a
 * ragged block, or too long for one window of starts. If its type has no ragged form yet, it takes
 * the general way, which checks its alignment. */
HAUL__NOINLINE int haul__mark_ragged_apart(const uintptr_t *flat, uintptr_t address,
                                           const haul__met_type *met)
{
    const uintptr_t entry = flat[address >> HAUL__BLOCK_SHIFT];
    const uintptr_t next_entry = flat[(address + met->simple.bytes - 1) >> HAUL__BLOCK_SHIFT];
    haul__block *block = haul__block_in(entry), *next = haul__block_in(next_entry);
    const uint32_t form = met->ragged.form;
    if (!(entry & next_entry & 1u) || (address & (HAUL__WORD - 1)) != 0 || !met->ragged.reach)
        return HAUL__APART;
    if (block->form == HAUL__MIXED && next->form == HAUL__MIXED)
        return met->simple.bytes <= HAUL__CELL_BYTES
                   ? mark_words(block, next, address, met)
                   : haul__mark_long_apart(block, next, address, &met->simple);
    if (block->form != form || next->form != form)
        return HAUL__APART;
    return haul__ragged_mark(block, next, address);
}

/* Marks an object that is longer than a cell. */
HAUL__NOINLINE int haul__mark_past_cell(const uintptr_t *flat, uintptr_t address,
                                        const haul__met_type *met)
{
    uintptr_t entry = flat[address >> HAUL__BLOCK_SHIFT];
    uintptr_t next_entry = flat[(address + met->simple.bytes - 1) >> HAUL__BLOCK_SHIFT];
    haul__block *block = haul__block_in(entry), *next = haul__block_in(next_entry);
    if (!(entry & next_entry & 1u) || (address & (HAUL__GRANULE - 1)) != 0)
        return HAUL__APART;
    if ((entry & HAUL__FORM_MASK) == met->form && (next_entry & HAUL__FORM_MASK) == met->form)
        return haul__mark_long(block, next, address, &met->simple);
    return haul__mark_long_apart(block, next, address, &met->simple);
}
