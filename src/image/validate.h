/* Checks of an image's graph, in the block that it was copied to.
 */
#ifndef HAUL_IMAGE_VALIDATE_H
#define HAUL_IMAGE_VALIDATE_H

#include "context/context.h"
#include "image/format.h"
#include "haul/source.h"

/* A graph that an image claims to hold: its pointers lead into the block, whatever they are. */
typedef struct haul__claimed {
    haul_context *context;
    const haul_root *roots;
    size_t root_count;
    const unsigned char *block;
    size_t bytes;
    const uint64_t *bitmap; /* a bit a word of the block */
    const haul__image_word *words;
    size_t word_count;
} haul__claimed;

/* HAUL_OK: all that the roots reach lies in the block and is as its types say; the rest of the
 * block is zeros; bits and words tell its pointers and nothing else. The context's record has
 * the path to whatever is not so. */
haul_status haul__image_validate(const haul__claimed *claimed);

#endif
