/* Following a pointer, and marking its target.
 */
#ifndef HAUL_WALK_FOLLOW_H
#define HAUL_WALK_FOLLOW_H

#include "walk/pointer.h"
#include "walk/worklist.h"

/* Counts the elements that a pointer leads to, marks them, and excludes them as the direction of
 * its slot says. */
haul_status haul__follow(haul__discovery *d, const haul__pointer *p);
/* The same for a pointer that is not NULL, whose elements are counted and whose slot has no
 * direction. */
haul_status haul__follow_counted(haul__discovery *d, const haul__pointer *p, size_t count);
/* Checks and marks the entry's elements, and puts them on the worklist if anything in them is
 * new. */
haul_status haul__reach(haul__discovery *d, haul__entry *entry);

#endif
