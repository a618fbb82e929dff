/* Arenas: objects that lie in them, and shipments of them as they lie.
 *
 * A shipment is stale when something of what it carries has been given back, or given out again.
 * Its objects are then nobody's any more, so it keeps no picture of them.
 */
#include <string.h>

#include "attack.h"
#include "calls.h"
#include "support/check.h"
#include "support/open.h"

enum { ARENA_BYTES = 1 << 20 };

static arena_of_world *some_arena(world *w, int *number)
{
    *number = (int)random_below(&w->random, ARENAS_MAX);
    return w->arenas[*number].arena ? &w->arenas[*number] : NULL;
}

arena_of_world *some_free_arena(world *w, int *number)
{
    arena_of_world *a = some_arena(w, number);
    return a && !a->is_frozen ? a : NULL;
}

static int is_shipped(const world *w, int number, const cargo *but)
{
    for (int i = 0; i < CARGOES_MAX; i++)
        if (w->cargoes[i].shipment && w->cargoes[i].arena == number && &w->cargoes[i] != but)
            return 1;
    return 0;
}

static size_t used(const haul_arena *arena)
{
    haul_arena_info s;
    haul_arena_get_info(arena, &s);
    return s.used_bytes;
}

void step_arena(world *w)
{
    haul_arena_options options;
    int number;
    if (some_arena(w, &number) || is_shipped(w, number, NULL))
        return; /* shipments keep the one before, also if nothing is in it */
    arena_of_world *a = &w->arenas[number];
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
    int is_plain = random_one_in(&w->random, 4);
    if (is_plain)
        options.pinned = options.mirrored = 0;
    haul_status status =
        is_plain ? haul_arena_create(haul_device_context(w->device[0]), &options, &a->arena)
                 : test_arena(w->device[a->device], &options, &a->arena);
    if (call_end(w, is_plain ? "haul_arena_create" : "haul_arena_create of a device", status,
                 HAUL_OK))
        haul_arena_get_info(a->arena, &a->first);
    else
        CHECK(a->arena == NULL);
}

void arena_gives_back(world *w, int number, size_t offset, size_t end)
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

void arena_call_begin(world *w)
{
    int lost = w->plan.lost;
    uint64_t at = w->faults && random_one_in(&w->random, 3) ? 1 + random_below(&w->random, 3) : 0;
    fault_arm(&w->plan, random_one_in(&w->random, 2) ? FAULT_ONCE : FAULT_FROM, at);
    w->plan.lost = lost;
}

void arena_call_end(world *w, haul_status status, haul_status right)
{
    int lost = w->plan.lost;
    check_note("a call on an arena, %llu faults", (unsigned long long)w->plan.fired);
    if (w->plan.fired == 0 || status != HAUL_ERROR_MEMORY)
        CHECK_STATUS(status, right);
    CHECK_STR(w->plan.misuse, NULL);
    check_note(NULL);
    fault_disarm(&w->plan);
    w->plan.lost = lost;
}

void arena_refused(world *w, const haul_arena *arena)
{
    arena_call_end(w, haul_arena_error(arena)->status, HAUL_ERROR_LIMIT);
}

typedef struct wanted {
    object_kind kind;
    size_t bytes, alignment;
    int is_block;
} wanted;

static wanted draw_wanted(world *w)
{
    wanted n = { random_one_in(&w->random, 2) ? ITEM : ARRAY, w->items->bytes, 0, 0 };
    if (n.kind == ITEM) {
        if (random_one_in(&w->random, 4)) /* with a tail */
            n.bytes += 1 + random_below(&w->random, 100);
        return n;
    }
    n.bytes = 1 + random_below(&w->random, random_one_in(&w->random, 6) ? 40000 : 100);
    n.is_block = random_one_in(&w->random, 3);
    if (!n.is_block && random_one_in(&w->random, 3))
        n.alignment = (size_t)1 << random_below(&w->random, 13);
    return n;
}

