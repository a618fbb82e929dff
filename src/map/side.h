/* Sides: memory of the blocks that need it, for byte masks, alignments, ends of strings, holes and
 * exclusions.
 */
#ifndef HAUL_MAP_SIDE_H
#define HAUL_MAP_SIDE_H

#include "map/ragged.h"

#define HAUL__FULL_MASK ((uint16_t)((1u << HAUL__GRANULE) - 1u)) /* every byte of a granule */
#define HAUL__LOW_MASK ((uint16_t)((1u << HAUL__WORD) - 1u))     /* of its first word */
#define HAUL__HIGH_MASK ((uint16_t)(HAUL__FULL_MASK & ~(unsigned)HAUL__LOW_MASK))
#define HAUL__HOLE_WORDS (HAUL__BLOCK_GRANULES / 64)
#define HAUL__HALVES_BYTES (HAUL__CELLS * sizeof(uint32_t))
#define HAUL__PREFIX_BYTES (HAUL__BLOCK_GRANULES / 2)

/* The bytes of objects with skipped bytes: all of them, skipped or not. */
typedef struct haul__holes {
    uint64_t granules[HAUL__HOLE_WORDS]; /* a bit a granule: some of its bytes are such */
    uint16_t *masks[16];                 /* a bit a byte; NULL: all bytes of these granules */
    uint64_t gaps[HAUL__HOLE_WORDS];     /* a bit a granule: it has a place, whatever it holds */
} haul__holes;

/* Byte masks, by pages: of live bytes, of excluded ones, or of first bytes of pointers. A page
 * without masks has prefixes, excluded words, or none of these pointers. */
typedef struct haul__byte_pages {
    uint16_t *masks[16]; /* a bit a byte */
} haul__byte_pages;

/* Words that are excluded from a direction, of a cell: [0] to the device, [1] back. */
typedef struct haul__excluded_words {
    uint64_t way[2]; /* a bit a word */
} haul__excluded_words;
#define HAUL__EXCLUDED_BYTES (HAUL__CELLS * sizeof(haul__excluded_words))

/* Bytes that are excluded from a direction. A byte is excluded if one of the three says so. */
typedef struct haul__exclusions {
    uint16_t whole[2];           /* a bit a page: all of its bytes */
    haul__excluded_words *words; /* HAUL__CELLS; NULL: none */
    haul__byte_pages *bytes[2];  /* of words that are excluded in part; NULL: none */
} haul__exclusions;

/* Byte masks have two forms. The end of a string or struct leaves a granule with its first bytes
 * live: four bits a granule are enough for that. All pages of a block have them in one piece of
 * memory. Anything else turns a page into full masks. */
typedef struct haul__side {
    uint8_t
        *prefix; /* a granule's number of leading live bytes; 0: see live bit; NULL: all are 0 */
    haul__byte_pages *pages; /* NULL: no page has full masks */
    uint32_t is_full;        /* a bit a page: it has full masks, and its prefixes mean nothing */
    /* of a mixed block, by cells: granules with one live word that no page tells (mixed.h); NULL:
     * there are none */
    uint32_t *halves;
    uint8_t unit[16]; /* log2 of the largest placement asked for on the page; 0: a granule's */
    uint16_t *ends;   /* offsets of strings' terminators in the block */
    size_t end_count, end_capacity;
    int has_special;            /* special words (found.h) stand in the block */
    haul__byte_pages *off_grid; /* where pointers off the grid begin; NULL: nowhere */
    haul__holes *holes;         /* NULL: there are none */
    haul__exclusions exclusions;
} haul__side;

/* The block's side, made if there is none; NULL: out of memory. */
haul__side *haul__map_side(haul__map *map, haul__block *block);
void haul__side_release(haul__map *map, haul__side *side);

/* Stores which bytes of a granule are live; in a mixed block, which bytes of its partial words. The
 * caller sets the granule's bit. 0: out of memory. */
int haul__mark_mask(haul__map *map, haul__block *block, unsigned granule, uint16_t mask);
/* Makes a granule that has a mask whole. */
void haul__side_set_whole(const haul__side *side, size_t granule);
/* The masks of a page, all 0 if they are new. NULL: out of memory. */
uint16_t *haul__page_masks(haul__map *map, haul__byte_pages **pages, size_t page);
/* Turns the page into full masks. 0: out of memory. */
int haul__make_masks(haul__map *map, haul__side *side, size_t page);

