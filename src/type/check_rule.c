/* Checks of a field's optional members, which need the types of its cases.
 *
 * The members are independent. Most faults are a member that means nothing in its form, or beside
 * another member. Such a member is not ignored: the field is refused, and the error names both.
 */
#include <inttypes.h>

#include "base/sort.h"
#include "type/check_rows.h"
#include "type/field.h"
#include "type/refuse.h"
#include "type/row.h"

/* The field must be an integer of the type, outside of all pointers. */
static haul_status check_field(const haul_type *type, const haul__row *row,
                               const haul_integer *field, const char *what, haul_error *error)
{
    if (!haul__is_integer_width(field->bytes))
        return haul__wrong(error, type, row->name,
                           "The field at offset %zu that %s reads has %u bytes: 1, 2, 4 and 8 "
                           "are possible.",
                           field->offset, what, (unsigned)field->bytes);
    if (!haul__fits(field->offset, field->bytes, haul__fixed_bytes(type)))
        return haul__wrong(error, type, row->name,
                           "The field of %u bytes at offset %zu that %s reads lies outside of "
                           "the type's %zu bytes.",
                           (unsigned)field->bytes, field->offset, what, haul__fixed_bytes(type));
    if (haul__touches_pointer_row(type, field->offset, field->bytes))
        return haul__wrong(error, type, row->name,
                           "The field at offset %zu that %s reads lies in a pointer field.",
                           field->offset, what);
    return HAUL_OK;
}

static haul_status check_when(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_field *said = &row->rule->said;
    switch (said->when.kind) {
    case HAUL_WHEN_KIND_ALWAYS:
        if (said->else_raw)
            return haul__wrong(error, type, row->name,
                               "The field always holds: `.else_raw` needs a `.when`.");
        return HAUL_OK;
    case HAUL_WHEN_KIND_FIELD:
    case HAUL_WHEN_KIND_NOT:
        if (said->when.low > said->when.high)
            return haul__wrong(error, type, row->name,
                               "`.when`: no value lies between %" PRId64 " and %" PRId64 ".",
                               said->when.low, said->when.high);
        if ((said->when.low & ~said->when.mask) != 0 && said->when.low == said->when.high)
            return haul__wrong(error, type, row->name,
                               "`.when`: no value is %" PRId64 " in the bits of the mask %" PRIx64
                               ".",
                               said->when.low, (uint64_t)said->when.mask);
        return check_field(type, row, &said->when.field, "`.when`", error);
    case HAUL_WHEN_KIND_FUNCTION:
        if (said->when.function)
            return HAUL_OK;
        return haul__wrong(error, type, row->name, "The function of `.when` is NULL.");
    }
    return haul__wrong(error, type, row->name, "`.when` is of kind %d, which does not exist.",
                       said->when.kind);
}

static int is_less(const void *a, const void *b)
{
    return *(const int64_t *)a < *(const int64_t *)b;
}

/* No two cases may have the same value in the bits of the mask. */
static haul_status check_values(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_switch *by = &row->rule->said.type_switch;
    const size_t bytes = by->case_count * sizeof(int64_t); /* no overflow: the cases take more */
    int64_t *values;
    haul_status status = HAUL_OK;
    size_t i;
    if (by->case_count < 2)
        return HAUL_OK;
    values = haul__allocate(&type->allocator, bytes, sizeof *values);
    if (!values)
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < by->case_count; i++)
        values[i] = by->cases[i].value & row->rule->mask;
    haul__sort(values, by->case_count, sizeof *values, is_less);
    for (i = 1; i < by->case_count && status == HAUL_OK; i++)
        if (values[i - 1] == values[i])
            status = haul__wrong(error, type, row->name, "Two cases have the value %" PRId64 ".",
                                 values[i]);
    haul__release(&type->allocator, values, bytes);
    return status;
}

