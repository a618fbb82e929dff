/* Rodinia's b+tree. A node has room for as many pointers as the program's order says. In a leaf
 * they lead to records, and the last one to the next leaf; above, to nodes, one more than there are
 * keys. The rest is left from before.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { ORDER = 9, RECORDS = 1500 };

typedef struct record {
    int value;
} record;

typedef struct bt_node {
    void **pointers;
    int *keys;
    struct bt_node *parent;
    unsigned char is_leaf;
    int num_keys;
    struct bt_node *next; /* in the queue that printing has left */
} bt_node;

static haul_type *record_type, *bt_node_type;

static int order_of(const haul_here *here)
{
    return here->argument ? *(const int *)here->argument : 0;
}

HAUL_FUNCTION(order, bt_node, order_of(here))
HAUL_FUNCTION(order_less_1, bt_node, order_of(here) - 1)
HAUL_FUNCTION(slot_is_used, bt_node,
              (self->is_leaf
                   ? (int)here->index < self->num_keys || (int)here->index == order_of(here) - 1
                   : (int)here->index <= self->num_keys) != 0)
HAUL_FUNCTION(leads_to_node, bt_node, !self->is_leaf || (int)here->index == order_of(here) - 1)
HAUL_FUNCTION(leads_up, bt_node, !self->is_leaf)

static void bt_open(haul_function *kind)
{
    static const haul_case kinds[] = { { 0, &record_type, 0 }, { 1, &bt_node_type, 0 } };
    const haul_field slot = { .when = HAUL_WHEN_FN(slot_is_used),
                              .type_switch = HAUL_SWITCH_FN(kind, kinds) };
    const haul_field fields[] = {
        HAUL_ADDRESS(bt_node, pointers, .levels = 2, .count = HAUL_COUNT_FN(order),
                     .each_pointer = &slot),
        HAUL_ARRAY(bt_node, keys, HAUL_COUNT_FN(order_less_1)),
        HAUL_OBJECT(bt_node, parent, &bt_node_type),
        HAUL_OBJECT(bt_node, next, &bt_node_type),
    };
    CHECK_STATUS(haul_type_bytes(type_context(), "record", sizeof(record), &record_type), HAUL_OK);
    bt_node_type = OPEN(bt_node, fields);
    type_close(bt_node_type);
}

static void bt_close(void)
{
    haul_type_free(&bt_node_type);
    haul_type_free(&record_type);
}

static bt_node *bt_node_make(int is_leaf)
{
    bt_node *n = PUT(bt_node);
    int i;
    n->pointers = PUT_ARRAY(void *, ORDER);
    n->keys = PUT_ARRAY(int, ORDER - 1);
    n->is_leaf = (unsigned char)is_leaf;
    for (i = 0; i < ORDER; i++)
        n->pointers[i] = (void *)(uintptr_t)17;
    return n;
}

/* Record k has key 3 k. */
static bt_node *leaf_make(int *k, int *lowest)
{
    bt_node *n = bt_node_make(1);
    int keys = (int)random_between(&the.random, ORDER / 2, ORDER - 1);
    *lowest = 3 * *k;
    for (; n->num_keys < keys && *k < RECORDS; n->num_keys++, ++*k) {
        record *r = PUT(record);
        r->value = 7 * *k;
        n->pointers[n->num_keys] = r;
        n->keys[n->num_keys] = 3 * *k;
    }
    n->pointers[ORDER - 1] = NULL;
    return n;
}

/* The nodes above a row of nodes; `lowest` key of each, in both rows. */
static int nodes_above(bt_node **row, int *lowest, int count)
{
    int from = 0, made = 0;
    while (from < count) {
        bt_node *n = bt_node_make(0);
        int children = (int)random_between(&the.random, ORDER / 2 + 1, ORDER), first = from;
        if (count - from - children < 2)
            children = count - from < ORDER ? count - from : ORDER - 2;
        for (; from < first + children; from++) {
            if (from > first)
                n->keys[n->num_keys++] = lowest[from];
            n->pointers[from - first] = row[from];
            row[from]->parent = n;
        }
        lowest[made] = lowest[first];
        row[made++] = n;
    }
    return made;
}

static bt_node *bt_make(uint64_t *seen)
{
    static bt_node *row[RECORDS];
    static int lowest[RECORDS];
    bt_node *leaf = NULL;
    int k = 0, count = 0, i;
    while (k < RECORDS) {
        row[count] = leaf_make(&k, &lowest[count]);
        if (leaf)
            leaf->next = row[count];
        if (leaf)
            leaf->pointers[ORDER - 1] = row[count];
        leaf = row[count++];
    }
    while (count > 1)
        count = nodes_above(row, lowest, count);
    for (i = 0; i < 2 * RECORDS; i++)
        see(seen, (uint64_t)(7 * (i % RECORDS) + (i >= RECORDS)));
    return row[0];
}

static bt_node *find_leaf(bt_node *n, int key)
{
    int i;
    while (!n->is_leaf) {
        for (i = 0; i < n->num_keys && key >= n->keys[i];)
            i++;
        n = n->pointers[i];
    }
    return n;
}

/* Each key by the tree, then all of them along the leaves. What is not used is NULL there. */
static void bt_walk(void *argument)
{
    visit *v = argument;
    bt_node *root = v->root, *leaf;
    int k, i;
    for (k = 0; k < RECORDS; k++) {
        leaf = find_leaf(root, 3 * k);
        for (i = 0; i < leaf->num_keys && leaf->keys[i] != 3 * k;)
            i++;
        see(&v->seen, i < leaf->num_keys ? (uint64_t)((record *)leaf->pointers[i])->value++ : 0);
    }
    for (leaf = find_leaf(root, 0); leaf; leaf = leaf->pointers[ORDER - 1]) {
        for (i = 0; i < leaf->num_keys; i++)
            see(&v->seen, (uint64_t)((record *)leaf->pointers[i])->value);
        for (; i < ORDER - 1; i++)
            if (!v->is_host && leaf->pointers[i])
                see(&v->seen, 0);
        if (leaf->next != leaf->pointers[ORDER - 1] || leaf->parent->is_leaf)
            see(&v->seen, 0);
    }
}

TEST(structures_rodinia,
     bplustree_records_are_found_and_the_last_pointer_of_a_leaf_leads_to_the_next_one)
{
    journey j = { .walk = bt_walk };
    int program_order = ORDER;
    site_start(65);
    the.options.argument = &program_order;
    bt_open(leads_to_node);
    j.root = bt_make(&j.seen);
    j.type = bt_node_type;
    travel(&j);
    bt_close();
    site_end();
}

TEST(structures_rodinia, bplustree_the_next_leaf_taken_for_a_record_is_refused_with_both_paths)
{
    int program_order = ORDER;
    uint64_t seen = 0;
    bt_node *root;
    site_start(65);
    the.options.argument = &program_order;
    bt_open(leads_up);
    root = bt_make(&seen);
    refuse_graph(root, bt_node_type, HAUL_ERROR_GRAPH, "root(.pointers[0])*3.pointers[8]", NULL,
                 "a word is a pointer for one description and data for another");
    bt_close();
    site_end();
}
