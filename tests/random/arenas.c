/* A graph is moved into an arena piece by piece: each piece lands somewhere else, and what the reference calls a
 * pointer or a distance is moved with it. What stands in the arena is then a graph of its own, which the reference
 * walks as it walks any other; a shipment of the arena must be its copy.
 *
 * Pieces of an untyped arena are the blocks of the graph, bytes of nobody included: headers in front of addresses,
 * arms of unions that do not hold, and whatever else a rule may read comes along. Pieces of a typed one are the
 * graph's largest objects and arrays; smaller ones lie in them. Types that typed allocation refuses, since their
 * rules look at the object, are allocated by their size, and the arena is then discovered, as if it were untyped.
 */
#include "arenas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/host.h"

/* Of the graph, and where it has been moved to. */
typedef struct piece {
    uintptr_t first, end, moved;
    size_t count; /* of elements */
    int type;     /* PLAIN, POINTERS, or a type of the model */
} piece;

enum { PLAIN = -1, POINTERS = -2 };

typedef struct building {
    graph view; /* the graph in the arena: first, so that its callbacks come back with its address */
    const graph *g;
    const reference *host;
    trial_world *w;
    choices *c;
    haul_device *device;
    haul_arena *arena;
    haul_shipment *shipment;
    reference there;      /* with the device's copy */
    unsigned char *base, *image, *expected;
    size_t used;
    int is_discovered, has_loose_bytes;
    piece *pieces;
    size_t piece_count, piece_capacity;
    void *root;           /* that leads to all of the graph's, with its type */
    haul_type *root_type, *pointer_type;
    char *message;
    size_t message_bytes;
} building;

static int fail(building *b, const char *format, ...)
{
    const haul_error *error = haul_device_error(b->device);
    size_t n;
    va_list arguments;
    if (b->message[0] != '\0')
        return 0;
    va_start(arguments, format);
    vsnprintf(b->message, b->message_bytes, format, arguments);
    va_end(arguments);
    n = strlen(b->message);
    if (error->status != HAUL_OK)
        snprintf(b->message + n, b->message_bytes - n, " [%s; path \"%s\"; %s]", haul_status_name(error->status),
                 error->path, error->text);
    return 0;
}

static void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return memory;
}

/* ---- Pieces ---- */

static void add_piece(building *b, const void *address, size_t bytes, size_t count, int type)
{
    if (b->piece_count == b->piece_capacity) {
        b->piece_capacity = b->piece_capacity != 0 ? 2 * b->piece_capacity : 64;
        b->pieces = must(realloc(b->pieces, b->piece_capacity * sizeof *b->pieces));
    }
    piece *p = &b->pieces[b->piece_count++];
    p->first = (uintptr_t)address;
    p->end = p->first + bytes;
    p->moved = 0;
    p->count = count;
    p->type = type;
}

/* What holds others comes before them. */
static int by_place(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->type < 0) - (y->type < 0);
}

static const piece *piece_of(const building *b, uintptr_t address)
{
    size_t low = 0, high = b->piece_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->pieces[middle].first <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 && address < b->pieces[low - 1].end ? &b->pieces[low - 1] : NULL;
}

/* An address in a piece, or the end of one; 0: neither. */
static uintptr_t moved(const building *b, const void *address)
{
    uintptr_t at = (uintptr_t)address;
    const piece *p = piece_of(b, at);
    if (p == NULL)
        p = piece_of(b, at - 1);
    return p != NULL ? p->moved + (at - p->first) : 0;
}

/* The graph's own table knows its own addresses. In the arena the end of one piece can be the start of the next. */
static int64_t count_of(const model_oracle *oracle, const void *target)
{
    const building *b = (const building *)(const void *)oracle;
    int64_t inside = -1, behind = -1;
    for (size_t i = 0; i < b->piece_count && inside < 0; i++) {
        const piece *p = &b->pieces[i];
        uintptr_t at = (uintptr_t)target - p->moved;
        if (at <= p->end - p->first)
            *(at < p->end - p->first ? &inside : &behind) =
                b->g->oracle.count_of(&b->g->oracle, (const void *)(p->first + at));
    }
    return inside >= 0 ? inside : behind;
}

static int is_static(const building *b, uintptr_t address)
{
    return address - (uintptr_t)b->g->around->copied < STATIC_COPIED;
}

