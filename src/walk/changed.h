/* What a walk over a changed graph may read, and how much.
 */
#ifndef HAUL_WALK_CHANGED_H
#define HAUL_WALK_CHANGED_H

#include "walk/discovery.h"
#include "walk/worklist.h"

/* Of a walk that passes over what it cannot follow. *may: is the entry to be reached? Not again,
 * and in a changed graph only if all that a visit reads belonged to objects of the plan; of an
 * object with a size of its own, the head counts. HAUL_ERROR_MEMORY; HAUL_ERROR_LIMIT: the work is
 * over. */
haul_status haul__may_reach(haul__discovery *d, const haul__entry *entry, int *may);
/* Of such a walk: counts a visit. */
haul_status haul__spend_visit(haul__discovery *d, const haul__entry *entry);
/* Of such a walk: refuses to read an integer of the struct at `base` that lies outside of the
 * bounds, or that the plan neither describes nor has read. A count may lie outside of all that its
 * struct sends. */
haul_status haul__check_integer(haul__discovery *d, const haul__slot *slot, uintptr_t base,
                                const haul_integer *place);

#endif
