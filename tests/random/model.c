/* Drawing a universe of types.
 *
 * A struct is drawn as a list of fields, shuffled, and laid out naturally, packed or with gaps.
 * Structs embed structs of lower index and point to anything. Some begin with a tag that tells
 * their type; some end with a tail, or are as long as they say themselves.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"

static const size_t pointer_bytes = sizeof(void *);

/* A row of rules draws as many fields, arms and what they read included. */
enum { FIELDS_AT_ONCE = 30 };

/* ---- Fields ---- */

model_field *draw_new_field(model_type *t, model_kind kind, size_t bytes)
{
    model_field *f = &t->field[t->field_count];
    memset(f, 0, sizeof *f);
    f->kind = kind;
    f->bytes = bytes;
    f->count = 1;
    f->target = -1;
    f->behind = -1;
    f->rule.arm_of = -1;
    snprintf(f->name, sizeof f->name, "f%u", t->field_count++);
    return f;
}

static unsigned count_field(choices *c, model_type *t)
{
    if (chance(c, 1, 3))
        for (unsigned i = 0; i < t->field_count; i++)
            if (t->field[i].kind == FIELD_COUNT)
                return i;
    model_field *f = draw_new_field(t, FIELD_COUNT, (size_t)1 << choose(c, 4));
    f->is_signed = chance(c, 1, 2);
    return t->field_count - 1;
}

model_shape draw_constant(int64_t add)
{
    model_shape s = { RULE_COUNT, 0, { 0, 0, 0 }, 1, add };
    return s;
}

model_shape draw_shape(choices *c, model_type *t, int plain, int pointers)
{
    model_shape s = { RULE_ONE, 0, { 0, 0, 0 }, 1, 1 };
    uint32_t kind = choose(c, 12);
    if (kind == 1)
        return draw_constant((int64_t)choose(c, 6));
    if (kind >= 2 && kind <= 6) {
        s.rule = RULE_COUNT;
        s.field_count = kind == 5 ? 2 : kind == 6 ? 3 : 1;
        s.add = kind == 3 ? (int64_t)choose(c, 5) - 2 : 0;
        s.multiply = kind == 4 ? (int64_t)choose(c, 4) : 1;
        for (unsigned i = 0; i < s.field_count; i++)
            s.field[i] = count_field(c, t);
    } else if (kind == 7 && plain) {
        static const int64_t values[] = { 0, 0, 7, 127, -1 };
        s.rule = RULE_SENTINEL;
        s.add = pointers ? 0 : values[choose(c, 5)];
    } else if (kind >= 8 && kind <= 10) {
        s.rule = kind == 8 ? RULE_BY_INDEX : kind == 9 ? RULE_BY_SELF : RULE_BY_TARGET;
    }
    return s;
}

size_t draw_element_bytes(choices *c)
{
    static const size_t bytes[] = { 1, 2, 4, 8, 1, 4, 8, 3, 12, 24, 100, 16 };
    return bytes[choose(c, 12)];
}

