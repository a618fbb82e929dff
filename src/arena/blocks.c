/* The drop-in forms: blocks that know their size.
 *
 * free and realloc are given no size. It is noted beside the arena, where no device writes: of each
 * group of 64 granules where blocks begin, where those end that end in the same group, and how long
 * the one is that does not. There is at most one of these. What is released, rolled back or reset
 * is forgotten (haul__blocks_forget), so that nothing is taken for a block a second time.
 */
#include "arena/arena.h"

#define GROUP 64u

struct haul__blocks {
    uint64_t begins, ends; /* a bit a granule */
    size_t longest;        /* granules of the block that begins here and ends in a later group */
};

/* ---- What is noted. */

static size_t granule_of(const haul_arena *arena, const void *memory)
{
    return (size_t)((const unsigned char *)memory - arena->room.base) / HAUL_ARENA_GRANULE;
}

/* 0: no memory; the record says so. */
static int make_table(haul_arena *arena)
{
    const size_t groups = arena->capacity / HAUL_ARENA_GRANULE / GROUP + 1;
    if (!arena->blocks &&
        haul__arena_table(arena, groups * sizeof *arena->blocks, &arena->blocks_region))
        arena->blocks = arena->blocks_region.memory;
    if (!arena->blocks)
        haul__fail(&arena->error, HAUL_ERROR_MEMORY, "no memory to note the sizes of blocks");
    return arena->blocks != NULL;
}

static void note(haul_arena *arena, const void *memory, size_t rounded)
{
    const size_t first = granule_of(arena, memory), granules = rounded / HAUL_ARENA_GRANULE;
    const size_t last = first % GROUP + granules - 1;
    haul__blocks *group = &arena->blocks[first / GROUP];
    group->begins |= (uint64_t)1 << (first % GROUP);
    if (last < GROUP)
        group->ends |= (uint64_t)1 << last;
    else
        group->longest = granules;
}

/* In bytes, of whole granules; 0: no block begins there. */
static size_t noted(const haul_arena *arena, const void *memory)
{
    const size_t first = granule_of(arena, memory);
    const haul__blocks *group = &arena->blocks[first / GROUP];
    const uint64_t ends = group->ends >> (first % GROUP);
    if (!(group->begins >> (first % GROUP) & 1))
        return 0;
    return (ends ? haul__lowest64(ends) + 1u : group->longest) * HAUL_ARENA_GRANULE;
}

/* The bits of granules from `first` to below `end`, which lie in a group. */
static void clear(haul__blocks *group, size_t first, size_t end)
{
    const uint64_t below_end = end == GROUP ? UINT64_MAX : ((uint64_t)1 << end) - 1;
    const uint64_t gone = below_end & UINT64_MAX << first;
    if (((group->begins | group->ends) & gone) == 0)
        return; /* without a write: nothing may have been noted for gigabytes */
    group->begins &= ~gone;
    group->ends &= ~gone;
}

void haul__blocks_forget(haul_arena *arena, size_t first, size_t end)
{
    size_t at = first / HAUL_ARENA_GRANULE, last = end / HAUL_ARENA_GRANULE, next;
    for (; arena->blocks && at < last; at = next) {
        next = (at / GROUP + 1) * GROUP;
        clear(&arena->blocks[at / GROUP], at % GROUP, next < last ? GROUP : last - (next - GROUP));
    }
}

size_t haul__blocks_bytes(const haul_arena *arena)
{
    return arena->blocks
               ? haul__arena_used(arena) / HAUL_ARENA_GRANULE / GROUP * sizeof *arena->blocks
               : 0;
}

/* ---- */

static size_t payload(size_t bytes)
{
    return bytes ? bytes : 1;
}

/* Its bytes; 0: not a block of this arena; the record says so. */
static size_t size_of(haul_arena *arena, const void *memory)
{
    size_t bytes = 0;
    if (arena->blocks && haul_arena_contains(arena, memory) &&
        ((uintptr_t)memory - (uintptr_t)arena->room.base) % HAUL_ARENA_GRANULE == 0)
        bytes = noted(arena, memory);
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
    if (!haul__arena_is_valid(arena) || (!arena->blocks && !make_table(arena)))
        return NULL;
    memory = haul_arena_allocate(arena, payload(bytes));
    if (memory)
        note(arena, memory, haul__arena_round(arena, payload(bytes)));
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

/* Grows or shrinks the last block, in its place. 0: it is not the last one since the last
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
    clear(&arena->blocks[granule_of(arena, memory) / GROUP], granule_of(arena, memory) % GROUP,
          GROUP);
    note(arena, memory, rounded);
    haul__arena_set_top(arena, memory + rounded);
    return 1;
}

static void *move(haul_arena *arena, void *memory, size_t is, size_t bytes)
{
    void *moved = haul_arena_malloc(arena, bytes);
    if (!moved)
        return NULL;
    haul__unpoison(memory, is);
    memcpy(moved, memory, is < bytes ? is : bytes);
    haul_arena_release(arena, memory, is);
    return moved;
}

/* A block that becomes smaller and is not the last keeps its size: it is what it will be released
 * with. */
void *haul_arena_realloc(haul_arena *arena, void *memory, size_t bytes)
{
    const size_t wanted = payload(bytes);
    size_t is;
    if (!haul__arena_is_valid(arena) || !memory)
        return haul_arena_malloc(arena, bytes);
    is = size_of(arena, memory);
    if (is == 0)
        return NULL;
    if (!resize_last(arena, memory, is, wanted) && wanted > is)
        return move(arena, memory, is, wanted);
    haul__unpoison(memory, wanted);
    return memory;
}
