/* The reference of the attack: which bytes of which objects a graph consists of, found by a walk of
 * its own.
 */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "world.h"

static view *view_of(world *w, picture *p, int i)
{
    view *v = &p->of[i];
    size_t bytes = w->objects[i].bytes;
    if (v->marks)
        return v;
    v->bytes = bytes;
    v->marks = calloc(1, bytes);
    v->first = malloc(bytes);
    v->image = calloc(1, bytes);
    CHECK(v->marks && v->first && v->image);
    memcpy(v->first, w->objects[i].memory, bytes);
    w->objects[i].held++;
    return v;
}

static void mark(world *w, picture *p, int i, size_t at, size_t bytes, int what)
{
    view *v = view_of(w, p, i);
    for (size_t k = at; k < at + bytes; k++)
        v->marks[k] = (unsigned char)(v->marks[k] | what);
}

/* `bytes` bytes of whatever object the field's pointer leads to. */
static void mark_behind(world *w, picture *p, int i, size_t at, size_t bytes, int what)
{
    const unsigned char *to = object_pointer(w, i, at);
    int target = to ? object_at(w, to) : -1;
    if (target >= 0)
        mark(w, p, target, (size_t)(to - w->objects[target].memory), bytes, what);
}

static void mark_field(world *w, picture *p, int i, size_t at, int what)
{
    view *v = view_of(w, p, i);
    memset(v->marks + at, 0, sizeof(void *));
    mark(w, p, i, at, sizeof(void *), what);
}

/* An item's own bytes. */
static void mark_item(world *w, picture *p, int i)
{
    static const struct {
        unsigned row;
        size_t at;
    } fields[] = {
        { ROW_OTHER, offsetof(item, other) }, { ROW_NUMBERS, offsetof(item, numbers) },
        { ROW_INPUT, offsetof(item, input) }, { ROW_OUTPUT, offsetof(item, output) },
        { ROW_MANY, offsetof(item, many) },   { ROW_NAME, offsetof(item, name) },
    };
    unsigned rows = w->items->rows;
    mark(w, p, i, 0, w->objects[i].bytes, IS_DATA);
    mark_field(w, p, i, offsetof(item, next), IS_POINTER);
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
        if (rows & fields[k].row)
            mark_field(w, p, i, fields[k].at, IS_POINTER);
    if (rows & ROW_MINE)
        mark_field(w, p, i, offsetof(item, mine), IS_SKIPPED);
}

static void mark_behind_item(world *w, picture *p, int i)
{
    item it;
    unsigned rows = w->items->rows;
    memcpy(&it, w->objects[i].memory, sizeof it);
    size_t count = rows & ROWS_COUNTED ? (size_t)it.count : 0;
    if (rows & ROWS_COUNTED)
        mark(w, p, i, offsetof(item, count), sizeof it.count, IS_COUNT);
    if (rows & ROW_NUMBERS)
        mark_behind(w, p, i, offsetof(item, numbers), count * sizeof(double), IS_DATA);
    if (rows & ROW_INPUT)
        mark_behind(w, p, i, offsetof(item, input), count * sizeof(int16_t),
                    IS_DATA | NOT_RETURNED);
    if (rows & ROW_OUTPUT)
        mark_behind(w, p, i, offsetof(item, output), count * sizeof(float), IS_DATA | NOT_SENT);
    if (rows & ROW_NAME && it.name) {
        size_t length = strlen(it.name);
        mark_behind(w, p, i, offsetof(item, name), length + 1, IS_DATA);
        mark(w, p, object_at(w, it.name), length, 1, IS_END);
    }
    if (rows & ROW_MANY) {
        mark(w, p, i, offsetof(item, many_count), sizeof it.many_count, IS_COUNT);
        mark_behind(w, p, i, offsetof(item, many), (size_t)it.many_count * sizeof(item *),
                    IS_POINTER);
    }
}

typedef struct walk {
    int queue[OBJECTS_MAX];
    char seen[OBJECTS_MAX];
    int count;
} walk;

