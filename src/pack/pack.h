/* The interface of the pack room: a whole arena, gathered from the user's memory and scattered
 * back.
 *
 * All of these run inside a call that has entered the plan's context. When they fail, they fill its
 * error record. Arenas given here are plain host memory (staging): no device is called.
 */
#ifndef HAUL_PACK_PACK_H
#define HAUL_PACK_PACK_H

#include "pack/plan.h"
#include "pack/progress.h"

/* Copies the graph into `arena`, of haul__plan_bytes. Slots become base + offset (see
 * haul__gathering). */
haul_status haul__gather(haul_plan *plan, void *arena, uint64_t base, uint64_t final_base,
                         int for_device, const haul__listener *listener);

/* After a gather or verify that found a changed pointer: names it exactly, by comparison with the
 * arena as it was sent to `base`. HAUL_ERROR_MEMORY: nothing is named. */
int haul__stale_wants_arena(const haul_plan *plan); /* 0: nothing to name */
haul_status haul__explain_stale(haul_plan *plan, const void *old, uint64_t base);

/* Gets memory for the functions below, which then need none: HAUL_ERROR_MEMORY. After success
 * haul__end_scatter must follow. */
haul_status haul__prepare_scatter(haul_plan *plan);
void haul__end_scatter(haul_plan *plan);
/* Writes the arena's data to the source. `lets_change`: fields of the read set may change. It fails
 * before the first byte is written: HAUL_ERROR_GRAPH, with the path, if such a field has
 * changed. */
haul_status haul__scatter(haul_plan *plan, const void *arena, int lets_change);

/* Its check alone. */
haul_status haul__check_data(haul_plan *plan, const void *arena);

/* Each pointer of `arena`, which lay at `base` on the device, must be null, or lead into the graph
 * or one past a range: HAUL_ERROR_GRAPH, with the path; or *outside counts it, if that is not NULL.
 * Without `lets_change`, the read set is checked too. Writes nothing. */
haul_status haul__check_pointers(haul_plan *plan, const void *arena, uint64_t base, int lets_change,
                                 size_t *outside);
/* After the check: writes data, and as host pointers those that do not lead out. */
void haul__scatter_pointers(haul_plan *plan, const void *arena, uint64_t base);

#endif
