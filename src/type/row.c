/* Rows: found by offset, and read with their rules.
 */
#include "base/sort.h"
#include "base/list.h"
#include "type/row.h"

/* --- one row ---------------------------------------------------------------------------------- */

static int is_conditional(const haul__rule *rule)
{
    return rule->said.when.kind != HAUL_WHEN_KIND_ALWAYS;
}

int haul__rule_is_trivial(const haul__rule *rule)
{
    const haul_field *said = &rule->said;
    return !is_conditional(rule) && said->ownership == HAUL_OWNED && !said->maybe_static &&
           !said->tag_bits && !said->integers_below && !said->integers_from && !said->base &&
           !said->base_fn && said->type_switch.kind == HAUL_SWITCH_KIND_NONE &&
           said->kind != HAUL_FIELD_RELATIVE && !said->ancestor && !said->end_of.bytes &&
           !said->section.rank;
}

int haul__row_is_ruled(const haul__row *row)
{
    if (row->kind == HAUL_FIELD_TAIL)
        return 1;
    if (!row->rule)
        return 0;
    return row->kind == HAUL_FIELD_POINTER ? !haul__rule_is_trivial(row->rule)
                                           : is_conditional(row->rule);
}

const haul_when *haul__row_when(const haul__row *row)
{
    return row->rule && is_conditional(row->rule) ? &row->rule->said.when : NULL;
}

int haul__is_same_arm(const haul_when *a, const haul_when *b)
{
    return a && b && a->kind == b->kind && a->mask == b->mask && a->low == b->low &&
           a->high == b->high && a->field.offset == b->field.offset &&
           a->field.bytes == b->field.bytes && a->function == b->function;
}

unsigned haul__exclusions_of(haul_transfer direction)
{
    switch (direction) {
    case HAUL_COPYIN:
        return HAUL__UNRETURNED;
    case HAUL_COPYOUT:
        return HAUL__UNSENT;
    case HAUL_CREATE:
        return HAUL__EXCLUDED;
    case HAUL_COPY:
        break;
    }
    return 0;
}

unsigned haul__row_exclusions(const haul__row *row)
{
    return row->rule ? haul__exclusions_of(row->rule->said.transfer) : 0;
}

const char *haul__transfer_name(const haul__row *row)
{
    return row->rule->said.transfer == HAUL_COPYOUT ? "copyout" : "create";
}

int haul__row_is_unsent(const haul__row *row)
{
    return (row->kind == HAUL_FIELD_RAW || row->kind == HAUL_FIELD_EMBED) &&
           (haul__row_exclusions(row) & HAUL__UNSENT);
}

size_t haul__row_unit(const haul__row *row)
{
    return row->type ? row->type->bytes : row->element_bytes;
}

const haul_count *haul__row_count(const haul_type *type, const haul__row *row, unsigned i)
{
    const haul_section *section = row->rule ? &row->rule->said.section : NULL;
    if (row->kind != HAUL_FIELD_POINTER && row->kind != HAUL_FIELD_TAIL)
        return NULL;
    if (i < row->levels)
        return &type->shapes[row->shape + i];
    i -= row->levels;
    if (!section || !section->dimensions || i / 2 >= section->rank)
        return NULL;
    return i % 2 ? &section->dimensions[i / 2].stride : &section->dimensions[i / 2].extent;
}

haul__row haul__each_row(const haul__row *row)
{
    haul__row each = *row;
    each.rule = row->rule->each;
    each.levels--;
    each.shape++;
    each.bytes = sizeof(void *);
    return each;
}

/* --- the rows of a type ----------------------------------------------------------------------- */

static int row_comes_before(const void *a, const void *b)
{
    const haul__row *x = a, *y = b;
    return x->offset != y->offset ? x->offset < y->offset : x->serial < y->serial;
}

void haul__type_sort_rows(haul_type *type)
{
    if (type->in_order)
        return; /* and nothing is written: a committed type may be shared */
    haul__sort(type->rows, type->row_count, sizeof *type->rows, row_comes_before);
    type->in_order = 1;
}

static int begins_before(const void *list, size_t i, uint64_t limit)
{
    return ((const haul__row *)list)[i].offset < limit;
}

int haul__embeds(const haul_type *type, size_t offset, const haul_type *wanted)
{
    while (type != wanted || offset != 0) {
        const haul__row *row = haul__find_row(type, offset);
        if (!row || row->kind != HAUL_FIELD_EMBED)
            return 0;
        offset = (offset - row->offset) % row->type->bytes;
        type = row->type;
    }
    return 1;
}

const haul__row *haul__last_row_before(const haul_type *type, size_t limit)
{
    const size_t i = haul__search(type->rows, 0, type->row_count, limit, begins_before);
    return i ? &type->rows[i - 1] : NULL;
}

const haul__row *haul__limited_row(const haul_type *type, const haul__row *limit)
{
    const size_t offset = limit->rule->said.end_of.offset;
    const haul__row *row = haul__last_row_before(type, offset + 1);
    for (; row && row->offset == offset; row = row > type->rows ? row - 1 : NULL)
        if (row != limit &&
            (!haul__row_when(row) || haul__is_same_arm(haul__row_when(row), haul__row_when(limit))))
            return row;
    return NULL;
}

const haul__row *haul__find_row(const haul_type *type, size_t offset)
{
    const haul__row *row = haul__last_row_before(type, offset + 1);
    return row && offset - row->offset < row->bytes ? row : NULL;
}

int haul__touches_pointer_row(const haul_type *type, size_t offset, size_t bytes)
{
    const haul__row *row = haul__last_row_before(type, offset + bytes);
    return row && row->pointers_end > offset;
}

int haul__touches_unsent_row(const haul_type *type, size_t offset, size_t bytes)
{
    const haul__row *row = haul__last_row_before(type, offset + bytes);
    return row && row->unsent_end > offset;
}

size_t haul__fixed_bytes(const haul_type *type)
{
    const haul__row *last = type->row_count > 0 ? &type->rows[type->row_count - 1] : NULL;
    return last && last->kind == HAUL_FIELD_TAIL && last->offset < type->bytes ? last->offset
                                                                               : type->bytes;
}

int haul__type_is_sized(const haul_type *type)
{
    return type->size != NULL || type->has_tail;
}
