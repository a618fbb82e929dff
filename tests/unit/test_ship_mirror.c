/* Mirrored arenas: the device has memory at the arena's own addresses, so a pointer means the same
 * on both sides.
 *
 * Faults by number (docs/testing.md): D3, D5, D6, H1, H2 of such arenas.
 */
#include <stdio.h>

#include "arena_graphs.h"
#include "support/lists.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "haul/experimental.h"

enum { FEW = 20, SOME = 60000, LARGE = 170000 }; /* links: a few KB; under and over 8 MB */
/* pairs: over 8 MB; that would return in parts if they were patched */
enum { MANY = 270000, PAIRS = 620001 };

static haul_device *the_device;
static haul_arena *the_arena;
static haul_shipment *the_shipment;
static link *the_first;

static haul_arena *made(haul_device *device, size_t bytes)
{
    haul_arena_options options;
    haul_arena_info now;
    haul_arena *arena;
    memset(&options, 0, sizeof options);
    options.mirrored = 1;
    options.reserve_bytes = bytes;
    CHECK_STATUS(test_arena(device, &options, &arena), HAUL_OK);
    haul_arena_get_info(arena, &now);
    CHECK(now.mirrored && now.pinned && !now.grows);
    CHECK(bytes == 0 || now.capacity_bytes == bytes);
    return arena;
}

/* Links whose home is not edited on the way. */
static void start(int count)
{
    links_open();
    pairs_open();
    CHECK_STATUS(test_open(haul_host_device(), NULL, &the_device), HAUL_OK);
    the_arena = made(the_device, 0);
    the_first = links_make(the_arena, count);
    links_set_homes(the_first, 0);
}

static void end(void)
{
    haul_host_counters now;
    haul_shipment_free(&the_shipment);
    haul_arena_free(&the_arena);
    CHECK_STATUS(haul_host_get_counters(the_device, &now), HAUL_OK);
    CHECK_EQ(now.bytes_live, 0);
    haul_device_close(&the_device);
    pairs_close();
    links_close();
}

static haul_host_counters counters(void)
{
    haul_host_counters now;
    CHECK_STATUS(haul_host_get_counters(the_device, &now), HAUL_OK);
    return now;
}

static size_t used_by(const haul_arena *arena)
{
    haul_arena_info now;
    haul_arena_get_info(arena, &now);
    return now.used_bytes;
}

static void look_on(haul_device *device, const haul_shipment *shipment, const link *first,
                    int count)
{
    sight seen;
    memset(&seen, 0, sizeof seen);
    seen.from = haul_device_pointer(shipment, first);
    CHECK_STATUS(haul_host_launch(device, links_look, &seen), HAUL_OK);
    check_sight(&seen, count);
}

static void run_on(void (*kernel)(void *), void *at)
{
    CHECK_STATUS(haul_host_launch(the_device, kernel, at), HAUL_OK);
}

static haul_status ship(haul_outside outside, int direct)
{
    haul_ship_options how;
    haul_status status;
    memset(&how, 0, sizeof how);
    how.outside = outside;
    status = haul_ship_from(the_device, haul_from_arena(the_arena), &how, NULL, &the_shipment);
    return direct ? directly(status, &the_shipment) : status;
}

/* ---- At its own addresses. */

TEST(ship_mirror, it_lies_there_where_it_lies_here_and_nothing_is_patched)
{
    haul_host_counters before, after;
    haul_shipment_info told;
    start(FEW);
    before = counters();
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    after = counters();
    CHECK_EQ(after.relocations, before.relocations);
    CHECK_EQ(after.allocations, before.allocations);
    CHECK_EQ(after.copies_to, before.copies_to + 1);
    CHECK_EQ(after.bytes_to, before.bytes_to + used_by(the_arena));
    haul_shipment_get_info(the_shipment, &told);
    CHECK_EQ(told.bytes_to, used_by(the_arena));
    CHECK_PTR(haul_device_pointer(the_shipment, the_first), the_first);
    CHECK_PTR(host_of(the_shipment, (uintptr_t)the_first->next), the_first->next);
    look_on(the_device, the_shipment, the_first, FEW);
    end();
}

TEST(ship_mirror, each_side_has_bytes_of_its_own_until_they_are_copied)
{
    start(FEW);
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    run_on(links_double, the_first);
    CHECK_EQ(the_first->next->value, 1);
    the_first->next->value = 100;
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_EQ(the_first->next->value, 2);
    the_first->next->value = 100;
    the_first->next->next->next = NULL;
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    the_first->next->value = 0;
    run_on(links_double, the_first);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_EQ(the_first->next->value, 200);
    CHECK_EQ(the_first->next->next->value, 8);
    end();
}

