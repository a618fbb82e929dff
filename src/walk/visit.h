/* Visiting: following the pointers of one object, or of an array of objects or pointers.
 */
#ifndef HAUL_WALK_VISIT_H
#define HAUL_WALK_VISIT_H

#include "walk/met_types.h"
#include "walk/ruled_field.h"

/* visit_slots.c */
/* Follows the slots and parts of an object that lie before its end; ruled rows are left out. */
haul_status haul__visit_rest(haul__discovery *d, const haul__object *o);
haul_status haul__visit_slot(haul__discovery *d, const haul__object *o, const haul__slot *slot);

/* visit.c */
haul_status haul__visit_entry(haul__discovery *d, const haul__entry *entry);

/* drain.c: marks all that the roots reach. */
haul_status haul__follow_roots(haul__discovery *d);
/* Visits all that waits, until nothing does. */
haul_status haul__visit_all(haul__discovery *d);

#endif