static int is_there(const model_oracle *oracle, const void *address, size_t bytes)
{
    const building *b = (const building *)(const void *)oracle;
    uintptr_t at = (uintptr_t)address - (uintptr_t)b->base;
    return (at < b->used && bytes <= b->used - at) || surroundings_have(b->g->around, address, bytes) ||
           (is_static(b, (uintptr_t)address) && graph_has(b->g, address, bytes));
}

/* ---- Contents ---- */

/* Where the end of one piece is the start of another, what a word leads to is that start, but for an alias that leads
 * to the end of what is described. */
static uintptr_t moved_target(const building *b, const reference_slot *s)
{
    uintptr_t copy;
    if (s->kind != SLOT_ALIAS || reference_find(b->host, (uintptr_t)s->target, &copy))
        return moved(b, s->target);
    return moved(b, (const unsigned char *)s->target - 1) + 1;
}

/* What a word of the graph is in the arena. Where nothing stands behind it, it becomes null. */
static uintptr_t moved_word(const building *b, const reference_slot *s)
{
    uintptr_t to = moved_target(b, s), value = (uintptr_t)s->value;
    if (s->kind == SLOT_DISTANCE)
        return to != 0 ? to + s->lead - moved(b, s->at) : 0;
    if (value == 0 || s->kind == SLOT_KEPT)
        return value;
    return to != 0 ? to + (value - (uintptr_t)s->target) : 0;
}

static void move_words(const building *b)
{
    for (size_t i = 0; i < b->host->slot_count; i++) {
        const reference_slot *s = &b->host->slots[i];
        graph_write((void *)moved(b, s->at), s->bytes, (int64_t)(intptr_t)moved_word(b, s));
    }
}

static int is_moved_word(const building *b, const reference_slot *s)
{
    return model_read((const void *)moved(b, s->at), s->bytes, 1) == (int64_t)(intptr_t)moved_word(b, s);
}

static void copy_described(const building *b)
{
    for (size_t i = 0; i < b->host->data_count; i++) {
        const reference_range *r = &b->host->data[i];
        for (size_t k = 0; k < r->bytes; k++)
            *(unsigned char *)moved(b, (const void *)(r->host + k)) = *(const unsigned char *)(r->host + k);
    }
}

/* Is the arena what it was built to be? */
static int holds_the_graph(building *b)
{
    for (size_t i = 0; i < b->host->slot_count; i++)
        if (!is_moved_word(b, &b->host->slots[i]))
            return fail(b, "ship of an arena: the word at %p has changed", (void *)moved(b, b->host->slots[i].at));
    for (size_t i = 0; i < b->host->data_count; i++) {
        const reference_range *r = &b->host->data[i];
        for (size_t k = 0; k < r->bytes; k++)
            if (*(unsigned char *)moved(b, (const void *)(r->host + k)) != *(const unsigned char *)(r->host + k))
                return fail(b, "ship of an arena: data have changed");
    }
    return 1;
}

/* The graph in the arena, for whoever walks it, callbacks included. */
static void take_view(building *b)
{
    haul_arena_statistics s;
    b->view.oracle.count_of = count_of;
    b->view.oracle.is_there = is_there;
    for (size_t i = 0; i < b->g->root_count; i++)
        b->view.roots[i].address = (void *)moved(b, b->g->roots[i].address);
    haul_arena_get_statistics(b->arena, &s);
    b->base = s.base;
    b->used = s.used_bytes;
}

/* Is it the same graph there? */
static int look(building *b)
{
    reference here;
    int good;
    take_view(b);
    good = reference_walk(&b->view, NULL, &here);
    if (!good)
        fail(b, "the reference cannot walk the graph in an arena: %s", here.wrong);
    else if (here.bytes != b->host->bytes || here.slot_count != b->host->slot_count)
        good = fail(b, "the graph in an arena is another: %zu bytes, not %zu", here.bytes, b->host->bytes);
    reference_free(&here);
    return good;
}

/* The first shipment makes all bytes readable, those between allocations too. */
static void take_images(building *b)
{
    b->image = must(malloc(b->used));
    b->expected = must(malloc(b->used));
    memcpy(b->image, b->base, b->used);
}

static int is_as_it_was(building *b, const char *after)
{
    for (size_t i = 0; i < b->used; i++)
        if (b->base[i] != b->image[i])
            return fail(b, "%s: byte %zu of the arena has changed", after, i);
    return 1;
}

/* ---- On the device ---- */

