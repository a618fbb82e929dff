/* The ship room: every event of a device or an allocator fails in turn.
 *
 * Each operation runs with each of its events failing: once, from then on, with the device lost,
 * and late. After each: the first failure is reported, no host object has changed, nothing has
 * leaked, and the same call works.
 *
 * Faults by number (docs/testing.md): C3, C4, D1-D6, D11, D14, D17, H1-H5.
 */
#define _DEFAULT_SOURCE
#include "ship_faults.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

TEST(ship_faults, shipping_survives_every_fault_H1_H2_D1_D4_D5_D6)
{
    fault_operation operation = operation_on(ship, check_ship);
    operation.undo = free_shipment;
    CHECK(fault_everywhere(&operation) > 30);
}

TEST(ship_faults, shipping_patched_on_the_host_survives_every_fault)
{
    fault_operation operation = operation_on(ship, check_ship);
    operation.undo = free_shipment;
    the.patched_here = 1;
    CHECK(fault_everywhere(&operation) > 25);
}

TEST(ship_faults, shipping_to_a_device_that_works_as_late_as_it_may_survives_every_fault)
{
    fault_operation operation = operation_on(ship, check_ship);
    operation.undo = free_shipment;
    operation.settings.deferred = 1;
    operation.settings.check_initialized = 1;
    CHECK(fault_everywhere(&operation) > 30);
}

/* What the device and the context allocate first fails, too. */
TEST(ship_faults, the_first_shipment_of_a_device_survives_every_fault)
{
    fault_operation operation = operation_on(ship, check_ship);
    operation.prepare = prepare_cold;
    operation.keeps = 1;
    operation.undo = free_shipment;
    CHECK(fault_everywhere(&operation) > 30);
}

/* From nothing to nothing: opening, shipping, bringing back. */
static haul_status whole_life(void *user)
{
    haul_status status = fault_open(the.plan, NULL, &the.device);
    (void)user;
    if (status != HAUL_OK) {
        CHECK_PTR(the.device, NULL);
        return status;
    }
    status = ship(NULL);
    if (status == HAUL_OK)
        status = haul_unmarshal(the.s);
    haul_shipment_free(&the.s);
    haul_device_close(&the.device);
    return status;
}

static void prepare_nothing(void *user, fault_plan *plan)
{
    (void)user;
    the.plan = plan;
    the.root = the.cargo->load();
    the.before = world_picture(&the.w);
}

static void check_untouched(void *user, haul_status status)
{
    (void)user;
    (void)status;
    check_world_is_untouched();
}

TEST(ship_faults, opening_a_device_survives_every_fault_and_nothing_outlives_it)
{
    fault_operation operation = operation_on(whole_life, check_untouched);
    operation.prepare = prepare_nothing;
    operation.keeps = 1;
    CHECK(fault_everywhere(&operation) > 40);
}

/* ---- Calls on a shipment that is there. */

static haul_status update_host(void *user)
{
    (void)user;
    return haul_update_host(the.s, RANGE(the.first, sizeof *the.first), NULL);
}

static void check_return_of_one(void *user, haul_status status)
{
    (void)user;
    check_report(status);
    if (status == HAUL_OK) {
        CHECK_EQ(the.first->area, 1100);
        CHECK_EQ(the.first->color[0], 'G');
        the.first->area = 100;
        the.first->color[0] = 'g';
    }
    check_world_is_untouched();
}

TEST(ship_faults, unmarshal_survives_every_fault_D17)
{
    fault_operation operation = operation_on_shipment(unmarshal, check_return);
    operation.prepare = prepare_changed;
    CHECK(fault_everywhere(&operation) >= 10);
    operation.settings.deferred = 1;
    CHECK(fault_everywhere(&operation) >= 10);
}

TEST(ship_faults, unmarshal_of_pointers_survives_every_fault)
{
    fault_operation operation = operation_on_shipment(unmarshal_pointers, check_return);
    operation.prepare = prepare_changed;
    CHECK(fault_everywhere(&operation) >= 10);
}

