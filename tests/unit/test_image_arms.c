/* Objects with rules are judged by the scan of an image: arms of unions, words with tags, targets
 * whose type a number of the struct chooses. The verdicts of scan and walk are compared for each
 * small damage (images/sample.h), and so is what they say of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "image/kinds.h"
#include "images/sample.h"
#include "support/check.h"
#include "support/types.h"

static void damage(sample *s)
{
    sample_damage_all(s);
    sample_damage_at_random(s, 2000);
}

/* ---- A union, as in a tree of expressions. */

enum { NOTHING, NUMBER, ONE, SOME, NAME, WIDE, FLAGGED = 64 };

typedef struct leaf {
    uint32_t number, other;
} leaf;

typedef struct expression {
    uint8_t kind, choice, count, unused;
    uint32_t flags;
    union {
        double number;
        int32_t small;
        struct expression *one, **some;
        char *name;
        uint16_t *wide; /* count - 1 */
    } is;
    struct expression *next;
    void *extra;        /* by choice */
    uintptr_t tagged;   /* and 3 bits */
    uintptr_t *flagged; /* one, if a bit of flags is set; else data */
    char rest[2 * WORD];
} expression;

static haul_type *leaf_type, *expression_type;

static void describe_expressions(void)
{
    static const haul_case cases[] = { { 0, &leaf_type, 0 },
                                       { 1, &expression_type, 0 },
                                       { 255, &leaf_type, 0 } };
    static const haul_field fields[] = {
        HAUL_RAW(expression, is.number, .when = HAUL_EQUALS(expression, kind, NUMBER)),
        HAUL_OBJECT(expression, is.one, &expression_type,
                    .when = HAUL_EQUALS(expression, kind, ONE)),
        HAUL_POINTERS(expression, is.some, &expression_type, HAUL_COUNT(expression, count),
                      .when = HAUL_EQUALS(expression, kind, SOME)),
        HAUL_STRING(expression, is.name, .when = HAUL_EQUALS(expression, kind, NAME)),
        HAUL_ARRAY(expression, is.wide, HAUL_COUNT_PLUS(expression, count, -1),
                   .when = HAUL_EQUALS(expression, kind, WIDE)),
        HAUL_RAW(expression, is.small, .when = HAUL_BETWEEN(expression, kind, 10, 20)),
        HAUL_OBJECT(expression, next, &expression_type),
        HAUL_ADDRESS(expression, extra, .type_switch = HAUL_SWITCH(expression, choice, cases)),
        HAUL_ADDRESS(expression, tagged, .target = &expression_type, .tag_bits = 3),
        HAUL_ADDRESS(expression, flagged, .element_bytes = sizeof(uintptr_t),
                     .when = HAUL_ANY_BIT(expression, flags, FLAGGED), .else_raw = 1),
    };
    leaf_type = type_new(&(const haul_struct)HAUL_PLAIN(leaf, NULL));
    expression_type = TYPE_NEW(expression, fields);
}

static void forget_expressions(void)
{
    haul_type_free(&expression_type);
    haul_type_free(&leaf_type);
}

enum { EXPRESSIONS = 8 };

typedef struct expressions {
    expression at[EXPRESSIONS], *some[2];
    leaf leaf;
    char name[12];
    uint16_t wide[3];
    uintptr_t word;
} expressions;

/* Each object leads to the next one, and each kind is there. */
static void build_expressions(expressions *e)
{
    static const uint8_t kinds[EXPRESSIONS] = { SOME, NUMBER, ONE, NAME, WIDE, NOTHING, 15, 99 };
    size_t i;
    memset(e, 0, sizeof *e);
    memcpy(e->name, "expression", 11);
    e->word = 1;
    for (i = 0; i < 3; i++)
        e->wide[i] = (uint16_t)(i + 1);
    for (i = 0; i < EXPRESSIONS; i++) {
        expression *x = &e->at[i];
        x->kind = kinds[i];
        x->next = i + 1 < EXPRESSIONS ? &e->at[i + 1] : NULL;
        x->tagged = i % 3 == 0 ? (uintptr_t)&e->at[i / 2] + i % 4 : i % 3 == 1 ? i % 4 : 0;
        x->flags = i % 2 ? 1 : FLAGGED;
        x->flagged = i % 2 ? (uintptr_t *)(2 * WORD) : &e->word; /* it leads into the arena */
        memset(x->rest, (int)i, sizeof x->rest);
    }
    e->some[0] = &e->at[1];
    e->at[0].is.some = e->some;
    e->at[0].count = 2;
    e->at[0].extra = &e->leaf;
    e->at[1].is.number = 1.5;
    e->at[1].choice = 1;
    e->at[1].extra = &e->at[0];
    e->at[2].is.one = &e->at[1];
    e->at[2].choice = 255;
    e->at[2].extra = &e->leaf;
    e->at[3].is.name = e->name;
    e->at[3].choice = 77; /* of nothing: the pointer is null */
    e->at[4].is.wide = e->wide;
    e->at[4].count = 4;
    e->at[6].is.small = 7;
}

TEST(image_arms, arms_tags_and_switches_are_judged_by_the_scan)
{
    expressions e;
    describe_expressions();
    build_expressions(&e);
    sample_check_objects(e.at, expression_type, 1, damage);
    e.at[5].is.one = &e.at[0]; /* of nothing: it does not travel */
    sample_check_objects(e.at, expression_type, 1, sample_is_accepted);
    forget_expressions();
}

TEST(image_arms, an_array_of_objects_with_rules_is_judged_by_the_scan)
{
    expressions e;
    describe_expressions();
    build_expressions(&e);
    sample_check_objects(e.at, expression_type, EXPRESSIONS, damage);
    forget_expressions();
}

/* ---- Arrays of which not all objects begin with a granule. */

typedef struct cell {
    uintptr_t kind;
    union {
        uintptr_t number;
        struct cell *cell;
    } is;
    char *text; /* of kind 3 */
} cell;

typedef struct bits {
    uint16_t kind, data[2 * WORD / 2 - 1];
    uint16_t more[WORD / 2]; /* travels if kind is 1 */
} bits;

typedef struct table {
    cell *cells; /* 5 */
    bits *bits;  /* 3 */
    cell *one;
    uintptr_t rest[3];
} table;

TEST(image_arms, arrays_across_granules_of_objects_with_rules_are_judged_by_the_scan)
{
    static haul_type *cell_type, *bits_type;
    static const haul_field cell_fields[] = {
        HAUL_RAW(cell, is.number, .when = HAUL_EQUALS(cell, kind, 1)),
        HAUL_OBJECT(cell, is.cell, &cell_type, .when = HAUL_EQUALS(cell, kind, 2)),
        HAUL_STRING(cell, text, .when = HAUL_EQUALS(cell, kind, 3)),
    };
    static const haul_field bits_fields[] = { HAUL_RAW(bits, more,
                                                       .when = HAUL_EQUALS(bits, kind, 1)) };
    static const haul_field fields[] = { HAUL_OBJECTS(table, cells, &cell_type, HAUL_FIXED(5)),
                                         HAUL_OBJECTS(table, bits, &bits_type, HAUL_FIXED(3)),
                                         HAUL_OBJECT(table, one, &cell_type) };
    char text[] = "text";
    cell cells[5], one = { 0, { 0 }, NULL };
    bits all[3];
    table t;
    haul_type *type;
    memset(cells, 0, sizeof cells);
    memset(all, 0, sizeof all);
    memset(&t, 1, sizeof t);
    cells[0].kind = 1;
    cells[0].is.number = 2 * WORD; /* it leads into the arena */
    cells[1].kind = cells[4].kind = 2;
    cells[1].is.cell = &one;
    cells[2].kind = 3;
    cells[2].text = text;
    all[1].kind = 1;
    memset(all[1].more, 1, sizeof all[1].more);
    all[2].data[0] = 5;
    t.cells = cells;
    t.bits = all;
    t.one = &one;
    cell_type = TYPE_NEW(cell, cell_fields);
    bits_type = TYPE_NEW(bits, bits_fields);
    type = TYPE_NEW(table, fields);
    sample_check_objects(&t, type, 1, damage);
    sample_check_objects(cells, cell_type, 5, damage);
    sample_check_objects(all, bits_type, 3, damage);
    haul_type_free(&type);
    haul_type_free(&bits_type);
    haul_type_free(&cell_type);
}

/* ---- What the scan knows, and what it leaves to the walk. */

typedef struct many {
    char *a, *b;
    struct many *c, **d;
    int32_t *numbers;
    uint64_t large;
    int32_t count, other;
    struct many *each[2];
    char rest[2 * WORD];
} many;

static haul_type *many_type, *other_type;

static int64_t two(const haul_here *here)
{
    (void)here;
    return 2;
}

