/* Trees in an arena, to which the device adds nodes.
 *
 * Each tree is as deep as a list. The arena has room in which kernels may allocate
 * (haul_arena_new_nursery). On the device one thread for each tree makes as many nodes again,
 * inserts them and balances the tree (tree_balance.h), which changes nearly every pointer.
 * haul_update_host brings the new nodes and the pointers into the arena.
 *
 * Prints the numbers of trees and nodes, then one claim with yes or NO.
 */
#include "common.h"
#include "tree_balance.h"
#include <haul/experimental.h>

const char *grow_on_gpu(void *forest, long trees); /* tree_balance.cu */

static haul_context *haul;
static haul_type *node_type, *nursery_type, *forest_type;
static const haul_field node_fields[] = { HAUL_OBJECT(node, left, &node_type),
                                          HAUL_OBJECT(node, right, &node_type) };
static const haul_field forest_fields[] = {
    HAUL_EACH(forest, trees, .target = &node_type),
    HAUL_OBJECT(forest, nursery, &nursery_type),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(node, &node_type, node_fields),
    HAUL_PLAIN(haul_nursery, &nursery_type),
    HAUL_STRUCT(forest, &forest_type, forest_fields),
};

static haul_status plant(haul_arena *arena, forest **made)
{
    /* a node takes a multiple of two pointers */
    const size_t room = TREES * NODES * (sizeof(node) + sizeof(void *));
    forest *all = *made = haul_arena_new(arena, forest_type, 1);
    node *nodes = haul_arena_new(arena, node_type, TREES * NODES);
    haul_nursery *nursery = haul_arena_new_nursery(arena, room);
    if (!all || !nodes || !nursery)
        return HAUL_ERROR_MEMORY;
    for (int i = 0; i < TREES * NODES; i++) {
        nodes[i].key = 2 * (i % NODES);
        *(i % NODES ? &nodes[i - 1].right : &all->trees[i / NODES]) = &nodes[i];
    }
    all->nursery = nursery;
    return haul_device_layout_of(node_type, &all->node);
}

static haul_status grow(haul_device *device, haul_arena *arena, forest *all)
{
    haul_shipment *shipment = NULL;
    haul_status status = haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment);
    if (!status)
        status = launch(device, grow_tree, ON_GPU(grow_on_gpu), haul_device_pointer(shipment, all),
                        TREES);
    if (!status)
        status = haul_update_host(shipment, &(const haul_update_options){ .pointers = 1 }, NULL);
    haul_shipment_free(&shipment);
    return status;
}

/* The depth of a tree. *keys counts those that are 0, 1, 2, ... in order. */
static long look(const node *n, long *keys)
{
    long left, right;
    if (!n)
        return 0;
    left = look(n->left, keys);
    *keys += n->key == *keys;
    right = look(n->right, keys);
    return 1 + (left > right ? left : right);
}

int main(void)
{
    haul_device *device = NULL;
    haul_arena *arena = NULL;
    forest *all;
    int right = 1;
    haul_status status = open_device(&haul, &device);
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (!status)
        status = haul_arena_create(haul, NULL, &arena);
    if (!status)
        status = plant(arena, &all);
    if (!status)
        status = grow(device, arena, all);
    if (status)
        return failed("growing the trees", status, haul_context_error(haul));
    for (int i = 0; i < TREES; i++) {
        long keys = 0, depth = look(all->trees[i], &keys);
        right &= keys == 2 * NODES && depth == FULL_DEPTH;
    }
    printf("%d trees of %d nodes, to each of which the device added as many\n", TREES, NODES);
    right = claim("every tree has all its keys in order, and is as flat as it can be", right);
    haul_arena_free(&arena);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    return right ? 0 : 1;
}
