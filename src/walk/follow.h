/* Following a pointer, and reaching what it leads to.
 */
#ifndef HAUL_WALK_FOLLOW_H
#define HAUL_WALK_FOLLOW_H

#include "walk/worklist.h"

/* `place` is the address of the pointer, `value` what it leads to: what was read there, as a
 * rule. */
haul_status haul__follow(haul__discovery *d, const haul__slot *slot, unsigned level,
                         uintptr_t place, uintptr_t value, uintptr_t self, size_t index);
/* The same for one that is not NULL and whose count is known; without the directions of the
 * slot. */
haul_status haul__follow_so_many(haul__discovery *d, const haul__slot *slot, unsigned level,
                                 uintptr_t place, uintptr_t value, uintptr_t self, size_t index,
                                 size_t count);
/* `count` elements at `address`, alignment and extent checked here; `entry` says how they were
 * reached. */
haul_status haul__reach(haul__discovery *d, haul__entry *entry);

#endif
