/* haul diff: what has changed between two images.
 *
 * Both graphs are walked together from their roots: objects that the same path leads to are a pair,
 * the first path counts. A pair is compared once. What only one graph has is told where it begins;
 * the summary counts all objects.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "found.h"

/* A pair of ranges that a path leads to. */
typedef struct node {
    size_t before; /* the node whose pointer led here; NOWHERE: a root */
    size_t step;   /* the text from there, as an offset */
    place at[2];
    size_t count; /* elements to compare */
} node;

typedef struct side {
    haul_image *image;
    found found;
    size_t *first;   /* the number of each range's first element */
    size_t *partner; /* of each element: 1 + the number of the other one; 0: it has none yet */
    size_t elements;
} side;

typedef struct diff {
    side sides[2];
    node *nodes;
    size_t count, room;
    char *text; /* steps */
    size_t text_bytes, text_room;
    size_t node, index; /* what is being compared */
    size_t changes;
    int is_short;
} diff;

/* The list with room for `needed` elements; NULL: there is no memory, and the list is as before. */
static void *grown(void *list, size_t *room, size_t needed, size_t each)
{
    size_t more = *room ? *room : 256;
    void *longer;
    while (more < needed)
        more *= 2;
    longer = more == *room ? list : realloc(list, more * each);
    if (longer)
        *room = more;
    return longer;
}

/* ---- Paths. */

static void print_steps(const diff *d, size_t number)
{
    size_t depth = 0, i, times, *chain;
    for (i = number; i != NOWHERE; i = d->nodes[i].before)
        depth++;
    chain = malloc(depth * sizeof *chain);
    if (!chain)
        return;
    for (i = number; i != NOWHERE; i = d->nodes[i].before)
        chain[--depth] = d->nodes[i].step;
    for (i = number; i != NOWHERE; i = d->nodes[i].before)
        depth++;
    for (i = 0; i < depth; i += times) {
        const char *step = d->text + chain[i];
        for (times = 1; i + times < depth && strcmp(d->text + chain[i + times], step) == 0;)
            times++;
        printf(times > 2 ? "(" : "");
        print_clean(stdout, step);
        if (times > 2)
            printf(")*%zu", times);
        else
            times = 1;
    }
    free(chain);
}

/* Of the element that is being compared: "[2]" if it is one of several. */
static void make_step(const diff *d, char *step, size_t room, const char *inner)
{
    const node *n = &d->nodes[d->node];
    const range *r = &d->sides[0].found.ranges[n->at[0].range];
    if (n->count > 1 || r->count > 1)
        snprintf(step, room, "[%zu]%s", d->index, inner);
    else
        snprintf(step, room, "%s", inner);
}

static void begin_line(diff *d, const char *what, const char *inner)
{
    char step[1024];
    make_step(d, step, sizeof step, inner);
    printf("%-8s ", what);
    print_steps(d, d->node);
    print_clean(stdout, step);
    d->changes++;
}

static void say(diff *d, const char *what, const char *inner, const char *more)
{
    begin_line(d, what, inner);
    printf("%s%s\n", *more ? ": " : "", more);
}

/* ---- Pairs. */

static size_t number_of(const side *s, place p)
{
    return s->first[p.range] + p.index;
}

static void add_node(diff *d, size_t before, const char *step, place a, place b, size_t count)
{
    const size_t bytes = strlen(step) + 1;
    node *nodes = grown(d->nodes, &d->room, d->count + 1, sizeof *nodes), *n;
    char *text = grown(d->text, &d->text_room, d->text_bytes + bytes, 1);
    d->nodes = nodes ? nodes : d->nodes;
    d->text = text ? text : d->text;
    if (!nodes || !text) {
        d->is_short = 1;
        return;
    }
    memcpy(d->text + d->text_bytes, step, bytes);
    n = &d->nodes[d->count++];
    n->before = before;
    n->step = d->text_bytes;
    n->at[0] = a;
    n->at[1] = b;
    n->count = count;
    d->text_bytes += bytes;
}

/* Both pointers lead to something that is not shown inline. */
static void pair_up(diff *d, const char *inner, const range *a, const range *b)
{
    const place at = place_of(&d->sides[0].found, a), bt = place_of(&d->sides[1].found, b);
    const size_t *partner;
    char step[1024];
    if (at.range == NOWHERE || bt.range == NOWHERE)
        return; /* a pointer that leads to nothing right */
    if (a->count != b->count) {
        begin_line(d, "changed", inner);
        printf(": %zu elements, now %zu\n", a->count, b->count);
    }
    partner = &d->sides[0].partner[number_of(&d->sides[0], at)];
    if (*partner && *partner - 1 != number_of(&d->sides[1], bt))
        say(d, "changed", inner, "it leads to another object");
    if (*partner || d->sides[1].partner[number_of(&d->sides[1], bt)])
        return;
    make_step(d, step, sizeof step, inner);
    add_node(d, d->node, step, at, bt, a->count < b->count ? a->count : b->count);
}

