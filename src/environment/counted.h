/* How often an environment was asked.
 */
#ifndef HAUL_ENVIRONMENT_COUNTED_H
#define HAUL_ENVIRONMENT_COUNTED_H

#include "base/index.h"
#include "base/pool.h"

#define HAUL__STRIPES 64u /* a power of two */

/* The count of one thread, on a cache line of its own. */
typedef struct haul__stripe {
    uintptr_t owner; /* the thread; 0: none yet */
    uintptr_t count;
    unsigned char apart[HAUL__LINE - 2 * sizeof(uintptr_t)];
} haul__stripe;

/* Begin with zeros, at the beginning of a cache line. */
typedef struct haul__stripes {
    haul__stripe of[HAUL__STRIPES];
    haul__stripe shared; /* of threads that have none */
} haul__stripes;

/* counted.c: the same, if the thread's stripe is not the first that it looks at. */
void haul__count_elsewhere(haul__stripes *stripes, uintptr_t thread);
uint64_t haul__sum_of(const haul__stripes *stripes);

/* Counts one. Any thread. 0: haul__count_elsewhere does, for this thread. */
HAUL__INLINE int haul__count_own(haul__stripes *stripes)
{
    const uintptr_t thread = haul__thread();
    haul__stripe *own = &stripes->of[(size_t)(haul__hash(thread) >> 32) % HAUL__STRIPES];
    if (HAUL__UNLIKELY(haul__atomic_load(&own->owner) != thread))
        return 0;
    haul__atomic_store(&own->count, haul__atomic_load(&own->count) + 1);
    return 1;
}

HAUL__INLINE void haul__count_one(haul__stripes *stripes)
{
    if (!haul__count_own(stripes))
        haul__count_elsewhere(stripes, haul__thread());
}

#endif
