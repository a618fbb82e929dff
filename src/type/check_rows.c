/* Checks of a row's element size and shapes, which need its target.
 */
#include <inttypes.h>

#include "type/check_rows.h"
#include "type/field.h"
#include "type/refuse.h"
#include "type/row.h"

/* Is its target known? A query may come before the target exists. */
static int is_known(const haul__row *row)
{
    return row->type || !row->target;
}

static haul_status check_count(const haul_type *type, const haul__row *row, const haul_count *shape,
                               size_t unit, haul_error *error)
{
    unsigned i;
    for (i = 0; i < shape->fields; i++) {
        const haul_integer *place = &shape->field[i];
        if (!haul__is_integer_width(place->bytes))
            return haul__wrong(error, type, row->name,
                               "The count field at offset %zu has %u bytes: counts are "
                               "integers of 1, 2, 4 or 8 bytes.",
                               place->offset, (unsigned)place->bytes);
        if (!haul__fits(place->offset, place->bytes, haul__fixed_bytes(type)))
            return haul__wrong(
                error, type, row->name,
                "The count field of %u bytes at offset %zu lies outside of the type's %zu bytes.",
                (unsigned)place->bytes, place->offset, haul__fixed_bytes(type));
    }
    if (shape->fields > 0)
        return HAUL_OK;
    if (shape->plus < 0)
        return haul__wrong(error, type, row->name,
                           "The fixed count is %" PRId64 ": it cannot be negative.", shape->plus);
    if (unit > 0 && (uint64_t)shape->plus > SIZE_MAX / 2 / unit)
        return haul__wrong(error, type, row->name,
                           "The fixed count %" PRId64 " of elements of %zu bytes is too large.",
                           shape->plus, unit);
    return HAUL_OK;
}

/* An end pointer's field has no row, or the row of a pointer. */
static haul_status check_end_field(const haul_type *type, const haul__row *row, size_t end,
                                   haul_error *error)
{
    const haul__row *other = haul__last_row_before(type, end + sizeof(void *));
    if (!other || other->offset + other->bytes <= end)
        return HAUL_OK;
    if (other != row && haul__row_when(other) && haul__row_when(row))
        return HAUL_OK; /* they are different arms, or discovery refuses the object */
    if (other == row)
        return haul__wrong(error, type, row->name,
                           "The end pointer at offset %zu lies in the begin pointer.", end);
    if (other->kind == HAUL_FIELD_POINTER && !haul__row_is_ruled(other) && other->offset <= end &&
        (end - other->offset) % sizeof(void *) == 0)
        return HAUL_OK;
    return haul__wrong(error, type, row->name, "The end pointer at offset %zu overlaps field %s.",
                       end, other->name);
}

static haul_status check_end(const haul_type *type, const haul__row *row, const haul_count *shape,
                             haul_error *error)
{
    size_t end = shape->field[0].offset;
    if (row->levels != 1 || row->bytes != sizeof(void *))
        return haul__wrong(
            error, type, row->name,
            "An end pointer can only close the array behind one pointer of one level.");
    if (shape->fields != 1 || shape->field[0].bytes != sizeof(void *))
        return haul__wrong(error, type, row->name,
                           "The end field has %u bytes: it must be one pointer of %zu bytes.",
                           (unsigned)shape->field[0].bytes, sizeof(void *));
    if (!haul__fits(end, sizeof(void *), type->bytes))
        return haul__wrong(error, type, row->name,
                           "The end pointer at offset %zu lies outside of the type's %zu bytes.",
                           end, type->bytes);
    if (!row->unaligned && end % HAUL__GRID != 0)
        return haul__wrong(error, type, row->name,
                           "The end pointer at offset %zu is not at a multiple of %zu: "
                           "set `.packed` if it is.",
                           end, HAUL__GRID);
    return check_end_field(type, row, end, error);
}

static haul_status check_sentinel(const haul_type *type, const haul__row *row, unsigned level,
                                  haul_error *error)
{
    int64_t value = type->shapes[row->shape + level].plus;
    size_t unit = haul__row_unit(row);
    if (level + 1 < row->levels) {
        if (value == 0)
            return HAUL_OK;
        return haul__wrong(
            error, type, row->name,
            "An array of pointers ends at the null pointer only, not at %" PRId64 ".", value);
    }
    if (!is_known(row))
        return HAUL_OK;
    if (row->type && row->type->combiner != HAUL_COMBINER_BYTES)
        return haul__wrong(
            error, type, row->name,
            "The elements are of type %s: only plain integers end at a value; use a function.",
            row->type->name);
    if (unit > 8 || !haul__is_integer_width((unsigned)unit))
        return haul__wrong(
            error, type, row->name,
            "The elements have %zu bytes: only those of 1, 2, 4 or 8 bytes can end at a value.",
            unit);
    if (unit < 8 && (value < -((int64_t)1 << (8 * unit - 1)) || value >= (int64_t)1 << (8 * unit)))
        return haul__wrong(error, type, row->name,
                           "No element of %zu bytes is ever equal to %" PRId64 ".", unit, value);
    return HAUL_OK;
}

