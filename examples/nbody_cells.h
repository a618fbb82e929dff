/* The octree of nbody_tree: made by the host, cell by cell with malloc. */
#ifndef EXAMPLES_NBODY_CELLS_H
#define EXAMPLES_NBODY_CELLS_H

#include "nbody_forces.h"

/* A tree with a leaf for each body, and all of its numbers. */
cell *make_cells(body *bodies, long count);
void free_cells(cell *tree);

/* Works masses, centres and sizes out again for bodies that have moved; no pointer changes. */
void sum_up(cell *tree);

#endif
