/* Data of one source range: its place in the arena, and copies of it. Data are described bytes that
 * belong to no pointer.
 */
#ifndef HAUL_PACK_RANGE_DATA_H
#define HAUL_PACK_RANGE_DATA_H

#include "base/base.h"
#include "haul/plan.h"

/* The smallest part of the arena, in whole granules, that holds all described bytes of a source
 * range; and within it the smallest part that holds all data of the range. */
typedef struct haul__span {
    size_t offset, bytes;
    size_t data_offset, data_bytes; /* 0 bytes: there are pointers alone */
    /* the smaller part holds the range's data alone: no pointers, skipped bytes or other ranges */
    int is_solid;
} haul__span;
/* 0: no byte of the range is described. Bytes that are excluded from `direction` are not data:
 * HAUL__UNSENT on the way to the device, HAUL__UNRETURNED on the way back. */
int haul__find_span(const haul_plan *plan, unsigned direction, uintptr_t first, uintptr_t end,
                    haul__span *span);
/* Copies the range's data, except bytes excluded from that direction, into or out of `piece`: a
 * copy of the arena from `offset` on. */
void haul__gather_data(const haul_plan *plan, uintptr_t first, uintptr_t end, void *piece,
                       size_t offset);
void haul__scatter_data(const haul_plan *plan, uintptr_t first, uintptr_t end, const void *piece,
                        size_t offset);

/* Bytes of the range that are data, and lie side by side on the host and in the arena. is_blind:
 * they are not sent, so perhaps uninitialised on the host, and may not be read there. The answer 0
 * ends the visit. */
typedef int haul__data_visitor(void *user, uintptr_t host, size_t place, size_t bytes,
                               int is_blind);
/* Visits all data of the range. The visitor's answer of 0, else 1. */
int haul__visit_data(const haul_plan *plan, unsigned direction, uintptr_t first, uintptr_t end,
                     haul__data_visitor *visit, void *user);

#endif
