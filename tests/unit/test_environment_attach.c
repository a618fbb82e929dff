/* Environments: the pointers of present objects that enters and calls have attached.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <time.h>

#include "environment_graphs.h"

#define P (host.parts)

static void attach(part **pointer, part *target)
{
    *pointer = target;
    CHECK_STATUS(haul_environment_attach(env, pointer), HAUL_OK);
}

static void detach(part **pointer)
{
    CHECK_STATUS(haul_environment_detach(env, pointer), HAUL_OK);
}

/* ---- What attaches cost. */

enum { MANY = LARGE(4000, 1000) };

/* Of this thread, for 50 rounds: the best of five. */
static double seconds_of(void (*round)(void))
{
    double best = 1e9;
    int i, again;
    for (again = 0; again < 5; again++) {
        struct timespec from, to;
        double seconds;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        for (i = 0; i < 50; i++)
            round();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void attach_and_detach(void)
{
    attach(&P[0].a, &P[1]);
    detach(&P[0].a);
}

TEST(environment_attach, a_first_attach_takes_no_longer_beside_thousands_of_groups)
{
    part *others = calloc(MANY, sizeof *others);
    double alone, beside;
    int i;
    start();
    CHECK(others != NULL);
    enter(&P[0]);
    enter(&P[1]);
    alone = seconds_of(attach_and_detach);
    for (i = 0; i < MANY; i++)
        enter(&others[i]);
    beside = seconds_of(attach_and_detach);
    check_note("%g us alone, %g us beside %d groups", 2e4 * alone, 2e4 * beside, MANY);
    CHECK(beside < 8 * alone);
    check_note(NULL);
    finish();
    free(others);
}

/* P[2] comes, gets a pointer that a call attaches, and leaves with it. */
static void come_and_leave(void)
{
    P[2].a = NULL;
    enter(&P[2]);
    attach(&P[2].a, &P[0]);
    leave(&P[2]);
}

enum { POINTERS = LARGE(100000, 20000) };

TEST(environment_attach, an_exit_takes_no_longer_beside_thousands_of_attached_pointers)
{
    part *others = calloc(POINTERS, sizeof *others);
    double alone, beside;
    int i;
    start();
    CHECK(others != NULL);
    enter(&P[0]);
    CHECK_STATUS(haul_environment_enter(env, others, part_type, POINTERS, NULL, NULL), HAUL_OK);
    alone = seconds_of(come_and_leave);
    for (i = 0; i < POINTERS; i++)
        attach(&others[i].a, &P[0]);
    beside = seconds_of(come_and_leave);
    check_note("%g us alone, %g us beside %d pointers", 2e4 * alone, 2e4 * beside, POINTERS);
    CHECK(beside < 8 * alone);
    check_note(NULL);
    finish();
    free(others);
}

/* ---- Objects within objects. A label leads to a box, to the lid in it, or to both. */

typedef struct lid {
    struct label *back;
    int64_t value;
} lid;

typedef struct box {
    lid top; /* at the address of the box */
    struct label *late;
    int64_t value;
} box;

typedef struct chest {
    int64_t value;
    lid top;
} chest;

typedef struct label {
    lid *first;
    box *second;
    chest *third;
} label;

static haul_type *lid_type, *box_type, *chest_type, *label_type;
static const haul_field lid_fields[] = { HAUL_OBJECT(lid, back, &label_type) };
static const haul_field box_fields[] = { HAUL_EMBED(box, top, &lid_type),
                                         HAUL_OBJECT(box, late, &label_type) };
static const haul_field chest_fields[] = { HAUL_EMBED(chest, top, &lid_type) };
static const haul_field label_fields[] = { HAUL_OBJECT(label, first, &lid_type),
                                           HAUL_OBJECT(label, second, &box_type),
                                           HAUL_OBJECT(label, third, &chest_type) };

static void start_boxes(void)
{
    start();
    lid_type = TYPE_NEW(lid, lid_fields);
    box_type = TYPE_NEW(box, box_fields);
    chest_type = TYPE_NEW(chest, chest_fields);
    label_type = TYPE_NEW(label, label_fields);
    CHECK_STATUS(haul_type_commit(label_type), HAUL_OK);
}

static void finish_boxes(void)
{
    haul_type_free(&label_type);
    haul_type_free(&chest_type);
    haul_type_free(&box_type);
    haul_type_free(&lid_type);
    finish();
}

static void put(void *root, const haul_type *type)
{
    CHECK_STATUS(haul_environment_enter(env, root, type, 1, NULL, NULL), HAUL_OK);
}

typedef struct word_look {
    void *const *at;
    void *seen;
} word_look;

static void look_at_word(void *argument)
{
    word_look *w = argument;
    w->seen = *w->at;
}

/* The device's copy of a pointer that is present. */
static void *word_there(const void *pointer)
{
    word_look w = { haul_environment_device_pointer(env, pointer), NULL };
    CHECK_STATUS(haul_host_launch(device, look_at_word, &w), HAUL_OK);
    return w.seen;
}

TEST(environment_attach, a_struct_is_looked_through_even_if_its_first_member_was_met_before)
{
    static box b;
    static label l;
    int is_both;
    for (is_both = 0; is_both < 2; is_both++) {
        start_boxes();
        memset(&b, 0, sizeof b);
        put(&b, box_type);
        b.late = &l;
        l.first = is_both ? &b.top : NULL;
        l.second = &b;
        put(&l, label_type);
        check_note("with%s the lid", is_both ? "" : "out");
        CHECK_PTR(word_there(&b.late), there(&l));
        CHECK_EQ(info().attached, 1);
        check_note(NULL);
        finish_boxes();
    }
}

TEST(environment_attach, a_pointer_in_a_struct_and_in_its_member_is_attached_once)
{
    static chest c;
    static label l;
    start_boxes();
    memset(&c, 0, sizeof c);
    memset(&l, 0, sizeof l);
    put(&c, chest_type);
    c.top.back = &l;
    l.first = &c.top;
    l.third = &c;
    put(&l, label_type);
    CHECK_PTR(word_there(&c.top.back), there(&l));
    CHECK_EQ(info().attached, 1);
    finish_boxes();
}

/* ---- Enters that fail when they have met pointers that lead elsewhere. */

static struct {
    int count, refuses;
} watched;

static int comes(void *user, const haul_shipped_range *range)
{
    (void)user;
    (void)range;
    watched.count += !watched.refuses;
    return watched.refuses;
}

static int goes(void *user, const haul_shipped_range *range)
{
    (void)user;
    (void)range;
    watched.count--;
    return 0;
}

/* An enter of P[2], to which P[0].a and P[0].b of the host lead. */
static haul_status enter_behind(void *user)
{
    (void)user;
    return haul_environment_enter(env, &P[2], part_type, 1, NULL, NULL);
}

/* P[0] has a pointer that was sent with it, and one that a call has attached. */
static void make_pointers(void)
{
    P[0].a = &P[1];
    enter(&P[0]);
    enter(&P[3]);
    attach(&P[0].b, &P[3]);
    P[0].a = P[0].b = &P[2];
    P[2].a = &P[0];
}

TEST(environment_attach, an_enter_that_a_watcher_refuses_leaves_all_pointers_where_they_led)
{
    memset(&watched, 0, sizeof watched);
    start();
    CHECK_STATUS(haul_environment_watch(env, comes, goes, NULL), HAUL_OK);
    make_pointers();
    watched.refuses = 1;
    CHECK_STATUS(enter_behind(NULL), HAUL_ERROR_CANCELLED);
    watched.refuses = 0;
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[1]));
    CHECK_PTR(seen(&P[0]).seen.b, there(&P[3]));
    CHECK_STATUS(haul_environment_detach(env, &P[0].b), HAUL_OK); /* it is still attached */
    CHECK_PTR(seen(&P[0]).seen.b, NULL);
    CHECK_STATUS(enter_behind(NULL), HAUL_OK);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[2]));
    finish();
}

