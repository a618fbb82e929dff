/* haul json: the objects of an image, as JSON.
 *
 * The graph is found first, so that each object has a number; then it is written range by range.
 * What a pointer leads to stands there as a reference to a number, so shared objects and cycles
 * need no more room than others, and nothing recurses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "found.h"

/* ---- Text. */

/* The bytes of the UTF-8 character that begins here; 0: it is none. */
static size_t character(const unsigned char *at, size_t left)
{
    const unsigned char c = at[0];
    const size_t bytes = c < 0x80   ? 1
                         : c < 0xc2 ? 0
                         : c < 0xe0 ? 2
                         : c < 0xf0 ? 3
                         : c < 0xf5 ? 4
                                    : 0;
    size_t i;
    if (bytes == 0 || bytes > left)
        return 0;
    for (i = 1; i < bytes; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && at[1] < 0xa0) || (c == 0xed && at[1] > 0x9f) || (c == 0xf0 && at[1] < 0x90) ||
        (c == 0xf4 && at[1] > 0x8f))
        return 0;
    return bytes;
}

static int is_utf8(const unsigned char *at, size_t count)
{
    size_t bytes;
    for (; count > 0; at += bytes, count -= bytes) {
        bytes = character(at, count);
        if (!bytes)
            return 0;
    }
    return 1;
}

static void put_string(const unsigned char *at, size_t count)
{
    size_t i, bytes;
    putchar('"');
    for (i = 0; i < count; i += bytes) {
        const unsigned char c = at[i];
        bytes = character(at + i, count - i);
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < ' ' || c == 0x7f)
            printf("\\u%04x", (unsigned)c);
        else if (c == 0xc2 && bytes == 2 && at[i + 1] < 0xa0)
            printf("\\u%04x", (unsigned)at[i + 1]); /* a command to a terminal */
        else if (bytes)
            fwrite(at + i, 1, bytes, stdout);
        else
            printf("\\ufffd");
        bytes = bytes ? bytes : 1;
    }
    putchar('"');
}

static void put_name(const char *name)
{
    put_string((const unsigned char *)name, strlen(name));
}

static void put_hex(const unsigned char *at, size_t count)
{
    size_t i;
    putchar('"');
    for (i = 0; i < count; i++)
        printf("%02x", (unsigned)at[i]);
    putchar('"');
}

/* ---- Values. */

static void put_plain(const range *r)
{
    const size_t text = r->is_text && r->bytes ? r->bytes - 1 : 0;
    if (r->is_text && is_utf8(r->at, text)) {
        put_string(r->at, text);
        return;
    }
    if (r->is_pool) { /* addresses of this process are among its bytes */
        printf("{\"pool\": %zu}", r->bytes);
        return;
    }
    printf("{\"element_bytes\": %zu, \"hex\": ", r->stride);
    put_hex(r->at, r->bytes);
    putchar('}');
}

static void put_reference(const found *f, place p, uint64_t tag)
{
    printf("{\"ref\": %zu", p.range);
    if (f->ranges[p.range].count > 1)
        printf(", \"index\": %zu", p.index);
    if (tag)
        printf(", \"tag\": %" PRIu64, tag);
    putchar('}');
}

static void put_borrowed(const found *f, const pointer *p, const haul_type *type)
{
    const place at = place_of_object(f, p->address, type);
    if (type && at.range != NOWHERE)
        put_reference(f, at, p->tag);
    else
        printf("{\"arena\": %zu}", (size_t)(p->address - f->block.at));
}

static void put_pointer(const found *f, const pointer *p, const haul_type *type)
{
    place at;
    switch (p->meaning) {
    case IS_NULL:
        printf("null");
        return;
    case IS_NUMBER:
        printf("{\"number\": %" PRIu64 "}", p->word);
        return;
    case IS_BORROWED:
    case IS_END:
        put_borrowed(f, p, type);
        return;
    default:
        break;
    }
    at = place_of(f, &p->to);
    if (p->meaning == IS_BROKEN)
        printf("{\"broken\": %" PRIu64 "}", p->word);
    else if (p->to.count == 0)
        printf("[]");
    else if (is_inline(&p->to))
        put_plain(&p->to);
    else
        put_reference(f, at, p->tag);
}

