/* Shipments copied from device to device: walked there, relocated there, and apart from what they came from.
 *
 * Fault cases of shared/reference: D1, D4, D5, D6, D9, D13, D16, H1, H2 of copies.
 */
#define _DEFAULT_SOURCE
#include "ship_faults.h"

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
    haul_device_options options;
    haul_device *device;
    memset(&options, 0, sizeof options);
    options.context = haul_device_context(first);
    CHECK_STATUS(haul_device_open(table, &options, &device), HAUL_OK);
    return device;
}

static pair *pair_start(size_t gap, const haul_ship_options *options)
{
    pair *p = &the_pair;
    memset(p, 0, sizeof *p);
    world_start(&p->w, 1 << 20);
    p->w.gap = gap;
    museum_open();
    p->first = museum_make(&p->w, 12, 1);
    p->device = host_device();
    p->other = second_device(p->device, haul_host_device());
    CHECK_STATUS(haul_ship(p->device, p->first, room_type, 1, options, &p->s), HAUL_OK);
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

static void copy_and_walk(size_t gap, const haul_ship_options *options)
{
    pair *p = pair_start(gap, options);
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
    CHECK_STATUS(haul_host_launch(p->other, museum_change, haul_device_pointer(p->copy, p->first)), HAUL_OK);
    before = world_picture(&p->w);
    CHECK_STATUS(haul_unmarshal(p->copy), HAUL_OK);
    check_changed_by(&p->w, before, museum_change, p->first);
    CHECK_STATUS(haul_refresh(p->copy), HAUL_OK);
    check_seen(p->other, p->copy, p);
    pair_end(p);
}

TEST(copy, a_shipment_is_walked_on_another_device_and_comes_back_from_there)
{
    copy_and_walk(0, NULL);
    copy_and_walk(25000, NULL);
}

TEST(copy, one_that_was_patched_on_the_host_is_copied_as_well)
{
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.relocate_on_host = 1;
    copy_and_walk(0, &options);
    copy_and_walk(25000, &options);
}

TEST(copy, a_copy_can_be_copied_and_stay_on_its_device)
{
    pair *p = pair_start(0, NULL);
    haul_shipment *third;
    CHECK_STATUS(haul_shipment_copy(p->s, p->device, &p->copy), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(p->copy, p->other, &third), HAUL_OK);
    CHECK(haul_device_address(p->s, p->first) != haul_device_address(p->copy, p->first));
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
    r->cache = r;                 /* no pointer of the graph's: it does not move */
    r->doors = (room **)0x1234;   /* leads nowhere: neither does this */
    r->next = r->next->next;
    r->area = 7;
}

TEST(copy, what_kernels_have_made_of_the_arena_goes_along)
{
    pair *p = pair_start(0, NULL);
    room there;
    CHECK_STATUS(haul_host_launch(p->device, rewire, haul_device_pointer(p->s, p->first)), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(p->s, p->other, &p->copy), HAUL_OK);
    device_read(p->other, &there, haul_device_address(p->copy, p->first), sizeof there);
    CHECK_PTR(there.cache, haul_device_pointer(p->s, p->first));
    CHECK_EQ((uintptr_t)there.doors, 0x1234);
    CHECK_PTR(there.next, haul_device_pointer(p->copy, p->first->next->next));
    CHECK_EQ(there.area, 7);
    pair_end(p);
}

TEST(copy, its_statistics_are_its_own)
{
    pair *p = pair_start(0, NULL);
    haul_shipment_statistics old, new;
    CHECK_STATUS(haul_refresh(p->s), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(p->s, p->other, &p->copy), HAUL_OK);
    haul_shipment_get_statistics(p->s, &old);
    haul_shipment_get_statistics(p->copy, &new);
    CHECK_EQ(new.transfers_to, 1);
    CHECK_EQ(new.transfers_from, 0);
    CHECK_EQ(new.base, haul_device_address(p->copy, p->first) - (haul_device_address(p->s, p->first) - old.base));
    CHECK_EQ(new.plan.arena_bytes, old.plan.arena_bytes);
    CHECK_EQ(new.bytes_to, old.plan.arena_bytes + old.plan.bitmap_bytes);
    pair_end(p);
}

static haul_status other_across(void *state, haul_address to, void *from_state, haul_address from, size_t bytes)
{
    return haul_host_device()->across(state, to, from_state, from, bytes);
}

TEST(copy, wrong_devices_are_refused_and_hold_nothing)
{
    pair *p = pair_start(0, NULL);
    haul_device_table table = *haul_host_device();
    haul_device *stranger = host_device(), *different;
    table.across = other_across;
    different = second_device(p->device, &table);
    CHECK_STATUS(haul_shipment_copy(p->s, stranger, &p->copy), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_device_error(p->device)->text, "context");
    CHECK_PTR(p->copy, NULL);
    CHECK_STATUS(haul_shipment_copy(p->s, different, &p->copy), HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(haul_device_error(p->device)->text, "no copies from");
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

static haul_device *the_other;
static haul_shipment *the_copy;

static void open_other(void *user, fault_plan *plan)
{
    static fault_device_settings settings;
    haul_device_options options;
    prepare(user, plan);
    memset(&options, 0, sizeof options);
    settings.plan = plan;
    settings.inner = haul_host_device();
    options.context = haul_device_context(the.device);
    options.settings = &settings;
    CHECK_STATUS(haul_device_open(fault_device(haul_host_device()), &options, &the_other), HAUL_OK);
}

static void close_other(void *user)
{
    haul_shipment_free(&the_copy);
    haul_device_close(&the_other);
    finish(user);
}

static haul_status copy(void *user)
{
    (void)user;
    return haul_shipment_copy(the.s, the_other, &the_copy);
}

static void check_copy(void *user, haul_status status)
{
    visit there;
    (void)user;
    CHECK_EQ(haul_device_error(the.device)->status, status);
    check_world_is_untouched();
    check_shipment();
    if (status != HAUL_OK) {
        CHECK_PTR(the_copy, NULL);
        return;
    }
    there = museum_seen_on(the_other, the_copy, &the.w, the.first);
    check_visits_agree(&there, &the.seen);
}

static void free_copy(void *user)
{
    (void)user;
    haul_shipment_free(&the_copy);
}

static unsigned copy_everywhere(int relocate_on_host, int deferred)
{
    fault_operation operation = operation_on(copy, check_copy);
    operation.prepare = open_other;
    operation.finish = close_other;
    operation.undo = free_copy;
    operation.trim = NULL;
    operation.settings.deferred = deferred;
    the.keep = 1;
    the.relocate_on_host = relocate_on_host;
    return fault_everywhere(&operation);
}

TEST(copy_faults, a_copy_survives_every_fault_D16)
{
    CHECK(copy_everywhere(0, 0) > 20);
    CHECK(copy_everywhere(0, 1) > 20);
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
        status = ship(NULL) == HAUL_OK ? haul_shipment_wait(the.s) : HAUL_OK;
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
    memset(&the, 0, sizeof the);
    plan.deferred = 1;
    on.stream = fault_stream(0);
    on.event = NULL;
    the.async = &on;
    open_other(NULL, &plan);
    ship_and_fail_late(&plan);
    CHECK_STATUS(haul_refresh(the.s), HAUL_OK);
    CHECK_STATUS(copy(NULL), HAUL_OK);
    check_copy(NULL, HAUL_OK);
    close_other(NULL);
    fault_check_clean(&plan);
}