static fault_plan *faults;

static void prepare_pointers(void *user, fault_plan *plan)
{
    haul_device *opened;
    (void)user;
    faults = plan;
    memset(&watched, 0, sizeof watched);
    CHECK_STATUS(fault_open(plan, NULL, &opened), HAUL_OK);
    start_with(opened);
    CHECK_STATUS(haul_environment_watch(env, comes, goes, NULL), HAUL_OK);
    make_pointers();
}

/* A device that works again shows the pointers as they were before the enter that failed. The one
 * that was sent with its object may be null: what it was is not known. */
static void check_pointers(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(watched.count, info().ranges);
    CHECK_EQ(info().groups, status == HAUL_OK ? 3 : 2);
    if (!faults->lost && faults->mode != FAULT_FROM && faults->mode != FAULT_SLOW) {
        const look l = seen(&P[0]);
        if (status == HAUL_OK || l.seen.a)
            CHECK_PTR(l.seen.a, status == HAUL_OK ? there(&P[2]) : there(&P[1]));
        CHECK_PTR(l.seen.b, status == HAUL_OK ? there(&P[2]) : there(&P[3]));
    }
}

/* Then the next enter meets the same. */
static void undo_behind(void *user)
{
    (void)user;
    detach(&P[0].b);
    leave(&P[2]);
    attach(&P[0].b, &P[3]);
    P[0].b = &P[2];
}

