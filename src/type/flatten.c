/* Flattening: from rows or blocks to lists of runs, slots, parts and ruled rows.
 *
 * The lists stand in scratch memory that the whole commit shares, and are sealed at the end
 * (flat_seal.c). Embedded elements become
 *
 *     elements that are all bytes                one run, for any number of elements
 *     few entries (HAUL__INLINE_MAX)             copies of the entries, element by element
 *     more entries; or a type with rules,        one part: offset, number, stride, type
 *     directions or a rebuild function, or
 *     one that rules ask for as an ancestor
 *
 * So a type has at most a small multiple of its rows as entries, and ten million blocks are one
 * part. Loops of a constructor are flattened from the inside out. A small turn is repeated in
 * place. A larger one is sealed as a nameless inner type, and the loop becomes a part with elements
 * of that type.
 */
#include <stdio.h>

#include "base/status.h"
#include "type/flat_seal.h"
#include "type/flatten.h"
#include "type/refuse.h"
#include "type/row.h"

/* --- elements of another type ----------------------------------------------------------------- */

static size_t entries(const haul__walk *walk)
{
    return walk->run_count + walk->slot_count + walk->part_count;
}

static int put_element(haul__scratch *s, const haul__walk *walk, size_t offset, const char *name,
                       size_t index, size_t count)
{
    size_t i, text = 0;
    for (i = 0; i < walk->run_count; i++)
        if (!haul__put_run(s, offset + walk->runs[i].offset, walk->runs[i].bytes))
            return 0;
    for (i = 0; i < walk->slot_count; i++) {
        haul__slot slot = walk->slots[i];
        slot.offset += offset;
        slot.self += offset;
        if (!haul__put_name(s, name, index, count, slot.name, &text) ||
            !haul__put_slot(s, &slot, text))
            return 0;
    }
    for (i = 0; i < walk->part_count; i++) {
        const haul__part *part = &walk->parts[i];
        if (!haul__put_name(s, name, index, count, part->name, &text) ||
            !haul__put_part(s, offset + part->offset, part->count, part->stride, part->type, text))
            return 0;
    }
    return 1;
}

/* Embedded types raise the enclosing type's alignment and placement. */
static void raise_alignment(haul__scratch *s, const haul__walk *walk)
{
    if (walk->alignment > s->alignment)
        s->alignment = walk->alignment;
    if (walk->placement > s->placement)
        s->placement = walk->placement;
}

static int put_elements(haul__scratch *s, const haul_type *type, size_t offset, size_t count,
                        size_t stride, const char *name)
{
    const haul__walk *walk = &type->walk;
    size_t i, text = 0;
    if (count == 0)
        return 1;
    raise_alignment(s, walk);
    if (haul__is_ruled(walk) || haul__is_noted(walk) || type->ancestor_bit)
        return haul__put_name(s, name, 0, 1, "", &text) &&
               haul__put_part(s, offset, count, stride, type, text);
    if (walk->kind == HAUL__WALK_PLAIN && stride == walk->extent)
        return haul__put_run(s, offset, count * stride);
    if (entries(walk) > 0 && count > HAUL__INLINE_MAX / entries(walk))
        return haul__put_name(s, name, 0, 1, "", &text) &&
               haul__put_part(s, offset, count, stride, type, text);
    for (i = 0; i < count && entries(walk) > 0; i++)
        if (!put_element(s, walk, offset + i * stride, name, i, count))
            return 0;
    return 1;
}

/* --- structs ---------------------------------------------------------------------------------- */