static void push(const world *w, walk *k, const void *to)
{
    int i = to ? object_at(w, to) : -1;
    if (i < 0 || k->seen[i])
        return;
    k->seen[i] = 1;
    k->queue[k->count++] = i;
}

void picture_draw(world *w, picture *p, const int *root, int root_count)
{
    walk k;
    memset(&k, 0, sizeof k);
    memset(p, 0, sizeof *p);
    for (int i = 0; i < root_count; i++)
        push(w, &k, w->objects[root[i]].memory);
    for (int at = 0; at < k.count; at++) {
        item it;
        memcpy(&it, w->objects[k.queue[at]].memory, sizeof it);
        mark_item(w, p, k.queue[at]);
        mark_behind_item(w, p, k.queue[at]);
        push(w, &k, it.next);
        if (w->items->rows & ROW_OTHER)
            push(w, &k, it.other);
        for (int32_t n = 0; w->items->rows & ROW_MANY && n < it.many_count; n++)
            push(w, &k, it.many[n]);
    }
}

/* What typed allocation knows of an object. */
static void mark_typed(world *w, picture *p, int i)
{
    const object *o = &w->objects[i];
    if (o->kind == ITEM)
        mark_item(w, p, i);
    if (o->kind == ITEM && o->is_made && w->items->rows & ROW_MINE)
        mark_field(w, p, i, offsetof(item, mine), IS_DATA);
    if (o->kind == NURSERY) {
        mark_field(w, p, i, offsetof(haul_nursery, memory), IS_POINTER);
        mark_field(w, p, i, offsetof(haul_nursery, slots), IS_POINTER);
    }
}

/* An arena travels as it lies: all that is not said to be something else is data, and is sent. Of
 * nurseries no more comes back than what they held here. */
static void mark_the_rest(world *w, picture *p, int i, size_t bytes)
{
    const object *o = &w->objects[i];
    const int stays = o->kind == NURSERY || o->kind == ROOM ? STAYS : 0;
    for (size_t k = 0; k < bytes; k++) {
        unsigned char *m = &view_of(w, p, i)->marks[k];
        *m = (unsigned char)(((*m ? *m : IS_DATA) & ~NOT_SENT) | stays);
    }
}

void picture_draw_arena(world *w, picture *p, int arena, const int *root, int root_count)
{
    memset(p, 0, sizeof *p);
    if (root_count > 0)
        picture_draw(w, p, root, root_count);
    for (int i = 0; i < OBJECTS_MAX; i++) {
        if (!w->objects[i].memory || w->objects[i].arena != arena)
            continue;
        if (root_count == 0)
            mark_typed(w, p, i);
        mark_the_rest(w, p, i, w->objects[i].bytes);
    }
}

void picture_draw_arena_again(world *w, picture *p, const unsigned char *end)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        const object *o = &w->objects[i];
        size_t carried = p->of[i].marks ? (size_t)(end - o->memory) : 0;
        if (carried == 0)
            continue;
        memset(p->of[i].marks, 0, o->bytes);
        mark_typed(w, p, i);
        mark_the_rest(w, p, i, carried < o->bytes ? carried : o->bytes);
    }
}

/* Zeros, and no marks. */
static void enlarge(view *v, size_t bytes)
{
    unsigned char **const lists[] = { &v->marks, &v->first, &v->image };
    for (size_t k = 0; k < 3 && bytes > v->bytes; k++) {
        *lists[k] = realloc(*lists[k], bytes);
        CHECK(*lists[k] != NULL);
        memset(*lists[k] + v->bytes, 0, bytes - v->bytes);
    }
    if (bytes > v->bytes)
        v->bytes = bytes;
}

int picture_resize(const world *w, picture *p, int i, size_t bytes, size_t carried)
{
    view *v = &p->of[i];
    const size_t had = v->bytes, is = w->objects[i].bytes;
    if (!v->marks)
        return 0;
    enlarge(v, bytes);
    for (size_t k = had; k < bytes && k < carried; k++)
        v->marks[k] = IS_DATA;
    return bytes > is && carried > is;
}

