/* Named granules: which of a program's hints name each granule of the source.
 *
 * A hint has a bit a granule, in pages of one block each, made on demand: 0.8 % of the bytes that
 * it names. Bits are ORs, so neither their order nor a range that is named twice matters. A hash
 * finds a page by its block and hint. It has a table for each of 32 parts of the address space, so
 * that threads which have different parts need no lock.
 */
#ifndef HAUL_MAP_NAMED_H
#define HAUL_MAP_NAMED_H

#include "base/memory.h"
#include "map/address.h"

/* Every 32nd range of 256 KiB is of one part. */
#define HAUL__PARTS 32u
#define HAUL__PART_SHIFT 18u

HAUL__INLINE unsigned haul__part_number(uintptr_t address)
{
    return (unsigned)(address >> HAUL__PART_SHIFT) % HAUL__PARTS;
}

/* Of a page: a bit a granule, and a word behind them, so that two words can always be written. */
#define HAUL__NAMED_WORDS (HAUL__CELLS + 1)

typedef struct haul__named_page {
    uint64_t key;   /* 1 + the number of the block, times hints, + the hint's; 0: free */
    uint32_t *bits; /* by cells; NULL: all granules of the block are named */
} haul__named_page;

/* Pages side by side: a heap of small objects needs thousands, and each memory page of the system
 * that holds a few of them costs a miss of the translation buffer. */
typedef struct haul__named_slab {
    struct haul__named_slab *before;
    size_t pages, used;
    uint32_t bits[]; /* of its pages */
} haul__named_slab;

typedef struct haul__named_part {
    haul__named_page *at; /* open addressing, at most half full; NULL: there are no pages */
    size_t count, capacity;
    haul__named_slab *slab; /* the last one; NULL: there is none */
} haul__named_part;

typedef struct haul__named_granules {
    const haul_allocator *allocator;
    size_t hint_count;
    haul__named_part part[HAUL__PARTS];
} haul__named_granules;

/* An empty set of names, for `hint_count` hints. NULL: out of memory. */
haul__named_granules *haul__named_open(const haul_allocator *allocator, size_t hint_count);
/* NULL: does nothing. */
void haul__named_close(haul__named_granules *named);
/* The memory that it takes; 0 of NULL. */
size_t haul__named_bytes(const haul__named_granules *named);

/* Names the granules of bytes [first, end), which is not empty. `hint`: its number, from 0 on. A
 * thread that calls it must have the part that the bytes lie in. 0: out of memory. */
int haul__hint_bytes(haul__named_granules *named, size_t hint, uintptr_t first, uintptr_t end);

HAUL__INLINE uint64_t haul__named_key(const haul__named_granules *named, uint32_t block,
                                      size_t hint)
{
    return 1 + block * (uint64_t)named->hint_count + hint;
}

/* Where a search for the key begins: neighbours in the address space are neighbours in the table,
 * which is dense for a heap of one piece. */
HAUL__INLINE size_t haul__named_begin(const haul__named_granules *named,
                                      const haul__named_part *part, uint32_t block, size_t hint)
{
    const unsigned shift = HAUL__PART_SHIFT - HAUL__BLOCK_SHIFT;
    const size_t number =
        (block & (((uint32_t)1 << shift) - 1)) | block / HAUL__PARTS >> shift << shift;
    return (number * named->hint_count + hint) & (part->capacity - 1);
}

/* The bits of a range that is at most as long as a cell. */
typedef struct haul__naming {
    uint32_t *at; /* two words of a page */
    uint64_t bits;
} haul__naming;

/* Finds and fetches the bits of such a range. 0: haul__hint_bytes must name it. */
HAUL__INLINE int haul__fetch_naming(const haul__named_granules *named, size_t hint, uintptr_t first,
                                    size_t bytes, haul__naming *naming)
{
    const uint32_t block = haul__block_number(first);
    const haul__named_part *part = &named->part[haul__part_number(first)];
    const unsigned granule = haul__granule_in_block(first);
    const unsigned count = haul__granule_in_block(first + bytes - 1) - granule + 1;
    const haul__named_page *page;
    if (HAUL__UNLIKELY(!part->capacity || count > 32))
        return 0;
    page = &part->at[haul__named_begin(named, part, block, hint)];
    if (HAUL__UNLIKELY(page->key != haul__named_key(named, block, hint) || !page->bits))
        return 0;
    naming->at = page->bits + granule / 32;
    naming->bits = (UINT64_MAX >> (64 - count)) << (granule % 32);
    haul__prefetch_write((uintptr_t)naming->at);
    return 1;
}

HAUL__INLINE void haul__do_naming(const haul__naming *naming)
{
    naming->at[0] |= (uint32_t)naming->bits;
    naming->at[1] |= (uint32_t)(naming->bits >> 32);
}

/* The granules of a block that a hint names, by cells. 0: none; *bits NULL: all. */
int haul__named_in(const haul__named_granules *named, uint32_t block, size_t hint,
                   const uint32_t **bits);

#endif
