#include <string.h>

#include "images/random_types.h"
#include "type/field.h"
#include "type/type.h"

#define ARENA_MOST (960 * WORD)

enum { ELEMENTS_MOST = 20, CROWD = 200, MIDDLE = 16 };

static size_t take(drawing *d, size_t bytes, size_t alignment)
{
    const size_t unit = alignment < GRANULE ? GRANULE : alignment;
    size_t offset = (d->next + unit - 1) / unit * unit;
    offset += one_in(d, 40) ? unit : 0;
    if (!bytes || offset > d->limit || bytes > d->limit - offset)
        return 0;
    d->next = (offset + bytes + GRANULE - 1) / GRANULE * GRANULE;
    return offset;
}

/* Bytes that do not travel have no room behind the last object. */
static size_t take_objects(drawing *d, const drawn_type *of, size_t count)
{
    const size_t last = haul__type_walk(of->type)->true_upper;
    size_t offset, i;
    if (!count || count > OBJECTS - d->object_count)
        return 0;
    offset = take(d, of->bytes * (count - 1) + last, of->alignment);
    for (i = 0; offset && i < count; i++) {
        drawn_object *o = &d->objects[d->object_count++];
        memset(o, 0, sizeof *o);
        o->of = of;
        o->offset = offset + i * of->bytes;
    }
    return offset;
}

/* An object of the type, from any one on; 0: there is none. */
static size_t find_object(drawing *d, const drawn_type *of)
{
    const size_t first = below(d, d->object_count);
    size_t i;
    for (i = 0; i < d->object_count; i++) {
        const drawn_object *o = &d->objects[(first + i) % d->object_count];
        if (o->of == of)
            return o->offset;
    }
    return 0;
}

static void put_pointer(drawing *d, size_t offset, uintptr_t value, uintptr_t tags)
{
    memcpy(d->arena.at + offset, &value, WORD);
    if ((value & ~tags) || !value) /* tags alone are no pointer */
        bitmap_put(&d->bits, offset / WORD, 1);
}

static void put_number(unsigned char *object, const haul_integer *place, int64_t value)
{
    const uint8_t one = (uint8_t)value;
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    const void *const from[] = { NULL, &one, &two, NULL, &four, NULL, NULL, NULL, &value };
    memcpy(object + place->offset, from[place->bytes], place->bytes);
}

/* 0: none, too many, or not a number. */
static size_t count_of(drawing *d, const haul_count *count, size_t self)
{
    int64_t n = 1, value;
    unsigned i;
    if (count->kind == HAUL_COUNT_KIND_ONE)
        return 1;
    if (count->kind == HAUL_COUNT_KIND_TERMINATED)
        return 1 + below(d, ELEMENTS_MOST);
    for (i = 0; i < count->fields; i++) {
        if (!haul__read_field(d->arena.at + self, &count->field[i], &value) || value < 0 ||
            value > ELEMENTS_MOST)
            return 0;
        n *= value;
    }
    n = (count->fields ? n : 0) + count->plus;
    return n < 0 || n > ELEMENTS_MOST ? 0 : (size_t)n;
}

/* The first object there tells its type. */
static void tell(drawing *d, size_t offset, const drawn_type *of, const haul_switch *by,
                 int64_t value)
{
    size_t i = 0;
    while (d->objects[i].offset != offset || d->objects[i].of != of)
        i++;
    d->objects[i].tag = &by->field;
    d->objects[i].value = value;
    if (by->field.offset + by->field.bytes <= haul__type_walk(of->type)->true_upper)
        put_number(d->arena.at + offset, &by->field, value);
}

