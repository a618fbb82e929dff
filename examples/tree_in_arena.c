/* Search trees that a kernel extends and balances, in an arena.
 *
 * The host inserts keys in rising order, so each tree is as deep as a list. The arena has room for
 * the device (haul_arena_new_nursery) and crosses as it lies. On the device one thread for each
 * tree makes as many new nodes again, inserts them, and balances the tree by rotations: nearly
 * every pointer changes. haul_update_host brings all of it into the arena, and the host walks the
 * trees.
 *
 * Prints the bytes, the depth before and after, then three claims with yes or NO.
 */
#include "common.h"
#include "tree_balance.h"
#include <haul/experimental.h>

const char *grow_on_gpu(void *forest, long trees); /* tree_balance.cu */

enum { TREES = 256, NODES = 200 /* of each, before */ };

static haul_context *haul;
static haul_type *node_type, *tree_type, *nursery_type, *forest_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, left, &node_type),
    HAUL_OBJECT(node, right, &node_type),
};
static const haul_field tree_fields[] = {
    HAUL_OBJECT(tree, root, &node_type),
    HAUL_ARRAY(tree, wanted, HAUL_COUNT(tree, wanted_count)),
};
static const haul_field forest_fields[] = {
    HAUL_OBJECT(forest, nursery, &nursery_type),
    HAUL_OBJECTS(forest, trees, &tree_type, HAUL_COUNT(forest, count)),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(node, &node_type, node_fields),
    HAUL_STRUCT(tree, &tree_type, tree_fields),
    HAUL_PLAIN(haul_nursery, &nursery_type),
    HAUL_STRUCT(forest, &forest_type, forest_fields),
};

/* -------------------------------------------------------------------------------------------------
 * On the host: keys 0, 2, 4, ... in order, and a wish for those between.
 */
static int plant(haul_arena *arena, tree *t)
{
    node **at = &t->root;
    t->wanted = haul_arena_bytes(arena, NODES * sizeof(long), 0);
    for (long i = 0; i < NODES && t->wanted; i++, at = &(*at)->right) {
        *at = haul_arena_new(arena, node_type, 1);
        if (!*at)
            return 0;
        (*at)->key = 2 * i;
        t->wanted[t->wanted_count++] = 2 * i + 1;
    }
    return t->wanted != NULL;
}

static forest *plant_all(haul_arena *arena)
{
    forest *all = haul_arena_new(arena, forest_type, 1);
    if (!all || haul_device_layout_of(node_type, &all->node))
        return NULL;
    all->count = TREES;
    all->trees = haul_arena_new(arena, tree_type, TREES);
    all->nursery = haul_arena_new_nursery(arena, TREES * NODES * sizeof(node));
    for (long i = 0; i < TREES && all->trees; i++)
        if (!plant(arena, &all->trees[i]))
            return NULL;
    return all->trees && all->nursery ? all : NULL;
}

/* What a walk in order has seen; the device's trees are flat, so it may recurse. */
typedef struct view {
    long nodes, made_there, depth, in_order, strays;
} view;

static void look(const haul_arena *arena, const node *n, long depth, view *seen)
{
    if (!n)
        return;
    if (!haul_arena_contains(arena, n)) {
        seen->strays++;
        return;
    }
    look(arena, n->left, depth + 1, seen);
    seen->in_order += n->key == seen->nodes++;
    seen->made_there += n->made_by != 0;
    seen->depth = depth > seen->depth ? depth : seen->depth;
    look(arena, n->right, depth + 1, seen);
}

static int least_depth(long nodes)
{
    int depth = 0;
    for (; nodes > 0; nodes /= 2)
        depth++;
    return depth;
}

static int check(const haul_arena *arena, const forest *all)
{
    long complete = 0, flat = 0, there = 0, refused = 0, deepest = 0;
    for (long i = 0; i < all->count; i++) {
        view seen = { 0, 0, 0, 0, 0 };
        look(arena, all->trees[i].root, 1, &seen);
        complete += seen.nodes == 2 * NODES && seen.in_order == 2 * NODES && seen.strays == 0;
        flat += seen.depth == least_depth(2 * NODES);
        there += seen.made_there;
        refused += all->trees[i].refused;
        deepest = seen.depth > deepest ? seen.depth : deepest;
    }
    printf("\n  depth of a tree: %d before, %ld now; %ld nodes were made on the device\n\n", NODES,
           deepest, there);
    complete = claim("every tree has all its keys, in order", complete == all->count);
    complete &= claim("no tree is deeper than it must be", flat == all->count);
    complete &= claim("the device made every node that was asked for",
                      there == TREES * NODES && refused == 0);
    return complete ? 0 : 1;
}

/* -------------------------------------------------------------------------------------------------
 * There and back.
 */
static haul_status travel(haul_device *device, haul_arena *arena, forest *all)
{
    haul_shipment *shipment = NULL;
    haul_shipment_info statistics;
    haul_status status = haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment);
    if (!status)
        status = launch(device, grow_tree, ON_GPU(grow_on_gpu), haul_device_pointer(shipment, all),
                        all->count);
    if (!status)
        status = haul_update_host(shipment, &(const haul_update_options){ .pointers = 1 }, NULL);
    haul_shipment_get_info(shipment, &statistics);
    printf("%lu bytes in %lu transfer there, and %lu back\n", (unsigned long)statistics.bytes_to,
           (unsigned long)statistics.transfers_to, (unsigned long)statistics.transfers_from);
    haul_shipment_free(&shipment);
    return status;
}

static int grow(haul_device *device, haul_arena *arena)
{
    forest *all = plant_all(arena);
    haul_status status;
    if (!all)
        return failed("building the trees", haul_arena_error(arena)->status,
                      haul_arena_error(arena));
    status = travel(device, arena, all);
    return status ? failed("the journey", status, haul_context_error(haul)) : check(arena, all);
}

int main(void)
{
    haul_device *device = NULL;
    haul_arena *arena = NULL;
    int result;
    haul_status status = open_device(&haul, &device);
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (!status)
        status = haul_arena_create(haul, NULL, &arena);
    result = status ? failed("opening the device", status, haul_context_error(haul))
                    : grow(device, arena);
    haul_arena_free(&arena);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    return result;
}
