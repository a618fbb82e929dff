/* Tallies: a number for each pair of words.
 */
#ifndef HAUL_AUDIT_TALLY_H
#define HAUL_AUDIT_TALLY_H

#include "base/index.h"
#include "base/list.h"

typedef struct haul__tallied {
    uintptr_t first, second;
    size_t number;
} haul__tallied;

typedef struct haul__tally {
    haul_allocator *allocator;
    HAUL__LIST(haul__tallied) pairs;
    haul__index index;
} haul__tally;

/* The pair's number, which is 0 at first. The address is good until the next call. NULL: out of
 * memory. */
size_t *haul__tally_of(haul__tally *tally, uintptr_t first, uintptr_t second);
void haul__tally_close(haul__tally *tally);

#endif