static haul_status check_switch(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_switch *by = &row->rule->said.type_switch;
    int counted = type->shapes[row->shape].kind;
    haul_status status = HAUL_OK;
    size_t i;
    if (by->kind == HAUL_SWITCH_KIND_NONE)
        return HAUL_OK;
    if (by->kind < HAUL_SWITCH_KIND_NONE || by->kind > HAUL_SWITCH_KIND_FUNCTION)
        return haul__wrong(error, type, row->name,
                           "`.type_switch` is of kind %d, which does not exist.", by->kind);
    if (row->target)
        return haul__wrong(error, type, row->name,
                           "The field has both a `.target` and a `.type_switch`.");
    if (by->case_count == 0)
        return haul__wrong(error, type, row->name, "`.type_switch` has no cases.");
    if (counted == HAUL_COUNT_KIND_TERMINATED) /* nor at a pointer: check_form */
        return haul__wrong(error, type, row->name,
                           "An array with a `.type_switch` cannot end at a value.");
    if (by->kind == HAUL_SWITCH_KIND_FUNCTION && !by->function)
        return haul__wrong(error, type, row->name, "The function of `.type_switch` is NULL.");
    if (by->kind == HAUL_SWITCH_KIND_SELF)
        status = check_field(type, row, &by->field, "`.type_switch`", error);
    if (by->kind == HAUL_SWITCH_KIND_TARGET && !haul__is_integer_width(by->field.bytes))
        return haul__wrong(error, type, row->name,
                           "The tag at offset %zu of the target has %u bytes: 1, 2, 4 and 8 are "
                           "possible.",
                           by->field.offset, (unsigned)by->field.bytes);
    for (i = 0; i < by->case_count && status == HAUL_OK; i++) {
        const haul_type *target = row->rule->types[i];
        if (!by->cases[i].type)
            return haul__wrong(error, type, row->name,
                               "Case %" PRId64 " has no type: give the address of its handle.",
                               by->cases[i].value);
        if (target && target->bytes == 0)
            return haul__wrong(error, type, row->name,
                               "Type %s of case %" PRId64 " has an extent of 0 bytes.",
                               target->name, by->cases[i].value);
    }
    return status == HAUL_OK ? check_values(type, row, error) : status;
}

static const char *ownership_name(const haul_field *said)
{
    if (said->ownership == HAUL_EXTERNAL)
        return "external";
    if (said->ownership == HAUL_BORROWED)
        return said->maybe_static ? "borrowed or static" : "borrowed";
    return said->maybe_static ? "owned or static" : "owned";
}

/* A pointer that is not followed has no members that say how to follow it. */
static haul_status check_ownership(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_field *said = &row->rule->said;
    const char *member = NULL;
    if ((unsigned)said->ownership > HAUL_UNLESS_OWNED)
        return haul__wrong(error, type, row->name, "`.ownership` is %d, which does not exist.",
                           (int)said->ownership);
    if (haul__is_owner(said))
        return HAUL_OK;
    if (said->base || said->base_fn)
        member = "`.base`";
    if (said->type_switch.kind != HAUL_SWITCH_KIND_NONE)
        member = "`.type_switch`";
    if (said->section.rank)
        member = "`.section`";
    if (said->kind == HAUL_FIELD_RELATIVE)
        member = "distance";
    if (said->transfer != HAUL_COPY)
        member = "`.transfer`";
    if (!haul__leads_in(said) && (said->tag_bits || said->integers_below || said->integers_from))
        member = "tag or integer";
    if (!member)
        return HAUL_OK;
    return haul__wrong(error, type, row->name,
                       "It is %s, so that it is not followed; but it has a %s.",
                       ownership_name(said), member);
}

/* Pointers to pointers may have a condition and an ownership, begin/end pairs a condition only. */
static haul_status check_form(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_field *said = &row->rule->said;
    int is_pair = type->shapes[row->shape].kind == HAUL_COUNT_KIND_UNTIL;
    int plain = !said->tag_bits && !said->integers_below && !said->integers_from && !said->base &&
                !said->base_fn && said->type_switch.kind == HAUL_SWITCH_KIND_NONE &&
                said->kind != HAUL_FIELD_RELATIVE;
    if (plain && ((haul__is_owner(said) && !said->maybe_static) || !is_pair))
        return HAUL_OK;
    if (row->levels > 1)
        return haul__wrong(error, type, row->name,
                           "A pointer to pointers can have `.when`, `.ownership` and "
                           "`.maybe_static` only: the others stand in `.each_pointer`.");
    if (is_pair)
        return haul__wrong(error, type, row->name, "A begin/end pair can have a `.when` only.");
    return HAUL_OK;
}

