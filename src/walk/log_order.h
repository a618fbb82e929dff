/* Entries of the order log, for runs that have one.
 */
#ifndef HAUL_WALK_LOG_ORDER_H
#define HAUL_WALK_LOG_ORDER_H

#include "walk/worklist.h"

/* The entry's range, which ends at `end`; its address was checked for `alignment`. */
haul_status haul__log_range(haul__discovery *d, const haul__entry *entry, uintptr_t end,
                            size_t alignment);
/* A reference from the visited object, which is filled in here. */
haul_status haul__log_reference(haul__discovery *d, haul__reference *reference);
/* A word without tags that leads to `value`; 0: nothing is logged. */
haul_status haul__log_pointer(haul__discovery *d, haul__reference_kind kind, uintptr_t word,
                              uintptr_t value);

#endif
