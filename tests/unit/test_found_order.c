/* Ranges that lie across others count by the order in which they are found. That order is one
 * thread's, even if threads were asked and did not walk, or left a few objects to one of them.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/outcomes.h"
#include "support/types.h"

/* More than one thread walks alone, where a build shares nothing smaller. */
#if defined(HAUL_STRESS_THREADS) || defined(HAUL_EMULATED)
enum { NODES = 2000 };
#else
enum { NODES = 60000 };
#endif

static void check(void *root, haul_type *type)
{
    haul_root whole;
    outcome alone;
    whole.address = root;
    whole.type = type;
    whole.count = 1;
    outcomes_agree(&whole, NULL, OUTCOMES_FORMS, &alone);
    CHECK_STATUS(alone.status, HAUL_OK);
    outcome_free(&alone);
}

/* ---- Types that threads cannot walk. */

enum { MANY = 5000 };

typedef struct holed {
    void *out;
    void *in;
} holed;

typedef struct leaf {
    char *few;          /* marked with others like it */
    char (*many)[MANY]; /* too long for that: marked at once */
} leaf;

typedef struct top {
    struct top *first, *second;
    leaf *leaf;
    holed *holed;
} top;

/* The threads look at all types, and give up because of the last one. A leaf's few bytes are found
 * before or after the many, among which they lie. */
TEST(found_order, a_type_that_threads_have_looked_at_is_visited_as_by_one)
{
    static haul_type *top_type, *leaf_type, *holed_type;
    static const haul_field top_fields[] = {
        HAUL_OBJECT(top, first, &top_type),
        HAUL_OBJECT(top, second, &top_type),
        HAUL_OBJECT(top, leaf, &leaf_type),
        HAUL_OBJECT(top, holed, &holed_type),
    };
    static const haul_field leaf_fields[] = {
        HAUL_BYTES(leaf, few, HAUL_FIXED(3)),
        HAUL_ARRAY(leaf, many, HAUL_ONE),
    };
    static const haul_field holed_fields[] = { HAUL_SKIP(holed, out) };
    top *tops = (top *)(void *)outcome_pages(NODES * sizeof *tops);
    char *text = outcome_pages(MANY);
    leaf one;
    size_t i;
    top_type = TYPE_NEW(top, top_fields);
    leaf_type = TYPE_NEW(leaf, leaf_fields);
    holed_type = TYPE_NEW(holed, holed_fields);
    CHECK_STATUS(haul_type_commit(top_type), HAUL_OK);
    memset(tops, 0, NODES * sizeof *tops);
    memset(text, 'x', MANY);
    for (i = 0; i < NODES; i++) {
        tops[i].first = 2 * i + 1 < NODES ? &tops[2 * i + 1] : NULL;
        tops[i].second = 2 * i + 2 < NODES ? &tops[2 * i + 2] : NULL;
    }
    one.few = text + 101;
    one.many = (char(*)[MANY])(void *)text;
    tops[NODES - 1].leaf = &one;
    check(tops, top_type);
    haul_type_free(&top_type);
    haul_type_free(&leaf_type);
    haul_type_free(&holed_type);
    free(tops);
    free(text);
}

/* ---- The last few objects of a shared walk. */

typedef struct node {
    struct node *first, *second, *third, *fourth;
} node;

enum { REGION = 1 << 20, ACROSS = 2 };

/* A node on the border of two districts is left to one thread. What it alone leads to lies across
 * two nodes that all threads find before, and one thread after. */
