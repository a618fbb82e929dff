/* Sizes: a million nodes of each size from 40 to 88 bytes in steps of 8, in heap order and
 * shuffled.
 *
 * The seven sizes of one shape and order exist side by side and have their turns within each round,
 * so that the time of each can be compared with that of 64 bytes in the same round. The walk is the
 * least that a program by hand does: it visits each node once, breadth first; each node carries its
 * number, and a byte for each number says whether the node was met.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum { SIZES = 7, ORDERS = 2, SHAPES = 3, NODES = 1000000, NAME_BYTES = 24, STANDARD = 3 };
static const size_t size[SIZES] = { 40, 48, 56, 64, 72, 80, 88 };
static const unsigned shape_pointers[SHAPES] = { 1, 2, 4 };
static const char *const shape_name[SHAPES] = { "list", "tree", "graph" };
static const char *const order_name[ORDERS] = { "heap", "shuffled" };

typedef struct sizes {
    haul_context *context;
    workload it[SIZES];
    double plan[SIZES], walk[SIZES]; /* nanoseconds for each object, of this round */
    char name[SIZES][NAME_BYTES];
    const void **queue;
    unsigned char *seen; /* by number of the node */
    size_t count;
} sizes;

/* -------------------------------------------------------------------------------------------------
 * The walk by hand
 */
static size_t number_of(const workload *it, const void *node)
{
    size_t number;
    memcpy(&number, (const char *)node + it->node_bytes - sizeof(number), sizeof(number));
    return number;
}

static size_t walk(const workload *it, const void **queue, unsigned char *seen)
{
    size_t at, count = 1;
    unsigned k;
    queue[0] = it->root;
    seen[number_of(it, it->root)] = 1;
    for (at = 0; at < count; at++)
        for (k = 0; k < it->pointers; k++) {
            const void *target = ((const void *const *)queue[at])[k];
            size_t number;
            if (!target || seen[number = number_of(it, target)])
                continue;
            seen[number] = 1;
            queue[count++] = target;
        }
    return count;
}

/* -------------------------------------------------------------------------------------------------
 * A round
 */
static haul_plan *make_plan(sizes *all, int i, haul_plan_info *numbers)
{
    haul_root root;
    haul_plan *plan;
    root.address = all->it[i].root;
    root.type = all->it[i].type;
    root.count = 1;
    if (haul_plan_create(all->context, haul_from_roots(&root, 1), NULL, &plan) != HAUL_OK)
        bench_die(all->name[i], haul_context_error(all->context));
    haul_plan_get_info(plan, numbers);
    return plan;
}

static void time_size(sizes *all, int i)
{
    haul_plan_info numbers;
    haul_plan *plan;
    double started, spent;
    size_t count;
    memset(all->queue, 0, all->count * sizeof *all->queue); /* as measure.c's forget_queue */
    memset(all->seen, 0, all->count);
    started = bench_processor_milliseconds();
    count = walk(&all->it[i], all->queue, all->seen);
    spent = bench_processor_milliseconds() - started;
    all->walk[i] = 1e6 * spent / (double)count;
    started = bench_processor_milliseconds();
    plan = make_plan(all, i, &numbers);
    spent = bench_processor_milliseconds() - started;
    all->plan[i] = 1e6 * spent / (double)count;
    haul_plan_free(&plan);
    if (numbers.objects != count)
        bench_die("discovery has not found as many nodes as the walk", NULL);
}

static void one_round(sizes *all)
{
    int i;
    for (i = 0; i < SIZES; i++)
        time_size(all, i);
    for (i = 0; i < SIZES; i++) {
        report_value(all->name[i], "plan_ns", all->plan[i]);
        report_value(all->name[i], "times_64", all->plan[i] / all->plan[STANDARD]);
        report_value(all->name[i], "walk_ns", all->walk[i]);
        report_value(all->name[i], "times_walk", all->plan[i] / all->walk[i]);
    }
}

/* -------------------------------------------------------------------------------------------------
 * One shape in one order
 */
static void open_sizes(sizes *all, int shape, int order)
{
    int i;
    for (i = 0; i < SIZES; i++) {
        snprintf(all->name[i], NAME_BYTES, "%s_%d_%s", shape_name[shape], (int)size[i],
                 order_name[order]);
        workload_make_sized(&all->it[i], all->count, size[i], shape_pointers[shape], order);
    }
}

/* Everything once, untimed. The check has contexts of its own: the plan made here warms the timed
 * one. */
static void check_sizes(sizes *all)
{
    haul_plan_info numbers;
    haul_plan *plan;
    int i;
    for (i = 0; i < SIZES; i++) {
        measure_check(&all->it[i]);
        plan = make_plan(all, i, &numbers);
        haul_plan_free(&plan);
        report_value(all->name[i], "bookkeeping_percent",
                     100.0 * (double)numbers.bookkeeping_bytes / (double)numbers.graph_bytes);
    }
}

static void close_sizes(sizes *all)
{
    int i;
    for (i = 0; i < SIZES; i++)
        workload_free(&all->it[i]);
    bench_forget_blocks();
}

void measure_sizes(int runs, double scale)
{
    static sizes each[SHAPES * ORDERS]; /* the names stay until the report has ended */
    int group, run;
    report_begin("sizes");
    for (group = 0; group < SHAPES * ORDERS; group++) {
        sizes *all = &each[group];
        all->count = (size_t)(NODES * scale) + 4;
        all->queue = bench_map(all->count * sizeof *all->queue);
        all->seen = bench_map(all->count);
        if (haul_context_create(NULL, &all->context) != HAUL_OK)
            bench_die("sizes", NULL);
        open_sizes(all, group / ORDERS, group % ORDERS);
        check_sizes(all);
        for (run = 0; run < runs; run++)
            one_round(all);
        haul_context_free(&all->context);
        close_sizes(all);
        bench_unmap(all->seen, all->count);
        bench_unmap(all->queue, all->count * sizeof *all->queue);
    }
    report_end();
}
