/* Updates: described bytes of one source range that are no pointers, into a copy of a piece of the arena or out of it.
 *
 * Granule by granule: ranges are single objects or parts of them, so this need not be fast, only exact.
 */
#include "pack/plan.h"

/* The bytes of the granule at `granule` that lie in [first, end). */
static uint16_t range_mask(uintptr_t granule, uintptr_t first, uintptr_t end)
{
    uint16_t mask = HAUL__FULL_MASK;
    if (granule < first)
        mask &= (uint16_t)(HAUL__FULL_MASK << (first - granule));
    if (end - granule < HAUL__GRANULE)
        mask &= (uint16_t)((1u << (end - granule)) - 1u);
    return mask;
}

/* The next granule at or after `at` that has a place, below `end`; 0: there is none. */
static uintptr_t next_placed(const haul__map *map, uintptr_t at, uintptr_t end, haul__block **block)
{
    at &= ~(uintptr_t)(HAUL__GRANULE - 1);
    while (at != 0 && at < end && at <= HAUL__HIGHEST) {
        *block = haul__map_find(map, at);
        if (*block && haul__is_placed(*block, at))
            return at;
        at = *block ? at + HAUL__GRANULE : (at | (HAUL__BLOCK_BYTES - 1)) + 1;
    }
    return 0;
}

static void copy_data(const haul_plan *plan, uintptr_t first, uintptr_t end, unsigned char *into,
                      const unsigned char *out_of, size_t offset)
{
    const haul__map *map = &plan->found.map;
    haul__block *block;
    uintptr_t at;
    for (at = next_placed(map, first, end, &block); at; at = next_placed(map, at + HAUL__GRANULE, end, &block)) {
        uint16_t mask = haul__data_mask(plan, block, haul__block_number(at), haul__granule_in_block(at));
        size_t place;
        mask &= range_mask(at, first, end);
        if (!mask)
            continue;
        place = (size_t)haul__place(map, block, at) - offset;
        if (into)
            haul__copy_bytes(into + place, (const unsigned char *)at, mask);
        else
            haul__copy_bytes((unsigned char *)at, out_of + place, mask);
    }
}

void haul__gather_data(const haul_plan *plan, uintptr_t first, uintptr_t end, void *piece, size_t offset)
{
    copy_data(plan, first, end, piece, NULL, offset);
}

void haul__scatter_data(const haul_plan *plan, uintptr_t first, uintptr_t end, const void *piece, size_t offset)
{
    copy_data(plan, first, end, NULL, piece, offset);
}

int haul__span(const haul_plan *plan, uintptr_t first, uintptr_t end, size_t *offset, size_t *bytes, int *pointers)
{
    const haul__map *map = &plan->found.map;
    uint64_t low = 0, high = 0;
    haul__block *block;
    uintptr_t at;
    *pointers = 0;
    for (at = next_placed(map, first, end, &block); at; at = next_placed(map, at + HAUL__GRANULE, end, &block)) {
        if (!(haul__byte_mask(block, haul__granule_in_block(at)) & range_mask(at, first, end)))
            continue;
        if (!high)
            low = haul__place(map, block, at);
        high = haul__place(map, block, at) + HAUL__GRANULE;
        *pointers |= (haul__cell_of(block, at)->slots >> (2 * haul__granule_in_cell(at)) & 3u) != 0 ||
                     (block->side && block->side->has_odd);
    }
    *offset = (size_t)low;
    *bytes = (size_t)(high - low);
    return high != 0;
}
