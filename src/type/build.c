/* Making open types and filling them with rows.
 *
 * A type begins open, alone in a group with one holder. The names of one call's rows are copied
 * into one block that never moves, so queries may hand them out. Their rules are copied in the same
 * way.
 */
#include <stdio.h>

#include "base/status.h"
#include "type/life.h"
#include "type/refuse.h"
#include "type/row.h"

static const haul_error closed = { HAUL_ERROR_STATE, "", "",
                                   "The type is committed, was made by a constructor, or has "
                                   "instances: no rows and no size can be added, and no "
                                   "alignment after commit." };
static const haul_error bad_row = { HAUL_ERROR_ARGUMENT, "", "", "A row has no name." };
static const haul_error no_rows = { HAUL_ERROR_ARGUMENT, "", "",
                                    "The number of rows is not 0, but the rows are NULL." };
static const haul_error no_function = { HAUL_ERROR_ARGUMENT, "", "",
                                        "The function that tells the size of an object is NULL." };

/* The number of bytes that follow a UTF-8 lead byte; 4: it is no lead byte. */
static unsigned followers(unsigned char lead)
{
    if (lead < 0x80)
        return 0;
    if (lead >= 0xc2 && lead <= 0xdf)
        return 1;
    if (lead >= 0xe0 && lead <= 0xef)
        return 2;
    return lead >= 0xf0 && lead <= 0xf4 ? 3 : 4;
}

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
        wanted = followers(lead);
        if (wanted > 3)
            return 0;
    }
    return 0;
}

static unsigned shapes_of(const haul_ref *ref)
{
    return (ref->kind == HAUL_REF_POINTER || ref->kind == HAUL_REF_TAIL) &&
                   ref->levels <= HAUL_LEVELS
               ? ref->levels
               : 0;
}

/* A bad name becomes empty, and the commit refuses it: a type that is being made has no record to
 * refuse it in. */
static const char *name_to_keep(const char *name)
{
    return name_is_good(name) ? name : "";
}

/* Counts the names' bytes and the shapes of new rows. */
static haul_status measure(const haul_ref *refs, size_t count, size_t *name_bytes,
                           size_t *shape_count)
{
    size_t i;
    *name_bytes = *shape_count = 0;
    for (i = 0; i < count; i++) {
        if (haul__add_overflows(*name_bytes, strlen(name_to_keep(refs[i].name)) + 1, name_bytes))
            return HAUL_ERROR_MEMORY;
        *shape_count += shapes_of(&refs[i]);
    }
    return HAUL_OK;
}

