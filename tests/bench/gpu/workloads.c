/* The workloads: their names, how they are built, and what must be in them after the kernel has
 * run.
 *
 *     list, splitlist, tree _ COUNT x BYTES    nodes of one size (56, 128, 1k, 1m; a multiple of
 *                                              8, at least 32), allocated one by one with malloc,
 *                                              linked in an order of chance
 *     umt _ ZONES x GROUPS x ANGLES            hexahedral zones of the transport code
 *     table _ ENTRIES, octree _ NODES, edges _ VERTICES
 *                                              those of haul_bench's workload "discovery"
 *     linear _ kK _ nN _ LAYOUT                a chain of K - 1 levels with an array each
 *     dense _ qQ _ nN _ all or selective       four levels, Q children each, an array on every node
 *
 * The last two are the deep-copy benchmark's, with the counts that its own code leaves unset, and
 * without the empty object at the end of Linear's chain.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

#define PATTERN_PIECE UINT64_C(0xd6e8feb86659fd93)
#define PATTERN_WORD UINT64_C(0xa0761d6478bd642f)

/* -------------------------------------------------------------------------------------------------
 * Memory and contents
 */
static void *grab(gpu_workload *made, size_t bytes)
{
    if (made->heap_count == made->heap_room) {
        made->heap_room = made->heap_room ? 2 * made->heap_room : 1024;
        made->heap = realloc(made->heap, made->heap_room * sizeof(void *));
        if (!made->heap)
            gpu_die(made->name, "out of memory");
    }
    return made->heap[made->heap_count++] = bench_allocate(bytes);
}

static uint64_t pattern(size_t piece, size_t word)
{
    return piece * PATTERN_PIECE + word * PATTERN_WORD;
}

static void fill(gpu_workload *made, size_t number, uint64_t *data, size_t words)
{
    size_t i;
    made->pieces[number].data = data;
    made->pieces[number].words = words;
    for (i = 0; i < words; i++)
        data[i] = pattern(number, i);
}

static uint64_t *make_array(gpu_workload *made, size_t number, size_t words)
{
    uint64_t *data = grab(made, words * sizeof(uint64_t));
    fill(made, number, data, words);
    made->objects++;
    made->graph_bytes += words * sizeof(uint64_t);
    return data;
}

static void *make_objects(gpu_workload *made, const gpu_kind *kind, size_t count)
{
    size_t bytes = gpu_object_bytes(kind, count), pointers = count * kind->field_count;
    made->objects++;
    made->graph_bytes += bytes;
    made->pointers += pointers;
    if (made->largest_pointers < pointers)
        made->largest_pointers = pointers;
    return memset(grab(made, bytes), 0, bytes);
}

static void make_pieces(gpu_workload *made, size_t count, size_t used)
{
    made->pieces = bench_allocate(count * sizeof(gpu_piece));
    memset(made->pieces, 0, count * sizeof(gpu_piece));
    made->piece_count = count;
    made->used_count = used;
}

static gpu_kind *add_kind(gpu_workload *made, const char *name, size_t bytes)
{
    gpu_kind *kind = &made->kind[made->kind_count++];
    kind->name = name;
    kind->bytes = bytes;
    return kind;
}

static void add_field(gpu_kind *kind, const char *name, size_t at, const gpu_kind *target,
                      size_t count_at)
{
    gpu_field *field = &kind->field[kind->field_count++];
    field->name = name;
    field->at = at;
    field->target = target;
    field->count_at = count_at;
    field->count_bytes = sizeof(int64_t);
}

/* -------------------------------------------------------------------------------------------------
 * List, split list, tree
 */
static void **make_nodes(gpu_workload *made, const gpu_kind *kind, size_t count)
{
    void **order = bench_allocate(count * sizeof(void *));
    bench_random random = { 1 };
    size_t i;
    for (i = 0; i < count; i++)
        order[i] = make_objects(made, kind, 1);
    for (i = count; i > 1; i--) {
        size_t j = bench_below(&random, i);
        void *swapped = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swapped;
    }
    return order;
}

static void set_pointer(void *node, size_t at, void *target)
{
    memcpy((char *)node + at, &target, sizeof(target));
}

static void add_part(gpu_layout *layout, size_t at, size_t words)
{
    layout->part_at[layout->parts] = at;
    layout->part_words[layout->parts++] = words;
}

