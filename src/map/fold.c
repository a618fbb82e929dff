/* Folding: the end of marking in a block. Partly live granules get a place like whole ones, so they
 * become live, and their masks say which of their bytes are.
 */
#include "map/fold.h"
#include "map/forms.h"
#include "map/mixed.h"
#include "map/ragged.h"

int haul__mark_masks(haul__map *map, haul__block *block, size_t page)
{
    haul__side *side = haul__map_side(map, block);
    size_t at;
    uint16_t mask[HAUL__PAGE_GRANULES];
    if (!side)
        return 0;
    if (haul__masks(block, page) && !block->words)
        return 1;
    for (at = 0; at < HAUL__PAGE_GRANULES; at++) {
        const size_t granule = page * HAUL__PAGE_GRANULES + at;
        const int is_placed = (int)(block->cells[granule / 32].live >> (granule % 32)) & 1;
        mask[at] = is_placed ? haul__byte_mask(block, (unsigned)granule) : 0;
    }
    if (!haul__make_masks(map, side, page))
        return 0;
    memcpy(side->pages->masks[page], mask, sizeof mask);
    return 1;
}

/* Sets the masks of whole granules in a page of full masks: so far they are 0. */
static void fill_masks(haul__block *block, unsigned cell)
{
    uint32_t bits;
    if (!haul__masks(block, cell / HAUL__PAGE_CELLS))
        return;
    for (bits = block->cells[cell].live & haul__masked(block, cell); bits; bits &= bits - 1)
        haul__side_set_whole(block->side, cell * 32u + haul__lowest32(bits));
}

/* The number of live bytes of a partly live granule. */
HAUL__INLINE unsigned partial_bytes(const haul__block *block, unsigned granule)
{
    const uint8_t *prefix = haul__prefix(block, granule / HAUL__PAGE_GRANULES);
    const uint16_t *masks = haul__masks(block, granule / HAUL__PAGE_GRANULES);
    if (HAUL__LIKELY(prefix != NULL))
        return haul__prefix_of(prefix, granule % HAUL__PAGE_GRANULES);
    return masks ? haul__bits32(masks[granule % HAUL__PAGE_GRANULES]) : 0;
}

HAUL__HOT static size_t fold(haul__block *block)
{
    const int is_full = block->side && block->side->is_full;
    size_t bytes = 0;
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++) {
        haul__cell *at = &block->cells[cell];
        uint32_t bits;
        bytes += (size_t)haul__bits32(at->live) << HAUL__GRANULE_SHIFT;
        if (HAUL__UNLIKELY(is_full) && at->live)
            fill_masks(block, cell);
        if (haul__is_uniform(block))
            continue;
        for (bits = at->aux; bits; bits &= bits - 1)
            bytes += partial_bytes(block, cell * 32u + haul__lowest32(bits));
        at->live |= at->aux;
        at->aux = 0;
    }
    return bytes;
}

int haul__mark_fold(haul__map *map, haul__block *block, size_t *bytes)
{
    if (block->form == HAUL__MIXED)
        return haul__words_fold(map, block, bytes);
    if (block->words)
        *bytes += haul__ragged_fold(block);
    else
        *bytes += block->form == HAUL__FULL ? HAUL__BLOCK_BYTES : fold(block);
    return 1;
}
