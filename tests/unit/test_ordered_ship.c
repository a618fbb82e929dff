/* Ordered shipments: everything that a shipment does, with the arena in the order of discovery.
 *
 * Random graphs do the same (tests/random). Faults by number (docs/testing.md): C3, D1-D6, D14,
 * D17, H1-H5.
 */
#define _DEFAULT_SOURCE
#include "ship_faults.h"
#include "support/open.h"
#include "support/short_forms.h"

typedef struct visitor {
    haul_device *device;
    haul_shipment *s;
    world w;
    room *first;
} visitor;

static visitor v;

static void ship_in_order(int rooms, const haul_device_table *table)
{
    haul_ship_options options;
    memset(&v, 0, sizeof v);
    memset(&options, 0, sizeof options);
    options.ordered = 1;
    world_start(&v.w, 1 << 16);
    museum_open();
    v.first = museum_make(&v.w, rooms, 1);
    CHECK_STATUS(test_open(table, NULL, &v.device), HAUL_OK);
    world_protect(&v.w, PROT_READ);
    CHECK_STATUS(haul_ship(v.device, v.first, room_type, 1, &options, &v.s), HAUL_OK);
    world_protect(&v.w, PROT_READ | PROT_WRITE);
}

static void check_there(void)
{
    visit there = museum_seen_on(v.device, v.s, &v.w, v.first), here = museum_seen_from(v.first);
    check_visits_agree(&there, &here);
}

static void drop(void)
{
    haul_shipment_free(&v.s);
    haul_device_close(&v.device);
    museum_close();
    world_end(&v.w);
}

static unsigned char *arena_of(const haul_shipment *s, size_t *bytes)
{
    haul_shipment_info told;
    unsigned char *arena;
    haul_shipment_get_info(s, &told);
    *bytes = told.arena_bytes;
    arena = malloc(*bytes);
    CHECK(arena != NULL);
    device_read(v.device, arena, told.base, *bytes);
    return arena;
}