static void fill_nodes(gpu_workload *made, void **order, size_t count)
{
    const gpu_layout *layout = &made->layout;
    size_t i;
    unsigned part;
    make_pieces(made, count * layout->parts, count * layout->parts);
    for (i = 0; i < count; i++)
        for (part = 0; part < layout->parts; part++)
            fill(made, i * layout->parts + part,
                 (uint64_t *)((char *)order[i] + layout->part_at[part]), layout->part_words[part]);
}

/* A list has its pointer before the data; a split list has it in the middle. */
static void make_list(gpu_workload *made, size_t count, size_t bytes, int split)
{
    size_t words = bytes / sizeof(uint64_t) - 1, before = split ? words / 2 : 0, i;
    gpu_kind *kind = add_kind(made, split ? "split list" : "list", bytes);
    gpu_layout *layout = &made->layout;
    void **order;
    layout->form = GPU_LIST;
    layout->nodes = count;
    layout->next_at = before * sizeof(uint64_t);
    if (before)
        add_part(layout, 0, before);
    add_part(layout, layout->next_at + sizeof(void *), words - before);
    add_field(kind, "next", layout->next_at, kind, GPU_NO_COUNT);
    order = make_nodes(made, kind, count);
    fill_nodes(made, order, count);
    for (i = 0; i + 1 < count; i++)
        set_pointer(order[i], layout->next_at, order[i + 1]);
    made->root = order[0];
    free(order);
}

/* Left pointer, data, right pointer; node i has the children 2 i + 1 and 2 i + 2. */
static void make_tree(gpu_workload *made, size_t count, size_t bytes)
{
    gpu_kind *kind = add_kind(made, "tree", bytes);
    gpu_layout *layout = &made->layout;
    void **order;
    size_t i;
    layout->form = GPU_TREE;
    layout->nodes = count;
    layout->next_at = 0;
    layout->right_at = bytes - sizeof(void *);
    add_part(layout, sizeof(void *), bytes / sizeof(uint64_t) - 2);
    add_field(kind, "left", layout->next_at, kind, GPU_NO_COUNT);
    add_field(kind, "right", layout->right_at, kind, GPU_NO_COUNT);
    order = make_nodes(made, kind, count);
    fill_nodes(made, order, count);
    for (i = 1; i < count; i++)
        set_pointer(order[(i - 1) / 2], i % 2 ? layout->next_at : layout->right_at, order[i]);
    made->root = order[0];
    free(order);
}

/* -------------------------------------------------------------------------------------------------
 * Zones. Eight corners, three faces at each, three dimensions. Connect's 72 32-bit numbers count as
 * 36 words.
 */
static const char *const zone_array_name[GPU_ZONE_ARRAYS] = { "VolumeOld", "Volume", "Sigt",
                                                              "SigtInv",   "STotal", "STime",
                                                              "A_fp",      "A_ez",   "Connect",
                                                              "Area",      "Radius" };

static void make_zone(gpu_workload *made, gpu_zone *zone, size_t number, size_t groups,
                      size_t angles)
{
    const size_t words[GPU_ZONE_USED] = { 8,  8,  groups, groups, 8 * groups, 8 * groups * angles,
                                          72, 72, 36 };
    size_t a;
    zone->corners = 8;
    zone->faces = 3;
    zone->first_corner = (int32_t)(8 * number);
    zone->faces_in_all = 24;
    for (a = 0; a < GPU_ZONE_USED; a++) {
        zone->array[a].data = make_array(made, number * GPU_ZONE_USED + a, words[a]);
        zone->array[a].count = (int64_t)words[a];
    }
}

static void make_zones(gpu_workload *made, size_t count, size_t groups, size_t angles)
{
    gpu_kind *root_kind = add_kind(made, "zones", sizeof(gpu_zones)),
             *kind = add_kind(made, "zone", sizeof(gpu_zone));
    gpu_zones *root;
    size_t i;
    add_field(root_kind, "zone", offsetof(gpu_zones, zone), kind, offsetof(gpu_zones, count));
    for (i = 0; i < GPU_ZONE_ARRAYS; i++) {
        size_t at = offsetof(gpu_zone, array) + i * sizeof(gpu_span);
        add_field(kind, zone_array_name[i], at + offsetof(gpu_span, data), NULL,
                  at + offsetof(gpu_span, count));
    }
    made->layout.form = GPU_ZONES;
    made->layout.nodes = count;
    make_pieces(made, count * GPU_ZONE_USED, count * GPU_ZONE_USED);
    made->root = root = make_objects(made, root_kind, 1);
    root->zone = make_objects(made, kind, count);
    root->count = (int64_t)count;
    for (i = 0; i < count; i++)
        make_zone(made, &root->zone[i], i, groups, angles);
}

