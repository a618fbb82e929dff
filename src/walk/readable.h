/* The bytes that a discovery may read.
 */
#ifndef HAUL_WALK_READABLE_H
#define HAUL_WALK_READABLE_H

#include "walk/discovery.h"

/* Does the range lie within the bounds, and does the context's `readable` allow it? */
int haul__is_readable(const haul__discovery *d, uintptr_t address, size_t bytes);
/* What bytes are in d->within: they have a place; they belong to an object, skipped or not; they
 * are live. */
typedef enum haul__knowing { HAUL__PLACED, HAUL__DESCRIBED, HAUL__LIVE } haul__knowing;
int haul__is_within_bounds(const haul__discovery *d, uintptr_t address, size_t bytes);
/* The number of bytes from `address` on, `bytes` at most, that lie within the bounds, and are so in
 * d->within. */
size_t haul__known_bytes(const haul__discovery *d, uintptr_t address, size_t bytes,
                         haul__knowing what);
/* Counts `bytes` bytes of a large range that are marked or searched, and other work of a walk that
 * passes over. HAUL_ERROR_LIMIT: it is more than d->work_most. */
haul_status haul__spend(haul__discovery *d, size_t bytes);

#endif
