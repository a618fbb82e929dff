/* Arenas: objects that lie in them, and shipments of them as they lie.
 *
 * A shipment is stale when something of what it carries has been given back, or given out again.
 * Its objects are then nobody's any more, so it keeps no picture of them.
 */
#include <string.h>

#include "attack.h"
#include "calls.h"
#include "support/check.h"

enum { ARENA_BYTES = 1 << 20 };

static arena_of_world *some_arena(world *w, int *number)
{
    *number = (int)random_below(&w->random, ARENAS_MAX);
    return w->arenas[*number].arena ? &w->arenas[*number] : NULL;
}

/* One that may be allocated in. */
static arena_of_world *some_free_arena(world *w, int *number)
{
    arena_of_world *a = some_arena(w, number);
    return a && !a->is_frozen ? a : NULL;
}

static size_t used(const haul_arena *arena)
{
    haul_arena_statistics s;
    haul_arena_get_statistics(arena, &s);
    return s.used_bytes;
}

void step_arena(world *w)
{
    haul_arena_options options;
    int number;
    if (some_arena(w, &number))
        return;
    arena_of_world *a = &w->arenas[number];
    for (int i = 0; i < OBJECTS_MAX; i++)
        if (w->objects[i].memory && w->objects[i].arena == number)
            return; /* shipments keep the one before */
    memset(a, 0, sizeof *a);
    memset(&options, 0, sizeof options);
    options.reserve_bytes = ARENA_BYTES;
    options.checked = random_one_in(&w->random, 3);
    options.reuse = random_one_in(&w->random, 2);
    options.pinned = random_one_in(&w->random, 4);
    options.mirrored = random_one_in(&w->random, 3);
    a->device = (int)random_below(&w->random, DEVICES);
    call_begin(w, 0);
    w->forgives = 1; /* memory that is neither pinned nor mirrored will do */
    haul_status status = haul_arena_create_for(w->device[a->device], &options, &a->arena);
    if (call_end(w, "haul_arena_create_for", status, HAUL_OK))
        haul_arena_get_statistics(a->arena, &a->first);
    else
        CHECK(a->arena == NULL);
}

/* From `offset` on something is not what it was. */
static void arena_gives_back(world *w, int number, size_t offset, size_t end)
{
    for (int i = 0; i < CARGOES_MAX; i++) {
        cargo *c = &w->cargoes[i];
        if (!c->shipment || c->arena != number || c->stale || offset >= c->used || offset >= end)
            continue;
        c->stale = 1;
        c->known = 0;
        picture_free(w, &c->picture);
    }
}

static int offset_of(const world *w, int i, size_t *offset)
{
    const object *o = &w->objects[i];
    if (!o->memory || o->arena < 0)
        return 0;
    *offset = (size_t)(o->memory - (unsigned char *)w->arenas[o->arena].first.base);
    return 1;
}

void step_arena_allocate(world *w)
{
    int number, i;
    arena_of_world *a = some_free_arena(w, &number);
    object_kind kind = random_one_in(&w->random, 2) ? ITEM : ARRAY;
    size_t bytes = w->items->bytes, offset;
    unsigned char *memory;
    if (!a)
        return;
    if (kind == ARRAY)
        bytes = 1 + random_below(&w->random, random_one_in(&w->random, 6) ? 40000 : 100);
    settle_arena(w, number, NULL);
    memory = kind == ITEM ? haul_arena_new(a->arena, w->items->type, 1)
                          : haul_arena_allocate(a->arena, bytes);
    if (!memory) {
        CHECK_STATUS(haul_arena_error(a->arena)->status, HAUL_ERROR_LIMIT);
        return;
    }
    i = object_add(w, kind, memory, bytes, number);
    if (i < 0) {
        CHECK_STATUS(haul_arena_release(a->arena, memory, bytes), HAUL_OK);
        arena_gives_back(w, number, (size_t)(memory - (unsigned char *)a->first.base), SIZE_MAX);
        return;
    }
    CHECK(offset_of(w, i, &offset));
    arena_gives_back(w, number, offset, SIZE_MAX);
    for (size_t k = 0; k < bytes; k++)
        CHECK_EQ(memory[k], 0);
    attack_say("  object %d in arena %d at %zu: kind %d, %zu bytes", i, number, offset, (int)kind,
               bytes);
    object_redraw(w, i);
}

void settle_arena(world *w, int number, const cargo *but)
{
    for (int i = 0; i < CARGOES_MAX; i++) {
        cargo *c = &w->cargoes[i];
        while (c != but && c->shipment && c->arena == number && c->on_the_way)
            cargo_wait(w, c);
    }
}

