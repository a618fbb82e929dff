/* Pieces of a graph that lie elsewhere now, and the graph that they make there: each word that the
 * reference calls a pointer or a distance leads to where its target has gone.
 */
#include "building.h"

#include <stdlib.h>
#include <string.h>

#include "must.h"

/* ---- Pieces ---- */

void building_add(building *b, const void *address, size_t bytes, size_t count, int type)
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

void building_sort(building *b)
{
    qsort(b->pieces, b->piece_count, sizeof *b->pieces, by_place);
}

piece *building_piece(const building *b, uintptr_t address)
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

uintptr_t building_moved(const building *b, const void *address)
{
    uintptr_t at = (uintptr_t)address;
    const piece *p = building_piece(b, at);
    if (p == NULL)
        p = building_piece(b, at - 1);
    return p != NULL ? p->moved + (at - p->first) : 0;
}

/* The graph's own table knows its own addresses. In the arena the end of one piece can be the start
 * of the next. */
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

int building_is_static(const building *b, uintptr_t address)
{
    return address - (uintptr_t)b->g->around->copied < STATIC_COPIED;
}

static int is_there(const model_oracle *oracle, const void *address, size_t bytes)
{
    const building *b = (const building *)(const void *)oracle;
    uintptr_t at = (uintptr_t)address - (uintptr_t)b->base;
    return (at < b->used && bytes <= b->used - at) ||
           surroundings_have(b->g->around, address, bytes) ||
           (building_is_static(b, (uintptr_t)address) && graph_has(b->g, address, bytes));
}

/* ---- Contents ---- */

/* Where the end of one piece is the start of another, what a word leads to is that start, but for
 * an alias that leads to the end of what is described. */
static uintptr_t moved_target(const building *b, const reference_slot *s)
{
    uintptr_t copy;
    if (s->kind != SLOT_ALIAS || reference_find(b->host, (uintptr_t)s->target, &copy))
        return building_moved(b, s->target);
    return building_moved(b, (const unsigned char *)s->target - 1) + 1;
}

uintptr_t building_word(const building *b, const reference_slot *s)
{
    uintptr_t to = moved_target(b, s), value = (uintptr_t)s->value;
    if (s->kind == SLOT_DISTANCE)
        return to != 0 ? to + s->lead - building_moved(b, s->at) : 0;
    if (s->target == NULL || s->kind == SLOT_KEPT)
        return value;
    return to != 0 ? to + (value - (uintptr_t)s->target) : 0;
}

void building_move_words(const building *b)
{
    for (size_t i = 0; i < b->host->slot_count; i++) {
        const reference_slot *s = &b->host->slots[i];
        graph_write((void *)building_moved(b, s->at), s->bytes,
                    (int64_t)(intptr_t)building_word(b, s));
    }
}

static int is_moved_word(const building *b, const reference_slot *s)
{
    return model_read((const void *)building_moved(b, s->at), s->bytes, 1) ==
           (int64_t)(intptr_t)building_word(b, s);
}

void building_copy_data(const building *b)
{
    for (size_t i = 0; i < b->host->data_count; i++) {
        const reference_range *r = &b->host->data[i];
        for (size_t k = 0; k < r->bytes; k++)
            *(unsigned char *)building_moved(b, (const void *)(r->host + k)) =
                *(const unsigned char *)(r->host + k);
    }
}

int building_holds_the_graph(building *b)
{
    for (size_t i = 0; i < b->host->slot_count; i++)
        if (!is_moved_word(b, &b->host->slots[i]))
            return building_fail(b, "ship of an arena: the word at %p has changed",
                                 (void *)building_moved(b, b->host->slots[i].at));
    for (size_t i = 0; i < b->host->data_count; i++) {
        const reference_range *r = &b->host->data[i];
        for (size_t k = 0; k < r->bytes; k++)
            if (*(unsigned char *)building_moved(b, (const void *)(r->host + k)) !=
                *(const unsigned char *)(r->host + k))
                return building_fail(b, "ship of an arena: data have changed");
    }
    return 1;
}

void building_view(building *b)
{
    haul_arena_info s;
    b->view.oracle.count_of = count_of;
    b->view.oracle.is_there = is_there;
    for (size_t i = 0; i < b->g->root_count; i++)
        b->view.roots[i].address = (void *)building_moved(b, b->g->roots[i].address);
    haul_arena_get_info(b->arena, &s);
    b->base = s.base;
    b->used = s.used_bytes;
}

int building_look(building *b)
{
    reference here;
    int good;
    building_view(b);
    good = reference_walk(&b->view, NULL, &here);
    if (!good)
        building_fail(b, "the reference cannot walk the graph in an arena: %s", here.wrong);
    else if (here.bytes != b->host->bytes || here.slot_count != b->host->slot_count)
        good = building_fail(b, "the graph in an arena is another: %zu bytes, not %zu", here.bytes,
                             b->host->bytes);
    reference_free(&here);
    return good;
}
