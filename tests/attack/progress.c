/* The progress callback of the context: now and then it cancels, frees a shipment, the
 * call's own or another, or calls back in.
 */
#include "attack.h"
#include "calls.h"
#include "support/check.h"

static void free_another(world *w)
{
    cargo *c = cargo_some(w);
    if (!c || c == w->current || cargo_is_near(w, c) || arena_goes_with(w, c))
        return;
    if (w->plan.impatient && c->on_the_way)
        return; /* what is read by a copy would be left to the system */
    attack_say("  the callback frees shipment %d", (int)(c - w->cargoes));
    /* The call finishes the free. What fails there is told to nobody. */
    w->forgives |= c->on_the_way;
    cargo_free(w, c);
    w->has_freed = 1;
}

/* It goes when the call has ended, which answers as if nothing had been. */
static void free_own(world *w)
{
    cargo *c = w->own;
    if (!c || w->plan.impatient || cargo_is_near(w, c) || arena_goes_with(w, c))
        return;
    if (arena_returns_directly(c) || nurseries_have_made(c))
        return; /* only the shipment knows how much of it is there */
    attack_say("  the callback frees the call's own shipment %d", (int)(c - w->cargoes));
    w->forgives |= c->on_the_way;
    haul_shipment_free(&c->shipment);
    CHECK(c->shipment == NULL);
    w->is_gone = w->has_freed = 1;
}

static void call_back_in(world *w)
{
    const cargo *c = cargo_some(w);
    CHECK_STATUS(haul_context_trim(haul_device_context(w->device[1])), HAUL_ERROR_BUSY);
    if (!c)
        return;
    CHECK_STATUS(haul_update_device(c->shipment, NULL, NULL), HAUL_ERROR_BUSY);
    CHECK_STATUS(haul_wait(c->shipment), HAUL_ERROR_BUSY);
    CHECK_STATUS(haul_poll(c->shipment), HAUL_ERROR_BUSY);
}

static int progress(void *user, uint64_t done, uint64_t total)
{
    world *w = user;
    listener_act act = w->act;
    CHECK(done <= total);
    w->act = LISTENS;
    if (act == FREES)
        free_another(w);
    else if (act == FREES_OWN)
        free_own(w);
    else if (act == CALLS_BACK)
        call_back_in(w);
    else if (act == CANCELS)
        w->is_cancelled = 1;
    return act == CANCELS;
}

void progress_begin(world *w)
{
    static const listener_act acts[] = { LISTENS,    LISTENS, LISTENS,   LISTENS,
                                         CALLS_BACK, FREES,   FREES_OWN, CANCELS };
    w->act = acts[random_below(&w->random, sizeof acts / sizeof *acts)];
    w->is_cancelled = w->has_freed = 0;
    w->current = w->own = NULL;
}

void progress_choose(world *w, haul_context_options *o)
{
    if (random_one_in(&w->random, 2))
        return;
    o->progress = progress;
    o->progress_user = w;
}
