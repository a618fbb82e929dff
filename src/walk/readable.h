/* The bytes that a discovery may read.
 */
#ifndef HAUL_WALK_READABLE_H
#define HAUL_WALK_READABLE_H

#include "walk/discovery.h"
#include "walk/worklist.h"

/* Does the range lie within the bounds, and does the context's `readable` allow it? */
int haul__is_readable(const haul__discovery *d, uintptr_t address, size_t bytes);
/* What bytes are in d->within: they have a place; they belong to an object, skipped or not; they
 * are live. */
typedef enum haul__knowing { HAUL__PLACED, HAUL__DESCRIBED, HAUL__LIVE } haul__knowing;
/* The number of bytes from `address` on, `bytes` at most, that lie within the bounds, and are so in
 * d->within. */
size_t haul__known_bytes(const haul__discovery *d, uintptr_t address, size_t bytes,
                         haul__knowing what);
/* In a changed graph: did all that a visit of the entry reads belong to objects of the plan? Of an
 * object with a size of its own, the head counts. *knows: 0 or 1. HAUL_ERROR_MEMORY. */
haul_status haul__knows(haul__discovery *d, const haul__entry *entry, int *knows);
/* In a changed graph: refuses to read an integer of the struct at `base` that the plan neither
 * describes nor has read. A count may lie outside of all that its struct sends. */
haul_status haul__check_integer(haul__discovery *d, const haul__slot *slot, uintptr_t base,
                                const haul_integer *place);
/* Counts `bytes` bytes of a large range that are marked or searched. HAUL_ERROR_LIMIT: they are
 * more than d->work_most. */
haul_status haul__spend(haul__discovery *d, size_t bytes);

#endif
