/* Entries of the order log, for runs that have one.
 */
#ifndef HAUL_WALK_LOG_ORDER_H
#define HAUL_WALK_LOG_ORDER_H

#include "walk/worklist.h"

/* Logs the entry's range, which ends at `end`. Its address was checked for `alignment`. is_new:
 * some of its bytes were not marked before. */
haul_status haul__log_range(haul__discovery *d, const haul__entry *entry, uintptr_t end,
                            size_t alignment, int is_new);
/* Logs a range with new bytes, or one without; `turn` is filled in. A range of no bytes, which
 * keeps nothing together, is left out. */
HAUL__INLINE haul_status haul__log_new(haul__discovery *d, const haul__reached *range)
{
    haul__order_log *order_log = d->order_log;
    haul__reached *added;
    if (range->first == range->end)
        return HAUL_OK;
    if (HAUL__UNLIKELY(order_log->reached.count == order_log->reached.capacity) &&
        !HAUL__LIST_ROOM(d->allocator, &order_log->reached))
        return HAUL_ERROR_MEMORY;
    added = &order_log->reached.at[order_log->reached.count];
    *added = *range;
    if (order_log->gives_places)
        haul__give_place(order_log, added);
    else
        added->turn = (uint32_t)order_log->reached.count;
    order_log->reached.count++;
    return HAUL_OK;
}

haul_status haul__log_known(haul__discovery *d, const haul__reached *range);
/* Fills in the alignments of an array of plain bytes; `walk` is NULL or that of its elements. */
void haul__array_demands(const haul__walk *walk, size_t unit, haul__reached *range);
/* Fills in the alignments of a single object. */
void haul__demands_of(const haul__walk *walk, haul__reached *range);
/* Logs a reference. The visited object, in which the pointer stands, is filled in here. */
haul_status haul__log_reference(haul__discovery *d, haul__reference *reference);
/* Logs a word without tags that leads to `value`; nothing if that is 0. */
haul_status haul__log_pointer(haul__discovery *d, haul__reference_kind kind, uintptr_t word,
                              uintptr_t value);

#endif
