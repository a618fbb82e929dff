/* A sweep: the state of gather while it goes through blocks; and gather of one cell.
 */
#ifndef HAUL_PACK_GATHER_CELL_H
#define HAUL_PACK_GATHER_CELL_H

#include "pack/fetch_ahead.h"
#include "pack/translate.h"

typedef struct haul__sweep {
    const haul__map *map;
    const haul__found *found;
    const uintptr_t *flat; /* the table that shows the map; NULL: no table does */
    unsigned char *arena;
    /* blocks are put together here, then copied past the caches to the arena; NULL: they are put
     * together in the arena */
    unsigned char *scratch;
    uint64_t base;
    uint64_t hash; /* of the pointers of this block */
    size_t nulls;
    int is_large;     /* the arena is larger than the caches */
    int fetches;      /* prefetch lines of source and arena */
    int is_far;       /* the map is larger than the nearest caches */
    int needs_lookup; /* a cell alone does not tell a place */
    int spares;       /* blocks of which nothing is sent need no zeros */
    uintptr_t lost;   /* the first slot whose pointer leads out of the graph; 0: none */
} haul__sweep;

/* The members that translate pointers. They are passed by value, because a store to the arena might
 * change any struct in memory, as far as the compiler knows. */
typedef struct haul__guide {
    const uintptr_t *flat;
    uint64_t base;
} haul__guide;

HAUL__INLINE haul__guide haul__guide_of(const haul__sweep *s)
{
    haul__guide guide;
    guide.flat = s->flat;
    guide.base = s->base;
    return guide;
}

/* The word for a pointer that its target's cell alone does not tell: the pointer leads past a
 * range, to no elements or out of the graph, or the map needs a look-up. */
uintptr_t haul__place_rarely(haul__sweep *s, uintptr_t slot, uintptr_t value);

/* Translates one pointer of the source. `simply`: the table shows the map, and each cell holds
 * its whole rank, so a cell alone tells the place. */
HAUL__INLINE uint64_t haul__gather_slot(haul__sweep *s, haul__guide guide, uint64_t hash,
                                        uintptr_t slot, unsigned char *to, int simply)
{
    const uintptr_t value = haul__load_word((const void *)slot);
    const unsigned granule = haul__granule_in_cell(value);
    uintptr_t entry = 0, translated = 0;
    hash = haul__hash_add(hash, value);
    if (!value) {
        s->nulls++;
        memcpy(to, &translated, sizeof translated);
        return hash;
    }
    if (simply && HAUL__LIKELY(value <= HAUL__HIGHEST))
        entry = guide.flat[value >> HAUL__BLOCK_SHIFT];
    if (HAUL__LIKELY(entry & 1u)) {
        const haul__cell *cell = haul__cell_of(haul__block_in(entry), value);
        uint64_t rank =
            cell->aux + (uint64_t)haul__bits32(cell->live & (((uint32_t)1 << granule) - 1u));
        translated =
            (uintptr_t)(guide.base + (rank << HAUL__GRANULE_SHIFT) + (value & (HAUL__GRANULE - 1)));
        entry = cell->live >> granule;
    }
    if (HAUL__UNLIKELY(!(entry & 1u)))
        translated = haul__place_rarely(s, slot, value);
    memcpy(to, &translated, sizeof translated);
    return hash;
}

/* Prefetches the cell of a pointer's target. A prefetch never faults, so neither pointer nor block
 * need be valid. */
HAUL__INLINE void haul__prefetch_target(const uintptr_t *flat, uintptr_t value)
{
    haul__prefetch(haul__cell_place(flat[(value & HAUL__HIGHEST) >> HAUL__BLOCK_SHIFT], value));
}

/* The slots of one cell. */
HAUL__INLINE uint64_t haul__gather_cell_slots(haul__sweep *s, uint64_t hash, uint64_t slots,
                                              uint32_t live, uintptr_t address, uint64_t rank,
                                              int simply)
{
    unsigned char *const to = s->arena + ((size_t)rank << HAUL__GRANULE_SHIFT);
    const haul__guide guide = haul__guide_of(s);
    for (; slots; slots &= slots - 1) {
        unsigned word = haul__lowest64(slots);
        unsigned at = 2 * haul__bits32(live & (((uint32_t)1 << (word / 2)) - 1u)) + word % 2;
        hash = haul__gather_slot(s, guide, hash, address + ((uintptr_t)word << HAUL__WORD_SHIFT),
                                 to + at * HAUL__WORD, simply);
    }
    return hash;
}

HAUL__INLINE size_t haul__place_of_cell(const haul__block *block, unsigned cell)
{
    return (size_t)(haul__cell_rank(block, cell) << HAUL__GRANULE_SHIFT);
}

/* Copies granules `live`, all or some of the cell's placed ones. */
HAUL__INLINE void haul__gather_runs(haul__sweep *s, const haul__block *block, unsigned cell,
                                    const unsigned char *from, uint32_t live)
{
    const uint32_t placed = block->cells[cell].live;
    size_t place = haul__place_of_cell(block, cell);
    while (live) {
        unsigned first = haul__lowest32(live);
        uint32_t rest = ~(live >> first);
        unsigned count = rest ? haul__lowest32(rest) : 32u;
        size_t at = place + ((size_t)haul__bits32(placed & (((uint32_t)1 << first) - 1u))
                             << HAUL__GRANULE_SHIFT);
        haul__copy_few(s->arena + at, from + first * HAUL__GRANULE, count << HAUL__GRANULE_SHIFT);
        live &= first + count < 32u ? UINT32_MAX << (first + count) : 0u;
    }
}

#endif