static haul__slot slot_of_row(const haul_type *type, const haul__row *row, size_t index)
{
    const int is_plain =
        row->type && row->type->combiner == HAUL_COMBINER_BYTES && !row->type->is_aligned;
    haul__slot slot;
    slot.offset = row->offset + index * sizeof(void *);
    slot.self = 0;
    slot.index = index;
    slot.target = is_plain ? NULL : row->type;
    slot.unit = haul__row_unit(row);
    slot.shape = &type->shapes[row->shape];
    slot.name = NULL;
    slot.levels = (uint8_t)row->levels;
    slot.flags = (uint8_t)((row->unaligned ? HAUL__SLOT_PACKED : 0) |
                           (row->rule && row->rule->said.pool ? HAUL__SLOT_POOL : 0) |
                           (row->bytes > sizeof(void *) ? HAUL__SLOT_EACH : 0) |
                           (row->kind == HAUL_FIELD_POINTER ? haul__row_exclusions(row) : 0));
    return slot;
}

static int reads_struct(const haul_type *type, const haul__row *row)
{
    unsigned level;
    if (row->rule && row->rule->each)
        return 1;
    for (level = 0; level < row->levels; level++) {
        const haul_count *shape = &type->shapes[row->shape + level];
        if (shape->fields > 0 || shape->kind == HAUL_COUNT_KIND_FUNCTION)
            return 1;
    }
    return 0;
}

/* A pointer to pointers may have a rule for each of them (`each`). These pointers become elements
 * of a nameless type, which is one ruled pointer; its rule reads fields of the struct that led
 * there. The slot then has one level and leads to that type. */
static haul_status put_each(haul_type *type, const haul__row *row, const haul_allocator *allocator,
                            haul__slot *slot, haul_error *error)
{
    haul__scratch one;
    haul__row each;
    haul__ruled ruled;
    haul_type *inner = NULL;
    haul_status status = HAUL_ERROR_MEMORY;
    size_t name = 0;
    if (!row->rule || !row->rule->each)
        return HAUL_OK;
    each = haul__each_row(row);
    memset(&one, 0, sizeof one);
    one.allocator = *allocator;
    haul__scratch_clear(&one);
    memset(&ruled, 0, sizeof ruled);
    ruled.slot = slot_of_row(type, &each, 0);
    ruled.slot.offset = 0;
    ruled.slot.flags = HAUL__SLOT_EACH;
    ruled.bytes = sizeof(void *);
    ruled.rule = each.rule;
    if (haul__put_name(&one, "", 0, 1, "", &name) && haul__put_run(&one, 0, sizeof(void *)) &&
        haul__put_ruled(&one, &ruled, name))
        status = haul__seal_inner(&one, type, sizeof(void *), &inner, error);
    haul__scratch_release(&one);
    if (status != HAUL_OK)
        return status;
    inner->walk.is_slot = inner->walk.with_parent = inner->walk.is_wide = 1;
    slot->target = inner;
    slot->unit = sizeof(void *);
    slot->levels = 1;
    return HAUL_OK;
}

/* A large array of pointers whose shapes read nothing of their struct becomes a part. Its elements
 * have a nameless type, which is one pointer. The lists so far must stay, so the inner type has
 * lists of its own. */
static haul_status put_pointer_part(haul__scratch *s, haul_type *type, const haul__row *row,
                                    haul_error *error)
{
    haul__scratch one;
    haul__slot slot = slot_of_row(type, row, 0);
    haul_type *inner = NULL;
    haul_status status = HAUL_ERROR_MEMORY;
    size_t name = 0;
    memset(&one, 0, sizeof one);
    one.allocator = s->allocator;
    haul__scratch_clear(&one);
    slot.offset = 0;
    if (haul__put_run(&one, 0, sizeof(void *)) && haul__put_name(&one, "", 0, 1, "", &name) &&
        haul__put_slot(&one, &slot, name))
        status = haul__seal_inner(&one, type, sizeof(void *), &inner, error);
    haul__scratch_release(&one);
    if (status != HAUL_OK)
        return status;
    if (inner->walk.alignment > s->alignment)
        s->alignment = inner->walk.alignment;
    if (!haul__put_name(s, row->name, 0, 1, "", &name) ||
        !haul__put_part(s, row->offset, row->bytes / sizeof(void *), sizeof(void *), inner, name))
        return HAUL_ERROR_MEMORY;
    return HAUL_OK;
}

