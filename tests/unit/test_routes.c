/* Routes: the choice of a route as a table of facts, and the shipment's report of it; options that
 * a source has no use for; arenas that are shipped and reshipped asynchronously.
 */
#include <string.h>

#include "haul.h"
#include "ship/route.h"
#include "support/check.h"
#include "support/types.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "haul/experimental.h"

static const struct {
    haul__journey journey;
    haul_route route;
} table[] = {
    { { .fits = 1 }, HAUL_ROUTE_WHOLE },
    { { .fits = 0 }, HAUL_ROUTE_PIECES },
    { { .is_ordered = 1, .fits = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_ordered = 1 }, HAUL_ROUTE_PIECES },
    { { .is_async = 1, .fits = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_async = 1 }, HAUL_ROUTE_PIECES },
    { { .is_locked = 1 }, HAUL_ROUTE_LOCKED },
    { { .is_locked = 1, .fits = 1 }, HAUL_ROUTE_LOCKED },
    { { .is_locked = 1, .is_async = 1, .fits = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_arena = 1 }, HAUL_ROUTE_ARENA },
    { { .is_arena = 1, .is_async = 1, .fits = 1 }, HAUL_ROUTE_ARENA },
    { { .is_arena = 1, .is_edited = 1, .fits = 1 }, HAUL_ROUTE_PIECES },
    { { .is_back = 1, .fits = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_back = 1 }, HAUL_ROUTE_PIECES },
    { { .is_back = 1, .is_ordered = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_back = 1, .is_async = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_back = 1, .with_pointers = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_back = 1, .all_or_nothing = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_back = 1, .is_locked = 1, .fits = 1 }, HAUL_ROUTE_LOCKED },
    { { .is_back = 1, .is_locked = 1, .is_async = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_back = 1, .is_locked = 1, .with_pointers = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_back = 1, .is_locked = 1, .all_or_nothing = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_back = 1, .is_arena = 1, .fits = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_back = 1, .is_arena = 1 }, HAUL_ROUTE_PIECES },
    { { .is_back = 1, .is_arena = 1, .is_direct = 1, .fits = 1 }, HAUL_ROUTE_ARENA },
    { { .is_back = 1, .is_arena = 1, .is_direct = 1, .is_async = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_back = 1, .is_arena = 1, .is_direct = 1, .with_pointers = 1 }, HAUL_ROUTE_WHOLE },
    { { .is_back = 1, .is_arena = 1, .is_direct = 1, .all_or_nothing = 1 }, HAUL_ROUTE_WHOLE },
};

TEST(routes, follow_from_the_facts)
{
    size_t i;
    for (i = 0; i < sizeof table / sizeof *table; i++) {
        check_note("row %zu", i);
        CHECK_EQ(haul__route(&table[i].journey), table[i].route);
    }
    check_note(NULL);
}

/* ---- Shipments. */

static haul_device *device;
static haul_arena *arena;
static haul_type *bytes_type;
static unsigned char *bytes;
static haul_shipment *s;

static void start(void)
{
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "bytes", 64, &bytes_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(bytes_type), HAUL_OK);
    CHECK_STATUS(haul_arena_create(haul_device_context(device),
                                   &(const haul_arena_options){ .device = device }, &arena),
                 HAUL_OK);
    CHECK((bytes = haul_arena_new(arena, bytes_type, 1)) != NULL);
    memset(bytes, 5, 64);
}

static void end(void)
{
    haul_shipment_free(&s);
    haul_arena_free(&arena);
    haul_device_close(&device);
    haul_type_free(&bytes_type);
}

static void check_routes(haul_route to_device, haul_route to_host)
{
    haul_shipment_info info;
    haul_shipment_get_info(s, &info);
    CHECK_EQ(info.to_device, to_device);
    CHECK_EQ(info.to_host, to_host);
}