/* Does the scan judge an object of the struct's type, which the walk accepts? */
static int scan_judges(const haul_struct *of, void *object)
{
    sample s;
    int judges;
    many_type = type_new(of);
    check_note("field %s of kind %d", of->fields->name, of->fields->kind);
    sample_open(&s, object, many_type, 1);
    CHECK(sample_walk_accepts(&s));
    judges = sample_scan_accepts(&s);
    check_note(NULL);
    sample_close(&s);
    haul_type_free(&many_type);
    return judges;
}

#define CHECK_JUDGES(judges, ...)                                                                  \
    do {                                                                                           \
        const haul_field fields[] = { __VA_ARGS__ };                                               \
        CHECK_EQ(scan_judges(&(const haul_struct)HAUL_STRUCT(many, NULL, fields), &m), judges);    \
    } while (0)

TEST(image_arms, what_other_rules_say_is_left_to_the_walk)
{
    static const haul_case cases[] = { { 2, &many_type, 0 } };
    static const haul_case based[] = { { 3, &many_type, 0 }, { 2, &many_type, -8 } };
    static const haul_field each = { .ownership = HAUL_BORROWED };
    static const haul_when always = { .field = { .offset = 1000, .bytes = 4 },
                                      .low = 1,
                                      .high = 1 };
    static haul_type *wide_type;
    const haul_struct wide = { .name = "wide", .bytes = 64, .alignment = 64 };
    const haul_when two_is_count = HAUL_EQUALS(many, count, 2);
    many m;
    CHECK_STATUS(type_make("byte", 1, NULL, 0, &other_type), HAUL_OK);
    wide_type = type_new(&wide);
    memset(&m, 0, sizeof m);
    m.count = 2;
    CHECK_JUDGES(1, HAUL_BYTES(many, a, HAUL_ONE, .when = two_is_count));
    CHECK_JUDGES(0, HAUL_BYTES(many, a, HAUL_ONE, .when = HAUL_WHEN_FN(two)));
    CHECK_JUDGES(1, HAUL_RAW(many, rest, .when = two_is_count));
    CHECK_JUDGES(0, HAUL_SKIP(many, rest, .when = two_is_count));
    CHECK_JUDGES(0, HAUL_EMBED(many, rest, &other_type, .when = two_is_count));
    CHECK_JUDGES(1, HAUL_ADDRESS(many, c, .target = &many_type, .tag_bits = 1));
    CHECK_JUDGES(1, HAUL_ADDRESS(many, c, .target = &wide_type, .tag_bits = 2 * WORD - 1));
    CHECK_JUDGES(0, HAUL_ADDRESS(many, c, .target = &wide_type, .tag_bits = 2 * WORD));
    CHECK_JUDGES(0, HAUL_ADDRESS(many, c, .target = &many_type, .ownership = HAUL_UNLESS_OWNED));
    CHECK_JUDGES(0, HAUL_ADDRESS(many, c, .target = &many_type, .integers_below = 16));
    CHECK_JUDGES(0, HAUL_ADDRESS(many, c, .target = &many_type, .integers_from = (uintptr_t)-1));
    CHECK_JUDGES(0, HAUL_ADDRESS(many, c, .target = &many_type, .base = -8));
    CHECK_JUDGES(0, HAUL_ADDRESS(many, c, .target = &many_type, .tag_bits = 1, .packed = 1));
    CHECK_JUDGES(0, HAUL_ADDRESS(many, c, .target = &many_type, .base_fn = two));
    CHECK_JUDGES(0, HAUL_RELATIVE(many, large, .target = &many_type));
    CHECK_JUDGES(0, HAUL_BYTES(many, a, HAUL_COUNT(many, other)), HAUL_END_OF(many, b, a));
    CHECK_JUDGES(0, HAUL_POINTERS(many, d, &many_type, HAUL_FIXED(2), .each_pointer = &each,
                                  .when = two_is_count));
    CHECK_JUDGES(0, HAUL_BYTES(many, a, HAUL_COUNT(many, count), .when = two_is_count, .pool = 1));
    CHECK_JUDGES(0, HAUL_TAIL(many, rest, HAUL_COUNT(many, count)));
    CHECK_JUDGES(1, HAUL_EACH(many, each, .target = &many_type, .when = two_is_count));
    CHECK_JUDGES(1, HAUL_ADDRESS(many, c, .type_switch = HAUL_SWITCH(many, count, cases)));
    CHECK_JUDGES(0, HAUL_ADDRESS(many, c, .type_switch = HAUL_SWITCH(many, count, based)));
    CHECK_JUDGES(0, HAUL_ADDRESS(many, c, .type_switch = HAUL_SWITCH_FN(two, cases)));
    CHECK_JUDGES(1, HAUL_ADDRESS(many, c, .target = &many_type, .tag_bits = 1, .when = always));
    haul_type_free(&wide_type);
    haul_type_free(&other_type);
}

typedef struct large {
    uint32_t kind, count;
    union {
        struct large *next;
        uint32_t number;
    } is;
    uint32_t *numbers; /* `is.number` or `count` */
    char rest[600];
} large;

static int is_judged(size_t bytes, const haul_field *fields, size_t count)
{
    static large l;
    return scan_judges(&(const haul_struct){ .name = "large",
                                             .bytes = bytes,
                                             .fields = fields,
                                             .field_count = count,
                                             .field_bytes = sizeof *fields },
                       &l);
}

TEST(image_arms, objects_with_rules_have_few_bytes_few_rows_and_numbers_apart_from_pointers)
{
    enum { MOST = 1024 };
    static haul_case cases[MOST + 1];
    static char names[MOST + 1][8];
    static haul_field rows[MOST + 1];
    const haul_field row = HAUL_RAW(large, is.number, .when = HAUL_EQUALS(large, kind, 1));
    const haul_field next = HAUL_ADDRESS(large, is.next, .element_bytes = 1,
                                         .when = HAUL_EQUALS(large, kind, 2), .else_raw = 1);
    const haul_field by_next[] = { next, HAUL_ARRAY(large, numbers, HAUL_COUNT(large, is.number)) };
    const haul_field by_arm[] = { next, HAUL_ARRAY(large, numbers, HAUL_COUNT(large, is.number),
                                                   .when = HAUL_EQUALS(large, kind, 3)) };
    const haul_field by_count[] = { next, HAUL_ARRAY(large, numbers, HAUL_COUNT(large, count)) };
    const haul_field by_data[] = { row, HAUL_ARRAY(large, numbers, HAUL_COUNT(large, is.number)) };
    size_t i;
    CHECK(is_judged(512, &row, 1));
    CHECK(!is_judged(512 + WORD, &row, 1));
    CHECK(!is_judged(512 - 4, &row, 1) || WORD == 4);
    CHECK(!is_judged(512 - 2, &row, 1));
    CHECK(is_judged(512, by_count, 2));
    CHECK(is_judged(512, by_data, 2));
    CHECK(!is_judged(512, by_next, 2));
    CHECK(!is_judged(512, by_arm, 2));
    for (i = 0; i < MOST + 1; i++) {
        strcpy(names[i], "n");
        names[i][1] = (char)('a' + i / 676);
        names[i][2] = (char)('a' + i / 26 % 26);
        names[i][3] = (char)('a' + i % 26);
        rows[i] = row;
        rows[i].name = names[i];
        rows[i].when.low = rows[i].when.high = (int64_t)i;
        cases[i] = (haul_case){ (int64_t)i, &many_type, 0 };
    }
    CHECK(is_judged(512, rows, MOST));
    CHECK(!is_judged(512, rows, MOST + 1));
    rows[0] = next;
    rows[0].when = (haul_when){ 0 };
    rows[0].element_bytes = 0;
    rows[0].else_raw = 0;
    rows[0].type_switch = (haul_switch)HAUL_SWITCH(large, kind, cases);
    rows[0].type_switch.case_count = MOST;
    CHECK(is_judged(512, rows, 1));
    rows[0].type_switch.case_count = MOST + 1;
    CHECK(!is_judged(512, rows, 1));
}

/* No image is written by such types, so one of plain bytes is judged by them. */
TEST(image_arms, types_that_no_image_can_hold_are_not_judged_by_the_scan)
{
    static const haul_dimension line[] = { HAUL_DIMENSION(HAUL_FIXED(2), HAUL_FIXED(2)) };
    const haul_field fields[] = {
        HAUL_ADDRESS(many, numbers, .element_bytes = 4, .tag_bits = 1),
        HAUL_ADDRESS(many, numbers, .element_bytes = 4, .maybe_static = 1),
        HAUL_SECTION(many, numbers, line),
        HAUL_ADDRESS(many, numbers, .element_bytes = 4, .ownership = HAUL_EXTERNAL),
    };
    haul_type *plain = type_new(&(const haul_struct)HAUL_PLAIN(many, NULL)), *other;
    many m;
    sample s;
    size_t i;
    memset(&m, 0, sizeof m);
    sample_open(&s, &m, plain, 1);
    for (i = 0; i < sizeof fields / sizeof *fields; i++) {
        CHECK_STATUS(type_make("many", sizeof m, &fields[i], 1, &other), HAUL_OK);
        CHECK_STATUS(haul_type_commit(other), HAUL_OK);
        s.roots[0].type = other;
        check_note("field %zu", i);
        CHECK_EQ(sample_scan_accepts(&s), i == 0);
        haul_type_free(&other);
    }
    check_note(NULL);
    sample_close(&s);
    haul_type_free(&plain);
}

