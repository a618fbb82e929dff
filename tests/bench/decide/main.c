/* haul_bench_decide: what it costs to decide where 10^6 objects lie, against their first ship.
 *
 * Nodes of 64 bytes as a tree, alone or with a record of 64 bytes each, allocated in turn, and
 * linked in that order or in an order of chance. A round makes a plan, a plan whose discovery notes
 * a hint on all records, and one with a hint on the field that leads to them; decides the places of
 * each; and ships the graph without a budget. The decision is the time in haul__choose_places and,
 * with hints, that by which discovery takes longer. Where there is a GPU, it ships to the GPU; else
 * to the host device, which counts as one with pages of 2 MiB here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAUL_HAS_CUDA
#include "haul/cuda.h"
#endif
#include "bench/bench.h"
#include "device/device.h"
#include "pack/plan.h"
#include "ship/places.h"
#include "ship/transfer.h"
#include "walk/hints.h"

enum { PAGE = 2 << 20, RUNS_MAX = 64, HINTED = 2, WAYS = 1 + HINTED };

typedef struct item {
    double value[8];
} item;

typedef struct node {
    struct node *left, *right;
    item *own;
    double value[5];
} node;

static haul_type *item_type, *node_type;
static const haul_field item_fields[] = { HAUL_RAW(item, value) };
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, left, &node_type),
    HAUL_OBJECT(node, right, &node_type),
    HAUL_OBJECT(node, own, &item_type),
    HAUL_RAW(node, value),
};

typedef struct tree {
    node **nodes;
    size_t count, root;
} tree;

typedef struct figures {
    double ship[RUNS_MAX], plan[WAYS][RUNS_MAX], choose[WAYS][RUNS_MAX];
} figures;

static haul_device *device;

static void must(haul_status status, const char *what)
{
    if (status != HAUL_OK)
        bench_die(what, haul_context_error(haul_device_context(device)));
}

static tree make(size_t count, int has_items, int is_shuffled)
{
    bench_random random = { 1 };
    tree made = { bench_allocate(count * sizeof *made.nodes), count, 0 };
    size_t *order = bench_allocate(count * sizeof *order), i;
    for (i = 0; i < count; i++) {
        made.nodes[i] = bench_allocate(sizeof(node));
        memset(made.nodes[i], 0, sizeof(node));
        made.nodes[i]->own = has_items ? bench_allocate(sizeof(item)) : NULL;
        if (has_items)
            memset(made.nodes[i]->own, 0, sizeof(item));
        order[i] = i;
    }
    for (i = count; is_shuffled && i-- > 1;) {
        const size_t other = bench_below(&random, i + 1), swapped = order[i];
        order[i] = order[other];
        order[other] = swapped;
    }
    for (i = 0; i < count; i++) {
        node *parent = made.nodes[order[i]];
        parent->left = 2 * i + 1 < count ? made.nodes[order[2 * i + 1]] : NULL;
        parent->right = 2 * i + 2 < count ? made.nodes[order[2 * i + 2]] : NULL;
    }
    made.root = order[0];
    free(order);
    return made;
}

static void drop(tree *it)
{
    size_t i;
    for (i = 0; i < it->count; i++) {
        free(it->nodes[i]->own);
        free(it->nodes[i]);
    }
    free(it->nodes);
}

/* The way 0 has no hints. */
static haul_ship_options options_of(const tree *it, size_t way, haul_place_hint *hint)
{
    haul_ship_options options;
    memset(hint, 0, sizeof *hint);
    hint->type = way == 2 ? node_type : item_type;
    hint->field = way == 2 ? "own" : NULL;
    hint->uses = 1;
    memset(&options, 0, sizeof options);
    options.spill = HAUL_PLACE_HOST;
    options.budget_bytes = it->count * sizeof(node) / 2;
    options.hints = way ? hint : NULL;
    options.hint_count = way != 0;
    return options;
}

static void decide(const tree *it, size_t way, figures *f, size_t round)
{
    haul_context *context = haul_device_context(device);
    const haul_source source = haul_from_object(it->nodes[it->root], node_type);
    haul_place_hint hint;
    const haul_ship_options options = options_of(it, way, &hint);
    const haul__hints hints = { &hint, 1 };
    haul__range range;
    haul_plan *plan = NULL;
    double start;
    must(haul__context_enter(context), "a call");
    start = bench_milliseconds();
    must(haul__plan_from(context, &source, 0, way ? &hints : NULL, &plan), "a plan");
    f->plan[way][round] = bench_milliseconds() - start;
    must(haul__lay_out(device, plan, 1, &range), "a range");
    range.most = options.budget_bytes;
    start = bench_milliseconds();
    must(haul__choose_places(device, plan, &options, &range), "places");
    f->choose[way][round] = bench_milliseconds() - start;
    if (!range.placings)
        bench_die("all of it lies on the device", NULL);
    haul__release(&context->allocator, range.placings,
                  range.placing_count * sizeof *range.placings);
    haul__plan_drop(plan);
    haul__context_leave(context);
}

