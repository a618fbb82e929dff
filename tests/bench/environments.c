/* Environments: look-ups, an enter of a graph whose half is present beside the first ship of the
 * other half, and a sync beside a refresh.
 */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "bench/environments.h"

#define THREADS_MAX 16u
#define AWAKE_SECONDS 0.002
enum { NODES = 1000000, NEAR = 64, ASKED = 1000000, HALVES = 1024, TURNS = 200, RIVAL_TURNS = 10 };

typedef environment_node node;
haul_type *environment_node_type, *environment_value_type;
#define node_type environment_node_type
#define value_type environment_value_type
static const haul_field node_fields[] = {
    HAUL_OBJECT(environment_node, next, &environment_node_type),
    HAUL_OBJECT(environment_node, other, &environment_node_type),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(environment_node, &environment_node_type, node_fields),
    HAUL_PLAIN(double, &environment_value_type),
};

void environments_must(const environments *all, haul_status status)
{
    if (status != HAUL_OK)
        bench_die("environment", all->context ? haul_context_error(all->context) : NULL);
}

void environments_enter(environments *all, void *root, const haul_type *type, size_t count)
{
    environments_must(all, haul_environment_enter(all->e, root, type, count, NULL, NULL));
}

void environments_leave(environments *all, const void *root)
{
    environments_must(all, haul_environment_exit(all->e, root, NULL, NULL));
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

/* The run time's own look-ups, a tenth as many: they take longer. */
static double time_rival_look_ups(environments *all, size_t among)
{
    const environment_rival *rival = all->setting->rival;
    uintptr_t sum = 0;
    size_t i, k = 0;
    double started = bench_milliseconds();
    for (i = 0; i < ASKED / 10; i++) {
        sum += (uintptr_t)rival->device_pointer(all->asked[k] + (sum & 1)) & 1;
        k = k + 1 == among ? 0 : k + 1;
    }
    started = bench_milliseconds() - started;
    if (sum)
        bench_die("a device address is odd", NULL);
    return 1e7 * started / ASKED;
}

/* It is told of all nodes, and must find them where Haul does. */
static void report_rival_look_ups(environments *all, const char *name)
{
    const environment_rival *rival = all->setting->rival;
    double started = bench_milliseconds();
    if (!rival)
        return;
    if (!rival->watch(all->e, 1)) {
        report_left_out(name, "the run time refuses the ranges");
        return;
    }
    report_value(name, "run_time_told_ms", bench_milliseconds() - started);
    if (rival->device_pointer(all->asked[0]) !=
        haul_environment_device_pointer(all->e, all->asked[0]))
        report_left_out(name, "the run time's own look-ups: they answer otherwise");
    else {
        report_value(name, "run_time_in_cache_ns", time_rival_look_ups(all, NEAR));
        report_value(name, "run_time_random_ns", time_rival_look_ups(all, all->count));
    }
    if (!rival->watch(all->e, 0))
        report_left_out(name, "an end: the run time refuses to forget the ranges");
}

static void report_rival_enters(environments *all)
{
    const environment_rival *rival = all->setting->rival;
    double started;
    size_t i;
    if (!rival)
        return;
    rival->enter(all->nodes, sizeof(node));
    started = bench_milliseconds();
    for (i = 0; i < ASKED / 10; i++) {
        rival->enter(all->nodes, sizeof(node));
        rival->leave(all->nodes, sizeof(node));
    }
    report_value("enter_and_exit", "run_time_block_ns",
                 1e7 * (bench_milliseconds() - started) / ASKED);
    rival->leave(all->nodes, sizeof(node));
}

static double time_enters(environments *all)
{
    const double started = bench_milliseconds();
    size_t i;
    for (i = 0; i < ASKED; i++) {
        environments_enter(all, all->nodes, node_type, 1);
        environments_leave(all, all->nodes);
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

void environments_link(environments *all, int is_uneven)
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
    environments_link(all, 0);
    environments_enter(all, all->nodes, node_type, 1);
    report_look_ups(all, "look_up");
    report_rival_look_ups(all, "look_up");
    report_value("enter_and_exit", "present_ns", time_enters(all));
    report_rival_enters(all);
    environments_leave(all, all->nodes);
    environments_link(all, 1);
    environments_enter(all, all->nodes, node_type, 1);
    report_look_ups(all, "look_up_uneven");
    environments_leave(all, all->nodes);
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
    environments_enter(all, &all->nodes[0], node_type, 1);
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
        environments_enter(all, &all->nodes[1], node_type, 1);
        spent += bench_milliseconds() - started;
        environments_leave(all, &all->nodes[1]);
    }
    environments_leave(all, &all->nodes[0]);
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
        environments_must(all,
                          haul_ship(all->device, &all->nodes[1], node_type, 1, NULL, &shipment));
        spent += bench_milliseconds() - started;
        haul_shipment_free(&shipment);
    }
    return 1e3 * spent / TURNS;
}

