/* Wrong descriptions (T1 to T17): each is refused with the field's name and a sentence, nothing is
 * committed, nothing leaks, and the repaired one is accepted. And the same with memory that runs
 * out at any allocation (H1, H2).
 *
 * T12 (unions) and T17 (elements with a flexible tail) are in test_rule_faults.c. T16's errors and
 * calls from callbacks are tests of plans.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "haul/type.h"
#include "haul/type_mpi.h"
#include "base/memory.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/random.h"
#include "support/types.h"
#include "type/type.h"

#define WORD sizeof(void *)

typedef struct node {
    struct node *next;
    double *values, *end;
    int n;
    char pad[4];
    char *name;
} node;

static haul_type *node_type;
static const haul_field node_fields[] = { HAUL_OBJECT(node, next, &node_type),
                                          HAUL_ARRAY(node, values, HAUL_COUNT(node, n)),
                                          HAUL_STRING(node, name) };

static haul_type *made(const char *name, size_t bytes, const haul_field *fields, size_t count)
{
    haul_type *type;
    CHECK_STATUS(type_make(name, bytes, fields, count, &type), HAUL_OK);
    return type;
}

/* Commit answers `expected`, twice the same, names the place, says `word`, and closes nothing. */
static void check_refused(haul_type *type, haul_status expected, const char *path, const char *word)
{
    int i;
    for (i = 0; i < 2; i++) {
        CHECK_STATUS(haul_type_commit(type), expected);
        CHECK(!haul_type_committed(type));
        CHECK(haul__type_walk(type) == NULL);
        CHECK_EQ(type_error()->status, expected);
        CHECK_STR(type_error()->path, path);
        CHECK_HAS(type_error()->text, word);
    }
}

static void refuse_rows(size_t bytes, const haul_field *fields, size_t count, const char *path,
                        const char *word)
{
    haul_type *type = made("t", bytes, fields, count);
    check_refused(type, HAUL_ERROR_TYPE, path, word);
    haul_type_free(&type);
}

static void refuse_row(const haul_field *field, const char *word)
{
    refuse_rows(sizeof(node), field, 1, "t.values", word);
}

static void take_row(const haul_field *field)
{
    haul_type *type = made("t", sizeof(node), field, 1);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    haul_type_free(&type);
}

static haul_field array_row(void)
{
    haul_field field = HAUL_ARRAY(node, values, HAUL_COUNT(node, n));
    return field;
}

TEST(type_faults, T1_sizes_of_nothing_and_of_more_than_memory_are_refused)
{
    haul_field row = array_row();
    haul_type *type;
    refuse_rows(0, NULL, 0, "t", "0 bytes");
    refuse_rows(SIZE_MAX, NULL, 0, "t", "more than");
    refuse_rows((size_t)HAUL_TYPE_BYTES_MAX + 1, &row, 1, "t", "more than");
    type = made("t", HAUL_TYPE_BYTES_MAX, NULL, 0);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    haul_type_free(&type);
    CHECK_STATUS(haul_type_bytes(type_context(), "t", 0, &type), HAUL_OK);
    check_refused(type, HAUL_ERROR_TYPE, "t", "0 bytes");
    haul_type_free(&type);
}

TEST(type_faults, T1_pointers_to_what_has_no_bytes_are_refused)
{
    haul_type *element = made("element", 4, NULL, 0), *empty, *hollow;
    haul_field row = HAUL_ADDRESS(node, values), skip = HAUL_SKIP(node, next);
    row.target = &empty;
    CHECK_STATUS(haul_type_contiguous(0, element, &empty), HAUL_OK);
    refuse_row(&row, "0 bytes");
    skip.bytes = 8;
    hollow = made("hollow", 8, &skip, 1);
    row.target = &hollow;
    refuse_row(&row, "no byte");
    haul_type_free(&hollow);
    haul_type_free(&empty);
    haul_type_free(&element);
}

TEST(type_faults, T2_alignments_that_are_none_are_refused)
{
    static const size_t wrong[] = { 3, 24, 2 * HAUL_ALIGNMENT_MAX, SIZE_MAX, 64 };
    haul_struct what = { .name = "t", .bytes = 32 };
    haul_type *type;
    size_t i;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        what.alignment = wrong[i];
        type = type_new(&what);
        check_refused(type, HAUL_ERROR_TYPE, "t", "alignment");
        haul_type_free(&type);
    }
    what.alignment = 32;
    type = type_new(&what);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_EQ(haul__type_walk(type)->alignment, 32);
    haul_type_free(&type);
}

TEST(type_faults, T2_embedded_fields_stand_at_their_alignment)
{
    haul_type *line =
        type_new(&(const haul_struct){ .name = "line", .bytes = 64, .alignment = 64 });
    haul_field row = array_row();
    row.kind = HAUL_FIELD_EMBED;
    row.target = &line;
    row.bytes = 64;
    row.offset = 32;
    refuse_rows(128, &row, 1, "t.values", "multiple of 64");
    row.offset = 64;
    refuse_rows(160, &row, 1, "t", "multiple of 64");
    haul_type_free(&line);
}

TEST(type_faults, T3_T4_fields_that_end_behind_the_struct_are_refused)
{
    haul_field row = array_row();
    row.offset = sizeof(node);
    refuse_row(&row, "end behind");
    row.offset = sizeof(node) - WORD + (WORD == 8 ? 8 : 4);
    refuse_row(&row, "end behind");
    row.packed = 1;
    row.offset = sizeof(node) - WORD + 1;
    refuse_row(&row, "end behind");
    row.offset = SIZE_MAX - 3;
    refuse_row(&row, "end behind");
    row.offset = WORD;
    row.bytes = SIZE_MAX - WORD + 1;
    refuse_row(&row, "end behind");
    row.bytes = 0;
    refuse_row(&row, "0 bytes");
    row.bytes = WORD + 1;
    refuse_row(&row, "whole number");
}

