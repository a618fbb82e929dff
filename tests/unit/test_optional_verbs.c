/* Devices that lack optional verbs: what the library does without each of them.
 */
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/lists.h"
#include "support/open.h"
#include "support/types.h"
#include "haul/experimental.h"

enum { LINKS = 100 };

static haul_type *link_type;
static list_node links[LINKS];
static haul_device *device, *other;
static haul_host_counters counted;

static void start(const haul_device_table *table)
{
    test_device beside;
    int i;
    list_link(links, LINKS);
    for (i = 0; i < LINKS; i++)
        links[i].value = i;
    link_type = list_type(NULL);
    CHECK_STATUS(test_open(table, NULL, &device), HAUL_OK);
    memset(&beside, 0, sizeof beside);
    beside.context = haul_device_context(device);
    CHECK_STATUS(test_open(table, &beside, &other), HAUL_OK);
}

static void end(void)
{
    CHECK_STATUS(haul_host_get_counters(device, &counted), HAUL_OK);
    haul_device_close(&device);
    haul_device_close(&other);
    haul_type_free(&link_type);
}

static void run_and_return(haul_device *on, haul_shipment *s, const list_node *first)
{
    const int64_t before = first->value;
    const list_node *at;
    int64_t more = 0;
    CHECK_STATUS(haul_host_launch(on, list_add_one, haul_device_pointer(s, first)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    for (at = first; at; at = at->next, more++)
        CHECK_EQ(at->value, before + more + 1);
    CHECK_EQ(more, LINKS);
}

/* A graph goes, comes back, goes again. */
static void ship_a_graph(const haul_ship_options *options)
{
    haul_shipment *s;
    CHECK_STATUS(haul_ship(device, links, link_type, 1, options, &s), HAUL_OK);
    run_and_return(device, s, links);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    run_and_return(device, s, links);
    haul_shipment_free(&s);
}

static list_node *links_in(haul_arena *arena)
{
    list_node *first = NULL;
    int i;
    for (i = LINKS - 1; i >= 0; i--) {
        list_node *one = haul_arena_new(arena, link_type, 1);
        CHECK(one != NULL);
        one->next = first;
        one->value = i;
        first = one;
    }
    return first;
}

static void ship_an_arena(const haul_arena_options *options, int is_direct, int is_mirrored)
{
    haul_arena_info statistics;
    haul_arena *arena;
    haul_shipment *s;
    list_node *first;
    CHECK_STATUS(test_arena(device, options, &arena), HAUL_OK);
    haul_arena_get_info(arena, &statistics);
    CHECK_EQ(statistics.mirrored, is_mirrored);
    first = links_in(arena);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &s), HAUL_OK);
    if (is_direct)
        CHECK_STATUS(haul_return_directly(s), HAUL_OK);
    run_and_return(device, s, first);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    run_and_return(device, s, first);
    haul_shipment_free(&s);
    haul_arena_free(&arena);
}

static void ship_all_ways(void)
{
    haul_ship_options locked;
    haul_arena_options pinned;
    memset(&locked, 0, sizeof locked);
    memset(&pinned, 0, sizeof pinned);
    locked.lock_source = 1;
    pinned.pinned = 1;
    ship_a_graph(NULL);
    ship_a_graph(&locked);
    ship_an_arena(NULL, 0, 0);
    ship_an_arena(&pinned, 0, 0);
    ship_an_arena(&pinned, 1, 0);
}

TEST(optional_verbs, without_send_a_small_graph_takes_two_orders)
{
    haul_device_table table = *haul_host_device();
    table.send = NULL;
    start(&table);
    ship_all_ways();
    end();
}

TEST(optional_verbs, without_fetch_a_small_arena_takes_more_orders)
{
    haul_device_table table = *haul_host_device();
    table.fetch = NULL;
    start(&table);
    ship_all_ways();
    end();
}

static void cut_behind_second(void *first) /* a kernel on a ring of two */
{
    list_node *node = first;
    node->next->next = NULL;
}

TEST(optional_verbs, without_strips_pointers_of_present_objects_are_written_one_by_one)
{
    haul_device_table table = *haul_host_device();
    haul_environment *e;
    void *there;
    table.gather_strips = NULL;
    table.scatter_strips = NULL;
    start(&table);
    links[0].next = NULL;
    CHECK_STATUS(haul_environment_create(device, &e), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(e, links, link_type, 1, NULL, NULL), HAUL_OK);
    links[0].next = &links[1];
    links[1].next = &links[0];
    CHECK_STATUS(haul_environment_enter(e, &links[1], link_type, 1, NULL, NULL), HAUL_OK);
    there = haul_environment_device_pointer(e, links);
    CHECK_STATUS(haul_host_launch(device, cut_behind_second, there), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, list_add_one, there), HAUL_OK);
    CHECK_STATUS(haul_environment_update_host(e, &links[1], 0, NULL), HAUL_OK);
    CHECK_EQ(links[1].value, 2);
    haul_environment_free(&e);
    end();
}

