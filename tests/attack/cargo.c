/* Shipments: places for them, their outstanding work, and their state after a call that failed.
 */
#include <string.h>

#include "attack.h"
#include "calls.h"
#include "support/check.h"
#include "support/open.h"
#include "support/short_forms.h"

cargo *cargo_some(world *w)
{
    size_t start = random_below(&w->random, CARGOES_MAX);
    for (size_t k = 0; k < CARGOES_MAX; k++) {
        cargo *c = &w->cargoes[(start + k) % CARGOES_MAX];
        if (c->shipment)
            return c;
    }
    return NULL;
}

cargo *cargo_place(world *w)
{
    for (int i = 0; i < CARGOES_MAX; i++)
        if (!w->cargoes[i].shipment) {
            memset(&w->cargoes[i], 0, sizeof w->cargoes[i]);
            w->cargoes[i].arena = -1;
            return &w->cargoes[i];
        }
    return NULL;
}

int cargo_object(world *w, const cargo *c)
{
    size_t start = random_below(&w->random, OBJECTS_MAX);
    for (size_t k = 0; k < OBJECTS_MAX; k++) {
        size_t i = (start + k) % OBJECTS_MAX;
        if (c->picture.of[i].marks)
            return (int)i;
    }
    return -1;
}

static void landed(world *w, cargo *c)
{
    if (c->wants_event)
        CHECK_EQ(c->event, 1);
    c->on_the_way = c->wants_event = c->doubtful = c->is_told = 0;
    results_apply(w, &c->coming);
    results_clear(&c->coming);
    nurseries_land(w, c);
}

/* Without faults, after a failure: what was on its way is over, written or not. */
void cargo_give_up(world *w, cargo *c, const results *writes)
{
    haul_status status;
    do
        status = haul_wait(c->shipment);
    while (status == HAUL_ERROR_PENDING);
    c->on_the_way = c->wants_event = c->doubtful = c->is_told = 0;
    results_apply_found(w, &c->coming);
    if (writes)
        results_apply_found(w, writes);
    results_clear(&c->coming);
    nurseries_bring_found(w, c);
    c->known = 0;
}

/* What a device reports at the end of the call may be taken for this work's. */
void cargo_sets_out(const world *w, cargo *c)
{
    c->on_the_way = 1;
    c->doubtful |= w->has_reported;
}

/* A call on it has answered HAUL_ERROR_PENDING, so what the device holds is unknown. Now and then
 * it is left at that. 0: what was to come may have been written, or what comes may be written at
 * any time; so it must be waited for. */
int cargo_goes_on(world *w, cargo *c, haul_status status)
{
    if (status != HAUL_ERROR_PENDING || c->coming.count > 0 || nurseries_are_coming(c) ||
        c->locked || c->direct || random_one_in(&w->random, 2))
        return 0;
    attack_say("  and goes on");
    cargo_sets_out(w, c);
    c->wants_event = c->known = 0;
    return 1;
}

void cargo_call_begin(world *w, cargo *c, unsigned what)
{
    call_begin(w, what | CALL_ON(c->device));
    w->current = w->own = c;
    w->also = c->doubtful ? HAUL_ERROR_DEVICE : HAUL_OK;
    w->forgives = c->locked;
}

int cargo_is_gone(world *w, cargo *c, int has_waited, haul_status status, const results *writes)
{
    void (*apply)(world * w, const results *r) =
        status == HAUL_OK ? results_apply : results_apply_found;
    if (!w->is_gone)
        return 0;
    w->is_gone = 0;
    if (has_waited) {
        apply(w, &c->coming);
        if (writes)
            apply(w, writes);
    }
    results_clear(&c->coming);
    picture_free(w, &c->picture);
    memset(c, 0, sizeof *c);
    return 1;
}

void cargo_wait(world *w, cargo *c)
{
    int was_on_the_way = c->on_the_way;
    cargo_call_begin(w, c, 0);
    haul_status status = haul_wait(c->shipment);
    CHECK(!c->is_told || status != HAUL_OK);
    int is_ok = call_end(w, "haul_wait", status, HAUL_OK);
    if (cargo_is_gone(w, c, 1, status, NULL))
        return;
    if (is_ok)
        landed(w, c);
    else if (status != HAUL_ERROR_PENDING)
        cargo_give_up(w, c, NULL);
    CHECK(was_on_the_way || status == HAUL_OK);
}

int cargo_do(world *w, cargo *c, const cargo_call *call)
{
    if (call->right != HAUL_OK)
        while (c->on_the_way)
            cargo_wait(w, c);
    if (!c->shipment)
        return 0; /* the callback has freed it */
    cargo_call_begin(w, c, 0);
    haul_status status = call->run(c, call->argument);
    CHECK(!c->is_told || status != HAUL_OK);
    int is_ok = call_end(w, call->name, status, call->right);
    if (cargo_is_gone(w, c, 1, status, call->writes))
        return 0;
    if (is_ok) {
        landed(w, c);
        return 1;
    }
    if (status == call->right && w->left_late)
        cargo_sets_out(w, c);
    else if (status != call->right && !cargo_goes_on(w, c, status))
        cargo_give_up(w, c, call->writes);
    return 0;
}