TEST(found_order, what_threads_leave_to_one_thread_counts_as_if_one_had_found_all)
{
    static haul_type *node_type;
    static const haul_field fields[] = {
        HAUL_OBJECT(node, first, &node_type),
        HAUL_OBJECT(node, second, &node_type),
        HAUL_OBJECT(node, third, &node_type),
        HAUL_OBJECT(node, fourth, &node_type),
    };
    node *nodes = (node *)(void *)outcome_pages((NODES + 3 + ACROSS) * sizeof *nodes);
    node *behind = nodes + NODES, *across = behind + 3, *border;
    void *region;
    size_t i;
    CHECK(posix_memalign(&region, REGION, 2 * REGION) == 0);
    border = (node *)(void *)((char *)region + REGION - sizeof *border / 2);
    node_type = TYPE_NEW(node, fields);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
    memset(nodes, 0, (NODES + 3 + ACROSS) * sizeof *nodes);
    memset(border, 0, sizeof *border);
    for (i = 0; i < NODES; i++) {
        nodes[i].first = 2 * i + 1 < NODES ? &nodes[2 * i + 1] : NULL;
        nodes[i].second = 2 * i + 2 < NODES ? &nodes[2 * i + 2] : NULL;
    }
    nodes[NODES - 2].first = border;
    border->first = (node *)(void *)&across->third;
    nodes[NODES - 1].first = behind;
    behind->first = behind + 1;
    behind[1].first = behind + 2;
    behind[2].first = across;
    behind[2].second = across + 1;
    check(nodes, node_type);
    haul_type_free(&node_type);
    free(nodes);
    free(region);
}

/* ---- What earlier walks leave in a context. */

enum { ROWS = 3 };

typedef struct row {
    int64_t count;
    char *few;    /* waits to be marked with others */
    char **names; /* marked at once */
    char (*many)[MANY];
} row;

/* The numbers of a plan, and whether each row's arrays lie in the order of its pointers. */
static size_t objects_of(haul_context *context, const row *rows, haul_type *type, int is_ordered)
{
    const haul_plan_options options = { .ordered = is_ordered };
    haul_root root;
    haul_plan_info info;
    haul_plan *plan;
    size_t i, before = 0;
    root.address = (void *)(uintptr_t)rows;
    root.type = type;
    root.count = ROWS;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), &options, &plan), HAUL_OK);
    for (i = 0; i < ROWS && is_ordered; i++) {
        size_t few, names;
        CHECK_STATUS(haul_plan_offset(plan, rows[i].few, &few), HAUL_OK);
        CHECK_STATUS(haul_plan_offset(plan, rows[i].names, &names), HAUL_OK);
        CHECK(before < few && few < names);
        before = names;
    }
    haul_plan_get_info(plan, &info);
    haul_plan_free(&plan);
    return info.objects;
}

static void check_rows(const row *rows, haul_type *type, int is_ordered)
{
    haul_context_options options;
    haul_context *context;
    size_t objects;
    memset(&options, 0, sizeof options);
    options.threads = 1;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    objects = objects_of(context, rows, type, is_ordered);
    CHECK_EQ(objects_of(context, rows, type, is_ordered), objects);
    CHECK_EQ(objects_of(context, rows, type, is_ordered), objects);
    haul_context_free(&context);
}

TEST(found_order, a_context_that_has_walked_before_finds_in_the_same_order)
{
    static haul_type *row_type;
    static const haul_field fields[] = {
        HAUL_BYTES(row, few, HAUL_COUNT(row, count)),
        HAUL_STRINGS(row, names, HAUL_FIXED(2)),
        HAUL_ARRAY(row, many, HAUL_ONE),
    };
    static char text[] = "few", *names[ROWS][2];
    char *many = outcome_pages(ROWS * MANY), few[ROWS][16];
    row rows[ROWS];
    size_t i;
    row_type = TYPE_NEW(row, fields);
    CHECK_STATUS(haul_type_commit(row_type), HAUL_OK);
    memset(many, 'x', ROWS * MANY);
    memset(few, 'y', sizeof few);
    memset(rows, 0, sizeof rows);
    for (i = 0; i < ROWS; i++) {
        rows[i].count = (int64_t)(i + 7);
        rows[i].few = few[i];
        rows[i].names = names[i];
        names[i][0] = names[i][1] = text;
    }
    check_rows(rows, row_type, 1);
    check_rows(rows, row_type, 0);
    for (i = 0; i < ROWS; i++) {
        rows[i].many = (char(*)[MANY])(void *)(many + i * MANY);
        rows[i].few = many + i * MANY + 101;
    }
    check_rows(rows, row_type, 0);
    haul_type_free(&row_type);
    free(many);
}
