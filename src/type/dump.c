/* Printing a type as a table.
 *
 * The lines are made twice: first to measure the columns, then to print. Bytes without a row (plain
 * fields and padding) are printed as "(bytes)": they travel. Each line is one write. For a
 * committed type nothing is allocated.
 */
#include <inttypes.h>
#include <stdio.h>

#include "type/commit.h"
#include "type/row.h"

enum { COLUMNS = 6, CELL = 1024, BLOCKS_SHOWN = 32 };

typedef struct type_line {
    char cell[COLUMNS][CELL]; /* offset, size, field, what, target, shape */
} type_line;

typedef struct type_table {
    const haul_type *type;
    const haul_file *file;
    size_t width[COLUMNS];
    int measuring;
} type_table;

static haul_status put_text(const type_table *t, const char *text)
{
    return t->file->write(t->file->user, text, strlen(text)) == HAUL_OK ? HAUL_OK : HAUL_ERROR_FILE;
}

/* Numbers are aligned right, words left; no line ends in blanks. */
static haul_status put_line(type_table *t, const type_line *l)
{
    char text[COLUMNS * (CELL + 2) + 2];
    size_t at = 0, end = 0, i, length, gap;
    for (i = 0; i < COLUMNS; i++) {
        length = strlen(l->cell[i]);
        if (t->measuring) {
            t->width[i] = length > t->width[i] ? length : t->width[i];
            continue;
        }
        gap = t->width[i] - length;
        memset(text + at, ' ', gap + length + 2);
        memcpy(text + at + (i < 2 ? gap : 0), l->cell[i], length);
        end = length > 0 ? at + (i < 2 ? gap : 0) + length : end;
        at += t->width[i] + 2;
    }
    if (t->measuring)
        return HAUL_OK;
    text[end] = '\n';
    text[end + 1] = '\0';
    return put_text(t, text);
}

static void append(char *cell, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void append(char *cell, const char *format, ...)
{
    size_t length = strlen(cell);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cell + length, CELL - length, format, arguments);
    va_end(arguments);
}

/* The row of a number that `reader` reads: of several arms, the one with the reader's condition.
 * Without such an arm the number is none of these rows, and has its offset for a name. */
static void append_field(char *cell, const haul_type *type, const haul_field *reader, size_t offset)
{
    const haul__row *row = NULL;
    size_t i;
    for (i = 0; i < type->row_count && type->rows[i].offset <= offset && !row; i++) {
        const haul_when *when = haul__row_when(&type->rows[i]);
        if (type->rows[i].offset == offset &&
            (!when || haul__is_same_arm(when, reader ? &reader->when : NULL)))
            row = &type->rows[i];
    }
    if (row)
        append(cell, "%s", row->name);
    else
        append(cell, "@%zu", offset);
}

static void append_product(char *cell, const haul_type *type, const haul_field *reader,
                           const haul_count *shape)
{
    unsigned i;
    if (shape->fields == 0) {
        append(cell, "%" PRId64, shape->plus);
        return;
    }
    if (shape->times != 1)
        append(cell, "%" PRId64 " * ", shape->times);
    for (i = 0; i < shape->fields && i < 3; i++) {
        append(cell, "%s", i > 0 ? " * " : "");
        append_field(cell, type, reader, shape->field[i].offset);
    }
    if (shape->plus > 0)
        append(cell, " + %" PRId64, shape->plus);
    else if (shape->plus < 0)
        append(cell, " - %" PRIu64, (uint64_t)0 - (uint64_t)shape->plus);
}

static void append_count(char *cell, const haul_type *type, const haul_field *reader,
                         const haul_count *shape, int of_pointers)
{
    switch (shape->kind) {
    case HAUL_COUNT_KIND_ONE:
        append(cell, "1");
        return;
    case HAUL_COUNT_KIND_PRODUCT:
        append_product(cell, type, reader, shape);
        return;
    case HAUL_COUNT_KIND_UNTIL:
        append(cell, "until ");
        append_field(cell, type, reader, shape->field[0].offset);
        return;
    case HAUL_COUNT_KIND_TERMINATED:
        if (shape->plus == 0)
            append(cell, "%s", of_pointers ? "NULL" : "NUL");
        else
            append(cell, "until %" PRId64, shape->plus);
        return;
    case HAUL_COUNT_KIND_FUNCTION:
        append(cell, "function");
        return;
    }
}

