/* Blocks of malloc's heap, told by what stands before them. */
#ifndef HAUL_HOST_BLOCKS_H
#define HAUL_HOST_BLOCKS_H

#include "maps.h"

/* Reads memory of this process. */
typedef struct haul__host_reader {
    int file; /* /proc/self/mem: a read of what is not there fails; -1: memory itself is read */
    /* the last bytes that were read from the file */
    uintptr_t at;
    size_t bytes;
    unsigned char buffer[4096];
} haul__host_reader;

/* 0: there is no such file here, or it is of another process (an emulator's). */
int haul__host_open_reader(haul__host_reader *reader);
void haul__host_close_reader(haul__host_reader *reader);

/* The usable bytes of the block that begins at `block`, in this mapping; 0: it looks like none.
 * `is_main`: it may be a block of the main heap, which has the least marks. */
size_t haul__host_block_bytes(haul__host_reader *reader, const haul__host_map *map, uintptr_t block,
                              int is_main);

typedef struct haul__host_heap_block {
    uintptr_t begin;
    size_t bytes;
} haul__host_heap_block;

/* Goes through the main heap, by rising address. Answers how many blocks are in use, and writes the
 * first `room` of them. */
size_t haul__host_heap_blocks(haul__host_reader *reader, const haul__host_map *heap,
                              haul__host_heap_block *blocks, size_t room);
/* The same for blocks with mappings of their own, which lie side by side from the beginning of
 * `map` on: finds the one that has the address. 0: there is none, and if `*end` is not above the
 * address, none behind it either. */
int haul__host_mapped_block(haul__host_reader *reader, const haul__host_map *map, uintptr_t address,
                            haul__host_heap_block *block, uintptr_t *end);

#endif
