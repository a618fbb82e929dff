/* map and set of libstdc++. The header lies in the container: it leads to the root, the first and
 * the last node, the root leads back to it, and it is what stands behind the last one. It alone is
 * red and its parent's parent.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "haul/experimental.h"

static haul_type *node; /* a parameter: what a container's nodes are */

static haul_type *instance_of(haul_type *container, haul_type *what)
{
    haul_type *instance;
    CHECK_STATUS(haul_type_instance(container, 1, &node, &what, &instance), HAUL_OK);
    return instance;
}

enum { RED = 0, BLACK = 1, WORDS = 180 };

typedef struct rb_base {
    int colour;
    struct rb_base *parent, *left, *right;
} rb_base;

typedef struct rb_tree {
    char compare; /* an empty class */
    rb_base header;
    size_t node_count;
} rb_tree;

typedef struct map_node { /* of map<int, char *> */
    rb_base base;
    int key;
    char *value;
} map_node;

typedef struct set_node { /* of set<long> */
    rb_base base;
    long key;
} set_node;

typedef struct trees {
    rb_tree words, numbers, nothing;
    rb_base *first_word, *behind_numbers; /* iterators */
} trees;

static haul_type *rb_base_type, *rb_tree_type, *map_node_type, *set_node_type, *trees_type;
static haul_type *map_base_type, *set_base_type, *map_type, *set_type;

static int64_t is_header(const haul_here *here)
{
    const rb_base *b = here->target;
    return b->colour == RED && (!b->parent || b->parent->parent == b);
}

static void trees_open(void)
{
    static const haul_case header_or_node[] = {
        { 0, &node, 0 }, { 1, &rb_tree_type, HAUL_CONTAINER_OF(rb_tree, header) }
    };
    static const haul_case words[] = { { 0, &map_node_type, 0 },
                                       { 1, &map_type, HAUL_CONTAINER_OF(rb_tree, header) } };
    static const haul_case numbers[] = { { 0, &set_node_type, 0 },
                                         { 1, &set_type, HAUL_CONTAINER_OF(rb_tree, header) } };
#define EITHER .type_switch = HAUL_SWITCH_FN(is_header, header_or_node)
    static const haul_field base_fields[] = { HAUL_ADDRESS(rb_base, parent, EITHER),
                                              HAUL_ADDRESS(rb_base, left, EITHER),
                                              HAUL_ADDRESS(rb_base, right, EITHER) };
    static const haul_field tree_fields[] = { HAUL_EMBED(rb_tree, header, &rb_base_type) };
    static const haul_field map_fields[] = { HAUL_EMBED(map_node, base, &map_base_type),
                                             HAUL_STRING(map_node, value) };
    static const haul_field set_fields[] = { HAUL_EMBED(set_node, base, &set_base_type) };
    static const haul_field trees_fields[] = {
        HAUL_EMBED(trees, words, &map_type),
        HAUL_EMBED(trees, numbers, &set_type),
        HAUL_EMBED(trees, nothing, &set_type),
        HAUL_ADDRESS(trees, first_word, .type_switch = HAUL_SWITCH_FN(is_header, words)),
        HAUL_ADDRESS(trees, behind_numbers, .type_switch = HAUL_SWITCH_FN(is_header, numbers)),
    };
    CHECK_STATUS(haul_type_parameter(type_context(), "node", &node), HAUL_OK);
    rb_base_type = OPEN(rb_base, base_fields);
    rb_tree_type = OPEN(rb_tree, tree_fields);
    map_node_type = OPEN(map_node, map_fields);
    set_node_type = OPEN(set_node, set_fields);
    trees_type = OPEN(trees, trees_fields);
    map_base_type = instance_of(rb_base_type, map_node_type);
    set_base_type = instance_of(rb_base_type, set_node_type);
    map_type = instance_of(rb_tree_type, map_node_type);
    set_type = instance_of(rb_tree_type, set_node_type);
    type_close(trees_type);
}