/* Bits 12 to 23 differ between the pages of a process on every machine, so no allocator keeps them
 * free. */
#define ALWAYS_ADDRESS ((uintptr_t)0xfff000)

/* A limit says only what it is the end of: an array that this type owns and counts. */
static haul_status check_limit(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul__row *begin = haul__limited_row(type, row);
    const haul_count *count = begin ? &type->shapes[begin->shape] : NULL;
    haul__rule rest = *row->rule, other;
    memset(&rest.said.when, 0, sizeof rest.said.when);
    memset(&rest.said.end_of, 0, sizeof rest.said.end_of);
    if (!haul__rule_is_trivial(&rest) || rest.said.transfer || rest.said.pool || rest.each ||
        row->target || row->levels != 1 || row->bytes != sizeof(void *) ||
        type->shapes[row->shape].kind != HAUL_COUNT_KIND_ONE)
        return haul__wrong(error, type, row->name,
                           "A pointer with `.end_of` can have `.when`, `.else_raw` and `.packed` "
                           "only.");
    if (!begin || begin->kind != HAUL_FIELD_POINTER || begin->bytes != sizeof(void *) ||
        count->kind == HAUL_COUNT_KIND_ONE || count->kind == HAUL_COUNT_KIND_TERMINATED ||
        (count->kind == HAUL_COUNT_KIND_PRODUCT && count->fields == 0))
        return haul__wrong(error, type, row->name,
                           "`.end_of` names offset %zu, where no pointer to a counted array with "
                           "the same `.when` stands.",
                           row->rule->said.end_of.offset);
    memset(&other, 0, sizeof other);
    if (begin->rule)
        other = *begin->rule;
    memset(&other.said.when, 0, sizeof other.said.when);
    if (!haul__rule_is_trivial(&other))
        return haul__wrong(error, type, row->name,
                           "`.end_of` names field %s, which has optional members other than "
                           "`.when`, `.transfer` and `.each_pointer`.",
                           begin->name);
    return HAUL_OK;
}

static haul_status check_members(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_field *said = &row->rule->said;
    haul_status status = haul__is_limit(row->rule) ? check_limit(type, row, error) : HAUL_OK;
    if (status == HAUL_OK)
        status = check_ownership(type, row, error);
    if (status == HAUL_OK)
        status = check_form(type, row, error);
    if (status != HAUL_OK)
        return status;
    if (said->tag_bits & ALWAYS_ADDRESS)
        return haul__wrong(error, type, row->name,
                           "`.tag_bits` 0x%zx hold bits 12 to 23, which every address "
                           "has: tags are below or above them.",
                           (size_t)said->tag_bits);
    if (said->integers_from && said->integers_from <= said->integers_below)
        return haul__wrong(error, type, row->name,
                           "Every word is an integer by `.integers_below` and `.integers_from`.");
    if (said->kind == HAUL_FIELD_RELATIVE &&
        (said->maybe_static || said->tag_bits || said->integers_below || said->integers_from))
        return haul__wrong(error, type, row->name,
                           "A distance is owned, and has neither tags nor integers.");
    return check_switch(type, row, error);
}

static haul_status check_each(const haul_type *type, const haul__row *row, haul_error *error)
{
    haul__row each;
    haul_status status;
    if (!row->rule->each)
        return HAUL_OK;
    if (row->levels < 2)
        return haul__wrong(error, type, row->name,
                           "The field leads to no pointers: `.each_pointer` needs two levels.");
    if (!haul__is_owner(&row->rule->said) || row->rule->said.maybe_static)
        return haul__wrong(error, type, row->name,
                           "It is %s: the pointers that it leads to have members of their own "
                           "where it owns them only.",
                           ownership_name(&row->rule->said));
    each = haul__each_row(row);
    if (each.rule->said.each_pointer || haul__asks_parent(each.rule) ||
        each.rule->said.kind > HAUL_FIELD_POINTER || haul__is_limit(each.rule) ||
        each.rule->said.section.rank)
        return haul__wrong(error, type, row->name, "`.each_pointer` has %s: that cannot be.",
                           each.rule->said.each_pointer   ? "an `.each_pointer` of its own"
                           : haul__asks_parent(each.rule) ? "an `.ancestor` other than a named type"
                           : haul__is_limit(each.rule)    ? "an `.end_of`"
                           : each.rule->said.section.rank ? "a `.section`"
                                                          : "a kind other than a pointer's");
    status = check_when(type, &each, error);
    return status == HAUL_OK ? check_members(type, &each, error) : status;
}

