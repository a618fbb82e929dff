/* Checks that need flat forms: the integers that counts, conditions and switches read, and the
 * targets of pointers.
 *
 * Bytes that are not sent are not read, not even by the host. So they must hold no pointer that is
 * followed, and no integer that a field reads. Nor may such an integer lie in a pointer. Reads by
 * callbacks are not checked.
 */
#include "type/check_flat.h"
#include "base/list.h"
#include "type/refuse.h"
#include "type/row.h"

/* --- numbers that are read -------------------------------------------------------------------- */

static int slot_begins_before(const void *list, size_t i, uint64_t limit)
{
    return ((const haul__slot *)list)[i].offset < limit;
}

static int part_begins_before(const void *list, size_t i, uint64_t limit)
{
    return ((const haul__part *)list)[i].offset < limit;
}

/* The last part that begins before `limit`. Parts of a struct do not interleave, so no earlier part
 * reaches as far. */
static const haul__part *last_part_before(const haul__walk *walk, size_t limit)
{
    const size_t i = haul__search(walk->parts, 0, walk->part_count, limit, part_begins_before);
    return i ? &walk->parts[i - 1] : NULL;
}

static int ruled_begins_before(const void *list, size_t i, uint64_t limit)
{
    return ((const haul__ruled *)list)[i].slot.offset < limit;
}

/* The last ruled row that begins before `limit`. */
static const haul__ruled *last_ruled_before(const haul__walk *walk, size_t limit)
{
    const size_t i = haul__search(walk->ruled, 0, walk->ruled_count, limit, ruled_begins_before);
    return i ? &walk->ruled[i - 1] : NULL;
}

static int is_certain_pointer(const haul__ruled *ruled)
{
    return ruled->kind == HAUL__RULED_POINTER &&
           ruled->rule->said.when.kind == HAUL_WHEN_KIND_ALWAYS;
}

/* Does a number lie in a ruled pointer that always holds? No other row overlaps such a pointer.
 * Pointers in arms of a union are allowed: another arm may hold the number. Each offset within the
 * number at which arms begin costs one search. */
static int touches_ruled_pointer(const haul__walk *walk, size_t offset, size_t bytes)
{
    const haul__ruled *ruled = last_ruled_before(walk, offset + bytes);
    while (ruled && !is_certain_pointer(ruled) && ruled->slot.offset > offset)
        ruled = last_ruled_before(walk, ruled->slot.offset);
    return ruled && is_certain_pointer(ruled) && offset < ruled->slot.offset + ruled->bytes;
}

/* Is a number read from a pointer? It may lie in an embedded array: then the loop goes down to the
 * type of its elements. */
static int reads_pointer(const haul__walk *walk, size_t offset, size_t bytes)
{
    for (;;) {
        const haul__part *part = last_part_before(walk, offset + bytes);
        const size_t i = /* slots are sorted and do not overlap */
            haul__search(walk->slots, 0, walk->slot_count, offset + bytes, slot_begins_before);
        if (i && offset < walk->slots[i - 1].offset + sizeof(void *))
            return 1;
        if (touches_ruled_pointer(walk, offset, bytes))
            return 1;
        if (!part)
            return 0;
        if (offset < part->offset) {
            bytes -= part->offset - offset;
            offset = part->offset;
        }
        if ((offset - part->offset) / part->stride >= part->count)
            return 0;
        offset = (offset - part->offset) % part->stride;
        walk = &part->type->walk;
    }
}

static haul_status check_fields(const haul_type *type, const haul__row *row,
                                const haul_count *shape, haul_error *error)
{
    unsigned i;
    if (shape->kind != HAUL_COUNT_KIND_PRODUCT)
        return HAUL_OK;
    for (i = 0; i < shape->fields; i++)
        if (reads_pointer(&type->walk, shape->field[i].offset, shape->field[i].bytes))
            return haul__wrong(error, type, row->name,
                               "The count field at offset %zu lies in a pointer field.",
                               shape->field[i].offset);
    return HAUL_OK;
}

static haul_status check_rule_fields(const haul_type *type, const haul__row *row,
                                     const haul_field *rule, haul_error *error)
{
    const haul_when *when = &rule->when;
    const haul_switch *choice = &rule->type_switch;
    const haul_integer *field = NULL;
    if ((when->kind == HAUL_WHEN_KIND_FIELD || when->kind == HAUL_WHEN_KIND_NOT) &&
        reads_pointer(&type->walk, when->field.offset, when->field.bytes))
        field = &when->field;
    if (choice->kind == HAUL_SWITCH_KIND_SELF &&
        reads_pointer(&type->walk, choice->field.offset, choice->field.bytes))
        field = &choice->field;
    if (!field)
        return HAUL_OK;
    return haul__wrong(error, type, row->name,
                       "The field at offset %zu that a member of it reads lies in a pointer field.",
                       field->offset);
}

static int overlaps(size_t offset, size_t bytes, const haul_integer *field)
{
    return field->offset < offset + bytes && offset < field->offset + field->bytes;
}

/* The name of a row of this struct that keeps the field from being sent, whatever its condition;
 * NULL: there is none. */
static const char *unsent_row(const haul_type *type, const haul_integer *field)
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