static int is_integer(size_t bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* The count is read through the pointer in front of this one. */
static void count_by_before(model_type *t, unsigned pointer)
{
    unsigned before = t->field_count;
    model_field *f = draw_new_field(t, FIELD_POINTER, pointer_bytes);
    f->levels = 1;
    f->element_bytes = 2;
    f->shape[0] = draw_constant(1);
    f->shape[0].rule = RULE_ONE;
    t->field[pointer].behind = (int)before;
    t->field[pointer].shape[0].rule = RULE_BY_BEFORE;
    t->field[pointer].shape[0].field_count = 0;
}

unsigned draw_pointer(choices *c, model_type *t)
{
    unsigned self = t->field_count;
    model_field *f = draw_new_field(t, FIELD_POINTER, 0);
    unsigned wanted = chance(c, 1, 4) ? 2 + choose(c, HAUL_LEVELS - 1) : 1;
    f->count = chance(c, 1, 6) ? 1 + choose(c, 4) : 1;
    f->bytes = f->count * pointer_bytes;
    f->levels = wanted;
    f->target = chance(c, 2, 3) ? -2 : -1;
    f->element_bytes = f->target == -1 ? draw_element_bytes(c) : 0;
    for (unsigned level = 0; level < wanted; level++) {
        int last = level + 1 == wanted;
        int plain = !last || (f->target == -1 && is_integer(f->element_bytes));
        model_shape s = draw_shape(c, t, plain, !last);
        f->shape[level] = s;
    }
    if (f->count != 1 || f->levels != 1)
        return self;
    if (chance(c, 1, 8)) {
        f->shape[0].rule = RULE_END;
        f->shape[0].field_count = 1;
        f->shape[0].field[0] = t->field_count;
        draw_new_field(t, FIELD_END, pointer_bytes);
    } else if (chance(c, 1, 12)) {
        count_by_before(t, self);
    }
    return self;
}

int draw_embed(choices *c, model *m, model_type *t, unsigned index)
{
    unsigned target = choose(c, index);
    size_t count = chance(c, 1, 2) ? 1 + choose(c, 4) : 1;
    const model_type *inner = &m->type[target];
    if (inner->extent * count > 1024 || inner->alignment > 64 || inner->sizing != SIZE_FIXED)
        return 0;
    model_field *f = draw_new_field(t, FIELD_EMBED, inner->extent * count);
    f->target = (int)target;
    f->count = count;
    f->stride = inner->extent;
    return 1;
}

static void draw_field(choices *c, model *m, model_type *t, unsigned index)
{
    uint32_t kind = choose(c, 16);
    if (kind < 3)
        draw_new_field(t, FIELD_DATA, (size_t)1 << choose(c, 4));
    else if (kind == 3)
        draw_new_field(t, FIELD_DATA, 1 + choose(c, chance(c, 1, 8) ? 600 : 40));
    else if (kind == 4)
        draw_new_field(t, FIELD_SKIP, 1 + choose(c, chance(c, 1, 8) ? 200 : 24));
    else if (kind == 5)
        draw_new_field(t, FIELD_OPAQUE, pointer_bytes);
    else if (kind <= 7 && index > 0)
        draw_embed(c, m, t, index);
    else if (kind == 8 || kind == 9)
        draw_ruled(c, m, t, index);
    else
        draw_pointer(c, t);
}

/* Elements of fixed size at the end: plain ones, or structs of lower index. */
static void draw_tail(choices *c, const model *m, model_type *t, unsigned index)
{
    int target = index != 0 && chance(c, 1, 2) ? (int)choose(c, index) : -1;
    if (target >= 0 && (!draw_stands_in_rows(&m->type[target]) || m->type[target].alignment > 64))
        target = -1;
    size_t e = target >= 0 ? m->type[target].extent : draw_element_bytes(c);
    model_shape s = draw_shape(c, t, target < 0 && is_integer(e), 0);
    model_field *f = draw_new_field(t, FIELD_TAIL, 0);
    f->levels = 1;
    f->target = target;
    f->element_bytes = f->stride = e;
    f->shape[0] = s;
    t->sizing = SIZE_BY_TAIL;
}

/* ---- Layout ---- */

static size_t field_alignment(const model *m, const model_type *t, const model_field *f)
{
    if (f->kind == FIELD_EMBED)
        return m->type[f->target].alignment;
    if (t->packed)
        return 1;
    if (f->kind == FIELD_POINTER || f->kind == FIELD_END)
        return f->bytes < pointer_bytes ? f->bytes : pointer_bytes;
    return is_integer(f->bytes) ? f->bytes : 1;
}

/* A random order of the fields, which are not moved: shapes name them by index. */
void draw_order(choices *c, unsigned *order, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    for (unsigned i = count; i > 1; i--) {
        unsigned j = choose(c, i), t = order[i - 1];
        order[i - 1] = order[j];
        order[j] = t;
    }
}

size_t draw_round_up(size_t n, size_t alignment)
{
    return (n + alignment - 1) / alignment * alignment;
}

/* Callbacks read the first byte of the struct: bytes are put there when such a rule was drawn. */
static int reads_first_byte(const model_type *t)
{
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        if (f->rule.when == WHEN_SELF || f->rule.base == BASE_BY_SELF ||
            f->rule.choice == CHOICE_BY_SELF)
            return 1;
        for (unsigned level = 0; level < f->levels; level++)
            if (f->shape[level].rule == RULE_BY_SELF)
                return 1;
    }
    return 0;
}

/* Does field `other` lie where field `i` does, or directly behind it? */
static int goes_with(const model_type *t, unsigned other, unsigned i)
{
    return t->field[other].rule.arm_of == (int)i || t->field[other].behind == (int)i;
}

static int has_place_of_its_own(const model_field *f)
{
    return f->rule.arm_of < 0 && f->behind < 0 && f->kind != FIELD_TAG && f->kind != FIELD_SIZE &&
           f->kind != FIELD_TAIL;
}

