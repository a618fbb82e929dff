/* Entries of the order log, of a run that has one.
 */
#ifndef HAUL_WALK_LOG_ORDER_H
#define HAUL_WALK_LOG_ORDER_H

#include "walk/worklist.h"

/* `end`: one past the entry's bytes; `alignment`: that was checked. */
haul_status haul__log_range(haul__discovery *d, const haul__entry *entry, uintptr_t end,
                            size_t alignment);
/* The object is filled in: what is being visited. */
haul_status haul__log_reference(haul__discovery *d, haul__reference *mention);
/* A word without tags that leads to `value`; 0 is none. */
haul_status haul__log_pointer(haul__discovery *d, haul__reference_kind kind, uintptr_t word,
                              uintptr_t value);

#endif
