/* The block that an image's graph lies in: new memory, the caller's, or pages of a file.
 */
#ifndef HAUL_IMAGE_GRAPH_BLOCK_H
#define HAUL_IMAGE_GRAPH_BLOCK_H

#include "base/file.h"
#include "image/input.h"

typedef struct haul__image_block {
    unsigned char *at; /* NULL: none yet */
    size_t bytes;
    void *buffer; /* the caller's; NULL: none */
    size_t buffer_bytes;
    haul__mapping mapping; /* that the input reads; all zeros: none */
    int is_lent;           /* `at` lies in one of these two */
} haul__image_block;

/* Reads the arena, the input's next bytes. In a mapping it stays where it lies, if that suits the
 * alignment. HAUL_ERROR_ARGUMENT: the buffer does not suit. Others as haul__input_take. */
haul_status haul__image_block_read(haul__image_block *block, haul__input *input, size_t bytes,
                                   size_t alignment);
void haul__image_block_release(haul__image_block *block, const haul_allocator *allocator);

#endif
