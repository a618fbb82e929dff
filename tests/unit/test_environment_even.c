/* Rows: new objects at equal distances, beside present ones, over one another, and over nobody.
 *
 * Faults by number (docs/testing.md): H1, H2.
 */
#include "environment_graphs.h"

typedef struct even {
    struct even *next, *other;
    struct wide *wide;
    int64_t value;
} even;

/* As large as two, whatever the size of a pointer. */
typedef struct wide {
    struct even *to;
    char values[2 * sizeof(even) - sizeof(struct even *)];
} wide;

typedef char wide_is_as_large_as_two[sizeof(wide) == 2 * sizeof(even) ? 1 : -1];

static haul_type *even_type, *wide_type;
static const haul_field even_fields[] = {
    HAUL_OBJECT(even, next, &even_type),
    HAUL_OBJECT(even, other, &even_type),
    HAUL_OBJECT(even, wide, &wide_type),
};
static const haul_field wide_fields[] = { HAUL_OBJECT(wide, to, &even_type) };

/* Five pages and more, from the beginning of a page on, or of the next one. */
enum { EVENS = 660, ROOTS = 12, ROUNDS = LARGE(400, 60) };
/* Between two; or so far that a walk comes to more pages than are known at a time, 64, and back. */
enum { FARTHEST = 25 * sizeof(even), ALIKE = 64 * 4096 };
static char memory[EVENS * (sizeof(even) + FARTHEST) + 2 * 4096];
static even *evens;
static size_t distance; /* from one to the next; they are an array, or less dense than one */

static even *even_at(int i)
{
    return (even *)(void *)((char *)evens + (size_t)i * distance);
}

static int number_of(const even *one)
{
    return (int)((size_t)((const char *)one - (const char *)evens) / distance);
}

