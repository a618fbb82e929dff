/* Garbage behind `readable`: graphs of random types in which any word may hold anything. Discovery
 * may refuse them or find some graph. It never reads memory that is not there, answers the same
 * when it is called again, and a graph that it has found can be packed, shipped and brought back.
 */
#include <stdlib.h>
#include <string.h>

#include "attack.h"
#include "haul.h"
#include "random/graph.h"
#include "support/check.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

typedef struct heap {
    graph g;
    model m;
    surroundings around;
    haul_device *device;
} heap;

static int is_readable(void *user, const void *address, size_t bytes)
{
    return graph_has(user, address, bytes);
}

static void open_device(heap *h, random_source *random)
{
    test_device options;
    memset(&options, 0, sizeof options);
    options.new_context.argument = &h->g.oracle;
    options.new_context.checked = random_one_in(random, 2);
    options.new_context.readable = is_readable;
    options.new_context.readable_user = &h->g;
    options.new_context.max_bytes = (size_t)1 << 24;
    options.new_context.max_objects = 100000;
    options.known = surroundings_known(&h->around);
    CHECK_STATUS(test_open(haul_host_device(), &options, &h->device), HAUL_OK);
}

/* 0: types that the library refuses, rightly; random graphs check that. */
static int heap_open(heap *h, random_source *random)
{
    choices c = choices_from_seed(random_next(random));
    const char *where;
    CHECK(surroundings_open(&h->around));
    model_draw(&c, &h->m, 0);
    if (model_make_types(&c, &h->m, type_context(), &where) != HAUL_OK)
        return 0;
    graph_draw(&c, &h->m, &h->around, (size_t)1000 << random_below(random, 4), 0, &h->g);
    open_device(h, random);
    return 1;
}

static void heap_close(heap *h)
{
    haul_device_close(&h->device);
    graph_free(&h->g);
    model_free_types(&h->m);
    surroundings_close(&h->around);
}

/* ---- Garbage. */

static uintptr_t draw_word(const graph *g, random_source *random)
{
    const graph_block *b = &g->blocks[random_below(random, g->block_count)];
    switch (random_below(random, 6)) {
    case 0:
        return 0;
    case 1:
        return (uintptr_t)random_next(random);
    case 2:
        return (uintptr_t)random_below(random, 9);
    case 3:
        return (uintptr_t)b->memory + b->bytes;
    default:
        return ((uintptr_t)b->memory + random_below(random, b->bytes)) &
               ~(uintptr_t)(random_one_in(random, 8) ? 0 : sizeof(void *) - 1);
    }
}

/* `of` words that stay to each that does not. */
static void spoil(graph *g, random_source *random, size_t of)
{
    for (size_t i = 0; i < g->block_count; i++) {
        const graph_block *b = &g->blocks[i];
        for (size_t at = 0; at + sizeof(void *) <= b->bytes; at += sizeof(void *)) {
            uintptr_t word;
            if (!random_one_in(random, of + 1))
                continue;
            word = draw_word(g, random);
            memcpy(b->memory + at, &word, random_one_in(random, 3) ? 2 : sizeof word);
        }
    }
}

/* ---- What must hold. */

static void *picture_of(const graph *g)
{
    size_t bytes = 1;
    unsigned char *all, *at;
    for (size_t i = 0; i < g->block_count; i++)
        bytes += g->blocks[i].bytes;
    at = all = malloc(bytes);
    CHECK(all != NULL);
    for (size_t i = 0; i < g->block_count; at += g->blocks[i++].bytes)
        memcpy(at, g->blocks[i].memory, g->blocks[i].bytes);
    return all;
}

static void check_picture(const graph *g, const void *all, const char *after)
{
    const unsigned char *at = all;
    check_note("after %s", after);
    for (size_t i = 0; i < g->block_count; at += g->blocks[i++].bytes)
        CHECK_BYTES(g->blocks[i].memory, at, g->blocks[i].bytes);
    check_note(NULL);
}

static void check_refused(const heap *h, haul_status status)
{
    const haul_error *error = haul_context_error(haul_device_context(h->device));
    attack_say("  %s: %s: %s", haul_status_name(status), error->path, error->text);
    CHECK(status == HAUL_ERROR_GRAPH || status == HAUL_ERROR_LIMIT);
    CHECK_EQ(error->status, status);
    CHECK(error->path[0] != '\0' && error->text[0] != '\0');
}

/* Of contents that have not changed, only what is not sent comes back as something else: zeros. */
static void travel(heap *h, const void *before)
{
    haul_shipment *s;
    haul_status status =
        haul_ship_from(h->device, haul_from_roots(h->g.roots, h->g.root_count), NULL, NULL, &s);
    if (status != HAUL_OK) { /* a distance that does not fit is found by packing alone */
        check_refused(h, status);
        return;
    }
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    check_picture(&h->g, before, "a refresh");
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    if (!h->m.has_directions)
        check_picture(&h->g, before, "an unmarshal");
    haul_shipment_free(&s);
}

static void ask(heap *h)
{
    haul_context *context = haul_device_context(h->device);
    haul_plan *plan, *again;
    void *before = picture_of(&h->g);
    haul_status status =
        haul_plan_create(context, haul_from_roots(h->g.roots, h->g.root_count), NULL, &plan);
    if (status != HAUL_OK)
        check_refused(h, status);
    CHECK_STATUS(
        haul_plan_create(context, haul_from_roots(h->g.roots, h->g.root_count), NULL, &again),
        status);
    CHECK_STATUS(haul_audit(context, haul_from_roots(h->g.roots, h->g.root_count), NULL, NULL),
                 status);
    if (status == HAUL_OK) {
        attack_say("  a plan of %zu bytes", plan_bytes(plan));
        CHECK_EQ(plan_bytes(plan), plan_bytes(again));
        travel(h, before);
    }
    haul_plan_free(&plan);
    haul_plan_free(&again);
    free(before);
}

static void run(const sequence *s)
{
    random_source random = sequence_random(s, s->steps);
    heap *h = calloc(1, sizeof *h);
    CHECK(h != NULL);
    if (heap_open(h, &random)) {
        for (unsigned i = 0; i < s->steps; i++) {
            random = sequence_random(s, i);
            if (s->left_out[i])
                continue;
            attack_say("step %u", i);
            graph_restore(&h->g);
            spoil(&h->g, &random, (size_t)1 << random_below(&random, 12));
            ask(h);
        }
    }
    heap_close(h);
    free(h);
}

const attack attack_garbage = { "garbage", 10, 20, run };
