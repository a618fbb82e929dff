/* Discovery by several threads: whatever their number, a plan, its arena, its numbers and its
 * errors are those of one thread.
 */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "haul.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/outcomes.h"
#include "support/random.h"
#include "support/store.h"
#include "support/types.h"

/* More nodes than one thread visits alone, and so many that thousands wait at once. */
#if defined(HAUL_STRESS_THREADS) || defined(HAUL_EMULATED)
enum { NODES = 2000, FAULT_NODES = 200, NETS = 100, NET_NODES = 300, TREE_NODES = 5000 };
#else
enum {
    NODES = 60000,
    FAULT_NODES = 60000,
    NETS = LARGE(12, 6),
    NET_NODES = 60000,
    TREE_NODES = 600000
};
#endif
enum { KINDS = 2, EDGES = 4, WORD = sizeof(void *), PAGE = 4096 };

/* A kind of node: pointers from its begin on, then data. */
typedef struct kind {
    size_t bytes, stride, first; /* from one node to the next, and to the first one */
    unsigned edges;
} kind;

/* Pointer `edge` of a node of kind k leads to any node of the kind kind_behind(k, edge), or is
 * NULL; not in a first node, since a net of one node is not shared. */
typedef struct net {
    kind kinds[KINDS];
    size_t kind_count, count; /* nodes of each kind */
    int is_interleaved;       /* the kinds take turns in one memory */
    int are_twins;            /* pointers of all kinds lead to the same kinds */
    haul_type *type[KINDS];
    char *memory[KINDS];
} net;

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
        n->memory[k] = outcome_pages(bytes);
        for (at = 0; at < bytes; at++)
            n->memory[k][at] = (char)at;
    }
    for (k = 0; k < n->kind_count; k++)
        for (i = 0; i < n->count; i++)
            for (edge = 0; edge < n->kinds[k].edges; edge++)
                lead(node(n, k, i), edge,
                     i == 0 || random_below(random, 8)
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

static haul_root root_of(const net *n)
{
    haul_root root;
    root.address = node(n, 0, 0);
    root.type = n->type[0];
    root.count = 1;
    return root;
}

static int agree(const net *n, const haul_context_options *options, outcome *alone)
{
    const haul_root root = root_of(n);
    return outcomes_agree(&root, options, 0, alone);
}

/* All of a sound net. */
static void check_net(net *n, const char *seed)
{
    random_source random = random_start(seed);
    outcome alone;
    net_make(n, &random);
    CHECK_EQ(agree(n, NULL, &alone), CAN_SHARE);
    CHECK_STATUS(alone.status, HAUL_OK);
    CHECK_EQ(alone.info.objects, reached(n));
    outcome_free(&alone);
    net_free(n);
}

/* ---- Sound graphs. */

TEST(shared_walk, nodes_that_lie_in_one_cell_or_two_are_found_by_threads_as_by_one)
{
    net n = { { { 8 * WORD, 10 * WORD, 4 * WORD, 4 } }, 1, NODES, 0, 0, { NULL }, { NULL } };
    check_net(&n, "shared walk: nodes of eight words");
}

TEST(shared_walk, nodes_that_end_within_a_granule_are_found_by_threads_as_by_one)
{
    net n = { { { 7 * WORD, 7 * WORD, WORD, 3 } }, 1, NODES, 0, 0, { NULL }, { NULL } };
    check_net(&n, "shared walk: nodes of seven words");
}

TEST(shared_walk, nodes_longer_than_a_cell_are_found_by_threads_as_by_one)
{
    net n = { { { 78 * WORD, 80 * WORD, 0, 4 } }, 1, NODES, 0, 0, { NULL }, { NULL } };
    check_net(&n, "shared walk: nodes of 78 words");
}

TEST(shared_walk, nodes_that_begin_within_a_granule_are_found_by_threads_as_by_one)
{
    net n = { { { 8 * WORD, 8 * WORD, 3 * WORD, 4 } }, 1, NODES, 0, 0, { NULL }, { NULL } };
    check_net(&n, "shared walk: nodes at odd words");
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
    check_net(&n, "shared walk: two kinds apart");
}

TEST(shared_walk, two_kinds_of_one_shape_are_found_by_threads_as_by_one)
{
    net n = { { { 6 * WORD, 8 * WORD, 0, 4 }, { 6 * WORD, 10 * WORD, 0, 4 } },
              2,
              NODES,
              0,
              0,
              { NULL },
              { NULL } };
    check_net(&n, "shared walk: two kinds of one shape");
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
    check_net(&n, "shared walk: twins");
}

/* Its nodes become a tree. */
static void net_grow(const net *n)
{
    size_t i;
    for (i = 0; i < n->count; i++) {
        lead(node(n, 0, i), 0, 2 * i + 1 < n->count ? node(n, 0, 2 * i + 1) : NULL);
        lead(node(n, 0, i), 1, 2 * i + 2 < n->count ? node(n, 0, 2 * i + 2) : NULL);
    }
}

TEST(shared_walk, a_tree_that_needs_more_blocks_than_threads_have_is_found_by_threads_as_by_one)
{
    net n = { { { 8 * WORD, 8 * WORD, 0, 2 } }, 1, TREE_NODES, 0, 0, { NULL }, { NULL } };
    random_source random = random_from(1);
    outcome alone;
    net_make(&n, &random);
    net_grow(&n);
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

/* An allocator that only the thread of the call may use. */
typedef struct own_thread {
    pthread_t caller;
    size_t calls, by_others;
} own_thread;

static void *allocate_own(void *user, size_t bytes, size_t alignment)
{
    own_thread *own = user;
    void *memory = NULL;
    own->calls++;
    own->by_others += !pthread_equal(pthread_self(), own->caller);
    return posix_memalign(&memory, alignment < WORD ? WORD : alignment, bytes) ? NULL : memory;
}

static void release_own(void *user, void *memory, size_t bytes)
{
    own_thread *own = user;
    (void)bytes;
    own->by_others += !pthread_equal(pthread_self(), own->caller);
    free(memory);
}

static void *reserve_own(void *user, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ((own_thread *)user)->by_others += !pthread_equal(pthread_self(), ((own_thread *)user)->caller);
    return memory == MAP_FAILED ? NULL : memory;
}

static void unreserve_own(void *user, void *memory, size_t bytes)
{
    (void)user;
    CHECK_EQ(munmap(memory, bytes), 0);
}

TEST(shared_walk, an_allocator_of_one_thread_is_called_by_no_other_one)
{
    net n = { { { 8 * WORD, 8 * WORD, 0, 2 } }, 1, TREE_NODES, 0, 0, { NULL }, { NULL } };
    random_source random = random_from(1);
    own_thread own;
    haul_context_options options;
    haul_context *context;
    haul_plan *plan;
    haul_plan_info info;
    net_make(&n, &random);
    net_grow(&n);
    memset(&own, 0, sizeof own);
    own.caller = pthread_self();
    memset(&options, 0, sizeof options);
    options.threads = 3;
    options.allocate = allocate_own;
    options.release = release_own;
    options.reserve = reserve_own;
    options.unreserve = unreserve_own;
    options.allocator_user = &own;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    CHECK_STATUS(
        haul_plan_create(context, haul_from_object(node(&n, 0, 0), n.type[0]), NULL, &plan),
        HAUL_OK);
    haul_plan_get_info(plan, &info);
    CHECK_EQ(info.objects, n.count);
    haul_plan_free(&plan);
    haul_context_free(&context);
    CHECK(own.calls > 10);
    CHECK_EQ(own.by_others, 0);
    net_free(&n);
}

TEST(shared_walk, two_kinds_side_by_side_are_found_by_threads_as_by_one)
{
    net n = { { { 6 * WORD, 10 * WORD, 0, 4 }, { 9 * WORD, 10 * WORD, 0, 3 } },
              2,
              NODES,
              1,
              0,
              { NULL },
              { NULL } };
    check_net(&n, "shared walk: two kinds side by side");
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

TEST(shared_walk, memory_that_runs_out_in_any_thread_is_told_and_all_of_it_given_back_H1_H2)
{
    net n = { { { 8 * WORD, 8 * WORD, 0, 4 } }, 1, FAULT_NODES, 0, 0, { NULL }, { NULL } };
    random_source random = random_start("shared walk: no memory in a thread");
    haul_source source;
    haul_status status;
    size_t all, i, failed = 0;
    net_make(&n, &random);
    source = haul_from_object(node(&n, 0, 0), n.type[0]);
    all = plan_from_store(source, SIZE_MAX, &status);
    CHECK_STATUS(status, HAUL_OK);
    for (i = 0; i < 60; i++) {
        plan_from_store(source, i < 20 ? i : random_below(&random, all), &status);
        failed += status == HAUL_ERROR_MEMORY;
    }
    CHECK(failed > 30);
    net_free(&n);
}