static void walk_device(void *argument)
{
    building *b = argument;
    reference_place place;
    haul_shipment_statistics s;
    haul_shipment_get_statistics(b->shipment, &s);
    place.first = (uintptr_t)s.base;
    place.bytes = s.plan.arena_bytes;
    for (size_t i = 0; i < b->view.root_count; i++)
        place.roots[i] = (uintptr_t)s.base + ((uintptr_t)b->view.roots[i].address - (uintptr_t)b->base);
    reference_free(&b->there);
    reference_walk(&b->view, &place, &b->there);
}

static int device_agrees(building *b, const char *after)
{
    if (haul_host_launch(b->device, walk_device, b) != HAUL_OK)
        return fail(b, "%s: launch", after);
    if (b->there.wrong[0] != '\0')
        return fail(b, "%s: on the device: %s", after, b->there.wrong);
    return 1;
}

/* New data there; `expected` is what the arena is then to hold. */
static void change_device(void *argument)
{
    building *b = argument;
    memcpy(b->expected, b->image, b->used);
    for (size_t i = 0; i < b->there.data_count; i++)
        fill(b->c, (void *)b->there.data[i].copy, b->there.data[i].bytes);
    for (size_t i = 0; i < b->there.data_count; i++)
        memcpy(b->expected + (b->there.data[i].host - (uintptr_t)b->base), (const void *)b->there.data[i].copy,
               b->there.data[i].bytes);
}

static int brings_back(building *b, haul_status (*call)(haul_shipment *), const char *name)
{
    haul_status status = haul_host_launch(b->device, change_device, b);
    if (status == HAUL_OK)
        status = call(b->shipment);
    if (status != HAUL_OK)
        return fail(b, "%s of an arena: %s", name, haul_status_name(status));
    for (size_t i = 0; i < b->used; i++)
        if (b->base[i] != b->expected[i])
            return fail(b, "%s: byte %zu of the arena is not what came back", name, i);
    memcpy(b->base, b->image, b->used);
    status = haul_refresh(b->shipment);
    if (status != HAUL_OK)
        return fail(b, "refresh of an arena after %s: %s", name, haul_status_name(status));
    return device_agrees(b, "refresh of an arena");
}

/* ---- A pointer that the device has changed ---- */

typedef struct store {
    uintptr_t at, from;
} store;

static void do_store(void *argument)
{
    const store *s = argument;
    graph_write_pointer((void *)s->at, graph_read_pointer((const void *)s->from));
}

static const reference_slot *some_followed(building *b)
{
    size_t n = b->there.slot_count, start = n != 0 ? (size_t)random_word(&b->c->filler) % n : 0;
    for (size_t i = 0; i < n; i++)
        if (b->there.slots[(start + i) % n].kind == SLOT_FOLLOWED)
            return &b->there.slots[(start + i) % n];
    return NULL;
}

static int brings_back_a_pointer(building *b)
{
    const reference_slot *a = some_followed(b), *from = some_followed(b);
    haul_status status;
    store s;
    if (a == NULL)
        return 1;
    s.at = a->copy;
    s.from = from->copy;
    if (haul_host_launch(b->device, do_store, &s) != HAUL_OK)
        return fail(b, "launch");
    status = haul_unmarshal_pointers(b->shipment);
    if (status != HAUL_OK)
        return fail(b, "pointers of an arena: %s", haul_status_name(status));
    if (graph_read_pointer(a->at) != from->value)
        return fail(b, "pointers of an arena: %p came back, not %p", graph_read_pointer(a->at), from->value);
    graph_write_pointer(a->at, a->value);
    if (!is_as_it_was(b, "pointers of an arena"))
        return 0;
    return haul_refresh(b->shipment) == HAUL_OK || fail(b, "refresh of an arena");
}

/* ---- Elsewhere on the device ---- */

static int moves_on(building *b)
{
    haul_shipment *copy;
    haul_status status = haul_shipment_copy(b->shipment, b->device, &copy);
    if (status != HAUL_OK)
        return fail(b, "copy of an arena's shipment: %s", haul_status_name(status));
    haul_shipment_free(&b->shipment);
    b->shipment = copy;
    return device_agrees(b, "copy of an arena's shipment");
}

static int replans(building *b)
{
    haul_status status = haul_replan(b->shipment);
    if (status != HAUL_OK)
        return fail(b, "replan of an arena: %s", haul_status_name(status));
    return device_agrees(b, "replan of an arena");
}

