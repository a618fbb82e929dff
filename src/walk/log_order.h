/* Entries of the order log, for runs that have one.
 */
#ifndef HAUL_WALK_LOG_ORDER_H
#define HAUL_WALK_LOG_ORDER_H

#include "walk/worklist.h"

/* Logs the entry's range, which ends at `end`. Its address was checked for `alignment`. */
haul_status haul__log_range(haul__discovery *d, const haul__entry *entry, uintptr_t end,
                            size_t alignment);
/* Logs a reference. The visited object, in which the pointer stands, is filled in here. */
haul_status haul__log_reference(haul__discovery *d, haul__reference *reference);
/* Logs a word without tags that leads to `value`; nothing if that is 0. */
haul_status haul__log_pointer(haul__discovery *d, haul__reference_kind kind, uintptr_t word,
                              uintptr_t value);

#endif