TEST(image_arms, an_array_of_which_no_byte_travels_is_judged_by_the_scan)
{
    const haul_field fields[] = { HAUL_SKIP(leaf, number), HAUL_SKIP(leaf, other) };
    haul_type *plain = type_new(&(const haul_struct)HAUL_PLAIN(leaf, NULL));
    haul_type *type = TYPE_NEW(leaf, fields);
    leaf all[5];
    sample s;
    memset(all, 0, sizeof all);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    sample_open(&s, all, plain, 5);
    s.roots[0].type = type;
    sample_damage_all(&s);
    sample_close(&s);
    haul_type_free(&type);
    haul_type_free(&plain);
}

/* ---- Targets that tell their types. */

typedef struct shape {
    uint16_t kind, sides;
    uint32_t data;
} shape;

typedef struct square {
    shape is; /* of kind 7 */
    struct group *in;
} square;

typedef struct group {
    shape is;       /* of kind 8 */
    shape *first;   /* either */
    shape *some[2]; /* either, with tags, if flag is set */
    uint64_t flag;
    char rest[2 * WORD];
} group;

static haul_type *square_type, *group_type;

TEST(image_arms, targets_that_tell_their_types_are_judged_by_the_scan)
{
    static const haul_case cases[] = { { 7, &square_type, 0 }, { 8, &group_type, 0 } };
    static const haul_field square_fields[] = { HAUL_OBJECT(square, in, &group_type) };
    static const haul_field group_fields[] = {
        HAUL_ADDRESS(group, first, .type_switch = HAUL_SWITCH_TARGET(shape, kind, cases)),
        HAUL_EACH(group, some, .type_switch = HAUL_SWITCH_TARGET(shape, kind, cases), .tag_bits = 1,
                  .when = HAUL_EQUALS(group, flag, 1), .else_raw = 1),
    };
    group groups[3];
    square squares[2];
    size_t i;
    memset(groups, 0, sizeof groups);
    memset(squares, 0, sizeof squares);
    for (i = 0; i < 3; i++) {
        groups[i].is.kind = 8;
        groups[i].is.data = 2 * WORD;
    }
    for (i = 0; i < 2; i++) {
        squares[i].is.kind = 7;
        squares[i].in = &groups[i];
    }
    groups[0].first = &squares[0].is;
    groups[0].flag = groups[2].flag = 1;
    groups[0].some[0] = &groups[1].is;
    groups[0].some[1] = (shape *)((uintptr_t)&squares[1] + 1);
    groups[1].first = &groups[2].is;
    groups[1].some[1] = (shape *)(2 * WORD); /* data */
    groups[2].some[1] = (shape *)((uintptr_t)&groups[0] + 1);
    square_type = TYPE_NEW(square, square_fields);
    group_type = TYPE_NEW(group, group_fields);
    sample_check_objects(groups, group_type, 1, damage);
    haul_type_free(&group_type);
    haul_type_free(&square_type);
}

typedef struct shorter {
    uint16_t kind;
} shorter;

typedef struct pointing {
    uint16_t kind[WORD / 2];
    char *next;
} pointing;

typedef struct chosen {
    uint64_t tag;
    void *at;
} chosen;

typedef struct embedding {
    uint16_t kind[WORD];
    pointing in;
} embedding;

typedef struct trailing {
    char *next;
    uint16_t kind[WORD / 2];
} trailing;

/* The number may lie behind a type, in a pointer of it, or in one of a struct within it. */
TEST(image_arms, targets_that_may_hold_something_else_for_their_number_are_left_to_the_walk)
{
    static haul_type *shorter_type, *pointing_type, *embedding_type, *trailing_type, *arming_type;
    static const haul_case short_case[] = { { 7, &shorter_type, 0 } };
    static const haul_case pointing_case[] = { { 7, &pointing_type, 0 } };
    static const haul_case embedding_case[] = { { 7, &embedding_type, 0 } };
    static const haul_case trailing_case[] = { { 7, &trailing_type, 0 } };
    static const haul_case arming_case[] = { { 7, &arming_type, 0 } };
    static const haul_case based[] = { { 7, &pointing_type, 8 } };
    static const haul_field pointing_fields[] = { HAUL_BYTES(pointing, next, HAUL_ONE) };
    static const haul_field embedding_fields[] = { HAUL_EMBED(embedding, in, &pointing_type) };
    static const haul_field trailing_fields[] = { HAUL_BYTES(trailing, next, HAUL_ONE) };
    static const haul_field arming_fields[] = { HAUL_BYTES(
        pointing, next, HAUL_ONE, .when = HAUL_EQUALS(pointing, kind[0], 7)) };
    static const struct {
        const haul_case *cases;
        size_t at;
        int judges;
    } all[] = {
        { short_case, 0, 1 },
        { short_case, 2, 0 },
        { pointing_case, 0, 1 },
        { pointing_case, WORD, 0 },
        { pointing_case, WORD - 2, 1 },
        { based, 0, 0 },
        { embedding_case, WORD, 1 },
        { embedding_case, 3 * WORD, 0 },
        { embedding_case, 3 * WORD - 2, 1 },
        { trailing_case, WORD - 2, 0 },
        { trailing_case, WORD, 1 },
        { arming_case, 0, 1 },
        { arming_case, WORD, 0 },
    };
    size_t i;
    many m;
    memset(&m, 0, sizeof m);
    shorter_type = type_new(&(const haul_struct)HAUL_PLAIN(shorter, NULL));
    pointing_type = TYPE_NEW(pointing, pointing_fields);
    embedding_type = TYPE_NEW(embedding, embedding_fields);
    trailing_type = TYPE_NEW(trailing, trailing_fields);
    CHECK_STATUS(type_make("arming", sizeof(pointing), arming_fields, 1, &arming_type), HAUL_OK);
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        haul_switch by = HAUL_SWITCH_TARGET(shorter, kind, short_case);
        by.field.offset = all[i].at;
        by.cases = all[i].cases;
        check_note("number %zu", i);
        CHECK_JUDGES(all[i].judges, HAUL_ADDRESS(many, a, .type_switch = by));
    }
    haul_type_free(&arming_type);
    haul_type_free(&trailing_type);
    haul_type_free(&embedding_type);
    haul_type_free(&pointing_type);
    haul_type_free(&shorter_type);
}

/* A number of the struct chooses types that are shorter than it lies deep; one of the target may
 * lie deeper than the struct is long. */
TEST(image_arms, numbers_that_choose_lie_in_their_own_struct_alone)
{
    static haul_type *target_type;
    static const haul_case cases[] = { { 7, &target_type, 0 } };
    static const haul_field by_self[] = { HAUL_ADDRESS(
        many, c, .type_switch = HAUL_SWITCH(many, other, cases)) };
    static const haul_field by_target[] = { HAUL_ADDRESS(
        chosen, at, .type_switch = HAUL_SWITCH_TARGET(many, other, cases)) };
    shorter one = { 7 };
    many m;
    chosen c;
    haul_type *type;
    memset(&m, 0, sizeof m);
    memset(&c, 0, sizeof c);
    target_type = type_new(&(const haul_struct)HAUL_PLAIN(shorter, NULL));
    m.other = 7;
    m.c = (void *)&one;
    type = TYPE_NEW(many, by_self);
    sample_check_objects(&m, type, 1, sample_is_accepted);
    haul_type_free(&type);
    haul_type_free(&target_type);
    target_type = type_new(&(const haul_struct)HAUL_PLAIN(many, NULL));
    m.c = NULL;
    c.at = &m;
    type = TYPE_NEW(chosen, by_target);
    sample_check_objects(&c, type, 1, sample_is_accepted);
    haul_type_free(&type);
    haul_type_free(&target_type);
}

TEST(image_arms, a_number_of_8_bytes_chooses_by_all_its_bits)
{
    static haul_type *type;
    static const haul_case cases[] = { { -1, &type, 0 }, { INT64_MIN, &type, 0 } };
    haul_field field = HAUL_ADDRESS(chosen, at, .type_switch = HAUL_SWITCH(chosen, tag, cases));
    chosen at[3];
    size_t i;
    memset(at, 0, sizeof at);
    at[0].tag = UINT64_MAX;
    at[1].tag = (uint64_t)1 << 63;
    at[0].at = &at[1];
    at[1].at = &at[2];
    for (i = 0; i < 2; i++) {
        field.type_switch.field.sign = (uint8_t)i;
        CHECK_STATUS(type_make("chosen", sizeof *at, &field, 1, &type), HAUL_OK);
        sample_check_objects(at, type, 1, damage);
        haul_type_free(&type);
    }
}

/* ---- Rows of which two hold. */

