/* The rounds of a shared walk, as its callers see them.
 */
#ifndef HAUL_WALK_SHARE_ROUNDS_H
#define HAUL_WALK_SHARE_ROUNDS_H

#include "walk/share.h"

/* Marks what a thread has put aside: an entry and, in a walk by aims, its bytes. HAUL_ERROR_GRAPH:
 * one thread must do the whole walk. */
typedef haul_status haul__settle_one(haul__discovery *d, haul__share *share, uint64_t entry,
                                     uint64_t bytes);

/* NULL: out of memory. `aims`: NULL for a walk over simple objects alone. */
haul__share *haul__share_open(haul__discovery *d, const haul__aims *aims);
/* Lets an entry of so many words wait in its district for the visit. 0: out of memory. */
int haul__add_visit(haul__discovery *d, haul__share *share, const uint64_t *entry, size_t words);
/* The same of a range, in pieces, as many in a parcel as it has room for. */
int haul__add_visits(haul__discovery *d, haul__share *share, uint64_t entry, uint64_t bytes,
                     size_t piece);
/* One round: all threads work until one of them lacks something or nothing is left.
 * HAUL_ERROR_GRAPH: one thread must do the whole walk. */
haul_status haul__share_round(haul__discovery *d, haul__share *share, haul__settle_one *settle);
void haul__share_close(haul__discovery *d, haul__share *share);

#endif