TEST(ship_mirror, pointers_that_no_type_tells_are_right_there_too)
{
    list_node *first = NULL, *c;
    int i;
    start(0);
    for (i = 0; i < 100; i++) {
        c = haul_arena_bytes(the_arena, sizeof *c, 0);
        CHECK(c != NULL);
        c->next = first;
        c->value = i;
        first = c;
    }
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    run_on(list_add_one, first);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    for (c = first; c; c = c->next)
        CHECK_EQ(c->value, i--);
    end();
}

static void return_pairs(int count)
{
    haul_host_counters before, after;
    pair *first;
    int round;
    start(0);
    first = pairs_make(the_arena, count, 0);
    CHECK(first != NULL);
    CHECK_STATUS(ship(HAUL_OUTSIDE_KEEP, 1), HAUL_OK);
    before = counters();
    for (round = 1; round <= 3; round++) {
        run_on(pairs_swap, first);
        CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
        check_swapped(first, count, round);
    }
    after = counters();
    CHECK_EQ(after.relocations, before.relocations);
    CHECK_EQ(after.copies_from, before.copies_from + 3);
    CHECK_EQ(after.copies_to, before.copies_to);
    end();
}

TEST(ship_mirror, a_direct_return_is_one_copy_of_data_and_pointers)
{
    return_pairs(FEW);
    return_pairs(PAIRS);
}

TEST(ship_mirror, pointers_that_the_device_has_changed_come_back_when_asked_for)
{
    pair *first;
    start(0);
    first = pairs_make(the_arena, FEW, 0);
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    run_on(pairs_swap, first);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_swapped(first, FEW, 1);
    end();
}

TEST(ship_mirror, asynchronous_calls_and_updates_work_on_it_too)
{
    start(SOME);
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    the_first->next->value = 0;
    CHECK_STATUS(haul_update_device(the_shipment, NULL, OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_wait(the_shipment), HAUL_OK);
    the_first->next->value = 1;
    CHECK_STATUS(haul_update_device(the_shipment, RANGE(the_first->next, sizeof(link)), NULL),
                 HAUL_OK);
    look_on(the_device, the_shipment, the_first, SOME);
    run_on(links_double, the_first);
    CHECK_STATUS(haul_update_host(the_shipment, RANGE(the_first->next, sizeof(link)), NULL),
                 HAUL_OK);
    CHECK_EQ(the_first->next->value, 2);
    CHECK_EQ(the_first->next->next->value, 2);
    CHECK_STATUS(haul_update_host(the_shipment, NULL, OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_wait(the_shipment), HAUL_OK);
    links_set_homes(the_first, 1);
    check_doubled(the_first);
    end();
}

TEST(ship_mirror, fields_that_do_not_travel_are_zeros_there_and_stay_here)
{
    start(FEW);
    links_set_homes(the_first, 1);
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 1), HAUL_OK);
    look_on(the_device, the_shipment, the_first, FEW);
    run_on(links_double, the_first);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    check_doubled(the_first);
    end();
}

/* ---- Pointers that lead out. */

static link *at_number(link *first, int number)
{
    while (number-- > 0)
        first = first->next;
    return first;
}

/* Whoever looks. */
static void is_refused_with(int count, int number)
{
    static link outside;
    char path[32];
    link *at = at_number(the_first, number), *other = at->other;
    at->other = &outside;
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_ERROR_GRAPH);
    CHECK_PTR(the_shipment, NULL);
    snprintf(path, sizeof path, "arena+%zu", (size_t)((char *)&at->other - (char *)the_first));
    CHECK_STR(haul_context_error(haul_device_context(the_device))->path, path);
    at->other = other;
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    look_on(the_device, the_shipment, the_first, count);
    haul_shipment_free(&the_shipment);
}

TEST(ship_mirror, pointers_that_lead_out_are_refused_with_their_place)
{
    static const int counts[] = { FEW, SOME, LARGE };
    size_t i;
    for (i = 0; i < 3; i++) {
        start(counts[i]);
        is_refused_with(counts[i], 0);
        is_refused_with(counts[i], counts[i] / 2);
        is_refused_with(counts[i], counts[i] - 1);
        end();
    }
}

/* Marks go where the device looks: behind many pointers in much. */
TEST(ship_mirror,
     the_device_looks_where_there_is_much_to_look_at_and_the_host_where_there_is_little)
{
    haul_host_counters before;
    start(FEW);
    CHECK(haul_arena_bytes(the_arena, (size_t)4 << 20, 0) != NULL);
    before = counters();
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    CHECK_EQ(counters().relocations, before.relocations);
    CHECK_EQ(counters().bytes_to, before.bytes_to + used_by(the_arena));
    haul_shipment_free(&the_shipment);
    CHECK(links_make(the_arena, SOME) != NULL);
    before = counters();
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    CHECK(counters().relocations > before.relocations);
    CHECK(counters().bytes_to > before.bytes_to + used_by(the_arena));
    haul_shipment_free(&the_shipment);
    before = counters();
    CHECK_STATUS(ship(HAUL_OUTSIDE_KEEP, 0), HAUL_OK);
    CHECK_EQ(counters().relocations, before.relocations);
    CHECK_EQ(counters().bytes_to, before.bytes_to + used_by(the_arena));
    end();
}

