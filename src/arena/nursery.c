/* Nurseries: objects that a device has made come into the arena.
 *
 *     | struct | bits, 64 a word | memory: given out ... used | zeros ... capacity |
 *
 * Kernels move `used` and set bits. Both come back as bytes of the arena, and neither is trusted.
 * The host itself knows the place and size of a nursery and how much of it is used; of the host's
 * struct it reads nothing. A device's `used` counts only if it is larger, and is cut at the
 * capacity. A word with a pointer bit is checked as any returned pointer. So whatever the bits say,
 * the arena knows all its pointers, and they lead into it.
 *
 * Head and bits never come back as bytes. Data comes back alone or with pointers. If it comes
 * alone, objects that the host has not seen would lack their pointers, so the memory behind the
 * host's `used` stays as it is on the host. In an arena with a discovered graph it always does.
 */
#include "arena/allocate.h"
#include "arena/nursery.h"
#include "arena/pointers.h"
#include "arena/staying.h"
#include "haul/experimental.h"

static haul_nursery *nursery_at(const haul_arena *arena, const haul__nursery_place *place)
{
    return (haul_nursery *)(void *)(arena->room.base + place->at);
}

static void write_head(const haul_arena *arena, const haul__nursery_place *place)
{
    haul_nursery *nursery = nursery_at(arena, place);
    nursery->memory = arena->room.base + place->memory;
    nursery->slots = (uint32_t *)(nursery + 1);
    nursery->capacity = place->capacity;
    nursery->used = place->used;
}

/* ---- Making one. */

haul_nursery *haul_arena_new_nursery(haul_arena *arena, size_t bytes)
{
    size_t capacity = bytes <= SIZE_MAX / 2
                          ? (bytes + HAUL_ARENA_GRANULE - 1) & ~(HAUL_ARENA_GRANULE - 1)
                          : SIZE_MAX / 2;
    size_t table = ((capacity / HAUL__WORD / 32 + 3) * sizeof(uint32_t) + HAUL_ARENA_GRANULE - 1) &
                   ~(HAUL_ARENA_GRANULE - 1);
    size_t all = capacity + sizeof(haul_nursery) + table, at; /* no overflow: see capacity */
    haul_nursery *nursery;
    haul__nursery_place *place;
    if (!haul__arena_is_valid(arena))
        return NULL;
    /* Room in the list comes before the allocation: a failure after the reuse of a released block
     * would leave contents stale. */
    if (!haul__grow(&arena->context->allocator, &arena->nurseries, &arena->nursery_capacity,
                    arena->nursery_count + 1, sizeof *arena->nurseries)) {
        haul__fail(&arena->error, HAUL_ERROR_MEMORY, "no memory to note a nursery");
        return NULL;
    }
    nursery = haul_arena_bytes(arena, bytes ? all : 0, 0);
    if (!nursery)
        return NULL;
    at = (size_t)((unsigned char *)nursery - arena->room.base);
    place = &arena->nurseries[arena->nursery_count++];
    place->at = at;
    place->memory = at + all - capacity;
    place->capacity = capacity;
    place->used = 0;
    write_head(arena, &arena->nurseries[arena->nursery_count - 1]);
    haul__set_slot(arena, at + offsetof(haul_nursery, memory));
    haul__set_slot(arena, at + offsetof(haul_nursery, slots));
    return nursery;
}

/* ---- Ranges that stay. */

void haul__nurseries_repair(const haul__contents *c)
{
    size_t i;
    for (i = 0; i < c->arena->nursery_count; i++)
        if (c->arena->nurseries[i].at < c->bytes)
            write_head(c->arena, &c->arena->nurseries[i]);
}

int haul__nurseries_add_staying(haul__contents *c)
{
    size_t i;
    haul__nurseries_repair(c);
    for (i = 0; i < c->arena->nursery_count; i++) {
        const haul__nursery_place *place = &c->arena->nurseries[i];
        if (!haul__staying_add(c, place->at, place->memory - place->at) ||
            !haul__staying_add(c, place->memory + place->used, place->capacity - place->used))
            return 0;
    }
    return 1;
}

/* The range at the end of a nursery that stays; NULL: the nursery is full. */
static haul__staying *staying_end(const haul__contents *c, const haul__nursery_place *place)
{
    const size_t end = place->memory + place->capacity, i = haul__first_staying(c, end - 1);
    if (i == c->staying_count || c->staying[i].at < place->memory ||
        c->staying[i].at + c->staying[i].bytes != end)
        return NULL;
    return &c->staying[i];
}

