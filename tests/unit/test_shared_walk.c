/* Discovery by several threads: whatever their number, a plan, its arena, its numbers and its
 * errors are those of one thread.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/random.h"
#include "support/types.h"

/* An emulator's few addresses have a hash in place of the table, which threads would need. */
#ifdef HAUL_EMULATED
enum { CAN_SHARE = 0 };
#else
enum { CAN_SHARE = 1 };
#endif

/* More nodes than one thread visits alone, and so many that thousands wait at once. */
#if defined(HAUL_STRESS_THREADS) || defined(HAUL_EMULATED)
enum { NODES = 2000, FAULT_NODES = 200, NETS = 100, NET_NODES = 300, TREE_NODES = 5000 };
#else
enum { NODES = 60000, FAULT_NODES = 60000, NETS = 12, NET_NODES = 60000, TREE_NODES = 600000 };
#endif
enum { KINDS = 2, EDGES = 4, WORD = sizeof(void *), PAGE = 4096 };

static const unsigned teams[] = { 2, 3, 5 };

/* A kind of node: pointers from its begin on, then data. */
typedef struct kind {
    size_t bytes, stride, first; /* from one node to the next, and to the first one */
    unsigned edges;
} kind;

/* Pointer `edge` of a node of kind k leads to any node of the kind kind_behind(k, edge), or is
 * NULL. */
typedef struct net {
    kind kinds[KINDS];
    size_t kind_count, count; /* nodes of each kind */
    int is_interleaved;       /* the kinds take turns in one memory */
    int are_twins;            /* pointers of all kinds lead to the same kinds */
    haul_type *type[KINDS];
    char *memory[KINDS];
} net;

static char *pages(size_t bytes)
{
    void *memory;
    CHECK(posix_memalign(&memory, PAGE, bytes) == 0);
    return memory;
}

static size_t kind_behind(const net *n, size_t k, unsigned edge)
{
    return (n->are_twins ? edge : k + edge) % n->kind_count;
}

static char *node(const net *n, size_t k, size_t i)
{
    if (n->is_interleaved)
        return n->memory[0] + n->kinds[0].first + (i * n->kind_count + k) * n->kinds[0].stride;
    return n->memory[k] + n->kinds[k].first + i * n->kinds[k].stride;
}

static void lead(char *from, unsigned edge, const void *to)
{
    memcpy(from + edge * WORD, &to, sizeof to);
}

static char *led(const char *from, unsigned edge)
{
    char *to;
    memcpy(&to, from + edge * WORD, sizeof to);
    return to;
}

static void net_types(net *n)
{
    static const char *const names[EDGES] = { "first", "second", "third", "fourth" };
    haul_field fields[EDGES];
    size_t k;
    unsigned edge;
    for (k = 0; k < n->kind_count; k++) {
        memset(fields, 0, sizeof fields);
        for (edge = 0; edge < n->kinds[k].edges; edge++) {
            const size_t to = kind_behind(n, k, edge);
            fields[edge].name = names[edge];
            fields[edge].kind = HAUL_FIELD_POINTER;
            fields[edge].offset = edge * WORD;
            fields[edge].bytes = WORD;
            fields[edge].element_bytes = n->kinds[to].bytes;
            fields[edge].target = &n->type[to];
        }
        CHECK_STATUS(type_make(k ? "other" : "node", n->kinds[k].bytes, fields, n->kinds[k].edges,
                               &n->type[k]),
                     HAUL_OK);
    }
    CHECK_STATUS(haul_type_commit(n->type[0]), HAUL_OK);
}

static void net_make(net *n, random_source *random)
{
    size_t k, i, at;
    unsigned edge;
    net_types(n);
    for (k = 0; k < (n->is_interleaved ? 1 : n->kind_count); k++) {
        const size_t bytes = n->count * n->kind_count * n->kinds[k].stride + 2 * PAGE;
        n->memory[k] = pages(bytes);
        for (at = 0; at < bytes; at++)
            n->memory[k][at] = (char)at;
    }
    for (k = 0; k < n->kind_count; k++)
        for (i = 0; i < n->count; i++)
            for (edge = 0; edge < n->kinds[k].edges; edge++)
                lead(node(n, k, i), edge,
                     random_below(random, 8)
                         ? node(n, kind_behind(n, k, edge), random_below(random, n->count))
                         : NULL);
}

