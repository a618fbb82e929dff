/* Policies that cannot be: each row that is wrong is refused with its path and a sentence, no type
 * is made, and nothing leaks. And the same with memory that runs out at any allocation (H1).
 */
#include <stdio.h>
#include <string.h>

#include "haul.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/types.h"

typedef struct place {
    int64_t x, y;
} place;

typedef struct tailed {
    int64_t count;
    double tail[1];
} tailed;

typedef struct site {
    int64_t kind, plain;
    place at;
    struct site *next;
    place *places; /* two, by a type of a constructor */
    double *values;
    tailed *list;
    union {
        struct site *of_one;
        place *of_two;
    } u;
} site;

static haul_type *place_type, *two_type, *tailed_type, *site_type;

static haul_status describe(haul_context *context)
{
    static const haul_field place_fields[] = { HAUL_RAW(place, x) };
    static const haul_field tailed_fields[] = { HAUL_TAIL(tailed, tail,
                                                          HAUL_COUNT(tailed, count)) };
    static const haul_case cases[] = { { 1, &site_type, 0 }, { 2, &place_type, 0 } };
    static const haul_field site_fields[] = {
        HAUL_EMBED(site, at, &place_type),
        HAUL_OBJECT(site, next, &site_type),
        HAUL_ADDRESS(site, places, .target = &two_type),
        HAUL_ARRAY(site, values, HAUL_FIXED(4), .when = HAUL_EQUALS(site, kind, 1)),
        HAUL_OBJECT(site, list, &tailed_type),
        HAUL_ADDRESS(site, u.of_one, .type_switch = HAUL_SWITCH(site, kind, cases)),
    };
    haul_status status =
        type_make_in(context, "place", sizeof(place), place_fields, 1, &place_type);
    if (status == HAUL_OK)
        status = haul_type_contiguous(2, place_type, &two_type);
    if (status == HAUL_OK)
        status = type_make_in(context, "tailed", sizeof(tailed), tailed_fields, 1, &tailed_type);
    if (status == HAUL_OK)
        status = type_make_in(context, "site", sizeof(site), site_fields,
                              sizeof site_fields / sizeof *site_fields, &site_type);
    return status == HAUL_OK ? haul_type_commit(site_type) : status;
}

static void forget(void)
{
    haul_type_free(&site_type);
    haul_type_free(&tailed_type);
    haul_type_free(&two_type);
    haul_type_free(&place_type);
}

static void refuse(const haul_type *type, const haul_policy_row *rows, size_t count,
                   haul_status status, const char *path, const char *words)
{
    haul_type *policy;
    CHECK_STATUS(haul_policy_create(type, "p", rows, count, &policy), status);
    CHECK_PTR(policy, NULL);
    CHECK_HAS(type_error()->text, words);
    if (path)
        CHECK_STR(type_error()->path, path);
}

static int64_t zero(const haul_here *here)
{
    (void)here;
    return 0;
}

TEST(policy_faults, a_row_with_a_condition_that_cannot_be_is_refused)
{
    static const haul_policy_row all = { .path = "", .when = HAUL_EQUALS(site, kind, 1) };
    static const haul_policy_row asks = { .path = "next",
                                          .action = HAUL_NONE,
                                          .when = HAUL_WHEN_FN(zero) };
    static const haul_policy_row twice = { .path = "values",
                                           .action = HAUL_NONE,
                                           .when = HAUL_EQUALS(site, plain, 1) };
    haul_policy_row rows[2] = { { HAUL_MEMBER(site, plain), .action = HAUL_COPYIN },
                                { HAUL_MEMBER(site, plain), .action = HAUL_COPYIN,
                                  .when = HAUL_EQUALS(site, kind, 1) } };
    haul_policy_row inside[2] = {
        { .path = "at.x", .action = HAUL_COPYIN },
        { .path = "at", .action = HAUL_COPYIN, .when = HAUL_EQUALS(site, kind, 1) }
    };
    size_t i;
    CHECK_STATUS(describe(type_context()), HAUL_OK);
    refuse(site_type, &all, 1, HAUL_ERROR_ARGUMENT, "", "names has no condition");
    refuse(site_type, &asks, 1, HAUL_ERROR_ARGUMENT, "next", "for a field reads an integer");
    refuse(site_type, &twice, 1, HAUL_ERROR_ARGUMENT, "values", "has a condition already");
    for (i = 0; i < 2; i++) { /* in either order */
        const haul_policy_row row = rows[0], in = inside[0];
        refuse(site_type, rows, 2, HAUL_ERROR_ARGUMENT, "plain",
               "two rows name one field, and one of them has a condition");
        refuse(site_type, inside, 2, HAUL_ERROR_ARGUMENT, "at",
               "ends at a struct in which other rows end");
        rows[0] = rows[1];
        rows[1] = row;
        inside[0] = inside[1];
        inside[1] = in;
    }
    forget();
}

