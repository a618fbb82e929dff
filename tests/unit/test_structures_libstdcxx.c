/* Containers and owners of libstdc++, as its memory has them: map and set (CNT BACK SELF HOOK CTX),
 * unordered_map (CNT EXPR BACK SELF HOOK PP CTX AHASH), shared_ptr, make_shared and classes with
 * virtual functions (ROWS SHARE BACK POLY FUNC). haul.hpp describes others by their C++ types.
 */
#define _DEFAULT_SOURCE
#include "structures_b.h"
#include "haul/experimental.h"

static haul_type *node; /* a parameter: what a container's nodes are */

static haul_type *instance_of(haul_type *container, haul_type *what)
{
    haul_type *instance;
    CHECK_STATUS(haul_type_instance(container, 1, &node, &what, &instance), HAUL_OK);
    return instance;
}

/* ---- map and set. The header lies in the container: it leads to the root, the first and the last
 * node, the root leads back to it, and it is what stands behind the last one. It alone is red and
 * its parent's parent.
 */

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
    journey j = { NULL, NULL, 0, trees_walk, NULL, 0 };
    site_start(100);
    trees_open();
    j.root = trees_make(&j.seen);
    j.type = trees_type;
    travel(&j);
    trees_close();
    site_end();
}

/* ---- unordered_map. All nodes are one list that begins in the table. A bucket leads to the node
 * before its first one; that of the list's first node leads into the table. A table of one bucket
 * has that in itself. Keys that are addresses want their nodes put in order again.
 */

enum { BUCKETS = 13, ITEMS = 60 };

typedef struct hash_node_base {
    struct hash_node_base *nxt;
} hash_node_base;

typedef struct hashtable {
    hash_node_base **buckets;
    size_t bucket_count;
    hash_node_base before_begin;
    size_t element_count;
    struct {
        float max_load_factor;
        size_t next_resize;
    } rehash_policy;
    hash_node_base *single_bucket;
} hashtable;

typedef struct item {
    int number, met;
} item;

typedef struct int_node { /* of unordered_map<int, item *> */
    hash_node_base base;
    int key;
    item *value;
} int_node;

typedef struct item_node { /* of unordered_map<item *, int> */
    hash_node_base base;
    item *key;
    int value;
} item_node;

typedef struct by_address {
    hashtable table;
} by_address;

typedef struct tables {
    hashtable by_number, of_one;
    by_address of_items;
} tables;

static haul_type *hash_base_type, *hashtable_type, *item_type, *int_node_type, *item_node_type,
    *by_address_type, *tables_type;
static haul_type *int_base_type, *item_base_type, *int_table_type, *item_table_type;

HAUL_FUNCTION(is_table_itself, hashtable, here->target == (const void *)&self->before_begin)

static hash_node_base **bucket_of(hashtable *t, size_t hash)
{
    return &t->buckets[hash % t->bucket_count];
}

/* At the front of its bucket: behind the node before that, or, for the first in it, at the front of
 * all. */
static void hash_insert(hashtable *t, hash_node_base *n, size_t (*hash)(const hash_node_base *n))
{
    hash_node_base **bucket = bucket_of(t, hash(n));
    if (*bucket) {
        n->nxt = (*bucket)->nxt;
        (*bucket)->nxt = n;
        return;
    }
    n->nxt = t->before_begin.nxt;
    t->before_begin.nxt = n;
    if (n->nxt)
        *bucket_of(t, hash(n->nxt)) = n;
    *bucket = &t->before_begin;
}

static size_t hash_of_int(const hash_node_base *n)
{
    return (size_t)((const int_node *)n)->key;
}

static size_t hash_of_address(const hash_node_base *n)
{
    return (size_t)((const item_node *)n)->key >> 3;
}

