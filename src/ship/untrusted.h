/* Returns from a device that is not trusted.
 */
#ifndef HAUL_SHIP_UNTRUSTED_H
#define HAUL_SHIP_UNTRUSTED_H

#include "ship/shipment.h"

/* Writes an arena that has come back, which may be any bytes, if the graph that the host would have
 * then is right. `pointers`: they come back, too. HAUL_ERROR_GRAPH, HAUL_ERROR_LIMIT, with the
 * path: it is not. HAUL_ERROR_STALE: the host's graph has changed since it was shipped.
 * HAUL_ERROR_MEMORY. After a failure nothing is written. The shipment has a plan, and the write is
 * prepared. */
haul_status haul__write_untrusted(haul_shipment *shipment, const unsigned char *arena,
                                  int pointers);

#endif
