/* Teams: what a context of several threads makes of a graph is what one thread makes of it, byte
 * for byte: plan, arena, bitmap, numbers, the device's copy, what comes back, errors and paths.
 *
 * Two contexts look at the same objects, so addresses and paths agree. Both stay warm from graph to
 * graph. Errors are those that need no memory but the graph's: the contexts trust each pointer.
 */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

#include "haul/host.h"
#include "map/found.h"
#include "must.h"
#include "pack/plan.h"
#include "support/inside.h"
#include "support/short_forms.h"

enum { LOOKED_UP = 64, FAULTS = 3, BASE = 1 << 20 };

typedef struct made {
    haul_context *context;
    haul_plan *plan;
    haul_plan_info info;
    haul_status planned, packed;
    haul_error error;
    unsigned char *arena, *memory;
    uint64_t *bitmap;
} made;

static int differ(trial *t, const char *what, const made *alone, const made *team)
{
    return trial_fail(t, "%u threads, %s: %s, %s \"%s\" %s; one thread: %s, %s \"%s\" %s",
                      t->world->threads, what, haul_status_name(team->planned),
                      haul_status_name(team->packed), team->error.path, team->error.text,
                      haul_status_name(alone->planned), haul_status_name(alone->packed),
                      alone->error.path, alone->error.text);
}

/* ---- Making and comparing ---- */

static haul_status create(const trial *t, haul_context *context, int is_ordered, haul_plan **plan)
{
    const haul_plan_options options = { .ordered = is_ordered };
    return haul_plan_create(context, haul_from_roots(t->g.roots, t->g.root_count), &options, plan);
}

static void pack(made *m)
{
    const size_t bytes = m->info.arena_bytes;
    memset(m->arena, 0xA5, bytes);
    m->packed = haul_plan_pack(m->plan, m->arena, bytes, BASE, m->bitmap);
    m->error = *haul_context_error(m->context);
}

static made make(const trial *t, haul_context *context, int is_ordered)
{
    made m;
    memset(&m, 0, sizeof m);
    m.context = context;
    m.planned = create(t, context, is_ordered, &m.plan);
    m.error = *haul_context_error(context);
    if (m.planned != HAUL_OK)
        return m;
    haul_plan_get_info(m.plan, &m.info);
    m.memory = must(malloc(m.info.arena_bytes + m.info.alignment));
    m.arena =
        m.memory + (m.info.alignment - (uintptr_t)m.memory % m.info.alignment) % m.info.alignment;
    m.bitmap = must(calloc(1, m.info.bitmap_bytes + 8));
    pack(&m);
    return m;
}

static void drop(made *m)
{
    haul_plan_free(&m->plan);
    free(m->memory);
    free(m->bitmap);
}

static int is_same_answer(const made *a, const made *b)
{
    if (a->planned != b->planned || a->packed != b->packed)
        return 0;
    return (a->planned == HAUL_OK && a->packed == HAUL_OK) ||
           (strcmp(a->error.path, b->error.path) == 0 &&
            strcmp(a->error.other_path, b->error.other_path) == 0 &&
            strcmp(a->error.text, b->error.text) == 0);
}

/* All that does not depend on the threads (haul/plan.h). */
static int is_same_info(const haul_plan_info *a, const haul_plan_info *b)
{
    return a->arena_bytes == b->arena_bytes && a->bitmap_bytes == b->bitmap_bytes &&
           a->alignment == b->alignment && a->objects == b->objects && a->pointers == b->pointers &&
           a->null_pointers == b->null_pointers && a->graph_bytes == b->graph_bytes;
}

static int differ_in_numbers(trial *t, const haul_plan_info *alone, const haul_plan_info *team)
{
    return trial_fail(t,
                      "%u threads: %zu objects, %zu bytes, an arena of %zu, %zu pointers, %zu of "
                      "them null; one thread: %zu, %zu, %zu, %zu, %zu",
                      t->world->threads, team->objects, team->graph_bytes, team->arena_bytes,
                      team->pointers, team->null_pointers, alone->objects, alone->graph_bytes,
                      alone->arena_bytes, alone->pointers, alone->null_pointers);
}

