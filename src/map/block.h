/* Blocks of the map: cells, forms, and the place of a byte.
 *
 * A block has a form, which says how its slots (the words that are described pointers) are known,
 * and so how large it is:
 *
 *   full      plain bytes, all of them live: a head and nothing else
 *   bare      no slots: cells
 *   uniform   the slots of objects of one simple type: cells, and a bit for each object's start
 *   ragged    uniform, and the objects begin or end within a granule (ragged.h)
 *   mixed     anything: cells, and 64 slot bits for each (mixed.h)
 *
 * A block begins full or bare. It turns from bare to uniform (while it is empty, to ragged), and
 * from any of these to mixed, never back.
 *
 * While a block is marked, its form says what stands in a cell:
 *
 *             cell.live             cell.aux
 *   bare      whole live granules   granules of which some bytes are live; the side has their masks
 *   uniform   live granules         granules where objects start
 *   ragged    64 bits: words where objects start
 *   mixed     64 bits: live words
 *
 * Layout puts all live granules into `live` and the cell's rank into `aux`; starts move behind the
 * cells.
 */
#ifndef HAUL_MAP_BLOCK_H
#define HAUL_MAP_BLOCK_H

#include "map/address.h"

typedef struct haul__cell {
    uint32_t live; /* a bit a granule */
    uint32_t aux;  /* after layout: the low 32 bits of the number of granules placed before */
} haul__cell;

/* Forms with cells are odd: one bit of a table's entry tells them from full blocks and from no
 * block. HAUL__FIRST_KIND and every second number above it are uniform, one for each simple
 * type. */
enum {
    HAUL__MIXED = 1,
    HAUL__FULL = 2,
    HAUL__BARE = 3,
    HAUL__FIRST_KIND = 5,
    HAUL__LAST_KIND = 31,
    HAUL__NO_FORM = 32
};
#define HAUL__FORM_MASK ((uintptr_t)31)
#define HAUL__BLOCK_ALIGNMENT ((size_t)32)

/* An object of a simple type is known by its start: it has whole words, and slots on the grid. */
#define HAUL__SIMPLE_BYTES ((size_t)4096)
#define HAUL__SIMPLE_SLOTS 64u /* gather and scatter list them */
#define HAUL__SIMPLE_CELLS (HAUL__SIMPLE_BYTES / HAUL__CELL_BYTES)
typedef uint64_t haul__far[HAUL__SIMPLE_CELLS - 1];
typedef struct haul__simple {
    uint64_t slots;    /* in the first cell of an object that starts a cell */
    uint32_t granules; /* the object's whole granules in that cell */
    uint32_t bytes;
    uint32_t words; /* of an object, if its blocks are ragged; else 0 */
    haul__far *far; /* slots in the cells behind; NULL: there are none */
} haul__simple;

typedef struct haul__block {
    uint64_t base;  /* granules placed before this block */
    uint64_t guard; /* hash of its pointers at the first pack (haul__guard_add) */
    /* uniform: granules (ragged: words) that the block before has of an object that ends here;
     * full: the rank of its first cell */
    uint64_t carry;
    struct haul__side *side; /* NULL: it needs none */
    uint32_t form;
    uint32_t words; /* of an object, if it is ragged; else 0 */
#if HAUL__WORD_SHIFT == 2u
    uint32_t unused; /* keeps each cell within one cache line */
#endif
    /* HAUL__CELLS, or none in a full block; then haul__slots, haul__starts or haul__word_starts */
    haul__cell cells[];
} haul__block;

/* The block of an entry of the table; NULL: there is none. */
HAUL__INLINE haul__block *haul__block_in(uintptr_t entry)
{
    return (haul__block *)(entry & ~HAUL__FORM_MASK);
}

/* The address of a cell in the block of an entry, to be prefetched only: the entry may be empty. */
HAUL__INLINE uintptr_t haul__cell_place(uintptr_t entry, uintptr_t address)
{
    return (uintptr_t)haul__block_in(entry) + offsetof(haul__block, cells) +
           haul__cell_number(address) * sizeof(haul__cell);
}

