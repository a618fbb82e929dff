/* Checks of a row's rule, which need the types of its cases.
 *
 * A rule is a struct of independent members. Most faults are a member that means nothing in its
 * row, or beside another member. Such a member is not ignored: the rule is refused, and the error
 * names both.
 */
#include <inttypes.h>

#include "base/sort.h"
#include "type/check.h"
#include "type/field.h"
#include "type/refuse.h"
#include "type/row.h"

/* The field must be an integer of the type, outside of all pointers. */
static haul_status check_field(const haul_type *type, const haul__row *row,
                               const haul_field_place *field, const char *what, haul_error *error)
{
    if (!haul__is_integer_width(field->bytes))
        return haul__wrong(error, type, row->name,
                           "The field at offset %zu that its %s reads has %u bytes: 1, 2, 4 and 8 "
                           "are possible.",
                           field->offset, what, (unsigned)field->bytes);
    if (!haul__fits(field->offset, field->bytes, haul__fixed_bytes(type)))
        return haul__wrong(error, type, row->name,
                           "The field of %u bytes at offset %zu that its %s reads lies outside of "
                           "the type's %zu bytes.",
                           (unsigned)field->bytes, field->offset, what, haul__fixed_bytes(type));
    if (haul__touches_pointer_row(type, field->offset, field->bytes))
        return haul__wrong(error, type, row->name,
                           "The field at offset %zu that its %s reads lies in a pointer field.",
                           field->offset, what);
    return HAUL_OK;
}

static haul_status check_when(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_rule *rule = &row->rule->said;
    if (rule->otherwise != HAUL_ELSE_NULL && rule->otherwise != HAUL_ELSE_RAW)
        return haul__wrong(error, type, row->name,
                           "What becomes of it otherwise is %d, which does not exist.",
                           (int)rule->otherwise);
    switch (rule->when.kind) {
    case HAUL_WHEN_ALWAYS:
        if (rule->otherwise != HAUL_ELSE_NULL)
            return haul__wrong(error, type, row->name,
                               "The row always holds: there is no otherwise.");
        return HAUL_OK;
    case HAUL_WHEN_FIELD:
    case HAUL_WHEN_NOT:
        if (rule->when.low > rule->when.high)
            return haul__wrong(error, type, row->name,
                               "No value lies between %" PRId64 " and %" PRId64 ".", rule->when.low,
                               rule->when.high);
        if ((rule->when.low & ~rule->when.mask) != 0 && rule->when.low == rule->when.high)
            return haul__wrong(error, type, row->name,
                               "No value is %" PRId64 " in the bits of the mask %" PRIx64 ".",
                               rule->when.low, (uint64_t)rule->when.mask);
        return check_field(type, row, &rule->when.field, "condition", error);
    case HAUL_WHEN_FUNCTION:
        if (rule->when.function)
            return HAUL_OK;
        return haul__wrong(error, type, row->name, "The callback of its condition is NULL.");
    }
    return haul__wrong(error, type, row->name, "Its condition is of kind %d, which does not exist.",
                       (int)rule->when.kind);
}

static haul_status check_case(const haul_type *type, const haul__row *row, size_t i,
                              haul_error *error)
{
    const haul_case *all = row->rule->said.choice.cases;
    const haul_type *target = row->rule->types[i];
    if (!all[i].type)
        return haul__wrong(error, type, row->name,
                           "Case %" PRId64 " has no type: give the address of its handle.",
                           all[i].value);
    if (target && target->bytes == 0)
        return haul__wrong(error, type, row->name,
                           "Type %s of case %" PRId64 " has an extent of 0 bytes.", target->name,
                           all[i].value);
    return HAUL_OK;
}

static int is_less(const void *a, const void *b)
{
    return *(const int64_t *)a < *(const int64_t *)b;
}

