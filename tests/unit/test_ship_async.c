/* Asynchronous calls: what is ordered, when it takes effect, which call waits, and which call
 * reports a failure.
 *
 * The device is the deferred one of tests/support/doors.h. It does nothing before it is waited for,
 * each stream by itself, so a missing order between streams shows.
 *
 * Faults by number (docs/testing.md): D4, D5, D6, D12, D13, H1, H2 of asynchronous calls.
 */
#define _DEFAULT_SOURCE
#include "ship_faults.h"
#include "support/short_forms.h"
#include "support/types.h"

static fault_plan plan;

/* A shipment on a deferred device. */
static void start(void)
{
    memset(&plan, 0, sizeof plan);
    start_over();
    plan.deferred = 1;
    the.keep = 1;
    prepare(NULL, &plan);
}

/* Without the context's table, so that events are the same where there is no room for one. */
static void start_without_table(void)
{
    memset(&plan, 0, sizeof plan);
    start_over();
    plan.deferred = plan.no_reserve = 1;
    the.keep = 1;
    prepare(NULL, &plan);
}

static void start_in_pieces(void)
{
    memset(&plan, 0, sizeof plan);
    start_over();
    plan.deferred = plan.no_send = 1;
    plan.chunk_bytes = 1;
    the.gap = 25000;
    the.keep = 1;
    prepare(NULL, &plan);
}

static void start_ordered(void)
{
    memset(&plan, 0, sizeof plan);
    start_over();
    plan.deferred = 1;
    the.keep = the.ordered = 1;
    prepare_changed(NULL, &plan);
}

static void end(void)
{
    finish(NULL);
    fault_check_clean(&plan);
}

static haul_async on_stream(unsigned i)
{
    haul_async on;
    on.stream = fault_stream(i);
    on.event = NULL;
    return on;
}

/* The area of the first room, as the device has it. */
static int32_t area_there(haul_shipment *s)
{
    room there;
    device_read(the.device, &there, device_address(s, the.first), sizeof there);
    return there.area;
}

static void check_graph_there(haul_shipment *s)
{
    visit there = museum_seen_on(the.device, s, &the.w, the.first);
    check_visits_agree(&there, &the.seen);
}

/* ---- To the device. */

static void ship_and_change_the_source(void)
{
    haul_async on = on_stream(1);
    haul_shipment *s;
    CHECK_STATUS(haul_ship_from(the.device, haul_from_object(the.first, room_type), NULL, &on, &s),
                 HAUL_OK);
    museum_change(the.first);
    CHECK_STATUS(haul_wait(s), HAUL_OK);
    memcpy(the.w.memory, the.before, the.w.bytes);
    check_graph_there(s);
    haul_shipment_free(&s);
}

TEST(async, the_source_may_change_as_soon_as_the_call_returns)
{
    start();
    ship_and_change_the_source();
    end();
    start_in_pieces();
    ship_and_change_the_source();
    end();
}

TEST(async, a_small_ship_is_not_done_before_it_is_waited_for)
{
    haul_async on = on_stream(0);
    haul_shipment *s;
    int event = 0, i;
    start();
    on.event = &event;
    CHECK_STATUS(haul_ship_from(the.device, haul_from_object(the.first, room_type), NULL, &on, &s),
                 HAUL_OK);
    CHECK_EQ(event, 0);
    CHECK_STATUS(haul_poll(s), HAUL_ERROR_PENDING);
    for (i = 0; i < 10 && haul_poll(s) == HAUL_ERROR_PENDING; i++)
        ;
    CHECK_STATUS(haul_poll(s), HAUL_OK);
    CHECK_EQ(event, 1);
    CHECK_STATUS(haul_wait(s), HAUL_OK);
    CHECK_STATUS(haul_wait(s), HAUL_OK);
    check_graph_there(s);
    haul_shipment_free(&s);
    end();
}

