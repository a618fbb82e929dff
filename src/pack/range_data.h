/* Data of one source range: where it lies in the arena, and copies of it.
 */
#ifndef HAUL_PACK_RANGE_DATA_H
#define HAUL_PACK_RANGE_DATA_H

#include "base/base.h"
#include "haul/plan.h"

/* The smallest piece of the arena, in granules, that holds every described byte of a source range,
 * and within it the smallest that holds every one that is no pointer. */
typedef struct haul__span {
    size_t offset, bytes;
    size_t data_offset, data_bytes; /* 0 bytes: it holds pointers alone */
    /* the latter holds nothing else: no pointer, skipped byte or neighbour */
    int is_solid;
} haul__span;
/* 0: no byte of the range is described. Bytes with `bar` (HAUL__UNSENT on the way to the device,
 * HAUL__UNRETURNED on the way back) are no data. */
int haul__find_span(const haul_plan *plan, unsigned bar, uintptr_t first, uintptr_t end,
                    haul__span *span);
/* Described bytes of the source range that are no pointers and travel that way: into, or out of, a
 * copy of that piece of the arena. */
void haul__gather_data(const haul_plan *plan, uintptr_t first, uintptr_t end, void *piece,
                       size_t offset);
void haul__scatter_data(const haul_plan *plan, uintptr_t first, uintptr_t end, const void *piece,
                        size_t offset);

#endif
