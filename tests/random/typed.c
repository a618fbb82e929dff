/* A graph in a typed arena: object by object, the largest first; smaller ones lie in them. Types
 * that typed allocation refuses, because their fields depend on the object, are allocated by their
 * size, and the arena is then discovered.
 */
#include "building.h"

#include <stdio.h>
#include <string.h>

#include "haul/host.h"
#include "support/types.h"
#include "haul/experimental.h"

/* ---- Which pieces ---- */

static void add_regions(building *b)
{
    const graph *g = b->g;
    for (unsigned t = 0; t < g->model->type_count; t++) {
        const model_type *type = &g->model->type[t];
        size_t upper = type->upper > type->true_upper ? type->upper : type->true_upper;
        for (size_t i = 0; i < g->typed[t].count; i++) {
            const graph_region *r = &g->typed[t].at[i];
            if (type->sizing != SIZE_FIXED)
                building_add(b, r->address, r->element_bytes, 1, (int)t);
            else if (r->count != 0 && upper != 0)
                building_add(b, r->address, (r->count - 1) * type->extent + upper, r->count,
                             (int)t);
        }
    }
    for (size_t i = 0; i < g->rows.count; i++)
        building_add(b, g->rows.at[i].address, g->rows.at[i].count * sizeof(void *),
                     g->rows.at[i].count, POINTERS);
    for (size_t i = 0; i < g->plain.count; i++)
        building_add(b, g->plain.at[i].address, g->plain.at[i].count * g->plain.at[i].element_bytes,
                     1, PLAIN);
}

typedef int test_of(const model_type *t, const model_type *wanted);

/* Does it hold for a type, or for one that it is made of? */
static int holds_for(const model *m, int type, test_of *test, const model_type *wanted)
{
    int waiting[MODEL_TYPES], count = 0, seen[MODEL_TYPES] = { 0 };
    waiting[count++] = type;
    seen[type] = 1;
    while (count != 0) {
        const model_type *t = &m->type[waiting[--count]];
        if (test(t, wanted))
            return 1;
        if (t->form != FORM_STRUCT && t->old >= 0 && !seen[t->old]) {
            seen[t->old] = 1;
            waiting[count++] = t->old;
        }
        for (unsigned i = 0; i < t->field_count; i++) {
            const model_field *f = &t->field[i];
            if (f->kind == FIELD_EMBED && f->target >= 0 && !seen[f->target]) {
                seen[f->target] = 1;
                waiting[count++] = f->target;
            }
        }
    }
    return 0;
}

static int is_it(const model_type *t, const model_type *wanted)
{
    return t == wanted;
}

static int has_rules(const model_type *t, const model_type *unused)
{
    (void)unused;
    for (unsigned i = 0; i < t->field_count; i++)
        if (t->field[i].rule.is_there ||
            (t->field[i].kind == FIELD_TAIL && t->field[i].target >= 0))
            return 1;
    return 0;
}

static size_t alignment_of(const building *b, const piece *p)
{
    const model_type *t = p->type >= 0 ? &b->g->model->type[p->type] : NULL;
    return t == NULL ? 1 : t->declared > t->alignment ? t->declared : t->alignment;
}

/* Of two types at one place the outer one knows what its row says of the inner one. */
static int knows(const building *b, const piece *whole, const piece *part)
{
    return whole->type < 0 || part->type < 0 || part->first != whole->first ||
           part->end != whole->end ||
           holds_for(b->g->model, whole->type, is_it, &b->g->model->type[part->type]);
}

/* Can the first one's description serve for the second, which lies in it? Objects lie in others as
 * parts of them. */
static int speaks_for(const building *b, const piece *whole, const piece *part)
{
    if (whole->type == JOINED)
        return part->end <= whole->end;
    return part->end <= whole->end && alignment_of(b, part) <= alignment_of(b, whole) &&
           knows(b, whole, part) &&
           (whole->type >= 0 || part->type == PLAIN ||
            (whole->type == POINTERS && part->type == POINTERS));
}

static void join(building *b, piece *whole, const piece *part)
{
    whole->end = part->end > whole->end ? part->end : whole->end;
    whole->type = JOINED;
    b->is_discovered = 1;
}

