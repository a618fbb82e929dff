/* GLib's GTree, a balanced tree. Where a node has no child, the pointer is a thread to its
 * neighbour in the order. The keys are compared by a function of the host's, for which a device has
 * another; the destructors are the host's alone.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "support/types.h"

typedef void *gpointer;

enum { NODES = 4000 };

typedef struct collation {
    unsigned char weight[256];
    int64_t calls;
} collation;

typedef int compare_function(const char *a, const char *b, collation *data);

typedef struct GTreeNode {
    char *key;
    gpointer value; /* a number */
    struct GTreeNode *left, *right;
    signed char balance;
    unsigned char left_child, right_child;
} GTreeNode;

typedef struct GTree {
    GTreeNode *root;
    compare_function *key_compare;
    void (*key_destroy)(gpointer), (*value_destroy)(gpointer);
    collation *key_compare_data;
    unsigned nnodes;
} GTree;

static haul_type *node_type, *tree_type;

static void tree_types(const haul_field *compare)
{
    static const haul_field node_fields[] = { HAUL_STRING(GTreeNode, key),
                                              HAUL_RAW(GTreeNode, value),
                                              HAUL_OBJECT(GTreeNode, left, &node_type),
                                              HAUL_OBJECT(GTreeNode, right, &node_type) };
    const haul_field tree_fields[] = { HAUL_OBJECT(GTree, root, &node_type), *compare,
                                       HAUL_ADDRESS(GTree, key_destroy, .ownership = HAUL_EXTERNAL),
                                       HAUL_ADDRESS(GTree, value_destroy,
                                                    .ownership = HAUL_EXTERNAL),
                                       HAUL_ARRAY(GTree, key_compare_data, HAUL_ONE) };
    node_type = OPEN(GTreeNode, node_fields);
    tree_type = OPEN(GTree, tree_fields);
}

static void tree_close(void)
{
    haul_type_free(&tree_type);
    haul_type_free(&node_type);
}

static int weigh(const char *a, const char *b, collation *data)
{
    data->calls++;
    for (; *a && *a == *b; a++, b++)
        ;
    return data->weight[(unsigned char)*a] - data->weight[(unsigned char)*b];
}

static int compare_here(const char *a, const char *b, collation *data)
{
    return weigh(a, b, data);
}

/* Stands for the device's own code. */
static int compare_there(const char *a, const char *b, collation *data)
{
    return weigh(a, b, data);
}

static void destroy(gpointer thing)
{
    (void)thing;
}

static void destroy_value(gpointer thing)
{
    (void)thing;
}

/* Node i of a full tree has the children 2i and 2i + 1; its place in the order is asked for one
 * after the other. */
static unsigned next_in_order(unsigned i)
{
    if (2 * i + 1 <= NODES) {
        for (i = 2 * i + 1; 2 * i <= NODES; i *= 2)
            ;
        return i;
    }
    while (i & 1)
        i /= 2;
    return i / 2;
}

static unsigned first_in_order(void)
{
    unsigned i = 1;
    while (2 * i <= NODES)
        i *= 2;
    return i;
}

/* Digits weigh less the larger they are: the order is from the last number to the first. */
static void key_text(unsigned place, char *text, size_t room)
{
    snprintf(text, room, "key %06u", NODES - place);
}

static void tree_link(GTreeNode *const *all, unsigned i, GTreeNode *before, GTreeNode *after)
{
    GTreeNode *n = all[i];
    n->left_child = 2 * i <= NODES;
    n->right_child = 2 * i + 1 <= NODES;
    n->left = n->left_child ? all[2 * i] : before;
    n->right = n->right_child ? all[2 * i + 1] : after;
}

