/* Making open types and filling them with fields.
 *
 * A type begins open, alone in a group with one holder. The names of one call's fields are copied
 * into one block that never moves, so queries may hand them out. Optional members are copied in the
 * same way; fields without any take no room for them.
 */
#include <stdio.h>

#include "base/sized.h"
#include "base/status.h"
#include "type/build.h"
#include "type/life.h"
#include "type/refuse.h"
#include "type/row.h"

haul_type *const haul_any_type = NULL;

/* The second byte shows overlong forms, surrogates, and codes above U+10FFFF. */
static int second_is_good(unsigned char lead, unsigned char second)
{
    if (lead == 0xe0)
        return second >= 0xa0;
    if (lead == 0xed)
        return second <= 0x9f;
    if (lead == 0xf0)
        return second >= 0x90;
    return lead != 0xf4 || second <= 0x8f;
}

static int name_is_good(const char *name)
{
    const unsigned char *text = (const unsigned char *)name;
    unsigned char lead = 0;
    unsigned wanted = 0;
    size_t i;
    if (!name || !*name)
        return 0;
    for (i = 0; i < HAUL_NAME_BYTES_MAX; i++) {
        if (wanted > 0) {
            if ((text[i] & 0xc0) != 0x80 || !second_is_good(lead, text[i]))
                return 0;
            wanted--;
            lead = 0;
            continue;
        }
        if (text[i] == '\0')
            return 1;
        lead = text[i];
        if (lead >= 0x80) {
            if (lead < 0xc2 || lead > 0xf4)
                return 0; /* no lead byte */
            wanted = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        }
    }
    return 0;
}

/* A bad name becomes empty, and the commit refuses it: a type that is being made has no record to
 * refuse it in. */
static const char *name_to_keep(const char *name)
{
    return name_is_good(name) ? name : "";
}

/* The caller's field, whatever version of the struct it is. */
static haul_status read_field(const haul_field *fields, size_t field_bytes, size_t index,
                              haul_field *field)
{
    return haul__read_options(field, sizeof *field, (const char *)fields + index * field_bytes,
                              field_bytes);
}

static unsigned row_kind(const haul_field *field)
{
    return field->kind == HAUL_FIELD_RELATIVE ? HAUL_FIELD_POINTER : (unsigned)field->kind;
}

static int has_counts(const haul_field *field)
{
    return row_kind(field) == HAUL_FIELD_POINTER || field->kind == HAUL_FIELD_TAIL;
}

static unsigned levels_of(const haul_field *field)
{
    return has_counts(field) && field->levels == 0 ? 1 : field->levels;
}

/* How many of its counts are kept? */
static unsigned counts_of(const haul_field *field)
{
    return has_counts(field) && levels_of(field) <= HAUL_LEVELS ? levels_of(field) : 0;
}

/* Does it have optional members, except a target and counts? */
static int has_members(const haul_field *field)
{
    return field->when.kind != HAUL_WHEN_KIND_ALWAYS || field->else_raw || field->ownership ||
           field->maybe_static || field->tag_bits || field->integers_below ||
           field->integers_from || field->base || field->base_fn ||
           field->type_switch.kind != HAUL_SWITCH_KIND_NONE || field->ancestor ||
           field->each_pointer || field->transfer || field->pool || field->end_of.bytes ||
           field->section.rank || field->kind == HAUL_FIELD_RELATIVE;
}

/* What new fields need: bytes of names, counts, records of members, dimensions, cases. */
typedef struct needs {
    size_t names, counts, rules, dimensions, cases;
} needs;

/* A section of too many dimensions is refused at the commit; none of them is kept. */
static size_t dimensions_of(const haul_field *field)
{
    const haul_section *section = &field->section;
    return section->dimensions && section->rank <= HAUL_DIMENSIONS_MAX ? section->rank : 0;
}

static haul_status measure_members(const haul_field *field, needs *n)
{
    const size_t cases = field->type_switch.cases ? field->type_switch.case_count : 0;
    n->rules++;
    n->dimensions += dimensions_of(field);
    return haul__add_overflows(n->cases, cases, &n->cases) ? HAUL_ERROR_MEMORY : HAUL_OK;
}