static void look_at_next(void *argument)
{
    link **pair = argument;
    pair[1] = pair[0]->next;
}

static void ship_with_one_outside(int count, haul_outside rule)
{
    static link outside;
    link *last, *pair[2];
    start(count);
    last = the_first->other;
    last->next = &outside;
    CHECK_STATUS(ship(rule, 1), HAUL_OK);
    pair[0] = last;
    run_on(look_at_next, pair);
    CHECK_PTR(pair[1], rule == HAUL_OUTSIDE_NULL ? NULL : &outside);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_PTR(last->next, &outside);
    end();
}

TEST(ship_mirror, or_they_are_null_there_or_what_they_were)
{
    ship_with_one_outside(FEW, HAUL_OUTSIDE_NULL);
    ship_with_one_outside(LARGE, HAUL_OUTSIDE_NULL);
    ship_with_one_outside(FEW, HAUL_OUTSIDE_KEEP);
    ship_with_one_outside(LARGE, HAUL_OUTSIDE_KEEP);
}

/* ---- Elsewhere. */

/* At other addresses, with what kernels there make of it. */
static void is_right_elsewhere(haul_device *device, haul_shipment *shipment, int count)
{
    CHECK(haul_device_pointer(shipment, the_first) != the_first);
    look_on(device, shipment, the_first, count);
    CHECK_STATUS(haul_host_launch(device, links_double, haul_device_pointer(shipment, the_first)),
                 HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    links_set_homes(the_first, 1);
    check_doubled(the_first);
    links_set_homes(the_first, 0);
}

static void halve(void)
{
    link *l;
    for (l = the_first; l; l = l->next)
        l->value /= 2;
}

static void ship_twice(int count, int direct)
{
    haul_shipment *second;
    start(count);
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, direct), HAUL_OK);
    second = the_shipment;
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, direct), HAUL_OK);
    is_right_elsewhere(the_device, the_shipment, count);
    halve();
    look_on(the_device, second, the_first, count);
    haul_shipment_free(&the_shipment);
    haul_shipment_free(&second);
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, direct), HAUL_OK);
    CHECK_PTR(haul_device_pointer(the_shipment, the_first), the_first);
    end();
}

TEST(ship_mirror, one_shipment_at_a_time_is_there_and_others_are_patched_elsewhere)
{
    ship_twice(FEW, 0);
    ship_twice(FEW, 1);
    ship_twice(LARGE, 1);
}

/* Two shipments there would tread on each other's bytes, this one and the one that is freed. */
TEST(ship_mirror, who_is_elsewhere_does_not_make_room_there)
{
    haul_shipment *second, *third;
    start(FEW);
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    second = the_shipment;
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    haul_shipment_free(&the_shipment);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &third),
                 HAUL_OK);
    CHECK(haul_device_pointer(third, the_first) != the_first);
    haul_shipment_free(&third);
    the_shipment = second;
    look_on(the_device, second, the_first, FEW);
    end();
}

static void return_elsewhere(int count)
{
    haul_shipment *second;
    pair *first;
    start(0);
    first = pairs_make(the_arena, count, 0);
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 1), HAUL_OK);
    second = the_shipment;
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 1), HAUL_OK);
    run_on(pairs_swap, haul_device_pointer(the_shipment, first));
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    check_swapped(first, count, 1);
    run_on(pairs_swap, haul_device_pointer(the_shipment, first));
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    check_swapped(first, count, 2);
    haul_shipment_free(&second);
    end();
}

TEST(ship_mirror, a_direct_return_from_elsewhere_is_patched)
{
    return_elsewhere(FEW);
    return_elsewhere(SOME);
    return_elsewhere(PAIRS);
}

TEST(ship_mirror, another_device_has_it_elsewhere)
{
    test_device options;
    haul_device *other;
    haul_shipment *shipment;
    memset(&options, 0, sizeof options);
    start(SOME);
    options.context = haul_device_context(the_device);
    CHECK_STATUS(test_open(haul_host_device(), &options, &other), HAUL_OK);
    CHECK_STATUS(haul_ship_from(other, haul_from_arena(the_arena), NULL, NULL, &shipment), HAUL_OK);
    is_right_elsewhere(other, shipment, SOME);
    haul_shipment_free(&shipment);
    haul_device_close(&other);
    end();
}