static void forget_view(world *w, view *v, int i)
{
    if (w->objects[i].held > 0)
        w->objects[i].held--;
    free(v->marks);
    free(v->first);
    free(v->image);
    memset(v, 0, sizeof *v);
}

/* A pointer across the end of the piece is nobody's. */
static void take_piece(const view *from, view *piece, size_t bytes)
{
    memcpy(piece->marks, from->marks, bytes);
    memcpy(piece->first, from->first, bytes);
    memcpy(piece->image, from->image, bytes);
    for (size_t k = bytes - bytes % sizeof(void *); k < bytes; k++)
        if (piece->marks[k] & IS_POINTER)
            piece->marks[k] = 0;
}

void picture_cut(world *w, picture *p, int i, int piece, size_t skipped)
{
    view *v = &p->of[i];
    const size_t left = w->objects[i].bytes - skipped;
    if (!v->marks)
        return;
    if (piece >= 0)
        take_piece(v, view_of(w, p, piece), w->objects[piece].bytes);
    if (left == 0) {
        forget_view(w, v, i);
        return;
    }
    v->bytes = left;
    memmove(v->marks, v->marks + skipped, left);
    memmove(v->first, v->first + skipped, left);
    memmove(v->image, v->image + skipped, left);
}

void picture_free(world *w, picture *p)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        if (p->of[i].marks)
            forget_view(w, &p->of[i], i);
    }
    memset(p, 0, sizeof *p);
}

const neighbour *picture_neighbour(const picture *p, const void *address)
{
    for (int i = 0; i < p->near_count; i++)
        if ((uintptr_t)address - (uintptr_t)p->near[i].base <= p->near[i].bytes)
            return &p->near[i];
    return NULL;
}

void picture_copy(world *w, picture *to, const picture *from)
{
    memset(to, 0, sizeof *to);
    to->keeps_outside = from->keeps_outside;
    to->near_count = from->near_count;
    memcpy(to->near, from->near, sizeof to->near);
    for (int i = 0; i < OBJECTS_MAX; i++) {
        if (!from->of[i].marks)
            continue;
        view *v = view_of(w, to, i);
        size_t bytes = from->of[i].bytes;
        enlarge(v, bytes);
        memcpy(v->marks, from->of[i].marks, bytes);
        memcpy(v->first, from->of[i].first, bytes);
        memcpy(v->image, from->of[i].image, bytes);
    }
}

void picture_send(const world *w, picture *p)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        view *v = &p->of[i];
        for (size_t k = 0; v->marks && k < w->objects[i].bytes; k++) {
            int travels = v->marks[k] & (IS_DATA | IS_POINTER) && !(v->marks[k] & NOT_SENT);
            v->image[k] = travels ? w->objects[i].memory[k] : 0;
        }
    }
}

int picture_send_part(const world *w, picture *p, int i, size_t at, size_t bytes)
{
    view *v = &p->of[i];
    int described = 0;
    for (size_t k = at; v->marks && k < at + bytes; k++) {
        described |= v->marks[k];
        if (v->marks[k] & IS_DATA && !(v->marks[k] & (NOT_SENT | STAYS)))
            v->image[k] = w->objects[i].memory[k];
    }
    return described;
}

int picture_fits(const world *w, const picture *p)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        const view *v = &p->of[i];
        for (size_t k = 0; v->marks && k < w->objects[i].bytes; k++)
            if (v->marks[k] & (IS_POINTER | IS_COUNT | IS_END) &&
                v->first[k] != w->objects[i].memory[k])
                return 0;
    }
    return 1;
}

int picture_counts_fit(const world *w, const picture *p, int i)
{
    for (int k = i < 0 ? 0 : i; k < (i < 0 ? OBJECTS_MAX : i + 1); k++) {
        const view *v = &p->of[k];
        for (size_t at = 0; v->marks && at < w->objects[k].bytes; at++)
            if (v->marks[at] & (IS_COUNT | IS_END) && v->image[at] != v->first[at])
                return 0;
    }
    return 1;
}
