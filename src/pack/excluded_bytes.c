/* Gather and scatter of large arrays of plain bytes that are not sent, or do not come back, in
 * whole or in part.
 *
 * The slow obvious version goes granule by granule, each with its mask. It is used for pages that
 * are excluded in part. A page of which nothing is sent becomes zeros, and the source is not read;
 * a page of which nothing comes back is skipped. Other pages are copied as a whole.
 *
 * A byte that comes back is compared with the host's, and written only if it differs. But a byte
 * that was not sent may be uninitialised on the host, so it is written without a comparison.
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
                haul__copy_masked(
                    to + at * HAUL__GRANULE, from + at * HAUL__GRANULE,
                    (uint16_t)~haul__excluded_mask(
                        block, (unsigned)(page * HAUL__PAGE_GRANULES + at), HAUL__UNSENT));
}

void haul__scatter_excluded(const haul__block *block, uintptr_t address, const unsigned char *from)
{
    unsigned char *to = (unsigned char *)address;
    size_t page, at;
    for (page = 0; page < HAUL__PAGES; page++, to += HAUL__PAGE_BYTES, from += HAUL__PAGE_BYTES) {
        if (haul__page_is_excluded(block, page, HAUL__UNRETURNED))
            continue;
        if (!is_excluded_in(block, page, HAUL__UNSENT | HAUL__UNRETURNED)) {
            haul__copy_changed(to, from, HAUL__PAGE_BYTES);
        } else if (haul__page_is_excluded(block, page, HAUL__UNSENT) &&
                   !is_excluded_in(block, page, HAUL__UNRETURNED)) {
            memcpy(to, from, HAUL__PAGE_BYTES);
        } else {
            for (at = 0; at < HAUL__PAGE_GRANULES; at++)
                haul__scatter_partly(block, (unsigned)(page * HAUL__PAGE_GRANULES + at),
                                     to + at * HAUL__GRANULE, from + at * HAUL__GRANULE,
                                     HAUL__FULL_MASK);
        }
    }
}
