/* Pointers to where one object ends and another begins.
 */
#ifndef HAUL_PACK_JOINTS_H
#define HAUL_PACK_JOINTS_H

#include "layout/clusters.h"
#include "pack/plan_struct.h"

/* Is the word a slot of the map? */
int haul__is_slot(const haul_plan *plan, uintptr_t word);
/* Does the pointer mean the end of a cluster? `log`: after haul__clusters_make. */
int haul__means_end(const haul_plan *plan, const haul__order_log *log,
                    const haul__clusters *clusters, const haul__reference *reference);

#endif
