/* Structures of the Rodinia programs: the b+tree that is built on the host (EXPR FAR PARR SHARE
 * BACK POLY COND), and the network of backprop (CNT EXPR PARR).
 */
#define _DEFAULT_SOURCE
#include "structures_b.h"

/* ---- b+tree. A node has room for as many pointers as the program's order says. In a leaf they
 * lead to records, and the last one to the next leaf; above, to nodes, one more than there are
 * keys. The rest is left from before.
 */

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
    journey j = { NULL, NULL, 0, bt_walk, NULL, 0 };
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

/* ---- backprop. Layers of n units and one more, and a row of weights for each unit, to all units
 * of the next layer.
 */

typedef struct BPNN {
    int input_n, hidden_n, output_n;
    float *input_units, *hidden_units, *output_units;
    float *hidden_delta, *output_delta, *target;
    float **input_weights, **hidden_weights;
    float **input_prev_weights, **hidden_prev_weights;
} BPNN;

enum { INPUTS = 65, HIDDEN = 16, OUTPUTS = 3 };

static haul_type *BPNN_type;

static void bpnn_open(void)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(BPNN, input_units, HAUL_COUNT_PLUS(BPNN, input_n, 1)),
        HAUL_ARRAY(BPNN, hidden_units, HAUL_COUNT_PLUS(BPNN, hidden_n, 1)),
        HAUL_ARRAY(BPNN, output_units, HAUL_COUNT_PLUS(BPNN, output_n, 1)),
        HAUL_ARRAY(BPNN, hidden_delta, HAUL_COUNT_PLUS(BPNN, hidden_n, 1)),
        HAUL_ARRAY(BPNN, output_delta, HAUL_COUNT_PLUS(BPNN, output_n, 1)),
        HAUL_ARRAY(BPNN, target, HAUL_COUNT_PLUS(BPNN, output_n, 1)),
        HAUL_ARRAYS(BPNN, input_weights, HAUL_COUNT_PLUS(BPNN, input_n, 1),
                    HAUL_COUNT_PLUS(BPNN, hidden_n, 1)),
        HAUL_ARRAYS(BPNN, hidden_weights, HAUL_COUNT_PLUS(BPNN, hidden_n, 1),
                    HAUL_COUNT_PLUS(BPNN, output_n, 1)),
        HAUL_ARRAYS(BPNN, input_prev_weights, HAUL_COUNT_PLUS(BPNN, input_n, 1),
                    HAUL_COUNT_PLUS(BPNN, hidden_n, 1)),
        HAUL_ARRAYS(BPNN, hidden_prev_weights, HAUL_COUNT_PLUS(BPNN, hidden_n, 1),
                    HAUL_COUNT_PLUS(BPNN, output_n, 1)),
    };
    BPNN_type = OPEN(BPNN, fields);
    type_close(BPNN_type);
}

/* Small integers: their products and sums are exact. */
static float **weights_make(int n1, int n2, int modulus)
{
    float **w = PUT_ARRAY(float *, n1 + 1);
    int i, k;
    for (i = 0; i <= n1; i++)
        for (w[i] = PUT_ARRAY(float, n2 + 1), k = 0; k <= n2; k++)
            w[i][k] = (float)((i * 3 + k * 5) % modulus);
    return w;
}

static BPNN *bpnn_make(void)
{
    BPNN *net = PUT(BPNN);
    int i;
    net->input_n = INPUTS;
    net->hidden_n = HIDDEN;
    net->output_n = OUTPUTS;
    net->input_units = PUT_ARRAY(float, INPUTS + 1);
    net->hidden_units = PUT_ARRAY(float, HIDDEN + 1);
    net->output_units = PUT_ARRAY(float, OUTPUTS + 1);
    net->hidden_delta = PUT_ARRAY(float, HIDDEN + 1);
    net->output_delta = PUT_ARRAY(float, OUTPUTS + 1);
    net->target = PUT_ARRAY(float, OUTPUTS + 1);
    for (i = 0; i <= INPUTS; i++)
        net->input_units[i] = (float)(i % 4);
    net->target[OUTPUTS] = 5;
    net->input_weights = weights_make(INPUTS, HIDDEN, 7);
    net->input_prev_weights = weights_make(INPUTS, HIDDEN, 2);
    net->hidden_weights = weights_make(HIDDEN, OUTPUTS, 4);
    net->hidden_prev_weights = weights_make(HIDDEN, OUTPUTS, 3);
    return net;
}

/* Output unit k, by the same weights without the network. */
static int64_t output_of(int k)
{
    int64_t output = k % 4, hidden;
    int i, h;
    for (h = 1; h <= HIDDEN; h++) {
        for (hidden = h * 5 % 7, i = 1; i <= INPUTS; i++)
            hidden += (int64_t)(i % 4) * ((i * 3 + h * 5) % 7);
        output += hidden * ((h * 3 + k * 5) % 4);
    }
    return output;
}

static void layer_forward(float *from, float *to, float **weights, int n1, int n2)
{
    int i, k;
    from[0] = 1;
    for (k = 1; k <= n2; k++)
        for (to[k] = 0, i = 0; i <= n1; i++)
            to[k] += weights[i][k] * from[i];
}

static void adjust(const float *delta, int ndelta, float **w, float **old, int rows)
{
    int i, k;
    for (k = 1; k <= ndelta; k++)
        for (i = 0; i <= rows; i++) {
            old[i][k] = delta[k] + 2 * old[i][k];
            w[i][k] += old[i][k];
        }
}

static void bpnn_walk(void *argument)
{
    visit *v = argument;
    BPNN *net = v->root;
    int k;
    layer_forward(net->input_units, net->hidden_units, net->input_weights, net->input_n,
                  net->hidden_n);
    layer_forward(net->hidden_units, net->output_units, net->hidden_weights, net->hidden_n,
                  net->output_n);
    for (k = 1; k <= net->output_n; k++) {
        see(&v->seen, (uint64_t)net->output_units[k]);
        net->output_delta[k] = net->target[k] - 1;
    }
    net->hidden_delta[net->hidden_n] = 3;
    adjust(net->output_delta, net->output_n, net->hidden_weights, net->hidden_prev_weights,
           net->hidden_n);
    adjust(net->hidden_delta, net->hidden_n, net->input_weights, net->input_prev_weights,
           net->input_n);
}

TEST(structures_rodinia, backprop_a_network_is_run_forward_there_and_its_weights_come_back_adjusted)
{
    journey j = { NULL, NULL, 0, bpnn_walk, NULL, 0 };
    int k;
    site_start(66);
    bpnn_open();
    j.root = bpnn_make();
    j.type = BPNN_type;
    for (k = 1; k <= OUTPUTS; k++)
        see(&j.seen, (uint64_t)output_of(k));
    travel(&j);
    haul_type_free(&BPNN_type);
    site_end();
}