/* -------------------------------------------------------------------------------------------------
 * Graphs of haul_bench's workload "discovery"
 */
static gpu_kind *add_pointers(gpu_workload *made, const gpu_kind *to)
{
    gpu_kind *kind = add_kind(made, "pointers", sizeof(void *));
    kind->nature = GPU_POINTER;
    add_field(kind, "to", 0, to, GPU_NO_COUNT);
    return kind;
}

static gpu_kind *add_data(gpu_workload *made, const char *name, size_t bytes)
{
    gpu_kind *kind = add_kind(made, name, bytes);
    kind->nature = GPU_DATA;
    return kind;
}

/* An array that a field counts by an int32_t. */
static void add_narrow_field(gpu_kind *kind, const char *name, size_t at, const gpu_kind *target,
                             size_t count_at)
{
    add_field(kind, name, at, target, count_at);
    kind->field[kind->field_count - 1].count_bytes = sizeof(int32_t);
}

/* `count` objects, or elements of one, of such a kind. */
static void count_in(gpu_workload *made, const gpu_kind *kind, size_t count)
{
    made->graph_bytes += gpu_object_bytes(kind, count);
    made->pointers += count * kind->field_count;
}

static void take_graph(gpu_workload *made, gpu_form form, size_t nodes, size_t pieces)
{
    made->layout.form = form;
    made->layout.nodes = nodes;
    made->root = made->graph.root;
    made->objects = made->graph.block_count;
    made->largest_pointers = GPU_FIELDS;
    make_pieces(made, pieces, pieces);
}

static void make_table(gpu_workload *made, size_t count)
{
    gpu_kind *table = add_kind(made, "table", sizeof(chain_table)),
             *entry = add_kind(made, "entry", sizeof(chain_entry)),
             *buckets = add_pointers(made, entry), *key = add_data(made, "key", sizeof(char));
    const chain_table *root;
    size_t i;
    add_field(table, "bucket", offsetof(chain_table, bucket), buckets,
              offsetof(chain_table, bucket_count));
    add_field(entry, "next", offsetof(chain_entry, next), entry, GPU_NO_COUNT);
    add_field(entry, "key", offsetof(chain_entry, key), key, GPU_STRING);
    discovered_make_table(&made->graph, count);
    made->type[0] = made->graph.type;
    made->type[1] = made->graph.others[0];
    take_graph(made, GPU_TABLE, count, count);
    root = made->root;
    made->largest_pointers = root->bucket_count;
    count_in(made, table, 1);
    count_in(made, buckets, root->bucket_count);
    for (i = 0; i < root->bucket_count; i++) {
        chain_entry *one = root->bucket[i];
        for (; one; one = one->next) {
            one->opaque = (void *)(uintptr_t)--count;
            fill(made, count, one->data, CHAIN_ENTRY_WORDS);
            count_in(made, entry, 1);
            count_in(made, key, strlen(one->key) + 1);
        }
    }
}

/* The walk by hand leaves the nodes in its queue, breadth first. */
static void make_octree(gpu_workload *made, size_t count)
{
    gpu_kind *node = add_kind(made, "octree", sizeof(octree_node)),
             *particles = add_data(made, "particles", sizeof(particle));
    const size_t leaf = discovered_octree_leaf(count);
    const void **queue;
    size_t i;
    for (i = 0; i < 8; i++)
        add_field(node, "child", offsetof(octree_node, child) + i * sizeof(void *), node,
                  GPU_NO_COUNT);
    add_field(node, "parent", offsetof(octree_node, parent), node, GPU_NO_COUNT);
    add_narrow_field(node, "particles", offsetof(octree_node, particles), particles,
                     offsetof(octree_node, particle_count));
    discovered_make_octree(&made->graph, count);
    made->type[0] = made->graph.type;
    take_graph(made, GPU_OCTREE, count, count - leaf);
    made->layout.first_leaf = leaf;
    queue = bench_allocate(made->graph.most * sizeof *queue);
    made->graph.walk(&made->graph, 0, made->graph.starts, queue);
    count_in(made, node, count);
    for (i = leaf; i < count; i++) {
        const octree_node *one = queue[i - made->graph.above];
        const size_t held = (size_t)one->particle_count;
        fill(made, i - leaf, (uint64_t *)(void *)one->particles,
             held * (sizeof(particle) / sizeof(uint64_t)));
        count_in(made, particles, held);
    }
    free(queue);
}

