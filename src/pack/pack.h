/* The pack room's door: from the user's memory into an arena, and back.
 *
 * All of these run inside a call that has entered the plan's context, and fill its error record when they fail.
 * Arenas given here are plain host memory (staging): nothing below knows a device.
 */
#ifndef HAUL_PACK_H
#define HAUL_PACK_H

#include "base/base.h"
#include "haul/plan.h"

/* Told at most every few MiB; an answer other than 0 stops the work with HAUL_ERROR_STATE. NULL: nobody listens. */
typedef struct haul__listener {
    int (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
} haul__listener;

haul_context *haul__plan_context(const haul_plan *plan);
int haul__plan_is_valid(const haul_plan *plan);
void haul__plan_hold(haul_plan *plan);
void haul__plan_drop(haul_plan *plan);
/* The roots it was made from, as given. */
const haul_root *haul__plan_roots(const haul_plan *plan, size_t *count);
/* haul_plan_create inside a call that has entered the context already. */
haul_status haul__plan_make(haul_context *context, const haul_root *roots, size_t count, haul_plan **plan);

/* Pointers off the grid: their number, and their offsets in the arena, written by gather. */
size_t haul__plan_odd_count(const haul_plan *plan);

/* Copies the whole graph into `arena` (haul_plan_bytes), slots as base + offset; fills `bitmap`
 * (haul_plan_bitmap_bytes) and `odd` (8 * haul__plan_odd_count) where they are not NULL. Checks every pointer and
 * count against the plan: HAUL_ERROR_STALE. */
haul_status haul__gather(haul_plan *plan, void *arena, uint64_t base, uint64_t *bitmap, uint64_t *odd,
                         const haul__listener *listener);
/* After a gather that found changed pointers: names one of them exactly, with the arena as it was sent to `base`, which
 * tells what each pointer was. */
int haul__stale_wants_arena(const haul_plan *plan); /* 0: there is nothing to name better */
void haul__explain_stale(haul_plan *plan, const void *old, uint64_t base);

/* The arena's bytes that are no pointers, written to the source. Cannot fail, but for a listener's refusal, which is
 * asked only before the first byte is written. */
haul_status haul__scatter(haul_plan *plan, const void *arena, const haul__listener *listener);

/* Checks that every pointer in `arena`, whose base on the device is `base`, is null or leads into the graph (or one
 * past a range): else HAUL_ERROR_GRAPH with the path. Writes nothing. */
haul_status haul__check_pointers(haul_plan *plan, const void *arena, uint64_t base);
/* After a check: haul__scatter, and pointers written as host pointers. */
haul_status haul__scatter_pointers(haul_plan *plan, const void *arena, uint64_t base);

/* The smallest piece of the arena that holds every described byte of the source range [first, end): its first offset
 * and its bytes. 0 when there is none. *pointers tells whether it holds pointer words. */
int haul__span(const haul_plan *plan, uintptr_t first, uintptr_t end, size_t *offset, size_t *bytes, int *pointers);
/* Described bytes of the source range that are no pointers: into, or out of, a copy of that piece of the arena. */
void haul__gather_data(const haul_plan *plan, uintptr_t first, uintptr_t end, void *piece, size_t offset);
void haul__scatter_data(const haul_plan *plan, uintptr_t first, uintptr_t end, const void *piece, size_t offset);

#endif
