/* The map: live bits, slot bits and ranks over the source's address space.
 *
 *   address   | block number | cell (7) | granule (5) | byte (4) |        on a 64-bit machine
 *
 *   table     one pointer for each 64 KiB block of address space: flat, in a reserved range of
 * zeros that costs memory only where blocks are. It is the context's; one map at a time stands in
 * it list      the map's own: its blocks in order of address, after layout block     made when the
 * first mark falls into its 64 KiB, in one of the forms below cell      8 bytes for 512 bytes of
 * source: 32 live bits (one a granule), and a rank side      made only for blocks that need it:
 * byte masks of granules that are partly live, larger alignments, the ends of strings
 *
 * A granule is two pointers wide (16 bytes; 8 where pointers have 4, and then a block is 32 KiB and
 * so on). Marks are ORs, so no order of discovery can change them; *bytes* are marked, not objects,
 * so that aliases, interior pointers, overlaps and neighbours need no rule of their own.
 *
 * A block has a form, by what is marked in it. The forms differ in how they know their slots (the
 * words that are described pointers), and so in their size:
 *
 *   full      plain bytes, all of them live: a head and nothing else
 *   bare      no slots
 *   of a kind its slots are those of objects of one simple kind (mark.h): a bit for each object's
 * start tells them all ragged    of a kind, too, but its objects begin or end within a granule, and
 * it holds nothing else (ragged.h) mixed     64 slot bits a cell (one a word; words.h)
 *
 * A block begins bare or full, and turns from bare into one of a kind (while it is empty, into a
 * ragged one) and from these into a mixed one when it has to; never back. The table carries the
 * form in a pointer's low bits.
 *
 * While marking, `aux` of a cell has the starts, where the block is of a kind; else a bit for each
 * granule of which only some bytes are live; their byte masks stand in the side. In a ragged block
 * the whole cell is 64 bits of starts, one a word; what is live follows from them; in a mixed one
 * it is 64 live words. Layout folds these into `live` and puts the cell's rank into `aux`. From
 * then on
 *
 *   place(address) = granule size * (cell.aux + live bits below the address's) + address mod
 * granule
 *
 * which is one look-up in the table (a few KiB, always in the first-level cache) and one in the
 * cell. All that a pointer needs, when it is followed and when it is translated, stands in 8 bytes:
 * the map of 80 MB of heap is 1.2 MB to them and stays in a second-level cache. Slot bits are read
 * only in order of address.
 *
 * While it is marked, a map has the context's table; where there is none, a hash. Layout makes the
 * list, which never changes after that: any thread may look blocks up in it. The map stays in the
 * table until another map needs it: then its entries are cleared, which takes no memory and cannot
 * fail. A pack enters it again.
 */
#ifndef HAUL_MAP_MAP_H
#define HAUL_MAP_MAP_H

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
#define HAUL__HOLE_WORDS (HAUL__BLOCK_GRANULES / 64)
#define HAUL__BLOCK_WORDS (HAUL__BLOCK_GRANULES * 2)
#define HAUL__PAGES (HAUL__BLOCK_BYTES >> HAUL__PAGE_SHIFT)
#define HAUL__PAGE_GRANULES ((size_t)1 << (HAUL__PAGE_SHIFT - HAUL__GRANULE_SHIFT))
#define HAUL__PAGE_CELLS (HAUL__CELLS / (unsigned)HAUL__PAGES)
#define HAUL__FULL_MASK ((uint16_t)((1u << HAUL__GRANULE) - 1u)) /* every byte of a granule */
#define HAUL__LOW_MASK ((uint16_t)((1u << HAUL__WORD) - 1u))     /* of its first word */
#define HAUL__HIGH_MASK ((uint16_t)(HAUL__FULL_MASK & ~(unsigned)HAUL__LOW_MASK))
#define HAUL__HALVES_BYTES (HAUL__CELLS * sizeof(uint32_t))

