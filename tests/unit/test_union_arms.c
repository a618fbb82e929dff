/* Arms of unions: a commit finds those that collide. The reference compares all pairs. The time of
 * a commit grows linearly with the rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "haul/type.h"
#include "haul/type_mpi.h"
#include "support/check.h"
#include "support/random.h"
#include "support/types.h"

enum { ROWS_MAX = 12, NAME_BYTES = 24 };

typedef struct table {
    haul_field *rows;
    char (*names)[NAME_BYTES];
    size_t count, bytes;
} table;

static table table_make(size_t count)
{
    table t = { NULL, NULL, 0, 0 };
    size_t i;
    t.count = count;
    t.rows = calloc(count, sizeof *t.rows);
    t.names = calloc(count, sizeof *t.names);
    CHECK(t.rows && t.names);
    for (i = 0; i < count; i++) {
        snprintf(t.names[i], NAME_BYTES, "f%zu", i);
        t.rows[i].name = t.names[i];
        t.rows[i].kind = HAUL_FIELD_RAW;
        t.rows[i].when.mask = -1;
    }
    return t;
}

static void table_free(table *t)
{
    free(t->rows);
    free(t->names);
}

static void when_between(table *t, size_t i, size_t offset, int64_t low, int64_t high)
{
    t->rows[i].when.kind = HAUL_WHEN_KIND_FIELD;
    t->rows[i].when.field.offset = offset;
    t->rows[i].when.field.bytes = 8;
    t->rows[i].when.low = low;
    t->rows[i].when.high = high;
}

/* ---- Which collide. */

