#include "images/random_types.h"

#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/types.h"

enum { TRIES = 12 };

/* Mostly in the first word, where few other rows lie; or the last bytes, which may not travel. */
static haul_integer draw_number(drawing *d, const drawn_type *of)
{
    const uint8_t bytes = (uint8_t)(1u << below(d, 4));
    haul_integer number;
    size_t room;
    memset(&number, 0, sizeof number);
    number.bytes = bytes > of->bytes ? 1 : bytes;
    number.sign = (uint8_t)below(d, 2);
    room = number.bytes > WORD || one_in(d, 3) ? of->bytes : WORD;
    if (one_in(d, 2))
        number.offset = below(d, room - number.bytes + 1);
    if (one_in(d, 10))
        number.offset = of->bytes - number.bytes;
    return number;
}

static haul_count draw_count(drawing *d, const drawn_type *of)
{
    const size_t kind = below(d, 8);
    haul_count count;
    memset(&count, 0, sizeof count);
    if (kind == 0)
        count.kind = HAUL_COUNT_KIND_TERMINATED;
    if (kind == 0 || kind > 3)
        return count;
    count.kind = HAUL_COUNT_KIND_PRODUCT;
    count.fields = kind == 1 ? 0 : 1 + (unsigned)one_in(d, 6);
    count.field[0] = draw_number(d, of);
    count.field[1] = draw_number(d, of);
    count.times = 1;
    count.plus = kind == 1 ? (int64_t)below(d, 4) : one_in(d, 3) ? (int64_t)below(d, 3) - 1 : 0;
    return count;
}

/* Arms of one union read one number, that of a row before. */
static haul_when draw_when(drawing *d, const drawn_type *of)
{
    const haul_field *before = of->row_count ? &of->rows[below(d, of->row_count)] : NULL;
    haul_when when;
    memset(&when, 0, sizeof when);
    when.kind = one_in(d, 4) ? HAUL_WHEN_KIND_NOT : HAUL_WHEN_KIND_FIELD;
    when.field =
        before && before->when.kind && !one_in(d, 3) ? before->when.field : draw_number(d, of);
    when.mask = one_in(d, 4) ? (int64_t)1 << below(d, 3) : -1;
    when.low = (int64_t)below(d, 4);
    when.high = when.low + (one_in(d, 2) ? (int64_t)below(d, 3) : 0);
    return when;
}

/* The number may lie where the struct ends, or one of the target's types. */
static haul_switch draw_switch(drawing *d, const drawn_type *of, haul_case *cases)
{
    const drawn_type *last = of;
    haul_switch by;
    size_t i;
    memset(&by, 0, sizeof by);
    by.kind = one_in(d, 2) ? HAUL_SWITCH_KIND_SELF : HAUL_SWITCH_KIND_TARGET;
    by.field = draw_number(d, of);
    by.cases = cases;
    by.case_count = 1 + below(d, CASES);
    by.case_bytes = sizeof *cases;
    memset(cases, 0, CASES * sizeof *cases);
    for (i = 0; i < by.case_count; i++) {
        cases[i].value = (int64_t)below(d, 5);
        last = &d->types[below(d, TYPES)];
        cases[i].type = &last->type;
    }
    if (by.kind == HAUL_SWITCH_KIND_SELF)
        last = of;
    if (one_in(d, 3) && last->bytes >= by.field.bytes) {
        by.field.offset = last->bytes - by.field.bytes;
        cases[0].value = 0; /* as what does not travel */
    }
    return by;
}

static void draw_bytes(drawing *d, const drawn_type *of, haul_field *row)
{
    row->kind = one_in(d, 8) ? HAUL_FIELD_SKIP : HAUL_FIELD_RAW;
    row->bytes = (size_t)1 << below(d, 5);
    row->offset += one_in(d, 2) ? below(d, WORD) : 0;
    if (row->bytes > of->bytes - row->offset)
        row->bytes = one_in(d, 2) ? 1 : of->bytes - row->offset;
    if (row->kind == HAUL_FIELD_SKIP && one_in(d, 2)) /* then the end does not travel */
        row->bytes = of->bytes - row->offset;
    row->transfer = one_in(d, 20) ? (haul_transfer)below(d, 4) : HAUL_COPY;
}

static void draw_pointer(drawing *d, const drawn_type *of, haul_field *row, haul_case *cases)
{
    row->kind = HAUL_FIELD_POINTER;
    row->bytes = one_in(d, 8) && row->offset + 2 * WORD <= of->bytes ? 2 * WORD : WORD;
    row->levels = 1 + (unsigned)one_in(d, 6);
    if (one_in(d, 6))
        row->element_bytes = (size_t)1 << below(d, 4);
    else if (one_in(d, 3))
        row->type_switch = draw_switch(d, of, cases);
    else
        row->target = &d->types[below(d, TYPES)].type;
    if (one_in(d, 2))
        row->count = draw_count(d, of);
    if (row->levels == 2 && one_in(d, 2))
        row->count2 = draw_count(d, of);
    if (!row->type_switch.kind && one_in(d, 3))
        row->ownership = HAUL_BORROWED;
    if (one_in(d, 4))
        row->tag_bits = one_in(d, 6) ? below(d, 32) : below(d, WORD);
    row->transfer = one_in(d, 25) ? (haul_transfer)below(d, 4) : HAUL_COPY;
}

