/* Work that goes on after HAUL_ERROR_PENDING: memory that a device may still read or write is not
 * released, and a wait answers HAUL_OK only when all work is done, for any device and any owner of
 * the memory.
 *
 * Faults by number (docs/testing.md): D13.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "haul/host.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/lists.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "haul/experimental.h"

static haul_type *link_type;

/* Two devices of one context, which do what they are told when they are waited for. */
typedef struct pair {
    fault_plan plan;
    haul_device *device[2];
    haul_arena *arena;
    haul_shipment *s;
    list_node *first;
} pair;

static pair the;

static void open_pair(void)
{
    test_device options;
    memset(&the, 0, sizeof the);
    memset(&options, 0, sizeof options);
    the.plan.deferred = 1;
    link_type = list_type(NULL);
    CHECK_STATUS(fault_open(&the.plan, NULL, &the.device[0]), HAUL_OK);
    options.context = haul_device_context(the.device[0]);
    CHECK_STATUS(fault_open(&the.plan, &options, &the.device[1]), HAUL_OK);
}

static void close_pair(void)
{
    haul_device_close(&the.device[1]);
    haul_device_close(&the.device[0]);
    haul_type_free(&link_type);
    fault_check_clean(&the.plan);
    check_note(NULL);
}

typedef enum kind { PLAIN, PINNED, MIRRORED, KINDS } kind;

/* An arena of the first device, shipped to device `to`, from where it returns directly. */
static void ship_arena(kind what, int to)
{
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = (size_t)1 << 20;
    options.pinned = what == PINNED;
    options.mirrored = what == MIRRORED;
    CHECK_STATUS(test_arena(the.device[0], &options, &the.arena), HAUL_OK);
    the.first = haul_arena_new(the.arena, link_type, 1);
    CHECK(the.first != NULL);
    the.first->value = 1;
    CHECK_STATUS(haul_ship_from(the.device[to], haul_from_arena(the.arena), NULL, NULL, &the.s),
                 HAUL_OK);
    CHECK_STATUS(haul_return_directly(the.s), HAUL_OK);
}

static void give_up(haul_status (*call)(haul_shipment *))
{
    the.plan.impatient = 1;
    CHECK_STATUS(call(the.s), HAUL_ERROR_PENDING);
}

static void free_arena(void)
{
    haul_shipment_free(&the.s);
    CHECK_STR(the.plan.misuse, NULL);
    haul_arena_free(&the.arena);
    CHECK_STR(the.plan.misuse, NULL);
}

static haul_status (*const calls[])(haul_shipment *) = { haul_unmarshal, refresh_now };

TEST(timeouts, an_arena_stays_while_any_device_reads_or_writes_it_D13)
{
    int what, to, call, on_time;
    for (what = 0; what < KINDS; what++)
        for (to = 0; to < 2; to++)
            for (call = 0; call < 2; call++)
                for (on_time = 0; on_time < 2; on_time++) {
                    check_note("kind %d, device %d, call %d, on time %d", what, to, call, on_time);
                    open_pair();
                    ship_arena((kind)what, to);
                    give_up(calls[call]);
                    the.plan.impatient = !on_time;
                    haul_shipment_free(&the.s);
                    the.plan.impatient = 0;
                    free_arena();
                    close_pair();
                }
}

TEST(timeouts, a_wait_is_over_when_the_late_work_is_D13)
{
    int what, call;
    for (what = 0; what < KINDS; what++)
        for (call = 0; call < 2; call++) {
            open_pair();
            ship_arena((kind)what, 1);
            give_up(calls[call]);
            CHECK_STATUS(haul_poll(the.s), HAUL_ERROR_PENDING);
            CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_PENDING);
            CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_ERROR_PENDING);
            the.plan.impatient = 0;
            CHECK_STATUS(haul_wait(the.s), HAUL_OK);
            CHECK_STATUS(haul_poll(the.s), HAUL_OK);
            CHECK_STATUS(haul_unmarshal(the.s), HAUL_OK);
            free_arena();
            close_pair();
        }
}

