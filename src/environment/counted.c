/* Counts by many threads, exact and without a line that all of them write.
 *
 * A thread takes a stripe when it first counts, and keeps it: only the owner writes its count, so
 * an addition needs no lock and no locked instruction. A thread that comes late finds all places
 * taken that it may have, and adds to a shared count with such an instruction. When a thread has
 * ended, the next one with its name goes on with its stripe.
 */
#include "environment/counted.h"

#define TRIES 8u

void haul__count_elsewhere(haul__stripes *stripes, uintptr_t thread)
{
    const size_t first = (size_t)(haul__hash(thread) >> 32);
    size_t i;
    for (i = 0; i < TRIES; i++) {
        haul__stripe *one = &stripes->of[(first + i) % HAUL__STRIPES];
        uintptr_t owner = haul__atomic_load(&one->owner);
        if (owner == 0 && haul__atomic_replace(&one->owner, &owner, thread))
            owner = thread;
        if (owner != thread)
            continue;
        haul__atomic_store(&one->count, haul__atomic_load(&one->count) + 1);
        return;
    }
    haul__atomic_add(&stripes->shared.count, 1);
}

uint64_t haul__sum_of(const haul__stripes *stripes)
{
    uint64_t sum = haul__atomic_load(&stripes->shared.count);
    size_t i;
    for (i = 0; i < HAUL__STRIPES; i++)
        sum += haul__atomic_load(&stripes->of[i].count);
    return sum;
}