static int is_same_place(const made *alone, const made *team, uintptr_t at)
{
    size_t one = 0, other = 0;
    void *back = NULL;
    const haul_status status = haul_plan_offset(alone->plan, (const void *)at, &one);
    if (haul_plan_offset(team->plan, (const void *)at, &other) != status || one != other)
        return 0;
    return status != HAUL_OK || (haul_plan_address(alone->plan, one, &back) == HAUL_OK &&
                                 haul_plan_address(team->plan, one, &back) == HAUL_OK);
}

static int are_same_bytes(const made *alone, const made *team)
{
    return alone->planned != HAUL_OK || alone->packed != HAUL_OK ||
           (memcmp(alone->arena, team->arena, alone->info.arena_bytes) == 0 &&
            memcmp(alone->bitmap, team->bitmap, alone->info.bitmap_bytes) == 0);
}

static int agree(trial *t, const char *what, made *alone, made *team)
{
    if (!is_same_answer(alone, team))
        return differ(t, what, alone, team);
    if (alone->planned != HAUL_OK)
        return 1;
    haul_plan_get_info(alone->plan, &alone->info); /* null pointers are counted by the pack */
    haul_plan_get_info(team->plan, &team->info);
    if (!is_same_info(&alone->info, &team->info))
        return differ_in_numbers(t, &alone->info, &team->info);
    for (unsigned i = 0; i < LOOKED_UP && t->host.all_count != 0; i++) {
        const reference_range *r = &t->host.all[random_word(&t->c->filler) % t->host.all_count];
        if (!is_same_place(alone, team,
                           r->host + (uintptr_t)(random_word(&t->c->filler) % (r->bytes + 1))))
            return differ(t, "a byte has another place", alone, team);
    }
    return are_same_bytes(alone, team) || differ(t, "the arena has other bytes", alone, team);
}

/* ---- The way back ---- */

static unsigned char *take_source(const trial *t)
{
    size_t bytes = 0;
    unsigned char *copy, *at;
    for (size_t i = 0; i < t->g.block_count; i++)
        bytes += t->g.blocks[i].bytes;
    at = copy = must(malloc(bytes + 1));
    for (size_t i = 0; i < t->g.block_count; i++) {
        memcpy(at, t->g.blocks[i].memory, t->g.blocks[i].bytes);
        at += t->g.blocks[i].bytes;
    }
    return copy;
}

static int is_source(const trial *t, const unsigned char *copy)
{
    for (size_t i = 0; i < t->g.block_count; i++) {
        if (memcmp(copy, t->g.blocks[i].memory, t->g.blocks[i].bytes) != 0)
            return 0;
        copy += t->g.blocks[i].bytes;
    }
    return 1;
}

/* One thread's arena comes back by both plans. */
static int come_back(trial *t, made *alone, made *team, int lets_change)
{
    const size_t bytes = alone->info.arena_bytes;
    unsigned char *source;
    int good;
    alone->packed = haul_plan_unpack(alone->plan, alone->arena, bytes, lets_change);
    alone->error = *haul_context_error(alone->context);
    source = take_source(t);
    graph_restore(&t->g);
    team->packed = haul_plan_unpack(team->plan, alone->arena, bytes, lets_change);
    team->error = *haul_context_error(team->context);
    good = is_same_answer(alone, team) || differ(t, "unpack", alone, team);
    if (good && !is_source(t, source))
        good = differ(t, "unpack: other bytes came back", alone, team);
    graph_restore(&t->g);
    free(source);
    return good;
}

/* Everything new, and then one count that may not change. */
static int unpack_alike(trial *t, made *alone, made *team)
{
    size_t n = t->host.count_count, offset;
    fill(t->c, alone->arena, alone->info.arena_bytes);
    if (!come_back(t, alone, team, 1))
        return 0;
    memcpy(alone->arena, team->arena, alone->info.arena_bytes);
    if (n != 0) {
        const reference_count *k = &t->host.counts[(size_t)random_word(&t->c->filler) % n];
        if (haul_plan_offset(alone->plan, k->at, &offset) == HAUL_OK)
            graph_write(alone->arena + offset, k->bytes, k->smaller);
    }
    return come_back(t, alone, team, 0);
}

