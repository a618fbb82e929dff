/* A universe as haul types, made by public calls only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"

static const size_t pointer_bytes = sizeof(void *);

/* ---- Callbacks. They are asked with whatever stands in the memory, and look before they read. */

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

static int64_t by_before(const haul_here *here)
{
    const model_oracle *oracle = here->argument;
    const void *before;
    uint16_t count;
    memcpy(&before, (const unsigned char *)here->place - pointer_bytes, sizeof before);
    if (before == NULL)
        return 0;
    if (!oracle->is_there(oracle, before, sizeof count))
        return -1;
    memcpy(&count, before, sizeof count);
    return count % 4;
}

static int64_t is_odd(const haul_here *here)
{
    return *(const unsigned char *)here->self & 1;
}

static int64_t minus_index(const haul_here *here)
{
    return -(int64_t)here->index;
}

static int64_t minus_self(const haul_here *here)
{
    return -8 * (int64_t)(*(const unsigned char *)here->self % 5);
}

static int64_t minus_header(const haul_here *here)
{
    const model_oracle *oracle = here->argument;
    /* A number first: of a garbage graph the target may be any. */
    const unsigned char *header = (const unsigned char *)((uintptr_t)here->target - 2);
    uint16_t distance;
    if (!oracle->is_there(oracle, header, sizeof distance))
        return INT64_MIN;
    memcpy(&distance, header, sizeof distance);
    return -(int64_t)distance;
}

static int64_t case_of_one(const haul_here *here)
{
    (void)here;
    return 0;
}

static int64_t case_of_two(const haul_here *here)
{
    return (int64_t)((*(const unsigned char *)here->self + here->index) % 2);
}

static int64_t case_of_three(const haul_here *here)
{
    return (int64_t)((*(const unsigned char *)here->self + here->index) % 3);
}

static int64_t stored_size(const haul_here *here)
{
    const model_oracle *oracle = here->argument;
    const unsigned char *stored = (const unsigned char *)here->self + SIZE_AT;
    uint16_t bytes;
    if (!oracle->is_there(oracle, stored, sizeof bytes)) /* the library asks for one byte */
        return -1;
    memcpy(&bytes, stored, sizeof bytes);
    return bytes;
}

/* ---- Shapes and rules */

static haul_integer place_of(const model_field *f)
{
    haul_integer place;
    memset(&place, 0, sizeof place);
    place.offset = f->offset;
    place.bytes = (uint8_t)f->bytes;
    place.sign = (uint8_t)f->is_signed;
    return place;
}

static haul_function *count_function(model_rule rule)
{
    switch (rule) {
    case RULE_BY_INDEX:
        return by_index;
    case RULE_BY_SELF:
        return by_self;
    case RULE_BY_BEFORE:
        return by_before;
    default:
        return by_target;
    }
}

static haul_count say_shape(const model_type *t, const model_shape *s)
{
    haul_count count;
    memset(&count, 0, sizeof count);
    count.times = s->multiply;
    count.plus = s->add;
    count.fields = s->field_count;
    for (unsigned i = 0; i < s->field_count; i++)
        count.field[i] = place_of(&t->field[s->field[i]]);
    switch (s->rule) {
    case RULE_ONE:
        count.kind = HAUL_COUNT_KIND_ONE;
        break;
    case RULE_COUNT:
        count.kind = HAUL_COUNT_KIND_PRODUCT;
        break;
    case RULE_END:
        count.kind = HAUL_COUNT_KIND_UNTIL;
        break;
    case RULE_SENTINEL:
        count.kind = HAUL_COUNT_KIND_TERMINATED;
        break;
    default:
        count.kind = HAUL_COUNT_KIND_FUNCTION;
        count.function = count_function(s->rule);
    }
    return count;
}

static void say_when(const model_type *t, const model_rule_of_field *said, haul_field *row)
{
    row->else_raw = said->raw;
    if (said->when == WHEN_ALWAYS)
        return;
    if (said->when == WHEN_SELF) {
        row->when.kind = HAUL_WHEN_KIND_FUNCTION;
        row->when.function = is_odd;
        return;
    }
    row->when.kind = said->when == WHEN_FIELD ? HAUL_WHEN_KIND_FIELD : HAUL_WHEN_KIND_NOT;
    row->when.field = place_of(&t->field[said->kind]);
    row->when.mask = said->mask;
    row->when.low = said->low;
    row->when.high = said->high;
}

