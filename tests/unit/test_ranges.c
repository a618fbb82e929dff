/* The walk over a shipment's ranges: each byte that travels lies in one, at the address that
 * look-ups give it, in the order of host addresses.
 *
 * Faults by number (docs/testing.md): H1, H2.
 */
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/types.h"

typedef struct node {
    struct node *next;
    char *name;
    struct node **kids;
    double *xs;
    int64_t count;
    struct node *pair[2];
} node;

static haul_type *node_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, next, &node_type),
    HAUL_STRING(node, name),
    HAUL_POINTERS(node, kids, &node_type, HAUL_COUNT(node, count)),
    HAUL_ARRAY(node, xs, HAUL_COUNT(node, count)),
    HAUL_EACH(node, pair, .target = &node_type),
};

static haul_context *context;
static haul_device *device;
static haul_shipment *shipment;

/* In this order in memory. */
static struct {
    node first, second;
    node *kids[2];
    double xs[2];
    char name[8];
} heap;

static void start(void)
{
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    node_type = TYPE_NEW(node, node_fields);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
    memset(&heap, 0, sizeof heap);
    heap.second.next = &heap.first;
    heap.first.next = &heap.second;
    heap.second.count = 2;
    heap.second.kids = heap.kids;
    heap.second.xs = heap.xs;
    heap.second.name = heap.name;
    heap.kids[1] = &heap.first;
    memcpy(heap.name, "name", 5);
}

static void end(void)
{
    haul_shipment_free(&shipment);
    haul_type_free(&node_type);
    haul_device_close(&device);
    haul_context_free(&context);
}

/* ---- What the walk gives. */

typedef struct list {
    haul_shipped_range at[16];
    size_t count, allowed;
    haul_status answered;
} list;

static int note(void *user, const haul_shipped_range *range)
{
    list *l = user;
    size_t offset;
    haul_plan *plan = NULL;
    if (l->count == l->allowed)
        return 1;
    CHECK(l->count < sizeof l->at / sizeof *l->at);
    l->at[l->count++] = *range;
    for (offset = 0; offset < range->bytes; offset++)
        CHECK_PTR(haul_device_pointer(shipment, (char *)range->host + offset),
                  (char *)range->device + offset);
    l->answered = haul_plan_create(context, haul_from_object(&heap.second, node_type), NULL, &plan);
    CHECK_STATUS(haul_shipment_ranges(shipment, note, user), HAUL_ERROR_BUSY);
    return 0;
}

static list ranges_of_it(void)
{
    list all;
    memset(&all, 0, sizeof all);
    all.allowed = SIZE_MAX;
    CHECK_STATUS(haul_shipment_ranges(shipment, note, &all), HAUL_OK);
    CHECK_STATUS(all.answered, HAUL_ERROR_BUSY);
    return all;
}

static void check_range(const haul_shipped_range *range, const void *host, size_t bytes,
                        size_t count, const haul_type *type)
{
    CHECK_PTR(range->host, host);
    CHECK_EQ(range->bytes, bytes);
    CHECK_EQ(range->count, count);
    CHECK_PTR(range->type, type);
}

static void check_heap(void)
{
    list all = ranges_of_it();
    CHECK_EQ(all.count, 5);
    check_range(&all.at[0], &heap.first, sizeof(node), 1, node_type);
    check_range(&all.at[1], &heap.second, sizeof(node), 1, node_type);
    check_range(&all.at[2], heap.kids, sizeof heap.kids, 2, NULL);
    check_range(&all.at[3], heap.xs, sizeof heap.xs, 2, NULL);
    check_range(&all.at[4], heap.name, 5, 5, NULL);
}

TEST(ranges, of_a_plan_are_its_objects_and_arrays_by_address)
{
    haul_plan *plan;
    int ordered;
    start();
    CHECK_STATUS(haul_ship(device, &heap.second, node_type, 1, NULL, &shipment), HAUL_OK);
    check_heap();
    haul_shipment_free(&shipment);
    for (ordered = 0; ordered < 2; ordered++) {
        haul_plan_options options = { ordered, 0 };
        CHECK_STATUS(
            haul_plan_create(context, haul_from_object(&heap.second, node_type), &options, &plan),
            HAUL_OK);
        CHECK_STATUS(haul_ship_from(device, haul_from_plan(plan), NULL, NULL, &shipment), HAUL_OK);
        check_heap();
        haul_plan_free(&plan);
        haul_shipment_free(&shipment);
    }
    end();
}

