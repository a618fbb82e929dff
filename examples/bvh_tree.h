/* The tree of boxes: made by the host, node by node with malloc. */
#ifndef EXAMPLES_BVH_TREE_H
#define EXAMPLES_BVH_TREE_H

#include "bvh_scene.h"

/* A tree over copies of the triangles, whose order changes. */
node *make_tree(triangle *triangles, long count);
void free_tree(node *tree);

#endif
