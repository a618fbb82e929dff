/* The bytes of an image, front to back, from memory or from a haul_file.
 */
#ifndef HAUL_IMAGE_INPUT_H
#define HAUL_IMAGE_INPUT_H

#include "base/memory.h"
#include "haul/file.h"

typedef struct haul__input {
    const haul_allocator *allocator;
    haul_error *error;
    const unsigned char *bytes; /* the next ones; NULL: `file` gives them */
    const haul_file *file;
    /* not NULL: gives them in place of both: at least one, and at most `count` */
    haul_status (*give)(void *giver, void *to, size_t count, size_t *got);
    void *giver;
    size_t left;   /* SIZE_MAX: not known */
    uint64_t done; /* bytes read so far */
} haul__input;

/* HAUL_ERROR_FORMAT: the image ends before it is complete. */
haul_status haul__input_too_short(const haul__input *input);
/* Reads `count` bytes. HAUL_ERROR_FORMAT: there are fewer; HAUL_ERROR_FILE. */
haul_status haul__input_read(haul__input *input, void *to, size_t count);
/* Reads up to the place `offset`, and sets *is_zero to 0 if a byte is not 0. */
haul_status haul__input_skip(haul__input *input, uint64_t offset, int *is_zero);
/* Leaves out bytes of memory that the input has. */
void haul__input_pass(haul__input *input, size_t count);
/* The next `count` bytes, where they lie in memory that the input has. HAUL_ERROR_FORMAT: there are
 * fewer. */
haul_status haul__input_lend(haul__input *input, size_t count, const void **memory);
/* New memory for the next `count` bytes. HAUL_ERROR_FORMAT: there are fewer; HAUL_ERROR_MEMORY.
 * *memory is then NULL. */
haul_status haul__input_room(haul__input *input, size_t count, size_t alignment, void **memory);
/* Reads into new memory of `count` bytes, which is NULL after a failure, and if `count` is 0. It
 * grows with the bytes that arrive, so a false count takes little. HAUL_ERROR_MEMORY. */
haul_status haul__input_take(haul__input *input, size_t count, size_t alignment, void **memory);

#endif