TEST(ship_faults, an_update_of_the_host_survives_every_fault)
{
    fault_operation operation = operation_on_shipment(update_host, check_return_of_one);
    operation.prepare = prepare_changed;
    CHECK(fault_everywhere(&operation) >= 10);
}

static haul_status replan(void *user)
{
    (void)user;
    return haul_reship(the.s, NULL);
}

static haul_status update_device(void *user)
{
    (void)user;
    return haul_update_device(the.s, RANGE(the.first, sizeof *the.first), NULL);
}

TEST(ship_faults, refresh_survives_every_fault)
{
    fault_operation operation = operation_on_shipment(refresh, check_sent);
    CHECK(fault_everywhere(&operation) >= 10);
    operation.settings.deferred = 1;
    CHECK(fault_everywhere(&operation) >= 10);
}

TEST(ship_faults, an_update_of_the_device_survives_every_fault)
{
    fault_operation operation = operation_on_shipment(update_device, check_sent);
    CHECK(fault_everywhere(&operation) >= 20);
}

/* The old shipment serves on when the new one fails. */
static void check_replanned(void *user, haul_status status)
{
    (void)user;
    check_report(status);
    check_world_is_untouched();
    the.cargo->look();
}

/* A plan that had to do without a reserve holds other blocks than the one it replaces: leaks are
 * looked for at the end only. */
TEST(ship_faults, replan_survives_every_fault_and_keeps_the_old_shipment)
{
    fault_operation operation = operation_on_shipment(replan, check_replanned);
    operation.keeps = 1;
    CHECK(fault_everywhere(&operation) > 30);
}

/* To name the pointer, the device is read. When it does not answer, the plan is no less stale. */
TEST(ship_faults, a_stale_plan_is_reported_even_if_the_device_fails_then)
{
    fault_plan plan;
    uint64_t at;
    unsigned stale = 0;
    room *second;
    memset(&plan, 0, sizeof plan);
    start_over();
    the.keep = 1;
    prepare(NULL, &plan);
    second = the.first->next;
    the.first->next = the.first;
    for (at = 1; at < 8; at++) {
        haul_status status;
        fault_arm(&plan, FAULT_FROM, at);
        status = haul_update_device(the.s, NULL, NULL);
        stale += plan.fired > 0 && status == HAUL_ERROR_STALE;
        CHECK_EQ(haul_context_error(haul_device_context(the.device))->status, status);
        CHECK(status == HAUL_ERROR_STALE || status == plan.first);
        if (status == HAUL_ERROR_STALE)
            CHECK_HAS(haul_context_error(haul_device_context(the.device))->text, "changed");
    }
    CHECK(stale >= 2);
    fault_disarm(&plan);
    the.first->next = second;
    CHECK_STATUS(haul_update_device(the.s, NULL, NULL), HAUL_OK);
    finish(NULL);
    fault_check_clean(&plan);
}

/* ---- A source and a device that change under the library's hands. */

/* Pointers, counts and strings that are never wrong for long enough to be read out of bounds. */
static void change_source(void *user)
{
    room *a = the.first->next, *b = a->next;
    (void)user;
    a->next = a->next == b ? b->next : b;
    a->door_count ^= 2;
    a->sample_count ^= 1;
    a->name[1] = a->name[1] ? '\0' : 'o';
    the.first->samples = the.first->samples ? NULL : b->samples;
}

static haul_status ship_then_refresh_then_replan(void *user)
{
    haul_status status = ship(user);
    if (status != HAUL_OK)
        return status;
    status = haul_update_device(the.s, NULL, NULL);
    CHECK(status == HAUL_OK || status == HAUL_ERROR_STALE);
    haul_reship(the.s, NULL);
    return haul_unmarshal(the.s);
}

TEST(ship_faults, a_source_that_changes_meanwhile_gives_some_answer_and_no_leak_C3)
{
    fault_operation operation = operation_on(ship_then_refresh_then_replan, NULL);
    CHECK(fault_call_everywhere(&operation, change_source) > 30);
}

