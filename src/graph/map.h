/* The map: live bits, slot bits and ranks over the source's address space.
 *
 *   address   | block number | cell (7) | granule (5) | byte (4) |        on a 64-bit machine
 *
 *   table     one pointer for each 64 KiB block of address space: flat, in a reserved range of zeros that costs memory
 *             only where blocks are; a hash where no range is to be had
 *   block     128 cells, made when the first mark falls into its 64 KiB
 *   cell      16 bytes for 512 bytes of source: 64 slot bits (one a word), 32 live bits (one a granule), and a rank
 *   side      made only for blocks that need it: byte masks of granules that are partly live, larger alignments, the
 *             ends of strings
 *
 * A granule is two pointers wide (16 bytes; 8 where pointers have 4, and then a block is 32 KiB and so on). Marks are
 * ORs, so no order of discovery can change them; *bytes* are marked, not objects, so that aliases, interior pointers,
 * overlaps and neighbours need no rule of their own.
 *
 * While marking, a cell's `aux` has a bit for each granule of which only some bytes are live; their byte masks stand
 * in the side. Layout folds these into `live` and puts the cell's rank into `aux`. From then on
 *
 *   place(address) = granule size * (cell.aux + live bits below the address's) + address mod granule
 *
 * which is one look-up in the table (a few KiB, always in the first-level cache) and one in the cell. All that a
 * pointer needs stands in one 16-byte cell, and so in one cache line: this is what marking and translation cost.
 * Bookkeeping is 16 bytes for 512 bytes of address range, 3.1 %.
 */
#ifndef HAUL_GRAPH_MAP_H
#define HAUL_GRAPH_MAP_H

#include "base/base.h"

#if UINTPTR_MAX > 0xffffffffu
#define HAUL__WORD_SHIFT 3u
#define HAUL__ADDRESS_BITS 48u
#else
#define HAUL__WORD_SHIFT 2u
#define HAUL__ADDRESS_BITS 32u
#endif
#define HAUL__GRANULE_SHIFT (HAUL__WORD_SHIFT + 1u)
#define HAUL__CELL_SHIFT (HAUL__GRANULE_SHIFT + 5u)
#define HAUL__BLOCK_SHIFT (HAUL__CELL_SHIFT + 7u)
#define HAUL__PAGE_SHIFT 12u /* alignments are kept by pages */

#define HAUL__WORD ((size_t)1 << HAUL__WORD_SHIFT)
#define HAUL__GRANULE ((size_t)1 << HAUL__GRANULE_SHIFT)
#define HAUL__CELL_BYTES ((size_t)1 << HAUL__CELL_SHIFT)
#define HAUL__BLOCK_BYTES ((size_t)1 << HAUL__BLOCK_SHIFT)
#define HAUL__CELLS 128u
#define HAUL__BLOCK_GRANULES ((size_t)4096)
#define HAUL__HOLE_BYTES (HAUL__BLOCK_GRANULES / 8)
#define HAUL__PAGES (HAUL__BLOCK_BYTES >> HAUL__PAGE_SHIFT)
#define HAUL__PAGE_GRANULES ((size_t)1 << (HAUL__PAGE_SHIFT - HAUL__GRANULE_SHIFT))
#define HAUL__PAGE_CELLS (HAUL__CELLS / (unsigned)HAUL__PAGES)
#define HAUL__FULL_MASK ((uint16_t)((1u << HAUL__GRANULE) - 1u)) /* every byte of a granule */

/* Addresses below are no objects of anybody's; addresses above belong to no process. */
#define HAUL__LOWEST ((uintptr_t)4096)
#define HAUL__HIGHEST                                                                                                 \
    (HAUL__ADDRESS_BITS >= 8 * sizeof(void *) ? UINTPTR_MAX - 4096                                                    \
                                              : ((uintptr_t)1 << (HAUL__ADDRESS_BITS % (8 * sizeof(void *)))) - 1)

typedef struct haul__cell {
    uint64_t slots; /* bit w: word w of the cell is a described pointer */
    uint32_t live;  /* bit g: granule g of the cell is described (while marking: all of it) */
    uint32_t aux;   /* while marking: granules partly live; after layout: granules placed before (its low 32 bits) */
} haul__cell;

/* A page of byte masks, in one of two forms. Strings and structs of odd sizes leave a granule with its first bytes
 * live: four bits a granule are enough for that. Anything else turns the page into full masks. */
typedef struct haul__side {
    uint8_t *prefix[16];   /* four bits a granule: number of leading live bytes; 0: see live bit */
    uint16_t *masks[16];   /* a bit a byte */
    uint8_t unit[16];      /* log2 of the largest placement asked for on the page, 0: none above a granule */
    uint16_t *ends;        /* where terminators of strings stand, in bytes from the block's start */
    size_t end_count, end_capacity;
    int has_odd;           /* pointers off the grid lie here */
    uint64_t *holes;       /* a bit a granule: part of an object that has skipped bytes */
} haul__side;

typedef struct haul__block {
    haul__cell cells[HAUL__CELLS];
    uint64_t base;  /* granules placed before this block */
    uint64_t guard; /* sum over its pointers as first packed: see haul__guard_term */
    haul__side *side;
} haul__block;

