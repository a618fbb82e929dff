/* Random sequences of all calls on a handful of live graphs and arenas, of two devices and their
 * streams.
 */
#include <string.h>

#include "attack.h"
#include "calls.h"
#include "host.h"
#include "support/check.h"

typedef struct step {
    void (*run)(world *w);
    unsigned weight[2]; /* in sequences of all, and where most happens in arenas */
} step;

static const step steps[] = {
    { step_host_new, { 12, 0 } },
    { step_host_change, { 6, 0 } },
    { step_host_rewire, { 8, 12 } },
    { step_host_drop, { 3, 0 } },
    { step_ship, { 10, 0 } },
    { step_refresh, { 10, 6 } },
    { step_replan, { 5, 6 } },
    { step_unmarshal, { 10, 12 } },
    { step_update_device, { 5, 2 } },
    { step_update_host, { 5, 2 } },
    { step_copy, { 4, 4 } },
    { step_look_up, { 3, 2 } },
    { step_free, { 7, 7 } },
    { step_kernel, { 12, 16 } },
    { step_wait, { 5, 3 } },
    { step_poll, { 3, 1 } },
    { step_ship_async, { 5, 0 } },
    { step_refresh_async, { 6, 4 } },
    { step_unmarshal_async, { 6, 4 } },
    { step_update_device_async, { 3, 1 } },
    { step_update_host_async, { 3, 1 } },
    { step_plan, { 4, 0 } },
    { step_plan_pack, { 3, 0 } },
    { step_plan_unpack, { 3, 0 } },
    { step_plan_free, { 2, 0 } },
    { step_ship_plan, { 6, 0 } },
    { step_trim, { 1, 0 } },
    { step_arena, { 6, 8 } },
    { step_arena_allocate, { 14, 30 } },
    { step_arena_realloc, { 2, 6 } },
    { step_arena_release, { 3, 4 } },
    { step_arena_rollback, { 3, 3 } },
    { step_arena_ship, { 14, 20 } },
    { step_arenas_ship, { 1, 8 } },
    { step_arena_free, { 2, 2 } },
    { step_arena_return, { 8, 20 } },
    { step_nursery, { 3, 8 } },
    { step_nursery_kernel, { 5, 24 } },
    { step_nursery_return, { 3, 12 } },
    { step_nursery_release, { 1, 2 } },
};

void step_any(world *w)
{
    size_t all = 0, drawn, i = 0;
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        all += steps[k].weight[w->in_arenas];
    for (drawn = random_below(&w->random, all); drawn >= steps[i].weight[w->in_arenas]; i++)
        drawn -= steps[i].weight[w->in_arenas];
    steps[i].run(w);
}

/* Arenas with something in them. */
static void begin_in_arenas(world *w)
{
    w->in_arenas = 1;
    w->crosses = random_one_in(&w->random, 2);
    for (int i = 0; i < 4; i++)
        step_arena(w);
    for (int i = 0; i < 24; i++)
        step_arena_allocate(w);
    for (int i = 0; i < 120; i++)
        step_host_rewire(w);
}

static void run_in(const sequence *s, int in_arenas)
{
    world w;
    item_type items;
    random_source random = sequence_random(s, s->steps);
    item_type_make(&random, &items);
    world_open(&w, &items, &random);
    if (in_arenas)
        begin_in_arenas(&w);
    for (unsigned i = 0; i < s->steps; i++) {
        if (s->left_out[i])
            continue;
        w.random = sequence_random(s, i);
        attack_say("step %u", i);
        step_any(&w);
        objects_check(&w, "the step");
    }
    world_close(&w);
    haul_type_free(&items.type);
}

static void run(const sequence *s)
{
    run_in(s, 0);
}

static void run_arenas(const sequence *s)
{
    run_in(s, 1);
}

const attack attack_calls = { "calls", 60, 50, run };
const attack attack_arenas = { "arenas", 60, 20, run_arenas };
