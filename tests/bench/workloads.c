/* The graphs of the bench. Heap objects come from malloc one by one, in order; the order in which
 * they are linked is one of chance, so that a walk along the pointers jumps about the heap, as in a
 * program that has run for a while.
 *
 * Every object carries its number in its data, so that check.c can tell objects apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "support/types.h"

static haul_type *list_type, *tree_type, *graph_type, *blocks_type, *strings_type, *objects_type,
    *record_type, *called_type;

enum { BLOCK_BYTES = 1 << 20, STRING_BYTES_MAX = 63, ARRAY_COUNT_MAX = 32, HEAP_REACH = 64 };

static const haul_field list_fields[] = { HAUL_OBJECT(list_node, next, &list_type) };
static const haul_field tree_fields[] = { HAUL_OBJECT(tree_node, left, &tree_type),
                                          HAUL_OBJECT(tree_node, right, &tree_type) };
static const haul_field graph_fields[] = { HAUL_EACH(graph_node, edge, .target = &graph_type) };
static const haul_field blocks_fields[] = { HAUL_ARRAYS(table, item, HAUL_COUNT(table, count),
                                                        HAUL_FIXED(BLOCK_BYTES)) };
static const haul_field strings_fields[] = { HAUL_STRINGS(table, item, HAUL_COUNT(table, count)) };
static const haul_field objects_fields[] = { HAUL_POINTERS(object_table, item, &graph_type,
                                                           HAUL_COUNT(object_table, count)) };
static const haul_field record_fields[] = {
    HAUL_ARRAY(record, value, HAUL_COUNT(record, value_count)),
    HAUL_ARRAY(record, index, HAUL_COUNT(record, index_count))
};
HAUL_FUNCTION(count_values, record, self->value_count)
HAUL_FUNCTION(count_indices, record, self->index_count)
static const haul_field called_fields[] = { HAUL_ARRAY(record, value, HAUL_COUNT_FN(count_values)),
                                            HAUL_ARRAY(record, index,
                                                       HAUL_COUNT_FN(count_indices)) };

/* -------------------------------------------------------------------------------------------------
 * Support
 */
static void describe(workload *made, haul_type **type, const char *name, size_t bytes,
                     const haul_field *fields, size_t count)
{
    if (!*type && type_make(name, bytes, fields, count, type) != HAUL_OK)
        bench_die(name, NULL);
    made->type = *type;
}

static size_t scaled(double count, double scale)
{
    double result = count * scale;
    return result < 4 ? 4 : (size_t)result;
}

static void allocate_heap(workload *made, size_t count, size_t bytes)
{
    size_t i;
    made->heap = bench_allocate(count * sizeof(void *));
    made->heap_count = count;
    for (i = 0; i < count; i++) {
        made->heap[i] = bench_allocate(bytes);
        memset(made->heap[i], (int)(i & 0x7f), bytes);
        memcpy((char *)made->heap[i] + bytes - sizeof(i), &i, sizeof(i));
    }
}

/* The same addresses in an order of chance (Fisher and Yates). Freed by the caller. */
static void **shuffled(const workload *made)
{
    void **order = bench_allocate(made->heap_count * sizeof(void *));
    bench_random random = { 1 };
    size_t i;
    memcpy(order, made->heap, made->heap_count * sizeof(void *));
    for (i = made->heap_count; i > 1; i--) {
        size_t j = bench_below(&random, i);
        void *swapped = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swapped;
    }
    return order;
}

/* -------------------------------------------------------------------------------------------------
 * Nodes
 */
static void **make_nodes(workload *made, size_t count, size_t bytes, unsigned pointers)
{
    void **order;
    allocate_heap(made, count, bytes);
    order = shuffled(made);
    made->shape = SHAPE_NODES;
    made->node_bytes = bytes;
    made->pointers = pointers;
    made->root = order[0];
    made->root_count = 1;
    made->objects = count;
    made->described_bytes = count * bytes;
    return order;
}

/* All nodes have their pointers first. */
static void link_list(void **order, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        *(void **)order[i] = i + 1 < count ? order[i + 1] : NULL;
}

static void link_tree(void **order, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        void **child = order[i];
        child[0] = 2 * i + 1 < count ? order[2 * i + 1] : NULL;
        child[1] = 2 * i + 2 < count ? order[2 * i + 2] : NULL;
    }
}

/* Each pointer leads to one of the next `reach` nodes. */
static void link_graph(void **order, size_t count, size_t reach)
{
    bench_random random = { 2 };
    size_t i;
    int k;
    for (i = 0; i < count; i++)
        for (k = 0; k < 4; k++)
            ((void **)order[i])[k] = order[(i + 1 + bench_below(&random, reach)) % count];
}

