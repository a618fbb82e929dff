/* Objects whose contents depend on addresses. */
#ifndef HAUL_SHIP_REBUILD_H
#define HAUL_SHIP_REBUILD_H

#include "ship/shipment.h"

/* The addresses in a range that have been laid out: some of them, as words; all of them, sent to
 * their place in it. */
void haul__list_dependents(const haul_plan *plan, const haul__range *range, size_t first,
                           size_t count, uint64_t *list);
haul_status haul__send_dependents(haul_device *device, const haul_plan *plan,
                                  const haul__range *range);
/* Has them rebuilt, behind all that the selected stream was told: the copies, the patch and the
 * list. On failure nothing is under way any more, or the device is late. */
haul_status haul__rebuild(haul_device *device, const haul_plan *plan, const haul__range *range,
                          const haul_async *async);

#endif