/* Each of the other half is a block of its own, and no pointer is followed. */
static void report_rival_half(environments *all)
{
    const environment_rival *rival = all->setting->rival;
    double spent = 0, started;
    int i, turn;
    if (!rival)
        return;
    for (i = 0; i < HALVES; i += 2)
        rival->enter(&all->nodes[i], sizeof(node));
    for (turn = 0; turn < RIVAL_TURNS; turn++) {
        started = bench_milliseconds();
        for (i = 1; i < HALVES; i += 2)
            rival->enter(&all->nodes[i], sizeof(node));
        spent += bench_milliseconds() - started;
        for (i = 1; i < HALVES; i += 2)
            rival->leave(&all->nodes[i], sizeof(node));
    }
    for (i = 0; i < HALVES; i += 2)
        rival->leave(&all->nodes[i], sizeof(node));
    report_value("half_present", "run_time_blocks_us", 1e3 * spent / RIVAL_TURNS);
}

static void measure_half(environments *all)
{
    const double ship = time_ship(all), enters = time_half(all, 0);
    report_value("half_present", "ship_us", ship);
    report_value("half_present", "enter_us", enters);
    report_value("half_present", "times_ship", enters / ship);
    report_value("half_present", "led_to_us", time_half(all, 1));
    report_rival_half(all);
}

/* ---- Sync. */

static double time_sync(environments *all, double *values, size_t count, int changed)
{
    double started;
    size_t i;
    for (i = 0; changed && i < count; i += 100 * 512)
        values[i] += 1;
    started = bench_milliseconds();
    environments_must(all, haul_environment_sync(all->e, NULL));
    return bench_milliseconds() - started;
}

/* `name`, `tracked`: of the rows. */
static void measure_sync(environments *all, double scale, const char *name, const char *tracked)
{
    const size_t count = (size_t)(((size_t)16 << 20) * scale) + 512;
    double *values = bench_map(count * sizeof *values), started, refresh, sync;
    haul_shipment *shipment;
    environments_must(all, haul_ship(all->device, values, value_type, count, NULL, &shipment));
    environments_must(all,
                      haul_update_device(shipment, NULL, NULL)); /* the first use of its memory */
    started = bench_milliseconds();
    environments_must(all, haul_update_device(shipment, NULL, NULL));
    refresh = bench_milliseconds() - started;
    haul_shipment_free(&shipment);
    environments_enter(all, values, value_type, count);
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
        environments_must(all, haul_environment_track_writes(all->e, 0));
    }
    environments_leave(all, values);
    bench_unmap(values, count * sizeof *values);
}

/* ---- All. */

static void open_one(environments *all, const environment_setting *setting, unsigned threads,
                     double spin_seconds)
{
    haul_context_options options;
    memset(all, 0, sizeof *all);
    memset(&options, 0, sizeof options);
    options.threads = threads;
    options.spin_seconds = spin_seconds;
    all->setting = setting;
    all->threads = threads;
    all->spin = spin_seconds;
    if (haul_context_create(&options, &all->context) != HAUL_OK)
        bench_die("environment", NULL);
    environments_must(all, setting->open(all->context, &all->device));
    environments_must(all, haul_environment_create(all->device, &all->e));
}