static unsigned char *allocate(world *w, haul_arena *arena, const wanted *n)
{
    if (n->kind == ITEM)
        return n->bytes > w->items->bytes
                   ? haul_arena_new_tail(arena, w->items->type, n->bytes - w->items->bytes)
                   : haul_arena_new(arena, w->items->type, 1);
    if (n->is_block)
        return random_one_in(&w->random, 2) ? haul_arena_malloc(arena, n->bytes)
                                            : haul_arena_calloc(arena, 1, n->bytes);
    return n->alignment ? haul_arena_bytes(arena, n->bytes, n->alignment)
                        : haul_arena_bytes(arena, n->bytes, 0);
}

void step_arena_allocate(world *w)
{
    int number, i;
    arena_of_world *a = some_free_arena(w, &number);
    wanted n = draw_wanted(w);
    size_t offset;
    unsigned char *memory;
    if (!a)
        return;
    settle_arena(w, number, NULL);
    arena_call_begin(w);
    memory = allocate(w, a->arena, &n);
    if (!memory) {
        arena_refused(w, a->arena);
        return;
    }
    arena_call_end(w, HAUL_OK, HAUL_OK);
    i = object_add(w, n.kind, memory, n.bytes, number);
    if (i < 0) {
        CHECK_STATUS(n.is_block ? haul_arena_free_block(a->arena, memory)
                                : haul_arena_release(a->arena, memory, n.bytes),
                     HAUL_OK);
        arena_gives_back(w, number, (size_t)(memory - (unsigned char *)a->first.base), SIZE_MAX);
        return;
    }
    w->objects[i].is_block = n.is_block;
    w->objects[i].alignment = n.alignment;
    CHECK(offset_of(w, i, &offset));
    arena_gives_back(w, number, offset, SIZE_MAX);
    for (size_t k = 0; k < n.bytes; k++)
        CHECK_EQ(memory[k], 0);
    if (n.alignment)
        CHECK_EQ((uintptr_t)memory % n.alignment, 0);
    attack_say("  object %d in arena %d at %zu: kind %d, %zu bytes%s", i, number, offset,
               (int)n.kind, n.bytes, n.is_block ? ", a block" : "");
    object_redraw(w, i);
}

static int some_block(world *w, int number)
{
    size_t start = random_below(&w->random, OBJECTS_MAX);
    for (size_t k = 0; k < OBJECTS_MAX; k++) {
        size_t i = (start + k) % OBJECTS_MAX;
        if (w->objects[i].memory && w->objects[i].is_block && w->objects[i].arena == number)
            return (int)i;
    }
    return -1;
}

/* The block has moved: another object. Where it was, something has gone. */
static void move_block(world *w, int i, unsigned char *memory, size_t bytes)
{
    int number = w->objects[i].arena;
    size_t offset;
    CHECK(offset_of(w, i, &offset));
    arena_gives_back(w, number, offset, SIZE_MAX);
    arena_gives_back(w, number, (size_t)(memory - (unsigned char *)w->arenas[number].first.base),
                     SIZE_MAX);
    object_drop(w, i);
    i = object_add(w, ARRAY, memory, bytes, number);
    w->objects[i].is_block = 1;
    object_redraw(w, i);
}

/* In its place it is a shipment's still, as far as that carries it. What the arena has no more, if
 * it was the last, has gone. */
static void resize_block(world *w, int i, size_t bytes, size_t used_before)
{
    int number = w->objects[i].arena;
    arena_gives_back(w, number, used(w->arenas[number].arena), used_before);
    for (int k = 0; k < CARGOES_MAX; k++) {
        cargo *c = &w->cargoes[k];
        if (!c->shipment || c->arena != number || c->stale)
            continue;
        if (picture_resize(w, &c->picture, i, bytes,
                           (size_t)(c->base + c->used - w->objects[i].memory)))
            c->known = 0; /* what it has there is what lay behind the block */
    }
    object_resize(w, i, bytes);
    object_redraw(w, i);
}

