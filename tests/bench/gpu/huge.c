/* One tree of hundreds of millions of nodes, by all threads: how long it takes to a GPU and back,
 * and how much host memory Haul uses beside it.
 *
 * The comparators have no turn here: their tables would take more memory than the graph. The limit
 * is a raw copy of as many bytes, out of one pinned piece that is sent again and again. A walk by
 * hand says what it takes to follow the pointers.
 *
 * Threads take the nodes from malloc and link them in that order, breadth first. The copy is
 * checked by its way back: between the two, the host's data are overwritten.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul/cuda.h>

#include "base/pool.h"
#include "gpu.h"

enum { DATA_WORDS = 4, STARTS_MOST = 1 << 14, STACK = 64, STATUS_LINE = 128 };
#define RAW_BYTES ((size_t)1 << 30)
#define THREADS_MAX 16u
#define NAME "huge"
#define WAY "haul_threads"

typedef struct huge_node {
    struct huge_node *left, *right;
    uint64_t data[DATA_WORDS];
} huge_node;

typedef struct huge_tree {
    haul__pool *pool;
    huge_node **node; /* by number, while the tree is made and linked */
    size_t count;
    huge_node *root;
    huge_node *start[STARTS_MOST]; /* the nodes of one level: subtrees for a walk */
    size_t starts, above;
    size_t found[HAUL__POOL_CHUNKS]; /* by chunk: nodes, or wrong data */
} huge_tree;

/* -------------------------------------------------------------------------------------------------
 * The tree
 */
static void for_all(huge_tree *tree, size_t count, haul__pool_work *work)
{
    memset(tree->found, 0, sizeof(tree->found));
    haul__pool_run(tree->pool, SIZE_MAX, 0, count, 1, work, tree);
}

static size_t sum_up(const huge_tree *tree)
{
    size_t sum = 0, i;
    for (i = 0; i < HAUL__POOL_CHUNKS; i++)
        sum += tree->found[i];
    return sum;
}

static void make_nodes(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    huge_tree *tree = user;
    size_t i, word;
    (void)number;
    (void)scratch;
    for (i = first; i < end; i++) {
        tree->node[i] = bench_allocate(sizeof(huge_node));
        for (word = 0; word < DATA_WORDS; word++)
            tree->node[i]->data[word] = i;
    }
}

static huge_node *node_at(const huge_tree *tree, size_t i)
{
    return i < tree->count ? tree->node[i] : NULL;
}

static void link_nodes(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const huge_tree *tree = user;
    size_t i;
    (void)number;
    (void)scratch;
    for (i = first; i < end; i++) {
        tree->node[i]->left = node_at(tree, 2 * i + 1);
        tree->node[i]->right = node_at(tree, 2 * i + 2);
    }
}

static void make_tree(huge_tree *tree, size_t count)
{
    size_t i;
    tree->count = count;
    tree->node = bench_map_untouched(count * sizeof(*tree->node));
    for_all(tree, count, make_nodes);
    for_all(tree, count, link_nodes);
    for (tree->starts = 1; 2 * tree->starts <= STARTS_MOST && 4 * tree->starts < count;)
        tree->starts *= 2;
    tree->above = tree->starts - 1;
    for (i = 0; i < tree->starts; i++)
        tree->start[i] = tree->node[tree->above + i];
    tree->root = tree->node[0];
    bench_unmap(tree->node, count * sizeof(*tree->node));
}

/* Calls visit for each node of some subtrees, depth first. */
static void walk(const huge_tree *tree, size_t first, size_t end,
                 void (*visit)(huge_node *node, size_t *found), size_t *found)
{
    huge_node *stack[STACK];
    for (; first < end; first++) {
        size_t depth = 1;
        stack[0] = tree->start[first];
        while (depth > 0) {
            huge_node *node = stack[--depth];
            if (node->left)
                stack[depth++] = node->left;
            if (node->right)
                stack[depth++] = node->right;
            visit(node, found);
        }
    }
}

static void count_node(huge_node *node, size_t *found)
{
    (void)node;
    ++*found;
}

/* Its number stays in the first word; the others come back from the device. */
static void spoil_node(huge_node *node, size_t *found)
{
    (void)found;
    memset(&node->data[1], 0x5a, sizeof(node->data) - sizeof(node->data[0]));
}

static void check_node(huge_node *node, size_t *found)
{
    size_t word;
    for (word = 1; word < DATA_WORDS; word++)
        *found += node->data[word] != node->data[0];
}

static void count_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    huge_tree *tree = user;
    (void)scratch;
    walk(tree, first, end, count_node, &tree->found[number]);
}

static void spoil_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    huge_tree *tree = user;
    (void)scratch;
    walk(tree, first, end, spoil_node, &tree->found[number]);
}

static void check_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    huge_tree *tree = user;
    (void)scratch;
    walk(tree, first, end, check_node, &tree->found[number]);
}

static void time_walk(huge_tree *tree)
{
    const double started = bench_milliseconds();
    for_all(tree, tree->starts, count_chunk);
    report_add("walk_threads", "to", bench_milliseconds() - started, REPORT_TIME);
    if (sum_up(tree) + tree->above != tree->count)
        gpu_die(NAME, "the walk has not found all nodes");
}

/* -------------------------------------------------------------------------------------------------
 * Limits
 */
