/* Arenas: made, cut back, freed.
 *
 * The address range is reserved as a whole and touched as it fills, so nothing ever moves. It is
 * opened in steps. Limits are checked once a step, and not at each allocation.
 */
#include "arena/allocate.h"
#include "arena/arena.h"
#include "arena/block_sizes.h"
#include "arena/free_lists.h"
#include "arena/nursery.h"
#include "base/sized.h"

#define GROW_BYTES ((size_t)1 << 20)
#define FIXED_BYTES ((size_t)64 << 20)
#define LESS 16u
#if UINTPTR_MAX > 0xffffffffu
#define RESERVE_BYTES ((size_t)64 << 30)
#else
#define RESERVE_BYTES ((size_t)256 << 20)
#endif

/* ---- Life. */

size_t haul__arena_default_fixed_bytes(const haul_arena_options *options)
{
    return options->reserve_bytes ? options->reserve_bytes : FIXED_BYTES;
}

/* Reserves more than wanted, so that the base can be aligned. If the user gives no size, a process
 * with little room (RLIMIT_AS, or RLIMIT_MEMLOCK with all memory locked) gets a smaller range. */
static haul_status get_memory(haul_arena *arena)
{
    haul_allocator *allocator = &arena->context->allocator;
    size_t wanted = arena->options.reserve_bytes ? arena->options.reserve_bytes : RESERVE_BYTES;
    if (wanted > SIZE_MAX / 2)
        return HAUL_ERROR_ARGUMENT;
    do {
        if (haul__region_reserve(allocator, wanted + HAUL_ALIGNMENT_MAX, &arena->region))
            return HAUL_OK;
        wanted /= LESS;
    } while (allocator->reserve && !arena->options.reserve_bytes && wanted >= GROW_BYTES);
    wanted = haul__arena_default_fixed_bytes(&arena->options);
    return haul__region_allocate(allocator, wanted + HAUL_ALIGNMENT_MAX, &arena->region)
               ? HAUL_OK
               : HAUL_ERROR_MEMORY;
}

/* A table of bits, with one word to spare. */
static haul_status get_bits(haul_arena *arena, size_t bits, haul__region *region, uint64_t **table)
{
    if (!haul__region_get(&arena->context->allocator, (bits / 64 + 2) * sizeof(uint64_t), region))
        return HAUL_ERROR_MEMORY;
    *table = region->memory;
    return HAUL_OK;
}

static haul_status fill(haul_arena *arena)
{
    haul_status status = arena->region.memory ? HAUL_OK : get_memory(arena);
    uintptr_t first;
    size_t skip;
    if (status != HAUL_OK)
        return status;
    first = (uintptr_t)arena->region.memory;
    skip = (size_t)(0u - first) & (HAUL_ALIGNMENT_MAX - 1u);
    arena->room.base = (unsigned char *)arena->region.memory + skip;
    arena->capacity = (arena->region.bytes - skip) & ~(HAUL_ARENA_GRANULE - 1);
    if (arena->options.reserve_bytes && arena->capacity > arena->options.reserve_bytes)
        arena->capacity = arena->options.reserve_bytes & ~(HAUL_ARENA_GRANULE - 1);
    arena->end = arena->room.base;
    arena->alignment = HAUL_ARENA_GRANULE;
    haul__arena_set_top(arena, arena->room.base);
    status =
        get_bits(arena, arena->capacity / sizeof(void *), &arena->slots_region, &arena->room.slots);
    if (status == HAUL_OK && arena->options.checked)
        status = get_bits(arena, arena->capacity / HAUL_ARENA_GRANULE, &arena->starts_region,
                          &arena->starts);
    if (status == HAUL_OK && arena->options.checked)
        status = get_bits(arena, arena->capacity / HAUL_ARENA_GRANULE, &arena->marks_region,
                          &arena->marks);
    if (status == HAUL_OK && arena->options.reuse && !haul__free_lists_make(arena))
        status = HAUL_ERROR_MEMORY;
    return status;
}

