/* Budgets of device memory: what exceeds them is refused before anything moves, and the record has
 * the need, the budget and the types with the most bytes.
 *
 * Faults by number (docs/testing.md): D3, H1.
 */
#include <stdio.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/lists.h"
#include "support/types.h"

enum { SAMPLES = 1000, BUDGET = 20000 };

typedef struct trace {
    double *samples;
    int64_t count;
    list_node *notes;
} trace;

static haul_type *note_type, *trace_type;
static const haul_field trace_fields[] = {
    HAUL_ARRAY(trace, samples, HAUL_COUNT(trace, count)),
    HAUL_OBJECT(trace, notes, &note_type),
};

static haul_context *context;
static haul_device *device;
static trace one;
static double samples[SAMPLES];
static list_node notes[20];

static haul_device *open_with(size_t budget)
{
    haul_host_options options = { .budget_bytes = budget };
    haul_device *opened;
    CHECK_STATUS(haul_host_open(context, &options, &opened), HAUL_OK);
    return opened;
}

static void start(size_t budget)
{
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    device = open_with(budget);
    note_type = list_type(NULL);
    trace_type = TYPE_NEW(trace, trace_fields);
    CHECK_STATUS(haul_type_commit(trace_type), HAUL_OK);
    list_link(notes, 20);
    one.samples = samples;
    one.count = SAMPLES;
    one.notes = notes;
}

static void end(void)
{
    haul_type_free(&trace_type);
    haul_type_free(&note_type);
    haul_device_close(&device);
    haul_context_free(&context);
}

static const char *text(void)
{
    return haul_context_error(context)->text;
}

static haul_host_counters counters(haul_device *of)
{
    haul_host_counters now;
    CHECK_STATUS(haul_host_get_counters(of, &now), HAUL_OK);
    return now;
}

static haul_status ship(size_t budget, haul_shipment **shipment)
{
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.budget_bytes = budget;
    return haul_ship(device, &one, trace_type, 1, &options, shipment);
}

static void check_refusal(haul_shipment *shipment, const char *budget)
{
    char types[128];
    snprintf(types, sizeof types, "the most bytes have (data) (%zu), list_node (%zu), trace (%zu)",
             sizeof samples, sizeof notes, sizeof one);
    CHECK_PTR(shipment, NULL);
    CHECK_HAS(text(), "bytes of device memory are needed");
    CHECK_HAS(text(), budget);
    CHECK_HAS(text(), types);
    CHECK_EQ(counters(device).allocations, 0);
    CHECK_EQ(counters(device).bytes_to, 0);
}

TEST(budget, of_a_shipment_refuses_a_larger_graph_before_anything_moves)
{
    haul_shipment *shipment;
    haul_shipment_info info;
    size_t need;
    start(0);
    CHECK_STATUS(ship(8000, &shipment), HAUL_ERROR_DEVICE_MEMORY);
    check_refusal(shipment, "the shipment's budget has 8000");
    CHECK_STATUS(ship(0, &shipment), HAUL_OK);
    need = (size_t)counters(device).bytes_live;
    haul_shipment_free(&shipment);
    CHECK_STATUS(ship(need - 1, &shipment), HAUL_ERROR_DEVICE_MEMORY);
    CHECK_STATUS(ship(need, &shipment), HAUL_OK);
    CHECK_STATUS(haul_reship(shipment, NULL), HAUL_OK);
    haul_shipment_get_info(shipment, &info);
    CHECK(info.base != 0);
    haul_shipment_free(&shipment);
    end();
}

TEST(budget, of_a_device_counts_all_that_it_holds)
{
    haul_shipment *first, *second, *third;
    char left[64];
    start(BUDGET);
    CHECK_STATUS(ship(0, &first), HAUL_OK);
    CHECK_STATUS(ship(0, &second), HAUL_OK);
    snprintf(left, sizeof left, "%d of the device's budget of %d",
             BUDGET - (int)counters(device).bytes_live, BUDGET);
    CHECK_STATUS(ship(0, &third), HAUL_ERROR_DEVICE_MEMORY);
    CHECK_PTR(third, NULL);
    CHECK_HAS(text(), left);
    CHECK_STATUS(haul_reship(second, NULL), HAUL_ERROR_DEVICE_MEMORY);
    CHECK_STATUS(haul_update_device(second, NULL, NULL), HAUL_OK);
    haul_shipment_free(&first);
    CHECK_STATUS(haul_reship(second, NULL), HAUL_OK);
    CHECK_STATUS(ship(0, &first), HAUL_OK);
    haul_shipment_free(&first);
    haul_shipment_free(&second);
    CHECK_EQ(counters(device).bytes_live, 0);
    end();
    start(1);
    CHECK_STATUS(ship(0, &first), HAUL_ERROR_DEVICE_MEMORY);
    check_refusal(first, "1 of the device's budget of 1 are left");
    end();
}

TEST(budget, holds_for_a_copy_to_another_device)
{
    haul_shipment *shipment, *copy;
    haul_device *small;
    start(0);
    small = open_with(8000);
    CHECK_STATUS(ship(0, &shipment), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(shipment, small, &copy), HAUL_ERROR_DEVICE_MEMORY);
    CHECK_PTR(copy, NULL);
    CHECK_HAS(text(), "(data) (8000)");
    CHECK_EQ(counters(small).allocations, 0);
    haul_device_close(&small);
    haul_shipment_free(&shipment);
    end();
}

/* An arena has no types that an error could name. One that may not be mirrored is pinned. */
TEST(budget, holds_for_arenas_and_their_mirrors)
{
    haul_arena_options options;
    haul_arena *arena, *mirrored;
    haul_arena_info info;
    haul_shipment *shipment;
    start(100000);
    memset(&options, 0, sizeof options);
    options.device = device;
    options.mirrored = 1;
    options.reserve_bytes = 50000;
    CHECK_STATUS(haul_arena_create(context, &options, &mirrored), HAUL_OK);
    haul_arena_get_info(mirrored, &info);
    CHECK_EQ(info.mirrored, 1);
    CHECK_STATUS(haul_arena_create(context, &options, &arena), HAUL_OK);
    haul_arena_get_info(arena, &info);
    CHECK_EQ(info.mirrored, 0);
    CHECK(haul_arena_bytes(arena, 49000, 0) != NULL);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment),
                 HAUL_ERROR_DEVICE_MEMORY);
    CHECK_HAS(text(), "of the device's budget of 100000 are left");
    haul_arena_free(&mirrored);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    end();
}

/* Without memory for the types the record has the rest. */
TEST(budget, refusal_needs_no_memory_H1)
{
    fault_plan plan;
    uint64_t at = 0, refusals = 0;
    memset(&plan, 0, sizeof plan);
    start(0);
    haul_device_close(&device);
    CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
    do {
        haul_shipment *shipment;
        haul_status status;
        fault_arm(&plan, FAULT_ONCE, ++at);
        status = ship(8000, &shipment);
        CHECK(status == HAUL_ERROR_MEMORY || status == HAUL_ERROR_DEVICE_MEMORY);
        CHECK_PTR(shipment, NULL);
        if (status == HAUL_ERROR_DEVICE_MEMORY) {
            CHECK_HAS(haul_context_error(haul_device_context(device))->text, "budget has 8000");
            refusals++;
        }
    } while (plan.events >= at);
    CHECK(refusals > 2);
    fault_disarm(&plan);
    haul_device_close(&device);
    fault_check_clean(&plan);
    end();
}