TEST(policy_faults, a_row_that_its_field_cannot_follow_is_refused)
{
    static uint64_t zeros[256];
    static haul_type *none;
    const haul_policy_row rows[] = {
        { .path = "places.x", .action = HAUL_NONE },
        { .path = "list.tail", .action = HAUL_NONE },
        { HAUL_MEMBER(site, plain), .action = HAUL_ONLY_PRESENT },
        { .path = "x", .type = &none, .action = HAUL_NONE },
    };
    static const char *const words[] = { "in a type without fields: ", "without their tail tail",
                                         "this is none: plain", "begins at is none" };
    size_t i;
    none = (haul_type *)(void *)zeros;
    CHECK_STATUS(describe(type_context()), HAUL_OK);
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        refuse(site_type, &rows[i], 1, HAUL_ERROR_ARGUMENT, rows[i].path, words[i]);
    forget();
}

TEST(policy_faults, a_row_of_a_later_version_is_refused)
{
    struct {
        haul_policy_row row;
        uint64_t added;
    } later;
    haul_type *policy;
    memset(&later, 0, sizeof later);
    later.added = 1;
    CHECK_STATUS(describe(type_context()), HAUL_OK);
    CHECK_STATUS(haul_policy_create_sized(site_type, "p", &later.row, 1, sizeof later, &policy),
                 HAUL_ERROR_VERSION);
    CHECK_PTR(policy, NULL);
    later.added = 0;
    CHECK_STATUS(haul_policy_create_sized(site_type, "p", &later.row, 1, sizeof later, &policy),
                 HAUL_OK);
    haul_type_free(&policy);
    forget();
}

TEST(policy_faults, a_type_of_a_constructor_has_no_other_form)
{
    const haul_policy_row row = { .type = &place_type, .path = "x", .action = HAUL_NONE };
    CHECK_STATUS(describe(type_context()), HAUL_OK);
    refuse(site_type, &row, 1, HAUL_ERROR_UNSUPPORTED, NULL, "was made by a constructor");
    forget();
}

TEST(policy_faults, a_name_that_is_too_long_is_a_limit)
{
    char name[256];
    haul_type *policy;
    memset(name, 'n', sizeof name);
    CHECK_STATUS(describe(type_context()), HAUL_OK);
    name[sizeof name - sizeof "site:"] = '\0'; /* 255 bytes with the type's */
    CHECK_STATUS(haul_policy_create(tailed_type, name, NULL, 0, &policy), HAUL_ERROR_LIMIT);
    CHECK_PTR(policy, NULL);
    CHECK_HAS(type_error()->text, "has more than 255 bytes");
    CHECK_STATUS(haul_policy_create(site_type, name, NULL, 0, &policy), HAUL_OK);
    CHECK_EQ(strlen(haul_type_name(policy)), 255);
    haul_type_free(&policy);
    forget();
}

typedef struct runner {
    double *laps;
} runner;

typedef struct club {
    int64_t laps, plain;
    runner *first;
} club;

typedef struct town {
    club in;
    int64_t plain;
} town;

HAUL_FUNCTION(laps_of, void, here->ancestor ? ((const club *)here->ancestor)->laps : -1)

TEST(policy_faults, a_struct_that_is_embedded_under_a_path_is_no_ancestor)
{
    static haul_type *runner_type, *club_type, *town_type;
    static const haul_field runner_fields[] = { HAUL_ARRAY(runner, laps, HAUL_COUNT_FN(laps_of),
                                                           .ancestor = &club_type) };
    static const haul_field club_fields[] = { HAUL_OBJECT(club, first, &runner_type) };
    static const haul_field town_fields[] = { HAUL_EMBED(town, in, &club_type) };
    const haul_policy_row of_struct = { .path = "in.first", .action = HAUL_COPYIN };
    const haul_policy_row of_asker = { .path = "in.first.laps", .action = HAUL_COPYIN };
    const haul_policy_row beside = { HAUL_MEMBER(town, plain), .action = HAUL_COPYIN };
    haul_type *policy;
    runner_type = TYPE_NEW(runner, runner_fields);
    club_type = TYPE_NEW(club, club_fields);
    town_type = TYPE_NEW(town, town_fields);
    CHECK_STATUS(haul_type_commit(town_type), HAUL_OK);
    refuse(town_type, &of_struct, 1, HAUL_ERROR_UNSUPPORTED, NULL, "embedded under a path");
    refuse(town_type, &of_asker, 1, HAUL_ERROR_UNSUPPORTED, NULL, "embedded under a path");
    CHECK_STATUS(haul_policy_create(town_type, "p", &beside, 1, &policy), HAUL_OK);
    haul_type_free(&policy);
    haul_type_free(&town_type);
    haul_type_free(&club_type);
    haul_type_free(&runner_type);
}

