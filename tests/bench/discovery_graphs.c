/* The graphs of the workload "discovery": five of the other workloads, a hash table of two sizes,
 * an octree, tasks, a mesh and a grid. Objects come from malloc one by one, but the grid's cells
 * all at once, and are linked in an order of chance.
 */
#include <stdlib.h>
#include <string.h>

#include "discovery.h"
#include "support/types.h"

enum { PARTICLES_MOST = 16, TASK_VALUES = 4, SUBTREES = 1024 };

/* -------------------------------------------------------------------------------------------------
 * Support
 */
static void *allocate(discovered *made, size_t bytes)
{
    void *block = bench_allocate(bytes);
    memset(block, 0, bytes);
    return made->block[made->block_count++] = block;
}

static void expect(discovered *made, size_t blocks)
{
    made->block = bench_allocate(blocks * sizeof(void *));
    made->most = blocks;
}

static void shuffle(void **order, size_t count)
{
    bench_random random = { 1 };
    size_t i;
    for (i = count; i > 1; i--) {
        size_t j = bench_below(&random, i);
        void *swapped = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swapped;
    }
}

static void describe(const char *name, size_t bytes, const haul_field *fields, size_t count,
                     haul_type **type)
{
    if (type_make(name, bytes, fields, count, type) != HAUL_OK)
        bench_die(name, NULL);
}

/* A tree in breadth-first order, `children` for each node: its subtrees are starts. */
static void cut_tree(discovered *made, void *const *order, size_t count, size_t children)
{
    size_t first = 0, width = 1;
    while (width < SUBTREES && children * first + 1 + children * width <= count) {
        first = children * first + 1;
        width *= children;
    }
    made->start = bench_allocate(width * sizeof(void *));
    memcpy(made->start, order + first, width * sizeof(void *));
    made->starts = width;
    made->above = first;
}

/* -------------------------------------------------------------------------------------------------
 * The others' graphs
 */
static void make_shared(discovered *made, double scale)
{
    size_t i;
    for (i = 0; i < workload_maker_count; i++)
        if (strcmp(workload_makers[i].name, made->name) == 0)
            workload_make(&made->shared, &workload_makers[i], scale);
    made->type = made->shared.type;
    made->root = made->shared.root;
    made->root_count = made->shared.root_count;
    made->most = made->shared.objects;
    made->starts = 1;
}

static void make_list(discovered *made, double scale)
{
    make_shared(made, scale);
    made->walk = walk_list;
}

static void make_tree(discovered *made, double scale)
{
    const void **queue;
    size_t count;
    make_shared(made, scale);
    made->start = &made->root;
    queue = bench_allocate(made->most * sizeof *queue);
    count = walk_tree(made, 0, 1, queue);
    cut_tree(made, (void *const *)queue, count, 2);
    made->walk = walk_tree;
    free(queue);
}

static void make_graph(discovered *made, double scale)
{
    make_shared(made, scale);
    made->met = bench_map(made->most);
    made->walk = walk_graph;
}

static void make_strings(discovered *made, double scale)
{
    make_shared(made, scale);
    made->starts = ((table *)made->root)->count;
    made->above = 2;
    made->walk = walk_strings;
}

static void make_counted(discovered *made, double scale)
{
    make_shared(made, scale);
    made->starts = made->root_count;
    made->above = 1;
    made->walk = walk_records;
}

/* -------------------------------------------------------------------------------------------------
 * A hash table
 */
static void add_entry(discovered *made, chain_table *table, bench_random *random)
{
    chain_entry *entry = allocate(made, sizeof *entry), **bucket;
    const size_t length = KEY_LEAST + bench_below(random, KEY_MOST - KEY_LEAST + 1);
    entry->key = allocate(made, length + 1);
    memset(entry->key, KEY_LETTER(length), length);
    entry->data[0] = bench_next(random);
    entry->opaque = entry;
    bucket = &table->bucket[entry->data[0] % table->bucket_count];
    entry->next = *bucket;
    *bucket = entry;
}

static void make_chains(discovered *made, size_t count)
{
    const haul_field entry_fields[] = { HAUL_OBJECT(chain_entry, next, &made->others[0]),
                                        HAUL_STRING(chain_entry, key) };
    const haul_field table_fields[] = { HAUL_POINTERS(chain_table, bucket, &made->others[0],
                                                      HAUL_COUNT(chain_table, bucket_count)) };
    bench_random random = { 5 };
    chain_table *table;
    size_t buckets = 4, i;
    while (buckets < count)
        buckets *= 2;
    expect(made, 2 * count + 2);
    table = allocate(made, sizeof *table);
    table->bucket = allocate(made, buckets * sizeof *table->bucket);
    table->bucket_count = buckets;
    for (i = 0; i < count; i++)
        add_entry(made, table, &random);
    describe("entry", sizeof(chain_entry), entry_fields, 2, &made->others[0]);
    describe("table", sizeof(chain_table), table_fields, 1, &made->type);
    made->root = table;
    made->starts = buckets;
    made->above = 2;
    made->walk = walk_chains;
}