static void make_list_of(workload *made, size_t count)
{
    void **order = make_nodes(made, count, sizeof(list_node), 1);
    describe(made, &list_type, "list", sizeof(list_node), list_fields, 1);
    link_list(order, count);
    free(order);
}

static void make_list(workload *made, double scale)
{
    make_list_of(made, scaled(1e6, scale));
}

static void make_long_list(workload *made, double scale)
{
    make_list_of(made, scaled(1e7, scale));
}

/* A perfect binary tree when scale is 1, else a complete one. */
static void make_tree(workload *made, double scale)
{
    size_t count = scaled((1 << 20) - 1, scale);
    void **order = make_nodes(made, count, sizeof(tree_node), 2);
    describe(made, &tree_type, "tree", sizeof(tree_node), tree_fields, 2);
    link_tree(order, count);
    free(order);
}

/* Some 98 % of the nodes are within reach of the root; the rest is not part of the graph. */
static void make_graph_of(workload *made, size_t count)
{
    void **order = make_nodes(made, count, sizeof(graph_node), 4);
    describe(made, &graph_type, "graph", sizeof(graph_node), graph_fields, 1);
    link_graph(order, count, count);
    free(order);
}

static void make_graph(workload *made, double scale)
{
    make_graph_of(made, scaled(1e6, scale));
}

static void make_large_graph(workload *made, double scale)
{
    make_graph_of(made, scaled(1e7, scale));
}

static void describe_sized(workload *made, size_t bytes, unsigned pointers)
{
    const haul_field *rows = pointers == 1   ? list_fields
                             : pointers == 2 ? tree_fields
                                             : graph_fields;
    haul_field row[2];
    size_t count = pointers == 2 ? 2 : 1, i;
    memcpy(row, rows, count * sizeof(haul_field));
    for (i = 0; i < count; i++) {
        row[i].target = &made->type;
        row[i].element_bytes = bytes;
    }
    if (type_make("node", bytes, row, count, &made->type) != HAUL_OK)
        bench_die("node", NULL);
    if (haul_type_commit(made->type) != HAUL_OK)
        bench_die("node", type_error());
}

void workload_make_sized(workload *made, size_t count, size_t bytes, unsigned pointers,
                         int is_shuffled)
{
    void **order, **shuffled_order;
    memset(made, 0, sizeof(*made));
    made->name = "sizes";
    made->is_sized = 1;
    shuffled_order = make_nodes(made, count, bytes, pointers);
    order = is_shuffled ? shuffled_order : made->heap;
    made->root = order[0];
    describe_sized(made, bytes, pointers);
    if (pointers == 1)
        link_list(order, count);
    else if (pointers == 2)
        link_tree(order, count);
    else
        link_graph(order, count, is_shuffled || count < HEAP_REACH ? count : HEAP_REACH);
    free(shuffled_order);
}

/* -------------------------------------------------------------------------------------------------
 * Tables
 */
static table *make_table(workload *made, size_t count, size_t item_bytes)
{
    table *root = bench_allocate(sizeof(table));
    made->shape = SHAPE_TABLE;
    made->node_bytes = item_bytes;
    made->root = root;
    made->root_count = 1;
    made->objects = count + 2;
    made->described_bytes = sizeof(table) + count * sizeof(char *);
    root->count = count;
    return root;
}

static void make_blocks(workload *made, double scale)
{
    size_t count = scaled(1000, scale);
    table *root = make_table(made, count, BLOCK_BYTES);
    describe(made, &blocks_type, "blocks", sizeof(table), blocks_fields, 1);
    allocate_heap(made, count, BLOCK_BYTES);
    root->item = (char **)shuffled(made);
    made->described_bytes += count * BLOCK_BYTES;
}

/* Odd lengths from 1 to 63, terminator not counted. */
static void make_strings(workload *made, double scale)
{
    size_t count = scaled(1e6, scale), i;
    table *root = make_table(made, count, 0);
    bench_random random = { 3 };
    describe(made, &strings_type, "strings", sizeof(table), strings_fields, 1);
    made->heap = bench_allocate(count * sizeof(void *));
    made->heap_count = count;
    for (i = 0; i < count; i++) {
        size_t length = 2 * bench_below(&random, (STRING_BYTES_MAX + 1) / 2) + 1;
        char *text = bench_allocate(length + 1);
        memset(text, 'a' + (int)(i % 26), length);
        if (length > 12)
            text[sprintf(text, "%lu", (unsigned long)i)] = ' ';
        text[length] = '\0';
        made->heap[i] = text;
        made->described_bytes += length + 1;
    }
    root->item = (char **)shuffled(made);
}