/* ---- Objects. */

typedef struct comma {
    int is_wanted; /* before the next member */
} comma;

static void put_comma(comma *c)
{
    if (c->is_wanted)
        printf(", ");
    c->is_wanted = 1;
}

static void put_key(comma *c, const haul_field_info *field)
{
    put_comma(c);
    put_name(*field->name ? field->name : "(block)");
    printf(": ");
}

static void put_pointers(const found *f, const unsigned char *self, const haul_field_info *field)
{
    const size_t count = pointers_of(field);
    size_t i;
    if (count != 1)
        putchar('[');
    for (i = 0; i < count; i++) {
        const pointer p = read_field(&f->block, self, field, i);
        if (i)
            printf(", ");
        put_pointer(f, &p, field->target);
    }
    if (count != 1)
        putchar(']');
}

static void put_field(const found *f, comma *c, const unsigned char *self,
                      const haul_field_info *field)
{
    range tail;
    if (field->kind == HAUL_FIELD_SKIP)
        return;
    put_key(c, field);
    if (field->kind == HAUL_FIELD_RAW)
        put_hex(self + field->offset, field->bytes);
    else if (field->kind != HAUL_FIELD_TAIL)
        put_pointers(f, self, field);
    else if (read_tail(&f->block, self, field, &tail))
        put_plain(&tail);
    else
        printf("null");
}

/* ---- Bytes without a field, and the integers among them that the types know. */

/* Sets *to to the place if it is the first one so far that lies in the bytes from `at` on. */
static void prefer(haul_integer *to, const haul_integer *place, size_t at, size_t end)
{
    if (place->offset >= at && place->offset < end && place->bytes <= end - place->offset &&
        (!to->bytes || place->offset < to->offset))
        *to = *place;
}

static void look_in_field(haul_integer *to, const haul_field_info *field, size_t at, size_t end)
{
    const haul_field *members = field->members;
    unsigned level, i;
    for (level = 0; field->counts && level < field->levels; level++)
        for (i = 0; field->counts[level].kind == HAUL_COUNT_KIND_PRODUCT &&
                    i < field->counts[level].fields;
             i++)
            prefer(to, &field->counts[level].field[i], at, end);
    for (; members; members = members->each_pointer) {
        if (members->when.kind != HAUL_WHEN_KIND_ALWAYS)
            prefer(to, &members->when.field, at, end);
        if (members->type_switch.kind == HAUL_SWITCH_KIND_SELF)
            prefer(to, &members->type_switch.field, at, end);
    }
}

static haul_integer next_integer(const haul_type *type, size_t at, size_t end)
{
    haul_integer to = { 0, 0, 0, { 0, 0, 0 } };
    const size_t count = fields_of(type);
    size_t i;
    for (i = 0; i < count; i++) {
        haul_field_info field;
        if (haul_type_get_field(type, i, &field) == HAUL_OK)
            look_in_field(&to, &field, at, end);
    }
    return to;
}

static void put_bytes(comma *c, const frame *top, size_t at, size_t count)
{
    const size_t end = at + count;
    while (at < end) {
        const haul_integer number = next_integer(top->type, at, end);
        const size_t stop = number.bytes ? number.offset : end;
        if (at < stop) {
            put_comma(c);
            printf("\"@%zu\": ", at);
            put_hex(top->at + at, stop - at);
        }
        if (number.bytes) {
            put_comma(c);
            printf("\"@%zu\": %" PRId64, number.offset, read_integer(top->at, &number));
        }
        at = stop + number.bytes;
    }
}

