/* Marking a long range by all threads.
 */
#ifndef HAUL_WALK_MARK_IN_SLICES_H
#define HAUL_WALK_MARK_IN_SLICES_H

#include "map/mark.h"
#include "walk/share.h"

/* Is the range so long that all threads mark it faster than one? */
int haul__is_worth_slices(const haul__share *share, uintptr_t first, uintptr_t end);
/* Marks a range without a live byte, between two rounds. HAUL_OK, HAUL_ERROR_MEMORY, or
 * HAUL_ERROR_GRAPH: one thread must do the whole walk. */
haul_status haul__mark_in_slices(haul__discovery *d, haul__share *share, const haul__aim *aim,
                                 uintptr_t first, uintptr_t end);
/* The slots of a range, from the address `at` in it on. */
void haul__describe_slots(const haul__discovery *d, const haul__aim *aim, uintptr_t first,
                          uintptr_t end, uintptr_t at, haul__pattern *pattern);

#endif