static void net_free(net *n)
{
    size_t k;
    for (k = 0; k < KINDS; k++) {
        haul_type_free(&n->type[k]);
        free(n->memory[k]);
    }
}

/* Kind and number of the node at an address, as one number. */
static size_t number_of(const net *n, size_t k, const char *at)
{
    const size_t distance = (size_t)(at - node(n, k, 0));
    return k * n->count + distance / (n->kinds[k].stride * (n->is_interleaved ? n->kind_count : 1));
}

/* How many nodes the first one reaches, by the obvious walk. */
static size_t reached(const net *n)
{
    size_t *queue = malloc(n->kind_count * n->count * sizeof *queue), count = 1, at;
    char *seen = calloc(n->kind_count, n->count);
    CHECK(queue && seen);
    queue[0] = 0;
    seen[0] = 1;
    for (at = 0; at < count; at++) {
        const size_t k = queue[at] / n->count;
        unsigned edge;
        for (edge = 0; edge < n->kinds[k].edges; edge++) {
            const char *to = led(node(n, k, queue[at] % n->count), edge);
            const size_t number = to ? number_of(n, kind_behind(n, k, edge), to) : 0;
            if (to && !seen[number]) {
                seen[number] = 1;
                queue[count++] = number;
            }
        }
    }
    free(queue);
    free(seen);
    return count;
}

/* ---- What discovery by some threads gives. */

typedef struct outcome {
    haul_status status;
    haul_error error;
    haul_plan_info info;
    char *arena;
    uint64_t *bitmap;
} outcome;

static outcome outcome_of(const net *n, const haul_context_options *options, unsigned threads)
{
    haul_context_options own;
    haul_context *context;
    haul_plan *plan;
    haul_root root;
    outcome o;
    memset(&o, 0, sizeof o);
    memset(&own, 0, sizeof own);
    if (options)
        own = *options;
    own.threads = threads;
    root.address = node(n, 0, 0);
    root.type = n->type[0];
    root.count = 1;
    CHECK_STATUS(haul_context_create(&own, &context), HAUL_OK);
    o.status = haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan);
    o.error = *haul_context_error(context);
    if (o.status == HAUL_OK) {
        haul_plan_get_info(plan, &o.info);
        o.arena = pages(o.info.arena_bytes);
        o.bitmap = malloc(o.info.bitmap_bytes);
        CHECK(o.bitmap != NULL);
        CHECK_STATUS(haul_plan_pack(plan, o.arena, o.info.arena_bytes, 0x100000, o.bitmap),
                     HAUL_OK);
        haul_plan_free(&plan);
    }
    haul_context_free(&context);
    return o;
}

static void outcome_free(outcome *o)
{
    free(o->arena);
    free(o->bitmap);
}

static void check_outcomes(const outcome *a, const outcome *b)
{
    CHECK_STATUS(b->status, a->status);
    CHECK_STR(b->error.text, a->error.text);
    CHECK_STR(b->error.path, a->error.path);
    CHECK_STR(b->error.other_path, a->error.other_path);
    CHECK_EQ(b->info.objects, a->info.objects);
    CHECK_EQ(b->info.pointers, a->info.pointers);
    CHECK_EQ(b->info.graph_bytes, a->info.graph_bytes);
    CHECK_EQ(b->info.arena_bytes, a->info.arena_bytes);
    CHECK_EQ(b->info.bitmap_bytes, a->info.bitmap_bytes);
    CHECK_EQ(b->info.bookkeeping_bytes, a->info.bookkeeping_bytes);
    CHECK(a->status != HAUL_OK || memcmp(a->arena, b->arena, a->info.arena_bytes) == 0);
    CHECK(a->status != HAUL_OK || memcmp(a->bitmap, b->bitmap, a->info.bitmap_bytes) == 0);
}

/* Several threads keep their worklist in parcels, so it takes more memory. */
static int was_shared(const outcome *alone, const outcome *together)
{
    return together->info.worklist_bytes != alone->info.worklist_bytes;
}

/* Checks that all teams find what one thread finds, and answers whether they shared the walk. The
 * one thread's outcome becomes *alone. */
