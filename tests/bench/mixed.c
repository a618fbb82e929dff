/* Mixed: a heap in which objects of several kinds lie side by side, as in most programs.
 *
 * Large nodes, small ones and, in `named`, a string for each large one are allocated in an order of
 * chance. `odd`: nodes of 7 and 5 words and strings of 6 to 38 bytes, so that most objects end
 * within a granule; `whole`: of 8 and 6 words, and strings padded to granules. `pool`: nodes side
 * by side in one piece of memory, each at the next word, so that neighbours share granules. Both
 * sizes of one graph exist side by side and have their turns within each round, by CPU time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "support/types.h"

enum {
    NODES = 1000000,
    TECHNIQUE_BYTES = 24,
    ORDERS = 2,
    REACH = 64,
    ARENA_BYTES = 256,
    DEVICE_BASE = 1 << 20,
    STRIDE = 611953
};
enum { PLAIN_NODES, NAMED, POOL, HEAPS };
enum { ODD, WHOLE, SIZES };
static const char *const heap_name[HEAPS] = { "nodes", "named", "pool" };
static const char *const order_name[ORDERS] = { "heap", "shuffled" };
static const char *const size_name[SIZES] = { "odd", "whole" };

/* Padded by a word each in `whole`. */
typedef struct small_node small_node;
typedef struct large_node {
    size_t number; /* below all those of small nodes */
    struct large_node *next, *other;
    small_node *part;
    char *name;
    size_t data[2];
} large_node;

struct small_node {
    size_t number;
    large_node *owner;
    small_node *next;
    size_t data[2];
};

typedef struct mix {
    haul_type *large_type, *small_type;
    large_node **large;
    small_node **small;
    void **heap; /* to be freed */
    size_t heap_count;
    char *pool;
    size_t pool_bytes;
    char technique[TECHNIQUE_BYTES];
    double plan, walk, pack; /* nanoseconds for each object, of this round */
    double bookkeeping;      /* percent of the graph */
} mix;

typedef struct mixes {
    haul_context *context;
    size_t pairs; /* of a large and a small node */
    mix it[SIZES];
    const void **queue;
    unsigned char *seen; /* by number of the node */
    char *arena;
    size_t arena_bytes;
} mixes;

/* ---------------------------------------------------------------------------------------------
 * The graph
 */
static void describe(mix *m, int size)
{
    const size_t large = sizeof(large_node) + (size == WHOLE) * sizeof(void *);
    const size_t small = sizeof(small_node) + (size == WHOLE) * sizeof(void *);
    haul_field of_large[] = { HAUL_OBJECT(large_node, next, &m->large_type),
                              HAUL_OBJECT(large_node, other, &m->large_type),
                              HAUL_OBJECT(large_node, part, &m->small_type),
                              HAUL_STRING(large_node, name) };
    haul_field of_small[] = { HAUL_OBJECT(small_node, owner, &m->large_type),
                              HAUL_OBJECT(small_node, next, &m->small_type) };
    size_t i;
    for (i = 0; i < 4; i++)
        if (of_large[i].target)
            of_large[i].element_bytes = of_large[i].target == &m->large_type ? large : small;
    of_small[0].element_bytes = large;
    of_small[1].element_bytes = small;
    if (type_make("large_node", large, of_large, 4, &m->large_type) != HAUL_OK ||
        type_make("small_node", small, of_small, 2, &m->small_type) != HAUL_OK)
        bench_die("mixed", NULL);
    if (haul_type_commit(m->large_type) != HAUL_OK)
        bench_die("mixed", type_error());
}

static void *take(mix *m, int in_pool, size_t bytes)
{
    void *memory = m->pool + m->pool_bytes;
    if (in_pool)
        m->pool_bytes += bytes;
    else
        memory = m->heap[m->heap_count++] = bench_allocate(bytes);
    return memset(memory, 0, bytes);
}

static char *take_name(mix *m, int size, size_t length)
{
    char *name;
    if (size == WHOLE)
        length = ((length + 16) & ~(size_t)15) - 1;
    name = take(m, 0, length + 1);
    memset(name, 'n', length);
    return name;
}