static void finish_pointers(void *user)
{
    (void)user;
    haul_environment_free(&env);
    haul_type_free(&part_type);
    haul_device_close(&device);
}

TEST(environment_attach, an_enter_that_a_device_fails_leaves_what_calls_have_attached)
{
    fault_operation operation = { .name = "enter beside attached pointers",
                                  .prepare = prepare_pointers,
                                  .run = enter_behind,
                                  .check = check_pointers,
                                  .undo = undo_behind,
                                  .finish = finish_pointers,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 20);
}

/* ---- Attaches and detaches that fail. */

/* P[0].a was made by an enter to lead to P[2], and P[0].b was sent with its object. The host's lead
 * to P[3]. */
static void prepare_one(void *user, fault_plan *plan)
{
    haul_device *opened;
    (void)user;
    faults = plan;
    CHECK_STATUS(fault_open(plan, NULL, &opened), HAUL_OK);
    start_with(opened);
    P[0].b = &P[1];
    enter(&P[0]);
    P[0].a = &P[2];
    P[2].a = &P[0];
    enter(&P[2]);
    enter(&P[3]);
    CHECK_PTR(seen(&P[0]).seen.a, there(&P[2]));
    P[0].a = P[0].b = &P[3];
}

static haul_environment_info before_one;

static haul_status attach_a(void *user)
{
    (void)user;
    before_one = info();
    return haul_environment_attach(env, &P[0].a);
}

static haul_status attach_b(void *user)
{
    (void)user;
    before_one = info();
    return haul_environment_attach(env, &P[0].b);
}

static int can_look(void)
{
    return !faults->lost && faults->mode != FAULT_FROM && faults->mode != FAULT_SLOW;
}

static void check_a(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(info().attached, before_one.attached + (status == HAUL_OK));
    if (can_look())
        CHECK_PTR(seen(&P[0]).seen.a, there(status == HAUL_OK ? &P[3] : &P[2]));
}

/* What it was when it was sent is not known: it may be null. */
static void check_b(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(info().attached, before_one.attached + (status == HAUL_OK));
    if (can_look()) {
        const part *leads_to = seen(&P[0]).seen.b;
        if (status == HAUL_OK || leads_to)
            CHECK_PTR(leads_to, there(status == HAUL_OK ? &P[3] : &P[1]));
    }
}

/* The next call meets the same. */
static void detach_a(void *user)
{
    (void)user;
    detach(&P[0].a);
    leave(&P[2]);
    P[0].a = &P[2];
    enter(&P[2]);
    P[0].a = &P[3];
}

static void detach_b(void *user)
{
    (void)user;
    detach(&P[0].b);
}

static haul_status detach_attached(void *user)
{
    (void)user;
    return haul_environment_detach(env, &P[0].b);
}

static void prepare_attached(void *user, fault_plan *plan)
{
    prepare_one(user, plan);
    attach(&P[0].b, &P[3]);
}

static void check_detached(void *user, haul_status status)
{
    (void)user;
    if (can_look())
        CHECK_PTR(seen(&P[0]).seen.b, status == HAUL_OK ? NULL : there(&P[3]));
}

static void attach_again(void *user)
{
    (void)user;
    attach(&P[0].b, &P[3]);
}

TEST(environment_attach, a_call_that_a_device_fails_leaves_the_pointer_as_it_was)
{
    fault_operation operation = { .name = "attach what an enter has attached",
                                  .prepare = prepare_one,
                                  .run = attach_a,
                                  .check = check_a,
                                  .undo = detach_a,
                                  .finish = finish_pointers,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 10);
    operation.name = "attach what was sent";
    operation.run = attach_b;
    operation.check = check_b;
    operation.undo = detach_b;
    CHECK(fault_everywhere(&operation) > 10);
    operation.name = "detach";
    operation.prepare = prepare_attached;
    operation.run = detach_attached;
    operation.check = check_detached;
    operation.undo = attach_again;
    CHECK(fault_everywhere(&operation) > 5);
}

TEST(environment_attach, an_exit_waits_for_an_attach_whose_wait_has_timed_out)
{
    fault_plan plan = { .deferred = 1 };
    haul_device *opened;
    CHECK_STATUS(fault_open(&plan, NULL, &opened), HAUL_OK);
    start_with(opened);
    enter(&P[0]);
    enter(&P[1]);
    P[0].a = &P[1];
    plan.impatient = 1;
    CHECK_STATUS(haul_environment_attach(env, &P[0].a), HAUL_ERROR_PENDING);
    CHECK_STATUS(haul_environment_exit(env, &P[0], NULL, NULL), HAUL_ERROR_PENDING);
    plan.impatient = 0;
    leave(&P[0]);
    leave(&P[1]);
    finish_pointers(NULL);
    fault_check_clean(&plan);
}

