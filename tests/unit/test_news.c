/* Discovery tells how much it has found, and can be cancelled, whatever shape the graph has.
 *
 * A graph that takes long enough in every build would be too large for a test. So the allocator
 * sleeps for each block of the map, and each new block of the graph takes a millisecond.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "haul.h"
#include "map/found.h"
#include "pack/plan.h"
#include "support/check.h"
#include "support/inside.h"
#include "support/types.h"
#include "walk/aliases.h"

enum {
    BLOCK = 65536,
    BLOCKS = 300,
    SLEPT_FROM = 500,
    SLEPT_TO = 4000,
    NODES = BLOCKS * 1024,
    LARGE = 1 << 18
};

typedef struct node {
    struct node *to[2];
    char text[64 - 2 * sizeof(void *)];
} node;

typedef struct table {
    size_t count;
    node **nodes;
    char **texts;
} table;

typedef struct lender {
    size_t count; /* not 0: eight texts */
    char **texts;
    node *to;
} lender;

typedef struct hearing {
    uint64_t objects, bytes;
    int calls, backwards, cancel;
    int again, cancel_again; /* reports of a second walk, and which of them cancels */
    size_t live;             /* blocks of memory */
    /* What comes behind discovery: a large block takes long, if there was a report since the last
     * one. So each look behind it has a report to make. */
    int takes_long, slept_at, behind, cancel_behind, cancel_at;
    int parts[3];
} hearing;

static haul_type *node_type, *table_type;

static int hear(void *user, uint64_t objects, uint64_t bytes)
{
    hearing *h = user;
    h->calls++;
    h->backwards += objects < h->objects || bytes < h->bytes;
    h->again += h->backwards != 0;
    h->objects = objects;
    h->bytes = bytes;
    h->behind += objects == NODES;
    return h->cancel || (h->behind && h->behind == h->cancel_behind) ||
           (h->again && h->again == h->cancel_again);
}

static int hear_part(void *user, uint64_t done, uint64_t total)
{
    hearing *h = user;
    h->calls++;
    h->backwards += done < h->objects || done > total;
    h->parts[done < total ? 3 * done / total : 2]++;
    h->objects = done;
    h->bytes = total;
    return h->calls == h->cancel_at;
}

static void *take(void *user, size_t bytes, size_t alignment)
{
    const struct timespec millisecond = { 0, 1000000 }, report = { 0, 51000000 };
    hearing *h = user;
    void *memory;
    if (h->takes_long && bytes >= LARGE && h->slept_at != h->calls) {
        h->slept_at = h->calls;
        nanosleep(&report, NULL);
    }
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes))
        return NULL;
    ((hearing *)user)->live++;
    if (bytes > SLEPT_FROM && bytes < SLEPT_TO)
        nanosleep(&millisecond, NULL);
    return memory;
}

static void give(void *user, void *memory, size_t bytes)
{
    (void)bytes;
    ((hearing *)user)->live -= memory != NULL;
    free(memory);
}

static void *reserve(void *user, size_t bytes)
{
    void *range = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    (void)user;
    return range == MAP_FAILED ? NULL : range;
}

static void unreserve(void *user, void *range, size_t bytes)
{
    (void)user;
    munmap(range, bytes);
}

static haul_context *listening(hearing *h, int is_checked, unsigned threads)
{
    haul_context_options options;
    haul_context *context;
    memset(&options, 0, sizeof options);
    memset(h, 0, sizeof *h);
    options.discovery_progress = hear;
    options.progress_user = h;
    options.allocate = take;
    options.release = give;
    options.reserve = reserve;
    options.unreserve = unreserve;
    options.allocator_user = h;
    options.checked = is_checked;
    options.threads = threads;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    return context;
}

