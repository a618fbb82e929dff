/* Blocks of a kind that hold its objects and nothing else; of ragged ones that is all there are.
 *
 * The places of such objects follow one another whatever lies between them in the source: an
 * object's place is that of the one before and its length, and no cell is looked at. So a block
 * costs what its objects cost, near or far from one another.
 *
 * That there is nothing else follows from numbers: all granules of an object are live, and no two
 * objects of a kind share one; so if there are as many live ones as the objects have in all, none
 * is another thing's.
 *
 *     the block before |  part |  start  |     start  |  ...  |  last one  -> the block behind
 *                         carried     ... count of these ...     out
 *
 * Objects of a ragged block may share a granule, in the source and so in the arena. There the place
 * of each follows from where the one before ended.
 */
#ifndef HAUL_PACK_OBJECT_STARTS_H
#define HAUL_PACK_OBJECT_STARTS_H

#include <limits.h>

#include "map/bits.h"
#include "pack/fetch_ahead.h"

#define HAUL__OBJECTS_BYTES ((size_t)2048) /* are fetched ahead, or one object */

typedef struct haul__objects {
    size_t bytes;     /* of each */
    size_t unit;      /* starts are told in so many bytes: granules; in a ragged block words */
    unsigned limit;   /* units of a block */
    unsigned carried; /* units at the block's beginning, of an object that starts before it */
    unsigned out;     /* where one starts that reaches over the block's end; `limit`: none does */
    size_t count;     /* of those that lie in the block */
    size_t ahead;     /* so many are fetched before they are come to */
    /* `ahead` more, as if the objects went on densely behind the block */
    uint16_t start[HAUL__BLOCK_GRANULES + HAUL__OBJECTS_BYTES / HAUL__GRANULE];
} haul__objects;

/* Where the objects of a ragged block lie in the arena, one after the other: in granules from the
 * block's first on. */
typedef struct haul__ragged_end {
    unsigned granule,
        place; /* behind the last one: its last granule, and how many have a place up to there */
} haul__ragged_end;

/* Before the first object that starts in the block. */
HAUL__INLINE haul__ragged_end haul__ragged_begin(const haul__objects *o)
{
    haul__ragged_end end;
    end.granule = o->carried ? (o->carried - 1) / 2 : UINT_MAX;
    end.place = (o->carried + 1) / 2;
    return end;
}

/* The place of an object's first granule, which may be the last one of the object before. */
HAUL__INLINE unsigned haul__ragged_place(const haul__ragged_end *end, unsigned start)
{
    return end->place - (start / 2 == end->granule);
}

/* On behind an object of so many words at `start`, whose first granule's place is `place`. */
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

/* `count`: of those that start in the block; the last one ends at `end`. */
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

/* Of a ragged block. */
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

/* 0: there is something else in it. Then nothing is told. */
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

/* Object number `i` of the block at `address` is at hand, and in the arena at `place`. There the
 * last line of one is the first of the next. */
HAUL__INLINE void haul__fetch_objects(const haul__objects *o, size_t unit, size_t i,
                                      uintptr_t address, uintptr_t place, int is_gather)
{
    const uintptr_t object = address + (uintptr_t)o->start[i + o->ahead] * unit;
    haul__fetch_bytes(object, o->bytes, !is_gather);
    haul__fetch(object + o->bytes - 1, !is_gather);
    haul__fetch_bytes(place + o->ahead * o->bytes, o->bytes, is_gather);
}

/* Granules [first, end) of a cell, which begin and end in the block at these numbers. */
HAUL__INLINE uint32_t haul__granules_between(unsigned cell, unsigned first, unsigned end)
{
    const unsigned from = first > cell * 32u ? first - cell * 32u : 0;
    const unsigned to = end < cell * 32u + 32u ? end - cell * 32u : 32u;
    return haul__range32(from, to - 1);
}

/* The same of words. */
HAUL__INLINE uint64_t haul__words_between(unsigned cell, unsigned first, unsigned end)
{
    const unsigned from = first > cell * 64u ? first - cell * 64u : 0;
    const unsigned to = end < cell * 64u + 64u ? end - cell * 64u : 64u;
    return haul__range64(from, to - 1);
}

#endif
