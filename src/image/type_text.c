/* Types as text.
 *
 * The types wait in a list, each is written once, and adds those that it leads to. An index finds a
 * type's number by its address: text may come from an image (type_make.c), and have many types. A
 * name may have any bytes; those that would end a word, and the backslash, are written as \xNN.
 */
#include "image/type_text.h"

#include "type/record.h"
#include "type/row.h"

/* ---- Words and numbers. */

static void put_bytes(haul__type_text *t, const char *bytes, size_t count)
{
    if (count == 0)
        return; /* there may be no text yet */
    if (count > t->text.capacity - t->text.count &&
        !haul__grow(t->allocator, &t->text.at, &t->text.capacity, t->text.count + count, 1)) {
        t->is_short = 1;
        return;
    }
    memcpy(t->text.at + t->text.count, bytes, count);
    t->text.count += count;
}

static void put(haul__type_text *t, const char *words)
{
    put_bytes(t, words, strlen(words));
}

static void put_digits(haul__type_text *t, uint64_t value, unsigned base)
{
    char digits[20]; /* of 64 bits in decimals */
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[value % base];
    while (value /= base);
    put_bytes(t, digits + at, sizeof digits - at);
}

/* The words, and a number behind them. */
static void put_number(haul__type_text *t, const char *words, uint64_t value)
{
    put(t, words);
    put_digits(t, value, 10);
}

static void put_hexadecimal(haul__type_text *t, const char *words, uint64_t value)
{
    put(t, words);
    put_digits(t, value, 16);
}

static void put_signed(haul__type_text *t, const char *words, int64_t value)
{
    put(t, words);
    put(t, value < 0 ? "-" : "");
    put_digits(t, value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value, 10);
}

/* With its sign, "+" or "-". */
static void put_plus(haul__type_text *t, int64_t value)
{
    put_signed(t, value < 0 ? "" : "+", value);
}

static int ends_word(unsigned char c)
{
    return c <= ' ' || c == '\\' || c == 0x7f;
}

static void put_name(haul__type_text *t, const char *name)
{
    size_t plain;
    for (;; name += plain + 1) {
        for (plain = 0; name[plain] && !ends_word((unsigned char)name[plain]); plain++)
            continue;
        put_bytes(t, name, plain);
        if (!name[plain])
            return;
        put_hexadecimal(t, (unsigned char)name[plain] < 16 ? "\\x0" : "\\x",
                        (unsigned char)name[plain]);
    }
}

static int is_type(const void *list, size_t number, const void *key)
{
    const haul_type *const *types = list;
    return types[number] == key;
}

static uint64_t hash_of_type(const haul_type *type)
{
    return haul__hash((uintptr_t)type / sizeof(void *));
}

uint32_t haul__type_text_number(const haul__type_text *text, const haul_type *type)
{
    return (uint32_t)haul__index_find(&text->index, hash_of_type(type), text->types.at, type,
                                      is_type);
}

/* The same; a type that is new joins the list. */
static uint32_t number_of(haul__type_text *t, const haul_type *type)
{
    const uint32_t number = haul__type_text_number(t, type);
    if (number != UINT32_MAX)
        return number;
    if (!HAUL__LIST_ROOM(t->allocator, &t->types) ||
        !haul__index_add(t->allocator, &t->index, hash_of_type(type), t->types.count)) {
        t->is_short = 1;
        return 0;
    }
    t->types.at[t->types.count++] = type;
    return (uint32_t)t->types.count - 1;
}

/* A field that lies in the padding alone leaves the size as it was, and adds a row. */
const haul_image_growth *haul__type_text_growth(const haul__type_text *text, uint32_t number)
{
    const haul__stored_types *stored = text->stored;
    const haul_type *was, *is;
    size_t i;
    if (!stored || number >= stored->count || number >= text->types.count)
        return NULL;
    was = stored->at[number];
    is = text->types.at[number];
    for (i = 0; i < stored->growth_count; i++)
        if (stored->growths[i].stored_bytes == was->bytes &&
            strcmp(stored->growths[i].type, is->name) == 0 &&
            (was->bytes != is->bytes || was->row_count != is->row_count))
            return &stored->growths[i];
    return NULL;
}

/* ---- Fields. */

typedef struct text_line {
    haul__type_text *t;
    const haul_type *type;
    const char *name;
    const haul_image_growth *growth; /* of the type, or NULL */
} text_line;

static void note_function(const text_line *l)
{
    if (l->t->called_type)
        return;
    l->t->called_type = l->type;
    l->t->called_field = l->name;
}

static void refuse(const text_line *l, haul__unfit why)
{
    if (l->t->refused_type)
        return;
    l->t->refused_type = l->type;
    l->t->refused_field = l->name;
    l->t->unfit = why;
}

static void put_integer(const text_line *l, const haul_integer *place)
{
    put_number(l->t, "", place->offset);
    put_number(l->t, "/", place->bytes);
    put_number(l->t, "/", place->sign);
}

