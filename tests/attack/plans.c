/* Plans that the caller holds: made, packed, unpacked, relocated, shipped, and let go in any order.
 */
#include <stdlib.h>
#include <string.h>

#include "attack.h"
#include "calls.h"
#include "graphs.h"
#include "support/check.h"
#include "support/short_forms.h"

static draft *some_draft(world *w, int is_made)
{
    size_t start = random_below(&w->random, PLANS_MAX);
    for (size_t k = 0; k < PLANS_MAX; k++) {
        draft *d = &w->drafts[(start + k) % PLANS_MAX];
        if (!d->plan == !is_made)
            return d;
    }
    return NULL;
}

void step_plan(world *w)
{
    draft *d = some_draft(w, 0);
    haul_root roots[ROOTS_MAX];
    haul_context *context = haul_device_context(w->device[0]);
    haul_status status;
    if (!d)
        return;
    objects_mend(w, -1);
    memset(d, 0, sizeof *d);
    d->root_count = draw_roots(w, d->root);
    if (d->root_count == 0)
        return;
    make_roots(w, d->root, d->root_count, roots);
    d->ordered = random_one_in(&w->random, 3);
    call_begin(w, 0);
    status = haul_plan_create(context, haul_from_roots(roots, (size_t)d->root_count),
                              d->ordered ? ORDERED : NULL, &d->plan);
    if (!call_end(w, "haul_plan_create", status, HAUL_OK)) {
        CHECK(d->plan == NULL);
        return;
    }
    picture_draw(w, &d->picture, d->root, d->root_count);
}

void draft_free(world *w, draft *d)
{
    attack_say("  haul_plan_free of plan %d", (int)(d - w->drafts));
    haul_plan_free(&d->plan);
    CHECK(d->plan == NULL);
    picture_free(w, &d->picture);
}

void step_plan_free(world *w)
{
    draft *d = some_draft(w, 1);
    if (d)
        draft_free(w, d);
}

/* Of a plan that has never been packed nobody knows which of its pointers have changed. */
static draft *some_known_draft(world *w, haul_status *right)
{
    draft *d = some_draft(w, 1);
    int fits = d && picture_fits(w, &d->picture);
    *right = fits ? HAUL_OK : HAUL_ERROR_STALE;
    return d && (fits || d->packed) ? d : NULL;
}

static size_t place_of(const draft *d, const void *address)
{
    size_t offset = 0;
    void *back;
    CHECK_STATUS(haul_plan_offset(d->plan, address, &offset), HAUL_OK);
    CHECK(offset <= plan_bytes(d->plan));
    CHECK_STATUS(haul_plan_address(d->plan, offset, &back), HAUL_OK);
    return offset;
}

/* What stands where byte k of an object is described. */
static void check_byte(const world *w, const draft *d, const unsigned char *arena, uint64_t base,
                       int i, size_t k)
{
    const view *v = &d->picture.of[i];
    const unsigned char *from = w->objects[i].memory + k;
    const unsigned char *there = arena + place_of(d, from);
    if (v->marks[k] & IS_POINTER) {
        uintptr_t word;
        const void *to = object_pointer(w, i, k);
        memcpy(&word, there, sizeof word);
        CHECK_EQ(word, to ? base + place_of(d, to) : 0);
    } else if (v->marks[k] & IS_DATA && !(v->marks[k] & NOT_SENT)) {
        CHECK_EQ(*there, *from);
    }
}

/* Each pointer, and some bytes of each object. */
static void check_arena(const world *w, const draft *d, const unsigned char *arena, uint64_t base)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        const view *v = &d->picture.of[i];
        size_t bytes = w->objects[i].bytes, apart = bytes > 400 ? bytes / 40 : 1;
        check_note("object %d", i);
        for (size_t k = 0; v->marks && k < bytes;
             k += v->marks[k] & IS_POINTER ? sizeof(void *) : apart)
            if (v->marks[k])
                check_byte(w, d, arena, base, i, k);
    }
    check_note(NULL);
}

static void *memory_of(size_t bytes)
{
    void *memory = calloc(1, bytes + 1);
    CHECK(memory != NULL);
    return memory;
}

/* The device's part of the work, here: offsets become pointers. */
static void relocate(const world *w, const draft *d, unsigned char *arena, const uint64_t *bitmap)
{
    const uint64_t base = (uintptr_t)arena;
    size_t bytes = plan_bytes(d->plan);
    CHECK_STATUS(haul_plan_relocate(arena, bytes, bitmap, base), HAUL_OK);
    check_arena(w, d, arena, base);
}

