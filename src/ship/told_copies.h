/* Copies of a shipment's bytes as they lie, with reports of progress.
 */
#ifndef HAUL_SHIP_TOLD_COPIES_H
#define HAUL_SHIP_TOLD_COPIES_H

#include "ship/shipment.h"

/* Copies bytes [at, at + bytes) of the range from or to memory of the host. If `tells` and somebody
 * listens, they have crossed when it returns; else they are ordered. After a failure
 * nothing is under way. */
haul_status haul__copy_to_told(haul_shipment *shipment, size_t at, const void *from, size_t bytes,
                               int tells);
haul_status haul__copy_from_told(haul_shipment *shipment, void *to, size_t at, size_t bytes,
                                 int tells);

#endif
