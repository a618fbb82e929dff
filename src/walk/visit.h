/* Visiting: from an object, or an array of objects or pointers, to what its pointers lead to.
 */
#ifndef HAUL_WALK_VISIT_H
#define HAUL_WALK_VISIT_H

#include "walk/met_types.h"
#include "walk/worklist.h"

/* visit_slots.c */
/* What no rule has a say in, of an element of so many bytes. */
haul_status haul__visit_rest(haul__discovery *d, uintptr_t element, const haul__walk *walk,
                             size_t bytes);
haul_status haul__visit_slot(haul__discovery *d, uintptr_t element, const haul__slot *slot);

/* visit.c: the pointers of one object, of an array, and those that the innermost loop leaves
 * over. */
haul_status haul__visit_entry(haul__discovery *d, const haul__entry *entry);
haul_status haul__visit_apart(haul__discovery *d, uintptr_t element, uint32_t kind);
haul_status haul__edge_aside(haul__discovery *d, uintptr_t element, uint32_t kind,
                             const haul__edge *step);
/* What a pointer to one object leads to, also one that is too high for a worklist's entry. */
haul_status haul__reach_one(haul__discovery *d, uintptr_t address, uint32_t kind);

/* drain.c: all that the roots reach, marked. */
haul_status haul__follow_roots(haul__discovery *d);

#endif