/* The first call cancels; then the plan is made, with at least `least` calls. */
static void cancel_and_repeat(haul_source source, int is_checked, int is_ordered, int least)
{
    hearing h;
    haul_context *context = listening(&h, is_checked, 1);
    haul_plan_options how;
    haul_plan *plan;
    haul_plan_info info;
    size_t live;
    memset(&how, 0, sizeof how);
    how.ordered = is_ordered;
    CHECK_STATUS(haul_context_trim(context), HAUL_OK);
    live = h.live;
    h.cancel = 1;
    CHECK_STATUS(haul_plan_create(context, source, &how, &plan), HAUL_ERROR_CANCELLED);
    CHECK_PTR(plan, NULL);
    CHECK_STR(haul_context_error(context)->text, "the progress callback cancelled the call");
    CHECK_EQ(h.calls, 1);
    CHECK_STATUS(haul_context_trim(context), HAUL_OK);
    CHECK_EQ(h.live, live);
    h.objects = h.bytes = 0;
    h.calls = h.cancel = 0;
    CHECK_STATUS(haul_plan_create(context, source, &how, &plan), HAUL_OK);
    haul_plan_get_info(plan, &info);
    CHECK(h.calls >= least);
    CHECK_EQ(h.backwards, 0);
    CHECK(h.objects <= info.objects);
    CHECK(h.bytes > info.graph_bytes / 100 && h.bytes < info.graph_bytes + info.graph_bytes / 10);
    haul_plan_free(&plan);
    haul_context_free(&context);
    CHECK_EQ(h.live, 0);
}

