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

/* ---- Updates of parts, and syncs. */

static int can_look(void)
{
    return !faults->lost && faults->mode != FAULT_FROM && faults->mode != FAULT_SLOW;
}

static haul_direction direction;
static store was; /* the host's objects before the call */

static void prepare_parts(void *user, fault_plan *plan)
{
    prepare_both(user, plan);
    change_there(&P[2]);
    change_there(&P[1]);
}

/* A member of all objects, one of a group, a range and a strided section. */
static haul_status update_parts(void *user)
{
    const haul_update_part parts[] = {
        { .type = part_type, .offset = offsetof(part, value), .bytes = sizeof(int64_t) },
        { .type = part_type,
          .host = &P[2],
          .offset = offsetof(part, count),
          .bytes = sizeof(int64_t) },
        { .host = host.arrays[0], .bytes = 2 * sizeof(int32_t) },
        { .host = host.arrays[2], .bytes = sizeof(int32_t), .count = 2, .stride = 8 },
    };
    (void)user;
    if (direction == HAUL_TO_DEVICE)
        P[2].value++;
    was = host;
    return haul_environment_update(env, parts, 4, direction, NULL);
}

static void check_parts(void *user, haul_status status)
{
    (void)user;
    if (direction == HAUL_TO_DEVICE) {
        CHECK_BYTES(&host, &was, sizeof host);
        if (can_look() && status == HAUL_OK)
            CHECK_EQ(seen(&P[2]).seen.value, P[2].value);
        return;
    }
    if (status != HAUL_OK) {
        CHECK_BYTES(&host, &was, sizeof host);
        return;
    }
    CHECK_EQ(P[2].value, 1102);
    CHECK_EQ(P[1].value, 1101);
    CHECK_EQ(P[3].value, 103);
    CHECK_EQ(host.arrays[2][0], 1020);
    CHECK_EQ(host.arrays[1][0], 10);
}

static void take_parts_back(void *user)
{
    (void)user;
    if (direction == HAUL_TO_HOST) {
        P[2].value = P[1].value = 0;
        host.arrays[2][0] = 0;
    }
}

TEST(environment_faults, an_update_of_parts_survives_every_fault)
{
    fault_operation operation = { .name = "update of parts to the host",
                                  .prepare = prepare_parts,
                                  .run = update_parts,
                                  .check = check_parts,
                                  .undo = take_parts_back,
                                  .finish = end_faults,
                                  .keeps = 1 };
    direction = HAUL_TO_HOST;
    CHECK(fault_everywhere(&operation) > 10);
    operation.name = "update of parts to the device";
    direction = HAUL_TO_DEVICE;
    CHECK(fault_everywhere(&operation) > 10);
    operation.name = "update of parts to the device in pieces";
    operation.settings.chunk_bytes = 1;
    CHECK(fault_everywhere(&operation) > 15);
}

static void prepare_synced(void *user, fault_plan *plan)
{
    prepare_both(user, plan);
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
}

/* Both groups have changed. */
static haul_status sync_again(void *user)
{
    (void)user;
    P[1].value++;
    host.arrays[2][0]++;
    return haul_environment_sync(env, NULL);
}

/* Nothing is lost, also if the call before this one has failed. */
static void check_synced(void *user, haul_status status)
{
    (void)user;
    if (status != HAUL_OK || !can_look())
        return;
    CHECK_EQ(seen(&P[1]).seen.value, P[1].value);
    CHECK_PTR(seen(&P[1]).seen.a, there(&P[2]));
    CHECK_EQ(seen(&P[2]).first, host.arrays[2][0]);
}

TEST(environment_faults, a_later_sync_survives_every_fault_and_loses_no_change)
{
    fault_operation operation = { .name = "later sync",
                                  .prepare = prepare_synced,
                                  .run = sync_again,
                                  .check = check_synced,
                                  .finish = end_faults,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 5);
}

/* ---- Exits by a policy, with a finder and without. */

static haul_type *value_alone;

static void prepare_policy(void *user, fault_plan *plan)
{
    const haul_policy_row rows[] = { { .path = "", .action = HAUL_NONE },
                                     { HAUL_MEMBER(part, value), .action = HAUL_COPYOUT } };
    prepare_both(user, plan);
    CHECK_STATUS(haul_policy_create(part_type, "value", rows, 2, &value_alone), HAUL_OK);
    change_there(&P[2]);
}

static haul_status exit_by_policy(void *user)
{
    const haul_exit_options back = { .copyout = 1, .policy = value_alone };
    (void)user;
    was = host;
    return haul_environment_exit(env, &P[2], &back, NULL);
}

/* What had come back before the failure stays. */
static void check_value_back(void *user, haul_status status)
{
    check_left(user, status);
    if (status == HAUL_OK)
        CHECK_EQ(P[2].value, 1102);
    CHECK(P[2].value == 1102 || P[2].value == was.parts[2].value);
    was.parts[2].value = P[2].value;
    CHECK_BYTES(&host, &was, sizeof host);
}

static void enter_changed(void *user)
{
    (void)user;
    P[2].value = 102;
    enter(&P[2]);
    change_there(&P[2]);
}

