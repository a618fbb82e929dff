/* What the caller's thread does beside a shared walk (walk/asides.c): counts that callbacks answer,
 * among many plain nodes. Plan, arena, numbers and errors are those of one
 * thread, and callbacks run on the caller's thread.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/outcomes.h"
#include "support/random.h"
#include "support/store.h"
#include "support/types.h"

#if defined(HAUL_STRESS_THREADS) || defined(HAUL_EMULATED)
enum { NODES = 1500, CHAIN = 300 };
#else
enum { NODES = 40000, CHAIN = 20000 };
#endif
enum { ONE_IN = 200, LEAVES = 5, WIDE = 3 };

typedef struct node {
    struct node *left, *right;
    struct called *called;
    struct leaf *leaf;
    int64_t number;
    char *name;
} node;

/* Its counts are told by functions, but for `products`, whose count may overflow. */
typedef struct called {
    double *values;
    node **nodes;
    node *row;
    struct leaf *leaf;
    struct called *next;
    float *products;
    int32_t value_count, node_count, row_count;
    int64_t wide[WIDE], more;
} called;

typedef struct leaf {
    int32_t kept, hidden;
    node *left;
    char scratch[24];
    node *right;
    int32_t last[3], end;
} leaf;

/* Nothing but data. */
typedef struct data {
    int32_t kept, hidden, more[4];
} data;

typedef struct world {
    node **nodes;
    called *first;
    leaf *leaf;
    data *data;
    double *counted;
    char *text;
    char unused[40];
    int64_t node_count, counted_count;
    int32_t data_count;
} world;

static haul_type *node_type, *called_type, *leaf_type, *data_type, *world_type;
static pthread_t caller;
static size_t calls, strangers;

/* Every callback says which thread it is on. */
static int64_t answer(int64_t count)
{
    calls++;
    strangers += !pthread_equal(pthread_self(), caller);
    return count;
}

HAUL_FUNCTION(values_of, called, answer(self->value_count))
HAUL_FUNCTION(nodes_of, called, answer(self->node_count))
HAUL_FUNCTION(row_of, called, answer(self->row_count))
HAUL_FUNCTION(leaf_of, called, answer(self->leaf ? 2 : 0))
HAUL_FUNCTION(counted_of, world, answer(self->counted_count))

static void make_types(void)
{
    static const haul_field node_fields[] = {
        HAUL_OBJECT(node, left, &node_type),
        HAUL_OBJECT(node, right, &node_type),
        HAUL_OBJECT(node, called, &called_type),
        HAUL_OBJECT(node, leaf, &leaf_type),
        HAUL_STRING(node, name),
    };
    static const haul_field called_fields[] = {
        HAUL_ARRAY(called, values, HAUL_COUNT_FN(values_of)),
        HAUL_POINTERS(called, nodes, &node_type, HAUL_COUNT_FN(nodes_of)),
        HAUL_OBJECTS(called, row, &node_type, HAUL_COUNT_FN(row_of)),
        HAUL_OBJECTS(called, leaf, &leaf_type, HAUL_COUNT_FN(leaf_of)),
        HAUL_OBJECT(called, next, &called_type),
        HAUL_ARRAY(called, products, HAUL_COUNT_TIMES(called, wide[0], 100000)),
    };
    static const haul_field leaf_fields[] = {
        HAUL_OBJECT(leaf, left, &node_type),
        HAUL_OBJECT(leaf, right, &node_type),
    };
    static const haul_field world_fields[] = {
        HAUL_POINTERS(world, nodes, &node_type, HAUL_COUNT(world, node_count)),
        HAUL_OBJECT(world, first, &called_type),
        HAUL_OBJECTS(world, leaf, &leaf_type, HAUL_FIXED(LEAVES)),
        HAUL_OBJECTS(world, data, &data_type, HAUL_COUNT(world, data_count)),
        HAUL_ARRAY(world, counted, HAUL_COUNT_FN(counted_of)),
        HAUL_STRING(world, text),
    };
    node_type = TYPE_NEW(node, node_fields);
    called_type = TYPE_NEW(called, called_fields);
    leaf_type = TYPE_NEW(leaf, leaf_fields);
    data_type =
        type_new(&(const haul_struct){ .name = "data", .bytes = sizeof(data), .alignment = 4 });
    world_type = TYPE_NEW(world, world_fields);
    CHECK_STATUS(haul_type_commit(world_type), HAUL_OK);
}

