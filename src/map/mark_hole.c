/* Marking holes: all bytes of an object that skips some. Each of its granules gets a place in the
 * copy, so that nothing within the object moves; masks say which bytes travel. A gap between the
 * elements of a section gets places too, but its bytes belong to no object.
 */
#include "map/bits.h"
#include "map/forms.h"
#include "map/mark_hole.h"

static int hole_room(haul__map *map, haul__side *side, size_t page)
{
    if (!side->holes) {
        side->holes = haul__allocate_zeroed(&map->allocator, sizeof *side->holes);
        if (!side->holes)
            return 0;
        map->side_bytes += sizeof *side->holes;
    }
    return haul__make_masks(map, side, page);
}

/* Masks for a page whose hole granules were whole so far. */
static uint16_t *hole_masks(haul__map *map, haul__holes *holes, size_t page)
{
    const size_t first = page * HAUL__PAGE_GRANULES;
    uint16_t *masks = haul__allocate_zeroed(&map->allocator, HAUL__PAGE_GRANULES * sizeof *masks);
    size_t at;
    if (!masks)
        return NULL;
    map->side_bytes += HAUL__PAGE_GRANULES * sizeof *masks;
    for (at = 0; at < HAUL__PAGE_GRANULES; at++)
        if (holes->granules[(first + at) / 64] >> ((first + at) % 64) & 1)
            masks[at] = HAUL__FULL_MASK;
    return holes->masks[page] = masks;
}

/* 0: out of memory. */
static int note_hole(haul__map *map, haul__holes *holes, size_t granule, uint16_t mask)
{
    const size_t page = granule / HAUL__PAGE_GRANULES;
    const uint64_t bit = (uint64_t)1 << (granule % 64);
    uint16_t *masks = holes->masks[page];
    if (!masks && mask != HAUL__FULL_MASK && !(holes->granules[granule / 64] & bit)) {
        masks = hole_masks(map, holes, page);
        if (!masks)
            return 0;
    }
    if (masks)
        masks[granule % HAUL__PAGE_GRANULES] |= mask;
    holes->granules[granule / 64] |= bit;
    return 1;
}

/* The bytes of [first, end) that lie in the granule at address `granule`. */
static uint16_t mask_between(uintptr_t granule, uintptr_t first, uintptr_t end)
{
    uint16_t mask = HAUL__FULL_MASK;
    if (first > granule)
        mask &= (uint16_t)(HAUL__FULL_MASK << (first - granule));
    if (end - granule < HAUL__GRANULE)
        mask &= (uint16_t)((1u << (end - granule)) - 1u);
    return mask;
}

int haul__mark_hole(haul__map *map, uintptr_t first, uintptr_t end)
{
    uintptr_t at;
    for (at = first & ~(uintptr_t)(HAUL__GRANULE - 1); at < end; at += HAUL__GRANULE) {
        haul__block *block = haul__map_touch(map, at);
        haul__side *side = block && block->form != HAUL__FULL ? haul__map_side(map, block) : NULL;
        size_t granule = haul__granule_in_block(at), page = granule / HAUL__PAGE_GRANULES;
        uint32_t bit = (uint32_t)1 << (granule % 32);
        haul__cell *cell;
        if (block && block->form == HAUL__FULL)
            continue;
        if (!side || !hole_room(map, side, page) ||
            !note_hole(map, side->holes, granule, mask_between(at, first, end)))
            return 0;
        if (haul__is_uniform(block))
            block = haul__map_turn(map, at, block, HAUL__MIXED);
        if (!block)
            return 0;
        cell = &block->cells[granule / 32];
        if (block->form == HAUL__BARE && !((cell->live | cell->aux) & bit)) {
            cell->aux |= bit;
            side->pages->masks[page][granule % HAUL__PAGE_GRANULES] = 0;
        }
    }
    return 1;
}

/* The gap within one cell. Its granules that have a live byte have a place. 0: out of memory. */
static int mark_gap_in_cell(haul__map *map, uintptr_t first, uintptr_t end)
{
    haul__block *block = haul__map_touch(map, first);
    const unsigned number = haul__cell_number(first);
    uint32_t granules = haul__range32(haul__granule_in_cell(first), haul__granule_in_cell(end - 1));
    haul__side *side;
    if (!block)
        return 0;
    if (block->form == HAUL__BARE)
        granules &= ~(block->cells[number].live | block->cells[number].aux);
    if (block->form == HAUL__FULL || !granules)
        return 1;
    side = haul__map_side(map, block);
    if (!side || !hole_room(map, side, number / HAUL__PAGE_CELLS))
        return 0;
    side->holes->gaps[number / 2] |= (uint64_t)granules << (number % 2 * 32);
    if (block->form == HAUL__BARE)
        block->cells[number].aux |= granules; /* their masks are 0 */
    return !haul__is_uniform(block) || haul__map_turn(map, first, block, HAUL__MIXED);
}

int haul__mark_gap(haul__map *map, uintptr_t first, uintptr_t end)
{
    while (first < end) {
        uintptr_t stop = (first | (HAUL__CELL_BYTES - 1)) + 1;
        if (stop > end)
            stop = end;
        if (!mark_gap_in_cell(map, first, stop))
            return 0;
        first = stop;
    }
    return 1;
}
