/* Derived types, laid out by MPI's rules, which are worked out here from the blocks alone: so the
 * library's extents are compared with something independent.
 */
#include "draw.h"

static const size_t pointer_bytes = sizeof(void *);

static void block(model *m, model_type *t, size_t displacement, size_t length, int old)
{
    const model_type *o = &m->type[old];
    if (length == 0)
        return;
    model_field *f = draw_new_field(t, FIELD_EMBED, length * o->extent);
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
    draw_true_extent(m, t);
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
        block(m, t, t->displacements[i] * (t->form == FORM_HINDEXED ? 1 : o->extent), t->lengths[i],
              t->old);
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

/* Columns of a matrix that lie one element apart: the one case in which elements of a type overlap
 * in extent. */
static int draw_columns(choices *c, model *m, model_type *t)
{
    model_type *o = &m->type[t->old];
    if (o->form != FORM_VECTOR || m->type[o->old].has_pointers || o->blocklength != 1 ||
        o->lower != 0 || !chance(c, 3, 4))
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
    size_t span = draw_round_up(t->true_upper, o->alignment);
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
        at = draw_round_up(at, o->alignment);
        t->displacements[i] = at;
        block(m, t, at, t->lengths[i], old[i]);
        at += (t->lengths[i] - 1) * o->extent + span;
        t->sizes[i < 3 ? i : 0] = (size_t)old[i];
    }
    bounds(m, t);
}

/* Elements that are dense and whose spacing keeps every alignment; others would make illegal
 * arrays. */
static int good_old(const model_type *t)
{
    return t->extent <= 512 && draw_stands_in_rows(t) && t->true_upper <= t->lower + t->extent;
}

static void draw_pointer_type(choices *c, model *m, model_type *t)
{
    model_field *f = draw_new_field(t, FIELD_POINTER, pointer_bytes);
    int target = chance(c, 1, 2) ? (int)choose(c, m->struct_count) : -1;
    if (target >= 0 && !draw_stands_in_rows(&m->type[target]))
        target = -1;
    f->levels = 1;
    f->target = target;
    f->element_bytes = target < 0 ? draw_element_bytes(c) : m->type[target].extent;
    size_t e = f->element_bytes;
    uint32_t kind = choose(c, 4);
    f->shape[0] = draw_constant((int64_t)choose(c, 5));
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

void draw_derived(choices *c, model *m, unsigned index)
{
    model_type *t = &m->type[index];
    model_form form = (model_form)(1 + choose(c, FORM_COUNT - 1));
    t->old = (int)choose(c, index);
    if (chance(c, 1, 2) && index > m->struct_count) /* nest */
        t->old = (int)(index - 1);
    if (form != FORM_RESIZED && !good_old(&m->type[t->old]))
        form = FORM_BYTES;
    if (form == FORM_RESIZED &&
        (m->type[t->old].extent > 4096 || m->type[t->old].sizing != SIZE_FIXED))
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
