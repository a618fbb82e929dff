/* Gather and scatter of blocks with bytes that are not sent, or do not come back.
 *
 * The slow obvious version goes granule by granule, each with its mask. It is used for pages that
 * are excluded in part. A page of which nothing is sent becomes zeros, and the source is not read;
 * a page of which nothing comes back is skipped. Gather copies other pages of plain bytes by whole
 * cells: large arrays consist of them.
 *
 * A byte that comes back is compared with the host's, and written only if it differs. But a byte
 * that was not sent may be uninitialised on the host, so it is written without a comparison.
 */
#include "pack/excluded_bytes.h"
#include "pack/granule_data.h"

/* A page of plain bytes, all of them live and none excluded byte by byte. */
static int is_full_page(const haul__block *block, size_t page)
{
    return block->form == HAUL__FULL && !block->side->exclusions->masks[0][page] &&
           !block->side->exclusions->masks[1][page];
}

/* ---- Gather. */

static void gather_cell(const haul__block *block, unsigned cell, uintptr_t from, unsigned char *to)
{
    uint32_t live;
    for (live = haul__live(block, cell); live; live &= live - 1, to += HAUL__GRANULE) {
        const unsigned in_cell = haul__lowest32(live), granule = cell * 32u + in_cell;
        const uint16_t mask = haul__byte_mask(block, granule) &
                              (uint16_t)~haul__excluded_mask(block, granule, HAUL__UNSENT);
        memset(to, 0, HAUL__GRANULE);
        haul__write_bytes(to, (const unsigned char *)(from + in_cell * HAUL__GRANULE), mask, mask);
    }
}

void haul__gather_excluded(const haul__block *block, uintptr_t address, unsigned char *arena)
{
    uint64_t end = block->base; /* of the last place; gaps become zeros */
    size_t page;
    for (page = 0; page < HAUL__PAGES; page++) {
        const int nothing = haul__page_is_excluded(block, page, HAUL__UNSENT);
        unsigned cell = (unsigned)page * HAUL__PAGE_CELLS, last = cell + HAUL__PAGE_CELLS;
        for (; cell < last; cell++) {
            uint64_t rank = haul__cell_rank(block, cell),
                     count = haul__bits32(haul__live(block, cell));
            unsigned char *to = arena + (size_t)(rank << HAUL__GRANULE_SHIFT);
            if (count == 0)
                continue;
            if (rank != end)
                memset(to - (size_t)((rank - end) << HAUL__GRANULE_SHIFT), 0,
                       (size_t)((rank - end) << HAUL__GRANULE_SHIFT));
            end = rank + count;
            if (nothing)
                memset(to, 0, (size_t)(count << HAUL__GRANULE_SHIFT));
            else if (is_full_page(block, page))
                memcpy(to, (const void *)(address + cell * HAUL__CELL_BYTES), HAUL__CELL_BYTES);
            else
                gather_cell(block, cell, address + cell * HAUL__CELL_BYTES, to);
        }
    }
}

/* ---- Scatter. */

static void scatter_cell(const haul_plan *plan, const haul__block *block, uint32_t number,
                         unsigned cell, const unsigned char *from)
{
    unsigned char *to = (unsigned char *)(haul__block_address(number) + cell * HAUL__CELL_BYTES);
    uint32_t live;
    for (live = haul__live(block, cell); live; live &= live - 1, from += HAUL__GRANULE) {
        unsigned in_cell = haul__lowest32(live), granule = cell * 32u + in_cell;
        uint16_t stays = haul__excluded_mask(block, granule, HAUL__UNRETURNED);
        uint16_t mask = haul__data_mask(plan, block, number, granule) & (uint16_t)~stays;
        haul__write_bytes(to + in_cell * HAUL__GRANULE, from, mask,
                          haul__excluded_mask(block, granule, HAUL__UNSENT));
    }
}

void haul__scatter_excluded(const haul_plan *plan, const haul__block *block, uint32_t number,
                            const unsigned char *arena)
{
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++) {
        size_t page = cell / HAUL__PAGE_CELLS;
        const unsigned char *from =
            arena + (size_t)(haul__cell_rank(block, cell) << HAUL__GRANULE_SHIFT);
        if (haul__page_is_excluded(block, page, HAUL__UNRETURNED))
            continue;
        if (is_full_page(block, page) && haul__page_is_excluded(block, page, HAUL__UNSENT))
            memcpy((void *)(haul__block_address(number) + cell * HAUL__CELL_BYTES), from,
                   HAUL__CELL_BYTES);
        else
            scatter_cell(plan, block, number, cell, from);
    }
}