TEST(async, a_plan_ships_too)
{
    haul_async on = on_stream(2);
    haul_root root;
    haul_shipment *s;
    haul_plan *made;
    start();
    root.address = the.first;
    root.type = room_type;
    root.count = 1;
    CHECK_STATUS(
        haul_plan_create(haul_device_context(the.device), haul_from_roots(&root, 1), NULL, &made),
        HAUL_OK);
    CHECK_STATUS(haul_ship_from(the.device, haul_from_plan(made), NULL, &on, &s), HAUL_OK);
    haul_plan_free(&made);
    CHECK_STATUS(haul_wait(s), HAUL_OK);
    check_graph_there(s);
    haul_shipment_free(&s);
    CHECK_STATUS(
        haul_ship_from(the.device, haul_from_object(the.first, room_type), NULL, OWN_STREAM, &s),
        HAUL_OK);
    CHECK_STATUS(haul_wait(s), HAUL_OK);
    check_graph_there(s);
    haul_shipment_free(&s);
    end();
}

TEST(async, calls_on_one_stream_take_effect_in_their_order)
{
    haul_async on = on_stream(0);
    start();
    the.first->area = 1;
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_OK);
    the.first->area = 2;
    CHECK_STATUS(haul_update_device(the.s, RANGE(&the.first->area, sizeof the.first->area), &on),
                 HAUL_OK);
    the.first->area = 3;
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_OK);
    the.first->area = 4;
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    CHECK_EQ(area_there(the.s), 3);
    end();
}

TEST(async, a_call_with_another_stream_comes_after_those_before)
{
    haul_async first = on_stream(0), second = on_stream(1);
    start();
    the.first->area = 1;
    CHECK_STATUS(haul_update_device(the.s, NULL, &first), HAUL_OK);
    the.first->area = 2;
    CHECK_STATUS(haul_update_device(the.s, NULL, &second), HAUL_OK);
    CHECK_EQ(area_there(the.s), 1);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    CHECK_EQ(area_there(the.s), 2);
    end();
}

TEST(async, a_call_that_waits_comes_after_all_that_do_not)
{
    haul_async on = on_stream(3);
    start();
    the.first->area = 1;
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_OK);
    the.first->area = 2;
    CHECK_STATUS(haul_update_device(the.s, RANGE(&the.first->area, sizeof the.first->area), NULL),
                 HAUL_OK);
    CHECK_EQ(area_there(the.s), 2);
    CHECK_STATUS(haul_poll(the.s), HAUL_OK);
    end();
}

TEST(async, an_update_with_pointers_in_it_keeps_those_of_the_device)
{
    haul_async on = on_stream(0);
    room there;
    uintptr_t marker = 0x1234;
    start();
    device_write(the.device, device_address(the.s, &the.first->doors), &marker, sizeof marker);
    the.first->area = 7;
    CHECK_STATUS(haul_update_device(the.s, RANGE(the.first, sizeof *the.first), &on), HAUL_OK);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    device_read(the.device, &there, device_address(the.s, the.first), sizeof there);
    CHECK_EQ(there.area, 7);
    CHECK_EQ((uintptr_t)there.doors, marker);
    end();
}

/* It is larger than any buffer of the ring: its own memory is kept until it has crossed. */
TEST(async, an_update_of_a_large_array_may_change_as_soon_as_the_call_returns)
{
    const size_t bytes = (size_t)40 << 20;
    const haul_async on = on_stream(1);
    unsigned char *array, last = 0;
    haul_type *type;
    haul_shipment *s;
    start();
    CHECK((array = calloc(1, bytes)) != NULL);
    CHECK_STATUS(haul_type_bytes(type_context(), "array", bytes, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_ship(the.device, array, type, 1, NULL, &s), HAUL_OK);
    memset(array, 7, bytes);
    CHECK_STATUS(haul_update_device(s, RANGE(array, bytes), &on), HAUL_OK);
    memset(array, 9, bytes);
    CHECK_STATUS(haul_wait(s), HAUL_OK);
    device_read(the.device, &last, device_address(s, array + bytes - 1), 1);
    CHECK_EQ(last, 7);
    haul_shipment_free(&s);
    haul_type_free(&type);
    free(array);
    end();
}

TEST(async, a_stale_plan_is_refused_by_the_call_itself)
{
    haul_async on = on_stream(0);
    room *second;
    start_in_pieces();
    second = the.first->next;
    the.first->next = the.first;
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(haul_device_context(the.device))->path, "next");
    the.first->next = second;
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_OK);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    check_graph_there(the.s);
    end();
}

/* ---- From the device. */