TEST(type_faults, T5_T12_fields_that_overlap_are_refused)
{
    haul_field rows[3] = { HAUL_ARRAY(node, values, HAUL_FIXED(1)), HAUL_STRING(node, name),
                           HAUL_SKIP(node, n) };
    rows[1].offset = rows[0].offset;
    refuse_rows(sizeof(node), rows, 2, "t.name", "overlaps field values");
    rows[1].packed = 1;
    rows[1].offset = rows[0].offset + WORD - 1;
    refuse_rows(sizeof(node), rows, 2, "t.name", "overlaps field values");
    rows[1] = rows[2];
    rows[1].offset = rows[0].offset + 3;
    refuse_rows(sizeof(node), rows, 2, "t.n", "overlaps field values");
    rows[1].kind = HAUL_FIELD_RAW;
    refuse_rows(sizeof(node), rows, 2, "t.n", "overlaps field values");
}

TEST(type_faults, T5_T7_counts_are_not_read_from_pointers)
{
    haul_field rows[2] = { HAUL_ARRAY(node, values, HAUL_COUNT(node, n)), HAUL_STRING(node, name) };
    rows[0].count.field[0].offset = offsetof(node, name);
    refuse_rows(sizeof(node), rows, 2, "t.values", "in a pointer");
    rows[0].count.field[0].offset = offsetof(node, name) + WORD - 1;
    rows[0].count.field[0].bytes = 1;
    refuse_rows(sizeof(node), rows, 2, "t.values", "in a pointer");
    rows[0].count.field[0].offset = offsetof(node, name) - 2;
    rows[0].count.field[0].bytes = 4;
    refuse_rows(sizeof(node), rows, 2, "t.values", "in a pointer");
    rows[0].count.field[0].offset = offsetof(node, name) - 4;
    take_row(rows);
}

typedef struct shelf {
    node nodes[100];
    node one;
    double *values;
} shelf;

TEST(type_faults, T5_T7_counts_are_not_read_from_pointers_of_embedded_structs)
{
    haul_field rows[3] = { HAUL_EMBED(shelf, nodes, &node_type), HAUL_EMBED(shelf, one, &node_type),
                           HAUL_ARRAY(shelf, values, HAUL_COUNT(shelf, one.n)) };
    haul_type *type;
    static const size_t wrong[] = { offsetof(shelf, one.next), offsetof(shelf, one.name) - 1,
                                    5 * sizeof(node) + offsetof(node, name),
                                    99 * sizeof(node) - 1 };
    size_t i;
    node_type = made("node", sizeof(node), node_fields, 3);
    type = made("shelf", sizeof(shelf), rows, 3);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    haul_type_free(&type);
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rows[2].count.field[0].offset = wrong[i];
        refuse_rows(sizeof(shelf), rows, 3, "t.values", "in a pointer");
    }
    rows[2].count.field[0].offset = 7 * sizeof(node) + offsetof(node, n);
    type = made("shelf", sizeof(shelf), rows, 3);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    haul_type_free(&type);
    haul_type_free(&node_type);
}

TEST(type_faults, T6_pointers_off_the_grid_must_be_declared_packed)
{
    haul_field row = array_row();
    row.offset += 2;
    refuse_row(&row, "set `.packed`");
    row.packed = 1;
    take_row(&row);
    row = array_row();
    refuse_rows(sizeof(node) + 2, &row, 1, "t.values", "padded sizeof");
}

TEST(type_faults, T7_count_fields_are_integers_of_the_struct)
{
    static const uint8_t widths[] = { 0, 3, 5, 7, 16, 255 };
    haul_field row = array_row();
    size_t i;
    for (i = 0; i < sizeof widths; i++) {
        row.count.field[0].bytes = widths[i];
        refuse_row(&row, "1, 2, 4 or 8");
    }
    row.count.field[0].bytes = 4;
    row.count.field[0].offset = sizeof(node) - 3;
    refuse_row(&row, "outside");
    row.count.field[0].offset = SIZE_MAX - 3;
    refuse_row(&row, "outside");
    row = array_row();
    row.count.fields = 4;
    refuse_row(&row, "4 fields");
    row.count.fields = 0;
    row.count.plus = -1;
    refuse_row(&row, "negative");
}

TEST(type_faults, T7_a_pointer_type_has_no_fields_to_count_with)
{
    haul_count shape = HAUL_COUNT(node, n), end = HAUL_UNTIL(node, end);
    haul_type *type;
    shape.field[0].offset = 0;
    CHECK_STATUS(haul_type_pointer(type_context(), "t", NULL, 4, shape, &type), HAUL_OK);
    check_refused(type, HAUL_ERROR_TYPE, "t.*", "in a pointer");
    haul_type_free(&type);
    end.field[0].offset = 0;
    CHECK_STATUS(haul_type_pointer(type_context(), "t", NULL, 4, end, &type), HAUL_OK);
    check_refused(type, HAUL_ERROR_TYPE, "t.*", "begin pointer");
    haul_type_free(&type);
}

TEST(type_faults, T7_end_pointers_are_pointers_of_the_struct)
{
    haul_field rows[2] = { HAUL_ARRAY(node, values, HAUL_UNTIL(node, end)), HAUL_SKIP(node, end) };
    haul_integer *end = &rows[0].count.field[0];
    refuse_rows(sizeof(node), rows, 2, "t.values", "overlaps field end");
    take_row(rows);
    end->bytes = 4 == WORD ? 8 : 4;
    refuse_row(rows, "one pointer");
    end->bytes = (uint8_t)WORD;
    end->offset = sizeof(node);
    refuse_row(rows, "outside");
    end->offset = SIZE_MAX;
    refuse_row(rows, "outside");
    end->offset = offsetof(node, end) + 2;
    refuse_row(rows, "not at a multiple");
    end->offset = offsetof(node, values);
    refuse_row(rows, "begin pointer");
    end->offset = offsetof(node, end);
    rows[0].levels = 2;
    refuse_row(rows, "one level");
    rows[0].levels = 1;
    rows[0].offset = 0;
    rows[0].bytes = 2 * WORD;
    refuse_row(rows, "one pointer");
}

