/* A plan as lists with which a device gathers by itself; and the pages of the source.
 */
#ifndef HAUL_PACK_SEGMENTS_H
#define HAUL_PACK_SEGMENTS_H

#include "base/base.h"
#include "haul/device.h"
#include "haul/plan.h"

/* The reason why a device cannot gather this plan by itself; NULL: it can. */
const char *haul__why_no_segments(const haul_plan *plan);
/* Counts segments, and the pointers in them. */
void haul__count_segments(const haul_plan *plan, size_t *segments, size_t *attachments);
/* Writes them for an arena at `base`, with the pointers' present values. */
void haul__write_segments(const haul_plan *plan, uint64_t base, haul_segment *segments,
                          haul_attachment *attachments);
/* The next run of pages of 4 KiB that hold placed bytes of the source. Begin with zeros; 0: there
 * is none. */
typedef struct haul__pages {
    size_t block, number; /* the next page to look at */
    uintptr_t begin, end;
} haul__pages;
int haul__next_pages(const haul_plan *plan, haul__pages *pages);

#endif
