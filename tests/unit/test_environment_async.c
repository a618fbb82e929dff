/* Asynchronous calls on environments: what is ordered, when it takes effect, and which call writes
 * results or reports a failure.
 *
 * The device is the deferred one of tests/support/doors.h: each stream does its work when it is
 * waited for, so a missing order between streams shows.
 *
 * Faults by number (docs/testing.md): D1-D6, D13, H1, H2 of asynchronous calls.
 */
#include "environment_graphs.h"

#define P (host.parts)

static fault_plan plan;

static haul_async on_stream(unsigned i)
{
    const haul_async on = { fault_stream(i), NULL };
    return on;
}

static void start_deferred(void)
{
    haul_device *opened;
    memset(&plan, 0, sizeof plan);
    plan.deferred = 1;
    CHECK_STATUS(fault_open(&plan, NULL, &opened), HAUL_OK);
    start_with(opened);
}

static void end(void)
{
    haul_environment_free(&env);
    haul_type_free(&part_type);
    haul_device_close(&device);
    fault_check_clean(&plan);
}

static void wait_for_all(void)
{
    CHECK_STATUS(haul_environment_wait(env), HAUL_OK);
    CHECK_STATUS(haul_environment_poll(env), HAUL_OK);
}

static void send(const part *at, unsigned stream)
{
    const haul_async on = on_stream(stream);
    CHECK_STATUS(haul_environment_update_device(env, at, sizeof *at, &on), HAUL_OK);
}

static void bring(const part *at, unsigned stream)
{
    const haul_async on = on_stream(stream);
    CHECK_STATUS(haul_environment_update_host(env, at, sizeof *at, &on), HAUL_OK);
}

/* Its memory stays until the stream's work is done. */
TEST(environment_async, a_group_that_has_left_is_not_kept_but_wasted)
{
    const haul_async on = on_stream(1);
    size_t bytes;
    start_deferred();
    enter(&P[0]);
    bytes = info().device_bytes;
    send(&P[0], 1);
    CHECK_STATUS(haul_environment_exit(env, &P[0], NULL, &on), HAUL_OK);
    CHECK_EQ(info().groups, 0);
    CHECK_EQ(info().device_bytes, bytes);
    CHECK_EQ(info().kept, 0);
    CHECK_EQ(info().kept_bytes, 0);
    CHECK_EQ(info().wasted_bytes, bytes);
    wait_for_all();
    end();
}

TEST(environment_async, updates_of_one_object_take_effect_in_their_order)
{
    start_deferred();
    enter(&P[0]);
    P[0].value = 1;
    send(&P[0], 0);
    P[0].value = 2;
    send(&P[0], 1);
    P[0].value = 3;
    send(&P[0], 1);
    P[0].value = 4;
    wait_for_all();
    CHECK_EQ(seen(&P[0]).seen.value, 3);
    end();
}

TEST(environment_async, updates_of_objects_that_left_no_pointer_between_them_wait_for_nothing)
{
    start_deferred();
    P[1].data = host.arrays[1];
    enter(&P[0]);
    enter(&P[1]);
    P[0].value = 1;
    P[1].value = 2;
    send(&P[0], 0);
    plan.impatient = 1; /* a wait would say so */
    send(&P[1], 1);
    plan.impatient = 0;
    CHECK_EQ(seen(&P[1]).seen.value, 101);
    CHECK_STATUS(haul_environment_poll(env), HAUL_ERROR_PENDING);
    wait_for_all();
    CHECK_EQ(seen(&P[0]).seen.value, 1);
    CHECK_EQ(seen(&P[1]).seen.value, 2);
    end();
}

TEST(environment_async, results_are_those_of_their_place_and_written_by_the_wait)
{
    haul_async on = on_stream(0);
    int event = 0, i;
    start_deferred();
    enter(&P[0]);
    P[0].value = 1;
    send(&P[0], 0);
    on.event = &event;
    CHECK_STATUS(haul_environment_update_host(env, &P[0], 0, &on), HAUL_OK);
    P[0].value = 2;
    send(&P[0], 0);
    for (i = 0; i < 20 && haul_environment_poll(env) == HAUL_ERROR_PENDING; i++)
        ;
    CHECK_EQ(event, 1);
    CHECK_EQ(P[0].value, 2);
    wait_for_all();
    CHECK_EQ(P[0].value, 1);
    CHECK_EQ(seen(&P[0]).seen.value, 2);
    end();
}

TEST(environment_async, a_call_that_waits_writes_the_results_of_its_objects_first)
{
    start_deferred();
    enter(&P[0]);
    change_there(&P[0]);
    bring(&P[0], 2);
    CHECK_EQ(P[0].value, 100);
    CHECK_STATUS(haul_environment_update_device(env, &P[0], sizeof P[0], NULL), HAUL_OK);
    CHECK_EQ(P[0].value, 1100);
    CHECK_EQ(seen(&P[0]).seen.value, 1100);
    end();
}