static int agree(const net *n, const haul_context_options *options, outcome *alone)
{
    int all = 1;
    size_t i;
    *alone = outcome_of(n, options, 1);
    for (i = 0; i < sizeof teams / sizeof teams[0]; i++) {
        outcome together = outcome_of(n, options, teams[i]);
        check_outcomes(alone, &together);
        all &= was_shared(alone, &together);
        outcome_free(&together);
    }
    return all;
}

/* All of a sound net, which is shared or not. */
static void check_net(net *n, const char *seed, int is_shared)
{
    random_source random = random_start(seed);
    outcome alone;
    net_make(n, &random);
    CHECK_EQ(agree(n, NULL, &alone), is_shared && CAN_SHARE);
    CHECK_STATUS(alone.status, HAUL_OK);
    CHECK_EQ(alone.info.objects, reached(n));
    outcome_free(&alone);
    net_free(n);
}

/* ---- Sound graphs. */

TEST(shared_walk, nodes_that_lie_in_one_cell_or_two_are_found_by_threads_as_by_one)
{
    net n = { { { 8 * WORD, 10 * WORD, 4 * WORD, 4 } }, 1, NODES, 0, 0, { NULL }, { NULL } };
    check_net(&n, "shared walk: nodes of eight words", 1);
}

TEST(shared_walk, nodes_that_end_within_a_granule_are_found_by_threads_as_by_one)
{
    net n = { { { 7 * WORD, 7 * WORD, WORD, 3 } }, 1, NODES, 0, 0, { NULL }, { NULL } };
    check_net(&n, "shared walk: nodes of seven words", 1);
}

TEST(shared_walk, nodes_longer_than_a_cell_are_found_by_threads_as_by_one)
{
    net n = { { { 78 * WORD, 80 * WORD, 0, 4 } }, 1, NODES, 0, 0, { NULL }, { NULL } };
    check_net(&n, "shared walk: nodes of 78 words", 1);
}

TEST(shared_walk, nodes_that_begin_within_a_granule_are_found_by_threads_as_by_one)
{
    net n = { { { 8 * WORD, 8 * WORD, 3 * WORD, 4 } }, 1, NODES, 0, 0, { NULL }, { NULL } };
    check_net(&n, "shared walk: nodes at odd words", 1);
}

TEST(shared_walk, two_kinds_that_lie_apart_are_found_by_threads_as_by_one)
{
    net n = { { { 6 * WORD, 8 * WORD, 0, 4 }, { 9 * WORD, 10 * WORD, 0, 3 } },
              2,
              NODES,
              0,
              0,
              { NULL },
              { NULL } };
    check_net(&n, "shared walk: two kinds apart", 1);
}

TEST(shared_walk, two_kinds_of_one_shape_are_left_to_one_thread)
{
    net n = { { { 6 * WORD, 8 * WORD, 0, 4 }, { 6 * WORD, 10 * WORD, 0, 4 } },
              2,
              NODES,
              0,
              0,
              { NULL },
              { NULL } };
    check_net(&n, "shared walk: two kinds of one shape", 0);
}

TEST(shared_walk, two_kinds_of_one_shape_with_the_same_targets_are_found_by_threads_as_by_one)
{
    net n = { { { 6 * WORD, 8 * WORD, 0, 4 }, { 6 * WORD, 10 * WORD, 0, 4 } },
              2,
              NODES,
              0,
              1,
              { NULL },
              { NULL } };
    check_net(&n, "shared walk: twins", 1);
}

TEST(shared_walk, a_tree_that_needs_more_blocks_than_threads_have_is_found_by_threads_as_by_one)
{
    net n = { { { 8 * WORD, 8 * WORD, 0, 2 } }, 1, TREE_NODES, 0, 0, { NULL }, { NULL } };
    random_source random = random_from(1);
    outcome alone;
    size_t i;
    net_make(&n, &random);
    for (i = 0; i < n.count; i++) {
        lead(node(&n, 0, i), 0, 2 * i + 1 < n.count ? node(&n, 0, 2 * i + 1) : NULL);
        lead(node(&n, 0, i), 1, 2 * i + 2 < n.count ? node(&n, 0, 2 * i + 2) : NULL);
    }
    CHECK_EQ(agree(&n, NULL, &alone), CAN_SHARE);
    CHECK_EQ(alone.info.objects, n.count);
    outcome_free(&alone);
    net_free(&n);
}

