/* In-degrees: how many pointers lead to each page of an arena.
 */
#ifndef HAUL_PACK_IN_DEGREE_H
#define HAUL_PACK_IN_DEGREE_H

#include "haul/plan.h"

/* Of one page: its pointers, and where in the arena the first and the last of their targets lie. */
typedef struct haul__in_degree {
    size_t pointers, to_last; /* to_last: those of them that lead to `last` */
    uint64_t first, last;     /* undefined if there are no pointers */
} haul__in_degree;

/* How many threads can count. */
size_t haul__in_degree_lists(const haul_plan *plan);
/* Counts into `count` zeroed pages, of `page_bytes` each, which cover the arena. `pages` has
 * `lists` times as many, of which the first `count` are the result. A root counts as a pointer to
 * its first object. Pointers to the arena's end, behind all objects, are left out. The result does
 * not depend on the number of lists. */
void haul__count_in_degrees(haul_plan *plan, size_t page_bytes, haul__in_degree *pages,
                            size_t count, size_t lists);

#endif
