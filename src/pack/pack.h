/* The pack room's door: from the user's memory into an arena, and back.
 *
 * All of these run inside a call that has entered the plan's context, and fill its error record
 * when they fail. Arenas given here are plain host memory (staging): nothing below calls a device.
 */
#ifndef HAUL_PACK_PACK_H
#define HAUL_PACK_PACK_H

#include "pack/plan.h"
#include "pack/progress.h"

/* Copies the graph into `arena` (haul_plan_bytes), slots as base + offset: haul__gather_piece
 * tells more. */
haul_status haul__gather(haul_plan *plan, void *arena, uint64_t base, uint64_t there,
                         int for_device, const haul__listener *listener);

/* After a gather or verify that found changed pointers: names one of them exactly, with the arena
 * as it was sent to `base`, which tells what each pointer was. HAUL_ERROR_MEMORY: nothing has been
 * named. */
int haul__stale_wants_arena(const haul_plan *plan); /* 0: there is nothing to name better */
haul_status haul__explain_stale(haul_plan *plan, const void *old, uint64_t base);

/* Memory for haul__scatter, haul__check_pointers and haul__scatter_pointers, so that these need
 * none: HAUL_ERROR_MEMORY. When it succeeds, haul__end_scatter follows. */
haul_status haul__prepare_scatter(haul_plan *plan);
void haul__end_scatter(haul_plan *plan);
/* The arena's bytes that are no pointers, written to the source; `lets_change`: fields that shapes
 * and rules read, too, whatever they are. Fails before the first byte is written: HAUL_ERROR_GRAPH
 * as above, or by a listener's refusal. */
haul_status haul__scatter(haul_plan *plan, const void *arena, int lets_change,
                          const haul__listener *listener);
/* The question in it, which a listener is asked. */
haul_status haul__ask_to_scatter(haul_plan *plan, const haul__listener *listener);

/* Checks that every pointer in `arena`, whose base on the device is `base`, is null or leads into
 * the graph (or one past a range): else HAUL_ERROR_GRAPH with the path; and, unless it
 * `lets_change`, what haul__scatter checks. Writes nothing. */
haul_status haul__check_pointers(haul_plan *plan, const void *arena, uint64_t base,
                                 int lets_change);
/* After a check: haul__scatter, and pointers written as host pointers. */
void haul__scatter_pointers(haul_plan *plan, const void *arena, uint64_t base);

#endif