void cargo_alone(world *w, const cargo *c)
{
    if (c->arena >= 0)
        settle_arena(w, c->arena, c);
}

static void forget_root(world *w, int i)
{
    for (int k = 0; k < CARGOES_MAX; k++)
        if (w->cargoes[k].shipment && w->cargoes[k].discovered && w->cargoes[k].root[0] == i)
            w->cargoes[k].root[0] = -1;
}

/* All objects of the arena from `offset` on. */
static void drop_objects(world *w, int number, size_t offset)
{
    size_t at;
    for (int i = 0; i < OBJECTS_MAX; i++)
        if (offset_of(w, i, &at) && w->objects[i].arena == number && at >= offset) {
            forget_root(w, i);
            object_unlink(w, i);
            object_drop(w, i);
        }
}

void step_arena_release(world *w)
{
    int number;
    arena_of_world *a = some_free_arena(w, &number);
    int i = a ? object_some(w, random_one_in(&w->random, 2) ? ITEM : ARRAY, number) : -1;
    size_t offset = 0, bytes;
    unsigned char *memory;
    if (i < 0)
        return;
    settle_arena(w, number, NULL);
    CHECK(offset_of(w, i, &offset));
    memory = w->objects[i].memory;
    bytes = w->objects[i].bytes;
    attack_say("  haul_arena_release of object %d at %zu", i, offset);
    forget_root(w, i);
    object_unlink(w, i);
    arena_gives_back(w, number, offset, SIZE_MAX);
    object_drop(w, i);
    CHECK_STATUS(haul_arena_release(a->arena, memory, bytes), HAUL_OK);
}

/* Takes a mark, goes back to one, or begins anew. */
void step_arena_rollback(world *w)
{
    int number;
    arena_of_world *a = some_free_arena(w, &number);
    size_t back = 0, before;
    if (!a)
        return;
    settle_arena(w, number, NULL);
    if (!a->has_mark) {
        attack_say("  haul_arena_checkpoint of arena %d", number);
        a->mark = haul_arena_checkpoint(a->arena);
        a->has_mark = 1;
        return;
    }
    if (!random_one_in(&w->random, 4))
        back = a->mark.used;
    before = used(a->arena);
    attack_say("  arena %d goes back from %zu to %zu", number, before, back);
    a->has_mark = 0;
    if (back > before)
        return; /* the last blocks have been released since */
    drop_objects(w, number, back);
    arena_gives_back(w, number, back, before);
    CHECK_STATUS(back ? haul_arena_rollback(a->arena, a->mark) : haul_arena_reset(a->arena),
                 HAUL_OK);
    CHECK_EQ(used(a->arena), back);
}

/* One past what it carries a pointer leads in, too. */
static int leads_in(const world *w, const cargo *c, const unsigned char *to)
{
    const unsigned char *end = (const unsigned char *)w->arenas[c->arena].first.base + c->used;
    int target = to && to != end ? object_at(w, to) : -1;
    return target < 0 || c->picture.of[target].marks;
}

/* Calls what(...) for each pointer until it answers 0: that is the answer, else 1. */
typedef int for_pointer(const world *w, const cargo *c, const unsigned char *now,
                        unsigned char *image);
static int for_pointers(const world *w, const cargo *c, for_pointer *what)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        const view *v = &c->picture.of[i];
        for (size_t k = 0; v->marks && k < w->objects[i].bytes; k++) {
            if (!(v->marks[k] & IS_POINTER))
                continue;
            if (!what(w, c, object_pointer(w, i, k), v->image + k))
                return 0;
            k += sizeof(void *) - 1;
        }
    }
    return 1;
}

static int now_leads_in(const world *w, const cargo *c, const unsigned char *now,
                        unsigned char *image)
{
    (void)image;
    return leads_in(w, c, now);
}

int arena_leads_in(const world *w, const cargo *c)
{
    return for_pointers(w, c, now_leads_in);
}

/* What leads out and was kept must still be the host's. */
static int is_as_kept(const world *w, const cargo *c, const unsigned char *now,
                      unsigned char *image)
{
    const unsigned char *there;
    memcpy(&there, image, sizeof there);
    return leads_in(w, c, there) || there == now;
}

int arena_may_return(const world *w, const cargo *c)
{
    if (c->outside == HAUL_OUTSIDE_REFUSE && !c->discovered)
        return arena_leads_in(w, c);
    return for_pointers(w, c, is_as_kept);
}

