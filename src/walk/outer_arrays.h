/* Outer arrays: arrays that one thread finds before any pointer into them. outer_arrays.c says why
 * they matter.
 */
#ifndef HAUL_WALK_OUTER_ARRAYS_H
#define HAUL_WALK_OUTER_ARRAYS_H

#include "walk/aims.h"
#include "walk/discovery.h"

/* Might a range of `count` elements be listed, or end the walk by one thread? */
HAUL__INLINE int haul__may_be_outer(const haul__discovery *d, size_t count)
{
    return !d->has_no_aims && count > 1;
}

/* Lists the array that an entry stands for. An array with a marked byte is not listed.
 * HAUL_ERROR_MEMORY. */
haul_status haul__note_outer(haul__discovery *d, const haul__entry *entry);
/* Prepares the listed array of this number for a walk by aims. `aim` becomes one for the array;
 * HAUL__NO_AIM: threads cannot mark it. HAUL_ERROR_MEMORY. */
haul_status haul__aim_outer(haul__discovery *d, haul__aims *aims, size_t number, uint32_t *aim);
/* The array, of this aim, is marked: pointers into it need no mark from now on.
 * HAUL_ERROR_MEMORY. */
haul_status haul__add_outer(haul__discovery *d, haul__aims *aims, uint32_t aim, uintptr_t first,
                            size_t bytes);

/* The first outer array with elements that a pointer leads to, one at a time; all zeros: there is
 * none. */
haul__outer_range haul__outer_of(const haul__aims *aims, const haul__aimed_edge *edge);
/* Do the `bytes` at `first` lie in an outer array, as elements that an aim of this number leads to?
 */
int haul__is_in_outer(const haul__aims *aims, uint64_t number, uintptr_t first, uint64_t bytes);

#endif
