/* Sources that the device reads and writes where they lie (lock_source).
 *
 * The host device stands in: it counts gathers, scatters and locks, and refuses what a GPU would.
 * The copy is compared, byte for byte, with that of an update that packs.
 *
 * Faults by number (docs/testing.md): D1, D4, D5, D6, D13, D17, H1, H2 of locks, lists and both
 * crossings.
 */
#define _DEFAULT_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "pack/segments.h"
#include "ship_faults.h"
#include "support/builds.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

static haul_shipment_info told(haul_shipment *s)
{
    haul_shipment_info statistics;
    haul_shipment_get_info(s, &statistics);
    return statistics;
}

static haul_shipment *ship_locked(haul_device *device, room *first)
{
    haul_ship_options options;
    haul_shipment *s;
    memset(&options, 0, sizeof options);
    options.lock_source = options.let_counts_change = 1; /* nothing but the one order */
    CHECK_STATUS(haul_ship(device, first, room_type, 1, &options, &s), HAUL_OK);
    return s;
}

/* A museum on a device that has locked it. */
typedef struct place {
    world w;
    room *first;
    haul_device *device;
    haul_shipment *s;
} place;

static place here;

static void open_place(size_t gap)
{
    memset(&here, 0, sizeof here);
    world_start(&here.w, 1 << 20);
    here.w.gap = gap;
    museum_open();
    here.first = museum_make(&here.w, 12, 1);
    here.device = host_device();
}

static void start(void)
{
    open_place(0);
    here.s = ship_locked(here.device, here.first);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_STR(told(here.s).packs_because, NULL);
    CHECK(counters_of(here.device).bytes_locked > 0);
}

static void end(void)
{
    haul_shipment_free(&here.s);
    CHECK_EQ(counters_of(here.device).bytes_locked, 0);
    CHECK_EQ(counters_of(here.device).bytes_live, 0);
    haul_device_close(&here.device);
    museum_close();
    world_end(&here.w);
}

/* The same where somebody else has locked the first page. */
static void *first_page(void)
{
    return (void *)((uintptr_t)here.first / 4096 * 4096);
}

static void unlock_page(void)
{
    haul_host_device()->unlock(haul_device_state(here.device), first_page(), 4096);
}

static void start_with_a_page_of_somebody_elses(void)
{
    open_place(0);
    CHECK_STATUS(haul_host_device()->lock(haul_device_state(here.device), first_page(), 4096),
                 HAUL_OK);
    here.s = ship_locked(here.device, here.first);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
}

/* Another device of the same context. */
static haul_device *open_beside(void)
{
    test_device options;
    haul_device *other;
    memset(&options, 0, sizeof options);
    options.context = haul_device_context(here.device);
    CHECK_STATUS(test_open(haul_host_device(), &options, &other), HAUL_OK);
    return other;
}

/* The arena is what packing would send. */
static void check_arena(haul_shipment *s)
{
    const size_t bytes = told(s).arena_bytes;
    unsigned char *there = malloc(bytes), *packed = malloc(bytes);
    haul_plan *plan;
    haul_root root = { here.first, room_type, 1 };
    CHECK(there && packed);
    device_read(here.device, there, told(s).base, bytes);
    CHECK_STATUS(
        haul_plan_create(haul_device_context(here.device), haul_from_roots(&root, 1), NULL, &plan),
        HAUL_OK);
    CHECK_STATUS(haul_plan_pack(plan, packed, bytes, told(s).base, NULL), HAUL_OK);
    CHECK_BYTES(there, packed, bytes);
    haul_plan_free(&plan);
    free(packed);
    free(there);
}

/* ---- Both ways. */