static void settle(const model *m, model_type *t, model_field *f, size_t offset)
{
    size_t alignment = field_alignment(m, t, f);
    f->offset = offset;
    f->unaligned = t->packed;
    t->has_pointers |= f->kind == FIELD_POINTER || f->kind == FIELD_END ||
                       (f->kind == FIELD_EMBED && m->type[f->target].has_pointers);
    /* Data fields align the layout, not the type: only pointers and declarations ask. */
    if ((f->kind == FIELD_POINTER || f->kind == FIELD_END || f->kind == FIELD_EMBED) &&
        alignment > t->alignment)
        t->alignment = alignment;
}

/* Field i, with its arms in the same place and what stands behind it. Answers the end. */
static size_t place_field(const model *m, model_type *t, unsigned i, size_t at)
{
    size_t alignment = field_alignment(m, t, &t->field[i]), end;
    for (unsigned k = 0; k < t->field_count; k++)
        if (goes_with(t, k, i) && field_alignment(m, t, &t->field[k]) > alignment)
            alignment = field_alignment(m, t, &t->field[k]);
    at = draw_round_up(at, alignment);
    end = at + t->field[i].bytes;
    settle(m, t, &t->field[i], at);
    for (unsigned k = 0; k < t->field_count; k++) {
        model_field *f = &t->field[k];
        if (!goes_with(t, k, i))
            continue;
        settle(m, t, f, f->behind >= 0 ? at + t->field[i].bytes : at);
        end = f->offset + f->bytes > end ? f->offset + f->bytes : end;
    }
    return end;
}

static size_t place_head(model_type *t)
{
    size_t at = reads_first_byte(t) ? 1 : 0;
    for (unsigned i = 0; i < t->field_count; i++) {
        model_field *f = &t->field[i];
        if (f->kind != FIELD_TAG && f->kind != FIELD_SIZE)
            continue;
        f->offset = f->kind == FIELD_TAG ? TAG_AT : SIZE_AT;
        at = f->offset + f->bytes > at ? f->offset + f->bytes : at;
    }
    return at;
}

static size_t place_tail(const model *m, model_type *t, model_field *tail, size_t at)
{
    size_t alignment = tail->target >= 0 ? m->type[tail->target].alignment : 1;
    tail->offset = draw_round_up(at != 0 ? at : 1, alignment);
    if (alignment > t->alignment)
        t->alignment = alignment;
    t->has_pointers |= tail->target >= 0 && m->type[tail->target].has_pointers;
    return tail->offset;
}

static void lay_out(choices *c, model *m, model_type *t)
{
    unsigned order[MODEL_FIELDS];
    int gaps = !m->is_plain && chance(c, 1, 4);
    size_t at = place_head(t);
    t->alignment = 1;
    draw_order(c, order, t->field_count);
    for (unsigned i = 0; i < t->field_count; i++) {
        if (gaps && chance(c, 1, 4))
            at += 4 * choose(c, 6);
        if (has_place_of_its_own(&t->field[order[i]]))
            at = place_field(m, t, order[i], at);
    }
    if (model_tail(t) != NULL)
        at = place_tail(m, t, &t->field[t->field_count - 1], at);
    t->extent = at != 0 ? at : 1;
    if (gaps)
        t->extent += choose(c, 40);
}

static void declare_alignment(choices *c, model_type *t)
{
    size_t declared = (size_t)1 << (chance(c, 1, 8) ? 4 + choose(c, 9) : 1 + choose(c, 6));
    int must = t->alignment > pointer_bytes;
    if (!must && !chance(c, 1, 6))
        return;
    if (declared < t->alignment || draw_round_up(t->extent, declared) > MODEL_STRUCT_BYTES)
        declared = t->alignment;
    if (declared == 1)
        return;
    t->declared = declared;
    t->alignment = declared;
}