static haul_status measure(const haul_field *fields, size_t count, size_t field_bytes, needs *n)
{
    haul_status status = HAUL_OK;
    haul_field field, each;
    size_t i;
    memset(n, 0, sizeof *n);
    for (i = 0; i < count && status == HAUL_OK; i++) {
        status = read_field(fields, field_bytes, i, &field);
        if (status != HAUL_OK)
            return status;
        if (haul__add_overflows(n->names, strlen(name_to_keep(field.name)) + 1, &n->names))
            return HAUL_ERROR_MEMORY;
        n->counts += counts_of(&field);
        if (has_members(&field))
            status = measure_members(&field, n);
        if (status == HAUL_OK && field.each_pointer)
            status = read_field(field.each_pointer, field_bytes, 0, &each);
        if (status == HAUL_OK && field.each_pointer)
            status = measure_members(&each, n);
    }
    return status;
}

/* Room for the records of members, their dimensions, their cases, and the cases' types. */
typedef struct room {
    haul__rule *rule;
    haul_dimension *dimensions;
    haul_case *cases;
    haul_type **types;
} room;

static haul_status copy_rule(const haul_field *field, room *r, haul__rule **copy)
{
    const haul_switch *by = &field->type_switch;
    const size_t count = by->cases ? by->case_count : 0;
    const int has_integer =
        by->kind == HAUL_SWITCH_KIND_SELF || by->kind == HAUL_SWITCH_KIND_TARGET;
    const haul_section *from = &field->section;
    const size_t rank = dimensions_of(field);
    haul__rule *rule = *copy = r->rule++;
    haul_status status = HAUL_OK;
    size_t i;
    rule->said = *field;
    rule->said.section.dimensions = rank ? r->dimensions : NULL;
    rule->said.section.dimension_bytes = sizeof *r->dimensions;
    for (i = 0; i < rank && status == HAUL_OK; i++)
        status = haul__read_options(r->dimensions++, sizeof *r->dimensions,
                                    (const char *)from->dimensions + i * from->dimension_bytes,
                                    from->dimension_bytes);
    rule->mask =
        has_integer && by->field.bytes < 8 ? ((int64_t)1 << (8 * by->field.bytes)) - 1 : -1;
    rule->said.type_switch.cases = r->cases;
    rule->said.type_switch.case_count = count;
    rule->said.type_switch.case_bytes = sizeof *r->cases;
    rule->types = r->types;
    for (i = 0; i < count && status == HAUL_OK; i++)
        status = haul__read_options(&r->cases[i], sizeof *r->cases,
                                    (const char *)by->cases + i * by->case_bytes, by->case_bytes);
    r->cases += count;
    r->types += count;
    return status;
}

static haul_status copy_rules(const haul_field *field, size_t field_bytes, room *r,
                              haul__rule **copy)
{
    haul_status status = copy_rule(field, r, copy);
    haul_field each;
    if (status != HAUL_OK || !field->each_pointer)
        return status;
    status = read_field(field->each_pointer, field_bytes, 0, &each);
    if (status == HAUL_OK)
        status = copy_rule(&each, r, &(*copy)->each);
    (*copy)->said.each_pointer = &(*copy)->each->said;
    return status;
}

static void add_row(haul_type *type, const haul_field *field, haul__rule *rule, char **text)
{
    haul__row *row = &type->rows[type->row_count];
    const haul_count *counts[HAUL_LEVELS];
    const char *name = name_to_keep(field->name);
    size_t name_bytes = strlen(name) + 1;
    const int is_followed = haul__is_owner(field);
    unsigned level, kept = counts_of(field);
    counts[0] = &field->count;
    counts[1] = &field->count2;
    counts[2] = &field->count3;
    memcpy(*text, name, name_bytes);
    row->name = *text;
    *text += name_bytes;
    row->offset = field->offset;
    row->bytes = field->bytes;
    row->kind = row_kind(field);
    row->element_bytes = field->element_bytes;
    /* HAUL_ADDRESS does not know the element; nothing is read behind a pointer that is not owned */
    if (row->kind == HAUL_FIELD_POINTER && !field->element_bytes && !field->target && !is_followed)
        row->element_bytes = 1;
    row->target = field->target;
    row->type = NULL;
    row->shape = type->shape_count;
    row->serial = type->row_count;
    row->levels = levels_of(field);
    row->unaligned = field->packed != 0;
    row->rule = rule;
    for (level = 0; level < kept; level++)
        type->shapes[type->shape_count++] = *counts[level];
    if (type->row_count > 0 && row->offset < row[-1].offset)
        type->in_order = 0;
    type->row_count++;
}

