/* A team: threads that share loops with the thread that asks.
 *
 * A loop is `count` calls of work(user, i, scratch), in any order, each once; every participant takes the next number
 * until there is none left. So the thread that asks needs nobody: where there is no team, or where its threads are
 * asleep, late or gone, it does all by itself, and the result is the same.
 */
#ifndef HAUL_BASE_TEAM_H
#define HAUL_BASE_TEAM_H

#include "base/base.h"

typedef struct haul__team haul__team;

/* Memory of each participant's own, for what it puts together before it writes it. */
#define HAUL__SCRATCH_BYTES ((size_t)68 << 10) /* a block of a map, and a little */
#define HAUL__SCRATCH_ALIGNMENT 64u

typedef void haul__share(void *user, size_t i, void *scratch);

/* `threads` beside the one that asks; fewer, if the system has no more to give. NULL: out of memory. */
haul__team *haul__team_new(const haul_allocator *allocator, unsigned threads);
/* Waits for its threads to end. NULL is allowed. */
void haul__team_free(haul__team *team);

/* Runs a loop over so many bytes, one at a time; done when it returns. Of the threads that are asleep as many are
 * woken as have something to do. `team` may be NULL: then scratch is NULL, too. */
void haul__team_run(haul__team *team, size_t bytes, size_t count, haul__share *work, void *user);
/* Wakes them for a loop that is about to come: they wait a while for it, awake. NULL is allowed. */
void haul__team_call(haul__team *team, size_t bytes);

/* A copy that leaves the caches alone, shared. `team` may be NULL. */
void haul__team_copy(haul__team *team, void *to, const void *from, size_t bytes);

#endif