/* ---- Values. */

static int are_alike(const range *a, const range *b)
{
    if (a->kind != b->kind || a->stride != b->stride)
        return 0;
    return a->kind != OBJECTS || strcmp(haul_type_name(a->type), haul_type_name(b->type)) == 0;
}

static void print_value(const range *r)
{
    size_t i;
    if (r->is_text) {
        printf("\"");
        for (i = 0; i + 1 < r->bytes; i++)
            putchar(r->at[i] >= ' ' && r->at[i] != 0x7f ? r->at[i] : '?');
        printf("\"");
        return;
    }
    for (i = 0; i < r->bytes && i < 32; i++)
        printf("%02x", (unsigned)r->at[i]);
    printf(i < r->bytes ? "..." : "");
}

static void compare_plain(diff *d, const char *inner, const range *a, const range *b)
{
    if (a->is_pool || (a->bytes == b->bytes && memcmp(a->at, b->at, a->bytes) == 0))
        return;
    begin_line(d, "changed", inner);
    printf(": ");
    print_value(a);
    printf(", now ");
    print_value(b);
    printf("\n");
}

static void compare_bytes(diff *d, const char *inner, const unsigned char *a,
                          const unsigned char *b, size_t bytes)
{
    range one, other;
    memset(&one, 0, sizeof one);
    one.bytes = bytes;
    other = one;
    one.at = a;
    other.at = b;
    compare_plain(d, inner, &one, &other);
}

/* Does a borrowed pointer lead to the partner? Offsets are compared where there is no object. */
static int leads_to_partner(const diff *d, const pointer *a, const pointer *b,
                            const haul_type *types[2])
{
    const side *s = d->sides;
    place at, bt;
    size_t partner;
    if (!types[0] || !types[1])
        return a->address - s[0].found.block.at == b->address - s[1].found.block.at;
    at = place_of_object(&s[0].found, a->address, types[0]);
    bt = place_of_object(&s[1].found, b->address, types[1]);
    if (at.range == NOWHERE || bt.range == NOWHERE)
        return at.range == bt.range;
    partner = s[0].partner[number_of(&s[0], at)];
    return !partner || partner - 1 == number_of(&s[1], bt);
}

static void compare_pointers(diff *d, const char *inner, const pointer *a, const pointer *b,
                             const haul_type *types[2])
{
    if (a->meaning != b->meaning) {
        say(d,
            a->meaning == IS_NULL   ? "added"
            : b->meaning == IS_NULL ? "removed"
                                    : "changed",
            inner, "");
        return;
    }
    if (a->tag != b->tag)
        say(d, "changed", inner, "another tag");
    if (a->meaning == IS_NUMBER && a->word != b->word)
        say(d, "changed", inner, "another number");
    if (a->meaning == IS_BORROWED && !leads_to_partner(d, a, b, types))
        say(d, "changed", inner, "it leads to another object");
    if (a->meaning != LEADS)
        return;
    if (!are_alike(&a->to, &b->to))
        say(d, "changed", inner, "another type");
    else if (a->to.kind == PLAIN)
        compare_plain(d, inner, &a->to, &b->to);
    else if (a->to.count && b->to.count)
        pair_up(d, inner, &a->to, &b->to);
    else if (a->to.count != b->to.count)
        say(d, a->to.count ? "removed" : "added", inner, "");
}

/* ---- Objects. */

/* ".some[1].begin", from the object on. */
static void name_place(const walk *w, const char *name, char *text, size_t room)
{
    size_t used = 0;
    unsigned i;
    text[0] = '\0';
    for (i = 1; i < w->depth && used < room; i++) {
        const frame *f = &w->frames[i];
        const char *field = *f->field.name ? f->field.name : "(block)";
        int more = f->is_array ? snprintf(text + used, room - used, ".%s[%zu]", field,
                                          (size_t)(f->at - f->first) / f->stride)
                               : snprintf(text + used, room - used, ".%s", field);
        used += more > 0 ? (size_t)more : 0;
    }
    if (used < room && *name)
        snprintf(text + used, room - used, ".%s", name);
}