TEST(async, results_are_written_by_the_wait_and_not_before)
{
    haul_async on = on_stream(0);
    unsigned char *before;
    int event = 0, i;
    start();
    on.event = &event;
    CHECK_STATUS(haul_host_launch(the.device, museum_change, haul_device_pointer(the.s, the.first)),
                 HAUL_OK);
    CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
    for (i = 0; i < 10 && haul_poll(the.s) == HAUL_ERROR_PENDING; i++)
        ;
    CHECK_EQ(event, 1);
    CHECK_BYTES(the.w.memory, the.before, the.w.bytes);
    before = world_picture(&the.w);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    world_check_changed_by(&the.w, before, museum_change, the.first);
    end();
}

/* Pointers do not travel with updates: there is nothing to wait for, and the event says so. */
TEST(async, an_update_of_which_nothing_travels_tells_its_event_too)
{
    haul_async on = on_stream(1);
    int event = 0;
    start();
    on.event = &event;
    CHECK_STATUS(haul_update_host(the.s, RANGE(&the.first->next, sizeof the.first->next), &on),
                 HAUL_OK);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    CHECK_EQ(event, 1);
    event = 0;
    CHECK_STATUS(haul_update_device(the.s, RANGE(&the.first->next, sizeof the.first->next), &on),
                 HAUL_OK);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    CHECK_EQ(event, 1);
    end();
}

/* What the device holds at that place in the stream, not what it holds later. */
TEST(async, results_are_those_of_their_place_in_the_stream)
{
    haul_async on = on_stream(0);
    start();
    the.first->area = 1;
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_OK);
    CHECK_STATUS(haul_update_host(the.s, RANGE(&the.first->area, sizeof the.first->area), &on),
                 HAUL_OK);
    the.first->area = 2;
    the.first->color[0] = 'y';
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_OK);
    the.first->area = 3;
    the.first->color[0] = 'z';
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    CHECK_EQ(the.first->area, 1);
    CHECK_EQ(the.first->color[0], 'z');
    CHECK_EQ(area_there(the.s), 2);
    end();
}

TEST(async, several_returns_are_written_in_their_order)
{
    haul_async on = on_stream(0), other = on_stream(1);
    haul_shipment_info before, told;
    start();
    haul_shipment_get_info(the.s, &before);
    the.first->area = 1;
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_OK);
    CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
    the.first->area = 2;
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_OK);
    CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
    CHECK_STATUS(haul_update_host(the.s, WITH_POINTERS, &other), HAUL_OK);
    CHECK_STATUS(haul_update_host(the.s, RANGE(the.first, sizeof *the.first), &other), HAUL_OK);
    the.first->area = 3;
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    CHECK_EQ(the.first->area, 2);
    haul_shipment_get_info(the.s, &told);
    CHECK_EQ(told.transfers_to - before.transfers_to, 2);
    CHECK_EQ(told.transfers_from - before.transfers_from, 4);
    end();
}

TEST(async, a_return_uses_the_memory_of_the_one_before)
{
    haul_async on = on_stream(0);
    uint64_t staged;
    int i;
    start_in_pieces();
    CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    staged = plan.staged_blocks;
    for (i = 0; i < 4; i++) {
        CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
        CHECK_STATUS(haul_update_host(the.s, RANGE(the.first, sizeof *the.first), NULL), HAUL_OK);
        CHECK_STATUS(haul_update_host(the.s, RANGE(the.first, sizeof *the.first), &on), HAUL_OK);
        CHECK_STATUS(haul_wait(the.s), HAUL_OK);
        CHECK_EQ(plan.staged_blocks, staged);
    }
    end();
}

/* Three returns; the wait's allocation `at` fails, or that one and all after it. 0: it has no such
 * one. */