TEST(shared_walk, the_second_plan_of_a_context_is_that_of_the_first)
{
    net n = { { { 8 * WORD, 8 * WORD, 0, 4 } }, 1, NODES, 0, 0, { NULL }, { NULL } };
    random_source random = random_start("shared walk: second plan");
    haul_context_options options;
    haul_context *context;
    haul_plan_info info[3];
    size_t i;
    net_make(&n, &random);
    memset(&options, 0, sizeof options);
    options.threads = 3;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    for (i = 0; i < 3; i++) {
        haul_plan *plan;
        CHECK_STATUS(
            haul_plan_create(context, haul_from_object(node(&n, 0, 0), n.type[0]), NULL, &plan),
            HAUL_OK);
        haul_plan_get_info(plan, &info[i]);
        haul_plan_free(&plan);
        CHECK_EQ(info[i].objects, reached(&n));
        CHECK_EQ(info[i].arena_bytes, info[0].arena_bytes);
        CHECK_EQ(info[i].bookkeeping_bytes, info[0].bookkeeping_bytes);
    }
    haul_context_free(&context);
    net_free(&n);
}

TEST(shared_walk, two_kinds_side_by_side_are_left_to_one_thread)
{
    net n = { { { 6 * WORD, 10 * WORD, 0, 4 }, { 9 * WORD, 10 * WORD, 0, 3 } },
              2,
              NODES,
              1,
              0,
              { NULL },
              { NULL } };
    check_net(&n, "shared walk: two kinds side by side", 0);
}

/* ---- Graphs in which something lies across something else, and wrong ones: one thread walks
 * again. */

/* A net of nodes with `words` words. Three quarters of it lead to one another; a list, which is
 * found as slowly as one thread finds it, leads on to the last nodes. The first of these leads to
 * `wrong` or, if that is NULL, to `shift` bytes behind the second; then to the second and third,
 * which nobody else leads to. */
static net net_with(random_source *random, size_t words, const void *wrong, size_t shift)
{
    net n = { { { words * WORD, words * WORD, 0, EDGES } }, 1, NODES, 0, 0, { NULL }, { NULL } };
    const size_t all = NODES / 4 * 3, last = NODES - 3;
    size_t i;
    unsigned edge;
    net_make(&n, random);
    for (i = 0; i < NODES; i++) {
        memset(node(&n, 0, i), 0, words * WORD);
        for (edge = 0; edge < EDGES && i < all; edge++)
            lead(node(&n, 0, i), edge, node(&n, 0, random_below(random, all)));
        if (i >= all && i < last)
            lead(node(&n, 0, i), 1, node(&n, 0, i + 1));
    }
    lead(node(&n, 0, 0), 2, node(&n, 0, all));
    lead(node(&n, 0, last), 0, wrong ? wrong : node(&n, 0, last + 1) + shift);
    lead(node(&n, 0, last), 1, node(&n, 0, last + 1));
    lead(node(&n, 0, last), 2, node(&n, 0, last + 2));
    return n;
}

static void check_with(const char *seed, size_t words, const void *wrong, size_t shift,
                       haul_status status)
{
    random_source random = random_start(seed);
    net n = net_with(&random, words, wrong, shift);
    outcome alone;
    agree(&n, NULL, &alone);
    CHECK_STATUS(alone.status, status);
    outcome_free(&alone);
    net_free(&n);
}

TEST(shared_walk, an_object_across_two_others_gives_the_numbers_of_one_thread)
{
    check_with("shared walk: across two", 4, NULL, 2 * WORD, HAUL_OK);
    check_with("shared walk: across two, at an odd word", 4, NULL, WORD, HAUL_OK);
}

TEST(shared_walk, pointers_to_no_object_give_the_error_and_the_path_of_one_thread)
{
    const void *low = (const void *)(uintptr_t)64, *high = (const void *)(UINTPTR_MAX - PAGE + 1);
    check_with("shared walk: low", 4, low, 0, HAUL_ERROR_GRAPH);
    check_with("shared walk: high", 4, high, 0, HAUL_ERROR_GRAPH);
    check_with("shared walk: misaligned", 4, NULL, WORD / 2, HAUL_ERROR_GRAPH);
}

TEST(shared_walk, a_word_that_is_pointer_and_data_gives_the_error_and_the_paths_of_one_thread)
{
    check_with("shared walk: pointer and data", 8, NULL, 4 * WORD, HAUL_ERROR_GRAPH);
}

