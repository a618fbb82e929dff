/* Kernels of the attack, launched on the host device: one that compares, one that changes.
 */
#include <string.h>

#include "haul/host.h"
#include "support/check.h"
#include "support/short_forms.h"
#include "world.h"

typedef struct launch {
    world *w;
    cargo *c;
    int wrong; /* an object; -1: none */
    size_t wrong_at;
} launch;

/* The word that a pointer of the host's is on the device. */
static uintptr_t there(const cargo *c, const unsigned char *image)
{
    const void *host;
    memcpy(&host, image, sizeof host);
    uintptr_t device = host ? (uintptr_t)device_address(c->shipment, host) : 0;
    const neighbour *near = device || !host ? NULL : picture_neighbour(&c->picture, host);
    if (near)
        return (uintptr_t)near->there + ((uintptr_t)host - (uintptr_t)near->base);
    int is_kept = c->arena >= 0 && c->outside == HAUL_OUTSIDE_KEEP && device == 0;
    return is_kept ? (uintptr_t)host : device;
}

/* Ranges begin at multiples of 8, and those that touch here may lie apart there. Bytes [at, end) of
 * one such stretch of an object, all of them described. */
static int stretch_agrees(const cargo *c, const object *o, const view *v, size_t at, size_t end,
                          size_t *wrong)
{
    uintptr_t device = (uintptr_t)device_address(c->shipment, o->memory + at), word = 0;
    *wrong = at;
    if (device == 0 || host_of(c->shipment, device) != o->memory + at)
        return 0;
    for (size_t k = at; k < end; k++) {
        *wrong = k;
        if (!(v->marks[k] & IS_POINTER)) {
            if (*(const unsigned char *)(device + (k - at)) != v->image[k])
                return 0;
            continue;
        }
        memcpy(&word, (const void *)(device + (k - at)), sizeof word);
        if (word != there(c, v->image + k))
            return 0;
        k += sizeof word - 1;
    }
    return 1;
}

static void compare(void *argument)
{
    launch *l = argument;
    for (int i = 0; i < OBJECTS_MAX && l->wrong < 0; i++) {
        const object *o = &l->w->objects[i];
        const view *v = &l->c->picture.of[i];
        for (size_t at = 0, end; v->marks && at < o->bytes && l->wrong < 0; at = end) {
            for (end = at; end < o->bytes && v->marks[end] && (end == at || end % 8 != 0);)
                end++;
            if (end > at && !stretch_agrees(l->c, o, v, at, end, &l->wrong_at))
                l->wrong = i;
            end += end == at;
        }
    }
}

void cargo_check(world *w, cargo *c, const char *after)
{
    launch l = { w, c, -1, 0 };
    CHECK_STATUS(haul_host_launch(w->device[c->device], compare, &l), HAUL_OK);
    if (l.wrong >= 0)
        check_failed(__FILE__, __LINE__,
                     "after %s: byte %zu of object %d (marks 0x%x) is not 0x%02x on the device",
                     after, l.wrong_at, l.wrong, c->picture.of[l.wrong].marks[l.wrong_at],
                     c->picture.of[l.wrong].image[l.wrong_at]);
}

static int is_near(const launch *l, const object *o)
{
    const neighbour *near = o->memory ? picture_neighbour(&l->c->picture, o->memory) : NULL;
    return near && o->kind == ITEM &&
           picture_neighbour(&l->c->picture, o->memory + o->bytes) == near;
}

/* Some item of the same graph or of a neighbour's, or none. */
static const void *some_item(launch *l)
{
    size_t start = random_below(&l->w->random, OBJECTS_MAX);
    for (size_t k = 0; k < OBJECTS_MAX; k++) {
        size_t i = (start + k) % OBJECTS_MAX;
        const view *v = &l->c->picture.of[i];
        if (is_near(l, &l->w->objects[i]) ||
            (v->marks && l->w->objects[i].kind == ITEM && v->marks[0] & IS_POINTER))
            return random_one_in(&l->w->random, 4) ? NULL : l->w->objects[i].memory;
    }
    return NULL;
}

