/* Gather and scatter of full blocks, which large arrays of plain bytes fill, with bytes that are
 * not sent or do not come back, or with special words.
 *
 * The slow obvious version goes granule by granule, each with its mask. It is used for pages that
 * are excluded in part. A page of which nothing is sent becomes zeros, and the source is not read;
 * a page of which nothing comes back is skipped. Other pages are copied as a whole; on the way back
 * only if they differ, or if they were not sent (haul__scatter_partly says why).
 */
#include "pack/excluded_bytes.h"
#include "base/stream.h"
#include "pack/granule_data.h"

/* Is some of the page excluded from any of `directions`? */
static int is_excluded_in(const haul__block *block, size_t page, unsigned directions)
{
    const unsigned first = (unsigned)page * HAUL__PAGE_CELLS;
    unsigned cell;
    for (cell = first; cell < first + HAUL__PAGE_CELLS; cell++)
        if (haul__excluded_granules(block, cell, directions))
            return 1;
    return 0;
}

static uint16_t sent_mask(const haul__block *block, unsigned granule)
{
    return HAUL__FULL_MASK & (uint16_t)~haul__excluded_mask(block, granule, HAUL__UNSENT);
}

void haul__gather_excluded(const haul__block *block, uintptr_t address, unsigned char *to)
{
    const unsigned char *from = (const unsigned char *)address;
    size_t page, at;
    for (page = 0; page < HAUL__PAGES; page++, to += HAUL__PAGE_BYTES, from += HAUL__PAGE_BYTES)
        if (haul__page_is_excluded(block, page, HAUL__UNSENT))
            memset(to, 0, HAUL__PAGE_BYTES);
        else if (!is_excluded_in(block, page, HAUL__UNSENT))
            memcpy(to, from, HAUL__PAGE_BYTES);
        else
            for (at = 0; at < HAUL__PAGE_GRANULES; at++)
                haul__copy_masked(to + at * HAUL__GRANULE, from + at * HAUL__GRANULE,
                                  sent_mask(block, (unsigned)(page * HAUL__PAGE_GRANULES + at)));
}

void haul__scatter_excluded(const haul_plan *plan, const haul__block *block, uint32_t number,
                            const unsigned char *from)
{
    const int has_special = block->side->has_special;
    unsigned char *to = (unsigned char *)haul__block_address(number);
    size_t page, at;
    for (page = 0; page < HAUL__PAGES; page++, to += HAUL__PAGE_BYTES, from += HAUL__PAGE_BYTES) {
        const unsigned first = (unsigned)(page * HAUL__PAGE_GRANULES);
        if (haul__page_is_excluded(block, page, HAUL__UNRETURNED))
            continue;
        if (!has_special && !is_excluded_in(block, page, HAUL__UNSENT | HAUL__UNRETURNED))
            haul__copy_changed(to, from, HAUL__PAGE_BYTES);
        else if (!has_special && haul__page_is_excluded(block, page, HAUL__UNSENT) &&
                 !is_excluded_in(block, page, HAUL__UNRETURNED))
            memcpy(to, from, HAUL__PAGE_BYTES);
        else
            for (at = 0; at < HAUL__PAGE_GRANULES; at++)
                haul__scatter_partly(block, first + (unsigned)at, to + at * HAUL__GRANULE,
                                     from + at * HAUL__GRANULE,
                                     haul__data_mask(plan, block, number, first + (unsigned)at));
    }
}
