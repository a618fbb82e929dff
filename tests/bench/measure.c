/* One workload, all techniques, in turn within each round, so that whatever disturbs the machine
 * disturbs all.
 *
 * Before any timing, everything is done once: memory is touched, the context is warm, and the
 * results are checked (check.c); at the end unpacking is checked too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "bench.h"
#include "support/short_forms.h"

#define THREADS_MAX 16u

typedef struct bench {
    workload *it;
    haul_root root;
    haul_context *context;
    haul_context *together; /* with as many threads as there are processors; NULL: there is one */
    haul_plan *plan;
    hash_map map;
    const void **queue;
    char *hash_arena, *haul_arena;
    uint64_t *bitmap;
    size_t hash_arena_bytes, haul_arena_bytes, bitmap_bytes;
    size_t graph_bytes, packed_bytes;
} bench;

static void must(bench *b, const haul_context *context, haul_status status)
{
    if (status)
        bench_die(b->it->name, context ? haul_context_error(context) : NULL);
}

/* -------------------------------------------------------------------------------------------------
 * What is timed
 */
static void time_memcpy(bench *b)
{
    double started = bench_milliseconds();
    memcpy(b->haul_arena, b->hash_arena, b->graph_bytes);
    report_sample("memcpy", "total", bench_milliseconds() - started);
}

/* The queue of the last round holds the very addresses that this round will write and read. A
 * processor that runs ahead reads them from there before they are written again, and so follows a
 * list without waiting for its nodes, which no first pack could. */
static void forget_queue(bench *b)
{
    memset(b->queue, 0, b->it->objects * sizeof *b->queue);
}

static void time_hash(bench *b, const char *technique, prefetching how)
{
    double started;
    forget_queue(b);
    started = bench_milliseconds();
    hash_pack(b->it, &b->map, b->queue, b->hash_arena, how);
    report_sample(technique, "total", bench_milliseconds() - started);
}

/* The first and only pack of a program: its map is fresh memory. */
static void time_hash_cold(bench *b)
{
    hash_map map;
    double started;
    forget_queue(b);
    started = bench_milliseconds();
    hash_map_open(&map, b->it->objects, 0);
    hash_pack(b->it, &map, b->queue, b->hash_arena, PREFETCHED);
    hash_map_close(&map);
    report_sample("hash_cold", "total", bench_milliseconds() - started);
}

static double time_plan_and_pack(bench *b, haul_context *context, const char *technique,
                                 haul_type *type)
{
    haul_plan_info numbers;
    haul_root root = b->root;
    double started = bench_milliseconds(), planned, packed;
    root.type = type;
    must(b, context, haul_plan_create(context, haul_from_roots(&root, 1), NULL, &b->plan));
    planned = bench_milliseconds();
    must(b, context, haul_plan_pack(b->plan, b->haul_arena, b->haul_arena_bytes, 0, b->bitmap));
    packed = bench_milliseconds();
    haul_plan_get_info(b->plan, &numbers);
    report_sample(technique, "discover", 1e3 * numbers.discover_seconds);
    report_sample(technique, "layout", 1e3 * numbers.layout_seconds);
    report_sample(technique, "pack", packed - planned);
    return packed - started;
}

static double time_plan_free(bench *b, const char *technique)
{
    double started = bench_milliseconds(), spent;
    haul_plan_free(&b->plan);
    spent = bench_milliseconds() - started;
    report_sample(technique, "free", spent);
    return spent;
}

/* What a function that counts costs: the same graph, with its counts in fields, has the turn
 * before. */
static double time_siblings(bench *b)
{
    double spent = time_plan_and_pack(b, b->context, "siblings", b->it->sibling_type);
    report_sample("siblings", "total", spent + time_plan_free(b, "siblings"));
    time_memcpy(b);
    time_hash(b, "hash", PLAIN); /* the caches are as they were */
    return spent;
}

static void time_threads(bench *b)
{
    double spent;
    if (!b->together)
        return;
    spent = time_plan_and_pack(b, b->together, "haul_threads", b->it->type);
    report_sample("haul_threads", "total", spent + time_plan_free(b, "haul_threads"));
}

static void time_repack(bench *b)
{
    double started = bench_milliseconds();
    must(b, b->context, haul_plan_pack(b->plan, b->haul_arena, b->haul_arena_bytes, 0, b->bitmap));
    report_sample("haul_repack", "total", bench_milliseconds() - started);
}

static void time_unpack(bench *b)
{
    double started = bench_milliseconds();
    must(b, b->context, haul_plan_unpack(b->plan, b->haul_arena, b->packed_bytes, 0));
    report_sample("haul_unpack", "total", bench_milliseconds() - started);
}

static void time_haul_cold(bench *b)
{
    haul_context *context = NULL;
    haul_plan *plan = NULL;
    double started = bench_milliseconds();
    must(b, NULL, haul_context_create(NULL, &context));
    must(b, context, haul_plan_create(context, haul_from_roots(&b->root, 1), NULL, &plan));
    must(b, context, haul_plan_pack(plan, b->haul_arena, b->haul_arena_bytes, 0, b->bitmap));
    haul_plan_free(&plan);
    haul_context_free(&context);
    report_sample("haul_cold", "total", bench_milliseconds() - started);
}

/* The plan lives from one of its uses to the next; between them the others have their turn with the
 * caches. */