static haul__slot end_of_row(const haul_type *type, const haul__row *row)
{
    haul__slot slot = slot_of_row(type, row, 0);
    slot.index = slot.offset;
    slot.offset = slot.shape->field[0].offset;
    slot.levels = 0;
    slot.shape = NULL;
    slot.flags |= HAUL__SLOT_END;
    return slot;
}

/* *at: the beginning of the present run. A part ends the run. The end of a begin/end pair is a slot
 * too, unless a row describes it. */
static haul_status put_pointers(haul__scratch *s, haul_type *type, const haul__row *row, size_t *at,
                                haul_error *error)
{
    const haul_count *shape = &type->shapes[row->shape];
    haul__slot slot;
    size_t i, name = 0, count = row->bytes / sizeof(void *);
    haul_status status;
    if (count > HAUL__INLINE_MAX && !reads_struct(type, row)) {
        if (!haul__put_run(s, *at, row->offset - *at))
            return HAUL_ERROR_MEMORY;
        *at = row->offset + row->bytes;
        return put_pointer_part(s, type, row, error);
    }
    if (count > HAUL__ARRAY_SLOTS_MAX) {
        return haul__too_large(
            error, type, row->name,
            "The array has %zu pointers whose counts read the struct: %d is the limit.", count,
            HAUL__ARRAY_SLOTS_MAX);
    }
    for (i = 0; i < count; i++) {
        slot = slot_of_row(type, row, i);
        status = put_each(type, row, &s->allocator, &slot, error);
        if (status != HAUL_OK)
            return status;
        if (!haul__put_name(s, row->name, i, count, "", &name) || !haul__put_slot(s, &slot, name))
            return HAUL_ERROR_MEMORY;
    }
    if (shape->kind != HAUL_COUNT_KIND_UNTIL || haul__find_row(type, shape->field[0].offset))
        return HAUL_OK;
    slot = end_of_row(type, row);
    return haul__put_name(s, row->name, 0, 1, "end", &name) && haul__put_slot(s, &slot, name)
               ? HAUL_OK
               : HAUL_ERROR_MEMORY;
}

static haul_status check_embedded(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul__walk *walk = &row->type->walk;
    if (row->offset % walk->alignment != 0)
        return haul__wrong(error, type, row->name,
                           "The field at offset %zu is not at a multiple of %zu, as type %s asks.",
                           row->offset, walk->alignment, walk->name);
    if (walk->true_upper > walk->extent)
        return haul__wrong(
            error, type, row->name,
            "Type %s has bytes up to %zu, behind its extent of %zu: it cannot be a field.",
            walk->name, walk->true_upper, walk->extent);
    return HAUL_OK;
}

static haul_status put_limit(haul__scratch *s, const haul_type *type, const haul__row *row,
                             haul__ruled *ruled)
{
    const haul__row *begin = haul__limited_row(type, row);
    size_t name = 0;
    ruled->slot = slot_of_row(type, begin, 0);
    ruled->slot.offset = row->offset;
    ruled->slot.index = begin->offset;
    ruled->slot.target = NULL;
    ruled->slot.flags = (uint8_t)(HAUL__SLOT_END | (row->unaligned ? HAUL__SLOT_PACKED : 0));
    ruled->bytes = sizeof(void *);
    return haul__put_name(s, row->name, 0, 1, "", &name) && haul__put_ruled(s, ruled, name)
               ? HAUL_OK
               : HAUL_ERROR_MEMORY;
}

