/* Zero copy: the device reads and writes a locked source itself. */
#ifndef HAUL_SHIP_ZERO_COPY_H
#define HAUL_SHIP_ZERO_COPY_H

#include "ship/shipment.h"

/* After a refresh that packed: locks the source and sends the lists, so that the next one need not
 * pack. HAUL_OK also if that is not possible. */
haul_status haul__prepare_zero_copy(haul_shipment *shipment);
/* A refresh, and a return, by the device. HAUL_OK with *done 0: the host must do it, because
 * the source is not prepared, a pointer has changed, or the device refuses. */
haul_status haul__pull(haul_shipment *shipment, int *done);
haul_status haul__push(haul_shipment *shipment, int *done);
/* Are the lists and locks ready, so that both may succeed? */
int haul__is_locked(const haul_shipment *shipment);
/* Unlocks the source and gives back the lists: before the plan or the range goes. */
void haul__drop_zero_copy(haul_shipment *shipment);

#endif