TEST(ranges, of_an_arena_are_those_of_its_root_or_one)
{
    haul_arena *arena;
    node *first;
    list all;
    start();
    CHECK_STATUS(haul_arena_create(context, NULL, &arena), HAUL_OK);
    first = haul_arena_new(arena, node_type, 2);
    CHECK(first != NULL && haul_arena_bytes(arena, 100, 0) != NULL);
    first[0].next = &first[1];
    CHECK_STATUS(haul_ship_from(device, haul_from_arena_root(arena, first, node_type), NULL, NULL,
                                &shipment),
                 HAUL_OK);
    all = ranges_of_it();
    CHECK_EQ(all.count, 2);
    check_range(&all.at[0], first, sizeof(node), 1, node_type);
    check_range(&all.at[1], first + 1, sizeof(node), 1, node_type);
    haul_shipment_free(&shipment);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    all = ranges_of_it();
    CHECK_EQ(all.count, 1);
    CHECK((char *)all.at[0].host <= (char *)first && all.at[0].bytes >= 2 * sizeof *first + 100);
    CHECK(!all.at[0].type && all.at[0].count == all.at[0].bytes);
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    end();
}

/* A type whose bytes begin behind its address, and elements that are pointers with a rule each. */
TEST(ranges, begin_where_their_bytes_begin)
{
    haul_type *behind = NULL, *each_type = NULL;
    const size_t one = 1, at = 2 * sizeof(void *);
    const haul_field each_fields[] = { HAUL_ADDRESS(
        node, kids, .levels = 2, .count = HAUL_COUNT(node, count), .target = &node_type,
        .each_pointer = HAUL_MEMBERS(.integers_below = 2)) };
    list all;
    start();
    CHECK_STATUS(haul_type_create_struct(1, &one, &at, &node_type, &behind), HAUL_OK);
    CHECK_STATUS(haul_type_commit(behind), HAUL_OK);
    CHECK_STATUS(haul_ship(device, (char *)&heap.second - at, behind, 1, NULL, &shipment), HAUL_OK);
    all = ranges_of_it();
    CHECK_EQ(all.count, 5);
    check_range(&all.at[1], &heap.second, sizeof(node), 1, behind);
    haul_shipment_free(&shipment);
    haul_type_free(&behind);
    heap.first.next = NULL; /* the second node is of another type now */
    each_type = TYPE_NEW(node, each_fields);
    CHECK_STATUS(haul_type_commit(each_type), HAUL_OK);
    CHECK_STATUS(haul_ship(device, &heap.second, each_type, 1, NULL, &shipment), HAUL_OK);
    all = ranges_of_it();
    CHECK_EQ(all.count, 3);
    check_range(&all.at[0], &heap.first, sizeof(node), 1, node_type);
    check_range(&all.at[1], &heap.second, sizeof(node), 1, each_type);
    check_range(&all.at[2], heap.kids, sizeof heap.kids, 2, NULL);
    haul_type_free(&each_type);
    end();
}

/* ---- What ends it. */

TEST(ranges, end_where_the_visitor_says_and_where_the_graph_has_changed)
{
    list some;
    static node other;
    start();
    CHECK_STATUS(haul_ship(device, &heap.second, node_type, 1, NULL, &shipment), HAUL_OK);
    memset(&some, 0, sizeof some);
    some.allowed = 2;
    CHECK_STATUS(haul_shipment_ranges(shipment, note, &some), HAUL_ERROR_CANCELLED);
    CHECK_EQ(some.count, 2);
    CHECK_HAS(haul_context_error(context)->text, "visitor");
    heap.first.pair[1] = &other;
    some.allowed = SIZE_MAX;
    CHECK_STATUS(haul_shipment_ranges(shipment, note, &some), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(context)->text, "leads out of the shipment");
    heap.first.pair[1] = NULL;
    CHECK_STATUS(haul_shipment_ranges(shipment, NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "visitor");
    haul_shipment_free(&shipment);
    CHECK_STATUS(haul_shipment_ranges(shipment, note, &some), HAUL_ERROR_ARGUMENT);
    end();
}