static int travels(building *b)
{
    take_images(b);
    if (!holds_the_graph(b) || !device_agrees(b, "ship of an arena") || (chance(b->c, 1, 2) && !moves_on(b)) ||
        !brings_back(b, haul_unmarshal, "unmarshal") ||
        !brings_back(b, haul_unmarshal_pointers, "unmarshal with pointers") || !brings_back_a_pointer(b))
        return 0;
    if (chance(b->c, 1, 2) && (!moves_on(b) || !brings_back(b, haul_unmarshal, "unmarshal from a copy")))
        return 0;
    return !chance(b->c, 1, 4) || replans(b);
}

/* ---- Building ---- */

static int make_arena(building *b)
{
    haul_arena_options options;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.checked = chance(b->c, 1, 4);
    options.reuse = chance(b->c, 1, 4);
    status = haul_arena_create_for(b->device, &options, &b->arena);
    return status == HAUL_OK || fail(b, "making an arena: %s", haul_status_name(status));
}

static building begin(trial_world *w, choices *c, const graph *g, const reference *host, haul_device *device)
{
    building b;
    memset(&b, 0, sizeof b);
    b.view = *g;
    b.g = g;
    b.host = host;
    b.w = w;
    b.c = c;
    b.device = device;
    return b;
}

static void end(building *b)
{
    haul_shipment_free(&b->shipment);
    haul_arena_free(&b->arena);
    haul_type_free(&b->root_type);
    haul_type_free(&b->pointer_type);
    reference_free(&b->there);
    free(b->pieces);
    free(b->image);
    free(b->expected);
}

/* Callbacks see the arena's graph for so long. */
static void show(building *b)
{
    b->w->current = &b->view;
    b->w->oracle.roots[0] = b->root;
    b->w->oracle.root_count = 1;
}

static void show_original(building *b)
{
    b->w->current = b->g;
    memcpy(b->w->oracle.roots, b->g->oracle.roots, sizeof b->g->oracle.roots);
    b->w->oracle.root_count = b->g->oracle.root_count;
}

/* ---- Untyped ---- */

/* A piece that is allocated by its size keeps its addresses modulo so much. */
static int move_piece(building *b, piece *p, size_t alignment)
{
    size_t phase = p->first % alignment;
    unsigned char *memory = haul_arena_allocate_aligned(b->arena, p->end - p->first + phase, alignment);
    if (memory == NULL)
        return fail(b, "an arena has no room: %s", haul_arena_error(b->arena)->text);
    p->moved = (uintptr_t)memory + phase;
    return 1;
}

static size_t largest_alignment(const model *m)
{
    size_t most = 2 * sizeof(void *);
    for (unsigned i = 0; i < m->type_count; i++)
        most = m->type[i].alignment > most ? m->type[i].alignment : most;
    return most;
}

/* One struct that leads to all roots. */
static int make_root(building *b)
{
    haul_ref refs[4];
    void **root = haul_arena_allocate(b->arena, sizeof refs / sizeof *refs * sizeof *root);
    if (root == NULL)
        return fail(b, "an arena has no room: %s", haul_arena_error(b->arena)->text);
    memset(refs, 0, sizeof refs);
    for (size_t i = 0; i < b->g->root_count; i++) {
        haul_shape count = HAUL_FIXED(0);
        count.add = (int64_t)b->g->roots[i].count;
        refs[i].name = "root";
        refs[i].kind = HAUL_REF_POINTER;
        refs[i].offset = i * sizeof *root;
        refs[i].field_bytes = sizeof *root;
        refs[i].target = &b->g->model->type[b->g->root_type[i]].handle;
        refs[i].levels = 1;
        refs[i].shape[0] = count;
        root[i] = (void *)moved(b, b->g->roots[i].address);
    }
    b->root = root;
    return (haul_type_create("roots", 4 * sizeof *root, refs, b->g->root_count, &b->root_type) == HAUL_OK &&
            haul_type_commit(b->root_type) == HAUL_OK) ||
           fail(b, "a type of all roots: %s", haul_type_error(b->root_type)->text);
}

static haul_status discover(building *b)
{
    show(b);
    return haul_ship_arena_from(b->device, b->arena, b->root, b->root_type, 1, NULL, &b->shipment);
}

static int ships_discovered(building *b)
{
    haul_status status = discover(b);
    return status == HAUL_OK || fail(b, "ship of an arena that is discovered: %s", haul_status_name(status));
}

