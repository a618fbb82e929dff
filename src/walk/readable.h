/* The bytes that a discovery may read.
 */
#ifndef HAUL_WALK_READABLE_H
#define HAUL_WALK_READABLE_H

#include "walk/discovery.h"

/* Does the range lie within the bounds, and does the context's `readable` allow it? */
int haul__is_readable(const haul__discovery *d, uintptr_t address, size_t bytes);
/* The number of bytes from `address` on, `bytes` at most, that may be read in one piece: they lie
 * within the bounds, and have a place in d->within or, if `described`, are live there. */
size_t haul__known_bytes(const haul__discovery *d, uintptr_t address, size_t bytes, int described);
/* Counts `bytes` bytes of a large range that are marked or searched. HAUL_ERROR_LIMIT: they are
 * more than the bounds allow. */
haul_status haul__spend(haul__discovery *d, size_t bytes);

#endif