TEST(type_faults, T7_an_end_pointer_is_a_whole_pointer_of_another_row_or_none_of_it)
{
    haul_field rows[2] = { HAUL_ARRAY(node, values, HAUL_UNTIL(node, end), .packed = 1),
                           HAUL_ADDRESS(node, end, .element_bytes = 8, .packed = 1) };
    haul_type *type = made("t", sizeof(node), rows, 2);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    haul_type_free(&type);
    rows[0].count.field[0].offset += 2;
    refuse_rows(sizeof(node), rows, 2, "t.values", "overlaps field end");
    rows[0].count.field[0].offset -= 4;
    refuse_rows(sizeof(node), rows, 2, "t.values", "overlaps field end");
}

TEST(type_faults, T7_sentinels_end_integers_and_pointers_only)
{
    haul_field row = HAUL_ARRAY(node, values, HAUL_TERMINATED_BY(0));
    take_row(&row);
    row.element_bytes = 3;
    refuse_row(&row, "1, 2, 4 or 8");
    row.element_bytes = 16;
    refuse_row(&row, "1, 2, 4 or 8");
    row.element_bytes = 1;
    row.count.plus = 256;
    refuse_row(&row, "ever equal");
    row.count.plus = 255;
    take_row(&row);
    row.count.plus = -128;
    take_row(&row);
    row.count.plus = -129;
    refuse_row(&row, "ever equal");
    row.levels = 2;
    row.count.plus = 1;
    row.count2.kind = HAUL_COUNT_KIND_ONE;
    refuse_row(&row, "null pointer");
    row.count.plus = 0;
    take_row(&row);
    node_type = made("node", sizeof(node), node_fields, 3);
    row = array_row();
    row.count.kind = HAUL_COUNT_KIND_TERMINATED;
    row.count.fields = 0;
    row.target = &node_type;
    row.element_bytes = 0;
    refuse_row(&row, "plain integers");
    haul_type_free(&node_type);
}

static int64_t three(const haul_here *here)
{
    return here ? 3 : 0;
}

/* `.count = 3` and `.count = three` set the first member of a count. */
TEST(type_faults, T7_a_count_is_no_bare_number_and_no_bare_function)
{
    haul_field row = HAUL_ARRAY(node, values, HAUL_FIXED(3));
    take_row(&row);
    memset(&row.count, 0, sizeof row.count);
    row.count.function = three;
    CHECK(offsetof(haul_count, function) == 0);
    refuse_row(&row, "a bare number or function: write HAUL_FIXED(3)");
    row.count.kind = HAUL_COUNT_KIND_FUNCTION;
    take_row(&row);
}

TEST(type_faults, T8_targets_that_were_never_made_are_named)
{
    haul_type *type, *none = NULL;
    haul_field row = HAUL_ADDRESS(node, values);
    row.target = &none;
    refuse_row(&row, "NULL");
    row.kind = HAUL_FIELD_EMBED;
    refuse_row(&row, "NULL");
    row.target = NULL;
    refuse_row(&row, "no type");
    row.kind = HAUL_FIELD_POINTER;
    refuse_row(&row, "neither a `.target`");
    row.target = &none;
    type = made("t", sizeof(node), &row, 1);
    check_refused(type, HAUL_ERROR_TYPE, "t.values", "NULL");
    none = made("later", 8, NULL, 0); /* the repair */
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_EQ(type_error()->status, HAUL_OK);
    CHECK(haul_type_committed(none));
    haul_type_free(&type);
    haul_type_free(&none);
}

TEST(type_faults, T8_a_fault_in_a_type_that_is_reached_closes_nothing)
{
    haul_type *last = made("last", 0, NULL, 0), *middle, *first;
    haul_field row = HAUL_ADDRESS(node, values);
    row.target = &last;
    middle = made("middle", sizeof(node), &row, 1);
    row.target = &middle;
    row.kind = HAUL_FIELD_EMBED;
    row.offset = 0;
    row.bytes = sizeof(node);
    first = made("first", sizeof(node), &row, 1);
    CHECK_STATUS(haul_type_commit(first), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, "middle.values");
    CHECK(!haul_type_committed(first) && !haul_type_committed(middle) &&
          !haul_type_committed(last));
    haul_type_free(&first);
    haul_type_free(&middle);
    haul_type_free(&last);
}

TEST(type_faults, T9_types_that_contain_themselves_are_found)
{
    haul_type *a, *b, *c;
    haul_field row = HAUL_ADDRESS(node, values);
    row.kind = HAUL_FIELD_EMBED;
    row.offset = 0;
    row.bytes = sizeof(node);
    row.target = &a;
    a = made("a", sizeof(node), &row, 1);
    check_refused(a, HAUL_ERROR_TYPE, "a.values", "contain itself");
    haul_type_free(&a);
    row.target = &b;
    a = made("a", sizeof(node), &row, 1);
    row.target = &c;
    b = made("b", sizeof(node), &row, 1);
    CHECK_STATUS(haul_type_dup(a, &c), HAUL_OK);
    check_refused(a, HAUL_ERROR_TYPE, "dup(a)", "Type a would contain itself");
    check_refused(c, HAUL_ERROR_TYPE, "b.values", "would contain itself");
    haul_type_free(&a);
    haul_type_free(&b);
    haul_type_free(&c);
}

