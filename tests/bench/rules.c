/* Rules: what one more row of a short struct costs discovery.
 *
 * A random graph of nodes of 64 bytes, each with two pointers to others, malloc'ed in order and
 * linked in an order of chance. Each variant describes one more word, and fills it. The walk by
 * hand reads the same pointers as that variant. All have their turns within each round, by the
 * processor's clock. Discovery by one thread and by all is told by the plans.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "base/pool.h"

enum { NODES = 1000000, KINDS = 3 };
enum {
    IS_PLAIN,
    IS_SKIPPED,
    IS_ELSE_RAW,
    IS_ARMS,
    IS_SMALL_ARMS,
    IS_TAGGED,
    IS_BORROWED,
    IS_CHOSEN,
    IS_STRINGS,
    IS_HALF_SKIPPED,
    IS_FIELD_IN,
    IS_ARM_OUT,
    IS_NODE_IN,
    IS_PAIR_OUT,
    IS_TEXT_IN,
    VARIANTS
};

typedef struct pair {
    int64_t first, second;
} pair;

typedef struct node {
    int64_t kind; /* below KINDS */
    struct node *next, *other;
    union {
        struct node *node;
        pair *pair;
        void *any;
        char *text;
        double number;
        int small;
    } u;
    union {
        void *handle;
        int small;
    } left;
    int64_t data[3];
} node;

static haul_type *node_type, *pair_type;

#define PLAIN HAUL_OBJECT(node, next, &node_type), HAUL_OBJECT(node, other, &node_type)
#define IF_ONE .when = HAUL_EQUALS(node, kind, 1)
#define IF_TWO .when = HAUL_EQUALS(node, kind, 2)
static const haul_case cases[] = { { 0, &pair_type, 0 },
                                   { 1, &node_type, 0 },
                                   { 2, &pair_type, 0 } };
static const haul_field plain[] = { PLAIN };
static const haul_field skipped[] = { PLAIN, HAUL_SKIP(node, left.handle) };
static const haul_field else_raw[] = { PLAIN, HAUL_OBJECT(node, u.node, &node_type, IF_ONE,
                                                          .else_raw = 1) };
static const haul_field arms[] = { PLAIN, HAUL_OBJECT(node, u.node, &node_type, IF_ONE),
                                   HAUL_RAW(node, u.number, IF_TWO) };
static const haul_field small_arms[] = { PLAIN, HAUL_OBJECT(node, u.node, &node_type, IF_ONE),
                                         HAUL_RAW(node, u.small, IF_TWO) };
static const haul_field tagged[] = { HAUL_OBJECT(node, next, &node_type, .tag_bits = 1),
                                     HAUL_OBJECT(node, other, &node_type) };
static const haul_field borrowed[] = { PLAIN, HAUL_OBJECT(node, u.node, &node_type,
                                                          .ownership = HAUL_BORROWED) };
static const haul_field chosen[] = {
    PLAIN, HAUL_ADDRESS(node, u.any, .type_switch = HAUL_SWITCH(node, kind, cases))
};
static const haul_field strings[] = { PLAIN, HAUL_STRING(node, u.text, IF_ONE),
                                      HAUL_RAW(node, u.small, IF_TWO) };
static const haul_field half_skipped[] = { PLAIN, HAUL_SKIP(node, left.small) };
static const haul_field field_in[] = { PLAIN,
                                       HAUL_RAW(node, left.handle, .transfer = HAUL_COPYIN) };
static const haul_field arm_out[] = { PLAIN, HAUL_OBJECT(node, u.node, &node_type, IF_ONE),
                                      HAUL_RAW(node, u.number, IF_TWO, .transfer = HAUL_COPYOUT) };
static const haul_field node_in[] = { PLAIN, HAUL_OBJECT(node, u.node, &node_type,
                                                         .transfer = HAUL_COPYIN) };
static const haul_field pair_out[] = { PLAIN, HAUL_OBJECT(node, u.pair, &pair_type,
                                                          .transfer = HAUL_COPYOUT) };
static const haul_field text_in[] = { PLAIN, HAUL_STRING(node, u.text, .transfer = HAUL_COPYIN) };