/* Addresses below are no objects of anybody's; addresses above belong to no process. */
#define HAUL__LOWEST ((uintptr_t)4096)
#define HAUL__HIGHEST                                                                              \
    (HAUL__ADDRESS_BITS >= 8 * sizeof(void *)                                                      \
         ? UINTPTR_MAX - 4096                                                                      \
         : ((uintptr_t)1 << (HAUL__ADDRESS_BITS % (8 * sizeof(void *)))) - 1)

typedef struct haul__cell {
    uint32_t live; /* bit g: granule g of the cell is described (while marking: all of it) */
    /* while marking: starts, or granules partly live; after layout: granules placed before (its low
     * 32 bits) */
    uint32_t aux;
} haul__cell;

/* Bytes that do not travel both ways, by pages: of each way (direction.h). */
typedef struct haul__exclusions {
    uint16_t whole[2];      /* a bit a page: none of its bytes does */
    uint16_t *masks[2][16]; /* a bit a byte: it does not; NULL: see whole */
} haul__exclusions;

/* Bytes of objects that have skipped ones, skipped or not. */
typedef struct haul__holes {
    uint64_t granules[HAUL__HOLE_WORDS]; /* a bit a granule: some of its bytes are */
    uint16_t *masks[16];                 /* a bit a byte; NULL: of these granules all bytes are */
} haul__holes;

/* Byte masks, by pages, each in one of two forms. Strings and structs of odd sizes leave a granule
 * with its first bytes live: four bits a granule are enough for that. Anything else turns the page
 * into full masks. */
typedef struct haul__byte_pages {
    uint8_t *prefix[16]; /* four bits a granule: number of leading live bytes; 0: see live bit */
    uint16_t *masks[16]; /* a bit a byte */
} haul__byte_pages;

typedef struct haul__side {
    haul__byte_pages *pages; /* NULL: there are none */
    /* of a mixed block, by cells: granules of which only one word is live, and no page says so
     * (words.h); NULL: there are none */
    uint32_t *halves;
    /* log2 of the largest placement asked for on the page, 0: none above a granule */
    uint8_t unit[16];
    uint16_t *ends; /* where terminators of strings stand, in bytes from the block's start */
    size_t end_count, end_capacity;
    int has_odd;            /* pointers off the grid lie here */
    haul__holes *holes;     /* NULL: there are none */
    haul__exclusions *bars; /* NULL: everything travels both ways */
} haul__side;

/* Forms of blocks. Those that have cells are odd, so that one bit of a table's entry tells them
 * from full blocks and from none at all; HAUL__FIRST_KIND and every second one above it belong to a
 * simple kind each. */
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

/* Objects that can be told by where they start: whole words, slots on the grid. */
#define HAUL__SIMPLE_BYTES ((size_t)4096)
#define HAUL__SIMPLE_SLOTS 64u /* at most: gather and scatter list them */
#define HAUL__SIMPLE_CELLS (HAUL__SIMPLE_BYTES / HAUL__CELL_BYTES)
typedef uint64_t haul__far[HAUL__SIMPLE_CELLS - 1];
typedef struct haul__simple {
    uint64_t slots;    /* of an object that starts a cell */
    uint32_t granules; /* of that cell, as far as they are whole */
    uint32_t bytes;
    uint32_t words; /* in ragged blocks: of an object; 0: its blocks have starts by granule */
    haul__far *far; /* slots of the cells behind it; NULL: there are none */
} haul__simple;

typedef struct haul__block {
    uint64_t base;  /* granules placed before this block */
    uint64_t guard; /* over its pointers as first packed: see haul__guard_add */
    /* of a kind: granules in the block before, of an object that starts there and ends here;
     * ragged: words; full: the rank of its first cell */
    uint64_t carry;
    haul__side *side;
    uint32_t form;
    uint32_t words; /* ragged: of an object; else 0 */
#if HAUL__WORD_SHIFT == 2u
    uint32_t unused; /* so that no cell lies across two lines of a cache */
#endif
    /* HAUL__CELLS, but for full ones; then haul__slots, haul__starts, haul__word_starts */
    haul__cell cells[];
} haul__block;

