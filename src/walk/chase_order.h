/* A list that is walked in order.
 */
#ifndef HAUL_WALK_CHASE_ORDER_H
#define HAUL_WALK_CHASE_ORDER_H

#include "walk/mark_inline.h"

/* Is the entry, the last one of its chunk, the only one left, and a list's? */
HAUL__INLINE int haul__is_list(const haul__discovery *d, const haul__candidates *c, uint64_t entry)
{
    const haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(entry)];
    return entry && d->head == d->tail && c->near_count + c->over_count + d->pending_count == 0 &&
           met->edges && met->edge_count == 1 && !met->hint &&
           met->uniform == (entry & ~(uint64_t)HAUL__HIGHEST);
}

/* *entry: an object with one pointer, to an object of its type; nothing else waits. It becomes the
 * last object of the list that can be reached so, which is still to be visited; the others are
 * done. HAUL_ERROR_MEMORY, HAUL_ERROR_CANCELLED. */
haul_status haul__chase_in_order(haul__discovery *d, uint64_t *entry);

#endif
