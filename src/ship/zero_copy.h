/* Sources that the device reaches where they lie. */
#ifndef HAUL_SHIP_ZERO_COPY_H
#define HAUL_SHIP_ZERO_COPY_H

#include "ship/shipment.h"

/* After a refresh that has packed: the next one need not, if that can be. Where it cannot, that is
 * no failure. */
haul_status haul__prepare_direct(haul_shipment *shipment);
/* A refresh, and an unmarshal, by the device. *done 0, and HAUL_OK: it is not prepared, a pointer
 * has changed, or the device will not; so it is the host's to do. */
haul_status haul__pull(haul_shipment *shipment, const haul__listener *listener, int *done);
haul_status haul__push(haul_shipment *shipment, const haul__listener *listener, int *done);
int haul__is_ready_to_push(const haul_shipment *shipment); /* would it try? */
/* Before the plan or the arena goes. */
void haul__drop_direct(haul_shipment *shipment);

#endif