/* Turns bits of the arena over: each time others. */
static void change_device(void *user)
{
    haul_shipment_info told;
    unsigned char *arena;
    size_t i;
    (void)user;
    haul_shipment_get_info(the.s, &told);
    arena = malloc(told.arena_bytes);
    CHECK(arena != NULL);
    device_read(the.device, arena, told.base, told.arena_bytes);
    for (i = (size_t)(the.plan->events % 5); i < told.arena_bytes; i += 5)
        arena[i] ^= (unsigned char)(1u << i % 8);
    device_write(the.device, told.base, arena, told.arena_bytes);
    free(arena);
}

static haul_status unmarshal_pointers_or_nothing(void *user)
{
    haul_status status = unmarshal_pointers(user);
    CHECK(status == HAUL_OK || status == HAUL_ERROR_GRAPH);
    if (status == HAUL_ERROR_GRAPH)
        check_world_is_untouched();
    return status;
}

TEST(ship_faults, device_results_that_change_meanwhile_are_taken_whole_or_not_at_all_C4_D14)
{
    fault_operation operation = operation_on_shipment(unmarshal_pointers_or_nothing, NULL);
    CHECK(fault_call_everywhere(&operation, change_device) >= 2);
    operation.settings.deferred = 1;
    CHECK(fault_call_everywhere(&operation, change_device) >= 2);
}

/* ---- Devices that are odd, but within the contract; and one that is not. */

static haul_status refuse_stage(void *state, size_t bytes, void **memory)
{
    (void)state;
    (void)bytes;
    (void)memory;
    return HAUL_ERROR_MEMORY;
}

static haul_status lost_at_staging(void *state, size_t bytes, void **memory)
{
    (void)state;
    (void)bytes;
    (void)memory;
    return HAUL_ERROR_DEVICE_LOST;
}

static void never_unstage(void *state, void *memory, size_t bytes)
{
    (void)state;
    (void)memory;
    (void)bytes;
    check_failed(__FILE__, __LINE__, "unstage of memory that was not staged");
}

static haul_status misaligned(void *state, uint64_t bytes, size_t alignment, haul_address *address)
{
    haul_status status = haul_host_device()->allocate(state, bytes, alignment, address);
    *address += status == HAUL_OK ? 8 : 0;
    return status;
}

static int misaligned_releases;

static void release_misaligned(void *state, haul_address address, uint64_t bytes)
{
    misaligned_releases++;
    haul_host_device()->release(state, address - 8, bytes);
}

static unsigned char *shifted;

static haul_status shifted_stage(void *state, size_t bytes, void **memory)
{
    (void)state;
    CHECK_PTR(shifted, NULL);
    shifted = malloc(bytes + 1);
    *memory = shifted + 1;
    return HAUL_OK;
}

static void shifted_unstage(void *state, void *memory, size_t bytes)
{
    (void)state;
    (void)bytes;
    CHECK_PTR(memory, shifted + 1);
    free(shifted);
    shifted = NULL;
}

/* Ships to, changes on and brings back from a device with this table. */
static haul_status there_and_back(const haul_device_table *table, haul_host_counters *counters)
{
    static world w;
    haul_device *device;
    haul_shipment *s;
    haul_shipment_info told;
    haul_status status;
    room *first;
    unsigned char *before;
    world_start(&w, 1 << 14);
    museum_open();
    first = museum_make(&w, 12, 1);
    before = world_picture(&w);
    CHECK_STATUS(test_open(table, NULL, &device), HAUL_OK);
    status = haul_ship(device, first, room_type, 1, NULL, &s);
    if (status == HAUL_OK) {
        CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
        CHECK_STATUS(haul_update_device(s, RANGE(first, sizeof *first), NULL), HAUL_OK);
        CHECK_STATUS(haul_host_launch(device, museum_change, haul_device_pointer(s, first)),
                     HAUL_OK);
        CHECK_STATUS(haul_update_host(s, RANGE(first, 4), NULL), HAUL_OK);
        CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
        world_check_changed_by(&w, before, museum_change, first);
        haul_shipment_get_info(s, &told);
        CHECK_EQ(told.transfers_to, 3);
        CHECK_EQ(told.transfers_from, 3);
        haul_shipment_free(&s);
    } else {
        CHECK_PTR(s, NULL);
        CHECK_BYTES(w.memory, before, w.bytes);
        free(before);
    }
    *counters = counters_of(device);
    CHECK_EQ(counters->bytes_live, 0);
    haul_device_close(&device);
    museum_close();
    world_end(&w);
    return status;
}

