/* Blocks of a kind that hold its objects and nothing else.
 *
 * The places of such objects follow one another whatever lies between them in the source: an object's place is that of the
 * one before and its length, and no cell is looked at. So a block costs what its objects cost, near or far from one another.
 *
 * That there is nothing else follows from numbers: all granules of an object are live, and no two objects of a kind share
 * one; so if there are as many live ones as the objects have in all, none is another thing's.
 *
 *     the block before |  part |  start  |     start  |  ...  |  last one  -> the block behind
 *                         carried     ... count of these ...     out
 */
#ifndef HAUL_PACK_STARTS_H
#define HAUL_PACK_STARTS_H

#include "pack/ahead.h"

#define HAUL__OBJECTS_BYTES ((size_t)2048) /* are fetched ahead, or one object */

typedef struct haul__objects {
    size_t bytes;      /* of each */
    unsigned carried;  /* granules at the block's beginning that belong to an object of the block before */
    unsigned out;      /* where the object starts that reaches over the block's end, in granules; all of them: none does */
    size_t count;      /* of those that lie in the block */
    size_t ahead;      /* so many are fetched before they are come to */
    uint16_t start[HAUL__BLOCK_GRANULES + HAUL__OBJECTS_BYTES / HAUL__GRANULE]; /* in granules; `ahead` more, as if the
                          objects went on densely behind the block */
} haul__objects;

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

/* 0: there is something else in it. Then nothing is told. */
HAUL__INLINE int haul__find_objects(const haul__block *block, size_t bytes, haul__objects *o)
{
    const uint32_t *all = haul__starts(block);
    const haul__cell *last_cell = &block->cells[HAUL__CELLS - 1];
    const size_t granules = bytes >> HAUL__GRANULE_SHIFT;
    const uint64_t live =
        haul__cell_rank(block, HAUL__CELLS - 1) + haul__bits32(last_cell->live) - haul__cell_rank(block, 0);
    size_t count = 0, end, over, i;
    unsigned cell, last = 0;
    for (cell = 0; cell < HAUL__CELLS; cell += 2) {
        const uint64_t starts = haul__two_starts(all + cell);
        count += haul__bits64(starts);
        last = starts ? cell : last;
    }
    o->bytes = bytes;
    o->carried = block->carry ? (unsigned)(granules - block->carry) : 0;
    end = count ? last * 32u + haul__highest64(haul__two_starts(all + last)) + granules : o->carried;
    over = end > HAUL__BLOCK_GRANULES ? end - HAUL__BLOCK_GRANULES : 0;
    if (o->carried > HAUL__BLOCK_GRANULES || o->carried + count * granules - over != live)
        return 0;
    haul__write_starts(all, o->start);
    o->count = over ? count - 1 : count;
    o->out = over ? o->start[count - 1] : (unsigned)HAUL__BLOCK_GRANULES;
    o->ahead = bytes < HAUL__OBJECTS_BYTES ? HAUL__OBJECTS_BYTES / bytes : 1;
    for (i = 0; i < o->ahead; i++)
        o->start[o->count + i] = (uint16_t)(HAUL__BLOCK_GRANULES + i * granules);
    return 1;
}

/* Object number `i` of the block at `address` is at hand, and in the arena at `place`. There the last line of one is the
 * first of the next. */
HAUL__INLINE void haul__fetch_objects(const haul__objects *o, size_t i, uintptr_t address, uintptr_t place,
                                      int is_gather)
{
    const uintptr_t object = address + (uintptr_t)o->start[i + o->ahead] * HAUL__GRANULE;
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

#endif
