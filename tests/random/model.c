/* Drawing a universe of types, and saying it to the library.
 *
 * A struct is drawn as a list of fields, shuffled, and laid out naturally, packed or with gaps. Structs embed structs
 * of lower index and point to anything. Derived types are laid out by MPI's rules, worked out here from the blocks
 * alone, so that the library's extents have something to be compared with.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t pointer_bytes = sizeof(void *);

/* ---- Structs ---- */

static size_t field_alignment(const model *m, const model_type *t, const model_field *f)
{
    if (f->kind == FIELD_EMBED)
        return m->type[f->target].alignment;
    if (t->packed)
        return 1;
    if (f->kind == FIELD_POINTER || f->kind == FIELD_END)
        return pointer_bytes;
    return f->bytes == 2 || f->bytes == 4 || f->bytes == 8 ? f->bytes : 1;
}

static model_field *new_field(model_type *t, model_kind kind, size_t bytes)
{
    model_field *f = &t->field[t->field_count];
    memset(f, 0, sizeof *f);
    f->kind = kind;
    f->bytes = bytes;
    f->count = 1;
    f->target = -1;
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
    model_field *f = new_field(t, FIELD_COUNT, (size_t)1 << choose(c, 4));
    f->is_signed = chance(c, 1, 2);
    return t->field_count - 1;
}

static model_shape constant_shape(int64_t add)
{
    model_shape s = { RULE_COUNT, 0, { 0, 0, 0 }, 1, add };
    return s;
}