static void change_byte(launch *l, const object *o, view *v, size_t k)
{
    unsigned char *at = haul_device_pointer(l->c->shipment, o->memory + k);
    *at = (unsigned char)(1 + random_below(&l->w->random, 255));
    v->image[k] = *at;
}

static void aim(launch *l, const object *o, view *v, size_t k, const void *host)
{
    unsigned char *at = haul_device_pointer(l->c->shipment, o->memory + k);
    uintptr_t device;
    memcpy(v->image + k, &host, sizeof host);
    device = there(l->c, v->image + k);
    memcpy(at, &device, sizeof device);
}

/* `next` of an item, or an element of an array of pointers. */
static void change_pointer(launch *l, const object *o, view *v, size_t k)
{
    aim(l, o, v, k, some_item(l));
}

static void change(void *argument)
{
    launch *l = argument;
    for (int i = 0; i < OBJECTS_MAX; i++) {
        const object *o = &l->w->objects[i];
        view *v = &l->c->picture.of[i];
        size_t k = 0;
        if (!v->marks || o->kind == NURSERY || o->kind == ROOM || random_one_in(&l->w->random, 3))
            continue;
        if (o->kind == ITEM && !(v->marks[0] & IS_POINTER))
            continue; /* shipped as plain bytes, but the arena knows its pointers */
        for (int times = 0; times < 8; times++) {
            k = random_below(&l->w->random, o->bytes);
            if (v->marks[k] & IS_DATA && !(v->marks[k] & (IS_COUNT | IS_END)))
                change_byte(l, o, v, k);
        }
        k -= k % sizeof(void *);
        if (o->kind == ITEM)
            k = 0;
        if (o->kind <= MANY && v->marks[k] & IS_POINTER && random_one_in(&l->w->random, 4))
            change_pointer(l, o, v, k);
    }
}

void cargo_change(world *w, cargo *c)
{
    launch l = { w, c, -1, 0 };
    CHECK_STATUS(haul_host_launch(w->device[c->device], change, &l), HAUL_OK);
}

static void change_count(void *argument)
{
    launch *l = argument;
    size_t start = random_below(&l->w->random, OBJECTS_MAX);
    for (size_t n = 0; n < OBJECTS_MAX && l->wrong < 0; n++) {
        int i = (int)((start + n) % OBJECTS_MAX);
        const object *o = &l->w->objects[i];
        view *v = &l->c->picture.of[i];
        for (size_t k = 0; v->marks && k < o->bytes && l->wrong < 0; k++)
            if (v->marks[k] & (IS_COUNT | IS_END)) {
                unsigned char *at = haul_device_pointer(l->c->shipment, o->memory + k);
                *at = v->image[k] = (unsigned char)(v->first[k] ^ 1);
                l->wrong = i;
            }
    }
}

int cargo_change_count(world *w, cargo *c)
{
    launch l = { w, c, -1, 0 };
    CHECK_STATUS(haul_host_launch(w->device[c->device], change_count, &l), HAUL_OK);
    return l.wrong >= 0;
}

/* ---- What a kernel makes. */

typedef struct making {
    launch l;
    nest *t;
    const nursery_of_world *n;
    haul_device_layout stamp;
} making;

/* Bit `word` of the nursery's, as the device must have set it. */
static void expect_bit(const making *k, size_t word)
{
    unsigned char *at =
        k->l.c->picture.of[k->n->head].image + sizeof(haul_nursery) + word / 64 * sizeof(uint64_t);
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    bits |= (uint64_t)1 << (word % 64);
    memcpy(at, &bits, sizeof bits);
}

/* An item that was made before, or another one. */
static const void *some_target(making *k)
{
    const made *m = &k->t->made[random_below(&k->l.w->random, MADE_MAX)];
    if (m < k->t->made + k->t->count && m->kind == ITEM)
        return k->n->memory + m->at;
    return some_item(&k->l);
}

