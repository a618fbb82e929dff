/* The records of a present table, for the files that know them: those that change them
 * (present_change.h), and present_look_up.c.
 *
 *   directory   a hash of the 64 KiB blocks that hold ranges
 *   block       an entry for each of its 16 pages
 *   record      of a page: its ranges, in order
 *
 * The ranges of a page are a row if they are of one group, of one size, and at equal distances on
 * both sides: the elements of an array, the nodes that malloc gives a program in turn, a range that
 * covers the page. Its entry tells all, so a look-up reads two cache lines: one of the directory,
 * one of the block. If such ranges have come to all pages of an empty block together, and none of
 * the pages has changed since, the slot of the block tells them, too, and a look-up reads that line
 * alone: 10^6 nodes of 128 bytes have 256 KiB of slots, and 1 MiB of entries.
 *
 * The entry of another page has a bit for each granule of 32 bytes in which a range begins. The
 * number of bits up to an address gives the range that could hold it: a look-up reads one line of
 * the record, too. Two ranges from malloc begin in two granules. If two begin in one, the page is
 * crowded, and its record is searched.
 *
 * Even ranges of an empty page are not written to its record before others come or some of them
 * leave: of the device's addresses, nearly none ever are.
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
#define HAUL__PRESENT_UNIT 5u
#define HAUL__PRESENT_SPAN ((uintptr_t)1 << HAUL__PRESENT_SHIFT) /* of a page */
#define HAUL__PRESENT_PAGES 16u                                  /* in a block */
#define HAUL__PRESENT_PARTS 4u                                   /* words of bits in a page */

/* In haul__page_entry.word, beside the address of a record. */
#define HAUL__PRESENT_ROW ((uintptr_t)1)
#define HAUL__PRESENT_ROW_GOES_ON ((uintptr_t)2) /* its last range ends in a later page */
#define HAUL__PRESENT_CROWDED ((uintptr_t)4)
#define HAUL__PRESENT_FLAGS ((uintptr_t)7)

/* In haul__page_row.shape: bytes of a range less 1, the distance of two, their number less 1. */
#define HAUL__PRESENT_STRIDE 12u
#define HAUL__PRESENT_COUNT 24u
#define HAUL__PRESENT_INVERSE 26u /* x * inverse >> this: x / stride, for x below 2^13 */
#define HAUL__BLOCK_INVERSE 30u   /* the same for x below 2^17 */

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

/* The record of a page. */
typedef struct haul__present_page {
    uint32_t count; /* of pieces; 0, of a row: they are not written, but have room */
    uint32_t class; /* of its memory: that gives the room for pieces */
    uint64_t unused;
    haul__page_piece pieces[];
} haul__present_page;

typedef struct haul__page_row {
    uintptr_t delta; /* of the first range */
    uint32_t group, shape;
    uint32_t inverse; /* of the distance; 0: there is one range */
    int16_t begin;    /* of the first range, which may begin before the page */
    int16_t step;     /* from the delta of a range to that of the next one */
} haul__page_row;

typedef struct haul__page_bits {
    uint32_t of[HAUL__PRESENT_PARTS];
    uint8_t before[HAUL__PRESENT_PARTS]; /* pieces that begin before each word of bits */
} haul__page_bits;

/* A page in a block. */
typedef struct haul__page_entry {
    uintptr_t word; /* of its record, and flags; 0: it holds no range */
    union {
        haul__page_row row;
        haul__page_bits bits; /* of a page that is neither a row nor crowded */
    } as;
} haul__page_entry;

/* A block all of whose pages are rows of the same even ranges. All members are words, so a slot has
 * as many bytes as a power of two. */
typedef struct haul__block_row {
    uintptr_t inverse; /* as of haul__page_row, for HAUL__BLOCK_INVERSE; 0: it is no such row */
    uintptr_t begin, delta; /* of the first range, which may begin before the block */
    uintptr_t step;         /* from the delta of a range to that of the next one */
    uintptr_t shape;        /* bytes of a range less 1, the distance of two */
    uintptr_t last;         /* the number of the last range */
} haul__block_row;

typedef struct haul__present_slot {
    uintptr_t block; /* 1 + its number; 0: free */
    uintptr_t pages; /* of a `haul__page_entry[HAUL__PRESENT_PAGES]` */
    haul__block_row row;
} haul__present_slot;