static int wait_without_memory(fault_mode mode, uint64_t at)
{
    haul_async on = on_stream(0);
    haul_shipment_info before, told;
    haul_status status;
    int fired;
    start_ordered();
    haul_shipment_get_info(the.s, &before);
    CHECK_STATUS(haul_update_host(the.s, RANGE(the.first, sizeof *the.first), &on), HAUL_OK);
    CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
    CHECK_STATUS(haul_update_host(the.s, WITH_POINTERS, &on), HAUL_OK);
    plan.memory_only = 1;
    fault_arm(&plan, mode, at);
    status = haul_wait(the.s);
    fired = plan.fired > 0;
    CHECK_STATUS(status, fired ? HAUL_ERROR_MEMORY : HAUL_OK);
    if (fired) {
        check_report(status);
        check_world_is_untouched();
        fault_disarm(&plan);
        CHECK_STATUS(haul_poll(the.s), HAUL_OK);
        CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    }
    check_return(NULL, HAUL_OK);
    haul_shipment_get_info(the.s, &told);
    CHECK_EQ(told.transfers_from - before.transfers_from, 3);
    end();
    return fired;
}

TEST(async, a_wait_that_fails_for_memory_has_written_nothing_and_writes_all_when_made_again_H1_H2)
{
    uint64_t at;
    for (at = 1; wait_without_memory(FAULT_ONCE, at); at++)
        CHECK(wait_without_memory(FAULT_FROM, at));
    CHECK(at > 1);
}

/* An update alone puts nothing in another order. */
TEST(async, results_that_wait_for_memory_may_be_dropped_and_an_update_waits_for_none)
{
    haul_async on = on_stream(0);
    start_ordered();
    plan.memory_only = 1;
    CHECK_STATUS(haul_update_host(the.s, RANGE(&the.first->area, sizeof(int32_t)), &on), HAUL_OK);
    fault_arm(&plan, FAULT_FROM, 1);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    fault_disarm(&plan);
    CHECK_EQ(the.first->area, area_there(the.s));
    memcpy(the.w.memory, the.before, the.w.bytes);
    CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
    fault_arm(&plan, FAULT_FROM, 1);
    CHECK_STATUS(haul_update_host(the.s, RANGE(the.first, sizeof *the.first), NULL),
                 HAUL_ERROR_MEMORY);
    fault_disarm(&plan);
    check_world_is_untouched();
    haul_shipment_free(&the.s);
    check_world_is_untouched();
    end();
}

static void turn_to_itself(void *argument)
{
    room *r = argument;
    r->next = r;
}

TEST(async, pointers_come_back_as_the_hosts)
{
    haul_async on = on_stream(0);
    room *second;
    start();
    second = the.first->next;
    CHECK_STATUS(
        haul_host_launch(the.device, turn_to_itself, haul_device_pointer(the.s, the.first)),
        HAUL_OK);
    CHECK_STATUS(haul_update_host(the.s, WITH_POINTERS, &on), HAUL_OK);
    CHECK_PTR(the.first->next, second);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    CHECK_PTR(the.first->next, the.first);
    end();
}

TEST(async, a_pointer_out_of_the_graph_is_found_by_the_wait_and_nothing_is_written_D14)
{
    haul_async on = on_stream(0);
    haul_update_options how = { 0 };
    haul_shipment_info info;
    uintptr_t wild = 0x1234;
    room *second;
    start();
    second = the.first->next;
    CHECK_STATUS(haul_host_launch(the.device, museum_change, haul_device_pointer(the.s, the.first)),
                 HAUL_OK);
    device_write(the.device, device_address(the.s, &the.first->next), &wild, sizeof wild);
    CHECK_STATUS(haul_update_host(the.s, WITH_POINTERS, &on), HAUL_OK);
    CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(haul_device_context(the.device))->path, "next");
    CHECK_BYTES(the.w.memory, the.before, the.w.bytes);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    how.pointers = how.leave_outside = 1;
    CHECK_STATUS(haul_update_host(the.s, &how, &on), HAUL_OK);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    CHECK_PTR(the.first->next, second);
    haul_shipment_get_info(the.s, &info);
    CHECK_EQ(info.pointers_left, 1);
    end();
}

/* ---- Ends. */

TEST(async, a_shipment_with_work_outstanding_may_be_freed)
{
    haul_async on = on_stream(0);
    haul_shipment *s;
    start_in_pieces();
    CHECK_STATUS(haul_ship_from(the.device, haul_from_object(the.first, room_type), NULL, &on, &s),
                 HAUL_OK);
    CHECK_STATUS(haul_update_host(s, NULL, &on), HAUL_OK);
    CHECK_STATUS(haul_update_device(s, NULL, &on), HAUL_OK);
    haul_shipment_free(&s);
    CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
    CHECK_BYTES(the.w.memory, the.before, the.w.bytes);
    end();
}

