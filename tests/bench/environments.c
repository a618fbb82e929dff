/* Environments on the host device: look-ups, an enter of a graph whose half is present beside the
 * first ship of the other half, and a sync beside a refresh.
 */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "bench.h"
#include "support/types.h"

#define THREADS_MAX 16u
enum { NODES = 1000000, NEAR = 64, ASKED = 1000000, HALVES = 1024, TURNS = 200 };

/* 128 bytes. */
typedef struct node {
    struct node *next, *other;
    double values[14];
} node;

static haul_type *node_type, *value_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, next, &node_type),
    HAUL_OBJECT(node, other, &node_type),
};

typedef struct environments {
    haul_device *device;
    haul_environment *e;
    node *nodes;
    node **asked; /* in an order of chance */
    size_t count;
} environments;

static void must(const environments *all, haul_status status)
{
    if (status != HAUL_OK)
        bench_die("environment",
                  all->device ? haul_context_error(haul_device_context(all->device)) : NULL);
}

static void enter(environments *all, void *root, const haul_type *type, size_t count)
{
    must(all, haul_environment_enter(all->e, root, type, count, NULL, NULL));
}

static void leave(environments *all, const void *root)
{
    must(all, haul_environment_exit(all->e, root, NULL, NULL));
}

/* ---- Look-ups, and enters of what is present. */

/* In the order of `asked`, the first `among` again and again. */
static double time_look_ups(environments *all, size_t among)
{
    uintptr_t sum = 0; /* each look-up waits for the one before */
    size_t i, k = 0;
    double started = bench_milliseconds();
    for (i = 0; i < ASKED; i++) {
        const node *at = all->asked[k] + (sum & 1);
        sum += (uintptr_t)haul_environment_device_pointer(all->e, at) & 1;
        k = k + 1 == among ? 0 : k + 1;
    }
    started = bench_milliseconds() - started;
    if (sum)
        bench_die("a device address is odd", NULL);
    return 1e6 * started / ASKED;
}

/* The same; no look-up waits for another. */
static double time_independent(environments *all, size_t among)
{
    uintptr_t sum = 0;
    size_t i, k = 0;
    double started = bench_milliseconds();
    for (i = 0; i < ASKED; i++) {
        sum |= (uintptr_t)haul_environment_device_pointer(all->e, all->asked[k]);
        k = k + 1 == among ? 0 : k + 1;
    }
    started = bench_milliseconds() - started;
    if (sum & 1)
        bench_die("a device address is odd", NULL);
    return 1e6 * started / ASKED;
}

static double time_enters(environments *all)
{
    const double started = bench_milliseconds();
    size_t i;
    for (i = 0; i < ASKED; i++) {
        enter(all, all->nodes, node_type, 1);
        leave(all, all->nodes);
    }
    return 1e6 * (bench_milliseconds() - started) / ASKED;
}

static void report_look_ups(environments *all, const char *name)
{
    report_value(name, "in_cache_ns", time_look_ups(all, NEAR));
    report_value(name, "in_cache_independent_ns", time_independent(all, NEAR));
    report_value(name, "random_ns", time_look_ups(all, all->count));
    report_value(name, "random_independent_ns", time_independent(all, all->count));
}

/* Links the nodes in order; `is_uneven`: passing by a quarter of them, of chance. What is asked for
 * are nodes of the chain. */
static void link_chain(environments *all, int is_uneven)
{
    bench_random random = { 11 };
    size_t i, k, count = 0;
    node *last = NULL;
    for (i = 0; i < all->count; i++) {
        all->nodes[i].next = all->nodes[i].other = NULL;
        if (is_uneven && i > 0 && bench_below(&random, 4) == 0)
            continue;
        if (last)
            last->next = &all->nodes[i];
        last = &all->nodes[i];
        all->asked[count++] = last;
    }
    for (i = 0; i < all->count; i++)
        all->asked[i] = all->asked[i < count ? i : bench_below(&random, count)];
    for (i = all->count - 1; i > 0; i--) {
        node *one = all->asked[i];
        k = bench_below(&random, i + 1);
        all->asked[i] = all->asked[k];
        all->asked[k] = one;
    }
}

static void measure_questions(environments *all)
{
    link_chain(all, 0);
    enter(all, all->nodes, node_type, 1);
    report_look_ups(all, "look_up");
    report_value("enter_and_exit", "present_ns", time_enters(all));
    leave(all, all->nodes);
    link_chain(all, 1);
    enter(all, all->nodes, node_type, 1);
    report_look_ups(all, "look_up_uneven");
    leave(all, all->nodes);
}

/* ---- Half of 1024 objects is present. */

/* Every second node is present, in one chain. The others are a chain too, and each leads to the
 * node before it; `is_led_to`: each is led to by that node as well. */
static void link_halves(environments *all, int is_led_to)
{
    int i;
    for (i = 0; i < HALVES; i++) {
        node *at = &all->nodes[i];
        at->next = i + 2 < HALVES ? at + 2 : NULL;
        at->other = i % 2 ? at - 1 : NULL;
    }
    enter(all, &all->nodes[0], node_type, 1);
    for (i = 0; is_led_to && i < HALVES; i += 2)
        all->nodes[i].other = &all->nodes[i + 1];
}

static double time_half(environments *all, int is_led_to)
{
    double spent = 0, started;
    int i;
    link_halves(all, is_led_to);
    for (i = 0; i < TURNS; i++) {
        started = bench_milliseconds();
        enter(all, &all->nodes[1], node_type, 1);
        spent += bench_milliseconds() - started;
        leave(all, &all->nodes[1]);
    }
    leave(all, &all->nodes[0]);
    return 1e3 * spent / TURNS;
}