static void trees_close(void)
{
    haul_type **all[] = { &trees_type,    &map_type,      &set_type,      &map_base_type,
                          &set_base_type, &map_node_type, &set_node_type, &rb_tree_type,
                          &rb_base_type,  &node };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

/* A balanced tree of nodes in order; nodes without children are red. */
static void tree_link(rb_tree *t, rb_base *const *all, int count)
{
    struct {
        int low, high;
        rb_base *parent, **at;
    } part[64] = { { 0, 0, NULL, NULL } };
    int depth = 0;
    t->header.left = count ? all[0] : &t->header;
    t->header.right = count ? all[count - 1] : &t->header;
    t->node_count = (size_t)count;
    part[0].high = count;
    part[0].parent = &t->header;
    part[0].at = &t->header.parent;
    for (depth = count > 0; depth > 0;) {
        int low = part[--depth].low, high = part[depth].high, middle = (low + high) / 2;
        rb_base *b = *part[depth].at = all[middle];
        b->parent = part[depth].parent;
        b->colour = high - low == 1 && count > 1 ? RED : BLACK;
        if (low < middle) {
            part[depth].high = middle;
            part[depth].parent = b;
            part[depth++].at = &b->left;
        }
        if (middle + 1 < high) {
            part[depth].low = middle + 1;
            part[depth].high = high;
            part[depth].parent = b;
            part[depth++].at = &b->right;
        }
    }
}

/* Words 0 to WORDS - 1, and the numbers 5 k. */
static trees *trees_make(uint64_t *seen)
{
    static rb_base *all[WORDS];
    trees *x = PUT(trees);
    char text[32];
    int k;
    for (k = 0; k < WORDS; k++) {
        map_node *n = PUT(map_node);
        n->key = k;
        snprintf(text, sizeof text, "word %d", k);
        n->value = put_text(text);
        see(seen, (uint64_t)k), see_text(seen, text);
        all[k] = &n->base;
    }
    tree_link(&x->words, all, WORDS);
    for (k = 0; k < WORDS; k++) {
        set_node *n = PUT(set_node);
        n->key = 5 * k;
        all[k] = &n->base;
    }
    tree_link(&x->numbers, all, WORDS);
    for (k = WORDS; k-- > 0;)
        see(seen, 5 * (uint64_t)k);
    tree_link(&x->nothing, NULL, 0);
    x->first_word = x->words.header.left;
    x->behind_numbers = &x->numbers.header;
    return x;
}

static rb_base *next_of(rb_base *b)
{
    if (b->right) {
        for (b = b->right; b->left;)
            b = b->left;
        return b;
    }
    while (b == b->parent->right)
        b = b->parent;
    return b->parent;
}

/* Before the header, the last one. */
static rb_base *previous_of(rb_base *b)
{
    if (b->colour == RED && b->parent->parent == b)
        return b->right;
    if (b->left) {
        for (b = b->left; b->right;)
            b = b->right;
        return b;
    }
    while (b == b->parent->left)
        b = b->parent;
    return b->parent;
}

/* The words from begin to end, the numbers from end to begin. */
static void trees_walk(void *argument)
{
    visit *v = argument;
    trees *x = v->root;
    rb_base *b;
    for (b = x->first_word; b != &x->words.header; b = next_of(b)) {
        map_node *n = (map_node *)b;
        see(&v->seen, (uint64_t)n->key), see_text(&v->seen, n->value);
        n->value[0] = 'W';
    }
    for (b = x->behind_numbers; b != x->numbers.header.left;) {
        b = previous_of(b);
        see(&v->seen, (uint64_t)((set_node *)b)->key);
        ((set_node *)b)->key++;
    }
    if (x->nothing.header.left != &x->nothing.header)
        see(&v->seen, 0);
}

TEST(structures_libstdcxx,
     map_and_set_are_walked_there_in_both_directions_from_and_to_the_header_in_them)
{
    journey j = { .walk = trees_walk };
    site_start(100);
    trees_open();
    j.root = trees_make(&j.seen);
    j.type = trees_type;
    travel(&j);
    trees_close();
    site_end();
}