/* The edges of vertex i, of those that begin there, have its number as their length. */
static void number_edges(const mesh_vertex *vertex, uint64_t number)
{
    int32_t k;
    for (k = 0; k < vertex->edge_count; k++)
        if (vertex->edge[k]->end[0] == vertex)
            memcpy(&vertex->edge[k]->length, &number, sizeof number);
}

static void make_mesh(gpu_workload *made, size_t count)
{
    gpu_kind *root_kind = add_kind(made, "mesh", sizeof(mesh)),
             *vertex = add_kind(made, "vertex", sizeof(mesh_vertex)),
             *edge = add_kind(made, "edge", sizeof(mesh_edge)),
             *vertices = add_pointers(made, vertex), *edges = add_pointers(made, edge);
    const mesh *root;
    size_t i, objects = 2 + count;
    add_field(root_kind, "vertex", offsetof(mesh, vertex), vertices, offsetof(mesh, vertex_count));
    add_narrow_field(vertex, "edge", offsetof(mesh_vertex, edge), edges,
                     offsetof(mesh_vertex, edge_count));
    for (i = 0; i < 2; i++)
        add_field(edge, "end", offsetof(mesh_edge, end) + i * sizeof(void *), vertex, GPU_NO_COUNT);
    discovered_make_mesh(&made->graph, count);
    made->type[0] = made->graph.type;
    made->type[1] = made->graph.others[1];
    made->type[2] = made->graph.others[0];
    take_graph(made, GPU_MESH, count, count);
    root = made->root;
    made->largest_pointers = count;
    count_in(made, root_kind, 1);
    count_in(made, vertices, count);
    count_in(made, vertex, count);
    for (i = 0; i < count; i++) {
        mesh_vertex *one = root->vertex[i];
        fill(made, i, (uint64_t *)(void *)one->position, sizeof one->position / sizeof(uint64_t));
        number_edges(one, i);
        count_in(made, edges, (size_t)one->edge_count);
        objects += one->edge_count > 0;
    }
    count_in(made, edge, made->objects - objects);
}

/* -------------------------------------------------------------------------------------------------
 * Linear and Dense
 */
static void add_level_fields(gpu_kind *kind, const gpu_kind *next, size_t next_count_at)
{
    add_field(kind, "A", offsetof(gpu_level, a), NULL, offsetof(gpu_level, a_count));
    if (next)
        add_field(kind, "Lnext", offsetof(gpu_level, next), next, next_count_at);
}

/* The kernel's piece 0 is the last array where it uses that alone; the others come behind it. */
static size_t linear_piece(size_t level, size_t depth, int last_only)
{
    return last_only ? depth - 1 - level : level;
}

static void make_linear(gpu_workload *made, size_t k, size_t n, int all_made, int all_used)
{
    size_t depth = k - 1, i;
    gpu_kind *kind = add_kind(made, "level", sizeof(gpu_level));
    gpu_level *level, *first, **link = &first;
    add_level_fields(kind, kind, GPU_NO_COUNT);
    made->layout.form = GPU_LINEAR;
    made->layout.nodes = depth;
    made->layout.last_only = !all_used;
    make_pieces(made, all_made ? depth : 1, all_used ? depth : 1);
    for (i = 0; i < depth; i++) {
        *link = level = make_objects(made, kind, 1);
        if (all_made || i + 1 == depth) {
            level->a = make_array(made, linear_piece(i, depth, !all_used), n);
            level->a_count = (int64_t)n;
        }
        level->next_count = i + 1 < depth;
        link = &level->next;
        if (i + 1 == depth && all_made && !all_used)
            made->chosen = level;
    }
    made->root = first;
}

/* Numbers go level by level. Where the kernel uses the last array alone, the numbers are counted
 * from the end. */
static uint64_t *make_dense_array(gpu_workload *made, size_t number, size_t n)
{
    return make_array(made, made->layout.last_only ? made->piece_count - 1 - number : number, n);
}