TEST(ordered_ship, a_graph_is_walked_changed_and_brought_back)
{
    unsigned char *before;
    ship_in_order(40, haul_host_device());
    check_there();
    before = world_picture(&v.w);
    CHECK_STATUS(haul_host_launch(v.device, museum_change, haul_device_pointer(v.s, v.first)),
                 HAUL_OK);
    CHECK_STATUS(haul_unmarshal(v.s), HAUL_OK);
    world_check_changed_by(&v.w, before, museum_change, v.first);
    before = world_picture(&v.w);
    CHECK_STATUS(haul_host_launch(v.device, museum_change, haul_device_pointer(v.s, v.first)),
                 HAUL_OK);
    CHECK_STATUS(haul_update_host(v.s, NULL, OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_wait(v.s), HAUL_OK);
    world_check_changed_by(&v.w, before, museum_change, v.first);
    drop();
}

/* The rooms lie in the museum's order, whatever the heap's is. */
TEST(ordered_ship, addresses_rise_in_the_order_of_discovery_and_lead_back)
{
    room *r, *last;
    ship_in_order(40, haul_host_device());
    for (last = v.first, r = v.first->next; r != v.first; last = r, r = r->next) {
        CHECK(device_address(v.s, r->name) > device_address(v.s, last->name));
        CHECK_PTR(host_of(v.s, device_address(v.s, r)), r);
        CHECK_PTR(host_of(v.s, device_address(v.s, &r->color[5])), &r->color[5]);
    }
    CHECK_PTR(haul_device_pointer(v.s, v.w.memory + v.w.bytes - 1), NULL);
    drop();
}

TEST(ordered_ship, a_refresh_sends_contents_and_refuses_a_changed_pointer_by_name_C3)
{
    room *third;
    ship_in_order(20, haul_host_device());
    museum_change(v.first);
    CHECK_STATUS(haul_update_device(v.s, NULL, NULL), HAUL_OK);
    check_there();
    third = v.first->next->next->next;
    v.first->next->next->next = v.first;
    CHECK_STATUS(haul_update_device(v.s, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(haul_device_context(v.device))->path, "root(.next)*3");
    v.first->next->next->next = third;
    CHECK_STATUS(haul_update_device(v.s, NULL, NULL), HAUL_OK);
    v.first->samples = NULL;
    v.first->sample_count = 0;
    v.first->next = third;
    CHECK_STATUS(haul_reship(v.s, NULL), HAUL_OK);
    check_there();
    CHECK(device_address(v.s, third->name) > device_address(v.s, v.first->name));
    drop();
}

/* To name the pointer, the arena is fetched and put in another order: that takes memory. */
TEST(ordered_ship, a_stale_plan_is_told_as_such_even_without_memory_to_name_the_pointer_H1)
{
    fault_plan plan;
    haul_ship_options options;
    unsigned stale = 0;
    uint64_t at;
    memset(&plan, 0, sizeof plan);
    memset(&options, 0, sizeof options);
    memset(&v, 0, sizeof v);
    options.ordered = 1;
    world_start(&v.w, 1 << 16);
    museum_open();
    v.first = museum_make(&v.w, 20, 1);
    CHECK_STATUS(fault_open(&plan, NULL, &v.device), HAUL_OK);
    CHECK_STATUS(haul_ship(v.device, v.first, room_type, 1, &options, &v.s), HAUL_OK);
    v.first->next->next->next = v.first;
    for (at = 1; at < 20; at++) {
        haul_status status;
        fault_arm(&plan, FAULT_ONCE, at);
        status = haul_update_device(v.s, NULL, NULL);
        CHECK(status == HAUL_ERROR_STALE || status == plan.first);
        CHECK_EQ(haul_context_error(haul_device_context(v.device))->status, status);
        stale += plan.fired > 0 && status == HAUL_ERROR_STALE;
    }
    CHECK(stale >= 2);
    fault_disarm(&plan);
    drop();
    fault_check_clean(&plan);
}

TEST(ordered_ship, updates_move_an_object_or_a_range_over_many_objects)
{
    unsigned char *before;
    room *second;
    ship_in_order(20, haul_host_device());
    second = v.first->next;
    second->area = 777;
    CHECK_STATUS(haul_update_device(v.s, RANGE(second, sizeof *second), NULL), HAUL_OK);
    check_there();
    museum_change(v.first);
    CHECK_STATUS(haul_update_device(v.s, RANGE(v.w.memory, v.w.used), NULL), HAUL_OK);
    check_there();
    before = world_picture(&v.w);
    CHECK_STATUS(haul_host_launch(v.device, museum_change, haul_device_pointer(v.s, v.first)),
                 HAUL_OK);
    CHECK_STATUS(haul_update_host(v.s, RANGE(v.first, sizeof *v.first), NULL), HAUL_OK);
    CHECK_EQ(v.first->area, 2100);
    CHECK_EQ(second->area, 1777);
    CHECK_STATUS(haul_update_host(v.s, RANGE(second, sizeof *second), OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_wait(v.s), HAUL_OK);
    CHECK_EQ(second->area, 2777);
    CHECK_STATUS(haul_update_host(v.s, RANGE(v.w.memory, v.w.used), NULL), HAUL_OK);
    world_check_changed_by(&v.w, before, museum_change, v.first);
    CHECK_STATUS(haul_update_host(v.s, RANGE(v.w.memory + v.w.bytes - 8, 8), NULL),
                 HAUL_ERROR_ARGUMENT);
    drop();
}

/* Parts of two objects that lie side by side here and not there. */
TEST(ordered_ship, an_update_of_parts_of_two_neighbours_touches_nothing_else)
{
    unsigned char *before, *after;
    size_t bytes, i, changed = 0;
    char *name;
    ship_in_order(20, haul_host_device());
    before = arena_of(v.s, &bytes);
    name = v.first->name;
    for (i = 0; i < 24; i++)
        if (device_address(v.s, name + i) &&
            host_of(v.s, device_address(v.s, name + i)) == name + i)
            changed++;
    museum_change(v.first);
    CHECK_STATUS(haul_update_device(v.s, RANGE(name, strlen(name) + 1), NULL), HAUL_OK);
    after = arena_of(v.s, &bytes);
    for (i = changed = 0; i < bytes; i++)
        changed += before[i] != after[i];
    CHECK_EQ(changed, 1); /* the name's first letter */
    free(before);
    free(after);
    drop();
}

static void reverse(void *argument)
{
    room *first = argument, *r = first, *last = NULL, *next;
    do {
        next = r->next;
        r->next = last;
        last = r;
        r = next;
    } while (r != first);
    first->next = last;
}

TEST(ordered_ship, pointers_that_the_device_changes_come_back_or_are_refused_D14)
{
    room *last;
    void *address;
    const haul_address nowhere = 12345;
    ship_in_order(20, haul_host_device());
    for (last = v.first; last->next != v.first; last = last->next)
        ;
    CHECK_STATUS(haul_host_launch(v.device, reverse, haul_device_pointer(v.s, v.first)), HAUL_OK);
    CHECK_STATUS(haul_update_host(v.s, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_PTR(v.first->next, last);
    CHECK_STATUS(haul_reship(v.s, NULL), HAUL_OK);
    check_there();
    address = v.first->next;
    device_write(v.device, device_address(v.s, &last->next), &nowhere, sizeof last->next);
    CHECK_STATUS(haul_update_host(v.s, WITH_POINTERS, NULL), HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(haul_device_context(v.device))->path, "root.next.next");
    CHECK_PTR(v.first->next, address);
    drop();
}

TEST(ordered_ship, a_copy_is_a_shipment_too)
{
    haul_shipment *copy;
    unsigned char *before;
    ship_in_order(30, haul_host_device());
    CHECK_STATUS(haul_shipment_copy(v.s, v.device, &copy), HAUL_OK);
    haul_shipment_free(&v.s);
    v.s = copy;
    check_there();
    before = world_picture(&v.w);
    CHECK_STATUS(haul_host_launch(v.device, museum_change, haul_device_pointer(v.s, v.first)),
                 HAUL_OK);
    CHECK_STATUS(haul_unmarshal(v.s), HAUL_OK);
    world_check_changed_by(&v.w, before, museum_change, v.first);
    CHECK_STATUS(haul_update_device(v.s, NULL, NULL), HAUL_OK);
    check_there();
    drop();
}

/* Two museums of one shape, their objects at other distances: what arrives differs by the bases
 * alone. */
TEST(ordered_ship, a_plan_keeps_its_order_and_gives_the_same_bytes_for_the_same_graph)
{
    haul_device *device = host_device();
    unsigned char *arena[2];
    size_t bytes[2], i;
    museum_open();
    for (i = 0; i < 2; i++) {
        haul_plan *plan;
        haul_shipment *s;
        haul_root root;
        world w;
        world_start(&w, 1 << 16);
        w.gap = i * 40;
        root.address = museum_make(&w, 30, 1);
        root.type = room_type;
        root.count = 1;
        CHECK_STATUS(haul_plan_create(haul_device_context(device), haul_from_roots(&root, 1),
                                      ORDERED, &plan),
                     HAUL_OK);
        CHECK_STATUS(haul_ship_from(device, haul_from_plan(plan), NULL, NULL, &s), HAUL_OK);
        haul_plan_free(&plan);
        v.device = device;
        arena[i] = arena_of(s, &bytes[i]);
        haul_shipment_free(&s);
        world_end(&w);
    }
    CHECK_EQ(bytes[0], bytes[1]);
    for (i = 0; i + sizeof(void *) <= bytes[0]; i += sizeof(void *)) {
        uintptr_t a, b;
        memcpy(&a, arena[0] + i, sizeof a);
        memcpy(&b, arena[1] + i, sizeof b);
        CHECK(a == b || (a > bytes[0] && b > bytes[0]));
    }
    free(arena[0]);
    free(arena[1]);
    museum_close();
    haul_device_close(&device);
}

/* ---- Faults. */

static fault_operation ordered_operation(haul_status (*run)(void *),
                                         void (*check)(void *, haul_status), int keep)
{
    fault_operation operation = operation_on(run, check);
    the.keep = keep;
    the.ordered = 1;
    return operation;
}

/* Whole, in pieces, and by a device that works late. */
static void fail_everywhere(fault_operation *operation, unsigned least)
{
    CHECK(fault_everywhere(operation) >= least);
    operation->keeps = 1; /* the ring grows */
    operation->settings.chunk_bytes = 512;
    operation->settings.no_send = 1;
    CHECK(fault_everywhere(operation) >= least);
    operation->settings.deferred = 1;
    CHECK(fault_everywhere(operation) >= least);
}

TEST(ordered_faults, shipping_survives_every_fault_H1_H2_D1_D4_D5_D6)
{
    fault_operation operation = ordered_operation(ship, check_ship, 0);
    operation.undo = free_shipment;
    fail_everywhere(&operation, 30);
}

TEST(ordered_faults, refresh_survives_every_fault)
{
    fault_operation operation = ordered_operation(refresh, check_sent, 1);
    fail_everywhere(&operation, 10);
}

TEST(ordered_faults, unmarshal_survives_every_fault_and_writes_all_or_nothing_D17)
{
    fault_operation operation = ordered_operation(unmarshal, check_return, 1);
    operation.prepare = prepare_changed;
    fail_everywhere(&operation, 10);
}

TEST(ordered_faults, unmarshal_of_pointers_survives_every_fault)
{
    fault_operation operation = ordered_operation(unmarshal_pointers, check_return, 1);
    operation.prepare = prepare_changed;
    fail_everywhere(&operation, 10);
}

static haul_status update_device(void *user)
{
    (void)user;
    return haul_update_device(the.s, RANGE(the.w.memory, the.w.used), NULL);
}

TEST(ordered_faults, an_update_survives_every_fault)
{
    fault_operation operation = ordered_operation(update_device, check_sent, 1);
    fail_everywhere(&operation, 10);
}