static void one_round(bench *b)
{
    double planned_and_packed, with_siblings = 0;
    time_memcpy(b);
    time_hash(b, "hash", PLAIN);
    if (b->it->sibling_type)
        with_siblings = time_siblings(b);
    planned_and_packed = time_plan_and_pack(b, b->context, "haul", b->it->type);
    if (b->it->sibling_type)
        report_value("haul", "callback_ns",
                     1e6 * (planned_and_packed - with_siblings) / (double)b->it->heap_count);
    time_memcpy(b);
    time_hash(b, "hash_prefetch", PREFETCHED);
    time_repack(b);
    time_hash_cold(b);
    time_unpack(b);
    report_sample("haul", "total", planned_and_packed + time_plan_free(b, "haul"));
    time_threads(b);
    time_haul_cold(b);
}

/* -------------------------------------------------------------------------------------------------
 * Before and after
 */
static haul_context *context_of_threads(void)
{
    const unsigned processors = haul__processors();
    haul_context_options options;
    haul_context *context = NULL;
    memset(&options, 0, sizeof(options));
    options.threads = processors < THREADS_MAX ? processors : THREADS_MAX;
    if (processors > 1 && haul_context_create(&options, &context) != HAUL_OK)
        bench_die("no context with threads", NULL);
    return context;
}

static void open_bench(bench *b, workload *it)
{
    memset(b, 0, sizeof(*b));
    b->it = it;
    b->root.address = it->root;
    b->root.type = it->type;
    b->root.count = it->root_count;
    b->together = context_of_threads();
    must(b, NULL, haul_context_create(NULL, &b->context));
    must(b, b->context, haul_plan_create(b->context, haul_from_roots(&b->root, 1), NULL, &b->plan));
    b->hash_arena_bytes = 64 + b->it->described_bytes + 16 * b->it->root_count;
    b->packed_bytes = plan_bytes(b->plan);
    b->haul_arena_bytes =
        b->packed_bytes > b->hash_arena_bytes ? b->packed_bytes : b->hash_arena_bytes;
    b->bitmap_bytes = plan_bitmap_bytes(b->plan);
    b->hash_arena = bench_map(b->hash_arena_bytes);
    b->haul_arena = bench_map(b->haul_arena_bytes);
    b->bitmap = bench_map(b->bitmap_bytes ? b->bitmap_bytes : 8);
    b->queue = bench_map(b->it->objects * sizeof(void *));
    hash_map_open(&b->map, b->it->objects, 1);
}

static void report_plan(bench *b)
{
    haul_plan_info numbers;
    haul_plan_get_info(b->plan, &numbers);
    report_value("haul", "arena_bytes", (double)numbers.arena_bytes);
    report_value("haul", "bookkeeping_percent",
                 100.0 * (double)numbers.bookkeeping_bytes / (double)numbers.graph_bytes);
    report_value("haul", "worklist_bytes", (double)numbers.worklist_bytes);
}

static void close_bench(bench *b)
{
    haul_plan_free(&b->plan);
    haul_context_free(&b->context);
    haul_context_free(&b->together);
    hash_map_close(&b->map);
    bench_unmap(b->queue, b->it->objects * sizeof(void *));
    bench_unmap(b->bitmap, b->bitmap_bytes ? b->bitmap_bytes : 8);
    bench_unmap(b->haul_arena, b->haul_arena_bytes);
    bench_unmap(b->hash_arena, b->hash_arena_bytes);
}

/* Packs both ways and compares. Haul's arena gets a pattern first: it must write every byte. */
static void check_pack(bench *b, prefetching how)
{
    size_t root;
    b->graph_bytes = hash_pack(b->it, &b->map, b->queue, b->hash_arena, how);
    memset(b->haul_arena, 0xa5, b->haul_arena_bytes);
    must(b, b->context, haul_plan_pack(b->plan, b->haul_arena, b->haul_arena_bytes, 0, b->bitmap));
    must(b, b->context, haul_plan_offset(b->plan, b->root.address, &root));
    if (!check_isomorphic(b->it, b->hash_arena, b->haul_arena, b->packed_bytes, root))
        bench_die("the packed graph is not the graph", NULL);
}

/* After the source's contents are spoilt, unpacking must restore them; the hash packer's arena
 * knows them. */
static void check_unpack(bench *b)
{
    size_t root;
    must(b, b->context, haul_plan_create(b->context, haul_from_roots(&b->root, 1), NULL, &b->plan));
    check_pack(b, PLAIN);
    workload_scramble(b->it);
    must(b, b->context, haul_plan_unpack(b->plan, b->haul_arena, b->packed_bytes, 0));
    must(b, b->context, haul_plan_pack(b->plan, b->haul_arena, b->haul_arena_bytes, 0, b->bitmap));
    must(b, b->context, haul_plan_offset(b->plan, b->root.address, &root));
    if (!check_isomorphic(b->it, b->hash_arena, b->haul_arena, b->packed_bytes, root))
        bench_die("unpacking did not restore the source", NULL);
}

void measure_check(workload *it)
{
    bench b;
    open_bench(&b, it);
    haul_plan_free(&b.plan);
    check_unpack(&b);
    close_bench(&b);
}

void measure(workload *it, int runs)
{
    bench b;
    int run;
    report_begin(it->name);
    open_bench(&b, it);
    report_plan(&b);
    check_pack(&b, PREFETCHED);
    haul_plan_free(&b.plan);
    for (run = 0; run < runs; run++)
        one_round(&b);
    check_unpack(&b);
    report_value("graph", "bytes", (double)b.graph_bytes);
    report_end();
    close_bench(&b);
}
