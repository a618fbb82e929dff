/* Uniform blocks that hold objects and nothing else. Ragged blocks always do.
 *
 * The places of such objects follow one another, whatever lies between them in the source: a place
 * is the place before plus the object's length, and no cell is read. So a block costs as much as
 * its objects, near or far from one another.
 *
 * A count shows that there is nothing else: all granules of an object are live, and no two objects
 * of the block share a granule. So if the number of live granules is that of all objects together,
 * no other granule is live.
 *
 *     the block before |  part |  start  |     start  |  ...  |  last one  -> the block behind
 *                         carried     ... count of these ...     out
 *
 * Objects of a ragged block may share a granule, in the source and so in the arena. There a place
 * follows from the end of the object before.
 */
#ifndef HAUL_PACK_OBJECT_STARTS_H
#define HAUL_PACK_OBJECT_STARTS_H

#include <limits.h>

#include "map/bits.h"
#include "pack/fetch_ahead.h"

#define HAUL__OBJECTS_BYTES ((size_t)2048) /* bytes to prefetch ahead; one object if it is larger */

typedef struct haul__objects {
    size_t bytes; /* of each */
    /* bytes of the unit that starts count: a granule, or in a ragged block a word */
    size_t unit;
    unsigned limit; /* units of a block */
    /* units at the block's beginning that belong to an object of the block before */
    unsigned carried;
    unsigned out; /* start of the object that reaches over the block's end; `limit`: none does */
    size_t count; /* of the objects that lie wholly in the block */
    size_t ahead; /* the number of objects that are prefetched ahead */
    /* starts of the objects; behind them `ahead` more, as if objects followed the block densely */
    uint16_t start[HAUL__BLOCK_GRANULES + HAUL__OBJECTS_BYTES / HAUL__GRANULE];
} haul__objects;

/* The end of the objects placed so far, of a ragged block. Granules and places count from those of
 * the block's first granule. */
typedef struct haul__ragged_end {
    unsigned granule; /* the last one of the last object */
    unsigned place;   /* places used up to and with that granule */
} haul__ragged_end;

/* The end before the first object that starts in the block. */
HAUL__INLINE haul__ragged_end haul__ragged_begin(const haul__objects *o)
{
    haul__ragged_end end;
    end.granule = o->carried ? (o->carried - 1) / 2 : UINT_MAX;
    end.place = (o->carried + 1) / 2;
    return end;
}

/* The place of an object's first granule. It may be the last granule of the object before. */
HAUL__INLINE unsigned haul__ragged_place(const haul__ragged_end *end, unsigned start)
{
    return end->place - (start / 2 == end->granule);
}

/* Moves `end` behind the object of `words` words at `start`, whose first granule has place
 * `place`. */
HAUL__INLINE void haul__ragged_next(haul__ragged_end *end, unsigned start, unsigned words,
                                    unsigned place)
{
    end->granule = (start + words - 1) / 2;
    end->place = place + end->granule - start / 2 + 1;
}

HAUL__INLINE uint64_t haul__two_starts(const uint32_t *starts)
{
    return starts[0] | (uint64_t)starts[1] << 32;
}

HAUL__INLINE void haul__write_starts(const uint32_t *all, uint16_t *start)
{
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell += 2) {
        uint64_t starts;
        for (starts = haul__two_starts(all + cell); starts; starts &= starts - 1)
            *start++ = (uint16_t)(cell * 32u + haul__lowest64(starts));
    }
}

/* `count` objects start in the block; the last one ends at `end`. */
HAUL__INLINE void haul__end_objects(haul__objects *o, size_t count, size_t end)
{
    const size_t length = o->bytes / o->unit;
    size_t i;
    o->count = end > o->limit ? count - 1 : count;
    o->out = end > o->limit && count ? o->start[count - 1] : o->limit;
    o->ahead = o->bytes < HAUL__OBJECTS_BYTES ? HAUL__OBJECTS_BYTES / o->bytes : 1;
    for (i = 0; i < o->ahead; i++)
        o->start[o->count + i] = (uint16_t)(o->limit + i * length);
}

/* Finds the objects of a ragged block. */
HAUL__INLINE void haul__find_ragged(const haul__block *block, haul__objects *o)
{
    const uint64_t *all = haul__word_starts(block);
    size_t count = 0;
    unsigned cell;
    o->bytes = (size_t)block->words << HAUL__WORD_SHIFT;
    o->unit = HAUL__WORD;
    o->limit = (unsigned)HAUL__BLOCK_WORDS;
    o->carried = block->carry ? block->words - (unsigned)block->carry : 0;
    for (cell = 0; cell < HAUL__CELLS; cell++) {
        uint64_t starts;
        for (starts = all[cell]; starts; starts &= starts - 1)
            o->start[count++] = (uint16_t)(cell * 64u + haul__lowest64(starts));
    }
    haul__end_objects(o, count, count ? o->start[count - 1] + block->words : 0);
}

/* Finds the objects of a uniform block that is not ragged. 0: it holds something else too, and `o`
 * means nothing. */
HAUL__INLINE int haul__find_objects(const haul__block *block, size_t bytes, haul__objects *o)
{
    const uint32_t *all = haul__starts(block);
    const haul__cell *last_cell = &block->cells[HAUL__CELLS - 1];
    const size_t granules = bytes >> HAUL__GRANULE_SHIFT;
    const uint64_t live = haul__cell_rank(block, HAUL__CELLS - 1) + haul__bits32(last_cell->live) -
                          haul__cell_rank(block, 0);
    size_t count = 0, end, over;
    unsigned cell, last = 0;
    for (cell = 0; cell < HAUL__CELLS; cell += 2) {
        const uint64_t starts = haul__two_starts(all + cell);
        count += haul__bits64(starts);
        last = starts ? cell : last;
    }
    o->bytes = bytes;
    o->unit = HAUL__GRANULE;
    o->limit = (unsigned)HAUL__BLOCK_GRANULES;
    o->carried = block->carry ? (unsigned)(granules - block->carry) : 0;
    end =
        count ? last * 32u + haul__highest64(haul__two_starts(all + last)) + granules : o->carried;
    over = end > HAUL__BLOCK_GRANULES ? end - HAUL__BLOCK_GRANULES : 0;
    if (o->carried > HAUL__BLOCK_GRANULES || o->carried + count * granules - over != live)
        return 0;
    haul__write_starts(all, o->start);
    haul__end_objects(o, count, end);
    return 1;
}

/* Prefetches for gather or scatter at object `i` of the block at `address`; `place` is the object's
 * place. In the arena an object's last line is the next one's first, so it is not fetched twice. */
HAUL__INLINE void haul__fetch_objects(const haul__objects *o, size_t unit, size_t i,
                                      uintptr_t address, uintptr_t place, int is_gather)
{
    const uintptr_t object = address + (uintptr_t)o->start[i + o->ahead] * unit;
    haul__fetch_bytes(object, o->bytes, !is_gather);
    haul__fetch(object + o->bytes - 1, !is_gather);
    haul__fetch_bytes(place + o->ahead * o->bytes, o->bytes, is_gather);
}

/* The words of a cell that lie in [first, end) of the block. */
HAUL__INLINE uint64_t haul__words_between(unsigned cell, unsigned first, unsigned end)
{
    const unsigned from = first > cell * 64u ? first - cell * 64u : 0;
    const unsigned to = end < cell * 64u + 64u ? end - cell * 64u : 64u;
    return haul__range64(from, to - 1);
}

#endif
