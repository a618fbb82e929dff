/* A snapshot of this process's memory: its mappings, and the blocks of its heap. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "haul/process.h"

#include "blocks.h"

#define MORE_MAPS 16u    /* that may come while the snapshot takes its memory */
#define MORE_BLOCKS 256u /* the same */

static const char heap_name[] = "[heap]";

typedef struct snapshot {
    const haul_allocator *allocator;
    haul__host_map *maps; /* by address */
    haul__host_heap_block *blocks;
    size_t map_count, map_room, block_count, block_room;
    uintptr_t frame; /* of the opening call */
    /* What earlier looks have found, so that words which lead to one mapping cost few calls of the
     * system: from `bare` to `bare_end` no block has a mapping of its own. */
    uintptr_t bare, bare_end, touched_page;
    haul__host_reader reader;
    haul__host_maps lines;
} snapshot;

/* What the sanitizers' allocators tell. */
extern int __sanitizer_get_ownership(const volatile void *block) __attribute__((weak));
extern size_t __sanitizer_get_allocated_size(const volatile void *block) __attribute__((weak));

static void *take(const snapshot *p, size_t bytes)
{
    return p->allocator->allocate(p->allocator->user, bytes, sizeof(uint64_t));
}

static void give(const snapshot *p, void *memory, size_t bytes)
{
    if (memory)
        p->allocator->release(p->allocator->user, memory, bytes);
}

/* ---- Taking it. */

/* Answers how many mappings there are, and writes the first ones. */
static size_t read_maps(snapshot *p)
{
    haul__host_map map;
    size_t count = 0;
    if (!haul__host_open_maps(&p->lines))
        return 0;
    while (haul__host_next_map(&p->lines, &map)) {
        if (count < p->map_room)
            p->maps[count] = map;
        count++;
    }
    return count;
}

/* Static data that begins as zeros lies behind a file's mapping, in one without a name. */
static void name_zeros(snapshot *p)
{
    size_t i;
    for (i = 1; i < p->map_count; i++) {
        haul__host_map *map = &p->maps[i];
        if (!map->name[0] && map->is_writable && p->maps[i - 1].name[0] == '/' &&
            p->maps[i - 1].is_writable && p->maps[i - 1].end == map->begin)
            memcpy(map->name, p->maps[i - 1].name, sizeof map->name);
    }
}

static int take_maps(snapshot *p)
{
    size_t count = read_maps(p);
    p->map_room = count + MORE_MAPS;
    p->maps = take(p, p->map_room * sizeof *p->maps);
    if (!p->maps) {
        p->map_room = 0;
        return 0;
    }
    count = read_maps(p);
    p->map_count = count < p->map_room ? count : p->map_room;
    name_zeros(p);
    return 1;
}

static int take_blocks(snapshot *p)
{
    const haul__host_map *heap = NULL;
    size_t i, count;
    for (i = 0; i < p->map_count && !heap; i++)
        if (strcmp(p->maps[i].name, heap_name) == 0)
            heap = &p->maps[i];
    if (!heap || p->reader.file < 0)
        return 1;
    p->block_room = haul__host_heap_blocks(&p->reader, heap, NULL, 0) + MORE_BLOCKS;
    p->blocks = take(p, p->block_room * sizeof *p->blocks);
    if (!p->blocks) {
        p->block_room = 0;
        return 0;
    }
    p->reader.bytes = 0; /* the heap has changed */
    count = haul__host_heap_blocks(&p->reader, heap, p->blocks, p->block_room);
    p->block_count = count < p->block_room ? count : p->block_room;
    p->reader.bytes = 0;
    return 1;
}

static void close_snapshot(void *at)
{
    const int saved = errno;
    snapshot *p = at;
    haul__host_close_reader(&p->reader);
    give(p, p->blocks, p->block_room * sizeof *p->blocks);
    give(p, p->maps, p->map_room * sizeof *p->maps);
    give(p, p, sizeof *p);
    errno = saved;
}

static haul_status open_snapshot(const haul_allocator *allocator, void **at)
{
    const int saved = errno;
    snapshot *p = allocator->allocate(allocator->user, sizeof *p, sizeof(uint64_t));
    *at = NULL;
    if (!p)
        return HAUL_ERROR_MEMORY;
    memset(p, 0, sizeof *p);
    p->allocator = allocator;
    p->frame = (uintptr_t)&at;
    (void)haul__host_open_reader(&p->reader);
    if (!take_maps(p) || !take_blocks(p)) {
        close_snapshot(p);
        return HAUL_ERROR_MEMORY;
    }
    if (p->map_count)
        *at = p;
    else
        close_snapshot(p);
    errno = saved;
    return HAUL_OK;
}

