/* The ranges of a recorded walk, as the public calls tell them.
 */
#ifndef HAUL_SHIP_SPANS_H
#define HAUL_SHIP_SPANS_H

#include "graph/nodes.h"
#include "haul/ship.h"

/* Lets each span begin with its first byte: a type's bytes need not begin at 0. Once. */
void haul__shift_spans(haul__nodes *nodes);
/* A shifted span, without what a device adds. */
haul_shipped_range haul__range_of(const haul__nodes *nodes, const haul__range_of_node *span);

/* A shifted span with its address on the device. HAUL_ERROR_STALE: it is not in the shipment. */
haul_status haul__locate_range(const haul_shipment *shipment, const haul__nodes *nodes,
                               const haul__range_of_node *span, haul_shipped_range *range);
/* Adds to a range how much of it lies in each place. */
void haul__add_places(const haul_shipment *shipment, haul_shipped_range *range);
/* Adds the places of a range and hands it over. HAUL_ERROR_CANCELLED: the visitor ends it. */
haul_status haul__tell_range(const haul_shipment *shipment, haul_range_visitor *visit, void *user,
                             haul_shipped_range *range);
/* ranges.c: the ranges; extents.c: the extents. In the order of addresses. */
haul_status haul__tell_ranges(const haul_shipment *shipment, haul_range_visitor *visit, void *user);
haul_status haul__tell_extents(const haul_shipment *shipment, haul_range_visitor *visit,
                               void *user);
/* The one range of an arena without a root. */
haul_status haul__tell_arena(const haul_shipment *shipment, haul_range_visitor *visit, void *user);

#endif
