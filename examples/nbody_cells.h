/* The octree of nbody_tree: made by the host, cell by cell with malloc. */
#ifndef EXAMPLES_NBODY_CELLS_H
#define EXAMPLES_NBODY_CELLS_H

#include "nbody_forces.h"

/* A new tree with a leaf for each body, and all of its numbers; the old one is freed. */
void make_cells(cluster *all);
void free_cells(cell *tree);

/* Works masses, centres and sizes out again for bodies that have moved (nbody_sums.c); no pointer
 * changes. */
void sum_up(cell *tree);

#endif
