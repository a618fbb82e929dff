/* Nurseries: parts of typed arenas in which kernels make objects.
 *
 * The rule: what a kernel has made comes with haul_update_host with pointers alone, from a typed
 * shipment that has the nursery as the host has it, except for that. Nothing else ever comes back
 * into its struct, its bits and what lies behind `used`.
 *
 * On the host a nursery is two objects, its struct with the bits and the room that is left in it.
 * What has come is cut off the room's beginning: an object like any other.
 */
#include <string.h>

#include "attack.h"
#include "calls.h"
#include "support/check.h"

static size_t in_granules(size_t bytes)
{
    return (bytes + HAUL_ARENA_GRANULE - 1) & ~(HAUL_ARENA_GRANULE - 1);
}

/* ---- On the host. */

static void check_new(const haul_nursery *here, size_t bytes)
{
    const unsigned char *slots = (const unsigned char *)here->slots;
    CHECK_EQ((uintptr_t)here % HAUL_ARENA_GRANULE, 0);
    CHECK_EQ((uintptr_t)here->memory % HAUL_ARENA_GRANULE, 0);
    CHECK_EQ(here->capacity, in_granules(bytes));
    CHECK_EQ(here->used, 0);
    CHECK_PTR(slots, (const unsigned char *)(here + 1));
    CHECK((size_t)(here->memory - slots) >= here->capacity / sizeof(void *) / 8);
    for (size_t k = 0; slots + k < here->memory + here->capacity; k++)
        CHECK_EQ(slots[k], 0);
}

static void note_nursery(world *w, int number, nursery_of_world *n, haul_nursery *here,
                         size_t bytes)
{
    const arena_of_world *a = &w->arenas[number];
    n->here = here;
    n->memory = here->memory;
    n->capacity = here->capacity;
    n->used = 0;
    n->bytes = bytes;
    n->head = object_add(w, NURSERY, (unsigned char *)here,
                         (size_t)(here->memory - (unsigned char *)here), number);
    n->room = object_add(w, ROOM, here->memory, here->capacity, number);
    arena_gives_back(w, number, (size_t)((unsigned char *)here - (unsigned char *)a->first.base),
                     SIZE_MAX);
    attack_say("  a nursery of %zu bytes in arena %d: objects %d and %d", n->capacity, number,
               n->head, n->room);
}

void step_nursery(world *w)
{
    int number, n = 0;
    arena_of_world *a = some_free_arena(w, &number);
    size_t bytes = 1 + random_below(&w->random, random_one_in(&w->random, 4) ? 20000 : 1000);
    haul_nursery *here;
    while (a && n < NURSERIES_MAX && a->nurseries[n].here)
        n++;
    if (!a || n == NURSERIES_MAX || objects_free(w) < 2)
        return;
    settle_arena(w, number, NULL);
    arena_call_begin(w);
    here = haul_arena_new_nursery(a->arena, bytes);
    if (!here) {
        arena_refused(w, a->arena);
        return;
    }
    arena_call_end(w, HAUL_OK, HAUL_OK);
    check_new(here, bytes);
    note_nursery(w, number, &a->nurseries[n], here, bytes);
}

/* With all that is in it. */
void step_nursery_release(world *w)
{
    int number, n = (int)random_below(&w->random, NURSERIES_MAX);
    arena_of_world *a = some_free_arena(w, &number);
    nursery_of_world *nursery = a ? &a->nurseries[n] : NULL;
    haul_nursery *here;
    size_t first, end, bytes;
    if (!nursery || !nursery->here)
        return;
    here = nursery->here;
    bytes = nursery->bytes;
    settle_arenas(w);
    first = (size_t)((unsigned char *)here - (unsigned char *)a->first.base);
    end = (size_t)(nursery->memory - (unsigned char *)a->first.base) + nursery->capacity;
    attack_say("  haul_arena_release of nursery %d of arena %d", n, number);
    arena_drop_objects(w, number, first, end);
    arena_gives_back(w, number, first, SIZE_MAX);
    CHECK_STATUS(haul_arena_release(a->arena, here, bytes + HAUL_ARENA_GRANULE),
                 HAUL_ERROR_ARGUMENT);
    arena_call_begin(w);
    arena_call_end(w, haul_arena_release(a->arena, here, bytes), HAUL_OK);
}