static void copy_one(int count, haul_outside rule)
{
    test_device options;
    haul_device *other;
    haul_shipment *here, *there;
    memset(&options, 0, sizeof options);
    start(count);
    options.context = haul_device_context(the_device);
    CHECK_STATUS(test_open(haul_host_device(), &options, &other), HAUL_OK);
    CHECK_STATUS(ship(rule, 0), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(the_shipment, the_device, &here), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(the_shipment, other, &there), HAUL_OK);
    is_right_elsewhere(the_device, here, count);
    halve();
    haul_shipment_free(&the_shipment);
    is_right_elsewhere(other, there, count);
    haul_shipment_free(&here);
    haul_shipment_free(&there);
    haul_device_close(&other);
    end();
}

TEST(ship_mirror, a_copy_of_a_shipment_lies_elsewhere_too)
{
    copy_one(FEW, HAUL_OUTSIDE_REFUSE);
    copy_one(LARGE, HAUL_OUTSIDE_REFUSE);
    copy_one(LARGE, HAUL_OUTSIDE_KEEP);
}

/* A copy that comes back to where the arena's addresses are free does not lie there either: it
 * comes from elsewhere. */
TEST(ship_mirror, a_copy_does_not_take_the_arenas_own_addresses)
{
    test_device options;
    haul_device *other;
    haul_shipment *back;
    memset(&options, 0, sizeof options);
    start(FEW);
    options.context = haul_device_context(the_device);
    CHECK_STATUS(test_open(haul_host_device(), &options, &other), HAUL_OK);
    CHECK_STATUS(haul_ship_from(other, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(the_shipment, the_device, &back), HAUL_OK);
    is_right_elsewhere(the_device, back, FEW);
    haul_shipment_free(&back);
    haul_shipment_free(&the_shipment);
    haul_device_close(&other);
    end();
}

/* ---- With other arenas. */

typedef struct joined {
    haul_arena *second;
    pair *here, *there; /* each leads into the other's arena */
    haul_shipment *both[2];
} joined;

static joined join(int mirrored)
{
    joined j;
    memset(&j, 0, sizeof j);
    start(0);
    if (mirrored)
        j.second = made(the_device, (size_t)1 << 20);
    else
        CHECK_STATUS(test_arena(the_device, NULL, &j.second), HAUL_OK);
    j.here = pairs_make(the_arena, FEW, 0);
    j.there = pairs_make(j.second, FEW, 0);
    j.here->left = j.there;
    j.there->left = j.here;
    return j;
}

static void part(joined *j)
{
    haul_shipment_free(&j->both[0]);
    haul_shipment_free(&j->both[1]);
    haul_arena_free(&j->second);
    end();
}

static void look_left(void *argument)
{
    pair **at = argument;
    at[1] = at[0]->left;
}

/* Both lead to the other on the device, and on the host. */
static void check_joined(const joined *j)
{
    pair *at[2];
    at[0] = haul_device_pointer(j->both[0], j->here);
    run_on(look_left, at);
    CHECK_PTR(at[1], haul_device_pointer(j->both[1], j->there));
    at[0] = haul_device_pointer(j->both[1], j->there);
    run_on(look_left, at);
    CHECK_PTR(at[1], haul_device_pointer(j->both[0], j->here));
    CHECK_PTR(j->here->left, j->there);
    CHECK_PTR(j->there->left, j->here);
}

static void lead_into(int mirrored)
{
    joined j = join(mirrored);
    haul_arena *const arenas[2] = { the_arena, j.second };
    haul_ship_options how;
    int round;
    memset(&how, 0, sizeof how);
    CHECK_STATUS(haul_ship_arenas(the_device, arenas, 2, &how, NULL, j.both), HAUL_OK);
    CHECK_STATUS(haul_return_directly(j.both[0]), HAUL_OK);
    CHECK_STATUS(haul_return_directly(j.both[1]), HAUL_OK);
    CHECK_PTR(haul_device_pointer(j.both[0], j.here), j.here);
    CHECK((haul_device_pointer(j.both[1], j.there) == (void *)j.there) == mirrored);
    for (round = 0; round < 3; round++) {
        check_joined(&j);
        CHECK_STATUS(haul_unmarshal(j.both[0]), HAUL_OK);
        CHECK_STATUS(haul_unmarshal(j.both[1]), HAUL_OK);
        check_joined(&j);
        CHECK_STATUS(round ? haul_update_device(j.both[0], NULL, NULL)
                           : haul_reship(j.both[0], NULL),
                     HAUL_OK);
        check_joined(&j);
    }
    part(&j);
}

TEST(ship_mirror, pointers_into_one_that_is_there_already_lead_to_its_copy_both_ways)
{
    joined j = join(0);
    const haul_shipment *into[1];
    haul_ship_options how;
    pair *at[2];
    memset(&how, 0, sizeof how);
    how.outside = HAUL_OUTSIDE_KEEP;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(j.second), &how, NULL, &j.both[1]),
                 HAUL_OK);
    how.outside = HAUL_OUTSIDE_REFUSE;
    how.beside = into;
    how.beside_count = 1;
    into[0] = j.both[1];
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), &how, NULL, &j.both[0]),
                 HAUL_OK);
    CHECK_STATUS(haul_return_directly(j.both[0]), HAUL_OK);
    CHECK_PTR(haul_device_pointer(j.both[0], j.here), j.here);
    at[0] = j.here;
    run_on(look_left, at);
    CHECK_PTR(at[1], haul_device_pointer(j.both[1], j.there));
    CHECK_STATUS(haul_unmarshal(j.both[0]), HAUL_OK);
    CHECK_PTR(j.here->left, j.there);
    part(&j);
}