typedef struct visit {
    place *at, seen;
} visit;

static void see_and_spoil(void *argument)
{
    visit *v = argument;
    v->seen = *v->at;
    v->at->x = v->at->y = -1;
}

/* What travels is what both rows let: nothing, either way. */
TEST(policy_faults, of_two_rows_for_all_others_bytes_cross_only_as_both_let_them)
{
    haul_policy_row rows[] = { { .path = "", .action = HAUL_COPYIN },
                               { .path = "", .action = HAUL_COPYOUT } };
    test_device options;
    haul_device *device;
    haul_type *policy;
    size_t i;
    memset(&options, 0, sizeof options);
    options.context = type_context();
    options.settings = &ordinary_launches;
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    CHECK_STATUS(describe(type_context()), HAUL_OK);
    for (i = 0; i < 2; i++) { /* in either order */
        place one = { 3, 4 };
        haul_shipment *s;
        visit v;
        rows[0].action = i ? HAUL_COPYOUT : HAUL_COPYIN;
        rows[1].action = i ? HAUL_COPYIN : HAUL_COPYOUT;
        CHECK_STATUS(haul_policy_create(place_type, "p", rows, 2, &policy), HAUL_OK);
        CHECK_STATUS(haul_ship(device, &one, policy, 1, NULL, &s), HAUL_OK);
        v.at = haul_device_pointer(s, &one);
        CHECK_STATUS(haul_host_launch(device, see_and_spoil, &v), HAUL_OK);
        CHECK_EQ(v.seen.x, 0);
        CHECK_EQ(v.seen.y, 0);
        CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
        CHECK_EQ(one.x, 3);
        CHECK_EQ(one.y, 4);
        haul_shipment_free(&s);
        haul_type_free(&policy);
    }
    haul_device_close(&device);
    forget();
}

/* Twelve rows of bytes: the lists of a policy grow. */
TEST(policy_faults, memory_that_runs_out_makes_no_type_H1)
{
    haul_policy_row rows[12] = {
        { .path = "", .action = HAUL_COPYIN },
        { .path = "at.x", .action = HAUL_COPYOUT },
        { .path = "next.at", .action = HAUL_COPYIN },
        { .path = "next.next.next.u.of_one.plain", .action = HAUL_COPYOUT },
    };
    uint64_t at;
    size_t i;
    int fired = 1;
    rows[3].offset = offsetof(site, plain);
    rows[3].bytes = 1;
    rows[3].path = "next.plain";
    for (i = 4; i < 12; i++) {
        rows[i].path = "plain";
        rows[i].offset = offsetof(site, kind) + 8 + i - 4;
        rows[i].bytes = 1;
        rows[i].action = i % 2 ? HAUL_COPYIN : HAUL_COPYOUT;
    }
    for (at = 1; fired; at++) {
        fault_plan doors = { 0 };
        haul_context *context;
        haul_type *policy;
        haul_status status;
        CHECK_STATUS(fault_open_context(&doors, NULL, &context), HAUL_OK);
        CHECK_STATUS(describe(context), HAUL_OK);
        fault_arm(&doors, FAULT_ONCE, at);
        status = haul_policy_create(site_type, "p", rows, 12, &policy);
        fired = doors.fired != 0;
        fault_disarm(&doors);
        check_note("%s", haul_context_error(context)->text);
        CHECK_STATUS(status, fired ? HAUL_ERROR_MEMORY : HAUL_OK);
        check_note(NULL);
        CHECK((policy != NULL) == (status == HAUL_OK));
        haul_type_free(&policy);
        forget();
        haul_context_free(&context);
        fault_check_clean(&doors);
    }
    CHECK(at > 20);
}