/* ---- Looking at it. */

static int find_listed(const snapshot *p, uintptr_t address, haul_memory *memory)
{
    size_t low = 0, high = p->block_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (p->blocks[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - p->blocks[low - 1].begin >= p->blocks[low - 1].bytes)
        return 0;
    memory->begin = p->blocks[low - 1].begin;
    memory->bytes = p->blocks[low - 1].bytes;
    return 1;
}

static int find_sanitized(uintptr_t address, haul_memory *memory)
{
    const volatile void *block = (const volatile void *)address;
    if (!__sanitizer_get_ownership || !__sanitizer_get_allocated_size ||
        !__sanitizer_get_ownership(block))
        return 0;
    memory->begin = address;
    memory->bytes = __sanitizer_get_allocated_size(block);
    return memory->bytes > 0;
}

static const haul__host_map *find_map(const snapshot *p, uintptr_t address)
{
    size_t low = 0, high = p->map_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (p->maps[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address < p->maps[low - 1].end && p->maps[low - 1].is_readable
               ? &p->maps[low - 1]
               : NULL;
}

static int find_mapped(snapshot *p, const haul__host_map *map, uintptr_t address,
                       haul__host_heap_block *block)
{
    uintptr_t end;
    if (address >= p->bare && address < p->bare_end)
        return 0;
    if (haul__host_mapped_block(&p->reader, map, address, block, &end))
        return 1;
    if (end <= address) {
        p->bare = end;
        p->bare_end = map->end;
    }
    return 0;
}

/* A block that is not listed, in a mapping without a file. */
static int find_unlisted(snapshot *p, const haul__host_map *map, uintptr_t address,
                         haul_memory *memory)
{
    haul__host_heap_block block;
    if (p->reader.file < 0 || !map->is_writable || map->name[0] == '/')
        return 0;
    p->reader.bytes = 0;
    block.begin = address;
    block.bytes =
        haul__host_block_bytes(&p->reader, map, address, strcmp(map->name, heap_name) == 0);
    if (!block.bytes && !find_mapped(p, map, address, &block))
        return 0;
    memory->begin = block.begin;
    memory->bytes = block.bytes;
    return 1;
}

/* 0: nobody has touched the page. Large ranges are reserved, and two small numbers side by side
 * look like an address in them. */
static int is_touched(snapshot *p, uintptr_t address)
{
    const uintptr_t page = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    unsigned char is_there = 0;
    if (page != p->touched_page && (mincore((void *)page, 1, &is_there) != 0 || (is_there & 1)))
        p->touched_page = page;
    return page == p->touched_page;
}

static int kind_of(const snapshot *p, const haul__host_map *map)
{
    if (map->name[0] == '/')
        return HAUL_MEMORY_STATIC;
    if (strcmp(map->name, "[stack]") == 0 || (p->frame >= map->begin && p->frame < map->end))
        return HAUL_MEMORY_STACK;
    return HAUL_MEMORY_MAPPING;
}

static int find_in(snapshot *p, const haul__host_map *map, uintptr_t address, haul_memory *memory)
{
    memset(memory, 0, sizeof *memory);
    memory->kind = HAUL_MEMORY_BLOCK;
    memory->name = map->name;
    if (find_listed(p, address, memory) || find_sanitized(address, memory))
        return 1;
    memory->kind = kind_of(p, map);
    memory->begin = map->begin;
    memory->bytes = map->end - map->begin;
    if (memory->kind != HAUL_MEMORY_MAPPING)
        return 1;
    if (!is_touched(p, address)) /* before a look at it touches it */
        return 0;
    if (find_unlisted(p, map, address, memory))
        memory->kind = HAUL_MEMORY_BLOCK;
    return 1;
}

static int find(void *at, uintptr_t address, haul_memory *memory)
{
    const int saved = errno;
    snapshot *p = at;
    const haul__host_map *map = find_map(p, address);
    const int is_there = map && find_in(p, map, address, memory);
    errno = saved;
    return is_there;
}

const haul_process *haul_this_process(void)
{
    static const haul_process process = { sizeof process, open_snapshot, find, close_snapshot };
    return &process;
}