typedef struct heap {
    world root;
    void **block;
    size_t count, capacity;
} heap;

static void *get(heap *h, size_t bytes)
{
    void *block = malloc(bytes ? bytes : 1);
    if (h->count == h->capacity) {
        h->capacity = h->capacity ? 2 * h->capacity : 1024;
        h->block = realloc(h->block, h->capacity * sizeof *h->block);
    }
    CHECK(block && h->block);
    memset(block, 0, bytes);
    return h->block[h->count++] = block;
}

static node *any(const heap *h, random_source *random)
{
    return h->root.nodes[random_below(random, NODES)];
}

static void fill_leaf(const heap *h, random_source *random, leaf *one)
{
    memset(one, 0x5a, sizeof *one);
    one->left = any(h, random);
    one->right = random_one_in(random, 4) ? NULL : any(h, random);
}

static called *get_called(heap *h, random_source *random)
{
    called *one = get(h, sizeof *one);
    int i;
    one->value_count = 2 * (int32_t)random_below(random, random_one_in(random, 30) ? 1500 : 10);
    one->values = one->value_count ? get(h, (size_t)one->value_count * sizeof(double)) : NULL;
    one->node_count = 2 * (int32_t)random_below(random, 10);
    one->nodes = get(h, (size_t)one->node_count * sizeof(node *)); /* to none, too */
    for (i = 0; i < one->node_count; i++)
        one->nodes[i] = any(h, random);
    one->row_count = (int32_t)random_below(random, 4);
    one->row = one->row_count ? get(h, (size_t)one->row_count * sizeof(node)) : NULL;
    for (i = 0; i < one->row_count; i++)
        one->row[i].left = any(h, random);
    if (random_one_in(random, 3)) {
        one->leaf = get(h, 2 * sizeof(leaf));
        fill_leaf(h, random, &one->leaf[0]);
        fill_leaf(h, random, &one->leaf[1]);
    }
    return one;
}

static heap heap_make(const char *seed)
{
    random_source random = random_start(seed);
    heap h;
    size_t i;
    make_types();
    caller = pthread_self();
    calls = strangers = 0;
    memset(&h, 0, sizeof h);
    h.root.node_count = NODES;
    h.root.nodes = get(&h, NODES * sizeof *h.root.nodes);
    for (i = 0; i < NODES; i++)
        h.root.nodes[i] = get(&h, sizeof(node));
    for (i = 0; i < NODES; i++) {
        node *one = h.root.nodes[i];
        one->number = (int64_t)i;
        one->name = get(&h, random_below(&random, 40) + 1);
        one->left = any(&h, &random);
        one->right = random_one_in(&random, 5) ? NULL : any(&h, &random);
        if (random_one_in(&random, ONE_IN))
            one->called = get_called(&h, &random);
        if (random_one_in(&random, ONE_IN))
            fill_leaf(&h, &random, one->leaf = get(&h, sizeof(leaf)));
        else if (random_one_in(&random, ONE_IN) && i)
            one->leaf = h.root.nodes[random_below(&random, i)]->leaf;
    }
    h.root.first = get_called(&h, &random);
    h.root.leaf = get(&h, LEAVES * sizeof(leaf));
    for (i = 0; i < LEAVES; i++)
        fill_leaf(&h, &random, &h.root.leaf[i]);
    h.root.data_count = 8;
    h.root.data = get(&h, 8 * sizeof(data));
    h.root.counted_count = 1000;
    h.root.counted = get(&h, 1000 * sizeof(double));
    h.root.text = get(&h, 112);
    memset(h.root.text, 't', 111);
    return h;
}

static void heap_free(heap *h)
{
    size_t i;
    for (i = 0; i < h->count; i++)
        free(h->block[i]);
    free(h->block);
    haul_type_free(&world_type);
    haul_type_free(&node_type);
    haul_type_free(&called_type);
    haul_type_free(&leaf_type);
    haul_type_free(&data_type);
}

/* Compares what threads find with what one finds; answers whether they shared the walk. */
static int check_heap(heap *h, haul_status status)
{
    outcome alone;
    haul_root root;
    int shared;
    root.address = &h->root;
    root.type = world_type;
    root.count = 1;
    shared = outcomes_agree(&root, NULL, OUTCOMES_FORMS, &alone);
    CHECK_STATUS(alone.status, status);
    CHECK(calls > 0);
    CHECK_EQ(strangers, 0);
    outcome_free(&alone);
    return shared;
}

