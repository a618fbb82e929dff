/* Why types and rows take the general way, and the course of a discovery.
 */
#ifndef HAUL_WALK_WHY_H
#define HAUL_WALK_WHY_H

#include "map/course.h"
#include "walk/discovery.h"

/* Why objects of the type cannot be marked and visited alike; HAUL__WHY_NOT: they can, unless they
 * have an unusual size. *slot: the row that is to blame, or NULL. */
haul__why haul__why_apart(const haul__walk *walk, size_t longest, const haul__slot **slot);
/* The same for a slot's flags, and for a shape that is no product of fields. */
haul__why haul__why_by_flags(const haul__slot *slot);
haul__why haul__why_uncounted(const haul_count *shape);
/* Why the context's options, or the kind of walk, ask for one thread. */
haul__why haul__why_one_thread(const haul__discovery *d);
/* After a walk: fills the course in found. HAUL_ERROR_MEMORY. */
haul_status haul__note_course(haul__discovery *d);

#endif
