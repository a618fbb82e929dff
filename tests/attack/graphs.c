/* Calls on graphs and their shipments that are done when they return.
 */
#include <string.h>

#include "attack.h"
#include "calls.h"
#include "graphs.h"
#include "support/check.h"
#include "support/short_forms.h"

int draw_roots(world *w, int *root)
{
    int count = 0, wanted = 1 + (int)random_below(&w->random, ROOTS_MAX);
    for (int k = 0; k < wanted; k++) {
        int i = object_some(w, ITEM, -1);
        if (i >= 0)
            root[count++] = i;
    }
    return count;
}

haul_ship_options draw_ship_options(world *w)
{
    haul_ship_options o;
    memset(&o, 0, sizeof o);
    o.ordered = random_one_in(&w->random, 4);
    o.lock_source = random_one_in(&w->random, 4);
    o.let_counts_change = random_one_in(&w->random, 4);
    return o;
}

void make_roots(const world *w, const int *root, int count, haul_root *roots)
{
    for (int i = 0; i < count; i++) {
        roots[i].address = w->objects[root[i]].memory;
        roots[i].type = w->items->type;
        roots[i].count = 1;
    }
}

/* The shipment is there: what it is from now on. */
void cargo_begin(world *w, cargo *c, const haul_ship_options *o)
{
    c->known = 1;
    c->locked = o->lock_source;
    c->lets_counts_change = o->let_counts_change;
    picture_send(w, &c->picture);
}

void step_ship(world *w)
{
    cargo *c = cargo_place(w);
    haul_root roots[ROOTS_MAX];
    haul_ship_options o = draw_ship_options(w);
    haul_status status;
    if (!c)
        return;
    objects_mend(w, -1);
    c->device = (int)random_below(&w->random, DEVICES);
    c->root_count = draw_roots(w, c->root);
    if (c->root_count == 0)
        return;
    make_roots(w, c->root, c->root_count, roots);
    call_begin(w, CALL_ON(c->device));
    if (c->root_count == 1 && random_one_in(&w->random, 2))
        status =
            haul_ship(w->device[c->device], roots[0].address, roots[0].type, 1, &o, &c->shipment);
    else
        status = haul_ship_from(w->device[c->device], haul_from_roots(roots, (size_t)c->root_count),
                                &o, NULL, &c->shipment);
    if (!call_end(w, "haul_ship", status, HAUL_OK)) {
        CHECK(c->shipment == NULL);
        return;
    }
    picture_draw(w, &c->picture, c->root, c->root_count);
    cargo_begin(w, c, &o);
    cargo_check(w, c, "haul_ship");
}

/* ---- On a shipment. */

/* What any call answers on a shipment whose graph has changed, or whose arena has given something
 * back. */
haul_status right_answer(const world *w, const cargo *c, int looks_at_pointers)
{
    if (c->stale)
        return HAUL_ERROR_STALE;
    if (!looks_at_pointers)
        return HAUL_OK;
    if (c->arena >= 0) /* of a graph in an arena, what leads out is null there */
        return c->discovered || c->outside != HAUL_OUTSIDE_REFUSE || arena_leads_in(w, c)
                   ? HAUL_OK
                   : HAUL_ERROR_GRAPH;
    return picture_fits(w, &c->picture) ? HAUL_OK : HAUL_ERROR_STALE;
}

static haul_status refresh(cargo *c, void *unused)
{
    (void)unused;
    return haul_update_device(c->shipment, NULL, NULL);
}

void step_refresh(world *w)
{
    cargo *c = cargo_some(w);
    if (!c)
        return;
    while (c->coming.count || nurseries_are_coming(c))
        cargo_wait(w, c); /* what it writes may make the plan stale */
    if (!c->shipment)
        return;
    cargo_call call = { "haul_update_device", refresh, NULL, right_answer(w, c, 1), NULL };
    if (cargo_do(w, c, &call)) {
        cargo_send(w, c);
        c->known = 1;
        cargo_check(w, c, call.name);
    } else if (c->locked || c->arena >= 0) {
        c->known = 0; /* new data may have gone there */
    }
}

static haul_status replan(cargo *c, void *unused)
{
    (void)unused;
    return haul_reship(c->shipment, NULL);
}

