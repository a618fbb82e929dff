/* Marking many short runs of plain bytes at one distance: the lines of sections.
 *
 * The runs of a page are set in masks of its granules first, so each granule is marked once,
 * however many runs it holds.
 */
#include "map/forms.h"
#include "map/mark_runs.h"

#define PAGE_LAST (((uintptr_t)1 << HAUL__PAGE_SHIFT) - 1)

/* The runs that are left. */
typedef struct runs {
    uintptr_t at;
    size_t left, bytes, stride;
} runs;

/* Sets the bytes of the runs in this page. A run that reaches behind the page is left. */
static void take_page(runs *r, uintptr_t page, uint16_t *masks)
{
    const uintptr_t last = page | PAGE_LAST;
    while (r->left && r->at <= last) {
        const uintptr_t first = r->at < page ? page : r->at, end = r->at + (r->bytes - 1);
        haul__set_bytes(masks, first - page, (end < last ? end : last) - page + 1);
        if (end > last)
            return;
        r->at += r->stride;
        r->left--;
    }
}

/* The words of a cell in which its masks have a byte. */
static uint64_t words_of(const uint16_t *masks)
{
    uint64_t words = 0;
    unsigned granule;
    for (granule = 0; granule < 32; granule++)
        words |= (uint64_t)(((masks[granule] & HAUL__LOW_MASK) != 0) |
                            ((masks[granule] & HAUL__HIGH_MASK) != 0) << 1)
                 << (2 * granule);
    return words;
}

/* `masks`: of the cell at this address. */
static haul_status mark_cell(haul__map *map, uintptr_t address, const uint16_t *masks,
                             haul__marked *marked, size_t *bytes)
{
    haul__block *block = haul__map_touch(map, address);
    const uint64_t words = words_of(masks);
    uint64_t slots;
    unsigned granule;
    if (!block)
        return HAUL_ERROR_MEMORY;
    if (block->form == HAUL__FULL)
        return HAUL_OK;
    slots = haul__marked_slots(map, block, haul__cell_number(address)) & words;
    if (slots) {
        marked->conflict = address + ((uintptr_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
        return HAUL_ERROR_GRAPH;
    }
    if (haul__is_uniform(block))
        block = haul__map_turn(map, address, block, HAUL__MIXED);
    for (granule = 0; block && granule < 32; granule++) {
        const uintptr_t at = address + (uintptr_t)granule * HAUL__GRANULE;
        const int fresh = masks[granule] ? haul__mark_part(map, block, at, masks[granule]) : 0;
        if (fresh < 0)
            return HAUL_ERROR_MEMORY;
        if (fresh == 0)
            continue;
        if (marked->first == marked->end)
            marked->first = at;
        marked->end = at + HAUL__GRANULE;
        *bytes += haul__bits32(masks[granule]);
    }
    return block ? HAUL_OK : HAUL_ERROR_MEMORY;
}

haul_status haul__mark_runs(haul__map *map, uintptr_t first, size_t count, size_t run,
                            size_t stride, haul__marked *marked, size_t *bytes)
{
    runs r = { first, count, run, stride };
    uintptr_t page = first & ~PAGE_LAST;
    haul_status status = HAUL_OK;
    marked->first = marked->end = first;
    *bytes = 0;
    for (; r.left && status == HAUL_OK; page += PAGE_LAST + 1) {
        uint16_t masks[HAUL__PAGE_GRANULES] = { 0 };
        size_t cell;
        take_page(&r, page, masks);
        for (cell = 0; cell < HAUL__PAGE_CELLS && status == HAUL_OK; cell++)
            status =
                mark_cell(map, page + cell * HAUL__CELL_BYTES, masks + 32 * cell, marked, bytes);
    }
    return status;
}