typedef struct haul__hashed {
    haul__block *block; /* NULL: free */
    uint32_t number;
} haul__hashed;

typedef struct haul__map haul__map;

/* Blocks by their number, each with its form in the low bits. One for each context, made when it is
 * first needed. It is used inside calls that have entered the context, and when a map of the
 * context is dropped. */
typedef struct haul__table {
    uintptr_t *flat;   /* NULL: there is none */
    haul__map *holder; /* whose blocks stand in it; NULL: all of it is 0 */
    int is_refused;    /* no range was to be had */
} haul__table;

struct haul__map {
    haul_allocator allocator;
    haul__table *table; /* that its blocks stand in; NULL: in none */
    /* while marking, the same as an array; NULL: use hashed. After layout NULL */
    uintptr_t *flat;
    haul__hashed *hashed;
    size_t hashed_capacity; /* a power of two */
    uint32_t *numbers;      /* of the blocks: in order of their making; after layout, of address */
    /* after layout: the blocks in this order, each with its form in the low bits */
    uintptr_t *entries;
    size_t block_count, number_capacity, entry_capacity;
    int is_listed;         /* layout has made the list: numbers in order, and entries */
    haul__block *spare[4]; /* blocks kept for reuse, by size: chains through their first bytes */
    haul__simple simple[HAUL__LAST_KIND / 2 + 1]; /* by form / 2 */
    haul__far *far;                               /* as many; NULL: none of them has any */
    uint32_t next_form;                           /* for the next simple kind */
    size_t block_bytes;                           /* of all blocks in use */
    int has_units;                                /* some page asks for more than a granule */
    int has_bars;                                 /* some block has */
    int is_wide;                                  /* after layout: 2^32 granules or more */
    size_t side_bytes;                            /* all that hangs on sides */
};

void haul__map_open(haul__map *map, const haul_allocator *allocator);
void haul__map_close(haul__map *map);
/* Forgets every mark and leaves the table; keeps the blocks for the next use. */
void haul__map_clear(haul__map *map);
/* Host memory that the map holds: blocks, sides, the list. */
size_t haul__map_bytes(const haul__map *map);

/* Gives the table to an empty map that will be marked. Where there is none, or a map that is being
 * marked has it, the map uses its hash. */
void haul__table_lend(haul__table *table, haul__map *map);
/* The table, with the blocks of a listed map in it. NULL: there is none. It holds until the table
 * is lent again. */
const uintptr_t *haul__table_show(haul__table *table, haul__map *map);
/* Gives its range back, unless a map stands in it. */
void haul__table_close(haul__table *table, const haul_allocator *allocator);

/* Makes the list, once the numbers are in order. 0: out of memory, nothing has changed. */
int haul__map_list(haul__map *map);
haul__block *haul__map_find_apart(const haul__map *map, uint32_t number);
/* The block of an address, made if there is none, bare; NULL: out of memory. */
haul__block *haul__map_touch(haul__map *map, uintptr_t address);
/* Makes a full block where there is none. */
haul__block *haul__map_fill(haul__map *map, uintptr_t address);
/* The same marks in another form: from bare to a kind's, when nothing is partly live, or from
 * either to mixed. The old block is gone. NULL: out of memory, nothing has changed. */
haul__block *haul__map_turn(haul__map *map, uintptr_t address, haul__block *block, uint32_t form);
/* The form for objects like these, whose far slots stand in the map from then on; HAUL__NO_FORM:
 * there are too many kinds; 0: out of memory. */
uint32_t haul__map_form(haul__map *map, haul__simple *kind);
haul__side *haul__map_side(haul__map *map, haul__block *block);

