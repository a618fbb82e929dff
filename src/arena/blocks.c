/* The drop-in forms: blocks that know their size.
 *
 *     | size | check | what the caller gets ...
 *
 * free and realloc are given no size, so a granule in front of each block has it, and a check over the size and the
 * place, which nothing else has but by chance. A released block is zeros: it is not taken for one a second time.
 */
#include "arena/arena.h"

typedef struct head {
    size_t bytes, check;
} head;

static size_t check_of(const haul_arena *arena, const head *block, size_t bytes)
{
    size_t at = (size_t)((const unsigned char *)block - arena->room.base);
    return (at ^ ~bytes) * (size_t)UINT64_C(0x9e3779b97f4a7c15) | 1u;
}

static void write_head(const haul_arena *arena, head *block, size_t bytes)
{
    block->bytes = bytes;
    block->check = check_of(arena, block, bytes);
}

static size_t payload(size_t bytes)
{
    return bytes ? bytes : 1;
}

/* A size that can be rounded; the arena then finds that it is too large. */
static size_t with_head(size_t bytes)
{
    return payload(bytes) > SIZE_MAX - sizeof(head) ? SIZE_MAX : payload(bytes) + sizeof(head);
}

/* NULL: not a block of this arena; the record says so. */
static head *head_of(haul_arena *arena, void *memory)
{
    head *block = (head *)(void *)((unsigned char *)memory - sizeof(head));
    size_t at = (size_t)((uintptr_t)memory - (uintptr_t)arena->room.base);
    if (haul_arena_contains(arena, memory) && at >= sizeof(head) && at % HAUL_ARENA_GRANULE == 0 &&
        !haul__is_poisoned(block) && block->check == check_of(arena, block, block->bytes) &&
        block->bytes <= haul__arena_used(arena) - at)
        return block;
    haul__fail(&arena->error, HAUL_ERROR_ARGUMENT, "%p is no block of this arena", memory);
    return NULL;
}

void *haul_arena_malloc(haul_arena *arena, size_t bytes)
{
    head *block = haul_arena_allocate(arena, with_head(bytes));
    if (!block)
        return NULL;
    write_head(arena, block, bytes);
    return block + 1;
}

void *haul_arena_calloc(haul_arena *arena, size_t count, size_t bytes)
{
    size_t all;
    return haul_arena_malloc(arena, haul__multiply_overflows(count, bytes, &all) ? SIZE_MAX : all);
}

haul_status haul_arena_free_block(haul_arena *arena, void *memory)
{
    head *block;
    if (!haul__arena_is_valid(arena))
        return HAUL_ERROR_ARGUMENT;
    if (!memory)
        return HAUL_OK;
    block = head_of(arena, memory);
    return block ? haul_arena_release(arena, block, with_head(block->bytes)) : HAUL_ERROR_ARGUMENT;
}

/* Grows or shrinks the last block, in its place. 0: it is not the last one since the last checkpoint, or the arena is
 * full. */
static int resize_last(haul_arena *arena, head *block, size_t bytes)
{
    size_t at = (size_t)((unsigned char *)block - arena->room.base), used = haul__arena_used(arena);
    size_t end = at + haul__arena_round(arena, with_head(block->bytes)), wanted = haul__arena_round(arena, with_head(bytes));
    if (end != used || at < arena->floor || wanted == 0)
        return 0;
    wanted += at;
    if (wanted > (size_t)(arena->end - arena->room.base) && !haul__arena_grow(arena, wanted))
        return 0;
    if (wanted < used) {
        haul__arena_note_peak(arena);
        haul__arena_wipe(arena, wanted, used);
    }
    haul__arena_set_top(arena, arena->room.base + wanted);
    return 1;
}

static void *move(haul_arena *arena, head *block, size_t bytes)
{
    void *moved = haul_arena_malloc(arena, bytes);
    if (!moved)
        return NULL;
    memcpy(moved, block + 1, block->bytes < bytes ? block->bytes : bytes);
    haul_arena_release(arena, block, with_head(block->bytes));
    return moved;
}

/* A block that becomes smaller and is not the last keeps its size: it is what it will be released with. */
void *haul_arena_realloc(haul_arena *arena, void *memory, size_t bytes)
{
    head *block;
    if (!haul__arena_is_valid(arena) || !memory)
        return haul_arena_malloc(arena, bytes);
    block = head_of(arena, memory);
    if (!block)
        return NULL;
    if (resize_last(arena, block, bytes)) {
        haul__unpoison(block + 1, payload(bytes));
        write_head(arena, block, bytes);
        return memory;
    }
    return bytes <= block->bytes ? memory : move(arena, block, bytes);
}
