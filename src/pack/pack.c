/* A whole arena, compacted or ordered: gathered, checked, scattered.
 */
#include "pack/pack.h"
#include "pack/bitmap.h"
#include "pack/check_reads.h"
#include "pack/dependents.h"
#include "pack/ordered.h"
#include "pack/pieces.h"
#include "pack/range_data.h"
#include "pack/returned_pointers.h"
#include "pack/stale.h"

haul_status haul__gather(haul_plan *plan, void *arena, uint64_t base, uint64_t final_base,
                         int for_device, const haul__listener *listener)
{
    return plan->ordered
               ? haul__gather_ordered(plan, arena, base, final_base, listener)
               : haul__gather_compacted(plan, arena, base, final_base, for_device, listener);
}

haul_status haul__prepare_scatter(haul_plan *plan)
{
    if (!plan->ordered)
        return HAUL_OK;
    plan->ordered->compacted =
        haul__allocate(&plan->context->allocator, haul__compacted_bytes(plan), HAUL__GRANULE);
    return plan->ordered->compacted ? HAUL_OK
                                    : haul__fail(&plan->context->error, HAUL_ERROR_MEMORY,
                                                 "out of memory for an ordered arena");
}

void haul__end_scatter(haul_plan *plan)
{
    if (!plan->ordered)
        return;
    haul__release(&plan->context->allocator, plan->ordered->compacted, haul__compacted_bytes(plan));
    plan->ordered->compacted = NULL;
}

haul_status haul__scatter(haul_plan *plan, const void *arena, int lets_change)
{
    const void *compacted = haul__compact_again(plan, arena);
    haul_status status = lets_change ? HAUL_OK : haul__check_compacted(plan, compacted);
    if (status == HAUL_OK)
        haul__scatter_compacted(plan, compacted);
    return status;
}

haul_status haul__check_data(haul_plan *plan, const void *arena)
{
    return haul__check_compacted(plan, haul__compact_again(plan, arena));
}

haul_status haul__check_pointers(haul_plan *plan, const void *arena, uint64_t base, int lets_change,
                                 size_t *outside)
{
    const void *compacted = haul__compact_again(plan, arena);
    haul_status status = haul__check_compacted_pointers(plan, compacted, base, outside);
    return status == HAUL_OK && !lets_change ? haul__check_compacted(plan, compacted) : status;
}

void haul__scatter_pointers(haul_plan *plan, const void *arena, uint64_t base)
{
    const void *compacted = haul__compact_again(plan, arena);
    haul__write_compacted_pointers(plan, compacted, base);
    haul__scatter_compacted(plan, compacted);
}

int haul__stale_wants_arena(const haul_plan *plan)
{
    return plan->stale_block != SIZE_MAX;
}

haul_status haul__explain_stale(haul_plan *plan, const void *old, uint64_t base)
{
    haul_status status = haul__prepare_scatter(plan);
    if (status != HAUL_OK)
        return status;
    haul__explain_block(plan, plan->stale_block, haul__compact_again(plan, old), base);
    haul__end_scatter(plan);
    return HAUL_OK;
}

/* ---- Public. */

static haul_status enter(haul_plan *plan)
{
    return haul__plan_is_valid(plan) ? haul__context_enter(plan->context) : HAUL_ERROR_ARGUMENT;
}

static haul_status refuse_size(haul_plan *plan, size_t bytes)
{
    return haul__fail(&plan->context->error, HAUL_ERROR_ARGUMENT,
                      "the arena has %zu bytes, %zu are needed", bytes, haul__plan_bytes(plan));
}

/* Does the memory overlap a described byte of the source? */
static int overlaps_source(const haul_plan *plan, const void *memory, size_t bytes)
{
    haul__span span;
    uintptr_t first = (uintptr_t)memory;
    return haul__find_span(plan, 0, first,
                           bytes > UINTPTR_MAX - first ? UINTPTR_MAX : first + bytes, &span);
}

haul_status haul_plan_pack(haul_plan *plan, void *arena, size_t capacity, uint64_t base,
                           uint64_t *bitmap)
{
    haul_error *error;
    haul_status status = enter(plan);
    if (status != HAUL_OK)
        return status;
    error = &plan->context->error;
    if (!arena)
        status = haul__fail(error, HAUL_ERROR_ARGUMENT, "the arena to pack into is NULL");
    else if (!bitmap && base == 0)
        status = haul__fail(
            error, HAUL_ERROR_ARGUMENT,
            "the bitmap is NULL, and with base 0 the arena gets offsets, which only a bitmap tells "
            "from data");
    else if (capacity < haul__plan_bytes(plan))
        status = refuse_size(plan, capacity);
    else if (overlaps_source(plan, arena, haul__plan_bytes(plan)) ||
             (bitmap && overlaps_source(plan, bitmap, haul__plan_bitmap_bytes(plan))))
        status =
            haul__fail(error, HAUL_ERROR_ARGUMENT, "the arena, or the bitmap, overlaps the source");
    else
        status =
            haul__refuse_dependents(plan, 0, UINTPTR_MAX, "a packed copy of it would be wrong");
    if (status == HAUL_OK)
        status = haul__gather(plan, arena, base, base, 0, NULL);
    if (status == HAUL_OK && bitmap)
        haul__plan_bitmap(plan, 0, haul__plan_bitmap_bytes(plan) / sizeof *bitmap, bitmap);
    haul__context_leave(plan->context);
    return status;
}

haul_status haul_plan_unpack(haul_plan *plan, const void *arena, size_t bytes,
                             int let_counts_change)
{
    haul_status status = enter(plan);
    if (status != HAUL_OK)
        return status;
    if (!arena)
        status =
            haul__fail(&plan->context->error, HAUL_ERROR_ARGUMENT, "the arena to unpack is NULL");
    else if (bytes < haul__plan_bytes(plan))
        status = refuse_size(plan, bytes);
    else
        status = haul__prepare_scatter(plan);
    if (status == HAUL_OK) {
        status = haul__scatter(plan, arena, let_counts_change);
        haul__end_scatter(plan);
    }
    haul__context_leave(plan->context);
    return status;
}

haul_status haul_plan_relocate(void *arena, size_t bytes, const uint64_t *bitmap, uint64_t base)
{
    size_t words = bytes >> HAUL__WORD_SHIFT, group;
    unsigned char *at = arena;
    if (!arena || !bitmap)
        return HAUL_ERROR_ARGUMENT;
    for (group = 0; group * 64 < words; group++) {
        uint64_t bits;
        for (bits = bitmap[group]; bits; bits &= bits - 1) {
            size_t word = group * 64 + haul__lowest64(bits);
            uintptr_t value;
            if (word >= words)
                break;
            value = haul__load_word(at + (word << HAUL__WORD_SHIFT));
            value += value ? (uintptr_t)base : 0;
            memcpy(at + (word << HAUL__WORD_SHIFT), &value, sizeof value);
        }
    }
    return HAUL_OK;
}