static void make_small_table(discovered *made, double scale)
{
    make_chains(made, (size_t)(2e4 * scale) + 4);
}

static void make_table(discovered *made, double scale)
{
    make_chains(made, (size_t)(1e6 * scale) + 4);
}

/* -------------------------------------------------------------------------------------------------
 * An octree
 */
static void link_octree(octree_node **order, size_t count)
{
    size_t i, child;
    for (i = 0; i < count; i++)
        for (child = 8 * i + 1; child <= 8 * i + 8 && child < count; child++) {
            order[i]->child[child - 8 * i - 1] = order[child];
            order[child]->parent = order[i];
        }
}

size_t discovered_octree_leaf(size_t nodes)
{
    return (nodes - 1) / 8 + 1;
}

static void make_octree_of(discovered *made, size_t count)
{
    const haul_field fields[] = { HAUL_EACH(octree_node, child, .target = &made->type),
                                  HAUL_OBJECT(octree_node, parent, &made->type),
                                  HAUL_ARRAY(octree_node, particles,
                                             HAUL_COUNT(octree_node, particle_count)) };
    octree_node **order = bench_allocate(count * sizeof *order);
    bench_random random = { 6 };
    size_t i;
    expect(made, 2 * count);
    for (i = 0; i < count; i++)
        order[i] = allocate(made, sizeof *order[i]);
    shuffle((void **)order, count);
    link_octree(order, count);
    for (i = discovered_octree_leaf(count); i < count; i++) {
        const size_t particles = bench_below(&random, PARTICLES_MOST) + 1;
        order[i]->particles = allocate(made, particles * sizeof(particle));
        order[i]->particle_count = (int32_t)particles;
    }
    describe("octree", sizeof(octree_node), fields, 3, &made->type);
    made->root = order[0];
    made->walk = walk_octree;
    cut_tree(made, (void *const *)order, count, 8);
    free(order);
}

static void make_octree(discovered *made, double scale)
{
    make_octree_of(made, (size_t)(3e5 * scale) + 10);
}

/* -------------------------------------------------------------------------------------------------
 * Tasks: a tree whose rows and fields have directions
 */
static void make_tasks(discovered *made, double scale)
{
    const haul_field fields[] = {
        HAUL_EACH(task, child, .target = &made->type),
        HAUL_ARRAY(task, input, HAUL_COUNT(task, input_count), .transfer = HAUL_COPYIN),
        HAUL_ARRAY(task, result, HAUL_COUNT(task, result_count), .transfer = HAUL_COPYOUT),
        HAUL_RAW(task, tolerance, .transfer = HAUL_COPYIN),
        HAUL_RAW(task, residual, .transfer = HAUL_COPYOUT),
    };
    const size_t count = (size_t)(4e5 * scale) + 10;
    task **order = bench_allocate(count * sizeof *order);
    size_t i;
    expect(made, 3 * count);
    for (i = 0; i < count; i++) {
        order[i] = allocate(made, sizeof *order[i]);
        order[i]->input_count = order[i]->result_count = 1 + (int32_t)(i % TASK_VALUES);
        order[i]->input = allocate(made, TASK_VALUES * sizeof(double));
        order[i]->result = allocate(made, TASK_VALUES * sizeof(double));
    }
    shuffle((void **)order, count);
    for (i = 1; i < count; i++)
        order[(i - 1) / 2]->child[(i - 1) % 2] = order[i];
    describe("task", sizeof(task), fields, 5, &made->type);
    made->root = order[0];
    made->walk = walk_tasks;
    cut_tree(made, (void *const *)order, count, 2);
    made->above *= 3; /* each task and its arrays */
    free(order);
}

/* -------------------------------------------------------------------------------------------------
 * A mesh: three edges for two vertices, each between two vertices of chance
 */
static void link_edges(discovered *made, mesh_vertex **vertex, size_t count, mesh_edge **edge,
                       size_t edges)
{
    bench_random random = { 7 };
    size_t i, end;
    for (i = 0; i < edges; i++)
        for (end = 0; end < 2; end++) {
            edge[i]->end[end] = vertex[bench_below(&random, count)];
            edge[i]->end[end]->edge_count++;
        }
    for (i = 0; i < count; i++) {
        if (vertex[i]->edge_count)
            vertex[i]->edge =
                allocate(made, (size_t)vertex[i]->edge_count * sizeof *vertex[i]->edge);
        vertex[i]->edge_count = 0;
    }
    for (i = 0; i < edges; i++)
        for (end = 0; end < 2; end++)
            if (end == 0 || edge[i]->end[1] != edge[i]->end[0])
                edge[i]->end[end]->edge[edge[i]->end[end]->edge_count++] = edge[i];
}