TEST(locked_sources, the_first_refresh_packs_and_each_later_one_is_gathered_by_the_device)
{
    haul_host_counters before;
    int i;
    start();
    CHECK_EQ(told(here.s).pulls, 0);
    before = counters_of(here.device);
    for (i = 1; i <= 3; i++) {
        museum_change(here.first);
        CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
        check_arena(here.s);
        CHECK_EQ(told(here.s).pulls, i);
        CHECK_EQ(told(here.s).transfers_to, 2 + i);
    }
    CHECK_EQ(counters_of(here.device).pulls, before.pulls + 3);
    CHECK_EQ(counters_of(here.device).copies_to, before.copies_to);
    end();
}

TEST(locked_sources, results_are_written_by_the_device_and_nothing_beside_them)
{
    haul_host_counters before;
    unsigned char *world_before;
    start();
    CHECK_STATUS(
        haul_host_launch(here.device, museum_change, haul_device_pointer(here.s, here.first)),
        HAUL_OK);
    before = counters_of(here.device);
    world_before = world_picture(&here.w);
    CHECK_STATUS(haul_unmarshal(here.s), HAUL_OK);
    world_check_changed_by(&here.w, world_before, museum_change, here.first);
    CHECK_EQ(told(here.s).pushes, 1);
    CHECK_EQ(told(here.s).transfers_from, 1);
    CHECK_EQ(counters_of(here.device).pushes, before.pushes + 1);
    CHECK_EQ(counters_of(here.device).copies_from, before.copies_from);
    end();
}

TEST(locked_sources, what_has_not_changed_is_not_written)
{
    start();
    world_protect(&here.w, PROT_READ);
    CHECK_STATUS(haul_unmarshal(here.s), HAUL_OK);
    CHECK_EQ(told(here.s).pushes, 1);
    world_protect(&here.w, PROT_READ | PROT_WRITE);
    end();
}

static void scribble(void *argument)
{
    room *r = argument;
    r->cache = r;
    r->doors = NULL;
    r->next = NULL;
}

TEST(locked_sources,
     pointers_that_a_kernel_has_changed_are_what_they_were_after_a_refresh_and_skipped_fields_zero)
{
    start();
    CHECK_STATUS(haul_host_launch(here.device, scribble, haul_device_pointer(here.s, here.first)),
                 HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(here.s).pulls, 1);
    check_arena(here.s);
    end();
}

TEST(locked_sources, objects_far_from_each_other_are_locked_stretch_by_stretch)
{
    uint64_t locked;
    open_place(25000);
    here.s = ship_locked(here.device, here.first);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    locked = counters_of(here.device).bytes_locked;
    CHECK(locked > 0 && locked < here.w.used / 2);
    museum_change(here.first);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(here.s).pulls, 1);
    check_arena(here.s);
    end();
}

/* Those of a device work side by side, each on a segment of its own. */
static size_t segments_of_array(size_t bytes)
{
    haul_context *context;
    haul_plan *plan;
    haul_type *type;
    haul_root root;
    size_t segments, attachments;
    void *array = calloc(1, bytes);
    CHECK(array != NULL);
    CHECK_STATUS(haul_type_bytes(type_context(), "array", bytes, &type), HAUL_OK);
    root.address = array;
    root.type = type;
    root.count = 1;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    haul__count_segments(plan, &segments, &attachments);
    CHECK_EQ(attachments, 0);
    haul_plan_free(&plan);
    haul_context_free(&context);
    haul_type_free(&type);
    free(array);
    return segments;
}

TEST(locked_sources, a_graph_of_few_arrays_is_cut_into_as_many_segments_as_keep_a_device_busy)
{
    CHECK(segments_of_array(80000) >= 80000 / 512);
    CHECK(segments_of_array((size_t)8 << 20) >= 8192);
    CHECK(segments_of_array((size_t)64 << 20) >= 8192);
    CHECK(segments_of_array((size_t)64 << 20) < 10000);
}

/* ---- Changes. */

