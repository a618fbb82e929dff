/* The records of a present table, for the two files that know them: present.c, which changes them,
 * and present_look_up.c.
 *
 *   directory   a hash of the 64 KiB blocks that hold ranges
 *   block       one word for each of its 16 pages
 *   page        a bit for each granule of 16 bytes in which a range begins, and the ranges in order
 *
 * The number of bits up to an address gives the range that could hold it, so a look-up takes five
 * loads, wherever the ranges lie and however many they are. If two ranges begin in one granule, the
 * page is crowded, and is searched. A page that one range covers has no record of its own: its word
 * leads to the range's, with a lowest bit of 1. So an array takes 8 bytes for each 4 KiB.
 *
 * Readers take no lock and write nothing here. A record that they read may be given to other ranges
 * meanwhile. So memory is kept until the table closes, and a version is odd while records change. A
 * reader looks at the version before it uses a word that leads to a record, and at the end. If the
 * version has changed, the reader begins again.
 */
#ifndef HAUL_ENVIRONMENT_PRESENT_RECORDS_H
#define HAUL_ENVIRONMENT_PRESENT_RECORDS_H

#include "environment/present.h"
#include "base/index.h"

/* Sizes, as powers of two: of a page, of a block, of what a bit stands for. */
#define HAUL__PRESENT_SHIFT 12u
#define HAUL__PRESENT_BLOCK 16u
#define HAUL__PRESENT_UNIT 4u
#define HAUL__PRESENT_SPAN ((uintptr_t)1 << HAUL__PRESENT_SHIFT) /* of a page */
#define HAUL__PRESENT_PAGES 16u                                  /* in a block */
#define HAUL__PRESENT_PARTS 8u                                   /* words of bits in a page */

/* In haul__page_piece.place. */
#define HAUL__PRESENT_LAST 12u                    /* where the last byte stands */
#define HAUL__PRESENT_BEGUN ((uint32_t)1 << 24)   /* the range began in an earlier page */
#define HAUL__PRESENT_GOES_ON ((uint32_t)1 << 25) /* it ends in a later one */

/* A range in a page. */
typedef struct haul__page_piece {
    uintptr_t delta;
    uint32_t place; /* its first byte, its last one << HAUL__PRESENT_LAST, and flags */
    uint32_t group;
} haul__page_piece;

typedef struct haul__present_page {
    uint32_t bits[HAUL__PRESENT_PARTS];
    uint16_t before[HAUL__PRESENT_PARTS]; /* pieces that begin before each word of bits */
    uint32_t count, is_crowded;
    uint32_t class; /* of its memory: that gives the room for pieces */
    uint32_t unused;
    haul__page_piece pieces[];
} haul__present_page;

typedef struct haul__present_slot {
    uintptr_t block; /* 1 + its number; 0: free */
    uintptr_t pages; /* of a `uintptr_t[HAUL__PRESENT_PAGES]` */
} haul__present_slot;

typedef struct haul__directory {
    size_t mask, used;
    haul__present_slot slots[];
} haul__directory;

/* The block's slot, or the free one where it would be. */
HAUL__INLINE size_t haul__present_slot_of(const haul__directory *directory, uintptr_t block)
{
    size_t at = (size_t)(haul__hash(block) >> 32) & directory->mask;
    while (directory->slots[at].block && directory->slots[at].block != block)
        at = (at + 1) & directory->mask;
    return at;
}

/* The first and the last byte of a piece. */
HAUL__INLINE unsigned haul__first_of(uint32_t place)
{
    return place & (HAUL__PRESENT_SPAN - 1);
}

HAUL__INLINE unsigned haul__last_of(uint32_t place)
{
    return place >> HAUL__PRESENT_LAST & (HAUL__PRESENT_SPAN - 1);
}

#endif