/* The same for rows of embedded types; answers the type's name. */
static const char *unsent_part(const haul__walk *walk, haul_integer field)
{
    for (;;) {
        const haul__part *part = last_part_before(walk, field.offset + 1);
        size_t i;
        if (!part || (field.offset - part->offset) / part->stride >= part->count)
            return NULL;
        field.offset = (field.offset - part->offset) % part->stride;
        walk = &part->type->walk;
        for (i = 0; i < walk->excluded_count; i++)
            if ((walk->excluded[i].bars & HAUL__UNSENT) &&
                overlaps(walk->excluded[i].offset, walk->excluded[i].bytes, &field))
                return walk->name;
    }
}

static haul_status check_field(const haul_type *type, const haul__row *row,
                               const haul_integer *field, haul_error *error)
{
    const char *where = unsent_row(type, field);
    if (!where)
        where = unsent_part(&type->walk, *field);
    if (!where)
        return HAUL_OK;
    return haul__wrong(
        error, type, row->name,
        "It reads the field at offset %zu, which lies in %s and by its `.transfer` is not read.",
        field->offset, where);
}

static haul_status check_unsent(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_when *when = haul__row_when(row);
    const haul_switch *choice = row->rule ? &row->rule->said.type_switch : NULL;
    const haul_count *count;
    haul_status status = HAUL_OK;
    unsigned level, i;
    for (level = 0; (count = haul__row_count(type, row, level)); level++) {
        for (i = 0; i < count->fields && status == HAUL_OK; i++)
            status = check_field(type, row, &count->field[i], error);
    }
    if (status == HAUL_OK && when && when->kind != HAUL_WHEN_KIND_FUNCTION)
        status = check_field(type, row, &when->field, error);
    if (status == HAUL_OK && choice && choice->kind == HAUL_SWITCH_KIND_SELF)
        status = check_field(type, row, &choice->field, error);
    return status;
}

haul_status haul__check_reads(const haul_type *type, haul_error *error)
{
    haul_status status = HAUL_OK;
    size_t i;
    unsigned level;
    for (i = 0; i < type->row_count && status == HAUL_OK; i++) {
        const haul__row *row = &type->rows[i];
        const haul__rule *rule;
        const haul_count *count;
        for (level = 0; status == HAUL_OK && (count = haul__row_count(type, row, level)); level++)
            status = check_fields(type, row, count, error);
        for (rule = row->rule; rule && status == HAUL_OK; rule = rule->each)
            status = check_rule_fields(type, row, &rule->said, error);
        if (status == HAUL_OK)
            status = check_unsent(type, row, error);
    }
    return status;
}

/* --- targets ---------------------------------------------------------------------------------- */

static haul_status check_room(const haul_type *type, const haul__row *row, const haul_type *target,
                              haul_error *error)
{
    size_t low = row->rule->said.tag_bits & (HAUL_ALIGNMENT_MAX - 1);
    if (low < HAUL__PLACEMENT_MIN || (target && target->walk.placement > low))
        return HAUL_OK;
    return haul__wrong(
        error, type, row->name,
        "Tag bits up to %zu want a target that is aligned above them, and %s is not: declare it.",
        low, target ? target->name : "plain memory");
}

static haul_status check_rooms(const haul_type *type, const haul__row *row, haul_error *error)
{
    haul__row at = *row;
    haul_status status = HAUL_OK;
    size_t i;
    if (row->kind != HAUL_FIELD_POINTER)
        return HAUL_OK;
    for (; at.rule && status == HAUL_OK; at.rule = at.rule->each) {
        if (at.rule->said.type_switch.case_count == 0)
            status = check_room(type, &at, row->type, error);
        for (i = 0; i < at.rule->said.type_switch.case_count && status == HAUL_OK; i++)
            status = check_room(type, &at, at.rule->types[i], error);
    }
    return status;
}

static haul_status check_target(const haul_type *type, const haul__row *row,
                                const haul_type *target, haul_error *error)
{
    if (target && (haul__row_exclusions(row) & HAUL__UNSENT)) {
        if (target->walk.depends)
            return haul__wrong(
                error, type, row->name,
                "`.transfer` is %s; but objects of type %s are rebuilt from what is sent.",
                haul__transfer_name(row), target->name);
        if (target->walk.has_slots)
            return haul__wrong(error, type, row->name,
                               "`.transfer` is %s, so that nothing there is read; but "
                               "type %s has pointers, optional members or a size of its own.",
                               haul__transfer_name(row), target->name);
    }
    if (row->kind != HAUL_FIELD_POINTER || !target || target->walk.payload != 0 ||
        haul__is_sized(&target->walk))
        return HAUL_OK;
    return haul__wrong(error, type, row->name,
                       "The pointer leads to type %s, of which no byte travels.", target->name);
}

haul_status haul__check_targets(const haul_type *type, haul_error *error)
{
    haul_status status = HAUL_OK;
    size_t i, k;
    for (i = 0; i < type->row_count && status == HAUL_OK; i++) {
        const haul__row *row = &type->rows[i];
        const haul__rule *rule = row->rule;
        status = check_target(type, row, row->type, error);
        for (; rule; rule = rule->each)
            for (k = 0; k < rule->said.type_switch.case_count && status == HAUL_OK; k++)
                status = check_target(type, row, rule->types[k], error);
        if (status == HAUL_OK)
            status = check_rooms(type, row, error);
    }
    return status;
}
