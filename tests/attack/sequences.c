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
    unsigned weight;
} step;

static const step steps[] = {
    { step_host_new, 12 },
    { step_host_change, 6 },
    { step_host_rewire, 8 },
    { step_host_drop, 3 },
    { step_ship, 10 },
    { step_refresh, 10 },
    { step_replan, 5 },
    { step_unmarshal, 10 },
    { step_update_device, 5 },
    { step_update_host, 5 },
    { step_copy, 4 },
    { step_look_up, 3 },
    { step_free, 7 },
    { step_kernel, 12 },
    { step_wait, 5 },
    { step_poll, 3 },
    { step_ship_async, 5 },
    { step_refresh_async, 6 },
    { step_unmarshal_async, 6 },
    { step_update_device_async, 3 },
    { step_update_host_async, 3 },
    { step_plan, 4 },
    { step_plan_pack, 3 },
    { step_plan_unpack, 3 },
    { step_plan_free, 2 },
    { step_ship_plan, 6 },
    { step_trim, 1 },
    { step_arena, 6 },
    { step_arena_allocate, 14 },
    { step_arena_release, 3 },
    { step_arena_rollback, 3 },
    { step_arena_ship, 14 },
    { step_arena_free, 2 },
    { step_arena_return, 8 },
};

void step_any(world *w)
{
    size_t all = 0, drawn, i = 0;
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        all += steps[k].weight;
    for (drawn = random_below(&w->random, all); drawn >= steps[i].weight; i++)
        drawn -= steps[i].weight;
    steps[i].run(w);
}

static void run(const sequence *s)
{
    world w;
    item_type items;
    random_source random = sequence_random(s, s->steps);
    item_type_make(&random, &items);
    world_open(&w, &items, &random);
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

const attack attack_calls = { "calls", 60, 60, run };