/* Does the field have a function, which can get the ancestor? */
static int has_function(const haul_type *type, const haul__row *row)
{
    const haul_field *said = &row->rule->said;
    unsigned level;
    for (level = 0; level < row->levels && haul__row_count(type, row, level); level++)
        if (haul__row_count(type, row, level)->kind == HAUL_COUNT_KIND_FUNCTION)
            return 1;
    return said->when.kind == HAUL_WHEN_KIND_FUNCTION || said->base_fn ||
           said->type_switch.kind == HAUL_SWITCH_KIND_FUNCTION;
}

static int names_ancestor(const haul__rule *rule)
{
    return rule->said.ancestor && !haul__asks_parent(rule);
}

static haul_status check_ancestor(const haul_type *type, const haul__row *row, haul_error *error)
{
    haul__row each;
    if (names_ancestor(row->rule) && !has_function(type, row))
        return haul__wrong(error, type, row->name,
                           "It names an `.ancestor`, and has no function that would ask for it.");
    if (row->kind != HAUL_FIELD_POINTER || !row->rule->each)
        return HAUL_OK;
    each = haul__each_row(row);
    if (names_ancestor(each.rule) && !has_function(type, &each))
        return haul__wrong(error, type, row->name,
                           "`.each_pointer` names an `.ancestor`, and has no function that would "
                           "ask for it.");
    return HAUL_OK;
}

static haul_status check_transfer(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_field *said = &row->rule->said;
    if ((unsigned)said->transfer > HAUL_CREATE)
        return haul__wrong(error, type, row->name, "`.transfer` is %d, which does not exist.",
                           (int)said->transfer);
    if (row->kind != HAUL_FIELD_POINTER || !(haul__row_exclusions(row) & HAUL__UNSENT))
        return HAUL_OK;
    if (type->shapes[row->shape + row->levels - 1].kind == HAUL_COUNT_KIND_TERMINATED)
        return haul__wrong(error, type, row->name,
                           "`.transfer` is %s, so that nothing there is read; but the array ends "
                           "at a value.",
                           haul__transfer_name(row));
    if (said->type_switch.kind == HAUL_SWITCH_KIND_TARGET)
        return haul__wrong(error, type, row->name,
                           "`.transfer` is %s, so that nothing there is read; but its "
                           "type is told by a tag there.",
                           haul__transfer_name(row));
    return HAUL_OK;
}

haul_status haul__check_rule(const haul_type *type, const haul__row *row, haul_error *error)
{
    haul_status status;
    haul__rule rest;
    if (!row->rule)
        return HAUL_OK;
    if (row->kind == HAUL_FIELD_TAIL && haul__row_when(row))
        return haul__wrong(error, type, row->name, "A tail has no `.when`.");
    rest = *row->rule;
    memset(&rest.said.when, 0, sizeof rest.said.when);
    rest.said.ancestor = NULL;
    if (row->kind == HAUL_FIELD_SKIP && rest.said.transfer != HAUL_COPY)
        return haul__wrong(error, type, row->name,
                           "HAUL_SKIP has no `.transfer`: its bytes do not travel.");
    if (row->kind != HAUL_FIELD_POINTER && (!haul__rule_is_trivial(&rest) || rest.each))
        return haul__wrong(error, type, row->name,
                           "A field that is no pointer can have `.when`, `.else_raw` and "
                           "`.transfer` only.");
    status = check_when(type, row, error);
    if (status == HAUL_OK)
        status = check_transfer(type, row, error);
    if (status == HAUL_OK && row->kind == HAUL_FIELD_POINTER)
        status = check_members(type, row, error);
    if (status == HAUL_OK && row->kind == HAUL_FIELD_POINTER)
        status = check_each(type, row, error);
    return status == HAUL_OK ? check_ancestor(type, row, error) : status;
}