/* No two cases may have the same value in the bits of the mask. */
static haul_status check_values(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_choice *choice = &row->rule->said.choice;
    const size_t bytes =
        choice->case_count * sizeof(int64_t); /* no overflow: the cases take more */
    int64_t *values;
    haul_status status = HAUL_OK;
    size_t i;
    if (choice->case_count < 2)
        return HAUL_OK;
    values = haul__allocate(&type->allocator, bytes, sizeof *values);
    if (!values)
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < choice->case_count; i++)
        values[i] = choice->cases[i].value & choice->mask;
    haul__sort(values, choice->case_count, sizeof *values, is_less);
    for (i = 1; i < choice->case_count && status == HAUL_OK; i++)
        if (values[i - 1] == values[i])
            status = haul__wrong(error, type, row->name, "Two cases have the value %" PRId64 ".",
                                 values[i]);
    haul__release(&type->allocator, values, bytes);
    return status;
}

static haul_status check_choice(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_choice *choice = &row->rule->said.choice;
    unsigned shape = (unsigned)type->shapes[row->shape].kind;
    haul_status status = HAUL_OK;
    size_t i;
    if (choice->kind == HAUL_CHOICE_NONE)
        return HAUL_OK;
    if (choice->kind < HAUL_CHOICE_NONE || choice->kind > HAUL_CHOICE_FUNCTION)
        return haul__wrong(error, type, row->name,
                           "Its choice of type is of kind %d, which does not exist.",
                           (int)choice->kind);
    if (row->target)
        return haul__wrong(error, type, row->name,
                           "The row has a target type and a choice of types.");
    if (choice->mask == 0)
        return haul__wrong(error, type, row->name,
                           "Its choice of type looks at no bit of the value: the mask is 0.");
    if (choice->case_count == 0)
        return haul__wrong(error, type, row->name, "Its choice of type has no cases.");
    if (shape == HAUL_SHAPE_SENTINEL || shape == HAUL_SHAPE_END)
        return haul__wrong(error, type, row->name,
                           "An array whose type is chosen cannot end at a value or at a pointer.");
    if (choice->kind == HAUL_CHOICE_FUNCTION && !choice->function)
        return haul__wrong(error, type, row->name, "The callback of its choice of type is NULL.");
    if (choice->kind == HAUL_CHOICE_SELF)
        status = check_field(type, row, &choice->field, "choice of type", error);
    if (choice->kind == HAUL_CHOICE_TARGET && !haul__is_integer_width(choice->field.bytes))
        return haul__wrong(error, type, row->name,
                           "The tag at offset %zu of the target has %u bytes: 1, 2, 4 and 8 are "
                           "possible.",
                           choice->field.offset, (unsigned)choice->field.bytes);
    for (i = 0; i < choice->case_count && status == HAUL_OK; i++)
        status = check_case(type, row, i, error);
    return status == HAUL_OK ? check_values(type, row, error) : status;
}

static const char *mode_name(haul_mode mode)
{
    static const char *const names[] = { "own",    "alias", "own or static", "alias or static",
                                         "opaque", "null",  "external" };
    return mode >= HAUL_MODE_OWN && mode <= HAUL_MODE_EXTERNAL ? names[mode] : NULL;
}

/* A row that is not followed must have no members that say how to follow it. */
static haul_status check_mode(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_rule *rule = &row->rule->said;
    const char *mode = mode_name(rule->mode), *member = NULL;
    if (!mode)
        return haul__wrong(error, type, row->name, "Its mode is %d, which does not exist.",
                           (int)rule->mode);
    if (rule->mode == HAUL_MODE_OWN || rule->mode == HAUL_MODE_OWN_OR_STATIC)
        return HAUL_OK;
    if (rule->base || rule->base_function)
        member = "base";
    if (rule->choice.kind != HAUL_CHOICE_NONE)
        member = "choice of type";
    if (rule->addressing != HAUL_ABSOLUTE)
        member = "distance";
    if (rule->direction != HAUL_BOTH)
        member = "direction";
    if (rule->mode >= HAUL_MODE_OPAQUE &&
        (rule->tag_bits || rule->integer_below || rule->integer_from))
        member = "tag or integer";
    if (!member)
        return HAUL_OK;
    return haul__wrong(error, type, row->name,
                       "Its mode is %s, so that it is not followed; but it has a %s.", mode,
                       member);
}

