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

#endif
