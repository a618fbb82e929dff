/* Is a description right? Everything that a commit refuses about one type, in the order in which it
 * can be known:
 *
 *   places   size, alignment, where rows lie, and that they do not overlap   needs nothing
 *   rows     element sizes and shapes                                        needs the target
 *   counts   no count is read from a pointer                                 needs the flat form
 *
 * Rows are sorted by offset once; overlap is then a matter of how far those before reach, and what
 * lies at an offset one of binary search. Sums of user's numbers are written as differences that
 * cannot wrap.
 */
#include <inttypes.h>
#include <stdio.h>

#include "type/build.h"

haul_status haul__wrong(haul_error *error, const haul_type *type, const char *field,
                        const char *format, ...)
{
    char path[2 * HAUL_NAME_BYTES_MAX];
    va_list arguments;
    if (!error)
        return HAUL_ERROR_TYPE;
    haul__clear_error(error);
    error->status = HAUL_ERROR_TYPE;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "%s%s%s", type->name, field ? "." : "", field ? field : "");
    haul__set_path(error->path, path);
    return HAUL_ERROR_TYPE;
}

int haul__fits(size_t offset, size_t bytes, size_t whole)
{
    return offset <= whole && bytes <= whole - offset;
}

static int is_integer_width(unsigned bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* --- places ----------------------------------------------------------------------------------- */

static haul_status check_name(const haul_type *type, haul_error *error)
{
    if (*type->name)
        return HAUL_OK;
    return haul__wrong(error, type, NULL, HAUL__NO_NAME("A type of %zu bytes"), type->bytes,
                       HAUL_NAME_BYTES_MAX);
}

static haul_status check_size(const haul_type *type, haul_error *error)
{
    if (type->block_count > 0 || type->combiner == HAUL_COMBINER_STRUCT ||
        type->combiner == HAUL_COMBINER_INDEXED || type->combiner == HAUL_COMBINER_HINDEXED ||
        type->combiner == HAUL_COMBINER_INDEXED_BLOCK)
        return HAUL_OK;
    if (type->bytes == 0)
        return haul__wrong(error, type, NULL, "The type has 0 bytes: give its sizeof.");
    if (type->bytes > HAUL_TYPE_BYTES_MAX)
        return haul__wrong(error, type, NULL,
                           "The type has %zu bytes, more than the %zu that can be described.",
                           type->bytes, (size_t)HAUL_TYPE_BYTES_MAX);
    return HAUL_OK;
}

static haul_status check_alignment(const haul_type *type, haul_error *error)
{
    if (!type->is_aligned)
        return HAUL_OK;
    if (!haul__is_power_of_two(type->alignment) || type->alignment > HAUL_ALIGNMENT_MAX)
        return haul__wrong(error, type, NULL,
                           "The declared alignment %zu is not a power of two from 1 to %u.",
                           type->alignment, HAUL_ALIGNMENT_MAX);
    if (type->bytes % type->alignment != 0)
        return haul__wrong(
            error, type, NULL,
            "The size %zu is not a multiple of the declared alignment %zu: give the padded sizeof.",
            type->bytes, type->alignment);
    return HAUL_OK;
}

static int is_distance(const haul__row *row)
{
    return row->rule && row->rule->said.addressing == HAUL_RELATIVE;
}

static haul_status check_distance_place(const haul_type *type, const haul__row *row,
                                        haul_error *error)
{
    if (row->levels == 1 && (row->bytes == 4 || row->bytes == 8))
        return HAUL_OK;
    return haul__wrong(error, type, row->name,
                       "A distance has 4 or 8 bytes and one level, not %zu and %u.", row->bytes,
                       row->levels);
}

/* Behind the tail there is nothing. */
static haul_status check_tail_place(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul__row *last = &type->rows[type->row_count - 1];
    if (row->offset > type->bytes)
        return haul__wrong(error, type, row->name,
                           "The tail at offset %zu begins behind the type's %zu bytes.",
                           row->offset, type->bytes);
    if (last != row)
        return haul__wrong(error, type, row->name, "Field %s lies behind the tail, at offset %zu.",
                           last->name, last->offset);
    if (type->size)
        return haul__wrong(error, type, row->name,
                           "The type has a tail and a size of its own: one of them says how long "
                           "objects are.");
    if (row->levels != 1)
        return haul__wrong(error, type, row->name, "A tail has one level, not %u.", row->levels);
    return HAUL_OK;
}

static haul_status check_pointer_place(const haul_type *type, const haul__row *row,
                                       haul_error *error)
{
    if (is_distance(row))
        return check_distance_place(type, row, error);
    if (row->levels < 1 || row->levels > HAUL_LEVELS)
        return haul__wrong(error, type, row->name,
                           "The row has %u levels of pointers: 1 to %d are possible.", row->levels,
                           HAUL_LEVELS);
    if (row->bytes % sizeof(void *) != 0)
        return haul__wrong(error, type, row->name,
                           "The field has %zu bytes, no whole number of pointers of %zu bytes.",
                           row->bytes, sizeof(void *));
    if (!row->unaligned && row->offset % HAUL__GRID != 0)
        return haul__wrong(
            error, type, row->name,
            "The pointer at offset %zu is not at a multiple of %zu: declare it packed if it is.",
            row->offset, HAUL__GRID);
    if (!row->unaligned && type->bytes % HAUL__GRID != 0)
        return haul__wrong(error, type, row->name,
                           "The type's %zu bytes are no multiple of %zu, so that this "
                           "pointer is off the grid in an "
                           "array: declare it packed, or give the padded sizeof.",
                           type->bytes, HAUL__GRID);
    return HAUL_OK;
}

static haul_status check_place(const haul_type *type, const haul__row *row, haul_error *error)
{
    if (!*row->name)
        return haul__wrong(error, type, NULL, HAUL__NO_NAME("Row %zu, at offset %zu,"), row->serial,
                           row->offset, HAUL_NAME_BYTES_MAX);
    if (row->kind < HAUL_REF_POINTER || row->kind > HAUL_REF_TAIL)
        return haul__wrong(error, type, row->name, "The row is of kind %u, which does not exist.",
                           row->kind);
    if (row->kind == HAUL_REF_TAIL)
        return check_tail_place(type, row, error);
    if (row->bytes == 0)
        return haul__wrong(error, type, row->name, "The field has 0 bytes.");
    if (!haul__fits(row->offset, row->bytes, type->bytes))
        return haul__wrong(error, type, row->name,
                           "The field's %zu bytes at offset %zu end behind the type's %zu bytes.",
                           row->bytes, row->offset, type->bytes);
    return row->kind == HAUL_REF_POINTER ? check_pointer_place(type, row, error) : HAUL_OK;
}

static size_t end_of(const haul__row *row)
{
    return row->offset + row->bytes;
}

static const haul__row *farther(const haul__row *row, const haul__row *other)
{
    return other && end_of(other) >= end_of(row) ? other : row;
}

/* A row can overlap one before it only if it overlaps the one that reaches farthest. */
static haul_status check_overlaps(const haul_type *type, haul_error *error)
{
    /* Of all, and of those without a condition. */
    const haul__row *farthest = NULL, *certain = NULL;
    size_t i;
    int has_arms = 0;
    for (i = 0; i < type->row_count; i++) {
        const haul__row *row = &type->rows[i], *other = haul__row_when(row) ? certain : farthest;
        if (other && row->offset < end_of(other))
            return haul__wrong(error, type, row->name,
                               "The field (offset %zu, %zu bytes) overlaps field %s (offset "
                               "%zu, %zu bytes): one byte can have one row, unless each has a "
                               "condition.",
                               row->offset, row->bytes, other->name, other->offset, other->bytes);
        has_arms |= farthest && row->offset < end_of(farthest);
        farthest = farther(row, farthest);
        if (!haul__row_when(row))
            certain = farther(row, certain);
    }
    return has_arms ? haul__check_arms(type, error) : HAUL_OK;
}

/* Rows may overlap, so that each says how far it and those before it reach. */
static void note_ends(haul_type *type)
{
    size_t i, pointers = 0, unsent = 0;
    for (i = 0; i < type->row_count; i++) {
        haul__row *row = &type->rows[i];
        if (row->kind == HAUL_REF_POINTER && end_of(row) > pointers)
            pointers = end_of(row);
        if (haul__row_is_unsent(row) && end_of(row) > unsent)
            unsent = end_of(row);
        row->pointers_end = pointers;
        row->unsent_end = unsent;
    }
}

haul_status haul__check_places(haul_type *type, haul_error *error)
{
    haul_status status = check_name(type, error);
    size_t i;
    if (status == HAUL_OK)
        status = check_size(type, error);
    if (status == HAUL_OK)
        status = check_alignment(type, error);
    haul__type_sort_rows(type);
    for (i = 0; i < type->row_count && status == HAUL_OK; i++)
        status = check_place(type, &type->rows[i], error);
    if (status == HAUL_OK)
        note_ends(type);
    return status == HAUL_OK ? check_overlaps(type, error) : status;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The last row that begins before `limit`. */
static const haul__row *last_row_before(const haul_type *type, size_t limit)
{
    size_t low = 0, high = type->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (type->rows[middle].offset < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &type->rows[low - 1] : NULL;
}

const haul__row *haul__find_row(const haul_type *type, size_t offset)
{
    const haul__row *row = last_row_before(type, offset + 1);
    return row && offset - row->offset < row->bytes ? row : NULL;
}

int haul__touches_pointer_row(const haul_type *type, size_t offset, size_t bytes)
{
    const haul__row *row = last_row_before(type, offset + bytes);
    return row && row->pointers_end > offset;
}

int haul__touches_unsent_row(const haul_type *type, size_t offset, size_t bytes)
{
    const haul__row *row = last_row_before(type, offset + bytes);
    return row && row->unsent_end > offset;
}

size_t haul__row_unit(const haul__row *row)
{
    return row->type ? row->type->bytes : row->element_bytes;
}

/* Not so in a query before the target exists. */
static int is_known(const haul__row *row)
{
    return row->type || !row->target;
}

size_t haul__fixed_bytes(const haul_type *type)
{
    const haul__row *last = type->row_count > 0 ? &type->rows[type->row_count - 1] : NULL;
    return last && last->kind == HAUL_REF_TAIL && last->offset < type->bytes ? last->offset
                                                                             : type->bytes;
}

static haul_status check_field(const haul_type *type, const haul__row *row,
                               const haul_field_place *place, haul_error *error)
{
    if (!is_integer_width(place->bytes))
        return haul__wrong(error, type, row->name,
                           "The count field at offset %zu has %u bytes: counts are "
                           "integers of 1, 2, 4 or 8 bytes.",
                           place->offset, (unsigned)place->bytes);
    if (!haul__fits(place->offset, place->bytes, haul__fixed_bytes(type)))
        return haul__wrong(
            error, type, row->name,
            "The count field of %u bytes at offset %zu lies outside of the type's %zu bytes.",
            (unsigned)place->bytes, place->offset, haul__fixed_bytes(type));
    return HAUL_OK;
}

static haul_status check_count(const haul_type *type, const haul__row *row, const haul_shape *shape,
                               size_t unit, haul_error *error)
{
    haul_status status = HAUL_OK;
    unsigned i;
    for (i = 0; i < shape->field_count && status == HAUL_OK; i++)
        status = check_field(type, row, &shape->field[i], error);
    if (status != HAUL_OK || shape->field_count > 0)
        return status;
    if (shape->add < 0)
        return haul__wrong(error, type, row->name,
                           "The fixed count is %" PRId64 ": it cannot be negative.", shape->add);
    if (unit > 0 && (uint64_t)shape->add > SIZE_MAX / 2 / unit)
        return haul__wrong(error, type, row->name,
                           "The fixed count %" PRId64 " of elements of %zu bytes is too large.",
                           shape->add, unit);
    return HAUL_OK;
}

/* The end is a field of its own, or a pointer that another row describes. */
static haul_status check_end_field(const haul_type *type, const haul__row *row, size_t end,
                                   haul_error *error)
{
    const haul__row *other = last_row_before(type, end + sizeof(void *));
    if (!other || other->offset + other->bytes <= end)
        return HAUL_OK;
    if (other != row && haul__row_when(other) && haul__row_when(row))
        return HAUL_OK; /* of another arm, or the objects will tell */
    if (other == row)
        return haul__wrong(error, type, row->name,
                           "The end pointer at offset %zu lies in the begin pointer.", end);
    if (haul__row_kind(other) == HAUL_REF_POINTER && !haul__row_is_ruled(other) &&
        other->offset <= end && (end - other->offset) % sizeof(void *) == 0)
        return HAUL_OK;
    return haul__wrong(error, type, row->name, "The end pointer at offset %zu overlaps field %s.",
                       end, other->name);
}

static haul_status check_end(const haul_type *type, const haul__row *row, const haul_shape *shape,
                             haul_error *error)
{
    size_t end = shape->field[0].offset;
    if (row->levels != 1 || row->bytes != sizeof(void *))
        return haul__wrong(
            error, type, row->name,
            "An end pointer can only close the array behind one pointer of one level.");
    if (shape->field_count != 1 || shape->field[0].bytes != sizeof(void *))
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
                           "declare the row packed if it is.",
                           end, HAUL__GRID);
    return check_end_field(type, row, end, error);
}

static int value_has_width(int64_t value, size_t bytes)
{
    if (bytes == 8)
        return 1;
    return value >= -((int64_t)1 << (8 * bytes - 1)) && value < (int64_t)1 << (8 * bytes);
}

static haul_status check_sentinel(const haul_type *type, const haul__row *row, unsigned level,
                                  haul_error *error)
{
    int64_t value = type->shapes[row->shape + level].add;
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
            "The elements are of type %s: only plain integers end at a value; use a callback.",
            row->type->name);
    if (unit > 8 || !is_integer_width((unsigned)unit))
        return haul__wrong(
            error, type, row->name,
            "The elements have %zu bytes: only those of 1, 2, 4 or 8 bytes can end at a value.",
            unit);
    if (!value_has_width(value, unit))
        return haul__wrong(error, type, row->name,
                           "No element of %zu bytes is ever equal to %" PRId64 ".", unit, value);
    return HAUL_OK;
}

static int is_one(const haul_shape *shape)
{
    return shape->kind == HAUL_SHAPE_ONE ||
           (shape->kind == HAUL_SHAPE_COUNT && shape->field_count == 0 && shape->add == 1);
}

/* T17: what has no fixed size cannot be stepped over. */
static haul_status check_sized(const haul_type *type, const haul__row *row, const haul_type *target,
                               haul_error *error)
{
    if (!target || !haul__type_is_sized(target))
        return HAUL_OK;
    if (row->kind == HAUL_REF_POINTER && is_one(&type->shapes[row->shape + row->levels - 1]))
        return HAUL_OK;
    return haul__wrong(error, type, row->name,
                       "Objects of type %s have no fixed size: a pointer can lead "
                       "to one, but nothing can hold them in a "
                       "row.",
                       target->name);
}

static haul_status check_shape(const haul_type *type, const haul__row *row, unsigned level,
                               haul_error *error)
{
    const haul_shape *shape = &type->shapes[row->shape + level];
    size_t unit = level + 1 < row->levels ? sizeof(void *) : haul__row_unit(row);
    if (shape->field_count > 3)
        return haul__wrong(error, type, row->name,
                           "The shape reads %u fields: 0 to 3 are possible.", shape->field_count);
    switch (shape->kind) {
    case HAUL_SHAPE_ONE:
        return HAUL_OK;
    case HAUL_SHAPE_COUNT:
        return check_count(type, row, shape, unit, error);
    case HAUL_SHAPE_END:
        if (row->kind == HAUL_REF_TAIL)
            return haul__wrong(error, type, row->name, "A tail has no end pointer.");
        return check_end(type, row, shape, error);
    case HAUL_SHAPE_SENTINEL:
        return check_sentinel(type, row, level, error);
    case HAUL_SHAPE_FUNCTION:
        if (shape->function)
            return HAUL_OK;
        return haul__wrong(error, type, row->name, "The callback of the shape is NULL.");
    }
    return haul__wrong(error, type, row->name, "The shape is of kind %d, which does not exist.",
                       (int)shape->kind);
}

static int has_choice(const haul__row *row)
{
    const haul__rule *rule = row->rule && row->rule->each ? row->rule->each : row->rule;
    return rule && rule->said.choice.kind != HAUL_CHOICE_NONE;
}

static haul_status check_element(const haul_type *type, const haul__row *row, haul_error *error)
{
    if (row->type && row->type->bytes == 0)
        return haul__wrong(error, type, row->name, "The target type %s has an extent of 0 bytes.",
                           row->type->name);
    if (row->type && row->element_bytes != 0 && row->element_bytes != row->type->bytes)
        return haul__wrong(
            error, type, row->name,
            "The elements have %zu bytes in C, but the target type %s was made with %zu.",
            row->element_bytes, row->type->name, row->type->bytes);
    if (!row->target && row->element_bytes == 0 && !has_choice(row))
        return haul__wrong(error, type, row->name,
                           "The row has neither a target type nor the size of an element.");
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

haul_status haul__check_row(const haul_type *type, const haul__row *row, haul_error *error)
{
    haul_status status = haul__check_rule(type, row, error);
    const haul__rule *rule;
    unsigned level;
    size_t i;
    if (status != HAUL_OK)
        return status;
    if (row->kind == HAUL_REF_EMBED)
        return check_embed(type, row, error);
    if (row->kind != HAUL_REF_POINTER && row->kind != HAUL_REF_TAIL)
        return HAUL_OK;
    status = is_known(row) ? check_element(type, row, error) : HAUL_OK;
    if (status == HAUL_OK)
        status = check_sized(type, row, row->type, error);
    for (rule = row->rule; rule; rule = rule->each)
        for (i = 0; i < rule->said.choice.case_count && status == HAUL_OK; i++)
            status = check_sized(type, row, rule->types[i], error);
    for (level = 0; level < row->levels && status == HAUL_OK; level++)
        status = check_shape(type, row, level, error);
    return status;
}

/* --- counts ----------------------------------------------------------------------------------- */

/* Does a slot of the element stand in [offset, offset + bytes)? Slots are sorted and do not
 * overlap. */
static int touches_slot(const haul__walk *walk, size_t offset, size_t bytes)
{
    size_t low = 0, high = walk->slot_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (walk->slots[middle].offset < offset + bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && offset < walk->slots[low - 1].offset + sizeof(void *);
}

const haul__part *haul__last_part_before(const haul__walk *walk, size_t limit)
{
    size_t low = 0, high = walk->part_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (walk->parts[middle].offset < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &walk->parts[low - 1] : NULL;
}

/* A number may be read from within an embedded array: follow it down to the type that it lies
 * in. */
static int reads_pointer(const haul__walk *walk, size_t offset, size_t bytes)
{
    for (;;) {
        const haul__part *part = haul__last_part_before(walk, offset + bytes);
        if (touches_slot(walk, offset, bytes))
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

/* The last row with a rule that begins before `limit`. */
static const haul__ruled *last_ruled_before(const haul__walk *walk, size_t limit)
{
    size_t low = 0, high = walk->ruled_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (walk->ruled[middle].slot.offset < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &walk->ruled[low - 1] : NULL;
}

static int is_certain_pointer(const haul__ruled *ruled)
{
    return ruled->kind == HAUL__RULED_POINTER && ruled->rule->said.when.kind == HAUL_WHEN_ALWAYS;
}

/* Of rows that hold always, which no other row overlaps; those of a union may give way to the
 * count. Where arms begin within the count, one search follows for each place at which they do. */
static int touches_ruled_pointer(const haul__walk *walk, size_t offset, size_t bytes)
{
    const haul__ruled *ruled = last_ruled_before(walk, offset + bytes);
    while (ruled && !is_certain_pointer(ruled) && ruled->slot.offset > offset)
        ruled = last_ruled_before(walk, ruled->slot.offset);
    return ruled && is_certain_pointer(ruled) && offset < ruled->slot.offset + ruled->bytes;
}

static haul_status check_fields(const haul_type *type, const haul__row *row,
                                const haul_shape *shape, haul_error *error)
{
    unsigned i;
    if (shape->kind != HAUL_SHAPE_COUNT)
        return HAUL_OK;
    for (i = 0; i < shape->field_count; i++)
        if (reads_pointer(&type->walk, shape->field[i].offset, shape->field[i].bytes) ||
            (type->walk.ruled_count &&
             touches_ruled_pointer(&type->walk, shape->field[i].offset, shape->field[i].bytes)))
            return haul__wrong(error, type, row->name,
                               "The count field at offset %zu lies in a pointer field.",
                               shape->field[i].offset);
    return HAUL_OK;
}

static haul_status check_rule_fields(const haul_type *type, const haul__row *row,
                                     const haul_rule *rule, haul_error *error)
{
    const haul_when *when = &rule->when;
    const haul_choice *choice = &rule->choice;
    const haul_field_place *field = NULL;
    if ((when->kind == HAUL_WHEN_FIELD || when->kind == HAUL_WHEN_NOT) &&
        reads_pointer(&type->walk, when->field.offset, when->field.bytes))
        field = &when->field;
    if (choice->kind == HAUL_CHOICE_SELF &&
        reads_pointer(&type->walk, choice->field.offset, choice->field.bytes))
        field = &choice->field;
    if (!field)
        return HAUL_OK;
    return haul__wrong(error, type, row->name,
                       "The field at offset %zu that its rule reads lies in a pointer field.",
                       field->offset);
}

haul_status haul__check_counts(const haul_type *type, haul_error *error)
{
    haul_status status = HAUL_OK;
    size_t i;
    unsigned level;
    for (i = 0; i < type->row_count && status == HAUL_OK; i++) {
        const haul__row *row = &type->rows[i];
        const haul__rule *rule;
        int has_shapes = row->kind == HAUL_REF_POINTER || row->kind == HAUL_REF_TAIL;
        for (level = 0; has_shapes && level < row->levels && status == HAUL_OK; level++)
            status = check_fields(type, row, &type->shapes[row->shape + level], error);
        for (rule = row->rule; rule && status == HAUL_OK; rule = rule->each)
            status = check_rule_fields(type, row, &rule->said, error);
        if (status == HAUL_OK)
            status = haul__check_unsent(type, row, error);
    }
    return status;
}