static size_t lead_to_objects(drawing *d, const haul_field *row, size_t self, size_t count)
{
    const haul_switch *by = &row->type_switch;
    const drawn_type *of;
    size_t k = by->kind ? below(d, by->case_count) : 0, offset = 0;
    int64_t value;
    if (by->kind == HAUL_SWITCH_KIND_SELF) {
        value = haul__read_stored(d->arena.at + self, &by->field);
        for (k = 0; k < by->case_count && by->cases[k].value != value; k++)
            continue;
        if (k == by->case_count)
            return 0;
    }
    of = drawing_type_of(d, by->kind ? by->cases[k].type : row->target);
    if (count == 1 && one_in(d, 3))
        offset = find_object(d, of);
    if (!offset)
        offset = take_objects(d, of, count);
    if (offset && by->kind == HAUL_SWITCH_KIND_TARGET && !one_in(d, 20))
        tell(d, offset, of, by, by->cases[k].value);
    return offset;
}

static size_t lead_to_elements(drawing *d, const haul_field *row, size_t self,
                               const haul_count *count)
{
    const int ends = count->kind == HAUL_COUNT_KIND_TERMINATED;
    const size_t n = count_of(d, count, self), unit = row->element_bytes;
    size_t offset, i;
    if (!n)
        return one_in(d, 2) ? below(d, d->limit / GRANULE) * GRANULE : 0;
    if (row->target || row->type_switch.kind)
        return lead_to_objects(d, row, self, ends ? 1 : n);
    offset = take(d, n * unit, 1);
    for (i = 0; offset && i < (ends ? n - 1 : n) * unit; i++)
        d->arena.at[offset + i] = (unsigned char)(ends ? 1 : below(d, 3));
    return offset;
}

static size_t lead_to_pointers(drawing *d, const haul_field *row, size_t self)
{
    const size_t n = count_of(d, &row->count, self), offset = take(d, n * WORD, WORD);
    const size_t last = row->count.kind == HAUL_COUNT_KIND_TERMINATED ? n - 1 : n;
    size_t i;
    for (i = 0; offset && i < n; i++)
        put_pointer(d, offset + i * WORD,
                    i == last || one_in(d, 3) ? 0 : lead_to_elements(d, row, self, &row->count2),
                    0);
    return offset;
}

static size_t lead(drawing *d, const haul_field *row, size_t self)
{
    if (one_in(d, 5))
        return 0;
    if (row->ownership == HAUL_BORROWED)
        return one_in(d, 5) ? below(d, d->limit)
                            : find_object(d, row->target ? drawing_type_of(d, row->target)
                                                         : &d->types[below(d, TYPES)]);
    return row->levels == 2 ? lead_to_pointers(d, row, self)
                            : lead_to_elements(d, row, self, &row->count);
}

/* Small numbers where rows read them; no byte is touched that does not travel. */
static void fill_bytes(drawing *d, const drawn_object *o, size_t end)
{
    unsigned char *at = d->arena.at + o->offset;
    size_t i;
    for (i = 0; i < end; i++)
        at[i] = (unsigned char)(one_in(d, i < WORD ? 3 : 2) ? below(d, 5) : 0);
    for (i = 0; i < o->of->row_count; i++) {
        const haul_field *row = &o->of->rows[i];
        const haul_integer *number = row->when.kind          ? &row->when.field
                                     : row->type_switch.kind ? &row->type_switch.field
                                                             : &row->count.field[0];
        if (number->bytes && number->offset + number->bytes <= end && one_in(d, 2))
            put_number(at, number, (int64_t)below(d, 5));
    }
    if (o->tag && o->tag->offset + o->tag->bytes <= end)
        put_number(at, o->tag, o->value);
}

static int holds(const haul_field *row, const unsigned char *at)
{
    return row->when.kind == HAUL_WHEN_KIND_ALWAYS || haul__when_holds(&row->when, at);
}

