/* The workload "discovery": how long Haul takes to find a graph, beside walks by hand over the same
 * graph, by one thread and by all.
 */
#include <string.h>

#include "discovery.h"

static haul_plan_info discover(const discovered *it, haul_context *context)
{
    haul_plan_info numbers;
    haul_root root;
    haul_plan *plan;
    root.address = it->root;
    root.type = it->type;
    root.count = it->root_count;
    if (haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan) != HAUL_OK)
        bench_die(it->name, haul_context_error(context));
    haul_plan_get_info(plan, &numbers);
    haul_plan_free(&plan);
    return numbers;
}

/* A walk that is not timed goes before discovery by one thread, so that this, as the walk that
 * comes behind it, finds as much of the graph in the caches as fits. */
static void one_round(by_hand *all, haul_context *alone, haul_context *together, haul__pool *pool)
{
    const char *name = all->it->name;
    const haul_plan_info shared = discover(all->it, together);
    const double walked_by_all =
        pool && all->it->starts > 1 ? by_hand_walk(all, pool, shared.objects) : 0;
    haul_plan_info numbers;
    double walked;
    by_hand_walk(all, NULL, shared.objects);
    numbers = discover(all->it, alone);
    walked = by_hand_walk(all, NULL, numbers.objects);
    if (numbers.objects != shared.objects)
        bench_die("threads have not found as many objects as one thread", NULL);
    report_value(name, "discover", 1e3 * numbers.discover_seconds);
    report_value(name, "discover_threads", 1e3 * shared.discover_seconds);
    report_value(name, "walk", walked);
    report_value(name, "walk_threads", walked_by_all);
    report_value(name, "times_walk", 1e3 * numbers.discover_seconds / walked);
}

static haul_context *context_of(unsigned threads)
{
    haul_context_options options;
    haul_context *context;
    memset(&options, 0, sizeof options);
    options.threads = threads;
    if (haul_context_create(&options, &context) != HAUL_OK)
        bench_die("no context", NULL);
    return context;
}

void measure_discovery(int runs, double scale)
{
    const unsigned processors = haul__processors();
    haul__pool *pool = by_hand_pool();
    int i, run;
    report_begin("discovery");
    for (i = 0; i < DISCOVERED; i++) {
        haul_context *alone, *together;
        discovered it;
        by_hand all;
        discovered_make(&it, i, scale);
        by_hand_open(&all, &it);
        alone = context_of(1);
        together = context_of(processors);
        for (run = 0; run < runs; run++)
            one_round(&all, alone, together, pool);
        haul_context_free(&alone);
        haul_context_free(&together);
        by_hand_close(&all);
        discovered_free(&it);
        bench_forget_blocks();
    }
    workload_free_types();
    haul__pool_free(pool);
    report_end();
}