static size_t make_dense_leaves(gpu_workload *made, gpu_level *parent, size_t q, size_t n,
                                size_t number)
{
    gpu_leaf *leaves = make_objects(made, &made->kind[3], q);
    size_t i;
    parent->next = (gpu_level *)leaves;
    parent->next_count = (int64_t)q;
    for (i = 0; i < q; i++) {
        leaves[i].a = make_dense_array(made, number++, n);
        leaves[i].a_count = (int64_t)n;
    }
    if (made->layout.last_only && number == made->piece_count)
        made->chosen = &leaves[q - 1];
    return number;
}

static size_t make_dense_level(gpu_workload *made, gpu_level *parent, unsigned depth, size_t q,
                               size_t n, size_t number)
{
    size_t i;
    parent->next = make_objects(made, &made->kind[depth], q);
    parent->next_count = (int64_t)q;
    for (i = 0; i < q; i++) {
        parent->next[i].a = make_dense_array(made, number++, n);
        parent->next[i].a_count = (int64_t)n;
    }
    return number;
}

static void make_dense(gpu_workload *made, size_t q, size_t n, int selective)
{
    static const char *const name[3] = { "L0", "L1", "L2" };
    gpu_kind *kind = made->kind, *leaf;
    gpu_level *root;
    size_t number = 0, i, j, count = 1 + q + q * q + q * q * q;
    for (i = 0; i < 3; i++)
        add_kind(made, name[i], sizeof(gpu_level));
    leaf = add_kind(made, "L3", sizeof(gpu_leaf));
    for (i = 0; i < 3; i++)
        add_level_fields(&kind[i], &kind[i + 1], offsetof(gpu_level, next_count));
    add_level_fields(leaf, NULL, GPU_NO_COUNT);
    made->layout.form = GPU_DENSE;
    made->layout.nodes = q;
    made->layout.last_only = selective;
    make_pieces(made, count, selective ? 1 : count);
    made->root = root = make_objects(made, kind, 1);
    root->a = make_dense_array(made, number++, n);
    root->a_count = (int64_t)n;
    number = make_dense_level(made, root, 1, q, n, number);
    for (i = 0; i < q; i++)
        number = make_dense_level(made, &root->next[i], 2, q, n, number);
    for (i = 0; i < q; i++)
        for (j = 0; j < q; j++)
            number = make_dense_leaves(made, &root->next[i].next[j], q, n, number);
}

/* -------------------------------------------------------------------------------------------------
 * Types for Haul, from the kinds
 */
static haul_count shape_of(const gpu_field *field)
{
    haul_count shape = HAUL_ONE;
    if (field->count_at == GPU_NO_COUNT)
        return shape;
    shape.kind = HAUL_COUNT_KIND_PRODUCT;
    shape.fields = 1;
    shape.field[0].offset = field->count_at;
    shape.field[0].bytes = sizeof(int64_t);
    shape.field[0].sign = 1;
    shape.plus = 0;
    return shape;
}

/* The context's argument is the address of the chosen object's address: its array travels, the
 * others do not. */
static int64_t chosen_count(const haul_here *here)
{
    const void *const *chosen = here->argument;
    int64_t count;
    memcpy(&count, (const char *)here->self + offsetof(gpu_leaf, a_count), sizeof(count));
    return here->self == *chosen ? count : 0;
}

static haul_field row_of(const gpu_workload *made, const gpu_field *field, haul_type *const *types,
                         int chosen_only)
{
    static const haul_count chosen = HAUL_COUNT_FN(chosen_count);
    const gpu_kind *target = field->target;
    haul_field row;
    memset(&row, 0, sizeof(row));
    row.name = field->name;
    row.kind = HAUL_FIELD_POINTER;
    row.offset = field->at;
    row.bytes = sizeof(void *);
    row.count = chosen_only && !target ? chosen : shape_of(field);
    row.element_bytes = target ? 0 : sizeof(uint64_t);
    row.target = target ? &types[target - made->kind] : NULL;
    return row;
}

