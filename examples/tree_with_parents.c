/* A binary search tree whose nodes know their parents: a structure full of cycles, shipped from its
 * root.
 *
 * On the device the tree is walked in order, up and down by the parent links, and each node gets
 * its rank. haul_ship finds each node once, whichever of its three pointers leads to it. Prints the
 * number of nodes, then one claim with yes or NO.
 */
#include "common.h"

enum { NODES = 10000 };

typedef struct tree {
    int key, rank;
    struct tree *left, *right, *parent;
} tree;

static haul_context *haul;
static haul_type *tree_type;
static const haul_field tree_fields[] = { HAUL_OBJECT(tree, left, &tree_type),
                                          HAUL_OBJECT(tree, right, &tree_type),
                                          HAUL_OBJECT(tree, parent, &tree_type) };
static const haul_struct structs[] = { HAUL_STRUCT(tree, &tree_type, tree_fields) };

static void insert(tree *node, tree **root)
{
    tree *parent = NULL, **link = root;
    while (*link) {
        parent = *link;
        link = node->key < parent->key ? &parent->left : &parent->right;
    }
    node->parent = parent;
    *link = node;
}

static tree *leftmost(tree *node)
{
    while (node->left)
        node = node->left;
    return node;
}

static tree *successor(tree *node)
{
    if (node->right)
        return leftmost(node->right);
    while (node->parent && node->parent->right == node)
        node = node->parent;
    return node->parent;
}

/* What runs on the device. */
static void number_in_order(void *root)
{
    int rank = 0;
    for (tree *node = leftmost(root); node; node = successor(node))
        node->rank = rank++;
}

static haul_status number_on_device(haul_device *device, tree *root)
{
    haul_shipment *shipment = NULL;
    haul_status status = haul_ship(device, root, tree_type, 1, NULL, &shipment);
    if (!status)
        status = haul_host_launch(device, number_in_order, haul_device_pointer(shipment, root));
    if (!status)
        status = haul_unmarshal(shipment);
    haul_shipment_free(&shipment);
    return status;
}

int main(void)
{
    static tree nodes[NODES];
    tree *root = NULL;
    haul_device *device = NULL;
    int right = 1;
    haul_status status = haul_context_create(NULL, &haul);
    /* the keys 0 to NODES - 1, in an order that keeps the tree shallow */
    for (int i = 0; i < NODES; i++) {
        nodes[i].key = (int)((i * 7919L + 4321) % NODES);
        insert(&nodes[i], &root);
    }
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (!status)
        status = haul_host_open(haul, NULL, &device);
    if (!status)
        status = number_on_device(device, root);
    if (status)
        return failed("numbering the tree on the device", status, haul_context_error(haul));
    for (int i = 0; i < NODES; i++)
        right &= nodes[i].rank == nodes[i].key;
    printf("tree: %d nodes with links to both children and to their parent\n", NODES);
    right = claim("every node was ranked by a walk along its parent links", right);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    return right ? 0 : 1;
}