void step_arena_realloc(world *w)
{
    int number;
    arena_of_world *a = some_free_arena(w, &number);
    int i = a ? some_block(w, number) : -1;
    size_t bytes = 1 + random_below(&w->random, random_one_in(&w->random, 4) ? 20000 : 200), before;
    unsigned char *memory;
    if (i < 0)
        return;
    settle_arenas(w);
    object_unlink(w, i);
    before = used(a->arena);
    arena_call_begin(w);
    memory = haul_arena_realloc(a->arena, w->objects[i].memory, bytes);
    attack_say("  haul_arena_realloc of object %d: %zu bytes%s", i, bytes,
               !memory                          ? ", refused"
               : memory == w->objects[i].memory ? ", in its place"
                                                : "");
    if (!memory) {
        arena_refused(w, a->arena);
        return;
    }
    arena_call_end(w, HAUL_OK, HAUL_OK);
    check_note("what haul_arena_realloc keeps of object %d", i);
    CHECK_BYTES(memory, w->objects[i].expected,
                bytes < w->objects[i].bytes ? bytes : w->objects[i].bytes);
    check_note(NULL);
    if (memory == w->objects[i].memory)
        resize_block(w, i, bytes, before);
    else
        move_block(w, i, memory, bytes);
}

void settle_arena(world *w, int number, const cargo *but)
{
    for (int i = 0; i < CARGOES_MAX; i++) {
        cargo *c = &w->cargoes[i];
        while (c != but && c->shipment && c->arena == number && c->on_the_way)
            cargo_wait(w, c);
    }
}

void settle_arenas(world *w)
{
    for (int i = 0; i < ARENAS_MAX; i++)
        settle_arena(w, i, NULL);
}

int cargo_alone(world *w, const cargo *c)
{
    if (c && c->arena >= 0)
        settle_arena(w, c->arena, c);
    return c && c->shipment;
}

static void forget_root(world *w, int i)
{
    for (int k = 0; k < CARGOES_MAX; k++)
        if (w->cargoes[k].shipment && w->cargoes[k].discovered && w->cargoes[k].root[0] == i)
            w->cargoes[k].root[0] = -1;
}

void arena_drop_objects(world *w, int number, size_t offset, size_t end)
{
    size_t at;
    for (int i = 0; i < OBJECTS_MAX; i++)
        if (offset_of(w, i, &at) && w->objects[i].arena == number && at >= offset && at < end) {
            forget_root(w, i);
            object_unlink(w, i);
            object_drop(w, i);
        }
    nurseries_drop(w, number);
}

void step_arena_release(world *w)
{
    int number;
    arena_of_world *a = some_free_arena(w, &number);
    int i = a ? object_some(w, random_one_in(&w->random, 2) ? ITEM : ARRAY, number) : -1;
    size_t offset = 0, bytes;
    unsigned char *memory;
    int is_block;
    if (i < 0)
        return;
    if (w->objects[i].is_made) { /* it goes with its nursery */
        CHECK_STATUS(haul_arena_release(a->arena, w->objects[i].memory, w->objects[i].bytes),
                     HAUL_ERROR_ARGUMENT);
        return;
    }
    settle_arenas(w);
    CHECK(offset_of(w, i, &offset));
    memory = w->objects[i].memory;
    bytes = w->objects[i].bytes;
    is_block = w->objects[i].is_block;
    attack_say("  haul_arena_release of object %d at %zu", i, offset);
    forget_root(w, i);
    object_unlink(w, i);
    arena_gives_back(w, number, offset, SIZE_MAX);
    object_drop(w, i);
    arena_call_begin(w);
    arena_call_end(w,
                   is_block ? haul_arena_free_block(a->arena, memory)
                            : haul_arena_release(a->arena, memory, bytes),
                   HAUL_OK);
    if (is_block)
        CHECK_STATUS(haul_arena_free_block(a->arena, memory), HAUL_ERROR_ARGUMENT);
}