/* `with_statics` 0: static objects stay where they are. */
static int move_blocks(building *b, int with_statics)
{
    size_t alignment = largest_alignment(b->g->model);
    for (size_t i = 0; i < b->g->block_count; i++)
        add_piece(b, b->g->blocks[i].memory, b->g->blocks[i].bytes, 1, PLAIN);
    qsort(b->pieces, b->piece_count, sizeof *b->pieces, by_place);
    for (size_t i = 0; i < b->piece_count; i++) {
        piece *p = &b->pieces[i];
        if (!with_statics && is_static(b, p->first)) {
            p->moved = p->first;
            continue;
        }
        if (!move_piece(b, p, alignment))
            return 0;
        memcpy((void *)p->moved, (const void *)p->first, p->end - p->first);
    }
    return 1;
}

static int build_untyped(building *b)
{
    if (!move_blocks(b, 1) || !make_root(b))
        return 0;
    move_words(b);
    b->w->arenas++;
    return look(b) && ships_discovered(b) && travels(b);
}

/* ---- Graphs for no arena ---- */

static int has_statics(const building *b)
{
    for (size_t i = 0; i < b->host->all_count; i++)
        if (is_static(b, b->host->all[i].host))
            return 1;
    return 0;
}

/* Any graph can be built in an arena, but one with words that own what they lead to because it is static: elsewhere
 * they would own nothing, and the graph would be another. */
static int can_live_in_an_arena(const reference *host)
{
    for (size_t i = 0; i < host->slot_count; i++)
        if (host->slots[i].owns_statics)
            return 0;
    return 1;
}

/* Where a graph has static objects that stay where they are, a shipment of the arena does not hold all of it. (A
 * distance of 4 bytes cannot reach from the one to the other.) */
static int has_distances(const reference *host)
{
    for (size_t i = 0; i < host->slot_count; i++)
        if (host->slots[i].kind == SLOT_DISTANCE)
            return 1;
    return 0;
}

static void restore_statics(const building *b)
{
    for (size_t i = 0; i < b->g->block_count; i++)
        if (is_static(b, (uintptr_t)b->g->blocks[i].memory))
            memcpy(b->g->blocks[i].memory, b->g->blocks[i].shadow, b->g->blocks[i].bytes);
}

static int build_around_statics(building *b)
{
    const haul_error *error = haul_device_error(b->device);
    haul_status status;
    if (!has_statics(b) || has_distances(b->host))
        return 1;
    if (!move_blocks(b, 0) || !make_root(b))
        return 0;
    move_words(b);
    take_view(b);
    status = discover(b);
    restore_statics(b);
    b->w->arenas_refused++;
    if (status != HAUL_ERROR_GRAPH || error->path[0] == '\0' || !strstr(error->text, "leads out of the arena"))
        return fail(b, "ship of an arena with static objects outside: %s", haul_status_name(status));
    return 1;
}

/* ---- Typed ---- */

static void add_regions(building *b)
{
    const graph *g = b->g;
    for (unsigned t = 0; t < g->model->type_count; t++) {
        const model_type *type = &g->model->type[t];
        size_t upper = type->upper > type->true_upper ? type->upper : type->true_upper;
        for (size_t i = 0; i < g->typed[t].count; i++) {
            const graph_region *r = &g->typed[t].at[i];
            if (type->sizing != SIZE_FIXED)
                add_piece(b, r->address, r->element_bytes, 1, (int)t);
            else if (r->count != 0 && upper != 0)
                add_piece(b, r->address, (r->count - 1) * type->extent + upper, r->count, (int)t);
        }
    }
    for (size_t i = 0; i < g->rows.count; i++)
        add_piece(b, g->rows.at[i].address, g->rows.at[i].count * sizeof(void *), g->rows.at[i].count, POINTERS);
    for (size_t i = 0; i < g->plain.count; i++)
        add_piece(b, g->plain.at[i].address, g->plain.at[i].count * g->plain.at[i].element_bytes, 1, PLAIN);
}

