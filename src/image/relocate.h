/* Offsets of an image become pointers into its block.
 */
#ifndef HAUL_IMAGE_RELOCATE_H
#define HAUL_IMAGE_RELOCATE_H

#include "image/format.h"

#define HAUL__NONE_WRONG SIZE_MAX

/* Relocates the words that words [first, end) of the bitmap tell. Answers HAUL__NONE_WRONG, or the
 * offset of the first one that leads out of the block, or that has no place in it; those behind it
 * are then as they were. Threads may relocate different words at the same time. */
size_t haul__image_relocate_bits(const haul__offsets *offsets, size_t first, size_t end);
/* HAUL_ERROR_FORMAT, for the word at this offset. */
haul_status haul__image_refuse_bit(const haul__offsets *offsets, size_t at, haul_error *error);
/* Relocates the words of the list. HAUL_ERROR_FORMAT: one leads out of the block, or has no place.
 * HAUL_ERROR_LIMIT: the block's address has bits of a tag. After a failure some are pointers. */
haul_status haul__image_relocate_words(const haul__offsets *offsets, haul_error *error);

#endif
