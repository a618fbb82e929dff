/* Wrong optional members: commit refuses each with the field's name and a sentence. T12 (arms of a
 * union that nothing tells apart) and T17 (elements without a fixed size). Faults that only objects
 * show are in test_rules.c.
 */
#include <string.h>

#include "haul/type.h"
#include "haul/type_mpi.h"
#include "support/check.h"
#include "support/types.h"

typedef struct thing {
    struct thing *next;
    int32_t kind, count;
    union {
        struct thing *child;
        double *values;
        char bytes[16];
    } u;
    uint64_t word;
    int32_t narrow, pad;
} thing;

static haul_type *thing_type;

static haul_status commit_rows(const haul_field *fields, size_t count, haul_type **type)
{
    CHECK_STATUS(type_make("thing", sizeof(thing), fields, count, type), HAUL_OK);
    thing_type = *type;
    return haul_type_commit(*type);
}

static void refuse(const haul_field *fields, size_t count, const char *path, const char *word)
{
    haul_type *type;
    CHECK_STATUS(commit_rows(fields, count, &type), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, path);
    CHECK_HAS(type_error()->text, word);
    haul_type_free(&type);
}

static void accept(const haul_field *fields, size_t count)
{
    haul_type *type;
    haul_status status = commit_rows(fields, count, &type);
    check_note("%s", type_error()->text);
    CHECK_STATUS(status, HAUL_OK);
    check_note(NULL);
    haul_type_free(&type);
}

static void refuse_row(const haul_field *row, const char *word)
{
    refuse(row, 1, "thing.next", word);
}

static int64_t zero(const haul_here *here)
{
    (void)here;
    return 0;
}

TEST(rule_faults, T12_rows_that_overlap_need_a_condition_each)
{
    haul_field rows[] = { HAUL_OBJECT(thing, u.child, &thing_type,
                                      .when = HAUL_EQUALS(thing, kind, 1)),
                          HAUL_ARRAY(thing, u.values, HAUL_COUNT(thing, count)) };
    refuse(rows, 2, "thing.u.values", "unless each has a `.when`");
    rows[1].ownership = HAUL_BORROWED;
    refuse(rows, 2, "thing.u.values", "unless each has a `.when`");
    rows[1].ownership = HAUL_OWNED;
    rows[1].when = (haul_when)HAUL_EQUALS(thing, kind, 2);
    accept(rows, 2);
}

TEST(rule_faults, T12_arms_that_hold_for_one_value_are_found_before_any_object_is)
{
    haul_field rows[] = {
        HAUL_OBJECT(thing, u.child, &thing_type, .when = HAUL_BETWEEN(thing, kind, 1, 4)),
        HAUL_RAW(thing, u.bytes, .when = HAUL_EQUALS(thing, kind, 4)),
    };
    refuse(rows, 2, "thing.u.bytes", "is 4.");
    rows[1].when = (haul_when)HAUL_EQUALS(thing, kind, 5);
    accept(rows, 2);
    rows[1].when = (haul_when)HAUL_EQUALS(thing, count, 4);
    accept(rows, 2); /* another field: the objects will show */
}

TEST(rule_faults, T12_the_field_that_tells_arms_apart_lies_in_the_struct_and_in_no_pointer)
{
    haul_field row = HAUL_OBJECT(thing, u.child, &thing_type, .when = HAUL_EQUALS(thing, kind, 1));
    accept(&row, 1);
    row.when.field.offset = offsetof(thing, u);
    refuse(&row, 1, "thing.u.child", "lies in a pointer field");
    row.when.field.offset = sizeof(thing) - 2;
    refuse(&row, 1, "thing.u.child", "lies outside of the type's");
    row.when.field.offset = SIZE_MAX;
    refuse(&row, 1, "thing.u.child", "lies outside of the type's");
    row.when.field.offset = offsetof(thing, kind);
    row.when.field.bytes = 3;
    refuse(&row, 1, "thing.u.child", "has 3 bytes");
}

TEST(rule_faults, conditions_that_can_never_hold_or_do_not_exist_are_refused)
{
    haul_field row = HAUL_OBJECT(thing, next, &thing_type, .when = HAUL_BETWEEN(thing, kind, 5, 4));
    refuse_row(&row, "no value lies between 5 and 4");
    row.when.low = row.when.high = 5;
    row.when.mask = 4;
    refuse_row(&row, "no value is 5 in the bits of the mask 4");
    row.when.kind = 9;
    refuse_row(&row, "of kind 9");
    row.when.kind = HAUL_WHEN_KIND_FUNCTION;
    refuse_row(&row, "function of `.when` is NULL");
    row.when.kind = HAUL_WHEN_KIND_ALWAYS;
    row.else_raw = 1;
    refuse_row(&row, "`.else_raw` needs a `.when`");
}

TEST(rule_faults, modes_that_do_not_follow_refuse_what_says_how_to_follow)
{
    haul_field row = HAUL_OBJECT(thing, next, &thing_type, .ownership = HAUL_BORROWED, .base = 8);
    refuse_row(&row, "It is borrowed, so that it is not followed; but it has a `.base`");
    row.base = 0;
    row.ownership = HAUL_EXTERNAL;
    row.tag_bits = 1;
    refuse_row(&row, "It is external, so that it is not followed; but it has a tag");
    row.ownership = (haul_ownership)77;
    refuse_row(&row, "`.ownership` is 77");
}

TEST(rule_faults, tag_bits_that_a_target_does_not_leave_free_are_refused)
{
    haul_field row = HAUL_OBJECT(thing, next, &thing_type, .tag_bits = 63);
    refuse_row(&row, "want a target that is aligned above them, and thing is not");
    row.tag_bits = 7;
    row.integers_below = 100;
    row.integers_from = 100;
    refuse_row(&row, "Every word is an integer");
}