static int becomes_null(const world *w, const cargo *c, const unsigned char *now,
                        unsigned char *image)
{
    if (!leads_in(w, c, now))
        memset(image, 0, sizeof now);
    return 1;
}

void cargo_send(const world *w, cargo *c)
{
    picture_send(w, &c->picture);
    c->edited = 0;
    if (c->arena >= 0 && (c->discovered || c->outside == HAUL_OUTSIDE_NULL)) {
        c->edited = !arena_leads_in(w, c);
        for_pointers(w, c, becomes_null);
    }
}

int arena_returns_directly(const world *w, const cargo *c)
{
    if (c->arena < 0 || !c->direct || c->edited)
        return 0;
    for (int i = 0; i < OBJECTS_MAX; i++)
        for (size_t k = 0; c->picture.of[i].marks && k < w->objects[i].bytes; k++)
            if (c->picture.of[i].marks[k] & (IS_SKIPPED | NOT_RETURNED))
                return 0;
    return 1;
}

void arena_redraw(world *w, const cargo *c)
{
    attack_say("  the host draws arena %d anew", c->arena);
    for (int i = 0; i < OBJECTS_MAX; i++)
        if (c->picture.of[i].marks && w->objects[i].kind == ITEM)
            object_redraw(w, i);
}

haul_status arena_right_answer(const world *w, int number)
{
    return used(w->arenas[number].arena) > 0 ? HAUL_OK : HAUL_ERROR_ARGUMENT;
}

void cargo_draw_arena(world *w, cargo *c)
{
    c->used = used(w->arenas[c->arena].arena);
    picture_draw_arena(w, &c->picture, c->arena, c->root, c->discovered);
    c->picture.keeps_outside = c->outside == HAUL_OUTSIDE_KEEP;
    cargo_send(w, c);
    c->known = 1;
    c->stale = 0;
}

void step_arena_ship(world *w)
{
    int number;
    arena_of_world *a = some_arena(w, &number);
    cargo *c = a ? cargo_place(w) : NULL;
    haul_ship_arena_options o;
    haul_status status, right;
    if (!c)
        return;
    settle_arena(w, number, NULL);
    objects_mend(w, number);
    c->arena = number;
    c->root[0] = object_some(w, ITEM, number);
    c->discovered = c->root[0] >= 0 && random_one_in(&w->random, 2);
    c->root_count = c->discovered;
    memset(&o, 0, sizeof o);
    if (!c->discovered && random_one_in(&w->random, 2))
        o.outside = random_one_in(&w->random, 2) ? HAUL_OUTSIDE_NULL : HAUL_OUTSIDE_KEEP;
    c->outside = o.outside;
    o.let_counts_change = c->lets_counts_change = random_one_in(&w->random, 4);
    o.direct_return = c->direct = random_one_in(&w->random, 2);
    c->device = random_one_in(&w->random, 2) ? a->device : (int)random_below(&w->random, DEVICES);
    right = arena_right_answer(w, number);
    call_begin(w, 0);
    if (c->discovered)
        status = haul_ship_arena_from(w->device[c->device], a->arena, w->objects[c->root[0]].memory,
                                      w->items->type, 1, &o, &c->shipment);
    else
        status = haul_ship_arena(w->device[c->device], a->arena, &o, &c->shipment);
    if (!call_end(w, c->discovered ? "haul_ship_arena_from" : "haul_ship_arena", status, right)) {
        CHECK(c->shipment == NULL);
        a->is_frozen |= w->left_late || status == HAUL_ERROR_PENDING;
        return;
    }
    cargo_draw_arena(w, c);
    cargo_check(w, c, "the ship of an arena");
}

static int is_shipped(const world *w, int number, const cargo *but)
{
    for (int i = 0; i < CARGOES_MAX; i++)
        if (w->cargoes[i].shipment && w->cargoes[i].arena == number && &w->cargoes[i] != but)
            return 1;
    return 0;
}

void arena_is_left(world *w, const cargo *c)
{
    if (!w->arenas[c->arena].arena && !is_shipped(w, c->arena, c))
        drop_objects(w, c->arena, 0);
}

void arena_free(world *w, int number)
{
    attack_say("  haul_arena_free of arena %d", number);
    settle_arena(w, number, NULL);
    if (!is_shipped(w, number, NULL))
        drop_objects(w, number, 0);
    haul_arena_free(&w->arenas[number].arena);
    CHECK_STR(w->plan.misuse, NULL);
}

void step_arena_free(world *w)
{
    int number;
    if (some_arena(w, &number) && random_one_in(&w->random, 3))
        arena_free(w, number);
}