HAUL__INLINE uint32_t haul__block_number(uintptr_t address)
{
    return (uint32_t)(address >> HAUL__BLOCK_SHIFT);
}

HAUL__INLINE uintptr_t haul__block_address(uint32_t number)
{
    return (uintptr_t)number << HAUL__BLOCK_SHIFT;
}

/* The block in an entry of the flat table; NULL: there is none. */
HAUL__INLINE haul__block *haul__block_in(uintptr_t entry)
{
    return (haul__block *)(entry & ~HAUL__FORM_MASK);
}

/* A block of a listed map, by its place in the order of addresses. */
HAUL__INLINE haul__block *haul__map_block(const haul__map *map, size_t i)
{
    return haul__block_in(map->entries[i]);
}

/* The block of an address that is at most HAUL__HIGHEST; NULL: nothing is marked there. `flat`: a
 * table that the map stands in, or NULL. */
HAUL__INLINE haul__block *haul__map_find_in(const haul__map *map, const uintptr_t *flat,
                                            uintptr_t address)
{
    if (HAUL__LIKELY(flat != NULL))
        return haul__block_in(flat[address >> HAUL__BLOCK_SHIFT]);
    return haul__map_find_apart(map, haul__block_number(address));
}

/* The same; of a listed map, by any thread. */
HAUL__INLINE haul__block *haul__map_find(const haul__map *map, uintptr_t address)
{
    return haul__map_find_in(map, map->flat, address);
}

HAUL__INLINE unsigned haul__cell_number(uintptr_t address)
{
    return (unsigned)(address >> HAUL__CELL_SHIFT) & (HAUL__CELLS - 1);
}

/* Where the cell of an address would be, in the block of this entry: only to be fetched, there may
 * be no such block. */
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

/* A mixed block's slot bits: bit w of a cell's: word w is a described pointer. */
HAUL__INLINE uint64_t *haul__slots(const haul__block *block)
{
    return (uint64_t *)(uintptr_t)&block->cells[HAUL__CELLS];
}

/* The starts in a block of a kind, after layout. */
HAUL__INLINE uint32_t *haul__starts(const haul__block *block)
{
    return (uint32_t *)(uintptr_t)&block->cells[HAUL__CELLS];
}

/* The starts in a ragged block, one bit a word, after layout. */
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

HAUL__INLINE unsigned haul__granule_in_cell(uintptr_t address)
{
    return (unsigned)(address >> HAUL__GRANULE_SHIFT) & 31u;
}

HAUL__INLINE unsigned haul__granule_in_block(uintptr_t address)
{
    return (unsigned)((address >> HAUL__GRANULE_SHIFT) & (HAUL__BLOCK_GRANULES - 1));
}

HAUL__INLINE unsigned haul__word_in_block(uintptr_t address)
{
    return (unsigned)((address >> HAUL__WORD_SHIFT) & (HAUL__BLOCK_WORDS - 1));
}

HAUL__INLINE unsigned haul__word_in_cell(uintptr_t address)
{
    return (unsigned)(address >> HAUL__WORD_SHIFT) & 63u;
}

/* The bytes of a granule that its page says to be live; 0: it has none. While marking. */
uint16_t haul__page_mask(const haul__block *block, unsigned granule);
/* The live bytes of any placed granule; after layout. */
uint16_t haul__byte_mask(const haul__block *block, unsigned granule);
/* The bytes of a granule that belong to objects with skipped bytes; while marking and after
 * layout. */
uint16_t haul__hole_mask(const haul__block *block, unsigned granule);
/* A byte of a described object: one that travels, or one of its holes; after layout. */
int haul__is_described(const haul__map *map, uintptr_t address);

/* A block's guard, as its pointers are gone through in order: a polynomial in an odd number. Two
 * that changed places are noticed always, other changes but for chance. */