TEST(timeouts, a_wait_for_a_graph_is_over_when_the_late_work_is_D13)
{
    list_node one = { NULL, 1 };
    int call;
    for (call = 0; call < 2; call++) {
        open_pair();
        CHECK_STATUS(haul_ship(the.device[0], &one, link_type, 1, NULL, &the.s), HAUL_OK);
        give_up(calls[call]);
        CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_PENDING);
        the.plan.impatient = 0;
        CHECK_STATUS(haul_wait(the.s), HAUL_OK);
        haul_shipment_free(&the.s);
        close_pair();
    }
}

/* What is shipped for the first time has no shipment that could be waited for. */
/* Whichever question of the library's the device answers with the failure. */
TEST(timeouts, a_poll_tells_that_late_work_has_failed_and_so_does_the_wait_D13)
{
    list_node one = { NULL, 1 };
    uint64_t at, fired = 1;
    for (at = 1; fired > 0; at++) {
        haul_status status;
        open_pair();
        CHECK_STATUS(haul_ship(the.device[0], &one, link_type, 1, NULL, &the.s), HAUL_OK);
        give_up(refresh_now);
        the.plan.impatient = 0;
        fault_arm(&the.plan, FAULT_ONCE, at);
        status = haul_poll(the.s);
        fired = the.plan.fired;
        fault_disarm(&the.plan);
        check_note("event %llu", (unsigned long long)at);
        CHECK_STATUS(status, fired ? HAUL_ERROR_DEVICE : HAUL_ERROR_PENDING);
        CHECK_STATUS(haul_wait(the.s), fired ? HAUL_ERROR_DEVICE : HAUL_OK);
        CHECK_STATUS(haul_wait(the.s), HAUL_OK);
        CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_OK);
        haul_shipment_free(&the.s);
        close_pair();
    }
    CHECK(at > 2);
}

/* It tells of both: of asynchronous work, and of late work that a second call has given up. */
TEST(timeouts, a_wait_that_has_told_a_failure_is_over_D13)
{
    const haul_async on = { fault_stream(0), NULL };
    list_node one = { NULL, 1 };
    uint64_t given_up, at, fired, both = 0;
    for (given_up = 1; given_up < 12; given_up++)
        for (at = 1, fired = 1; fired > 0; at++) {
            haul_status status;
            open_pair();
            CHECK_STATUS(haul_ship(the.device[0], &one, link_type, 1, NULL, &the.s), HAUL_OK);
            CHECK_STATUS(haul_update_host(the.s, NULL, &on), HAUL_OK);
            fault_arm(&the.plan, FAULT_ONCE, given_up);
            the.plan.impatient = 1;
            both += haul_update_device(the.s, NULL, &on) != HAUL_OK;
            the.plan.impatient = 0;
            fault_arm(&the.plan, FAULT_ONCE, at);
            status = haul_wait(the.s);
            fired = the.plan.fired;
            fault_disarm(&the.plan);
            check_note("given up at %llu, event %llu", (unsigned long long)given_up,
                       (unsigned long long)at);
            CHECK_STATUS(status, fired ? HAUL_ERROR_DEVICE : HAUL_OK);
            CHECK_STATUS(haul_wait(the.s), HAUL_OK);
            haul_shipment_free(&the.s);
            close_pair();
        }
    CHECK(both > 0);
}

/* ---- A device whose wait for a fence fails once. */

static haul_status (*await_inside)(void *state, uint64_t fence);
static int await_fails;

static haul_status await_once(void *state, uint64_t fence)
{
    haul_status status = await_inside(state, fence);
    if (!await_fails)
        return status;
    await_fails = 0;
    return HAUL_ERROR_DEVICE;
}

static void open_failing(void)
{
    haul_device_table table = *fault_device(haul_host_device());
    fault_device_settings settings = { &the.plan, haul_host_device(), NULL };
    haul_allocator allocator = fault_allocator(&the.plan);
    test_device options;
    memset(&options, 0, sizeof options);
    options.settings = &settings;
    test_allocator(&options.new_context, &allocator);
    await_inside = table.await;
    table.await = await_once;
    CHECK_STATUS(test_open(&table, &options, &the.device[0]), HAUL_OK);
}

/* Staging that a late device reads is waited for when there is no memory to note it: that wait may
 * hear of the failure. */
