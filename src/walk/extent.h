/* The extent of what a pointer leads to: how many elements, and can they be there.
 */
#ifndef HAUL_WALK_EXTENT_H
#define HAUL_WALK_EXTENT_H

#include "walk/worklist.h"

HAUL__INLINE size_t haul__unit_of(const haul__slot *slot, unsigned level)
{
    return level + 1u == slot->levels ? slot->unit : HAUL__WORD;
}

#define HAUL__KNOWN SIZE_MAX /* the count of a long string that was scanned before */
/* How many elements a pointer of this value, which stands at `place`, leads to; 0 for NULL. */
haul_status haul__count_of(haul__discovery *d, const haul__slot *slot, unsigned level,
                           uintptr_t place, uintptr_t value, uintptr_t self, size_t index,
                           size_t *count);
/* The same where the shape is a function. */
haul_status haul__count_by_function(haul__discovery *d, const haul__slot *slot, unsigned level,
                                    uintptr_t place, uintptr_t value, uintptr_t self, size_t index,
                                    size_t *count);
/* A sentinel as an element of `unit` bytes reads when it is taken as signed. */
int64_t haul__narrow(int64_t value, size_t unit);

/* Does a string of such elements that begins here end where the last one did? */
HAUL__INLINE int haul__is_in_last_string(const haul__discovery *d, uintptr_t value, size_t unit,
                                         int64_t sentinel)
{
    return value >= d->string_first && value < d->string_end && unit == d->string_unit &&
           sentinel == d->string_sentinel && (value - d->string_first) % unit == 0;
}

HAUL__INLINE void haul__note_string(haul__discovery *d, uintptr_t first, uintptr_t end, size_t unit,
                                    int64_t sentinel)
{
    d->string_first = first;
    d->string_end = end;
    d->string_unit = unit;
    d->string_sentinel = sentinel;
}

/* The extent of an array whose last element has so many bytes: can it be there at all? */
haul_status haul__check_extent(haul__discovery *d, const haul__entry *entry, size_t element_bytes,
                               size_t alignment, uintptr_t *end);
/* What can be read of an object before it has told its size. */
size_t haul__head_bytes(const haul__walk *walk);

#endif