/* ---- Pointers that are attached again and again. */

static int scatters_left; /* the next one of these fails; 0: none does */

static haul_status scatter(void *state, const haul_strip *list, size_t count, const void *packed,
                           size_t bytes)
{
    size_t i, k;
    for (i = 0; i < count; i++) /* each word once */
        for (k = 0; k < i; k++)
            CHECK(list[i].first != list[k].first);
    if (scatters_left && --scatters_left == 0)
        return HAUL_ERROR_DEVICE;
    return haul_host_device()->scatter_strips(state, list, count, packed, bytes);
}

static void start_scattering(void)
{
    static haul_device_table table;
    test_device options = { .settings = &ordinary_launches };
    haul_device *opened;
    table = *haul_host_device();
    table.scatter_strips = scatter;
    scatters_left = 0;
    CHECK_STATUS(test_open(&table, &options, &opened), HAUL_OK);
    start_with(opened);
}

static void fail_to_leave(part *root)
{
    scatters_left = 1;
    CHECK_STATUS(haul_environment_exit(env, root, NULL, NULL), HAUL_ERROR_DEVICE);
}

TEST(environment_attach, a_pointer_that_stood_in_an_object_that_left_is_forgotten)
{
    part *first;
    start_scattering();
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 2, NULL, NULL), HAUL_OK);
    enter(&P[2]);
    first = there(&P[2]);
    attach(&P[2].a, &P[0]);
    leave(&P[2]);
    P[2].a = NULL;
    enter(&P[2]);
    CHECK_PTR(there(&P[2]), first);
    attach(&P[2].a, &P[1]);
    fail_to_leave(&P[0]); /* the pointer is written once more as it was */
    CHECK_PTR(seen(&P[2]).seen.a, there(&P[1]));
    finish();
}

TEST(environment_attach, a_pointer_is_in_the_list_of_one_group)
{
    start_scattering();
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 2, NULL, NULL), HAUL_OK);
    enter(&P[2]);
    attach(&P[2].a, &P[0]);
    P[2].a = &P[3];
    P[3].a = &P[2];
    enter(&P[3]); /* takes the pointer over */
    CHECK_PTR(seen(&P[2]).seen.a, there(&P[3]));
    leave(&P[3]);
    CHECK_PTR(seen(&P[2]).seen.a, NULL);
    attach(&P[2].a, &P[1]);
    attach(&P[2].b, &P[1]);
    detach(&P[2].b);
    fail_to_leave(&P[0]);
    CHECK_PTR(seen(&P[2]).seen.a, there(&P[1]));
    CHECK_PTR(seen(&P[2]).seen.b, NULL);
    leave(&P[0]);
    CHECK_PTR(seen(&P[2]).seen.a, NULL);
    finish();
}

enum { AGAIN = 1000 };

TEST(environment_attach, the_lists_do_not_grow_with_what_comes_and_goes)
{
    size_t bytes = 0;
    int round;
    start();
    enter(&P[0]);
    for (round = 0; round < AGAIN; round++) {
        P[1].a = NULL;
        enter(&P[1]);
        attach(&P[1].a, &P[0]);
        leave(&P[1]);
        if (round == 10)
            bytes = info().bookkeeping_bytes;
    }
    CHECK_EQ(info().bookkeeping_bytes, bytes);
    finish();
}

TEST(environment_attach, bookkeeping_counts_all_memory_that_attaches_take)
{
    fault_plan plan = { .at = 0 };
    haul_device *opened;
    part *many = calloc(AGAIN, sizeof *many);
    size_t before;
    uint64_t taken;
    int i;
    CHECK(many != NULL);
    CHECK_STATUS(fault_open(&plan, NULL, &opened), HAUL_OK);
    start_with(opened);
    enter(&P[0]);
    CHECK_STATUS(haul_environment_enter(env, many, part_type, AGAIN, NULL, NULL), HAUL_OK);
    attach(&many[0].a, &P[0]);
    before = info().bookkeeping_bytes;
    taken = plan.host_bytes;
    for (i = 1; i < AGAIN; i++)
        attach(&many[i].a, &P[0]);
    CHECK(plan.host_bytes > taken);
    CHECK_EQ(info().bookkeeping_bytes - before, plan.host_bytes - taken);
    finish_pointers(NULL);
    fault_check_clean(&plan);
    free(many);
}
