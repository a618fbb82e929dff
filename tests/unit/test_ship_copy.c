/* Shipments copied from device to device: relocated, walked there, and independent of the original.
 *
 * Faults by number (docs/testing.md): D1, D4, D5, D6, D9, D13, D16, D17, H1, H2 of copies.
 */
#define _DEFAULT_SOURCE
#include "ship_faults.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"

/* Two host devices with one context, and a museum on the first. */
typedef struct pair {
    world w;
    haul_device *device, *other;
    haul_shipment *s, *copy;
    room *first;
} pair;

static pair the_pair;

static haul_device *second_device(haul_device *first, const haul_device_table *table)
{
    test_device options;
    haul_device *device;
    memset(&options, 0, sizeof options);
    options.context = haul_device_context(first);
    CHECK_STATUS(test_open(table, &options, &device), HAUL_OK);
    return device;
}

static pair *pair_start(size_t gap, int patched_here)
{
    pair *p = &the_pair;
    memset(p, 0, sizeof *p);
    world_start(&p->w, 1 << 20);
    p->w.gap = gap;
    museum_open();
    p->first = museum_make(&p->w, 12, 1);
    p->device = host_device();
    p->other = second_device(p->device, haul_host_device());
    host_patches(p->device, patched_here);
    CHECK_STATUS(haul_ship(p->device, p->first, room_type, 1, NULL, &p->s), HAUL_OK);
    return p;
}

static void pair_end(pair *p)
{
    haul_shipment_free(&p->copy);
    haul_shipment_free(&p->s);
    CHECK_EQ(counters_of(p->device).bytes_live, 0);
    CHECK_EQ(counters_of(p->other).bytes_live, 0);
    haul_device_close(&p->other);
    haul_device_close(&p->device);
    museum_close();
    world_end(&p->w);
}

static void check_seen(haul_device *device, haul_shipment *s, pair *p)
{
    visit here = museum_seen_from(p->first), there = museum_seen_on(device, s, &p->w, p->first);
    check_visits_agree(&there, &here);
}

static void copy_and_walk(size_t gap, int patched_here)
{
    pair *p = pair_start(gap, patched_here);
    unsigned char *before;
    world_protect(&p->w, PROT_NONE);
    CHECK_STATUS(haul_shipment_copy(p->s, p->other, &p->copy), HAUL_OK);
    world_protect(&p->w, PROT_READ | PROT_WRITE);
    check_seen(p->other, p->copy, p);
    check_seen(p->device, p->s, p);
    CHECK_EQ(counters_of(p->other).copies_across, 1);
    CHECK_EQ(counters_of(p->device).copies_from, 0);
    haul_shipment_free(&p->s);
    check_seen(p->other, p->copy, p);
    CHECK_STATUS(haul_host_launch(p->other, museum_change, haul_device_pointer(p->copy, p->first)),
                 HAUL_OK);
    before = world_picture(&p->w);
    CHECK_STATUS(haul_unmarshal(p->copy), HAUL_OK);
    world_check_changed_by(&p->w, before, museum_change, p->first);
    CHECK_STATUS(haul_update_device(p->copy, NULL, NULL), HAUL_OK);
    check_seen(p->other, p->copy, p);
    pair_end(p);
}

TEST(copy, a_shipment_is_walked_on_another_device_and_comes_back_from_there)
{
    copy_and_walk(0, 0);
    copy_and_walk(25000, 0);
}

TEST(copy, one_that_was_patched_on_the_host_is_copied_as_well)
{
    copy_and_walk(0, 1);
    copy_and_walk(25000, 1);
}

TEST(copy, a_copy_can_be_copied_and_stay_on_its_device)
{
    pair *p = pair_start(0, 0);
    haul_shipment *third;
    CHECK_STATUS(haul_shipment_copy(p->s, p->device, &p->copy), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(p->copy, p->other, &third), HAUL_OK);
    CHECK(device_address(p->s, p->first) != device_address(p->copy, p->first));
    haul_shipment_free(&p->s);
    check_seen(p->device, p->copy, p);
    haul_shipment_free(&p->copy);
    check_seen(p->other, third, p);
    haul_shipment_free(&third);
    pair_end(p);
}

