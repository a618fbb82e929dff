/* Integers that rows read must not be zeros in the copy.
 *
 * Bytes that no arm of a union claims are zeros in the copy, unless one of the arms says
 * `.else_raw`. The host reads its own integer, so nothing else would notice. An integer is safe if
 * an arm of bytes covers it while the row that reads it holds. Only conditions that read the same
 * bits of one field can be compared here.
 *
 * All arms over an integer are asked until one covers it. Rows are mostly given in the order of
 * their arms, so each search begins where the last one ended.
 */
#include "base/list.h"
#include "type/check_flat.h"
#include "type/refuse.h"
#include "type/row.h"

/* Is the row evaluated for each object? Then its bytes are zeros while it does not hold. */
static const haul_when *condition_of(const haul__ruled *ruled)
{
    const haul_when *when = ruled->rule ? &ruled->rule->said.when : NULL;
    return when && when->kind != HAUL_WHEN_KIND_ALWAYS ? when : NULL;
}

static size_t end_of(const haul__ruled *ruled)
{
    return ruled->slot.offset + ruled->bytes;
}

/* A number that a row reads, and that row's condition (NULL: it always holds). */
typedef struct number_read {
    const haul_integer *field;
    const haul_when *when;
} number_read;

static int holds_at(const haul_when *when, const haul_when *other, int64_t value)
{
    if (!other || other->kind != HAUL_WHEN_KIND_FIELD || when->kind == HAUL_WHEN_KIND_FUNCTION ||
        when->field.offset != other->field.offset || when->field.bytes != other->field.bytes ||
        when->mask != other->mask)
        return 1; /* unknown */
    return (when->low <= value && value <= when->high) == (when->kind == HAUL_WHEN_KIND_FIELD);
}

enum { SAFE_LOW = 1, SAFE_HIGH = 2, SAFE = 3 };

/* At which ends of the reader's values does this arm carry the number? */
static int safety_by(const haul__ruled *ruled, const haul_when *when, const number_read *r)
{
    int safe = 0;
    if (ruled->rule->said.else_raw)
        return SAFE;
    if (ruled->kind == HAUL__RULED_POINTER || ruled->rule->said.kind == HAUL_FIELD_SKIP ||
        ruled->slot.offset > r->field->offset || end_of(ruled) < r->field->offset + r->field->bytes)
        return 0;
    if (holds_at(when, r->when, r->when ? r->when->low : 0))
        safe |= SAFE_LOW;
    if (holds_at(when, r->when, r->when ? r->when->high : 0))
        safe |= SAFE_HIGH;
    return safe;
}

static int begins_before(const void *list, size_t i, uint64_t limit)
{
    return ((const haul__ruled *)list)[i].slot.offset < limit;
}

static int reaches_not_over(const void *list, size_t i, uint64_t offset)
{
    return ((const size_t *)list)[i] <= offset;
}

typedef struct search {
    const size_t *reach; /* reach[i]: where the farthest arm up to number i ends */
    size_t last;         /* the number of the arm that was asked last */
} search;

/* The row that has this rule; the end of a pair has its begin's. */
static const char *name_of(const haul_type *type, const haul__ruled *ruled)
{
    size_t i;
    for (i = 0; i < type->row_count; i++)
        if (type->rows[i].rule == ruled->rule)
            return type->rows[i].name;
    return ruled->slot.name;
}

static haul_status check_number(const haul_type *type, const haul__row *row, const number_read *r,
                                search *s, haul_error *error)
{
    const haul__walk *walk = &type->walk;
    const haul__ruled *arm = NULL;
    const size_t end = haul__search(walk->ruled, 0, walk->ruled_count,
                                    r->field->offset + r->field->bytes, begins_before);
    const size_t first = haul__search(s->reach, 0, end, r->field->offset, reaches_not_over);
    size_t left = end - first;
    int safe = 0;
    if (left > 0 && (s->last < first || s->last >= end))
        s->last = first;
    for (; left > 0 && safe != SAFE; left--) {
        const haul__ruled *ruled = &walk->ruled[s->last];
        const haul_when *when = condition_of(ruled);
        if (when && end_of(ruled) > r->field->offset) {
            if (!arm || ruled < arm)
                arm = ruled;
            safe |= safety_by(ruled, when, r);
        }
        if (safe != SAFE)
            s->last = s->last + 1 < end ? s->last + 1 : first;
    }
    if (!arm || safe == SAFE)
        return HAUL_OK;
    return haul__wrong(error, type, row->name,
                       "It reads %u bytes at offset %zu, which are zeros in the copy while field "
                       "%s does not hold: describe them by a HAUL_RAW with the same `.when`, or "
                       "set `.else_raw` of %s.",
                       (unsigned)r->field->bytes, r->field->offset, name_of(type, arm),
                       name_of(type, arm));
}

static haul_status check_counts(const haul_type *type, const haul__row *row, search *s,
                                haul_error *error)
{
    haul_status status = HAUL_OK;
    const haul_count *shape;
    unsigned level, i;
    number_read r;
    r.when = haul__row_when(row);
    for (level = 0; (shape = haul__row_count(type, row, level)); level++) {
        if (shape->kind != HAUL_COUNT_KIND_PRODUCT)
            continue;
        for (i = 0; i < shape->fields && status == HAUL_OK; i++) {
            r.field = &shape->field[i];
            status = check_number(type, row, &r, s, error);
        }
    }
    return status;
}

/* A condition reads its field in every object; a switch only while its row holds. */
static haul_status check_rule(const haul_type *type, const haul__row *row, const haul__rule *rule,
                              search *s, haul_error *error)
{
    const haul_field *said = &rule->said;
    haul_status status = HAUL_OK;
    haul_when any = said->when;
    number_read r;
    any.kind = HAUL_WHEN_KIND_FIELD;
    any.low = INT64_MIN;
    any.high = INT64_MAX;
    r.field = &said->when.field;
    r.when = &any;
    if (said->when.kind == HAUL_WHEN_KIND_FIELD || said->when.kind == HAUL_WHEN_KIND_NOT)
        status = check_number(type, row, &r, s, error);
    r.field = &said->type_switch.field;
    r.when = haul__row_when(row);
    if (status == HAUL_OK && said->type_switch.kind == HAUL_SWITCH_KIND_SELF)
        status = check_number(type, row, &r, s, error);
    return status;
}

haul_status haul__check_zeros(const haul_type *type, haul_error *error)
{
    const haul__walk *walk = &type->walk;
    const size_t bytes = walk->ruled_count * sizeof(size_t); /* no overflow: the rows take more */
    haul_status status = HAUL_OK;
    size_t i, end = 0, *reach;
    search s;
    if (walk->ruled_count == 0)
        return HAUL_OK;
    reach = haul__allocate(&type->allocator, bytes, sizeof *reach);
    if (!reach)
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < walk->ruled_count; i++) {
        if (condition_of(&walk->ruled[i]) && end_of(&walk->ruled[i]) > end)
            end = end_of(&walk->ruled[i]);
        reach[i] = end;
    }
    s.reach = reach;
    s.last = 0;
    for (i = 0; i < type->row_count && status == HAUL_OK; i++) {
        const haul__row *row = &type->rows[i];
        const haul__rule *rule;
        status = check_counts(type, row, &s, error);
        for (rule = row->rule; rule && status == HAUL_OK; rule = rule->each)
            status = check_rule(type, row, rule, &s, error);
    }
    haul__release(&type->allocator, reach, bytes);
    return status;
}
