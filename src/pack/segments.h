/* A plan as lists that a device gathers by, reading the source where it lies; and its pages.
 */
#ifndef HAUL_PACK_SEGMENTS_H
#define HAUL_PACK_SEGMENTS_H

#include "base/base.h"
#include "haul/device.h"
#include "haul/plan.h"

/* Why a device cannot gather by segments; NULL: it can. */
const char *haul__why_no_segments(const haul_plan *plan);
/* How many there are, and pointers among them; all of them, for an arena at `base`. The pointers
 * are as the plan has them. */
void haul__count_segments(const haul_plan *plan, size_t *segments, size_t *attachments);
void haul__write_segments(const haul_plan *plan, uint64_t base, haul_segment *segments,
                          haul_attachment *attachments);
/* The next pages of 4 KiB, side by side, that hold something of the source; begin with zeros. 0:
 * there are none. */
typedef struct haul__pages {
    size_t block, number; /* where to go on */
    uintptr_t begin, end;
} haul__pages;
int haul__next_pages(const haul_plan *plan, haul__pages *pages);

#endif