/* Bits 12 to 23 differ between the pages of a process on every machine, so no allocator keeps them
 * free. */
#define ALWAYS_ADDRESS ((uintptr_t)0xfff000)

static haul_status check_bits(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_rule *rule = &row->rule->said;
    if (rule->tag_bits & ALWAYS_ADDRESS)
        return haul__wrong(error, type, row->name,
                           "The tag bits 0x%zx hold bits 12 to 23, which every address "
                           "has: tags are below or above "
                           "them.",
                           (size_t)rule->tag_bits);
    if (rule->integer_from && rule->integer_from <= rule->integer_below)
        return haul__wrong(error, type, row->name, "Every word is an integer.");
    return HAUL_OK;
}

static haul_status check_addressing(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_rule *rule = &row->rule->said;
    if (rule->addressing == HAUL_ABSOLUTE)
        return HAUL_OK;
    if (rule->addressing != HAUL_RELATIVE)
        return haul__wrong(error, type, row->name, "Its addressing is %d, which does not exist.",
                           (int)rule->addressing);
    if (rule->mode != HAUL_MODE_OWN || rule->tag_bits || rule->integer_below || rule->integer_from)
        return haul__wrong(error, type, row->name,
                           "A distance is owned, and has neither tags nor integers.");
    return HAUL_OK;
}

/* Pointers to pointers may have a condition and a mode, begin/end pairs a condition only. */
static haul_status check_form(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_rule *rule = &row->rule->said;
    int plain = !rule->tag_bits && !rule->integer_below && !rule->integer_from && !rule->base &&
                !rule->base_function && rule->choice.kind == HAUL_CHOICE_NONE &&
                rule->addressing == HAUL_ABSOLUTE;
    if (plain && (rule->mode == HAUL_MODE_OWN || type->shapes[row->shape].kind != HAUL_SHAPE_END))
        return HAUL_OK;
    if (row->levels > 1)
        return haul__wrong(error, type, row->name,
                           "A pointer to pointers can have a condition and a mode only: "
                           "`each` is the rule of the inner ones.");
    if (type->shapes[row->shape].kind == HAUL_SHAPE_END)
        return haul__wrong(error, type, row->name, "A begin/end pair can have a condition only.");
    return HAUL_OK;
}

static haul_status check_members(const haul_type *type, const haul__row *row, haul_error *error)
{
    haul_status status = check_mode(type, row, error);
    if (status == HAUL_OK)
        status = check_form(type, row, error);
    if (status == HAUL_OK)
        status = check_bits(type, row, error);
    if (status == HAUL_OK)
        status = check_addressing(type, row, error);
    return status == HAUL_OK ? check_choice(type, row, error) : status;
}

static haul_status check_each(const haul_type *type, const haul__row *row, haul_error *error)
{
    haul__row each;
    haul_status status;
    if (!row->rule->each)
        return HAUL_OK;
    if (row->levels < 2)
        return haul__wrong(error, type, row->name,
                           "The row leads to no pointers that could have a rule each.");
    if (row->rule->said.mode != HAUL_MODE_OWN)
        return haul__wrong(
            error, type, row->name,
            "Its mode is %s: the pointers that it leads to have a rule where it owns them only.",
            mode_name(row->rule->said.mode));
    each = haul__each_row(row);
    if (each.rule->said.each || each.rule->said.with_parent ||
        each.rule->said.addressing != HAUL_ABSOLUTE)
        return haul__wrong(error, type, row->name,
                           "The rule of each pointer has %s: that cannot be.",
                           each.rule->said.each          ? "one for each of its own"
                           : each.rule->said.with_parent ? "a parent other than the struct"
                                                         : "a distance");
    status = check_when(type, &each, error);
    return status == HAUL_OK ? check_members(type, &each, error) : status;
}

