/* Pointers and objects that the innermost loops leave over.
 */
#ifndef HAUL_WALK_VISIT_EDGE_H
#define HAUL_WALK_VISIT_EDGE_H

#include "walk/met_types.h"

struct haul__candidates;

/* Visits an object that the innermost loop (drain.c) is not made for: its type has no edges, or is
 * brief. */
haul_status haul__visit_apart(haul__discovery *d, struct haul__candidates *c, uintptr_t element,
                              uint32_t number);
/* Follows a pointer that leads to an array or a string. */
haul_status haul__visit_edge(haul__discovery *d, uintptr_t element, uint32_t number,
                             const haul__edge *edge);
/* Follows a pointer with `ways` to one object: its target will be excluded. A brief one joins the
 * queue; the caller has a simple one as a candidate. */
haul_status haul__follow_barred(haul__discovery *d, uintptr_t value, const haul__edge *edge);

#endif