static void rewire(void *argument)
{
    room *r = argument;
    r->cache = r;               /* no pointer of the graph's: it does not move */
    r->doors = (room **)0x1234; /* leads nowhere: neither does this */
    r->next = r->next->next;
    r->area = 7;
}

TEST(copy, what_kernels_have_made_of_the_arena_goes_along)
{
    pair *p = pair_start(0, 0);
    room there;
    CHECK_STATUS(haul_host_launch(p->device, rewire, haul_device_pointer(p->s, p->first)), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(p->s, p->other, &p->copy), HAUL_OK);
    device_read(p->other, &there, device_address(p->copy, p->first), sizeof there);
    CHECK_PTR(there.cache, haul_device_pointer(p->s, p->first));
    CHECK_EQ((uintptr_t)there.doors, 0x1234);
    CHECK_PTR(there.next, haul_device_pointer(p->copy, p->first->next->next));
    CHECK_EQ(there.area, 7);
    pair_end(p);
}

TEST(copy, its_statistics_are_its_own)
{
    pair *p = pair_start(0, 0);
    haul_shipment_info old, new;
    CHECK_STATUS(haul_update_device(p->s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(p->s, p->other, &p->copy), HAUL_OK);
    haul_shipment_get_info(p->s, &old);
    haul_shipment_get_info(p->copy, &new);
    CHECK_EQ(new.transfers_to, 1);
    CHECK_EQ(new.transfers_from, 0);
    CHECK_EQ(new.base,
             device_address(p->copy, p->first) - (device_address(p->s, p->first) - old.base));
    CHECK_EQ(new.arena_bytes, old.arena_bytes);
    CHECK_EQ(new.bytes_to, old.arena_bytes + old.bitmap_bytes);
    pair_end(p);
}

static haul_status other_across(void *state, haul_address to, void *from_state, haul_address from,
                                size_t bytes)
{
    return haul_host_device()->across(state, to, from_state, from, bytes);
}

TEST(copy, wrong_devices_are_refused_and_hold_nothing)
{
    pair *p = pair_start(0, 0);
    haul_device_table table = *haul_host_device();
    haul_device *stranger = host_device(), *different;
    table.across = other_across;
    different = second_device(p->device, &table);
    CHECK_STATUS(haul_shipment_copy(p->s, stranger, &p->copy), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(haul_device_context(p->device))->text, "context");
    CHECK_PTR(p->copy, NULL);
    CHECK_STATUS(haul_shipment_copy(p->s, different, &p->copy), HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(haul_context_error(haul_device_context(p->device))->text, "no copies from");
    CHECK_STATUS(haul_shipment_copy(p->s, NULL, &p->copy), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_shipment_copy(NULL, p->other, &p->copy), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_shipment_copy(p->s, p->other, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_EQ(counters_of(stranger).allocations, 0);
    CHECK_EQ(counters_of(different).allocations, 0);
    haul_device_close(&stranger);
    haul_device_close(&different);
    pair_end(p);
}

/* ---- Faults: two deferred devices behind one plan. */

static void open_other(void *user, fault_plan *plan)
{
    test_device options;
    prepare(user, plan);
    memset(&options, 0, sizeof options);
    options.context = haul_device_context(the.device);
    CHECK_STATUS(fault_open(plan, &options, &the.other), HAUL_OK);
}

static void check_copy(void *user, haul_status status)
{
    visit there;
    (void)user;
    CHECK_EQ(haul_context_error(haul_device_context(the.device))->status, status);
    check_world_is_untouched();
    the.cargo->look();
    if (status != HAUL_OK) {
        CHECK_PTR(the.copy, NULL);
        return;
    }
    there = museum_seen_on(the.other, the.copy, &the.w, the.first);
    check_visits_agree(&there, &the.seen);
}

static unsigned copy_everywhere(int patched_here, int deferred)
{
    fault_operation operation = operation_on_shipment(copy, check_copy);
    operation.prepare = open_other;
    operation.undo = free_copy;
    operation.keeps = 1; /* each device grows its ring */
    operation.settings.deferred = deferred;
    the.patched_here = patched_here;
    return fault_everywhere(&operation);
}

TEST(copy_faults, a_copy_survives_every_fault_D16)
{
    CHECK(copy_everywhere(0, 0) > 20);
    CHECK(copy_everywhere(0, 1) > 20);
}

static haul_shipment *own_shipment;

/* The other device is busy with a stream, so that it must be told to leave it. */
static void open_other_on_a_stream(void *user, fault_plan *plan)
{
    const haul_async stream = { fault_stream(1), NULL };
    open_other(user, plan);
    CHECK_STATUS(haul_ship(the.other, the.first, room_type, 1, NULL, &own_shipment), HAUL_OK);
    CHECK_STATUS(haul_update_host(own_shipment, NULL, &stream), HAUL_OK);
}

static void close_with_own(void *user)
{
    haul_shipment_free(&own_shipment);
    finish(user);
}

TEST(copy_faults, a_copy_to_a_device_with_another_stream_survives_every_fault)
{
    fault_operation operation = operation_on_shipment(copy, check_copy);
    operation.prepare = open_other_on_a_stream;
    operation.finish = close_with_own;
    operation.undo = free_copy;
    operation.keeps = 1;
    operation.settings.deferred = 1;
    operation.modes = 1u << FAULT_ONCE;
    CHECK(fault_everywhere(&operation) > 5);
}

TEST(copy_faults, a_copy_whose_bitmap_comes_from_the_plan_survives_every_fault)
{
    CHECK(copy_everywhere(1, 1) > 25);
}

/* Ships with one event after the other failing, until the wait is the first to hear of it. */
static void ship_and_fail_late(fault_plan *plan)
{
    haul_status status = HAUL_OK;
    uint64_t at;
    for (at = 1; status != HAUL_ERROR_DEVICE; at++) {
        CHECK(at < 1000);
        fault_arm(plan, FAULT_LATE, at);
        status = ship(NULL) == HAUL_OK ? haul_wait(the.s) : HAUL_OK;
        if (status == HAUL_OK)
            haul_shipment_free(&the.s);
    }
    fault_disarm(plan);
}

/* Then anything may stand in the bitmap on the device: the copy takes none of it. */
TEST(copy_faults, a_copy_after_a_ship_that_failed_late_is_right_D5)
{
    fault_plan plan;
    haul_async on;
    memset(&plan, 0, sizeof plan);
    start_over();
    plan.deferred = 1;
    on.stream = fault_stream(0);
    on.event = NULL;
    the.async = &on;
    open_other(NULL, &plan);
    ship_and_fail_late(&plan);
    CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(copy(NULL), HAUL_OK);
    check_copy(NULL, HAUL_OK);
    finish(NULL);
    fault_check_clean(&plan);
}

/* ---- One device of several fails (D16): each stands behind a plan of its own. */

enum { FLEET = 3, BROKEN = 1 };

typedef struct fleet {
    world w;
    room *first;
    fault_plan doors[FLEET]; /* host memory is the first one's */
    haul_device *device[FLEET];
    haul_shipment *s[FLEET];
    haul_plan *plan;
} fleet;

static fleet the_fleet;

static fleet *fleet_start(void)
{
    fleet *f = &the_fleet;
    test_device options;
    haul_root root;
    int i;
    memset(f, 0, sizeof *f);
    memset(&options, 0, sizeof options);
    world_start(&f->w, 1 << 20);
    museum_open();
    f->first = museum_make(&f->w, 12, 1);
    for (i = 0; i < FLEET; i++) {
        CHECK_STATUS(fault_open(&f->doors[i], &options, &f->device[i]), HAUL_OK);
        options.context = haul_device_context(f->device[0]);
    }
    root.address = f->first;
    root.type = room_type;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(options.context, haul_from_roots(&root, 1), NULL, &f->plan),
                 HAUL_OK);
    return f;
}

static void fleet_end(fleet *f)
{
    int i;
    for (i = 0; i < FLEET; i++)
        haul_shipment_free(&f->s[i]);
    haul_plan_free(&f->plan);
    for (i = FLEET - 1; i >= 0; i--)
        haul_device_close(&f->device[i]);
    for (i = FLEET - 1; i >= 0; i--)
        fault_check_clean(&f->doors[i]);
    museum_close();
    world_end(&f->w);
}

static void check_seen_in(fleet *f, int i)
{
    visit here = museum_seen_from(f->first),
          there = museum_seen_on(f->device[i], f->s[i], &f->w, f->first);
    check_visits_agree(&there, &here);
}

/* Ships one plan to all, one of which fails at event `at`. 0: it has no such event. */
static int ship_to_the_fleet(fault_mode mode, uint64_t at)
{
    fleet *f = fleet_start();
    int i, happened;
    for (i = 0; i < FLEET; i++) {
        fault_plan *doors = &f->doors[i];
        haul_status status;
        fault_arm(doors, mode, i == BROKEN ? at : 0);
        status = haul_ship_from(f->device[i], haul_from_plan(f->plan), NULL, NULL, &f->s[i]);
        CHECK_STATUS(status, doors->first);
        CHECK((f->s[i] == NULL) == (doors->first != HAUL_OK));
        CHECK_EQ(doors->device_blocks, f->s[i] ? 1 : 0);
    }
    happened = f->doors[BROKEN].events >= at;
    check_seen_in(f, 0);
    check_seen_in(f, FLEET - 1);
    fault_disarm(&f->doors[BROKEN]);
    if (!f->s[BROKEN])
        CHECK_STATUS(
            haul_ship_from(f->device[BROKEN], haul_from_plan(f->plan), NULL, NULL, &f->s[BROKEN]),
            HAUL_OK);
    check_seen_in(f, BROKEN);
    fleet_end(f);
    return happened;
}

TEST(copy_faults, one_of_several_devices_that_fails_is_told_and_the_others_keep_their_shipments_D16)
{
    uint64_t at;
    for (at = 1; ship_to_the_fleet(FAULT_ONCE, at); at++)
        ;
    CHECK(at > 4);
    for (at = 1; ship_to_the_fleet(FAULT_LOST, at); at++)
        ;
    CHECK(at > 4);
}

TEST(copy_faults,
     a_copy_from_a_lost_device_is_told_and_the_target_takes_the_graph_from_the_host_D16_D17)
{
    fleet *f = fleet_start();
    CHECK_STATUS(haul_ship_from(f->device[0], haul_from_plan(f->plan), NULL, NULL, &f->s[0]),
                 HAUL_OK);
    f->doors[0].lost = 1;
    CHECK_STATUS(haul_shipment_copy(f->s[0], f->device[1], &f->s[1]), HAUL_ERROR_DEVICE_LOST);
    CHECK_PTR(f->s[1], NULL);
    CHECK_HAS(haul_context_error(haul_device_context(f->device[1]))->text,
              "the other device is lost");
    CHECK_EQ(f->doors[1].device_blocks, 0);
    CHECK_STATUS(haul_update_device(f->s[0], NULL, NULL), HAUL_ERROR_DEVICE_LOST);
    CHECK_STATUS(haul_ship_from(f->device[1], haul_from_plan(f->plan), NULL, NULL, &f->s[1]),
                 HAUL_OK);
    check_seen_in(f, 1);
    fleet_end(f);
}