static void make_types(const gpu_workload *made, haul_type **types, int chosen_only)
{
    static haul_context *context; /* of all types, as long as the program */
    haul_field rows[GPU_FIELDS];
    haul_struct what;
    unsigned i, f;
    if (!context && haul_context_create(NULL, &context) != HAUL_OK)
        gpu_die(made->name, "haul_context_create");
    for (i = 0; i < made->kind_count; i++) {
        const gpu_kind *kind = &made->kind[i];
        for (f = 0; f < kind->field_count; f++)
            rows[f] = row_of(made, &kind->field[f], types, chosen_only);
        memset(&what, 0, sizeof(what));
        what.name = kind->name;
        what.bytes = kind->bytes;
        what.fields = rows;
        what.field_count = kind->field_count;
        what.field_bytes = sizeof(rows[0]);
        if (haul_type_create(context, &what, &types[i]) != HAUL_OK)
            gpu_die(made->name, "haul_type_create");
    }
    if (haul_type_commit(types[0]) != HAUL_OK)
        gpu_die(made->name, haul_context_error(context)->text);
}

/* -------------------------------------------------------------------------------------------------
 * Names
 */
static size_t node_bytes(size_t number, char unit)
{
    return unit == 'k' ? number << 10 : unit == 'm' ? number << 20 : number;
}

static int make_of_nodes(gpu_workload *made, const char *name)
{
    char form[16], unit = 0;
    size_t count, bytes;
    if (sscanf(name, "%15[a-z]_%zux%zu%c", form, &count, &bytes, &unit) < 3)
        return 0;
    bytes = node_bytes(bytes, unit);
    if (count < 1 || bytes < 32 || bytes % 8)
        return 0;
    if (strcmp(form, "list") == 0 || strcmp(form, "splitlist") == 0)
        make_list(made, count, bytes, form[0] == 's');
    else if (strcmp(form, "tree") == 0)
        make_tree(made, count, bytes);
    else
        return 0;
    return 1;
}

static int make_by_name(gpu_workload *made, const char *name)
{
    char word[32];
    size_t a, b, c;
    if (sscanf(name, "umt_%zux%zux%zu", &a, &b, &c) == 3 && a && b && c)
        make_zones(made, a, b, c);
    else if (sscanf(name, "table_%zu", &a) == 1 && a)
        make_table(made, a);
    else if (sscanf(name, "octree_%zu", &a) == 1 && a > 9)
        make_octree(made, a);
    else if (sscanf(name, "edges_%zu", &a) == 1 && a > 3)
        make_mesh(made, a);
    else if (sscanf(name, "linear_k%zu_n%zu_%31s", &a, &b, word) == 3 && a > 1 && b)
        make_linear(made, a, b, strncmp(word, "allinit", 7) == 0, strstr(word, "allused") != NULL);
    else if (sscanf(name, "dense_q%zu_n%zu_%31s", &a, &b, word) == 3 && a && b)
        make_dense(made, a, b, strcmp(word, "selective") == 0);
    else
        return make_of_nodes(made, name);
    return 1;
}

enum { NAME_BYTES = 64 };
#define LARGEST_BYTES 4e9

typedef struct names {
    gpu_set set;
    void (*use)(const char *name, void *user);
    void *user;
} names;

/* In the sets of `sets`, separated by spaces? */
static void use_each(const names *all, unsigned sets, const char *list)
{
    char name[NAME_BYTES];
    int used;
    while (((unsigned)all->set & sets) && sscanf(list, "%63s%n", name, &used) == 1) {
        all->use(name, all->user);
        list += used;
    }
}

static void use_linear(const names *all, size_t k, size_t n)
{
    static const char *const layout[3] = { "allinit_allused", "allinit_LLused", "LLinit_LLused" };
    char name[NAME_BYTES];
    size_t i;
    for (i = 0; i < 3 && 8.0 * (double)n * (double)(k - 1) <= LARGEST_BYTES; i++) {
        snprintf(name, sizeof(name), "linear_k%zu_n%zu_%s", k, n, layout[i]);
        all->use(name, all->user);
    }
}

static void use_dense(const names *all, size_t q, size_t n)
{
    char name[NAME_BYTES];
    if (8.0 * (double)n * (double)(1 + q + q * q + q * q * q) > LARGEST_BYTES)
        return;
    snprintf(name, sizeof(name), "dense_q%zu_n%zu_all", q, n);
    all->use(name, all->user);
    snprintf(name, sizeof(name), "dense_q%zu_n%zu_selective", q, n);
    all->use(name, all->user);
}

