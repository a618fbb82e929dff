/* The old way to describe types, on its way out: rows with shapes and rules become fields.
 */
#include "base/memory.h"
#include "describe/enter.h"
#include "type/build.h"
#include "type/life.h"
#include "type/refuse.h"

static void put_shape(const haul_shape *shape, haul_count *count)
{
    unsigned i;
    count->kind = (int)shape->kind;
    count->fields = shape->field_count;
    for (i = 0; i < 3; i++) {
        count->field[i].offset = shape->field[i].offset;
        count->field[i].bytes = shape->field[i].bytes;
        count->field[i].sign = shape->field[i].is_signed;
    }
    count->times = shape->multiply;
    count->plus = shape->add;
    count->function = shape->function;
}

static void put_choice(const haul_choice *choice, haul_switch *by)
{
    by->kind = (int)choice->kind;
    by->field.offset = choice->field.offset;
    by->field.bytes = choice->field.bytes;
    by->field.sign = choice->field.is_signed;
    by->function = choice->function;
    by->cases = choice->cases;
    by->case_count = choice->case_count;
    by->case_bytes = sizeof *choice->cases;
}

static void put_mode(const haul_rule *rule, haul_field *field)
{
    const haul_mode mode = rule->mode;
    if (mode == HAUL_MODE_OPAQUE && field->kind == HAUL_FIELD_POINTER)
        field->kind = HAUL_FIELD_RAW;
    else if (mode == HAUL_MODE_NULL && field->kind == HAUL_FIELD_POINTER)
        field->kind = HAUL_FIELD_SKIP;
    else if (mode == HAUL_MODE_EXTERNAL)
        field->ownership = HAUL_EXTERNAL;
    else if (mode == HAUL_MODE_ALIAS || mode == HAUL_MODE_ALIAS_OR_STATIC)
        field->ownership = HAUL_BORROWED;
    else if ((int)mode < 0 || mode > HAUL_MODE_EXTERNAL)
        field->ownership = (haul_ownership)mode;
    field->maybe_static = mode == HAUL_MODE_OWN_OR_STATIC || mode == HAUL_MODE_ALIAS_OR_STATIC;
}

static void put_members(const haul_rule *rule, haul_field *field)
{
    put_mode(rule, field);
    if (rule->addressing == HAUL_RELATIVE)
        field->kind = HAUL_FIELD_RELATIVE;
    field->when = rule->when;
    field->else_raw = rule->otherwise == HAUL_ELSE_RAW;
    field->tag_bits = rule->tag_bits;
    field->integers_below = rule->integer_below;
    field->integers_from = rule->integer_from;
    field->base = rule->base;
    field->base_fn = rule->base_function;
    put_choice(&rule->choice, &field->type_switch);
    field->ancestor = rule->holder ? rule->holder : rule->with_parent ? HAUL_PARENT : NULL;
    field->transfer = (haul_transfer)rule->direction;
}

static void put_rule(const haul_rule *rule, haul_field *field, haul_field *each)
{
    put_members(rule, field);
    if (!rule->each)
        return;
    each->kind = HAUL_FIELD_POINTER;
    put_members(rule->each, each);
    if (rule->each->each)
        each->each_pointer = each; /* refused */
    field->each_pointer = each;
}

static void put_ref(const haul_ref *ref, haul_field *field, haul_field *each)
{
    field->name = ref->name;
    field->kind = (int)ref->kind;
    field->offset = ref->offset;
    field->bytes = ref->field_bytes;
    field->element_bytes = ref->element_bytes;
    field->target = ref->target;
    field->levels = ref->levels;
    put_shape(&ref->shape[0], &field->count);
    put_shape(&ref->shape[1], &field->count2);
    put_shape(&ref->shape[2], &field->count3);
    field->packed = ref->unaligned;
    if (ref->rule)
        put_rule(ref->rule, field, each);
}

/* Two fields for each row: the second is that of its `each`. NULL: no memory. */
static haul_field *translate(const haul_allocator *allocator, const haul_ref *refs, size_t count)
{
    haul_field *fields = haul__allocate_zeroed(allocator, 2 * count * sizeof *fields);
    size_t i;
    for (i = 0; i < count && fields; i++)
        put_ref(&refs[i], &fields[i], &fields[count + i]);
    return fields;
}

haul_status haul_type_create_in(const haul_allocator *allocator, const char *name, size_t bytes,
                                const haul_ref *refs, size_t count, haul_type **type)
{
    static const haul__home none = { NULL, NULL, NULL };
    haul_allocator own;
    haul_field *fields = NULL;
    haul_struct what;
    haul_status status;
    if (type)
        *type = NULL;
    if (!type || !haul__allocator_is_complete(allocator) || (!refs && count > 0))
        return HAUL_ERROR_ARGUMENT;
    own = haul__allocator_or_default(allocator);
    if (count > 0 && !(fields = translate(&own, refs, count)))
        return HAUL_ERROR_MEMORY;
    memset(&what, 0, sizeof what);
    what.name = name;
    what.bytes = bytes;
    what.fields = fields;
    what.field_count = count;
    what.field_bytes = sizeof *fields;
    status = haul__type_new(&none, &own, &what, type);
    haul__release(&own, fields, 2 * count * sizeof *fields);
    return status;
}

haul_status haul_type_create(const char *name, size_t bytes, const haul_ref *refs, size_t count,
                             haul_type **type)
{
    return haul_type_create_in(NULL, name, bytes, refs, count, type);
}

haul_status haul_type_add(haul_type *type, const haul_ref *refs, size_t count)
{
    haul_field *fields = NULL;
    haul_status status;
    if (!haul__type_is_valid(type))
        return HAUL_ERROR_ARGUMENT;
    if (refs && count > 0 && !(fields = translate(&type->allocator, refs, count)))
        return haul__type_out_of_memory(type);
    status = haul__enter(type);
    if (status == HAUL_OK)
        status = haul__leave(type, haul__type_add_fields(type, fields, count, sizeof *fields));
    haul__release(&type->allocator, fields, 2 * count * sizeof *fields);
    return status;
}

haul_status haul_type_pointer(const char *name, haul_type *const *target, size_t element_bytes,
                              haul_shape shape, haul_type **newtype)
{
    haul_ref ref;
    haul_status status;
    memset(&ref, 0, sizeof ref);
    ref.name = "*";
    ref.kind = HAUL_REF_POINTER;
    ref.field_bytes = sizeof(void *);
    ref.element_bytes = element_bytes;
    ref.target = target;
    ref.levels = 1;
    ref.shape[0] = shape;
    status = haul_type_create(name, sizeof(void *), &ref, 1, newtype);
    if (status == HAUL_OK)
        (*newtype)->combiner = HAUL_COMBINER_POINTER;
    return status;
}

haul_status haul_type_bytes(const char *name, size_t bytes, haul_type **newtype)
{
    haul_status status = haul_type_create(name, bytes, NULL, 0, newtype);
    if (status == HAUL_OK)
        (*newtype)->combiner = HAUL_COMBINER_BYTES;
    return status;
}

haul_status haul_type_parameter(const char *name, haul_type **parameter)
{
    haul_status status = haul_type_create(name, 0, NULL, 0, parameter);
    if (status == HAUL_OK)
        (*parameter)->combiner = HAUL_COMBINER_PARAMETER;
    return status;
}