static void say_choice(const model *m, const model_type *t, const model_rule_of_field *said,
                       haul_switch *choice, haul_case *cases)
{
    static haul_function *const functions[] = { NULL, case_of_one, case_of_two, case_of_three };
    choice->cases = cases;
    choice->case_count = said->case_count;
    choice->case_bytes = sizeof *cases;
    for (unsigned i = 0; i < said->case_count; i++) {
        cases[i].value = said->cases[i].value;
        cases[i].type = &m->type[said->cases[i].type].handle;
        cases[i].base = -said->cases[i].bias;
    }
    if (said->choice == CHOICE_BY_FIELD) {
        choice->kind = HAUL_SWITCH_KIND_SELF;
        choice->field = place_of(&t->field[said->selector]);
    } else if (said->choice == CHOICE_BY_TAG) {
        choice->kind = HAUL_SWITCH_KIND_TARGET;
        choice->field.offset = TAG_AT;
        choice->field.bytes = TAG_BYTES;
        choice->field.sign = 1;
    } else {
        choice->kind = HAUL_SWITCH_KIND_FUNCTION;
        choice->function = functions[said->case_count];
    }
}

/* The members of a pointer whose word is no plain address. */
static void say_word(const model *m, const model_type *t, const model_field *f, haul_field *row,
                     haul_case *cases)
{
    static haul_function *const bases[] = { NULL, minus_index, minus_self, minus_header };
    const model_mode mode = f->rule.mode;
    if (mode == MODE_ALIAS || mode == MODE_ALIAS_OR_STATIC)
        row->ownership = HAUL_BORROWED;
    if (mode == MODE_EXTERNAL)
        row->ownership = HAUL_EXTERNAL;
    /* descriptions of one byte never disagree, so it does not matter which field owns it */
    if (f->rule.is_shared)
        row->ownership = HAUL_UNLESS_OWNED;
    row->maybe_static = mode == MODE_OWN_OR_STATIC || mode == MODE_ALIAS_OR_STATIC;
    row->tag_bits = f->rule.tags;
    row->integers_below = f->rule.integers;
    row->integers_from = f->rule.integers_from;
    row->base = -f->rule.bias;
    row->base_fn = bases[f->rule.base];
    if (f->rule.is_distance)
        row->kind = HAUL_FIELD_RELATIVE;
    if (f->rule.choice != CHOICE_NONE)
        say_choice(m, t, &f->rule, &row->type_switch, cases);
}

static void say_rule(const model *m, const model_type *t, const model_field *f, haul_field *row,
                     haul_case *cases)
{
    if (!f->rule.is_there)
        return;
    say_when(t, &f->rule, row);
    row->transfer = f->rule.direction;
    if (row->kind == HAUL_FIELD_POINTER)
        say_word(m, t, f, row, cases);
}

/* ---- Rows and types */

static void say_shapes(choices *c, model *m, const model_type *t, const model_field *f,
                       haul_field *row)
{
    row->target = f->target >= 0 ? &m->type[f->target].handle : NULL;
    row->levels = f->levels;
    if (f->target < 0 || chance(c, 1, 2))
        row->element_bytes = f->rule.choice == CHOICE_NONE ? f->element_bytes : 0;
    row->count = say_shape(t, &f->shape[0]);
    if (f->levels > 1)
        row->count2 = say_shape(t, &f->shape[1]);
    if (f->levels > 2)
        row->count3 = say_shape(t, &f->shape[2]);
}

static int does_not_lead_anywhere(const model_field *f)
{
    return f->rule.is_there && (f->rule.mode == MODE_RAW || f->rule.mode == MODE_NULL);
}