TEST(timeouts, a_failure_before_the_call_returns_is_told_by_the_wait_D1_D13)
{
    const size_t count = (size_t)9 << 20;
    unsigned char *bytes = calloc(count, 1);
    haul_type *chunk;
    uint64_t at, also, fired = 1, told = 0;
    CHECK(bytes != NULL);
    CHECK_STATUS(haul_type_bytes(type_context(), "chunk", 64, &chunk), HAUL_OK);
    CHECK_STATUS(haul_type_commit(chunk), HAUL_OK);
    for (at = 1; fired > 0; at++)
        for (also = 1; also < 4; also++) {
            haul_status status;
            memset(&the, 0, sizeof the);
            the.plan.chunk_bytes = 2 * count; /* it crosses as one, beside the ring */
            open_failing();
            CHECK_STATUS(haul_ship(the.device[0], bytes, chunk, count / 64, NULL, &the.s), HAUL_OK);
            fault_arm(&the.plan, FAULT_SLOW, at);
            the.plan.also_at = at + also;
            await_fails = 1;
            status = haul_update_device(the.s, NULL, NULL);
            fired = the.plan.fired;
            the.plan.also_at = 0;
            fault_disarm(&the.plan);
            check_note("events %llu and %llu", (unsigned long long)at,
                       (unsigned long long)(at + also));
            if (status == HAUL_ERROR_PENDING && !await_fails) {
                CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_DEVICE);
                told++;
            }
            await_fails = 0;
            CHECK_STATUS(haul_wait(the.s), HAUL_OK);
            haul_shipment_free(&the.s);
            haul_device_close(&the.device[0]);
            fault_check_clean(&the.plan);
        }
    CHECK(told > 0);
    check_note(NULL);
    haul_type_free(&chunk);
    free(bytes);
}

/* Also one that is lost before it could be asked for a fence. */
TEST(timeouts, a_lost_device_is_not_waited_for_D13_D17)
{
    list_node one = { NULL, 1 };
    uint64_t at;
    int lost = 1, untold = 0;
    for (at = 1; lost; at++) {
        haul_status status;
        open_pair();
        CHECK_STATUS(haul_ship(the.device[0], &one, link_type, 1, NULL, &the.s), HAUL_OK);
        fault_arm(&the.plan, FAULT_LOST, at);
        the.plan.impatient = 1;
        status = haul_update_device(the.s, NULL, NULL);
        the.plan.impatient = 0;
        the.plan.at = 0;
        lost = the.plan.lost;
        check_note("event %llu, %s", (unsigned long long)at, the.plan.last);
        if (lost && status == HAUL_ERROR_PENDING) {
            untold++;
            CHECK_STATUS(haul_poll(the.s), HAUL_ERROR_DEVICE_LOST);
            CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_DEVICE_LOST);
        }
        CHECK_STATUS(haul_wait(the.s), HAUL_OK);
        haul_shipment_free(&the.s);
        close_pair();
    }
    CHECK(untold > 0);
}

TEST(timeouts, an_arena_whose_first_ship_is_late_stays_too_D13)
{
    int what, to;
    for (what = 0; what < KINDS; what++)
        for (to = 0; to < 2; to++) {
            haul_shipment *none;
            open_pair();
            ship_arena((kind)what, to);
            the.plan.impatient = 1;
            CHECK_STATUS(
                haul_ship_from(the.device[1 - to], haul_from_arena(the.arena), NULL, NULL, &none),
                HAUL_ERROR_PENDING);
            CHECK_PTR(none, NULL);
            the.plan.impatient = 0;
            free_arena();
            close_pair();
        }
}

