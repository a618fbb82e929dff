/* The sizes of blocks of the drop-in forms.
 *
 * free and realloc get no size. So sizes are noted beside the arena, where no device writes. A
 * group of 64 granules has two bits for each: a block begins there; a block of this group ends
 * there. At most one block of a group ends in a later one: its length is noted too. Blocks that are
 * released, rolled back or reset are forgotten, so none is freed twice.
 */
#include "arena/block_sizes.h"

int haul__block_sizes_make(haul_arena *arena)
{
    const size_t groups = arena->capacity / HAUL_ARENA_GRANULE / HAUL__BLOCK_GROUP + 1;
    if (!arena->blocks && haul__region_get(&arena->context->allocator,
                                           groups * sizeof *arena->blocks, &arena->blocks_region))
        arena->blocks = arena->blocks_region.memory;
    if (!arena->blocks)
        haul__fail(&arena->error, HAUL_ERROR_MEMORY, "no memory to note the sizes of blocks");
    return arena->blocks != NULL;
}

/* Clears the bits of granules [first, end) of a group. */
static void clear(haul__blocks *group, size_t first, size_t end)
{
    const uint64_t below_end = end == HAUL__BLOCK_GROUP ? UINT64_MAX : ((uint64_t)1 << end) - 1;
    const uint64_t gone = below_end & UINT64_MAX << first;
    if (((group->begins | group->ends) & gone) == 0)
        return; /* no write: the table has no memory yet where nothing was noted */
    group->begins &= ~gone;
    group->ends &= ~gone;
}

void haul__block_note_again(haul_arena *arena, const void *memory, size_t rounded)
{
    const size_t first = haul__granule_of(arena, memory);
    clear(&arena->blocks[first / HAUL__BLOCK_GROUP], first % HAUL__BLOCK_GROUP, HAUL__BLOCK_GROUP);
    haul__block_note(arena, memory, rounded);
}

void haul__blocks_forget(haul_arena *arena, size_t first, size_t end)
{
    size_t at = first / HAUL_ARENA_GRANULE, last = end / HAUL_ARENA_GRANULE, next;
    for (; arena->blocks && at < last; at = next) {
        next = (at / HAUL__BLOCK_GROUP + 1) * HAUL__BLOCK_GROUP;
        clear(&arena->blocks[at / HAUL__BLOCK_GROUP], at % HAUL__BLOCK_GROUP,
              next < last ? HAUL__BLOCK_GROUP : last - (next - HAUL__BLOCK_GROUP));
    }
}

size_t haul__blocks_bytes(const haul_arena *arena)
{
    return arena->blocks ? haul__arena_used(arena) / HAUL_ARENA_GRANULE / HAUL__BLOCK_GROUP *
                               sizeof *arena->blocks
                         : 0;
}
