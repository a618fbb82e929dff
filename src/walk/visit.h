/* Visiting: following the pointers of one object, or of an array of objects or pointers.
 */
#ifndef HAUL_WALK_VISIT_H
#define HAUL_WALK_VISIT_H

#include "walk/met_types.h"
#include "walk/worklist.h"

/* visit_slots.c */
/* Follows the slots and parts of an element that lie in its first `bytes` bytes; ruled rows are
 * left out. */
haul_status haul__visit_rest(haul__discovery *d, uintptr_t element, const haul__walk *walk,
                             size_t bytes);
haul_status haul__visit_slot(haul__discovery *d, uintptr_t element, const haul__slot *slot);

/* visit.c */
haul_status haul__visit_entry(haul__discovery *d, const haul__entry *entry);
/* Objects and pointers that the innermost loop (drain.c) is not made for. */
haul_status haul__visit_apart(haul__discovery *d, uintptr_t element, uint32_t number);
haul_status haul__visit_edge(haul__discovery *d, uintptr_t element, uint32_t number,
                             const haul__edge *edge);
/* Marks the one object at `address` the general way. */
haul_status haul__reach_one(haul__discovery *d, uintptr_t address, uint32_t number);

/* drain.c: marks all that the roots reach. */
haul_status haul__follow_roots(haul__discovery *d);

#endif
