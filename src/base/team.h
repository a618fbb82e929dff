/* A team: threads that share loops with the thread that asks.
 *
 * A loop goes over a range, which is cut into shares; every participant begins with its own and
 * then takes what is left. So the thread that asks needs nobody: where there is no team, or its
 * threads are gone, the range is one share and its own, where they are asleep or late it does most,
 * and the result is the same.
 */
#ifndef HAUL_BASE_TEAM_H
#define HAUL_BASE_TEAM_H

#include "base/base.h"

typedef struct haul__team haul__team;

/* Memory of each participant's own, for what it puts together before it writes it. */
#define HAUL__SCRATCH_BYTES ((size_t)68 << 10) /* a block of a map, and a little */
#define HAUL__SCRATCH_ALIGNMENT 64u

/* [first, end) of a range: its share `number`, of HAUL__SHARES at most. More: they end closer
 * together. Where one share is all, scratch is NULL. */
#define HAUL__SHARES 64u
typedef void haul__share(void *user, size_t number, size_t first, size_t end, void *scratch);

/* This process, as a number that no other one has: after a fork the child's is another. */
long haul__process(void);
/* On how many processors this process may run; at least 1. */
unsigned haul__processors(void);

/* `threads` beside the one that asks; fewer, if the system has no more to give. After a loop they
 * wait so long awake for the next one; 0: not long. NULL: out of memory. */
haul__team *haul__team_new(const haul_allocator *allocator, unsigned threads, double awake_seconds);
/* Waits for its threads to end. NULL is allowed. */
void haul__team_free(haul__team *team);

/* Runs a loop over [first, end), which stands for so many bytes, cut at `first` and multiples of
 * `grain` from there; one at a time; done when it returns. Of the threads that are asleep as many
 * are woken as have something to do. `team` may be NULL. Answers the number of shares, 0 for an
 * empty range. */
size_t haul__team_run(haul__team *team, size_t bytes, size_t first, size_t end, size_t grain,
                      haul__share *work, void *user);
/* Wakes them for a loop that is about to come: they wait a while for it, awake. NULL is allowed. */
void haul__team_call(haul__team *team, size_t bytes);

/* A copy that leaves the caches alone, shared. `team` may be NULL. */
void haul__team_copy(haul__team *team, void *to, const void *from, size_t bytes);

#endif
