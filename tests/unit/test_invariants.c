/* Each invariant, broken by hand, is named; once repaired, it is not. Only builds with HAUL_CHECKS
 * have these checks.
 */
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "layout/layout_check.h"
#include "pack/plan_struct.h"
#include "ship/shipment_check.h"
#include "support/check.h"
#include "support/open.h"
#include "support/types.h"
#include "haul/experimental.h"

#ifdef HAUL_CHECKS

typedef struct node {
    struct node *next, *other;
    double value;
    char name[9];
} node;

enum { NODES = 5000 };

static haul_type *node_type;

static void open_type(void)
{
    static const haul_field fields[] = { HAUL_OBJECT(node, next, &node_type),
                                         HAUL_OBJECT(node, other, &node_type) };
    CHECK_STATUS(type_make("node", sizeof(node), fields, 2, &node_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
}

static const char *fault_of(const haul_plan *plan)
{
    haul_context *context = plan->context;
    return haul__layout_check(context, &plan->found, &plan->placed) == HAUL_OK
               ? NULL
               : haul_context_error(context)->text;
}

/* Adds to a number of 64 bits or fewer, looks, and takes it back. */
#define BREAK(number, by, fault, words)                                                            \
    do {                                                                                           \
        (number) += (by);                                                                          \
        CHECK_HAS(fault, words);                                                                   \
        (number) -= (by);                                                                          \
        CHECK_STR(fault, NULL);                                                                    \
    } while (0)

TEST(invariants, of_a_layout_are_named_when_they_break)
{
    node *nodes = calloc(NODES, sizeof *nodes);
    haul_context *context;
    haul_plan *plan;
    haul_root root;
    size_t i, middle;
    CHECK(nodes != NULL);
    open_type();
    for (i = 0; i + 1 < NODES; i++)
        nodes[i].next = &nodes[i + 1];
    memset(&root, 0, sizeof root);
    root.address = nodes;
    root.type = node_type;
    root.count = 1;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    CHECK_STR(fault_of(plan), NULL);
    middle = plan->found.map.block_count / 2;
    haul__block *block = haul__map_block(&plan->found.map, middle);
    BREAK(block->cells[HAUL__CELLS / 2].aux, 1u, fault_of(plan), "a rank is not the number");
    BREAK(block->form, 2u, fault_of(plan), "another form");
    BREAK(plan->found.map.numbers[middle], UINT32_MAX / 2, fault_of(plan), "order of address");
    BREAK(plan->placed.slots, 1u, fault_of(plan), "another number of slots");
    BREAK(plan->placed.granules, (uint64_t)0 - NODES, fault_of(plan), "more granules");
    haul_plan_free(&plan);
    haul_context_free(&context);
    haul_type_free(&node_type);
    free(nodes);
}

static const char *fault_in(const haul_shipment *shipment)
{
    return haul__shipment_check(shipment) == HAUL_OK
               ? NULL
               : haul_context_error(shipment->device->context)->text;
}

TEST(invariants, of_an_arena_and_its_shipment_are_named_when_they_break)
{
    haul_device *device;
    haul_arena *arena;
    haul_shipment *shipment;
    node *n;
    open_type();
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_arena_create(haul_device_context(device), NULL, &arena), HAUL_OK);
    n = haul_arena_new(arena, node_type, 3);
    CHECK(n != NULL && haul_arena_new_nursery(arena, 4096) != NULL);
    n[0].next = &n[2];
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    CHECK_STR(fault_in(shipment), NULL);
    BREAK(arena->nurseries[0].used, 5000u, fault_in(shipment), "more of a nursery is used");
    BREAK(arena->nurseries[0].memory, (size_t)1 << 20, fault_in(shipment), "outside of its arena");
    BREAK(shipment->contents.bytes, arena->capacity, fault_in(shipment), "outside of their arena");
    BREAK(shipment->contents.staying[0].at, arena->capacity, fault_in(shipment),
          "outside of the contents");
    BREAK(shipment->range.arena_bytes, (size_t)1 << 20, fault_in(shipment), "over its arena");
    BREAK(shipment->range.listed, (size_t)1 << 30, fault_in(shipment), "longer than its room");
    arena->nurseries[0].used += 5000;
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_ERROR_STATE);
    CHECK_HAS(haul_context_error(haul_device_context(device))->text, "broken invariant");
    arena->nurseries[0].used -= 5000;
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    haul_device_close(&device);
    haul_type_free(&node_type);
}

#endif
