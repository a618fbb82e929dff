/* Discovery: a queue of ranges, and a table of their elements.
 */
#include "found.h"

#include <stdlib.h>
#include <string.h>

static const char a_pointer_range[] = "", a_plain_range[] = " ";

enum { INLINE_TEXT = 256, INLINE_BYTES = 64 };

int is_inline(const range *to)
{
    return to->kind == PLAIN && to->bytes <= (to->is_text ? INLINE_TEXT : INLINE_BYTES);
}

/* ---- The table. */

static const void *what_of(const range *r)
{
    return r->kind == OBJECTS    ? (const void *)r->type
           : r->kind == POINTERS ? a_pointer_range
                                 : a_plain_range;
}

static place_entry *entry_of(const found *f, const unsigned char *at, const void *what)
{
    uint64_t hash =
        ((uint64_t)(uintptr_t)at ^ (uint64_t)(uintptr_t)what << 20) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(hash >> 24);
    for (;; i++) {
        place_entry *e = &f->table[i & (f->places - 1)];
        if (!e->at || (e->at == at && e->what == what))
            return e;
    }
}

/* Makes room for so many more. */
static int widen(found *f, size_t more)
{
    const found old = *f;
    size_t i, places = f->places ? f->places : 1024;
    if (more > SIZE_MAX / 8 / sizeof *f->table - f->used)
        return 0;
    while (places < 2 * (f->used + more))
        places *= 2;
    if (places == f->places)
        return 1;
    f->table = calloc(places, sizeof *f->table);
    if (!f->table) {
        f->table = old.table;
        return 0;
    }
    f->places = places;
    for (i = 0; i < old.places; i++)
        if (old.table[i].at)
            *entry_of(f, old.table[i].at, old.table[i].what) = old.table[i];
    free(old.table);
    return 1;
}

static place find(const found *f, const unsigned char *at, const void *what)
{
    static const place nowhere = { NOWHERE, 0 };
    const place_entry *e = f->places ? entry_of(f, at, what) : NULL;
    return e && e->at ? e->place : nowhere;
}

place place_of_object(const found *f, const unsigned char *at, const haul_type *type)
{
    return find(f, at, type);
}

/* Elements of an array may have been found before, one by one. So the longest range that begins at
 * an address has an entry of its own. */
static const void *begin_of(const range *r)
{
    return (const char *)what_of(r) + 1;
}

static int fits(const found *f, place p, const range *to)
{
    return p.range != NOWHERE && to->bytes <= f->ranges[p.range].bytes &&
           p.index * to->stride <= f->ranges[p.range].bytes - to->bytes;
}

place place_of(const found *f, const range *to)
{
    const place element = find(f, to->at, what_of(to)), begin = find(f, to->at, begin_of(to));
    static const place nowhere = { NOWHERE, 0 };
    if (to->kind == OBJECTS && fits(f, element, to))
        return element;
    return fits(f, begin, to) ? begin : nowhere;
}

static void put(found *f, const unsigned char *at, const void *what, size_t index, int replaces)
{
    place_entry *e = entry_of(f, at, what);
    if (e->at && !replaces)
        return;
    f->used += !e->at;
    e->at = at;
    e->what = what;
    e->place.range = f->count;
    e->place.index = index;
}

static void add(found *f, const range *to)
{
    const size_t elements = to->kind == OBJECTS ? to->count : 0;
    size_t i;
    if (f->count == f->room) {
        range *longer = realloc(f->ranges, (2 * f->room + 64) * sizeof *longer);
        f->is_short |= !longer;
        if (!longer)
            return;
        f->ranges = longer;
        f->room = 2 * f->room + 64;
    }
    if (!widen(f, elements + 1)) {
        f->is_short = 1;
        return;
    }
    f->ranges[f->count] = *to;
    for (i = 0; i < elements; i++)
        put(f, to->at + i * to->stride, what_of(to), i, 0);
    put(f, to->at, begin_of(to), 0, 1); /* it is longer than what was found there */
    f->count++;
}

/* ---- Pointers of a range. */

static void visit_field(const found *f, const unsigned char *self, const haul_field_info *field,
                        visitor *visit, void *user)
{
    size_t i;
    for (i = 0; field->levels && field->kind != HAUL_FIELD_TAIL && i < pointers_of(field); i++) {
        const pointer p = read_field(&f->block, self, field, i);
        visit(user, self + field->offset + i * sizeof(void *), &p);
    }
}