TEST(environment_async, an_enter_comes_behind_that_of_the_objects_it_leads_into)
{
    const haul_async first = on_stream(0), second = on_stream(1);
    start_deferred();
    P[0].a = &P[1];
    P[1].a = &P[0];
    CHECK_STATUS(haul_environment_enter(env, &P[2], part_type, 1, NULL, &first), HAUL_OK);
    P[2].value = 7; /* it has been read */
    P[1].b = &P[2];
    P[2].b = &P[1];
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 1, NULL, &second), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, &P[1], sizeof P[1]), HAUL_PRESENT);
    CHECK_EQ(seen(&P[2]).seen.value, 102);
    wait_for_all();
    CHECK_PTR(seen(&P[1]).seen.b, there(&P[2]));
    CHECK_PTR(seen(&P[2]).seen.b, there(&P[1]));
    end();
}

TEST(environment_async, an_enter_of_a_present_root_that_waits_comes_behind_its_work)
{
    const haul_async on = on_stream(0);
    start_deferred();
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 1, NULL, &on), HAUL_OK);
    enter(&P[0]);
    CHECK_EQ(seen(&P[0]).seen.value, 100);
    CHECK_STATUS(haul_environment_poll(env), HAUL_OK);
    end();
}

TEST(environment_async, an_exit_takes_effect_at_once_and_its_memory_goes_behind_its_work)
{
    const haul_exit_options back = { .copyout = 1 };
    const haul_async on = on_stream(1);
    part *was;
    start_deferred();
    P[0].a = &P[1];
    enter(&P[2]);
    P[2].a = &P[0];
    P[0].b = &P[2];
    enter(&P[0]);
    change_there(&P[1]);
    was = there(&P[0]);
    CHECK(was != NULL);
    CHECK_STATUS(haul_environment_exit(env, &P[0], &back, &on), HAUL_OK);
    CHECK_EQ(haul_environment_presence(env, &P[0], sizeof P[0]), HAUL_ABSENT);
    CHECK_EQ(info().groups, 1);
    CHECK_EQ(plan.device_blocks, 2);
    CHECK_PTR(seen(&P[2]).seen.a, was);
    CHECK_EQ(P[1].value, 101);
    wait_for_all();
    CHECK_EQ(P[1].value, 1101);
    CHECK_PTR(seen(&P[2]).seen.a, NULL);
    CHECK_EQ(plan.device_blocks, 1);
    end();
}

TEST(environment_async, an_enter_sends_the_results_of_an_exit_on_its_way)
{
    const haul_exit_options back = { .copyout = 1 };
    const haul_async first = on_stream(1), second = on_stream(2);
    start_deferred();
    enter(&P[0]);
    change_there(&P[0]);
    CHECK_STATUS(haul_environment_exit(env, &P[0], &back, &first), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 1, NULL, &second), HAUL_OK);
    CHECK_EQ(P[0].value, 1100);
    wait_for_all();
    CHECK_EQ(seen(&P[0]).seen.value, 1100);
    end();
}

TEST(environment_async, calls_that_order_nothing_signal_their_events)
{
    haul_async on = on_stream(3);
    int events[4] = { 0, 0, 0, 0 };
    start_deferred();
    enter(&P[0]);
    on.event = &events[0];
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 1, NULL, &on), HAUL_OK);
    on.event = &events[1];
    CHECK_STATUS(haul_environment_exit(env, &P[0], NULL, &on), HAUL_OK);
    on.event = &events[2];
    CHECK_STATUS(haul_environment_update_host(env, &P[0].a, sizeof P[0].a, &on), HAUL_OK);
    on.event = &events[3];
    CHECK_STATUS(haul_environment_exit(env, &P[0], NULL, &on), HAUL_OK);
    wait_for_all();
    CHECK_EQ(events[0] + events[1] + events[2] + events[3], 4);
    end();
}

TEST(environment_async, an_environment_is_freed_with_work_under_way)
{
    const haul_exit_options back = { .copyout = 1 };
    const haul_async on = on_stream(0);
    start_deferred();
    enter(&P[1]);
    CHECK_STATUS(haul_environment_enter(env, &P[0], part_type, 1, NULL, &on), HAUL_OK);
    bring(&P[0], 0);
    change_there(&P[1]);
    CHECK_STATUS(haul_environment_exit(env, &P[1], &back, &on), HAUL_OK);
    haul_environment_free(&env);
    CHECK_EQ(P[1].value, 101);
    CHECK_EQ(plan.device_blocks, 0);
    end();
}