/* ---- Errors ---- */

typedef struct spoiled {
    unsigned char *at, old[8];
    size_t bytes;
    int is_limited;
} spoiled;

static void spoil(spoiled *s, unsigned char *at, size_t bytes, int64_t value)
{
    s->at = at;
    s->bytes = bytes;
    memcpy(s->old, at, bytes);
    graph_write(at, bytes, value);
}

/* A pointer where no object can lie, or null; an alias to memory that nobody owns. */
static void spoil_pointer(trial *t, const reference_slot *r, spoiled *s)
{
    static const int64_t wrong[] = { 16, 0, -64, 4095 };
    if (r->kind == SLOT_ALIAS)
        spoil(s, r->at, sizeof(void *), (int64_t)(intptr_t)(t->g.around->stranger + 64));
    else if (r->kind == SLOT_FOLLOWED)
        spoil(s, r->at, sizeof(void *), wrong[choose(t->c, 4)]);
}

/* `at`: a random number. */
static void draw_spoiled(trial *t, size_t at, size_t objects, spoiled *s)
{
    const reference *r = &t->host;
    memset(s, 0, sizeof *s);
    switch (choose(t->c, 4)) {
    case 0:
        s->is_limited = objects != 0;
        break;
    case 1: /* right, and stale for older plans */
        if (r->count_count != 0) {
            const reference_count *k = &r->counts[at % r->count_count];
            spoil(s, k->at, k->bytes, k->smaller);
        }
        break;
    case 2:
        if (r->read_count != 0 && r->reads[at % r->read_count].what == READ_SIZE)
            spoil(s, r->reads[at % r->read_count].at, r->reads[at % r->read_count].bytes, 0);
        break;
    default:
        if (r->slot_count != 0)
            spoil_pointer(t, &r->slots[at % r->slot_count], s);
    }
}

static void limit(const made *alone, const made *team, size_t objects)
{
    alone->context->options.max_objects = team->context->options.max_objects = objects;
}

/* The plans of the right graph see the change. */
static int pack_stale_alike(trial *t, made *alone, made *team)
{
    pack(alone);
    pack(team);
    t->world->stale += alone->packed != HAUL_OK;
    return is_same_answer(alone, team) || differ(t, "a stale pack", alone, team);
}

static int refuse_alike(trial *t, made *alone, made *team, int is_ordered)
{
    const size_t at = (size_t)random_word(&t->c->filler), objects = alone->info.objects;
    made one, other;
    spoiled s;
    int good;
    draw_spoiled(t, at, objects, &s);
    if (s.at == NULL && !s.is_limited)
        return 1;
    if (s.is_limited)
        limit(alone, team, at % objects + 1);
    one = make(t, alone->context, is_ordered);
    other = make(t, team->context, is_ordered);
    good = agree(t, "a wrong graph", &one, &other);
    t->world->refused += one.planned != HAUL_OK;
    limit(alone, team, SIZE_MAX);
    good = good && (s.at == NULL || pack_stale_alike(t, alone, team));
    if (s.at != NULL)
        memcpy(s.at, s.old, s.bytes);
    drop(&one);
    drop(&other);
    pack(alone);
    pack(team);
    return good && agree(t, "what is right again", alone, team);
}

/* ---- On a device ---- */

typedef struct sent {
    trial *t;
    unsigned char *packed; /* by one thread */
    haul_shipment_info info;
    size_t first_wrong;
} sent;

static void compare_arenas(void *argument)
{
    sent *s = argument;
    const unsigned char *there = (const unsigned char *)(uintptr_t)s->info.base;
    size_t i = 0;
    while (i < s->info.arena_bytes && there[i] == s->packed[i])
        i++;
    s->first_wrong = i;
}

static void fill_arena(void *argument)
{
    sent *s = argument;
    fill(s->t->c, s->packed, s->info.arena_bytes);
    memcpy((void *)(uintptr_t)s->info.base, s->packed, s->info.arena_bytes);
}

