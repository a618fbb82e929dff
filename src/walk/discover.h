/* Discovery's door: from roots to marks.
 */
#ifndef HAUL_WALK_DISCOVER_H
#define HAUL_WALK_DISCOVER_H

#include "context/context.h"
#include "layout/order_log.h"
#include "map/found.h"
#include "haul/plan.h"
#include "type/type.h"

/* Marks all that the roots reach. On failure `found` is empty and the context's record is filled,
 * path included. On success the caller owns `found` (haul__found_drop). */
haul_status haul__discover(haul_context *context, const haul_root *roots, size_t count,
                           haul__found *found);
/* haul__discover, breadth first from each root in turn, whatever the addresses are; `trail` is all
 * zeros and gets what was met. It holds memory after success alone. */
haul_status haul__discover_in_order(haul_context *context, const haul_root *roots, size_t count,
                                    haul__found *found, haul__order_log *trail);
/* Gives its map back to the context, empty, for the next plan. */
void haul__found_drop(haul_context *context, haul__found *found);

/* A place that a plan cares for: a pointer word, a count field or a terminator, or a call of a
 * shape's callback, that is not as it was; or an object whose contents depend on addresses. Zeros:
 * not that. */
typedef struct haul__sought {
    uintptr_t pointer, count; /* addresses */
    uintptr_t call_self, call_target;
    uintptr_t object; /* its address */
} haul__sought;

/* Fills the path of the context's record with the way to what is sought. The graph may have changed
 * in any way: nothing is read that `within`, a map after layout, did not find. */
void haul__explain(haul_context *context, const haul_root *roots, size_t count,
                   const haul__map *within, const haul__sought *sought);

/* A recording run that is left open, so that its entries can be read, all of them and in the order
 * of their finding. After HAUL_OK the caller closes it and drops `found`; else there is nothing to
 * close. */
struct haul__discovery;
haul_status haul__record(haul_context *context, const haul_root *roots, size_t count,
                         haul__found *found, struct haul__discovery *d);
void haul__record_close(struct haul__discovery *d);

#endif