static int compare_runs(const void *a, const void *b)
{
    const model_run *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* May the field's bytes be something else than bytes? */
static int is_special(const model_field *f)
{
    return f->kind == FIELD_SKIP || f->kind == FIELD_EMBED || f->kind == FIELD_POINTER ||
           f->kind == FIELD_END || f->kind == FIELD_TAIL ||
           (f->kind == FIELD_DATA && f->rule.is_there);
}

static int never_travels(const model_field *f)
{
    return f->kind == FIELD_SKIP || (f->rule.mode == MODE_NULL && !f->rule.raw);
}

/* The bytes that travel whatever the object is. */
static void find_runs(model_type *t)
{
    model_run taken[MODEL_FIELDS];
    unsigned n = 0;
    size_t at = 0;
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        t->has_holes |= never_travels(f) || f->rule.when != WHEN_ALWAYS;
        if (is_special(f)) {
            taken[n].offset = f->offset;
            taken[n++].bytes = f->kind == FIELD_TAIL ? t->extent - f->offset : f->bytes;
        }
    }
    qsort(taken, n, sizeof taken[0], compare_runs);
    t->run_count = 0;
    for (unsigned i = 0; i <= n; i++) {
        size_t end = i < n ? taken[i].offset : t->extent;
        if (end > at) {
            t->run[t->run_count].offset = at;
            t->run[t->run_count++].bytes = end - at;
        }
        if (i < n && taken[i].offset + taken[i].bytes > at)
            at = taken[i].offset + taken[i].bytes;
    }
}

static void include_true(model_type *t, size_t lower, size_t upper)
{
    if (lower < t->true_lower)
        t->true_lower = lower;
    if (upper > t->true_upper)
        t->true_upper = upper;
}

void draw_true_extent(const model *m, model_type *t)
{
    t->true_lower = SIZE_MAX;
    t->true_upper = 0;
    for (unsigned i = 0; i < t->run_count; i++)
        include_true(t, t->run[i].offset, t->run[i].offset + t->run[i].bytes);
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        if (f->kind == FIELD_EMBED && f->rule.is_there && f->rule.when != WHEN_ALWAYS)
            include_true(t, f->offset, f->offset + f->bytes);
        else if (f->kind == FIELD_EMBED && f->count != 0 && m->type[f->target].true_upper != 0)
            include_true(t, f->offset + m->type[f->target].true_lower,
                         f->offset + (f->count - 1) * f->stride + m->type[f->target].true_upper);
        else if (is_special(f) && !never_travels(f) && f->kind != FIELD_TAIL &&
                 f->kind != FIELD_EMBED)
            include_true(t, f->offset, f->offset + f->bytes);
    }
    if (t->true_lower == SIZE_MAX)
        t->true_lower = 0;
}

/* ---- Structs ---- */

static void clear(model_type *t, char letter, unsigned index)
{
    memset(t, 0, sizeof *t);
    t->alignment = 1;
    snprintf(t->name, sizeof t->name, "%c%u", letter, index);
}

static void draw_head(choices *c, model_type *t, unsigned index)
{
    if (chance(c, 1, 3)) {
        t->tag = -500 + 97 * (int64_t)index;
        draw_new_field(t, FIELD_TAG, TAG_BYTES)->is_signed = 1;
    }
    if (chance(c, 1, 6)) {
        t->sizing = SIZE_STORED;
        draw_new_field(t, FIELD_SIZE, 2);
    }
}

static void draw_plain(model_type *t, unsigned index)
{
    clear(t, 's', index);
    draw_new_field(t, FIELD_DATA, 4);
    t->extent = 4;
}

/* Of plain universes: a string; an array of integers, objects or pointers; one object. */
static void draw_plain_pointer(choices *c, model_type *t)
{
    const unsigned levels = chance(c, 1, 4) ? 2 : 1;
    const uint32_t way = choose(c, 6);
    model_field *f = draw_new_field(t, FIELD_POINTER, pointer_bytes);
    f->levels = levels;
    f->target = way < 3 ? -2 : -1;
    f->element_bytes = way == 3 ? 1 : way < 3 ? 0 : (size_t)1 << choose(c, 4);
    for (unsigned level = 0; level < levels; level++) {
        model_shape s = { RULE_COUNT, 1, { 0, 0, 0 }, 1, 0 };
        const int is_last = level + 1 == levels;
        if (is_last && way == 3) {
            s = draw_constant(0);
            s.rule = RULE_SENTINEL;
        } else if (is_last && way < 2) {
            s = draw_constant(1);
            s.rule = RULE_ONE;
        } else if (levels == 1 && chance(c, 1, 8)) {
            s = draw_constant(0);
            s.rule = RULE_BY_TARGET; /* the caller's thread asks */
        } else if (!is_last || levels == 1) {
            s.field[0] = count_field(c, t); /* moves no field */
        } else {
            s = draw_constant((int64_t)choose(c, 4));
        }
        f->shape[level] = s;
    }
}