void step_replan(world *w)
{
    cargo *c = cargo_some(w);
    int was_known;
    if (!c || (c->arena >= 0 && (!w->arenas[c->arena].arena || (c->discovered && c->root[0] < 0))))
        return;
    while (c->on_the_way)
        cargo_wait(w, c); /* what it writes may change the graph */
    if (!cargo_alone(w, c))
        return;
    objects_mend(w, c->arena);
    if (c->discovered)
        objects_cut(w, c->arena);
    was_known = c->known;
    cargo_call call = { "haul_reship", replan, NULL, HAUL_OK, NULL };
    if (c->arena >= 0)
        call.right = arena_right_answer(w, c);
    if (!cargo_do(w, c, &call)) {
        c->known = was_known && !w->lost &&
                   c->arena < 0; /* as it was; where a mirror was written, nobody knows */
        if (c->known && !c->stale)
            cargo_check(w, c, "haul_reship, which failed");
        return;
    }
    cargo_moved(w, c);
    picture_free(w, &c->picture);
    if (c->arena < 0) {
        picture_draw(w, &c->picture, c->root, c->root_count);
        picture_send(w, &c->picture);
        c->known = 1;
    } else {
        cargo_draw_arena(w, c);
    }
    cargo_check(w, c, call.name);
    if (cargo_meets_strays(c))
        cargo_free(w, c);
}

static haul_status unmarshal(cargo *c, void *how)
{
    return haul_update_host(c->shipment, (const haul_update_options *)how, NULL);
}

/* Counts do not come back changed, unless the shipment lets them. */
static haul_status right_answer_for_return(const world *w, const cargo *c)
{
    haul_status right = right_answer(w, c, 0);
    int fit = c->lets_counts_change || picture_counts_fit(w, &c->picture, -1);
    return right == HAUL_OK && !fit ? HAUL_ERROR_GRAPH : right;
}

/* A direct return has failed halfway. Made again it brings all; or the host draws anew what the
 * arena holds, and sends it when it likes. */
static void return_again(world *w, cargo *c, const results *r)
{
    if (!w->lost && random_one_in(&w->random, 2)) {
        attack_say("  haul_unmarshal again");
        CHECK_STATUS(haul_unmarshal(c->shipment), HAUL_OK);
        results_apply(w, r);
        c->known = 1;
        cargo_check(w, c, "a direct return, made again");
    } else {
        arena_redraw(w, c);
    }
}

static void bring_back(world *w, cargo *c, int with_pointers)
{
    haul_update_options how = { .pointers = with_pointers,
                                .all_or_nothing = random_one_in(&w->random, 4) };
    results r = { NULL, 0, 0 };
    if (!cargo_alone(w, c) || !c->known || (c->arena >= 0 && !arena_may_return(w, c)))
        return;
    if (with_pointers && !nurseries_have_room(w, c))
        return;
    int is_direct = !with_pointers && !how.all_or_nothing && arena_returns_directly(c);
    cargo_call call = { with_pointers ? "haul_update_host, with pointers" : "haul_unmarshal",
                        unmarshal, &how,
                        is_direct ? right_answer(w, c, 0) : right_answer_for_return(w, c), &r };
    if (with_pointers && call.right == HAUL_OK && nurseries_have_grown(w, c))
        call.right = HAUL_ERROR_STALE;
    if (is_direct)
        results_add_raw(w, &r, &c->picture);
    else
        results_add(w, &r, &c->picture, with_pointers);
    if (cargo_do(w, c, &call)) {
        results_apply(w, &r);
        if (with_pointers)
            nurseries_bring(w, c);
    } else if (is_direct && call.right == HAUL_OK)
        return_again(w, c, &r);
    results_clear(&r);
}

void step_unmarshal(world *w)
{
    cargo *c = cargo_some(w);
    if (c)
        bring_back(w, c, random_one_in(&w->random, 2));
}

void step_arena_return(world *w)
{
    size_t start = random_below(&w->random, CARGOES_MAX);
    for (size_t k = 0; k < CARGOES_MAX; k++) {
        cargo *c = &w->cargoes[(start + k) % CARGOES_MAX];
        if (!c->shipment || !c->known || !arena_returns_directly(c))
            continue;
        attack_say("  a direct return of shipment %d", (int)(c - w->cargoes));
        bring_back(w, c, 0);
        return;
    }
}

/* Of a shipment whose kernels have made something, or whose nurseries have grown since. */
void step_nursery_return(world *w)
{
    size_t start = random_below(&w->random, CARGOES_MAX);
    for (size_t k = 0; k < CARGOES_MAX; k++) {
        cargo *c = &w->cargoes[(start + k) % CARGOES_MAX];
        if (!c->shipment || !c->known || (!nurseries_have_made(c) && !nurseries_have_grown(w, c)))
            continue;
        attack_say("  what kernels have made by way of shipment %d", (int)(c - w->cargoes));
        bring_back(w, c, 1);
        return;
    }
}