static void close_one(environments *all)
{
    haul_environment_free(&all->e);
    haul_device_close(&all->device);
    haul_context_free(&all->context);
}

/* What is measured: by one thread, and by as many as there are processors, if there are several,
 * which sleep or wait awake between two calls. */
typedef struct settings {
    environments one, asleep, awake;
    double scale;
} settings;

static void questions(settings *all)
{
    measure_questions(&all->one);
}

static void halves(settings *all)
{
    measure_half(&all->one);
}

static void members(settings *all)
{
    environments_link(&all->one, 0);
    measure_member(&all->one, "member");
    if (all->asleep.e)
        measure_member(&all->asleep, "member_threads");
    if (all->awake.e)
        measure_member(&all->awake, "member_threads_awake");
    measure_object(&all->one);
}

static void syncs(settings *all)
{
    measure_sync(&all->one, all->scale, "sync", "sync_tracked");
    if (all->asleep.e)
        measure_sync(&all->asleep, all->scale, "sync_threads", "sync_tracked_threads");
    if (all->awake.e)
        measure_sync(&all->awake, all->scale, "sync_threads_awake", "sync_tracked_threads_awake");
}

static void callers(settings *all)
{
    measure_callers(&all->one);
}

static void lend_nodes(environments *to, const environments *from)
{
    to->nodes = from->nodes;
    to->asked = from->asked;
    to->count = from->count;
}

void measure_environments_on(const environment_setting *setting, int runs, double scale)
{
    static void (*const sections[])(settings *) = { questions, halves, members, syncs, callers };
    const unsigned processors = haul__processors(),
                   threads = processors < THREADS_MAX ? processors : THREADS_MAX;
    settings all;
    size_t i;
    int run;
    memset(&all, 0, sizeof all);
    all.scale = scale;
    open_one(&all.one, setting, 0, 0);
    if (haul_describe(all.one.context, structs, sizeof structs / sizeof *structs) != HAUL_OK)
        bench_die("environment", haul_context_error(all.one.context));
    all.one.count = (size_t)(NODES * scale) + HALVES;
    all.one.nodes = bench_map(all.one.count * sizeof *all.one.nodes);
    all.one.asked = bench_map(all.one.count * sizeof *all.one.asked);
    if (threads > 1) {
        open_one(&all.asleep, setting, threads, 0);
        open_one(&all.awake, setting, threads, AWAKE_SECONDS);
        lend_nodes(&all.asleep, &all.one);
        lend_nodes(&all.awake, &all.one);
    }
    for (i = 0; i < sizeof sections / sizeof *sections; i++) {
        report_begin("environment");
        for (run = 0; run < runs; run++)
            sections[i](&all);
        report_end();
    }
    bench_unmap(all.one.asked, all.one.count * sizeof *all.one.asked);
    bench_unmap(all.one.nodes, all.one.count * sizeof *all.one.nodes);
    close_one(&all.awake);
    close_one(&all.asleep);
    HAUL_FORGET(structs);
    close_one(&all.one);
}

/* ---- On the host device. */

static haul_status open_host(haul_context *context, haul_device **device)
{
    return haul_device_open(context, haul_host_device(), NULL, device);
}

double measure_copy_on_host(size_t bytes, haul_direction direction)
{
    char *from = bench_map(bytes), *to = bench_map(bytes);
    double started;
    (void)direction;
    memcpy(to, from, bytes);
    started = bench_milliseconds();
    memcpy(to, from, bytes);
    started = bench_milliseconds() - started;
    bench_unmap(from, bytes);
    bench_unmap(to, bytes);
    return started;
}

void measure_environments(int runs, double scale)
{
    static const environment_setting host = { open_host, measure_copy_on_host, NULL };
    measure_environments_on(&host, runs, scale);
}
