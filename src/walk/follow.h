/* Following a pointer, and marking its target.
 */
#ifndef HAUL_WALK_FOLLOW_H
#define HAUL_WALK_FOLLOW_H

#include "walk/pointer.h"
#include "walk/worklist.h"

/* Counts the elements that a pointer leads to, marks them, and excludes them as the direction of
 * its slot says. */
haul_status haul__follow(haul__discovery *d, const haul__pointer *p);
/* The same if the count is known. */
haul_status haul__follow_measured(haul__discovery *d, const haul__pointer *p, size_t count);
/* The same for a pointer that is not NULL and whose slot has no direction. */
haul_status haul__follow_counted(haul__discovery *d, const haul__pointer *p, size_t count);
/* Puts an object of a brief type (brief.h) on the worklist; it is marked at its turn. */
haul_status haul__queue_brief(haul__discovery *d, uintptr_t address, uint32_t number);
/* Checks and marks the entry's elements, and puts them on the worklist if anything in them is
 * new. */
haul_status haul__reach(haul__discovery *d, haul__entry *entry);
/* Adds a string's terminator to the read set, once. If all of its bytes were marked before
 * (is_new 0), the string may have been found before, or lie inside another range. */
haul_status haul__note_terminator(haul__discovery *d, const haul__entry *entry, int is_new);

#endif
