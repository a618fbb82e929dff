/* The drop-in forms: malloc, calloc, realloc and free, of blocks that know their size.
 */
#include "arena/block_sizes.h"
#include "arena/free_lists.h"
#include "arena/room.h"

static size_t payload(size_t bytes)
{
    return bytes ? bytes : 1;
}

size_t haul_arena_block_bytes(const haul_arena *arena, const void *memory)
{
    size_t bytes = 0;
    if (haul__arena_is_valid(arena) && arena->blocks && haul_arena_contains(arena, memory) &&
        ((uintptr_t)memory - (uintptr_t)arena->room.base) % HAUL_ARENA_GRANULE == 0)
        bytes = haul__block_noted(arena, memory);
    haul__unpoison(memory, bytes);
    return bytes;
}

/* The block's bytes. 0: it is no block of this arena, and the record says so. */
static size_t size_of(haul_arena *arena, const void *memory)
{
    const size_t bytes = haul_arena_block_bytes(arena, memory);
    if (bytes == 0)
        haul__fail(&arena->error, HAUL_ERROR_ARGUMENT,
                   "%p is no block of this arena: pass what haul_arena_malloc, _calloc or _realloc "
                   "gave, once",
                   memory);
    return bytes;
}

void *haul_arena_malloc(haul_arena *arena, size_t bytes)
{
    void *memory;
    if (!haul__arena_is_valid(arena) || (!arena->blocks && !haul__block_sizes_make(arena)))
        return NULL;
    memory = haul_arena_bytes(arena, payload(bytes), 0);
    if (memory)
        haul__block_note(arena, memory, haul__arena_round(arena, payload(bytes)));
    return memory;
}

void *haul_arena_calloc(haul_arena *arena, size_t count, size_t bytes)
{
    size_t all;
    return haul_arena_malloc(arena, haul__multiply_overflows(count, bytes, &all) ? SIZE_MAX : all);
}

haul_status haul_arena_free_block(haul_arena *arena, void *memory)
{
    size_t bytes;
    if (!haul__arena_is_valid(arena))
        return HAUL_ERROR_ARGUMENT;
    if (!memory)
        return HAUL_OK;
    bytes = size_of(arena, memory);
    return bytes ? haul_arena_release(arena, memory, bytes) : HAUL_ERROR_ARGUMENT;
}

/* Grows or shrinks the last block in its place. 0: the block is not the last one since the last
 * checkpoint, or the arena is full. */
static int resize_last(haul_arena *arena, unsigned char *memory, size_t is, size_t bytes)
{
    size_t at = (size_t)(memory - arena->room.base), used = haul__arena_used(arena);
    size_t rounded = haul__arena_round(arena, bytes);
    if (at + is != used || at < arena->floor || rounded == 0)
        return 0;
    if (rounded > (size_t)(arena->end - memory) && !haul__arena_grow(arena, at + rounded))
        return 0;
    if (rounded < is) {
        haul__arena_note_peak(arena);
        haul__arena_wipe(arena, at + rounded, used);
    }
    haul__block_note_again(arena, memory, rounded);
    haul__arena_set_top(arena, memory + rounded);
    return 1;
}

/* A block that shrinks keeps its noted size, which its release needs, unless it is the last one. */
void *haul_arena_realloc(haul_arena *arena, void *memory, size_t bytes)
{
    const size_t wanted = payload(bytes);
    size_t is;
    if (!haul__arena_is_valid(arena) || !memory)
        return haul_arena_malloc(arena, bytes);
    is = size_of(arena, memory);
    if (is == 0)
        return NULL;
    if (!resize_last(arena, memory, is, wanted) && wanted > is) {
        void *moved = haul_arena_malloc(arena, wanted);
        if (!moved)
            return NULL;
        haul__unpoison(memory, is);
        memcpy(moved, memory, is < wanted ? is : wanted);
        haul_arena_release(arena, memory, is);
        return moved;
    }
    haul__unpoison(memory, wanted);
    return memory;
}