TEST(async, a_stream_that_is_none_is_refused_and_the_own_one_goes_on_D12)
{
    haul_async on = { &plan, NULL };
    haul_shipment *s;
    start();
    CHECK_STATUS(haul_ship_from(the.device, haul_from_object(the.first, room_type), NULL, &on, &s),
                 HAUL_ERROR_ARGUMENT);
    CHECK_PTR(s, NULL);
    CHECK_HAS(haul_context_error(haul_device_context(the.device))->text, "stream");
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_update_host(the.s, RANGE(the.first, 4), &on), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_update_device(the.s, RANGE(the.first, 4), &on), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_wait(NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_poll(NULL), HAUL_ERROR_ARGUMENT);
    end();
}

TEST(async, the_host_device_has_done_all_when_the_call_returns)
{
    haul_device *device;
    haul_shipment *s;
    haul_async on = { NULL, NULL };
    world w;
    room *first;
    visit here, there;
    int event = 0;
    world_start(&w, 1 << 14);
    museum_open();
    first = museum_make(&w, 12, 1);
    device = host_device();
    on.event = &event;
    CHECK_STATUS(haul_ship_from(device, haul_from_object(first, room_type), NULL, &on, &s),
                 HAUL_OK);
    CHECK_EQ(event, 1);
    CHECK_STATUS(haul_poll(s), HAUL_OK);
    there = museum_seen_on(device, s, &w, first);
    here = museum_seen_from(first);
    check_visits_agree(&there, &here);
    haul_shipment_free(&s);
    haul_device_close(&device);
    museum_close();
    world_end(&w);
}

/* ---- Failures that are told late. */

/* An order fails silently: whoever waits for it is told, once. */
TEST(async, a_failure_is_told_by_the_wait_D5)
{
    haul_async on = on_stream(0);
    start_without_table();
    fault_arm(&plan, FAULT_LATE, 2); /* select, copy_to */
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_OK);
    CHECK_EQ(plan.fired, 1);
    CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_DEVICE);
    CHECK_HAS(haul_context_error(haul_device_context(the.device))->text, "injected fault");
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_OK);
    check_graph_there(the.s);
    end();
}

TEST(async, a_failure_that_another_call_heard_of_is_told_to_both_D5)
{
    haul_async on = on_stream(0);
    haul_shipment *other;
    start_without_table();
    other = the.s;
    CHECK_STATUS(ship(NULL), HAUL_OK);
    fault_arm(&plan, FAULT_LATE, 2);
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_OK);
    CHECK_EQ(plan.fired, 1);
    CHECK_STATUS(haul_update_device(other, NULL, NULL), HAUL_ERROR_DEVICE);
    CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_DEVICE);
    CHECK_HAS(haul_context_error(haul_device_context(the.device))->text,
              "after this work was submitted");
    CHECK_STATUS(haul_update_device(other, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_OK);
    check_graph_there(the.s);
    haul_shipment_free(&other);
    end();
}

TEST(async, a_poll_that_tells_a_failure_leaves_it_to_the_wait_too)
{
    haul_async on = on_stream(0);
    haul_status status = HAUL_ERROR_PENDING;
    int i;
    start();
    CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    fault_arm(&plan, FAULT_LATE, 3); /* select, allocate, copy_from */
    CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
    CHECK_EQ(plan.fired, 1);
    for (i = 0; i < 10 && status == HAUL_ERROR_PENDING; i++)
        status = haul_poll(the.s);
    CHECK_STATUS(status, HAUL_ERROR_DEVICE);
    CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_DEVICE);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    CHECK_BYTES(the.w.memory, the.before, the.w.bytes);
    end();
}

TEST(async, a_late_device_is_waited_for_again_D13)
{
    haul_async on = on_stream(0);
    unsigned char *before;
    start();
    CHECK_STATUS(haul_host_launch(the.device, museum_change, haul_device_pointer(the.s, the.first)),
                 HAUL_OK);
    CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
    plan.impatient = 1;
    CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_PENDING);
    CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_ERROR_PENDING);
    CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_PENDING);
    plan.impatient = 0;
    before = world_picture(&the.w);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    world_check_changed_by(&the.w, before, museum_change, the.first);
    end();
}