HAUL__INLINE uint64_t haul__guard_add(uint64_t guard, uintptr_t value)
{
    return guard * UINT64_C(0x9e3779b97f4a7c15) + value;
}

HAUL__INLINE const haul__simple *haul__simple_of(const haul__map *map, const haul__block *block)
{
    return &map->simple[block->form / 2];
}

/* The slots of an object in the length of one cell, when it starts one: of that one (0) or of one
 * behind. */
HAUL__INLINE uint64_t haul__simple_slots(const haul__simple *kind, size_t cell)
{
    if (cell == 0)
        return kind->slots;
    return kind->far && cell < HAUL__SIMPLE_CELLS ? (*kind->far)[cell - 1] : 0;
}

/* The same in the length of a cell from any of its words on. */
HAUL__INLINE uint64_t haul__slots_from(const haul__simple *kind, size_t word)
{
    const unsigned shift = (unsigned)(word % 64);
    const uint64_t slots = haul__simple_slots(kind, word / 64) >> shift;
    return shift ? slots | haul__simple_slots(kind, word / 64 + 1) << (64 - shift) : slots;
}

/* The slots of one cell: while marking, and after layout. */
uint64_t haul__marked_slots(const haul__map *map, const haul__block *block, unsigned number);
uint64_t haul__placed_slots(const haul__map *map, const haul__block *block, unsigned number);

/* After layout. The granules of a cell that have a place. */
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

/* The page's masks, in one form or the other; NULL: there are none. */
HAUL__INLINE uint8_t *haul__prefix(const haul__block *block, size_t page)
{
    return block->side && block->side->pages ? block->side->pages->prefix[page] : NULL;
}

HAUL__INLINE uint16_t *haul__masks(const haul__block *block, size_t page)
{
    return block->side && block->side->pages ? block->side->pages->masks[page] : NULL;
}

/* The first live bytes of a granule of the page. */
HAUL__INLINE unsigned haul__prefix_of(const uint8_t *prefix, size_t granule)
{
    return (prefix[granule / 2] >> (granule % 2 * 4)) & 15u;
}

/* A bit for each four bits of `prefix` that are not 0; eight bytes of it. */
HAUL__INLINE uint32_t haul__fours(const uint8_t *prefix)
{
    uint64_t bits = 0;
    unsigned at;
    for (at = 0; at < 8; at++)
        bits |= (uint64_t)prefix[at] << (8 * at);
    bits = (bits | bits >> 1 | bits >> 2 | bits >> 3) & UINT64_C(0x1111111111111111);
    bits = (bits | bits >> 3) & UINT64_C(0x0303030303030303);
    bits = (bits | bits >> 6) & UINT64_C(0x000f000f000f000f);
    bits = (bits | bits >> 12) & UINT64_C(0x000000ff000000ff);
    return (uint32_t)((bits | bits >> 24) & 0xffffu);
}

/* Those of a cell's granules that its page says to have a mask. */
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

/* Those of which one word is live and the other dead, and no page says so; of a mixed block, after
 * layout. */
HAUL__INLINE uint32_t haul__halves(const haul__block *block, unsigned number)
{
    return block->side && block->side->halves ? block->side->halves[number] : 0;
}

/* Can granules of the block be live in part? After layout. */
HAUL__INLINE int haul__has_masks(const haul__block *block)
{
    return block->side != NULL || block->words != 0;
}

/* ragged.c: those of a cell's granules of which only one word is live, and no page of masks says
 * so. */
uint32_t haul__halved(const haul__block *block, unsigned number);

/* Those of a cell's granules that may have a mask of their own; of a block that haul__has_masks. */
HAUL__INLINE uint32_t haul__masked(const haul__block *block, unsigned number)
{
    if (HAUL__UNLIKELY(block->words) && !haul__masks(block, number / HAUL__PAGE_CELLS))
        return haul__halved(block, number);
    return haul__masked_by_page(block, number) | haul__halves(block, number);
}

#endif
