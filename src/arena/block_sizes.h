/* The sizes of blocks of the drop-in forms, noted beside the arena.
 */
#ifndef HAUL_ARENA_BLOCK_SIZES_H
#define HAUL_ARENA_BLOCK_SIZES_H

#include "arena/room.h"

int haul__block_sizes_make(haul_arena *arena); /* 0: no memory; the record says so */
/* Notes the new end of a block. */
void haul__block_note_again(haul_arena *arena, const void *memory, size_t rounded);
/* Forgets the blocks that begin in [first, end). */
void haul__blocks_forget(haul_arena *arena, size_t first, size_t end);
size_t haul__blocks_bytes(const haul_arena *arena);

#define HAUL__BLOCK_GROUP 64u

struct haul__blocks {
    uint64_t begins, ends; /* a bit for each granule */
    size_t longest;        /* granules of the block that ends in a later group */
};

HAUL__INLINE size_t haul__granule_of(const haul_arena *arena, const void *memory)
{
    return (size_t)((const unsigned char *)memory - arena->room.base) / HAUL_ARENA_GRANULE;
}

HAUL__INLINE void haul__block_note(haul_arena *arena, const void *memory, size_t rounded)
{
    const size_t first = haul__granule_of(arena, memory), granules = rounded / HAUL_ARENA_GRANULE;
    const size_t last = first % HAUL__BLOCK_GROUP + granules - 1;
    haul__blocks *group = &arena->blocks[first / HAUL__BLOCK_GROUP];
    group->begins |= (uint64_t)1 << (first % HAUL__BLOCK_GROUP);
    if (last < HAUL__BLOCK_GROUP)
        group->ends |= (uint64_t)1 << last;
    else
        group->longest = granules;
}

/* The block's bytes, in whole granules; 0: no block begins there. */
HAUL__INLINE size_t haul__block_noted(const haul_arena *arena, const void *memory)
{
    const size_t first = haul__granule_of(arena, memory);
    const haul__blocks *group = &arena->blocks[first / HAUL__BLOCK_GROUP];
    const uint64_t ends = group->ends >> (first % HAUL__BLOCK_GROUP);
    if (!(group->begins >> (first % HAUL__BLOCK_GROUP) & 1))
        return 0;
    return (ends ? haul__lowest64(ends) + 1u : group->longest) * HAUL_ARENA_GRANULE;
}

#endif