static void end_policy(void *user)
{
    haul_type_free(&value_alone);
    end_faults(user);
}

TEST(environment_faults, an_exit_by_a_policy_survives_every_fault)
{
    fault_operation operation = { .name = "exit by a policy",
                                  .prepare = prepare_policy,
                                  .run = exit_by_policy,
                                  .check = check_value_back,
                                  .undo = enter_changed,
                                  .finish = end_policy,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 20);
}

static int asked;

/* The copy of one array is that of another one. */
static void *find_copy(void *user, const void *at, size_t bytes)
{
    const size_t offset = (size_t)((const char *)at - (const char *)host.arrays[10]);
    (void)user;
    __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
    return offset < sizeof host.arrays[10] && bytes <= sizeof host.arrays[10] - offset
               ? (char *)haul_environment_device_pointer(env, host.arrays[9]) + offset
               : NULL;
}

static void prepare_finder(void *user, fault_plan *plan)
{
    prepare(user, plan);
    enter(&P[9]);
    P[2].data = host.arrays[10];
    CHECK_STATUS(haul_environment_set_finder(env, find_copy, NULL), HAUL_OK);
    before = info();
    asked = 0;
}

static void check_found(void *user, haul_status status)
{
    check_entered(user, status);
    CHECK_EQ(haul_environment_presence(env, host.arrays[10], sizeof host.arrays[10]), HAUL_ABSENT);
    if (status != HAUL_OK)
        return;
    CHECK(asked > 0);
    if (can_look())
        CHECK_PTR(seen(&P[2]).seen.data, haul_environment_device_pointer(env, host.arrays[9]));
}

static void prepare_exit_beside_finder(void *user, fault_plan *plan)
{
    prepare_finder(user, plan);
    enter(&P[2]);
    change_there(&P[2]);
    before = info();
}

static haul_status exit_whole(void *user)
{
    const haul_exit_options back = { .copyout = 1, .policy = part_type };
    (void)user;
    was = host;
    asked = 0;
    return haul_environment_exit(env, &P[2], &back, NULL);
}

TEST(environment_faults, calls_that_ask_a_finder_survive_every_fault)
{
    fault_operation operation = { .name = "enter with a finder",
                                  .prepare = prepare_finder,
                                  .run = enter_second,
                                  .check = check_found,
                                  .undo = leave_second,
                                  .finish = end_faults,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 20);
    operation.name = "exit by a policy with a finder";
    operation.prepare = prepare_exit_beside_finder;
    operation.run = exit_whole;
    operation.check = check_value_back;
    operation.undo = enter_changed;
    CHECK(fault_everywhere(&operation) > 20);
}

/* ---- Watchers. */

static size_t known;

static int comes(void *user, const haul_shipped_range *range)
{
    (void)user;
    (void)range;
    known++;
    return 0;
}

static int goes(void *user, const haul_shipped_range *range)
{
    (void)user;
    (void)range;
    CHECK(known-- > 0);
    return 0;
}

static void prepare_watch(void *user, fault_plan *plan)
{
    known = 0;
    prepare(user, plan);
    CHECK_STATUS(haul_environment_watch(env, comes, goes, NULL), HAUL_OK);
}

/* A watcher knows what is present, whatever has failed. */
static void check_watched(void *user, haul_status status)
{
    check_entered(user, status);
    CHECK_EQ(known, info().ranges);
}

static void prepare_watched_exit(void *user, fault_plan *plan)
{
    known = 0;
    prepare_both(user, plan);
    CHECK_STATUS(haul_environment_watch(env, comes, goes, NULL), HAUL_OK);
}

static void check_watched_exit(void *user, haul_status status)
{
    check_left(user, status);
    CHECK_EQ(known, info().ranges);
}

static void prepare_unwatched(void *user, fault_plan *plan)
{
    known = 0;
    prepare_both(user, plan);
}

static haul_status begin_to_watch(void *user)
{
    (void)user;
    return haul_environment_watch(env, comes, goes, NULL);
}

static void check_told(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(known, status == HAUL_OK ? info().ranges : 0);
}

static void end_watch(void *user)
{
    (void)user;
    CHECK_STATUS(haul_environment_watch(env, NULL, NULL, NULL), HAUL_OK);
    CHECK_EQ(known, 0);
}

static void end_watched(void *user)
{
    end_faults(user);
    CHECK_EQ(known, 0);
}

TEST(environment_faults, a_watcher_knows_what_is_present_after_every_fault)
{
    fault_operation operation = { .name = "enter with a watcher",
                                  .prepare = prepare_watch,
                                  .run = enter_second,
                                  .check = check_watched,
                                  .undo = leave_second,
                                  .finish = end_watched,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 20);
    operation.name = "exit with a watcher";
    operation.prepare = prepare_watched_exit;
    operation.run = exit_second;
    operation.check = check_watched_exit;
    operation.undo = enter_again;
    CHECK(fault_everywhere(&operation) > 5);
    operation.name = "watch";
    operation.prepare = prepare_unwatched;
    operation.run = begin_to_watch;
    operation.check = check_told;
    operation.undo = end_watch;
    fault_everywhere(&operation); /* it may need neither memory nor the device */
}