TEST(shared_walk, limits_give_the_error_and_the_path_of_one_thread)
{
    net n = { { { 8 * WORD, 10 * WORD, 0, 4 } }, 1, NODES, 0, 0, { NULL }, { NULL } };
    random_source random = random_start("shared walk: limits");
    haul_context_options options;
    outcome alone;
    net_make(&n, &random);
    memset(&options, 0, sizeof options);
    options.max_objects = NODES / 2;
    agree(&n, &options, &alone);
    CHECK_STATUS(alone.status, HAUL_ERROR_LIMIT);
    options.max_objects = 0;
    options.max_bytes = NODES;
    agree(&n, &options, &alone);
    CHECK_STATUS(alone.status, HAUL_ERROR_LIMIT);
    net_free(&n);
}

/* Of any kinds, anywhere; in every second net a few pointers lead elsewhere, by some bytes. Half of
 * a pointer is no address then; on 32 bits it may be one of nothing, so there all are right. */
static net net_drawn(random_source *random)
{
    net n;
    size_t k, i, wrong = random_one_in(random, 2) && WORD > 4 ? random_below(random, 4) : 0;
    memset(&n, 0, sizeof n);
    n.kind_count = random_between(random, 1, KINDS);
    n.count = NET_NODES;
    n.is_interleaved = random_one_in(random, 4);
    for (k = 0; k < n.kind_count; k++) {
        kind *of = &n.kinds[k];
        of->bytes = random_between(random, EDGES, random_one_in(random, 4) ? 90 : 16) * WORD;
        of->stride = of->bytes + random_below(random, 4) * WORD;
        of->first = random_below(random, 8) * WORD;
        of->edges = (unsigned)random_between(random, 2, EDGES);
    }
    if (n.is_interleaved && n.kind_count == 2) {
        const size_t larger =
            n.kinds[0].stride > n.kinds[1].stride ? n.kinds[0].stride : n.kinds[1].stride;
        n.kinds[0].stride = n.kinds[1].stride = larger;
        n.kinds[1].first = n.kinds[0].first;
    }
    net_make(&n, random);
    for (i = 0; i < wrong; i++) {
        char *from = node(&n, 0, random_below(random, n.count));
        char *to = led(from, 0);
        lead(from, 0, to ? to + random_between(random, 1, 3) * (WORD / 2) : NULL);
    }
    return n;
}

TEST(shared_walk, nets_drawn_at_random_give_the_plans_or_the_errors_of_one_thread)
{
    random_source random = random_start("shared walk: drawn nets");
    size_t i, shared = 0;
    for (i = 0; i < NETS; i++) {
        net n = net_drawn(&random);
        outcome alone;
        shared += (size_t)agree(&n, NULL, &alone);
        outcome_free(&alone);
        net_free(&n);
    }
    CHECK_EQ(shared > 0, CAN_SHARE);
}

/* ---- Memory that runs out. */

typedef struct work {
    net n;
    haul_context *context;
    haul_plan *plan;
} work;

static void prepare(void *user, fault_plan *plan)
{
    haul_context_options options;
    memset(&options, 0, sizeof options);
    options.threads = 3;
    CHECK_STATUS(fault_open_context(plan, &options, &((work *)user)->context), HAUL_OK);
}

static haul_status run(void *user)
{
    work *w = user;
    return haul_plan_create(w->context, haul_from_object(node(&w->n, 0, 0), w->n.type[0]), NULL,
                            &w->plan);
}

static void undo(void *user)
{
    haul_plan_free(&((work *)user)->plan);
}

static void finish(void *user)
{
    haul_context_free(&((work *)user)->context);
}

TEST(shared_walk, memory_that_runs_out_while_threads_walk_is_told_and_all_of_it_given_back_H1_H2)
{
    work w = { { { { 8 * WORD, 8 * WORD, 0, 4 } }, 1, FAULT_NODES, 0, 0, { NULL }, { NULL } },
               NULL,
               NULL };
    fault_operation operation = { .prepare = prepare,
                                  .run = run,
                                  .undo = undo,
                                  .finish = finish,
                                  .user = &w,
                                  .modes = FAULT_MEMORY };
    random_source random = random_start("shared walk: no memory");
    net_make(&w.n, &random);
    CHECK(fault_everywhere(&operation) > (CAN_SHARE ? 50 : 10));
    net_free(&w.n);
}
