/* Optional members on a device: a tree whose nodes have some of each is shipped, walked there while
 * the host's memory is inaccessible, changed, and brought back. Pointers are patched by the device,
 * or by the host beforehand.
 */
#define _DEFAULT_SOURCE
#include "ship_graphs.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

enum { INNER = 1, LEAF = 2 };

typedef struct leaf_part {
    double *from_one; /* values[1] to values[n] */
    int32_t n, label; /* distance to a string */
} leaf_part;

typedef struct tree {
    uintptr_t parent;    /* bit 0: a colour */
    struct tree *self;   /* an alias */
    void (*visit)(void); /* on the host; elsewhere a number */
    void *data;          /* of the kind that `kind` says, or a small integer */
    int32_t kind, sum;
    union {
        struct tree *child[2];
        leaf_part leaf;
    } u;
} tree;

static haul_type *tree_type;

static void tree_open(void)
{
    static const haul_field fields[] = {
        HAUL_ADDRESS(tree, parent, .target = &tree_type, .tag_bits = 1),
        HAUL_OBJECT(tree, self, &tree_type, .ownership = HAUL_BORROWED),
        HAUL_ADDRESS(tree, visit, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(tree, data, .target = &tree_type, .integers_below = 4096),
        HAUL_EACH(tree, u.child, .target = &tree_type, .when = HAUL_EQUALS(tree, kind, INNER)),
        HAUL_ARRAY(tree, u.leaf.from_one, HAUL_COUNT(tree, u.leaf.n),
                   .when = HAUL_EQUALS(tree, kind, LEAF), .base = sizeof(double)),
        HAUL_RAW(tree, u.leaf.n, .when = HAUL_EQUALS(tree, kind, LEAF)),
        HAUL_RELATIVE(tree, u.leaf.label, .element_bytes = 1, .count = HAUL_TERMINATED,
                      .when = HAUL_EQUALS(tree, kind, LEAF)),
    };
    CHECK_STATUS(
        type_make("tree", sizeof(tree), fields, sizeof fields / sizeof *fields, &tree_type),
        HAUL_OK);
    if (haul_type_commit(tree_type) != HAUL_OK)
        check_note("%s: %s", type_error()->path, type_error()->text);
    CHECK(haul_type_committed(tree_type));
}

static tree *tree_make(world *w, tree *parent, int colour, int kind)
{
    tree *t = world_take(w, sizeof *t, 16);
    memset(t, 0, sizeof *t);
    t->parent = (uintptr_t)parent | (uintptr_t)colour;
    t->self = t;
    t->kind = kind;
    return t;
}

static tree *leaf_make(world *w, tree *parent, int n, const char *label)
{
    tree *t = tree_make(w, parent, n % 2, LEAF);
    double *values = world_take(w, (size_t)n * sizeof *values, 8);
    char *text = world_take(w, strlen(label) + 1, 1);
    int i;
    for (i = 0; i < n; i++)
        values[i] = i + 1;
    memcpy(text, label, strlen(label) + 1);
    t->u.leaf.from_one = (double *)((uintptr_t)values - sizeof *values);
    t->u.leaf.n = n;
    t->u.leaf.label = (int32_t)((intptr_t)text - (intptr_t)&t->u.leaf.label);
    return t;
}

static tree *forest(world *w)
{
    tree *root = tree_make(w, NULL, 1, INNER), *left = tree_make(w, root, 0, INNER);
    root->u.child[0] = left;
    root->u.child[1] = leaf_make(w, root, 3, "right");
    left->u.child[1] = leaf_make(w, left, 2, "left right");
    root->data = (void *)(uintptr_t)77;
    left->data = root->u.child[1];
    root->visit = (void (*)(void))(uintptr_t)0x1000;
    return root;
}

typedef struct look {
    world *w;
    tree *root;
    int good;
} look;

/* Also a kernel: sums, labels and colours of the whole tree, each in a node of its own memory. */
static int leaf_is_good(const tree *t, int n, const char *label)
{
    const char *text = (const char *)((intptr_t)&t->u.leaf.label + t->u.leaf.label);
    int i, good = t->u.leaf.n == n && strcmp(text, label) == 0;
    for (i = 1; i <= n; i++)
        good &= *(const double *)((uintptr_t)t->u.leaf.from_one + (size_t)i * sizeof(double)) == i;
    return good;
}

static void tour(void *argument)
{
    look *l = argument;
    tree *root = l->root, *left, *right, *deep;
    CHECK(mprotect(l->w->memory, l->w->bytes, PROT_NONE) == 0);
    left = root->u.child[0];
    right = root->u.child[1];
    deep = left->u.child[1];
    l->good = root->parent == 1 && left->parent == (uintptr_t)root &&
              right->parent == ((uintptr_t)root | 1) && deep->parent == (uintptr_t)left &&
              !left->u.child[0];
    l->good &= root->self == root && left->self == left && deep->self == deep;
    l->good &= (uintptr_t)root->data == 77 && left->data == right;
    l->good &= leaf_is_good(right, 3, "right") && leaf_is_good(deep, 2, "left right");
    l->good &= (uintptr_t)root->visit == 0x2000;
    root->sum = 6;
    deep->u.leaf.n = 2;
    *(double *)((uintptr_t)deep->u.leaf.from_one + sizeof(double)) = 10;
    root->parent = left->parent = 0xFFFF; /* words of pointers do not come back */
    root->visit = NULL;
    root->data = NULL;
    right->u.leaf.label = 5;
    CHECK(mprotect(l->w->memory, l->w->bytes, PROT_READ | PROT_WRITE) == 0);
}

static haul_device *device_open(void)
{
    static const test_translation visit = { 0x1000, 0x2000 };
    test_device options;
    haul_device *device;
    memset(&options, 0, sizeof options);
    options.new_context.checked = 1;
    options.known.translations = &visit;
    options.known.translation_count = 1;
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    return device;
}

static void go_there_and_back(int on_host)
{
    haul_device *device = device_open();
    haul_shipment *s;
    tree *before, *root;
    world w;
    look l;
    double *deep;
    tree_open();
    world_start(&w, 1 << 16);
    root = forest(&w);
    before = malloc(1 << 16);
    CHECK(before != NULL);
    memcpy(before, w.memory, 1 << 16);
    host_patches(device, on_host);
    CHECK_STATUS(haul_ship(device, root, tree_type, 1, NULL, &s), HAUL_OK);
    CHECK_BYTES(w.memory, before, 1 << 16);
    l.w = &w;
    l.root = haul_device_pointer(s, root);
    CHECK_STATUS(haul_host_launch(device, tour, &l), HAUL_OK);
    CHECK(l.good);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    deep = (double *)((uintptr_t)root->u.child[0]->u.child[1]->u.leaf.from_one + sizeof *deep);
    CHECK_EQ(root->sum, 6);
    CHECK(*deep == 10);
    *deep = 1;
    root->sum = 0;
    CHECK_BYTES(w.memory, before, 1 << 16);
    haul_shipment_free(&s);
    free(before);
    world_end(&w);
    haul_type_free(&tree_type);
    haul_device_close(&device);
}

TEST(ship_rules, a_tree_of_tags_unions_biases_and_distances_goes_there_and_back)
{
    go_there_and_back(0);
    go_there_and_back(1);
}

/* The device moves a leaf's array by one element and recolours a parent. */
static void move_pointers(void *argument)
{
    look *l = argument;
    tree *right = l->root->u.child[1];
    right->u.leaf.from_one++;
    right->u.leaf.n = 2;
    right->parent ^= 1;
    l->root->u.child[0]->parent = 0;
}

TEST(ship_rules, pointers_that_the_device_has_changed_come_back_with_their_tags_and_biases)
{
    haul_device *device = device_open();
    haul_shipment *s;
    tree *root;
    world w;
    look l;
    double *first;
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.let_counts_change = 1; /* an array that begins one later has one less */
    tree_open();
    world_start(&w, 1 << 16);
    root = forest(&w);
    first = root->u.child[1]->u.leaf.from_one;
    CHECK_STATUS(haul_ship(device, root, tree_type, 1, &options, &s), HAUL_OK);
    l.root = haul_device_pointer(s, root);
    CHECK_STATUS(haul_host_launch(device, move_pointers, &l), HAUL_OK);
    CHECK_STATUS(haul_update_host(s, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_PTR(root->u.child[1]->u.leaf.from_one, first + 1);
    CHECK_EQ(root->u.child[1]->parent, (uintptr_t)root);
    CHECK_EQ(root->u.child[0]->parent, 0);
    haul_shipment_free(&s);
    world_end(&w);
    haul_type_free(&tree_type);
    haul_device_close(&device);
}