/* Of a block that is not full. */
HAUL__INLINE haul__cell *haul__cell_of(haul__block *block, uintptr_t address)
{
    return &block->cells[haul__cell_number(address)];
}

/* The slot bits of a mixed block, 64 for each cell: bit w says that word w is a slot. */
HAUL__INLINE uint64_t *haul__slots(const haul__block *block)
{
    return (uint64_t *)(uintptr_t)&block->cells[HAUL__CELLS];
}

/* The starts of a uniform block after layout, one bit a granule. */
HAUL__INLINE uint32_t *haul__starts(const haul__block *block)
{
    return (uint32_t *)(uintptr_t)&block->cells[HAUL__CELLS];
}

/* The starts of a ragged block after layout, one bit a word. */
HAUL__INLINE uint64_t *haul__word_starts(const haul__block *block)
{
    return (uint64_t *)(uintptr_t)&block->cells[HAUL__CELLS];
}

HAUL__INLINE uint64_t haul__load_cell(const haul__cell *cell)
{
    uint64_t marks;
    memcpy(&marks, cell, sizeof marks);
    return marks;
}

HAUL__INLINE void haul__store_cell(haul__cell *cell, uint64_t marks)
{
    memcpy(cell, &marks, sizeof marks);
}

HAUL__INLINE int haul__is_uniform(const haul__block *block)
{
    return block->form >= HAUL__FIRST_KIND;
}

/* The slots of an object that starts cell 0, in one of its cells. */
HAUL__INLINE uint64_t haul__simple_slots(const haul__simple *kind, size_t cell)
{
    if (cell == 0)
        return kind->slots;
    return kind->far && cell < HAUL__SIMPLE_CELLS ? (*kind->far)[cell - 1] : 0;
}

/* The slots of an object in the 64 words from one of its words on. */
HAUL__INLINE uint64_t haul__slots_from(const haul__simple *kind, size_t word)
{
    const unsigned shift = (unsigned)(word % 64);
    const uint64_t slots = haul__simple_slots(kind, word / 64) >> shift;
    return shift ? slots | haul__simple_slots(kind, word / 64 + 1) << (64 - shift) : slots;
}

/* The hash of a block's pointers, read in order: a polynomial in an odd number. It always tells
 * that two pointers changed places; any other change it misses only by chance. */
HAUL__INLINE uint64_t haul__guard_add(uint64_t guard, uintptr_t value)
{
    return guard * UINT64_C(0x9e3779b97f4a7c15) + value;
}

/* ---- After layout. */

/* The granules of a cell that have a place. */
HAUL__INLINE uint32_t haul__live(const haul__block *block, unsigned number)
{
    return block->form == HAUL__FULL ? UINT32_MAX : block->cells[number].live;
}

HAUL__INLINE int haul__is_placed(const haul__block *block, uintptr_t address)
{
    return (int)(haul__live(block, haul__cell_number(address)) >> haul__granule_in_cell(address)) &
           1;
}

/* Granules placed before a cell. */
HAUL__INLINE uint64_t haul__cell_rank(const haul__block *block, unsigned number)
{
    if (HAUL__UNLIKELY(block->form == HAUL__FULL))
        return block->carry + number * 32u;
    return block->base + (uint32_t)(block->cells[number].aux - (uint32_t)block->base);
}

/* The place of a placed address in bytes of the arena. */
HAUL__INLINE uint64_t haul__place(const haul__block *block, uintptr_t address)
{
    unsigned number = haul__cell_number(address);
    uint32_t below =
        haul__live(block, number) & (((uint32_t)1 << haul__granule_in_cell(address)) - 1u);
    return ((haul__cell_rank(block, number) + haul__bits32(below)) << HAUL__GRANULE_SHIFT) +
           (address & (HAUL__GRANULE - 1));
}

#endif