static GTree *tree_make(uint64_t *seen)
{
    static GTreeNode *all[NODES + 1];
    GTree *t = PUT(GTree);
    char text[32];
    unsigned i, place = 0, before = 0, after;
    for (i = 1; i <= NODES; i++)
        all[i] = PUT(GTreeNode);
    for (i = first_in_order(); i; before = i, i = after) {
        after = next_in_order(i);
        tree_link(all, i, before ? all[before] : NULL, after ? all[after] : NULL);
        key_text(place, text, sizeof text);
        all[i]->key = put_text(text);
        all[i]->value = (gpointer)(uintptr_t)(place * 3);
        see_text(seen, text);
        see(seen, place * 3);
        place++;
    }
    t->root = all[1];
    t->nnodes = NODES;
    t->key_compare = compare_here;
    t->key_destroy = destroy;
    t->value_destroy = destroy_value;
    t->key_compare_data = PUT(collation);
    for (i = 0; i < 256; i++)
        t->key_compare_data->weight[i] = (unsigned char)(255 - i);
    return t;
}

static GTreeNode *tree_find(GTree *t, const char *key)
{
    GTreeNode *n = t->root;
    for (;;) {
        int c = t->key_compare(key, n->key, t->key_compare_data);
        if (c == 0)
            return n;
        if (c < 0 ? !n->left_child : !n->right_child)
            return NULL;
        n = c < 0 ? n->left : n->right;
    }
}

static void tree_walk(void *argument)
{
    visit *v = argument;
    GTree *t = v->root;
    GTreeNode *n;
    char text[32];
    unsigned i;
    if (!v->is_host &&
        (t->key_compare != compare_there || t->key_destroy || t->value_destroy != destroy_value))
        see(&v->seen, 0);
    for (n = t->root; n->left_child; n = n->left)
        ;
    while (n) {
        int is_child = n->right_child;
        see_text(&v->seen, n->key);
        see(&v->seen, (uintptr_t)n->value);
        for (n = n->right; is_child && n->left_child; n = n->left)
            ;
    }
    for (i = 0; i < NODES; i++) {
        key_text(i, text, sizeof text);
        n = tree_find(t, text);
        if (!n)
            see(&v->seen, i);
        else
            n->value = (gpointer)((uintptr_t)n->value + 1);
    }
}

TEST(structures_glib, a_tree_compares_its_keys_there_by_the_function_that_the_translation_gives)
{
    const haul_field compare = HAUL_ADDRESS(GTree, key_compare, .ownership = HAUL_EXTERNAL);
    const test_translation translations[] = {
        { (uintptr_t)destroy, 0 }, { (uintptr_t)compare_here, (uintptr_t)compare_there }
    };
    journey j = { .walk = tree_walk };
    site_start(26);
    tree_types(&compare);
    type_close(tree_type);
    the.known.translations = translations;
    the.known.translation_count = COUNT_OF(translations);
    j.root = tree_make(&j.seen);
    j.type = tree_type;
    travel(&j);
    tree_close();
    site_end();
}

TEST(structures_glib, a_function_that_is_described_as_memory_or_as_a_part_of_the_graph_is_refused)
{
    haul_field compare = HAUL_BYTES(GTree, key_compare, HAUL_FIXED(16));
    uint64_t seen = 0;
    GTree *t;
    site_start(26);
    t = tree_make(&seen);
    tree_types(&compare);
    type_close(tree_type);
    refuse_graph(t, tree_type, HAUL_ERROR_GRAPH, "root.key_compare", "",
                 "the range it leads to is not readable");
    tree_close();
    compare.ownership = HAUL_BORROWED;
    tree_types(&compare);
    type_close(tree_type);
    refuse_graph(t, tree_type, HAUL_ERROR_GRAPH, "root.key_compare", "",
                 "an alias that leads to nothing that another pointer owns");
    tree_close();
    compare.ownership = HAUL_EXTERNAL;
    compare.tag_bits = 1;
    tree_types(&compare);
    refuse_type(tree_type, "GTree.key_compare",
                "so that it is not followed; but it has a tag or integer");
    tree_close();
    site_end();
}