TEST(ship_mirror, an_arena_that_is_shipped_twice_at_once_leads_into_itself)
{
    haul_arena *twice[2];
    haul_shipment *both[2];
    int i;
    start(FEW);
    twice[0] = twice[1] = the_arena;
    CHECK_STATUS(haul_ship_arenas(the_device, twice, 2, NULL, NULL, both), HAUL_OK);
    for (i = 0; i < 2; i++) {
        run_on(links_double, haul_device_pointer(both[i], the_first));
        CHECK_STATUS(haul_unmarshal(both[i]), HAUL_OK);
        links_set_homes(the_first, 1);
        check_doubled(the_first);
    }
    haul_shipment_free(&both[0]);
    haul_shipment_free(&both[1]);
    end();
}

TEST(ship_mirror, several_arenas_that_point_into_one_another_are_where_each_can_be)
{
    lead_into(0);
    lead_into(1);
}

/* ---- What is added, and what is full. */

TEST(ship_mirror, replan_ships_what_has_been_added_to_the_same_place)
{
    haul_host_counters before;
    haul_shipment *second;
    static link outside;
    start(FEW);
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    before = counters();
    CHECK(links_add(the_arena, the_first, FEW, SOME) == the_first);
    links_set_homes(the_first, 0);
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_OK);
    CHECK_EQ(counters().allocations, before.allocations);
    CHECK_PTR(haul_device_pointer(the_shipment, the_first), the_first);
    look_on(the_device, the_shipment, the_first, SOME);
    the_first->next->other = &outside;
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_ERROR_GRAPH);
    the_first->next->other = the_first;
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    look_on(the_device, the_shipment, the_first, SOME);
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_OK);
    CHECK_EQ(counters().allocations, before.allocations);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &second),
                 HAUL_OK);
    CHECK(haul_device_pointer(second, the_first) != the_first);
    haul_shipment_free(&second);
    haul_shipment_free(&the_shipment);
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    CHECK_PTR(haul_device_pointer(the_shipment, the_first), the_first);
    end();
}

/* Marks that a replan has overwritten before it failed are sent again. */
static void fail_to_replan_joined(void)
{
    joined j = join(0);
    haul_arena *const arenas[2] = { the_arena, j.second };
    static pair outside;
    pair *more;
    CHECK_STATUS(haul_ship_arenas(the_device, arenas, 2, NULL, NULL, j.both), HAUL_OK);
    more = pairs_make(the_arena, 400, 0);
    more->left = &outside;
    CHECK_STATUS(haul_reship(j.both[0], NULL), HAUL_ERROR_GRAPH);
    CHECK_STATUS(haul_update_device(j.both[0], NULL, NULL), HAUL_OK);
    check_joined(&j);
    part(&j);
}

static void fail_to_replan_and_copy(void)
{
    static pair outside;
    haul_shipment *copy;
    pair *first, *more;
    start(0);
    first = pairs_make(the_arena, MANY, 0);
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    more = pairs_make(the_arena, MANY, 0);
    more->left = &outside;
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_ERROR_GRAPH);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(the_shipment, the_device, &copy), HAUL_OK);
    run_on(pairs_swap, haul_device_pointer(copy, first));
    CHECK_STATUS(haul_update_host(copy, WITH_POINTERS, NULL), HAUL_OK);
    check_swapped(first, MANY, 1);
    haul_shipment_free(&copy);
    end();
}

TEST(ship_mirror, a_replan_that_fails_leaves_a_shipment_to_be_refreshed)
{
    fail_to_replan_joined();
    fail_to_replan_and_copy();
}