void step_plan_pack(world *w)
{
    haul_status right, status;
    draft *d = some_known_draft(w, &right);
    if (!d)
        return;
    size_t bytes = plan_bytes(d->plan);
    unsigned char *arena = memory_of(bytes);
    uint64_t *bitmap = memory_of(plan_bitmap_bytes(d->plan));
    uint64_t base = random_one_in(&w->random, 2) ? 0 : 1 << 20;
    call_begin(w, 0);
    status = haul_plan_pack(d->plan, arena, bytes, base, bitmap);
    if (call_end(w, "haul_plan_pack", status, right)) {
        d->packed = 1;
        check_arena(w, d, arena, base);
        if (base == 0)
            relocate(w, d, arena, bitmap);
    }
    free(arena);
    free(bitmap);
}

/* Changes some of what comes back; now and then a count or a terminator. 1: one of these. */
static int change_arena(world *w, draft *d, unsigned char *arena)
{
    int counts = 0;
    for (int i = 0; i < OBJECTS_MAX; i++) {
        view *v = &d->picture.of[i];
        for (int times = 0; v->marks && times < 4; times++) {
            size_t k = random_below(&w->random, w->objects[i].bytes);
            int is_count = v->marks[k] & (IS_COUNT | IS_END);
            if (!(v->marks[k] & IS_DATA) || (is_count && !random_one_in(&w->random, 4)))
                continue;
            v->image[k] = (unsigned char)(v->image[k] + 1);
            arena[place_of(d, w->objects[i].memory + k)] = v->image[k];
            counts |= is_count;
        }
    }
    return counts;
}

/* What was packed comes back with changes, into whatever the host holds by then. */
void step_plan_unpack(world *w)
{
    haul_status right, status;
    draft *d = some_known_draft(w, &right);
    int lets = random_one_in(&w->random, 4);
    if (!d || right != HAUL_OK)
        return;
    size_t bytes = plan_bytes(d->plan);
    unsigned char *arena = memory_of(bytes);
    results r = { NULL, 0, 0 };
    CHECK_STATUS(haul_plan_pack(d->plan, arena, bytes, 1 << 20, NULL), HAUL_OK);
    d->packed = 1;
    picture_send(w, &d->picture);
    if (change_arena(w, d, arena) && !lets)
        right = HAUL_ERROR_GRAPH;
    results_add(w, &r, &d->picture, 0);
    call_begin(w, 0);
    status = haul_plan_unpack(d->plan, arena, bytes, lets);
    if (call_end(w, "haul_plan_unpack", status, right))
        results_apply(w, &r);
    results_clear(&r);
    free(arena);
}

void step_ship_plan(world *w)
{
    haul_status right, status;
    draft *d = some_known_draft(w, &right);
    cargo *c = d ? cargo_place(w) : NULL;
    if (!c)
        return;
    haul_ship_options o = draw_ship_options(w);
    o.ordered = 0; /* a plan has its own order */
    int is_async = random_one_in(&w->random, 2);
    haul_async on = draw_async(w, c);
    c->device = (int)random_below(&w->random, DEVICES);
    c->root_count = d->root_count;
    memcpy(c->root, d->root, sizeof c->root);
    call_begin(w, (is_async ? CALL_IS_ASYNC : 0) | CALL_ON(c->device));
    if (is_async)
        status =
            haul_ship_from(w->device[c->device], haul_from_plan(d->plan), &o, &on, &c->shipment);
    else
        status =
            haul_ship_from(w->device[c->device], haul_from_plan(d->plan), &o, NULL, &c->shipment);
    if (!call_end(w, is_async ? "haul_ship_from, a plan, asynchronous" : "haul_ship_from, a plan",
                  status, right)) {
        CHECK(c->shipment == NULL);
        return;
    }
    d->packed = 1;
    if (is_async)
        cargo_sets_out(w, c);
    c->wants_event = is_async && on.event;
    picture_copy(w, &c->picture, &d->picture);
    cargo_begin(w, c, &o);
    if (!is_async)
        cargo_check(w, c, "haul_ship_from, a plan");
}

void step_trim(world *w)
{
    call_begin(w, 0);
    haul_status status = haul_context_trim(haul_device_context(w->device[0]));
    call_end(w, "haul_context_trim", status, HAUL_OK);
}
