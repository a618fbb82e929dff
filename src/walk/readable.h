/* The bytes that a discovery may read.
 */
#ifndef HAUL_WALK_READABLE_H
#define HAUL_WALK_READABLE_H

#include "walk/discovery.h"

/* The answer of the context's `readable`; 1 if there is none. */
int haul__is_readable(const haul__discovery *d, uintptr_t address, size_t bytes);
/* The number of bytes from `address` on, `bytes` at most, that may be read in one piece: they have
 * a place in d->within or, if `described`, are live there. Without such a map: `bytes`. */
size_t haul__known_bytes(const haul__discovery *d, uintptr_t address, size_t bytes, int described);

#endif