TEST(type_faults, T9_a_ring_of_a_hundred_thousand_types_is_found_without_recursion)
{
    size_t count = 100000, i;
    haul_type **types = calloc(count, sizeof(haul_type *));
    haul_field row = HAUL_ADDRESS(node, values);
    char name[32];
    CHECK(types != NULL);
    row.kind = HAUL_FIELD_EMBED;
    row.offset = 0;
    row.bytes = sizeof(node);
    for (i = 0; i < count; i++) {
        snprintf(name, sizeof name, "t%zu", i);
        row.target = &types[(i + 1) % count];
        types[i] = made(name, sizeof(node), &row, 1);
    }
    CHECK_STATUS(haul_type_commit(types[0]), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, "t99999.values");
    for (i = 0; i < count; i++)
        haul_type_free(&types[i]);
    free(types);
}

TEST(type_faults, embedding_deeper_than_the_limit_is_refused)
{
    haul_type *type = made("t", 8, NULL, 0), *next, *deepest;
    size_t depth;
    for (depth = 1; depth < HAUL_EMBED_DEPTH_MAX; depth++) {
        CHECK_STATUS(haul_type_dup(type, &next), HAUL_OK);
        haul_type_free(&type);
        type = next;
    }
    CHECK_STATUS(haul_type_dup(type, &next), HAUL_OK);
    CHECK_STATUS(haul_type_commit(next), HAUL_ERROR_LIMIT);
    CHECK_HAS(type_error()->text, "limit");
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(next), HAUL_ERROR_LIMIT);
    CHECK_STATUS(haul_type_dup(next, &deepest), HAUL_OK);
    CHECK_STATUS(haul_type_commit(deepest), HAUL_ERROR_LIMIT);
    CHECK_HAS(type_error()->text, "limit");
    haul_type_free(&deepest);
    haul_type_free(&next);
    haul_type_free(&type);
}

TEST(type_faults, T10_two_types_of_one_name_are_refused_and_one_reached_twice_is_not)
{
    haul_type *a = made("same", 8, NULL, 0), *b = made("same", 16, NULL, 0), *type;
    haul_field rows[2] = { HAUL_ADDRESS(node, values), HAUL_ADDRESS(node, end) };
    rows[0].target = &a;
    rows[1].target = &b;
    refuse_rows(sizeof(node), rows, 2, "same", "both named same");
    rows[1].target = &a;
    type = made("t", sizeof(node), rows, 2);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    haul_type_free(&type);
    haul_type_free(&a);
    haul_type_free(&b);
}

TEST(type_faults, T10_two_equal_elements_of_one_name_are_no_conflict)
{
    haul_type *a, *b, *type;
    haul_field rows[2] = { HAUL_ADDRESS(node, values), HAUL_ADDRESS(node, end) };
    rows[0].target = &a;
    rows[1].target = &b;
    CHECK_STATUS(haul_type_bytes(type_context(), "int", 4, &a), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "int", 4, &b), HAUL_OK);
    type = made("t", sizeof(node), rows, 2);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    haul_type_free(&type);
    haul_type_free(&a);
    haul_type_free(&b);
}

TEST(type_faults, T11_fixed_counts_and_elements_that_overflow_are_refused)
{
    haul_field row = array_row();
    row.count.fields = 0;
    row.count.plus = INT64_MAX;
    refuse_row(&row, "too large");
    row.count.plus = 1;
    row.element_bytes = SIZE_MAX;
    refuse_row(&row, "more than");
}

TEST(type_faults, T11_arrays_of_more_pointers_than_a_struct_can_shape_are_refused)
{
    haul_field row = array_row();
    haul_type *type;
    row.offset = 8;
    row.bytes = 70000 * WORD;
    row.count.field[0].offset = 0;
    type = made("t", 8 + row.bytes, &row, 1);
    check_refused(type, HAUL_ERROR_LIMIT, "t.values", "limit");
    haul_type_free(&type);
    row.bytes = (size_t)1 << (8 * WORD - 4);
    row.count.fields = 0;
    row.count.plus = 1;
    type = made("t", 8 + row.bytes, &row, 1);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    haul_type_free(&type);
}

/* A type of that name, or with a row of it, is refused by its commit, which says what has no
 * name. */