static void compare_field(diff *d, const walk *w, const haul_field_info *f,
                          const haul_field_info *g)
{
    const unsigned char *self[2];
    const haul_type *types[2];
    char inner[1024];
    size_t i, used;
    range a, b;
    self[0] = w[0].frames[w[0].depth - 1].at;
    self[1] = w[1].frames[w[1].depth - 1].at;
    types[0] = f->target;
    types[1] = g->target;
    name_place(&w[0], f->name, inner, sizeof inner - 32);
    if (f->kind == HAUL_FIELD_RAW) {
        compare_bytes(d, inner, self[0] + f->offset, self[1] + f->offset, f->bytes);
    } else if (f->kind == HAUL_FIELD_TAIL) {
        if (read_tail(&d->sides[0].found.block, self[0], f, &a) &&
            read_tail(&d->sides[1].found.block, self[1], g, &b))
            compare_plain(d, inner, &a, &b);
    } else if (f->levels) {
        used = strlen(inner);
        for (i = 0; i < pointers_of(f); i++) {
            const pointer p = read_field(&d->sides[0].found.block, self[0], f, i),
                          q = read_field(&d->sides[1].found.block, self[1], g, i);
            if (pointers_of(f) > 1)
                snprintf(inner + used, 32, "[%zu]", i);
            compare_pointers(d, inner, &p, &q, types);
        }
    }
}

static void compare_rest(diff *d, const walk *w)
{
    const frame *f = &w[0].frames[w[0].depth - 1], *g = &w[1].frames[w[1].depth - 1];
    size_t at = 0, count, lower, extent;
    if (haul_type_get_extent(f->type, &lower, &extent) != HAUL_OK)
        return;
    for (; next_plain(f->at, f->type, extent, &at, &count); at += count) {
        char inner[1024], name[40];
        snprintf(name, sizeof name, "@%zu", at);
        name_place(&w[0], name, inner, sizeof inner);
        compare_bytes(d, inner, f->at + at, g->at + at, count);
    }
}

static int is_same_type(const haul_type *a, const haul_type *b)
{
    size_t lower[2], extent[2];
    return strcmp(haul_type_name(a), haul_type_name(b)) == 0 &&
           haul_type_get_extent(a, &lower[0], &extent[0]) == HAUL_OK &&
           haul_type_get_extent(b, &lower[1], &extent[1]) == HAUL_OK && extent[0] == extent[1] &&
           fields_of(a) == fields_of(b);
}

static int is_same_field(const haul_field_info *f, const haul_field_info *g)
{
    return strcmp(f->name, g->name) == 0 && f->offset == g->offset && f->kind == g->kind &&
           f->bytes == g->bytes && f->levels == g->levels;
}

/* Do both walks stand at the same place? */
static int is_in_step(const walk *w, const step *s, const haul_field_info *fields)
{
    if (s[0] != s[1] || w[0].depth != w[1].depth)
        return 0;
    if (s[0] == FIELD)
        return is_same_field(&fields[0], &fields[1]);
    return s[0] == DONE ||
           is_same_type(w[0].frames[w[0].depth - 1].type, w[1].frames[w[1].depth - 1].type);
}

static void compare_objects(diff *d, const unsigned char *a, const haul_type *type_a,
                            const unsigned char *b, const haul_type *type_b)
{
    haul_field_info fields[2];
    walk w[2];
    step s[2];
    char inner[1024];
    unsigned i;
    walk_begin(&w[0], a, type_a);
    walk_begin(&w[1], b, type_b);
    do {
        for (i = 0; i < 2; i++)
            s[i] = walk_next(&w[i], &d->sides[i].found.block, &fields[i]);
        if (!is_in_step(w, s, fields)) {
            name_place(&w[0], "", inner, sizeof inner);
            say(d, "changed", inner, "it has other fields now");
            return;
        }
        if (s[0] == FIELD)
            compare_field(d, w, &fields[0], &fields[1]);
        else if (s[0] == ENDS)
            compare_rest(d, w);
    } while (s[0] != DONE);
}

/* ---- Ranges. */

static void compare_elements(diff *d, const place at[2])
{
    const range *r[2];
    const haul_type *types[2];
    const unsigned char *from[2];
    size_t index[2], i;
    for (i = 0; i < 2; i++) {
        r[i] = &d->sides[i].found.ranges[at[i].range];
        index[i] = at[i].index + d->index;
        from[i] = r[i]->at + index[i] * r[i]->stride;
    }
    if (r[0]->kind == POINTERS) {
        const pointer p = read_element(&d->sides[0].found.block, r[0], index[0]),
                      q = read_element(&d->sides[1].found.block, r[1], index[1]);
        types[0] = r[0]->field.target;
        types[1] = r[1]->field.target;
        compare_pointers(d, "", &p, &q, types);
    } else {
        compare_objects(d, from[0], r[0]->type, from[1], r[1]->type);
    }
}