/* Objects, in an order of chance. The lengths of names take turns. */
static void allocate(mix *m, size_t pairs, int heap, int size)
{
    const size_t pad = (size == WHOLE) * sizeof(void *);
    size_t large = 0, small = 0, names = 0;
    bench_random random = { 5 };
    while (large < pairs || small < pairs || names < (heap == NAMED) * pairs) {
        const size_t what = bench_below(&random, heap == NAMED ? 3 : 2);
        if (what == 0 && large < pairs) {
            m->large[large] = take(m, heap == POOL, sizeof(large_node) + pad);
            m->large[large]->number = large;
            large++;
        } else if (what == 1 && small < pairs) {
            m->small[small] = take(m, heap == POOL, sizeof(small_node) + pad);
            m->small[small]->number = pairs + small;
            small++;
        } else if (what == 2 && names < large && names < pairs) {
            m->large[names]->name = take_name(m, size, 5 + 7 * names % 33);
            names++;
        }
    }
}

static size_t pick(bench_random *random, size_t at, size_t count, int is_shuffled)
{
    return (at + 1 + bench_below(random, is_shuffled || count < REACH ? count : REACH)) % count;
}

/* `next` leads to the next object, or a stride on, so that all of them are reached; other pointers
 * lead to one of the next REACH, or to one of chance. */
static void link_all(mix *m, size_t pairs, int is_shuffled)
{
    const size_t stride = is_shuffled && pairs % STRIDE ? STRIDE % pairs : 1; /* a prime number */
    bench_random random = { 6 };
    size_t i;
    for (i = 0; i < pairs; i++) {
        m->large[i]->next = m->large[(i + stride) % pairs];
        m->large[i]->other = m->large[pick(&random, i, pairs, is_shuffled)];
        m->large[i]->part = m->small[pick(&random, i, pairs, is_shuffled)];
        m->small[i]->owner = m->large[pick(&random, i, pairs, is_shuffled)];
        m->small[i]->next = m->small[(i + stride) % pairs];
    }
}

static void open_mix(mix *m, size_t pairs, int heap, int order, int size)
{
    memset(m, 0, sizeof *m);
    snprintf(m->technique, TECHNIQUE_BYTES, "%s_%s_%s", heap_name[heap], size_name[size],
             order_name[order]);
    m->large = bench_allocate(pairs * sizeof *m->large);
    m->small = bench_allocate(pairs * sizeof *m->small);
    m->heap = bench_allocate(3 * pairs * sizeof *m->heap);
    m->pool =
        heap == POOL
            ? bench_map(pairs * (sizeof(large_node) + sizeof(small_node) + 2 * sizeof(void *)))
            : NULL;
    describe(m, size);
    allocate(m, pairs, heap, size);
    link_all(m, pairs, order);
}

static void close_mix(mix *m, size_t pairs)
{
    size_t i;
    for (i = 0; i < m->heap_count; i++)
        free(m->heap[i]);
    if (m->pool)
        bench_unmap(m->pool,
                    pairs * (sizeof(large_node) + sizeof(small_node) + 2 * sizeof(void *)));
    free(m->heap);
    free(m->large);
    free(m->small);
    haul_type_free(&m->large_type);
    haul_type_free(&m->small_type);
}

/* ---------------------------------------------------------------------------------------------
 * A round
 */

/* The least that a program by hand does. */
static void meet(const mixes *all, const void *node, size_t *count)
{
    const size_t number = *(const size_t *)node;
    if (all->seen[number])
        return;
    all->seen[number] = 1;
    all->queue[(*count)++] = node;
}

/* Answers the objects. */
static size_t walk(const mixes *all, const mix *m)
{
    size_t at, count = 0, names = 0;
    meet(all, m->large[0], &count);
    for (at = 0; at < count; at++) {
        const large_node *large = all->queue[at];
        const small_node *small = all->queue[at];
        if (large->number < all->pairs) {
            meet(all, large->next, &count);
            meet(all, large->other, &count);
            meet(all, large->part, &count);
            names += large->name && strlen(large->name) > 0;
        } else {
            meet(all, small->owner, &count);
            meet(all, small->next, &count);
        }
    }
    return count + names;
}

