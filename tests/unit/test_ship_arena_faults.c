/* Arenas on a device: every event of a device or an allocator fails in turn.
 *
 * After each failure: the first one is reported, the host's objects are as they were, nothing has
 * leaked, and the same call works. (A direct return promises less.)
 *
 * Faults by number (docs/testing.md): D1, D3-D6, D13, H1, H2 of arenas.
 */
#include "arena_graphs.h"
#include "support/short_forms.h"
#include "support/open.h"
#include "haul/experimental.h"

#define LARGE_BYTES ((size_t)9 << 20) /* enough to be patched while they cross */

typedef struct scene {
    haul_device *device;
    haul_arena *arena;
    haul_shipment *shipment;
    link *first;
    pair *pairs; /* where they are to return directly: of links some things stay */
    unsigned char *before;
    size_t bytes;
    /* Set by the test. */
    int count, pinned, reuse, ships, untyped, direct;
    size_t between; /* bytes of data, with half of the links behind them */
    haul_outside outside;
} scene;

static scene the;

static haul_status make_arena(void *user)
{
    haul_arena_options options;
    (void)user;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = the.between + ((size_t)(the.direct ? 32 : 1) << 20);
    options.pinned = the.pinned;
    options.reuse = the.reuse;
    return test_arena(the.device, &options, &the.arena);
}

static haul_status ship(void *user)
{
    haul_ship_options how;
    haul_status status;
    (void)user;
    memset(&how, 0, sizeof how);
    how.outside = the.outside;
    if (the.untyped)
        return haul_ship_from(the.device, haul_from_arena_root(the.arena, the.first, link_type),
                              &how, NULL, &the.shipment);
    status = haul_ship_from(the.device, haul_from_arena(the.arena), &how, NULL, &the.shipment);
    return the.direct ? directly(status, &the.shipment) : status;
}

static void take_picture(void)
{
    haul_arena_info now;
    haul_arena_get_info(the.arena, &now);
    the.bytes = now.used_bytes;
    the.before = malloc(the.bytes);
    CHECK(the.before != NULL);
    memcpy(the.before, now.base, the.bytes);
}

static void prepare_device(void *user, fault_plan *plan)
{
    (void)user;
    links_open();
    pairs_open();
    CHECK_STATUS(fault_open(plan, NULL, &the.device), HAUL_OK);
}

/* Nothing of it is edited on the way. */
static link *make_large(void)
{
    link *first = links_make(the.arena, the.count / 2);
    CHECK(haul_arena_bytes(the.arena, the.between, 0) != NULL);
    CHECK(links_add(the.arena, first, the.count / 2, the.count) == first);
    links_set_homes(first, 0);
    return first;
}

/* A device that has worked before: its ring is there. */
static void prepare(void *user, fault_plan *plan)
{
    static link outside;
    prepare_device(user, plan);
    CHECK_STATUS(make_arena(user), HAUL_OK);
    if (the.direct)
        the.pairs = pairs_make(the.arena, the.count, 0);
    else
        the.first = the.between ? make_large() : links_make(the.arena, the.count);
    CHECK(the.direct ? the.pairs != NULL : the.first != NULL);
    if (the.outside != HAUL_OUTSIDE_REFUSE)
        the.first->next->other = &outside;
    CHECK_STATUS(ship(user), HAUL_OK);
    take_picture();   /* now, because a shipment ends the poisoning of what it carries */
    if (!the.between) /* every word of it is looked at: slow where each access is watched */
        CHECK_STATUS(haul_update_host(the.shipment, WITH_POINTERS, NULL), HAUL_OK);
    if (!the.ships)
        haul_shipment_free(&the.shipment);
}

static void finish(void *user)
{
    (void)user;
    haul_shipment_free(&the.shipment);
    haul_arena_free(&the.arena);
    haul_device_close(&the.device);
    links_close();
    pairs_close();
    free(the.before);
    the.before = NULL;
}