static void put_count(const text_line *l, const haul_count *count)
{
    unsigned i;
    switch (count->kind) {
    case HAUL_COUNT_KIND_ONE:
        put(l->t, " count=1");
        return;
    case HAUL_COUNT_KIND_PRODUCT:
        put_signed(l->t, " count=product*", count->fields ? count->times : 0);
        put_plus(l->t, count->plus);
        put(l->t, "(");
        for (i = 0; i < count->fields; i++) {
            put(l->t, i > 0 ? "," : "");
            put_integer(l, &count->field[i]);
        }
        put(l->t, ")");
        return;
    case HAUL_COUNT_KIND_UNTIL:
        put_number(l->t, " count=until@", count->field[0].offset);
        return;
    case HAUL_COUNT_KIND_TERMINATED:
        put_signed(l->t, " count=terminated(", count->plus);
        put(l->t, ")");
        return;
    default:
        put(l->t, " count=function");
        note_function(l);
    }
}

static void put_when(const text_line *l, const haul_when *when)
{
    if (when->kind == HAUL_WHEN_KIND_ALWAYS)
        return;
    if (when->kind == HAUL_WHEN_KIND_FUNCTION) {
        put(l->t, " when=function");
        note_function(l);
        return;
    }
    put(l->t, when->kind == HAUL_WHEN_KIND_NOT ? " when-not=" : " when=");
    put_integer(l, &when->field);
    put_hexadecimal(l->t, "&", (uint64_t)when->mask);
    put_signed(l->t, ":", when->low);
    put_signed(l->t, "..", when->high);
}

static void put_switch(const text_line *l, const haul__rule *rule)
{
    const haul_switch *choice = &rule->said.type_switch;
    size_t i;
    if (choice->kind == HAUL_SWITCH_KIND_NONE)
        return;
    put(l->t, choice->kind == HAUL_SWITCH_KIND_SELF     ? " switch=self@"
              : choice->kind == HAUL_SWITCH_KIND_TARGET ? " switch=target@"
                                                        : " switch=function");
    if (choice->kind == HAUL_SWITCH_KIND_FUNCTION)
        note_function(l);
    else
        put_integer(l, &choice->field);
    for (i = 0; i < choice->case_count; i++) {
        put_signed(l->t, ",", choice->cases[i].value);
        put_number(l->t, ":", number_of(l->t, rule->types[i]));
        put_plus(l->t, choice->cases[i].base);
    }
}

static void put_rule(const text_line *l, const haul__rule *rule)
{
    const haul_field *said = &rule->said;
    put_when(l, &said->when);
    put_switch(l, rule);
    if (said->else_raw)
        put(l->t, " else-raw");
    if (said->ownership != HAUL_OWNED)
        put_number(l->t, " ownership=", said->ownership);
    if (said->ownership == HAUL_EXTERNAL)
        refuse(l, HAUL__IS_OF_ONE_PROCESS);
    if (said->maybe_static)
        refuse(l, HAUL__MAY_BE_STATIC);
    if (said->packed)
        put(l->t, " packed");
    if (said->tag_bits)
        put_hexadecimal(l->t, " tags=", said->tag_bits);
    if (said->integers_below || said->integers_from) {
        put_hexadecimal(l->t, " integers=", said->integers_below);
        put_hexadecimal(l->t, ",", said->integers_from);
    }
    if (said->base || said->base_fn)
        put_signed(l->t, " base=", said->base);
    if (said->base_fn) {
        put(l->t, "+function");
        note_function(l);
    }
    if (said->transfer != HAUL_COPY)
        put_number(l->t, " transfer=", said->transfer);
    if (said->pool)
        put(l->t, " pool");
    if (said->end_of.bytes)
        put_number(l->t, " end-of@", said->end_of.offset);
    if (said->section.rank)
        refuse(l, HAUL__HAS_GAPS);
    if (haul__asks_parent(rule))
        put(l->t, " ancestor=parent");
    else if (rule->ancestor)
        put_number(l->t, " ancestor=", number_of(l->t, rule->ancestor));
}

/* A struct that has grown may lie in another one as its last field, if that one has grown with it:
 * then the new bytes of both are the same. */
static void check_growth(const text_line *l, const haul__row *row, const haul_image_growth *inner)
{
    const haul_image_growth *outer = l->growth;
    const int lies_within = row->kind == HAUL_FIELD_EMBED || row->kind == HAUL_FIELD_TAIL;
    if (inner && lies_within) {
        if (!outer || row->kind == HAUL_FIELD_TAIL || row->rule || row->bytes != row->type->bytes ||
            row->offset + inner->added_at != outer->added_at)
            refuse(l, HAUL__GROWS_WITHIN);
    } else if (outer && row->offset + row->bytes > outer->added_at) {
        refuse(l, HAUL__IS_SPLIT);
    }
}