/* Objects with sizes of their own cannot be elements of an array. */
static haul_status check_sized(const haul_type *type, const haul__row *row, const haul_type *target,
                               haul_error *error)
{
    const haul_count *count =
        row->kind == HAUL_FIELD_POINTER ? &type->shapes[row->shape + row->levels - 1] : NULL;
    if (!target || !haul__type_is_sized(target))
        return HAUL_OK;
    if (count && (count->kind == HAUL_COUNT_KIND_ONE || (count->kind == HAUL_COUNT_KIND_PRODUCT &&
                                                         count->fields == 0 && count->plus == 1)))
        return HAUL_OK;
    return haul__wrong(error, type, row->name,
                       "Objects of type %s have no fixed size: a pointer can lead to one, but no "
                       "array or struct can hold them.",
                       target->name);
}

/* `unit`: bytes of an element. */
static haul_status check_shape(const haul_type *type, const haul__row *row, const haul_count *shape,
                               size_t unit, haul_error *error)
{
    if (shape->fields > 3)
        return haul__wrong(error, type, row->name,
                           "The count reads %u fields: 0 to 3 are possible.", shape->fields);
    if (shape->function && shape->kind != HAUL_COUNT_KIND_FUNCTION)
        return haul__wrong(error, type, row->name,
                           "The count is a bare number or function: write HAUL_FIXED(3), "
                           "HAUL_COUNT(...) or HAUL_COUNT_FN(function).");
    switch (shape->kind) {
    case HAUL_COUNT_KIND_ONE:
        return HAUL_OK;
    case HAUL_COUNT_KIND_PRODUCT:
        return check_count(type, row, shape, unit, error);
    case HAUL_COUNT_KIND_UNTIL:
        if (row->kind == HAUL_FIELD_TAIL)
            return haul__wrong(error, type, row->name, "A tail has no end pointer.");
        return check_end(type, row, shape, error);
    case HAUL_COUNT_KIND_TERMINATED:
        return check_sentinel(type, row, (unsigned)(shape - &type->shapes[row->shape]), error);
    case HAUL_COUNT_KIND_FUNCTION:
        if (shape->function)
            return HAUL_OK;
        return haul__wrong(error, type, row->name, "The function of the count is NULL.");
    }
    return haul__wrong(error, type, row->name, "The count is of kind %d, which does not exist.",
                       (int)shape->kind);
}

/* ---- Sections. */

/* The member that cannot stand beside a section; NULL: there is none. */
static const char *beside_section(const haul_type *type, const haul__row *row)
{
    const haul_field *said = &row->rule->said;
    if (row->levels != 1)
        return "more than one level";
    if (type->shapes[row->shape].kind != HAUL_COUNT_KIND_ONE)
        return "a count";
    if (said->type_switch.kind != HAUL_SWITCH_KIND_NONE)
        return "a `.type_switch`";
    if (said->pool)
        return "a `.pool`";
    return said->ownership == HAUL_UNLESS_OWNED ? "HAUL_UNLESS_OWNED" : NULL;
}

static haul_status check_dimension(const haul_type *type, const haul__row *row, size_t number,
                                   haul_error *error)
{
    const haul_dimension *d = &row->rule->said.section.dimensions[number];
    const haul_count *counts[2];
    haul_status status = HAUL_OK;
    size_t i;
    counts[0] = &d->extent;
    counts[1] = &d->stride;
    if (d->unit > HAUL_TYPE_BYTES_MAX)
        return haul__wrong(error, type, row->name,
                           "The stride of dimension %zu counts units of %zu bytes: %zu is the "
                           "limit.",
                           number, d->unit, (size_t)HAUL_TYPE_BYTES_MAX);
    for (i = 0; i < 2 && status == HAUL_OK; i++) {
        const haul_count *count = counts[i];
        if (count->kind == HAUL_COUNT_KIND_UNTIL || count->kind == HAUL_COUNT_KIND_TERMINATED)
            return haul__wrong(error, type, row->name,
                               "Dimension %zu of the section has an extent or stride that is "
                               "neither a product nor a function.",
                               number);
        /* a constant stride may be negative; discovery refuses one that is too large */
        if (i == 0 || count->kind != HAUL_COUNT_KIND_PRODUCT || count->fields > 0)
            status = check_shape(type, row, count, 1, error);
    }
    return status;
}

