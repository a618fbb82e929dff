/* Memory of a test's own: a world, in which all objects lie that the library is to see.
 *
 * One call makes it inaccessible (PROT_NONE, while a kernel runs) or read-only (while a graph is
 * packed), or takes a picture of every byte. A world lists its blocks, as an allocator does: so the
 * library can be told which ranges may be read, and how large each block is. Bytes between blocks
 * are 0xC5, and so are all bytes of a world of at most 64 KiB; a larger one is filled in pieces of
 * 64 KiB, as blocks are taken.
 */
#ifndef HAUL_TESTS_WORLD_H
#define HAUL_TESTS_WORLD_H

#include <stddef.h>
#include <stdint.h>

typedef struct world_block {
    unsigned char *at;
    size_t bytes;
} world_block;

typedef struct world {
    unsigned char *memory; /* a multiple of 64 KiB */
    size_t bytes, used;    /* used: where the last block ends */
    size_t filled;         /* the rest is zeros */
    uintptr_t word;        /* that fills it */
    size_t gap;            /* at least so many bytes stay free before each block */
    world_block *blocks;   /* in order of address */
    size_t count, capacity;
} world;

void world_start(world *w, size_t bytes);
/* Filled with this word in place of 0xC5. */
void world_start_of(world *w, size_t bytes, uintptr_t word);
void world_end(world *w);

/* A block. Its contents are what was there: 0xC5. */
void *world_take(world *w, size_t bytes, size_t alignment);
char *world_text(world *w, const char *text);
/* Adds a line to the book alone; lines are in order of address. */
void world_note(world *w, void *at, size_t bytes);

/* The last block that begins at the address or before it; NULL: none. */
const world_block *world_block_before(const world *w, const void *address);
/* 1: the bytes lie in one block. */
int world_holds(const world *w, const void *address, size_t bytes);

void world_protect(world *w, int protection);
/* From malloc. */
unsigned char *world_picture(const world *w);
/* The world is what `before`, a picture, becomes when `function` runs on it here: not one other
 * byte has changed. Frees the picture. */
void world_check_changed_by(world *w, unsigned char *before, void (*function)(void *),
                            void *argument);

/* A multiple of 65536 from which on so many bytes are free, in this process and in those that fork
 * from it: far from what the system gives. */
uintptr_t world_free_address(size_t bytes);

#endif