/* Does the row have a callback, which can get the holder that its rule names? */
static int has_callback(const haul_type *type, const haul__row *row)
{
    const haul_rule *rule = &row->rule->said;
    unsigned level,
        levels = row->kind == HAUL_REF_POINTER || row->kind == HAUL_REF_TAIL ? row->levels : 0;
    for (level = 0; level < levels; level++)
        if (type->shapes[row->shape + level].kind == HAUL_SHAPE_FUNCTION)
            return 1;
    return rule->when.kind == HAUL_WHEN_FUNCTION || rule->base_function ||
           rule->choice.kind == HAUL_CHOICE_FUNCTION;
}

static haul_status check_holder(const haul_type *type, const haul__row *row, haul_error *error)
{
    haul__row each;
    if (row->rule->said.holder && !has_callback(type, row))
        return haul__wrong(error, type, row->name,
                           "Its rule names a holder, and has no callback that would ask for it.");
    if (row->kind != HAUL_REF_POINTER || !row->rule->each)
        return HAUL_OK;
    each = haul__each_row(row);
    if (each.rule->said.holder && !has_callback(type, &each))
        return haul__wrong(
            error, type, row->name,
            "The rule of each pointer names a holder, and has no callback that would ask for it.");
    return HAUL_OK;
}

haul_status haul__check_direction(const haul_type *type, const haul__row *row, haul_error *error)
{
    const haul_rule *rule = &row->rule->said;
    if (rule->direction < HAUL_BOTH || rule->direction > HAUL_NEITHER)
        return haul__wrong(error, type, row->name, "Its direction is %d, which does not exist.",
                           (int)rule->direction);
    if (row->kind != HAUL_REF_POINTER || !(haul__row_exclusions(row) & HAUL__UNSENT))
        return HAUL_OK;
    if (type->shapes[row->shape + row->levels - 1].kind == HAUL_SHAPE_SENTINEL)
        return haul__wrong(
            error, type, row->name,
            "Its direction is %s, so that nothing there is read; but it ends at a value.",
            haul__direction_name(row));
    if (rule->choice.kind == HAUL_CHOICE_TARGET)
        return haul__wrong(error, type, row->name,
                           "Its direction is %s, so that nothing there is read; but its "
                           "type is told by a tag there.",
                           haul__direction_name(row));
    return HAUL_OK;
}

haul_status haul__check_rule(const haul_type *type, const haul__row *row, haul_error *error)
{
    haul_status status;
    haul_rule rest;
    if (!row->rule)
        return HAUL_OK;
    rest = row->rule->said;
    memset(&rest.when, 0, sizeof rest.when);
    if (row->kind == HAUL_REF_SKIP)
        return haul__wrong(error, type, row->name, "This kind of row has no rule.");
    rest.with_parent = 0;
    rest.holder = NULL;
    if (row->kind == HAUL_REF_TAIL && haul__row_when(row))
        return haul__wrong(error, type, row->name, "A tail has no condition.");
    if (row->kind != HAUL_REF_POINTER && (!haul__rule_is_trivial(&rest) || rest.each))
        return haul__wrong(error, type, row->name,
                           "A row that is no pointer can have a condition and a direction only.");
    status = check_when(type, row, error);
    if (status == HAUL_OK)
        status = haul__check_direction(type, row, error);
    if (status == HAUL_OK && row->kind == HAUL_REF_POINTER)
        status = check_members(type, row, error);
    if (status == HAUL_OK && row->kind == HAUL_REF_POINTER)
        status = check_each(type, row, error);
    return status == HAUL_OK ? check_holder(type, row, error) : status;
}