static haul_status check_section(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_section *section = &row->rule->said.section;
    const char *beside;
    haul_status status = HAUL_OK;
    size_t i;
    if (!section->rank)
        return HAUL_OK;
    if (section->rank > HAUL_DIMENSIONS_MAX || !section->dimensions)
        return haul__wrong(error, type, row->name,
                           "The section has %zu dimensions, or NULL for them: 1 to %u are "
                           "possible.",
                           section->rank, HAUL_DIMENSIONS_MAX);
    beside = beside_section(type, row);
    if (beside)
        return haul__wrong(error, type, row->name,
                           "A section is owned and has one level and no count: it cannot have %s.",
                           beside);
    if (row->type && haul__type_is_sized(row->type))
        return haul__wrong(error, type, row->name,
                           "Objects of type %s have no fixed size: they cannot be the elements of "
                           "a section.",
                           row->type->name);
    for (i = 0; i < section->rank && status == HAUL_OK; i++)
        status = check_dimension(type, row, i, error);
    return status;
}

/* ---- */

static haul_status check_element(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul__rule *rule = row->rule && row->rule->each ? row->rule->each : row->rule;
    if (row->type && row->type->bytes == 0)
        return haul__wrong(error, type, row->name, "The target type %s has an extent of 0 bytes.",
                           row->type->name);
    if (row->type && row->element_bytes != 0 && row->element_bytes != row->type->bytes)
        return haul__wrong(
            error, type, row->name,
            "The elements have %zu bytes in C, but the target type %s was made with %zu.%s",
            row->element_bytes, row->type->name, row->type->bytes,
            row->kind == HAUL_FIELD_POINTER && row->element_bytes == sizeof(void *)
                ? " For an array of pointers write HAUL_POINTERS."
                : "");
    if (!row->target && row->element_bytes == 0 &&
        (!rule || rule->said.type_switch.kind == HAUL_SWITCH_KIND_NONE))
        return haul__wrong(error, type, row->name,
                           "The field has neither a `.target` nor `.element_bytes`.");
    if (row->element_bytes > HAUL_TYPE_BYTES_MAX)
        return haul__wrong(error, type, row->name,
                           "The elements have %zu bytes, more than the %zu that can be described.",
                           row->element_bytes, (size_t)HAUL_TYPE_BYTES_MAX);
    return HAUL_OK;
}

static haul_status check_embed(const haul_type *type, const haul__row *row, haul_error *error)
{
    if (!row->type)
        return haul__wrong(error, type, row->name,
                           "The embedded field has no type: give the address of its handle.");
    if (row->type->bytes == 0 || row->bytes % row->type->bytes != 0)
        return haul__wrong(
            error, type, row->name,
            "The field's %zu bytes are no whole number of elements of type %s (%zu bytes).",
            row->bytes, row->type->name, row->type->bytes);
    return check_sized(type, row, row->type, error);
}

/* A pool is owned plain bytes, which are counted and sent. */
static haul_status check_pool(const haul_type *type, const haul__row *row, haul_error *error)
{
    const char *fault = NULL;
    if (row->kind != HAUL_FIELD_POINTER)
        fault = "this field is no pointer";
    else if (row->target || row->rule->said.type_switch.kind != HAUL_SWITCH_KIND_NONE)
        fault = "this field has a target type";
    else if (row->rule->said.ownership != HAUL_OWNED)
        fault = "this field does not own its target";
    else if (type->shapes[row->shape + row->levels - 1].kind == HAUL_COUNT_KIND_TERMINATED)
        fault = "the end of this array is a value";
    else if (haul__row_exclusions(row) & HAUL__UNSENT)
        fault = "the `.transfer` of this field does not send it";
    return fault ? haul__wrong(error, type, row->name,
                               "A pool is owned and counted plain bytes that are sent, but %s.",
                               fault)
                 : HAUL_OK;
}

haul_status haul__check_row(const haul_type *type, const haul__row *row, haul_error *error)
{
    haul_status status = haul__check_rule(type, row, error);
    const haul__rule *rule;
    unsigned level;
    size_t i;
    if (status == HAUL_OK && row->rule && row->rule->said.pool)
        status = check_pool(type, row, error);
    if (status != HAUL_OK)
        return status;
    if (row->kind == HAUL_FIELD_EMBED)
        return check_embed(type, row, error);
    if (row->kind != HAUL_FIELD_POINTER && row->kind != HAUL_FIELD_TAIL)
        return HAUL_OK;
    status = is_known(row) ? check_element(type, row, error) : HAUL_OK;
    if (status == HAUL_OK)
        status = check_sized(type, row, row->type, error);
    for (rule = row->rule; rule; rule = rule->each)
        for (i = 0; i < rule->said.type_switch.case_count && status == HAUL_OK; i++)
            status = check_sized(type, row, rule->types[i], error);
    for (level = 0; level < row->levels && status == HAUL_OK; level++)
        status = check_shape(type, row, &type->shapes[row->shape + level],
                             level + 1 < row->levels ? sizeof(void *) : haul__row_unit(row), error);
    return status == HAUL_OK && row->rule ? check_section(type, row, error) : status;
}