static void visit_object(const found *f, const unsigned char *at, const haul_type *type,
                         visitor *visit, void *user)
{
    haul_field_info field;
    walk w;
    step s;
    walk_begin(&w, at, type);
    while ((s = walk_next(&w, &f->block, &field)) != DONE)
        if (s == FIELD)
            visit_field(f, w.frames[w.depth - 1].at, &field, visit, user);
}

void visit_pointers(const found *f, size_t number, visitor *visit, void *user)
{
    const range r = f->ranges[number]; /* the list may grow meanwhile */
    size_t i;
    for (i = 0; r.kind != PLAIN && i < r.count; i++) {
        const unsigned char *at = r.at + i * r.stride;
        if (r.kind == POINTERS) {
            const pointer p = read_element(&f->block, &r, i);
            visit(user, at, &p);
        } else {
            const place p = find(f, at, r.type);
            if (p.range == number && p.index == i)
                visit_object(f, at, r.type, visit, user);
        }
    }
}

/* ---- Discovery. */

static void meet(void *user, const unsigned char *at, const pointer *p)
{
    found *f = user;
    (void)at;
    f->is_broken |= p->meaning == IS_BROKEN;
    if (p->meaning == LEADS && p->to.count && !is_inline(&p->to) && !f->is_short &&
        place_of(f, &p->to).range == NOWHERE)
        add(f, &p->to);
}

void find_all(found *f, const haul_image *image)
{
    size_t count, i;
    const haul_root *roots = haul_image_roots(image, &count);
    memset(f, 0, sizeof *f);
    f->block = block_of(image);
    for (i = 0; i < count && !f->is_short; i++) {
        range to;
        if (!range_of_root(&f->block, &roots[i], &to))
            f->is_broken = 1;
        else if (place_of(f, &to).range == NOWHERE)
            add(f, &to);
    }
    for (i = 0; i < f->count && !f->is_short; i++)
        visit_pointers(f, i, meet, f);
}

void release_found(found *f)
{
    free(f->ranges);
    free(f->table);
}

int show_found(tool *t, int (*show)(const tool *t, const found *f, const haul_image *image))
{
    haul_image *image;
    found f;
    int code = load_image(t, t->files[0], &image);
    if (code != GOOD)
        return code;
    find_all(&f, image);
    if (f.is_short) {
        fprintf(stderr, "haul: there is no memory\n");
        code = WRONG;
    } else {
        code = show(t, &f, image);
    }
    release_found(&f);
    haul_image_free(&image);
    return code;
}

/* ---- Fields. */

static void push(walk *w, const unsigned char *at, const haul_type *type, size_t count,
                 size_t stride, const haul_field_info *field)
{
    frame *top = &w->frames[w->depth];
    if (count == 0 || w->depth == sizeof w->frames / sizeof *w->frames)
        return;
    memset(top, 0, sizeof *top);
    top->at = top->first = at;
    top->type = type;
    top->is_array = field && (count > 1 || field->kind == HAUL_FIELD_TAIL);
    top->fields = fields_of(type);
    top->left = count - 1;
    top->stride = stride;
    if (field)
        top->field = *field;
    w->depth++;
}

void walk_begin(walk *w, const unsigned char *at, const haul_type *type)
{
    w->depth = 0;
    push(w, at, type, 1, 0, NULL);
}

/* Goes on to the next struct of the array, or to the struct around it. */
static void leave(walk *w)
{
    frame *top = &w->frames[w->depth - 1];
    top->state = NEW;
    if (top->left == 0) {
        w->depth--;
        return;
    }
    top->left--;
    top->at += top->stride;
    top->next = 0;
}

step walk_next(walk *w, const block *b, haul_field_info *field)
{
    range tail;
    while (w->depth > 0) {
        frame *top = &w->frames[w->depth - 1];
        if (top->state == NEW) {
            top->state = BEGUN;
            return BEGINS;
        }
        if (top->state == ENDED) {
            leave(w);
            continue;
        }
        if (top->next == top->fields) {
            top->state = ENDED;
            return ENDS;
        }
        if (haul_type_get_field(top->type, top->next++, field) != HAUL_OK ||
            !field_holds(top->at, field))
            continue;
        if (field->kind == HAUL_FIELD_EMBED && field->target)
            push(w, top->at + field->offset, field->target, field->count, field->stride, field);
        else if (field->kind == HAUL_FIELD_TAIL && field->target &&
                 read_tail(b, top->at, field, &tail))
            push(w, tail.at, field->target, tail.count, tail.stride, field);
        else
            return FIELD;
    }
    return DONE;
}
