/* A pool: threads that share loops with the thread that asks.
 *
 * A loop goes over a range, which is cut into shares; every participant begins with its own and
 * then takes what is left. So the thread that asks needs nobody: where there is no pool, or its
 * threads are gone, the range is one share and its own, where they are asleep or late it does most,
 * and the result is the same.
 */
#ifndef HAUL_BASE_POOL_H
#define HAUL_BASE_POOL_H

#include "base/memory.h"

typedef struct haul__pool haul__pool;

/* Memory of each participant's own, for what it puts together before it writes it. */
#define HAUL__SCRATCH_BYTES ((size_t)68 << 10) /* a block of a map, and a little */
#define HAUL__SCRATCH_ALIGNMENT 64u

/* [first, end) of a range: its share `number`, of HAUL__POOL_CHUNKS at most. More: they end closer
 * together. Where one share is all, scratch is NULL. */
#define HAUL__POOL_CHUNKS 64u
typedef void haul__pool_work(void *user, size_t number, size_t first, size_t end, void *scratch);

/* This process, as a number that no other one has: after a fork the child's is another. */
long haul__process(void);
/* On how many processors this process may run; at least 1. */
unsigned haul__processors(void);

/* `threads` beside the one that asks; fewer, if the system has no more to give. After a loop they
 * wait so long awake for the next one; 0: not long. NULL: out of memory. */
haul__pool *haul__pool_new(const haul_allocator *allocator, unsigned threads, double awake_seconds);
/* Waits for its threads to end. NULL is allowed. */
void haul__pool_free(haul__pool *pool);

/* Runs a loop over [first, end), which stands for so many bytes, cut at `first` and multiples of
 * `grain` from there; one at a time; done when it returns. Of the threads that are asleep as many
 * are woken as have something to do. `pool` may be NULL. Answers the number of shares, 0 for an
 * empty range. */
size_t haul__pool_run(haul__pool *pool, size_t bytes, size_t first, size_t end, size_t grain,
                      haul__pool_work *work, void *user);
/* Wakes them for a loop that is about to come: they wait a while for it, awake. NULL is allowed. */
void haul__pool_wake(haul__pool *pool, size_t bytes);

/* A copy that leaves the caches alone, shared. `pool` may be NULL. */
void haul__pool_copy(haul__pool *pool, void *to, const void *from, size_t bytes);

#endif