/* `plain`: the elements are integers of 1, 2, 4 or 8 bytes, or pointers, so that a terminator can be looked for. */
static model_shape draw_shape(choices *c, model_type *t, int plain, int pointers)
{
    model_shape s = { RULE_ONE, 0, { 0, 0, 0 }, 1, 1 };
    uint32_t kind = choose(c, 12);
    if (kind == 1)
        return constant_shape((int64_t)choose(c, 6));
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

static size_t draw_element_bytes(choices *c)
{
    static const size_t bytes[] = { 1, 2, 4, 8, 1, 4, 8, 3, 12, 24, 100, 16 };
    return bytes[choose(c, 12)];
}

/* The targets are drawn last, when all types are known; here -2 stands for "some type". */
static void draw_pointer(choices *c, model_type *t)
{
    model_field *f = new_field(t, FIELD_POINTER, 0);
    unsigned self = t->field_count - 1;
    unsigned wanted = chance(c, 1, 4) ? 2 + choose(c, HAUL_LEVELS - 1) : 1;
    f->count = chance(c, 1, 6) ? 1 + choose(c, 4) : 1;
    f->bytes = f->count * pointer_bytes;
    f->levels = wanted;
    f->target = chance(c, 2, 3) ? -2 : -1;
    f->element_bytes = f->target == -1 ? draw_element_bytes(c) : 0;
    for (unsigned level = 0; level < wanted; level++) {
        int last = level + 1 == wanted;
        size_t e = t->field[self].element_bytes;
        int plain = !last || (t->field[self].target == -1 && (e == 1 || e == 2 || e == 4 || e == 8));
        model_shape s = draw_shape(c, t, plain, !last);
        t->field[self].shape[level] = s;
    }
    f = &t->field[self];
    if (f->count == 1 && f->levels == 1 && chance(c, 1, 8)) {
        unsigned end = t->field_count;
        new_field(t, FIELD_END, pointer_bytes);
        f->shape[0].rule = RULE_END;
        f->shape[0].field_count = 1;
        f->shape[0].field[0] = end;
    }
}

int model_holds(const model_type *t, const model_field *f, const void *self)
{
    const unsigned char *bytes = self;
    if (f->rule.when == WHEN_KIND)
        return (bytes[t->field[f->rule.kind].offset] & 3u) == f->rule.value;
    return f->rule.when == WHEN_ALWAYS || (bytes[0] & 1) != 0;
}

/* Another pointer in the place of field `first`, for another kind. */
static void draw_arm(choices *c, model_type *t, unsigned first)
{
    draw_pointer(c, t);
    model_field *f = &t->field[t->field_count - 1];
    while (f->kind != FIELD_POINTER)
        f--;
    if (f->levels != 1 || f->count != 1 || f->shape[0].rule == RULE_END)
        return;
    f->rule = t->field[first].rule;
    f->rule.value = (f->rule.value + 1 + choose(c, 3)) & 3;
    f->rule.raw = chance(c, 1, 2);
    f->rule.arm_of = (int)first;
    f->rule.tags = f->rule.integers = 0;
    f->rule.bias = 0;
}

/* A pointer with a rule, and perhaps another arm. */
static void draw_ruled(choices *c, model_type *t)
{
    static const uintptr_t tags[] = { 0, 0, 1, 3, sizeof(void *) - 1, 2 };
    static const intptr_t biases[] = { 0, 0, 0, 8, -8, 24, -100, 5000, -5000, 1 };
    unsigned first = t->field_count, kind;
    draw_pointer(c, t);
    model_field *f = &t->field[t->field_count - 1];
    while (f->kind != FIELD_POINTER)
        f--;
    first = (unsigned)(f - t->field);
    if (f->levels != 1 || f->shape[0].rule == RULE_END)
        return;
    f->rule.is_there = 1;
    f->rule.when = (model_when)choose(c, 3);
    f->rule.raw = f->rule.when != WHEN_ALWAYS && chance(c, 1, 2);
    f->rule.tags = tags[choose(c, 6)];
    f->rule.integers = chance(c, 1, 3) ? 100 : 0;
    f->rule.bias = biases[choose(c, 10)];
    if (f->rule.when != WHEN_KIND)
        return;
    f->rule.value = choose(c, 4);
    kind = t->field_count;
    new_field(t, FIELD_KIND, 1);
    t->field[first].rule.kind = kind;
    if (t->field[first].count == 1 && chance(c, 1, 2) && t->field_count + 8 < MODEL_FIELDS)
        draw_arm(c, t, first);
}

static void draw_embed(choices *c, model *m, model_type *t, unsigned index)
{
    unsigned target = choose(c, index);
    size_t count = chance(c, 1, 2) ? 1 + choose(c, 4) : 1;
    const model_type *inner = &m->type[target];
    if (inner->extent * count > 1024 || inner->alignment > 64)
        return;
    model_field *f = new_field(t, FIELD_EMBED, inner->extent * count);
    f->target = (int)target;
    f->count = count;
    f->stride = inner->extent;
}

static void draw_field(choices *c, model *m, model_type *t, unsigned index)
{
    uint32_t kind = choose(c, 16);
    if (kind < 3)
        new_field(t, FIELD_DATA, (size_t)1 << choose(c, 4));
    else if (kind == 3)
        new_field(t, FIELD_DATA, 1 + choose(c, chance(c, 1, 8) ? 600 : 40));
    else if (kind == 4)
        new_field(t, FIELD_SKIP, 1 + choose(c, chance(c, 1, 8) ? 200 : 24));
    else if (kind == 5)
        new_field(t, FIELD_OPAQUE, pointer_bytes);
    else if (kind <= 7 && index > 0)
        draw_embed(c, m, t, index);
    else if (kind == 8 && chance(c, 1, 2))
        draw_ruled(c, t);
    else
        draw_pointer(c, t);
}

/* A random order of the fields, which are not moved: shapes name them by index. */
static void shuffle(choices *c, unsigned *order, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    for (unsigned i = count; i > 1; i--) {
        unsigned j = choose(c, i), t = order[i - 1];
        order[i - 1] = order[j];
        order[j] = t;
    }
}

static size_t round_up(size_t n, size_t alignment)
{
    return (n + alignment - 1) / alignment * alignment;
}

/* RULE_BY_SELF reads the first byte of the struct: a data byte is put there when such a rule was drawn. */
static int reads_first_byte(const model_type *t)
{
    for (unsigned i = 0; i < t->field_count; i++)
        for (unsigned level = 0; level < t->field[i].levels; level++)
            if (t->field[i].shape[level].rule == RULE_BY_SELF || t->field[i].rule.when == WHEN_SELF)
                return 1;
    return 0;
}

static void lay_out(choices *c, model *m, model_type *t)
{
    unsigned order[MODEL_FIELDS];
    int gaps = chance(c, 1, 4);
    size_t at = reads_first_byte(t) ? 1 : 0;
    t->alignment = 1;
    shuffle(c, order, t->field_count);
    for (unsigned i = 0; i < t->field_count; i++) {
        model_field *f = &t->field[order[i]];
        size_t alignment = field_alignment(m, t, f);
        if (gaps && chance(c, 1, 4))
            at += alignment * choose(c, 6);
        at = round_up(at, alignment);
        if (f->rule.arm_of >= 0)
            continue; /* with the field whose place it has */
        f->offset = at;
        at += f->bytes;
        for (unsigned k = 0; k < t->field_count; k++)
            if (t->field[k].rule.arm_of == (int)order[i]) {
                t->field[k].offset = f->offset;
                t->field[k].unaligned = t->packed;
            }
        if (f->kind == FIELD_POINTER || f->kind == FIELD_END) {
            f->unaligned = t->packed;
            t->has_pointers = 1;
        } else if (f->kind == FIELD_EMBED) {
            t->has_pointers |= m->type[f->target].has_pointers;
        }
        /* Data fields align the layout, not the type: only pointers and declarations ask. */
        if ((f->kind == FIELD_POINTER || f->kind == FIELD_END || f->kind == FIELD_EMBED) && alignment > t->alignment)
            t->alignment = alignment;
    }
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
    if (declared < t->alignment || round_up(t->extent, declared) > MODEL_STRUCT_BYTES)
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

/* The bytes that travel: all but those of pointers, embedded types and skipped fields. */
static void find_runs(model_type *t)
{
    model_run taken[MODEL_FIELDS];
    unsigned n = 0;
    size_t at = 0;
    for (unsigned i = 0; i < t->field_count; i++) {
        model_kind kind = t->field[i].kind;
        t->has_holes |= kind == FIELD_SKIP || (t->field[i].rule.when != WHEN_ALWAYS && !t->field[i].rule.raw);
        if (kind == FIELD_SKIP || kind == FIELD_EMBED || kind == FIELD_POINTER || kind == FIELD_END) {
            taken[n].offset = t->field[i].offset;
            taken[n++].bytes = t->field[i].bytes;
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
        at = i < n ? taken[i].offset + taken[i].bytes : end;
    }
}

static void include_true(model_type *t, size_t lower, size_t upper)
{
    if (lower < t->true_lower)
        t->true_lower = lower;
    if (upper > t->true_upper)
        t->true_upper = upper;
}

/* The span of what travels, holes at both ends left out. */
static void find_true_extent(const model *m, model_type *t)
{
    t->true_lower = SIZE_MAX;
    t->true_upper = 0;
    for (unsigned i = 0; i < t->run_count; i++)
        include_true(t, t->run[i].offset, t->run[i].offset + t->run[i].bytes);
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        if (f->kind == FIELD_POINTER || f->kind == FIELD_END)
            include_true(t, f->offset, f->offset + f->bytes);
        if (f->kind == FIELD_EMBED && f->count != 0 && m->type[f->target].true_upper != 0)
            include_true(t, f->offset + m->type[f->target].true_lower,
                         f->offset + (f->count - 1) * f->stride + m->type[f->target].true_upper);
    }
    if (t->true_lower == SIZE_MAX)
        t->true_lower = 0;
}

static void draw_struct(choices *c, model *m, unsigned index)
{
    model_type *t = &m->type[index];
    unsigned wanted = 1 + choose(c, 20);
    snprintf(t->name, sizeof t->name, "s%u", index);
    t->packed = chance(c, 1, 5);
    while (wanted-- != 0 && t->field_count + 12 < MODEL_FIELDS)
        draw_field(c, m, t, index);
    lay_out(c, m, t);
    declare_alignment(c, t);
    t->extent = round_up(t->extent, t->alignment);
    if (t->extent > MODEL_STRUCT_BYTES) {
        memset(t, 0, sizeof *t);
        snprintf(t->name, sizeof t->name, "s%u", index);
        new_field(t, FIELD_DATA, 4);
        t->extent = 4;
        t->alignment = 1;
    }
    t->upper = t->extent;
    find_runs(t);
    find_true_extent(m, t);
    if (t->true_upper == 0) { /* nothing would travel: not a type to point to */
        t->extent = t->upper = t->extent + t->alignment;
        find_runs(t);
        find_true_extent(m, t);
    }
}

/* ---- Derived types, by MPI's rules ---- */

static void block(model *m, model_type *t, size_t displacement, size_t length, int old)
{
    const model_type *o = &m->type[old];
    if (length == 0)
        return;
    model_field *f = new_field(t, FIELD_EMBED, length * o->extent);
    f->offset = displacement;
    f->target = old;
    f->count = length;
    f->stride = o->extent;
}

static void bounds(model *m, model_type *t)
{
    t->lower = SIZE_MAX;
    t->upper = 0;
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[i];
        const model_type *o = &m->type[f->target];
        size_t last = f->offset + (f->count - 1) * f->stride;
        if (f->offset + o->lower < t->lower)
            t->lower = f->offset + o->lower;
        if (last + o->lower + o->extent > t->upper)
            t->upper = last + o->lower + o->extent;
        t->has_pointers |= o->has_pointers;
        if (o->alignment > t->alignment)
            t->alignment = o->alignment;
    }
    t->extent = t->upper - t->lower;
    t->has_holes = 1;
    find_true_extent(m, t);
}

static void draw_indexed(choices *c, model *m, model_type *t)
{
    const model_type *o = &m->type[t->old];
    size_t unit = t->form == FORM_HINDEXED ? o->extent : 1, at = choose(c, 3);
    t->count = 1 + choose(c, 5);
    t->blocklength = 1 + choose(c, 3);
    for (size_t i = 0; i < t->count; i++) {
        t->lengths[i] = t->form == FORM_INDEXED_BLOCK ? t->blocklength : choose(c, 4);
        t->displacements[i] = at * unit;
        if (t->form == FORM_HINDEXED)
            t->displacements[i] += choose(c, 3) * o->alignment * (i == 0);
        at += t->lengths[i] + choose(c, 3);
        if (i == 0 && t->form == FORM_HINDEXED)
            at += 3;
    }
    if (t->lengths[0] == 0)
        t->lengths[0] = 1, t->count = 1;
    for (size_t i = 0; i < t->count; i++)
        block(m, t, t->displacements[i] * (t->form == FORM_HINDEXED ? 1 : o->extent), t->lengths[i], t->old);
}

static void draw_subarray(choices *c, model *m, model_type *t)
{
    const model_type *o = &m->type[t->old];
    size_t total = 1, step[3] = { 0, 0, 0 };
    t->dimensions = 1 + choose(c, 3);
    t->order = chance(c, 1, 2) ? HAUL_ORDER_FORTRAN : HAUL_ORDER_C;
    for (size_t d = 0; d < t->dimensions; d++) {
        t->sizes[d] = 1 + choose(c, 4);
        t->subsizes[d] = 1 + choose(c, (uint32_t)t->sizes[d]);
        t->starts[d] = choose(c, (uint32_t)(t->sizes[d] - t->subsizes[d] + 1));
    }
    for (size_t i = 0; i < t->dimensions; i++) {
        size_t d = t->order == HAUL_ORDER_C ? t->dimensions - 1 - i : i;
        step[d] = total;
        total *= t->sizes[d];
    }
    size_t n0 = t->subsizes[0], n1 = t->dimensions > 1 ? t->subsizes[1] : 1;
    size_t n2 = t->dimensions > 2 ? t->subsizes[2] : 1;
    size_t fast = t->order == HAUL_ORDER_C ? t->dimensions - 1 : 0;
    size_t n[3];
    n[0] = n0, n[1] = n1, n[2] = n2;
    size_t run = n[fast];
    n[fast] = 1;
    for (size_t i = 0; i < n[0]; i++)
        for (size_t j = 0; j < n[1]; j++)
            for (size_t k = 0; k < n[2]; k++) {
                size_t at = (t->starts[0] + i) * step[0];
                at += t->dimensions > 1 ? (t->starts[1] + j) * step[1] : 0;
                at += t->dimensions > 2 ? (t->starts[2] + k) * step[2] : 0;
                block(m, t, at * o->extent, run, t->old);
            }
    bounds(m, t);
    t->lower = 0;
    t->extent = t->upper = total * o->extent;
}

/* Columns of a matrix that lie one element apart: the one case in which elements of a type overlap in extent. */
static int draw_columns(choices *c, model *m, model_type *t)
{
    model_type *o = &m->type[t->old];
    if (o->form != FORM_VECTOR || m->type[o->old].has_pointers || o->blocklength != 1 || o->lower != 0 ||
        !chance(c, 3, 4))
        return 0;
    block(m, t, 0, 1, t->old);
    bounds(m, t);
    t->lower = 0;
    t->extent = m->type[o->old].extent;
    t->upper = t->extent;
    return 1;
}

static void draw_resized(choices *c, model *m, model_type *t)
{
    const model_type *o = &m->type[t->old];
    if (draw_columns(c, m, t))
        return;
    block(m, t, 0, 1, t->old);
    bounds(m, t);
    size_t span = round_up(t->true_upper, o->alignment);
    t->lower = chance(c, 1, 2) ? 0 : choose(c, (uint32_t)(t->true_lower + 1));
    t->extent = (span > o->extent ? span : o->extent) + choose(c, 4) * o->alignment;
    t->upper = t->lower + t->extent;
}

static void draw_vector(choices *c, model *m, model_type *t)
{
    const model_type *o = &m->type[t->old];
    size_t bytes;
    t->count = 1 + choose(c, 6);
    t->blocklength = 1 + choose(c, 3);
    t->stride = t->blocklength + choose(c, 4);
    bytes = t->stride * o->extent;
    if (t->form == FORM_HVECTOR)
        t->stride = bytes = bytes + choose(c, 4) * o->alignment;
    for (size_t i = 0; i < t->count; i++)
        block(m, t, i * bytes, t->blocklength, t->old);
}

static void draw_struct_of(choices *c, model *m, model_type *t, unsigned index)
{
    size_t at = 0, alignment = 1;
    int old[4];
    t->count = 1 + choose(c, 3);
    for (size_t i = 0; i < t->count; i++) {
        old[i] = i == 0 ? t->old : (int)choose(c, index);
        const model_type *o = &m->type[old[i]];
        size_t span = o->upper > o->true_upper ? o->upper : o->true_upper;
        t->lengths[i] = 1 + choose(c, 2);
        if (o->alignment > alignment)
            alignment = o->alignment;
        at = round_up(at, o->alignment);
        t->displacements[i] = at;
        block(m, t, at, t->lengths[i], old[i]);
        at += (t->lengths[i] - 1) * o->extent + span;
        t->sizes[i < 3 ? i : 0] = (size_t)old[i];
    }
    bounds(m, t);
}

/* Elements that are dense and whose spacing keeps every alignment; others would make illegal arrays. */
static int good_old(const model_type *t)
{
    return t->extent <= 512 && t->extent % t->alignment == 0 && t->true_upper <= t->lower + t->extent;
}

static void draw_pointer_type(choices *c, model *m, model_type *t)
{
    model_field *f = new_field(t, FIELD_POINTER, pointer_bytes);
    int target = chance(c, 1, 2) ? (int)choose(c, m->struct_count) : -1;
    f->levels = 1;
    f->target = target;
    f->element_bytes = target < 0 ? draw_element_bytes(c) : m->type[target].extent;
    size_t e = f->element_bytes;
    uint32_t kind = choose(c, 4);
    f->shape[0] = constant_shape((int64_t)choose(c, 5));
    if (kind == 0)
        f->shape[0].rule = RULE_ONE, f->shape[0].add = 1;
    if (kind == 1 && target < 0 && (e == 1 || e == 2 || e == 4 || e == 8))
        f->shape[0].rule = RULE_SENTINEL, f->shape[0].add = 0;
    if (kind == 2)
        f->shape[0].rule = RULE_BY_TARGET;
    t->extent = t->upper = t->true_upper = pointer_bytes;
    t->alignment = pointer_bytes;
    t->has_pointers = 1;
}

static void draw_derived(choices *c, model *m, unsigned index)
{
    model_type *t = &m->type[index];
    model_form form = (model_form)(1 + choose(c, FORM_COUNT - 1));
    snprintf(t->name, sizeof t->name, "d%u", index);
    t->alignment = 1;
    t->old = (int)choose(c, index);
    if (chance(c, 1, 2) && index > m->struct_count) /* nest */
        t->old = (int)(index - 1);
    if (form != FORM_RESIZED && !good_old(&m->type[t->old]))
        form = FORM_BYTES;
    if (form == FORM_RESIZED && m->type[t->old].extent > 4096)
        form = FORM_BYTES;
    if (form == FORM_STRUCT_OF)
        for (unsigned i = 0; i < index; i++)
            if (!good_old(&m->type[i]))
                form = FORM_POINTER;
    t->form = form;
    switch (form) {
    case FORM_BYTES:
        t->extent = t->upper = t->true_upper = draw_element_bytes(c);
        t->run[0].bytes = t->extent;
        t->run_count = 1;
        return;
    case FORM_POINTER:
        draw_pointer_type(c, m, t);
        return;
    case FORM_CONTIGUOUS:
        t->count = 1 + choose(c, 5);
        block(m, t, 0, t->count, t->old);
        break;
    case FORM_VECTOR:
    case FORM_HVECTOR:
        draw_vector(c, m, t);
        break;
    case FORM_INDEXED:
    case FORM_HINDEXED:
    case FORM_INDEXED_BLOCK:
        draw_indexed(c, m, t);
        break;
    case FORM_STRUCT_OF:
        draw_struct_of(c, m, t, index);
        return;
    case FORM_SUBARRAY:
        draw_subarray(c, m, t);
        return;
    case FORM_RESIZED:
        draw_resized(c, m, t);
        return;
    default:
        block(m, t, 0, 1, t->old);
        bounds(m, t);
        t->lower = m->type[t->old].lower;
        t->extent = m->type[t->old].extent;
        t->upper = m->type[t->old].upper;
        return;
    }
    bounds(m, t);
}

/* Elements of such a type can stand in a row and be pointed to one by one. */
static int can_stand_in_rows(const model_type *t)
{
    return t->extent % t->alignment == 0;
}

static void draw_targets(choices *c, model *m)
{
    for (unsigned i = 0; i < m->struct_count; i++)
        for (unsigned k = 0; k < m->type[i].field_count; k++) {
            model_field *f = &m->type[i].field[k];
            if (f->kind != FIELD_POINTER || f->target != -2)
                continue;
            f->target = (int)choose(c, chance(c, 1, 4) ? m->type_count : m->struct_count);
            if (!can_stand_in_rows(&m->type[f->target]))
                f->target = (int)i;
            f->element_bytes = m->type[f->target].extent;
        }
}

void model_draw(choices *c, model *m)
{
    memset(m, 0, sizeof *m);
    m->struct_count = 1 + choose(c, chance(c, 1, 4) ? MODEL_STRUCTS : 4);
    for (unsigned i = 0; i < m->struct_count; i++)
        draw_struct(c, m, i);
    m->type_count = m->struct_count;
    unsigned derived = chance(c, 1, 2) ? 1 + choose(c, MODEL_DERIVED) : 0;
    while (derived-- != 0) {
        draw_derived(c, m, m->type_count);
        m->type_count++;
    }
    draw_targets(c, m);
}

/* ---- Saying it to the library ---- */

static int64_t by_index(const haul_here *here)
{
    return (int64_t)((3 * here->index + 1) % 4);
}

static int64_t by_self(const haul_here *here)
{
    return *(const unsigned char *)here->self % 5;
}

static int64_t by_target(const haul_here *here)
{
    model_oracle *oracle = here->argument;
    int known = 0;
    for (unsigned i = 0; i < oracle->root_count; i++)
        known |= oracle->roots[i] == here->root;
    oracle->wrong_roots += !known;
    return oracle->count_of(oracle, here->target);
}

static haul_shape say_shape(const model_type *t, const model_shape *s)
{
    haul_shape shape;
    memset(&shape, 0, sizeof shape);
    shape.multiply = s->multiply;
    shape.add = s->add;
    shape.field_count = s->field_count;
    for (unsigned i = 0; i < s->field_count; i++) {
        const model_field *f = &t->field[s->field[i]];
        shape.field[i].offset = f->offset;
        shape.field[i].bytes = (uint8_t)f->bytes;
        shape.field[i].is_signed = (uint8_t)f->is_signed;
    }
    switch (s->rule) {
    case RULE_ONE: shape.kind = HAUL_SHAPE_ONE; break;
    case RULE_COUNT: shape.kind = HAUL_SHAPE_COUNT; break;
    case RULE_END: shape.kind = HAUL_SHAPE_END; break;
    case RULE_SENTINEL: shape.kind = HAUL_SHAPE_SENTINEL; break;
    default:
        shape.kind = HAUL_SHAPE_FUNCTION;
        shape.function = s->rule == RULE_BY_INDEX ? by_index : s->rule == RULE_BY_SELF ? by_self : by_target;
    }
    return shape;
}

static int64_t is_odd(const haul_here *here)
{
    return *(const unsigned char *)here->self & 1;
}

static int64_t minus_place(const haul_here *here)
{
    return -(int64_t)here->index;
}

/* Half of the bias by the constant, where there is one; the callback gives the place in the array back, so that it is
 * asked with the right one. */
static void say_rule(const model_type *t, const model_field *f, haul_rule *rule)
{
    memset(rule, 0, sizeof *rule);
    rule->tag_bits = f->rule.tags;
    rule->integer_below = f->rule.integers;
    rule->base = -f->rule.bias;
    if (f->rule.bias)
        rule->base_function = minus_place;
    rule->otherwise = f->rule.raw ? HAUL_ELSE_RAW : HAUL_ELSE_NULL;
    if (f->rule.when == WHEN_SELF) {
        rule->when.kind = HAUL_WHEN_FUNCTION;
        rule->when.function = is_odd;
    } else if (f->rule.when == WHEN_KIND) {
        rule->when.kind = HAUL_WHEN_FIELD;
        rule->when.field.offset = t->field[f->rule.kind].offset;
        rule->when.field.bytes = 1;
        rule->when.mask = 3;
        rule->when.low = rule->when.high = (int64_t)f->rule.value;
    }
}

static int say_field(choices *c, model *m, const model_type *t, const model_field *f, haul_ref *row, haul_rule *rule)
{
    static const haul_shape one = HAUL_ONE;
    memset(row, 0, sizeof *row);
    row->name = f->name;
    row->offset = f->offset;
    row->field_bytes = f->bytes;
    row->shape[0] = row->shape[1] = row->shape[2] = one;
    switch (f->kind) {
    case FIELD_DATA:
    case FIELD_COUNT:
        row->kind = HAUL_REF_DATA;
        return chance(c, 1, 4);
    case FIELD_KIND:
        row->kind = HAUL_REF_DATA;
        return chance(c, 1, 4);
    case FIELD_OPAQUE: row->kind = HAUL_REF_DATA; return 1;
    case FIELD_SKIP: row->kind = HAUL_REF_SKIP; return 1;
    case FIELD_END: return 0;
    case FIELD_EMBED:
        row->kind = HAUL_REF_EMBED;
        row->target = &m->type[f->target].handle;
        return 1;
    case FIELD_POINTER:
        row->kind = HAUL_REF_POINTER;
        row->levels = f->levels;
        row->unaligned = f->unaligned;
        row->target = f->target >= 0 ? &m->type[f->target].handle : NULL;
        row->element_bytes = f->target < 0 || chance(c, 1, 2) ? f->element_bytes : 0;
        for (unsigned level = 0; level < f->levels; level++)
            row->shape[level] = say_shape(t, &f->shape[level]);
        say_rule(t, f, rule);
        row->rule = f->rule.is_there ? rule : NULL;
        return 1;
    }
    return 0;
}

static haul_status make_struct(choices *c, model *m, model_type *t, const haul_allocator *allocator)
{
    unsigned order[MODEL_FIELDS];
    size_t n = 0, first;
    struct said { /* large for a small stack */
        haul_ref rows[MODEL_FIELDS];
        haul_rule rules[MODEL_FIELDS];
    } *said = malloc(sizeof *said);
    if (said == NULL)
        return HAUL_ERROR_MEMORY;
    haul_ref *rows = said->rows;
    shuffle(c, order, t->field_count);
    for (unsigned i = 0; i < t->field_count; i++)
        n += say_field(c, m, t, &t->field[order[i]], &rows[n], &said->rules[n]) ? 1u : 0u;
    first = chance(c, 1, 2) ? n : choose(c, (uint32_t)n + 1);
    const haul_ref *table = first != 0 ? rows : NULL;
    haul_status status = haul_type_create_in(allocator, t->name, t->extent, table, first, &t->handle);
    for (size_t i = first; i < n && status == HAUL_OK; i++)
        status = haul_type_add(t->handle, &rows[i], 1);
    if (status == HAUL_OK && t->declared != 0)
        status = haul_type_set_alignment(t->handle, t->declared);
    free(said);
    return status;
}

static haul_status make_struct_of(model *m, model_type *t)
{
    haul_type *types[4];
    for (size_t i = 0; i < t->count; i++)
        types[i] = m->type[t->sizes[i]].handle;
    return haul_type_create_struct(t->count, t->lengths, t->displacements, types, &t->handle);
}

static haul_status make_pointer(model *m, model_type *t)
{
    const model_field *f = &t->field[0];
    haul_shape shape = say_shape(t, &f->shape[0]);
    if (f->target < 0)
        return haul_type_pointer(t->name, NULL, f->element_bytes, shape, &t->handle);
    return haul_type_pointer(t->name, &m->type[f->target].handle, f->element_bytes, shape, &t->handle);
}

static haul_status make_derived(model *m, model_type *t)
{
    haul_type *old = m->type[t->old].handle;
    switch (t->form) {
    case FORM_BYTES: return haul_type_bytes(t->name, t->extent, &t->handle);
    case FORM_POINTER: return make_pointer(m, t);
    case FORM_CONTIGUOUS: return haul_type_contiguous(t->count, old, &t->handle);
    case FORM_VECTOR: return haul_type_vector(t->count, t->blocklength, t->stride, old, &t->handle);
    case FORM_HVECTOR: return haul_type_create_hvector(t->count, t->blocklength, t->stride, old, &t->handle);
    case FORM_INDEXED: return haul_type_indexed(t->count, t->lengths, t->displacements, old, &t->handle);
    case FORM_HINDEXED: return haul_type_create_hindexed(t->count, t->lengths, t->displacements, old, &t->handle);
    case FORM_INDEXED_BLOCK:
        return haul_type_create_indexed_block(t->count, t->blocklength, t->displacements, old, &t->handle);
    case FORM_STRUCT_OF: return make_struct_of(m, t);
    case FORM_SUBARRAY:
        return haul_type_create_subarray(t->dimensions, t->sizes, t->subsizes, t->starts, t->order, old, &t->handle);
    case FORM_RESIZED: return haul_type_create_resized(old, t->lower, t->extent, &t->handle);
    default: return haul_type_dup(old, &t->handle);
    }
}

static haul_status check_queries(model *m, const model_type *t, const char **where)
{
    size_t lower = 1, extent = 0, true_lower = 1, true_extent = 0;
    haul_status status = haul_type_get_extent(t->handle, &lower, &extent);
    if (status == HAUL_OK)
        status = haul_type_get_true_extent(t->handle, &true_lower, &true_extent);
    if (status == HAUL_OK && lower == t->lower && extent == t->extent && true_lower == t->true_lower &&
        true_extent == t->true_upper - t->true_lower)
        return HAUL_OK;
    *where = "extents disagree with the model";
    snprintf(m->why, sizeof m->why, "%s, form %d: %zu + %zu, true %zu + %zu, not %zu + %zu, true %zu + %zu", t->name,
             (int)t->form, lower, extent, true_lower, true_extent, t->lower, t->extent, t->true_lower,
             t->true_upper - t->true_lower);
    return HAUL_ERROR_TYPE;
}

haul_status model_make_types(choices *c, model *m, const haul_allocator *allocator, const char **where)
{
    unsigned order[MODEL_TYPES];
    haul_status status = HAUL_OK;
    const model_type *last = &m->type[0]; /* that was made or committed: what went wrong is in its record */
    *where = "making a type";
    for (unsigned i = 0; i < m->type_count && status == HAUL_OK; i++) {
        model_type *t = &m->type[i];
        last = t;
        status = t->form == FORM_STRUCT ? make_struct(c, m, t, allocator) : make_derived(m, t);
        if (status == HAUL_OK && t->form != FORM_STRUCT && chance(c, 1, 4)) {
            /* Old types may be committed or not. Where targets are still to be made this is refused, and can be
             * repeated. */
            status = haul_type_commit(m->type[t->old].handle);
            status = status == HAUL_ERROR_TYPE ? HAUL_OK : status;
        }
    }
    *where = status == HAUL_OK ? "committing a type" : *where;
    shuffle(c, order, m->type_count);
    for (unsigned i = 0; i < m->type_count && status == HAUL_OK; i++) {
        last = &m->type[order[i]];
        status = haul_type_commit(last->handle);
    }
    for (unsigned i = 0; i < m->type_count && status == HAUL_OK; i++)
        status = check_queries(m, &m->type[i], where);
    if (status != HAUL_OK) {
        if (last->handle != NULL && haul_type_error(last->handle)->status != HAUL_OK)
            snprintf(m->why, sizeof m->why, "%.200s: %.200s", haul_type_error(last->handle)->path,
                     haul_type_error(last->handle)->text);
        model_free_types(m);
    }
    return status;
}

void model_free_types(model *m)
{
    for (unsigned i = 0; i < m->type_count; i++)
        haul_type_free(&m->type[i].handle);
}