/* Leaves the largest. */
static void keep_largest(building *b)
{
    size_t left = 0;
    building_sort(b);
    for (size_t i = 0; i < b->piece_count; i++) {
        const piece *p = &b->pieces[i];
        piece *last = left != 0 ? &b->pieces[left - 1] : NULL;
        if (p->first == p->end)
            continue;
        if (last == NULL || p->first >= last->end)
            b->pieces[left++] = *p;
        else if (!speaks_for(b, last, p))
            join(b, last, p);
    }
    b->piece_count = left;
}

static void join_tagged(building *b)
{
    for (size_t i = 0; i < b->host->slot_count; i++) {
        const reference_slot *s = &b->host->slots[i];
        piece *p = s->tags != 0 ? building_piece(b, (uintptr_t)s->target) : NULL;
        if (s->tags != 0 && p == NULL)
            p = building_piece(b, (uintptr_t)s->target - 1);
        if (p != NULL)
            join(b, p, p);
    }
}

/* Where nothing stands, a pointer must still lead somewhere: null could mean something else. */
static void add_empty(building *b)
{
    for (size_t i = 0; i < b->host->slot_count; i++) {
        const reference_slot *s = &b->host->slots[i];
        uintptr_t target = (uintptr_t)s->target;
        if ((s->kind != SLOT_EMPTY && s->kind != SLOT_RULED) || target == 0 ||
            building_piece(b, target) || building_piece(b, target - 1))
            continue;
        building_add(b, s->target, 1, 1, PLAIN);
        building_sort(b);
    }
}

/* Is every described byte in a piece? */
static int is_covered(const building *b)
{
    for (size_t i = 0; i < b->host->all_count; i++)
        for (uintptr_t at = b->host->all[i].host, stop = at + b->host->all[i].bytes; at < stop;) {
            const piece *p = building_piece(b, at);
            if (p == NULL)
                return 0;
            at = p->end;
        }
    return 1;
}

/* ---- Allocation ---- */

static void *new_objects(building *b, const piece *p)
{
    const model_type *t = &b->g->model->type[p->type];
    size_t bytes = p->end - p->first;
    if (t->sizing != SIZE_FIXED && bytes > t->extent)
        return haul_arena_new_tail(b->arena, t->handle, bytes - t->extent);
    return haul_arena_new(b->arena, t->handle, p->count);
}

static void *allocate(building *b, const piece *p)
{
    if (p->type == PLAIN)
        return haul_arena_bytes(b->arena, p->end - p->first, 0);
    return p->type == POINTERS ? haul_arena_new(b->arena, b->pointer_type, p->count)
                               : new_objects(b, p);
}

/* What is allocated and released leaves nothing behind. */
static int allocate_for_nothing(building *b, const piece *p)
{
    size_t bytes = p->type == PLAIN      ? p->end - p->first
                   : p->type == POINTERS ? p->count * sizeof(void *)
                                         : 0;
    void *memory = bytes != 0 && chance(b->c, 1, 8) ? allocate(b, p) : NULL;
    if (memory != NULL && haul_arena_release(b->arena, memory, bytes) != HAUL_OK)
        return building_fail(b, "release in an arena: %s", haul_arena_error(b->arena)->text);
    return 1;
}

static int refuses_as_type(building *b, const piece *p)
{
    haul_arena_info before, after;
    haul_arena_get_info(b->arena, &before);
    if (new_objects(b, p) != NULL || haul_arena_error(b->arena)->status != HAUL_ERROR_UNSUPPORTED)
        return building_fail(b, "typed allocation of what was refused: %s",
                             haul_arena_error(b->arena)->text);
    haul_arena_get_info(b->arena, &after);
    return (before.used_bytes == after.used_bytes && before.allocations == after.allocations) ||
           building_fail(b, "typed allocation that was refused has taken something");
}

/* By its size, where its type is refused as it should be. */
static int allocate_by_size(building *b, piece *p)
{
    if (haul_arena_error(b->arena)->status != HAUL_ERROR_UNSUPPORTED || p->type < 0 ||
        !holds_for(b->g->model, p->type, has_rules, NULL))
        return building_fail(b, "typed allocation: %s", haul_arena_error(b->arena)->text);
    b->is_discovered = 1;
    return refuses_as_type(b, p) && building_move(b, p, building_alignment(b->g->model));
}

