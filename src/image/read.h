/* Reading an image: the state of a reader, and the image that it makes.
 */
#ifndef HAUL_IMAGE_READ_H
#define HAUL_IMAGE_READ_H

#include "context/context.h"
#include "haul/image.h"
#include "image/compression.h"
#include "image/graph_block.h"
#include "image/head.h"
#include "image/input.h"
#include "image/type_make.h"
#include "image/type_text.h"

struct haul_image {
    uint32_t magic;
    haul_context *context;
    haul__freed freed;
    haul_root *roots;
    size_t root_count;
    haul__image_block block;
    haul__made_types made; /* from the image's text */
    haul_arena *arena;     /* held: the block is a part of it, or nothing is; or NULL */
};

typedef struct haul__reader {
    haul_context *context;
    haul_error *error;
    haul__input input;
    haul_image_options options;
    int may_leave_arena; /* options.arena is for types that arenas take; others get new memory */
    haul_type *const *types;
    size_t count;          /* of types, and of roots */
    haul__type_text text;  /* of our types */
    haul__made_types made; /* all types of the image, where the caller has given none */
    haul_type **made_roots;
    haul__image_head head;
    haul__image_section sections[HAUL__IMAGE_SECTIONS];
    void *contents[HAUL__SECTION_KINDS]; /* by kind; NULL: none. The arena's are the block's. */
    size_t bytes[HAUL__SECTION_KINDS];
    const void *bits; /* the bitmap as it lies in the input; NULL: it is copied as the others are */
    haul__decompressor decompressor; /* of a compressed arena */
    haul__input *arena;              /* gives its bytes; NULL: none have come */
    uint64_t arena_offset;           /* in the image */
    int is_at_home; /* the image is mapped at the address that its pointers are made for */
    haul__image_block block;
    haul_image *image;
} haul__reader;

/* Reads the image from the input: r->image has the graph. After a failure it may be there, too. The
 * arguments have been looked at. The caller closes the reader in any case. */
haul_status haul__read_image(haul__reader *r);
void haul__close_reader(haul__reader *r);
/* The function that frees an image (base/life.h). */
haul__freed *haul__drop_image(void *image);

#endif
