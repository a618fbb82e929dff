/* Blocks of the map: cells, forms, and the place of a byte.
 *
 * A block's form says how its slots (the words that are described pointers) are stored, and so how
 * large the block is:
 *
 *   full      plain bytes, all of them live: a head and nothing else
 *   bare      no slots: cells
 *   uniform   the slots of objects of one simple type: cells, and a bit for each object's start
 *   ragged    uniform, and the objects begin or end within a granule (ragged.h)
 *   mixed     anything: cells, and 64 slot bits for each (mixed.h)
 *
 * A block begins full or bare. A full block stays full. A bare one may turn uniform, or ragged
 * while it is empty. Each of these three may turn mixed. None turns back.
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
    uint32_t aux;  /* after layout: the low 32 bits of the cell's rank */
} haul__cell;

/* Forms with cells have odd numbers: the lowest bit of a table's entry tells them from full blocks
 * and from no block. HAUL__FIRST_UNIFORM and every second number above it are uniform, one for each
 * simple type. */
enum {
    HAUL__MIXED = 1,
    HAUL__FULL = 2,
    HAUL__BARE = 3,
    HAUL__FIRST_UNIFORM = 5,
    HAUL__LAST_UNIFORM = 31,
    HAUL__NO_FORM = 32
};
#define HAUL__FORM_MASK ((uintptr_t)31)
#define HAUL__BLOCK_ALIGNMENT ((size_t)32)

/* A simple type: its objects have whole words and slots on the grid, so a start tells all marks. */
#define HAUL__SIMPLE_BYTES ((size_t)4096)
#define HAUL__SIMPLE_SLOTS 64u /* gather and scatter list them */
#define HAUL__SIMPLE_CELLS (HAUL__SIMPLE_BYTES / HAUL__CELL_BYTES)
typedef uint64_t haul__far[HAUL__SIMPLE_CELLS - 1];
typedef struct haul__simple {
    uint64_t slots;    /* among an object's first 64 words, a bit a word */
    uint32_t granules; /* the object's granules in those 64 words */
    uint32_t bytes;
    uint32_t words; /* of an object, if its blocks are ragged; else 0 */
    haul__far *far; /* slots among its further words, 64 at a time; NULL: there are none */
} haul__simple;

typedef struct haul__block {
    uint64_t base; /* granules placed before this block */
    /* of its pointers at the first pack (haul__hash_add); while it is marked: granules from the
     * beginning of a large array to the block's end, 0 if none begins here (haul__mark_array) */
    uint64_t hash;
    /* uniform: for an object that reaches in from the block before, its number of granules there
     * (ragged: of words), else 0; full: the rank of the first cell */
    uint64_t carry;
    struct haul__side *side; /* NULL: it needs none */
    unsigned char *turns;    /* NULL: it has none (turns.h) */
    uint32_t form;
    uint16_t words; /* of an object, if it is ragged; else 0 */
    /* after layout: granules of the gap before the cell `gap_cell`, which aligns a large array; 0:
     * there is none */
    uint8_t gap, gap_cell;
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

/* The same for the slots of that cell, if the block is mixed. */
HAUL__INLINE uintptr_t haul__slots_place(uintptr_t entry, uintptr_t address)
{
    return haul__cell_place(entry, address) + HAUL__CELLS * sizeof(haul__cell);
}

/* The cell of an address, in a block that is not full. */
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
    return block->form >= HAUL__FIRST_UNIFORM;
}

/* The slots among 64 words of an object: word 64 * cell and those behind it. */
HAUL__INLINE uint64_t haul__simple_slots(const haul__simple *simple, size_t cell)
{
    if (cell == 0)
        return simple->slots;
    return simple->far && cell < HAUL__SIMPLE_CELLS ? (*simple->far)[cell - 1] : 0;
}

/* The slots among 64 words of an object, from any word on. */
HAUL__INLINE uint64_t haul__slots_from(const haul__simple *simple, size_t word)
{
    const unsigned shift = (unsigned)(word % 64);
    const uint64_t slots = haul__simple_slots(simple, word / 64) >> shift;
    return shift ? slots | haul__simple_slots(simple, word / 64 + 1) << (64 - shift) : slots;
}

/* The number of slots of an object from one of its words on. */
HAUL__INLINE size_t haul__count_slots(const haul__simple *simple, size_t word)
{
    size_t count = 0;
    for (; word << HAUL__WORD_SHIFT < simple->bytes; word += 64)
        count += haul__bits64(haul__slots_from(simple, word));
    return count;
}

/* The hash of a block's pointers, in order: a polynomial at an odd number. An exchange of two
 * pointers always changes it; any other change goes unseen only by chance. */
HAUL__INLINE uint64_t haul__hash_add(uint64_t hash, uintptr_t value)
{
    return hash * UINT64_C(0x9e3779b97f4a7c15) + value;
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