/* 10^8 pointers to one object. */
static void make_pointers(workload *made, double scale)
{
    size_t count = scaled(1e8, scale), i;
    object_table *root = (object_table *)make_table(made, count, sizeof(graph_node));
    describe(made, &graph_type, "graph", sizeof(graph_node), graph_fields, 1);
    describe(made, &objects_type, "objects", sizeof(object_table), objects_fields, 1);
    allocate_heap(made, 1, sizeof(graph_node));
    memset(((graph_node *)made->heap[0])->edge, 0, sizeof(((graph_node *)made->heap[0])->edge));
    made->objects = 3;
    made->pointers = 4;
    made->described_bytes += sizeof(graph_node);
    made->item_bytes = count * sizeof(graph_node *);
    root->item = bench_map(made->item_bytes);
    for (i = 0; i < count; i++)
        root->item[i] = made->heap[0];
}

/* -------------------------------------------------------------------------------------------------
 * Records: one array of structs, each with two counted arrays
 */
static void make_records(workload *made, double scale)
{
    size_t count = scaled(200000, scale), i;
    record *records = bench_allocate(count * sizeof(record));
    void **order;
    bench_random random = { 4 };
    describe(made, &record_type, "record", sizeof(record), record_fields, 2);
    allocate_heap(made, 2 * count, ARRAY_COUNT_MAX * sizeof(double));
    order = shuffled(made);
    for (i = 0; i < count; i++) {
        record *one = &records[i];
        one->value = order[2 * i];
        one->index = order[2 * i + 1];
        one->value_count = (int32_t)bench_below(&random, ARRAY_COUNT_MAX) + 1;
        one->index_count = (int32_t)bench_below(&random, ARRAY_COUNT_MAX) + 1;
        one->weight = (double)i;
        one->value[0] = (double)i;
        one->index[0] = (int32_t)i;
        made->described_bytes += sizeof(record) + (size_t)one->value_count * sizeof(double) +
                                 (size_t)one->index_count * sizeof(int32_t);
    }
    free(order);
    made->shape = SHAPE_RECORDS;
    made->root = records;
    made->root_count = count;
    made->objects = 2 * count + 1;
}

/* The same, with functions that tell the counts. */
static void make_called(workload *made, double scale)
{
    make_records(made, scale);
    made->sibling_type = made->type;
    describe(made, &called_type, "called", sizeof(record), called_fields, 2);
}

/* -------------------------------------------------------------------------------------------------
 * All of them, their end, and their contents
 */
const workload_maker workload_makers[] = {
    { "list", 0, make_list },           { "tree", 0, make_tree },
    { "graph", 0, make_graph },         { "blocks", 0, make_blocks },
    { "strings", 0, make_strings },     { "counted", 0, make_records },
    { "called", 0, make_called },       { "pointers", 1, make_pointers },
    { "long_list", 1, make_long_list }, { "large_graph", 1, make_large_graph },
};
const size_t workload_maker_count = sizeof(workload_makers) / sizeof(workload_makers[0]);

void workload_make(workload *made, const workload_maker *maker, double scale)
{
    memset(made, 0, sizeof(*made));
    made->name = maker->name;
    maker->make(made, scale);
    if (haul_type_commit(made->type) != HAUL_OK)
        bench_die(made->name, type_error());
    if (made->sibling_type && haul_type_commit(made->sibling_type) != HAUL_OK)
        bench_die(made->name, type_error());
}

void workload_free(workload *it)
{
    size_t i;
    for (i = 0; i < it->heap_count; i++)
        free(it->heap[i]);
    free(it->heap);
    if (it->shape == SHAPE_TABLE && it->item_bytes)
        bench_unmap(((table *)it->root)->item, it->item_bytes);
    else if (it->shape == SHAPE_TABLE)
        free(((table *)it->root)->item);
    if (it->shape != SHAPE_NODES)
        free(it->root);
    if (it->is_sized)
        haul_type_free(&it->type);
}

void workload_free_types(void)
{
    haul_type_free(&list_type);
    haul_type_free(&tree_type);
    haul_type_free(&graph_type);
    haul_type_free(&blocks_type);
    haul_type_free(&strings_type);
    haul_type_free(&objects_type);
    haul_type_free(&record_type);
    haul_type_free(&called_type);
}

static void scramble_item(const workload *it, char *item)
{
    size_t skip = it->pointers * sizeof(void *);
    if (it->shape == SHAPE_TABLE && it->node_bytes == 0)
        memset(item, '?', strlen(item));
    else
        memset(item + skip, '?', it->node_bytes - skip);
}

void workload_scramble(workload *it)
{
    record *records = it->root;
    size_t i;
    for (i = 0; i < it->heap_count && it->shape != SHAPE_RECORDS; i++)
        scramble_item(it, it->heap[i]);
    for (i = 0; i < it->root_count && it->shape == SHAPE_RECORDS; i++) {
        memset(records[i].value, '?', (size_t)records[i].value_count * sizeof(double));
        memset(records[i].index, '?', (size_t)records[i].index_count * sizeof(int32_t));
        records[i].weight = -1;
    }
}