static void make_mesh(discovered *made, size_t count)
{
    const haul_field edge_fields[] = { HAUL_EACH(mesh_edge, end, .target = &made->others[1]) };
    const haul_field vertex_fields[] = { HAUL_POINTERS(mesh_vertex, edge, &made->others[0],
                                                       HAUL_COUNT(mesh_vertex, edge_count)) };
    const haul_field mesh_fields[] = { HAUL_POINTERS(mesh, vertex, &made->others[1],
                                                     HAUL_COUNT(mesh, vertex_count)) };
    const size_t edges = count + count / 2;
    mesh_edge **edge = bench_allocate(edges * sizeof *edge);
    mesh *root;
    size_t i;
    expect(made, 2 + 2 * count + edges);
    root = allocate(made, sizeof *root);
    root->vertex = allocate(made, count * sizeof *root->vertex);
    root->vertex_count = count;
    for (i = 0; i < count; i++)
        root->vertex[i] = allocate(made, sizeof(mesh_vertex));
    for (i = 0; i < edges; i++)
        edge[i] = allocate(made, sizeof(mesh_edge));
    shuffle((void **)root->vertex, count);
    shuffle((void **)edge, edges);
    link_edges(made, root->vertex, count, edge, edges);
    free(edge);
    describe("edge", sizeof(mesh_edge), edge_fields, 1, &made->others[0]);
    describe("vertex", sizeof(mesh_vertex), vertex_fields, 1, &made->others[1]);
    describe("mesh", sizeof(mesh), mesh_fields, 1, &made->type);
    made->root = root;
    made->starts = count;
    made->above = 2;
    made->walk = walk_mesh;
}

static void make_edges(discovered *made, double scale)
{
    make_mesh(made, (size_t)(1e6 * scale) + 4);
}

/* -------------------------------------------------------------------------------------------------
 * A grid: each cell leads to four others, at most 1000 behind it, in the array that holds them
 */
static void make_cells(discovered *made, double scale)
{
    const haul_field cell_fields[] = { HAUL_EACH(grid_cell, near, .target = &made->others[0]) };
    const haul_field grid_fields[] = { HAUL_OBJECTS(grid, cell, &made->others[0],
                                                    HAUL_COUNT(grid, cell_count)) };
    const size_t count = (size_t)(1e6 * scale) + 4;
    bench_random random = { 9 };
    grid *root;
    size_t i;
    unsigned k;
    expect(made, 2);
    root = allocate(made, sizeof *root);
    root->cell = allocate(made, count * sizeof *root->cell);
    root->cell_count = count;
    for (i = 0; i < count; i++)
        for (k = 0; k < 4; k++)
            root->cell[i].near[k] = &root->cell[(i + bench_below(&random, 1000)) % count];
    describe("cell", sizeof(grid_cell), cell_fields, 1, &made->others[0]);
    describe("grid", sizeof(grid), grid_fields, 1, &made->type);
    made->root = root;
    made->starts = count;
    made->above = 2;
    made->walk = walk_grid;
}

/* -------------------------------------------------------------------------------------------------
 * All of them
 */
static const struct {
    const char *name;
    void (*make)(discovered *made, double scale);
} maker[DISCOVERED] = { { "list", make_list },           { "tree", make_tree },
                        { "graph", make_graph },         { "strings", make_strings },
                        { "counted", make_counted },     { "table_20000", make_small_table },
                        { "table_1000000", make_table }, { "octree", make_octree },
                        { "tasks", make_tasks },         { "edges", make_edges },
                        { "cells", make_cells } };

static void begin(discovered *made, const char *name)
{
    memset(made, 0, sizeof *made);
    made->name = name;
    made->root_count = 1;
}

static void commit(const discovered *made)
{
    if (haul_type_commit(made->type) != HAUL_OK)
        bench_die(made->name, type_error());
}

void discovered_make(discovered *made, int i, double scale)
{
    begin(made, maker[i].name);
    maker[i].make(made, scale);
    commit(made);
}

void discovered_make_table(discovered *made, size_t entries)
{
    begin(made, "table");
    make_chains(made, entries);
    commit(made);
}

void discovered_make_octree(discovered *made, size_t nodes)
{
    begin(made, "octree");
    make_octree_of(made, nodes);
    commit(made);
}

void discovered_make_mesh(discovered *made, size_t vertices)
{
    begin(made, "edges");
    make_mesh(made, vertices);
    commit(made);
}

void discovered_free(discovered *it)
{
    size_t i;
    for (i = 0; i < it->block_count; i++)
        free(it->block[i]);
    free(it->block);
    free(it->start);
    if (it->met)
        bench_unmap(it->met, it->most);
    if (it->shared.name) {
        workload_free(&it->shared);
    } else {
        haul_type_free(&it->type);
        haul_type_free(&it->others[0]);
        haul_type_free(&it->others[1]);
    }
}