/* The element in the range that keeps it. */
static place kept(const side *s, place p)
{
    const range *r = &s->found.ranges[p.range];
    return r->kind == OBJECTS ? place_of_object(&s->found, r->at + p.index * r->stride, r->type)
                              : p;
}

static void compare_node(diff *d)
{
    const node n = d->nodes[d->node];
    for (d->index = 0; d->index < n.count && !d->is_short; d->index++) {
        place at[2];
        size_t *partner[2], number[2], i;
        for (i = 0; i < 2; i++) {
            at[i] = n.at[i];
            at[i].index += d->index;
            at[i] = kept(&d->sides[i], at[i]);
            number[i] = number_of(&d->sides[i], at[i]);
            partner[i] = &d->sides[i].partner[number[i]];
        }
        if (*partner[0] || *partner[1])
            continue;
        *partner[0] = number[1] + 1;
        *partner[1] = number[0] + 1;
        compare_elements(d, n.at);
    }
}

/* ---- All of it. */

static int open_side(tool *t, side *s, const char *path)
{
    size_t i;
    const int code = load_image(t, path, &s->image);
    if (code != GOOD)
        return WRONG;
    find_all(&s->found, s->image);
    s->first = malloc((s->found.count + 1) * sizeof *s->first);
    for (i = 0; s->first && i < s->found.count; i++) {
        s->first[i] = s->elements;
        s->elements += s->found.ranges[i].kind == PLAIN ? 1 : s->found.ranges[i].count;
    }
    s->partner = calloc(s->elements + 1, sizeof *s->partner);
    if (s->first && s->partner && !s->found.is_short)
        return GOOD;
    fprintf(stderr, "haul: there is no memory\n");
    return WRONG;
}

static void close_side(side *s)
{
    free(s->first);
    free(s->partner);
    if (s->image)
        release_found(&s->found);
    haul_image_free(&s->image);
}

static void add_roots(diff *d)
{
    size_t counts[2], i, k;
    const haul_root *roots[2];
    for (k = 0; k < 2; k++)
        roots[k] = haul_image_roots(d->sides[k].image, &counts[k]);
    for (i = 0; i < counts[0] && i < counts[1]; i++) {
        range to[2];
        place at[2];
        char step[32] = "root";
        if (counts[0] > 1)
            snprintf(step, sizeof step, "root[%zu]", i);
        for (k = 0; k < 2; k++) {
            range_of_root(&d->sides[k].found.block, &roots[k][i], &to[k]);
            at[k] = place_of(&d->sides[k].found, &to[k]);
        }
        if (at[0].range != NOWHERE && at[1].range != NOWHERE && to[0].kind != PLAIN)
            add_node(d, NOWHERE, step, at[0], at[1],
                     to[0].count < to[1].count ? to[0].count : to[1].count);
    }
    if (counts[0] != counts[1]) {
        printf("changed  root: %zu roots, now %zu\n", counts[0], counts[1]);
        d->changes++;
    }
}

/* Objects without a partner. */
static size_t count_lone(const side *s)
{
    size_t i, k, count = 0;
    for (i = 0; i < s->found.count; i++)
        for (k = 0; s->found.ranges[i].kind == OBJECTS && k < s->found.ranges[i].count; k++) {
            const place p = { i, k }, own = kept(s, p);
            count += own.range == i && own.index == k && !s->partner[number_of(s, p)];
        }
    return count;
}

static int compare_all(diff *d)
{
    size_t added, removed;
    add_roots(d);
    for (d->node = 0; d->node < d->count && !d->is_short; d->node++)
        compare_node(d);
    if (d->is_short) {
        fprintf(stderr, "haul: there is no memory\n");
        return WRONG;
    }
    removed = count_lone(&d->sides[0]);
    added = count_lone(&d->sides[1]);
    if (!d->changes && !added && !removed)
        return GOOD;
    printf("%zu object%s added, %zu removed; %zu line%s of changes\n", added, added == 1 ? "" : "s",
           removed, d->changes, d->changes == 1 ? "" : "s");
    return REFUSED;
}

int compare_files(tool *t)
{
    diff d;
    int code;
    memset(&d, 0, sizeof d);
    code = open_side(t, &d.sides[0], t->files[0]);
    if (code == GOOD)
        code = open_side(t, &d.sides[1], t->files[1]);
    if (code == GOOD)
        code = compare_all(&d);
    close_side(&d.sides[0]);
    close_side(&d.sides[1]);
    free(d.nodes);
    free(d.text);
    return code;
}