static void dismantle(haul_arena *arena)
{
    haul_context *context = arena->context;
    haul__free_lists_free(arena);
    haul__region_release(&arena->blocks_region);
    haul__region_release(&arena->marks_region);
    haul__region_release(&arena->starts_region);
    haul__region_release(&arena->slots_region);
    if (arena->room.base)
        haul__unpoison(arena->room.base, (size_t)(arena->end - arena->room.base));
    haul__region_release(&arena->region);
    haul__release(&context->allocator, arena, sizeof *arena);
}

haul_status haul__arena_make(haul_context *context, const haul_arena_options *options,
                             const haul__region *region, haul_arena **result)
{
    static const haul__region none;
    haul_arena *arena = haul__allocate_zeroed(&context->allocator, sizeof *arena);
    haul_status status;
    size_t i;
    if (!arena)
        return HAUL_ERROR_MEMORY;
    if (options)
        arena->options = *options;
    if (!arena->options.granularity)
        arena->options.granularity = GROW_BYTES;
    for (i = 0; i < sizeof arena->room.stamps / sizeof *arena->room.stamps; i++)
        arena->room.stamps[i].bytes = SIZE_MAX;
    arena->is_plain = !HAUL__POISONS && !arena->options.reuse && !arena->options.checked;
    arena->context = context;
    arena->holders = 1;
    if (region)
        arena->region = *region;
    status = fill(arena);
    if (status != HAUL_OK) {
        if (region)
            arena->region = none;
        dismantle(arena);
        return status;
    }
    haul__context_hold(context);
    arena->magic = HAUL__ARENA_MAGIC;
    *result = arena;
    return HAUL_OK;
}

const char *haul__arena_why_not(haul_status status)
{
    return status == HAUL_ERROR_ARGUMENT ? "reserve_bytes is more than an arena can have"
                                         : "no memory for an arena";
}

void haul__arena_hold(haul_arena *arena)
{
    haul__atomic_add(&arena->holders, 1);
}

static haul__freed *end(void *object)
{
    haul_arena *arena = object;
    haul_context *context = arena->context;
    arena->magic = 0;
    haul__special_cut(arena, 0);
    haul__release(&context->allocator, arena->special,
                  arena->special_capacity * sizeof *arena->special);
    haul__release(&context->allocator, arena->nurseries,
                  arena->nursery_capacity * sizeof *arena->nurseries);
    haul__release(&context->allocator, arena->changes,
                  arena->change_capacity * sizeof *arena->changes);
    haul__stamps_drop(arena);
    dismantle(arena);
    haul__context_drop(context);
    return NULL;
}

void haul__arena_drop(haul_arena *arena)
{
    if (haul__atomic_add(&arena->holders, -1) == 0)
        haul__free(&arena->freed, arena->context, end, arena);
}

haul__freed *haul__arena_let_go(haul_arena *arena)
{
    if (haul__atomic_add(&arena->holders, -1) != 0)
        return NULL;
    return haul__freed_later(&arena->freed, arena->context, end, arena);
}

static haul__freed *drop_callers(void *object)
{
    haul_arena *arena = object;
    return haul__atomic_add(&arena->holders, -1) == 0 ? end(arena) : NULL;
}

void haul_arena_free(haul_arena **arena)
{
    haul_arena *freed = arena ? *arena : NULL;
    if (!freed)
        return;
    *arena = NULL;
    if (haul__arena_is_valid(freed))
        haul__free(&freed->freed, freed->context, drop_callers, freed);
}

const haul_error *haul_arena_error(const haul_arena *arena)
{
    static const haul_error none = {
        HAUL_ERROR_ARGUMENT, "", "",
        "there is no arena: it is NULL or freed, or the call that was to make it has "
        "failed"
    };
    return haul__arena_is_valid(arena) ? &arena->error : &none;
}

