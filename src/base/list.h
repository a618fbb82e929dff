/* Lists that grow, and the search in sorted ones.
 */
#ifndef HAUL_BASE_LIST_H
#define HAUL_BASE_LIST_H

#include "base/memory.h"

/* A list of elements of one type. All zeros: an empty one. */
#define HAUL__LIST(type)                                                                           \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, capacity;                                                                    \
    }

/* `list` is the address of such a struct, and is evaluated more than once. */

/* Makes room for one more element. 0: there is no memory, and nothing has changed. */
#define HAUL__LIST_ROOM(allocator, list)                                                           \
    (HAUL__LIKELY((list)->count < (list)->capacity) ||                                             \
     haul__grow(allocator, &(list)->at, &(list)->capacity, (list)->count + 1, sizeof *(list)->at))
/* Adds an element, whose contents are not set, and answers its address; NULL: no memory. */
#define HAUL__LIST_ADD(allocator, list)                                                            \
    (HAUL__LIST_ROOM(allocator, list) ? &(list)->at[(list)->count++] : NULL)
#define HAUL__LIST_RELEASE(allocator, list)                                                        \
    haul__release(allocator, (list)->at, (list)->capacity * sizeof *(list)->at)

/* Binary search: the first index in [first, end) for which `is_before` answers 0, or `end`. The
 * elements for which it answers 1 must come first. */
HAUL__INLINE size_t haul__search(const void *list, size_t first, size_t end, uint64_t key,
                                 int (*is_before)(const void *list, size_t i, uint64_t key))
{
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (is_before(list, middle, key))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

#endif
