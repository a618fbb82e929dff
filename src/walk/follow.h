/* Following a pointer, and marking its target.
 */
#ifndef HAUL_WALK_FOLLOW_H
#define HAUL_WALK_FOLLOW_H

#include "walk/worklist.h"

/* Follows the pointer at `place`, a level of `slot`. `value`: its target, which a rule may have
 * worked out of the word. `self`: the struct whose fields the shape reads. */
haul_status haul__follow(haul__discovery *d, const haul__slot *slot, unsigned level,
                         uintptr_t place, uintptr_t value, uintptr_t self, size_t index);
/* The same for a pointer that is not NULL and whose count is known. The slot's direction is left
 * out. */
haul_status haul__follow_so_many(haul__discovery *d, const haul__slot *slot, unsigned level,
                                 uintptr_t place, uintptr_t value, uintptr_t self, size_t index,
                                 size_t count);
/* Checks and marks the entry's elements, and puts them on the worklist if anything in them is
 * new. */
haul_status haul__reach(haul__discovery *d, haul__entry *entry);

#endif