static void add_row(haul_type *type, const haul_ref *ref, char **text)
{
    haul__row *row = &type->rows[type->row_count];
    const char *name = name_to_keep(ref->name);
    size_t name_bytes = strlen(name) + 1;
    unsigned level;
    memcpy(*text, name, name_bytes);
    row->name = *text;
    *text += name_bytes;
    row->offset = ref->offset;
    row->bytes = ref->field_bytes;
    row->element_bytes = ref->element_bytes;
    row->target = ref->target;
    row->type = NULL;
    row->shape = type->shape_count;
    row->serial = type->row_count;
    row->kind = (unsigned)ref->kind;
    row->levels = ref->levels;
    row->unaligned = ref->unaligned != 0;
    row->rule = NULL;
    for (level = 0; level < shapes_of(ref); level++)
        type->shapes[type->shape_count++] = ref->shape[level];
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

static int measure_rule(const haul_rule *rule, size_t *rules, size_t *cases)
{
    if (!rule)
        return 1;
    ++*rules;
    return !rule->choice.cases || !haul__add_overflows(*cases, rule->choice.case_count, cases);
}

static haul_status measure_rules(const haul_ref *refs, size_t count, size_t *rules, size_t *cases)
{
    size_t i;
    *rules = *cases = 0;
    for (i = 0; i < count; i++)
        if (!measure_rule(refs[i].rule, rules, cases) ||
            !measure_rule(refs[i].rule ? refs[i].rule->each : NULL, rules, cases))
            return HAUL_ERROR_MEMORY;
    return HAUL_OK;
}

static haul__rule *copy_rule(const haul_rule *said, haul_case **cases, haul_type ***types,
                             haul__rule **rule)
{
    haul__rule *copy = (*rule)++;
    size_t count = said->choice.cases ? said->choice.case_count : 0;
    copy->said = *said;
    copy->said.choice.cases = *cases;
    copy->said.choice.case_count = count;
    copy->types = *types;
    copy->holder = NULL;
    copy->each = NULL;
    if (count > 0)
        memcpy(*cases, said->choice.cases, count * sizeof **cases);
    *cases += count;
    *types += count;
    return copy;
}

static haul__rule *copy_rules(const haul_rule *said, haul_case **cases, haul_type ***types,
                              haul__rule **rule)
{
    haul__rule *copy = copy_rule(said, cases, types, rule);
    if (said->each) {
        copy->each = copy_rule(said->each, cases, types, rule);
        copy->said.each = &copy->each->said;
    }
    return copy;
}

/* Gives the new rows, from number `first` on, copies of their rules. */
static haul_status add_rules(haul_type *type, const haul_ref *refs, size_t count, size_t first)
{
    haul__rules *block;
    haul__rule *rule;
    haul_case *cases;
    haul_type **types;
    size_t rules, case_count, bytes, case_bytes, i;
    haul_status status = measure_rules(refs, count, &rules, &case_count);
    if (status != HAUL_OK || rules == 0)
        return status;
    if (haul__multiply_overflows(rules, sizeof *rule, &bytes) ||
        haul__multiply_overflows(case_count, sizeof *cases + sizeof *types, &case_bytes) ||
        haul__add_overflows(bytes, case_bytes, &bytes) || bytes > SIZE_MAX - sizeof *block)
        return HAUL_ERROR_MEMORY;
    block = haul__allocate_zeroed(&type->allocator, sizeof *block + bytes);
    if (!block)
        return HAUL_ERROR_MEMORY;
    block->bytes = bytes;
    block->next = type->rules;
    type->rules = block;
    rule = (haul__rule *)(void *)(block + 1);
    cases = (haul_case *)(void *)(rule + rules);
    types = (haul_type **)(void *)(cases + case_count);
    for (i = 0; i < count; i++)
        if (refs[i].rule)
            type->rows[first + i].rule = copy_rules(refs[i].rule, &cases, &types, &rule);
    return HAUL_OK;
}

/* Makes all room first: after a failure the type has only more spare memory. */
static haul_status add_rows(haul_type *type, const haul_ref *refs, size_t count)
{
    size_t name_bytes, shape_count, i;
    haul__names *names;
    char *text;
    void *rows = type->rows, *shapes = type->shapes;
    const size_t row_count = type->row_count, old_shapes = type->shape_count;
    const int in_order = type->in_order;
    haul_status status = measure(refs, count, &name_bytes, &shape_count);
    if (status != HAUL_OK || count == 0)
        return status;
    if (count > SIZE_MAX - type->row_count || shape_count > SIZE_MAX - type->shape_count ||
        name_bytes > SIZE_MAX - sizeof *names)
        return HAUL_ERROR_MEMORY;
    if (!grow(&type->allocator, &rows, &type->row_capacity, type->row_count + count,
              sizeof *type->rows))
        return HAUL_ERROR_MEMORY;
    type->rows = rows;
    if (!grow(&type->allocator, &shapes, &type->shape_capacity, type->shape_count + shape_count,
              sizeof *type->shapes))
        return HAUL_ERROR_MEMORY;
    type->shapes = shapes;
    names = haul__allocate(&type->allocator, sizeof *names + name_bytes, sizeof(void *));
    if (!names)
        return HAUL_ERROR_MEMORY;
    names->bytes = name_bytes;
    names->next = type->names;
    type->names = names;
    text = (char *)(names + 1);
    for (i = 0; i < count; i++)
        add_row(type, &refs[i], &text);
    status = add_rules(type, refs, count, row_count);
    if (status != HAUL_OK) {
        type->row_count = row_count;
        type->shape_count = old_shapes;
        type->in_order = in_order;
    }
    for (i = 0; i < count && status == HAUL_OK; i++)
        type->has_tail |= refs[i].kind == HAUL_REF_TAIL;
    return status;
}

haul_status haul_type_create_in(const haul_allocator *allocator, const char *name, size_t bytes,
                                const haul_ref *refs, size_t count, haul_type **type)
{
    haul_allocator own;
    haul_type *made;
    haul_status status;
    if (type)
        *type = NULL;
    if (!type || !haul__allocator_is_complete(allocator) || (!refs && count > 0))
        return HAUL_ERROR_ARGUMENT;
    own = haul__allocator_or_default(allocator);
    made = haul__type_make(&own, name_to_keep(name), bytes, HAUL_COMBINER_STRUCT_REFS);
    if (!made)
        return HAUL_ERROR_MEMORY;
    status = add_rows(made, refs, count);
    if (status != HAUL_OK) {
        haul__type_release(made);
        return status;
    }
    *type = made;
    return HAUL_OK;
}

haul_status haul_type_create(const char *name, size_t bytes, const haul_ref *refs, size_t count,
                             haul_type **type)
{
    return haul_type_create_in(NULL, name, bytes, refs, count, type);
}

haul_status haul_type_add(haul_type *type, const haul_ref *refs, size_t count)
{
    haul_status status;
    size_t i;
    if (!haul__type_is_valid(type))
        return HAUL_ERROR_ARGUMENT;
    if (!refs && count > 0)
        return haul__type_tell(type, &no_rows);
    if (type->committed || type->instances || type->combiner != HAUL_COMBINER_STRUCT_REFS)
        return haul__type_tell(type, &closed);
    for (i = 0; i < count; i++)
        if (!name_is_good(refs[i].name))
            return haul__type_refuse(type, &bad_row,
                                     HAUL__NO_NAME("Row %zu of those to add, at offset %zu,"), i,
                                     refs[i].offset, HAUL_NAME_BYTES_MAX);
    status = add_rows(type, refs, count);
    if (status == HAUL_ERROR_MEMORY)
        return haul__type_out_of_memory(type);
    return haul__type_tell_success(type);
}

haul_status haul_type_set_alignment(haul_type *type, size_t alignment)
{
    if (!haul__type_is_valid(type))
        return HAUL_ERROR_ARGUMENT;
    if (type->committed || type->instances)
        return haul__type_tell(type, &closed);
    type->alignment = alignment;
    type->is_aligned = 1;
    return haul__type_tell_success(type);
}

haul_status haul_type_set_size(haul_type *type, haul_function *bytes)
{
    if (!haul__type_is_valid(type))
        return HAUL_ERROR_ARGUMENT;
    if (!bytes)
        return haul__type_tell(type, &no_function);
    if (type->committed || type->instances || type->combiner != HAUL_COMBINER_STRUCT_REFS)
        return haul__type_tell(type, &closed);
    type->size = bytes;
    return haul__type_tell_success(type);
}

haul_status haul_type_set_rebuild(haul_type *type, haul_rebuild_function *rebuild, void *user)
{
    if (!haul__type_is_valid(type))
        return HAUL_ERROR_ARGUMENT;
    if (type->committed || type->instances || type->combiner != HAUL_COMBINER_STRUCT_REFS)
        return haul__type_tell(type, &closed);
    type->depends = 1;
    type->rebuild = rebuild;
    type->rebuild_user = user;
    return haul__type_tell_success(type);
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