TEST(ship_faults, a_device_without_staging_memory_is_served_from_plain_memory_D3)
{
    haul_device_table table = *haul_host_device();
    haul_host_counters counters;
    table.stage = refuse_stage;
    table.unstage = never_unstage;
    CHECK_STATUS(there_and_back(&table, &counters), HAUL_OK);
    CHECK_EQ(counters.copies_to, 3);
}

TEST(ship_faults, a_device_that_is_lost_while_staging_is_not_tried_further_D6)
{
    haul_device_table table = *haul_host_device();
    haul_host_counters counters;
    table.stage = lost_at_staging;
    table.unstage = never_unstage;
    CHECK_STATUS(there_and_back(&table, &counters), HAUL_ERROR_DEVICE_LOST);
    CHECK_EQ(counters.copies_to, 0);
}

static void like_no_small_graphs(void *state, haul_device_capabilities *capabilities, size_t bytes)
{
    haul_host_device()->capabilities(state, capabilities, bytes);
    capabilities->patch_bytes = capabilities->send_bytes = capabilities->fetch_bytes = 0;
}

static haul_status refuse_launch(void *state, const haul_relocation *relocation)
{
    (void)state;
    (void)relocation;
    return HAUL_ERROR_UNSUPPORTED;
}

TEST(ship_faults, a_launch_that_the_device_refuses_is_told_and_nothing_stays_there_D11)
{
    haul_device_table table = *haul_host_device();
    haul_host_counters counters;
    table.capabilities = like_no_small_graphs;
    table.relocate = refuse_launch;
    CHECK_STATUS(there_and_back(&table, &counters), HAUL_ERROR_UNSUPPORTED);
    CHECK_EQ(counters.copies_from, 0);
}

static haul_status refuse_copy(void *state, haul_address to, const void *from, size_t bytes)
{
    (void)state;
    (void)to;
    (void)from;
    (void)bytes;
    return HAUL_ERROR_DEVICE;
}

static const char *no_words(void *state)
{
    (void)state;
    return NULL;
}

TEST(ship_faults, a_device_without_words_for_its_failure_is_told_in_ours)
{
    haul_device_table table = *haul_host_device();
    haul_device *device;
    haul_shipment *s;
    haul_type *type;
    static char bytes[100];
    table.capabilities = like_no_small_graphs;
    table.copy_to = refuse_copy;
    table.message = no_words;
    CHECK_STATUS(haul_type_bytes(type_context(), "bytes", sizeof bytes, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(test_open(&table, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, bytes, type, 1, NULL, &s), HAUL_ERROR_DEVICE);
    CHECK_HAS(haul_context_error(haul_device_context(device))->text, "bytes to the device failed");
    haul_device_close(&device);
    haul_type_free(&type);
}

TEST(ship_faults, staging_memory_that_is_misaligned_is_given_back_H5)
{
    haul_device_table table = *haul_host_device();
    haul_host_counters counters;
    table.stage = shifted_stage;
    table.unstage = shifted_unstage;
    CHECK_STATUS(there_and_back(&table, &counters), HAUL_OK);
    CHECK_PTR(shifted, NULL);
}

TEST(ship_faults, device_memory_that_is_misaligned_is_given_back)
{
    haul_device_table table = *haul_host_device();
    haul_host_counters counters;
    misaligned_releases = 0;
    table.allocate = misaligned;
    table.release = release_misaligned;
    CHECK_STATUS(there_and_back(&table, &counters), HAUL_ERROR_DEVICE);
    CHECK_EQ(misaligned_releases, 1);
    CHECK_EQ(counters.copies_to, 0);
}