typedef struct both {
    uint32_t kind, other;
    union {
        struct {
            uint32_t low, high;
        } in;
        uint64_t all;
    } is;
    struct both *next;
} both;

TEST(image_arms, two_arms_that_hold_at_once_are_refused_with_both_their_names)
{
    static haul_type *type;
    const haul_field fields[] = {
        HAUL_RAW(both, is.in.low, .when = HAUL_EQUALS(both, kind, 1)),
        HAUL_RAW(both, is.in.high, .when = HAUL_EQUALS(both, kind, 1)),
        HAUL_RAW(both, is.all, .when = HAUL_EQUALS(both, other, 1)),
        HAUL_OBJECT(both, next, &type),
    };
    both at[2];
    sample s;
    both *first, *second;
    const haul_error *error;
    memset(at, 0, sizeof at);
    at[0].kind = at[1].other = 1;
    at[0].next = &at[1];
    at[0].is.in.low = 2;
    at[0].is.in.high = 3;
    at[1].is.all = 5;
    type = TYPE_NEW(both, fields);
    sample_open(&s, at, type, 1);
    damage(&s);
    first = (both *)(void *)(s.parts.part[HAUL__SECTION_ARENA].at + 2 * WORD);
    second = (both *)(void *)(s.parts.part[HAUL__SECTION_ARENA].at + (uintptr_t)first->next);
    second->kind = 1;
    sample_compare(&s, 0);
    CHECK(!sample_walk_accepts(&s));
    error = haul_context_error(s.walks);
    CHECK_HAS(error->text, "both hold, and they overlap");
    CHECK_STR(error->path, "root.next.is.all");
    sample_close(&s);
    haul_type_free(&type);
}

/* ---- Work. */

typedef struct ring {
    uintptr_t kind;
    struct ring *next;
} ring;

/* Types of strangers may have many rows and few bytes. */
TEST(image_arms, objects_of_many_rows_and_cases_are_left_to_the_walk_where_they_are_many)
{
    enum { ROWS = 400, COUNT = 64 };
    static haul_type *type;
    static haul_case cases[ROWS];
    static char names[ROWS][8];
    static haul_field rows[ROWS];
    static ring at[COUNT];
    haul_field next = HAUL_ADDRESS(ring, next, .type_switch = HAUL_SWITCH(ring, kind, cases));
    size_t i, few;
    for (i = 0; i < ROWS; i++) {
        strcpy(names[i], "n");
        names[i][1] = (char)('a' + i / 26);
        names[i][2] = (char)('a' + i % 26);
        rows[i] = (haul_field)HAUL_RAW(ring, next, .when = HAUL_EQUALS(ring, kind, 1));
        rows[i].name = names[i];
        rows[i].when.low = rows[i].when.high = (int64_t)i + 1;
        cases[i] = (haul_case){ (int64_t)i, &type, 0 };
    }
    for (few = 0; few < 2; few++) {
        memset(at, 0, sizeof at);
        CHECK_STATUS(type_make("ring", sizeof(ring), rows, few ? 8 : ROWS, &type), HAUL_OK);
        sample_check_objects(at, type, COUNT, few ? sample_is_accepted : sample_is_left_to_walk);
        haul_type_free(&type);
        for (i = 0; i < COUNT; i++) {
            at[i].kind = few ? 7 : ROWS - 1;
            at[i].next = &at[0];
        }
        CHECK_STATUS(type_make("ring", sizeof(ring), &next, 1, &type), HAUL_OK);
        sample_check_objects(at, type, COUNT, few ? sample_is_accepted : sample_is_left_to_walk);
        haul_type_free(&type);
    }
}

/* ---- Arrays that overlap. */

typedef struct row {
    struct row *cells; /* count */
    uint32_t count, kind;
    uint64_t number; /* travels if kind is 0 */
    char rest[WORD];
} row;

TEST(image_arms, an_array_of_objects_with_rules_that_is_met_again_is_left_to_the_walk)
{
    static haul_type *type;
    const haul_field fields[] = { HAUL_OBJECTS(row, cells, &type, HAUL_COUNT(row, count)),
                                  HAUL_RAW(row, number, .when = HAUL_EQUALS(row, kind, 0)) };
    row at[4], root;
    memset(at, 0, sizeof at);
    memset(&root, 0, sizeof root);
    root.cells = at;
    root.count = 4;
    at[0].number = 1;
    type = TYPE_NEW(row, fields);
    sample_check_objects(&root, type, 1, damage);
    at[1].cells = &at[2]; /* one of them */
    at[1].count = 1;
    sample_check_objects(&root, type, 1, damage);
    at[1].count = 2;
    sample_check_objects(&root, type, 1, sample_is_left_to_walk);
    haul_type_free(&type);
}

/* ---- Borrowed pointers. */

typedef struct node {
    struct node *left, *right;
    struct node *parent; /* borrowed */
    struct node *last;   /* borrowed, with a tag, if kind is 1; else data */
    uintptr_t kind, rest[3];
} node;

enum { NODES = 7 };

