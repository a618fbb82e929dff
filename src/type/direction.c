/* Directions: which bytes a row says do not travel both ways, and what that forbids.
 *
 * Bytes that are not sent are not read either, by nobody: so no pointer stands in them that would
 * have to be followed, and no number from which something else is learnt. Both can be told when a
 * type is committed, but for what callbacks read: that is between them and their author.
 */
#include "type/build.h"

unsigned haul__exclusions_of(haul_direction direction)
{
    switch (direction) {
    case HAUL_IN:
        return HAUL__UNRETURNED;
    case HAUL_OUT:
        return HAUL__UNSENT;
    case HAUL_NEITHER:
        return HAUL__BARS;
    case HAUL_BOTH:
        break;
    }
    return 0;
}

unsigned haul__row_exclusions(const haul__row *row)
{
    return row->rule ? haul__exclusions_of(row->rule->said.direction) : 0;
}

static const char *name_of(const haul__row *row)
{
    return row->rule->said.direction == HAUL_OUT ? "out" : "neither";
}

static int is_unsent(const haul__row *row)
{
    return (haul__row_exclusions(row) & HAUL__UNSENT) != 0;
}

int haul__row_is_unsent(const haul__row *row)
{
    return (row->kind == HAUL_REF_DATA || row->kind == HAUL_REF_EMBED) && is_unsent(row);
}

haul_status haul__check_direction(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_rule *rule = &row->rule->said;
    if (rule->direction < HAUL_BOTH || rule->direction > HAUL_NEITHER)
        return haul__wrong(error, type, row->name, "Its direction is %d, which does not exist.",
                           (int)rule->direction);
    if (row->kind != HAUL_REF_POINTER || !is_unsent(row))
        return HAUL_OK;
    if (type->shapes[row->shape + row->levels - 1].kind == HAUL_SHAPE_SENTINEL)
        return haul__wrong(
            error, type, row->name,
            "Its direction is %s, so that nothing there is read; but it ends at a value.",
            name_of(row));
    if (rule->choice.kind == HAUL_CHOICE_TARGET)
        return haul__wrong(error, type, row->name,
                           "Its direction is %s, so that nothing there is read; but its "
                           "type is told by a tag there.",
                           name_of(row));
    return HAUL_OK;
}

haul_status haul__check_unsent_target(const haul_type *type, const haul__row *row,
                                      const haul_type *target, haul_error *error)
{
    if (!target || !is_unsent(row))
        return HAUL_OK;
    if (target->walk.depends)
        return haul__wrong(
            error, type, row->name,
            "Its direction is %s; but objects of type %s are rebuilt from what is sent.",
            name_of(row), target->name);
    if (!target->walk.has_slots)
        return HAUL_OK;
    return haul__wrong(error, type, row->name,
                       "Its direction is %s, so that nothing there is read; but "
                       "type %s has pointers, rules or a size "
                       "of its own.",
                       name_of(row), target->name);
}

/* ---- Numbers that are read. */

static int overlaps(size_t offset, size_t bytes, const haul_field_place *field)
{
    return field->offset < offset + bytes && offset < field->offset + field->bytes;
}

/* Does a row of this very struct, whatever its condition, keep the field from being read? */
static const char *unsent_row(const haul_type *type, const haul_field_place *field)
{
    size_t i;
    if (!haul__touches_unsent_row(type, field->offset, field->bytes))
        return NULL;
    for (i = 0; i < type->row_count; i++) {
        const haul__row *row = &type->rows[i];
        if (haul__row_is_unsent(row) && overlaps(row->offset, row->bytes, field))
            return row->name;
    }
    return NULL;
}

static const haul__part *part_at(const haul__walk *walk, size_t offset)
{
    const haul__part *part = haul__last_part_before(walk, offset + 1);
    return part && (offset - part->offset) / part->stride < part->count ? part : NULL;
}

/* The same in what is embedded. */
static const char *unsent_part(const haul__walk *walk, haul_field_place field)
{
    const haul__part *part;
    while ((part = part_at(walk, field.offset)) != NULL) {
        size_t i;
        field.offset = (field.offset - part->offset) % part->stride;
        walk = &part->type->walk;
        for (i = 0; i < walk->barred_count; i++)
            if ((walk->barred[i].bars & HAUL__UNSENT) &&
                overlaps(walk->barred[i].offset, walk->barred[i].bytes, &field))
                return walk->name;
    }
    return NULL;
}

static haul_status check_field(const haul_type *type, const haul__row *row,
                               const haul_field_place *field, haul_error *error)
{
    const char *where = unsent_row(type, field);
    if (!where)
        where = unsent_part(&type->walk, *field);
    if (!where)
        return HAUL_OK;
    return haul__wrong(
        error, type, row->name,
        "It reads the field at offset %zu, which lies in %s and by its direction is not read.",
        field->offset, where);
}

static haul_status check_shapes(const haul_type *type, const haul__row *row, haul_error *error)
{
    haul_status status = HAUL_OK;
    unsigned level, i;
    if (row->kind != HAUL_REF_POINTER && row->kind != HAUL_REF_TAIL)
        return HAUL_OK;
    for (level = 0; level < row->levels; level++) {
        const haul_shape *shape = &type->shapes[row->shape + level];
        for (i = 0; i < shape->field_count && status == HAUL_OK; i++)
            status = check_field(type, row, &shape->field[i], error);
    }
    return status;
}

haul_status haul__check_unsent(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_when *when = haul__row_when(row);
    const haul_choice *choice = row->rule ? &row->rule->said.choice : NULL;
    haul_status status = check_shapes(type, row, error);
    if (status == HAUL_OK && when && when->kind != HAUL_WHEN_FUNCTION)
        status = check_field(type, row, &when->field, error);
    if (status == HAUL_OK && choice && choice->kind == HAUL_CHOICE_SELF)
        status = check_field(type, row, &choice->field, error);
    return status;
}