/* What the object says, from byte `at` of the room on. */
static void fill_made(making *k, const made *m, size_t at)
{
    world *w = k->l.w;
    const object *room = &w->objects[k->n->room];
    view *v = &k->l.c->picture.of[k->n->room];
    const size_t first = m->kind == ITEM ? sizeof(item) : 0;
    for (size_t word = 0; m->kind == ITEM && word < sizeof(item) / sizeof(void *); word++)
        if (k->stamp.slots >> word & 1) {
            memset(v->marks + at + word * sizeof(void *), IS_POINTER | STAYS, sizeof(void *));
            expect_bit(k, m->at / sizeof(void *) + word);
        }
    for (int times = 0; times < 8 && first < m->bytes; times++)
        change_byte(&k->l, room, v, at + first + random_below(&w->random, m->bytes - first));
    if (m->kind == ITEM && w->items->rows & ROW_MINE)
        change_byte(&k->l, room, v, at + offsetof(item, mine));
    if (m->kind == ITEM)
        aim(&k->l, room, v, at, some_target(k));
}

/* Some item that is there begins to lead to the new one. */
static void link_made(making *k, const made *m)
{
    world *w = k->l.w;
    int i = (int)random_below(&w->random, OBJECTS_MAX);
    view *v = &k->l.c->picture.of[i];
    if (v->marks && w->objects[i].kind == ITEM && v->marks[0] & IS_POINTER)
        aim(&k->l, &w->objects[i], v, 0, k->n->memory + m->at);
}

static void check_made(const making *k, const made *m, const unsigned char *memory)
{
    CHECK_PTR(memory, haul_device_pointer(k->l.c->shipment, k->n->memory + m->at));
    for (size_t i = 0; i < m->bytes; i++)
        CHECK_EQ(memory[i], 0);
}

/* One more, if it fits: where a refusal leaves `used`, it stays. */
static void make_one(making *k)
{
    random_source *r = &k->l.w->random;
    const size_t granule = HAUL_ARENA_GRANULE, capacity = k->n->capacity;
    haul_nursery *nursery = haul_device_pointer(k->l.c->shipment, k->n->here);
    made m = { random_one_in(r, 3) ? ARRAY : ITEM, k->t->used, k->stamp.bytes };
    unsigned char *memory;
    int fits;
    if (m.kind == ARRAY)
        m.bytes = random_below(r, random_one_in(r, 8) ? capacity + 100 : 100);
    memory = m.kind == ITEM ? haul_nursery_new(nursery, &k->stamp)
                            : haul_nursery_allocate(nursery, m.bytes);
    fits = m.bytes > 0 && m.bytes <= capacity && m.at <= capacity;
    if (fits)
        k->t->used += (m.bytes + granule - 1) / granule * granule;
    memcpy(k->l.c->picture.of[k->n->head].image + offsetof(haul_nursery, used), &k->t->used,
           sizeof k->t->used);
    if (!fits || k->t->used > capacity) {
        CHECK_PTR(memory, NULL);
        return;
    }
    check_made(k, &m, memory);
    fill_made(k, &m, m.at - k->n->used);
    link_made(k, &m);
    k->t->made[k->t->count++] = m;
}

static void make(void *argument)
{
    making *k = argument;
    size_t wanted = 1 + random_below(&k->l.w->random, 4);
    for (; wanted > 0 && k->t->count < MADE_MAX; wanted--)
        make_one(k);
}

void cargo_make(world *w, cargo *c, int n)
{
    making k = { { w, c, -1, 0 }, &c->nests[n], &w->arenas[c->arena].nurseries[n], { 0, 0 } };
    CHECK_STATUS(haul_device_layout_of(w->items->type, &k.stamp), HAUL_OK);
    CHECK_EQ(k.stamp.slots, item_pointers(w->items));
    CHECK_EQ(k.stamp.bytes, w->items->bytes);
    CHECK_STATUS(haul_host_launch(w->device[c->device], make, &k), HAUL_OK);
}