void nurseries_drop(world *w, int number)
{
    for (int n = 0; n < NURSERIES_MAX; n++) {
        nursery_of_world *nursery = &w->arenas[number].nurseries[n];
        if (nursery->here && w->objects[nursery->head].memory != (unsigned char *)nursery->here)
            memset(nursery, 0, sizeof *nursery);
    }
}

void nurseries_spoil(world *w, int number)
{
    if (!random_one_in(&w->random, 4))
        return;
    for (int n = 0; n < NURSERIES_MAX; n++) {
        haul_nursery *here = w->arenas[number].nurseries[n].here;
        if (!here)
            continue;
        attack_say("  the host writes over nursery %d", n);
        here->memory = (unsigned char *)here;
        here->slots = NULL;
        here->capacity += 1000;
        here->used = random_below(&w->random, here->used + 100);
    }
}

void nurseries_mend(world *w, int number)
{
    for (int n = 0; n < NURSERIES_MAX; n++) {
        const nursery_of_world *nursery = &w->arenas[number].nurseries[n];
        if (nursery->here)
            memcpy(nursery->here, w->objects[nursery->head].expected, sizeof *nursery->here);
    }
}

/* ---- To the device. */

void nurseries_sent(world *w, cargo *c)
{
    if (c->arena < 0 || c->discovered)
        return;
    picture_draw_arena_again(w, &c->picture, c->base + c->used);
    for (int n = 0; n < NURSERIES_MAX; n++) {
        const nursery_of_world *nursery = &w->arenas[c->arena].nurseries[n];
        nest *t = &c->nests[n];
        memset(t, 0, sizeof *t);
        t->is_there = nursery->here && c->picture.of[nursery->head].marks;
        t->host_used = t->used = nursery->used;
    }
}

static int has_grown(const world *w, const cargo *c, int n)
{
    return c->nests[n].is_there && c->nests[n].host_used != w->arenas[c->arena].nurseries[n].used;
}

int nurseries_have_grown(const world *w, const cargo *c)
{
    for (int n = 0; c->arena >= 0 && !c->stale && n < NURSERIES_MAX; n++)
        if (has_grown(w, c, n))
            return 1;
    return 0;
}

void step_nursery_kernel(world *w)
{
    int first = (int)random_below(&w->random, CARGOES_MAX),
        n = (int)random_below(&w->random, NURSERIES_MAX);
    for (int k = 0; k < CARGOES_MAX; k++) {
        cargo *c = &w->cargoes[(first + k) % CARGOES_MAX];
        if (!c->shipment || !c->known || c->stale || !c->nests[n].is_there || has_grown(w, c, n) ||
            !cargo_has_settled(w, c))
            continue;
        attack_say("  a kernel makes objects in nursery %d of shipment %d", n,
                   (int)(c - w->cargoes));
        cargo_make(w, c, n);
        cargo_check(w, c, "objects were made");
        return;
    }
}

/* ---- Back. */

int nurseries_are_there(const cargo *c)
{
    for (int n = 0; n < NURSERIES_MAX; n++)
        if (c->nests[n].is_there)
            return 1;
    return 0;
}

int nurseries_have_made(const cargo *c)
{
    for (int n = 0; n < NURSERIES_MAX; n++)
        if (c->nests[n].used > c->nests[n].host_used)
            return 1;
    return 0;
}

int nurseries_have_room(const world *w, const cargo *c)
{
    int count = 0;
    for (int n = 0; n < NURSERIES_MAX; n++)
        count += c->nests[n].count; /* at most: some may be on their way already */
    return count <= objects_free(w);
}

/* The room begins `skipped` bytes later, and `piece` (-1: none) is what it began with. */
static void cut_room(world *w, nursery_of_world *n, int piece, size_t skipped)
{
    object *room;
    if (skipped == 0)
        return;
    room = &w->objects[n->room];
    for (int i = 0; i < CARGOES_MAX; i++)
        picture_cut(w, &w->cargoes[i].picture, n->room, piece, skipped);
    n->used += skipped;
    room->memory += skipped;
    room->bytes -= skipped;
    memmove(room->expected, room->expected + skipped, room->bytes);
    if (room->bytes > 0)
        return;
    object_drop(w, n->room);
    n->room = -1;
}

