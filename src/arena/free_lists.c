/* Free lists: released blocks, one list for each size.
 *
 * The lists stand beside the arena, so no block ever holds a link: no stray pointer is shipped, and
 * a released block is zeros, as fresh memory is. Each size of up to 64 granules has its own list.
 * Larger sizes are rounded, to four steps for each doubling, so that a growing buffer can take
 * blocks that another one has outgrown.
 */
#include "arena/changes.h"
#include "arena/free_lists.h"

#define EXACT ((size_t)64)
#define STEPS 4u
#define FIRST_DOUBLING 6u /* 64 is 2 to the power of 6 */
#define LISTS (EXACT + 1 + STEPS * (8u * (unsigned)sizeof(size_t) - FIRST_DOUBLING))

/* The step between two sizes above EXACT: four sizes lie between powers of two. */
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

/* The list of a rounded size. */
static haul__free_list *list_of(haul_arena *arena, size_t rounded)
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
    free_list = list_of(arena, rounded);
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
    free_list = list_of(arena, rounded);
    if (!haul__grow(&arena->context->allocator, &free_list->blocks, &free_list->capacity,
                    free_list->count + 1, sizeof *free_list->blocks))
        return 0;
    free_list->blocks[free_list->count++] = at / HAUL_ARENA_GRANULE;
    return 1;
}

void haul__free_lists_cut(haul_arena *arena, size_t first)
{
    size_t i, j, left;
    for (i = 0; arena->free_lists && i < LISTS; i++) {
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
        haul__allocate_zeroed(&arena->context->allocator, LISTS * sizeof *arena->free_lists);
    return arena->free_lists != NULL;
}

void haul__free_lists_free(haul_arena *arena)
{
    const haul_allocator *allocator = &arena->context->allocator;
    size_t i;
    if (!arena->free_lists)
        return;
    for (i = 0; i < LISTS; i++)
        haul__release(allocator, arena->free_lists[i].blocks,
                      arena->free_lists[i].capacity * sizeof *arena->free_lists[i].blocks);
    haul__release(allocator, arena->free_lists, LISTS * sizeof *arena->free_lists);
    arena->free_lists = NULL;
}

size_t haul__free_lists_bytes(const haul_arena *arena)
{
    size_t i, bytes = arena->free_lists ? LISTS * sizeof *arena->free_lists : 0;
    for (i = 0; arena->free_lists && i < LISTS; i++)
        bytes += arena->free_lists[i].capacity * sizeof *arena->free_lists[i].blocks;
    return bytes;
}