TEST(locked_sources, a_changed_pointer_is_named_and_the_graph_crosses_again_when_it_is_put_back)
{
    room *next;
    start();
    next = here.first->next->next;
    here.first->next->next = here.first;
    here.first->area = 4711;
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(haul_device_context(here.device))->path, "root.next.next");
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_ERROR_STALE);
    here.first->next->next = next;
    check_arena(here.s);
    CHECK_EQ(told(here.s).pulls, 0);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(here.s).pulls, 1);
    check_arena(here.s);
    end();
}

TEST(locked_sources, a_changed_count_or_a_lost_terminator_is_found_before_anything_crosses)
{
    haul_host_counters before;
    size_t end_of_name;
    start();
    before = counters_of(here.device);
    here.first->next->door_count--;
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(haul_device_context(here.device))->path, "doors");
    here.first->next->door_count++;
    end_of_name = strlen(here.first->name);
    here.first->name[end_of_name] = '!';
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_ERROR_STALE);
    here.first->name[end_of_name] = 0;
    CHECK_EQ(counters_of(here.device).pulls, before.pulls);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(here.s).pulls, 1);
    end();
}

TEST(locked_sources, a_new_plan_is_locked_anew)
{
    start();
    here.first->next = here.first;
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_STATUS(haul_reship(here.s, NULL), HAUL_OK);
    CHECK_EQ(counters_of(here.device).bytes_locked, 0);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    here.first->area = 5;
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(here.s).pulls, 1);
    check_arena(here.s);
    end();
}

typedef struct item {
    uint64_t number, count;
    double *values;
} item;

/* As malloc gives them: where the pointer leads stands nothing that is described. */
TEST(locked_sources,
     a_pointer_to_no_elements_that_leads_to_nothing_described_is_null_as_it_is_packed)
{
    static haul_type *type;
    static const haul_field fields[] = { HAUL_ARRAY(item, values, HAUL_COUNT(item, count)) };
    haul_ship_options options;
    item *one, there;
    open_place(0);
    one = world_take(&here.w, 2 * sizeof *one, 64);
    memset(one, 0, sizeof *one);
    one->values = (double *)(void *)((unsigned char *)one + 32);
    memset(&options, 0, sizeof options);
    options.lock_source = 1;
    CHECK_STATUS(type_make("item", sizeof(item), fields, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_ship(here.device, one, type, 1, &options, &here.s), HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(here.s).pulls, 1);
    device_read(here.device, &there, device_address(here.s, one), sizeof there);
    CHECK_PTR(there.values, NULL);
    haul_type_free(&type);
    end();
}

TEST(locked_sources, why_a_plan_is_packed_is_forgotten_with_the_plan)
{
    start_with_a_page_of_somebody_elses();
    CHECK_HAS(told(here.s).packs_because, "locked");
    unlock_page();
    CHECK_STATUS(haul_reship(here.s, NULL), HAUL_OK);
    CHECK_STR(told(here.s).packs_because, NULL);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(here.s).pulls, 1);
    end();
}

/* ---- Who else uses the pages. */