static void time_raw(size_t bytes, uint64_t there)
{
    const size_t most = bytes < RAW_BYTES ? bytes : RAW_BYTES;
    char *pinned = gpu_allocate_pinned(most);
    double started;
    size_t at;
    memset(pinned, 0x5a, most);
    gpu_copy_to(there, pinned, most);
    started = bench_milliseconds();
    for (at = 0; at < bytes; at += most)
        gpu_start_copy_to(there, pinned, bytes - at < most ? bytes - at : most);
    gpu_wait();
    report_add(GPU_LIMIT, "to", bench_milliseconds() - started, "to");
    started = bench_milliseconds();
    for (at = 0; at < bytes; at += most)
        gpu_copy_from(pinned, there, bytes - at < most ? bytes - at : most);
    report_add(GPU_LIMIT, "from", bench_milliseconds() - started, "from");
    gpu_release_pinned(pinned);
}

/* The memory of this process, in KiB: what it has, or the most that it has had. */
static double kib_of(const char *what)
{
    char line[STATUS_LINE];
    double kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, what, strlen(what)) == 0)
            kib = atof(line + strlen(what));
    if (status)
        fclose(status);
    return kib;
}

/* From here on, the most is counted anew. */
static void forget_most(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        fputs("5", file);
        fclose(file);
    }
}

/* -------------------------------------------------------------------------------------------------
 * Haul
 */
static haul_context *open_context(unsigned threads)
{
    haul_context_options options;
    haul_context *context;
    memset(&options, 0, sizeof(options));
    options.threads = threads;
    if (haul_context_create(&options, &context) != HAUL_OK)
        gpu_die(NAME, "haul_context_create");
    return context;
}

static haul_type *describe(haul_context *context)
{
    static haul_type *type;
    const haul_field fields[] = { HAUL_OBJECT(huge_node, left, &type),
                                  HAUL_OBJECT(huge_node, right, &type) };
    const haul_struct structs[] = { HAUL_STRUCT(huge_node, &type, fields) };
    if (HAUL_DESCRIBE(context, structs) != HAUL_OK)
        gpu_die(NAME, haul_context_error(context)->text);
    return type;
}

static void must(const haul_context *context, haul_status status)
{
    if (status != HAUL_OK)
        gpu_die(NAME, haul_context_error(context)->text);
}

static void time_first(huge_tree *tree, haul_device *device, const haul_type *type,
                       haul_shipment **shipment)
{
    haul_shipment_info info;
    double started, before;
    forget_most();
    before = kib_of("VmRSS:");
    started = bench_milliseconds();
    must(haul_device_context(device), haul_ship(device, tree->root, type, 1, NULL, shipment));
    report_add(WAY, "to", bench_milliseconds() - started, "to");
    haul_shipment_get_info(*shipment, &info);
    if (info.objects != tree->count)
        gpu_die(NAME, "discovery has not found all nodes");
    report_add(WAY, "discover", 1e3 * info.discover_seconds, "to");
    report_add(WAY, "layout", 1e3 * info.layout_seconds, "to");
    report_add(WAY, "pack", 1e3 * info.pack_seconds, "to");
    report_add(WAY, "transfer", 1e3 * info.transfer_seconds, "to");
    report_add(WAY, "relocate", 1e3 * info.relocate_seconds, "to");
    report_value("graph", "bytes", (double)info.graph_bytes);
    report_value(WAY, "bookkeeping_percent",
                 100 * (double)info.bookkeeping_bytes / (double)info.graph_bytes);
    report_value(WAY, "beside_percent",
                 100 * 1024 * (kib_of("VmHWM:") - before) / (double)info.graph_bytes);
}

static void time_again(huge_tree *tree, haul_shipment *shipment, const haul_context *context)
{
    double started = bench_milliseconds();
    must(context, haul_unmarshal(shipment));
    report_add(WAY, "from", bench_milliseconds() - started, "from");
    for_all(tree, tree->starts, spoil_chunk);
    started = bench_milliseconds();
    must(context, haul_unmarshal(shipment));
    report_add(WAY "_changed", "from", bench_milliseconds() - started, "from");
    for_all(tree, tree->starts, check_chunk);
    if (sum_up(tree) > 0)
        gpu_die(NAME, "data have not come back");
    started = bench_milliseconds();
    must(context, haul_update_device(shipment, NULL, NULL));
    report_add(WAY "_refresh", "to", bench_milliseconds() - started, "to");
}

static void run_once(huge_tree *tree, haul_device *device, const haul_type *type)
{
    haul_shipment *shipment;
    time_walk(tree);
    time_first(tree, device, type, &shipment);
    time_again(tree, shipment, haul_device_context(device));
    haul_shipment_free(&shipment);
}

void gpu_measure_huge(size_t count, int runs)
{
    static huge_tree tree; /* it ends with the program */
    const haul_allocator allocator = haul__allocator_or_default(NULL);
    const unsigned cores = haul__processors(), threads = cores < THREADS_MAX ? cores : THREADS_MAX;
    haul_context *context = open_context(threads);
    haul_device *device;
    haul_type *type = describe(context);
    uint64_t there;
    int run;
    tree.pool = threads > 1 ? haul__pool_new(&allocator, threads - 1, 0) : NULL;
    must(context, haul_device_open(context, haul_cuda_device(), NULL, &device));
    make_tree(&tree, count);
    report_begin(NAME);
    there = gpu_allocate(RAW_BYTES);
    for (run = 0; run < runs; run++) {
        time_raw(count * sizeof(huge_node), there);
        run_once(&tree, device, type);
    }
    gpu_release(there);
    report_value("graph", "objects", (double)count);
    report_value("graph", "pointers", (double)(count - 1));
    report_end();
    haul_device_close(&device);
    haul_type_free(&type);
    haul_context_free(&context);
    haul__pool_free(tree.pool);
}
