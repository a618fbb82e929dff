/* Nurseries: what a device has made, brought into the arena.
 *
 *     | struct | bits, 32 a word | memory: given out ... used | zeros ... capacity |
 *
 * Kernels move `used` and set bits; both are in the arena and come back with it as bytes. None of it is believed: `used`
 * may only grow and is cut at the capacity, and where a bit says pointer, the word is checked as any that comes back.
 * Whatever the bits say then, the arena holds pointers only where it knows of them, and they lead into it.
 *
 * Data comes back alone, or with pointers. Alone, objects that the host has not seen would be without pointers: so what
 * lies behind the host's `used`, and the book-keeping before, is then left as it is on the host.
 */
#include "arena/arena.h"

#define WORD sizeof(void *)

static haul_nursery *nursery_at(const haul__contents *c, const haul__nursery_place *place)
{
    return (haul_nursery *)(void *)(c->base + place->at);
}

/* ---- Making one. */

static size_t table_bytes(size_t capacity)
{
    size_t bytes = (capacity / WORD / 32 + 3) * sizeof(uint32_t);
    return (bytes + HAUL_ARENA_GRANULE - 1) & ~(HAUL_ARENA_GRANULE - 1);
}

/* The bytes of all three parts; SIZE_MAX: more than there can be. */
static size_t all_bytes(size_t capacity)
{
    size_t bytes;
    if (haul__add_overflows(capacity, sizeof(haul_nursery) + table_bytes(capacity), &bytes))
        return SIZE_MAX;
    return bytes;
}

static int note(haul_arena *arena, size_t at, size_t memory)
{
    if (!haul__grow(&arena->context->allocator, (void **)&arena->nurseries, &arena->nursery_capacity,
                    arena->nursery_count + 1, sizeof *arena->nurseries))
        return 0;
    arena->nurseries[arena->nursery_count].at = at;
    arena->nurseries[arena->nursery_count++].memory = memory;
    return 1;
}

haul_nursery *haul_arena_new_nursery(haul_arena *arena, size_t bytes)
{
    size_t capacity = bytes <= SIZE_MAX / 2 ? (bytes + HAUL_ARENA_GRANULE - 1) & ~(HAUL_ARENA_GRANULE - 1) : SIZE_MAX / 2;
    size_t all = all_bytes(capacity), at;
    haul_nursery *nursery = haul_arena_allocate(arena, bytes ? all : 0);
    if (!nursery)
        return NULL;
    at = (size_t)((unsigned char *)nursery - arena->room.base);
    if (!note(arena, at, at + all - capacity)) {
        haul_arena_release(arena, nursery, all);
        haul__fail(&arena->error, HAUL_ERROR_MEMORY, "no memory to note a nursery");
        return NULL;
    }
    nursery->memory = (unsigned char *)nursery + (all - capacity);
    nursery->slots = (uint32_t *)(nursery + 1);
    nursery->capacity = capacity;
    haul__set_slot(arena, at + offsetof(haul_nursery, memory));
    haul__set_slot(arena, at + offsetof(haul_nursery, slots));
    return nursery;
}

void haul__nurseries_remove(haul_arena *arena, size_t first, size_t end)
{
    size_t i, left = 0;
    for (i = 0; i < arena->nursery_count; i++)
        if (arena->nurseries[i].at < first || arena->nurseries[i].at >= end)
            arena->nurseries[left++] = arena->nurseries[i];
    arena->nursery_count = left;
}

void haul__nurseries_free(haul_arena *arena)
{
    haul__release(&arena->context->allocator, arena->nurseries, arena->nursery_capacity * sizeof *arena->nurseries);
}

/* ---- What stays on the host when data comes back. */

int haul__nurseries_keep(haul__contents *c)
{
    size_t i;
    for (i = 0; i < c->arena->nursery_count; i++) {
        const haul__nursery_place *place = &c->arena->nurseries[i];
        const haul_nursery *nursery = nursery_at(c, place);
        size_t sizes = place->at + offsetof(haul_nursery, capacity);
        size_t used = nursery->used < nursery->capacity ? nursery->used : nursery->capacity;
        if (!haul__contents_keep(c, sizes, place->memory - sizes) ||
            !haul__contents_keep(c, place->memory + used, nursery->capacity - used))
            return 0;
    }
    return 1;
}

/* The range that is kept at the end of a nursery. */
static haul__kept_bytes *kept_end(const haul__contents *c, size_t end)
{
    size_t low = 0, high = c->kept_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (c->kept[middle].at + c->kept[middle].bytes <= end)
            low = middle;
        else
            high = middle;
    }
    return &c->kept[low];
}

/* ---- Back. */

/* One nursery as the device has left it. */
typedef struct grown {
    haul_nursery *here;
    size_t memory, from, to; /* offsets of its memory in the arena; in its memory: what is new */
    const unsigned char *slots;
} grown;

/* 0: it was made since, or in an arena whose pointers are discovered. */
static int look(const haul__contents *c, size_t i, const unsigned char *memory, grown *g)
{
    const haul__nursery_place *place = &c->arena->nurseries[i];
    haul_nursery there;
    if (place->at >= c->bytes || c->own)
        return 0;
    memcpy(&there, memory + place->at, sizeof there);
    g->here = nursery_at(c, place);
    g->memory = place->memory;
    g->slots = memory + place->at + sizeof there;
    g->from = g->here->used < g->here->capacity ? g->here->used : g->here->capacity;
    g->to = there.used < g->here->capacity ? there.used : g->here->capacity;
    g->to = (g->to + HAUL_ARENA_GRANULE - 1) & ~(HAUL_ARENA_GRANULE - 1);
    return 1;
}

static int is_slot(const grown *g, size_t word)
{
    uint32_t bits;
    memcpy(&bits, g->slots + word / 32 * sizeof bits, sizeof bits);
    return (int)(bits >> (word % 32) & 1);
}

haul_status haul__nurseries_check(const haul__contents *c, const unsigned char *memory, uint64_t device,
                                  haul_error *error)
{
    size_t i, at;
    grown g;
    for (i = 0; i < c->arena->nursery_count; i++) {
        if (!look(c, i, memory, &g))
            continue;
        if (g.to < g.from)
            return haul__fail(error, HAUL_ERROR_GRAPH, "the device has left a nursery with less in it than it had");
        for (at = g.from; at < g.to; at += WORD) {
            uintptr_t value;
            if (is_slot(&g, at / WORD) &&
                !haul__word_back(c, haul__load_word(c->base + g.memory + at), haul__load_word(memory + g.memory + at), device,
                                 &value))
                return haul__fail(error, HAUL_ERROR_GRAPH,
                                  "the device has made an object, at byte %zu of the arena, with a pointer that leads "
                                  "out of it",
                                  g.memory + at);
        }
    }
    return HAUL_OK;
}

static void scatter_one(haul__contents *c, const grown *g, const unsigned char *memory, uint64_t device)
{
    haul__kept_bytes *kept = kept_end(c, g->memory + g->here->capacity);
    size_t at;
    for (at = g->from; at < g->to; at += WORD) {
        size_t place = g->memory + at;
        uintptr_t value = haul__load_word(memory + place);
        if (is_slot(g, at / WORD)) {
            haul__word_back(c, haul__load_word(c->base + place), value, device, &value);
            haul__set_slot(c->arena, place);
        }
        memcpy(c->base + place, &value, sizeof value);
    }
    memcpy(g->here->slots, g->slots, g->memory - (size_t)((unsigned char *)g->here->slots - c->base));
    g->here->used = g->to;
    kept->at += g->to - g->from;
    kept->bytes -= g->to - g->from;
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
}