/* While marking: the mask of a granule in its page; 0: it has none. */
uint16_t haul__page_mask(const haul__block *block, unsigned granule);
/* At any time: the bytes of a granule that belong to objects with skipped bytes. */
uint16_t haul__hole_mask(const haul__block *block, unsigned granule);

/* A page's masks, as prefixes and as full masks; NULL: it has none in that form. */
HAUL__INLINE uint8_t *haul__prefix(const haul__block *block, size_t page)
{
    const haul__side *side = block->side;
    return side && side->prefix && !(side->is_full >> page & 1u)
               ? side->prefix + page * (HAUL__PAGE_GRANULES / 2)
               : NULL;
}

HAUL__INLINE uint16_t *haul__masks(const haul__block *block, size_t page)
{
    return block->side && block->side->pages ? block->side->pages->masks[page] : NULL;
}

/* The number of live bytes at the beginning of a granule of the page. */
HAUL__INLINE unsigned haul__prefix_of(const uint8_t *prefix, size_t granule)
{
    return (prefix[granule / 2] >> (granule % 2 * 4)) & 15u;
}

/* Sets the bits of bytes [first, end) of a page. */
HAUL__INLINE void haul__set_bytes(uint16_t *masks, size_t first, size_t end)
{
    while (first < end) {
        size_t granule = first / HAUL__GRANULE, low = first % HAUL__GRANULE;
        size_t high = end - granule * HAUL__GRANULE < HAUL__GRANULE ? end - granule * HAUL__GRANULE
                                                                    : HAUL__GRANULE;
        masks[granule] |= (uint16_t)(((1u << high) - 1u) & ~((1u << low) - 1u));
        first = (granule + 1) * HAUL__GRANULE;
    }
}

/* ---- After layout. */

/* Can granules of the block be live in part? */
HAUL__INLINE int haul__has_masks(const haul__block *block)
{
    return block->side != NULL || block->words != 0;
}

/* A bit for each group of four bits in eight bytes: the group is not 0. Compilers see that the sum
 * is one load, which they do not see in a loop. */
HAUL__INLINE uint32_t haul__fours(const uint8_t *prefix)
{
    uint64_t bits = (uint64_t)prefix[0] | (uint64_t)prefix[1] << 8 | (uint64_t)prefix[2] << 16 |
                    (uint64_t)prefix[3] << 24 | (uint64_t)prefix[4] << 32 |
                    (uint64_t)prefix[5] << 40 | (uint64_t)prefix[6] << 48 |
                    (uint64_t)prefix[7] << 56;
    bits = (bits | bits >> 1 | bits >> 2 | bits >> 3) & UINT64_C(0x1111111111111111);
    bits = (bits | bits >> 3) & UINT64_C(0x0303030303030303);
    bits = (bits | bits >> 6) & UINT64_C(0x000f000f000f000f);
    bits = (bits | bits >> 12) & UINT64_C(0x000000ff000000ff);
    return (uint32_t)((bits | bits >> 24) & 0xffffu);
}

/* The granules of a cell that have a mask in their page. */
HAUL__INLINE uint32_t haul__masked_by_page(const haul__block *block, unsigned number)
{
    const size_t page = number / HAUL__PAGE_CELLS, first = number % HAUL__PAGE_CELLS * 32u;
    const uint8_t *prefix = haul__prefix(block, page);
    const uint16_t *masks = haul__masks(block, page);
    uint32_t masked = 0;
    unsigned at;
    for (at = 0; masks && at < 32; at++)
        masked |= (uint32_t)(masks[first + at] != HAUL__FULL_MASK) << at;
    return prefix ? haul__fours(prefix + first / 2) | haul__fours(prefix + first / 2 + 8) << 16
                  : masked;
}

/* For a mixed block: the granules of a cell with one live word that no page tells. */
HAUL__INLINE uint32_t haul__halves(const haul__block *block, unsigned number)
{
    return block->side && block->side->halves ? block->side->halves[number] : 0;
}

/* The granules of a cell that may be live in part, in a block with haul__has_masks. */
HAUL__INLINE uint32_t haul__masked(const haul__block *block, unsigned number)
{
    if (HAUL__UNLIKELY(block->words) && !haul__masks(block, number / HAUL__PAGE_CELLS))
        return haul__ragged_halves(block, number);
    return haul__masked_by_page(block, number) | haul__halves(block, number);
}

#endif
