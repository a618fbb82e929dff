/* Invariants of a finished layout.
 *
 * A copy finds all places by ranks and live bits alone, so a wrong rank sends bytes to a wrong
 * place unnoticed. These checks read each block once more, in order of address. A rank must count
 * the live granules before it, slots must lie in placed granules, and lists must be in order. The
 * places of the first and the last granule of each block must lead back to their addresses.
 */
#include "layout/layout_check.h"

#include "map/bits.h"
#include "map/forms.h"
#include "map/map.h"
#include "map/side.h"

#ifdef HAUL_CHECKS

static const char *fault_of_place(const haul__map *map, const haul__block *block, uintptr_t address)
{
    const uint64_t place = haul__place(block, address);
    return haul__source_of(map, place >> HAUL__GRANULE_SHIFT) == address
               ? NULL
               : "a place does not lead back to its granule";
}

/* *at: the number of granules placed before the block; afterwards, before the next one. */
static const char *fault_of_block(const haul__map *map, size_t i, uint64_t *at, size_t *slots)
{
    const haul__block *block = haul__map_block(map, i);
    const uintptr_t begin = haul__block_address(map->numbers[i]);
    const char *fault = NULL;
    uintptr_t last = 0;
    unsigned number;
    for (number = 0; number < HAUL__CELLS && !fault; number++) {
        const uint32_t live = haul__live(block, number);
        const uint64_t rank = haul__cell_rank(block, number);
        const uint64_t told = haul__placed_slots(map, block, number);
        const uintptr_t cell = begin + number * HAUL__CELL_BYTES;
        *at += number == block->gap_cell ? block->gap : 0;
        if (map->has_placements ? rank < *at && live : rank != *at)
            return "a rank is not the number of granules placed before its cell";
        if (told & ~haul__words_of(live))
            return "a slot stands where nothing is placed";
        *slots += haul__bits64(told);
        *at = live ? rank + haul__bits32(live) : *at;
        if (live && !last)
            fault =
                fault_of_place(map, block, cell + (haul__lowest32(live) << HAUL__GRANULE_SHIFT));
        if (live)
            last = cell + ((uintptr_t)haul__highest64(live) << HAUL__GRANULE_SHIFT);
    }
    return fault || !last ? fault : fault_of_place(map, block, last);
}

static const char *fault_of_map(const haul__map *map, const haul__placed *placed)
{
    uint64_t at = 0;
    size_t slots = 0, i;
    const char *fault = NULL;
    if (!map->is_listed)
        return "the map has no list of its blocks";
    if (map->block_count > 0)
        at = haul__map_block(map, 0)->base;
    for (i = 0; i < map->block_count && !fault; i++) {
        const haul__block *block = haul__map_block(map, i);
        if (i > 0 && map->numbers[i - 1] >= map->numbers[i])
            return "blocks are not in order of address";
        if ((map->entries[i] & HAUL__FORM_MASK) != block->form)
            return "a block's entry says another form than the block";
        fault = fault_of_block(map, i, &at, &slots);
    }
    if (!fault && at > placed->granules)
        fault = "more granules are placed than the arena has";
    if (!fault && slots != placed->slots)
        fault = "the blocks tell another number of slots than layout has counted";
    return fault;
}

static const char *fault_of_lists(const haul__found *found)
{
    size_t i;
    for (i = 1; i < found->special_count; i++)
        if (found->special[i - 1].address > found->special[i].address)
            return "special words are not in order of address";
    for (i = 1; i < found->empty_count; i++)
        if (found->empty[i - 1] > found->empty[i])
            return "pointers to no elements are not in order of address";
    for (i = 1; i < found->end_count; i++)
        if (found->ends[i - 1].word >= found->ends[i].word)
            return "ends of arrays are not in order of address";
    return NULL;
}

haul_status haul__layout_check(haul_context *context, const haul__found *found,
                               const haul__placed *placed)
{
    const char *fault = fault_of_map(&found->map, placed);
    if (!fault)
        fault = fault_of_lists(found);
    return fault ? haul__fail(&context->error, HAUL_ERROR_STATE, "broken invariant: %s", fault)
                 : HAUL_OK;
}

#endif
