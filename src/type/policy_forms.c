/* The forms of types under a policy, found and made.
 */
#include "type/policy.h"
#include "type/row.h"

int haul__has_fields(const haul_type *type)
{
    return type->combiner == HAUL_COMBINER_STRUCT_FIELDS || type->combiner == HAUL_COMBINER_POINTER;
}

size_t haul__form_of(haul__policy *p, const haul_type *type, size_t around, size_t row)
{
    haul__form *form;
    size_t i;
    for (i = 0; i < p->forms.count; i++)
        if (p->forms.at[i].type == type && p->forms.at[i].around == around &&
            p->forms.at[i].row == row)
            return i;
    form = HAUL__LIST_ADD(p->allocator, &p->forms);
    if (!form)
        return SIZE_MAX;
    memset(form, 0, sizeof *form);
    form->type = type;
    form->around = around;
    form->row = row;
    form->rest = HAUL__UNSAID;
    return p->forms.count - 1;
}

size_t haul__form_in(const haul__policy *p, size_t around, size_t row)
{
    size_t i;
    for (i = 0; i < p->forms.count; i++)
        if (p->forms.at[i].around == around && p->forms.at[i].row == row && around != SIZE_MAX)
            return i;
    return SIZE_MAX;
}

const haul_type *haul__type_behind(const haul_type *type, size_t row, size_t i)
{
    const haul__row *at = &type->rows[row];
    const haul__rule *rule;
    if (at->type && i-- == 0)
        return at->type;
    for (rule = at->rule; rule; i -= rule->said.type_switch.case_count, rule = rule->each)
        if (i < rule->said.type_switch.case_count)
            return rule->types[i];
    for (rule = at->rule; rule; rule = rule->each)
        if (rule->ancestor && i-- == 0)
            return rule->ancestor;
    return NULL;
}

size_t haul__form_behind(haul__policy *p, size_t form, size_t row, size_t i, int *is_short)
{
    const haul_type *type = p->forms.at[form].type, *behind = haul__type_behind(type, row, i);
    size_t found = SIZE_MAX;
    if (behind && i == 0 && type->rows[row].kind == HAUL_FIELD_EMBED)
        found = haul__form_in(p, form, row);
    if (behind && found == SIZE_MAX) {
        found = haul__form_of(p, behind, SIZE_MAX, SIZE_MAX);
        *is_short |= found == SIZE_MAX;
    }
    return found;
}

const haul__said *haul__said_of(const haul__form *form, size_t row)
{
    size_t i;
    for (i = 0; i < form->said.count; i++)
        if (form->said.at[i].row == row)
            return &form->said.at[i];
    return NULL;
}
