/* What a discovery may read.
 */
#ifndef HAUL_WALK_READABLE_H
#define HAUL_WALK_READABLE_H

#include "walk/discovery.h"

/* What the context's `readable` answers. */
int haul__is_readable(const haul__discovery *d, uintptr_t address, size_t bytes);
/* So many of the bytes from `address` on may be read in one piece: those that have a place in
 * d->within, or, if `described`, are live there. Without such a map: all. */
size_t haul__known_bytes(const haul__discovery *d, uintptr_t address, size_t bytes, int described);

#endif