/* "[rows by ld][columns]": extents, and strides other than one element. */
static void append_section(char *cell, const haul_type *type, const haul_field *field)
{
    size_t i;
    for (i = 0; i < field->section.rank; i++) {
        const haul_dimension *d = &field->section.dimensions[i];
        const int is_one = d->unit == 0 && d->stride.fields == 0 && d->stride.plus == 1 &&
                           d->stride.kind != HAUL_COUNT_KIND_FUNCTION;
        append(cell, "[");
        append_count(cell, type, field, &d->extent, 0);
        if (!is_one) {
            append(cell, " by ");
            append_count(cell, type, field, &d->stride, 0);
            if (d->unit)
                append(cell, d->unit == 1 ? " bytes" : " times %zu bytes", d->unit);
        }
        append(cell, "]");
    }
}

static void append_when(char *cell, const haul_type *type, const haul_when *when)
{
    append(cell, "%s", *cell ? "; if " : "if ");
    if (when->kind == HAUL_WHEN_KIND_FUNCTION) {
        append(cell, "function");
        return;
    }
    append_field(cell, type, NULL, when->field.offset);
    if (when->mask != -1)
        append(cell, " & 0x%" PRIx64, (uint64_t)when->mask);
    append(cell, "%s ", when->kind == HAUL_WHEN_KIND_NOT ? " not" : "");
    if (when->low == when->high)
        append(cell, "%" PRId64, when->low);
    else
        append(cell, "%" PRId64 "..%" PRId64, when->low, when->high);
}

/* The optional members that are set. */
static void append_members(char *cell, const haul_type *type, const haul_field *field)
{
    static const char *const transfers[] = { "copy", "copyin", "copyout", "create" };
    if (field->when.kind != HAUL_WHEN_KIND_ALWAYS)
        append_when(cell, type, &field->when);
    if (field->else_raw)
        append(cell, ", else raw");
    if (field->pool)
        append(cell, "; a pool");
    if (field->end_of.bytes) {
        append(cell, "; end of ");
        append_field(cell, type, field, field->end_of.offset);
    }
    if (field->ownership == HAUL_BORROWED)
        append(cell, "; borrowed");
    if (field->ownership == HAUL_EXTERNAL)
        append(cell, "; external");
    if (field->ownership == HAUL_UNLESS_OWNED)
        append(cell, "; unless owned");
    if (field->maybe_static)
        append(cell, "; maybe static");
    if (field->tag_bits)
        append(cell, "; tag bits 0x%zx", (size_t)field->tag_bits);
    if (field->integers_below || field->integers_from)
        append(cell, "; or an integer");
    if (field->base || field->base_fn)
        append(cell, "; base %" PRId64 "%s", field->base, field->base_fn ? " + function" : "");
    if (field->type_switch.kind != HAUL_SWITCH_KIND_NONE)
        append(cell, "; one of %zu types", field->type_switch.case_count);
    if (field->transfer > HAUL_COPY && field->transfer <= HAUL_CREATE)
        append(cell, "%s%s", *cell ? "; " : "", transfers[field->transfer]);
    if (field->ancestor)
        append(cell, "; with its %s", field->ancestor == HAUL_PARENT ? "parent" : "ancestor");
}

static void append_target(char *cell, const haul_field_info *field)
{
    const haul_field *members = field->members;
    unsigned level;
    if (members && members->each_pointer)
        members = members->each_pointer;
    if (!field->target && members && members->type_switch.kind != HAUL_SWITCH_KIND_NONE)
        return;
    if (field->target)
        append(cell, "%s", field->target->name);
    else
        append(cell, "%zu %s", field->element_bytes, field->element_bytes == 1 ? "byte" : "bytes");
    for (level = 1; level < field->levels; level++)
        append(cell, "%s*", level == 1 ? " " : "");
}

static haul_status put_gap(type_table *t, size_t offset, size_t bytes)
{
    type_line l;
    memset(&l, 0, sizeof l);
    append(l.cell[0], "%zu", offset);
    append(l.cell[1], "%zu", bytes);
    append(l.cell[2], "(bytes)");
    return put_line(t, &l);
}