static void start_evens(size_t from, size_t gap)
{
    start();
    even_type = TYPE_NEW(even, even_fields);
    wide_type = TYPE_NEW(wide, wide_fields);
    CHECK_STATUS(haul_type_commit(even_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(wide_type), HAUL_OK);
    memset(memory, 0, sizeof memory);
    evens = (even *)(void *)(memory + (4096 - (uintptr_t)memory % 4096) + from);
    distance = sizeof(even) + gap;
}

static void finish_evens(void)
{
    haul_type_free(&even_type);
    haul_type_free(&wide_type);
    finish();
}

typedef struct evens_there {
    even *at[EVENS];
    even seen[EVENS];
} evens_there;

static void copy_evens(void *argument)
{
    evens_there *t = argument;
    int i;
    for (i = 0; i < EVENS; i++)
        if (t->at[i])
            t->seen[i] = *t->at[i];
}

/* Each copy has its value, and its pointers lead to copies. */
static void check_evens(void)
{
    static evens_there t;
    int i;
    for (i = 0; i < EVENS; i++)
        t.at[i] = haul_environment_device_pointer(env, &even_at(i)->value);
    for (i = 0; i < EVENS; i++) {
        if (!t.at[i])
            continue;
        t.at[i] = haul_environment_device_pointer(env, even_at(i));
        CHECK_PTR(haul_environment_host_pointer(env, t.at[i]), even_at(i));
        CHECK_EQ(haul_environment_presence(env, even_at(i), sizeof(even)), HAUL_PRESENT);
    }
    CHECK_STATUS(haul_host_launch(device, copy_evens, &t), HAUL_OK);
    for (i = 0; i < EVENS; i++) {
        if (!t.at[i])
            continue;
        CHECK_EQ(t.seen[i].value, even_at(i)->value);
        CHECK_PTR(t.seen[i].next, even_at(i)->next ? t.at[number_of(even_at(i)->next)] : NULL);
        CHECK_PTR(t.seen[i].other, even_at(i)->other ? t.at[number_of(even_at(i)->other)] : NULL);
    }
}

static int is_absent(int i)
{
    return haul_environment_presence(env, even_at(i), sizeof(even)) == HAUL_ABSENT;
}

/* Links absent evens at one distance, from anywhere on, and lets some lead to others that are
 * absent, at another distance, or to anything that is present. Answers the first one. */
static int link_evens(random_source *random, int64_t *value)
{
    const int stride = 1 + (int)random_below(random, 5),
              apart = random_below(random, 3) ? 1 + (int)random_below(random, 5)
                                              : (int)(ALIKE / distance),
              back = random_below(random, 2) ? apart : -apart,
              first = (int)random_below(random, EVENS);
    int i, last = -1;
    for (i = first; i < EVENS; i += stride) {
        int beside = i + back;
        if (!is_absent(i) || random_below(random, 60) == 0)
            break;
        even_at(i)->value = ++*value;
        even_at(i)->next = even_at(i)->other = NULL;
        if (last >= 0)
            even_at(last)->next = even_at(i);
        if (beside >= 0 && beside < EVENS && !is_absent(beside) && random_below(random, 4))
            even_at(i)->other = even_at(beside);
        last = i;
    }
    if (last < 0)
        return -1;
    for (; i >= 0 && i < EVENS && random_below(random, 3); i -= stride + 1) {
        if (!is_absent(i) || even_at(i)->value > *value - EVENS / 2)
            continue;
        even_at(i)->value = *value;
        even_at(i)->next = even_at(i)->other = NULL;
        even_at(last)->other = even_at(i);
        last = i;
    }
    return first;
}

/* A new list, or the rest of one that is present. */
static int choose_root(random_source *random, int64_t *value)
{
    const int i = (int)random_below(random, EVENS);
    return is_absent(i) || random_below(random, 2) ? link_evens(random, value) : i;
}

TEST(environment_even, rows_come_and_go_beside_others_and_over_one_another)
{
    random_source random = random_start("rows of an environment");
    int roots[ROOTS], round, i, cuts = 0;
    int64_t value = EVENS;
    start_evens(random_below(&random, 2) * 2048 + random_below(&random, 4) * sizeof(void *),
                random_below(&random, 3) ? random_below(&random, 4) * sizeof(void *) : FARTHEST);
    for (i = 0; i < ROOTS; i++)
        roots[i] = -1;
    for (round = 0; round < ROUNDS; round++) {
        i = (int)random_below(&random, ROOTS);
        if (roots[i] >= 0) {
            const haul_environment_info before = info();
            CHECK_STATUS(haul_environment_exit(env, even_at(roots[i]), NULL, NULL), HAUL_OK);
            cuts += info().groups == before.groups && info().ranges < before.ranges;
            roots[i] = -1;
        } else {
            roots[i] = choose_root(&random, &value);
            if (roots[i] >= 0)
                CHECK_STATUS(
                    haul_environment_enter(env, even_at(roots[i]), even_type, 1, NULL, NULL),
                    HAUL_OK);
        }
        check_evens();
    }
    for (i = 0; i < ROOTS; i++)
        if (roots[i] >= 0)
            CHECK_STATUS(haul_environment_exit(env, even_at(roots[i]), NULL, NULL), HAUL_OK);
    CHECK(cuts >= ROUNDS / 100); /* rows went in parts */
    CHECK_EQ(info().groups, 0);
    CHECK_EQ(info().ranges, 0);
    CHECK_EQ(info().bytes, 0);
    finish_evens();
}

/* Two rows in one enter: the elements of one lie in the gaps of the other, or side by side with
 * one that another row's element has as its second half. */
TEST(environment_even, rows_of_one_enter_may_lie_in_one_anothers_gaps)
{
    int i;
    start_evens(0, 0);
    for (i = 0; i < 300; i++) {
        evens[i].value = i;
        evens[i].next = i + 3 < 300 ? &evens[i + 3] : i % 3 < 2 ? &evens[i % 3 + 1] : NULL;
    }
    CHECK_STATUS(haul_environment_enter(env, &evens[0], even_type, 1, NULL, NULL), HAUL_OK);
    CHECK_EQ(info().ranges, 300);
    CHECK_EQ(info().bytes, 300 * sizeof(even));
    check_evens();
    CHECK_STATUS(haul_environment_exit(env, &evens[0], NULL, NULL), HAUL_OK);
    for (i = 0; i < 100; i += 4) { /* each begins with a wide one, found later */
        evens[i].next = &evens[i + 4];
        evens[i].wide = (wide *)(void *)&evens[i + 1];
        memset(&evens[i + 1], 0, sizeof(wide));
    }
    evens[96].next = NULL;
    CHECK_STATUS(haul_environment_enter(env, &evens[0], even_type, 1, NULL, NULL), HAUL_OK);
    CHECK_EQ(info().ranges, 50);
    for (i = 0; i < 100; i += 4) {
        CHECK_EQ(haul_environment_presence(env, &evens[i + 1], sizeof(wide)), HAUL_PRESENT);
        CHECK_EQ(haul_environment_presence(env, &evens[i + 3], sizeof(even)), HAUL_ABSENT);
    }
    finish_evens();
}

/* Every fourth one is present. A wide one fits between two, or reaches into the next. */
TEST(environment_even, an_object_in_a_gap_of_a_row_must_end_there)
{
    int i;
    start_evens(0, 0);
    for (i = 0; i < EVENS - 4; i += 4)
        evens[i].next = &evens[i + 4];
    CHECK_STATUS(haul_environment_enter(env, &evens[0], even_type, 1, NULL, NULL), HAUL_OK);
    for (i = 1; i < 60; i += 4) {
        evens[i].next = &evens[i + 4];
        evens[i].other = &evens[i - 1];
    }
    evens[61].wide = (wide *)(void *)&evens[67];
    CHECK_STATUS(haul_environment_enter(env, &evens[1], even_type, 1, NULL, NULL),
                 HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(context)->text, "cannot move");
    CHECK_HAS(haul_context_error(context)->path, "wide");
    CHECK_HAS(haul_context_error(context)->other_path, "next");
    CHECK_EQ(info().groups, 1);
    evens[61].wide = (wide *)(void *)&evens[66];
    CHECK_STATUS(haul_environment_enter(env, &evens[1], even_type, 1, NULL, NULL), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, &evens[64], 4 * sizeof(even)), HAUL_PRESENT_IN_PART);
    CHECK_EQ(haul_environment_presence(env, &evens[66], sizeof(wide)), HAUL_PRESENT);
    check_evens();
    finish_evens();
}

