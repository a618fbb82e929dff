/* The fields of the forms that a policy makes.
 *
 * A form has the fields of its type, which rows change and which lead to other forms. The gaps
 * between fields become fields, too, if they do not travel both ways. Integers that fields read,
 * and ends of arrays, are left out of the gaps.
 */
#include <stdio.h>

#include "base/sort.h"
#include "base/status.h"
#include "type/build.h"
#include "type/policy.h"
#include "type/row.h"

typedef struct taken_bytes {
    size_t begin, end;
} taken_bytes;

typedef struct form_maker {
    haul__policy *p;
    size_t number; /* of the form */
    HAUL__LIST(haul_field) fields;
    HAUL__LIST(taken_bytes) taken; /* bytes that are in no gap */
    haul_field *each;              /* room for the members of pointers in arrays, and for cases */
    haul_case *cases;
    size_t each_room, case_room, each_count, case_count;
} form_maker;

static haul_status no_memory(const haul__policy *p)
{
    return haul__fail(p->error, HAUL_ERROR_MEMORY, "out of memory for the types of a policy");
}

static int take(form_maker *m, size_t begin, size_t bytes)
{
    taken_bytes *one = HAUL__LIST_ADD(m->p->allocator, &m->taken);
    if (!one)
        return 0;
    one->begin = begin;
    one->end = begin + bytes;
    return 1;
}

static int add(form_maker *m, const haul_field *field)
{
    haul_field *one = HAUL__LIST_ADD(m->p->allocator, &m->fields);
    if (one)
        *one = *field;
    return one != NULL;
}

/* ---- Where fields lead. */

/* The handle of a type's form. All forms are there, so it stays where it is. */
static haul_type *const *handle_of(const form_maker *m, const haul_type *type)
{
    return &m->p->forms.at[haul__form_of(m->p, type, SIZE_MAX, SIZE_MAX)].made;
}

static void lead_rule(form_maker *m, const haul__rule *rule, haul_field *field)
{
    haul_switch *by = &field->type_switch;
    haul_case *cases = by->case_count ? m->cases + m->case_count : NULL;
    size_t i;
    for (i = 0; i < by->case_count; i++) {
        cases[i] = by->cases[i];
        cases[i].type = rule->types[i] ? handle_of(m, rule->types[i]) : NULL;
    }
    if (by->case_count)
        by->cases = cases;
    m->case_count += by->case_count;
    if (rule->ancestor)
        field->ancestor = handle_of(m, rule->ancestor);
}

/* The field of a row, which leads to forms. */
static void lead(form_maker *m, size_t row, haul_field *field)
{
    const haul_type *type = m->p->forms.at[m->number].type;
    const haul__row *at = &type->rows[row];
    const size_t inside =
        at->kind == HAUL_FIELD_EMBED ? haul__form_in(m->p, m->number, row) : SIZE_MAX;
    haul__field_of_row(type, at, field);
    field->target = NULL;
    if (inside != SIZE_MAX)
        field->target = &m->p->forms.at[inside].made;
    else if (at->type)
        field->target = handle_of(m, at->type);
    if (at->rule)
        lead_rule(m, at->rule, field);
    if (!at->rule || !at->rule->each)
        return;
    m->each[m->each_count] = at->rule->each->said;
    lead_rule(m, at->rule->each, &m->each[m->each_count]);
    field->each_pointer = &m->each[m->each_count++];
}

/* ---- What is said of fields. */

static void skip(haul_field *field)
{
    haul_field skipped;
    memset(&skipped, 0, sizeof skipped);
    skipped.name = field->name;
    skipped.kind = HAUL_FIELD_SKIP;
    skipped.offset = field->offset;
    skipped.bytes = field->bytes;
    skipped.when = field->when;
    *field = skipped;
}

static int is_pointer(const haul_field *field)
{
    return field->kind == HAUL_FIELD_POINTER || field->kind == HAUL_FIELD_RELATIVE;
}

static void act(haul_field *field, int action)
{
    if (action == HAUL_NONE || action == HAUL_SHALLOW) {
        skip(field);
    } else if (action == HAUL_ONLY_PRESENT) {
        field->ownership = HAUL_BORROWED;
        field->transfer = HAUL_COPY;
        field->pool = 0;
    } else {
        field->kind = field->kind == HAUL_FIELD_SKIP ? HAUL_FIELD_RAW : field->kind;
        field->transfer = (haul_transfer)action;
    }
}

/* Does what is not named include this field? Pointers travel unless they need not. */
static int is_in_rest(const haul__form *form, size_t row, const haul_field *field)
{
    const int rest = form->rest;
    size_t i;
    if (rest == HAUL__UNSAID || field->kind == HAUL_FIELD_SKIP)
        return 0;
    for (i = 0; i < form->passed.count; i++)
        if (form->passed.at[i] == row)
            return 0;
    if (is_pointer(field))
        return rest >= HAUL_ONLY_PRESENT;
    return rest < HAUL_ONLY_PRESENT || (rest == HAUL_NONE && field->kind != HAUL_FIELD_TAIL);
}

