/* Reuse: released blocks wait on free_lists, one for each size.
 *
 * Where blocks are noted outside, nothing in an arena is ever a link of ours: what is shipped holds
 * no stray pointers, and a released block is zeros, as fresh memory is. Up to 64 granules each size
 * has a free_list of its own. Above, sizes are rounded to four steps a doubling, so that a growing
 * buffer finds the last one's steps again.
 */
#include "arena/changes.h"
#include "arena/free_lists.h"

#define EXACT ((size_t)64)
#define STEPS 4u
#define FIRST_DOUBLING 6u /* 64 is 2 to the 6th */
#define SHELVES (EXACT + 1 + STEPS * (8u * (unsigned)sizeof(size_t) - FIRST_DOUBLING))

/* Between powers of two lie four sizes: the step of `granules`, which are above EXACT. */
static size_t step_of(size_t granules)
{
    return (size_t)1 << (haul__highest64((uint64_t)granules - 1) - 2);
}

size_t haul__arena_round(const haul_arena *arena, size_t bytes)
{
    size_t granules, step = 1;
    if (bytes > arena->capacity)
        return 0;
    granules = (bytes + HAUL_ARENA_GRANULE - 1) / HAUL_ARENA_GRANULE;
    if (arena->free_lists && granules > EXACT)
        step = step_of(granules);
    return (granules + step - 1) / step * step * HAUL_ARENA_GRANULE;
}

/* Of a size that has been rounded. */
static haul__free_list *shelf_of(haul_arena *arena, size_t rounded)
{
    size_t granules = rounded / HAUL_ARENA_GRANULE, step;
    unsigned doubling;
    if (granules <= EXACT)
        return &arena->free_lists[granules];
    step = step_of(granules);
    doubling = haul__highest64((uint64_t)granules - 1) - FIRST_DOUBLING;
    return &arena->free_lists[EXACT + STEPS * doubling + (granules / step - STEPS)];
}

void *haul__free_list_take(haul_arena *arena, size_t rounded)
{
    haul__free_list *free_list;
    size_t at;
    if (!arena->free_lists)
        return NULL;
    free_list = shelf_of(arena, rounded);
    if (free_list->count == 0)
        return NULL;
    at = free_list->blocks[--free_list->count] * HAUL_ARENA_GRANULE;
    arena->reused++;
    haul__arena_changed(arena, at);
    return arena->room.base + at;
}

int haul__free_list_put(haul_arena *arena, size_t at, size_t rounded)
{
    haul__free_list *free_list;
    if (!arena->free_lists)
        return 1;
    free_list = shelf_of(arena, rounded);
    if (!haul__grow(&arena->context->allocator, (void **)&free_list->blocks, &free_list->capacity,
                    free_list->count + 1, sizeof *free_list->blocks))
        return 0;
    free_list->blocks[free_list->count++] = at / HAUL_ARENA_GRANULE;
    return 1;
}

void haul__free_lists_cut(haul_arena *arena, size_t first)
{
    size_t i, j, left;
    for (i = 0; arena->free_lists && i < SHELVES; i++) {
        haul__free_list *free_list = &arena->free_lists[i];
        for (j = left = 0; j < free_list->count; j++)
            if (free_list->blocks[j] * HAUL_ARENA_GRANULE < first)
                free_list->blocks[left++] = free_list->blocks[j];
        free_list->count = left;
    }
}

int haul__free_lists_make(haul_arena *arena)
{
    arena->free_lists =
        haul__allocate_zeroed(&arena->context->allocator, SHELVES * sizeof *arena->free_lists);
    return arena->free_lists != NULL;
}

void haul__free_lists_free(haul_arena *arena)
{
    const haul_allocator *allocator = &arena->context->allocator;
    size_t i;
    if (!arena->free_lists)
        return;
    for (i = 0; i < SHELVES; i++)
        haul__release(allocator, arena->free_lists[i].blocks,
                      arena->free_lists[i].capacity * sizeof *arena->free_lists[i].blocks);
    haul__release(allocator, arena->free_lists, SHELVES * sizeof *arena->free_lists);
    arena->free_lists = NULL;
}

size_t haul__free_lists_bytes(const haul_arena *arena)
{
    size_t i, bytes = arena->free_lists ? SHELVES * sizeof *arena->free_lists : 0;
    for (i = 0; arena->free_lists && i < SHELVES; i++)
        bytes += arena->free_lists[i].capacity * sizeof *arena->free_lists[i].blocks;
    return bytes;
}