/* 1: a row is to be said of this field. */
static int say_field(choices *c, model *m, const model_type *t, const model_field *f,
                     haul_field *row)
{
    memset(row, 0, sizeof *row);
    row->name = f->name;
    row->offset = f->offset;
    row->bytes = f->bytes;
    switch (f->kind) {
    case FIELD_DATA:
        row->kind = HAUL_FIELD_RAW;
        return f->rule.is_there || chance(c, 1, 4);
    case FIELD_COUNT:
    case FIELD_KIND:
    case FIELD_TAG:
    case FIELD_SIZE:
        row->kind = HAUL_FIELD_RAW;
        return chance(c, 1, 4);
    case FIELD_OPAQUE:
        row->kind = HAUL_FIELD_RAW;
        return 1;
    case FIELD_SKIP:
        row->kind = HAUL_FIELD_SKIP;
        return 1;
    case FIELD_END:
        return 0;
    case FIELD_EMBED:
        row->kind = HAUL_FIELD_EMBED;
        row->target = &m->type[f->target].handle;
        return 1;
    case FIELD_POINTER:
        row->packed = f->unaligned;
        if (does_not_lead_anywhere(f)) {
            row->kind = f->rule.mode == MODE_RAW ? HAUL_FIELD_RAW : HAUL_FIELD_SKIP;
            return 1;
        }
        row->kind = HAUL_FIELD_POINTER;
        say_shapes(c, m, t, f, row);
        return 1;
    case FIELD_TAIL:
        row->kind = HAUL_FIELD_TAIL;
        say_shapes(c, m, t, f, row);
        return 1;
    }
    return 0;
}

/* ---- Containers ---- */

/* A type that some row leads to, and that exists: the struct is then said with a parameter in its
 * place. -1: none. The model knows of no containers, so the reference takes the struct as it would
 * be without. */
static int draw_argument(choices *c, const model *m, const haul_field *rows, size_t n,
                         const model_type *t)
{
    size_t start = n != 0 ? choose(c, (uint32_t)n) : 0;
    if (!chance(c, 1, 4))
        return -1;
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; m->type[k].handle != NULL && &m->type[k] != t; k++)
            if (rows[(start + i) % n].target == &m->type[k].handle)
                return (int)k;
    return -1;
}

/* Some of the rows that lead to the argument, one of them at least; and some of those that lead to
 * the struct itself. */
static void put_parameter(choices *c, const model *m, model_type *t, int argument, haul_field *rows,
                          size_t n)
{
    int some = 0;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].target == &m->type[argument].handle && (!some || chance(c, 1, 2))) {
            rows[i].target = &t->parameter;
            some = 1;
        } else if (rows[i].target == &t->handle && chance(c, 1, 2)) {
            rows[i].target = &t->container;
        }
    }
}