static int move_pieces(building *b)
{
    for (size_t i = 0; i < b->piece_count; i++) {
        piece *p = &b->pieces[i];
        if (!b->is_careful && !allocate_for_nothing(b, p))
            return 0;
        if (p->type == JOINED || (p->type == PLAIN && chance(b->c, 1, 4))) {
            if (!building_move(
                    b, p, p->type == JOINED ? building_alignment(b->g->model) : 2 * sizeof(void *)))
                return 0;
        } else {
            p->moved = (uintptr_t)allocate(b, p);
        }
        if (p->moved == 0 && !allocate_by_size(b, p))
            return 0;
        if (b->is_careful && haul_arena_bytes(b->arena, 1, 0) == NULL)
            return building_fail(b, "an arena has no room: %s", haul_arena_error(b->arena)->text);
    }
    return 1;
}

/* Rules read bytes that need not be described: in front of what a pointer leads to, in skipped
 * fields. */
static void copy_what_rules_read(building *b)
{
    for (size_t i = 0; i < b->g->frozen.count; i++) {
        const graph_region *r = &b->g->frozen.at[i];
        for (size_t k = 0; k < r->count; k++) {
            uintptr_t at = (uintptr_t)r->address + k, copy;
            if (building_piece(b, at) == NULL || reference_find(b->host, at, &copy))
                continue;
            *(unsigned char *)building_moved(b, r->address + k) = r->address[k];
            b->has_loose_bytes = 1;
        }
    }
}

typedef struct pointer_word {
    void *to;
} pointer_word;

static int make_pointer_type(building *b)
{
    static const haul_field fields[] = { HAUL_BYTES(pointer_word, to, HAUL_FIXED(1)) };
    return (type_make("pointer", sizeof(pointer_word), fields, 1, &b->pointer_type) == HAUL_OK &&
            haul_type_commit(b->pointer_type) == HAUL_OK) ||
           building_fail(b, "a type of pointers");
}

/* ---- Where they lie ---- */

/* Tags that were free in an address may be taken where its piece lies now. */
static int have_room_for_tags(const building *b)
{
    for (size_t i = 0; i < b->host->slot_count; i++) {
        const reference_slot *s = &b->host->slots[i];
        if (s->tags != 0 && s->kind != SLOT_KEPT &&
            ((building_word(b, s) ^ (uintptr_t)s->value) & s->tags) != 0)
            return 0;
    }
    return 1;
}

/* A callback that knows the end of a piece, as that of an array of nothing, must not find another
 * piece there. */
static int ends_are_clear(const building *b)
{
    for (size_t i = 0; i < b->piece_count; i++) {
        const piece *p = &b->pieces[i];
        if (b->g->oracle.count_of(&b->g->oracle, (const void *)p->end) < 0)
            continue;
        for (size_t k = 0; k < b->piece_count; k++)
            if (b->pieces[k].moved == p->moved + (p->end - p->first))
                return 0;
    }
    return 1;
}

/* A typed arena knows pointers by their values alone: one with a bias may seem to lead out. */
static int seems_to_lead_out(const building *b)
{
    haul_arena_info s;
    haul_arena_get_info(b->arena, &s);
    for (size_t i = 0; i < b->host->slot_count; i++) {
        uintptr_t value = building_word(b, &b->host->slots[i]);
        if (b->host->slots[i].kind != SLOT_DISTANCE && value != 0 &&
            value - (uintptr_t)s.base > s.used_bytes)
            return 1;
    }
    return 0;
}

/* ---- The whole ---- */

/* A pointer beside the graph, to a place of nobody. */
static int add_stray(building *b)
{
    b->stray = NULL;
    if (!chance(b->c, 1, 2))
        return 1;
    b->stray = haul_arena_new(b->arena, b->pointer_type, 1);
    if (b->stray == NULL)
        return building_fail(b, "an arena has no room: %s", haul_arena_error(b->arena)->text);
    *b->stray = b->g->around->stranger + choose(b->c, STATIC_BYTES);
    return 1;
}

static int refuses_the_stray(building *b)
{
    const haul_error *error = haul_context_error(haul_device_context(b->device));
    haul_status status =
        haul_ship_from(b->device, haul_from_arena(b->arena), NULL, NULL, &b->shipment);
    char path[64];
    snprintf(path, sizeof path, "arena+%zu", (size_t)((unsigned char *)b->stray - b->base));
    return (status == HAUL_ERROR_GRAPH && b->shipment == NULL && strcmp(error->path, path) == 0) ||
           building_fail(b, "ship of an arena with a pointer that leads out, at %s: %s", path,
                         haul_status_name(status));
}