TEST(routes, are_told_by_the_shipment)
{
    const haul_ship_options locked = { .lock_source = 1 };
    int i;
    start();
    CHECK_STATUS(haul_ship(device, bytes, bytes_type, 1, NULL, &s), HAUL_OK);
    check_routes(HAUL_ROUTE_WHOLE, HAUL_ROUTE_NONE);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    check_routes(HAUL_ROUTE_WHOLE, HAUL_ROUTE_WHOLE);
    haul_shipment_free(&s);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &s), HAUL_OK);
    check_routes(HAUL_ROUTE_ARENA, HAUL_ROUTE_NONE);
    CHECK_STATUS(haul_return_directly(s), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    check_routes(HAUL_ROUTE_ARENA, HAUL_ROUTE_ARENA);
    CHECK_STATUS(haul_update_host(s, ALL_OR_NOTHING, NULL), HAUL_OK);
    check_routes(HAUL_ROUTE_ARENA, HAUL_ROUTE_WHOLE);
    haul_shipment_free(&s);
    CHECK_STATUS(haul_ship(device, bytes, bytes_type, 1, &locked, &s), HAUL_OK);
    for (i = 0; i < 2; i++)
        CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    check_routes(HAUL_ROUTE_LOCKED, HAUL_ROUTE_LOCKED);
    end();
}

/* ---- Options without a use. */

static void check_useless(haul_source source, const haul_ship_options *options, const char *name)
{
    CHECK_STATUS(haul_ship_from(device, source, options, NULL, &s), HAUL_ERROR_ARGUMENT);
    CHECK(s == NULL);
    CHECK_HAS(haul_context_error(haul_device_context(device))->text, name);
}

TEST(routes, options_that_a_source_has_no_use_for_are_refused)
{
    const haul_ship_options ordered = { .ordered = 1 }, locked = { .lock_source = 1 },
                            lets = { .let_counts_change = 1 }, null = { .outside = 1 },
                            beside = { .beside_count = 1 };
    haul_plan *plan;
    haul_source objects, planned, whole, root;
    start();
    objects = haul_from_object(bytes, bytes_type);
    CHECK_STATUS(haul_plan_create(haul_device_context(device), objects, NULL, &plan), HAUL_OK);
    planned = haul_from_plan(plan);
    whole = haul_from_arena(arena);
    root = haul_from_arena_root(arena, bytes, bytes_type);
    check_useless(planned, &ordered, "options->ordered");
    check_useless(whole, &ordered, "options->ordered");
    check_useless(root, &ordered, "options->ordered");
    check_useless(whole, &locked, "options->lock_source");
    check_useless(root, &locked, "options->lock_source");
    check_useless(whole, &lets, "options->let_counts_change");
    check_useless(objects, &null, "options->outside");
    check_useless(planned, &null, "options->outside");
    check_useless(root, &null, "options->outside");
    check_useless(objects, &beside, "options->beside");
    check_useless(planned, &beside, "options->beside");
    check_useless(root, &beside, "options->beside");
    haul_plan_free(&plan);
    end();
}

/* ---- Arenas, asynchronously. */

static void check_there(unsigned char value)
{
    CHECK_STATUS(haul_wait(s), HAUL_OK);
    memset(bytes, 0, 64);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK_EQ(bytes[0], value);
    CHECK_EQ(bytes[63], value);
}

TEST(routes, arenas_are_shipped_and_shipped_again_asynchronously)
{
    start();
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, OWN_STREAM, &s), HAUL_OK);
    check_there(5);
    memset(bytes, 6, 64);
    CHECK_STATUS(haul_reship(s, OWN_STREAM), HAUL_OK);
    check_there(6);
    haul_shipment_free(&s);
    CHECK_STATUS(haul_ship_arenas(device, &arena, 1, NULL, OWN_STREAM, &s), HAUL_OK);
    check_there(6);
    haul_shipment_free(&s);
    CHECK_STATUS(haul_ship(device, bytes, bytes_type, 1, NULL, &s), HAUL_OK);
    memset(bytes, 7, 64);
    CHECK_STATUS(haul_reship(s, OWN_STREAM), HAUL_OK);
    check_there(7);
    end();
}
