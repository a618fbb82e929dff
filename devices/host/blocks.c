/* Blocks of glibc's heap.
 *
 *     | size before | size and flags | the block's bytes ... | next one's flags tell if it is used
 *
 * Each size leads to the next block, and all are multiples of two words. So what does not come from
 * glibc hardly ever looks like a block.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "blocks.h"

typedef struct chunk {
    size_t size_before, size;
} chunk;

enum { IN_USE_BEFORE = 1, MAPPED = 2, OTHER_HEAP = 4, FLAGS = 7, ALIGNMENT = 16 };

/* ---- Reading. */

int haul__host_open_reader(haul__host_reader *reader)
{
    const uintptr_t known = (uintptr_t)reader;
    uintptr_t seen = 0;
    reader->bytes = 0;
    reader->file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    if (reader->file < 0)
        return 0;
    if (pread(reader->file, &seen, sizeof seen, (off_t)(uintptr_t)&known) == sizeof seen &&
        seen == known)
        return 1;
    haul__host_close_reader(reader);
    return 0;
}

void haul__host_close_reader(haul__host_reader *reader)
{
    if (reader->file >= 0)
        close(reader->file);
    reader->file = -1;
}

static int read_chunk(haul__host_reader *reader, uintptr_t at, chunk *c)
{
    ssize_t got;
    if (reader->file < 0) {
        memcpy(c, (const void *)at, sizeof *c);
        return 1;
    }
    if (at < reader->at || at - reader->at + sizeof *c > reader->bytes) {
        got = pread(reader->file, reader->buffer, sizeof reader->buffer, (off_t)at);
        reader->at = at;
        reader->bytes = got > 0 ? (size_t)got : 0;
        if (reader->bytes < sizeof *c)
            return 0;
    }
    memcpy(c, reader->buffer + (at - reader->at), sizeof *c);
    return 1;
}

/* ---- Blocks. */

/* The bytes of the chunk at an address of the mapping; 0: it looks like none. */
static size_t chunk_bytes(haul__host_reader *reader, const haul__host_map *map, uintptr_t at,
                          chunk *c)
{
    size_t bytes;
    if (at < map->begin || at >= map->end || map->end - at < sizeof *c ||
        !read_chunk(reader, at, c))
        return 0;
    bytes = c->size & ~(size_t)FLAGS;
    return bytes < 2 * sizeof *c || bytes % sizeof *c != 0 || bytes > map->end - at ? 0 : bytes;
}

static int is_used(haul__host_reader *reader, const haul__host_map *map, uintptr_t next)
{
    chunk c;
    return chunk_bytes(reader, map, next, &c) != 0 && (c.size & IN_USE_BEFORE);
}

size_t haul__host_block_bytes(haul__host_reader *reader, const haul__host_map *map, uintptr_t block,
                              int is_main)
{
    const uintptr_t at = block - sizeof(chunk);
    chunk c;
    size_t bytes;
    if (block % sizeof c != 0 || block < map->begin + sizeof c || block >= map->end)
        return 0;
    bytes = chunk_bytes(reader, map, at, &c);
    if (!bytes || !(is_main || (c.size & (MAPPED | OTHER_HEAP))))
        return 0;
    if (c.size & MAPPED)
        return bytes - sizeof c;
    return is_used(reader, map, at + bytes) ? bytes - sizeof c.size : 0;
}

size_t haul__host_heap_blocks(haul__host_reader *reader, const haul__host_map *heap,
                              haul__host_heap_block *blocks, size_t room)
{
    uintptr_t at = heap->begin + (ALIGNMENT - sizeof(chunk)) % ALIGNMENT;
    size_t count = 0, bytes;
    chunk c;
    while ((bytes = chunk_bytes(reader, heap, at, &c)) != 0) {
        if (is_used(reader, heap, at + bytes)) {
            if (count < room) {
                blocks[count].begin = at + sizeof c;
                blocks[count].bytes = bytes - sizeof c.size;
            }
            count++;
        }
        at += bytes;
    }
    return count;
}

int haul__host_mapped_block(haul__host_reader *reader, const haul__host_map *map, uintptr_t address,
                            haul__host_heap_block *block, uintptr_t *end)
{
    size_t bytes;
    chunk c;
    *end = map->begin;
    while (*end <= address && (bytes = chunk_bytes(reader, map, *end, &c)) != 0 &&
           (c.size & FLAGS) == MAPPED && c.size_before == 0) {
        if (address - *end < bytes) {
            block->begin = *end + sizeof c;
            block->bytes = bytes - sizeof c;
            return address >= block->begin;
        }
        *end += bytes;
    }
    return 0;
}