static void order_there(void *argument)
{
    const haul_rebuild *what = argument;
    const haul_address *all = (const haul_address *)(uintptr_t)what->list;
    size_t i;
    for (i = 0; i < what->count; i++) {
        hashtable *t = &((by_address *)(uintptr_t)all[i])->table;
        hash_node_base *n = t->before_begin.nxt, *next;
        t->before_begin.nxt = NULL;
        memset(t->buckets, 0, t->bucket_count * sizeof *t->buckets);
        for (; n; n = next) {
            next = n->nxt;
            hash_insert(t, n, hash_of_address);
        }
    }
}

static haul_status order_again(const haul_rebuild *what)
{
    haul_rebuild copy = *what;
    return haul_host_launch(what->device, order_there, &copy);
}

static void tables_open(haul_rebuild_function *order)
{
    static const haul_case node_or_table[] = {
        { 0, &node, 0 }, { 1, &hashtable_type, HAUL_CONTAINER_OF(hashtable, before_begin) }
    };
    static const haul_field before = { .type_switch =
                                           HAUL_SWITCH_FN(is_table_itself, node_or_table) };
    static const haul_field base_fields[] = { HAUL_ADDRESS(hash_node_base, nxt, .target = &node) };
    static const haul_field table_fields[] = {
        HAUL_ADDRESS(hashtable, buckets, .levels = 2, .count = HAUL_COUNT(hashtable, bucket_count),
                     .each_pointer = &before, .transfer = HAUL_COPYIN),
        HAUL_EMBED(hashtable, before_begin, &hash_base_type),
        HAUL_SKIP(hashtable, single_bucket), /* where it counts, buckets describes it */
    };
    static const haul_field int_fields[] = { HAUL_EMBED(int_node, base, &int_base_type),
                                             HAUL_OBJECT(int_node, value, &item_type) };
    static const haul_field item_fields[] = { HAUL_EMBED(item_node, base, &item_base_type),
                                              HAUL_OBJECT(item_node, key, &item_type) };
    static const haul_field address_fields[] = { HAUL_EMBED(by_address, table, &item_table_type) };
    static const haul_field fields[] = { HAUL_EMBED(tables, by_number, &int_table_type),
                                         HAUL_EMBED(tables, of_one, &int_table_type),
                                         HAUL_EMBED(tables, of_items, &by_address_type) };
    CHECK_STATUS(haul_type_parameter(type_context(), "node", &node), HAUL_OK);
    hash_base_type = OPEN(hash_node_base, base_fields);
    hashtable_type = OPEN(hashtable, table_fields);
    item_type = type_open("item", sizeof(item), NULL, 0);
    int_node_type = OPEN(int_node, int_fields);
    item_node_type = OPEN(item_node, item_fields);
    by_address_type = OPEN(by_address, address_fields);
    CHECK_STATUS(haul_type_set_rebuild(by_address_type, order, NULL), HAUL_OK);
    tables_type = OPEN(tables, fields);
    int_base_type = instance_of(hash_base_type, int_node_type);
    item_base_type = instance_of(hash_base_type, item_node_type);
    int_table_type = instance_of(hashtable_type, int_node_type);
    item_table_type = instance_of(hashtable_type, item_node_type);
    type_close(tables_type);
}