static haul_type *node_type_new(haul_type **type)
{
    const haul_field fields[] = {
        HAUL_OBJECT(node, left, type),
        HAUL_OBJECT(node, right, type),
        HAUL_OBJECT(node, parent, type, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(node, last, type, .ownership = HAUL_BORROWED, .tag_bits = 1,
                    .when = HAUL_EQUALS(node, kind, 1), .else_raw = 1),
    };
    return *type = TYPE_NEW(node, fields);
}

/* A tree with three levels. `last` leads ahead. */
static void build_nodes(node *at)
{
    size_t i;
    memset(at, 0, NODES * sizeof *at);
    for (i = 0; i < NODES; i++) {
        if (2 * i + 2 < NODES) {
            at[i].left = &at[2 * i + 1];
            at[i].right = &at[2 * i + 2];
        }
        at[i].parent = i ? &at[(i - 1) / 2] : NULL;
        at[i].kind = i % 2;
        at[i].last = (node *)(i % 2 ? (uintptr_t)&at[NODES - 1] + i / 2 % 2 : 2 * WORD);
        at[i].rest[0] = i;
    }
}

TEST(image_arms, parents_and_other_borrowed_pointers_are_judged_by_the_scan)
{
    static haul_type *type;
    node at[NODES];
    haul_root roots[2];
    node_type_new(&type);
    build_nodes(at);
    sample_check_objects(at, type, 1, damage);
    at[NODES - 1].last = (node *)1; /* of tags alone */
    at[NODES - 1].kind = 1;
    at[0].parent = &at[NODES - 1];
    sample_check_objects(at, type, 1, damage);
    roots[0] = (haul_root){ at, type, 1 };
    roots[1] = (haul_root){ &at[1], type, 1 };
    sample_check_roots(roots, 2, damage);
    sample_check_objects(at, type, NODES, sample_is_left_to_walk); /* and pointers to each one */
    at[0].left = at[0].right = NULL; /* what is borrowed is nobody's */
    at[0].parent = NULL;
    sample_check_objects(at, type, 1, sample_is_accepted);
    haul_type_free(&type);
}

TEST(image_arms, a_root_that_is_the_only_one_is_no_reason_against_lending)
{
    static haul_type *type;
    const haul_field fields[] = {
        HAUL_OBJECTS(node, left, &type, HAUL_COUNT(node, kind)),
        HAUL_OBJECT(node, parent, &type, .ownership = HAUL_BORROWED),
    };
    node at[4];
    memset(at, 0, sizeof at);
    at[0].left = &at[1];
    at[0].kind = 3;
    at[0].parent = at[3].parent = &at[2];
    at[1].parent = &at[3];
    type = TYPE_NEW(node, fields);
    sample_check_objects(at, type, 1, damage);
    haul_type_free(&type);
}

/* The only root has no code, and is looked at again before all others. */
TEST(image_arms, a_borrowed_pointer_of_a_root_that_leads_ahead_is_judged_by_the_scan)
{
    static haul_type *type, *owner_type;
    const haul_field fields[] = { HAUL_OBJECT(node, left, &type),
                                  HAUL_OBJECT(node, last, &type, .ownership = HAUL_BORROWED) };
    const haul_field inner_fields[] = { HAUL_OBJECT(node, left, &type) };
    node at[3], root;
    memset(at, 0, sizeof at);
    memset(&root, 1, sizeof root);
    root.left = at;
    root.last = &at[2];
    at[0].left = &at[1];
    at[1].left = &at[2];
    type = TYPE_NEW(node, inner_fields);
    CHECK_STATUS(type_make("owner", sizeof root, fields, 2, &owner_type), HAUL_OK);
    sample_check_objects(&root, owner_type, 1, damage);
    haul_type_free(&owner_type);
    haul_type_free(&type);
}

typedef struct lender {
    node *at;   /* owned */
    char *text; /* owned */
    void *borrowed;
    uintptr_t rest;
} lender;

/* Such a root has no list of borrowed pointers that could be looked at. */
TEST(image_arms, objects_borrow_ahead_behind_a_root_that_borrows_nothing)
{
    static haul_type *type;
    const haul_field fields[] = { HAUL_OBJECT(lender, at, &type) };
    haul_type *lender_type;
    node at[NODES];
    lender l;
    node_type_new(&type);
    build_nodes(at);
    memset(&l, 0, sizeof l);
    l.at = at;
    lender_type = TYPE_NEW(lender, fields);
    sample_check_objects(&l, lender_type, 1, damage);
    haul_type_free(&lender_type);
    haul_type_free(&type);
}

typedef struct mesh {
    node *nodes; /* count */
    node **list; /* 2, if is_listed */
    node *first; /* borrowed */
    uintptr_t count, is_listed, rest[3];
} mesh;

TEST(image_arms, borrowed_objects_of_arrays_are_judged_by_the_scan_if_no_other_pointers_lead_there)
{
    static haul_type *type, *mesh_type;
    const haul_field node_fields[] = { HAUL_OBJECT(node, parent, &type,
                                                   .ownership = HAUL_BORROWED) };
    const haul_field fields[] = {
        HAUL_OBJECTS(mesh, nodes, &type, HAUL_COUNT(mesh, count)),
        HAUL_OBJECT(mesh, first, &type, .ownership = HAUL_BORROWED),
    };
    const haul_field listing[] = {
        fields[0],
        fields[1],
        HAUL_POINTERS(mesh, list, &type, HAUL_FIXED(2), .when = HAUL_EQUALS(mesh, is_listed, 1)),
    };
    node at[NODES], *list[2];
    mesh m[3];
    size_t i;
    build_nodes(at);
    memset(m, 0, sizeof m);
    for (i = 0; i < NODES; i++)
        at[i].left = at[i].right = at[i].last = NULL;
    m[0].nodes = at;
    m[0].count = NODES;
    m[0].first = m[1].first = &at[2];
    m[2].nodes = m[0].nodes;
    m[2].count = 1;
    list[0] = list[1] = &at[1];
    type = TYPE_NEW(node, node_fields);
    mesh_type = TYPE_NEW(mesh, fields);
    sample_check_objects(m, mesh_type, 1, damage);
    sample_check_objects(m, mesh_type, 2, sample_is_accepted);
    sample_check_objects(m, mesh_type, 3, sample_is_left_to_walk); /* an array is met again */
    haul_type_free(&mesh_type);
    m[0].list = list;
    CHECK_STATUS(type_make("listing", sizeof *m, listing, 3, &mesh_type), HAUL_OK);
    sample_check_objects(m, mesh_type, 1, sample_is_left_to_walk);
    haul_type_free(&mesh_type);
    haul_type_free(&type);
}

static void check_borrowed(const haul_field *borrowed, void *value, haul_type *type,
                           void (*check)(sample *))
{
    static char text[] = "a text";
    haul_field fields[3];
    haul_type *lender_type;
    node at;
    lender l;
    memset(&at, 0, sizeof at);
    memset(&l, 0, sizeof l);
    fields[0] = (haul_field)HAUL_ADDRESS(lender, at, .target = &type);
    fields[1] = (haul_field)HAUL_STRING(lender, text);
    fields[2] = *borrowed;
    l.at = &at;
    l.text = text;
    l.borrowed = value ? value : &at;
    CHECK_STATUS(type_make("lender", sizeof l, fields, 3, &lender_type), HAUL_OK);
    sample_check_objects(&l, lender_type, 1, check);
    haul_type_free(&lender_type);
}

TEST(image_arms, other_borrowed_pointers_are_left_to_the_walk)
{
    static haul_type *type;
    const haul_field inner_fields[] = { HAUL_RAW(node, left, .when = HAUL_EQUALS(node, kind, 1)) };
    const haul_field last_fields[] = { HAUL_RAW(node, last, .when = HAUL_EQUALS(node, kind, 1)) };
    const haul_field one =
        HAUL_ADDRESS(lender, borrowed, .target = &type, .ownership = HAUL_BORROWED);
    const haul_field some = HAUL_ADDRESS(lender, borrowed, .target = &type, .count = HAUL_FIXED(2),
                                         .ownership = HAUL_BORROWED);
    const haul_field pointers =
        HAUL_ADDRESS(lender, borrowed, .target = &type, .levels = 2, .ownership = HAUL_BORROWED);
    const haul_field plain =
        HAUL_ADDRESS(lender, borrowed, .element_bytes = 1, .ownership = HAUL_BORROWED);
    type = type_new(&(const haul_struct)HAUL_PLAIN(node, NULL));
    check_borrowed(&one, NULL, type, damage);
    check_borrowed(&some, NULL, type, sample_is_left_to_walk);
    check_borrowed(&pointers, NULL, type, sample_is_left_to_walk);
    check_borrowed(&plain, NULL, type, sample_is_left_to_walk);
    haul_type_free(&type);
    type = TYPE_NEW(node, last_fields); /* its first byte travels always */
    check_borrowed(&one, NULL, type, damage);
    haul_type_free(&type);
    type = TYPE_NEW(node, inner_fields);
    check_borrowed(&one, NULL, type, sample_is_left_to_walk);
    haul_type_free(&type);
}

/* `borrowed` leads ahead, so the object is looked at again. */
TEST(image_arms, borrowed_pointers_are_looked_at_again_and_no_others)
{
    static haul_type *type;
    const haul_field fields[] = {
        HAUL_OBJECT(lender, at, &type),
        HAUL_STRING(lender, text, .when = HAUL_EQUALS(lender, rest, 0)),
        HAUL_ADDRESS(lender, borrowed, .target = &type, .ownership = HAUL_BORROWED),
    };
    char text[] = "a text";
    haul_type *lender_type;
    node at;
    lender l[2] = { { &at, text, &at, 0 }, { &at, NULL, &at, 1 } };
    memset(&at, 0, sizeof at);
    type = type_new(&(const haul_struct)HAUL_PLAIN(node, NULL));
    lender_type = TYPE_NEW(lender, fields);
    sample_check_objects(l, lender_type, 1, damage);
    sample_check_objects(l, lender_type, 2, damage); /* an array, which is not lent */
    haul_type_free(&lender_type);
    haul_type_free(&type);
}

typedef struct borrower {
    node *of; /* borrowed */
    uintptr_t number, other;
} borrower;

typedef struct borrowers {
    borrower *all; /* 3 */
    node *first;   /* of a chain, which ends behind them */
} borrowers;

TEST(image_arms, each_element_of_an_array_across_granules_is_looked_at_again)
{
    static haul_type *type, *borrower_type;
    const haul_field borrower_fields[] = { HAUL_OBJECT(borrower, of, &type,
                                                       .ownership = HAUL_BORROWED) };
    const haul_field fields[] = {
        HAUL_OBJECTS(borrowers, all, &borrower_type, HAUL_FIXED(3)),
        HAUL_OBJECT(borrowers, first, &type),
    };
    const haul_field node_fields[] = { HAUL_OBJECT(node, left, &type) };
    haul_type *root_type;
    borrower all[3];
    node at[3];
    borrowers root = { all, at };
    memset(all, 0, sizeof all);
    memset(at, 0, sizeof at);
    at[0].left = &at[1];
    at[1].left = &at[2];
    all[0].of = all[1].of = all[2].of = &at[2];
    type = TYPE_NEW(node, node_fields);
    borrower_type = TYPE_NEW(borrower, borrower_fields);
    root_type = TYPE_NEW(borrowers, fields);
    sample_check_objects(&root, root_type, 1, damage);
    haul_type_free(&root_type);
    haul_type_free(&borrower_type);
    haul_type_free(&type);
}

TEST(image_arms, an_object_that_is_lent_may_have_several_owners_with_tags)
{
    static haul_type *type;
    const haul_field fields[] = {
        HAUL_ADDRESS(lender, at, .target = &type, .tag_bits = 1),
        HAUL_ADDRESS(lender, text, .target = &type, .tag_bits = 1),
        HAUL_ADDRESS(lender, borrowed, .target = &type, .ownership = HAUL_BORROWED),
    };
    haul_type *lender_type;
    node at;
    lender l = { &at, (char *)&at + 1, &at, 0 };
    memset(&at, 0, sizeof at);
    type = type_new(&(const haul_struct)HAUL_PLAIN(node, NULL));
    lender_type = TYPE_NEW(lender, fields);
    sample_check_objects(&l, lender_type, 1, damage);
    haul_type_free(&lender_type);
    haul_type_free(&type);
}

TEST(image_arms, a_borrowed_pointer_to_nothing_is_refused_with_its_path)
{
    static haul_type *type;
    node at[NODES], *first;
    sample s;
    node_type_new(&type);
    build_nodes(at);
    sample_open(&s, at, type, 1);
    sample_is_accepted(&s);
    first = (node *)(void *)(s.parts.part[HAUL__SECTION_ARENA].at + 2 * WORD);
    first->parent = (node *)((uintptr_t)first->left + 2 * WORD);
    bitmap_put(&s.parts.part[HAUL__SECTION_BITS], 4, 1);
    sample_compare(&s, 0);
    CHECK(!sample_walk_accepts(&s));
    CHECK_STR(haul_context_error(s.walks)->text,
              "a borrowed pointer that leads to no object of its type");
    CHECK_STR(haul_context_error(s.walks)->path, "root.parent");
    sample_close(&s);
    haul_type_free(&type);
}

/* ---- What the walk refuses in objects with rules. */

/* An image of the object, with other bytes in one of its words. */
static void check_changed(const haul_field *fields, size_t count, const void *object, size_t at,
                          uintptr_t value, void (*check)(sample *))
{
    haul_type *type;
    many m;
    sample s;
    memcpy(&m, object, sizeof m);
    CHECK_STATUS(type_make("many", sizeof m, fields, count, &type), HAUL_OK);
    sample_open(&s, &m, type, 1);
    sample_is_accepted(&s);
    memcpy(s.parts.part[HAUL__SECTION_ARENA].at + 2 * WORD + at, &value, WORD);
    check(&s);
    sample_close(&s);
    haul_type_free(&type);
}

/* Such a word is fixed, so it must be data of nobody. */
TEST(image_arms, tags_without_a_pointer_are_refused_where_another_arm_may_be_data)
{
    static const struct {
        int tagged, other;
        void (*check)(sample *);
    } all[] = {
        { 0, 0, sample_is_accepted },
        { 1, 0, sample_is_accepted }, /* its own */
        { 0, 1, sample_is_refused },
        { 1, 1, sample_is_refused },
    };
    haul_field fields[] = {
        HAUL_ADDRESS(many, c, .element_bytes = 4, .tag_bits = 3,
                     .when = HAUL_EQUALS(many, count, 0)),
        HAUL_RAW(many, c, .when = HAUL_EQUALS(many, count, 1)),
        HAUL_RAW(many, c, .when = HAUL_EQUALS(many, count, 2)),
    };
    haul_type *type;
    many m;
    size_t i;
    memset(&m, 0, sizeof m);
    fields[1].name = "d";
    fields[2].name = "e";
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        fields[0].else_raw = all[i].tagged;
        fields[1].else_raw = all[i].other;
        check_note("case %zu", i);
        CHECK_STATUS(type_make("many", sizeof m, fields, 3, &type), HAUL_OK);
        m.c = (many *)1;
        sample_check_objects(&m, type, 1, all[i].check);
        m.c = NULL;
        sample_check_objects(&m, type, 1, sample_is_accepted);
        check_note(NULL);
        haul_type_free(&type);
    }
}

