/* Fields and pointers of objects, as the types say.
 */
#include "objects.h"

#include <string.h>

block block_of(const haul_image *image)
{
    block b;
    b.at = haul_image_memory(image, &b.bytes);
    return b;
}

static int lies_in(const block *b, const unsigned char *at, size_t bytes)
{
    const uintptr_t offset = (uintptr_t)at - (uintptr_t)b->at;
    return (uintptr_t)at >= (uintptr_t)b->at && offset <= b->bytes && bytes <= b->bytes - offset;
}

/* ---- Numbers. */

int64_t read_integer(const unsigned char *self, const haul_integer *place)
{
    int64_t value = 0;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    switch (place->bytes) {
    case 1:
        memcpy(&u8, self + place->offset, 1);
        return place->sign ? (int8_t)u8 : u8;
    case 2:
        memcpy(&u16, self + place->offset, 2);
        return place->sign ? (int16_t)u16 : u16;
    case 4:
        memcpy(&u32, self + place->offset, 4);
        return place->sign ? (int32_t)u32 : (int64_t)u32;
    default:
        memcpy(&value, self + place->offset, 8);
        return value;
    }
}

static uintptr_t read_word(const unsigned char *at)
{
    uintptr_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static int when_holds(const haul_when *when, const unsigned char *self)
{
    int64_t value;
    int inside;
    if (when->kind != HAUL_WHEN_KIND_FIELD && when->kind != HAUL_WHEN_KIND_NOT)
        return 1;
    value = read_integer(self, &when->field);
    inside = when->field.sign || when->field.bytes < 8 || value >= 0;
    value &= when->mask;
    inside = inside && value >= when->low && value <= when->high;
    return when->kind == HAUL_WHEN_KIND_NOT ? !inside : inside;
}

int field_holds(const unsigned char *self, const haul_field_info *field)
{
    return !field->members || when_holds(&field->members->when, self);
}

size_t fields_of(const haul_type *type)
{
    const size_t count = haul_type_field_count(type);
    size_t lower, extent;
    if (haul_type_get_extent(type, &lower, &extent) != HAUL_OK)
        return 0;
    return count / 64 <= extent ? count : 0;
}

static int is_distance(const haul_field_info *field)
{
    return field->kind == HAUL_FIELD_RELATIVE;
}

size_t pointers_of(const haul_field_info *field)
{
    return is_distance(field) ? 1 : field->bytes / sizeof(void *);
}

/* ---- Counts. */

static size_t multiply(int64_t a, int64_t b, int *good)
{
    if (a < 0 || b < 0 || (b > 0 && a > INT64_MAX / b))
        *good = 0;
    return *good ? (size_t)(a * b) : 0;
}

static size_t product_of(const haul_count *count, const unsigned char *self, int *good)
{
    int64_t value = count->fields ? count->times : 0;
    unsigned i;
    if (value < 0)
        *good = 0;
    for (i = 0; i < count->fields && *good; i++)
        value = (int64_t)multiply(value, read_integer(self, &count->field[i]), good);
    if (count->plus > 0 ? value > INT64_MAX - count->plus : value + count->plus < 0)
        *good = 0; /* the value is not below 0 */
    return *good ? (size_t)(value + count->plus) : 0;
}

static size_t terminated_count(const block *b, const unsigned char *at, size_t unit, int64_t end,
                               int *good)
{
    size_t count = 0;
    for (; lies_in(b, at, unit); at += unit) {
        haul_integer place = { 0, 0, 1, { 0, 0, 0 } };
        int64_t value;
        place.bytes = (uint8_t)unit;
        value = read_integer(at, &place);
        count++;
        if (unit < 8 ? ((value ^ end) & (((int64_t)1 << 8 * unit) - 1)) == 0 : value == end)
            return count;
    }
    *good = 0;
    return 0;
}

static size_t count_of(const block *b, const haul_count *count, const unsigned char *self,
                       const range *to, int *good)
{
    uintptr_t end;
    switch (count->kind) {
    case HAUL_COUNT_KIND_ONE:
        return 1;
    case HAUL_COUNT_KIND_PRODUCT:
        return product_of(count, self, good);
    case HAUL_COUNT_KIND_UNTIL:
        end = read_word(self + count->field[0].offset);
        *good = *good && end >= (uintptr_t)to->at && to->stride > 0;
        return *good ? (size_t)(end - (uintptr_t)to->at) / to->stride : 0;
    case HAUL_COUNT_KIND_TERMINATED:
        return terminated_count(b, to->at, to->stride, count->plus, good);
    default:
        *good = 0; /* a function */
        return 0;
    }
}

/* ---- Ranges. */

/* The bytes of one object: more than its extent if it has a tail, or its elements interleave. */
static size_t bytes_of_object(const block *b, const haul_type *type, const unsigned char *at,
                              int *good)
{
    const size_t fields = fields_of(type);
    size_t lower, extent, first, bytes;
    haul_field_info field;
    range tail;
    if (haul_type_get_extent(type, &lower, &extent) != HAUL_OK ||
        haul_type_get_true_extent(type, &first, &bytes) != HAUL_OK)
        *good = 0;
    if (!*good)
        return 0;
    if (fields && haul_type_get_field(type, fields - 1, &field) == HAUL_OK &&
        field.kind == HAUL_FIELD_TAIL) {
        *good = lies_in(b, at, field.offset) && read_tail(b, at, &field, &tail);
        return *good ? field.offset + tail.bytes : 0;
    }
    return first + bytes > extent ? first + bytes : extent;
}

/* Sets the bytes of a range whose count and stride are known. 0: it does not lie in the block. */
static int measure(const block *b, range *to)
{
    int good = 1;
    size_t last = to->stride;
    if (to->count == 0)
        return 1;
    if (to->kind == OBJECTS)
        last = bytes_of_object(b, to->type, to->at, &good);
    if (!good || !to->stride || to->count - 1 > b->bytes / to->stride)
        return 0;
    to->bytes = (to->count - 1) * to->stride + last;
    return lies_in(b, to->at, to->bytes);
}

/* Elements of a type without fields are plain. */
static void set_target(range *to, const haul_type *type, size_t element_bytes)
{
    size_t lower;
    to->kind = type && haul_type_combiner(type) != HAUL_COMBINER_BYTES ? OBJECTS : PLAIN;
    to->type = type;
    to->stride = element_bytes;
    if (type && haul_type_get_extent(type, &lower, &to->stride) != HAUL_OK)
        to->stride = 0;
}

int range_of_root(const block *b, const haul_root *root, range *to)
{
    memset(to, 0, sizeof *to);
    set_target(to, root->type, 0);
    to->at = root->address;
    to->count = root->count;
    return measure(b, to);
}

int read_tail(const block *b, const unsigned char *self, const haul_field_info *field, range *to)
{
    int good = 1;
    memset(to, 0, sizeof *to);
    set_target(to, field->target, field->element_bytes);
    to->at = self + field->offset;
    to->count = count_of(b, &field->counts[0], self, to, &good);
    return good && (!to->count || (to->stride && to->count <= b->bytes / to->stride)) &&
           lies_in(b, to->at, to->bytes = to->count * to->stride);
}

/* ---- Pointers. */

/* Of the pointer at a level of the field: its own, or those of .each_pointer. NULL: none. */
static const haul_field *members_of(const haul_field_info *field, unsigned level)
{
    if (level == 0 || !field->members)
        return field->members;
    return level == 1 ? field->members->each_pointer : NULL;
}

/* 0: a value without a case. */
static int choose(const block *b, const haul_switch *by, const unsigned char *self, pointer *p)
{
    const unsigned char *from = by->kind == HAUL_SWITCH_KIND_SELF ? self : p->to.at;
    uint64_t mask = by->field.bytes < 8 ? ((uint64_t)1 << 8 * by->field.bytes) - 1 : UINT64_MAX;
    uint64_t value;
    size_t i;
    if (by->kind == HAUL_SWITCH_KIND_FUNCTION ||
        !lies_in(b, from, by->field.offset + by->field.bytes))
        return 0;
    value = (uint64_t)read_integer(from, &by->field);
    for (i = 0; i < by->case_count; i++)
        if ((((uint64_t)by->cases[i].value ^ value) & mask) == 0) {
            p->to.at = (const unsigned char *)((uintptr_t)p->to.at + (uintptr_t)by->cases[i].base);
            set_target(&p->to, *by->cases[i].type, 0);
            return 1;
        }
    return 0;
}

/* Where a pointer that is followed leads. 0: to nothing right. */
static int follow(const block *b, const unsigned char *self, const haul_field_info *field,
                  unsigned level, pointer *p)
{
    const haul_field *members = members_of(field, level);
    const haul_count *count = &field->counts[level];
    range *to = &p->to;
    int good = 1;
    to->at = p->address;
    if (level + 1 < field->levels) {
        to->kind = POINTERS;
        to->stride = sizeof(void *);
        to->self = self;
        to->field = *field;
        to->level = level + 1;
    } else {
        set_target(to, field->target, field->element_bytes);
        to->at =
            (const unsigned char *)((uintptr_t)to->at + (uintptr_t)(members ? members->base : 0));
        if (members && members->type_switch.kind != HAUL_SWITCH_KIND_NONE &&
            !choose(b, &members->type_switch, self, p))
            return 0;
    }
    to->count = count_of(b, count, self, to, &good);
    to->is_pool = level == 0 && members && members->pool;
    to->is_text = to->kind == PLAIN && to->stride == 1 && count->kind == HAUL_COUNT_KIND_TERMINATED;
    return good && measure(b, to);
}

static void read_meaning(const haul_field *members, pointer *p)
{
    const uintptr_t word = (uintptr_t)p->word;
    const uintptr_t tags = members ? members->tag_bits : 0;
    p->tag = word & tags;
    p->address = (const unsigned char *)(word & ~tags);
    if (!word)
        p->meaning = IS_NULL;
    else if (members && (word < members->integers_below ||
                         (members->integers_from && word >= members->integers_from)))
        p->meaning = IS_NUMBER;
    else if (!(word & ~tags))
        p->meaning = IS_NUMBER;
    else if (members && members->end_of.bytes)
        p->meaning = IS_END;
    else if (members && members->ownership == HAUL_BORROWED)
        p->meaning = IS_BORROWED;
    else
        p->meaning = LEADS;
}

static pointer read_at(const block *b, const unsigned char *at, const unsigned char *self,
                       const haul_field_info *field, unsigned level)
{
    const haul_field *members = members_of(field, level);
    pointer p;
    memset(&p, 0, sizeof p);
    if (level > 0 && members && !when_holds(&members->when, self))
        return p;
    if (level == 0 && is_distance(field)) {
        haul_integer place = { 0, 0, 1, { 0, 0, 0 } };
        int64_t distance;
        place.bytes = (uint8_t)field->bytes;
        distance = read_integer(at, &place);
        p.word = distance ? (uintptr_t)at + (uintptr_t)distance : 0;
        p.address = (const unsigned char *)(uintptr_t)p.word;
        p.meaning = distance ? LEADS : IS_NULL;
    } else {
        p.word = read_word(at);
        read_meaning(members, &p);
    }
    if (p.meaning == LEADS && !follow(b, self, field, level, &p))
        p.meaning = IS_BROKEN;
    return p;
}

pointer read_field(const block *b, const unsigned char *self, const haul_field_info *field,
                   size_t index)
{
    return read_at(b, self + field->offset + index * sizeof(void *), self, field, 0);
}

pointer read_element(const block *b, const range *pointers, size_t index)
{
    return read_at(b, pointers->at + index * sizeof(void *), pointers->self, &pointers->field,
                   pointers->level);
}

/* ---- Plain bytes. */

/* The end of what covers the byte at `at`; 0: nothing does, and *next is lowered to where the next
 * one begins. */
static size_t covered(size_t offset, size_t bytes, size_t at, size_t *next)
{
    if (offset <= at && at - offset < bytes)
        return offset + bytes;
    if (offset > at && bytes && offset < *next)
        *next = offset;
    return 0;
}

static size_t covered_to(const unsigned char *self, const haul_type *type, size_t at, size_t *next)
{
    const size_t count = fields_of(type);
    size_t i, end = 0;
    for (i = 0; i < count && !end; i++) {
        haul_field_info f;
        if (haul_type_get_field(type, i, &f) != HAUL_OK || !field_holds(self, &f))
            continue;
        end = covered(f.offset, f.kind == HAUL_FIELD_TAIL ? SIZE_MAX / 4 : f.bytes, at, next);
        if (!end && f.levels && f.counts[0].kind == HAUL_COUNT_KIND_UNTIL)
            end = covered(f.counts[0].field[0].offset, sizeof(void *), at, next);
    }
    return end;
}

int next_plain(const unsigned char *self, const haul_type *type, size_t bytes, size_t *at,
               size_t *count)
{
    while (*at < bytes) {
        size_t next = bytes, end = covered_to(self, type, *at, &next);
        if (!end) {
            *count = next - *at;
            return 1;
        }
        *at = end;
    }
    return 0;
}