/* Zeros, where no row has the bytes. Other rows may hold then. */
static void clear_rest(const drawn_type *of, unsigned char *at, size_t end)
{
    unsigned char travels[DRAWN_TYPE_MOST];
    size_t i;
    memset(travels, 1, end);
    for (i = 0; i < of->row_count; i++)
        memset(travels + of->rows[i].offset, 0, of->rows[i].bytes);
    for (i = 0; i < of->row_count; i++)
        if (of->rows[i].else_raw ||
            (of->rows[i].kind != HAUL_FIELD_SKIP && holds(&of->rows[i], at)))
            memset(travels + of->rows[i].offset, 1, of->rows[i].bytes);
    for (i = 0; i < end; i++)
        at[i] = travels[i] ? at[i] : 0;
}

/* Its pointers lead to new objects behind all others, or to those that are there. */
static void fill(drawing *d, const drawn_object *o)
{
    const size_t end = haul__type_walk(o->of->type)->true_upper;
    unsigned char *at = d->arena.at + o->offset;
    size_t i, k;
    fill_bytes(d, o, end);
    for (i = 0; i < 4; i++)
        clear_rest(o->of, at, end);
    for (i = 0; i < o->of->row_count; i++) {
        const haul_field *row = &o->of->rows[i];
        if (row->kind != HAUL_FIELD_POINTER || !holds(row, at))
            continue;
        for (k = row->offset; k < row->offset + row->bytes; k += WORD) {
            const size_t target = lead(d, row, o->offset);
            const uintptr_t tags = one_in(d, 2) ? below(d, row->tag_bits + 1) & row->tag_bits : 0;
            put_pointer(d, o->offset + k, target | tags, row->tag_bits);
        }
    }
}

/* Each array of `b` has the one in the middle. */
static void fill_crowd(drawing *d)
{
    const haul_field *rows = d->types[0].rows;
    const size_t first = take_objects(d, &d->types[1], 2 * MIDDLE), roots = (size_t)d->root.count;
    size_t i;
    for (i = 0; i < roots; i++) {
        const size_t self = (size_t)d->root.offset + i * sizeof(crowded);
        const size_t before = below(d, MIDDLE), behind = below(d, MIDDLE);
        put_number(d->arena.at + self, &rows[1].count.field[0], (int64_t)(before + 1 + behind));
        put_pointer(d, self + rows[0].offset, first + MIDDLE * GRANULE, 0);
        put_pointer(d, self + rows[1].offset, first + (MIDDLE - before) * GRANULE, 0);
    }
    tell(d, first + MIDDLE * GRANULE, &d->types[1], &rows[0].type_switch,
         rows[0].type_switch.cases[0].value);
}

int drawing_of_graph(drawing *d)
{
    const int is_crowd = d->is_crowd && one_in(d, 2);
    const size_t roots = is_crowd ? CROWD - below(d, 20) : one_in(d, 4) ? 1 + below(d, 4) : 1;
    size_t i;
    memset(&d->root, 0, sizeof d->root);
    d->arena.count = d->bits.count = 0;
    bytes_resize(&d->arena, ARENA_MOST + DRAWN_TYPE_MOST);
    bytes_resize(&d->bits, (ARENA_MOST / WORD + 63) / 64 * sizeof(uint64_t));
    d->limit = is_crowd ? ARENA_MOST : GRANULE * (4 + below(d, one_in(d, 4) ? 150 : 60));
    d->next = GRANULE;
    d->object_count = 0;
    d->root.offset = take_objects(d, &d->types[0], roots);
    d->root.count = roots;
    if (is_crowd)
        fill_crowd(d);
    for (i = 0; i < d->object_count && !is_crowd; i++)
        fill(d, &d->objects[i]);
    d->arena.count = one_in(d, 2) ? d->limit : d->next;
    d->bits.count = (d->arena.count / WORD + 63) / 64 * sizeof(uint64_t);
    return d->root.offset != 0;
}

void drawing_close(drawing *d)
{
    size_t i;
    for (i = 0; i < TYPES; i++)
        haul_type_free(&d->types[i].type);
    bytes_free(&d->arena);
    bytes_free(&d->bits);
}