static void tables_close(void)
{
    haul_type **all[] = { &tables_type,    &by_address_type, &int_table_type, &item_table_type,
                          &int_base_type,  &item_base_type,  &int_node_type,  &item_node_type,
                          &hashtable_type, &hash_base_type,  &item_type,      &node };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

static void table_start(hashtable *t, size_t buckets)
{
    t->bucket_count = buckets;
    t->buckets = buckets == 1 ? &t->single_bucket : PUT_ARRAY(hash_node_base *, buckets);
    t->rehash_policy.max_load_factor = 1;
}

static void number_add(hashtable *t, int key, item *value)
{
    int_node *n = PUT(int_node);
    n->key = key;
    n->value = value;
    t->element_count++;
    hash_insert(t, &n->base, hash_of_int);
}

static tables *tables_make(uint64_t *seen)
{
    tables *t = PUT(tables);
    int i;
    table_start(&t->by_number, BUCKETS);
    table_start(&t->of_one, 1);
    table_start(&t->of_items.table, BUCKETS);
    for (i = 0; i < ITEMS; i++) {
        item *it = PUT(item);
        item_node *n = PUT(item_node);
        put(random_between(&the.random, 1, 90), 1);
        it->number = 3 * i;
        number_add(&t->by_number, 7 * i, it);
        if (i < 2)
            number_add(&t->of_one, i, it);
        n->key = it;
        n->value = i;
        t->of_items.table.element_count++;
        hash_insert(&t->of_items.table, &n->base, hash_of_address);
        see(seen, 3 * (uint64_t)i), see(seen, (uint64_t)i);
    }
    see(seen, 0), see(seen, 3);
    return t;
}

static int_node *find_number(hashtable *t, int key)
{
    hash_node_base *before = *bucket_of(t, (size_t)key), *n = before ? before->nxt : NULL;
    for (; n && bucket_of(t, hash_of_int(n)) == bucket_of(t, (size_t)key); n = n->nxt)
        if (((int_node *)n)->key == key)
            return (int_node *)n;
    return NULL;
}

static item_node *find_item(hashtable *t, item *key)
{
    size_t hash = (size_t)key >> 3;
    hash_node_base *before = *bucket_of(t, hash), *n = before ? before->nxt : NULL;
    for (; n && bucket_of(t, hash_of_address(n)) == bucket_of(t, hash); n = n->nxt)
        if (((item_node *)n)->key == key)
            return (item_node *)n;
    return NULL;
}

static void tables_walk(void *argument)
{
    visit *v = argument;
    tables *t = v->root;
    int i;
    for (i = 0; i < ITEMS; i++) {
        int_node *n = find_number(&t->by_number, 7 * i);
        item_node *by = n ? find_item(&t->of_items.table, n->value) : NULL;
        see(&v->seen, n ? (uint64_t)n->value->number : 1);
        see(&v->seen, by ? (uint64_t)by->value++ : ITEMS);
        if (n)
            n->value->met++;
    }
    for (i = 0; i < 2; i++)
        see(&v->seen, (uint64_t)find_number(&t->of_one, i)->value->number);
    if (!v->is_host && t->of_one.buckets != &t->of_one.single_bucket)
        see(&v->seen, 1);
}

TEST(structures_libstdcxx, unordered_map_nodes_are_found_there_by_number_and_by_address)
{
    journey j = { NULL, NULL, 0, tables_walk, NULL, 0 };
    site_start(101);
    tables_open(order_again);
    j.root = tables_make(&j.seen);
    j.type = tables_type;
    travel(&j);
    tables_close();
    site_end();
}

TEST(structures_libstdcxx, unordered_map_of_addresses_that_nothing_puts_in_order_is_refused)
{
    uint64_t seen = 0;
    site_start(101);
    tables_open(NULL);
    refuse_graph(tables_make(&seen), tables_type, HAUL_ERROR_UNSUPPORTED, "root.of_items", NULL,
                 "the contents of type by_address depend on addresses");
    tables_close();
    site_end();
}

/* ---- shared_ptr. A pointer, and the block that counts: with the object in it (make_shared), or
 * with a pointer to it; which, and of what class an object is, is told by the address of its table
 * of functions. An owner may lead to a part of what it owns; an object leads back to its owner
 * without owning it.
 */

enum { SHAPES = 120, CORNERS_MAX = 9 };

typedef struct shape shape;

typedef struct counted {
    void (*const *vtable)(void);
    int use_count, weak_count;
} counted;

typedef struct shared_ptr {
    void *ptr;
    counted *count;
} shared_ptr;

struct shape {
    double (*const *vtable)(const shape *s);
    shared_ptr parent; /* weak */
};

typedef struct circle {
    shape base;
    double radius;
} circle;

typedef struct polygon {
    shape base;
    int count;
    double *side;
} polygon;

typedef struct counted_circle { /* made in one */
    counted base;
    circle object;
} counted_circle;

typedef struct counted_pointer {
    counted base;
    polygon *object;
} counted_pointer;

typedef struct drawing {
    int count;
    shared_ptr *shapes, radius; /* of one of them */
} drawing;

static double circle_size(const shape *s)
{
    return 3 * ((const circle *)s)->radius;
}

static double polygon_size(const shape *s)
{
    const polygon *p = (const polygon *)s;
    double sum = 0;
    int i;
    for (i = 0; i < p->count; i++)
        sum += p->side[i];
    return sum;
}

static void nothing(void)
{
}

static double (*const circle_vtable[])(const shape *) = { circle_size };
static double (*const polygon_vtable[])(const shape *) = { polygon_size };
static void (*const in_place_vtable[])(void) = { nothing },
                    (*const pointer_vtable[])(void) = { nothing };

static haul_type *circle_type, *polygon_type, *counted_circle_type, *counted_pointer_type,
    *shared_shape_type, *shared_real_type, *shape_type, *drawing_type;

static int64_t class_of_shape(const haul_here *here)
{
    const shape *s = here->target;
    return s->vtable == circle_vtable ? 0 : s->vtable == polygon_vtable ? 1 : -1;
}

static int64_t class_of_count(const haul_here *here)
{
    const counted *c = here->target;
    return c->vtable == in_place_vtable ? 0 : c->vtable == pointer_vtable ? 1 : -1;
}

static void shared_open(size_t classes)
{
    static const haul_case shapes[] = { { 0, &circle_type, 0 }, { 1, &polygon_type, 0 } };
    static const haul_case counts[] = { { 0, &counted_circle_type, 0 },
                                        { 1, &counted_pointer_type, 0 } };
#define COUNT .type_switch = HAUL_SWITCH_FN(class_of_count, counts)
    haul_field shared_fields[] = {
        HAUL_ADDRESS(shared_ptr, ptr, .type_switch = HAUL_SWITCH_FN(class_of_shape, shapes)),
        HAUL_ADDRESS(shared_ptr, count, COUNT)
    };
    static const haul_field real_fields[] = { HAUL_BYTES(shared_ptr, ptr,
                                                         HAUL_FIXED(sizeof(double))),
                                              HAUL_ADDRESS(shared_ptr, count, COUNT) };
    static const haul_field shape_fields[] = { HAUL_ADDRESS(shape, vtable,
                                                            .ownership = HAUL_EXTERNAL),
                                               HAUL_EMBED(shape, parent, &shared_shape_type) };
    static const haul_field circle_fields[] = { HAUL_EMBED(circle, base, &shape_type) };
    static const haul_field polygon_fields[] = { HAUL_EMBED(polygon, base, &shape_type),
                                                 HAUL_ARRAY(polygon, side,
                                                            HAUL_COUNT(polygon, count)) };
    static const haul_field in_place_fields[] = {
        HAUL_ADDRESS(counted_circle, base.vtable, .ownership = HAUL_EXTERNAL),
        HAUL_EMBED(counted_circle, object, &circle_type)
    };
    static const haul_field pointer_fields[] = {
        HAUL_ADDRESS(counted_pointer, base.vtable, .ownership = HAUL_EXTERNAL),
        HAUL_OBJECT(counted_pointer, object, &polygon_type)
    };
    static const haul_field drawing_fields[] = {
        HAUL_OBJECTS(drawing, shapes, &shared_shape_type, HAUL_COUNT(drawing, count)),
        HAUL_EMBED(drawing, radius, &shared_real_type),
    };
    shared_fields[0].type_switch.case_count = classes;
    shared_shape_type = type_open("shared_ptr<shape>", sizeof(shared_ptr), shared_fields, 2);
    shared_real_type = type_open("shared_ptr<double>", sizeof(shared_ptr), real_fields, 2);
    shape_type = OPEN(shape, shape_fields);
    circle_type = OPEN(circle, circle_fields);
    polygon_type = OPEN(polygon, polygon_fields);
    counted_circle_type = OPEN(counted_circle, in_place_fields);
    counted_pointer_type = OPEN(counted_pointer, pointer_fields);
    drawing_type = OPEN(drawing, drawing_fields);
    type_close(drawing_type);
}

static void shared_close(void)
{
    haul_type **all[] = { &drawing_type,     &counted_pointer_type, &counted_circle_type,
                          &polygon_type,     &circle_type,          &shape_type,
                          &shared_real_type, &shared_shape_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

static shared_ptr circle_make(double radius)
{
    counted_circle *c = PUT(counted_circle);
    shared_ptr s;
    c->base.vtable = in_place_vtable;
    c->object.base.vtable = circle_vtable;
    c->object.radius = radius;
    s.ptr = &c->object;
    s.count = &c->base;
    return s;
}

static shared_ptr polygon_make(int corners)
{
    counted_pointer *c = PUT(counted_pointer);
    shared_ptr s;
    c->base.vtable = pointer_vtable;
    c->object = PUT(polygon);
    c->object->base.vtable = polygon_vtable;
    c->object->count = corners;
    c->object->side = PUT_ARRAY(double, corners);
    while (corners-- > 0)
        c->object->side[corners] = 2;
    s.ptr = c->object;
    s.count = &c->base;
    return s;
}

/* Shape i belongs to shape i / 2; every seventh is the same as one before. */
static drawing *drawing_make(uint64_t *seen)
{
    static int size[SHAPES];
    drawing *d = PUT(drawing);
    int i;
    d->count = SHAPES;
    d->shapes = PUT_ARRAY(shared_ptr, SHAPES);
    for (i = 0; i < SHAPES; i++) {
        int corners = i % CORNERS_MAX + 1, same = i / 3;
        d->shapes[i] = i % 7 == 6 ? d->shapes[same]
                       : i % 2    ? polygon_make(corners)
                                  : circle_make(i);
        size[i] = i % 7 == 6 ? size[same] : i % 2 ? 2 * corners : 3 * i;
        d->shapes[i].count->use_count++;
        if (i > 0 && i % 7 != 6)
            ((shape *)d->shapes[i].ptr)->parent = d->shapes[i / 2];
    }
    d->radius.count = d->shapes[4].count;
    d->radius.ptr = &((circle *)d->shapes[4].ptr)->radius;
    for (i = 0; i < SHAPES; i++)
        see(seen, (uint64_t)size[i]);
    see(seen, 4);
    return d;
}

static void drawing_walk(void *argument)
{
    visit *v = argument;
    drawing *d = v->root;
    int i;
    for (i = 0; i < d->count; i++) {
        shape *s = d->shapes[i].ptr;
        see(&v->seen, (uint64_t)s->vtable[0](s));
        d->shapes[i].count->use_count += 2;
        if (s->parent.count)
            s->parent.count->weak_count++;
        if (i % 7 == 6 && s != d->shapes[i / 3].ptr)
            see(&v->seen, 1);
    }
    see(&v->seen, (uint64_t) * (double *)d->radius.ptr);
    *(double *)d->radius.ptr = 11;
}

TEST(structures_libstdcxx,
     shared_ptr_objects_of_several_classes_are_counted_once_and_called_there_by_their_tables)
{
    journey j = { NULL, NULL, 0, drawing_walk, NULL, 0 };
    site_start(102);
    shared_open(2);
    j.root = drawing_make(&j.seen);
    j.type = drawing_type;
    travel(&j);
    shared_close();
    site_end();
}

TEST(structures_libstdcxx, shared_ptr_to_an_object_of_a_class_that_was_forgotten_is_refused)
{
    uint64_t seen = 0;
    site_start(102);
    shared_open(1);
    refuse_graph(drawing_make(&seen), drawing_type, HAUL_ERROR_GRAPH, "root.shapes[1].ptr", NULL,
                 "its `.type_switch` has no case for 1");
    shared_close();
    site_end();
}
