/* Plans, for other rooms: made, held, and read.
 */
#ifndef HAUL_PACK_PLAN_H
#define HAUL_PACK_PLAN_H

#include "base/base.h"
#include "haul/plan.h"

haul_context *haul__plan_context(const haul_plan *plan);
int haul__plan_is_valid(const haul_plan *plan);
void haul__plan_hold(haul_plan *plan);
void haul__plan_drop(haul_plan *plan);
/* The roots of the plan, as the caller gave them, or the targets that its chains had. */
const haul_root *haul__plan_roots(const haul_plan *plan, size_t *count);
/* haul_plan_create, for a call that has entered the context already. */
haul_status haul__plan_make(haul_context *context, const haul_root *roots, size_t count,
                            int is_ordered, haul_plan **plan);
/* The same, ordered, for a graph that is packed once: `straight` tells how, if the plan is not
 * ordered. It is the caller's to close, also after a failure. */
struct haul__straight;
haul_status haul__plan_straight(haul_context *context, const haul_root *roots, size_t count,
                                struct haul__straight *straight, haul_plan **plan);
/* Such a plan becomes an ordered one after all. HAUL_ERROR_MEMORY, HAUL_ERROR_LIMIT. */
haul_status haul__plan_order(haul_plan *plan, struct haul__straight *straight);
/* A plan without what is elsewhere (walk/discover.h), which must live as long as the plan. It is
 * packed for one device, and no device relocates it. */
struct haul__beside;
haul_status haul__plan_beside(haul_context *context, const haul_root *root,
                              const struct haul__beside *beside, haul_plan **plan);
/* The same for a source of objects or chains. `hints`: haul__plan_found(plan)->named tells what
 * they name; NULL: nothing does. */
struct haul__hints;
haul_status haul__plan_from(haul_context *context, const haul_source *source, int is_ordered,
                            const struct haul__hints *hints, haul_plan **plan);
/* A plan of the same source as it is now. */
haul_status haul__plan_again(const haul_plan *plan, const struct haul__hints *hints,
                             haul_plan **again);
int haul__plan_is_ordered(const haul_plan *plan);
/* Figures of the plan, as in haul_plan_info. */
size_t haul__plan_bytes(const haul_plan *plan);
/* The total that a listener hears of while the plan is packed. */
size_t haul__plan_told_bytes(const haul_plan *plan);
size_t haul__plan_bitmap_bytes(const haul_plan *plan);
size_t haul__plan_alignment(const haul_plan *plan);
size_t haul__plan_pointers(const haul_plan *plan);
void haul__plan_info(const haul_plan *plan, haul_plan_info *info);

/* The result of discovery: the map, after layout, and the lists beside it. */
const struct haul__found *haul__plan_found(const haul_plan *plan);
/* Writes the path of a byte of the graph, as haul__path_of_byte does (discover.h). */
int haul__plan_path(const haul_plan *plan, uintptr_t address, int innermost, char *path);

#endif