/* Integers and ends that the field reads lie in no gap. */
static int take_reads(form_maker *m, const haul__row *row)
{
    const haul_type *type = m->p->forms.at[m->number].type;
    const haul__rule *rule;
    const haul_count *count;
    unsigned i, k;
    for (i = 0; (count = haul__row_count(type, row, i)); i++)
        for (k = 0; k < count->fields; k++)
            if (!take(m, count->field[k].offset, count->field[k].bytes))
                return 0;
    for (rule = row->rule; rule; rule = rule->each) {
        const haul_when *when = &rule->said.when;
        const haul_switch *by = &rule->said.type_switch;
        if ((when->kind == HAUL_WHEN_KIND_FIELD || when->kind == HAUL_WHEN_KIND_NOT) &&
            !take(m, when->field.offset, when->field.bytes))
            return 0;
        if (by->kind == HAUL_SWITCH_KIND_SELF && !take(m, by->field.offset, by->field.bytes))
            return 0;
    }
    return 1;
}

/* The end of an array whose begin is skipped is no pointer any more. */
static int skip_end(form_maker *m, const haul__row *row)
{
    const haul_type *type = m->p->forms.at[m->number].type;
    const haul_count *count = haul__row_count(type, row, 0);
    haul_field end;
    if (!count || count->kind != HAUL_COUNT_KIND_UNTIL ||
        haul__find_row(type, count->field[0].offset))
        return 1;
    memset(&end, 0, sizeof end);
    end.name = row->name;
    end.offset = count->field[0].offset;
    end.bytes = sizeof(void *);
    skip(&end);
    return take(m, end.offset, end.bytes) && add(m, &end);
}

static haul_status refuse(const form_maker *m, const char *name, const char *text)
{
    haul__fail(m->p->error, HAUL_ERROR_ARGUMENT, "the policy %s: %s", m->p->name, text);
    haul__set_path(m->p->error->path, name);
    return HAUL_ERROR_ARGUMENT;
}

/* The field as a row says while its condition holds, and as it was while it does not. */
static haul_status split(form_maker *m, const haul__said *said, haul_field *field)
{
    haul_field as_it_was = *field;
    if (field->when.kind != HAUL_WHEN_KIND_ALWAYS)
        return refuse(m, field->name, "the field has a condition already");
    if (said->when.kind != HAUL_WHEN_KIND_FIELD && said->when.kind != HAUL_WHEN_KIND_NOT)
        return refuse(m, field->name, "the condition of a row for a field reads an integer");
    as_it_was.when = said->when;
    as_it_was.when.kind =
        said->when.kind == HAUL_WHEN_KIND_NOT ? HAUL_WHEN_KIND_FIELD : HAUL_WHEN_KIND_NOT;
    act(field, said->action);
    field->when = said->when;
    return take(m, said->when.field.offset, said->when.field.bytes) && add(m, &as_it_was)
               ? HAUL_OK
               : no_memory(m->p);
}

static haul_status add_row(form_maker *m, size_t row)
{
    const haul__form *form = &m->p->forms.at[m->number];
    const haul__row *at = &form->type->rows[row];
    const haul__said *said = haul__said_of(form, row);
    const int has_form =
        at->kind == HAUL_FIELD_EMBED && haul__form_in(m->p, m->number, row) != SIZE_MAX;
    haul_status status = HAUL_OK;
    haul_field field;
    lead(m, row, &field);
    if (said && said->when.kind != HAUL_WHEN_KIND_ALWAYS)
        status = has_form ? refuse(m, field.name,
                                   "a row with a condition ends at a struct in "
                                   "which other rows end")
                          : split(m, said, &field);
    else if (!has_form && (said || is_in_rest(form, row, &field)))
        act(&field, said ? said->action : form->rest);
    if (status != HAUL_OK)
        return status;
    if (!take(m, at->offset, at->bytes) || !add(m, &field) ||
        !(field.kind == HAUL_FIELD_SKIP && at->kind == HAUL_FIELD_POINTER ? skip_end(m, at)
                                                                          : take_reads(m, at)))
        return no_memory(m->p);
    return HAUL_OK;
}

/* ---- Bytes without a field. */