TEST(ship_mirror, replan_moves_there_from_elsewhere_when_it_can)
{
    haul_shipment *second;
    start(FEW);
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    second = the_shipment;
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 0), HAUL_OK);
    haul_shipment_free(&second);
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_OK);
    CHECK_PTR(haul_device_pointer(the_shipment, the_first), the_first);
    look_on(the_device, the_shipment, the_first, FEW);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &second),
                 HAUL_OK);
    CHECK(haul_device_pointer(second, the_first) != the_first);
    haul_shipment_free(&second);
    end();
}

/* Marks lie behind the arena, which has no room left for them. */
TEST(ship_mirror, a_full_arena_is_looked_at_there)
{
    static const size_t bytes = (size_t)10 << 20;
    haul_host_counters before;
    pair *p, *first = NULL;
    int count = 0;
    start(0);
    haul_arena_free(&the_arena);
    the_arena = made(the_device, bytes);
    while ((p = haul_arena_new(the_arena, pair_type, 1))) {
        p->left = p;
        p->right = first;
        first = p;
        count++;
    }
    CHECK(bytes - used_by(the_arena) < 2 * sizeof(pair));
    before = counters();
    CHECK_STATUS(ship(HAUL_OUTSIDE_REFUSE, 1), HAUL_OK);
    CHECK(counters().relocations > before.relocations);
    CHECK_PTR(haul_device_pointer(the_shipment, first), first);
    run_on(pairs_swap, first);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    check_swapped(first, count, 1);
    end();
}

/* ---- Other ways to ship what stands in it. */

TEST(ship_mirror, a_graph_that_stands_in_it_is_shipped_as_any_other_graph)
{
    haul_ship_options options;
    haul_shipment_info told;
    int round;
    memset(&options, 0, sizeof options);
    options.lock_source = 1;
    start(FEW);
    CHECK_STATUS(haul_ship(the_device, the_first, link_type, 1, &options, &the_shipment), HAUL_OK);
    for (round = 0; round < 3; round++) {
        the_first->next->value = round;
        CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
        run_on(links_double, haul_device_pointer(the_shipment, the_first));
        CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
        CHECK_EQ(the_first->next->value, 2 * round);
    }
    haul_shipment_get_info(the_shipment, &told);
    CHECK(told.packs_because != NULL);
    end();
}

TEST(ship_mirror, an_untyped_one_is_discovered_in_its_place)
{
    link *first, *l;
    start(0);
    first = haul_arena_bytes(the_arena, FEW * sizeof *first, 0);
    CHECK(first != NULL);
    for (l = first; l < first + FEW; l++) {
        l->next = l + 1 < first + FEW ? l + 1 : NULL;
        l->name = text_in(the_arena, (l - first) % 3 ? "one of three" : "x");
        l->value = (int32_t)(l - first);
        l->other = l == first ? first + FEW - 1 : l - 1;
    }
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena_root(the_arena, first, link_type), NULL,
                                NULL, &the_shipment),
                 HAUL_OK);
    CHECK_PTR(haul_device_pointer(the_shipment, first), first);
    look_on(the_device, the_shipment, first, FEW);
    end();
}

/* ---- Devices that have none, and faults. */

static void is_pinned_instead(haul_device *device)
{
    haul_arena_options options;
    haul_arena_info now;
    haul_arena *arena;
    haul_shipment *shipment;
    link *first;
    memset(&options, 0, sizeof options);
    options.mirrored = 1;
    options.reserve_bytes = 1 << 16;
    CHECK_STATUS(test_arena(device, &options, &arena), HAUL_OK);
    haul_arena_get_info(arena, &now);
    CHECK(!now.mirrored && now.pinned);
    first = links_make(arena, FEW);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    look_on(device, shipment, first, FEW);
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
}

TEST(ship_mirror, a_device_that_has_no_such_memory_gives_pinned_memory_instead)
{
    haul_device_table table = *haul_host_device();
    haul_device *device;
    fault_plan plan;
    links_open();
    table.mirror = NULL;
    CHECK_STATUS(test_open(&table, NULL, &device), HAUL_ERROR_ARGUMENT);
    table.unmirror = NULL;
    CHECK_STATUS(test_open(&table, NULL, &device), HAUL_OK);
    is_pinned_instead(device);
    haul_device_close(&device);
    memset(&plan, 0, sizeof plan);
    CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
    fault_arm(&plan, FAULT_ONCE, 2); /* behind the selection of the stream */
    is_pinned_instead(device);
    CHECK_EQ(plan.fell_back, 1);
    haul_device_close(&device);
    fault_check_clean(&plan);
    links_close();
}

typedef struct scene {
    haul_device *device;
    haul_arena *arena;
    haul_shipment *shipment;
    pair *first;
    int count, ships, was_late;
    haul_outside outside;
} scene;

static scene the;

static haul_status scene_arena(void *user)
{
    haul_arena_options options;
    (void)user;
    memset(&options, 0, sizeof options);
    options.mirrored = 1;
    options.reserve_bytes = (size_t)the.count * 32 + 4096;
    return test_arena(the.device, &options, &the.arena);
}