/* A range in an object of the shipment's; now and then in one that is not. */
int draw_part(world *w, const cargo *c, part *p)
{
    int i = random_one_in(&w->random, 8) ? object_some(w, ARRAY, -1) : cargo_object(w, c);
    const object *o;
    if (i < 0)
        return -1;
    o = &w->objects[i];
    p->first = random_below(&w->random, o->bytes);
    p->at = o->memory + p->first;
    p->bytes = 1 + random_below(&w->random, o->bytes - p->first);
    attack_say("  bytes %zu to %zu of object %d:", p->first, p->first + p->bytes - 1, i);
    return i;
}

static haul_status update_device(cargo *c, void *argument)
{
    const part *p = argument;
    return haul_update_device(c->shipment, RANGE(p->at, p->bytes), NULL);
}

static haul_status update_host(cargo *c, void *argument)
{
    const part *p = argument;
    return haul_update_host(c->shipment, RANGE(p->at, p->bytes), NULL);
}

haul_status right_answer_for_part(const world *w, const cargo *c, int i, const part *p)
{
    const view *v = &c->picture.of[i];
    if (v->marks && c->arena >= 0) /* as far as it goes, all of it lies in the arena */
        return (size_t)(p->at - c->base) < c->used ? right_answer(w, c, 0) : HAUL_ERROR_ARGUMENT;
    for (size_t k = p->first; v->marks && k < p->first + p->bytes; k++)
        if (v->marks[k] & (IS_DATA | IS_POINTER))
            return right_answer(w, c, 0);
    return c->stale ? HAUL_ERROR_STALE : HAUL_ERROR_ARGUMENT;
}

/* What comes changes the objects that the call is about. */
static void settle_nurseries(world *w, cargo *c)
{
    while (c && nurseries_are_coming(c))
        cargo_wait(w, c);
}

void step_update_device(world *w)
{
    cargo *c = cargo_some(w);
    part p;
    settle_nurseries(w, c);
    int i = c && c->known ? draw_part(w, c, &p) : -1;
    if (i < 0)
        return;
    cargo_call call = { "haul_update_device", update_device, &p, right_answer_for_part(w, c, i, &p),
                        NULL };
    if (cargo_do(w, c, &call)) {
        picture_send_part(w, &c->picture, i, p.first, p.bytes);
        cargo_check(w, c, call.name);
    }
}

void step_update_host(world *w)
{
    cargo *c = cargo_some(w);
    results r = { NULL, 0, 0 };
    part p;
    settle_nurseries(w, c);
    int i = cargo_alone(w, c) && c->known ? draw_part(w, c, &p) : -1;
    if (i < 0)
        return;
    if (!picture_counts_fit(w, &c->picture, i))
        return; /* refused where the range reaches into such a field */
    cargo_call call = { "haul_update_host", update_host, &p, right_answer_for_part(w, c, i, &p),
                        &r };
    results_add_part(&r, &c->picture, i, p.first, p.bytes);
    if (cargo_do(w, c, &call))
        results_apply(w, &r);
    results_clear(&r);
}

void step_copy(world *w)
{
    cargo *c = cargo_some(w), *to = cargo_place(w);
    haul_status status, right;
    if (!c || !c->known || !to)
        return;
    while (c->on_the_way)
        cargo_wait(w, c);
    if (!c->known)
        return;
    right = right_answer(w, c, 0);
    to->device = (int)random_below(&w->random, DEVICES);
    if (to->device != c->device && call_may_free(w))
        return; /* what fails in a free could not be told from what fails in the copy */
    if (c->leads_astray)
        attack_say("  of a shipment whose neighbour has moved:");
    call_begin(w, CALL_ON(c->device) | CALL_ON(to->device));
    w->current = c;
    status = haul_shipment_copy(c->shipment, w->device[to->device], &to->shipment);
    if (!call_end(w, "haul_shipment_copy", status, right)) {
        CHECK(to->shipment == NULL);
        if (w->left_late || status == HAUL_ERROR_PENDING) /* it may still be read */
            cargo_sets_out(w, c);
        return;
    }
    memcpy(to->root, c->root, sizeof to->root);
    to->root_count = c->root_count;
    to->arena = c->arena;
    to->discovered = c->discovered;
    to->used = c->used;
    to->outside = c->outside;
    to->locked = c->locked;
    to->lets_counts_change = c->lets_counts_change;
    to->base = c->base;
    to->near_count = c->near_count;
    memcpy(to->near, c->near, sizeof to->near);
    memcpy(to->nests, c->nests, sizeof to->nests);
    to->direct = c->direct;
    to->edited = c->edited;
    to->leads_astray = c->leads_astray;
    to->known = 1;
    picture_copy(w, &to->picture, &c->picture);
    cargo_check(w, to, "haul_shipment_copy");
    if (cargo_meets_strays(to))
        cargo_free(w, to);
}