#define VARIANT(name, fields)                                                                      \
    {                                                                                              \
        name,                                                                                      \
        {                                                                                          \
            HAUL_STRUCT(node, &node_type, fields), HAUL_PLAIN(pair, &pair_type)                    \
        }                                                                                          \
    }
static const struct variant {
    const char *name;
    haul_struct structs[2];
} variants[VARIANTS] = { VARIANT("plain", plain),           VARIANT("skipped", skipped),
                         VARIANT("else_raw", else_raw),     VARIANT("arms", arms),
                         VARIANT("small_arms", small_arms), VARIANT("tagged", tagged),
                         VARIANT("borrowed", borrowed),     VARIANT("chosen", chosen),
                         VARIANT("strings", strings),       VARIANT("half_skipped", half_skipped),
                         VARIANT("field_in", field_in),     VARIANT("arm_out", arm_out),
                         VARIANT("node_in", node_in),       VARIANT("pair_out", pair_out),
                         VARIANT("text_in", text_in) };

/* All variants have the same nodes and pairs, in turn. */
typedef struct graph {
    node **all;
    pair *pairs;
    size_t count;
    const node **queue;
    unsigned char *seen; /* by number, which data[0] tells */
} graph;

static node *any(const graph *g, bench_random *random)
{
    return g->all[bench_below(random, g->count)];
}

static void *tag(node *to, size_t i)
{
    return (char *)to + (to && i % 2);
}

static void fill_word(const graph *g, bench_random *random, node *at, size_t i, int variant)
{
    switch (variant) {
    case IS_ELSE_RAW:
    case IS_ARMS:
    case IS_SMALL_ARMS:
    case IS_ARM_OUT:
        if (at->kind == 1)
            at->u.node = any(g, random);
        else
            at->u.number = 1.5;
        break;
    case IS_TAGGED:
        at->next = tag(at->next, i);
        break;
    case IS_BORROWED:
    case IS_NODE_IN:
        at->u.node = any(g, random);
        break;
    case IS_CHOSEN:
        at->u.any = at->kind == 1 ? (void *)any(g, random) : (void *)&g->pairs[i];
        break;
    case IS_STRINGS:
        at->u.any = at->kind == 1 ? (void *)&g->pairs[i] : NULL;
        break;
    case IS_PAIR_OUT:
    case IS_TEXT_IN:
        at->u.any = &g->pairs[i];
        break;
    default:
        break;
    }
}

/* The same graph each time. */
static void fill(const graph *g, int variant)
{
    bench_random random = { 9 };
    size_t i;
    for (i = 0; i < g->count; i++) {
        node *at = g->all[i];
        memset(at, 0, sizeof *at);
        at->data[0] = (int64_t)i;
        at->kind = (int64_t)bench_below(&random, KINDS);
        at->next = i + 1 < g->count ? g->all[i + 1] : NULL;
        at->other = any(g, &random);
        memcpy(&g->pairs[i], "a string", sizeof "a string");
        fill_word(g, &random, at, i, variant);
    }
}

static void meet(const graph *g, const node *to, size_t *count)
{
    if (!to || g->seen[to->data[0]])
        return;
    g->seen[to->data[0]] = 1;
    g->queue[(*count)++] = to;
}

static size_t walk(const graph *g, int variant)
{
    size_t count = 0, others = 0, read;
    meet(g, g->all[0], &count);
    for (read = 0; read < count; read++) {
        const node *at = g->queue[read];
        const uintptr_t next = (uintptr_t)at->next & ~(uintptr_t)(variant == IS_TAGGED ? 1 : 0);
        meet(g, (const node *)next, &count);
        meet(g, at->other, &count);
        if (variant == IS_STRINGS || variant == IS_TEXT_IN)
            others += (at->kind == 1 || variant == IS_TEXT_IN) && strlen(at->u.text) > 0;
        else if (variant == IS_NODE_IN)
            meet(g, at->u.node, &count);
        else if (variant == IS_PAIR_OUT)
            others += at->u.pair != NULL;
        else if (variant == IS_ARM_OUT && at->kind == 1)
            meet(g, at->u.node, &count);
        else if (at->kind == 1 && variant >= IS_ELSE_RAW && variant <= IS_CHOSEN)
            meet(g, at->u.node, &count);
        else if (variant == IS_CHOSEN)
            others++;
    }
    return count + others;
}

