/* The extents of a shipment: what lies side by side in both memories, found without a walk.
 *
 * Random graphs compare them with the reference (tests/random/shipping.c).
 */
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/open.h"
#include "support/types.h"

typedef struct node {
    struct node *next;
    double *xs;
    char cache[40]; /* skipped */
    int64_t count;
} node;

static haul_type *node_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, next, &node_type),
    HAUL_ARRAY(node, xs, HAUL_COUNT(node, count)),
    HAUL_SKIP(node, cache),
};

static haul_context *context;
static haul_device *device;
static haul_shipment *shipment;

/* In this order in memory: 3 numbers beside the nodes, 8 bytes of somebody else, 5 numbers. */
static struct {
    node first, second;
    double three[3], foreign, five[5];
} heap;

static void start(void)
{
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    node_type = TYPE_NEW(node, node_fields);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
    memset(&heap, 0, sizeof heap);
    heap.second.next = &heap.first;
    heap.second.xs = heap.three;
    heap.second.count = 3;
    heap.first.xs = heap.five;
    heap.first.count = 5;
}

static void end(void)
{
    haul_shipment_free(&shipment);
    haul_type_free(&node_type);
    haul_device_close(&device);
    haul_context_free(&context);
}

typedef struct list {
    haul_shipped_range at[8];
    size_t count, allowed;
} list;

static int note(void *user, const haul_shipped_range *extent)
{
    list *l = user;
    haul_plan *plan = NULL;
    if (l->count == l->allowed)
        return 1;
    CHECK(l->count < sizeof l->at / sizeof *l->at);
    l->at[l->count++] = *extent;
    CHECK_PTR(haul_device_pointer(shipment, extent->host), extent->device);
    CHECK_STATUS(haul_plan_create(context, haul_from_object(&heap.first, node_type), NULL, &plan),
                 HAUL_ERROR_BUSY);
    return 0;
}

static list extents_of_it(void)
{
    list all;
    memset(&all, 0, sizeof all);
    all.allowed = SIZE_MAX;
    CHECK_STATUS(haul_shipment_extents(shipment, note, &all), HAUL_OK);
    return all;
}

static void check_extent(const haul_shipped_range *extent, const void *host, size_t bytes)
{
    CHECK_PTR(extent->host, host);
    CHECK_EQ(extent->bytes, bytes);
    CHECK_EQ(extent->count, bytes);
    CHECK(!extent->type);
}

TEST(extents, join_objects_and_their_skipped_fields_and_end_at_bytes_of_others)
{
    list all;
    start();
    CHECK_STATUS(haul_ship(device, &heap.second, node_type, 1, NULL, &shipment), HAUL_OK);
    all = extents_of_it();
    CHECK_EQ(all.count, 2);
    check_extent(&all.at[0], &heap, 2 * sizeof(node) + sizeof heap.three);
    check_extent(&all.at[1], heap.five, sizeof heap.five);
    end();
}

TEST(extents, do_not_read_the_graph)
{
    list all;
    start();
    CHECK_STATUS(haul_ship(device, &heap.second, node_type, 1, NULL, &shipment), HAUL_OK);
    memset(&heap, 0xff, sizeof heap);
    all = extents_of_it();
    CHECK_EQ(all.count, 2);
    check_extent(&all.at[1], heap.five, sizeof heap.five);
    end();
}

/* Breadth first, the second node comes first, then the first and three, then five. */
TEST(extents, of_an_ordered_shipment_end_where_the_order_differs)
{
    const haul_ship_options options = { .ordered = 1 };
    list all;
    start();
    CHECK_STATUS(haul_ship_from(device, haul_from_object(&heap.second, node_type), &options, NULL,
                                &shipment),
                 HAUL_OK);
    all = extents_of_it();
    CHECK_EQ(all.count, 4);
    check_extent(&all.at[0], &heap.first, sizeof(node));
    check_extent(&all.at[1], &heap.second, sizeof(node));
    check_extent(&all.at[2], heap.three, sizeof heap.three);
    check_extent(&all.at[3], heap.five, sizeof heap.five);
    end();
}

TEST(extents, of_an_arena_are_one)
{
    haul_arena *arena;
    node *first;
    list all;
    start();
    CHECK_STATUS(haul_arena_create(context, NULL, &arena), HAUL_OK);
    first = haul_arena_new(arena, node_type, 2);
    CHECK(first != NULL);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena_root(arena, first, node_type), NULL, NULL,
                                &shipment),
                 HAUL_OK);
    all = extents_of_it();
    CHECK_EQ(all.count, 1);
    CHECK((char *)all.at[0].host <= (char *)first && all.at[0].bytes >= 2 * sizeof *first);
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    end();
}

TEST(extents, of_large_arrays_are_whole)
{
    static double room[300002], *const large = room + 1;
    list all;
    start();
    heap.first.xs = large;
    heap.first.count = 300000;
    CHECK_STATUS(haul_ship(device, &heap.first, node_type, 1, NULL, &shipment), HAUL_OK);
    all = extents_of_it();
    CHECK_EQ(all.count, 2);
    check_extent(&all.at[(uintptr_t)large > (uintptr_t)&heap], large, 300000 * sizeof *large);
    end();
}

TEST(extents, end_where_the_visitor_says)
{
    list some;
    start();
    CHECK_STATUS(haul_ship(device, &heap.second, node_type, 1, NULL, &shipment), HAUL_OK);
    memset(&some, 0, sizeof some);
    some.allowed = 1;
    CHECK_STATUS(haul_shipment_extents(shipment, note, &some), HAUL_ERROR_CANCELLED);
    CHECK_EQ(some.count, 1);
    CHECK_HAS(haul_context_error(context)->text, "visitor");
    CHECK_HAS(haul_context_error(context)->text, "40 bytes at 0x"); /* five */
    CHECK_STATUS(haul_shipment_extents(shipment, NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "the visitor is NULL");
    haul_shipment_free(&shipment);
    CHECK_STATUS(haul_shipment_extents(shipment, note, &some), HAUL_ERROR_ARGUMENT);
    end();
}