TEST(rule_faults, choices_without_cases_or_with_one_value_twice_are_refused)
{
    const haul_case twice[] = { { 1, &thing_type, 0 },
                                { 2, &thing_type, 0 },
                                { 1, &thing_type, 0 } };
    const haul_case none[] = { { 1, NULL, 0 } };
    haul_type *missing = NULL;
    haul_case unmade[] = { { 3, NULL, 0 } };
    size_t bytes;
    haul_field row = HAUL_ADDRESS(thing, next, .type_switch = HAUL_SWITCH(thing, kind, twice));
    refuse(&row, 1, "thing.next", "Two cases have the value 1");
    row.type_switch.cases = none;
    row.type_switch.case_count = 1;
    refuse(&row, 1, "thing.next", "Case 1 has no type");
    unmade[0].type = &missing;
    row.type_switch.cases = unmade;
    refuse(&row, 1, "thing.next", "The handle of case 3 is NULL");
    CHECK_STATUS(type_make("thing", sizeof(thing), &row, 1, &thing_type), HAUL_OK);
    CHECK_STATUS(haul_type_size(thing_type, &bytes), HAUL_OK); /* it may be made later */
    CHECK_EQ(bytes, sizeof(thing));
    haul_type_free(&thing_type);
    row.type_switch.case_count = 0;
    refuse(&row, 1, "thing.next", "has no cases");
    row.type_switch.cases = twice;
    row.type_switch.case_count = 2;
    row.target = &thing_type;
    refuse(&row, 1, "thing.next", "both a `.target` and a `.type_switch`");
    row.target = NULL;
    row.type_switch.kind = HAUL_SWITCH_KIND_FUNCTION;
    refuse(&row, 1, "thing.next", "function of `.type_switch` is NULL");
    row.type_switch.function = zero;
    row.count.kind = HAUL_COUNT_KIND_TERMINATED;
    refuse(&row, 1, "thing.next", "cannot end at a value");
    row.count.kind = HAUL_COUNT_KIND_ONE;
    accept(&row, 1);
}

TEST(rule_faults, rows_of_other_kinds_and_deeper_levels_take_conditions_only)
{
    haul_field row = HAUL_ADDRESS(thing, next, .levels = 2, .target = &thing_type,
                                  .count = HAUL_FIXED(2), .tag_bits = 1);
    refuse(&row, 1, "thing.next", "can have `.when`, `.ownership` and");
    row.tag_bits = 0;
    row.ownership = HAUL_BORROWED;
    accept(&row, 1);
    row.kind = HAUL_FIELD_RAW;
    refuse(&row, 1, "thing.next", "can have `.when`, `.else_raw` and `.transfer` only");
    row.kind = HAUL_FIELD_SKIP;
    refuse(&row, 1, "thing.next", "can have `.when`, `.else_raw` and `.transfer` only");
}

TEST(rule_faults, distances_of_other_widths_or_with_tags_are_refused)
{
    haul_field row = HAUL_RELATIVE(thing, narrow, .target = &thing_type);
    accept(&row, 1);
    row.tag_bits = 1;
    refuse(&row, 1, "thing.narrow", "neither tags nor integers");
    row.tag_bits = 0;
    row.bytes = 2;
    refuse(&row, 1, "thing.narrow", "4 or 8 bytes");
}

/* Each of these members, beside all the others that are right. */
typedef struct fault {
    haul_field row;
    const char *words;
} fault;

static void refuse_each(const fault *faults, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        check_note("number %d", (int)i);
        refuse(&faults[i].row, 1, "thing.next", faults[i].words);
    }
    check_note(NULL);
}

#define NEXT(...) HAUL_ADDRESS(thing, next, .target = &thing_type, __VA_ARGS__)

TEST(rule_faults, each_member_that_cannot_be_there_is_refused_by_itself)
{
    static const haul_field ended = { .end_of = { .offset = offsetof(thing, word),
                                                  .bytes = sizeof(void *) } };
    static const haul_case cases[] = { { 1, &thing_type, 0 } };
    const fault faults[] = {
        { NEXT(.ownership = HAUL_BORROWED, .base_fn = zero), "has a `.base`" },
        { NEXT(.ownership = HAUL_EXTERNAL, .integers_below = 9), "tag or integer" },
        { NEXT(.ownership = HAUL_EXTERNAL, .integers_from = 9), "tag or integer" },
        { NEXT(.transfer = (haul_transfer)9), "`.transfer` is 9" },
        { NEXT(.count = HAUL_UNTIL(thing, u.child), .ownership = HAUL_BORROWED), "begin/end pair" },
        { NEXT(.count = HAUL_UNTIL(thing, u.child), .maybe_static = 1), "begin/end pair" },
        { NEXT(.levels = 2, .count = HAUL_FIXED(2), .each_pointer = &ended), "has an `.end_of`" },
        { NEXT(.element_bytes = 0, .tag_bits = 16), "want a target that is aligned above" },
        { HAUL_ADDRESS(thing, next, .element_bytes = 8, .tag_bits = 31),
          "and plain memory is not" },
        { HAUL_POOL(thing, next, HAUL_COUNT(thing, count),
                    .type_switch = HAUL_SWITCH(thing, kind, cases)),
          "has a target type" },
    };
    haul_field row = NEXT(.when = HAUL_BETWEEN(thing, kind, 5, 6));
    refuse_each(faults, sizeof faults / sizeof *faults);
    row.when.mask = 4;
    accept(&row, 1); /* 6 is 4 in the bits of the mask */
    row = (haul_field)NEXT(.count = HAUL_UNTIL(thing, u.child));
    accept(&row, 1);
    row = (haul_field)HAUL_ADDRESS(thing, next, .element_bytes = 8, .ownership = HAUL_BORROWED,
                                   .when = HAUL_DIFFERS(thing, kind, 5));
    accept(&row, 1);
    row.when.field.offset = offsetof(thing, next);
    refuse_row(&row, "lies in a pointer field");
}

