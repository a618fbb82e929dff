/* The writing of an image: what its parts share.
 */
#ifndef HAUL_IMAGE_WRITER_H
#define HAUL_IMAGE_WRITER_H

#include "image/compression.h"
#include "image/format.h"
#include "image/lying.h"
#include "image/packing.h"
#include "image/type_text.h"
#include "ship/snapshot.h"

typedef struct haul__writer {
    haul_context *context;
    const haul_file *file; /* to write to; NULL: `memory` */
    unsigned char *memory;
    size_t memory_bytes, done; /* done: bytes of the image that are there */
    haul__snapshot snapshot;   /* of a shipment; context NULL: the source is none */
    haul__lying lying;         /* an arena as it lies */
    haul_root lying_root;
    haul_plan *plan;
    int owns_plan;
    haul__straight straight; /* of 0 bytes: the plan is an ordered one */
    haul__packing packing;
    haul__type_text text;
    haul_type **types; /* of the roots */
    size_t root_count, arena_bytes, bitmap_bytes, word_count, word_room;
    haul__image_root *roots;
    haul__odd_word *words;
    uint64_t *bitmap;
    void *arena;       /* new memory, or NULL */
    uintptr_t address; /* of the image's first byte; 0: any */
    int compression;
    haul__compressed compressed; /* at NULL: the arena is written as it is */
    haul__image_head head;
    haul__image_section sections[HAUL__SECTION_KINDS];
    const void *contents[HAUL__SECTION_KINDS];
} haul__writer;

/* The errors of memory that there is not, and of the caller's that is too small. */
haul_status haul__writer_lacks_memory(const haul__writer *w);
haul_status haul__writer_lacks_room(const haul__writer *w);
/* Lists the roots, and packs the arena of the plan: straight from the source, or by an ordered
 * plan. Where the caller's memory is too small, the size of the image is known in w->head. */
haul_status haul__writer_pack(haul__writer *w);
void haul__writer_release_arena(haul__writer *w);

#endif
