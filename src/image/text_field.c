/* A field from its line: put_row of type_text.c the other way round, word by word in its order.
 *
 * Nothing is looked up or checked here but the bounds of numbers: the commit does that. A mistake
 * is noted in the words, and what follows it is read as zeros, so there is one way out.
 */
#include "image/text_field.h"

#define CASES_MOST 4096u /* of a switch: they are searched one by one */

haul_type *const *haul__text_type(const haul__field_text *t, haul__words *w)
{
    const uint64_t number = haul__words_number(w, UINT32_MAX);
    if (number < t->type_count)
        return &t->types[number];
    w->fault = "it names a type that there is not"; /* the first: behind a fault numbers are 0 */
    return NULL;
}

static void read_integer(haul__words *w, haul_integer *to)
{
    to->offset = haul__words_size(w);
    haul__words_want(w, "/");
    to->bytes = (uint8_t)haul__words_number(w, 8);
    haul__words_want(w, "/");
    to->sign = (uint8_t)haul__words_number(w, 1);
}

/* 0: a function. */
static int read_count(haul__words *w, haul_count *count)
{
    if (haul__words_have(w, "function"))
        return 0;
    if (haul__words_have(w, "product*")) {
        count->kind = HAUL_COUNT_KIND_PRODUCT;
        count->times = haul__words_signed(w, 0);
        count->plus = haul__words_signed(w, 1);
        haul__words_want(w, "(");
        if (haul__words_have(w, ")"))
            return 1;
        do
            read_integer(w, &count->field[count->fields++]);
        while (count->fields < 3 && haul__words_have(w, ","));
        haul__words_want(w, ")");
    } else if (haul__words_have(w, "until@")) {
        count->kind = HAUL_COUNT_KIND_UNTIL;
        count->fields = 1;
        count->field[0].offset = haul__words_size(w);
        count->field[0].bytes = sizeof(void *);
    } else if (haul__words_have(w, "terminated(")) {
        count->kind = HAUL_COUNT_KIND_TERMINATED;
        count->plus = haul__words_signed(w, 0);
        haul__words_want(w, ")");
    } else {
        haul__words_want(w, "1");
        count->kind = HAUL_COUNT_KIND_ONE;
    }
    return 1;
}

/* These answer 0 for a function, too. */
static int read_when(haul__words *w, haul_when *when)
{
    when->kind = HAUL_WHEN_KIND_FIELD;
    if (haul__words_have(w, " when-not="))
        when->kind = HAUL_WHEN_KIND_NOT;
    else if (!haul__words_have(w, " when="))
        when->kind = HAUL_WHEN_KIND_ALWAYS;
    if (when->kind == HAUL_WHEN_KIND_ALWAYS)
        return 1;
    if (haul__words_have(w, "function"))
        return 0;
    read_integer(w, &when->field);
    haul__words_want(w, "&");
    when->mask = (int64_t)haul__words_hexadecimal(w, UINT64_MAX);
    haul__words_want(w, ":");
    when->low = haul__words_signed(w, 0);
    haul__words_want(w, "..");
    when->high = haul__words_signed(w, 0);
    return 1;
}

/* `list`: of the cases. */
static int read_switch(haul__field_text *t, haul__words *w, haul_switch *choice, unsigned list)
{
    if (!haul__words_have(w, " switch="))
        return 1;
    if (haul__words_have(w, "function"))
        return 0;
    choice->kind = HAUL_SWITCH_KIND_TARGET;
    if (haul__words_have(w, "self@"))
        choice->kind = HAUL_SWITCH_KIND_SELF;
    else
        haul__words_want(w, "target@");
    read_integer(w, &choice->field);
    t->cases[list].count = 0;
    while (t->cases[list].count < CASES_MOST && haul__words_have(w, ",")) {
        haul_case *added = HAUL__LIST_ADD(t->allocator, &t->cases[list]);
        if (!added) {
            t->is_short = 1;
            return 1;
        }
        added->value = haul__words_signed(w, 0);
        haul__words_want(w, ":");
        added->type = haul__text_type(t, w);
        added->base = haul__words_signed(w, 1);
    }
    choice->cases = t->cases[list].at;
    choice->case_count = t->cases[list].count;
    choice->case_bytes = sizeof(haul_case);
    return 1;
}

/* What put_rule writes, in its order. A named ancestor is there for functions alone. */
static int read_rule(haul__field_text *t, haul__words *w, haul_field *field, unsigned list)
{
    if (!read_when(w, &field->when) || !read_switch(t, w, &field->type_switch, list))
        return 0;
    if (haul__words_have(w, " else-raw"))
        field->else_raw = 1;
    if (haul__words_have(w, " ownership="))
        field->ownership = (haul_ownership)haul__words_number(w, HAUL_UNLESS_OWNED);
    if (haul__words_have(w, " packed"))
        field->packed = 1;
    if (haul__words_have(w, " tags="))
        field->tag_bits = (uintptr_t)haul__words_hexadecimal(w, UINTPTR_MAX);
    if (haul__words_have(w, " integers=")) {
        field->integers_below = (uintptr_t)haul__words_hexadecimal(w, UINTPTR_MAX);
        haul__words_want(w, ",");
        field->integers_from = (uintptr_t)haul__words_hexadecimal(w, UINTPTR_MAX);
    }
    if (haul__words_have(w, " base="))
        field->base = haul__words_signed(w, 0);
    if (haul__words_have(w, "+function"))
        return 0;
    if (haul__words_have(w, " transfer="))
        field->transfer = (haul_transfer)haul__words_number(w, HAUL_CREATE);
    if (haul__words_have(w, " pool"))
        field->pool = 1;
    if (haul__words_have(w, " end-of@")) {
        field->end_of.offset = haul__words_size(w);
        field->end_of.bytes = sizeof(void *);
    }
    if (haul__words_have(w, " ancestor=parent"))
        field->ancestor = HAUL_PARENT;
    return !haul__words_have(w, " ancestor=");
}

static int read_members(haul__field_text *t, haul__words *w)
{
    haul_count *const counts[] = { &t->field.count, &t->field.count2, &t->field.count3 };
    unsigned i;
    for (i = 0; i < 3 && haul__words_have(w, " count="); i++)
        if (!read_count(w, counts[i]))
            return 0;
    if (!read_rule(t, w, &t->field, 0))
        return 0;
    if (!haul__words_have(w, " each:"))
        return 1;
    t->field.each_pointer = &t->each;
    return read_rule(t, w, &t->each, 1);
}

int haul__text_field(haul__field_text *t, haul__words *w)
{
    haul_field *field = &t->field;
    int has_no_function;
    memset(&t->field, 0, sizeof t->field);
    memset(&t->each, 0, sizeof t->each);
    haul__words_name(w, t->name, sizeof t->name);
    field->name = t->name;
    haul__words_want(w, " kind=");
    field->kind = (int)haul__words_number(w, HAUL_FIELD_RELATIVE);
    haul__words_want(w, " at=");
    field->offset = haul__words_size(w);
    haul__words_want(w, " bytes=");
    field->bytes = haul__words_size(w);
    haul__words_want(w, " element=");
    field->element_bytes = haul__words_size(w);
    haul__words_want(w, " levels=");
    field->levels = (unsigned)haul__words_number(w, UINT32_MAX);
    if (haul__words_have(w, " target="))
        field->target = haul__text_type(t, w);
    if (haul__words_have(w, " unaligned"))
        field->packed = 1;
    has_no_function = read_members(t, w) || w->fault;
    if (has_no_function)
        haul__words_end(w);
    return has_no_function;
}