/* How long all threads take to discover as many objects. */
static double discover_together(haul_context *together, const haul_root *root, size_t objects)
{
    haul_plan_info numbers;
    haul_plan *plan;
    if (haul_plan_create(together, haul_from_roots(root, 1), NULL, &plan) != HAUL_OK)
        bench_die("rules", haul_context_error(together));
    haul_plan_get_info(plan, &numbers);
    haul_plan_free(&plan);
    if (numbers.objects != objects)
        bench_die("threads have not found as many objects as one thread", NULL);
    return 1e3 * numbers.discover_seconds;
}

static void one_round(haul_context *context, haul_context *together, const graph *g, int variant,
                      int is_first)
{
    const char *name = variants[variant].name;
    haul_plan_info numbers;
    haul_plan *plan;
    double by_threads;
    double started, walked, planned;
    size_t count;
    haul_root root = { 0 };
    if (HAUL_DESCRIBE(context, variants[variant].structs) != HAUL_OK)
        bench_die(name, haul_context_error(context));
    fill(g, variant);
    memset(g->seen, 0, g->count);
    started = bench_processor_milliseconds();
    count = walk(g, variant);
    walked = bench_processor_milliseconds();
    root.address = g->all[0];
    root.type = node_type;
    root.count = 1;
    if (haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan) != HAUL_OK)
        bench_die(name, haul_context_error(context));
    planned = bench_processor_milliseconds();
    haul_plan_get_info(plan, &numbers);
    haul_plan_free(&plan);
    by_threads = discover_together(together, &root, numbers.objects);
    haul_type_free(&node_type);
    haul_type_free(&pair_type);
    if (numbers.objects != count)
        bench_die("discovery has not found as many objects as the walk", NULL);
    if (is_first)
        return;
    report_value(name, "plan_ns", 1e6 * (planned - walked) / (double)count);
    report_value(name, "plan_walks", (planned - walked) / (walked - started));
    report_value(name, "discover", 1e3 * numbers.discover_seconds);
    report_value(name, "discover_threads", by_threads);
}

static void open_graph(graph *g, double scale)
{
    bench_random random = { 8 };
    size_t i;
    g->count = (size_t)(NODES * scale) + 2;
    g->all = bench_map(g->count * sizeof *g->all);
    g->pairs = bench_map(g->count * sizeof *g->pairs);
    g->queue = bench_map(g->count * sizeof *g->queue);
    g->seen = bench_map(g->count);
    for (i = 0; i < g->count; i++)
        g->all[i] = bench_allocate(sizeof(node));
    for (i = g->count - 1; i > 0; i--) {
        const size_t other = bench_below(&random, i + 1);
        node *const here = g->all[i];
        g->all[i] = g->all[other];
        g->all[other] = here;
    }
}

static void close_graph(graph *g)
{
    size_t i;
    for (i = 0; i < g->count; i++)
        free(g->all[i]);
    bench_unmap(g->seen, g->count);
    bench_unmap(g->queue, g->count * sizeof *g->queue);
    bench_unmap(g->pairs, g->count * sizeof *g->pairs);
    bench_unmap(g->all, g->count * sizeof *g->all);
    bench_forget_blocks();
}

void measure_rules(int runs, double scale)
{
    const haul_context_options options = { .threads = haul__processors() };
    haul_context *context, *together;
    graph g;
    int run, i;
    report_begin("rules");
    open_graph(&g, scale);
    if (haul_context_create(NULL, &context) != HAUL_OK ||
        haul_context_create(&options, &together) != HAUL_OK)
        bench_die("rules", NULL);
    for (run = -1; run < runs; run++)
        for (i = 0; i < VARIANTS; i++)
            one_round(context, together, &g, i, run < 0);
    haul_context_free(&context);
    haul_context_free(&together);
    close_graph(&g);
    report_end();
}
