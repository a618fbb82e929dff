/* Ordered plans beside compacted ones: both are made and packed in turn within each round, warm.
 *
 * Nodes have 64 bytes. The chains are those of a hash table with as many heads as nodes: an array
 * of heads, and in each node the next one of its chain.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "support/short_forms.h"
#include "support/types.h"

enum { NODES = 1000000, NODE_BYTES = 64, GRAPHS = 9, SIZED = 6, LAYOUTS = 2, NAME_BYTES = 24 };

typedef struct chain_node {
    struct chain_node *next;
    char data[NODE_BYTES - sizeof(void *)];
} chain_node;

typedef struct chains {
    size_t count;
    chain_node **head;
} chains;

static haul_type *chain_type, *chains_type;
static const haul_field chain_fields[] = { HAUL_OBJECT(chain_node, next, &chain_type) };
static const haul_field chains_fields[] = { HAUL_POINTERS(chains, head, &chain_type,
                                                          HAUL_COUNT(chains, count)) };

static const char *const name[GRAPHS] = { "list_heap",     "list_shuffled", "tree_heap",
                                          "tree_shuffled", "graph_heap",    "graph_shuffled",
                                          "strings",       "counted",       "chains" };
static const unsigned sized_pointers[SIZED] = { 1, 1, 2, 2, 4, 4 };

typedef struct job {
    haul_context *context;
    haul_root root;
    const char *name;
    void *arena;
    uint64_t *bitmap;
    size_t arena_bytes, bitmap_bytes;
} job;

static void must(const job *j, haul_status status)
{
    if (status != HAUL_OK)
        bench_die(j->name, haul_context_error(j->context));
}

/* -------------------------------------------------------------------------------------------------
 * Chains
 */
static void make_types(void)
{
    if (type_make("chain", sizeof(chain_node), chain_fields, 1, &chain_type) != HAUL_OK ||
        type_make("chains", sizeof(chains), chains_fields, 1, &chains_type) != HAUL_OK ||
        haul_type_commit(chains_type) != HAUL_OK)
        bench_die("chains", type_error());
}

static chains *make_chains(chain_node *nodes, size_t count)
{
    bench_random random = { 5 };
    chains *made = bench_allocate(sizeof *made);
    size_t i;
    made->count = count;
    made->head = bench_allocate(count * sizeof *made->head);
    for (i = 0; i < count; i++)
        made->head[i] = NULL;
    for (i = 0; i < count; i++) {
        chain_node **head = &made->head[bench_below(&random, count)], *node = &nodes[i];
        memset(node, (int)(i % 251), sizeof *node);
        node->next = *head;
        *head = node;
    }
    return made;
}

static void free_chains(chains *made)
{
    free(made->head);
    free(made);
    haul_type_free(&chain_type);
    haul_type_free(&chains_type);
}

/* -------------------------------------------------------------------------------------------------
 * One graph
 */
static haul_plan *make_plan(const job *j, int ordered)
{
    haul_plan_options options = { 0, 0 };
    haul_plan *plan = NULL;
    options.ordered = ordered;
    must(j, haul_plan_create(j->context, haul_from_roots(&j->root, 1), &options, &plan));
    return plan;
}

/* Room for the larger of the two arenas. */
static void open_job(job *j)
{
    int ordered;
    if (haul_context_create(NULL, &j->context) != HAUL_OK)
        bench_die(j->name, NULL);
    for (ordered = 0; ordered < LAYOUTS; ordered++) {
        haul_plan *plan = make_plan(j, ordered);
        haul_plan_info info;
        haul_plan_get_info(plan, &info);
        j->arena_bytes = info.arena_bytes > j->arena_bytes ? info.arena_bytes : j->arena_bytes;
        j->bitmap_bytes = info.bitmap_bytes > j->bitmap_bytes ? info.bitmap_bytes : j->bitmap_bytes;
        haul_plan_free(&plan);
    }
    j->arena = bench_map(j->arena_bytes);
    j->bitmap = bench_map(j->bitmap_bytes + sizeof *j->bitmap);
}

static void close_job(job *j)
{
    bench_unmap(j->arena, j->arena_bytes);
    bench_unmap(j->bitmap, j->bitmap_bytes + sizeof *j->bitmap);
    haul_context_free(&j->context);
}

/* Made and packed; the milliseconds of both. */
static double time_one(const job *j, int ordered)
{
    static const char *const created[LAYOUTS] = { "compacted_plan", "ordered_plan" },
                             *const packed[LAYOUTS] = { "compacted_pack", "ordered_pack" };
    double started = bench_processor_milliseconds(), between, ended;
    haul_plan *plan = make_plan(j, ordered);
    between = bench_processor_milliseconds();
    must(j, haul_plan_pack(plan, j->arena, j->arena_bytes, 0, j->bitmap));
    ended = bench_processor_milliseconds();
    haul_plan_free(&plan);
    report_value(j->name, created[ordered], between - started);
    report_value(j->name, packed[ordered], ended - between);
    return ended - started;
}

static void measure_one(const char *called, void *root, size_t count, const haul_type *type,
                        int runs)
{
    job j;
    int run;
    memset(&j, 0, sizeof j);
    j.name = called;
    j.root.address = root;
    j.root.count = count;
    j.root.type = type;
    open_job(&j);
    for (run = 0; run < runs; run++) {
        const double compacted = time_one(&j, 0), ordered = time_one(&j, 1);
        report_value(called, "times_compacted", ordered / compacted);
    }
    close_job(&j);
}

static void measure_made(const char *called, const char *maker, double scale, int runs)
{
    size_t i;
    for (i = 0; i < workload_maker_count; i++)
        if (strcmp(workload_makers[i].name, maker) == 0) {
            workload it;
            workload_make(&it, &workload_makers[i], scale);
            measure_one(called, it.root, it.root_count, it.type, runs);
            workload_free(&it);
        }
}

void measure_ordered(int runs, double scale)
{
    const size_t count = (size_t)(NODES * scale) + 4;
    chain_node *nodes;
    chains *table;
    int i;
    report_begin("ordered");
    for (i = 0; i < SIZED; i++) {
        workload it;
        workload_make_sized(&it, count, NODE_BYTES, sized_pointers[i], i % 2);
        measure_one(name[i], it.root, 1, it.type, runs);
        workload_free(&it);
        bench_forget_blocks();
    }
    measure_made(name[SIZED], "strings", scale, runs);
    measure_made(name[SIZED + 1], "counted", scale, runs);
    workload_free_types();
    make_types();
    nodes = bench_allocate(count * sizeof *nodes);
    table = make_chains(nodes, count);
    measure_one(name[SIZED + 2], table, 1, chains_type, runs);
    free_chains(table);
    free(nodes);
    report_end();
}
