/* Sorting without memory and without recursion.
 */
#ifndef HAUL_BASE_SORT_H
#define HAUL_BASE_SORT_H

#include <stddef.h>

#define HAUL__SORT_RECORD_MAX 128u /* bytes of one record, at most */

/* Sorts `count` records of `record_bytes` bytes in place. `before(a, b)` answers whether `a` must
 * come first; equal records come in any order. O(n log n) always, O(n) if they are in order
 * already. Takes no memory, and a few hundred bytes of stack. */
void haul__sort(void *records, size_t count, size_t record_bytes,
                int (*before)(const void *a, const void *b));

/* The same, which may be given up: `goes_on(user)` is asked behind some 10,000 moves, and
 * behind a pass over many records that moves few. 0: it has answered 0, and the records come in any
 * order. */
int haul__sort_watched(void *records, size_t count, size_t record_bytes,
                       int (*before)(const void *a, const void *b), int (*goes_on)(void *user),
                       void *user);

#endif
