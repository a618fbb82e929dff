/* Pools: plain bytes in which other rows find objects. They are marked after everything else.
 */
#ifndef HAUL_WALK_POOLS_H
#define HAUL_WALK_POOLS_H

#include "walk/worklist.h"

/* Lists a pool for haul__mark_pools; each once. */
haul_status haul__note_pool(haul__discovery *d, const haul__entry *entry, size_t bytes);
/* Marks what no other row has described. Called after the last other mark. */
haul_status haul__mark_pools(haul__discovery *d);
void haul__pools_close(haul__discovery *d);

#endif