/* Does it hold for a type, or for one that it is made of? */
static int holds_for(const model *m, int type, int (*test)(const model_type *))
{
    int waiting[MODEL_TYPES], count = 0, seen[MODEL_TYPES] = { 0 };
    waiting[count++] = type;
    seen[type] = 1;
    while (count != 0) {
        const model_type *t = &m->type[waiting[--count]];
        if (test(t))
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

static int has_rules(const model_type *t)
{
    for (unsigned i = 0; i < t->field_count; i++)
        if (t->field[i].rule.is_there || (t->field[i].kind == FIELD_TAIL && t->field[i].target >= 0))
            return 1;
    return 0;
}

static size_t alignment_of(const building *b, const piece *p)
{
    const model_type *t = p->type >= 0 ? &b->g->model->type[p->type] : NULL;
    return t == NULL ? 1 : t->declared > t->alignment ? t->declared : t->alignment;
}

/* Can the first one's description serve for the second, which lies in it? Objects lie in others as parts of them. */
static int speaks_for(const building *b, const piece *whole, const piece *part)
{
    return part->end <= whole->end && alignment_of(b, part) <= alignment_of(b, whole) &&
           (whole->type >= 0 || part->type == PLAIN || (whole->type == POINTERS && part->type == POINTERS));
}

/* Leaves the largest. 0: some do not speak for what lies in them. */
static int keep_largest(building *b)
{
    size_t left = 0;
    qsort(b->pieces, b->piece_count, sizeof *b->pieces, by_place);
    for (size_t i = 0; i < b->piece_count; i++) {
        const piece *p = &b->pieces[i], *last = left != 0 ? &b->pieces[left - 1] : NULL;
        if (p->first == p->end)
            continue;
        if (last == NULL || p->first >= last->end)
            b->pieces[left++] = *p;
        else if (!speaks_for(b, last, p))
            return 0;
    }
    b->piece_count = left;
    return 1;
}

/* Where nothing stands, a pointer must still lead somewhere: null could mean something else. */
static void add_empty(building *b)
{
    for (size_t i = 0; i < b->host->slot_count; i++) {
        const reference_slot *s = &b->host->slots[i];
        uintptr_t target = (uintptr_t)s->target;
        if ((s->kind != SLOT_EMPTY && s->kind != SLOT_RULED) || piece_of(b, target) || piece_of(b, target - 1))
            continue;
        add_piece(b, s->target, 1, 1, PLAIN);
        qsort(b->pieces, b->piece_count, sizeof *b->pieces, by_place);
    }
}

/* Is every described byte in a piece? */
static int is_covered(const building *b)
{
    for (size_t i = 0; i < b->host->all_count; i++)
        for (uintptr_t at = b->host->all[i].host, stop = at + b->host->all[i].bytes; at < stop;) {
            const piece *p = piece_of(b, at);
            if (p == NULL)
                return 0;
            at = p->end;
        }
    return 1;
}

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
        return haul_arena_allocate(b->arena, p->end - p->first);
    return p->type == POINTERS ? haul_arena_new(b->arena, b->pointer_type, p->count) : new_objects(b, p);
}

/* What is allocated and released leaves nothing behind. */
static int allocate_for_nothing(building *b, const piece *p)
{
    size_t bytes = p->type == PLAIN ? p->end - p->first : p->type == POINTERS ? p->count * sizeof(void *) : 0;
    void *memory = bytes != 0 && chance(b->c, 1, 8) ? allocate(b, p) : NULL;
    if (memory != NULL && haul_arena_release(b->arena, memory, bytes) != HAUL_OK)
        return fail(b, "release in an arena: %s", haul_arena_error(b->arena)->text);
    return 1;
}

/* By its size, where its type is refused as it should be. */
static int allocate_by_size(building *b, piece *p)
{
    if (haul_arena_error(b->arena)->status != HAUL_ERROR_UNSUPPORTED || p->type < 0 ||
        !holds_for(b->g->model, p->type, has_rules))
        return fail(b, "typed allocation: %s", haul_arena_error(b->arena)->text);
    b->is_discovered = 1;
    return move_piece(b, p, largest_alignment(b->g->model));
}

static int move_pieces(building *b)
{
    for (size_t i = 0; i < b->piece_count; i++) {
        piece *p = &b->pieces[i];
        if (!allocate_for_nothing(b, p))
            return 0;
        if (p->type == PLAIN && chance(b->c, 1, 4)) {
            if (!move_piece(b, p, 2 * sizeof(void *)))
                return 0;
        } else {
            p->moved = (uintptr_t)allocate(b, p);
        }
        if (p->moved == 0 && !allocate_by_size(b, p))
            return 0;
    }
    return 1;
}

/* Rules read bytes that need not be described: in front of what a pointer leads to, in skipped fields. */
static void copy_what_rules_read(building *b)
{
    for (size_t i = 0; i < b->g->frozen.count; i++) {
        const graph_region *r = &b->g->frozen.at[i];
        for (size_t k = 0; k < r->count; k++) {
            uintptr_t at = (uintptr_t)r->address + k, copy;
            if (piece_of(b, at) == NULL || reference_find(b->host, at, &copy))
                continue;
            *(unsigned char *)moved(b, r->address + k) = r->address[k];
            b->has_loose_bytes = 1;
        }
    }
}

typedef struct pointer_word {
    void *to;
} pointer_word;

static int make_pointer_type(building *b)
{
    static const haul_ref refs[] = { HAUL_BYTES(pointer_word, to, HAUL_FIXED(1)) };
    return (haul_type_create("pointer", sizeof(pointer_word), refs, 1, &b->pointer_type) == HAUL_OK &&
            haul_type_commit(b->pointer_type) == HAUL_OK) ||
           fail(b, "a type of pointers");
}

/* Tags that were free in an address may be taken where its piece lies now. */
static int have_room_for_tags(const building *b)
{
    for (size_t i = 0; i < b->host->slot_count; i++) {
        const reference_slot *s = &b->host->slots[i];
        if (s->tags != 0 && s->kind != SLOT_KEPT && ((moved_word(b, s) ^ (uintptr_t)s->value) & s->tags) != 0)
            return 0;
    }
    return 1;
}

/* A callback that knows the end of a piece, as that of an array of nothing, must not find another piece there. */
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
    haul_arena_statistics s;
    haul_arena_get_statistics(b->arena, &s);
    for (size_t i = 0; i < b->host->slot_count; i++) {
        uintptr_t value = moved_word(b, &b->host->slots[i]);
        if (b->host->slots[i].kind != SLOT_DISTANCE && value != 0 && value - (uintptr_t)s.base > s.used_bytes)
            return 1;
    }
    return 0;
}