/* The device's copy is what one thread packs for its base. */
static int is_arena_of_one(trial *t, made *alone, sent *s, const char *what)
{
    const size_t bytes = s->info.arena_bytes;
    if (bytes != alone->info.arena_bytes ||
        haul_plan_pack(alone->plan, alone->arena, bytes, s->info.base, NULL) != HAUL_OK ||
        haul_host_launch(t->device, compare_arenas, s) != HAUL_OK)
        return trial_fail(t, "%u threads, %s: cannot be compared", t->world->threads, what);
    return s->first_wrong == bytes ||
           trial_fail(t, "%u threads, %s: byte %zu of the device's arena is not one thread's",
                      t->world->threads, what, s->first_wrong);
}

/* What one thread makes of the same results. */
static int returns_alike(trial *t, made *alone, haul_shipment *shipment, sent *s)
{
    haul_status status = haul_host_launch(t->device, fill_arena, s);
    unsigned char *source;
    int good = 1;
    if (status == HAUL_OK)
        status = haul_unmarshal(shipment);
    source = take_source(t);
    graph_restore(&t->g);
    if (status == HAUL_OK)
        status = haul_plan_unpack(alone->plan, alone->arena, alone->info.arena_bytes, 1);
    if (status != HAUL_OK || !is_source(t, source))
        good = trial_fail(t, "%u threads, unmarshal, %s: other bytes came back", t->world->threads,
                          haul_status_name(status));
    graph_restore(&t->g);
    free(source);
    return good;
}

static int ship_alike(trial *t, made *alone, int is_ordered)
{
    haul_ship_options options;
    haul_shipment *shipment = NULL;
    haul_status status;
    sent s;
    int good;
    memset(&options, 0, sizeof options);
    options.ordered = is_ordered;
    options.lock_source = chance(t->c, 1, 4);
    options.let_counts_change = 1;
    host_patches(t->device, (int)chance(t->c, 1, 3));
    status = haul_ship_from(t->device, haul_from_roots(t->g.roots, t->g.root_count), &options, NULL,
                            &shipment);
    if (status != HAUL_OK)
        return trial_fail(t, "%u threads, ship: %s", t->world->threads, haul_status_name(status));
    s.t = t;
    s.packed = alone->arena;
    haul_shipment_get_info(shipment, &s.info);
    good = is_arena_of_one(t, alone, &s, "ship") && returns_alike(t, alone, shipment, &s);
    if (good && haul_update_device(shipment, NULL, NULL) != HAUL_OK)
        good = trial_fail(t, "%u threads: refresh", t->world->threads);
    good = good && is_arena_of_one(t, alone, &s, "refresh");
    if (good && haul_reship(shipment, NULL) != HAUL_OK)
        good = trial_fail(t, "%u threads: reship", t->world->threads);
    if (good) {
        haul_shipment_get_info(shipment, &s.info);
        good = is_arena_of_one(t, alone, &s, "reship");
    }
    haul_shipment_free(&shipment);
    return good;
}

/* ---- The whole ---- */

int trial_teams(trial *t)
{
    const int is_checked = t->device == t->world->device[1];
    made alone, team;
    int is_ordered, good;
    if (t->world->threads == 0)
        return 1;
    is_ordered = chance(t->c, 1, 6);
    alone = make(t, haul_device_context(t->world->alone[is_checked]), is_ordered);
    team = make(t, t->context, is_ordered);
    good = agree(t, "plan and pack", &alone, &team);
    if (good && team.plan != NULL && haul__plan_found(team.plan)->course.walkers != HAUL__BY_ONE)
        t->world->shared++;
    if (good && alone.packed == HAUL_OK && alone.plan != NULL) {
        good = unpack_alike(t, &alone, &team);
        pack(&alone);
        pack(&team);
        for (unsigned i = 0; i < FAULTS && good; i++)
            good = refuse_alike(t, &alone, &team, is_ordered);
        good = good && ship_alike(t, &alone, is_ordered);
    }
    drop(&alone);
    drop(&team);
    return good && trial_source_is_unchanged(t, "teams");
}
