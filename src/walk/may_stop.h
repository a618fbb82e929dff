/* Pointers to one simple object, in a walk that stops at what has a copy elsewhere. */
#ifndef HAUL_WALK_MAY_STOP_H
#define HAUL_WALK_MAY_STOP_H

#include "walk/met_types.h"

/* Follows a pointer with this value, which is not NULL (haul__edge.may_stop). */
haul_status haul__follow_or_stop(haul__discovery *d, uintptr_t value, const haul__edge *edge);
/* Visits an object of the queue all of whose pointers are such (haul__met_type.stops), and counts
 * it. `is_alone`: no other one waits. */
haul_status haul__visit_or_stop(haul__discovery *d, uint64_t entry, int is_alone);

#endif