/* Of two faults the first one is told. */
TEST(rule_faults, what_is_wrong_first_is_told)
{
    haul_field nothing = HAUL_SKIP(thing, next);
    haul_type *empty;
    haul_case cases[] = { { 1, &empty, 0 }, { 2, &thing_type, 0 } };
    haul_field rows[] = {
        HAUL_ADDRESS(thing, next, .target = &empty),
        HAUL_ADDRESS(thing, u.child, .target = &empty),
    };
    nothing.bytes = sizeof(thing);
    CHECK_STATUS(type_make("empty", sizeof(thing), &nothing, 1, &empty), HAUL_OK);
    refuse(rows, 2, "thing.next", "of which no byte travels");
    rows[0] = (haul_field)HAUL_ADDRESS(thing, next, .type_switch = HAUL_SWITCH(thing, kind, cases));
    refuse(rows, 1, "thing.next", "of which no byte travels");
    cases[0].type = &thing_type;
    cases[1].type = &thing_type;
    rows[0].tag_bits = 63;
    refuse(rows, 1, "thing.next", "want a target that is aligned above them");
    rows[0] = (haul_field)HAUL_RAW(thing, kind, .transfer = HAUL_COPYOUT);
    rows[1] = (haul_field)HAUL_ARRAY(thing, u.values, HAUL_COUNT(thing, kind, kind));
    refuse(rows, 2, "thing.u.values", "by its `.transfer` is not read");
    haul_type_free(&empty);
}

/* ---- Fields that are not sent. */

typedef struct unsent_part {
    int32_t before, count, behind, in;
} unsent_part;

typedef struct unsent {
    int32_t first, second;
    unsent_part part;
    double *values;
    int64_t arm[2];
} unsent;

TEST(rule_faults, a_count_is_read_where_it_is_sent_whatever_lies_beside_it)
{
    static haul_type *part_type;
    const haul_field part_fields[] = { HAUL_RAW(unsent_part, before, .transfer = HAUL_COPYOUT),
                                       HAUL_RAW(unsent_part, behind, .transfer = HAUL_COPYOUT),
                                       HAUL_RAW(unsent_part, in, .transfer = HAUL_COPYIN) };
    haul_field rows[] = {
        HAUL_ARRAY(unsent, values, HAUL_COUNT(unsent, part.count)),
        HAUL_EMBED(unsent, part, &part_type),
        HAUL_RAW(unsent, first, .transfer = HAUL_COPYOUT),
        HAUL_RAW(unsent, second, .transfer = HAUL_COPYOUT),
        HAUL_RAW(unsent, arm, .transfer = HAUL_COPYOUT, .when = HAUL_EQUALS(unsent, part.in, 1)),
        HAUL_RAW(unsent, arm[0], .transfer = HAUL_COPYOUT, .when = HAUL_EQUALS(unsent, part.in, 2))
    };
    static const struct {
        size_t offset;
        const char *where; /* NULL: it is read */
    } places[] = {
        { offsetof(unsent, part.count), NULL },
        { offsetof(unsent, part.in), NULL },
        { offsetof(unsent, part.behind), "part" },
        { offsetof(unsent, second), "in second" },
    };
    size_t i;
    part_type = TYPE_NEW(unsent_part, part_fields);
    for (i = 0; i < sizeof places / sizeof *places; i++) {
        haul_type *type;
        rows[0].count.field[0].offset = places[i].offset;
        CHECK_STATUS(type_make("unsent", sizeof(unsent), rows, 6, &type), HAUL_OK);
        check_note("number %d", (int)i);
        CHECK_STATUS(haul_type_commit(type), places[i].where ? HAUL_ERROR_TYPE : HAUL_OK);
        if (places[i].where)
            CHECK_HAS(type_error()->text, places[i].where);
        haul_type_free(&type);
    }
    check_note(NULL);
    haul_type_free(&part_type);
}

TEST(rule_faults, a_distance_with_any_other_member_is_refused)
{
    haul_field row = HAUL_RELATIVE(thing, narrow, .target = &thing_type, .maybe_static = 1);
    refuse(&row, 1, "thing.narrow", "neither tags nor integers");
    row.maybe_static = 0;
    row.integers_below = 9;
    refuse(&row, 1, "thing.narrow", "neither tags nor integers");
    row.integers_below = 0;
    row.integers_from = 9;
    refuse(&row, 1, "thing.narrow", "neither tags nor integers");
    row.integers_from = 0;
    row.levels = 2;
    refuse(&row, 1, "thing.narrow", "one level");
}

TEST(rule_faults, a_limit_has_no_other_member_and_the_end_of_an_array_is_a_pointer_of_its_own)
{
    static const haul_field each = { .when = HAUL_EQUALS(thing, kind, 1) };
    const haul_field good[] = {
        HAUL_ARRAY(thing, next, HAUL_COUNT(thing, count)),
        HAUL_END_OF(thing, u.child, next),
    };
    haul_field rows[2];
    memcpy(rows, good, sizeof rows);
    rows[1].element_bytes = sizeof(thing);
    rows[0].element_bytes = sizeof(thing);
    accept(rows, 2);
    rows[1].pool = 1;
    refuse(rows, 2, "thing.u.child", "can have `.when`, `.else_raw` and `.packed` only");
    rows[1].pool = 0;
    rows[1].each_pointer = &each;
    refuse(rows, 2, "thing.u.child", "can have `.when`, `.else_raw` and `.packed` only");
    rows[1].each_pointer = NULL;
    rows[1].target = &thing_type;
    refuse(rows, 2, "thing.u.child", "can have `.when`, `.else_raw` and `.packed` only");
    rows[1].target = NULL;
    rows[1].bytes = 2 * sizeof(void *);
    refuse(rows, 2, "thing.u.child", "can have `.when`, `.else_raw` and `.packed` only");
    rows[1].bytes = sizeof(void *);
    rows[0].offset = offsetof(thing, u);
    rows[0].bytes = 2 * sizeof(void *);
    rows[1].offset = offsetof(thing, next);
    rows[1].end_of.offset = offsetof(thing, u);
    refuse(rows, 2, "thing.u.child", "no pointer to a counted array");
}