static haul_status make_struct(choices *c, model *m, model_type *t, haul_context *context)
{
    unsigned order[MODEL_FIELDS];
    size_t n = 0, first;
    struct said { /* large for a small stack */
        haul_field rows[MODEL_FIELDS];
        haul_case cases[MODEL_FIELDS][MODEL_CASES];
    } *said = malloc(sizeof *said);
    if (said == NULL)
        return HAUL_ERROR_MEMORY;
    haul_field *rows = said->rows;
    draw_order(c, order, t->field_count);
    for (unsigned i = 0; i < t->field_count; i++) {
        const model_field *f = &t->field[order[i]];
        if (!say_field(c, m, t, f, &rows[n]))
            continue;
        say_rule(m, t, f, &rows[n], said->cases[n]);
        n++;
    }
    int argument = draw_argument(c, m, rows, n, t);
    haul_type **made = argument >= 0 ? &t->container : &t->handle;
    haul_status status = argument >= 0 ? haul_type_parameter(context, "E", &t->parameter) : HAUL_OK;
    if (argument >= 0)
        put_parameter(c, m, t, argument, rows, n);
    first = chance(c, 1, 2) ? n : choose(c, (uint32_t)n + 1);
    const haul_struct what = { .name = t->name,
                               .bytes = t->extent,
                               .fields = first != 0 ? rows : NULL,
                               .field_count = first,
                               .field_bytes = sizeof *rows,
                               .alignment = t->declared,
                               .size_fn = t->sizing == SIZE_STORED ? stored_size : NULL };
    if (status == HAUL_OK)
        status = haul_type_create(context, &what, made);
    for (size_t i = first; i < n && status == HAUL_OK; i++)
        status = haul_type_add(*made, &rows[i], 1);
    if (status == HAUL_OK && argument >= 0)
        status = haul_type_instance(t->container, 1, &t->parameter, &m->type[argument].handle,
                                    &t->handle);
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

static haul_status make_pointer(model *m, model_type *t, haul_context *context)
{
    const model_field *f = &t->field[0];
    const haul_count count = say_shape(t, &f->shape[0]);
    if (f->target < 0)
        return haul_type_pointer(context, t->name, NULL, f->element_bytes, count, &t->handle);
    return haul_type_pointer(context, t->name, &m->type[f->target].handle, f->element_bytes, count,
                             &t->handle);
}

static haul_status make_derived(model *m, model_type *t, haul_context *context)
{
    haul_type *old = m->type[t->old].handle;
    switch (t->form) {
    case FORM_BYTES:
        return haul_type_bytes(context, t->name, t->extent, &t->handle);
    case FORM_POINTER:
        return make_pointer(m, t, context);
    case FORM_CONTIGUOUS:
        return haul_type_contiguous(t->count, old, &t->handle);
    case FORM_VECTOR:
        return haul_type_vector(t->count, t->blocklength, t->stride, old, &t->handle);
    case FORM_HVECTOR:
        return haul_type_create_hvector(t->count, t->blocklength, t->stride, old, &t->handle);
    case FORM_INDEXED:
        return haul_type_indexed(t->count, t->lengths, t->displacements, old, &t->handle);
    case FORM_HINDEXED:
        return haul_type_create_hindexed(t->count, t->lengths, t->displacements, old, &t->handle);
    case FORM_INDEXED_BLOCK:
        return haul_type_create_indexed_block(t->count, t->blocklength, t->displacements, old,
                                              &t->handle);
    case FORM_STRUCT_OF:
        return make_struct_of(m, t);
    case FORM_SUBARRAY:
        return haul_type_create_subarray(t->dimensions, t->sizes, t->subsizes, t->starts, t->order,
                                         old, &t->handle);
    case FORM_RESIZED:
        return haul_type_create_resized(old, t->lower, t->extent, &t->handle);
    default:
        return haul_type_dup(old, &t->handle);
    }
}

static haul_status check_queries(model *m, const model_type *t, const char **where)
{
    size_t lower = 1, extent = 0, true_lower = 1, true_extent = 0;
    haul_status status = haul_type_get_extent(t->handle, &lower, &extent);
    if (status == HAUL_OK)
        status = haul_type_get_true_extent(t->handle, &true_lower, &true_extent);
    if (status == HAUL_OK && lower == t->lower && extent == t->extent &&
        true_lower == t->true_lower && true_extent == t->true_upper - t->true_lower)
        return HAUL_OK;
    *where = "extents disagree with the model";
    snprintf(m->why, sizeof m->why,
             "%s, form %d: %zu + %zu, true %zu + %zu, not %zu + %zu, true %zu + %zu", t->name,
             (int)t->form, lower, extent, true_lower, true_extent, t->lower, t->extent,
             t->true_lower, t->true_upper - t->true_lower);
    return HAUL_ERROR_TYPE;
}

haul_status model_make_types(choices *c, model *m, haul_context *context, const char **where)
{
    unsigned order[MODEL_TYPES];
    haul_status status = HAUL_OK;
    /* that was made or committed: what went wrong is in its record */
    const model_type *last = &m->type[0];
    *where = "making a type";
    for (unsigned i = 0; i < m->type_count && status == HAUL_OK; i++) {
        model_type *t = &m->type[i];
        last = t;
        status =
            t->form == FORM_STRUCT ? make_struct(c, m, t, context) : make_derived(m, t, context);
        if (status == HAUL_OK && t->form != FORM_STRUCT && chance(c, 1, 4)) {
            /* Old types may be committed or not. Where targets are still to be made this is
             * refused, and can be repeated. */
            status = haul_type_commit(m->type[t->old].handle);
            status = status == HAUL_ERROR_TYPE ? HAUL_OK : status;
        }
    }
    *where = status == HAUL_OK ? "committing a type" : *where;
    draw_order(c, order, m->type_count);
    for (unsigned i = 0; i < m->type_count && status == HAUL_OK; i++) {
        last = &m->type[order[i]];
        status = haul_type_commit(last->handle);
    }
    for (unsigned i = 0; i < m->type_count && status == HAUL_OK; i++)
        status = check_queries(m, &m->type[i], where);
    if (status != HAUL_OK) {
        const haul_error *error = haul_context_error(context);
        if (error->status != HAUL_OK)
            snprintf(m->why, sizeof m->why, "%.200s: %.200s", error->path, error->text);
        model_free_types(m);
    }
    return status;
}

void model_free_types(model *m)
{
    for (unsigned i = 0; i < m->type_count; i++)
        haul_type_free(&m->type[i].handle);
    for (unsigned i = 0; i < m->struct_count; i++) {
        haul_type_free(&m->type[i].container);
        haul_type_free(&m->type[i].parameter);
    }
}
