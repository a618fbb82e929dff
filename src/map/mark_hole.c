/* Marking holes: all bytes of an object that skips some. Each of its granules gets a place in the
 * copy, so that nothing within the object moves; masks say which bytes travel. A gap between the
 * elements of a section gets places too, but its bytes belong to no object.
 */
#include "map/bits.h"
#include "map/forms.h"
#include "map/mark_hole.h"

/* In a bare block, a granule without live bytes that has a place needs its mask of 0 at once; in a
 * mixed one, layout makes it. */
static int hole_room(haul__map *map, haul__side *side, size_t page, uint32_t form)
{
    if (!side->holes) {
        side->holes = haul__allocate_zeroed(&map->allocator, sizeof *side->holes);
        if (!side->holes)
            return 0;
        map->side_bytes += sizeof *side->holes;
    }
    return form != HAUL__BARE || haul__make_masks(map, side, page);
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

/* Notes the granules of a hole in a cell. The first and the last one may belong to it in part. 0:
 * out of memory. */
static int note_holes(haul__map *map, haul__holes *holes, unsigned number, uint32_t granules,
                      uintptr_t first, uintptr_t end)
{
    const uintptr_t cell = first & ~(uintptr_t)(HAUL__CELL_BYTES - 1);
    uint32_t one_by_one = granules;
    if (!holes->masks[number / HAUL__PAGE_CELLS]) {
        one_by_one = 0;
        if (first % HAUL__GRANULE)
            one_by_one |= (uint32_t)1 << haul__granule_in_cell(first);
        if (end % HAUL__GRANULE)
            one_by_one |= (uint32_t)1 << haul__granule_in_cell(end - 1);
    }
    holes->granules[number / 2] |= (uint64_t)(granules & ~one_by_one) << (number % 2 * 32);
    for (; one_by_one; one_by_one &= one_by_one - 1) {
        const unsigned granule = haul__lowest32(one_by_one);
        if (!note_hole(map, holes, number * 32u + granule,
                       mask_between(cell + granule * HAUL__GRANULE, first, end)))
            return 0;
    }
    return 1;
}

/* The hole within one cell. 0: out of memory. */
static int mark_hole_in_cell(haul__map *map, uintptr_t first, uintptr_t end)
{
    haul__block *block = haul__map_touch(map, first);
    const unsigned number = haul__cell_number(first);
    const size_t page = number / HAUL__PAGE_CELLS;
    uint32_t granules = haul__range32(haul__granule_in_cell(first), haul__granule_in_cell(end - 1));
    haul__side *side = block && block->form != HAUL__FULL ? haul__map_side(map, block) : NULL;
    if (block && block->form == HAUL__FULL)
        return 1;
    if (!side || !hole_room(map, side, page, block->form) ||
        !note_holes(map, side->holes, number, granules, first, end))
        return 0;
    if (haul__is_uniform(block))
        return haul__map_turn(map, first, block, HAUL__MIXED) != NULL;
    if (block->form != HAUL__BARE)
        return 1;
    granules &= ~(block->cells[number].live | block->cells[number].aux);
    block->cells[number].aux |= granules;
    for (; granules; granules &= granules - 1)
        side->pages->masks[page][number % HAUL__PAGE_CELLS * 32u + haul__lowest32(granules)] = 0;
    return 1;
}

int haul__mark_hole(haul__map *map, uintptr_t first, uintptr_t end)
{
    while (first < end) {
        uintptr_t stop = (first | (HAUL__CELL_BYTES - 1)) + 1;
        if (stop > end)
            stop = end;
        if (!mark_hole_in_cell(map, first, stop))
            return 0;
        first = stop;
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
    if (!side || !hole_room(map, side, number / HAUL__PAGE_CELLS, block->form))
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