TEST(walk_asides, functions_among_plain_nodes_are_found_by_threads_as_by_one)
{
    heap h = heap_make("walk asides: all kinds");
    CHECK_EQ(check_heap(&h, HAUL_OK), CAN_SHARE);
    heap_free(&h);
}

TEST(walk_asides, an_array_of_structs_as_root_is_found_by_threads_as_by_one)
{
    random_source random = random_start("walk asides: root of leaf");
    heap h = heap_make("walk asides: root of leaf");
    leaf *row = get(&h, NODES * sizeof *row);
    outcome alone;
    haul_root root;
    size_t i;
    for (i = 0; i < NODES; i++)
        fill_leaf(&h, &random, &row[i]);
    root.address = row;
    root.type = leaf_type;
    root.count = NODES;
    CHECK_EQ(outcomes_agree(&root, NULL, OUTCOMES_FORMS, &alone), CAN_SHARE);
    CHECK_STATUS(alone.status, HAUL_OK);
    outcome_free(&alone);
    heap_free(&h);
}

/* Each takes a round of its own, so one thread walks again in the end. */
TEST(walk_asides, a_chain_behind_functions_gives_the_numbers_of_one_thread)
{
    random_source random = random_start("walk asides: chain");
    heap h = heap_make("walk asides: chain");
    called *last = h.root.first;
    size_t i;
    for (i = 0; i < CHAIN; i++) {
        called *one = get_called(&h, &random);
        last->row = get(&h, sizeof(node));
        last->row_count = 1;
        last->row->called = one;
        last = one;
    }
    check_heap(&h, HAUL_OK);
    heap_free(&h);
}

TEST(walk_asides, ranges_across_others_give_the_numbers_of_one_thread)
{
    heap h = heap_make("walk asides: overlaps");
    random_source random = random_start("walk asides: overlaps");
    node *from = any(&h, &random);
    from->leaf = &h.root.leaf[2]; /* an element of an array */
    check_heap(&h, HAUL_OK);
    from->leaf = NULL;
    h.root.first->values = (double *)(void *)&h.root.data->more; /* the middle of an element */
    h.root.first->value_count = 2;
    check_heap(&h, HAUL_OK);
    h.root.first->value_count = 3; /* and the begin of the next one */
    check_heap(&h, HAUL_OK);
    h.root.first->values = (double *)(void *)h.root.data; /* from its begin */
    check_heap(&h, HAUL_OK);
    heap_free(&h);
}

TEST(walk_asides, answers_that_do_not_fit_give_the_error_and_the_path_of_one_thread)
{
    heap h = heap_make("walk asides: answers");
    random_source random = random_start("walk asides: answers");
    node *from = any(&h, &random);
    from->called = get_called(&h, &random);
    from->called->values = get(&h, 16);
    from->called->value_count = -1;
    check_heap(&h, HAUL_ERROR_GRAPH);
    from->called->value_count = 2;
    from->called->products = get(&h, 8);
    from->called->wide[0] = INT64_MAX / 1000;
    check_heap(&h, HAUL_ERROR_LIMIT);
    from->called->wide[0] = INT64_MAX / 1000000; /* more than any address range has */
    check_heap(&h, sizeof(size_t) == 8 ? HAUL_ERROR_GRAPH : HAUL_ERROR_LIMIT);
    from->called->wide[0] = 0; /* no elements, and so it may lead anywhere */
    CHECK_EQ(check_heap(&h, HAUL_OK), CAN_SHARE);
    from->called->row = (node *)(void *)((char *)h.root.text + 1);
    from->called->row_count = 1;
    check_heap(&h, HAUL_ERROR_GRAPH);
    heap_free(&h);
}

TEST(walk_asides, memory_that_runs_out_in_any_thread_is_told_and_all_of_it_given_back_H1_H2)
{
    heap h = heap_make("walk asides: no memory");
    random_source random = random_start("walk asides: no memory");
    haul_status status;
    const haul_source source = haul_from_object(&h.root, world_type);
    const size_t all = plan_from_store(source, SIZE_MAX, &status);
    size_t i, failed = 0;
    CHECK_STATUS(status, HAUL_OK);
    for (i = 0; i < 60; i++) {
        plan_from_store(source, i < 20 ? i : random_below(&random, all), &status);
        failed += status == HAUL_ERROR_MEMORY;
    }
    CHECK(failed > 20);
    heap_free(&h);
}

/* ---- Items in an array, whose counts are large constants, products or answers. */

