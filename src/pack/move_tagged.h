/* Tagged pointers of an arena that has moved.
 */
#ifndef HAUL_PACK_MOVE_TAGGED_H
#define HAUL_PACK_MOVE_TAGGED_H

#include "base/base.h"
#include "haul/plan.h"

/* A run of the arena that holds whole tagged pointers. Zeros: the run before the first one. */
typedef struct haul__tagged_run {
    size_t at, bytes;
    size_t first, end; /* entries of the plan's list */
} haul__tagged_run;
/* Goes on to the next run, of at most `most` bytes. 0: there is none. */
int haul__next_tagged_run(const haul_plan *plan, size_t most, haul__tagged_run *stretch);
/* Works on a copy of a run, in `memory`: pointers into the arena at `from` become pointers into the
 * one at `to`. HAUL_ERROR_LIMIT: an address there has bits of its tag. */
haul_status haul__move_tagged(haul_plan *plan, const haul__tagged_run *stretch, void *memory,
                              uint64_t from, uint64_t to);

#endif