static haul_status put_ruled_pointers(haul__scratch *s, haul_type *type, const haul__row *row,
                                      haul__ruled *ruled, haul_error *error)
{
    haul_status status = HAUL_OK;
    size_t i, name = 0, count = row->bytes / sizeof(void *);
    int is_distance = row->rule->said.kind == HAUL_FIELD_RELATIVE;
    ruled->bytes = is_distance ? row->bytes : sizeof(void *);
    for (i = 0; i < (is_distance ? 1 : count); i++) {
        ruled->slot = slot_of_row(type, row, i);
        if (is_distance)
            ruled->slot.flags = (uint8_t)((ruled->slot.flags & HAUL__SLOT_POOL) |
                                          HAUL__SLOT_PACKED | haul__row_exclusions(row));
        status = put_each(type, row, &s->allocator, &ruled->slot, error);
        if (status != HAUL_OK)
            return status;
        if (!haul__put_name(s, row->name, i, is_distance ? 1 : count, "", &name) ||
            !haul__put_ruled(s, ruled, name))
            return HAUL_ERROR_MEMORY;
    }
    if (type->shapes[row->shape].kind != HAUL_COUNT_KIND_UNTIL)
        return HAUL_OK;
    ruled->slot = end_of_row(type, row); /* has the condition of its begin */
    return haul__put_name(s, row->name, 0, 1, "end", &name) && haul__put_ruled(s, ruled, name)
               ? HAUL_OK
               : HAUL_ERROR_MEMORY;
}

/* A ruled row that is no pointer: an embedded arm, bytes, or the tail. */
static haul_status put_ruled_one(haul__scratch *s, const haul_type *type, const haul__row *row,
                                 haul__ruled *ruled, haul_error *error)
{
    haul_status status = HAUL_OK;
    size_t name = 0;
    memset(&ruled->slot, 0, sizeof ruled->slot);
    ruled->slot.offset = row->offset;
    ruled->bytes = row->bytes;
    if (row->kind == HAUL_FIELD_EMBED) {
        status = check_embedded(type, row, error);
        ruled->kind = HAUL__RULED_PART;
        ruled->slot.target = row->type;
        ruled->slot.unit = row->type->walk.extent;
        ruled->count = row->bytes / ruled->slot.unit;
    } else if (row->kind == HAUL_FIELD_TAIL) {
        if (row->type && row->offset % row->type->walk.alignment != 0)
            return haul__wrong(error, type, row->name,
                               "The tail at offset %zu is not at a multiple of %zu, as type %s "
                               "asks.",
                               row->offset, row->type->walk.alignment, row->type->name);
        ruled->kind = HAUL__RULED_TAIL;
        ruled->slot = slot_of_row(type, row, 0);
    } else {
        ruled->kind = HAUL__RULED_DATA;
    }
    if (status != HAUL_OK)
        return status;
    if (ruled->slot.target)
        raise_alignment(s, &ruled->slot.target->walk);
    return haul__put_name(s, row->name, 0, 1, "", &name) && haul__put_ruled(s, ruled, name)
               ? HAUL_OK
               : HAUL_ERROR_MEMORY;
}

/* Sealing takes ruled bytes out of the runs; only a tail ends the present run here, as nothing lies
 * behind it. */
static haul_status put_ruled_row(haul__scratch *s, haul_type *type, const haul__row *row,
                                 size_t *at, haul_error *error)
{
    haul__ruled ruled;
    if (row->kind == HAUL_FIELD_TAIL) {
        if (!haul__put_run(s, *at, row->offset - *at))
            return HAUL_ERROR_MEMORY;
        *at = type->bytes;
    }
    if (row->bytes / sizeof(void *) > HAUL__ARRAY_SLOTS_MAX && row->kind == HAUL_FIELD_POINTER) {
        return haul__too_large(error, type, row->name,
                               "The array has %zu pointers with optional members: %d is the limit.",
                               row->bytes / sizeof(void *), HAUL__ARRAY_SLOTS_MAX);
    }
    memset(&ruled, 0, sizeof ruled);
    ruled.rule = row->rule;
    if (row->kind == HAUL_FIELD_POINTER && haul__is_limit(row->rule))
        return put_limit(s, type, row, &ruled);
    if (row->kind == HAUL_FIELD_POINTER)
        return put_ruled_pointers(s, type, row, &ruled, error);
    return put_ruled_one(s, type, row, &ruled, error);
}