static haul_status add_plain(form_maker *m, const haul__said *said)
{
    haul_field field;
    memset(&field, 0, sizeof field);
    field.name = said->name;
    field.kind = HAUL_FIELD_RAW;
    field.offset = said->offset;
    field.bytes = said->bytes;
    field.when = said->when;
    act(&field, said->action);
    field.else_raw = said->when.kind != HAUL_WHEN_KIND_ALWAYS;
    if (said->when.kind == HAUL_WHEN_KIND_FIELD || said->when.kind == HAUL_WHEN_KIND_NOT)
        if (!take(m, said->when.field.offset, said->when.field.bytes))
            return no_memory(m->p);
    return take(m, said->offset, said->bytes) && add(m, &field) ? HAUL_OK : no_memory(m->p);
}

static int is_before(const void *a, const void *b)
{
    return ((const taken_bytes *)a)->begin < ((const taken_bytes *)b)->begin;
}

static haul_status add_gaps(form_maker *m)
{
    const haul__form *form = &m->p->forms.at[m->number];
    const size_t end = haul__fixed_bytes(form->type);
    size_t at = 0, i;
    if (form->rest == HAUL__UNSAID || form->rest == HAUL_COPY || form->rest == HAUL_SHALLOW ||
        form->rest == HAUL_ONLY_PRESENT)
        return HAUL_OK;
    haul__sort(m->taken.at, m->taken.count, sizeof *m->taken.at, is_before);
    for (i = 0; i <= m->taken.count && at < end; i++) {
        const size_t next = i < m->taken.count ? m->taken.at[i].begin : end;
        if (next > at) {
            haul_field gap;
            memset(&gap, 0, sizeof gap);
            gap.name = "(rest)";
            gap.kind = HAUL_FIELD_RAW;
            gap.offset = at;
            gap.bytes = (next < end ? next : end) - at;
            act(&gap, form->rest);
            if (!add(m, &gap))
                return no_memory(m->p);
        }
        if (i < m->taken.count && m->taken.at[i].end > at)
            at = m->taken.at[i].end;
    }
    return HAUL_OK;
}

/* ---- Types. */

static haul_status make_type(form_maker *m)
{
    haul__form *form = &m->p->forms.at[m->number];
    char name[HAUL_NAME_BYTES_MAX], place[32] = "";
    haul_status status;
    int length;
    if (form->around != SIZE_MAX)
        snprintf(place, sizeof place, "#%zu", m->number);
    length = snprintf(name, sizeof name, "%s:%s%s", form->type->name, m->p->name, place);
    if (length < 0 || (size_t)length >= sizeof name)
        return haul__fail(m->p->error, HAUL_ERROR_LIMIT,
                          "the name of type %s under the policy %s has more than %u bytes",
                          form->type->name, m->p->name, HAUL_NAME_BYTES_MAX - 1);
    status = haul__type_like(form->type, name, m->fields.at, m->fields.count, &form->made);
    return status == HAUL_ERROR_MEMORY ? no_memory(m->p) : status;
}

static haul_status make_form(form_maker *m)
{
    const haul__form *form = &m->p->forms.at[m->number];
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < form->type->row_count && status == HAUL_OK; i++)
        status = add_row(m, i);
    for (i = 0; i < form->said.count && status == HAUL_OK; i++)
        if (form->said.at[i].row == SIZE_MAX)
            status = add_plain(m, &form->said.at[i]);
    if (status == HAUL_OK)
        status = add_gaps(m);
    return status == HAUL_OK ? make_type(m) : status;
}

/* Counts what the members of pointers in arrays, and the cases, need. */
static void measure(form_maker *m, const haul_type *type)
{
    const haul__rule *rule;
    size_t i;
    for (i = 0; i < type->row_count; i++)
        for (rule = type->rows[i].rule; rule; rule = rule->each) {
            m->each_room++;
            m->case_room += rule->said.type_switch.case_count;
        }
}

haul_status haul__policy_fields(haul__policy *p)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < p->forms.count; i++)
        p->forms.at[i].made = p->forms.at[i].is_changed ? NULL : (haul_type *)p->forms.at[i].type;
    for (i = 0; i < p->forms.count && status == HAUL_OK; i++) {
        form_maker m;
        if (!p->forms.at[i].is_changed)
            continue;
        memset(&m, 0, sizeof m);
        m.p = p;
        m.number = i;
        measure(&m, p->forms.at[i].type);
        m.each = haul__allocate(p->allocator, m.each_room * sizeof *m.each, sizeof(void *));
        m.cases = haul__allocate(p->allocator, m.case_room * sizeof *m.cases, sizeof(void *));
        status =
            (m.each || !m.each_room) && (m.cases || !m.case_room) ? make_form(&m) : no_memory(p);
        haul__release(p->allocator, m.each, m.each_room * sizeof *m.each);
        haul__release(p->allocator, m.cases, m.case_room * sizeof *m.cases);
        HAUL__LIST_RELEASE(p->allocator, &m.fields);
        HAUL__LIST_RELEASE(p->allocator, &m.taken);
    }
    return status;
}