static void check_report(haul_status status)
{
    const haul_error *error = haul_context_error(haul_device_context(the.device));
    CHECK_EQ(error->status, status);
    CHECK(status == HAUL_OK || error->text[0] != '\0');
}

static void check_untouched(void *user, haul_status status)
{
    unsigned char *behind;
    size_t i;
    (void)user;
    check_report(status);
    CHECK_BYTES(the.first, the.before, the.bytes);
    if (status == HAUL_ERROR_PENDING)
        return; /* the device reads on */
    behind = haul_arena_bytes(the.arena, 4096, 0);
    CHECK(behind != NULL);
    for (i = 0; i < 4096; i++)
        CHECK_EQ(behind[i], 0);
    CHECK_STATUS(haul_arena_release(the.arena, behind, 4096), HAUL_OK);
}

static void check_ship(void *user, haul_status status)
{
    sight seen;
    check_untouched(user, status);
    if (status != HAUL_OK) {
        CHECK_PTR(the.shipment, NULL);
        return;
    }
    memset(&seen, 0, sizeof seen);
    seen.from = haul_device_pointer(the.shipment, the.first);
    if (the.outside == HAUL_OUTSIDE_REFUSE) {
        CHECK_STATUS(haul_host_launch(the.device, links_look, &seen), HAUL_OK);
        check_sight(&seen, the.count);
    }
}

static void free_shipment(void *user)
{
    (void)user;
    haul_shipment_free(&the.shipment);
}

static void free_arena(void *user)
{
    (void)user;
    haul_arena_free(&the.arena);
}

static fault_operation operation_on(haul_status (*run)(void *), void (*check)(void *, haul_status))
{
    fault_operation operation = {
        .prepare = prepare, .run = run, .check = check, .finish = finish
    };
    return operation;
}

static void set(int count, int pinned)
{
    memset(&the, 0, sizeof the);
    the.count = count;
    the.pinned = pinned;
}

/* 20 links cross as one, 3000 do not where the device likes small pieces. */
static void everywhere(fault_operation *operation, unsigned least)
{
    CHECK(fault_everywhere(operation) >= least);
    operation->settings.deferred = 1;
    CHECK(fault_everywhere(operation) >= least);
    operation->settings.chunk_bytes = 4096;
    operation->settings.deferred = 0;
    the.count = 500;
    CHECK(fault_everywhere(operation) >= least);
    operation->settings.chunk_bytes = 0;
    the.count = 20;
}

static void ships_survive(void)
{
    fault_operation operation = operation_on(ship, check_ship);
    operation.undo = free_shipment;
    everywhere(&operation, 10);
}

TEST(ship_arena_faults, shipping_survives_every_fault_H1_H2_D1_D4_D5_D6)
{
    set(20, 0);
    ships_survive();
    set(20, 1);
    ships_survive();
}

TEST(ship_arena_faults, shipping_with_pointers_that_become_null_survives_every_fault)
{
    set(20, 0);
    the.outside = HAUL_OUTSIDE_NULL;
    ships_survive();
}

/* ---- Two arenas, whose first one may be under way when the second one fails. */

static haul_arena *the_second;
static haul_shipment *two_shipments[2];

static void prepare_two(void *user, fault_plan *plan)
{
    link *first;
    prepare(user, plan);
    CHECK_STATUS(test_arena(the.device, NULL, &the_second), HAUL_OK);
    first = links_make(the_second, the.count);
    CHECK(first != NULL);
    first->other = the.first;
}

static haul_status ship_two(void *user)
{
    haul_arena *arenas[2] = { the.arena, the_second };
    haul_status status =
        haul_ship_arenas(the.device, arenas, 2, NULL, user ? OWN_STREAM : NULL, two_shipments);
    return status == HAUL_OK && user ? haul_wait(two_shipments[1]) : status;
}