static void use_grid(const names *all)
{
    size_t k, n, q;
    for (k = 2; k <= 10; k++)
        for (n = 100; n <= 100000000; n *= 10)
            use_linear(all, k, n);
    for (q = 2; q <= 16; q += 2)
        for (n = 10; n <= 100000; n *= 10)
            use_dense(all, q, n);
}

static void use_part_of_grid(const names *all)
{
    use_linear(all, 10, 1000);
    use_linear(all, 2, 1000000);
    use_linear(all, 10, 1000000);
    use_dense(all, 4, 10);
    use_dense(all, 8, 10000);
    use_dense(all, 16, 10);
    use_dense(all, 16, 1000);
}

void gpu_workload_names(gpu_set set, void (*use)(const char *name, void *user), void *user)
{
    const names all = { set, use, user };
    use_each(&all, GPU_SET_QUICK,
             "list_64x128 splitlist_64x128 tree_64x128 list_64x56 "
             "splitlist_64x72 tree_64x40 splitlist_16x1k "
             "umt_8x4x4 table_100 octree_100 edges_100 linear_k3_n100_allinit_allused "
             "linear_k3_n100_allinit_LLused linear_k3_n100_LLinit_LLused "
             "dense_q2_n10_all dense_q2_n10_selective");
    use_each(&all, GPU_SET_USUAL | GPU_SET_FULL,
             "list_1024x128 splitlist_1024x128 tree_1024x128 list_1024x1k "
             "splitlist_1024x1k tree_1024x1k "
             "list_1024x1m splitlist_1024x1m tree_1024x1m "
             "list_1000000x128 splitlist_1000000x128 tree_1000000x128 "
             "tree_32768x128 tree_65536x128 tree_1048575x64 "
             "list_1000000x56 tree_1000000x56 umt_2048x128x128 table_20000 table_1000000 "
             "octree_300000 edges_1000000");
    if (set == GPU_SET_USUAL)
        use_part_of_grid(&all);
    if (set == GPU_SET_FULL)
        use_grid(&all);
}

/* -------------------------------------------------------------------------------------------------
 * Life and contents
 */
static void sum_up(gpu_workload *made)
{
    size_t piece, word;
    for (piece = 0; piece < made->used_count; piece++) {
        size_t words = made->pieces[piece].words;
        if (made->longest_words < words)
            made->longest_words = words;
        for (word = 0; word < words; word++) {
            made->weights += GPU_WEIGHT(piece, word);
            made->pattern_sum += GPU_WEIGHT(piece, word) * pattern(piece, word);
        }
    }
}

int gpu_workload_make(gpu_workload *made, const char *name)
{
    memset(made, 0, sizeof(*made));
    snprintf(made->name, sizeof(made->name), "%s", name);
    if (!make_by_name(made, name))
        return 0;
    made->root_kind = &made->kind[0];
    sum_up(made);
    if (!made->graph.walk)
        make_types(made, made->type, 0);
    if (made->chosen)
        make_types(made, made->used_type, 1);
    return 1;
}

void gpu_workload_free(gpu_workload *it)
{
    size_t i;
    if (it->graph.walk) {
        memset(it->type, 0, sizeof(it->type)); /* the graph's own */
        discovered_free(&it->graph);
    }
    for (i = 0; i < it->kind_count; i++) {
        haul_type_free(&it->type[i]);
        haul_type_free(&it->used_type[i]);
    }
    for (i = 0; i < it->heap_count; i++)
        free(it->heap[i]);
    free(it->heap);
    free(it->pieces);
}

static void check_word(const gpu_workload *it, size_t piece, size_t word, const char *technique)
{
    uint64_t runs = piece < it->used_count ? it->generation : 0;
    if (it->pieces[piece].data[word] != pattern(piece, word) + runs) {
        char where[256];
        snprintf(where, sizeof(where), "%s: word %zu of piece %zu is wrong on the host after %s",
                 it->name, word, piece, technique);
        gpu_die(where, "the result did not come back");
    }
}

void gpu_workload_check(const gpu_workload *it, int thorough, const char *technique)
{
    size_t piece, word;
    for (piece = 0; piece < it->piece_count; piece++) {
        size_t words = it->pieces[piece].words;
        for (word = 0; thorough && word < words; word++)
            check_word(it, piece, word, technique);
        if (thorough || words == 0)
            continue;
        check_word(it, piece, 0, technique);
        check_word(it, piece, words - 1, technique);
        check_word(it, piece, piece * 977 % words, technique);
    }
}