/* Present ones at one distance after another, with places between them where none is. */
static void enter_sections(random_source *random)
{
    int i = 0, last = -1, first = -1;
    while (i < EVENS) {
        const int apart = 1 + (int)random_below(random, 5);
        int count = (int)random_below(random, 60);
        for (; i < EVENS && count > 0; i += apart, count--) {
            if (last >= 0)
                even_at(last)->next = even_at(i);
            first = first < 0 ? i : first;
            last = i;
        }
        i += (int)random_below(random, 3) * (int)random_below(random, 100);
    }
    CHECK_STATUS(haul_environment_enter(env, even_at(first), even_type, 1, NULL, NULL), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, even_at(last), sizeof(even)), HAUL_PRESENT);
}

/* A row of new ones, whose others are a row, too, ends at the first one that is present. */
TEST(environment_even, a_row_of_new_ones_ends_where_one_is_present)
{
    random_source random = random_start("new rows that come to present ones");
    static int is_new[EVENS];
    int round, i, count, first;
    for (round = 0; round < ROUNDS; round++) {
        const int stride = 1 + (int)random_below(&random, 5),
                  beside = (int)random_below(&random, 5);
        size_t ranges;
        start_evens(random_below(&random, 4) * sizeof(void *),
                    random_below(&random, 3) * sizeof(void *));
        enter_sections(&random);
        ranges = info().ranges;
        memset(is_new, 0, sizeof is_new);
        first = (int)random_below(&random, EVENS);
        for (i = first; i < EVENS && is_absent(i); i += stride) {
            is_new[i] = 1;
            if (i + stride < EVENS)
                even_at(i)->next = even_at(i + stride);
            if (i >= beside && beside > 0) {
                even_at(i)->other = even_at(i - beside);
                is_new[i - beside] = is_absent(i - beside);
            }
        }
        for (i = count = 0; i < EVENS; i++)
            count += is_new[i];
        CHECK_STATUS(haul_environment_enter(env, even_at(first), even_type, 1, NULL, NULL),
                     HAUL_OK);
        CHECK_EQ(info().ranges, ranges + (size_t)count);
        for (i = 0; i < EVENS; i++)
            CHECK(!is_new[i] || !is_absent(i));
        check_evens();
        finish_evens();
    }
}

TEST(environment_even, a_list_beside_present_objects_has_a_limit)
{
    int i;
    start_in((haul_context_options){ .max_objects = 100 });
    even_type = TYPE_NEW(even, even_fields);
    wide_type = TYPE_NEW(wide, wide_fields);
    CHECK_STATUS(haul_type_commit(even_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(wide_type), HAUL_OK);
    memset(memory, 0, sizeof memory);
    evens = (even *)(void *)(memory + (4096 - (uintptr_t)memory % 4096));
    for (i = 0; i < 100; i++)
        evens[i].next = i < 99 ? &evens[i + 1] : NULL;
    evens[50].other = &evens[98];
    CHECK_STATUS(haul_environment_enter(env, &evens[0], even_type, 1, NULL, NULL), HAUL_OK);
    for (i = 100; i < 201; i++) {
        evens[i].next = i < 200 ? &evens[i + 1] : NULL;
        evens[i].other = &evens[i - 100 < 100 ? i - 100 : 0];
    }
    CHECK_STATUS(haul_environment_enter(env, &evens[100], even_type, 1, NULL, NULL),
                 HAUL_ERROR_LIMIT);
    evens[199].next = NULL;
    CHECK_STATUS(haul_environment_enter(env, &evens[100], even_type, 1, NULL, NULL), HAUL_OK);
    CHECK_EQ(info().groups, 2);
    finish_evens();
}