/* What the device has of it is here. */
static void bring_one(world *w, cargo *c, nursery_of_world *n, const made *m)
{
    int i = object_add(w, m->kind, n->memory + m->at, m->bytes, c->arena);
    view *v = &c->picture.of[i];
    CHECK(i >= 0);
    CHECK_EQ(m->at, n->used);
    w->objects[i].is_made = 1;
    cut_room(w, n, i, in_granules(m->bytes));
    for (size_t k = 0; k < m->bytes; k++)
        v->marks[k] = (unsigned char)(v->marks[k] & ~STAYS);
    memcpy(w->objects[i].expected, v->image, m->bytes);
    attack_say("  object %d has come, kind %d, %zu bytes", i, (int)m->kind, m->bytes);
}

/* Bits of the words from `from` on, up to `to`, are now those of the device. */
static void bring_bits(world *w, const cargo *c, const nursery_of_world *n, size_t from, size_t to)
{
    unsigned char *here = w->objects[n->head].expected + sizeof(haul_nursery);
    const unsigned char *there = c->picture.of[n->head].image + sizeof(haul_nursery);
    for (size_t word = from / sizeof(void *); word < to / sizeof(void *); word++) {
        uint64_t bits, now, mask = (uint64_t)1 << (word % 64);
        memcpy(&bits, there + word / 64 * sizeof bits, sizeof bits);
        memcpy(&now, here + word / 64 * sizeof now, sizeof now);
        now = (now & ~mask) | (bits & mask);
        memcpy(here + word / 64 * sizeof now, &now, sizeof now);
    }
}

/* What the device has made in the first `used` bytes of it is here. */
static void bring(world *w, cargo *c, nest *t, nursery_of_world *n, size_t used)
{
    const size_t was = n->used;
    int count = 0;
    t->coming = 0; /* its places are for what comes now */
    while (count < t->count && t->made[count].at < used)
        bring_one(w, c, n, &t->made[count++]);
    cut_room(w, n, -1, used - n->used); /* where an allocation did not fit */
    t->count -= count;
    memmove(t->made, t->made + count, (size_t)t->count * sizeof *t->made);
    t->host_used = used;
    bring_bits(w, c, n, was, used);
    memcpy(w->objects[n->head].expected + offsetof(haul_nursery, used), &used, sizeof used);
}

/* What the nursery's `used` is on the host if all has come that was there when the device's was
 * `used`. */
static size_t in_capacity(size_t used, const nursery_of_world *n)
{
    return used < n->capacity ? used : n->capacity;
}

int nurseries_are_coming(const cargo *c)
{
    for (int n = 0; n < NURSERIES_MAX; n++)
        if (c->nests[n].coming)
            return 1;
    return 0;
}

void nurseries_set_out(world *w, cargo *c)
{
    for (int n = 0; c->arena >= 0 && n < NURSERIES_MAX; n++)
        if (c->nests[n].is_there)
            c->nests[n].coming = in_capacity(c->nests[n].used, &w->arenas[c->arena].nurseries[n]);
}

void nurseries_land(world *w, cargo *c)
{
    for (int n = 0; n < NURSERIES_MAX; n++)
        if (c->nests[n].coming)
            bring(w, c, &c->nests[n], &w->arenas[c->arena].nurseries[n], c->nests[n].coming);
}

void nurseries_bring(world *w, cargo *c)
{
    if (c->stale)
        return;
    nurseries_set_out(w, c);
    nurseries_land(w, c);
}

void nurseries_bring_found(world *w, cargo *c)
{
    for (int n = 0; c->arena >= 0 && !c->stale && n < NURSERIES_MAX; n++) {
        nest *t = &c->nests[n];
        nursery_of_world *nursery = &w->arenas[c->arena].nurseries[n];
        const size_t coming = t->coming;
        size_t used;
        t->coming = 0;
        if (!t->is_there || has_grown(w, c, n) || nursery->here->used == nursery->used)
            continue;
        used = nursery->here->used;
        CHECK(used == coming || used == in_capacity(t->used, nursery));
        bring(w, c, t, nursery, used);
    }
}