typedef struct stray_there {
    const void *at;
    void *value;
} stray_there;

static void read_stray(void *argument)
{
    stray_there *s = argument;
    s->value = graph_read_pointer(s->at);
}

static int stray_is(building *b, const void *value)
{
    stray_there s = { haul_device_pointer(b->shipment, b->stray), NULL };
    if (haul_host_launch(b->device, read_stray, &s) != HAUL_OK)
        return building_fail(b, "launch");
    return s.value == value ||
           building_fail(b, "a pointer that leads out of an arena is %p there, not %p", s.value,
                         value);
}

static int has_rule_for_outside(building *b, haul_outside outside)
{
    return b->stray == NULL || stray_is(b, outside == HAUL_OUTSIDE_NULL ? NULL : *b->stray);
}

/* Is the refused word data, and by chance an address in the arena? A word of 32 bits may be. */
static int is_refused_by_chance(const building *b)
{
    const haul_error *error = haul_context_error(haul_device_context(b->device));
    size_t offset;
    if (sizeof(void *) > 4 || error->status != HAUL_ERROR_GRAPH ||
        strncmp(error->text, "plain bytes hold ", strlen("plain bytes hold ")) != 0 ||
        sscanf(error->path, "arena+%zu", &offset) != 1)
        return 0;
    for (size_t i = 0; i < b->host->slot_count; i++)
        if (building_moved(b, b->host->slots[i].at) == (uintptr_t)b->base + offset)
            return 0;
    return 1;
}

/* Loose bytes can be parts of pointers that nothing leads to, and such pointers lead anywhere. */
static int ships_typed(building *b)
{
    haul_ship_options options;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.outside =
        b->has_loose_bytes ? (haul_outside)(1 + choose(b->c, 2)) : (haul_outside)choose(b->c, 3);
    if (b->stray != NULL && options.outside == HAUL_OUTSIDE_REFUSE) {
        if (!refuses_the_stray(b) || !refuses_the_stray(b) || !building_holds_the_graph(b))
            return 0;
        b->w->arenas_refused++;
        options.outside = HAUL_OUTSIDE_NULL;
    }
    status = haul_ship_from(b->device, haul_from_arena(b->arena), &options, NULL, &b->shipment);
    if (status != HAUL_OK && is_refused_by_chance(b)) {
        b->w->arenas_refused++;
        return building_holds_the_graph(b);
    }
    if (status != HAUL_OK)
        return building_fail(b, "ship of a typed arena: %s", haul_status_name(status));
    if (chance(b->c, 1, 3) && haul_return_directly(b->shipment) != HAUL_OK)
        return building_fail(b, "a direct return is refused");
    return has_rule_for_outside(b, options.outside);
}

static int lay_out(building *b)
{
    add_regions(b);
    keep_largest(b);
    add_empty(b);
    if (b->is_careful)
        join_tagged(b);
    if (!is_covered(b))
        return building_fail(b, "a byte that is described lies in nothing that was drawn");
    return make_pointer_type(b) && move_pieces(b) && add_stray(b);
}

static int lies_well(const building *b)
{
    return have_room_for_tags(b) && ends_are_clear(b);
}

static int start_over(building *b)
{
    haul_arena_free(&b->arena);
    haul_type_free(&b->pointer_type);
    b->piece_count = 0;
    b->is_discovered = 0;
    b->is_careful = 1;
    return building_arena(b);
}

/* Few graphs cannot be built of their objects side by side: where a pointer has tags in bits that
 * its address needs in the arena; where a callback asks for what is at the end of one object, and
 * another begins there. Such are built once more, with care. */
int building_typed(building *b)
{
    if (!lay_out(b) || (!lies_well(b) && (!start_over(b) || !lay_out(b))))
        return 0;
    if (!lies_well(b))
        return building_fail(b, "no way to build a graph of its objects");
    b->is_discovered |= seems_to_lead_out(b);
    if (b->is_discovered && !building_root(b))
        return 0;
    copy_what_rules_read(b);
    building_copy_data(b);
    building_move_words(b);
    *(b->is_discovered ? &b->w->mixed_arenas : &b->w->typed_arenas) += 1;
    if (!building_look(b))
        return 0;
    if (b->is_discovered)
        return building_ship_discovered(b) && building_travels(b);
    return ships_typed(b) && (b->shipment == NULL || building_travels(b));
}
