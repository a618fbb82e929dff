/* A thread pool: its threads share loops with the caller.
 *
 * A loop goes over a range that is cut into chunks. Each thread, the caller included, begins with
 * chunks of its own, then takes chunks that no thread has begun. So the caller waits for no thread
 * to begin. Without a pool, or after a fork, the range is one chunk, and the caller works on it; if
 * threads are slow to wake, the caller works on most chunks. The result is the same.
 */
#ifndef HAUL_BASE_POOL_H
#define HAUL_BASE_POOL_H

#include "base/memory.h"

typedef struct haul__pool haul__pool;

/* Working memory of each thread, the caller included. */
#define HAUL__SCRATCH_BYTES ((size_t)68 << 10) /* a block of a map, and HAUL_ALIGNMENT_MAX */
#define HAUL__SCRATCH_ALIGNMENT 64u

/* Works on [first, end), chunk `number` of at most HAUL__POOL_CHUNKS; if there is one chunk,
 * scratch is NULL. More chunks: threads end closer together. */
#define HAUL__POOL_CHUNKS 64u
typedef void haul__pool_work(void *user, size_t number, size_t first, size_t end, void *scratch);

/* The number of this process; a child has another after a fork. */
long haul__process(void);
/* A number that only the calling thread has while it runs; not 0. */
HAUL__INLINE uintptr_t haul__thread(void);
uintptr_t haul__thread_place(void); /* such a number by a call */
/* The number of processors that this process may run on; at least 1. */
unsigned haul__processors(void);

/* `threads` threads in addition to the caller's; fewer, if the system refuses more. After a loop
 * they spin for awake_seconds (0: a short time) before they sleep. NULL: out of memory. */
haul__pool *haul__pool_new(const haul_allocator *allocator, unsigned threads, double awake_seconds);
/* Waits for its threads to end. NULL is allowed. */
void haul__pool_free(haul__pool *pool);

/* Runs a loop over [first, end) and returns when it is done. Chunks begin at `first` and at
 * multiples of `grain` from there. `bytes` of work decide how many sleeping threads are woken. One
 * loop at a time. `pool` may be NULL. Answers the number of chunks, 0 for an empty range. */
size_t haul__pool_run(haul__pool *pool, size_t bytes, size_t first, size_t end, size_t grain,
                      haul__pool_work *work, void *user);
/* Passes a moment in a loop that waits for another thread. *spins counts them, from 0 on. */
void haul__pool_rest(unsigned *spins);
/* Wakes threads for a loop that is about to come: they spin until it does, or for a while. NULL is
 * allowed. */
void haul__pool_wake(haul__pool *pool, size_t bytes);
/* Sends threads that spin to sleep until the next loop, and waits a moment for them. Before the
 * system is asked to protect memory: it interrupts each processor on which one of them runs. NULL
 * is allowed. */
void haul__pool_sleep(haul__pool *pool);

/* haul__copy_streaming as a loop. `pool` may be NULL. */
void haul__pool_copy(haul__pool *pool, void *to, const void *from, size_t bytes);

HAUL__INLINE uintptr_t haul__thread(void)
{
#ifdef HAUL__HAS_THREAD_ADDRESS
    return haul__thread_address();
#else
    return haul__thread_place();
#endif
}

#endif
