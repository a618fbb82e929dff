/* Tables of a shipment, for people.
 */
#ifndef HAUL_SHIP_SHIPMENT_TABLE_H
#define HAUL_SHIP_SHIPMENT_TABLE_H

#include "graph/pen.h"
#include "ship/shipment.h"

/* Enters the shipment's context, and lets `print` write to the file. */
haul_status haul__print_shipment(const haul_shipment *shipment, const haul_file *file,
                                 haul_status (*print)(const haul_shipment *shipment,
                                                      haul__pen *pen));

#endif
