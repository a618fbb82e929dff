/* Pairs of failing allocations: a journey of calls on a graph and an arena in which the i-th and
 * the j-th allocation fail. Each call that fails has written nothing, and succeeds when it is made
 * again; at the end nothing is left.
 */
#include <string.h>

#include "attack.h"
#include "calls.h"
#include "graphs.h"
#include "host.h"
#include "support/check.h"
#include "support/short_forms.h"
#include "support/open.h"

typedef struct journey {
    world w;
    haul_root root;
    haul_ship_options options;
    haul_plan *plan;
    haul_shipment *s, *copy, *of_arena;
    haul_arena *arena;
} journey;

static haul_status plan_graph(journey *j)
{
    haul_context *context = haul_device_context(j->w.device[0]);
    return haul_plan_create(context, haul_from_roots(&j->root, 1),
                            j->options.ordered ? ORDERED : NULL, &j->plan);
}

static haul_status ship_plan(journey *j)
{
    haul_ship_options options = j->options;
    options.ordered = 0; /* the plan has its own order */
    return haul_ship_from(j->w.device[0], haul_from_plan(j->plan), &options, NULL, &j->s);
}

static haul_status refresh(journey *j)
{
    return haul_update_device(j->s, NULL, NULL);
}

static haul_status unmarshal(journey *j)
{
    return haul_unmarshal(j->s);
}

static haul_status unmarshal_pointers_async(journey *j)
{
    return haul_update_host(j->s, WITH_POINTERS, OWN_STREAM);
}

static haul_status wait_for_it(journey *j)
{
    return haul_wait(j->s);
}

static haul_status replan(journey *j)
{
    return haul_reship(j->s, NULL);
}

static haul_status copy(journey *j)
{
    return haul_shipment_copy(j->s, j->w.device[1], &j->copy);
}

static haul_status update(journey *j)
{
    return haul_update_device(j->s, RANGE(j->root.address, j->w.items->bytes), NULL);
}

static haul_status make_arena(journey *j)
{
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = 1 << 18;
    options.checked = options.reuse = 1;
    return test_arena(j->w.device[1], &options, &j->arena);
}

static haul_status use_arena(journey *j)
{
    item *first = haul_arena_new(j->arena, j->w.items->type, 1);
    void *bytes = first ? haul_arena_malloc(j->arena, 100) : NULL;
    if (first && bytes)
        first->next = first;
    return bytes ? haul_arena_free_block(j->arena, bytes) : haul_arena_error(j->arena)->status;
}

static haul_status ship_arena(journey *j)
{
    return haul_ship_from(j->w.device[1], haul_from_arena(j->arena), NULL, NULL, &j->of_arena);
}

static haul_status bring_arena_back(journey *j)
{
    return haul_update_host(j->of_arena, WITH_POINTERS, NULL);
}

static haul_status audit(journey *j)
{
    return haul_audit(haul_device_context(j->w.device[0]), haul_from_roots(&j->root, 1), NULL,
                      NULL);
}

static haul_status (*const calls[])(journey *) = {
    plan_graph,  audit,
    ship_plan,   refresh,
    unmarshal,   unmarshal_pointers_async,
    wait_for_it, replan,
    copy,        update,
    make_arena,  use_arena,
    ship_arena,  bring_arena_back,
};

enum { CALLS = sizeof calls / sizeof *calls };

/* The i-th and the j-th allocation fail; 0: none. Answers how many there were. What is not sent
 * comes back as zeros, so the graph has no such fields here. */
static uint64_t travel(const item_type *items, uint64_t seed, uint64_t i, uint64_t k)
{
    journey j;
    random_source random = random_from(seed);
    uint64_t events;
    memset(&j, 0, sizeof j);
    world_open(&j.w, items, &random);
    j.w.random = random;
    objects_mend(&j.w, -1);
    j.options = draw_ship_options(&j.w);
    int root = object_some(&j.w, ITEM, -1);
    for (int more = 0; root < 0 && more < OBJECTS_MAX; more++) {
        step_host_new(&j.w);
        root = object_some(&j.w, ITEM, -1);
    }
    CHECK(root >= 0);
    make_roots(&j.w, &root, 1, &j.root);
    j.w.plan.memory_only = 1;
    fault_arm(&j.w.plan, FAULT_ONCE, i);
    j.w.plan.also_at = k;
    for (int at = 0; at < CALLS; at++) {
        haul_status status = HAUL_ERROR_MEMORY;
        for (int times = 0; times < 3 && status != HAUL_OK; times++) {
            uint64_t fired = j.w.plan.fired;
            status = calls[at](&j);
            attack_say("  call %d: %s%s", at, haul_status_name(status),
                       j.w.plan.fired > fired ? ", a fault" : "");
            objects_check(&j.w, "a call");
            check_note("call %d of the journey", at);
            CHECK(status == HAUL_OK || (status == HAUL_ERROR_MEMORY && j.w.plan.fired > fired));
        }
        CHECK_STATUS(status, HAUL_OK);
        check_note(NULL);
    }
    events = j.w.plan.events;
    fault_disarm(&j.w.plan);
    haul_shipment_free(&j.of_arena);
    haul_shipment_free(&j.copy);
    haul_shipment_free(&j.s);
    haul_plan_free(&j.plan);
    haul_arena_free(&j.arena);
    world_close(&j.w);
    return events;
}

static void run(const sequence *s)
{
    item_type items;
    random_source random = sequence_random(s, s->steps);
    uint64_t seed = random_next(&random), events;
    do
        item_type_make(&random, &items);
    while (items.rows & ROW_OUTPUT && (haul_type_free(&items.type), 1));
    events = travel(&items, seed, 0, 0);
    for (unsigned k = 0; k < s->steps; k++) {
        random = sequence_random(s, k);
        uint64_t i = 1 + random_below(&random, (size_t)events),
                 j = i + 1 + random_below(&random, 12);
        if (s->left_out[k])
            continue;
        attack_say("step %u: allocations %llu and %llu of %llu", k, (unsigned long long)i,
                   (unsigned long long)j, (unsigned long long)events);
        travel(&items, seed, i, j);
    }
    haul_type_free(&items.type);
}

const attack attack_pairs = { "pairs", 20, 15, run };