static haul_status put_field(type_table *t, const haul_field_info *field)
{
    static const char *const kinds[] = {
        "?", "pointer", "embed", "skip", "raw", "tail", "distance"
    };
    const unsigned kind = field->kind <= HAUL_FIELD_RELATIVE ? (unsigned)field->kind : 0;
    const haul_field *members = field->members;
    unsigned level;
    type_line l;
    memset(&l, 0, sizeof l);
    append(l.cell[0], "%zu", field->offset);
    append(l.cell[1], "%zu", field->bytes);
    append(l.cell[2], "%s", field->name);
    append(l.cell[3], "%s", t->type->block_count > 0 ? "block" : kinds[kind]);
    if (field->count != 1)
        append(l.cell[3], "[%zu]", field->count);
    if (field->kind != HAUL_FIELD_SKIP && field->kind != HAUL_FIELD_RAW)
        append_target(l.cell[4], field);
    if (members && members->section.rank)
        append_section(l.cell[5], t->type, members);
    for (level = 0; !(members && members->section.rank) && level < field->levels; level++) {
        append(l.cell[5], "%s", level > 0 ? ", " : "");
        append_count(l.cell[5], t->type, members, &field->counts[level], level + 1 < field->levels);
    }
    if (members)
        append_members(l.cell[5], t->type, members);
    if (members && members->each_pointer) {
        append(l.cell[5], "; each");
        append_members(l.cell[5], t->type, members->each_pointer);
    }
    return put_line(t, &l);
}

static haul_status put_rows(type_table *t)
{
    haul_status status = HAUL_OK;
    haul_field_info field;
    size_t i, at = 0;
    for (i = 0; i < t->type->row_count && status == HAUL_OK; i++) {
        haul_type_get_field(t->type, i, &field);
        if (field.offset > at)
            status = put_gap(t, at, field.offset - at);
        if (status == HAUL_OK)
            status = put_field(t, &field);
        at = field.offset + field.bytes > at ? field.offset + field.bytes : at;
        if (field.kind == HAUL_FIELD_TAIL)
            at = t->type->bytes;
    }
    if (status == HAUL_OK && t->type->bytes > at)
        status = put_gap(t, at, t->type->bytes - at);
    return status;
}

static haul_status put_blocks(type_table *t)
{
    haul_status status = HAUL_OK;
    size_t i, count = haul_type_field_count(t->type);
    haul_field_info field;
    char text[64];
    for (i = 0; i < count && i < BLOCKS_SHOWN && status == HAUL_OK; i++) {
        haul_type_get_field(t->type, i, &field);
        status = put_field(t, &field);
    }
    if (status != HAUL_OK || count <= BLOCKS_SHOWN || t->measuring)
        return status;
    snprintf(text, sizeof text, "... and %zu more blocks\n", count - BLOCKS_SHOWN);
    return put_text(t, text);
}

static haul_status put_table(type_table *t)
{
    static const char *const titles[COLUMNS] = { "offset", "size",   "field",
                                                 "what",   "target", "count" };
    haul_status status;
    type_line l;
    size_t i;
    memset(&l, 0, sizeof l);
    for (i = 0; i < COLUMNS; i++)
        append(l.cell[i], "%s", titles[i]);
    status = put_line(t, &l);
    if (status == HAUL_OK)
        status = t->type->block_count > 0 ? put_blocks(t) : put_rows(t);
    return status;
}

haul_status haul_type_dump(const haul_type *type, const haul_file *file)
{
    type_table t;
    haul__walk walk;
    size_t pointers;
    haul_status status = HAUL_OK;
    char text[HAUL_NAME_BYTES_MAX + 96];
    if (!haul__type_is_valid(type) || !file || !file->write)
        return HAUL_ERROR_ARGUMENT;
    walk = type->walk;
    pointers = type->pointers;
    if (!type->committed)
        status = haul__type_preview((haul_type *)type, &walk, &pointers);
    if (status != HAUL_OK)
        return status;
    memset(&t, 0, sizeof t);
    t.type = type;
    t.file = file;
    t.measuring = 1;
    put_table(&t);
    t.measuring = 0;
    snprintf(text, sizeof text, "%s: %zu %s%s%s\n", type->name, type->bytes,
             type->bytes == 1 ? "byte" : "bytes",
             !type->depends  ? ""
             : type->rebuild ? ", rebuilt after relocation"
                             : ", cannot be relocated",
             type->committed ? "" : ", open");
    status = put_text(&t, text);
    if (status == HAUL_OK)
        status = put_table(&t);
    snprintf(text, sizeof text,
             "extent %zu, of which %zu bytes travel; alignment %zu; %zu pointer%s\n", walk.extent,
             walk.payload, walk.alignment, pointers, pointers == 1 ? "" : "s");
    if (status == HAUL_OK)
        status = put_text(&t, text);
    return status == HAUL_OK ? HAUL_OK : HAUL_ERROR_FILE;
}
