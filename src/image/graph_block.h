/* The block that an image's graph lies in: new memory, a buffer, a part of an arena, or pages of a
 * file.
 */
#ifndef HAUL_IMAGE_GRAPH_BLOCK_H
#define HAUL_IMAGE_GRAPH_BLOCK_H

#include "arena/room.h"
#include "base/file.h"
#include "image/input.h"

typedef struct haul__image_block {
    unsigned char *at; /* NULL: none yet */
    size_t bytes;
    void *buffer; /* the caller's; NULL: none */
    size_t buffer_bytes;
    haul_arena *arena;     /* the caller's; NULL: none */
    haul__mapping mapping; /* that the input reads; all zeros: none */
    int is_lent;           /* `at` is not the block's to release */
} haul__image_block;

/* Finds the place of the arena, the input's next bytes. *is_filled: they have been read, and lie
 * there. In a mapping they stay where they lie, if that suits the alignment; bytes of a number that
 * is a mere claim are read at once. HAUL_ERROR_ARGUMENT: the buffer does not suit. Others as
 * haul__input_take and haul_arena_bytes. */
haul_status haul__image_block_open(haul__image_block *block, haul__input *input, size_t bytes,
                                   size_t alignment, int *is_filled);
/* The block that is in an arena becomes a graph there, and stays. */
void haul__image_block_leave(haul__image_block *block, const uint64_t *bitmap);
void haul__image_block_release(haul__image_block *block, const haul_allocator *allocator);

#endif