static void free_two(void *user)
{
    (void)user;
    haul_shipment_free(&two_shipments[0]);
    haul_shipment_free(&two_shipments[1]);
}

static void check_two(void *user, haul_status status)
{
    CHECK_BYTES(the.first, the.before, the.bytes);
    if (status != HAUL_OK)
        free_two(user);
}

static void finish_two(void *user)
{
    haul_arena_free(&the_second);
    finish(user);
}

TEST(ship_arena_faults, shipping_two_without_waiting_survives_every_fault)
{
    fault_operation operation = operation_on(ship_two, check_two);
    set(20, 0);
    operation.prepare = prepare_two;
    operation.finish = finish_two;
    operation.undo = free_two;
    operation.user = &the;
    operation.keeps = 1;
    operation.modes = 1u << FAULT_ONCE;
    CHECK(fault_everywhere(&operation) > 10);
}

TEST(ship_arena_faults, shipping_what_must_be_discovered_survives_every_fault)
{
    set(20, 0);
    the.untyped = 1;
    ships_survive();
}

/* As early as the device may, and as late. In one piece there would be fewer than `least` places
 * for a fault. */
static void large_survives(haul_status (*run)(void *), void (*check)(void *, haul_status),
                           int ships, unsigned least)
{
    fault_operation operation = operation_on(run, check);
    operation.undo = ships ? NULL : free_shipment;
    operation.keeps = ships;
    set(20, 0);
    the.between = LARGE_BYTES;
    the.ships = ships;
    CHECK(fault_everywhere(&operation) >= least);
    operation.settings.deferred = 1;
    CHECK(fault_everywhere(&operation) >= least);
}

static haul_status refresh(void *user)
{
    (void)user;
    return haul_update_device(the.shipment, NULL, NULL);
}

TEST(ship_arena_faults, an_arena_that_is_patched_while_it_crosses_survives_every_fault_D4_D6)
{
    large_survives(ship, check_ship, 0, 70);
    large_survives(refresh, check_untouched, 1, 30);
}

static void check_arena(void *user, haul_status status)
{
    (void)user;
    check_report(status);
    if (status != HAUL_OK)
        CHECK_PTR(the.arena, NULL);
}

TEST(ship_arena_faults, making_an_arena_for_a_device_survives_every_fault_D3)
{
    fault_operation operation = operation_on(make_arena, check_arena);
    operation.prepare = prepare_device;
    operation.undo = free_arena;
    set(0, 1);
    CHECK(fault_everywhere(&operation) > 2);
    the.reuse = 1;
    CHECK(fault_everywhere(&operation) > 3);
}

static haul_status unmarshal(void *user)
{
    (void)user;
    return haul_unmarshal(the.shipment);
}

static haul_status unmarshal_pointers(void *user)
{
    (void)user;
    return haul_update_host(the.shipment, WITH_POINTERS, NULL);
}

static haul_status replan(void *user)
{
    (void)user;
    return haul_reship(the.shipment, NULL);
}

static haul_status update(void *user)
{
    haul_status status = haul_update_device(the.shipment, RANGE(the.first, sizeof(link)), NULL);
    (void)user;
    return status == HAUL_OK ? haul_update_host(the.shipment, RANGE(the.first, sizeof(link)), NULL)
                             : status;
}

/* The device's ring may grow: leaks are looked for at the end. */
static void calls_survive(haul_status (*run)(void *))
{
    fault_operation operation = operation_on(run, check_untouched);
    operation.keeps = 1;
    set(20, 0);
    the.ships = 1;
    everywhere(&operation, 3);
}

TEST(ship_arena_faults, calls_on_a_shipment_survive_every_fault_and_leave_the_host_alone)
{
    calls_survive(unmarshal);
    calls_survive(unmarshal_pointers);
    calls_survive(refresh);
    calls_survive(replan);
    calls_survive(update);
}

/* A device that fails halfway leaves the arena undefined until the call is made again; the failure
 * is told all the same. */