enum {
    LARGE_COUNT = 150000, /* above those that a walk works out in line */
#if defined(HAUL_STRESS_THREADS) || defined(HAUL_EMULATED)
    ITEMS = 2000,
#else
    ITEMS = 100000,
#endif
    FEW = 64 /* one in so many items has something */
};

typedef struct item {
    char *large;     /* LARGE_COUNT bytes */
    double *product; /* `factor` times LARGE_COUNT */
    double *answered;
    int64_t factor, count;
} item;

typedef struct items {
    item **item;
    double *own; /* its count is answered, too */
    int64_t count;
} items;

static haul_type *item_type, *items_type;

HAUL_FUNCTION(answered_of, item, answer(self->count))
HAUL_FUNCTION(own_of, items, answer(self->own ? 3 : 0))

static items items_make(void)
{
    static const haul_field item_fields[] = {
        HAUL_ARRAY(item, large, HAUL_FIXED(LARGE_COUNT)),
        HAUL_ARRAY(item, product, HAUL_COUNT_TIMES(item, factor, LARGE_COUNT)),
        HAUL_ARRAY(item, answered, HAUL_COUNT_FN(answered_of)),
    };
    static const haul_field items_fields[] = {
        HAUL_POINTERS(items, item, &item_type, HAUL_COUNT(items, count)),
        HAUL_ARRAY(items, own, HAUL_COUNT_FN(own_of)),
    };
    items made;
    size_t i;
    item_type = TYPE_NEW(item, item_fields);
    items_type = TYPE_NEW(items, items_fields);
    CHECK_STATUS(haul_type_commit(items_type), HAUL_OK);
    caller = pthread_self();
    calls = strangers = 0;
    made.count = ITEMS;
    made.own = NULL;
    made.item = malloc(ITEMS * sizeof *made.item);
    CHECK(made.item != NULL);
    for (i = 0; i < ITEMS; i++)
        CHECK((made.item[i] = calloc(1, sizeof(item))) != NULL);
    return made;
}

static void answer_for(item *one)
{
    one->count = 2;
    one->answered = calloc(2, sizeof *one->answered);
    CHECK(one->answered != NULL);
}

static void items_free(items *made)
{
    size_t i;
    for (i = 0; i < ITEMS; i++) {
        free(made->item[i]->answered);
        free(made->item[i]);
    }
    free(made->item);
    haul_type_free(&items_type);
    haul_type_free(&item_type);
}

static int check_items(items *made, size_t most_elements, haul_status status)
{
    haul_context_options options;
    outcome alone;
    haul_root root;
    int shared;
    memset(&options, 0, sizeof options);
    options.max_array_elements = most_elements;
    root.address = made;
    root.type = items_type;
    root.count = 1;
    shared = outcomes_agree(&root, &options, 1, &alone);
    CHECK_STATUS(alone.status, status);
    CHECK_EQ(strangers, 0);
    outcome_free(&alone);
    return shared;
}

TEST(walk_asides, large_constants_and_products_without_pointers_are_not_asked_for)
{
    items made = items_make();
    CHECK_EQ(check_items(&made, 0, HAUL_OK), CAN_SHARE);
    CHECK_EQ(check_items(&made, ITEMS, HAUL_OK), CAN_SHARE); /* constants are within the limit */
    CHECK_EQ(calls, 0);
    items_free(&made);
}

TEST(walk_asides, large_constants_and_products_are_found_by_threads_as_by_one)
{
    items made = items_make();
    const size_t bytes = 2 * LARGE_COUNT * sizeof(double);
    double *memory = calloc(1, bytes);
    CHECK(memory != NULL);
    made.item[ITEMS - 1]->large = (char *)memory;
    made.item[ITEMS - 2]->large = (char *)memory + LARGE_COUNT;
    CHECK_EQ(check_items(&made, 0, HAUL_OK), CAN_SHARE);
    made.item[ITEMS - 1]->large = made.item[ITEMS - 2]->large = NULL;
    made.item[ITEMS - 1]->product = memory;
    made.item[ITEMS - 1]->factor = 2;
    CHECK_EQ(check_items(&made, 0, HAUL_OK), CAN_SHARE);
    made.item[7]->product = memory; /* it leads to none */
    CHECK_EQ(check_items(&made, 0, HAUL_OK), CAN_SHARE);
    CHECK_EQ(calls, 0);
    items_free(&made);
    free(memory);
}