/* Loose bytes can be parts of pointers that nothing leads to, and such pointers lead anywhere. */
static int ships_typed(building *b)
{
    haul_ship_arena_options options;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.outside = b->has_loose_bytes ? (haul_outside)(1 + choose(b->c, 2)) : (haul_outside)choose(b->c, 3);
    options.direct_return = chance(b->c, 1, 3);
    status = haul_ship_arena(b->device, b->arena, &options, &b->shipment);
    return status == HAUL_OK || fail(b, "ship of a typed arena: %s", haul_status_name(status));
}

/* Few graphs cannot be built of their objects: where these overlap in part; where a pointer has tags in bits that its
 * address needs in the arena; where a callback asks for what is at the end of one object, and another begins there.
 */
static int build_typed(building *b)
{
    add_regions(b);
    if (!keep_largest(b))
        return 1;
    add_empty(b);
    if (!is_covered(b))
        return 1;
    if (!make_pointer_type(b) || !move_pieces(b))
        return 0;
    if (!have_room_for_tags(b) || !ends_are_clear(b))
        return 1;
    b->is_discovered |= seems_to_lead_out(b);
    if (b->is_discovered && !make_root(b))
        return 0;
    copy_what_rules_read(b);
    copy_described(b);
    move_words(b);
    *(b->is_discovered ? &b->w->mixed_arenas : &b->w->typed_arenas) += 1;
    if (!look(b))
        return 0;
    return (b->is_discovered ? ships_discovered(b) : ships_typed(b)) && travels(b);
}

/* ---- Both ---- */

static int run(trial_world *w, choices *c, const graph *g, const reference *host, haul_device *device,
               int (*build)(building *), char *message, size_t message_bytes)
{
    building b = begin(w, c, g, host, device);
    int good;
    b.message = message;
    b.message_bytes = message_bytes;
    good = make_arena(&b) && build(&b);
    show_original(&b);
    end(&b);
    return good;
}

int arenas_run(trial_world *w, choices *c, const graph *g, const reference *host, haul_device *device, char *message,
               size_t message_bytes)
{
    if (!can_live_in_an_arena(host))
        return run(w, c, g, host, device, build_around_statics, message, message_bytes);
    return (!chance(c, 1, 8) || run(w, c, g, host, device, build_around_statics, message, message_bytes)) &&
           run(w, c, g, host, device, build_untyped, message, message_bytes) &&
           run(w, c, g, host, device, build_typed, message, message_bytes);
}