static void check_told(void *user, haul_status status)
{
    haul_shipment_info told;
    (void)user;
    check_report(status);
    haul_shipment_get_info(the.shipment, &told);
    if (status != HAUL_OK)
        return;
    CHECK(told.scatter_seconds == 0); /* it was direct */
    check_swapped(the.pairs, the.count, 0);
}

TEST(ship_arena_faults, a_direct_return_tells_every_fault)
{
    fault_operation operation = operation_on(unmarshal, check_told);
    operation.modes = FAULT_MEMORY | 1u << FAULT_LOST;
    set(20, 0);
    the.ships = the.direct = 1;
    CHECK(fault_everywhere(&operation) > 3);
    the.pinned = 1; /* one order */
    CHECK(fault_everywhere(&operation) > 1);
    operation.settings.deferred = 1;
    CHECK(fault_everywhere(&operation) > 1);
    the.count = 620001; /* in parts */
    CHECK(fault_everywhere(&operation) > 15);
}

/* ---- An allocation that fails changes nothing: a shipment whose free bytes it would have had
 * stays as it was. */

static void *new_nursery(void)
{
    return haul_arena_new_nursery(the.arena, 100);
}

static void *new_link(void)
{
    return haul_arena_new(the.arena, link_type, 1);
}

/* So many that the list of those that there are is full. */
enum { MADE = 8 };

static void fail_in_released_bytes(void *(*make)(void))
{
    fault_plan plan = { 0 };
    haul_arena_info now;
    void *released;
    prepare_device(NULL, &plan);
    the.reuse = 1;
    CHECK_STATUS(make_arena(NULL), HAUL_OK);
    CHECK(make() != NULL);
    haul_arena_get_info(the.arena, &now);
    for (int i = 1; i < MADE; i++)
        CHECK(make() != NULL);
    CHECK((released = haul_arena_bytes(the.arena, now.used_bytes, 0)) != NULL);
    CHECK(haul_arena_bytes(the.arena, 16, 0) != NULL);
    CHECK_STATUS(haul_arena_release(the.arena, released, now.used_bytes), HAUL_OK);
    CHECK_STATUS(haul_ship_from(the.device, haul_from_arena(the.arena), NULL, NULL, &the.shipment),
                 HAUL_OK);
    fault_arm(&plan, FAULT_ONCE, 1);
    CHECK_PTR(make(), NULL);
    CHECK_STATUS(haul_arena_error(the.arena)->status, HAUL_ERROR_MEMORY);
    fault_disarm(&plan);
    CHECK_STATUS(haul_update_device(the.shipment, NULL, NULL), HAUL_OK);
    CHECK_PTR(make(), released);
    CHECK_STATUS(haul_update_device(the.shipment, NULL, NULL), HAUL_ERROR_STALE);
    haul_shipment_free(&the.shipment);
    haul_arena_free(&the.arena);
    haul_device_close(&the.device);
    pairs_close();
    links_close();
    fault_check_clean(&plan);
}

TEST(ship_arena_faults, an_allocation_that_fails_is_nothing_to_a_shipment)
{
    memset(&the, 0, sizeof the);
    fail_in_released_bytes(new_nursery);
    fail_in_released_bytes(new_link);
}

typedef struct birth {
    haul_nursery *nursery;
    haul_device_layout stamp;
} birth;

static void bear(void *argument)
{
    birth *b = argument;
    link *l = haul_nursery_new(b->nursery, &b->stamp);
    if (l)
        l->value = 7;
}

static link *bear_by(haul_shipment *shipment, haul_nursery *nursery)
{
    birth b = { haul_device_pointer(shipment, nursery), { 0, 0 } };
    CHECK_STATUS(haul_device_layout_of(link_type, &b.stamp), HAUL_OK);
    CHECK_STATUS(haul_host_launch(the.device, bear, &b), HAUL_OK);
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
    return (link *)(void *)nursery->memory;
}