typedef struct haul__hashed {
    haul__block *block; /* NULL: free */
    uint32_t number;
} haul__hashed;

typedef struct haul__map {
    haul_allocator allocator;
    haul__block **flat; /* NULL: use hashed */
    haul__hashed *hashed;
    size_t hashed_capacity; /* a power of two */
    uint32_t *numbers;      /* of the blocks: in order of their making; after layout, of address */
    size_t block_count, number_capacity;
    haul__block *spare;     /* blocks kept for reuse, a chain through their first bytes */
    int has_units;          /* some page asks for more than a granule */
    int is_wide;            /* after layout: 2^32 granules or more */
    size_t side_bytes;      /* all that hangs on sides */
} haul__map;

void haul__map_open(haul__map *map, const haul_allocator *allocator);
void haul__map_close(haul__map *map);
/* Forgets every mark; keeps the table and the blocks for the next use. */
void haul__map_clear(haul__map *map);
/* Host memory that the map holds: blocks, sides, numbers, touched pages of the table. */
size_t haul__map_bytes(const haul__map *map);

haul__block *haul__map_find_hashed(const haul__map *map, uint32_t number);
/* The block of an address, made if there is none; NULL: out of memory. */
haul__block *haul__map_touch(haul__map *map, uintptr_t address);
haul__side *haul__map_side(haul__map *map, haul__block *block);

HAUL__INLINE uint32_t haul__block_number(uintptr_t address)
{
    return (uint32_t)(address >> HAUL__BLOCK_SHIFT);
}

HAUL__INLINE uintptr_t haul__block_address(uint32_t number)
{
    return (uintptr_t)number << HAUL__BLOCK_SHIFT;
}

/* The block of an address that is at most HAUL__HIGHEST; NULL: nothing is marked there. */
HAUL__INLINE haul__block *haul__map_find(const haul__map *map, uintptr_t address)
{
    if (HAUL__LIKELY(map->flat != NULL))
        return map->flat[address >> HAUL__BLOCK_SHIFT];
    return haul__map_find_hashed(map, haul__block_number(address));
}

HAUL__INLINE haul__cell *haul__cell_of(haul__block *block, uintptr_t address)
{
    return &block->cells[(address >> HAUL__CELL_SHIFT) & (HAUL__CELLS - 1)];
}

HAUL__INLINE unsigned haul__granule_in_cell(uintptr_t address)
{
    return (unsigned)(address >> HAUL__GRANULE_SHIFT) & 31u;
}

HAUL__INLINE unsigned haul__granule_in_block(uintptr_t address)
{
    return (unsigned)((address >> HAUL__GRANULE_SHIFT) & (HAUL__BLOCK_GRANULES - 1));
}

HAUL__INLINE unsigned haul__word_in_cell(uintptr_t address)
{
    return (unsigned)(address >> HAUL__WORD_SHIFT) & 63u;
}

/* The live bytes of a granule that is not wholly live; while marking. */
uint16_t haul__partial_mask(const haul__block *block, unsigned granule);
/* The live bytes of any placed granule; after layout. */
uint16_t haul__byte_mask(const haul__block *block, unsigned granule);

/* What one slot adds to its block's guard: its value times a number that belongs to its place. Sums of two different
 * sets of pointers are equal by chance only, and need no order. */
HAUL__INLINE uint64_t haul__guard_term(unsigned cell, unsigned word, uintptr_t value)
{
    uint64_t key = ((uint64_t)(cell + 1) * UINT64_C(0x9e3779b97f4a7c15)) ^
                   ((uint64_t)(word + 1) * UINT64_C(0xd1b54a32d192ed03));
    return (uint64_t)value * (key | 1u);
}

/* After layout. Has an address's granule a place? */
HAUL__INLINE int haul__is_placed(const haul__block *block, uintptr_t address)
{
    const haul__cell *cell = &block->cells[(address >> HAUL__CELL_SHIFT) & (HAUL__CELLS - 1)];
    return (int)(cell->live >> haul__granule_in_cell(address)) & 1;
}

/* Granules placed before a cell, by its block. */
HAUL__INLINE uint64_t haul__cell_rank(const haul__block *block, const haul__cell *cell)
{
    return block->base + (uint32_t)(cell->aux - (uint32_t)block->base);
}

/* The place of an address in bytes of the arena, by its cell alone: what pointers are translated with. Only arenas of
 * 2^32 granules (64 GiB) and more need the block as well. */
HAUL__INLINE uint64_t haul__place_in(const haul__map *map, const haul__cell *cell, uintptr_t address)
{
    uint32_t below = cell->live & (((uint32_t)1 << haul__granule_in_cell(address)) - 1u);
    uint64_t rank = cell->aux;
    if (HAUL__UNLIKELY(map->is_wide))
        rank = haul__cell_rank(haul__map_find(map, address), cell);
    return ((rank + haul__bits32(below)) << HAUL__GRANULE_SHIFT) + (address & (HAUL__GRANULE - 1));
}

HAUL__INLINE uint64_t haul__place(const haul__map *map, haul__block *block, uintptr_t address)
{
    return haul__place_in(map, haul__cell_of(block, address), address);
}

#endif