static haul_status scene_ship(void *user)
{
    haul_ship_options how;
    (void)user;
    memset(&how, 0, sizeof how);
    how.outside = the.outside;
    return directly(
        haul_ship_from(the.device, haul_from_arena(the.arena), &how, NULL, &the.shipment),
        &the.shipment);
}

static void prepare_device(void *user, fault_plan *plan)
{
    (void)user;
    pairs_open();
    CHECK_STATUS(fault_open(plan, NULL, &the.device), HAUL_OK);
}

/* A device that has worked before: its ring is there. */
static void prepare(void *user, fault_plan *plan)
{
    prepare_device(user, plan);
    CHECK_STATUS(scene_arena(user), HAUL_OK);
    the.first = pairs_make(the.arena, the.count, 0);
    CHECK(the.first != NULL);
    CHECK_STATUS(scene_ship(user), HAUL_OK);
    if (!the.ships)
        haul_shipment_free(&the.shipment);
}

static void finish(void *user)
{
    (void)user;
    haul_shipment_free(&the.shipment);
    haul_arena_free(&the.arena);
    haul_device_close(&the.device);
    pairs_close();
}

static void undo_arena(void *user)
{
    (void)user;
    haul_arena_free(&the.arena);
}

static void undo_ship(void *user)
{
    (void)user;
    haul_shipment_free(&the.shipment);
}

static void check_pairs(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(haul_context_error(haul_device_context(the.device))->status, status);
    if (the.first)
        check_swapped(the.first, the.count, 0);
}

/* Free for the next one, whatever became of the last; but while a device that was late may still
 * write there. */
static void check_shipped(void *user, haul_status status)
{
    check_pairs(user, status);
    if (status == HAUL_OK && !the.was_late)
        CHECK_PTR(haul_device_pointer(the.shipment, the.first), the.first);
    the.was_late = status == HAUL_ERROR_PENDING;
}

static haul_status refresh(void *user)
{
    (void)user;
    return haul_update_device(the.shipment, NULL, NULL);
}

static haul_status unmarshal(void *user)
{
    (void)user;
    return haul_unmarshal(the.shipment);
}

static haul_status replan(void *user)
{
    (void)user;
    return haul_reship(the.shipment, NULL);
}

static void survives(haul_status (*run)(void *), void (*check)(void *, haul_status), unsigned modes)
{
    fault_operation operation = {
        .prepare = prepare, .run = run, .check = check, .finish = finish
    };
    operation.modes = modes;
    operation.undo = the.ships ? NULL : undo_ship;
    operation.keeps = the.ships;
    CHECK(fault_everywhere(&operation) > 1);
    if (the.count != FEW)
        return; /* slow where each access is watched */
    operation.settings.deferred = 1;
    CHECK(fault_everywhere(&operation) > 1);
}

/* The shipment is freed while the device is still at it. */
static void free_late(fault_plan *plan, void *stream)
{
    haul_async async;
    memset(&async, 0, sizeof async);
    async.stream = stream;
    CHECK_STATUS(haul_update_device(the.shipment, NULL, &async), HAUL_OK);
    plan->impatient = 1;
    haul_shipment_free(&the.shipment);
    plan->impatient = 0;
}

/* The same on the device's own stream, where no call orders anything before it. */
static void give_up_waiting(fault_plan *plan)
{
    plan->impatient = 1;
    CHECK_STATUS(haul_update_device(the.shipment, NULL, NULL), HAUL_ERROR_PENDING);
    haul_shipment_free(&the.shipment);
    plan->impatient = 0;
}

TEST(ship_mirror, what_a_late_device_may_still_write_is_not_given_to_the_next_shipment)
{
    fault_plan plan;
    haul_shipment *shipment;
    int calls;
    memset(&plan, 0, sizeof plan);
    memset(&the, 0, sizeof the);
    the.count = MANY; /* so that there are several orders, and one question does not end them all */
    the.ships = plan.deferred = 1;
    prepare(NULL, &plan);
    free_late(&plan, fault_stream(1));
    CHECK_STATUS(haul_ship_from(the.device, haul_from_arena(the.arena), NULL, NULL, &shipment),
                 HAUL_OK);
    CHECK(haul_device_pointer(shipment, the.first) != the.first);
    for (calls = 0; haul_device_pointer(shipment, the.first) != the.first && calls < 100; calls++) {
        haul_shipment_free(&shipment); /* each call asks, and the device gets on */
        CHECK_STATUS(haul_ship_from(the.device, haul_from_arena(the.arena), NULL, NULL, &shipment),
                     HAUL_OK);
    }
    CHECK_PTR(haul_device_pointer(shipment, the.first), the.first);
    haul_shipment_free(&shipment);
    finish(NULL);
    fault_check_clean(&plan);
}

