/* Checks of a type's size, its alignment, and the places of its rows, from the description alone.
 *
 * Rows are sorted by offset once. Then a row overlaps an earlier one if it begins before the
 * farthest end so far. Sums of the user's numbers are written as differences, which cannot wrap.
 */
#include "type/check_places.h"
#include "type/refuse.h"
#include "type/row.h"

/* The type's name, size and alignment. */
static haul_status check_type(const haul_type *type, haul_error *error)
{
    const int is_sized_by_blocks =
        type->block_count > 0 || type->combiner == HAUL_COMBINER_STRUCT ||
        type->combiner == HAUL_COMBINER_INDEXED || type->combiner == HAUL_COMBINER_HINDEXED ||
        type->combiner == HAUL_COMBINER_INDEXED_BLOCK;
    if (!*type->name)
        return haul__wrong(error, type, NULL, HAUL__NO_NAME("A type of %zu bytes"), type->bytes,
                           HAUL_NAME_BYTES_MAX);
    if (!is_sized_by_blocks && type->bytes == 0)
        return haul__wrong(error, type, NULL, "The type has 0 bytes: give its sizeof.");
    if (!is_sized_by_blocks && type->bytes > HAUL_TYPE_BYTES_MAX)
        return haul__wrong(error, type, NULL,
                           "The type has %zu bytes, more than the %zu that can be described.",
                           type->bytes, (size_t)HAUL_TYPE_BYTES_MAX);
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

/* A tail is the last row. */
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
    if (haul__row_is_distance(row)) {
        if (row->levels == 1 && (row->bytes == 4 || row->bytes == 8))
            return HAUL_OK;
        return haul__wrong(error, type, row->name,
                           "A distance has 4 or 8 bytes and one level, not %zu and %u.", row->bytes,
                           row->levels);
    }
    if (row->levels > HAUL_LEVELS) /* 0 became 1 */
        return haul__wrong(error, type, row->name,
                           "The field has %u levels of pointers: 1 to %d are possible.",
                           row->levels, HAUL_LEVELS);
    if (row->bytes % sizeof(void *) != 0)
        return haul__wrong(error, type, row->name,
                           "The field has %zu bytes, no whole number of pointers of %zu bytes.",
                           row->bytes, sizeof(void *));
    if (!row->unaligned && row->offset % HAUL__GRID != 0)
        return haul__wrong(
            error, type, row->name,
            "The pointer at offset %zu is not at a multiple of %zu: set `.packed` if it is.",
            row->offset, HAUL__GRID);
    if (!row->unaligned && type->bytes % HAUL__GRID != 0)
        return haul__wrong(error, type, row->name,
                           "The type's %zu bytes are no multiple of %zu, so that this "
                           "pointer is off the grid in an "
                           "array: set `.packed`, or give the padded sizeof.",
                           type->bytes, HAUL__GRID);
    return HAUL_OK;
}

static haul_status check_place(const haul_type *type, const haul__row *row, haul_error *error)
{
    if (!*row->name)
        return haul__wrong(error, type, NULL, HAUL__NO_NAME("Field %zu, at offset %zu,"),
                           row->serial, row->offset, HAUL_NAME_BYTES_MAX);
    if (row->kind < HAUL_FIELD_POINTER || row->kind > HAUL_FIELD_TAIL)
        return haul__wrong(error, type, row->name, "The field is of kind %u, which does not exist.",
                           row->kind);
    if (row->kind == HAUL_FIELD_TAIL)
        return check_tail_place(type, row, error);
    if (row->bytes == 0)
        return haul__wrong(error, type, row->name, "The field has 0 bytes.");
    if (!haul__fits(row->offset, row->bytes, type->bytes))
        return haul__wrong(error, type, row->name,
                           "The field's %zu bytes at offset %zu end behind the type's %zu bytes.",
                           row->bytes, row->offset, type->bytes);
    return row->kind == HAUL_FIELD_POINTER ? check_pointer_place(type, row, error) : HAUL_OK;
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
    /* the farthest of all rows, and of those without a condition */
    const haul__row *farthest = NULL, *certain = NULL;
    size_t i;
    int has_arms = 0;
    for (i = 0; i < type->row_count; i++) {
        const haul__row *row = &type->rows[i], *other = haul__row_when(row) ? certain : farthest;
        if (other && row->offset < end_of(other))
            return haul__wrong(error, type, row->name,
                               "The field (offset %zu, %zu bytes) overlaps field %s (offset "
                               "%zu, %zu bytes): one byte can have one field, unless each has a "
                               "`.when`.",
                               row->offset, row->bytes, other->name, other->offset, other->bytes);
        has_arms |= farthest && row->offset < end_of(farthest);
        farthest = farther(row, farthest);
        if (!haul__row_when(row))
            certain = farther(row, certain);
    }
    return has_arms ? haul__check_arms(type, error) : HAUL_OK;
}

haul_status haul__check_places(haul_type *type, haul_error *error)
{
    haul_status status = check_type(type, error);
    size_t i, pointers = 0, unsent = 0;
    haul__type_sort_rows(type);
    for (i = 0; i < type->row_count && status == HAUL_OK; i++)
        status = check_place(type, &type->rows[i], error);
    /* rows may overlap, so each row notes how far it and the rows before it reach */
    for (i = 0; i < type->row_count && status == HAUL_OK; i++) {
        haul__row *row = &type->rows[i];
        if (row->kind == HAUL_FIELD_POINTER && end_of(row) > pointers)
            pointers = end_of(row);
        if (haul__row_is_unsent(row) && end_of(row) > unsent)
            unsent = end_of(row);
        row->pointers_end = pointers;
        row->unsent_end = unsent;
    }
    return status == HAUL_OK ? check_overlaps(type, error) : status;
}
