/* The workload "replan": how long it takes to plan a graph again, as haul_reship does, beside its
 * first plan: unchanged, after one of a hundred pointers has changed, and, for a list, after pieces
 * of it have changed their order. A pack that notices the change is timed too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "pack/plan.h"

enum { NODES = 1000000, NAME_BYTES = 24, CHANGED = 100, CASES = 10 };

typedef struct planned_again {
    const char *shape;
    size_t bytes;
    unsigned pointers;
    int is_shuffled;
} planned_again;

static const planned_again cases[CASES] = {
    { "list", 128, 1, 1 }, { "list", 128, 1, 0 }, { "list", 64, 1, 1 }, { "list", 64, 1, 0 },
    { "list", 72, 1, 1 },  { "list", 72, 1, 0 },  { "tree", 64, 2, 1 }, { "tree", 64, 2, 0 },
    { "graph", 64, 4, 1 }, { "graph", 64, 4, 0 },
};

typedef struct node {
    struct node *to[4]; /* as many as the case has */
} node;

/* Exchanges what two pointers of a list, a tree or a graph lead to. The list stays one chain and
 * the tree a tree: b and c change places in a -> b -> c -> d, or the subtrees of one node. */
static void change_near(const workload *it, node *a)
{
    node *b = a->to[0], *c = it->pointers == 1 && b ? b->to[0] : NULL;
    if (it->pointers == 1 && c) {
        b->to[0] = c->to[0];
        c->to[0] = b;
        a->to[0] = c;
    } else if (it->pointers > 1) {
        a->to[0] = a->to[1];
        a->to[1] = b;
    }
}

/* The list's nodes in its order. */
static node **list_order(const workload *it)
{
    node **order = bench_allocate(it->heap_count * sizeof *order), *at = it->root;
    size_t i;
    for (i = 0; i < it->heap_count && at; i++, at = at->to[0])
        order[i] = at;
    if (i != it->heap_count)
        bench_die("a list is not whole", NULL);
    return order;
}

/* Pieces of a hundred nodes on average change their order; the first stays the first. */
static void change_far(const workload *it, bench_random *random)
{
    node **order = list_order(it);
    const size_t pieces = it->heap_count / CHANGED;
    size_t *begin = bench_allocate((pieces + 1) * sizeof *begin), i, j, held;
    node *last = order[CHANGED - 1];
    for (i = 0; i < pieces; i++)
        begin[i] = i;
    for (i = pieces; i > 2; i--) {
        j = 1 + bench_below(random, i - 1);
        held = begin[i - 1];
        begin[i - 1] = begin[j];
        begin[j] = held;
    }
    for (i = 1; i < pieces; i++) {
        last->to[0] = order[begin[i] * CHANGED];
        last = order[begin[i] * CHANGED + CHANGED - 1];
    }
    last->to[0] = NULL;
    free(begin);
    free(order);
}

static void change(const workload *it, int is_far, int seed)
{
    const size_t count = it->heap_count / CHANGED / (it->pointers == 1 ? 3 : 2);
    bench_random random = { (uint64_t)seed };
    size_t i;
    if (is_far)
        change_far(it, &random);
    else
        for (i = 0; i < count; i++)
            change_near(it, it->heap[bench_below(&random, it->heap_count)]);
}

static haul_plan *again(const haul_plan *plan, const char *technique, const char *phase)
{
    haul_plan *made;
    const double started = bench_processor_milliseconds();
    if (haul__plan_again(plan, NULL, &made) != HAUL_OK)
        bench_die("no plan", NULL);
    report_value(technique, phase, bench_processor_milliseconds() - started);
    return made;
}

static void detect(haul_plan *plan, const char *name, void *arena, uint64_t *bitmap)
{
    haul_plan_info info;
    double started;
    haul_plan_get_info(plan, &info);
    started = bench_processor_milliseconds();
    if (haul_plan_pack(plan, arena, info.arena_bytes, 0, bitmap) != HAUL_ERROR_STALE)
        bench_die("a change was not noticed", NULL);
    report_value(name, "notice", bench_processor_milliseconds() - started);
}

static void one_round(const workload *it, const char *name, haul_context *context, int run)
{
    haul_plan_info info;
    haul_root root;
    haul_plan *plan, *next;
    void *arena;
    uint64_t *bitmap;
    double started = bench_processor_milliseconds();
    root.address = it->root;
    root.type = it->type;
    root.count = 1;
    if (haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan) != HAUL_OK)
        bench_die(name, haul_context_error(context));
    report_value(name, "plan", bench_processor_milliseconds() - started);
    haul_plan_get_info(plan, &info);
    report_value(name, "bytes_percent",
                 100.0 * (double)info.bookkeeping_bytes / (double)info.graph_bytes);
    next = again(plan, name, "again");
    haul_plan_free(&plan);
    plan = next;
    arena = bench_map(info.arena_bytes);
    bitmap = bench_map(info.bitmap_bytes);
    started = bench_processor_milliseconds();
    if (haul_plan_pack(plan, arena, info.arena_bytes, 0, bitmap) != HAUL_OK)
        bench_die("no pack", NULL);
    report_value(name, "pack", bench_processor_milliseconds() - started);
    change(it, 0, 7 + run);
    detect(plan, name, arena, bitmap);
    next = again(plan, name, "changed");
    haul_plan_free(&plan);
    plan = next;
    if (it->pointers == 1) {
        change(it, 1, 7 + run);
        next = again(plan, name, "cut");
        haul_plan_free(&next);
    }
    haul_plan_free(&plan);
    bench_unmap(arena, info.arena_bytes);
    bench_unmap(bitmap, info.bitmap_bytes);
}

void measure_replan(int runs, double scale)
{
    char names[CASES][NAME_BYTES]; /* the report reads them at its end */
    int i, run;
    report_begin("replan");
    for (i = 0; i < CASES; i++) {
        haul_context *context;
        snprintf(names[i], NAME_BYTES, "%s_%d_%s", cases[i].shape, (int)cases[i].bytes,
                 cases[i].is_shuffled ? "shuffled" : "heap");
        if (haul_context_create(NULL, &context) != HAUL_OK)
            bench_die("no context", NULL);
        for (run = 0; run < runs; run++) {
            workload it; /* each round changes it */
            workload_make_sized(&it, ((size_t)(NODES * scale) / CHANGED + 1) * CHANGED,
                                cases[i].bytes, cases[i].pointers, cases[i].is_shuffled);
            one_round(&it, names[i], context, run);
            workload_free(&it);
            bench_forget_blocks();
        }
        haul_context_free(&context);
    }
    report_end();
}