static int is_near(const cargo *c, int number)
{
    for (int i = 0; c->shipment && i < c->near_count; i++)
        if (c->near[i].cargo == number)
            return 1;
    return 0;
}

int cargo_is_near(const world *w, const cargo *c)
{
    for (int i = 0; i < CARGOES_MAX; i++)
        if (is_near(&w->cargoes[i], (int)(c - w->cargoes)))
            return 1;
    return 0;
}

void cargo_moved(world *w, const cargo *c)
{
    for (int i = 0; i < CARGOES_MAX; i++)
        w->cargoes[i].leads_astray |= is_near(&w->cargoes[i], (int)(c - w->cargoes));
}

int cargo_meets_strays(const cargo *c)
{
    haul_shipment_info s;
    haul_shipment_get_info(c->shipment, &s);
    for (int i = 0; i < c->near_count && c->leads_astray; i++)
        if (c->near[i].there <= s.base + c->used && s.base <= c->near[i].there + c->near[i].bytes)
            return 1;
    return 0;
}

void cargo_free(world *w, cargo *c)
{
    for (int i = 0; i < CARGOES_MAX; i++)
        if (is_near(&w->cargoes[i], (int)(c - w->cargoes))) {
            c->near_count = 0; /* they may lead into one another */
            cargo_free(w, &w->cargoes[i]);
        }
    if (arena_goes_with(w, c)) {
        settle_arenas(w);
        arena_drop_objects(w, c->arena, 0, SIZE_MAX);
    }
    haul_shipment_free(&c->shipment);
    CHECK_STR(w->plan.misuse, NULL);
    CHECK(c->shipment == NULL);
    results_clear(&c->coming);
    picture_free(w, &c->picture);
}

void step_wait(world *w)
{
    cargo *c = cargo_some(w);
    if (c)
        cargo_wait(w, c);
}

void step_poll(world *w)
{
    cargo *c = cargo_some(w);
    haul_status status;
    if (!c)
        return;
    cargo_call_begin(w, c, 0);
    status = haul_poll(c->shipment);
    if (c->on_the_way && status == HAUL_ERROR_PENDING)
        w->also = HAUL_ERROR_PENDING;
    CHECK(!c->is_told || status != HAUL_OK);
    if (call_end(w, "haul_poll", status, HAUL_OK) || status == HAUL_ERROR_PENDING)
        return;
    c->is_told = c->doubtful = c->on_the_way;
}

void step_free(world *w)
{
    cargo *c = cargo_some(w);
    if (!c || random_one_in(&w->random, 2))
        return;
    attack_say("  haul_shipment_free");
    cargo_free(w, c);
}

int cargo_has_settled(world *w, const cargo *c)
{
    haul_status status = HAUL_ERROR_PENDING;
    for (int i = 0; i < 10000 && status == HAUL_ERROR_PENDING; i++)
        status = haul_poll(c->shipment);
    CHECK(status == HAUL_OK || w->lost || c->doubtful);
    return status == HAUL_OK;
}

/* Looks at what is there, and mostly changes it. */
void step_kernel(world *w)
{
    cargo *c = cargo_some(w);
    if (!c || !c->known || c->stale || !cargo_has_settled(w, c))
        return;
    attack_say("  a kernel on shipment %d", (int)(c - w->cargoes));
    cargo_check(w, c, "other calls");
    if (random_one_in(&w->random, 12) && cargo_change_count(w, c))
        return;
    if (!random_one_in(&w->random, 4))
        cargo_change(w, c);
}

/* With the end of an object of the graph, or one behind: what lies there counts as a hole of that
 * object. */
static int shares_a_granule(const world *w, const cargo *c, int i)
{
    const uintptr_t granule = 2 * sizeof(void *), at = (uintptr_t)w->objects[i].memory;
    for (int k = 0; k < OBJECTS_MAX; k++) {
        const object *o = &w->objects[k];
        if (c->picture.of[k].marks && at - ((uintptr_t)o->memory + o->bytes) < granule)
            return 1;
    }
    return 0;
}

void step_look_up(world *w)
{
    cargo *c = cargo_some(w);
    int i = (int)random_below(&w->random, OBJECTS_MAX);
    const object *o = &w->objects[i];
    if (!c || !o->memory)
        return;
    haul_address there = device_address(c->shipment, o->memory);
    attack_say("  haul_device_pointer of object %d", i);
    if (c->picture.of[i].marks && c->picture.of[i].marks[0]) {
        CHECK(there != 0);
        CHECK_PTR(host_of(c->shipment, there), o->memory);
        if (o->alignment)
            CHECK_EQ(there % o->alignment, 0);
        CHECK_PTR(haul_device_pointer(c->shipment, o->memory), (void *)(uintptr_t)there);
    } else if (c->arena < 0 && !shares_a_granule(w, c, i)) {
        CHECK_EQ(there, 0);
    }
    CHECK_EQ(device_address(c->shipment, NULL), 0);
    CHECK_PTR(host_of(c->shipment, 0), NULL);
}
