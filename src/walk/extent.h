/* The extent of a pointer's target: how many elements it has, and whether they can be there.
 */
#ifndef HAUL_WALK_EXTENT_H
#define HAUL_WALK_EXTENT_H

#include "walk/pointer.h"
#include "walk/worklist.h"

#define HAUL__KNOWN SIZE_MAX /* the count of a string whose bytes were marked before */
/* *count: the number of elements that the pointer leads to; 0 for NULL. */
haul_status haul__count_of(haul__discovery *d, const haul__pointer *p, unsigned mode,
                           size_t *count);
/* The same if the shape is a callback. */
haul_status haul__count_by_function(haul__discovery *d, const haul__pointer *p, unsigned mode,
                                    size_t *count);
/* An extent or a stride of a section: any number. Its function gets no ancestor. */
haul_status haul__value_of(haul__discovery *d, const haul__pointer *p, const haul_count *shape,
                           int64_t *value);
/* The sentinel, cut to `unit` bytes and taken as signed. */
int64_t haul__narrow(int64_t value, size_t unit);

/* Is this a suffix of the last string, with the same element size and sentinel? */
HAUL__INLINE int haul__is_in_last_string(const haul__discovery *d, uintptr_t value, size_t unit,
                                         int64_t sentinel)
{
    return value - d->string_first < d->string_end - d->string_first && unit == d->string_unit &&
           sentinel == d->string_sentinel && (value - d->string_first) % unit == 0;
}

/* Makes this the last string. */
HAUL__INLINE void haul__note_string(haul__discovery *d, uintptr_t first, uintptr_t end, size_t unit,
                                    int64_t sentinel)
{
    d->string_first = first;
    d->string_end = end;
    d->string_unit = unit;
    d->string_sentinel = sentinel;
}

/* Checks that `count` elements in `bytes` bytes can lie at the address. */
haul_status haul__check_span(haul__discovery *d, const haul__slot *slot, uintptr_t address,
                             size_t count, size_t bytes);
/* Checks that the entry's array can lie at its address, if the last element has `element_bytes`
 * bytes. *end: one past the array. */
haul_status haul__check_extent(haul__discovery *d, const haul__entry *entry, size_t element_bytes,
                               size_t alignment, uintptr_t *end);
/* The number of first bytes of an object with a size of its own that can be read before its size is
 * known. */
HAUL__INLINE size_t haul__head_bytes(const haul__walk *walk)
{
    const haul__ruled *tail = walk->size ? NULL : &walk->ruled[walk->ruled_count - 1];
    return tail && tail->slot.offset > 0 ? tail->slot.offset : 1;
}

#endif