/* Takes a mark, goes back to one, or begins anew. */
void step_arena_rollback(world *w)
{
    int number;
    arena_of_world *a = some_free_arena(w, &number);
    size_t back = 0, before;
    if (!a)
        return;
    settle_arenas(w);
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
    arena_drop_objects(w, number, back, SIZE_MAX);
    arena_gives_back(w, number, back, before);
    CHECK_STATUS(back ? haul_arena_rollback(a->arena, a->mark) : haul_arena_reset(a->arena),
                 HAUL_OK);
    CHECK_EQ(used(a->arena), back);
}

/* One past what it carries a pointer leads in, too. */
static int leads_in(const cargo *c, const unsigned char *to)
{
    return !to || (uintptr_t)to - (uintptr_t)c->base <= c->used ||
           picture_neighbour(&c->picture, to);
}

/* Calls what(...) for each pointer that travels both ways until it answers 0: that is the answer,
 * else 1. */
typedef int for_pointer(const world *w, const cargo *c, const unsigned char *now,
                        unsigned char *image);
static int for_pointers(const world *w, const cargo *c, for_pointer *what)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        const view *v = &c->picture.of[i];
        for (size_t k = 0; v->marks && k < w->objects[i].bytes; k++) {
            if (!(v->marks[k] & IS_POINTER) || v->marks[k] & STAYS)
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
    (void)w;
    return leads_in(c, now);
}

/* The same of items that have come since the shipment was sent: their pointers are the arena's. */
static int those_made_lead_in(const world *w, const cargo *c)
{
    const uint64_t pointers = item_pointers(w->items);
    for (int i = 0; i < OBJECTS_MAX && !c->discovered; i++) {
        const object *o = &w->objects[i];
        if (!o->is_made || o->kind != ITEM || !c->picture.of[i].marks)
            continue;
        for (size_t word = 0; word < sizeof(item) / sizeof(void *); word++)
            if (pointers >> word & 1 && !leads_in(c, object_pointer(w, i, word * sizeof(void *))))
                return 0;
    }
    return 1;
}

int arena_leads_in(const world *w, const cargo *c)
{
    return for_pointers(w, c, now_leads_in) && those_made_lead_in(w, c);
}

/* What leads out and was kept must still be the host's, and what leads to a neighbour something
 * there. */
static int is_as_kept(const world *w, const cargo *c, const unsigned char *now,
                      unsigned char *image)
{
    const unsigned char *there;
    memcpy(&there, image, sizeof there);
    if (!there || there == now)
        return 1;
    int target = object_at(w, there);
    if (target < 0 || !leads_in(c, there))
        return 0;
    return w->objects[target].arena == c->arena ||
           (w->objects[target].kind == ITEM && w->objects[target].memory == there);
}

int arena_may_return(const world *w, const cargo *c)
{
    if (c->outside == HAUL_OUTSIDE_REFUSE && !c->discovered && !arena_leads_in(w, c))
        return 0;
    return for_pointers(w, c, is_as_kept);
}

static int becomes_null(const world *w, const cargo *c, const unsigned char *now,
                        unsigned char *image)
{
    (void)w;
    if (!leads_in(c, now))
        memset(image, 0, sizeof now);
    return 1;
}

void cargo_send(world *w, cargo *c)
{
    nurseries_sent(w, c);
    picture_send(w, &c->picture);
    c->edited = 0;
    if (c->arena >= 0 && (c->discovered || c->outside == HAUL_OUTSIDE_NULL)) {
        c->edited = !arena_leads_in(w, c);
        for_pointers(w, c, becomes_null);
    }
}

