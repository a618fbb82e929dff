/* Environments whose allocator or device fails at each event.
 *
 * Faults by number (docs/testing.md): D1-D6, D13, H1, H2.
 */
#include "environment_graphs.h"

#define P (host.parts)

static fault_plan *faults;
static haul_environment_info before;

static void prepare(void *user, fault_plan *plan)
{
    haul_device *opened;
    (void)user;
    faults = plan;
    CHECK_STATUS(fault_open(plan, NULL, &opened), HAUL_OK);
    start_with(opened);
    P[0].a = &P[1];
    P[1].b = &P[0];
    enter(&P[0]);
    P[1].a = &P[2];
    P[2].a = &P[1];
    P[2].b = &P[3];
    before = info();
}

static haul_status enter_second(void *user)
{
    (void)user;
    return haul_environment_enter(env, &P[2], part_type, 1, NULL, NULL);
}

static void check_entered(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(haul_environment_presence(env, &P[2], sizeof P[2]),
             status == HAUL_OK ? HAUL_PRESENT : HAUL_ABSENT);
    CHECK_EQ(haul_environment_presence(env, &P[1], sizeof P[1]), HAUL_PRESENT);
    CHECK_EQ(info().groups, before.groups + (status == HAUL_OK));
    CHECK_EQ(info().roots, before.roots + (status == HAUL_OK));
    CHECK_PTR(P[2].a, &P[1]);
}

static void leave_second(void *user)
{
    (void)user;
    leave(&P[2]);
}

TEST(environment_faults, an_enter_survives_every_fault)
{
    fault_operation operation = { .name = "enter",
                                  .prepare = prepare,
                                  .run = enter_second,
                                  .check = check_entered,
                                  .undo = leave_second,
                                  .finish = end_faults,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 20);
}

static void prepare_both(void *user, fault_plan *plan)
{
    prepare(user, plan);
    enter(&P[2]);
    before = info();
}

static haul_status exit_second(void *user)
{
    const haul_exit_options back = { .copyout = 1 };
    (void)user;
    return haul_environment_exit(env, &P[2], &back, NULL);
}

static void check_left(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(haul_environment_presence(env, &P[2], sizeof P[2]),
             status == HAUL_OK ? HAUL_ABSENT : HAUL_PRESENT);
    CHECK_EQ(info().groups, before.groups - (status == HAUL_OK));
    CHECK_EQ(info().roots, before.roots - (status == HAUL_OK));
}

static void enter_again(void *user)
{
    (void)user;
    enter(&P[2]);
}

TEST(environment_faults, an_exit_survives_every_fault)
{
    fault_operation operation = { .name = "exit",
                                  .prepare = prepare_both,
                                  .run = exit_second,
                                  .check = check_left,
                                  .undo = enter_again,
                                  .finish = end_faults,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 5);
}

/* Two groups leave at once: P[2], and P[5], into which only P[2] leads by then. P[1] leads into
 * both on the device. */
static void prepare_two(void *user, fault_plan *plan)
{
    prepare(user, plan);
    P[1].b = &P[5];
    P[5].a = &P[1];
    enter(&P[5]);
    P[2].b = &P[5];
    enter(&P[2]);
    leave(&P[5]);
    before = info();
}

/* A device that works again shows the pointers of P[1] as they were before the exit that failed, or
 * null after the one that succeeded. */
static void check_pointers_left(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(info().groups, status == HAUL_OK ? 1 : 3);
    CHECK_EQ(info().roots, status == HAUL_OK ? 1 : 2);
    if (!faults->lost && faults->mode != FAULT_FROM && faults->mode != FAULT_SLOW) {
        const look l = seen(&P[1]);
        CHECK_PTR(l.seen.a, status == HAUL_OK ? NULL : there(&P[2]));
        CHECK_PTR(l.seen.b, status == HAUL_OK ? NULL : there(&P[5]));
    }
}

static void enter_two(void *user)
{
    (void)user;
    enter(&P[5]);
    enter(&P[2]);
    leave(&P[5]);
}

TEST(environment_faults, an_exit_detaches_all_pointers_or_none)
{
    fault_operation operation = { .name = "exit of two groups",
                                  .prepare = prepare_two,
                                  .run = exit_second,
                                  .check = check_pointers_left,
                                  .undo = enter_two,
                                  .finish = end_faults,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 5);
}

/* From nothing to nothing. */
static haul_status whole_life(void *user)
{
    haul_environment *own;
    haul_status status = haul_environment_create(device, &own);
    (void)user;
    if (status != HAUL_OK) {
        CHECK_PTR(own, NULL);
        return status;
    }
    status = haul_environment_enter(own, &P[4], part_type, 3, NULL, NULL);
    if (status == HAUL_OK)
        status = haul_environment_update_device(own, &P[4], sizeof P[4], NULL);
    if (status == HAUL_OK)
        status = haul_environment_update_host(own, &P[4], 0, NULL);
    haul_environment_free(&own);
    return status;
}

TEST(environment_faults, a_life_survives_every_fault_and_leaves_nothing_behind)
{
    fault_operation operation = {
        .name = "life", .prepare = prepare, .run = whole_life, .finish = end_faults, .keeps = 1
    };
    CHECK(fault_everywhere(&operation) > 25);
}