/* ---- Sizes. */

typedef struct tailed {
    int32_t n;
    char name[4];
} tailed;

TEST(rule_faults, T17_nothing_holds_elements_of_no_fixed_size_in_a_row)
{
    static haul_type *tailed_type;
    haul_field tail[] = { HAUL_TAIL(tailed, name, HAUL_COUNT(tailed, n)), HAUL_RAW(tailed, n) };
    haul_field row =
        HAUL_ADDRESS(thing, next, .target = &tailed_type, .count = HAUL_COUNT(thing, count));
    haul_field embed = HAUL_EMBED(thing, word, &tailed_type);
    const haul_case cases[] = { { 1, &tailed_type, 0 }, { 2, &thing_type, 0 } };
    haul_type *array;
    CHECK_STATUS(type_make("tailed", sizeof(tailed), tail, 1, &tailed_type), HAUL_OK);
    refuse(&row, 1, "thing.next", "have no fixed size");
    refuse(&embed, 1, "thing.word", "have no fixed size");
    CHECK_STATUS(haul_type_contiguous(3, tailed_type, &array), HAUL_OK);
    CHECK_STATUS(haul_type_commit(array), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "Objects of type tailed have no fixed size");
    haul_type_free(&array);
    row = (haul_field)HAUL_ADDRESS(thing, next, .type_switch = HAUL_SWITCH(thing, kind, cases),
                                   .count = HAUL_FIXED(2));
    refuse(&row, 1, "thing.next", "Objects of type tailed have no fixed size");
    row = (haul_field)HAUL_ADDRESS(thing, next, .target = &tailed_type, .count = HAUL_FIXED(2));
    refuse(&row, 1, "thing.next", "have no fixed size");
    row.count.plus = 1;
    accept(&row, 1);
    row = (haul_field)HAUL_ADDRESS(thing, next, .target = &tailed_type);
    accept(&row, 1);
    haul_type_free(&tailed_type);
}

TEST(rule_faults, a_target_of_which_only_a_tail_travels_is_one)
{
    static haul_type *tailed_type;
    const haul_field fields[] = { HAUL_SKIP(tailed, n),
                                  HAUL_TAIL(tailed, name, HAUL_COUNT_FN(zero)) };
    const haul_field row = HAUL_ADDRESS(thing, next, .target = &tailed_type);
    CHECK_STATUS(type_make("tailed", sizeof(tailed), fields, 2, &tailed_type), HAUL_OK);
    accept(&row, 1);
    haul_type_free(&tailed_type);
    CHECK_STATUS(type_make("tailed", sizeof(int32_t), fields, 1, &tailed_type), HAUL_OK);
    refuse(&row, 1, "thing.next", "of which no byte travels");
    haul_type_free(&tailed_type);
}