int arena_returns_directly(const cargo *c)
{
    if (c->arena < 0 || !c->direct || c->edited)
        return 0;
    for (int i = 0; i < OBJECTS_MAX; i++)
        for (size_t k = 0; c->picture.of[i].marks && k < c->picture.of[i].bytes; k++)
            if (c->picture.of[i].marks[k] & (IS_SKIPPED | NOT_RETURNED | STAYS))
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

static void show_neighbours(cargo *c)
{
    c->picture.near_count = c->near_count;
    memcpy(c->picture.near, c->near, sizeof c->near);
}

static void add_neighbour(const world *w, cargo *c, const cargo *near)
{
    haul_shipment_info s;
    neighbour *n = &c->near[c->near_count++];
    haul_shipment_get_info(near->shipment, &s);
    n->base = near->base;
    n->bytes = near->used;
    n->there = s.base;
    n->cargo = (int)(near - w->cargoes);
}

haul_status arena_right_answer(world *w, const cargo *c)
{
    cargo as = *c;
    int fits;
    as.used = used(w->arenas[c->arena].arena);
    as.base = w->arenas[c->arena].first.base;
    if (as.used == 0)
        return HAUL_ERROR_ARGUMENT;
    if (c->discovered || c->outside != HAUL_OUTSIDE_REFUSE)
        return HAUL_OK;
    picture_draw_arena(w, &as.picture, c->arena, NULL, 0);
    show_neighbours(&as);
    fits = arena_leads_in(w, &as);
    picture_free(w, &as.picture);
    return fits ? HAUL_OK : HAUL_ERROR_GRAPH;
}

void cargo_draw_arena(world *w, cargo *c)
{
    c->used = used(w->arenas[c->arena].arena);
    c->base = w->arenas[c->arena].first.base;
    picture_draw_arena(w, &c->picture, c->arena, c->root, c->discovered);
    show_neighbours(c);
    c->picture.keeps_outside = c->outside == HAUL_OUTSIDE_KEEP;
    cargo_send(w, c);
    c->known = 1;
    c->stale = 0;
}

/* Some shipment that one of another arena to the device may lead into. */
static cargo *some_neighbour(world *w, const cargo *c)
{
    for (int i = 0; i < CARGOES_MAX; i++) {
        cargo *near = &w->cargoes[i];
        if (near->shipment && near->arena >= 0 && near->arena != c->arena && !near->stale &&
            near->device == c->device)
            return near;
    }
    return NULL;
}

static haul_ship_options draw_options(world *w, cargo *c)
{
    haul_ship_options o;
    memset(&o, 0, sizeof o);
    if (!c->discovered && random_one_in(&w->random, 2))
        o.outside = random_one_in(&w->random, 2) ? HAUL_OUTSIDE_NULL : HAUL_OUTSIDE_KEEP;
    c->outside = o.outside;
    o.let_counts_change = c->lets_counts_change = c->discovered && random_one_in(&w->random, 4);
    c->direct = random_one_in(&w->random, 2);
    return o;
}

void step_arena_ship(world *w)
{
    int number;
    arena_of_world *a = some_arena(w, &number);
    cargo *c = a ? cargo_place(w) : NULL, *near;
    const haul_shipment *into;
    haul_status status, right;
    if (!c)
        return;
    settle_arena(w, number, NULL);
    objects_mend(w, number);
    c->arena = number;
    c->root[0] = object_some(w, ITEM, number);
    c->discovered = c->root[0] >= 0 && random_one_in(&w->random, 2);
    c->root_count = c->discovered;
    if (c->discovered)
        objects_cut(w, number);
    haul_ship_options o = draw_options(w, c);
    c->device = random_one_in(&w->random, 2) ? a->device : (int)random_below(&w->random, DEVICES);
    near = c->discovered ? NULL : some_neighbour(w, c);
    if (near) {
        into = near->shipment;
        o.beside = &into;
        o.beside_count = 1;
        add_neighbour(w, c, near);
        attack_say("  into shipment %d:", c->near[0].cargo);
    }
    right = arena_right_answer(w, c);
    nurseries_spoil(w, number);
    call_begin(w, CALL_ON(c->device));
    w->current = near; /* it must outlive the new one: the callback leaves it */
    if (c->discovered)
        status = haul_ship_from(
            w->device[c->device],
            haul_from_arena_root(a->arena, w->objects[c->root[0]].memory, w->items->type), &o, NULL,
            &c->shipment);
    else
        status =
            haul_ship_from(w->device[c->device], haul_from_arena(a->arena), &o, NULL, &c->shipment);
    if (!call_end(w, c->discovered ? "haul_ship_from, a root" : "haul_ship_from, an arena", status,
                  right)) {
        nurseries_mend(w, number);
        CHECK(c->shipment == NULL);
        a->is_frozen |= w->left_late || status == HAUL_ERROR_PENDING;
        return;
    }
    if (c->direct)
        CHECK_STATUS(haul_return_directly(c->shipment), HAUL_OK);
    cargo_draw_arena(w, c);
    cargo_check(w, c, "the ship of an arena");
}

/* What leads from each of two arenas that are shipped together into the other one. */
static haul_status right_answer_for_both(world *w, cargo *const *both)
{
    haul_status right = HAUL_OK;
    for (int i = 0; i < 2 && right == HAUL_OK; i++) {
        cargo as = *both[i];
        as.near_count = 1;
        as.near[0].base = w->arenas[both[1 - i]->arena].first.base;
        as.near[0].bytes = used(w->arenas[both[1 - i]->arena].arena);
        right = arena_right_answer(w, &as);
    }
    for (int i = 0; i < 2; i++)
        if (used(w->arenas[both[i]->arena].arena) == 0)
            right = HAUL_ERROR_ARGUMENT;
    return right;
}

/* All of them together, in any order. */
void step_arenas_ship(world *w)
{
    int first = (int)random_below(&w->random, 2), count = 0;
    cargo *both[2];
    haul_arena *arenas[2];
    haul_shipment *shipments[2];
    for (int i = 0; i < CARGOES_MAX && count < 2; i++) {
        arena_of_world *a = &w->arenas[count == 0 ? first : 1 - first];
        if (w->cargoes[i].shipment || !a->arena)
            continue;
        both[count] = &w->cargoes[i];
        memset(both[count], 0, sizeof *both[count]);
        both[count]->arena = (int)(a - w->arenas);
        arenas[count++] = a->arena;
    }
    if (count < 2)
        return;
    settle_arenas(w);
    haul_ship_options o = draw_options(w, both[0]);
    both[1]->outside = o.outside;
    both[1]->lets_counts_change = o.let_counts_change;
    both[1]->direct = both[0]->direct;
    both[0]->device = both[1]->device = (int)random_below(&w->random, DEVICES);
    haul_status right = right_answer_for_both(w, both);
    call_begin(w, CALL_ON(both[0]->device));
    haul_status status =
        haul_ship_arenas(w->device[both[0]->device], arenas, 2, &o, NULL, shipments);
    int is_there = call_end(w, "haul_ship_arenas", status, right);
    for (int i = 0; i < 2; i++) {
        CHECK(!shipments[i] == !is_there);
        both[i]->shipment = shipments[i];
        if (is_there && both[i]->direct)
            CHECK_STATUS(haul_return_directly(shipments[i]), HAUL_OK);
        both[i]->used = used(arenas[i]);
        both[i]->base = w->arenas[both[i]->arena].first.base;
        w->arenas[both[i]->arena].is_frozen |=
            !is_there && (w->left_late || status == HAUL_ERROR_PENDING);
    }
    for (int i = 0; i < 2 && is_there; i++) {
        add_neighbour(w, both[i], both[1 - i]);
        cargo_draw_arena(w, both[i]);
        cargo_check(w, both[i], "haul_ship_arenas");
    }
}

int arena_goes_with(const world *w, const cargo *c)
{
    return c->arena >= 0 && !w->arenas[c->arena].arena && !is_shipped(w, c->arena, c);
}

void arena_free(world *w, int number)
{
    attack_say("  haul_arena_free of arena %d", number);
    settle_arenas(w);
    if (!is_shipped(w, number, NULL))
        arena_drop_objects(w, number, 0, SIZE_MAX);
    haul_arena_free(&w->arenas[number].arena);
    w->lets_arenas_go = 1;
    CHECK_STR(w->plan.misuse, NULL);
}

void step_arena_free(world *w)
{
    int number;
    if (some_arena(w, &number) && random_one_in(&w->random, 3))
        arena_free(w, number);
}