/* ---- Going back. */

static void cut(haul_arena *arena, size_t used)
{
    size_t top = haul__arena_used(arena);
    haul__arena_note_peak(arena);
    haul__free_lists_cut(arena, used);
    haul__special_cut(arena, used);
    haul__nurseries_remove(arena, used, SIZE_MAX);
    if (used < top)
        haul__arena_wipe(arena, used, top);
    if (arena->marks)
        haul__clear_bits(arena->marks, used / HAUL_ARENA_GRANULE + 1, top / HAUL_ARENA_GRANULE + 1);
    haul__arena_set_top(arena, arena->room.base + used);
    arena->floor = used;
}

haul_arena_mark haul_arena_checkpoint(haul_arena *arena)
{
    haul_arena_mark mark = { SIZE_MAX, 0 };
    size_t granule;
    if (haul__arena_is_valid(arena)) {
        mark.used = arena->floor = haul__arena_used(arena);
        mark.resets = arena->resets;
        granule = mark.used / HAUL_ARENA_GRANULE;
        if (arena->marks)
            arena->marks[granule / 64] |= (uint64_t)1 << (granule % 64);
    }
    return mark;
}

haul_status haul_arena_rollback(haul_arena *arena, haul_arena_mark mark)
{
    const size_t granule = mark.used / HAUL_ARENA_GRANULE;
    if (!haul__arena_is_valid(arena))
        return HAUL_ERROR_ARGUMENT;
    if (mark.resets != arena->resets)
        return haul__fail(&arena->error, HAUL_ERROR_STATE,
                          "the arena has been reset since the checkpoint");
    /* A rollback to an earlier place has removed later marks. */
    if (mark.used > haul__arena_used(arena) || mark.used % HAUL_ARENA_GRANULE != 0 ||
        (arena->marks && !(arena->marks[granule / 64] >> (granule % 64) & 1)))
        return haul__fail(&arena->error, HAUL_ERROR_STATE,
                          "the arena has been rolled back beyond the checkpoint");
    cut(arena, mark.used);
    return HAUL_OK;
}

haul_status haul_arena_reset(haul_arena *arena)
{
    if (!haul__arena_is_valid(arena))
        return HAUL_ERROR_ARGUMENT;
    cut(arena, 0);
    arena->room.allocations = arena->released = arena->reused = 0;
    arena->resets++;
    return HAUL_OK;
}

/* ---- Questions. */

void haul_arena_get_info_sized(const haul_arena *arena, haul_arena_info *info, size_t info_bytes)
{
    haul_arena_info ours;
    if (!info)
        return;
    memset(&ours, 0, sizeof ours);
    if (haul__arena_is_valid(arena)) {
        ours.base = arena->room.base;
        ours.used_bytes = haul__arena_used(arena);
        ours.peak_bytes = arena->peak > ours.used_bytes ? arena->peak : ours.used_bytes;
        ours.committed_bytes = (size_t)(arena->end - arena->room.base);
        ours.capacity_bytes = arena->capacity;
        ours.bookkeeping_bytes =
            sizeof *arena + ours.used_bytes / sizeof(void *) / 8 +
            (arena->starts ? 2 * (ours.used_bytes / HAUL_ARENA_GRANULE / 8) : 0) +
            arena->special_capacity * sizeof *arena->special +
            arena->nursery_capacity * sizeof *arena->nurseries +
            arena->change_capacity * sizeof *arena->changes + haul__free_lists_bytes(arena) +
            haul__blocks_bytes(arena);
        ours.allocations = arena->room.allocations;
        ours.released = arena->released;
        ours.reused = arena->reused;
        ours.pinned = arena->region.pinned;
        ours.grows = arena->region.grows;
        ours.mirrored = arena->region.mirrored > 0;
    }
    haul__write_info(info, info_bytes, &ours, sizeof ours);
}