static int overlap(const haul_field *a, const haul_field *b)
{
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static int may_hold_at_once(const haul_field *a, const haul_field *b)
{
    const haul_when *x = &a->when, *y = &b->when;
    if (x->kind == HAUL_WHEN_KIND_ALWAYS || y->kind == HAUL_WHEN_KIND_ALWAYS)
        return 1;
    if (x->kind != HAUL_WHEN_KIND_FIELD || y->kind != HAUL_WHEN_KIND_FIELD ||
        x->field.offset != y->field.offset || x->field.bytes != y->field.bytes ||
        x->mask != y->mask)
        return 0;
    return x->low <= y->high && y->low <= x->high;
}

static int collide(const haul_field *a, const haul_field *b)
{
    return overlap(a, b) && may_hold_at_once(a, b);
}

static int some_collide(const table *t)
{
    size_t i, k;
    for (i = 0; i < t->count; i++)
        for (k = 0; k < i; k++)
            if (collide(&t->rows[i], &t->rows[k]))
                return 1;
    return 0;
}

static const haul_field *row_named(const table *t, const char *name)
{
    size_t i;
    for (i = 0; i < t->count; i++)
        if (strncmp(name, t->names[i], strlen(t->names[i])) == 0 &&
            strchr(" .,", name[strlen(t->names[i])]))
            return &t->rows[i];
    check_failed(__FILE__, __LINE__, "the error names no row: %s", name);
}

/* The two rows that the error names do collide. */
static void check_words(const table *t, const haul_error *error)
{
    const char *other = strstr(error->text, "overlaps field ");
    CHECK_HAS(error->path, "union.");
    CHECK_HAS(error->text, "overlaps field ");
    CHECK(collide(row_named(t, error->path + strlen("union.")),
                  row_named(t, other + strlen("overlaps field "))));
}

/* Rows within 64 bytes, most of them with one of three conditions and a narrow range of values. */
static table table_draw(random_source *draw)
{
    table t = table_make(random_between(draw, 2, ROWS_MAX));
    const size_t bytes_max = random_between(draw, 1, 24);
    const int64_t values = (int64_t)random_between(draw, 2, 41);
    size_t i;
    t.bytes = 16 + 64;
    for (i = 0; i < t.count; i++) {
        const int64_t low = (int64_t)random_below(draw, (size_t)values);
        t.rows[i].bytes = random_between(draw, 1, bytes_max);
        t.rows[i].offset = random_between(draw, 16, t.bytes - t.rows[i].bytes);
        if (random_one_in(draw, 60))
            continue;
        when_between(&t, i, random_one_in(draw, 5) ? 8 : 0, low,
                     low + (int64_t)random_below(draw, 4));
        if (random_one_in(draw, 12))
            t.rows[i].when.kind = HAUL_WHEN_KIND_NOT;
        if (random_one_in(draw, 12)) {
            t.rows[i].when.mask = 0xffff;
            t.rows[i].when.field.bytes = random_one_in(draw, 2) ? 8 : 4;
        }
    }
    return t;
}

TEST(union_arms, collide_exactly_where_two_of_all_pairs_do)
{
    random_source draw = random_start("arms");
    size_t round, refused = 0;
    for (round = 0; round < 4000; round++) {
        table t = table_draw(&draw);
        const int expected = some_collide(&t);
        haul_type *type;
        check_note("round %zu", round);
        CHECK_STATUS(type_make("union", t.bytes, t.rows, t.count, &type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(type), expected ? HAUL_ERROR_TYPE : HAUL_OK);
        if (expected)
            check_words(&t, type_error());
        refused += (size_t)expected;
        haul_type_free(&type);
        table_free(&t);
    }
    check_note("%zu of 4000 refused", refused);
    CHECK(refused > 400 && refused < 3600);
    check_note(NULL);
}

/* ---- How the time grows. */

enum { FEW = 4000, MANY = 32000 };

static void point(table *t, size_t i, size_t offset)
{
    t->rows[i].kind = HAUL_FIELD_POINTER;
    t->rows[i].levels = 1;
    t->rows[i].offset = offset;
    t->rows[i].bytes = sizeof(void *);
    t->rows[i].element_bytes = 8;
    t->rows[i].count.kind = HAUL_COUNT_KIND_PRODUCT;
    t->rows[i].count.plus = 1;
}

static void read_count(table *t, size_t i, size_t offset)
{
    t->rows[i].count.fields = 1;
    t->rows[i].count.field[0].offset = offset;
    t->rows[i].count.field[0].bytes = 8;
    t->rows[i].count.plus = 0;
}

static void a_pointer_for_each_value(table *t)
{
    size_t i;
    t->bytes = 16;
    for (i = 0; i < t->count; i++) {
        point(t, i, 8);
        when_between(t, i, 0, (int64_t)i, (int64_t)i);
    }
}

static void counted_pointers_whose_tag_stands_behind_them(table *t)
{
    size_t i;
    t->bytes = 16;
    for (i = 0; i < t->count; i++) {
        point(t, i, 0);
        read_count(t, i, 8);
        when_between(t, i, 8, (int64_t)i, (int64_t)i);
    }
}

static void many_fields_in_one_arm(table *t)
{
    size_t i;
    t->bytes = 8 + 8 * t->count;
    for (i = 0; i < t->count; i++) {
        point(t, i, 8 + 8 * i);
        when_between(t, i, 0, 1, 1);
    }
}

static void arms_that_begin_one_behind_the_other(table *t)
{
    size_t i;
    t->bytes = 8 + 8 * t->count;
    for (i = 0; i < t->count; i++) {
        t->rows[i].offset = 8 + 8 * i;
        t->rows[i].bytes = t->bytes - t->rows[i].offset;
        when_between(t, i, 0, (int64_t)i, (int64_t)i);
    }
}

static void counted_pointers_with_tags(table *t)
{
    size_t i;
    t->bytes = 8 + 8 * t->count;
    for (i = 0; i < t->count; i++) {
        point(t, i, 8 * i);
        read_count(t, i, 8 * t->count);
        t->rows[i].tag_bits = 1;
    }
}

static void counted_pointers(table *t)
{
    size_t i;
    t->bytes = 8 + 8 * t->count;
    for (i = 0; i < t->count; i++) {
        point(t, i, 8 * i);
        read_count(t, i, 8 * t->count);
    }
}

/* The least CPU time of three commits: other processes cannot make it shorter. */
static double seconds_of_commit(void (*fill)(table *), size_t count)
{
    table t = table_make(count);
    double least = 1e9;
    int run;
    fill(&t);
    for (run = 0; run < 3; run++) {
        clock_t begin;
        haul_status status;
        haul_type *type;
        CHECK_STATUS(type_make("wide", t.bytes, t.rows, t.count, &type), HAUL_OK);
        begin = clock();
        status = haul_type_commit(type);
        if ((double)(clock() - begin) / CLOCKS_PER_SEC < least)
            least = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (status != HAUL_OK)
            check_note("%s: %s", type_error()->path, type_error()->text);
        CHECK_STATUS(status, HAUL_OK);
        haul_type_free(&type);
    }
    table_free(&t);
    return least;
}

/* Eight times the rows take 8 times as long, or up to 34 times on a loaded machine, for caches and
 * pages; squares would be 64 times. */
static void check_growth(void (*fill)(table *))
{
    const double few = seconds_of_commit(fill, FEW), many = seconds_of_commit(fill, MANY);
    check_note("%d rows %.4f s, %d rows %.4f s", FEW, few, MANY, many);
    CHECK(many < 48 * few || many < 0.02);
    check_note(NULL);
}

TEST(union_arms, thirty_two_thousand_of_one_union_are_committed_in_no_more_than_their_share_of_time)
{
    check_growth(a_pointer_for_each_value);
    check_growth(counted_pointers_whose_tag_stands_behind_them);
    check_growth(many_fields_in_one_arm);
    check_growth(arms_that_begin_one_behind_the_other);
}

TEST(union_arms, thirty_two_thousand_counted_rows_are_committed_in_no_more_than_their_share_of_time)
{
    check_growth(counted_pointers);
    check_growth(counted_pointers_with_tags);
}

static double seconds_of_choice(size_t count, int64_t last, haul_status expected)
{
    haul_case *cases = calloc(count, sizeof *cases);
    haul_field row;
    haul_type *type = NULL, *target = NULL;
    clock_t begin;
    double seconds;
    size_t i;
    memset(&row, 0, sizeof row);
    CHECK(cases != NULL);
    CHECK_STATUS(type_make("target", 8, NULL, 0, &target), HAUL_OK);
    for (i = 0; i < count; i++) {
        cases[i].value = i + 1 < count ? (int64_t)i : last;
        cases[i].type = &target;
    }
    row.name = "any";
    row.kind = HAUL_FIELD_POINTER;
    row.offset = 8;
    row.bytes = sizeof(void *);
    row.type_switch.kind = HAUL_SWITCH_KIND_SELF;
    row.type_switch.field.bytes = 4;
    row.type_switch.cases = cases;
    row.type_switch.case_count = count;
    row.type_switch.case_bytes = sizeof *cases;
    CHECK_STATUS(type_make("holder", 16, &row, 1, &type), HAUL_OK);
    begin = clock();
    CHECK_STATUS(haul_type_commit(type), expected);
    seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (expected != HAUL_OK)
        CHECK_STR(type_error()->text, "Two cases have the value 5.");
    haul_type_free(&type);
    haul_type_free(&target);
    free(cases);
    return seconds;
}

TEST(union_arms, the_cases_of_a_choice_are_committed_in_no_more_than_their_share_of_time)
{
    double few = seconds_of_choice(FEW, 0x800000, HAUL_OK),
           many = seconds_of_choice(MANY, 0x800000, HAUL_OK);
    check_note("%d cases %.4f s, %d cases %.4f s", FEW, few, MANY, many);
    CHECK(many < 32 * few || many < 0.02);
    seconds_of_choice(FEW, 5, HAUL_ERROR_TYPE);
    seconds_of_choice(MANY, 0x100000005, HAUL_ERROR_TYPE); /* the same in the bits that count */
    check_note(NULL);
}