static void refuse_name(const char *name)
{
    haul_field row = array_row();
    haul_type *type;
    CHECK_STATUS(type_make(name, 24, NULL, 0, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->text, "A type of 24 bytes has no name");
    haul_type_free(&type);
    row.name = name;
    CHECK_STATUS(type_make("t", sizeof(node), &row, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, "t");
    CHECK_HAS(type_error()->text, "Field 0, at offset ");
    haul_type_free(&type);
}

TEST(type_faults, T13_names_that_are_none_are_told_by_the_commit)
{
    static char longest[HAUL_NAME_BYTES_MAX], too_long[1 << 20];
    static const char *const wrong[] = {
        "",          "\x80",         "\xc0\xaf",         "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "a\xe2\x82", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xff",         "\xc3"
    };
    haul_field row = array_row();
    haul_type *type;
    size_t i;
    memset(longest, 'x', sizeof longest);
    refuse_name(longest);
    longest[sizeof longest - 1] = '\0';
    memset(too_long, 'x', sizeof too_long - 1);
    refuse_name(too_long);
    refuse_name(NULL);
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuse_name(wrong[i]);
    CHECK_STATUS(type_make("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", sizeof(node), NULL, 0, &type),
                 HAUL_OK);
    row.name = wrong[1];
    CHECK_STATUS(haul_type_add(type, &row, 1), HAUL_ERROR_ARGUMENT);
    CHECK_EQ(type_error()->status, HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "Field 0 of those to add, at offset ");
    row.name = NULL;
    CHECK_STATUS(haul_type_add(type, &row, 1), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_add(type, NULL, 1), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_add(type, NULL, 0), HAUL_OK);
    CHECK_EQ(haul_type_field_count(type), 0);
    row.name = longest;
    row.offset = 3;
    CHECK_STATUS(haul_type_add(type, &row, 1), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_HAS(type_error()->path, longest);
    haul_type_free(&type);
}

TEST(type_faults, T14_an_element_that_is_not_its_target_is_drift)
{
    haul_type *other = made("other", 24, NULL, 0);
    haul_field row = array_row();
    row.target = &other;
    refuse_row(&row, "made with 24");
    row.element_bytes = 24;
    take_row(&row);
    haul_type_free(&other);
    other = made("other", 16, NULL, 0);
    row.kind = HAUL_FIELD_EMBED;
    row.bytes = 12;
    refuse_row(&row, "whole number");
    haul_type_free(&other);
}

TEST(type_faults, T14_pointers_described_as_objects_are_told_their_form)
{
    typedef struct table {
        node **bucket, *all;
        int n;
    } table;
    const haul_field as_objects = HAUL_OBJECTS(table, bucket, &node_type, HAUL_COUNT(table, n));
    haul_field other = HAUL_OBJECTS(table, all, &node_type, HAUL_COUNT(table, n));
    node_type = made("node", sizeof(node), node_fields, 3);
    refuse_rows(sizeof(table), &as_objects, 1, "t.bucket", "write HAUL_POINTERS");
    other.element_bytes = sizeof(node) + WORD;
    refuse_rows(sizeof(table), &other, 1, "t.all", "was made with");
    CHECK(strstr(type_error()->text, "HAUL_POINTERS") == NULL);
    haul_type_free(&node_type);
}

TEST(type_faults, T15_what_is_committed_stays_as_it_is)
{
    haul_type *type = made("t", sizeof(node), NULL, 0), *vector;
    haul_field row = array_row();
    CHECK_STATUS(haul_type_commit(NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_type_add(type, &row, 1), HAUL_ERROR_STATE);
    CHECK_EQ(type_error()->status, HAUL_ERROR_STATE);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_EQ(haul_type_field_count(type), 0);
    CHECK_STATUS(haul_type_contiguous(2, type, &vector), HAUL_OK);
    CHECK_STATUS(haul_type_add(vector, &row, 1), HAUL_ERROR_STATE);
    CHECK_STATUS(haul_type_add(NULL, &row, 1), HAUL_ERROR_ARGUMENT);
    haul_type_free(&vector);
    haul_type_free(&type);
}

TEST(type_faults, T16_a_callback_must_be_one)
{
    haul_field row = HAUL_ARRAY(node, values, HAUL_COUNT_FN(NULL));
    refuse_row(&row, "function of the count is NULL");
}

TEST(type_faults, kinds_and_levels_that_do_not_exist_are_refused)
{
    haul_field row = array_row();
    row.count.kind = (haul_count_kind)77;
    refuse_row(&row, "kind 77");
    row.levels = 4;
    refuse_row(&row, "4 levels");
    row.levels = 4000000000u;
    refuse_row(&row, "levels");
    row.kind = (haul_field_kind)0;
    refuse_row(&row, "kind 0");
    row.kind = (haul_field_kind)9;
    refuse_row(&row, "kind 9");
}

TEST(type_faults, arguments_that_are_null_are_refused)
{
    haul_type *type;
    CHECK_STATUS(type_make("t", 8, NULL, 0, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(type_make("t", 8, NULL, 1, &type), HAUL_ERROR_ARGUMENT);
    CHECK(type == NULL);
    CHECK_STATUS(haul_type_bytes(type_context(), "t", 8, NULL), HAUL_ERROR_ARGUMENT);
}

/* --- random garbage ------------------------------------------------------------------------------
 */

static size_t odd_number(random_source *random)
{
    switch (random_below(random, 6)) {
    case 0:
        return SIZE_MAX - random_below(random, 16);
    case 1:
        return (size_t)random_next(random);
    default:
        return random_below(random, 12) * (random_one_in(random, 4) ? 1 : 8);
    }
}

static void fill_shape(random_source *random, haul_count *shape)
{
    unsigned i;
    memset(shape, 0, sizeof *shape);
    shape->kind = (int)random_below(random, 6);
    shape->fields = (unsigned)random_below(random, 5);
    for (i = 0; i < 3; i++) {
        shape->field[i].offset = odd_number(random);
        shape->field[i].bytes = (uint8_t)(1 << random_below(random, 5));
        shape->field[i].sign = (uint8_t)random_below(random, 3);
    }
    shape->times = (int64_t)odd_number(random);
    shape->plus = (int64_t)odd_number(random);
}

static void fill_row(random_source *random, haul_field *row, haul_type **types, size_t count)
{
    memset(row, 0, sizeof *row);
    row->name = "row";
    row->kind = (int)random_below(random, 6);
    row->offset = odd_number(random);
    row->bytes = odd_number(random);
    row->element_bytes = odd_number(random);
    row->target = random_one_in(random, 2) ? NULL : &types[random_below(random, count)];
    row->levels = (unsigned)random_below(random, 5);
    row->packed = random_one_in(random, 3);
    fill_shape(random, &row->count);
    fill_shape(random, &row->count2);
    fill_shape(random, &row->count3);
}

/* T18's validator is this one. */
TEST(type_faults, random_rows_are_taken_or_refused_and_never_more)
{
    random_source random = random_start("random descriptions");
    haul_type *types[4];
    haul_field rows[4];
    size_t round, i, k, count, size;
    unsigned taken = 0;
    char name[] = "t0";
    for (round = 0; round < 20000; round++) {
        check_note("round %zu", round);
        memset(types, 0, sizeof types);
        for (i = 0; i < 4; i++) {
            name[1] = (char)('0' + i);
            count = random_below(&random, 4);
            for (k = 0; k < count; k++)
                fill_row(&random, &rows[k], types, 4);
            if (i > 0 && random_one_in(&random, 4))
                haul_type_vector(random_below(&random, 5), odd_number(&random), odd_number(&random),
                                 types[i - 1], &types[i]);
            else
                CHECK_STATUS(type_make(name, odd_number(&random), rows, count, &types[i]), HAUL_OK);
            if (types[i])
                haul_type_size(types[i], &size);
        }
        for (i = 0; i < 4; i++)
            if (types[i]) {
                haul_status status = haul_type_commit(types[i]);
                CHECK(status == HAUL_OK || status == HAUL_ERROR_TYPE || status == HAUL_ERROR_LIMIT);
                CHECK(status == HAUL_OK || (type_error()->text[0] && type_error()->path[0]));
                taken += status == HAUL_OK;
            }
        for (i = 0; i < 4; i++)
            haul_type_free(&types[i]);
    }
    CHECK(taken > 100);
}

/* --- memory that runs out (H1, H2) ---------------------------------------------------------------
 */

typedef struct kit {
    haul_context *context;
    haul_type *node, *leaf, *far_away, *vector, *list, *both, *shelf;
    haul_field shelf_rows[3], both_row, add_rows[2];
} kit;

static void drop_all(void *user)
{
    kit *k = user;
    haul_type_free(&k->shelf);
    haul_type_free(&k->both);
    haul_type_free(&k->list);
    haul_type_free(&k->vector);
    haul_type_free(&node_type);
    haul_type_free(&k->leaf);
    haul_type_free(&k->far_away);
}

static void finish(void *user)
{
    drop_all(user);
    haul_context_free(&((kit *)user)->context);
}

static haul_status make_structs(kit *k)
{
    haul_field big = HAUL_STRING(node, name);
    haul_status status = type_make_in(k->context, "node", sizeof(node), node_fields, 2, &node_type);
    if (status == HAUL_OK)
        status = haul_type_add(node_type, &node_fields[2], 1);
    big.offset = 0;
    big.bytes = 100 * WORD;
    if (status == HAUL_OK)
        status = type_make_in(k->context, "leaf", 100 * WORD, &big, 1, &k->leaf);
    if (status == HAUL_OK)
        status = type_make_in(k->context, "far away", 16, NULL, 0, &k->far_away);
    return status == HAUL_OK ? haul_type_commit(k->far_away) : status;
}

static haul_status make_constructors(kit *k)
{
    static const size_t lengths[] = { 1, 2, 1 }, places[] = { 0, 4096, 1024 };
    haul_type *types[3];
    haul_status status = haul_type_vector(3, 30, 40, node_type, &k->vector);
    if (status == HAUL_OK)
        status = haul_type_indexed(3, lengths, places, k->far_away, &k->list);
    types[0] = types[1] = node_type;
    types[2] = k->leaf;
    if (status == HAUL_OK)
        status = haul_type_create_struct(3, lengths, places, types, &k->both);
    return status;
}

static haul_status make_shelf(kit *k)
{
    haul_field rows[3] = { HAUL_EMBED(shelf, nodes, &node_type), HAUL_EMBED(shelf, one, &node_type),
                           HAUL_ADDRESS(shelf, values) };
    rows[2].target = &k->both;
    return type_make_in(k->context, "shelf", sizeof(shelf), rows, 3, &k->shelf);
}

static haul_status make_all(void *user)
{
    kit *k = user;
    haul_status status = make_structs(k);
    if (status == HAUL_OK)
        status = make_constructors(k);
    if (status == HAUL_OK)
        status = make_shelf(k);
    if (status == HAUL_OK)
        status = haul_type_commit(k->vector);
    if (status == HAUL_OK)
        status = haul_type_commit(k->list);
    if (status == HAUL_OK)
        status = haul_type_commit(k->shelf);
    if (status != HAUL_OK)
        drop_all(k);
    return status;
}

static void prepare_door(void *user, fault_plan *plan)
{
    kit *k = user;
    memset(k, 0, sizeof *k);
    CHECK_STATUS(fault_open_context(plan, NULL, &k->context), HAUL_OK);
}

TEST(type_faults, H1_H2_every_allocation_of_a_life_can_fail)
{
    kit k;
    fault_operation operation = { .prepare = prepare_door,
                                  .run = make_all,
                                  .undo = drop_all,
                                  .finish = finish,
                                  .user = &k,
                                  .modes = FAULT_MEMORY };
    CHECK(fault_everywhere(&operation) > 40);
}

static void prepare_shelf(void *user, fault_plan *plan)
{
    kit *k = user;
    prepare_door(user, plan);
    CHECK_STATUS(make_structs(k), HAUL_OK);
    CHECK_STATUS(make_constructors(k), HAUL_OK);
    CHECK_STATUS(make_shelf(k), HAUL_OK);
}

static haul_status commit_shelf(void *user)
{
    return haul_type_commit(((kit *)user)->shelf);
}

static void check_commit(void *user, haul_status status)
{
    kit *k = user;
    CHECK_EQ(haul_context_error(k->context)->status, status);
    CHECK_EQ(haul_type_committed(k->shelf), status == HAUL_OK);
    CHECK_EQ(haul_type_committed(node_type), status == HAUL_OK);
    CHECK_EQ(haul_type_committed(k->both), status == HAUL_OK);
    CHECK(!haul_type_committed(k->vector));
}

TEST(type_faults, H1_H2_a_commit_that_finds_no_memory_closes_nothing_and_can_be_repeated)
{
    kit k;
    fault_operation operation = { .prepare = prepare_shelf,
                                  .run = commit_shelf,
                                  .check = check_commit,
                                  .finish = finish,
                                  .user = &k,
                                  .modes = FAULT_MEMORY,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 10);
}

static haul_status add_two(void *user)
{
    kit *k = user;
    haul_field rows[2] = { HAUL_ARRAY(node, values, HAUL_COUNT(node, n)), HAUL_STRING(node, name) };
    return haul_type_add(k->far_away, rows, 2);
}

static void prepare_open(void *user, fault_plan *plan)
{
    kit *k = user;
    prepare_door(user, plan);
    CHECK_STATUS(type_make_in(k->context, "open", sizeof(node), node_fields, 1, &k->far_away),
                 HAUL_OK);
}

static void check_add(void *user, haul_status status)
{
    kit *k = user;
    size_t count = haul_type_field_count(k->far_away);
    CHECK(status == HAUL_OK ? count >= 3 : count == 1);
    CHECK_EQ(haul_context_error(k->context)->status, status);
}

TEST(type_faults, H1_H2_an_addition_that_finds_no_memory_leaves_the_type_as_it_was)
{
    kit k;
    fault_operation operation = { .prepare = prepare_open,
                                  .run = add_two,
                                  .check = check_add,
                                  .finish = finish,
                                  .user = &k,
                                  .modes = FAULT_MEMORY,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) >= 4);
}

static haul_status ask_size(void *user)
{
    size_t size;
    return haul_type_size(((kit *)user)->shelf, &size);
}

TEST(type_faults, H1_H2_a_query_of_an_open_type_says_when_there_is_no_memory)
{
    kit k;
    fault_operation operation = { .prepare = prepare_shelf,
                                  .run = ask_size,
                                  .finish = finish,
                                  .user = &k,
                                  .modes = FAULT_MEMORY,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 5);
}

/* ---- Handles and fields of another kind. */

TEST(type_faults, T8_a_handle_of_what_is_no_living_type_is_refused_wherever_it_stands)
{
    static uint64_t zeros[256];
    haul_type *stranger = (haul_type *)(void *)zeros, *type;
    haul_case cases[] = { { 7, &stranger, 0 } };
    haul_field rows[] = { HAUL_ADDRESS(node, values),
                          HAUL_ADDRESS(node, next, .type_switch = HAUL_SWITCH(node, n, cases)) };
    rows[0].target = &stranger;
    refuse_row(rows, "is not that of a living type");
    rows[0].kind = HAUL_FIELD_EMBED;
    refuse_row(rows, "is not that of a living type");
    refuse_rows(sizeof(node), rows + 1, 1, "t.next", "case 7 is not that of a living type");
    type = made("t", sizeof(node), rows + 1, 1);
    check_refused(type, HAUL_ERROR_TYPE, "t.next", "case 7");
    stranger = made("later", 8, NULL, 0); /* the repair */
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK(haul_type_committed(stranger));
    haul_type_free(&type);
    haul_type_free(&stranger);
}

typedef struct wide {
    int32_t low, high;
    node rows[200];
    double *values;
} wide;

/* A number of 8 bytes whose second half is the first pointer of an array of structs. */
TEST(type_faults, T5_T7_a_count_that_reaches_into_a_large_embedded_array_is_seen_there)
{
    haul_field rows[] = { HAUL_EMBED(wide, rows, &node_type),
                          HAUL_ARRAY(wide, values, HAUL_COUNT(wide, low)) };
    haul_type *type;
    node_type = made("node", sizeof(node), node_fields, 3);
    rows[1].count.field[0].offset = offsetof(wide, rows) - 4;
    rows[1].count.field[0].bytes = 8;
    type = made("wide", sizeof(wide), rows, 2);
    check_refused(type, HAUL_ERROR_TYPE, "wide.values", "lies in a pointer field");
    haul_type_free(&type);
    rows[1].count.field[0].offset = offsetof(wide, rows) + 3 * sizeof(node) + offsetof(node, n);
    rows[1].count.field[0].bytes = 4;
    type = made("wide", sizeof(wide), rows, 2);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    haul_type_free(&type);
    haul_type_free(&node_type);
}

TEST(type_faults, T7_ends_of_two_pairs_do_not_overlap)
{
    haul_field rows[2] = { HAUL_ARRAY(node, next, HAUL_UNTIL(node, end), .packed = 1),
                           HAUL_ARRAY(node, values, HAUL_UNTIL(node, end), .packed = 1) };
    haul_type *type = made("t", sizeof(node), rows, 2);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK); /* one end for both */
    CHECK_EQ(haul__type_walk(type)->slot_count, 3);
    haul_type_free(&type);
    rows[1].count.field[0].offset += 2;
    refuse_rows(sizeof(node), rows, 2, "t.values.end", "overlaps pointer next.end");
}

TEST(type_faults, an_element_longer_than_its_extent_is_no_field)
{
    static haul_type *narrow;
    haul_type *element = made("element", 16, NULL, 0);
    haul_field row = HAUL_ADDRESS(node, values);
    CHECK_STATUS(haul_type_create_resized(element, 0, 8, &narrow), HAUL_OK);
    row.kind = HAUL_FIELD_EMBED;
    row.target = &narrow;
    row.offset = 0;
    row.bytes = 16;
    refuse_rows(32, &row, 1, "t.values", "has bytes up to 16, behind its extent of 8");
    haul_type_free(&narrow);
    haul_type_free(&element);
}

/* ---- Every list that a commit puts together, and memory that runs out in each. */

typedef struct crowd {
    int32_t kind, count;
    node **rows;         /* each with a rule of its own */
    node **fixed[70];    /* these too, in an array */
    node *many[100];     /* a part of its own */
    double *begin, *end; /* a pair with a condition */
    union {
        node inside;
        double *values;
        char bytes[8];
    } u;
    int64_t plain[9];
    char tail[8];
} crowd;

static haul_type *crowd_type;

static haul_status make_crowd(kit *k)
{
    static const haul_case cases[] = { { 1, &node_type, 0 }, { 2, &crowd_type, 0 } };
    static const haul_field each = { .when = HAUL_DIFFERS(crowd, kind, 9) };
    haul_field rows[] = {
        HAUL_POINTERS(crowd, rows, &node_type, HAUL_COUNT(crowd, count), .each_pointer = &each),
        HAUL_ADDRESS(crowd, fixed[0], .levels = 2, .target = &node_type,
                     .count = HAUL_COUNT(crowd, count), .each_pointer = &each),
        HAUL_EACH(crowd, many, .target = &node_type),
        HAUL_ARRAY(crowd, begin, HAUL_UNTIL(crowd, end), .when = HAUL_EQUALS(crowd, kind, 1)),
        HAUL_EMBED(crowd, u.inside, &node_type, .when = HAUL_EQUALS(crowd, kind, 1)),
        HAUL_ARRAY(crowd, u.values, HAUL_COUNT(crowd, count), .when = HAUL_EQUALS(crowd, kind, 3),
                   .tag_bits = 1),
        HAUL_RAW(crowd, u.bytes, .when = HAUL_EQUALS(crowd, kind, 2)),
        HAUL_RAW(crowd, plain, .transfer = HAUL_COPYIN),
        HAUL_TAIL(crowd, tail, HAUL_COUNT(crowd, count))
    };
    haul_field choice = HAUL_ADDRESS(crowd, begin, .type_switch = HAUL_SWITCH(crowd, kind, cases));
    haul_status status = type_make_in(k->context, "node", sizeof(node), node_fields, 3, &node_type);
    rows[1].bytes = sizeof(((crowd *)0)->fixed);
    if (status == HAUL_OK)
        status = type_make_in(k->context, "crowd", sizeof(crowd), rows, sizeof rows / sizeof *rows,
                              &crowd_type);
    if (status == HAUL_OK)
        status = type_make_in(k->context, "chosen", sizeof(crowd), &choice, 1, &k->leaf);
    return status;
}

/* Loops that are flattened, repeated, and kept as parts; blocks, and wraps of them. */
static haul_status make_loops(kit *k)
{
    static const size_t sizes[] = { 3, 4, 40, 5 }, parts[] = { 2, 3, 20, 2 },
                        starts[] = { 0, 1, 2, 1 };
    haul_status status = haul_type_vector(4, 2, 3, node_type, &k->vector);
    if (status == HAUL_OK)
        status = haul_type_create_subarray(4, sizes, parts, starts, HAUL_ORDER_C, node_type,
                                           &k->far_away);
    if (status == HAUL_OK)
        status = haul_type_vector(3, 2, 4, k->vector, &k->list);
    if (status == HAUL_OK)
        status = haul_type_dup(k->far_away, &k->both);
    if (status == HAUL_OK)
        status = haul_type_create_resized(k->both, 0, 480 * sizeof(node) * 6, &k->shelf);
    return status;
}

static void drop_crowd(void *user)
{
    haul_type_free(&crowd_type);
    drop_all(user);
}

static haul_status commit_crowd(void *user)
{
    kit *k = user;
    haul_status status = make_crowd(k);
    if (status == HAUL_OK)
        status = make_loops(k);
    if (status == HAUL_OK)
        status = haul_type_commit(k->leaf);
    if (status == HAUL_OK)
        status = haul_type_commit(k->shelf);
    if (status == HAUL_OK)
        status = haul_type_commit(k->list);
    if (status != HAUL_OK)
        drop_crowd(k);
    return status;
}

TEST(type_faults, H1_H2_every_allocation_for_rules_loops_and_parts_can_fail)
{
    kit k;
    fault_operation operation = { .prepare = prepare_door,
                                  .run = commit_crowd,
                                  .undo = drop_crowd,
                                  .finish = finish,
                                  .user = &k,
                                  .modes = FAULT_MEMORY };
    crowd_type = NULL;
    CHECK(fault_everywhere(&operation) > 80);
}

TEST(type_faults, H1_H2_memory_that_runs_out_for_the_list_of_types_closes_none_of_them)
{
    enum { MANY = 20 };
    size_t lengths[MANY], places[MANY];
    uint64_t at, i;
    int fired = 1;
    for (at = 1; fired; at++) {
        fault_plan doors = { 0 };
        haul_context *context;
        haul_type *parts[MANY], *whole;
        haul_status status;
        CHECK_STATUS(fault_open_context(&doors, NULL, &context), HAUL_OK);
        for (i = 0; i < MANY; i++) {
            char name[16];
            snprintf(name, sizeof name, "part%d", (int)i);
            CHECK_STATUS(haul_type_bytes(context, name, 8, &parts[i]), HAUL_OK);
            lengths[i] = 1;
            places[i] = (size_t)(8 * i);
        }
        CHECK_STATUS(haul_type_create_struct(MANY, lengths, places, parts, &whole), HAUL_OK);
        fault_arm(&doors, FAULT_ONCE, at);
        status = haul_type_commit(whole);
        fired = doors.fired != 0;
        fault_disarm(&doors);
        CHECK_STATUS(status, fired ? HAUL_ERROR_MEMORY : HAUL_OK);
        CHECK(haul_type_committed(whole) == !fired);
        for (i = 0; i < MANY; i++) {
            CHECK(haul_type_committed(parts[i]) == !fired);
            haul_type_free(&parts[i]);
        }
        haul_type_free(&whole);
        haul_context_free(&context);
        fault_check_clean(&doors);
    }
    CHECK(at > 5);
}