static haul_status put_row(haul__scratch *s, haul_type *type, const haul__row *row, size_t *at,
                           haul_error *error)
{
    const unsigned exclusions = haul__row_exclusions(row);
    const haul__walk *walk = row->type ? &row->type->walk : NULL;
    haul_status status;
    if (haul__row_is_ruled(row))
        return put_ruled_row(s, type, row, at, error);
    if ((row->kind == HAUL_FIELD_RAW || row->kind == HAUL_FIELD_EMBED) && exclusions &&
        !haul__put_excluded(s, row->offset, row->bytes, exclusions))
        return HAUL_ERROR_MEMORY;
    if (row->kind == HAUL_FIELD_RAW)
        return HAUL_OK;
    if (row->kind == HAUL_FIELD_POINTER)
        return put_pointers(s, type, row, at, error);
    if (!haul__put_run(s, *at, row->offset - *at))
        return HAUL_ERROR_MEMORY;
    *at = row->offset + row->bytes;
    if (row->kind != HAUL_FIELD_EMBED)
        return HAUL_OK;
    status = check_embedded(type, row, error);
    if (status != HAUL_OK)
        return status;
    return put_elements(s, row->type, row->offset, row->bytes / walk->extent, walk->extent,
                        row->name)
               ? HAUL_OK
               : HAUL_ERROR_MEMORY;
}

/* --- constructors ----------------------------------------------------------------------------- */

static haul_status check_block(const haul_type *type, size_t offset, const haul_type *old,
                               haul_error *error)
{
    if (haul__type_is_sized(old))
        return haul__wrong(error, type, NULL,
                           "Objects of type %s have no fixed size: no other type can hold them.",
                           old->name);
    if (offset % old->walk.alignment == 0)
        return HAUL_OK;
    return haul__wrong(
        error, type, NULL,
        "A block of type %s at offset %zu is not at a multiple of its alignment %zu.", old->name,
        offset, old->walk.alignment);
}

static haul_status flatten_blocks(haul__scratch *s, const haul_type *type, haul_error *error)
{
    size_t i;
    for (i = 0; i < type->block_count; i++) {
        const haul__old_block *block = &type->blocks[i];
        if (block->count > 0 && check_block(type, block->offset, block->type, error) != HAUL_OK)
            return HAUL_ERROR_TYPE;
        if (!put_elements(s, block->type, block->offset, block->count, block->type->bytes, ""))
            return HAUL_ERROR_MEMORY;
    }
    return HAUL_OK;
}

/* "next" becomes "[turn].next". */
static int rename_turn(haul__scratch *s, size_t turn, size_t count, size_t *name)
{
    char inner[HAUL_PATH_BYTES];
    haul__set_path(inner, s->text.at + *name);
    return haul__put_name(s, "", turn, count, inner, name);
}

/* Adds one turn's copy of the first entries of each list; turn 0 renames those entries. */
static int put_turn(haul__scratch *s, const size_t first[3], size_t turn, haul__loop loop)
{
    size_t i, shift = turn * loop.stride, name;
    for (i = 0; turn > 0 && i < first[0]; i++)
        if (!haul__put_new_run(s, s->runs.at[i].offset + shift, s->runs.at[i].bytes))
            return 0;
    for (i = 0; i < first[1]; i++) {
        haul__slot slot = s->slots.at[i].slot;
        slot.offset += shift;
        slot.self += shift;
        name = s->slots.at[i].name;
        if (!rename_turn(s, turn, loop.count, &name) ||
            (turn > 0 && !haul__put_slot(s, &slot, name)))
            return 0;
        if (turn == 0)
            s->slots.at[i].name = name;
    }
    for (i = 0; i < first[2]; i++) {
        haul__part part = s->parts.at[i].part;
        name = s->parts.at[i].name;
        if (!rename_turn(s, turn, loop.count, &name) ||
            (turn > 0 &&
             !haul__put_part(s, part.offset + shift, part.count, part.stride, part.type, name)))
            return 0;
        if (turn == 0)
            s->parts.at[i].name = name;
    }
    return 1;
}