/* The refresh sends nothing: the device has no such object, only zeros in its place. */
TEST(ship_arena_faults, a_failed_refresh_leaves_alone_what_another_shipment_has_brought)
{
    fault_plan plan = { 0 };
    haul_shipment *other;
    haul_nursery *nursery;
    link *born;
    memset(&the, 0, sizeof the);
    prepare_device(NULL, &plan);
    CHECK_STATUS(make_arena(NULL), HAUL_OK);
    nursery = haul_arena_new_nursery(the.arena, 1000);
    CHECK(nursery != NULL);
    CHECK_STATUS(ship(NULL), HAUL_OK);
    CHECK_STATUS(haul_ship_from(the.device, haul_from_arena(the.arena), NULL, NULL, &other),
                 HAUL_OK);
    born = bear_by(the.shipment, nursery);
    CHECK_EQ(born->value, 7);
    fault_arm(&plan, FAULT_ONCE, 1);
    CHECK(haul_update_device(other, NULL, NULL) != HAUL_OK);
    fault_disarm(&plan);
    CHECK_STATUS(haul_update_host(other, WITH_POINTERS, NULL), HAUL_ERROR_STALE);
    CHECK_STATUS(haul_unmarshal(other), HAUL_OK);
    CHECK_EQ(born->value, 7);
    haul_shipment_free(&other);
    finish(NULL);
    fault_check_clean(&plan);
}

typedef struct self {
    const link *there;
    int leads_to_itself;
} self;

static void look_at_self(void *argument)
{
    self *l = argument;
    l->leads_to_itself = l->there->next == l->there;
}

/* 1: there was such an event, and the refresh has failed at it. */
static int fail_refresh_of_what_has_come(fault_mode mode, uint64_t at, int deferred)
{
    fault_plan plan = { .deferred = deferred };
    haul_shipment *other;
    haul_nursery *nursery;
    link *born;
    self seen = { NULL, 0 };
    haul_status status;
    int has_failed;
    memset(&the, 0, sizeof the);
    prepare_device(NULL, &plan);
    CHECK_STATUS(make_arena(NULL), HAUL_OK);
    nursery = haul_arena_new_nursery(the.arena, 1000);
    CHECK(nursery != NULL);
    CHECK_STATUS(ship(NULL), HAUL_OK);
    CHECK_STATUS(haul_ship_from(the.device, haul_from_arena(the.arena), NULL, NULL, &other),
                 HAUL_OK);
    born = bear_by(the.shipment, nursery);
    born->next = born;
    fault_arm(&plan, mode, at);
    status = haul_update_device(other, NULL, NULL);
    check_note("mode %d, event %d", (int)mode, (int)at);
    CHECK_STATUS(status, plan.first);
    has_failed = plan.fired > 0;
    fault_disarm(&plan);
    CHECK_STATUS(haul_update_device(other, NULL, NULL), HAUL_OK);
    seen.there = haul_device_pointer(other, born);
    CHECK_STATUS(haul_host_launch(the.device, look_at_self, &seen), HAUL_OK);
    CHECK(seen.leads_to_itself);
    check_note(NULL);
    haul_shipment_free(&the.shipment);
    haul_shipment_free(&other);
    haul_arena_free(&the.arena);
    haul_device_close(&the.device);
    pairs_close();
    links_close();
    fault_check_clean(&plan);
    return has_failed;
}

/* Its marks may not have arrived. */
TEST(ship_arena_faults, after_a_failed_refresh_pointers_that_have_come_are_patched_D4_D5)
{
    for (int deferred = 0; deferred < 2; deferred++)
        for (fault_mode mode = FAULT_ONCE; mode <= FAULT_SLOW; mode++) {
            uint64_t at = 1;
            while (mode != FAULT_LOST && fail_refresh_of_what_has_come(mode, at, deferred))
                at++;
            CHECK(mode == FAULT_LOST || at > 3);
        }
}
