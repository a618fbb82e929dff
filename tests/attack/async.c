/* Asynchronous calls: several may be outstanding on a shipment, on any streams.
 */
#include <string.h>

#include "attack.h"
#include "calls.h"
#include "graphs.h"
#include "support/check.h"
#include "support/short_forms.h"

haul_async draw_async(world *w, cargo *c)
{
    haul_async on = { NULL, NULL };
    if (w->async_works && !random_one_in(&w->random, 4))
        on.stream = fault_stream((unsigned)random_below(&w->random, FAULT_STREAMS));
    if (random_one_in(&w->random, 3)) {
        on.event = &c->event;
        c->event = 0;
    }
    return on;
}

/* The call's answer. `has_waited`: it first writes what is on its way back. 1: it has been ordered.
 */
static int ordered(world *w, cargo *c, const haul_async *on, const char *name, haul_status status,
                   haul_status right, int has_waited)
{
    int is_ok = call_end(w, name, status, right);
    if (cargo_is_gone(w, c, has_waited, status, NULL))
        return 0;
    if (is_ok) {
        cargo_sets_out(w, c);
        c->wants_event |= on->event != NULL;
        return 1;
    }
    if (on->event)
        c->wants_event = 0; /* it may have been told, or not */
    if (status == right && w->left_late)
        cargo_sets_out(w, c);
    else if (status != right && c->shipment && !cargo_goes_on(w, c, status))
        cargo_give_up(w, c, NULL);
    return 0;
}

void step_ship_async(world *w)
{
    cargo *c = cargo_place(w);
    haul_root root;
    haul_ship_options o = draw_ship_options(w);
    if (!c)
        return;
    objects_mend(w, -1);
    c->device = (int)random_below(&w->random, DEVICES);
    c->root_count = 1;
    c->root[0] = object_some(w, ITEM, -1);
    if (c->root[0] < 0)
        return;
    make_roots(w, c->root, 1, &root);
    haul_async on = draw_async(w, c);
    call_begin(w, CALL_IS_ASYNC | CALL_ON(c->device));
    haul_status status = haul_ship_from(
        w->device[c->device], haul_from_object(root.address, root.type), &o, &on, &c->shipment);
    if (!ordered(w, c, &on, "haul_ship_from, asynchronous", status, HAUL_OK, 0))
        return;
    picture_draw(w, &c->picture, c->root, 1);
    cargo_begin(w, c, &o);
}

void step_refresh_async(world *w)
{
    cargo *c = cargo_some(w);
    if (!cargo_alone(w, c))
        return;
    haul_status right = right_answer(w, c, 1);
    int has_waited = nurseries_are_there(c);
    while (has_waited && right != HAUL_OK && c->on_the_way) {
        cargo_wait(w, c); /* it may write over a pointer that leads out */
        right = right_answer(w, c, 1);
    }
    if (!c->shipment)
        return; /* the callback has freed it */
    haul_async on = draw_async(w, c);
    cargo_call_begin(w, c, CALL_IS_ASYNC);
    if (!ordered(w, c, &on, "haul_update_device, asynchronous",
                 haul_update_device(c->shipment, NULL, &on), right, has_waited)) {
        c->known &= c->arena < 0; /* new data may have gone there */
        return;
    }
    if (has_waited) {
        results_apply(w, &c->coming);
        results_clear(&c->coming);
        nurseries_land(w, c);
    }
    cargo_send(w, c);
    c->known = 1;
}

void step_update_device_async(world *w)
{
    cargo *c = cargo_some(w);
    part p;
    int i = cargo_alone(w, c) && c->known ? draw_part(w, c, &p) : -1;
    if (i < 0)
        return;
    haul_async on = draw_async(w, c);
    haul_status right = right_answer_for_part(w, c, i, &p);
    cargo_call_begin(w, c, CALL_IS_ASYNC);
    haul_status status = haul_update_device(c->shipment, RANGE(p.at, p.bytes), &on);
    if (ordered(w, c, &on, "haul_update_device, asynchronous", status, right, 0))
        picture_send_part(w, &c->picture, i, p.first, p.bytes);
}

void step_update_host_async(world *w)
{
    cargo *c = cargo_some(w);
    part p;
    int i = cargo_alone(w, c) && c->known ? draw_part(w, c, &p) : -1;
    if (i < 0 || !picture_counts_fit(w, &c->picture, i))
        return;
    haul_async on = draw_async(w, c);
    haul_status right = right_answer_for_part(w, c, i, &p);
    cargo_call_begin(w, c, CALL_IS_ASYNC);
    haul_status status = haul_update_host(c->shipment, RANGE(p.at, p.bytes), &on);
    if (ordered(w, c, &on, "haul_update_host, asynchronous", status, right, 0))
        results_add_part(&c->coming, &c->picture, i, p.first, p.bytes);
}

void step_unmarshal_async(world *w)
{
    cargo *c = cargo_some(w);
    int with_pointers = random_one_in(&w->random, 2);
    if (!cargo_alone(w, c) || !c->known || !picture_counts_fit(w, &c->picture, -1) ||
        (c->arena >= 0 && !arena_may_return(w, c)))
        return;
    if (with_pointers && (!nurseries_have_room(w, c) || nurseries_have_grown(w, c)))
        return;
    haul_async on = draw_async(w, c);
    haul_status right = right_answer(w, c, 0);
    cargo_call_begin(w, c, CALL_IS_ASYNC);
    haul_status status = haul_update_host(c->shipment, with_pointers ? WITH_POINTERS : NULL, &on);
    if (!ordered(w, c, &on, "haul_update_host", status, right, 0))
        return;
    results_add(w, &c->coming, &c->picture, with_pointers);
    if (with_pointers && nurseries_have_made(c))
        nurseries_set_out(w, c);
}