static haul_status loop_again(haul__scratch *s, haul_type *type, haul__loop loop, haul_error *error)
{
    const size_t first[3] = { s->runs.count, s->slots.count, s->parts.count };
    size_t held = first[0] + first[1] + first[2], name = 0, turn;
    haul_type *inner = NULL;
    haul_status status;
    if (held == 0)
        return HAUL_OK;
    if (held == 1 && s->runs.count == 1 && s->runs.at[0].bytes == loop.stride) {
        s->runs.at[0].bytes *= loop.count;
        return HAUL_OK;
    }
    if (held == 1 && s->parts.count == 1 &&
        s->parts.at[0].part.count * s->parts.at[0].part.stride == loop.stride) {
        s->parts.at[0].part.count *= loop.count;
        return HAUL_OK;
    }
    if (loop.count <= HAUL__INLINE_MAX / held) {
        /* turn 0 comes last: the others are copied from it before it is renamed */
        for (turn = loop.count; turn-- > 0;)
            if (!put_turn(s, first, turn, loop))
                return HAUL_ERROR_MEMORY;
        return HAUL_OK;
    }
    status = haul__seal_inner(s, type, loop.stride, &inner, error);
    if (status != HAUL_OK)
        return status;
    return haul__put_name(s, "", 0, 1, "", &name) &&
                   haul__put_part(s, 0, loop.count, loop.stride, inner, name)
               ? HAUL_OK
               : HAUL_ERROR_MEMORY;
}

static void shift(haul__scratch *s, size_t offset)
{
    size_t i;
    for (i = 0; i < s->runs.count; i++)
        s->runs.at[i].offset += offset;
    for (i = 0; i < s->slots.count; i++) {
        s->slots.at[i].slot.offset += offset;
        s->slots.at[i].slot.self += offset;
    }
    for (i = 0; i < s->parts.count; i++)
        s->parts.at[i].part.offset += offset;
}

/* The block's own elements are the innermost loop. The first loop with more than one turn adds
 * elements of the old type; the loops around it repeat the lists. */
static haul_status flatten_loops(haul__scratch *s, haul_type *type, haul_error *error)
{
    const haul__old_block *block = &type->blocks[0];
    haul__loop loop;
    haul_status status = check_block(type, block->offset, block->type, error);
    size_t i;
    int begun = 0, empty = block->count == 0;
    for (i = 0; i < type->loop_count; i++)
        empty |= type->loops[i].count == 0;
    if (empty)
        return HAUL_OK;
    loop.count = block->count;
    loop.stride = block->type->bytes;
    for (i = type->loop_count; status == HAUL_OK;) {
        if (loop.count > 1) {
            status = check_block(type, loop.stride, block->type, error);
            if (status == HAUL_OK && begun)
                status = loop_again(s, type, loop, error);
            else if (status == HAUL_OK &&
                     !put_elements(s, block->type, 0, loop.count, loop.stride, ""))
                status = HAUL_ERROR_MEMORY;
            begun = 1;
        }
        if (i == 0)
            break;
        loop = type->loops[--i];
    }
    if (status == HAUL_OK && !begun && !put_elements(s, block->type, 0, 1, block->type->bytes, ""))
        status = HAUL_ERROR_MEMORY;
    shift(s, block->offset);
    return status;
}

haul_status haul__flatten(haul__scratch *scratch, haul_type *type, haul_error *error)
{
    haul_status status = HAUL_OK;
    size_t i, at = 0;
    haul__scratch_clear(scratch);
    if (type->loop_count > 0) {
        status = flatten_loops(scratch, type, error);
    } else if (type->block_count > 0) {
        status = flatten_blocks(scratch, type, error);
    } else {
        for (i = 0; i < type->row_count && status == HAUL_OK; i++)
            status = put_row(scratch, type, &type->rows[i], &at, error);
        if (status == HAUL_OK && !haul__put_run(scratch, at, type->bytes - at))
            status = HAUL_ERROR_MEMORY;
    }
    return status == HAUL_OK ? haul__seal(scratch, type, error) : status;
}