/* Places of slots are bytes: a look-up waits for no shift. A slot lies in one cache line. */
typedef struct haul__directory {
    size_t last, used; /* the place of its last slot; its blocks */
    unsigned char apart[HAUL__LINE - 2 * sizeof(size_t)];
    haul__present_slot slots[];
} haul__directory;

HAUL__INLINE haul__present_slot *haul__present_slot_in(const haul__directory *directory,
                                                       size_t place)
{
    return (haul__present_slot *)((uintptr_t)directory->slots + place);
}

/* Where the slot of an address's block is, or else behind. */
HAUL__INLINE size_t haul__present_home(const haul__directory *directory, uintptr_t address)
{
    return (size_t)(haul__hash(address >> HAUL__PRESENT_BLOCK) >> 28) & directory->last;
}

HAUL__INLINE size_t haul__present_behind(const haul__directory *directory, size_t place)
{
    return (place + sizeof(haul__present_slot)) & directory->last;
}

/* The slot of an address's block, or the free one where it would be. */
HAUL__INLINE haul__present_slot *haul__present_slot_of(const haul__directory *directory,
                                                       uintptr_t address)
{
    const uintptr_t block = (address >> HAUL__PRESENT_BLOCK) + 1;
    size_t place = haul__present_home(directory, address);
    haul__present_slot *slot;
    for (slot = haul__present_slot_in(directory, place); slot->block && slot->block != block;
         slot = haul__present_slot_in(directory, place))
        place = haul__present_behind(directory, place);
    return slot;
}

/* Ranges of a list, of equal bytes at equal distances on both sides. */
typedef struct haul__even {
    uintptr_t begin; /* of the first range, on the table's side */
    size_t bytes, stride, count;
    uintptr_t delta, step; /* of the first range; from its delta to that of the next one */
    uint32_t group;
} haul__even;

/* Those of them that have bytes in a page. */
typedef struct haul__even_part {
    size_t first; /* their first one */
    uint32_t count;
    int32_t begin; /* where it begins, from the beginning of the page */
    int goes_on;   /* the last one ends in a later page */
} haul__even_part;

/* present_row.c: describes the pieces of a page; 0: they are no row. */
int haul__present_row(const haul__page_piece *pieces, uint32_t count, haul__page_row *row);
/* Describes even ranges in a page; 0: they are too many, or too far apart on the other side. */
int haul__present_row_of(const haul__even *ranges, const haul__even_part *part,
                         haul__page_row *row);
/* Piece i of a page that a row describes. `goes_on`: its last one does. */
haul__page_piece haul__present_piece_of(const haul__page_row *row, int goes_on, uint32_t i);

/* The place of a piece by its range's begin, from the beginning of the page. */
HAUL__INLINE uint32_t haul__place_in_page(int32_t begin, size_t bytes, int goes_on)
{
    const int32_t span = (int32_t)HAUL__PRESENT_SPAN, end = begin + (int32_t)bytes;
    return (uint32_t)(begin < 0 ? 0 : begin) |
           (uint32_t)(end > span ? span - 1 : end - 1) << HAUL__PRESENT_LAST |
           (begin < 0 ? HAUL__PRESENT_BEGUN : 0) | (goes_on ? HAUL__PRESENT_GOES_ON : 0);
}

HAUL__INLINE unsigned haul__row_bytes(const haul__page_row *row)
{
    return (row->shape & (uint32_t)(HAUL__PRESENT_SPAN - 1)) + 1;
}

HAUL__INLINE unsigned haul__row_stride(const haul__page_row *row)
{
    return row->shape >> HAUL__PRESENT_STRIDE & (uint32_t)(HAUL__PRESENT_SPAN - 1);
}

HAUL__INLINE uint32_t haul__row_count(const haul__page_row *row)
{
    return (row->shape >> HAUL__PRESENT_COUNT) + 1;
}

/* present_look_up.c: the entry of an address's page; NULL: there is none. For the thread that may
 * change the table. */
const haul__page_entry *haul__present_entry_held(haul__present *table, uintptr_t address);
/* The range of a byte of the page, for that thread; 0: there is none. */
int haul__present_find_in(const haul__page_entry *entry, uintptr_t address,
                          haul__found_range *found);

HAUL__INLINE size_t haul__present_page_of(uintptr_t address)
{
    return address >> HAUL__PRESENT_SHIFT & (HAUL__PRESENT_PAGES - 1);
}

/* NULL: one range covers the page, or there is none. */
HAUL__INLINE haul__present_page *haul__present_record_of(uintptr_t word)
{
    return (haul__present_page *)(word & ~HAUL__PRESENT_FLAGS);
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