TEST(optional_verbs, without_across_a_shipment_is_not_copied)
{
    haul_device_table table = *haul_host_device();
    haul_shipment *s, *copy;
    table.across = NULL;
    start(&table);
    ship_all_ways();
    CHECK_STATUS(haul_ship(device, links, link_type, 1, NULL, &s), HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(s, other, &copy), HAUL_ERROR_UNSUPPORTED);
    CHECK_PTR(copy, NULL);
    CHECK_HAS(haul_context_error(haul_device_context(device))->text, "no copies from a device");
    run_and_return(device, s, links);
    haul_shipment_free(&s);
    end();
}

TEST(optional_verbs, without_signal_a_call_with_an_event_is_refused_and_others_are_not)
{
    haul_device_table table = *haul_host_device();
    int told = 0;
    haul_async with_event, without;
    haul_shipment *s;
    with_event.stream = without.stream = without.event = NULL;
    with_event.event = &told;
    table.signal = NULL;
    start(&table);
    ship_all_ways();
    CHECK_STATUS(haul_ship_from(device, haul_from_object(links, link_type), NULL, &with_event, &s),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_PTR(s, NULL);
    CHECK_HAS(haul_context_error(haul_device_context(device))->text, "signals no events");
    CHECK_STATUS(haul_ship_from(device, haul_from_object(links, link_type), NULL, &without, &s),
                 HAUL_OK);
    CHECK_STATUS(haul_update_device(s, NULL, &with_event), HAUL_ERROR_UNSUPPORTED);
    CHECK_STATUS(haul_update_device(s, NULL, &without), HAUL_OK);
    CHECK_STATUS(haul_wait(s), HAUL_OK);
    run_and_return(device, s, links);
    CHECK_EQ(told, 0);
    haul_shipment_free(&s);
    end();
}

TEST(optional_verbs, without_lock_the_host_packs_and_the_statistics_say_so)
{
    haul_device_table table = *haul_host_device();
    haul_ship_options locked;
    haul_shipment_info statistics;
    haul_shipment *s;
    memset(&locked, 0, sizeof locked);
    locked.lock_source = 1;
    table.lock = NULL;
    table.unlock = NULL;
    table.pull = table.push = NULL;
    start(&table);
    ship_all_ways();
    CHECK_STATUS(haul_ship(device, links, link_type, 1, &locked, &s), HAUL_OK);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    haul_shipment_get_info(s, &statistics);
    CHECK(statistics.packs_because != NULL);
    CHECK_EQ(statistics.pulls, 0);
    haul_shipment_free(&s);
    end();
    CHECK_EQ(counted.bytes_locked, 0);
}

TEST(optional_verbs, without_mirror_such_an_arena_is_pinned)
{
    haul_device_table table = *haul_host_device();
    haul_arena_options mirrored;
    memset(&mirrored, 0, sizeof mirrored);
    mirrored.mirrored = 1;
    mirrored.reserve_bytes = (size_t)1 << 20;
    table.mirror = NULL;
    table.unmirror = NULL;
    start(&table);
    ship_all_ways();
    ship_an_arena(&mirrored, 0, 0);
    end();
}

static int begun;

static void begin(void *state, const char *name)
{
    (void)state, (void)name;
    begun++;
}

TEST(optional_verbs, either_phase_may_be_missing)
{
    haul_device_table table = *haul_host_device();
    start(&table); /* the host device has none */
    ship_all_ways();
    end();
    table.phase_begin = begin;
    start(&table);
    ship_all_ways();
    end();
    CHECK(begun > 0);
}

static haul_status never_open(const void *settings, const haul_allocator *allocator, void **state)
{
    (void)settings, (void)allocator, (void)state;
    return HAUL_ERROR_UNSUPPORTED;
}

static void explain(const void *settings, haul_status status, char *text, size_t bytes)
{
    CHECK_STATUS(status, HAUL_ERROR_UNSUPPORTED);
    CHECK(settings != NULL && bytes > 8);
    memcpy(text, "because", 8);
}

TEST(optional_verbs, a_device_that_does_not_open_may_say_why)
{
    haul_device_table table = *haul_host_device();
    haul_context *context;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    table.open = never_open;
    table.refusal = NULL;
    CHECK_STATUS(haul_device_open(context, &table, NULL, &device), HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(haul_context_error(context)->text, "the device \"host\" could not be opened");
    table.refusal = explain;
    CHECK_STATUS(haul_device_open(context, &table, NULL, &device), HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(haul_context_error(context)->text,
              "the device \"host\" could not be opened: because");
    haul_context_free(&context);
}

TEST(optional_verbs, without_any_of_them_graphs_and_arenas_go_and_come_back)
{
    haul_device_table table;
    memset(&table, 0, sizeof table);
    memcpy(&table, haul_host_device(), offsetof(haul_device_table, send));
    start(&table);
    ship_all_ways();
    end();
}

TEST(optional_verbs, with_all_of_them_one_arena_is_mirrored)
{
    haul_arena_options mirrored;
    memset(&mirrored, 0, sizeof mirrored);
    mirrored.mirrored = 1;
    mirrored.reserve_bytes = (size_t)1 << 20;
    start(haul_host_device());
    ship_all_ways();
    ship_an_arena(&mirrored, 0, 1);
    end();
}
