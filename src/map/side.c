/* Sides: their memory, and the byte masks in them.
 */
#include "map/side.h"
#include "map/spare.h"

haul__side *haul__map_side(haul__map *map, haul__block *block)
{
    if (!block->side) {
        block->side = haul__spare_take(map, HAUL__SIZE_SIDE);
        if (!block->side)
            return NULL;
        memset(block->side, 0, sizeof *block->side);
        map->side_bytes += sizeof *block->side;
    }
    return block->side;
}

static void release_masks(haul__map *map, haul__byte_pages *pages)
{
    size_t page;
    for (page = 0; pages && page < HAUL__PAGES; page++)
        haul__release(&map->allocator, pages->masks[page], HAUL__PAGE_GRANULES * sizeof(uint16_t));
    haul__release(&map->allocator, pages, sizeof *pages);
}

void haul__side_release(haul__map *map, haul__side *side)
{
    size_t page;
    release_masks(map, side->pages);
    haul__release(&map->allocator, side->halves, HAUL__HALVES_BYTES);
    haul__release(&map->allocator, side->ends, side->end_capacity * sizeof *side->ends);
    for (page = 0; side->holes && page < HAUL__PAGES; page++)
        haul__release(&map->allocator, side->holes->masks[page],
                      HAUL__PAGE_GRANULES * sizeof(uint16_t));
    haul__release(&map->allocator, side->holes, sizeof *side->holes);
    release_masks(map, side->off_grid);
    release_masks(map, side->exclusions.bytes[0]);
    release_masks(map, side->exclusions.bytes[1]);
    if (side->exclusions.words)
        haul__spare_keep(map, HAUL__SIZE_EXCLUDED, side->exclusions.words);
    if (side->prefix)
        haul__spare_keep(map, HAUL__SIZE_PREFIX, side->prefix);
    haul__spare_keep(map, HAUL__SIZE_SIDE, side);
}

/* ---- Byte masks. */

uint16_t haul__page_mask(const haul__block *block, unsigned granule)
{
    const size_t page = granule / HAUL__PAGE_GRANULES, at = granule % HAUL__PAGE_GRANULES;
    const uint16_t *masks = haul__masks(block, page);
    const uint8_t *prefix = haul__prefix(block, page);
    if (masks)
        return masks[at];
    return prefix ? (uint16_t)((1u << haul__prefix_of(prefix, at)) - 1u) : 0;
}

uint16_t haul__hole_mask(const haul__block *block, unsigned granule)
{
    const haul__holes *holes = block->side ? block->side->holes : NULL;
    const uint16_t *masks;
    if (!holes || !(holes->granules[granule / 64] >> (granule % 64) & 1))
        return 0;
    masks = holes->masks[granule / HAUL__PAGE_GRANULES];
    return masks ? masks[granule % HAUL__PAGE_GRANULES] : HAUL__FULL_MASK;
}

uint16_t *haul__page_masks(haul__map *map, haul__byte_pages **pages, size_t page)
{
    const size_t bytes = HAUL__PAGE_GRANULES * sizeof(uint16_t);
    if (!*pages) {
        *pages = haul__allocate_zeroed(&map->allocator, sizeof **pages);
        if (!*pages)
            return NULL;
        map->side_bytes += sizeof **pages;
    }
    if (!(*pages)->masks[page]) {
        (*pages)->masks[page] = haul__allocate_zeroed(&map->allocator, bytes);
        map->side_bytes += (*pages)->masks[page] ? bytes : 0;
    }
    return (*pages)->masks[page];
}

int haul__make_masks(haul__map *map, haul__side *side, size_t page)
{
    const size_t first = page * HAUL__PAGE_GRANULES;
    uint16_t *masks;
    size_t at;
    if (side->is_full >> page & 1u)
        return 1;
    masks = haul__page_masks(map, &side->pages, page);
    for (at = 0; masks && side->prefix && at < HAUL__PAGE_GRANULES; at++)
        masks[at] = (uint16_t)((1u << haul__prefix_of(side->prefix, first + at)) - 1u);
    side->is_full |= masks ? 1u << page : 0;
    return masks != NULL;
}

static void put_prefix(uint8_t *prefix, size_t granule, unsigned bytes)
{
    const unsigned shift = granule % 2 * 4;
    prefix[granule / 2] = (uint8_t)((prefix[granule / 2] & ~(15u << shift)) | bytes << shift);
}

static int has_prefix(haul__map *map, haul__side *side)
{
    if (!side->prefix) {
        side->prefix = haul__spare_take(map, HAUL__SIZE_PREFIX);
        if (!side->prefix)
            return 0;
        memset(side->prefix, 0, HAUL__PREFIX_BYTES);
        map->side_bytes += HAUL__PREFIX_BYTES;
    }
    return 1;
}

int haul__mark_mask(haul__map *map, haul__block *block, unsigned granule, uint16_t mask)
{
    const size_t page = granule / HAUL__PAGE_GRANULES;
    haul__side *side = haul__map_side(map, block);
    if (!side)
        return 0;
    if (!(side->is_full >> page & 1u) && (mask & (mask + 1u)) == 0) {
        if (!has_prefix(map, side))
            return 0;
        put_prefix(side->prefix, granule, mask ? haul__bits32(mask) : 0);
        return 1;
    }
    if (!haul__make_masks(map, side, page))
        return 0;
    side->pages->masks[page][granule % HAUL__PAGE_GRANULES] = mask;
    return 1;
}

void haul__side_set_whole(const haul__side *side, size_t granule)
{
    const size_t page = granule / HAUL__PAGE_GRANULES;
    if (side->is_full >> page & 1u)
        side->pages->masks[page][granule % HAUL__PAGE_GRANULES] = HAUL__FULL_MASK;
    else
        put_prefix(side->prefix, granule, 0);
}