static haul_plan *make_plan(mixes *all, mix *m, haul_plan_info *numbers)
{
    haul_root root;
    haul_plan *plan;
    root.address = m->large[0];
    root.type = m->large_type;
    root.count = 1;
    if (haul_plan_create(all->context, haul_from_roots(&root, 1), NULL, &plan) != HAUL_OK)
        bench_die(m->technique, haul_context_error(all->context));
    haul_plan_get_info(plan, numbers);
    return plan;
}

static void time_mix(mixes *all, mix *m)
{
    haul_plan_info numbers;
    haul_plan *plan;
    size_t count;
    double started, planned;
    memset(all->queue, 0, 2 * all->pairs * sizeof *all->queue);
    memset(all->seen, 0, 2 * all->pairs);
    started = bench_processor_milliseconds();
    count = walk(all, m);
    m->walk = 1e6 * (bench_processor_milliseconds() - started) / (double)count;
    started = bench_processor_milliseconds();
    plan = make_plan(all, m, &numbers);
    planned = bench_processor_milliseconds();
    if (haul_plan_pack(plan, all->arena, all->arena_bytes, DEVICE_BASE, NULL) != HAUL_OK)
        bench_die(m->technique, haul_context_error(all->context));
    m->plan = 1e6 * (planned - started) / (double)count;
    m->pack = 1e6 * (bench_processor_milliseconds() - planned) / (double)count;
    m->bookkeeping = 100.0 * (double)numbers.bookkeeping_bytes / (double)numbers.graph_bytes;
    haul_plan_free(&plan);
    if (numbers.objects != count || count != all->pairs * (m->large[0]->name ? 3 : 2))
        bench_die("discovery has not found as many objects as the walk", NULL);
}

static void one_round(mixes *all, int is_first)
{
    const mix *whole = &all->it[WHOLE];
    int i;
    for (i = 0; i < SIZES; i++)
        time_mix(all, &all->it[i]);
    for (i = 0; i < SIZES && !is_first; i++) {
        const mix *m = &all->it[i];
        report_value(m->technique, "plan_ns", m->plan);
        report_value(m->technique, "times_whole", m->plan / whole->plan);
        report_value(m->technique, "walk_times_whole", m->walk / whole->walk);
        report_value(m->technique, "pack_ns", m->pack);
        report_value(m->technique, "pack_times_whole", m->pack / whole->pack);
        report_value(m->technique, "bookkeeping_percent", m->bookkeeping);
    }
}

void measure_mixed(int runs, double scale)
{
    static mixes each[HEAPS * ORDERS]; /* the names stay until the report has ended */
    int group, run, i;
    report_begin("mixed");
    for (group = 0; group < HEAPS * ORDERS; group++) {
        mixes *all = &each[group];
        const int heap = group / ORDERS;
        all->pairs = (size_t)(NODES * scale / (heap == NAMED ? 3 : 2)) + 4;
        all->queue = bench_map(2 * all->pairs * sizeof *all->queue);
        all->seen = bench_map(2 * all->pairs);
        all->arena_bytes = all->pairs * ARENA_BYTES;
        all->arena = bench_map(all->arena_bytes);
        if (haul_context_create(NULL, &all->context) != HAUL_OK)
            bench_die("mixed", NULL);
        for (i = 0; i < SIZES; i++)
            open_mix(&all->it[i], all->pairs, heap, group % ORDERS, i);
        for (run = -1; run < runs; run++)
            one_round(all, run < 0);
        for (i = 0; i < SIZES; i++)
            close_mix(&all->it[i], all->pairs);
        haul_context_free(&all->context);
        bench_unmap(all->arena, all->arena_bytes);
        bench_unmap(all->seen, 2 * all->pairs);
        bench_unmap(all->queue, 2 * all->pairs * sizeof *all->queue);
        bench_forget_blocks();
    }
    report_end();
}