TEST(rule_faults, what_a_row_reads_lies_in_front_of_the_tail)
{
    haul_field tail = HAUL_TAIL(tailed, name, HAUL_COUNT(tailed, n));
    haul_type *type;
    tail.count.field[0].offset = offsetof(tailed, name);
    CHECK_STATUS(type_make("tailed", sizeof(tailed), &tail, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "lies outside of the type's 4 bytes");
    haul_type_free(&type);
}

TEST(rule_faults, tails_end_their_type_and_have_one_level)
{
    haul_field rows[] = { HAUL_TAIL(tailed, name, HAUL_COUNT(tailed, n)),
                          HAUL_RAW(tailed, name[2]) };
    haul_type *type;
    CHECK_STATUS(type_make("tailed", sizeof(tailed), rows, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "lies behind the tail");
    haul_type_free(&type);
    rows[0].levels = 2;
    CHECK_STATUS(type_make("tailed", sizeof(tailed), rows, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "one level, not 2");
    haul_type_free(&type);
    rows[0].levels = 1;
    rows[0].offset = sizeof(tailed) + 1;
    CHECK_STATUS(type_make("tailed", sizeof(tailed), rows, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "begins behind the type's");
    haul_type_free(&type);
    rows[0].offset = offsetof(tailed, name);
    type = type_new(&(const haul_struct){ .name = "tailed",
                                          .bytes = sizeof(tailed),
                                          .fields = rows,
                                          .field_count = 1,
                                          .field_bytes = sizeof(haul_field),
                                          .size_fn = zero });
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "a tail and a size of its own");
    haul_type_free(&type);
}

/* ---- What reading and freeing make of rules. */

TEST(rule_faults, rules_are_copied_and_can_be_read_back)
{
    haul_case cases[] = { { 1, &thing_type, 0 }, { 2, &thing_type, 8 } };
    haul_field row = HAUL_ADDRESS(thing, next, .when = HAUL_ANY_BIT(thing, kind, 6),
                                  .type_switch = HAUL_SWITCH(thing, count, cases));
    haul_type *type;
    haul_field_info info;
    size_t bytes;
    CHECK_STATUS(type_make("thing", sizeof(thing), &row, 1, &type), HAUL_OK);
    thing_type = type;
    memset(&row, 0x55, sizeof row);
    memset(cases, 0x55, sizeof cases);
    CHECK_STATUS(haul_type_size(type, &bytes), HAUL_OK);
    CHECK_EQ(bytes, sizeof(thing));
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_type_get_field(type, 0, &info), HAUL_OK);
    CHECK_EQ(info.members->when.kind, HAUL_WHEN_KIND_NOT);
    CHECK_EQ(info.members->type_switch.case_count, 2);
    CHECK_EQ(info.members->type_switch.cases[1].base, 8);
    CHECK_PTR(info.members->type_switch.cases[1].type, &thing_type);
    haul_type_free(&type);
}

/* ---- Members that cannot be together. */

TEST(rule_faults, choices_that_do_not_exist_or_lead_to_nothing_are_refused)
{
    haul_type *element, *empty;
    haul_case cases[] = { { 1, &thing_type, 0 }, { 2, &thing_type, 0 } };
    haul_field row = HAUL_ADDRESS(thing, next, .type_switch = HAUL_SWITCH(thing, kind, cases));
    row.type_switch.kind = 9;
    refuse(&row, 1, "thing.next", "of kind 9");
    row.type_switch.kind = -1;
    refuse(&row, 1, "thing.next", "of kind -1");
    row.type_switch.kind = HAUL_SWITCH_KIND_TARGET;
    row.type_switch.field.bytes = 3;
    refuse(&row, 1, "thing.next", "of the target has 3 bytes");
    row.type_switch.field.bytes = 4;
    accept(&row, 1);
    CHECK_STATUS(haul_type_bytes(type_context(), "element", 8, &element), HAUL_OK);
    CHECK_STATUS(haul_type_contiguous(0, element, &empty), HAUL_OK);
    cases[1].type = &empty;
    refuse(&row, 1, "thing.next", "of case 2 has an extent of 0 bytes");
    haul_type_free(&empty);
    haul_type_free(&element);
}

TEST(rule_faults, rows_that_are_not_followed_have_neither_choices_nor_distances)
{
    const haul_case cases[] = { { 1, &thing_type, 0 } };
    haul_field row = HAUL_ADDRESS(thing, next, .ownership = HAUL_BORROWED,
                                  .type_switch = HAUL_SWITCH(thing, kind, cases));
    refuse(&row, 1, "thing.next", "it has a `.type_switch`");
    row.type_switch.kind = HAUL_SWITCH_KIND_NONE;
    row.kind = HAUL_FIELD_RELATIVE;
    refuse(&row, 1, "thing.next", "it has a distance");
    row.kind = HAUL_FIELD_POINTER;
    row.transfer = HAUL_COPYOUT;
    refuse(&row, 1, "thing.next", "it has a `.transfer`");
}

typedef struct pair {
    double *begin, *end;
    int32_t kind, n;
} pair;

TEST(rule_faults, a_begin_end_pair_has_a_condition_only_and_a_tail_has_none)
{
    haul_field row = HAUL_ARRAY(pair, begin, HAUL_UNTIL(pair, end), .tag_bits = 1);
    haul_field tail =
        HAUL_TAIL(tailed, name, HAUL_COUNT(tailed, n), .when = HAUL_EQUALS(tailed, n, 1));
    haul_type *type;
    CHECK_STATUS(type_make("pair", sizeof(pair), &row, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "pair can have a `.when` only");
    haul_type_free(&type);
    CHECK_STATUS(type_make("tailed", sizeof(tailed), &tail, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "A tail has no `.when`");
    haul_type_free(&type);
}

TEST(rule_faults, a_rule_of_each_pointer_names_no_holder_in_vain)
{
    haul_field each = { .ancestor = &thing_type };
    haul_field row = HAUL_ADDRESS(thing, next, .levels = 2, .target = &thing_type,
                                  .count = HAUL_FIXED(2), .each_pointer = &each);
    refuse(&row, 1, "thing.next", "`.each_pointer` names an `.ancestor`");
    each.when.kind = HAUL_WHEN_KIND_FUNCTION;
    each.when.function = zero;
    accept(&row, 1);
}

TEST(rule_faults, an_ancestor_is_asked_for_by_a_base_alone_and_never_by_bytes)
{
    haul_field row = NEXT(.ancestor = &thing_type);
    haul_field bytes = HAUL_RAW(thing, word, .ancestor = &thing_type, .levels = 2);
    refuse(&row, 1, "thing.next", "names an `.ancestor`, and has no function");
    row.base_fn = zero;
    accept(&row, 1);
    refuse(&bytes, 1, "thing.word", "names an `.ancestor`, and has no function");
}

TEST(rule_faults, more_cases_than_memory_holds_are_no_memory)
{
    const haul_case one[] = { { 1, &thing_type, 0 } };
    haul_field rows[] = { HAUL_ADDRESS(thing, next, .type_switch = HAUL_SWITCH(thing, kind, one)),
                          HAUL_ADDRESS(thing, u.child,
                                       .type_switch = HAUL_SWITCH(thing, kind, one)) };
    haul_type *type;
    rows[0].type_switch.case_count = SIZE_MAX;
    CHECK_STATUS(type_make("thing", sizeof(thing), rows, 1, &type), HAUL_ERROR_MEMORY);
    CHECK_PTR(type, NULL);
    CHECK_STATUS(type_make("thing", sizeof(thing), rows, 2, &type), HAUL_ERROR_MEMORY);
    CHECK_PTR(type, NULL);
}

/* ---- What a rule reads in what is embedded. */

typedef struct box {
    pair inner;
    struct box *next;
    char *text;
} box;

TEST(rule_faults, a_rule_reads_no_pointer_of_an_embedded_struct)
{
    static const haul_field inner[] = { HAUL_ARRAY(pair, begin, HAUL_COUNT(pair, n)) };
    static haul_type *pair_type, *box_type;
    const haul_case cases[] = { { 1, &box_type, 0 } };
    haul_field rows[3] = { HAUL_EMBED(box, inner, &pair_type),
                           HAUL_STRING(box, text, .when = HAUL_EQUALS(box, inner.kind, 1)),
                           HAUL_ADDRESS(box, next,
                                        .type_switch = HAUL_SWITCH(box, inner.kind, cases)) };
    int round;
    for (round = 0; round < 4; round++) {
        rows[1].when.kind = round == 3 ? HAUL_WHEN_KIND_NOT : HAUL_WHEN_KIND_FIELD;
        rows[1].when.field.offset = round % 2 ? 0 : offsetof(box, inner.kind);
        rows[2].type_switch.field.offset = round == 2 ? 0 : offsetof(box, inner.kind);
        CHECK_STATUS(type_make("pair", sizeof(pair), inner, 1, &pair_type), HAUL_OK);
        CHECK_STATUS(type_make("box", sizeof(box), rows, 3, &box_type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(box_type), round ? HAUL_ERROR_TYPE : HAUL_OK);
        CHECK_STR(type_error()->path, round == 0 ? "" : round == 2 ? "box.next" : "box.text");
        if (round)
            CHECK_HAS(type_error()->text,
                      "field at offset 0 that a member of it reads lies in a pointer field");
        haul_type_free(&box_type);
        haul_type_free(&pair_type);
    }
}

TEST(rule_faults, nothing_reads_a_tagged_pointer_of_an_embedded_struct)
{
    static const haul_field inner[] = { HAUL_ARRAY(pair, begin, HAUL_COUNT(pair, n),
                                                   .tag_bits = 1) };
    static haul_type *pair_type, *box_type;
    const haul_case cases[] = { { 1, &box_type, 0 } };
    const haul_integer n = { .offset = offsetof(box, inner.n), .bytes = 4 };
    haul_field rows[3] = { HAUL_EMBED(box, inner, &pair_type),
                           HAUL_STRING(box, text, .when = HAUL_EQUALS(box, inner.kind, 1)),
                           HAUL_ADDRESS(box, next,
                                        .type_switch = HAUL_SWITCH(box, inner.kind, cases),
                                        .count = HAUL_COUNT(box, inner.n)) };
    int round;
    for (round = 0; round < 4; round++) {
        haul_integer *const read[] = { &rows[1].when.field, &rows[2].type_switch.field,
                                       &rows[2].count.field[0] };
        haul_integer *wrong = round < 3 ? read[round] : NULL;
        if (wrong)
            wrong->offset = 0;
        CHECK_STATUS(type_make("pair", sizeof(pair), inner, 1, &pair_type), HAUL_OK);
        CHECK_STATUS(type_make("box", sizeof(box), rows, 3, &box_type), HAUL_OK);
        check_note("round %d", round);
        CHECK_STATUS(haul_type_commit(box_type), wrong ? HAUL_ERROR_TYPE : HAUL_OK);
        if (wrong) {
            CHECK_HAS(type_error()->text, "lies in a pointer field");
            *wrong = n;
        }
        haul_type_free(&box_type);
        haul_type_free(&pair_type);
    }
    check_note(NULL);
}

/* ---- Arms that overlap a pair's end. */

typedef struct armed {
    double *begin;
    double *end;
    int32_t kind, pad;
} armed;

TEST(rule_faults, the_end_of_a_conditional_pair_may_lie_in_another_arm)
{
    haul_field rows[] = { HAUL_ARRAY(armed, begin, HAUL_UNTIL(armed, end),
                                     .when = HAUL_EQUALS(armed, kind, 1)),
                          HAUL_RAW(armed, end, .when = HAUL_EQUALS(armed, kind, 2)) };
    haul_type *type;
    CHECK_STATUS(type_make("armed", sizeof(armed), rows, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    haul_type_free(&type);
    rows[0].when.kind = HAUL_WHEN_KIND_ALWAYS;
    CHECK_STATUS(type_make("armed", sizeof(armed), rows, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "overlaps field end");
    haul_type_free(&type);
}

typedef struct arms {
    double *begin;
    union {
        struct {
            uint64_t before;
            double *end;
        } pair;
        char small[4];
        char large[24];
    } u;
    int32_t kind, pad;
} arms;

TEST(rule_faults, an_end_under_the_longer_of_two_arms_is_refused)
{
    haul_field rows[] = { HAUL_ARRAY(arms, begin, HAUL_UNTIL(arms, u.pair.end)),
                          HAUL_RAW(arms, u.large, .when = HAUL_EQUALS(arms, kind, 1)),
                          HAUL_RAW(arms, u.small, .when = HAUL_EQUALS(arms, kind, 2)) };
    size_t i;
    for (i = 0; i < 2; i++) { /* the rows in either order */
        const haul_field row = rows[1];
        haul_type *type;
        CHECK_STATUS(type_make("arms", sizeof(arms), rows, 3, &type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
        CHECK_HAS(type_error()->path, "arms.begin");
        CHECK_HAS(type_error()->text, "overlaps field");
        haul_type_free(&type);
        rows[1] = rows[2];
        rows[2] = row;
    }
}

/* ---- Counts that lie in several rows. */

typedef struct spread {
    char *marked;
    int32_t kind, arm, more, pad;
    double *values;
} spread;

/* A number of 8 bytes at `offset`, and an arm of 4 bytes. */
static haul_status commit_spread(size_t offset, haul_type **type)
{
    haul_field rows[] = {
        HAUL_STRING(spread, marked, .integers_below = 4096),
        HAUL_RAW(spread, arm, .when = HAUL_EQUALS(spread, kind, 1), .else_raw = 1),
        HAUL_ARRAY(spread, values, HAUL_COUNT(spread, kind)),
    };
    rows[2].count.field[0].offset = offset;
    rows[2].count.field[0].bytes = 8;
    CHECK_STATUS(type_make("spread", sizeof(spread), rows, 3, type), HAUL_OK);
    return haul_type_commit(*type);
}

TEST(rule_faults, T7_a_count_may_reach_into_an_arm_and_not_into_a_pointer_before_it)
{
    haul_type *type;
    CHECK_STATUS(commit_spread(offsetof(spread, arm), &type), HAUL_OK);
    haul_type_free(&type);
    CHECK_STATUS(commit_spread(offsetof(spread, kind), &type), HAUL_OK);
    haul_type_free(&type);
    CHECK_STATUS(commit_spread(offsetof(spread, kind) - 1, &type), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, "spread.values");
    CHECK_HAS(type_error()->text, "lies in a pointer field");
    haul_type_free(&type);
}

/* ---- Numbers that an arm would leave as zeros in the copy. */

typedef struct two_arms {
    int32_t kind, pad;
    union {
        struct {
            double *begin, *end;
        } pair;
        struct {
            double *values;
            uint64_t count;
        } list;
        struct {
            struct two_arms *one;
            int64_t tag;
        } other;
    } u;
} two_arms;

static haul_type *two_arms_type;

static void two_arms_say(const haul_field *rows, size_t count, const char *path, const char *word)
{
    CHECK_STATUS(type_make("two_arms", sizeof(two_arms), rows, count, &two_arms_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(two_arms_type), path ? HAUL_ERROR_TYPE : HAUL_OK);
    if (path) {
        CHECK_STR(type_error()->path, path);
        CHECK_HAS(type_error()->text, word);
    }
    haul_type_free(&two_arms_type);
}

#define PAIR                                                                                       \
    HAUL_ARRAY(two_arms, u.pair.begin, HAUL_UNTIL(two_arms, u.pair.end),                           \
               .when = HAUL_EQUALS(two_arms, kind, 1))
#define LIST                                                                                       \
    HAUL_ARRAY(two_arms, u.list.values, HAUL_COUNT(two_arms, u.list.count),                        \
               .when = HAUL_EQUALS(two_arms, kind, 2))

TEST(rule_faults, a_count_that_another_arm_makes_zeros_in_the_copy_is_refused)
{
    haul_field rows[] = {
        PAIR, LIST, HAUL_RAW(two_arms, u.list.count, .when = HAUL_EQUALS(two_arms, kind, 2))
    };
    two_arms_say(rows, 2, "two_arms.u.list.values", "while field u.pair.begin does not hold");
    two_arms_say(rows, 3, NULL, NULL);
    rows[2].when.low = rows[2].when.high = 3; /* the bytes travel in other objects only */
    two_arms_say(rows, 3, "two_arms.u.list.values", "are zeros in the copy");
    rows[2].when.high = INT64_MAX;
    rows[2].when.low = 2;
    two_arms_say(rows, 3, NULL, NULL);
    rows[0].else_raw = 1;
    two_arms_say(rows, 2, NULL, NULL);
}

TEST(rule_faults, a_count_that_covers_all_values_of_its_reader_in_parts_is_taken)
{
    haul_field rows[] = {
        PAIR, LIST, HAUL_RAW(two_arms, u.list.count, .when = HAUL_EQUALS(two_arms, kind, 2)),
        HAUL_RAW(two_arms, u.list.count, .when = HAUL_EQUALS(two_arms, kind, 3))
    };
    rows[1].when.high = 3;
    two_arms_say(rows, 3, "two_arms.u.list.values", "are zeros in the copy");
    two_arms_say(rows, 4, NULL, NULL);
    rows[1].when.high = INT64_MAX;
    two_arms_say(rows, 4, "two_arms.u.list.values", "are zeros in the copy");
    rows[3].when.kind = HAUL_WHEN_KIND_NOT;
    rows[3].when.low = 0;
    rows[3].when.high = 2;
    two_arms_say(rows, 4, NULL, NULL);
    rows[3].when = (haul_when)HAUL_WHEN_FN(zero); /* it cannot be compared */
    two_arms_say(rows, 4, NULL, NULL);
}

TEST(rule_faults, an_arm_carries_a_number_that_it_covers_unless_it_is_known_not_to_hold)
{
    static const char path[] = "two_arms.u.list.values", words[] = "are zeros in the copy";
    const haul_field raw = HAUL_RAW(two_arms, u.list.count, .when = HAUL_EQUALS(two_arms, kind, 3));
    haul_field rows[] = { PAIR, LIST, raw };
    two_arms_say(rows, 3, path, words);
    rows[2].when.mask = 7;
    two_arms_say(rows, 3, NULL, NULL);
    rows[2].when = raw.when;
    rows[2].when.field.offset = offsetof(two_arms, pad);
    two_arms_say(rows, 3, NULL, NULL);
    rows[2].when = raw.when;
    rows[2].when.field.bytes = 2;
    two_arms_say(rows, 3, NULL, NULL);
    rows[2].when = raw.when;
    rows[1].when.kind = HAUL_WHEN_KIND_NOT;
    two_arms_say(rows, 3, NULL, NULL);
    rows[1].when.kind = HAUL_WHEN_KIND_FIELD;
    rows[2].when.low = rows[2].when.high = 2;
    two_arms_say(rows, 3, NULL, NULL);
    rows[2].bytes = 4;
    two_arms_say(rows, 3, path, words);
    rows[2].offset += 4;
    two_arms_say(rows, 3, path, words);
    rows[2].offset -= 4;
    rows[2].bytes = 8;
    rows[2].kind = HAUL_FIELD_SKIP;
    two_arms_say(rows, 3, path, words);
}

TEST(rule_faults, a_count_that_is_always_read_may_lie_in_an_arm_of_bytes_and_not_beside_it)
{
    haul_field rows[] = { HAUL_ARRAY(spread, values, HAUL_COUNT(spread, arm)),
                          HAUL_RAW(spread, arm, .when = HAUL_EQUALS(spread, kind, 1)) };
    haul_type *type;
    CHECK_STATUS(type_make("spread", sizeof(spread), rows, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    haul_type_free(&type);
    rows[1].bytes = 2;
    CHECK_STATUS(type_make("spread", sizeof(spread), rows, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "are zeros in the copy");
    haul_type_free(&type);
}

TEST(rule_faults, of_two_counts_the_one_that_is_zeros_in_the_copy_is_told)
{
    haul_field rows[] = { PAIR, LIST };
    rows[1].count = (haul_count)HAUL_COUNT(two_arms, u.list.count, pad);
    two_arms_say(rows, 2, "two_arms.u.list.values", "It reads 8 bytes at offset");
    rows[1].count = (haul_count)HAUL_COUNT(two_arms, pad, u.list.count);
    two_arms_say(rows, 2, "two_arms.u.list.values", "It reads 8 bytes at offset");
}

typedef struct rack {
    double *x, *y;
    int32_t kind, low[4], high[2], pad;
} rack;

/* The search for the arms of one number begins where that for the last one ended. */
TEST(rule_faults, the_arms_over_a_number_are_all_asked_whichever_number_was_read_before)
{
    haul_field rows[] = {
        HAUL_ARRAY(rack, x, HAUL_COUNT(rack, low[2])),
        HAUL_RAW(rack, low[0], .when = HAUL_EQUALS(rack, pad, 1)),
        HAUL_RAW(rack, low, .when = HAUL_EQUALS(rack, pad, 2)),
        HAUL_RAW(rack, high, .when = HAUL_EQUALS(rack, pad, 1)),
        HAUL_ARRAY(rack, y, HAUL_COUNT(rack, kind)),
    };
    haul_type *type;
    int round;
    rows[1].bytes = 2 * sizeof(int32_t);
    rows[4].count.field[0].bytes = 8; /* with low[0], which both arms cover in part */
    for (round = 0; round < 2; round++) {
        if (round == 1)
            rows[0].count.field[0].offset = offsetof(rack, high);
        CHECK_STATUS(type_make("rack", sizeof(rack), rows, 4, &type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(type), HAUL_OK);
        haul_type_free(&type);
        CHECK_STATUS(type_make("rack", sizeof(rack), rows, 5, &type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
        CHECK_STR(type_error()->path, "rack.y");
        CHECK_HAS(type_error()->text, "while field low[0] does not hold");
        haul_type_free(&type);
    }
}

TEST(rule_faults, a_tag_and_a_condition_that_an_arm_makes_zeros_are_refused)
{
    static const haul_case cases[] = { { 1, &two_arms_type, 0 }, { 2, &two_arms_type, 0 } };
    haul_field rows[] = { HAUL_ADDRESS(two_arms, u.other.one,
                                       .type_switch = HAUL_SWITCH(two_arms, u.other.tag, cases),
                                       .when = HAUL_EQUALS(two_arms, kind, 1)),
                          HAUL_RAW(two_arms, u.list.count,
                                   .when = HAUL_EQUALS(two_arms, kind, 2)) };
    two_arms_say(rows, 2, "two_arms.u.other.one", "while field u.list.count does not hold");
    rows[1].else_raw = 1;
    two_arms_say(rows, 2, NULL, NULL);
    rows[0] = (haul_field)HAUL_OBJECT(two_arms, u.other.one, &two_arms_type,
                                      .when = HAUL_EQUALS(two_arms, u.other.tag, 1));
    two_arms_say(rows, 2, NULL, NULL);
    rows[1].else_raw = 0;
    rows[1].when = (haul_when)HAUL_EQUALS(two_arms, u.other.tag, 1);
    two_arms_say(rows, 2, "two_arms.u.other.one", "while field u.list.count does not hold");
}

TEST(rule_faults, an_arm_around_a_number_is_found_behind_one_that_ends_before_it)
{
    haul_field rows[] = { HAUL_RAW(two_arms, pad, .when = HAUL_EQUALS(two_arms, kind, 9)), LIST };
    rows[0].bytes = sizeof(two_arms) - offsetof(two_arms, pad);
    two_arms_say(rows, 2, "two_arms.u.list.values", "while field pad does not hold");
    rows[0].else_raw = 1;
    two_arms_say(rows, 2, NULL, NULL);
}

/* ---- Alignment, and how many. */

TEST(rule_faults, a_tail_stands_at_the_alignment_of_its_elements)
{
    static haul_type *inner;
    haul_field link = HAUL_ADDRESS(thing, next);
    haul_field tail = HAUL_TAIL(tailed, name, HAUL_COUNT(tailed, n));
    haul_type *type;
    link.target = &inner;
    CHECK_STATUS(type_make("inner", sizeof(thing), &link, 1, &inner), HAUL_OK);
    tail.target = &inner;
    tail.element_bytes = sizeof(thing);
    tail.offset = sizeof(tailed) - 2;
    CHECK_STATUS(type_make("tailed", sizeof(tailed), &tail, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "The tail at offset 6 is not at a multiple of");
    haul_type_free(&type);
    haul_type_free(&inner);
}

TEST(rule_faults, an_array_of_more_pointers_with_a_rule_than_the_limit_is_refused)
{
    enum { MOST = 65536 };
    haul_field row = HAUL_ADDRESS(thing, next, .tag_bits = 1);
    haul_type *type;
    row.element_bytes = 1;
    row.bytes = (MOST + 1) * sizeof(void *);
    CHECK_STATUS(type_make("many", row.bytes, &row, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_LIMIT);
    CHECK_HAS(type_error()->text, "has 65537 pointers with optional members: 65536 is the limit");
    haul_type_free(&type);
    row.bytes = MOST * sizeof(void *);
    CHECK_STATUS(type_make("many", row.bytes, &row, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    haul_type_free(&type);
}
