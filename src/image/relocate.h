/* Offsets of an image become pointers into its block.
 */
#ifndef HAUL_IMAGE_RELOCATE_H
#define HAUL_IMAGE_RELOCATE_H

#include "context/context.h"
#include "image/format.h"

typedef struct haul__offsets {
    unsigned char *block;
    size_t bytes;           /* of the block: at least a word */
    const uint64_t *bitmap; /* a bit for each word of the block */
    size_t bitmap_words;
    const haul__image_word *words; /* pointers that no bit tells */
    size_t word_count;
} haul__offsets;

/* HAUL_ERROR_FORMAT: a pointer leads out of the block, or a bit or a word of the list has no place.
 * HAUL_ERROR_LIMIT: the block's address has bits of a tag. After a failure some are pointers. */
haul_status haul__image_relocate(const haul__offsets *offsets, haul_error *error);

#endif
