/* Cells of a block of a kind, for gather and scatter: which of them hold objects and nothing else.
 *
 * Where the live granules of a cell are just those of the objects that start in it or reach into
 * it, the places of its objects follow one another: no runs of bits are looked for, and nothing is
 * counted for each object. Such a cell is whole. Any other (plain bytes between the objects, or an
 * object that reaches over the block's end, where another piece of the arena may begin) goes
 * granule by granule, and so does what reaches out of it.
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
    /* so many granules from the cell's first on belong to an object that starts before it, */
    unsigned reached;
    int is_done; /* which was done as a whole */
    uint32_t starts;
    unsigned end; /* of its last object, in granules from its first on */
    int is_whole;
} haul__cells;

/* The first `count` granules of a cell, or all of them. */
HAUL__INLINE uint32_t haul__first_granules(unsigned count)
{
    return count == 0 ? 0 : haul__range32(0, count < 32 ? count - 1 : 31);
}

/* The granules of objects that start at these ones, as far as they lie in the cell: from each start
 * to just below the granule behind the object, which is the difference of the two. Of objects that
 * overlap it is not what is live. */
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

/* To the next cell, after a whole one was done object by object, and another one granule by
 * granule. 0: that was the last. */
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

/* Granules of a cell that were done with the cell before. */
HAUL__INLINE uint32_t haul__cells_done(const haul__cells *c)
{
    return c->is_done ? haul__first_granules(c->reached) : 0;
}

/* Where the first object of a whole cell lies in the arena; the others follow it. */
HAUL__INLINE size_t haul__cells_place(const haul__cells *c)
{
    return (size_t)((haul__cell_rank(c->block, c->cell) + c->reached) << HAUL__GRANULE_SHIFT);
}

#endif
