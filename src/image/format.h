/* The format of an image, as docs/image-format.md describes it. All fields have fixed widths, in
 * the byte order of the writer.
 *
 *   head | sections' list | section, gap, section, gap ...
 *
 * Sections stand in the order of the list, each at a multiple of its alignment. Gaps are zeros.
 */
#ifndef HAUL_IMAGE_FORMAT_H
#define HAUL_IMAGE_FORMAT_H

#include "validate/validate.h"

#define HAUL__IMAGE_MAGIC "\x89HAUL\r\n\x1a" /* 8 bytes; a transfer as text damages it */
#define HAUL__IMAGE_VERSION 1u
#define HAUL__IMAGE_ORDER 0x0102u
#define HAUL__IMAGE_SECTIONS 64u /* the most */
#define HAUL__IMAGE_ALIGNMENT 64u
#define HAUL__IMAGE_PAGE 4096u                 /* the alignment of arenas of 4096 bytes or more */
#define HAUL__IMAGE_PIECE ((size_t)65536)      /* bytes of a section that are hashed together */
#define HAUL__IMAGE_ADDRESS ((uintptr_t)65536) /* the alignment of an address of its own */

typedef struct haul__image_head {
    unsigned char magic[8];
    uint32_t version;
    uint16_t order;      /* HAUL__IMAGE_ORDER, as the writer's processor stores it */
    uint16_t word_bytes; /* of a pointer */
    uint64_t bytes;      /* of the image */
    uint64_t alignment;  /* of the arena's base */
    uint32_t section_count, reserved;
    /* of the arena, whose section is one frame of zstd; 0: it is not compressed */
    uint64_t arena_bytes;
    uint64_t address; /* of the image's first byte, where it can be used as it lies; 0: none */
    uint64_t hash;    /* of the head with a hash of 0, and the list of sections */
} haul__image_head;

typedef enum haul__section_kind {
    HAUL__SECTION_TYPES = 1, /* text (type_text.h) */
    HAUL__SECTION_ROOTS = 2, /* haul__image_root, each */
    HAUL__SECTION_WORDS = 3, /* haul__odd_word, each, by offset; left out if there are none */
    HAUL__SECTION_BITS = 4,  /* the relocation bitmap: a bit a word of the arena */
    HAUL__SECTION_ARENA = 5,
    HAUL__SECTION_KINDS
} haul__section_kind;

#define HAUL__SECTION_OPTIONAL 1u /* a reader that does not know the kind leaves it out */

typedef struct haul__image_section {
    uint32_t kind, flags;
    uint64_t offset, bytes; /* from the beginning of the image */
    uint64_t hash;          /* haul__image_hash of its bytes */
} haul__image_section;

/* `count` elements in a row. The type's first byte that travels (its true lower bound) stands at
 * `offset` of the arena in the first of them. */
typedef struct haul__image_root {
    uint64_t offset, count;
    uint32_t type, reserved;
} haul__image_root;

/* A word of the list (haul__odd_word). Mask 0: the word is an offset, as those with a bit are.
 * Otherwise the bits of the mask are a tag, and the others are the offset plus HAUL__IMAGE_BELOW: a
 * tagged pointer may lead below the arena, and an offset below 0 would have bits of the tag. In an
 * image with an address, all of these are addresses in place of offsets. */
#define HAUL__IMAGE_BELOW 1048576u /* HAUL_OUTSIDE_MAX */

/* hash.c: of a section, the sum over its pieces; of its piece of this number; of the head and the
 * list. */
uint64_t haul__image_hash(const void *bytes, size_t count);
uint64_t haul__image_piece_hash(const void *bytes, size_t count, size_t number);
/* Copies a piece, and answers its hash. */
uint64_t haul__image_copy_piece(void *to, const void *from, size_t count, size_t number);
uint64_t haul__image_head_hash(const haul__image_head *head, const haul__image_section *sections);

/* Where a section begins, if the one before it ends at `end`. */
HAUL__INLINE uint64_t haul__section_begin(uint32_t kind, uint64_t bytes, uint64_t end)
{
    const uint64_t alignment = kind == HAUL__SECTION_ARENA && bytes >= HAUL__IMAGE_PAGE
                                   ? HAUL__IMAGE_PAGE
                                   : HAUL__IMAGE_ALIGNMENT;
    return (end + alignment - 1) & ~(alignment - 1);
}

#endif
