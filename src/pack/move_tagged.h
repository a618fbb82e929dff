/* Tagged pointers of an arena that has moved.
 */
#ifndef HAUL_PACK_MOVE_TAGGED_H
#define HAUL_PACK_MOVE_TAGGED_H

#include "base/base.h"
#include "haul/plan.h"

/* Words of an arena that no device patches and that hold where it lies (move_tagged.c), when it has
 * moved. The next stretch of at most `most` bytes that holds some of them whole; begin with zeros;
 * 0: there is none. And in a copy of it: those that lead into the arena at `from` lead into that at
 * `to`. HAUL_ERROR_LIMIT: an address there has bits of its tag. */
typedef struct haul__stretch {
    size_t at, bytes;
    size_t first, end; /* of the plan's list */
} haul__stretch;
int haul__next_stretch(const haul_plan *plan, size_t most, haul__stretch *stretch);
haul_status haul__move_tagged(haul_plan *plan, const haul__stretch *stretch, void *memory,
                              uint64_t from, uint64_t to);

#endif
