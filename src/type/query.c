/* Queries of a type: sizes, names, and its fields one by one.
 *
 * A committed type answers from its flat form. An open type makes that form for each query, from
 * embedded types alone, and drops it: open types belong to one thread, and their answers may
 * change. The blocks of a loop nest are not stored: the digits of a block's index, with the loops'
 * counts as bases, are the turns of the loops.
 */
#include "type/commit.h"
#include "type/instance.h"
#include "type/row.h"

const haul__walk *haul__type_walk(const haul_type *type)
{
    return haul__type_is_valid(type) && type->committed ? &type->walk : NULL;
}

static haul_status find_walk(const haul_type *type, haul__walk *walk)
{
    size_t pointers;
    if (!haul__type_is_valid(type))
        return HAUL_ERROR_ARGUMENT;
    if (!type->committed)
        return haul__type_preview((haul_type *)type, walk, &pointers);
    *walk = type->walk;
    return HAUL_OK;
}

haul_status haul_type_size(const haul_type *type, size_t *bytes)
{
    haul__walk walk;
    haul_status status;
    if (!bytes)
        return HAUL_ERROR_ARGUMENT;
    *bytes = 0;
    status = find_walk(type, &walk);
    if (status == HAUL_OK)
        *bytes = walk.payload;
    return status;
}

haul_status haul_type_get_extent(const haul_type *type, size_t *lower_bound, size_t *extent)
{
    if (lower_bound)
        *lower_bound = 0;
    if (extent)
        *extent = 0;
    if (!lower_bound || !extent || !haul__type_is_valid(type))
        return HAUL_ERROR_ARGUMENT;
    *lower_bound = type->lower;
    *extent = type->bytes;
    return HAUL_OK;
}

haul_status haul_type_get_true_extent(const haul_type *type, size_t *true_lower_bound,
                                      size_t *true_extent)
{
    haul__walk walk;
    haul_status status;
    if (true_lower_bound)
        *true_lower_bound = 0;
    if (true_extent)
        *true_extent = 0;
    if (!true_lower_bound || !true_extent)
        return HAUL_ERROR_ARGUMENT;
    status = find_walk(type, &walk);
    if (status != HAUL_OK)
        return status;
    *true_lower_bound = walk.true_lower;
    *true_extent = walk.true_upper - walk.true_lower;
    return HAUL_OK;
}

const char *haul_type_name(const haul_type *type)
{
    return haul__type_is_valid(type) ? type->name : NULL;
}

int haul_type_committed(const haul_type *type)
{
    return haul__type_is_valid(type) && type->committed;
}

haul_combiner haul_type_combiner(const haul_type *type)
{
    return haul__type_is_valid(type) ? type->combiner : (haul_combiner)0;
}

size_t haul_type_field_count(const haul_type *type)
{
    size_t i, count;
    if (!haul__type_is_valid(type))
        return 0;
    if (type->block_count == 0)
        return type->row_count;
    for (i = 0; i < type->loop_count; i++)
        if (type->loops[i].count == 0)
            return 0; /* however large the others are */
    count = type->block_count;
    for (i = 0; i < type->loop_count; i++)
        if (haul__multiply_overflows(count, type->loops[i].count, &count))
            return SIZE_MAX;
    return count;
}

static void get_block(const haul_type *type, size_t index, haul_field_info *field)
{
    const haul__old_block *block = &type->blocks[type->loop_count > 0 ? 0 : index];
    size_t i, offset = block->offset;
    for (i = type->loop_count; i-- > 0;) {
        offset += index % type->loops[i].count * type->loops[i].stride;
        index /= type->loops[i].count;
    }
    field->name = "";
    field->kind = HAUL_FIELD_EMBED;
    field->offset = offset;
    field->target = block->type;
    field->count = block->count;
    field->stride = field->element_bytes = block->type->bytes;
    field->bytes = block->count * block->type->bytes;
}

static void get_row(const haul_type *type, const haul__row *row, haul_field_info *field)
{
    field->name = row->name;
    field->kind =
        row->rule && row->kind == HAUL_FIELD_POINTER ? row->rule->said.kind : (int)row->kind;
    field->offset = row->offset;
    field->bytes = field->stride = row->bytes;
    field->count = 1;
    if (type->committed)
        field->target = row->type;
    else if (row->target && haul__type_is_valid(*row->target)) /* read at each query */
        field->target = haul__type_stands_for(type, *row->target);
    if (!haul__type_is_valid(field->target) || row->kind == HAUL_FIELD_SKIP ||
        row->kind == HAUL_FIELD_RAW)
        field->target = NULL;
    field->element_bytes =
        field->target && row->element_bytes == 0 ? field->target->bytes : row->element_bytes;
    field->members = row->rule ? &row->rule->said : NULL;
    if (row->kind == HAUL_FIELD_POINTER && row->levels > 0 && row->levels <= HAUL_LEVELS) {
        field->stride = haul__row_is_distance(row) ? row->bytes : sizeof(void *);
        field->levels = row->levels;
        field->counts = &type->shapes[row->shape];
    } else if (row->kind == HAUL_FIELD_EMBED && field->target && field->target->bytes > 0) {
        field->stride = field->target->bytes;
    } else if (row->kind == HAUL_FIELD_TAIL && row->levels == 1) {
        field->stride = field->element_bytes;
        field->levels = 1;
        field->counts = &type->shapes[row->shape];
    }
    if (field->stride > 0)
        field->count = row->bytes / field->stride;
}

haul_status haul_type_get_field(const haul_type *type, size_t index, haul_field_info *field)
{
    if (field)
        memset(field, 0, sizeof *field);
    if (!field || index >= haul_type_field_count(type))
        return HAUL_ERROR_ARGUMENT;
    if (type->block_count > 0) {
        get_block(type, index, field);
        return HAUL_OK;
    }
    haul__type_sort_rows((haul_type *)type);
    get_row(type, &type->rows[index], field);
    return HAUL_OK;
}
