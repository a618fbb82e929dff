/* Forms of blocks: one turned into another, and slots and bytes read in any of them.
 *
 * In a uniform block a cell's slots follow from the starts in it and from the last start before it:
 * objects of one type do not overlap.
 */
#include "map/forms.h"
#include "map/mixed.h"
#include "map/ragged.h"

/* Copies a cell's marks to the mixed block that the block turns into. */
static void turn_cell(const haul__map *map, const haul__block *block, haul__block *mixed,
                      unsigned number)
{
    if (block->form == HAUL__BARE) {
        haul__words_of_bare(block, mixed, number);
        return;
    }
    haul__slots(mixed)[number] = haul__marked_slots(map, block, number);
    haul__store_cell(&mixed->cells[number], block->words
                                                ? haul__ragged_live(block, number, 0)
                                                : haul__words_of(block->cells[number].live));
}

haul__block *haul__map_turn(haul__map *map, uintptr_t address, haul__block *block, uint32_t form)
{
    haul__block *turned = haul__map_like(map, block, form);
    unsigned number;
    if (!turned)
        return NULL;
    for (number = 0; form == HAUL__MIXED && number < HAUL__CELLS; number++)
        turn_cell(map, block, turned, number);
    haul__map_replace(map, address, block, turned);
    return turned;
}

/* ---- Slots and bytes, in any form. */

HAUL__INLINE uint32_t starts_in(const haul__block *block, unsigned number, int is_placed)
{
    return is_placed ? haul__starts(block)[number] : block->cells[number].aux;
}

/* The distance in granules from the last start before a cell, if that object may reach into the
 * cell; else 0. If it ends before the cell after all, it has no slots there. */
HAUL__INLINE size_t reach_before(const haul__block *block, size_t granules, unsigned number,
                                 int is_placed)
{
    unsigned back;
    for (back = 1; back <= number && back * 32u < granules + 31u; back++) {
        uint32_t starts = starts_in(block, number - back, is_placed);
        if (starts)
            return back * 32u - haul__highest64(starts);
    }
    return back > number && block->carry ? (size_t)block->carry + number * 32u : 0;
}

/* The slots of a uniform block's cell. */
HAUL__INLINE uint64_t slots_by_starts(const haul__map *map, const haul__block *block,
                                      unsigned number, int is_placed)
{
    const haul__simple *simple = haul__simple_of(map, block);
    const size_t before =
        reach_before(block, simple->bytes >> HAUL__GRANULE_SHIFT, number, is_placed);
    uint64_t slots = before ? haul__slots_from(simple, 2 * before) : 0;
    uint32_t starts;
    for (starts = starts_in(block, number, is_placed); starts; starts &= starts - 1)
        slots |= simple->slots << (2 * haul__lowest32(starts));
    return slots;
}

HAUL__INLINE uint64_t slots_of(const haul__map *map, const haul__block *block, unsigned number,
                               int is_placed)
{
    if (block->form == HAUL__MIXED)
        return is_placed ? haul__mixed_slots(block, number)
                         : haul__slots(block)[number] & haul__load_cell(&block->cells[number]);
    if (block->words)
        return haul__ragged_slots(map, block, number, is_placed);
    return haul__is_uniform(block) ? slots_by_starts(map, block, number, is_placed) : 0;
}

uint64_t haul__marked_slots(const haul__map *map, const haul__block *block, unsigned number)
{
    return slots_of(map, block, number, 0);
}

uint64_t haul__placed_slots(const haul__map *map, const haul__block *block, unsigned number)
{
    return slots_of(map, block, number, 1);
}

uint16_t haul__byte_mask(const haul__block *block, unsigned granule)
{
    const unsigned number = granule / 32;
    const uint16_t *masks = haul__masks(block, granule / HAUL__PAGE_GRANULES);
    uint16_t mask;
    if (masks)
        return masks[granule % HAUL__PAGE_GRANULES];
    if (block->words)
        return haul__ragged_mask(block, granule);
    if (haul__halves(block, number) >> (granule % 32) & 1)
        return haul__half_is_high(haul__slots(block)[number], granule % 32) ? HAUL__HIGH_MASK
                                                                            : HAUL__LOW_MASK;
    mask = haul__page_mask(block, granule);
    return mask ? mask : HAUL__FULL_MASK;
}

int haul__is_described_in(const haul__block *block, uintptr_t address)
{
    const unsigned granule = haul__granule_in_block(address);
    return (haul__byte_mask(block, granule) | haul__hole_mask(block, granule)) >>
               (address & (HAUL__GRANULE - 1)) &
           1;
}

int haul__is_described(const haul__map *map, uintptr_t address)
{
    const haul__block *block;
    if (address < HAUL__LOWEST || address > HAUL__HIGHEST)
        return 0;
    block = haul__map_find(map, address);
    return block && haul__is_placed(block, address) && haul__is_described_in(block, address);
}
