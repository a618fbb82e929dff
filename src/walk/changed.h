/* What a walk over a changed graph may read.
 */
#ifndef HAUL_WALK_CHANGED_H
#define HAUL_WALK_CHANGED_H

#include "walk/discovery.h"
#include "walk/worklist.h"

/* In a changed graph: did all that a visit of the entry reads belong to objects of the plan? Of an
 * object with a size of its own, the head counts. *knows: 0 or 1. HAUL_ERROR_MEMORY. */
haul_status haul__knows(haul__discovery *d, const haul__entry *entry, int *knows);
/* In a changed graph: refuses to read an integer of the struct at `base` that the plan neither
 * describes nor has read. A count may lie outside of all that its struct sends. */
haul_status haul__check_integer(haul__discovery *d, const haul__slot *slot, uintptr_t base,
                                const haul_integer *place);

#endif