static double ship(const tree *it)
{
    haul_shipment *shipment = NULL;
    const double start = bench_milliseconds();
    double milliseconds;
    must(haul_ship(device, it->nodes[it->root], node_type, 1, NULL, &shipment), "a ship");
    milliseconds = bench_milliseconds() - start;
    haul_shipment_free(&shipment);
    return milliseconds;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *times, size_t count)
{
    qsort(times, count, sizeof *times, compare);
    return times[count / 2];
}

static void measure_tree(size_t count, size_t runs, unsigned threads, int has_items,
                         int is_shuffled)
{
    static const char *const ways[WAYS] = { "pointers", "hint_type", "hint_field" };
    static figures f;
    tree it = make(count, has_items, is_shuffled);
    size_t round, way;
    double all, plain;
    for (round = 0; round < runs + 1; round++) { /* the first is overwritten */
        const size_t at = round ? round - 1 : 0;
        for (way = 0; way < (has_items ? WAYS : 1); way++)
            decide(&it, way, &f, at);
        f.ship[at] = ship(&it);
    }
    all = median(f.ship, runs);
    plain = median(f.plan[0], runs);
    for (way = 0; way < (has_items ? WAYS : 1); way++) {
        const double choose = median(f.choose[way], runs);
        const double more = way ? median(f.plan[way], runs) - plain : 0;
        printf("%s_%s,%u,%s,%.2f,%.2f,%.2f,%.2f,%.1f\n", has_items ? "records" : "nodes",
               is_shuffled ? "shuffled" : "heap", threads, ways[way], all, plain, more, choose,
               100 * (more + choose) / all);
        fflush(stdout);
    }
    drop(&it);
}

static void open_device(unsigned threads)
{
    haul_context_options options;
    haul_context *context = NULL;
    const haul_struct structs[] = { HAUL_STRUCT(item, &item_type, item_fields),
                                    HAUL_STRUCT(node, &node_type, node_fields) };
    memset(&options, 0, sizeof options);
    options.threads = threads;
    if (haul_context_create(&options, &context) != HAUL_OK)
        bench_die("there is no context", NULL);
    device = NULL;
#ifdef HAUL_HAS_CUDA
    if (haul_cuda_open(context, NULL, &device) != HAUL_OK)
        device = NULL;
#endif
    printf("# %s, %u threads\n", device ? "a GPU" : "the host device", threads);
    if (!device) {
        if (haul_host_open(context, NULL, &device) != HAUL_OK)
            bench_die("there is no device", haul_context_error(context));
        device->capabilities.place_bytes = PAGE;
    }
    must(haul_describe(context, structs, 2), "types");
    haul_context_free(&context);
}

static void measure_all(size_t count, size_t runs, unsigned threads)
{
    int has_items, is_shuffled;
    open_device(threads);
    for (has_items = 0; has_items < 2; has_items++)
        for (is_shuffled = 0; is_shuffled < 2; is_shuffled++)
            measure_tree(count, runs, threads, has_items, is_shuffled);
    haul_type_free(&node_type);
    haul_type_free(&item_type);
    haul_device_close(&device);
}

int main(int count, char **arguments)
{
    const int is_quick = count == 2 && strcmp(arguments[1], "--quick") == 0;
    const size_t runs = is_quick ? 1 : count == 2 ? (size_t)atoi(arguments[1]) : 9;
    const size_t nodes = is_quick ? 100000 : 1000000;
    const unsigned processors = haul__processors(), most = processors < 16 ? processors : 16;
    if (count > 2 || runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "usage: haul_bench_decide [RUNS | --quick]\n");
        return 2;
    }
    printf("# %zu nodes, medians of %zu rounds, milliseconds\n", nodes, runs);
    printf("workload,threads,way,ship,plan,noting,choosing,percent\n");
    measure_all(nodes, runs, 1);
    if (most > 1)
        measure_all(nodes, runs, most);
    return 0;
}