TEST(locked_sources, graphs_that_share_pages_share_locks_until_the_last_goes)
{
    room *others;
    haul_shipment *second;
    uint64_t locked;
    open_place(300);
    others = museum_make(&here.w, 20, 0);
    here.s = ship_locked(here.device, here.first);
    second = ship_locked(here.device, others);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    locked = counters_of(here.device).bytes_locked;
    CHECK_STATUS(haul_update_device(second, NULL, NULL), HAUL_OK);
    CHECK(counters_of(here.device).bytes_locked > locked);
    CHECK_EQ(counters_of(here.device).bytes_locked, (here.w.used + 4095) / 4096 * 4096);
    haul_shipment_free(&here.s);
    CHECK(counters_of(here.device).bytes_locked > 0);
    others->area = 3;
    CHECK_STATUS(haul_update_device(second, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(second).pulls, 1);
    haul_shipment_free(&second);
    end();
}

/* The second begins below what is locked, and ends in it. */
TEST(locked_sources, a_graph_in_front_of_locked_pages_locks_up_to_them)
{
    room *others;
    haul_shipment *second;
    open_place(300);
    others = museum_make(&here.w, 20, 0);
    here.s = ship_locked(here.device, others);
    second = ship_locked(here.device, here.first);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(second, NULL, NULL), HAUL_OK);
    CHECK_EQ(counters_of(here.device).bytes_locked, (here.w.used + 4095) / 4096 * 4096);
    haul_shipment_free(&here.s);
    museum_change(here.first);
    CHECK_STATUS(haul_update_device(second, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(second).pulls, 1);
    check_arena(second);
    haul_shipment_free(&second);
    end();
}

TEST(locked_sources, two_devices_of_a_context_share_locks_whoever_goes_first)
{
    haul_device *other;
    haul_shipment *there;
    start();
    other = open_beside();
    there = ship_locked(other, here.first);
    CHECK_STATUS(haul_update_device(there, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(there, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(there).pulls, 1);
    CHECK_EQ(counters_of(other).bytes_locked, 0);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(here.s).pulls, 1);
    haul_shipment_free(&there);
    haul_device_close(&other);
    end();
}

TEST(locked_sources, a_lock_goes_with_its_last_holder_though_another_device_has_made_it)
{
    haul_device *other;
    haul_shipment *there;
    int closes;
    for (closes = 0; closes < 2; closes++) {
        start();
        other = open_beside();
        there = ship_locked(other, here.first);
        CHECK_STATUS(haul_update_device(there, NULL, NULL), HAUL_OK);
        haul_shipment_free(&here.s);
        CHECK(counters_of(here.device).bytes_locked > 0);
        if (closes) {
            haul_device_close(&here.device);
            here.device = other;
        }
        haul_shipment_free(&there);
        CHECK_EQ(counters_of(other).bytes_locked, 0);
        here.s = ship_locked(here.device, here.first);
        CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
        CHECK_STR(told(here.s).packs_because, NULL);
        if (!closes)
            haul_device_close(&other);
        end();
    }
}

TEST(locked_sources, a_copy_locks_for_itself)
{
    haul_shipment *copy;
    start();
    CHECK_STATUS(haul_shipment_copy(here.s, here.device, &copy), HAUL_OK);
    haul_shipment_free(&here.s);
    CHECK_EQ(counters_of(here.device).bytes_locked, 0);
    CHECK_STATUS(haul_update_device(copy, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(copy, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(copy).pulls, 1);
    check_arena(copy);
    haul_shipment_free(&copy);
    end();
}

TEST(locked_sources, pages_that_somebody_else_has_locked_are_packed)
{
    start_with_a_page_of_somebody_elses();
    CHECK_EQ(haul_context_error(haul_device_context(here.device))->status, HAUL_OK);
    CHECK_HAS(told(here.s).packs_because, "locked");
    CHECK_EQ(counters_of(here.device).bytes_locked, 4096);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(here.s).pulls, 0);
    check_arena(here.s);
    unlock_page();
    end();
}

/* ---- What the host does as ever. */

static void check_packs(const haul_ship_options *options, const char *why)
{
    CHECK_STATUS(haul_ship(here.device, here.first, room_type, 1, options, &here.s), HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(here.s).pulls, 0);
    if (why)
        CHECK_HAS(told(here.s).packs_because, why);
    else
        CHECK_STR(told(here.s).packs_because, NULL);
    CHECK_EQ(counters_of(here.device).bytes_locked, 0);
    haul_shipment_free(&here.s);
}

TEST(locked_sources, ordered_arenas_and_whoever_has_not_asked_are_packed)
{
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    open_place(0);
    check_packs(&options, NULL);
    options.lock_source = options.ordered = 1;
    check_packs(&options, "ordered");
    end();
}

static haul_device *device_without_direct(void)
{
    static haul_device_table table;
    haul_device *device;
    table = *haul_host_device();
    table.lock = NULL;
    CHECK_STATUS(test_open(&table, NULL, &device), HAUL_ERROR_ARGUMENT);
    table.unlock = NULL;
    table.pull = table.push = NULL;
    CHECK_STATUS(test_open(&table, NULL, &device), HAUL_OK);
    return device;
}

TEST(locked_sources, a_device_that_cannot_reach_the_host_is_sent_to)
{
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.lock_source = 1;
    open_place(0);
    haul_device_close(&here.device);
    here.device = device_without_direct();
    check_packs(&options, "cannot");
    end();
}

static haul_status will_not(void *state, const haul_crossing *crossing)
{
    (void)state;
    (void)crossing;
    return HAUL_ERROR_UNSUPPORTED;
}

TEST(locked_sources, a_device_that_does_not_know_such_pointers_is_sent_to_and_keeps_no_lock)
{
    haul_device_table table = *haul_host_device();
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.lock_source = 1;
    table.pull = will_not;
    open_place(0);
    haul_device_close(&here.device);
    CHECK_STATUS(test_open(&table, NULL, &here.device), HAUL_OK);
    check_packs(&options, "the device");
    end();
}

TEST(locked_sources, one_that_will_not_scatter_is_fetched_from_and_keeps_no_lock)
{
    haul_device_table table = *haul_host_device();
    table.push = will_not;
    open_place(0);
    haul_device_close(&here.device);
    CHECK_STATUS(test_open(&table, NULL, &here.device), HAUL_OK);
    here.s = ship_locked(here.device, here.first);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(here.s).pulls, 1);
    CHECK_STATUS(haul_unmarshal(here.s), HAUL_OK);
    CHECK_EQ(told(here.s).pushes, 0);
    CHECK_EQ(told(here.s).transfers_from, 1);
    CHECK_HAS(told(here.s).packs_because, "the device");
    CHECK_EQ(counters_of(here.device).bytes_locked, 0);
    end();
}

typedef struct lone {
    struct lone *next;
} lone;

/* One more than can be locked. */
TEST(locked_sources, objects_in_too_many_runs_of_pages_are_packed)
{
    static haul_type *type;
    static const haul_field fields[] = { HAUL_OBJECT(lone, next, &type) };
    enum { RUNS = 4097, APART = 8192 };
    haul_ship_options options;
    unsigned char *memory = malloc((size_t)(RUNS + 1) * APART);
    lone *at;
    size_t i;
    CHECK(memory != NULL);
    memset(&options, 0, sizeof options);
    options.lock_source = 1;
    open_place(0);
    CHECK_STATUS(type_make("lone", sizeof(lone), fields, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (i = 0; i < RUNS; i++) {
        at = (lone *)(void *)(memory + i * APART);
        at->next = i + 1 < RUNS ? (lone *)(void *)(memory + (i + 1) * APART) : NULL;
    }
    CHECK_STATUS(haul_ship(here.device, memory, type, 1, &options, &here.s), HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_HAS(told(here.s).packs_because, "too many runs");
    CHECK_EQ(counters_of(here.device).bytes_locked, 0);
    haul_type_free(&type);
    end();
    free(memory);
}

typedef struct barred {
    struct barred *next;
    double *input;
} barred;

TEST(locked_sources, what_does_not_travel_both_ways_is_packed)
{
    static haul_type *type;
    static const haul_field fields[] = { HAUL_OBJECT(barred, next, &type),
                                         HAUL_ARRAY(barred, input, HAUL_FIXED(4),
                                                    .transfer = HAUL_COPYIN) };
    static double values[4];
    static barred one = { NULL, values };
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.lock_source = 1;
    open_place(0);
    CHECK_STATUS(type_make("barred", sizeof(barred), fields, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_ship(here.device, &one, type, 1, &options, &here.s), HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_HAS(told(here.s).packs_because, "not sent");
    haul_type_free(&type);
    end();
}

TEST(locked_sources, asynchronous_calls_and_whole_returns_go_by_staging)
{
    haul_ship_options options;
    start();
    CHECK_STATUS(haul_update_device(here.s, NULL, OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_update_host(here.s, NULL, OWN_STREAM), HAUL_OK);
    CHECK_STATUS(haul_wait(here.s), HAUL_OK);
    CHECK_EQ(told(here.s).pulls + told(here.s).pushes, 0);
    haul_shipment_free(&here.s);
    memset(&options, 0, sizeof options);
    options.lock_source = 1;
    CHECK_STATUS(haul_ship(here.device, here.first, room_type, 1, &options, &here.s), HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_host(here.s, ALL_OR_NOTHING, NULL), HAUL_OK);
    CHECK_EQ(told(here.s).pulls, 1);
    CHECK_EQ(told(here.s).pushes, 0);
    end();
}

/* ---- Progress. */

typedef struct listener {
    uint64_t calls, last, total;
    int cancels;
} listener;

static int listen(void *user, uint64_t done, uint64_t total)
{
    listener *l = user;
    l->calls++;
    l->last = done;
    l->total = total;
    return l->cancels;
}

TEST(locked_sources, progress_is_told_and_can_cancel_before_anything_crosses)
{
    haul_ship_options options;
    listener heard;
    memset(&options, 0, sizeof options);
    memset(&heard, 0, sizeof heard);
    options.lock_source = 1;
    open_place(0);
    listen_on(here.device, listen, &heard);
    CHECK_STATUS(haul_ship(here.device, here.first, room_type, 1, &options, &here.s), HAUL_OK);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    memset(&heard, 0, sizeof heard);
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(heard.calls, 2);
    CHECK_EQ(heard.last, heard.total);
    heard.cancels = 1;
    CHECK_STATUS(haul_update_device(here.s, NULL, NULL), HAUL_ERROR_CANCELLED);
    CHECK_STATUS(haul_unmarshal(here.s), HAUL_ERROR_CANCELLED);
    CHECK_EQ(counters_of(here.device).pulls, 1);
    CHECK_EQ(counters_of(here.device).pushes, 0);
    heard.cancels = 0;
    CHECK_STATUS(haul_unmarshal(here.s), HAUL_OK);
    CHECK_EQ(told(here.s).pushes, 1);
    end();
}

/* ---- Failures. */

/* One that locks; where it could not for want of memory, or was refused, that is no failure to its
 * caller, and one to the test. */
static haul_status refresh_and_lock(void *user)
{
    haul_status status = refresh(user);
    if (status == HAUL_OK && told(the.s).packs_because)
        status = the.plan->first;
    return status;
}

static void check_locked(void *user, haul_status status)
{
    (void)user;
    check_world_is_untouched();
    if (status != HAUL_OK)
        CHECK_EQ(the.plan->locked_bytes, 0);
    else
        the.cargo->look();
}

static void give_up_locks(void *user)
{
    (void)user;
    CHECK_STATUS(haul_reship(the.s, NULL), HAUL_OK);
}

/* The first time its refusal is remembered until it is planned again. */
static haul_status replan_refresh_and_lock(void *user)
{
    haul_status status = haul_reship(the.s, NULL);
    return status == HAUL_OK ? refresh_and_lock(user) : status;
}

TEST(locked_sources,
     any_failure_while_it_locks_and_lists_leaves_a_shipment_that_works_D1_D4_D5_D6_D13_D17_H1_H2)
{
    fault_operation operation = operation_on_shipment(replan_refresh_and_lock, check_locked);
    the.lock_source = 1;
    operation.undo = give_up_locks;
    operation.keeps = 1;
    CHECK(fault_everywhere(&operation) > 20);
}

static void prepare_locked(void *user, fault_plan *plan)
{
    the.lets_change = 1; /* nothing but the one order */
    prepare(user, plan);
    CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(the.s).pulls, 1);
}

TEST(locked_sources, any_failure_of_a_gathering_leaves_a_shipment_that_works_D4_D5_D6_D13_D17)
{
    fault_operation operation = operation_on_shipment(refresh, check_sent);
    the.lock_source = 1;
    operation.prepare = prepare_locked;
    CHECK(fault_everywhere(&operation) > 5);
    operation.settings.deferred = 1;
    CHECK(fault_everywhere(&operation) > 5);
}

static void prepare_locked_and_changed(void *user, fault_plan *plan)
{
    prepare_locked(user, plan);
    CHECK_STATUS(haul_host_launch(the.device, museum_change, haul_device_pointer(the.s, the.first)),
                 HAUL_OK);
}

/* Where it has failed, each byte is a result in its place, or as it was. */
static void check_scattered(void *user, haul_status status)
{
    unsigned char *after = malloc(the.w.bytes), *now = world_picture(&the.w);
    size_t i;
    (void)user;
    CHECK(after != NULL);
    check_report(status);
    memcpy(the.w.memory, the.before, the.w.bytes);
    museum_change(the.first);
    memcpy(after, the.w.memory, the.w.bytes);
    for (i = 0; i < the.w.bytes; i++)
        CHECK(now[i] == after[i] || (status != HAUL_OK && now[i] == the.before[i]));
    memcpy(the.w.memory, the.before, the.w.bytes);
    free(after);
    free(now);
}

TEST(locked_sources, any_failure_of_a_scattering_leaves_results_or_what_was_there_D4_D5_D6_D13_D17)
{
    fault_operation operation = operation_on_shipment(unmarshal, check_scattered);
    the.lock_source = 1;
    operation.prepare = prepare_locked_and_changed;
    CHECK(fault_everywhere(&operation) > 3);
}

/* A device that has been told something and has not done it yet. */
static void be_late(fault_plan *plan, haul_status (*call)(haul_shipment *))
{
    memset(plan, 0, sizeof *plan);
    start_over();
    plan->deferred = 1;
    the.lock_source = the.keep = 1;
    prepare_locked_and_changed(NULL, plan);
    plan->impatient = 1;
    CHECK_STATUS(call(the.s), HAUL_ERROR_PENDING);
}

static void check_locks_are_kept(haul_status (*call)(haul_shipment *))
{
    fault_plan plan;
    be_late(&plan, call);
    haul_shipment_free(&the.s);
    CHECK(plan.locked_bytes > 0);
    CHECK_STR(plan.misuse, NULL);
    plan.impatient = 0;
    finish(NULL);
    fault_check_clean(&plan);
}

TEST(locked_sources, a_device_that_is_late_keeps_the_locks_until_it_is_done_D13)
{
    check_locks_are_kept(refresh_now);
    check_locks_are_kept(haul_unmarshal);
}

TEST(locked_sources, freeing_a_shipment_waits_for_what_the_device_still_writes_D13)
{
    fault_plan plan;
    be_late(&plan, haul_unmarshal);
    CHECK_BYTES(the.w.memory, the.before, the.w.bytes);
    plan.impatient = 0;
    haul_shipment_free(&the.s);
    CHECK_EQ(plan.locked_bytes, 0);
    world_check_changed_by(&the.w, memcpy(malloc(the.w.bytes), the.before, the.w.bytes),
                           museum_change, the.first);
    finish(NULL);
    fault_check_clean(&plan);
}

TEST(locked_sources, a_wait_waits_for_what_the_device_still_writes_D13)
{
    fault_plan plan;
    be_late(&plan, haul_unmarshal);
    CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_PENDING);
    CHECK_BYTES(the.w.memory, the.before, the.w.bytes);
    CHECK_STATUS(haul_poll(the.s), HAUL_ERROR_PENDING);
    plan.impatient = 0;
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    world_check_changed_by(&the.w, memcpy(malloc(the.w.bytes), the.before, the.w.bytes),
                           museum_change, the.first);
    CHECK_STATUS(haul_poll(the.s), HAUL_OK);
    finish(NULL);
    fault_check_clean(&plan);
}

static haul_status refresh_and_wait(haul_shipment *s)
{
    haul_status status = haul_update_device(s, NULL, OWN_STREAM);
    return status == HAUL_OK ? haul_wait(s) : status;
}

static haul_status update_all(haul_shipment *s)
{
    return haul_update_device(s, RANGE(the.w.memory, the.w.bytes), NULL);
}

TEST(locked_sources, whatever_reads_the_source_comes_behind_what_the_device_still_writes_D13)
{
    static haul_status (*const calls[])(haul_shipment *) = { refresh_now, reship_now,
                                                             refresh_and_wait, update_all };
    size_t i;
    for (i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        fault_plan plan;
        be_late(&plan, haul_unmarshal);
        plan.impatient = 0;
        CHECK_STATUS(calls[i](the.s), HAUL_OK);
        here.device = the.device;
        here.first = the.first;
        check_arena(the.s);
        world_check_changed_by(&the.w, memcpy(malloc(the.w.bytes), the.before, the.w.bytes),
                               museum_change, the.first);
        finish(NULL);
        fault_check_clean(&plan);
    }
}

TEST(locked_sources, locks_go_though_the_device_tells_of_another_failure_while_it_is_waited_for_D5)
{
    int frees;
    for (frees = 0; frees < 2; frees++) {
        fault_plan plan;
        be_late(&plan, haul_unmarshal);
        if (frees == 0)
            haul_shipment_free(&the.s);
        plan.impatient = 0;
        plan.late = 1;
        haul_shipment_free(&the.s);
        finish(NULL);
        fault_check_clean(&plan);
    }
}

/* It neither makes a fence nor waits for one: the device is its parent's. */
static void check_a_child_frees(void)
{
    int status = -1;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(60);
        haul_shipment_free(&the.s);
        check_leave(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
}

TEST(locked_sources, where_no_fence_is_to_be_had_behind_a_late_crossing_one_is_made_later_D13)
{
    fault_plan plan;
    memset(&plan, 0, sizeof plan);
    start_over();
    plan.deferred = 1;
    the.lock_source = the.keep = 1;
    prepare_locked_and_changed(NULL, &plan);
    plan.impatient = 1;
    fault_arm(&plan, FAULT_ONCE, 2);
    CHECK_STATUS(haul_unmarshal(the.s), HAUL_ERROR_PENDING);
    CHECK_STR(plan.last, "fence");
    fault_disarm(&plan);
    check_a_child_frees();
    CHECK_STATUS(haul_wait(the.s), HAUL_ERROR_PENDING);
    haul_shipment_free(&the.s);
    CHECK_STR(plan.misuse, NULL);
    CHECK(plan.locked_bytes > 0);
    plan.impatient = 0;
    finish(NULL);
    fault_check_clean(&plan);
}

/* What is left to the system on purpose is no leak. */
#ifdef BUILD_ASAN
#include <sanitizer/lsan_interface.h>
#define LEAVE_TO_THE_SYSTEM(on) ((on) ? __lsan_disable() : __lsan_enable())
#else
#define LEAVE_TO_THE_SYSTEM(on) ((void)(on))
#endif

TEST(locked_sources, of_a_device_that_is_late_to_the_end_only_what_it_uses_is_left_D13)
{
    fault_plan plan;
    LEAVE_TO_THE_SYSTEM(1);
    be_late(&plan, refresh_now);
    LEAVE_TO_THE_SYSTEM(0);
    haul_shipment_free(&the.s);
    haul_device_close(&the.device);
    CHECK_EQ(plan.host_blocks, plan.staged_blocks);
    the.cargo->unload();
    world_end(&the.w);
    free(the.before);
}
