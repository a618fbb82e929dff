/* The phases that a device is told for a profiler: named, paired, and absent if the device has no
 * such verbs.
 */
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/lists.h"
#include "support/open.h"
#include "support/types.h"

static haul_type *node_type;

static char told[256]; /* the names, in their order */
static int depth;

static void begin(void *state, const char *name)
{
    (void)state;
    CHECK(strlen(told) + strlen(name) + 2 < sizeof told);
    strcat(told, name);
    strcat(told, " ");
    depth++;
}

static void end(void *state)
{
    (void)state;
    depth--;
    CHECK(depth >= 0);
}

/* Of a device that gets copies and patches apart. */
static void capabilities(void *state, haul_device_capabilities *result, size_t bytes)
{
    haul_host_device()->capabilities(state, result, bytes);
    result->send_bytes = result->fetch_bytes = 0;
}

static haul_device *open_device(void (*phase_begin)(void *state, const char *name),
                                void (*phase_end)(void *state))
{
    haul_device_table table = *haul_host_device();
    haul_device *device = NULL;
    table.capabilities = capabilities;
    table.phase_begin = phase_begin;
    table.phase_end = phase_end;
    told[0] = 0;
    depth = 0;
    CHECK_STATUS(test_open(&table, NULL, &device), HAUL_OK);
    return device;
}

static void check_told(const char *names)
{
    CHECK_STR(told, names);
    CHECK_EQ(depth, 0);
    told[0] = 0;
}

static haul_shipment *ship_list(haul_device *device, list_node *list)
{
    haul_shipment *shipment = NULL;
    node_type = list_type(NULL);
    CHECK_STATUS(haul_ship(device, list, node_type, 1, NULL, &shipment), HAUL_OK);
    return shipment;
}

static void drop(haul_shipment *shipment, haul_device *device)
{
    haul_shipment_free(&shipment);
    haul_type_free(&node_type);
    haul_device_close(&device);
}

TEST(phases, each_call_tells_what_it_does_in_order)
{
    list_node last = { NULL, 2 }, first = { &last, 1 };
    haul_device *device = open_device(begin, end);
    haul_shipment *shipment = ship_list(device, &first);
    check_told("pack transfer relocate ");
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    check_told("pack transfer ");
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    check_told("transfer scatter ");
    drop(shipment, device);
}

TEST(phases, a_call_that_fails_ends_the_phase_it_was_in)
{
    list_node last = { NULL, 2 }, other = { NULL, 3 }, first = { &last, 1 };
    haul_device *device = open_device(begin, end);
    haul_shipment *shipment = ship_list(device, &first);
    first.next = &other;
    told[0] = 0;
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_ERROR_STALE);
    CHECK(strncmp(told, "pack ", 5) == 0);
    CHECK_EQ(depth, 0);
    drop(shipment, device);
}

TEST(phases, a_device_may_leave_out_either)
{
    list_node first = { NULL, 1 };
    haul_device *device = open_device(begin, NULL);
    drop(ship_list(device, &first), device);
    CHECK_HAS(told, "pack");
    device = open_device(NULL, end);
    depth = 100;
    drop(ship_list(device, &first), device);
    CHECK_STR(told, "");
    CHECK(depth < 100);
}
