/* Exclusions over the map's blocks (exclusions.h).
 */
#include "map/exclusions.h"

#define ALL_PAGES ((uint16_t)((1u << HAUL__PAGES) - 1u))

/* The index of a direction in haul__exclusions. */
static unsigned way_of(unsigned direction)
{
    return direction == HAUL__UNSENT ? 0u : 1u;
}

static haul__exclusions *exclusions_of(haul__map *map, uintptr_t address)
{
    haul__block *block = haul__map_touch(map, address);
    haul__side *side = block ? haul__map_side(map, block) : NULL;
    if (side && !side->exclusions) {
        side->exclusions = haul__allocate_zeroed(&map->allocator, sizeof *side->exclusions);
        if (side->exclusions)
            map->side_bytes += sizeof *side->exclusions;
    }
    return side ? side->exclusions : NULL;
}

static uint16_t *mask_of(haul__map *map, haul__exclusions *exclusions, unsigned way, size_t page)
{
    if (!exclusions->masks[way][page]) {
        exclusions->masks[way][page] =
            haul__allocate_zeroed(&map->allocator, HAUL__PAGE_GRANULES * sizeof(uint16_t));
        if (exclusions->masks[way][page])
            map->side_bytes += HAUL__PAGE_GRANULES * sizeof(uint16_t);
    }
    return exclusions->masks[way][page];
}

/* [first, end) lies in one page. */
static int exclude_in_page(haul__map *map, uintptr_t first, uintptr_t end, unsigned way)
{
    size_t page = (first & (HAUL__BLOCK_BYTES - 1)) >> HAUL__PAGE_SHIFT,
           at = first & (HAUL__PAGE_BYTES - 1);
    haul__exclusions *exclusions = exclusions_of(map, first);
    uint16_t *mask;
    if (!exclusions)
        return 0;
    if (end - first == HAUL__PAGE_BYTES)
        exclusions->whole[way] |= (uint16_t)(1u << page);
    if (exclusions->whole[way] >> page & 1u)
        return 1;
    mask = mask_of(map, exclusions, way, page);
    if (!mask)
        return 0;
    haul__set_bytes(mask, at, at + (size_t)(end - first));
    return 1;
}

int haul__exclude(haul__map *map, uintptr_t first, uintptr_t end, unsigned exclusions)
{
    map->has_exclusions = 1;
    while (first < end) {
        uintptr_t stop = (first | (HAUL__PAGE_BYTES - 1)) + 1;
        if (stop > end || stop == 0)
            stop = end;
        if ((exclusions & HAUL__UNSENT) && !exclude_in_page(map, first, stop, way_of(HAUL__UNSENT)))
            return 0;
        if ((exclusions & HAUL__UNRETURNED) &&
            !exclude_in_page(map, first, stop, way_of(HAUL__UNRETURNED)))
            return 0;
        first = stop;
    }
    return 1;
}

uint16_t haul__excluded_mask(const haul__block *block, unsigned granule, unsigned direction)
{
    size_t page = granule / HAUL__PAGE_GRANULES, at = granule % HAUL__PAGE_GRANULES;
    const unsigned way = way_of(direction);
    if (!haul__has_exclusions(block))
        return 0;
    if (block->side->exclusions->whole[way] >> page & 1u)
        return HAUL__FULL_MASK;
    return block->side->exclusions->masks[way][page] ? block->side->exclusions->masks[way][page][at]
                                                     : 0;
}

int haul__page_is_excluded(const haul__block *block, size_t page, unsigned direction)
{
    return haul__has_exclusions(block) &&
           (block->side->exclusions->whole[way_of(direction)] >> page & 1u);
}

int haul__block_is_excluded(const haul__block *block, unsigned direction)
{
    return haul__has_exclusions(block) &&
           block->side->exclusions->whole[way_of(direction)] == ALL_PAGES;
}

int haul__is_excluded(const haul__map *map, uintptr_t address, unsigned direction)
{
    const haul__block *block = haul__map_find(map, address);
    return block && (haul__excluded_mask(block, haul__granule_in_block(address), direction) >>
                         (address & (HAUL__GRANULE - 1)) &
                     1);
}
