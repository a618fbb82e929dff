/* Images in memory, taken apart into sections, and signed anew after a change.
 */
#ifndef IMAGES_IMAGE_BYTES_H
#define IMAGES_IMAGE_BYTES_H

#include "haul.h"
#include "image/format.h"

typedef struct image_bytes {
    unsigned char *at;
    size_t count, capacity;
} image_bytes;

void bytes_set(image_bytes *b, const void *from, size_t count);
void bytes_resize(image_bytes *b, size_t count); /* new ones are 0 */
void bytes_free(image_bytes *b);

/* A file that adds to the bytes. */
haul_file bytes_file(image_bytes *b);

/* The bit of the arena's word of this number in a bitmap, whose units have 64 bits in the order of
 * this processor. A word behind the bitmap has none: 0, and it stays so. */
unsigned bitmap_bit(const image_bytes *bitmap, size_t word);
void bitmap_put(image_bytes *bitmap, size_t word, unsigned bit);

/* The list of sections, if all of it is there; *count: how many. NULL: it is not. */
haul__image_section *image_sections(const image_bytes *image, size_t *count);
/* Sets the checksums of all sections that lie within the image, and of the head. */
void image_sign(image_bytes *image);

/* The sections by kind, and the head. */
typedef struct image_parts {
    haul__image_head head;
    image_bytes part[HAUL__SECTION_KINDS];
} image_parts;

void image_split(const image_bytes *image, image_parts *parts);
/* The image of these sections, signed. An empty list of words is left out. */
void image_join(const image_parts *parts, image_bytes *image);
void image_parts_free(image_parts *parts);

#endif