/* Each arena holds the device that gave its memory, and the other device holds the arena. */
TEST(timeouts, devices_that_hold_one_anothers_late_arenas_are_closed_D13)
{
    int what, i;
    for (what = PINNED; what < KINDS; what++) {
        haul_arena *arenas[2];
        haul_arena_options options;
        haul_shipment *none;
        memset(&options, 0, sizeof options);
        options.reserve_bytes = (size_t)1 << 20;
        options.pinned = what == PINNED;
        options.mirrored = what == MIRRORED;
        open_pair();
        for (i = 0; i < 2; i++) {
            CHECK_STATUS(test_arena(the.device[i], &options, &arenas[i]), HAUL_OK);
            CHECK(haul_arena_new(arenas[i], link_type, 1) != NULL);
        }
        the.plan.impatient = 1;
        for (i = 0; i < 2; i++)
            CHECK_STATUS(
                haul_ship_from(the.device[1 - i], haul_from_arena(arenas[i]), NULL, NULL, &none),
                HAUL_ERROR_PENDING);
        the.plan.impatient = 0;
        for (i = 0; i < 2; i++)
            haul_arena_free(&arenas[i]);
        close_pair();
    }
}

/* A late device holds an arena that another one has given; some later call finishes its free, which
 * waits for that other one. */
static void free_late_arena(void)
{
    haul_arena_options options;
    haul_shipment *none;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = (size_t)1 << 20;
    options.mirrored = 1;
    CHECK_STATUS(test_arena(the.device[0], &options, &the.arena), HAUL_OK);
    CHECK(haul_arena_new(the.arena, link_type, 1) != NULL);
    the.plan.impatient = 1;
    CHECK_STATUS(haul_ship_from(the.device[1], haul_from_arena(the.arena), NULL, NULL, &none),
                 HAUL_ERROR_PENDING);
    the.plan.impatient = 0;
    haul_arena_free(&the.arena);
}

TEST(timeouts,
     what_fails_in_a_free_is_told_to_work_under_way_and_not_by_the_call_that_finishes_it_D13)
{
    const haul_async on = { fault_stream(0), NULL };
    list_node one = { NULL, 1 };
    uint64_t at, fired = 1, in_free = 0;
    for (at = 1; fired > 0; at++) {
        haul_shipment *under_way;
        haul_status status, other = HAUL_OK;
        open_pair();
        CHECK_STATUS(haul_ship(the.device[1], &one, link_type, 1, NULL, &the.s), HAUL_OK);
        free_late_arena();
        CHECK_STATUS(
            haul_ship_from(the.device[0], haul_from_object(&one, link_type), NULL, &on, &under_way),
            HAUL_OK);
        fault_arm(&the.plan, FAULT_ONCE, at);
        status = haul_update_device(the.s, NULL, NULL);
        if (status == HAUL_OK) /* the device is done now, if it was not before */
            status = haul_update_device(the.s, NULL, NULL);
        fired = the.plan.fired;
        fault_disarm(&the.plan);
        check_note("event %llu, %s", (unsigned long long)at, the.plan.last);
        if (fired && the.plan.failed_on == haul_device_state(the.device[0])) {
            CHECK_STATUS(status, HAUL_OK);
            if (strcmp(the.plan.failed, "wait") == 0) /* that tells of work */
                other = HAUL_ERROR_DEVICE;
            in_free += other != HAUL_OK;
        }
        CHECK_STATUS(haul_wait(under_way), other);
        CHECK_STATUS(haul_wait(under_way), HAUL_OK);
        haul_shipment_free(&under_way);
        haul_shipment_free(&the.s);
        close_pair();
    }
    CHECK(in_free > 0);
}

/* The device that copies reads memory of the one that is copied from. */
TEST(timeouts, what_another_device_still_copies_from_stays_D13)
{
    list_node one = { NULL, 1 };
    int waits;
    for (waits = 0; waits < 2; waits++) {
        haul_shipment *copy;
        open_pair();
        CHECK_STATUS(haul_ship(the.device[0], &one, link_type, 1, NULL, &the.s), HAUL_OK);
        the.plan.impatient = 1;
        CHECK_STATUS(haul_shipment_copy(the.s, the.device[1], &copy), HAUL_ERROR_PENDING);
        CHECK_PTR(copy, NULL);
        CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_PENDING);
        the.plan.impatient = 0;
        if (waits)
            CHECK_STATUS(haul_wait(the.s), HAUL_OK);
        haul_shipment_free(&the.s);
        CHECK_STR(the.plan.misuse, NULL);
        CHECK_EQ(the.plan.device_blocks, 1); /* the copy's range, which is given back later */
        close_pair();
    }
}
