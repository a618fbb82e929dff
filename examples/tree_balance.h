/* What tree_in_arena does on the device: one call for each tree puts new nodes into it and then
 * balances it.
 *
 * The balancing is Day's, Stout's and Warren's: right rotations turn the tree into a list in order,
 * then left rotations fold the list, every second node of it, until a tree of least depth stands.
 * It takes no memory and no recursion.
 */
#ifndef EXAMPLES_TREE_BALANCE_H
#define EXAMPLES_TREE_BALANCE_H

#include <haul/device_arena.h>

#include "device.h"

typedef struct node {
    struct node *left, *right; /* smaller keys, larger ones */
    long key;
} node;

enum {
    TREES = 256,
    NODES = 200,   /* of each tree, at first; 2 * NODES at last */
    FULL_DEPTH = 9 /* of a tree of 2 * NODES: it has 2^8 nodes or more, fewer than 2^9 */
};
typedef struct forest {
    node *trees[TREES];      /* with the keys 0, 2, 4, ...; the device adds those between */
    haul_nursery *nursery;   /* room for new nodes */
    haul_device_layout node; /* and what they are like */
} forest;

ON_DEVICE void insert(node **at, node *fresh)
{
    while (*at)
        at = fresh->key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = fresh;
}

/* Answers how many nodes there are. */
ON_DEVICE long make_list(node **at)
{
    long count = 0;
    while (*at) {
        node *top = *at, *left = top->left;
        if (left) {
            top->left = left->right;
            left->right = top;
            *at = left;
        } else {
            count++;
            at = &top->right;
        }
    }
    return count;
}

ON_DEVICE void fold(node **at, long times)
{
    for (; times > 0; times--) {
        node *top = *at, *right = top->right;
        top->right = right->left;
        right->left = top;
        *at = right;
        at = &right->right;
    }
}

ON_DEVICE void balance(node **root)
{
    const long count = make_list(root);
    long full = 1; /* nodes of the largest full tree */
    while (2 * full + 1 <= count)
        full = 2 * full + 1;
    fold(root, count - full);
    while ((full /= 2) > 0)
        fold(root, full);
}

/* The work of one thread. */
ON_DEVICE void grow_tree(void *data, long index)
{
    forest *all = (forest *)data;
    node **root = &all->trees[index];
    for (long i = 0; i < NODES; i++) {
        node *fresh = (node *)haul_nursery_new(all->nursery, &all->node);
        if (!fresh)
            return; /* the nursery is full: keys will be missing */
        fresh->key = 2 * i + 1;
        insert(root, fresh);
    }
    balance(root);
}

#endif