/* As haul__grow, but the first time exact: most types get all their rows at once. */
static int grow(const haul_allocator *allocator, void **data, size_t *capacity, size_t needed,
                size_t element_bytes)
{
    size_t bytes;
    if (*capacity > 0 || needed == 0)
        return haul__grow(allocator, data, capacity, needed, element_bytes);
    if (haul__multiply_overflows(needed, element_bytes, &bytes))
        return 0;
    *data = haul__allocate(allocator, bytes, 2 * sizeof(void *));
    *capacity = *data ? needed : 0;
    return *data != NULL;
}

static haul_status make_rules(haul_type *type, const needs *n, room *r)
{
    haul__rules *block;
    size_t bytes, dimension_bytes, case_bytes;
    memset(r, 0, sizeof *r);
    if (n->rules == 0)
        return HAUL_OK;
    if (haul__multiply_overflows(n->rules, sizeof *r->rule, &bytes) ||
        haul__multiply_overflows(n->dimensions, sizeof *r->dimensions, &dimension_bytes) ||
        haul__add_overflows(bytes, dimension_bytes, &bytes) ||
        haul__multiply_overflows(n->cases, sizeof *r->cases + sizeof *r->types, &case_bytes) ||
        haul__add_overflows(bytes, case_bytes, &bytes) || bytes > SIZE_MAX - sizeof *block)
        return HAUL_ERROR_MEMORY;
    block = haul__allocate_zeroed(&type->allocator, sizeof *block + bytes);
    if (!block)
        return HAUL_ERROR_MEMORY;
    block->bytes = bytes;
    block->next = type->rules;
    type->rules = block;
    r->rule = (haul__rule *)(void *)(block + 1);
    r->dimensions = (haul_dimension *)(void *)(r->rule + n->rules);
    r->cases = (haul_case *)(void *)(r->dimensions + n->dimensions);
    r->types = (haul_type **)(void *)(r->cases + n->cases);
    return HAUL_OK;
}

/* Makes all room first: after a failure the type has only more spare memory. */
static haul_status make_room(haul_type *type, size_t count, const needs *n, room *r, char **text)
{
    void *rows = type->rows, *shapes = type->shapes;
    haul__names *names;
    if (count > SIZE_MAX - type->row_count || n->counts > SIZE_MAX - count - type->shape_count ||
        n->names > SIZE_MAX - sizeof(haul__names))
        return HAUL_ERROR_MEMORY;
    if (!grow(&type->allocator, &rows, &type->row_capacity, type->row_count + count,
              sizeof *type->rows))
        return HAUL_ERROR_MEMORY;
    type->rows = rows;
    if (!grow(&type->allocator, &shapes, &type->shape_capacity, type->shape_count + n->counts,
              sizeof *type->shapes))
        return HAUL_ERROR_MEMORY;
    type->shapes = shapes;
    names = haul__allocate(&type->allocator, sizeof *names + n->names, sizeof(void *));
    if (!names)
        return HAUL_ERROR_MEMORY;
    names->bytes = n->names;
    names->next = type->names;
    type->names = names;
    *text = (char *)(names + 1);
    return make_rules(type, n, r);
}

static haul_status add_fields(haul_type *type, const haul_field *fields, size_t count,
                              size_t field_bytes)
{
    const size_t row_count = type->row_count, old_shapes = type->shape_count;
    const int in_order = type->in_order, has_tail = type->has_tail;
    haul_status status;
    haul_field field;
    char *text;
    needs n;
    room r;
    size_t i;
    if (count == 0)
        return HAUL_OK;
    status = measure(fields, count, field_bytes, &n);
    if (status == HAUL_OK)
        status = make_room(type, count, &n, &r, &text);
    for (i = 0; i < count && status == HAUL_OK; i++) {
        haul__rule *rule = NULL;
        status = read_field(fields, field_bytes, i, &field);
        if (status == HAUL_OK && has_members(&field))
            status = copy_rules(&field, field_bytes, &r, &rule);
        if (status == HAUL_OK)
            add_row(type, &field, rule, &text);
        type->has_tail |= field.kind == HAUL_FIELD_TAIL;
    }
    if (status != HAUL_OK) {
        type->row_count = row_count;
        type->shape_count = old_shapes;
        type->in_order = in_order;
        type->has_tail = has_tail;
    }
    return status;
}

