/* Rebuilding objects whose contents depend on addresses. */
#ifndef HAUL_SHIP_REBUILD_H
#define HAUL_SHIP_REBUILD_H

#include "ship/shipment.h"

/* Lists `count` device addresses of such objects, from number `first` on; sends all of them to the
 * range's list. */
void haul__list_dependents(const haul_plan *plan, const haul__range *range, size_t first,
                           size_t count, uint64_t *list);
haul_status haul__send_dependents(haul_device *device, const haul_plan *plan,
                                  const haul__range *range);
/* Calls the rebuild functions. Their orders come behind the copies, the patch and the list on the
 * selected stream. After a failure nothing is under way, or the device has timed out. */
haul_status haul__rebuild(haul_device *device, const haul_plan *plan, const haul__range *range,
                          const haul_async *async);

#endif