static void draw_row(drawing *d, drawn_type *of)
{
    haul_field *row = &of->rows[of->row_count];
    const size_t words = of->bytes / WORD;
    memset(row, 0, sizeof *row);
    snprintf(of->names[of->row_count], sizeof of->names[0], "f%u", (unsigned)of->row_count % 10);
    row->name = of->names[of->row_count];
    row->offset = words > 1 && !one_in(d, 10) ? WORD * (1 + below(d, words - 1)) : 0;
    if (one_in(d, 3))
        draw_bytes(d, of, row);
    else
        draw_pointer(d, of, row, of->cases[of->row_count]);
    if (one_in(d, 4))
        return;
    row->when = draw_when(d, of);
    row->else_raw = one_in(d, 4);
}

static haul_status build_types(drawing *d)
{
    static const char *const names[TYPES] = { "a", "b", "c" };
    haul_status status = HAUL_OK;
    haul_struct what;
    size_t i;
    memset(&what, 0, sizeof what);
    what.field_bytes = sizeof(haul_field);
    for (i = 0; i < TYPES; i++) {
        haul_type_free(&d->types[i].type);
        what.name = names[i];
        what.bytes = d->types[i].bytes;
        what.alignment = d->types[i].alignment;
        what.fields = d->types[i].rows;
        what.field_count = d->types[i].row_count;
        d->types[i].type = type_new(&what);
    }
    for (i = 0; i < TYPES && status == HAUL_OK; i++)
        status = haul_type_commit(d->types[i].type);
    return status;
}

/* Some have more words than the scan judges, some end within a word. */
static void draw_size(drawing *d, drawn_type *of)
{
    of->bytes = WORD * (1 + (one_in(d, 15) ? 40 + below(d, 26) : below(d, one_in(d, 3) ? 9 : 5)));
    of->alignment = one_in(d, 10) ? GRANULE << below(d, 3) : 0;
    if (of->alignment)
        of->bytes = (of->bytes + of->alignment - 1) / of->alignment * of->alignment;
    else if (one_in(d, 12))
        of->bytes += below(d, WORD);
    of->row_count = 0;
}

/* Skipped bytes at the end. */
static void draw_end(drawing *d, drawn_type *of)
{
    haul_field *row = &of->rows[of->row_count++];
    memset(row, 0, sizeof *row);
    row->name = "end";
    row->kind = HAUL_FIELD_SKIP;
    row->bytes = 1 + below(d, of->bytes - 1 < 3 * WORD ? of->bytes - 1 : 3 * WORD);
    row->offset = of->bytes - row->bytes;
}

static void draw_crowd(drawing *d)
{
    drawn_type *a = &d->types[0], *b = &d->types[1];
    haul_switch by;
    a->bytes = sizeof(crowded);
    b->bytes = GRANULE;
    a->alignment = b->alignment = b->row_count = 0;
    by = draw_switch(d, b, a->cases[0]);
    by.kind = HAUL_SWITCH_KIND_TARGET;
    by.case_count = 1;
    a->cases[0][0].type = &b->type;
    a->rows[0] = (haul_field)HAUL_ADDRESS(crowded, one, .type_switch = by);
    a->rows[1] = (haul_field)HAUL_ADDRESS(crowded, some, .target = &b->type,
                                          .count = HAUL_COUNT(crowded, count));
    a->row_count = 2;
}

void drawing_of_types(drawing *d)
{
    size_t i, tries, most;
    for (i = 0; i < TYPES; i++)
        draw_size(d, &d->types[i]);
    for (i = 0; i < TYPES; i++)
        if (one_in(d, 5))
            draw_end(d, &d->types[i]);
    d->is_crowd = one_in(d, 40);
    if (d->is_crowd)
        draw_crowd(d);
    for (i = d->is_crowd ? 2 : 0; i < TYPES; i++) {
        drawn_type *of = &d->types[i];
        most = below(d, ROWS + 1);
        for (tries = 0; tries < TRIES && of->row_count < most; tries++) {
            draw_row(d, of);
            of->row_count++;
            if (build_types(d) != HAUL_OK)
                of->row_count--;
        }
    }
    CHECK_STATUS(build_types(d), HAUL_OK);
}

const drawn_type *drawing_type_of(const drawing *d, haul_type *const *handle)
{
    size_t i = 0;
    while (i + 1 < TYPES && &d->types[i].type != handle)
        i++;
    return &d->types[i];
}
