/* Marking in line, the rarer forms: mixed blocks, plain objects among others, objects longer than a
 * cell, and ragged ones near the ends of a block.
 */
#include "graph/inline.h"
#include "graph/ragged.h"

/* The words of an object that starts a cell and lies in it. */
HAUL__INLINE uint64_t words_of(const haul__kind *kind)
{
    return UINT64_MAX >> (64u - (kind->simple.bytes >> HAUL__WORD_SHIFT));
}

/* Blocks of other forms than the kind's own: a mixed one; or plain objects in whatever holds nothing of theirs yet. */
HAUL__NOINLINE int haul__mark_near_apart(uintptr_t entry, uintptr_t address, const haul__kind *kind)
{
    haul__block *block = haul__block_in(entry);
    unsigned granule = haul__granule_in_cell(address), number = haul__cell_number(address);
    uint32_t granules = kind->simple.granules << granule, live;
    uint64_t slots = kind->simple.slots << (2 * granule), words = words_of(kind), known, odd, *bits;
    haul__cell *cell;
    if (!(entry & 1u))
        return HAUL__APART;
    cell = &block->cells[number];
    live = cell->live & granules;
    if (block->form != HAUL__MIXED) {
        if (kind->simple.slots || live || (block->form == HAUL__BARE && (cell->aux & granules)))
            return HAUL__APART;
        cell->live |= granules;
        return HAUL__FRESH;
    }
    bits = &haul__slots(block)[number];
    known = (uint64_t)0 - (uint64_t)(live != 0);
    odd = ((live ^ granules) | ((*bits & words << (2 * granule)) ^ slots)) & known;
    if (HAUL__UNLIKELY((odd | (cell->aux & granules)) != 0))
        return HAUL__APART;
    cell->live |= granules;
    *bits |= slots;
    return live == 0;
}

HAUL__NOINLINE int haul__mark_over_apart(haul__block *block, haul__block *next_block, uintptr_t address,
                                          const haul__kind *kind)
{
    uintptr_t end = address + kind->simple.bytes;
    unsigned granule = haul__granule_in_cell(address);
    haul__cell *cell, *next;
    uint64_t slots = kind->simple.slots << (2 * granule), next_slots = kind->simple.slots >> (64 - 2 * granule);
    uint64_t words = words_of(kind), known, odd, *bits, *next_bits;
    uint32_t low = kind->simple.granules << granule, high = kind->simple.granules >> (32 - granule);
    if (block->form != HAUL__MIXED || next_block->form != HAUL__MIXED)
        return HAUL__APART;
    cell = haul__cell_of(block, address);
    next = haul__cell_of(next_block, end);
    bits = &haul__slots(block)[haul__cell_number(address)];
    next_bits = &haul__slots(next_block)[haul__cell_number(end)];
    known = (uint64_t)0 - (uint64_t)(((cell->live & low) | (next->live & high)) != 0);
    odd = ((cell->live & low) ^ low) | ((next->live & high) ^ high) |
          ((*bits & words << (2 * granule)) ^ slots) |
          ((*next_bits & words >> (64 - 2 * granule)) ^ next_slots);
    if (HAUL__UNLIKELY(((odd & known) | (cell->aux & low) | (next->aux & high)) != 0))
        return HAUL__APART;
    cell->live |= low;
    next->live |= high;
    *bits |= slots;
    *next_bits |= next_slots;
    return known == 0;
}

/* One that need not begin or end with a granule: near the ends of a block, or long. */
HAUL__NOINLINE int haul__mark_ragged_apart(const uintptr_t *flat, uintptr_t address,
                                           const haul__kind *kind)
{
    uintptr_t entry = flat[address >> HAUL__BLOCK_SHIFT];
    uintptr_t next_entry = flat[(address + kind->simple.bytes - 1) >> HAUL__BLOCK_SHIFT];
    const uint32_t form = kind->ragged.form;
    if (!(entry & next_entry & 1u) || (address & (HAUL__WORD - 1)) != 0)
        return HAUL__APART;
    if ((entry & HAUL__FORM_MASK) != form || (next_entry & HAUL__FORM_MASK) != form)
        return HAUL__APART;
    return haul__ragged_mark(haul__block_in(entry), haul__block_in(next_entry), address);
}

/* One that is longer than a cell. */
HAUL__NOINLINE int haul__mark_past_cell(const uintptr_t *flat, uintptr_t address, const haul__kind *kind)
{
    uintptr_t entry = flat[address >> HAUL__BLOCK_SHIFT];
    uintptr_t next_entry = flat[(address + kind->simple.bytes - 1) >> HAUL__BLOCK_SHIFT];
    haul__block *block = haul__block_in(entry), *next = haul__block_in(next_entry);
    if (!(entry & next_entry & 1u) || (address & (HAUL__GRANULE - 1)) != 0)
        return HAUL__APART;
    if ((entry & HAUL__FORM_MASK) == kind->form && (next_entry & HAUL__FORM_MASK) == kind->form)
        return haul__mark_long(block, next, address, &kind->simple);
    return haul__mark_long_apart(block, next, address, &kind->simple);
}