TEST(ship_mirror, a_replan_that_is_late_lends_nothing_twice)
{
    fault_plan plan;
    haul_shipment *shipment;
    memset(&plan, 0, sizeof plan);
    memset(&the, 0, sizeof the);
    the.count = FEW;
    the.ships = 1;
    prepare(NULL, &plan);
    plan.impatient = 1;
    CHECK_STATUS(haul_reship(the.shipment, NULL), HAUL_ERROR_PENDING);
    plan.impatient = 0;
    CHECK_STATUS(haul_update_device(the.shipment, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_ship_from(the.device, haul_from_arena(the.arena), NULL, NULL, &shipment),
                 HAUL_OK);
    CHECK_PTR(haul_device_pointer(the.shipment, the.first), the.first);
    CHECK(haul_device_pointer(shipment, the.first) != the.first);
    haul_shipment_free(&the.shipment);
    haul_shipment_free(&shipment);
    CHECK_STATUS(scene_ship(NULL), HAUL_OK);
    CHECK_PTR(haul_device_pointer(the.shipment, the.first), the.first);
    finish(NULL);
    fault_check_clean(&plan);
}

/* The device in front minds an address that is a device's too. */
static void is_elsewhere_by_its_window(int count, int no_send)
{
    fault_plan plan;
    haul_shipment *first;
    int round;
    memset(&plan, 0, sizeof plan);
    memset(&the, 0, sizeof the);
    the.count = count;
    the.ships = 1;
    plan.no_send = no_send;
    prepare(NULL, &plan);
    first = the.shipment;
    CHECK_STATUS(scene_ship(NULL), HAUL_OK);
    for (round = 1; round <= 2; round++) {
        CHECK_STATUS(
            haul_host_launch(the.device, pairs_swap, haul_device_pointer(the.shipment, the.first)),
            HAUL_OK);
        CHECK_STATUS(haul_unmarshal(the.shipment), HAUL_OK);
        check_swapped(the.first, count, round);
        CHECK_STATUS(haul_update_device(the.shipment, NULL, NULL), HAUL_OK);
    }
    haul_shipment_free(&first);
    finish(NULL);
    fault_check_clean(&plan);
}

TEST(ship_mirror, whoever_lies_elsewhere_crosses_through_the_window)
{
    is_elsewhere_by_its_window(FEW, 0);
    is_elsewhere_by_its_window(FEW, 1);
    is_elsewhere_by_its_window(SOME, 0);
    is_elsewhere_by_its_window(PAIRS, 0);
}

static void let_the_arena_go(int deferred, int on_its_own)
{
    fault_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.deferred = deferred;
    memset(&the, 0, sizeof the);
    the.count = FEW;
    the.ships = 1;
    prepare(NULL, &plan);
    if (on_its_own)
        give_up_waiting(&plan);
    else
        free_late(&plan, deferred ? fault_stream(1) : NULL);
    haul_arena_free(&the.arena);
    CHECK_STATUS(scene_arena(NULL), HAUL_OK);
    finish(NULL);
    fault_check_clean(&plan);
}

TEST(ship_mirror, an_arena_that_goes_waits_for_what_it_has_lent)
{
    let_the_arena_go(0, 0);
    let_the_arena_go(1, 0);
    let_the_arena_go(1, 1);
}

TEST(ship_mirror, making_one_survives_every_fault_D3)
{
    fault_operation operation = { .prepare = prepare_device,
                                  .run = scene_arena,
                                  .check = check_pairs,
                                  .undo = undo_arena,
                                  .finish = finish };
    memset(&the, 0, sizeof the);
    CHECK(fault_everywhere(&operation) > 2);
}

TEST(ship_mirror, ships_and_returns_survive_every_fault_D5_D6_H1_H2)
{
    int keep;
    for (keep = 0; keep < 2; keep++) {
        memset(&the, 0, sizeof the);
        the.count = FEW;
        the.outside = keep ? HAUL_OUTSIDE_KEEP : HAUL_OUTSIDE_REFUSE;
        survives(scene_ship, check_shipped, 0);
        the.ships = 1;
        survives(refresh, check_pairs, 0);
        survives(replan, check_pairs, 0);
        survives(unmarshal, check_pairs, FAULT_MEMORY | 1u << FAULT_LOST);
    }
}

TEST(ship_mirror, one_that_the_device_looks_at_survives_every_fault_D5_D6)
{
    memset(&the, 0, sizeof the);
    the.count = MANY;
    survives(scene_ship, check_shipped, 1u << FAULT_ONCE);
    the.ships = 1;
    survives(replan, check_pairs, 1u << FAULT_ONCE);
}