TEST(async, a_shipment_of_a_late_device_may_be_freed_and_its_memory_is_kept_D13)
{
    haul_async on = on_stream(0);
    start();
    CHECK_STATUS(haul_update_device(the.s, NULL, &on), HAUL_OK);
    CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
    plan.impatient = 1;
    haul_shipment_free(&the.s);
    CHECK_EQ(plan.device_blocks, 1);
    plan.impatient = 0;
    end();
}

/* ---- Every fault. */

static haul_async the_order;
static int the_event;

static haul_status finish_or_free(haul_status status)
{
    if (status == HAUL_OK)
        status = haul_wait(the.s);
    if (status != HAUL_OK)
        haul_shipment_free(&the.s);
    return status;
}

static haul_status ship_and_wait(void *user)
{
    return finish_or_free(ship(user));
}

static haul_status refresh_and_wait(void *user)
{
    haul_status status = haul_update_device(the.s, NULL, &the_order);
    (void)user;
    return status == HAUL_OK ? haul_wait(the.s) : status;
}

static haul_status update_and_wait(void *user)
{
    haul_status status = haul_update_device(the.s, RANGE(the.first, sizeof *the.first), &the_order);
    (void)user;
    return status == HAUL_OK ? haul_wait(the.s) : status;
}

static haul_status update_data_and_wait(void *user)
{
    haul_status status =
        haul_update_device(the.s, RANGE(&the.first->area, sizeof the.first->area), &the_order);
    (void)user;
    return status == HAUL_OK ? haul_wait(the.s) : status;
}

static haul_status unmarshal_and_wait(void *user)
{
    haul_status status = haul_update_host(the.s, NULL, &the_order);
    (void)user;
    return status == HAUL_OK ? haul_wait(the.s) : status;
}

static haul_status unmarshal_pointers_and_wait(void *user)
{
    haul_status status = haul_update_host(the.s, WITH_POINTERS, &the_order);
    (void)user;
    return status == HAUL_OK ? haul_wait(the.s) : status;
}

static fault_operation operation_of(haul_status (*run)(void *), void (*check)(void *, haul_status),
                                    size_t gap)
{
    fault_operation operation = operation_on(run, check);
    operation.keeps = 1; /* what comes back keeps memory with the shipment */
    operation.settings.deferred = 1;
    operation.settings.check_initialized = 1;
    if (gap) {
        operation.settings.chunk_bytes = 1;
        operation.settings.no_send = 1;
    }
    the.gap = gap;
    the_order.stream = fault_stream(0);
    the_order.event = &the_event;
    return operation;
}

static unsigned ship_everywhere(size_t gap)
{
    fault_operation operation = operation_of(ship_and_wait, check_ship, gap);
    the.async = &the_order;
    operation.undo = free_shipment;
    return fault_everywhere(&operation);
}

TEST(async_faults, shipping_survives_every_fault)
{
    CHECK(ship_everywhere(0) > 30);
    CHECK(ship_everywhere(25000) > 200);
}

static unsigned send_everywhere(haul_status (*run)(void *), size_t gap)
{
    fault_operation operation = operation_of(run, check_sent, gap);
    the.keep = 1;
    return fault_everywhere(&operation);
}

TEST(async_faults, refreshes_and_updates_survive_every_fault)
{
    CHECK(send_everywhere(refresh_and_wait, 0) > 20);
    CHECK(send_everywhere(refresh_and_wait, 25000) > 150);
    CHECK(send_everywhere(update_and_wait, 0) > 20);
    CHECK(send_everywhere(update_data_and_wait, 0) > 15);
}

static unsigned return_everywhere(haul_status (*run)(void *), size_t gap)
{
    fault_operation operation = operation_of(run, check_return, gap);
    operation.prepare = prepare_changed;
    the.keep = 1;
    return fault_everywhere(&operation);
}

TEST(async_faults, returns_survive_every_fault)
{
    CHECK(return_everywhere(unmarshal_and_wait, 0) > 20);
    CHECK(return_everywhere(unmarshal_and_wait, 25000) > 20);
    CHECK(return_everywhere(unmarshal_pointers_and_wait, 0) > 20);
}
