/* A world's devices, and its end.
 */
#include <string.h>

#include "attack.h"
#include "calls.h"
#include "host.h"
#include "support/check.h"
#include "support/open.h"

void world_open(world *w, const item_type *items, random_source *random)
{
    test_device options;
    memset(w, 0, sizeof *w);
    memset(&options, 0, sizeof options);
    w->items = items;
    w->random = *random;
    w->faults = !random_one_in(random, 3);
    w->async_works = random_one_in(random, 2);
    w->plan.deferred = w->async_works;
    w->plan.no_send = random_one_in(random, 4);
    w->plan.no_reserve = random_one_in(random, 8);
    options.new_context.checked = random_one_in(random, 8);
    progress_choose(w, &options.new_context);
    CHECK_STATUS(fault_open(&w->plan, &options, &w->device[0]), HAUL_OK);
    options.context = haul_device_context(w->device[0]);
    CHECK_STATUS(fault_open(&w->plan, &options, &w->device[1]), HAUL_OK);
    for (int i = 0; i < 12; i++)
        step_host_new(w);
}

/* What a shipment has must still come here, and go there, when no more faults come. */
static void end_cargo(world *w, cargo *c)
{
    while (c->on_the_way)
        cargo_wait(w, c);
    if (!w->lost && c->known && !c->stale)
        cargo_check(w, c, "the end");
    cargo_free(w, c);
}

void world_close(world *w)
{
    attack_say("the end");
    w->faults = 0;
    for (int i = 0; i < CARGOES_MAX; i++)
        if (w->cargoes[i].shipment)
            end_cargo(w, &w->cargoes[i]);
    for (int i = 0; i < PLANS_MAX; i++)
        if (w->drafts[i].plan)
            draft_free(w, &w->drafts[i]);
    objects_check(w, "the end");
    for (int i = 0; i < ARENAS_MAX; i++)
        if (w->arenas[i].arena)
            arena_free(w, i);
    for (int i = 0; i < DEVICES; i++)
        haul_device_close(&w->device[i]);
    for (int i = 0; i < OBJECTS_MAX; i++)
        if (w->objects[i].memory)
            object_drop(w, i);
    fault_check_clean(&w->plan);
}