void haul__nurseries_settle(haul__contents *c)
{
    size_t i;
    for (i = 0; i < c->arena->nursery_count && !c->own; i++) {
        const haul__nursery_place *place = &c->arena->nurseries[i];
        haul__staying *range = place->at < c->bytes ? staying_end(c, place) : NULL;
        if (range) {
            range->at = place->memory + place->used;
            range->bytes = place->capacity - place->used;
        }
    }
}

int haul__has_nurseries(const haul__contents *c)
{
    size_t i;
    for (i = 0; i < c->arena->nursery_count && !c->own; i++)
        if (c->arena->nurseries[i].at < c->bytes)
            return 1;
    return 0;
}

/* ---- Back. */

/* A nursery as the device has left it. */
typedef struct grown {
    haul__nursery_place *place;
    size_t memory, from, to; /* offset of its memory in the arena; the new part of its memory */
    const unsigned char *slots;
} grown;

/* Its used bytes are taken in whole granules and up to the capacity, whatever the head says. 0: the
 * nursery is younger than the contents, or the graph is a discovered one. */
static int look(const haul__contents *c, size_t i, const unsigned char *memory, grown *g)
{
    haul__nursery_place *place = &c->arena->nurseries[i];
    haul_nursery head;
    if (place->at >= c->bytes || c->own)
        return 0;
    memcpy(&head, memory + place->at, sizeof head);
    g->place = place;
    g->memory = place->memory;
    g->slots = memory + place->at + sizeof head;
    g->from = place->used;
    g->to = place->capacity;
    if (head.used < place->capacity)
        g->to = (head.used + HAUL_ARENA_GRANULE - 1) & ~(HAUL_ARENA_GRANULE - 1);
    return 1;
}

static int is_slot(const grown *g, size_t word)
{
    uint64_t bits;
    memcpy(&bits, g->slots + word / 64 * sizeof bits, sizeof bits);
    return (int)(bits >> (word % 64) & 1);
}

haul_status haul__nurseries_check(const haul__contents *c, const unsigned char *memory,
                                  uint64_t device, haul_error *error)
{
    size_t i, at;
    grown g;
    for (i = 0; i < c->arena->nursery_count; i++) {
        const haul__staying *rest;
        if (!look(c, i, memory, &g))
            continue;
        rest = staying_end(c, g.place);
        if ((rest ? rest->at - g.memory : g.place->capacity) != g.from)
            return haul__fail(error, HAUL_ERROR_STALE,
                              "something has come into the nursery at byte %zu of the arena "
                              "since the shipment was sent: haul_update_device sends it again",
                              g.place->at);
        if (g.to < g.from)
            return haul__fail(
                error, HAUL_ERROR_GRAPH,
                "the device has made `used` of the nursery at byte %zu of the arena smaller",
                g.place->at);
        for (at = g.from; at < g.to; at += HAUL__WORD) {
            uintptr_t value;
            if (is_slot(&g, at / HAUL__WORD) &&
                !haul__word_back(c, haul__load_word(c->base + g.memory + at),
                                 haul__load_word(memory + g.memory + at), device, &value))
                return haul__fail(
                    error, HAUL_ERROR_GRAPH,
                    "the device has made an object, at byte %zu of the arena, with a pointer that "
                    "leads out of it",
                    g.memory + at);
        }
    }
    return HAUL_OK;
}

/* Brings in the new part, and the bits for it. */
static void scatter_one(haul__contents *c, const grown *g, const unsigned char *memory,
                        uint64_t device)
{
    haul_nursery *head = nursery_at(c->arena, g->place);
    size_t at;
    for (at = g->from; at < g->to; at += HAUL__WORD) {
        const size_t place = g->memory + at, word = at / HAUL__WORD;
        unsigned char *slots = (unsigned char *)(head + 1) + word / 64 * sizeof(uint64_t);
        uintptr_t value = haul__load_word(memory + place);
        uint64_t bits;
        memcpy(&bits, slots, sizeof bits);
        bits &= ~((uint64_t)1 << (word % 64));
        bits |= (uint64_t)is_slot(g, word) << (word % 64);
        memcpy(slots, &bits, sizeof bits);
        if (is_slot(g, word)) {
            haul__word_back(c, haul__load_word(c->base + place), value, device, &value);
            haul__set_slot(c->arena, place);
        }
        memcpy(c->base + place, &value, sizeof value);
    }
    g->place->used = head->used = g->to;
}

void haul__nurseries_scatter(haul__contents *c, const unsigned char *memory, uint64_t device)
{
    size_t i;
    grown g;
    for (i = 0; i < c->arena->nursery_count; i++)
        if (look(c, i, memory, &g) && g.to > g.from) {
            scatter_one(c, &g, memory, device);
            c->arena->grown++;
        }
    haul__nurseries_settle(c);
}