static node *open_nodes(void)
{
    const haul_field node_fields[] = { HAUL_EACH(node, to, .target = &node_type) };
    node *nodes = mmap(NULL, NODES * sizeof *nodes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(nodes != MAP_FAILED);
    CHECK_STATUS(type_make("node", sizeof(node), node_fields, 1, &node_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
    return nodes;
}

static void close_nodes(node *nodes)
{
    haul_type_free(&node_type);
    munmap(nodes, NODES * sizeof *nodes);
}

static void make_list(node *nodes)
{
    size_t i;
    for (i = 0; i + 1 < NODES; i++)
        nodes[i].to[0] = &nodes[i + 1];
}

TEST(news, a_list_tells_how_much_of_it_is_found_and_can_be_cancelled)
{
    node *nodes = open_nodes();
    make_list(nodes);
    cancel_and_repeat(haul_from_object(nodes, node_type), 0, 0, 3);
    cancel_and_repeat(haul_from_object(nodes, node_type), 0, 1, 3); /* ordered */
    cancel_and_repeat(haul_from_object(nodes, node_type), 1, 0, 3); /* checked */
    close_nodes(nodes);
}

TEST(news, so_does_a_tree)
{
    node *nodes = open_nodes();
    size_t i;
    for (i = 0; i < NODES; i++) {
        nodes[i].to[0] = 2 * i + 1 < NODES ? &nodes[2 * i + 1] : NULL;
        nodes[i].to[1] = 2 * i + 2 < NODES ? &nodes[2 * i + 2] : NULL;
    }
    cancel_and_repeat(haul_from_object(nodes, node_type), 0, 0, 2);
    close_nodes(nodes);
}

static int64_t count_slowly(const haul_here *here)
{
    const struct timespec millisecond = { 0, 1000000 };
    const size_t *count = here->self;
    nanosleep(&millisecond, NULL);
    return *count ? 8 : 0;
}

TEST(news, so_does_an_array_of_pointers_to_nodes_strings_or_arrays_that_a_function_counts)
{
    const haul_field fields[3][1] = { { HAUL_POINTERS(table, nodes, &node_type,
                                                      HAUL_COUNT(table, count)) },
                                      { HAUL_STRINGS(table, texts, HAUL_COUNT(table, count)) },
                                      { HAUL_ARRAY(table, texts, HAUL_COUNT_FN(count_slowly)) } };
    node *nodes = open_nodes();
    table all, *many = calloc(300, sizeof *many);
    size_t i;
    CHECK(many != NULL);
    all.count = NODES;
    all.nodes = malloc(NODES * sizeof *all.nodes);
    all.texts = malloc(NODES * sizeof *all.texts);
    CHECK(all.nodes && all.texts);
    for (i = 0; i < NODES; i++) {
        all.nodes[i] = &nodes[i];
        all.texts[i] = strcpy(nodes[i].text, "some text that is found");
    }
    for (i = 0; i < 2; i++) {
        CHECK_STATUS(type_make("table", sizeof(table), fields[i], 1, &table_type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(table_type), HAUL_OK);
        cancel_and_repeat(haul_from_object(&all, table_type), 0, 0, 3);
        haul_type_free(&table_type);
    }
    for (i = 0; i < 300; i++) {
        many[i].count = 8;
        many[i].texts = all.texts + 8 * i;
    }
    CHECK_STATUS(type_make("table", sizeof(table), fields[2], 1, &table_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(table_type), HAUL_OK);
    cancel_and_repeat(haul_from_array(many, table_type, 300), 0, 0, 3);
    haul_type_free(&table_type);
    free(all.nodes);
    free(all.texts);
    free(many);
    close_nodes(nodes);
}

/* Each of these pointers has to wait, and then a function counts what it would own. */
TEST(news, so_does_the_decision_which_pointers_own_what_they_lead_to)
{
    enum { WAITING = 300 };
    const haul_field fields[] = { HAUL_ARRAY(table, texts, HAUL_COUNT_FN(count_slowly),
                                             .ownership = HAUL_UNLESS_OWNED) };
    table *many = calloc(WAITING, sizeof *many);
    char **texts = calloc(8 * WAITING, sizeof *texts);
    size_t i;
    CHECK(many && texts);
    for (i = 0; i < WAITING; i++) {
        many[i].count = 8;
        many[i].texts = texts + 8 * i;
    }
    CHECK_STATUS(type_make("table", sizeof(table), fields, 1, &table_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(table_type), HAUL_OK);
    cancel_and_repeat(haul_from_array(many, table_type, WAITING), 0, 0, 3);
    haul_type_free(&table_type);
    free(many);
    free(texts);
}

/* The check of aliases, of which the last ones lead nowhere: it ends before it comes to them. */
TEST(news, so_does_the_check_of_aliases_before_a_few_thousand_are_looked_at)
{
    enum { ALIASES = 4096 };
    node nodes[2];
    hearing h;
    haul_context *context = listening(&h, 0, 1);
    haul_plan *plan;
    haul__alias *aliases = calloc(ALIASES, sizeof *aliases);
    static haul__discovery d;
    size_t i;
    CHECK(aliases != NULL);
    memset(nodes, 0, sizeof nodes);
    CHECK_STATUS(type_make("node", sizeof(node), NULL, 0, &node_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_array(nodes, node_type, 2), NULL, &plan),
                 HAUL_OK);
    for (i = 0; i < ALIASES; i++)
        aliases[i].value = (uintptr_t)&nodes[i % 2] + (i + 64 < ALIASES ? 0 : 4 * sizeof *nodes);
    memset(&d, 0, sizeof d);
    d.context = context;
    d.allocator = &context->allocator;
    d.found = (haul__found *)(uintptr_t)haul__plan_found(plan);
    d.map = &d.found->map;
    d.aliases.at = aliases;
    d.aliases.count = ALIASES;
    d.news.is_wanted = 1;
    d.news.left = d.news.looks = 1;
    h.cancel = 1;
    CHECK_STATUS(haul__check_aliases(&d), HAUL_ERROR_CANCELLED);
    CHECK_EQ(h.calls, 1);
    free(aliases);
    haul_plan_free(&plan);
    haul_context_free(&context);
    haul_type_free(&node_type);
}

/* The alias of the last lender leads nowhere, so the graph is walked once more for its path. A walk
 * takes a millisecond for each lender, and one under load takes longer and has more reports. So the
 * test asks for the first or the second report of the second walk: each walk has that many. */
TEST(news, an_enter_that_is_refused_tells_while_it_looks_for_the_path_and_can_be_cancelled)
{
    enum { LENDERS = 300 };
    const haul_field fields[] = { HAUL_ARRAY(lender, texts, HAUL_COUNT_FN(count_slowly)),
                                  HAUL_OBJECT(lender, to, &node_type, .ownership = HAUL_BORROWED) };
    lender *many = calloc(LENDERS, sizeof *many);
    char **texts = calloc(8 * LENDERS, sizeof *texts);
    node nowhere;
    hearing h;
    haul_context *context = listening(&h, 0, 1);
    haul_device *device;
    haul_environment *environment;
    int report;
    size_t i;
    CHECK(many && texts);
    for (i = 0; i < LENDERS; i++) {
        many[i].count = 8;
        many[i].texts = texts + 8 * i;
    }
    many[LENDERS - 1].to = &nowhere;
    CHECK_STATUS(type_make("node", sizeof(node), NULL, 0, &node_type), HAUL_OK);
    CHECK_STATUS(type_make("lender", sizeof(lender), fields, 2, &table_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(table_type), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_environment_create(device, &environment), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(environment, many, table_type, LENDERS, NULL, NULL),
                 HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(context)->path, "root[299].to");
    CHECK_EQ(h.backwards, 1); /* the second walk has begun again at 0 */
    CHECK(h.again >= 2);
    for (report = 1; report <= 2; report++) {
        h.objects = h.bytes = 0;
        h.backwards = h.again = 0;
        h.cancel_again = report;
        CHECK_STATUS(haul_environment_enter(environment, many, table_type, LENDERS, NULL, NULL),
                     HAUL_ERROR_CANCELLED);
        CHECK_STR(haul_context_error(context)->text, "the progress callback cancelled the call");
        CHECK_EQ(h.backwards, 1);
        CHECK_EQ(h.again, report);
        CHECK_EQ(haul_environment_presence(environment, many, sizeof *many), HAUL_ABSENT);
    }
    haul_environment_free(&environment);
    haul_device_close(&device);
    haul_type_free(&table_type);
    haul_type_free(&node_type);
    haul_context_free(&context);
    free(many);
    free(texts);
}

TEST(news, a_ship_that_is_cancelled_while_it_discovers_leaves_nothing_on_the_device)
{
    node *nodes = open_nodes();
    hearing h;
    haul_context *context = listening(&h, 0, 2);
    haul_device *device;
    haul_shipment *shipment;
    make_list(nodes);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    h.cancel = 1;
    CHECK_STATUS(haul_ship(device, nodes, node_type, 1, NULL, &shipment), HAUL_ERROR_CANCELLED);
    CHECK_PTR(shipment, NULL);
    h.cancel = 0;
    CHECK_STATUS(haul_ship(device, nodes, node_type, 1, NULL, &shipment), HAUL_OK);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_context_free(&context);
    CHECK_EQ(h.live, 0);
    close_nodes(nodes);
}

/* An enter lists each range, and a walk that lists counts bytes in another way. */
TEST(news, an_enter_tells_each_byte_once_and_can_be_cancelled)
{
    node *nodes = open_nodes();
    hearing h;
    haul_context *context = listening(&h, 0, 1);
    haul_device *device;
    haul_environment *environment;
    make_list(nodes);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_environment_create(device, &environment), HAUL_OK);
    h.cancel = 1;
    CHECK_STATUS(haul_environment_enter(environment, nodes, node_type, 1, NULL, NULL),
                 HAUL_ERROR_CANCELLED);
    CHECK_EQ(h.calls, 1);
    CHECK_EQ(haul_environment_presence(environment, nodes, sizeof *nodes), HAUL_ABSENT);
    h.objects = h.bytes = 0;
    h.calls = h.cancel = 0;
    CHECK_STATUS(haul_environment_enter(environment, nodes, node_type, 1, NULL, NULL), HAUL_OK);
    CHECK(h.calls >= 3);
    CHECK_EQ(h.backwards, 0);
    CHECK(h.bytes > NODES * sizeof(node) / 100);
    CHECK(h.bytes <= NODES * sizeof(node));
    haul_environment_free(&environment);
    haul_device_close(&device);
    haul_context_free(&context);
    close_nodes(nodes);
}

/* The nodes are found from the last to the first, so that their ranges must be sorted. */
TEST(news, an_ordered_layout_tells_between_its_steps_and_can_be_cancelled_at_each)
{
    node *nodes = open_nodes();
    hearing h;
    haul_context *context = listening(&h, 0, 1);
    haul_plan_options how;
    haul_plan *plan;
    haul_status status = HAUL_ERROR_CANCELLED;
    size_t i, live;
    memset(&how, 0, sizeof how);
    how.ordered = 1;
    for (i = 1; i < NODES; i++)
        nodes[i].to[0] = &nodes[i - 1];
    CHECK_STATUS(haul_context_trim(context), HAUL_OK);
    live = h.live;
    h.takes_long = 1;
    while (status == HAUL_ERROR_CANCELLED) {
        h.objects = h.bytes = 0;
        h.calls = h.behind = 0;
        h.slept_at = -1;
        h.cancel_behind++;
        status =
            haul_plan_create(context, haul_from_object(&nodes[NODES - 1], node_type), &how, &plan);
        CHECK_EQ(h.backwards, 0);
        if (status == HAUL_OK)
            haul_plan_free(&plan);
        else
            CHECK_EQ(h.behind, h.cancel_behind);
        CHECK_STATUS(haul_context_trim(context), HAUL_OK);
        CHECK_EQ(h.live, live);
    }
    CHECK_STATUS(status, HAUL_OK);
    CHECK(h.behind >= 3);
    haul_context_free(&context);
    close_nodes(nodes);
}

/* A third each for gather, copies and translations. */
TEST(news, an_ordered_pack_tells_in_all_its_parts_and_can_be_cancelled_in_each)
{
    node *nodes = open_nodes();
    hearing h;
    haul_context_options options;
    haul_context *context;
    haul_ship_options how;
    haul_device *device;
    haul_shipment *shipment;
    haul_status status = HAUL_ERROR_CANCELLED;
    memset(&h, 0, sizeof h);
    memset(&options, 0, sizeof options);
    options.progress = hear_part;
    options.progress_user = &h;
    memset(&how, 0, sizeof how);
    how.ordered = 1;
    make_list(nodes);
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    while (status == HAUL_ERROR_CANCELLED) {
        h.objects = 0;
        h.calls = h.parts[0] = h.parts[1] = h.parts[2] = 0;
        h.cancel_at++;
        status = haul_ship(device, nodes, node_type, 1, &how, &shipment);
        CHECK_EQ(h.backwards, 0);
        CHECK(status == HAUL_OK || (!shipment && h.calls == h.cancel_at));
    }
    CHECK_STATUS(status, HAUL_OK);
    CHECK(h.parts[0] >= 2 && h.parts[1] >= 3 && h.parts[2] >= 3);
    CHECK_EQ(h.objects, h.bytes); /* all is done */
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_context_free(&context);
    close_nodes(nodes);
}

static int hear_end(void *user, uint64_t done, uint64_t total)
{
    hearing *h = user;
    h->calls += done == total;
    return h->calls && h->calls == h->cancel_at;
}

TEST(news, an_ordered_arena_tells_while_it_is_sent_and_can_be_cancelled)
{
    enum { CHUNK = 65536, TOLD = 8 * CHUNK };
    const size_t pieces = NODES * sizeof(node) / TOLD;
    node *nodes = open_nodes();
    hearing h;
    haul_context_options options;
    haul_context *context;
    haul_ship_options how;
    haul_device *device;
    haul_shipment *shipment;
    memset(&h, 0, sizeof h);
    memset(&options, 0, sizeof options);
    options.progress = hear_end;
    options.progress_user = &h;
    memset(&how, 0, sizeof how);
    how.ordered = 1;
    make_list(nodes);
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    device->capabilities.chunk_bytes = CHUNK;
    CHECK_STATUS(haul_ship(device, nodes, node_type, 1, &how, &shipment), HAUL_OK);
    CHECK((size_t)h.calls >= pieces && (size_t)h.calls <= pieces + 2);
    haul_shipment_free(&shipment);
    h.cancel_at = h.calls / 2;
    h.calls = 0;
    CHECK_STATUS(haul_ship(device, nodes, node_type, 1, &how, &shipment), HAUL_ERROR_CANCELLED);
    CHECK_PTR(shipment, NULL);
    h.cancel_at = 0;
    CHECK_STATUS(haul_ship(device, nodes, node_type, 1, &how, &shipment), HAUL_OK);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_context_free(&context);
    close_nodes(nodes);
}

/* A busy machine may keep the thread waiting for longer than a report, but not each time. */
TEST(news, a_graph_that_is_found_at_once_tells_nothing)
{
    node nodes[2];
    hearing h;
    haul_context *context = listening(&h, 0, 1);
    haul_plan *plan;
    haul_type *type = NULL;
    unsigned i;
    memset(nodes, 0, sizeof nodes);
    CHECK_STATUS(type_make("node", sizeof(node), NULL, 0, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (i = 0; i < 20 && (i == 0 || h.calls); i++) {
        h.calls = 0;
        CHECK_STATUS(haul_plan_create(context, haul_from_array(nodes, type, 2), NULL, &plan),
                     HAUL_OK);
        haul_plan_free(&plan);
    }
    CHECK_EQ(h.calls, 0);
    haul_context_free(&context);
    haul_type_free(&type);
}