static void put_rest(comma *c, const frame *top)
{
    size_t at = 0, count, lower, extent;
    if (haul_type_get_extent(top->type, &lower, &extent) != HAUL_OK)
        return;
    while (next_plain(top->at, top->type, extent, &at, &count)) {
        put_bytes(c, top, at, count);
        at += count;
    }
}

/* ---- Ranges. */

/* A struct that is embedded begins with its name, an array of them with a bracket. */
static void begin_struct(comma *c, const walk *w)
{
    const frame *top = &w->frames[w->depth - 1];
    if (w->depth > 1 && top->at == top->first) {
        put_key(c, &top->field);
        if (top->is_array)
            putchar('[');
    } else if (w->depth > 1) {
        printf(", ");
    }
    putchar('{');
    c->is_wanted = 0;
}

static void end_struct(comma *c, const walk *w)
{
    const frame *top = &w->frames[w->depth - 1];
    put_rest(c, top);
    putchar('}');
    if (w->depth > 1 && top->is_array && top->left == 0)
        putchar(']');
    c->is_wanted = 1;
}

static void put_object(const found *f, const unsigned char *at, const haul_type *type)
{
    haul_field_info field;
    comma c = { 0 };
    walk w;
    step s;
    walk_begin(&w, at, type);
    while ((s = walk_next(&w, &f->block, &field)) != DONE)
        if (s == BEGINS)
            begin_struct(&c, &w);
        else if (s == ENDS)
            end_struct(&c, &w);
        else
            put_field(f, &c, w.frames[w.depth - 1].at, &field);
}

static void put_element(const found *f, size_t number, size_t index)
{
    const range *r = &f->ranges[number];
    const unsigned char *at = r->at + index * r->stride;
    place p;
    if (r->kind == POINTERS) {
        const pointer to = read_element(&f->block, r, index);
        put_pointer(f, &to, r->field.target);
        return;
    }
    p = place_of_object(f, at, r->type);
    if (p.range == number && p.index == index)
        put_object(f, at, r->type);
    else
        put_reference(f, p, 0); /* it was found before, by itself */
}

static void put_range(const found *f, size_t number)
{
    const range *r = &f->ranges[number];
    size_t i;
    printf("{\"id\": %zu, ", number);
    if (r->kind == PLAIN) {
        printf("\"data\": ");
        put_plain(r);
        putchar('}');
        return;
    }
    if (r->kind == OBJECTS) {
        printf("\"type\": ");
        put_name(haul_type_name(r->type));
        printf(", ");
    }
    printf(r->kind == POINTERS ? "\"pointers\": ["
           : r->count > 1      ? "\"objects\": ["
                               : "\"object\": ");
    for (i = 0; i < r->count; i++) {
        if (i)
            printf(", ");
        put_element(f, number, i);
    }
    printf(r->kind == POINTERS || r->count > 1 ? "]}" : "}");
}

static void put_roots(const found *f, const haul_image *image)
{
    size_t count, i;
    const haul_root *roots = haul_image_roots(image, &count);
    printf("{\"roots\": [");
    for (i = 0; i < count; i++) {
        range to;
        printf(i ? ", " : "");
        if (range_of_root(&f->block, &roots[i], &to))
            put_reference(f, place_of(f, &to), 0);
        else
            printf("null");
    }
    printf("],\n\"objects\": [");
}

static int put_all(const tool *t, const found *f, const haul_image *image)
{
    size_t i;
    put_roots(f, image);
    for (i = 0; i < f->count; i++) {
        printf(i ? ",\n" : "\n");
        put_range(f, i);
    }
    printf("\n]}\n");
    if (!f->is_broken)
        return GOOD;
    fprintf(stderr, "haul: ");
    print_clean(stderr, t->files[0]);
    fprintf(stderr, ": a pointer leads to nothing right\n");
    return REFUSED;
}

int list_file(tool *t)
{
    return show_found(t, put_all);
}