TEST(walk_asides, counts_above_a_limit_give_the_error_and_the_path_of_one_thread)
{
    items made = items_make();
    char *memory = calloc(LARGE_COUNT, sizeof(double));
    CHECK(memory != NULL);
    made.item[ITEMS / 2]->large = memory;
    CHECK_EQ(check_items(&made, LARGE_COUNT, HAUL_OK), CAN_SHARE);
    check_items(&made, LARGE_COUNT - 1, HAUL_ERROR_LIMIT);
    made.item[ITEMS / 2]->large = NULL;
    CHECK_EQ(check_items(&made, LARGE_COUNT - 1, HAUL_OK), CAN_SHARE);
    made.item[ITEMS / 2]->product = (double *)(void *)memory;
    made.item[ITEMS / 2]->factor = 2;
    check_items(&made, LARGE_COUNT, HAUL_ERROR_LIMIT);
    made.item[ITEMS / 2]->factor = -1;
    check_items(&made, 0, HAUL_ERROR_GRAPH);
    made.item[ITEMS / 2]->factor = INT64_MAX / 2;
    check_items(&made, 0, HAUL_ERROR_LIMIT);
    made.item[ITEMS / 2]->factor = 1;
    made.item[ITEMS / 2]->product = NULL;
    check_items(&made, 0, HAUL_ERROR_GRAPH);
    items_free(&made);
    free(memory);
}

/* Three teams, and one thread before them. */
static size_t most_calls(size_t pointers)
{
    return pointers * (1 + 3 * 3);
}

TEST(walk_asides, few_answers_among_many_objects_are_asked_beside_the_threads)
{
    items made = items_make();
    size_t i, asked = 0;
    for (i = 0; i < ITEMS; i += FEW, asked++)
        answer_for(made.item[i]);
    CHECK_EQ(check_items(&made, 0, HAUL_OK), CAN_SHARE);
    CHECK(calls >= 4 * asked && calls <= most_calls(asked));
    items_free(&made);
}

TEST(walk_asides, answers_for_each_object_are_asked_by_one_thread)
{
    items made = items_make();
    size_t i;
    for (i = 0; i < ITEMS; i++)
        answer_for(made.item[i]);
#ifdef HAUL_STRESS_THREADS
    check_items(&made, 0, HAUL_OK);
#else
    CHECK(!check_items(&made, 0, HAUL_OK));
#endif
    CHECK(calls <= most_calls(ITEMS));
    items_free(&made);
}

/* The walk that ends because a long array lies behind the root has asked it before. */
TEST(walk_asides, a_roots_answer_is_asked_at_most_three_times)
{
    items made = items_make();
    double own[3] = { 1, 2, 3 };
    made.own = own;
    CHECK_EQ(check_items(&made, 0, HAUL_OK), CAN_SHARE);
    CHECK(calls >= 4 && calls <= most_calls(1));
    items_free(&made);
}

/* ---- A constant that is small, above a smaller limit. */

enum { BOXES = ITEMS / 5 * 2, BOXED = ITEMS / 2, BOXES_LIMIT = BOXED - 1 };

typedef struct boxed {
    char *bytes; /* BOXED of them */
    int64_t number;
} boxed;

TEST(walk_asides, a_constant_above_a_limit_matters_only_where_a_pointer_leads)
{
    static const haul_field fields[] = { HAUL_ARRAY(boxed, bytes, HAUL_FIXED(BOXED)) };
    haul_type *type = TYPE_NEW(boxed, fields);
    boxed *row = calloc(BOXES, sizeof *row);
    char *memory = calloc(1, BOXED);
    haul_context_options options;
    outcome alone;
    haul_root root;
    CHECK(row && memory);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    memset(&options, 0, sizeof options);
    options.max_array_elements = BOXES_LIMIT;
    root.address = row;
    root.type = type;
    root.count = BOXES;
    CHECK_EQ(outcomes_agree(&root, &options, 0, &alone), CAN_SHARE);
    CHECK_STATUS(alone.status, HAUL_OK);
    outcome_free(&alone);
    row[BOXES - 1].bytes = memory;
    outcomes_agree(&root, &options, 0, &alone);
    CHECK_STATUS(alone.status, HAUL_ERROR_LIMIT);
    outcome_free(&alone);
    options.max_array_elements = BOXED;
    CHECK_EQ(outcomes_agree(&root, &options, 0, &alone), CAN_SHARE);
    CHECK_STATUS(alone.status, HAUL_OK);
    outcome_free(&alone);
    free(row);
    free(memory);
    haul_type_free(&type);
}
