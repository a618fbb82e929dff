/* Updates of everything, or of one host range, to the device or back, grouped by the files that
 * define them.
 */
#ifndef HAUL_SHIP_UPDATE_H
#define HAUL_SHIP_UPDATE_H

#include "ship/shipment.h"

/* All of these stand inside a call on the shipment. The `_later` forms order a return, which a
 * later call writes. */

/* refresh.c: sends a plan's graph again. (arena_transfer.h has the form for arenas.) */
haul_status haul__refresh(haul_shipment *shipment, const haul_async *async);
/* unmarshal.c */
haul_status haul__return_all(haul_shipment *shipment, const haul_update_options *how);
haul_status haul__return_all_later(haul_shipment *shipment, const haul_update_options *how,
                                   const haul_async *async);
/* range_update.c */
haul_status haul__send_range(haul_shipment *shipment, const void *host, size_t bytes,
                             const haul_async *async);
haul_status haul__return_range(haul_shipment *shipment, const void *host, size_t bytes);
haul_status haul__return_range_later(haul_shipment *shipment, const void *host, size_t bytes,
                                     const haul_async *async);

#endif
