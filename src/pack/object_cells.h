/* Cells of a uniform block, for gather and scatter: which of them hold objects and nothing else.
 *
 * A cell is whole if its live granules are exactly those of the objects that start in it or reach
 * into it. In a whole cell the places of the objects follow one another: no runs of bits are
 * searched, and nothing is counted for an object. Any other cell is copied granule by granule. It
 * has plain bytes between the objects, or an object that reaches over the block's end, where
 * another piece of the arena may begin. The rest of an object that begins in such a cell is also
 * copied granule by granule.
 */
#ifndef HAUL_PACK_OBJECT_CELLS_H
#define HAUL_PACK_OBJECT_CELLS_H

#include "map/bits.h"
#include "pack/plan_struct.h"

typedef struct haul__cells {
    const haul__block *block;
    const uint32_t *all; /* starts, of all cells */
    uintptr_t address;   /* of the cell */
    unsigned cell;
    unsigned granules; /* of an object */
    /* the number of its first granules that belong to an object of the cells before */
    unsigned reached;
    int is_done; /* those granules were copied with that object */
    uint32_t starts;
    unsigned end; /* of its last object, in granules from the cell's first */
    int is_whole;
} haul__cells;

/* The first `count` granules of a cell; all 32 if `count` is larger. */
HAUL__INLINE uint32_t haul__first_granules(unsigned count)
{
    return count == 0 ? 0 : haul__range32(0, count < 32 ? count - 1 : 31);
}

/* The granules in the cell of objects with these starts: for each start, all bits up to the
 * object's end, which are the difference of two powers of 2. If objects overlap, the result is not
 * the set of their granules, so it differs from `live`. */
HAUL__INLINE uint32_t haul__spread(uint32_t starts, unsigned granules)
{
    return (uint32_t)(((uint64_t)starts << (granules < 32 ? granules : 32)) - starts);
}

HAUL__INLINE void haul__cells_look(haul__cells *c)
{
    c->starts = c->all[c->cell];
    c->end = c->starts ? haul__highest64(c->starts) + c->granules : c->reached;
    c->is_whole = c->is_done && c->end <= (HAUL__CELLS - c->cell) * 32u &&
                  c->block->cells[c->cell].live ==
                      (haul__spread(c->starts, c->granules) | haul__first_granules(c->reached));
}

/* `bytes`: of an object. */
HAUL__INLINE haul__cells haul__cells_begin(const haul__block *block, uintptr_t address,
                                           size_t bytes)
{
    haul__cells c;
    c.block = block;
    c.all = haul__starts(block);
    c.address = address;
    c.cell = 0;
    c.granules = (unsigned)(bytes >> HAUL__GRANULE_SHIFT);
    c.reached = 0;
    c.is_done = 1;
    haul__cells_look(&c);
    return c;
}

/* Goes on to the next cell. The caller has copied a whole cell object by object, and any other
 * granule by granule. 0: there is none. */
HAUL__INLINE int haul__cells_next(haul__cells *c)
{
    c->is_done = c->end <= 32 || c->is_whole || (c->is_done && !c->starts);
    c->reached = c->end > 32 ? c->end - 32 : 0;
    c->address += HAUL__CELL_BYTES;
    if (++c->cell == HAUL__CELLS)
        return 0;
    haul__cells_look(c);
    return 1;
}

/* Granules that were copied with the cell before. */
HAUL__INLINE uint32_t haul__cells_done(const haul__cells *c)
{
    return c->is_done ? haul__first_granules(c->reached) : 0;
}

/* The place in the arena of the first object of a whole cell; the others follow it. */
HAUL__INLINE size_t haul__cells_place(const haul__cells *c)
{
    return (size_t)((haul__cell_rank(c->block, c->cell) + c->reached) << HAUL__GRANULE_SHIFT);
}

#endif
