/* The map: live bits, slot bits and ranks over the source's address space.
 *
 *   table   one pointer for each 64 KiB block of address space: a flat array in a reserved range of
 *           zeros, which costs memory only where blocks are. The context has one, and one map at a
 *           time stands in it.
 *   list    the map's own: its blocks in order of address, after layout
 *   block   made when the first mark falls into its 64 KiB, in one of several forms (block.h)
 *   cell    8 bytes for 512 bytes of source: 32 live bits, one a granule, and a rank
 *   side    made only for blocks that need it: byte masks of granules that are partly live, larger
 *           alignments, the ends of strings (side.h)
 *
 * Marks are ORs, so no order of discovery can change them. *Bytes* are marked, not objects:
 * aliases, interior pointers, overlaps and neighbours need no rule of their own.
 *
 * After layout
 *
 *   place(address) = granule bytes * (cell.aux + live bits of the cell below the address's)
 *                    + address mod granule bytes
 *
 * This is one look-up in the table (a few KiB, always in the first-level cache) and one in the
 * cell. Pointers need cells alone, when they are followed and when they are translated: 1.2 MB of
 * them for 80 MB of heap, which stay in a second-level cache. Slot bits are read only in order of
 * address.
 *
 * While it is marked, a map has the context's table, or a hash if there is none. Layout makes the
 * list, which never changes after that: any thread may look blocks up in it. The map's entries stay
 * in the table until another map needs it. Then they are cleared, which takes no memory and cannot
 * fail. A pack enters them again.
 */
#ifndef HAUL_MAP_MAP_H
#define HAUL_MAP_MAP_H

#include "base/list.h"
#include "map/block.h"

typedef struct haul__hashed {
    haul__block *block; /* NULL: free */
    uint32_t number;
} haul__hashed;

typedef struct haul__map haul__map;

/* The table: blocks by number, each with its form in the low bits. Each context has one, made when
 * first needed. It is used only inside calls that have entered the context, and when a map of the
 * context is dropped. */
typedef struct haul__table {
    uintptr_t *flat;   /* NULL: there is none */
    haul__map *holder; /* the map whose blocks stand in it; NULL: all of it is 0 */
    int is_refused;    /* no range could be reserved */
} haul__table;

/* The sizes of memory that a map keeps: blocks by form (block.h), sides, their prefixes
 * and excluded words (side.h). */
enum {
    HAUL__SIZE_FULL,
    HAUL__SIZE_BARE,
    HAUL__SIZE_UNIFORM,
    HAUL__SIZE_MIXED,
    HAUL__SIZE_SIDE,
    HAUL__SIZE_PREFIX,
    HAUL__SIZE_EXCLUDED,
    HAUL__SIZES
};

struct haul__map {
    haul_allocator allocator;
    haul__table *table; /* the table that its blocks stand in, or NULL */
    uintptr_t *flat;    /* while marking: that table's array; NULL: `hashed` is used */
    haul__hashed *hashed;
    size_t hashed_capacity; /* a power of two */
    uint32_t *numbers;      /* of the blocks, in order of making; after layout, of address */
    uintptr_t *entries;     /* after layout: the blocks in that order, forms in the low bits */
    size_t block_count, number_capacity, entry_capacity;
    int is_listed; /* layout has put `numbers` in order and made `entries` */
    struct haul__bundle *spare[HAUL__SIZES]; /* memory of earlier plans, by size (spare.h) */
    struct haul__map *spare_of; /* of a part: the map whose spare memory it takes; or NULL */
    unsigned spare_ended;       /* the bits of sizes of which that map has no more */
    unsigned spare_locked;      /* atomic: a part takes some */
    haul__simple simple[HAUL__LAST_UNIFORM / 2 + 1]; /* by form / 2 */
    haul__far *far;     /* by form / 2: slots beyond the first 64 words; NULL: none has any */
    uint32_t next_form; /* for the next simple type */
    size_t block_bytes; /* of all blocks in use */
    int has_placements; /* some page asks for a placement above a granule */
    int has_exclusions; /* some block has exclusions */
    int is_wide;        /* after layout: 2^32 granules or more */
    size_t side_bytes;  /* memory of all sides */
    HAUL__LIST(unsigned char *) slabs; /* memory of the blocks' turns */
    size_t slab_left;                  /* bytes of the last one */
    unsigned turn_shift;               /* of the bytes that one turn is for */
};

void haul__map_open(haul__map *map, const haul_allocator *allocator);
void haul__map_close(haul__map *map);
/* Forgets every mark and leaves the table; keeps the blocks for the next use. */
void haul__map_clear(haul__map *map);
/* Host memory that the map holds: blocks, sides, the list. */
size_t haul__map_bytes(const haul__map *map);
/* Of these, the block's, without its side and its turns. */
size_t haul__block_bytes(const haul__block *block);

/* Gives the table to an empty map that will be marked. If there is none, or another map is being
 * marked in it, the map uses its hash. */
void haul__table_lend(haul__table *table, haul__map *map);
/* The table's array, with the blocks of a listed map in it; NULL: there is none. Valid until the
 * table is lent or shown again. */
const uintptr_t *haul__table_show(haul__table *table, haul__map *map);
/* Gives the table's range back, unless a map stands in it. */
void haul__table_close(haul__table *table, const haul_allocator *allocator);

/* Makes the list, once the numbers are in order. 0: out of memory, nothing has changed. */
int haul__map_list(haul__map *map);
/* haul__map_find, by the list or the hash. */
haul__block *haul__map_find_apart(const haul__map *map, uint32_t number);
/* The block of an address, made if there is none, bare; NULL: out of memory. */
haul__block *haul__map_touch(haul__map *map, uintptr_t address);
/* Makes a full block where there is none. NULL: out of memory. */
haul__block *haul__map_fill(haul__map *map, uintptr_t address);
/* A new block of a form with cells, with the head and the cells of `old`. It is not in the table
 * yet. NULL: out of memory. */
haul__block *haul__map_like(haul__map *map, const haul__block *old, uint32_t form);
/* Enters `block` in place of `old`, which is gone then. */
void haul__map_replace(haul__map *map, uintptr_t address, haul__block *old, haul__block *block);

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

/* The same, by the table that the map is marked in. Any thread may call it on a listed map. */
HAUL__INLINE haul__block *haul__map_find(const haul__map *map, uintptr_t address)
{
    return haul__map_find_in(map, map->flat, address);
}

HAUL__INLINE const haul__simple *haul__simple_of(const haul__map *map, const haul__block *block)
{
    return &map->simple[block->form / 2];
}

/* The uniform form of a simple type. *simple becomes the map's copy, with the map's memory for far
 * slots. HAUL__NO_FORM: there are too many types; 0: out of memory. */
uint32_t haul__map_form(haul__map *map, haul__simple *simple);

#endif
