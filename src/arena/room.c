/* The memory of an arena: opened in steps, wiped when bytes are released.
 *
 * Released bytes are wiped at once, with their pointer bits and starts. So above room.top
 * everything is always zero, an allocation clears nothing, and a wipe is one run over memory that
 * is in use anyway.
 */
#include "arena/room.h"
#include "arena/block_sizes.h"
#include "arena/changes.h"

int haul__arena_is_valid(const haul_arena *arena)
{
    return arena && arena->magic == HAUL__ARENA_MAGIC;
}

int haul_arena_contains(const haul_arena *arena, const void *address)
{
    return haul__arena_is_valid(arena) && (uintptr_t)address >= (uintptr_t)arena->room.base &&
           (uintptr_t)address < (uintptr_t)arena->room.top;
}

void haul__arena_set_top(haul_arena *arena, unsigned char *top)
{
    arena->room.top = top;
    arena->room.end = arena->is_plain ? arena->end : top;
}

int haul__arena_grow(haul_arena *arena, size_t end)
{
    size_t limit = arena->options.limit_bytes, step = arena->options.granularity, grown;
    int limited = limit != 0 && limit < arena->capacity;
    limit = (limited ? limit : arena->capacity) & ~(HAUL_ARENA_GRANULE - 1);
    if (end > limit) {
        haul__fail(&arena->error, HAUL_ERROR_LIMIT,
                   "the arena is full: %zu bytes are needed, and its %s is %zu: make it with more",
                   end, limited ? "limit_bytes" : "reserve_bytes", limit);
        return 0;
    }
    grown = end > SIZE_MAX - step ? limit : (end + step - 1) / step * step;
    if (grown > limit || grown < end)
        grown = limit;
    grown &= ~(HAUL_ARENA_GRANULE - 1);
    if (grown < end)
        grown = end;
    haul__poison(arena->end, (size_t)(arena->room.base + grown - arena->end));
    arena->end = arena->room.base + grown;
    haul__arena_set_top(arena, arena->room.top);
    return 1;
}

void haul__clear_bits(uint64_t *bits, size_t first, size_t end)
{
    size_t group = first / 64, last = end / 64;
    uint64_t head = UINT64_MAX << (first % 64), tail = ~(UINT64_MAX << (end % 64));
    if (group == last) {
        bits[group] &= ~(head & tail);
        return;
    }
    bits[group] &= ~head;
    memset(bits + group + 1, 0, (last - group - 1) * sizeof *bits);
    bits[last] &= ~tail;
}

void haul__arena_wipe(haul_arena *arena, size_t first, size_t end)
{
    haul__unpoison(arena->room.base + first, end - first);
    memset(arena->room.base + first, 0, end - first);
    haul__poison(arena->room.base + first, end - first);
    haul__clear_bits(arena->room.slots, first / sizeof(void *), end / sizeof(void *));
    if (arena->starts)
        haul__clear_bits(arena->starts, first / HAUL_ARENA_GRANULE, end / HAUL_ARENA_GRANULE);
    haul__blocks_forget(arena, first, end);
    haul__arena_changed(arena, first);
}

void haul__arena_note_peak(haul_arena *arena)
{
    size_t used = haul__arena_used(arena);
    arena->peak = used > arena->peak ? used : arena->peak;
}

size_t haul__bytes_with_nursery(const haul_arena *arena, size_t at, size_t bytes)
{
    const size_t rounded = (bytes + HAUL_ARENA_GRANULE - 1) & ~(HAUL_ARENA_GRANULE - 1);
    size_t i;
    for (i = 0; i < arena->nursery_count; i++) {
        const haul__nursery_place *place = &arena->nurseries[i];
        const size_t all = place->memory + place->capacity - place->at;
        if (at - place->at < all)
            return at == place->at && rounded == place->capacity ? all : 0;
    }
    return bytes;
}

void haul__nurseries_remove(haul_arena *arena, size_t first, size_t end)
{
    size_t i, left = 0;
    for (i = 0; i < arena->nursery_count; i++)
        if (arena->nurseries[i].at < first || arena->nurseries[i].at >= end)
            arena->nurseries[left++] = arena->nurseries[i];
    arena->nursery_count = left;
}