/* Structs that several threads discover: no rules, holes, parts or odd places. */
static void draw_plain_struct(choices *c, model *m, unsigned index)
{
    model_type *t = &m->type[index];
    unsigned wanted = 1 + choose(c, 6);
    clear(t, 's', index);
    draw_new_field(t, FIELD_DATA, pointer_bytes);
    while (wanted-- != 0)
        if (chance(c, 1, 3))
            draw_new_field(t, FIELD_DATA, (size_t)1 << choose(c, 4));
        else
            draw_plain_pointer(c, t);
    lay_out(c, m, t);
    t->extent = draw_round_up(t->extent, t->alignment);
    t->upper = t->extent;
    find_runs(t);
    draw_true_extent(m, t);
}

static void draw_struct(choices *c, model *m, unsigned index)
{
    model_type *t = &m->type[index];
    unsigned wanted = 1 + choose(c, 20);
    clear(t, 's', index);
    t->packed = chance(c, 1, 5);
    draw_head(c, t, index);
    while (wanted-- != 0 && t->field_count + FIELDS_AT_ONCE < MODEL_FIELDS)
        draw_field(c, m, t, index);
    if (t->sizing == SIZE_FIXED && chance(c, 1, 5))
        draw_tail(c, m, t, index);
    draw_field_directions(c, m, t);
    lay_out(c, m, t);
    declare_alignment(c, t);
    t->extent = draw_round_up(t->extent, t->alignment);
    if (t->extent > MODEL_STRUCT_BYTES)
        draw_plain(t, index);
    t->upper = t->extent;
    find_runs(t);
    draw_true_extent(m, t);
    if (t->true_upper == 0) { /* nothing would travel: not a type to point to */
        if (t->sizing == SIZE_BY_TAIL)
            draw_plain(t, index); /* nor does it when its struct is longer */
        else
            t->extent += t->alignment;
        t->upper = t->extent;
        find_runs(t);
        draw_true_extent(m, t);
    }
}

/* ---- Targets ---- */

int draw_stands_in_rows(const model_type *t)
{
    return t->extent % t->alignment == 0 && t->sizing == SIZE_FIXED;
}

static int can_be_target(const model_type *t, const model_field *f)
{
    return draw_stands_in_rows(t) ||
           (t->sizing != SIZE_FIXED && f->shape[f->levels - 1].rule == RULE_ONE);
}

static void draw_target(choices *c, const model *m, unsigned type, model_field *f)
{
    f->target = (int)choose(c, chance(c, 1, 4) ? m->type_count : m->struct_count);
    if (!can_be_target(&m->type[f->target], f))
        f->target = (int)type;
    if (!can_be_target(&m->type[f->target], f))
        f->target = -1;
    f->element_bytes = f->target >= 0 ? m->type[f->target].extent : draw_element_bytes(c);
}

static void draw_targets(choices *c, model *m)
{
    for (unsigned i = 0; i < m->struct_count; i++)
        for (unsigned k = 0; k < m->type[i].field_count; k++) {
            model_field *f = &m->type[i].field[k];
            if (f->kind != FIELD_POINTER)
                continue;
            if (f->rule.choice != CHOICE_NONE)
                draw_cases(c, m, f);
            else if (f->target == -2)
                draw_target(c, m, i, f);
            draw_wide_tags(c, m, f);
            draw_pointer_direction(c, m, f);
        }
}

void model_draw(choices *c, model *m, int is_plain)
{
    m->why[0] = '\0';
    m->is_plain = is_plain;
    if (is_plain) {
        m->has_directions = m->has_high_tags = 0;
        m->struct_count = m->type_count = 1 + choose(c, 4);
        for (unsigned i = 0; i < m->struct_count; i++)
            draw_plain_struct(c, m, i);
        draw_targets(c, m);
        return;
    }
    m->has_directions = chance(c, 1, 4);
    m->has_high_tags = chance(c, 1, 5) && pointer_bytes > 4;
    m->struct_count = 1 + choose(c, chance(c, 1, 4) ? MODEL_STRUCTS : 4);
    for (unsigned i = 0; i < m->struct_count; i++)
        draw_struct(c, m, i);
    m->type_count = m->struct_count;
    unsigned derived = chance(c, 1, 2) ? 1 + choose(c, MODEL_DERIVED) : 0;
    while (derived-- != 0) {
        clear(&m->type[m->type_count], 'd', m->type_count);
        draw_derived(c, m, m->type_count);
        m->type_count++;
    }
    draw_targets(c, m);
}