haul_status haul__type_new(const haul__home *home, const haul_allocator *allocator,
                           const haul_struct *what, haul_type **type)
{
    haul_type *made = haul__type_make(home, allocator, name_to_keep(what->name), what->bytes,
                                      HAUL_COMBINER_STRUCT_FIELDS);
    haul_status status;
    *type = NULL;
    if (!made)
        return HAUL_ERROR_MEMORY;
    made->alignment = what->alignment;
    made->is_aligned = what->alignment != 0;
    made->size = what->size_fn;
    status = add_fields(made, what->fields, what->field_count, what->field_bytes);
    if (status != HAUL_OK) {
        haul__type_release(made);
        return status;
    }
    *type = made;
    return HAUL_OK;
}

void haul__field_of_row(const haul_type *type, const haul__row *row, haul_field *field)
{
    haul_count *counts[HAUL_LEVELS];
    unsigned level;
    memset(field, 0, sizeof *field);
    if (row->rule)
        *field = row->rule->said;
    counts[0] = &field->count;
    counts[1] = &field->count2;
    counts[2] = &field->count3;
    field->name = row->name;
    if (!row->rule)
        field->kind = (int)row->kind;
    field->offset = row->offset;
    field->bytes = row->bytes;
    field->element_bytes = row->element_bytes;
    field->target = row->target;
    field->levels = row->levels;
    field->packed = row->unaligned;
    if (row->kind != HAUL_FIELD_POINTER && row->kind != HAUL_FIELD_TAIL)
        return;
    for (level = 0; level < row->levels && level < HAUL_LEVELS; level++)
        *counts[level] = type->shapes[row->shape + level];
}

haul_status haul__type_like(const haul_type *other, const char *name, const haul_field *fields,
                            size_t count, haul_type **type)
{
    haul_struct what;
    haul_status status;
    memset(&what, 0, sizeof what);
    what.name = name;
    what.bytes = other->bytes;
    what.fields = fields;
    what.field_count = count;
    what.field_bytes = sizeof *fields;
    what.alignment = other->alignment;
    what.size_fn = other->size;
    status = haul__type_new(&other->home, &other->allocator, &what, type);
    if (status != HAUL_OK)
        return status;
    (*type)->combiner = other->combiner;
    (*type)->is_aligned = other->is_aligned;
    (*type)->depends = other->depends;
    (*type)->rebuild = other->rebuild;
    (*type)->rebuild_user = other->rebuild_user;
    return HAUL_OK;
}

static haul_status check_names(haul_type *type, const haul_field *fields, size_t count,
                               size_t field_bytes)
{
    haul_status status = HAUL_OK;
    haul_field field;
    size_t i;
    for (i = 0; i < count && status == HAUL_OK; i++) {
        status = read_field(fields, field_bytes, i, &field);
        if (status == HAUL_OK && !name_is_good(field.name))
            return haul__type_refuse(type, HAUL_ERROR_ARGUMENT,
                                     HAUL__NO_NAME("Field %zu of those to add, at offset %zu,"), i,
                                     field.offset, HAUL_NAME_BYTES_MAX);
    }
    return status;
}

static haul_status refuse_closed(const haul_type *type)
{
    return haul__type_refuse(type, HAUL_ERROR_STATE,
                             "The type is committed, was made by a constructor, or has instances: "
                             "no fields and no rebuild function can be added.");
}

haul_status haul__type_add_fields(haul_type *type, const haul_field *fields, size_t count,
                                  size_t field_bytes)
{
    haul_status status;
    if (!fields && count > 0)
        return haul__type_refuse(type, HAUL_ERROR_ARGUMENT,
                                 "The number of fields is not 0, but the fields are NULL.");
    if (type->committed || type->instances || type->combiner != HAUL_COMBINER_STRUCT_FIELDS)
        return refuse_closed(type);
    status = check_names(type, fields, count, field_bytes);
    if (status == HAUL_OK)
        status = add_fields(type, fields, count, field_bytes);
    if (status == HAUL_ERROR_VERSION)
        return haul__type_refuse(type, status,
                                 "A field uses a member that this version of the library lacks.");
    return status == HAUL_ERROR_MEMORY ? haul__type_out_of_memory(type) : status;
}

haul_status haul__type_set_rebuild(haul_type *type, haul_rebuild_function *rebuild, void *user)
{
    if (type->committed || type->instances || type->combiner != HAUL_COMBINER_STRUCT_FIELDS)
        return refuse_closed(type);
    type->depends = 1;
    type->rebuild = rebuild;
    type->rebuild_user = user;
    return HAUL_OK;
}