/* The bytes of an element that the row leads to or holds, as it was. A limit has the elements of
 * its begin, which stands before it as a rule: then their type has a number. */
static size_t element_bytes_of(const text_line *l, const haul__row *row)
{
    const haul__row *begin =
        row->rule && haul__is_limit(row->rule) ? haul__limited_row(l->type, row) : row;
    const haul_image_growth *growth =
        begin->type ? haul__type_text_growth(l->t, haul__type_text_number(l->t, begin->type))
                    : NULL;
    return growth && row->element_bytes == begin->type->bytes ? growth->stored_bytes
                                                              : row->element_bytes;
}

static void put_row(const text_line *l, const haul__row *row)
{
    const int has_counts = row->kind == HAUL_FIELD_POINTER || row->kind == HAUL_FIELD_TAIL;
    const uint32_t number = row->type ? number_of(l->t, row->type) : UINT32_MAX;
    const haul_image_growth *inner = haul__type_text_growth(l->t, number);
    unsigned level;
    check_growth(l, row, inner);
    put_name(l->t, row->name);
    put_number(l->t, " kind=", row->rule ? (unsigned)row->rule->said.kind : row->kind);
    put_number(l->t, " at=", row->offset);
    put_number(
        l->t, " bytes=", inner && row->kind == HAUL_FIELD_EMBED ? inner->stored_bytes : row->bytes);
    put_number(l->t, " element=", element_bytes_of(l, row));
    put_number(l->t, " levels=", row->levels);
    if (row->type)
        put_number(l->t, " target=", number);
    if (row->unaligned)
        put(l->t, " unaligned");
    for (level = 0; has_counts && level < row->levels; level++)
        put_count(l, &l->type->shapes[row->shape + level]);
    if (row->rule)
        put_rule(l, row->rule);
    if (row->rule && row->rule->each) {
        put(l->t, " each:");
        put_rule(l, row->rule->each);
    }
    put(l->t, "\n");
}

static void put_blocks(const text_line *l)
{
    const haul_type *type = l->type;
    size_t i;
    for (i = 0; i < type->block_count; i++) {
        const uint32_t number = number_of(l->t, type->blocks[i].type);
        if (haul__type_text_growth(l->t, number))
            refuse(l, HAUL__GROWS_WITHIN);
        put_number(l->t, "block at=", type->blocks[i].offset);
        put_number(l->t, " count=", type->blocks[i].count);
        put_number(l->t, " type=", number);
        put(l->t, "\n");
    }
    for (i = 0; i < type->loop_count; i++) {
        put_number(l->t, "loop count=", type->loops[i].count);
        put_number(l->t, " stride=", type->loops[i].stride);
        put(l->t, "\n");
    }
}

static void put_type(haul__type_text *t, uint32_t number)
{
    const haul_type *type = t->types.at[number];
    const haul_image_growth *growth = haul__type_text_growth(t, number);
    text_line l = { t, type, NULL, growth };
    size_t i;
    if (growth && (growth->stored_bytes > type->bytes || growth->added_at > type->bytes))
        refuse(&l, HAUL__SHRINKS);
    if (growth && (type->combiner != HAUL_COMBINER_STRUCT_FIELDS || type->size || type->has_tail))
        refuse(&l, HAUL__IS_NO_STRUCT);
    put(t, "type ");
    put_name(t, type->name);
    put_number(t, " bytes=", growth ? growth->stored_bytes : type->bytes);
    put_number(t, " lower=", type->lower);
    put_number(t, " alignment=", type->is_aligned ? type->alignment : 0);
    if (type->combiner == HAUL_COMBINER_BYTES)
        put(t, " elements");
    if (type->size) {
        put(t, " size=function");
        note_function(&l);
    }
    if (type->depends)
        refuse(&l, HAUL__DEPENDS);
    put(t, "\n");
    for (i = 0; i < type->row_count; i++) {
        if (growth && type->rows[i].offset >= growth->added_at)
            continue;
        l.name = type->rows[i].name;
        put_row(&l, &type->rows[i]);
    }
    l.name = NULL;
    put_blocks(&l);
}

haul_status haul__type_text_open(haul__type_text *text, const haul_allocator *allocator,
                                 haul_type *const *types, size_t count,
                                 const haul__stored_types *stored)
{
    uint32_t i;
    memset(text, 0, sizeof *text);
    text->allocator = allocator;
    text->stored = stored;
    for (i = 0; i < count; i++)
        number_of(text, types[i]);
    for (i = 0; i < text->types.count && !text->is_short; i++)
        put_type(text, i);
    return text->is_short ? HAUL_ERROR_MEMORY : HAUL_OK;
}

void haul__type_text_close(haul__type_text *text)
{
    HAUL__LIST_RELEASE(text->allocator, &text->text);
    HAUL__LIST_RELEASE(text->allocator, &text->types);
    haul__index_close(text->allocator, &text->index);
}