TEST(image_arms, bytes_that_do_not_travel_are_zeros_whether_their_row_holds_or_not)
{
    haul_field field = HAUL_RAW(many, large, .when = HAUL_EQUALS(many, count, 0));
    many m;
    memset(&m, 0, sizeof m);
    check_changed(&field, 1, &m, offsetof(many, large), 1, sample_is_accepted);
    field.when.kind = HAUL_WHEN_KIND_NOT;
    check_changed(&field, 1, &m, offsetof(many, large), 1, sample_is_refused);
    field.when.kind = HAUL_WHEN_KIND_FIELD;
    field.transfer = HAUL_CREATE;
    CHECK_JUDGES(0, field);
    field.transfer = HAUL_COPYIN;
    CHECK_JUDGES(0, field);
}

/* Skipped bytes at the end of a struct are those of no object; within it they are its own. */
static void check_number_in_rest(haul_field field)
{
    static const size_t ends[] = { 0, WORD };
    haul_field fields[2];
    haul_type *type;
    many m[2];
    size_t i;
    memset(m, 0, sizeof m);
    m[0].c = &m[1];
    fields[0] = field;
    fields[1] = (haul_field)HAUL_SKIP(many, rest);
    for (i = 0; i < 2; i++) {
        const haul_root root = { m, NULL, 1 };
        haul_root roots[1];
        fields[1].bytes = sizeof m->rest - ends[i];
        CHECK_STATUS(type_make("told", sizeof *m, &fields[1], 1, &many_type), HAUL_OK);
        CHECK_STATUS(type_make("many", sizeof *m, fields, 2, &type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(many_type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(type), HAUL_OK);
        roots[0] = root;
        roots[0].type = type;
        check_note("%zu bytes behind the number", ends[i]);
        sample_check_roots(roots, 1, i ? sample_is_accepted : sample_is_refused);
        check_note(NULL);
        haul_type_free(&type);
        haul_type_free(&many_type);
    }
}

TEST(image_arms, numbers_behind_the_last_byte_that_travels_are_left_to_the_walk)
{
    static const haul_case cases[] = { { 0, &many_type, 0 } };
    check_number_in_rest((haul_field)HAUL_RAW(many, a, .when = HAUL_EQUALS(many, rest[0], 0)));
    check_number_in_rest(
        (haul_field)HAUL_ADDRESS(many, c, .type_switch = HAUL_SWITCH(many, rest[0], cases)));
    check_number_in_rest(
        (haul_field)HAUL_ADDRESS(many, c, .type_switch = HAUL_SWITCH_TARGET(many, rest[0], cases)));
    check_number_in_rest(
        (haul_field)HAUL_OBJECTS(many, c, &many_type, HAUL_COUNT_PLUS(many, rest[0], 1)));
}

typedef struct item {
    uint64_t tag, rest;
} item;

typedef struct holding {
    uintptr_t kind, number;
    unsigned char rest[512 - 3 * WORD];
    many *in; /* all that is left of a type that was cut */
} holding;

static haul_type *cut_type;

/* A type of a pointer, whose count is the byte at this offset, cut behind the pointer. */
static void make_cut_type(size_t offset)
{
    const size_t bytes = (offset + WORD) / WORD * WORD;
    haul_type *whole;
    haul_field fields[2];
    fields[0] = (haul_field)HAUL_OBJECTS(many, c, &other_type, HAUL_COUNT(many, rest[0]));
    fields[0].offset = 0;
    fields[0].count.field[0].offset = offset;
    fields[0].count.field[0].sign = 0;
    fields[0].element_bytes = 0;
    fields[1] = (haul_field)HAUL_SKIP(many, rest);
    fields[1].offset = WORD;
    fields[1].bytes = bytes - WORD;
    CHECK_STATUS(type_make("whole", bytes, fields, 2, &whole), HAUL_OK);
    CHECK_STATUS(haul_type_create_resized(whole, 0, WORD, &cut_type), HAUL_OK);
    haul_type_free(&whole);
}

/* A type that was cut may count by bytes behind its extent. Where a struct ends with such an
 * element, these are the next struct's, or lie behind the block. */
TEST(image_arms, a_count_behind_the_struct_is_refused)
{
    static const size_t offsets[] = { WORD, 2 * WORD - 1, 600, (size_t)1 << 28 };
    static haul_field fields[] = {
        HAUL_EMBED(holding, in, &cut_type),
        HAUL_RAW(holding, number, .when = HAUL_EQUALS(holding, kind, 0)),
    };
    haul_type *plain = type_new(&(const haul_struct)HAUL_PLAIN(holding, NULL)), *type;
    holding h[2];
    sample s;
    size_t i, count;
    memset(h, 0, sizeof h);
    other_type = type_new(&(const haul_struct)HAUL_PLAIN(many, NULL));
    for (i = 0; i < sizeof offsets / sizeof *offsets; i++)
        for (count = 1; count <= 2; count++) {
            check_note("%zu rows, and a count at byte %zu", count, offsets[i]);
            make_cut_type(offsets[i]);
            CHECK_STATUS(type_make("holding", sizeof *h, fields, count, &type), HAUL_OK);
            CHECK_STATUS(haul_type_commit(type), HAUL_OK);
            sample_open(&s, h, plain, 2);
            s.roots[0].type = type;
            sample_is_refused(&s);
            sample_close(&s);
            haul_type_free(&type);
            haul_type_free(&cut_type);
        }
    check_note(NULL);
    haul_type_free(&other_type);
    haul_type_free(&plain);
}

typedef struct crossed {
    char *some, *one;
} crossed;

/* The bytes of a struct behind such an element may be a pointer, whose value changes with the place
 * of the block. Here its lowest byte is the count, by chance. */
TEST(image_arms, a_count_in_a_pointer_of_the_struct_around_is_refused)
{
    enum { COUNT = 256 - 2 * WORD };
    static haul_field fields[] = {
        HAUL_EMBED(crossed, some, &cut_type),
        HAUL_BYTES(crossed, one, HAUL_ONE),
    };
    static const haul_field plain_fields[] = {
        HAUL_BYTES(crossed, some, HAUL_FIXED(COUNT)),
        HAUL_BYTES(crossed, one, HAUL_ONE),
    };
    char some[COUNT], one = 1;
    crossed c = { some, &one };
    haul_type *plain = TYPE_NEW(crossed, plain_fields), *type;
    sample s;
    memset(some, 1, sizeof some);
    CHECK_STATUS(type_make("byte", 1, NULL, 0, &other_type), HAUL_OK);
    make_cut_type(WORD);
    CHECK_STATUS(type_make("crossed", sizeof c, fields, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    sample_open(&s, &c, plain, 1);
    s.roots[0].type = type;
    CHECK(!sample_walk_accepts(&s));
    CHECK_HAS(haul_context_error(s.walks)->text, "lies in a pointer");
    sample_is_refused(&s);
    sample_close(&s);
    haul_type_free(&type);
    haul_type_free(&plain);
    haul_type_free(&cut_type);
    haul_type_free(&other_type);
}

/* A pointer to no elements may lead anywhere, and the number there is somebody else's. */
TEST(image_arms, the_number_of_no_elements_is_refused)
{
    static const haul_case cases[] = { { 0, &other_type, 0 } };
    const haul_field field = HAUL_ADDRESS(many, c, .count = HAUL_COUNT(many, count),
                                          .type_switch = HAUL_SWITCH_TARGET(item, tag, cases));
    haul_field fields[2];
    item one = { 0, 5 };
    many m;
    memset(&m, 0, sizeof m);
    m.c = (void *)&one;
    m.count = 1;
    fields[0] = field;
    fields[1] = (haul_field)HAUL_ADDRESS(many, a, .target = &other_type);
    other_type = type_new(&(const haul_struct)HAUL_PLAIN(item, NULL));
    CHECK_STATUS(haul_type_commit(other_type), HAUL_OK);
    check_changed(fields, 1, &m, offsetof(many, count), 0, sample_is_refused);
    m.a = (void *)&one; /* the object is there all the same */
    check_changed(fields, 2, &m, offsetof(many, count), 0, sample_is_left_to_walk);
    haul_type_free(&other_type);
}

TEST(image_arms, a_pointer_to_no_elements_may_lead_anywhere_if_its_struct_tells_their_type)
{
    static const haul_case cases[] = { { 0, &other_type, 0 } };
    const haul_field field = HAUL_ADDRESS(many, c, .count = HAUL_COUNT(many, count),
                                          .type_switch = HAUL_SWITCH(many, other, cases));
    item one = { 0, 0 };
    many m;
    memset(&m, 0, sizeof m);
    m.c = (void *)&one;
    m.count = 1;
    other_type = type_new(&(const haul_struct)HAUL_PLAIN(item, NULL));
    CHECK_STATUS(haul_type_commit(other_type), HAUL_OK);
    check_changed(&field, 1, &m, offsetof(many, count), 0, sample_is_accepted);
    haul_type_free(&other_type);
}

/* Where the target tells it, the pointer must not lead into an object of that type. */
TEST(image_arms, the_number_of_no_elements_within_an_object_is_refused)
{
    static const haul_case cases[] = { { 0, &other_type, 0 } };
    static const haul_field fields[] = {
        HAUL_ADDRESS(many, c, .count = HAUL_COUNT(many, count),
                     .type_switch = HAUL_SWITCH_TARGET(item, tag, cases)),
        HAUL_ADDRESS(many, a, .target = &other_type, .tag_bits = 1), /* comes before `c` */
    };
    item all[2];
    many m;
    sample s;
    unsigned char *at;
    uintptr_t to;
    memset(all, 0, sizeof all);
    memset(&m, 0, sizeof m);
    m.a = (void *)all;
    other_type = type_new(&(const haul_struct){ .name = "two", .bytes = sizeof all });
    many_type = TYPE_NEW(many, fields);
    sample_open(&s, &m, many_type, 1);
    sample_is_accepted(&s);
    at = s.parts.part[HAUL__SECTION_ARENA].at + 2 * WORD;
    memcpy(&to, at + offsetof(many, a), WORD);
    to += WORD;
    memcpy(at + offsetof(many, c), &to, WORD);
    bitmap_put(&s.parts.part[HAUL__SECTION_BITS], 2 + offsetof(many, c) / WORD, 1);
    sample_is_refused(&s);
    sample_compare(&s, 0);
    sample_close(&s);
    haul_type_free(&many_type);
    haul_type_free(&other_type);
}

/* Nor is it one of a type that the scan does not know, whose code is that of free granules. */
TEST(image_arms, the_number_of_no_elements_of_an_unknown_type_is_refused)
{
    static const haul_case cases[] = { { 0, &other_type, 0 } };
    const haul_field field = HAUL_ADDRESS(many, c, .count = HAUL_COUNT(many, count),
                                          .type_switch = HAUL_SWITCH_TARGET(item, tag, cases));
    const haul_field item_fields[] = {
        HAUL_RAW(item, tag),
        HAUL_RAW(item, rest, .when = HAUL_EQUALS(item, tag, 0), .transfer = HAUL_CREATE),
    };
    many m;
    memset(&m, 0, sizeof m);
    CHECK_STATUS(type_make("item", sizeof(item), item_fields, 2, &other_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(other_type), HAUL_OK);
    check_changed(&field, 1, &m, offsetof(many, c), 2 * WORD, sample_is_refused); /* the root */
    haul_type_free(&other_type);
}

typedef struct told {
    item *one; /* by its tag */
    item *some;
    uint64_t count;
} told;

/* Each pointer reads the tag, and each array covers it. */
TEST(image_arms, arrays_of_objects_that_tell_their_types_do_not_overlap)
{
    enum { ITEMS = 32, TOLD = ITEMS * ITEMS / 4 };
    static haul_type *item_type;
    static const haul_case cases[] = { { 0, &item_type, 0 } };
    static const haul_field fields[] = {
        HAUL_ADDRESS(told, one, .type_switch = HAUL_SWITCH_TARGET(item, tag, cases)),
        HAUL_OBJECTS(told, some, &item_type, HAUL_COUNT(told, count)),
    };
    static item items[ITEMS];
    static told all[TOLD];
    haul_type *type;
    size_t i;
    memset(all, 0, sizeof all);
    item_type = type_new(&(const haul_struct)HAUL_PLAIN(item, NULL));
    type = TYPE_NEW(told, fields);
    CHECK_STATUS(haul_type_commit(item_type), HAUL_OK);
    for (i = 1; i < TOLD; i++)
        all[i].one = &items[ITEMS / 2];
    all[0].some = items;
    all[0].count = ITEMS;
    sample_check_objects(all, type, TOLD, sample_is_accepted);
    all[1].some = &items[1];
    all[1].count = ITEMS - 1;
    sample_check_objects(all, type, TOLD, sample_is_left_to_walk);
    for (i = 0; i < TOLD; i++) {
        const size_t first = i % (ITEMS / 2), last = ITEMS / 2 + i / (ITEMS / 2);
        all[i].some = &items[first];
        all[i].count = last - first + 1;
    }
    all[TOLD - 1] = all[0];
    all[0].some = items;
    all[0].count = ITEMS;
    sample_check_objects(all, type, TOLD, sample_is_refused);
    haul_type_free(&type);
    haul_type_free(&item_type);
}

TEST(image_arms, arrays_of_objects_whose_types_are_told_elsewhere_may_be_met_again)
{
    static haul_type *item_type;
    static const haul_case cases[] = { { 3, &item_type, 0 } };
    static const haul_field fields[] = { HAUL_ADDRESS(many, c, .count = HAUL_COUNT(many, count),
                                                      .type_switch =
                                                          HAUL_SWITCH(many, other, cases)) };
    haul_type *type;
    item items[2];
    many m[2];
    size_t i;
    memset(items, 0, sizeof items);
    memset(m, 0, sizeof m);
    for (i = 0; i < 2; i++) {
        m[i].c = (void *)items;
        m[i].count = 2;
        m[i].other = 3;
    }
    item_type = type_new(&(const haul_struct)HAUL_PLAIN(item, NULL));
    type = TYPE_NEW(many, fields);
    sample_check_objects(m, type, 2, sample_is_accepted);
    haul_type_free(&type);
    haul_type_free(&item_type);
}

typedef struct hop {
    int32_t to; /* a distance, null */
} hop;

/* A row that always holds reads no field, also where an object ends with the block. */
TEST(image_arms, the_walk_reads_no_bytes_behind_the_last_object)
{
    static haul_type *hop_type;
    static hop hops[WORD];
    const haul_field hop_fields[] = { HAUL_RELATIVE(hop, to, .element_bytes = 1) };
    const haul_field fields[] = {
        HAUL_ADDRESS(lender, at, .target = &hop_type, .count = HAUL_FIXED(WORD)),
        HAUL_ADDRESS(lender, borrowed, .element_bytes = 1, .ownership = HAUL_BORROWED),
    };
    haul_type *type;
    lender l;
    sample s;
    uintptr_t last;
    memset(&l, 0, sizeof l);
    l.at = (void *)hops;
    l.borrowed = &l.rest;
    hop_type = TYPE_NEW(hop, hop_fields);
    CHECK_STATUS(haul_type_commit(hop_type), HAUL_OK);
    type = TYPE_NEW(lender, fields);
    sample_open(&s, &l, type, 1);
    sample_is_left_to_walk(&s);
    last = s.bytes - sizeof(hop);
    memcpy(s.parts.part[HAUL__SECTION_ARENA].at + 2 * WORD + offsetof(lender, borrowed), &last,
           WORD);
    sample_is_refused(&s); /* it leads to no plain byte */
    sample_close(&s);
    haul_type_free(&type);
    haul_type_free(&hop_type);
}

/* ---- Arenas of several pieces, which come one by one. */

enum { PIECE = 1 << 16, LINKS = 3 * PIECE / 512, CELLS = 3 * PIECE / (3 * WORD) };

/* The scan accepts the image. Letters in its last piece are then called a pointer: the piece is
 * wrong, and so is the image, whatever the scan waits for. */
static void check_last_piece(sample *s)
{
    const size_t word = s->bytes / WORD - 3;
    CHECK(s->bytes > 2 * PIECE);
    sample_is_accepted(s);
    CHECK_EQ(sample_has_bit(s, word), 0);
    memset(s->parts.part[HAUL__SECTION_ARENA].at + word * WORD, 'x', WORD);
    sample_is_accepted(s);
    bitmap_put(&s->parts.part[HAUL__SECTION_BITS], word, 1);
    sample_is_refused(s);
    CHECK_HAS(haul_context_error(s->walks)->text, "leads out of it");
    sample_compare(s, 0);
}

typedef struct link {
    uintptr_t kind;
    struct link *next; /* if kind is 1 */
    unsigned char rest[512 - 2 * WORD];
} link;

TEST(image_arms, objects_with_rules_in_later_pieces_are_judged_when_they_have_come)
{
    static haul_type *type;
    const haul_field fields[] = { HAUL_OBJECT(link, next, &type,
                                              .when = HAUL_EQUALS(link, kind, 1)) };
    link *at = calloc(LINKS, sizeof *at);
    size_t i;
    CHECK(at != NULL);
    for (i = 0; i + 1 < LINKS; i++) {
        at[i].kind = 1;
        at[i].next = &at[i + 1];
    }
    type = TYPE_NEW(link, fields);
    sample_check_objects(at, type, 1, check_last_piece);
    haul_type_free(&type);
    free(at);
}

TEST(image_arms, arrays_of_objects_with_rules_are_judged_when_they_have_come)
{
    static haul_type *cell_type;
    const haul_field cell_fields[] = {
        HAUL_OBJECT(cell, is.cell, &cell_type, .when = HAUL_EQUALS(cell, kind, 2)),
        HAUL_RAW(cell, text, .when = HAUL_EQUALS(cell, kind, 1)),
    };
    cell *cells = calloc(CELLS, sizeof *cells);
    size_t i;
    CHECK(cells != NULL);
    for (i = 0; i < CELLS; i++)
        cells[i].kind = 1;
    cell_type = TYPE_NEW(cell, cell_fields);
    sample_check_objects(cells, cell_type, CELLS, check_last_piece);
    haul_type_free(&cell_type);
    free(cells);
}

enum { FAR_TARGETS = 4 };

typedef struct far_targets {
    shape *told[FAR_TARGETS]; /* the last one begins in the last piece */
} far_targets;

typedef struct large_shape {
    shape is; /* of kind 7 */
    unsigned char rest[PIECE * 7 / 10];
} large_shape;

TEST(image_arms, a_target_in_a_later_piece_tells_its_type_when_it_has_come)
{
    static haul_type *shape_type;
    static const haul_case cases[] = { { 7, &shape_type, 0 } };
    const haul_field fields[] = {
        HAUL_EACH(far_targets, told, .type_switch = HAUL_SWITCH_TARGET(shape, kind, cases)),
    };
    large_shape *told = calloc(FAR_TARGETS, sizeof *told);
    far_targets root;
    haul_type *type;
    size_t i;
    CHECK(told != NULL);
    for (i = 0; i < FAR_TARGETS; i++) {
        told[i].is.kind = 7;
        root.told[i] = &told[i].is;
    }
    shape_type = type_new(&(const haul_struct)HAUL_PLAIN(large_shape, NULL));
    type = TYPE_NEW(far_targets, fields);
    sample_check_objects(&root, type, 1, check_last_piece);
    haul_type_free(&type);
    haul_type_free(&shape_type);
    free(told);
}

/* ---- Made-up types. */

enum { CROWD = 100 };

typedef struct crowd {
    uint64_t kind;
    void *at;
} crowd;

/* Each of the types leads to all. */
static void make_crowd(haul_type **types)
{
    static haul_field fields[CROWD];
    char names[CROWD][8];
    haul_struct plain = { .bytes = sizeof(crowd) };
    size_t i, k;
    for (i = 0; i < CROWD; i++) {
        snprintf(names[i], sizeof names[i], "n%u", (unsigned)i);
        plain.name = names[i];
        CHECK_STATUS(haul_type_create(type_context(), &plain, &types[i]), HAUL_OK);
    }
    for (i = 0; i < CROWD; i++) {
        for (k = 0; k < CROWD; k++) {
            const haul_field row =
                HAUL_ADDRESS(crowd, at, .target = &types[k], .when = HAUL_EQUALS(crowd, kind, 0));
            fields[k] = row;
            fields[k].name = names[k];
            fields[k].when.low = fields[k].when.high = (int64_t)k;
        }
        CHECK_STATUS(haul_type_add(types[i], fields, CROWD), HAUL_OK);
    }
    for (i = 0; i < CROWD; i++)
        CHECK_STATUS(haul_type_commit(types[i]), HAUL_OK);
}

TEST(image_arms, a_type_is_judged_once_however_many_pointers_lead_to_it)
{
    static haul_type *types[CROWD];
    const haul_allocator *allocator = &type_context()->allocator;
    haul__kinds kinds;
    haul_root root;
    size_t i;
    memset(&root, 0, sizeof root);
    root.count = 1;
    make_crowd(types);
    root.type = types[0];
    CHECK_STATUS(haul__kinds_open(&kinds, allocator, &root, 1, 1 << 20), HAUL_OK);
    CHECK_EQ(kinds.list.count, CROWD);
    CHECK_EQ(kinds.judged, CROWD * (1 + CROWD));
    haul__kinds_close(&kinds);
    for (i = 0; i < CROWD; i++)
        haul_type_free(&types[i]);
}

typedef struct vain {
    uint32_t kind, number;
    char rest[600]; /* more than the scan judges */
} vain;

/* Is the last pointer of a struct to a plain type known, behind as many to a type that has `rows`
 * rows and is not known? */
static int is_known_behind(size_t pointers, size_t rows)
{
    static haul_type *vain_type, *plain_type;
    haul_field *fields = calloc(pointers > rows ? pointers + 1 : rows, sizeof *fields);
    char(*names)[16] = calloc(pointers > rows ? pointers + 1 : rows, sizeof *names);
    haul_root root = { NULL, NULL, 1 };
    haul_type *type;
    haul__kinds kinds;
    size_t i;
    int is_known;
    CHECK(fields && names);
    for (i = 0; i < rows; i++) {
        fields[i] = (haul_field)HAUL_RAW(vain, number, .when = HAUL_EQUALS(vain, kind, 0));
        fields[i].when.low = fields[i].when.high = (int64_t)i;
        snprintf(names[i], sizeof *names, "n%u", (unsigned)i);
        fields[i].name = names[i];
    }
    CHECK_STATUS(type_make("vain", sizeof(vain), fields, rows, &vain_type), HAUL_OK);
    plain_type = type_new(&(const haul_struct)HAUL_PLAIN(leaf, NULL));
    for (i = 0; i <= pointers; i++) {
        fields[i] = (haul_field)HAUL_ADDRESS(lender, at, .target = &vain_type);
        fields[i].offset = i * WORD;
        snprintf(names[i], sizeof *names, "n%u", (unsigned)i);
        fields[i].name = names[i];
    }
    fields[pointers].target = &plain_type;
    CHECK_STATUS(type_make("many", (pointers + 1) * WORD, fields, pointers + 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    root.type = type;
    CHECK_STATUS(haul__kinds_open(&kinds, &type_context()->allocator, &root, 1, 1 << 20), HAUL_OK);
    CHECK_EQ(kinds.list.at[0].links[0].code, HAUL__CODE_FREE);
    is_known = kinds.list.at[0].links[pointers].code != HAUL__CODE_FREE;
    CHECK_EQ(kinds.list.count, is_known ? 2 : 1);
    haul__kinds_close(&kinds);
    haul_type_free(&type);
    haul_type_free(&vain_type);
    haul_type_free(&plain_type);
    free(fields);
    free(names);
    return is_known;
}

TEST(image_arms, once_types_have_been_judged_long_in_vain_new_ones_are_unknown)
{
    CHECK(is_known_behind(250, 1000));
    CHECK(!is_known_behind(300, 1000));
}