TEST(environment_async, a_count_that_the_device_has_changed_keeps_one_result_from_being_written)
{
    haul_error error;
    part changed;
    start_deferred();
    P[1].data = host.arrays[1];
    enter(&P[0]);
    enter(&P[1]);
    changed = P[0];
    P[0].count = 2;
    send(&P[0], 0);
    P[0].count = changed.count;
    change_there(&P[1]);
    bring(&P[0], 0);
    bring(&P[1], 1);
    CHECK_STATUS(haul_environment_wait(env), HAUL_ERROR_GRAPH);
    error = *haul_context_error(context);
    CHECK_STR(error.path, "root.data");
    CHECK_EQ(P[0].count, LENGTH);
    CHECK_EQ(P[1].value, 1101);
    wait_for_all();
    end();
}

TEST(environment_async, results_that_failed_are_not_written_and_the_call_can_be_repeated)
{
    start_deferred();
    enter(&P[0]);
    change_there(&P[0]);
    bring(&P[0], 1);
    plan.late = 1; /* the device has failed, and tells the next wait */
    CHECK_STATUS(haul_environment_wait(env), HAUL_ERROR_DEVICE);
    CHECK_EQ(P[0].value, 100);
    wait_for_all();
    bring(&P[0], 1);
    wait_for_all();
    CHECK_EQ(P[0].value, 1100);
    end();
}

/* ---- Every fault. */

static void prepare(void *user, fault_plan *faults)
{
    haul_device *opened;
    (void)user;
    CHECK_STATUS(fault_open(faults, NULL, &opened), HAUL_OK);
    start_with(opened);
    P[1].b = &P[0];
    P[2].a = &P[0];
}

static void finish_all(void *user)
{
    (void)user;
    haul_environment_free(&env);
    haul_type_free(&part_type);
    haul_device_close(&device);
}

static void check_host(void *user, haul_status status)
{
    (void)user;
    (void)status;
    CHECK_EQ(P[0].value, 100);
    CHECK_PTR(P[1].b, &P[0]);
}

/* From nothing to nothing. */
static haul_status whole_life(void *user)
{
    const haul_exit_options back = { .copyout = 1 };
    const haul_async on = on_stream(0), other = on_stream(1);
    haul_environment *own;
    haul_status status = haul_environment_create(device, &own);
    (void)user;
    if (status != HAUL_OK)
        return status;
    status = haul_environment_enter(own, &P[0], part_type, 1, NULL, &on);
    P[0].a = &P[1];
    if (status == HAUL_OK)
        status = haul_environment_enter(own, &P[1], part_type, 1, NULL, &other);
    P[0].a = NULL;
    if (status == HAUL_OK)
        status = haul_environment_update_device(own, &P[0], sizeof P[0], &on);
    if (status == HAUL_OK)
        status = haul_environment_update_host(own, &P[0], 0, &other);
    if (status == HAUL_OK)
        status = haul_environment_exit(own, &P[1], &back, &on);
    if (status == HAUL_OK)
        status = haul_environment_wait(own);
    haul_environment_free(&own);
    return status;
}

TEST(environment_async, a_life_survives_every_fault_and_leaves_nothing_behind)
{
    fault_operation operation = { .name = "asynchronous life",
                                  .prepare = prepare,
                                  .run = whole_life,
                                  .check = check_host,
                                  .finish = finish_all,
                                  .keeps = 1,
                                  .settings = { .deferred = 1 } };
    CHECK(fault_everywhere(&operation) > 50);
}

static fault_plan *faults;

static void prepare_entered(void *user, fault_plan *of)
{
    faults = of;
    prepare(user, of);
    enter(&P[0]);
    P[0].a = &P[2];
    enter(&P[2]);
    P[0].a = NULL;
}

/* A call that fails leaves its objects; whatever its wait reports, they have left. */
static haul_status exit_and_wait(void *user)
{
    const haul_exit_options back = { .copyout = 1 };
    const haul_async on = on_stream(2);
    haul_status status = haul_environment_exit(env, &P[2], &back, &on);
    (void)user;
    CHECK_EQ(haul_environment_presence(env, &P[2], sizeof P[2]),
             status == HAUL_OK ? HAUL_ABSENT : HAUL_PRESENT);
    CHECK_EQ(info().groups, status == HAUL_OK ? 1 : 2);
    return status == HAUL_OK ? haul_environment_wait(env) : status;
}

/* The next run finds the objects there. */
static void check_left(void *user, haul_status status)
{
    check_host(user, status);
    faults->at = 0;
    if (status != HAUL_OK)
        haul_environment_wait(env);
    if (haul_environment_presence(env, &P[2], sizeof P[2]) == HAUL_ABSENT)
        enter(&P[2]);
}

TEST(environment_async, an_exit_survives_every_fault_of_the_call)
{
    fault_operation operation = { .name = "asynchronous exit",
                                  .prepare = prepare_entered,
                                  .run = exit_and_wait,
                                  .check = check_left,
                                  .finish = finish_all,
                                  .modes = 1u << FAULT_ONCE | 1u << FAULT_LATE,
                                  .keeps = 1,
                                  .settings = { .deferred = 1 } };
    CHECK(fault_everywhere(&operation) > 5);
}
