/* Where a discovery stops: at memory that has a copy elsewhere (map/elsewhere.h). */
#ifndef HAUL_WALK_STOPS_H
#define HAUL_WALK_STOPS_H

#include "walk/discovery.h"

/* Does the discovery stop at a range that `slot` leads to, because it has a copy? HAUL_ERROR_GRAPH:
 * only its beginning has one. */
haul_status haul__stops_at(haul__discovery *d, const haul__slot *slot, uintptr_t address,
                           size_t bytes, int *stops);
/* Does the byte have a copy, whether discoveries stop at it or not? */
int haul__has_copy(const haul__discovery *d, uintptr_t address);

#endif
