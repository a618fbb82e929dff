/* Reuse: released blocks wait on shelves, one for each size.
 *
 * Where blocks are noted outside, nothing in an arena is ever a link of ours: what is shipped holds
 * no stray pointers, and a released block is zeros, as fresh memory is. Up to 64 granules each size
 * has a shelf of its own. Above, sizes are rounded to four steps a doubling, so that a growing
 * buffer finds the last one's steps again.
 */
#include "arena/arena.h"

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
    if (arena->shelves && granules > EXACT)
        step = step_of(granules);
    return (granules + step - 1) / step * step * HAUL_ARENA_GRANULE;
}

/* Of a size that has been rounded. */
static haul__shelf *shelf_of(haul_arena *arena, size_t rounded)
{
    size_t granules = rounded / HAUL_ARENA_GRANULE, step;
    unsigned doubling;
    if (granules <= EXACT)
        return &arena->shelves[granules];
    step = step_of(granules);
    doubling = haul__highest64((uint64_t)granules - 1) - FIRST_DOUBLING;
    return &arena->shelves[EXACT + STEPS * doubling + (granules / step - STEPS)];
}

void *haul__unshelve(haul_arena *arena, size_t rounded)
{
    haul__shelf *shelf;
    size_t at;
    if (!arena->shelves)
        return NULL;
    shelf = shelf_of(arena, rounded);
    if (shelf->count == 0)
        return NULL;
    at = shelf->blocks[--shelf->count] * HAUL_ARENA_GRANULE;
    arena->reused++;
    haul__arena_changed(arena, at);
    return arena->room.base + at;
}

int haul__shelve(haul_arena *arena, size_t at, size_t rounded)
{
    haul__shelf *shelf;
    if (!arena->shelves)
        return 1;
    shelf = shelf_of(arena, rounded);
    if (!haul__grow(&arena->context->allocator, (void **)&shelf->blocks, &shelf->capacity,
                    shelf->count + 1, sizeof *shelf->blocks))
        return 0;
    shelf->blocks[shelf->count++] = at / HAUL_ARENA_GRANULE;
    return 1;
}

void haul__shelves_cut(haul_arena *arena, size_t first)
{
    size_t i, j, left;
    for (i = 0; arena->shelves && i < SHELVES; i++) {
        haul__shelf *shelf = &arena->shelves[i];
        for (j = left = 0; j < shelf->count; j++)
            if (shelf->blocks[j] * HAUL_ARENA_GRANULE < first)
                shelf->blocks[left++] = shelf->blocks[j];
        shelf->count = left;
    }
}

int haul__shelves_make(haul_arena *arena)
{
    arena->shelves =
        haul__allocate_zeroed(&arena->context->allocator, SHELVES * sizeof *arena->shelves);
    return arena->shelves != NULL;
}

void haul__shelves_free(haul_arena *arena)
{
    const haul_allocator *allocator = &arena->context->allocator;
    size_t i;
    if (!arena->shelves)
        return;
    for (i = 0; i < SHELVES; i++)
        haul__release(allocator, arena->shelves[i].blocks,
                      arena->shelves[i].capacity * sizeof *arena->shelves[i].blocks);
    haul__release(allocator, arena->shelves, SHELVES * sizeof *arena->shelves);
    arena->shelves = NULL;
}

size_t haul__shelves_bytes(const haul_arena *arena)
{
    size_t i, bytes = arena->shelves ? SHELVES * sizeof *arena->shelves : 0;
    for (i = 0; arena->shelves && i < SHELVES; i++)
        bytes += arena->shelves[i].capacity * sizeof *arena->shelves[i].blocks;
    return bytes;
}