static double time_ship(environments *all)
{
    double spent = 0, started;
    haul_shipment *shipment;
    int i;
    for (i = 1; i < HALVES; i += 2) {
        all->nodes[i].next = i + 2 < HALVES ? &all->nodes[i + 2] : NULL;
        all->nodes[i].other = NULL;
    }
    for (i = 0; i < TURNS; i++) {
        started = bench_milliseconds();
        must(all, haul_ship(all->device, &all->nodes[1], node_type, 1, NULL, &shipment));
        spent += bench_milliseconds() - started;
        haul_shipment_free(&shipment);
    }
    return 1e3 * spent / TURNS;
}

static void measure_half(environments *all)
{
    const double ship = time_ship(all), enters = time_half(all, 0);
    report_value("half_present", "ship_us", ship);
    report_value("half_present", "enter_us", enters);
    report_value("half_present", "times_ship", enters / ship);
    report_value("half_present", "led_to_us", time_half(all, 1));
}

/* ---- Sync. */

static double time_sync(environments *all, double *values, size_t count, int changed)
{
    double started;
    size_t i;
    for (i = 0; changed && i < count; i += 100 * 512)
        values[i] += 1;
    started = bench_milliseconds();
    must(all, haul_environment_sync(all->e, NULL));
    return bench_milliseconds() - started;
}

/* `name`, `tracked`: of the rows. */
static void measure_sync(environments *all, double scale, const char *name, const char *tracked)
{
    const size_t count = (size_t)(((size_t)16 << 20) * scale) + 512;
    double *values = bench_map(count * sizeof *values), started, refresh, sync;
    haul_shipment *shipment;
    must(all, haul_ship(all->device, values, value_type, count, NULL, &shipment));
    started = bench_milliseconds();
    must(all, haul_update_device(shipment, NULL, NULL));
    refresh = bench_milliseconds() - started;
    haul_shipment_free(&shipment);
    enter(all, values, value_type, count);
    report_value(name, "first_ms", time_sync(all, values, count, 0));
    sync = time_sync(all, values, count, 1);
    report_value(name, "refresh_ms", refresh);
    report_value(name, "one_percent_ms", sync);
    report_value(name, "unchanged_ms", time_sync(all, values, count, 0));
    report_value(name, "times_refresh", sync / refresh);
    if (haul_environment_track_writes(all->e, 1) == HAUL_OK) {
        (void)time_sync(all, values, count, 0);
        (void)time_sync(all, values, count, 1); /* as above, after a first sync */
        sync = time_sync(all, values, count, 1);
        report_value(tracked, "one_percent_ms", sync);
        report_value(tracked, "unchanged_ms", time_sync(all, values, count, 0));
        report_value(tracked, "times_refresh", sync / refresh);
        must(all, haul_environment_track_writes(all->e, 0));
    }
    leave(all, values);
    bench_unmap(values, count * sizeof *values);
}

/* ---- All. */

static void open_all(environments *all, double scale)
{
    haul_context *context;
    memset(all, 0, sizeof *all);
    all->count = (size_t)(NODES * scale) + HALVES;
    all->nodes = bench_map(all->count * sizeof *all->nodes);
    all->asked = bench_map(all->count * sizeof *all->asked);
    if (haul_context_create(NULL, &context) != HAUL_OK ||
        haul_device_open(context, haul_host_device(), NULL, &all->device) != HAUL_OK ||
        type_make("node", sizeof(node), node_fields, 2, &node_type) != HAUL_OK ||
        type_make("value", sizeof(double), NULL, 0, &value_type) != HAUL_OK)
        bench_die("environment", NULL);
    if (haul_type_commit(node_type) != HAUL_OK || haul_type_commit(value_type) != HAUL_OK)
        bench_die("environment", type_error());
    haul_context_free(&context); /* the device holds it */
    must(all, haul_environment_create(all->device, &all->e));
}

/* With as many threads as there are processors; zeros, if there is one. */
static void open_threaded(environments *all)
{
    haul_context_options options;
    haul_context *context;
    const unsigned processors = haul__processors();
    memset(all, 0, sizeof *all);
    memset(&options, 0, sizeof options);
    if (processors < 2)
        return;
    options.threads = processors < THREADS_MAX ? processors : THREADS_MAX;
    if (haul_context_create(&options, &context) != HAUL_OK ||
        haul_device_open(context, haul_host_device(), NULL, &all->device) != HAUL_OK)
        bench_die("environment", NULL);
    haul_context_free(&context);
    must(all, haul_environment_create(all->device, &all->e));
}

void measure_environments(int runs, double scale)
{
    environments all, threaded;
    int run;
    report_begin("environment");
    open_all(&all, scale);
    open_threaded(&threaded);
    for (run = 0; run < runs; run++) {
        measure_questions(&all);
        measure_half(&all);
        measure_sync(&all, scale, "sync", "sync_tracked");
        if (threaded.e)
            measure_sync(&threaded, scale, "sync_threads", "sync_tracked_threads");
    }
    haul_environment_free(&all.e);
    haul_environment_free(&threaded.e);
    haul_device_close(&threaded.device);
    haul_type_free(&node_type);
    haul_type_free(&value_type);
    haul_device_close(&all.device);
    bench_unmap(all.asked, all.count * sizeof *all.asked);
    bench_unmap(all.nodes, all.count * sizeof *all.nodes);
    report_end();
}
