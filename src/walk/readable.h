/* What a discovery may read.
 */
#ifndef HAUL_WALK_READABLE_H
#define HAUL_WALK_READABLE_H

#include "walk/discovery.h"

int haul__is_readable(const haul__discovery *d, uintptr_t address, size_t bytes);
/* How many of the bytes from `address` on, at most `bytes`, lie in one piece within the map that
 * bounds this discovery (`described`: are described there, and not only placed); all of them, when
 * nothing bounds it. */
size_t haul__known_bytes(const haul__discovery *d, uintptr_t address, size_t bytes, int described);

#endif
