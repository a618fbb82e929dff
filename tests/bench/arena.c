/* Allocation: objects of 64 bytes one by one, from malloc and from an arena, and a list of them to
 * the host device.
 *
 * What is warm is compared with what is warm: malloc with blocks that were freed before, the arena
 * after a reset. And what is fresh with what is fresh: both then take pages from the system.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "support/types.h"

enum { OBJECTS = 1000000 };

typedef struct allocating {
    haul_context *context;
    haul_device *device;
    haul_arena *arena;
    haul_type *type;
    void **object;
    size_t count;
} allocating;

static void must(haul_status status, const haul_error *error)
{
    if (status)
        bench_die("allocate", error);
}

static double per_object(const allocating *a, double milliseconds)
{
    return 1e6 * milliseconds / (double)a->count;
}

/* -------------------------------------------------------------------------------------------------
 * What is timed: nothing but the calls, and the noting of what they gave.
 */
static double time_malloc(allocating *a, const char *technique)
{
    double started = bench_milliseconds(), spent;
    size_t i;
    for (i = 0; i < a->count; i++)
        a->object[i] = malloc(sizeof(tree_node));
    spent = bench_milliseconds() - started;
    report_sample(technique, "total", spent);
    report_value(technique, "ns", per_object(a, spent));
    return spent;
}

static void free_all(allocating *a)
{
    size_t i;
    for (i = 0; i < a->count; i++)
        free(a->object[i]);
}

static double time_typed(allocating *a, haul_arena *arena, const char *technique)
{
    double started = bench_milliseconds(), spent;
    size_t i;
    for (i = 0; i < a->count; i++)
        a->object[i] = haul_arena_new(arena, a->type, 1);
    spent = bench_milliseconds() - started;
    report_sample(technique, "total", spent);
    report_value(technique, "ns", per_object(a, spent));
    return spent;
}

static double time_plain(allocating *a, haul_arena *arena, const char *technique)
{
    double started = bench_milliseconds(), spent;
    size_t i;
    for (i = 0; i < a->count; i++)
        a->object[i] = haul_arena_bytes(arena, sizeof(tree_node), 0);
    spent = bench_milliseconds() - started;
    report_sample(technique, "total", spent);
    report_value(technique, "ns", per_object(a, spent));
    return spent;
}

static double time_reset(allocating *a)
{
    double started = bench_milliseconds(), spent;
    must(haul_arena_reset(a->arena), haul_arena_error(a->arena));
    spent = bench_milliseconds() - started;
    report_sample("arena_reset", "total", spent);
    return spent;
}

static void time_fresh(allocating *a, double of_malloc)
{
    haul_arena *arena;
    must(haul_arena_create(a->context, NULL, &arena), NULL);
    report_value("arena_typed_fresh", "times_malloc",
                 of_malloc / time_typed(a, arena, "arena_typed_fresh"));
    haul_arena_free(&arena);
    must(haul_arena_create(a->context, NULL, &arena), NULL);
    report_value("arena_plain_fresh", "times_malloc",
                 of_malloc / time_plain(a, arena, "arena_plain_fresh"));
    haul_arena_free(&arena);
}

/* One list, shipped by discovery and as it lies. */
static void link_all(allocating *a)
{
    size_t i;
    for (i = 0; i + 1 < a->count; i++)
        ((tree_node *)a->object[i])->right = a->object[i + 1];
}

static void time_ship(allocating *a, haul_outside outside, const char *technique)
{
    const haul_ship_options options = { .outside = outside };
    haul_shipment *shipment;
    double started = bench_milliseconds();
    must(haul_ship_from(a->device, haul_from_arena(a->arena), &options, NULL, &shipment),
         haul_context_error(haul_device_context(a->device)));
    report_sample(technique, "total", bench_milliseconds() - started);
    haul_shipment_free(&shipment);
}

static void time_packed_ship(allocating *a)
{
    haul_shipment *shipment;
    double started = bench_milliseconds();
    must(haul_ship(a->device, a->object[0], a->type, 1, NULL, &shipment),
         haul_context_error(haul_device_context(a->device)));
    report_sample("ship_packed", "total", bench_milliseconds() - started);
    haul_shipment_free(&shipment);
}

static void one_round(allocating *a, unsigned char *to, const unsigned char *from)
{
    double of_malloc, started = bench_milliseconds();
    memcpy(to, from, a->count * sizeof(tree_node));
    report_sample("memcpy", "total", bench_milliseconds() - started);
    of_malloc = time_malloc(a, "malloc");
    free_all(a);
    report_value("arena_plain", "times_malloc", of_malloc / time_plain(a, a->arena, "arena_plain"));
    time_reset(a);
    report_value("arena_typed", "times_malloc", of_malloc / time_typed(a, a->arena, "arena_typed"));
    link_all(a);
    time_packed_ship(a);
    time_ship(a, HAUL_OUTSIDE_KEEP, "ship_arena");
    time_ship(a, HAUL_OUTSIDE_REFUSE, "ship_arena_checked");
    time_reset(a);
    bench_forget_blocks();
    of_malloc = time_malloc(a, "malloc_fresh");
    free_all(a);
    time_fresh(a, of_malloc);
}

static void report_bookkeeping(allocating *a)
{
    haul_arena_info numbers;
    haul_arena_get_info(a->arena, &numbers);
    report_value("arena", "bookkeeping_percent",
                 100.0 * (double)numbers.bookkeeping_bytes / (double)numbers.used_bytes);
}

void measure_arena(int runs, double scale)
{
    haul_field fields[2];
    allocating a = { NULL, NULL, NULL, NULL, NULL, 0 };
    unsigned char *to, *from;
    size_t i;
    int run;
    a.count = (size_t)(OBJECTS * scale) + 2;
    fields[0] = (haul_field)HAUL_OBJECT(tree_node, left, &a.type);
    fields[1] = (haul_field)HAUL_OBJECT(tree_node, right, &a.type);
    must(haul_context_create(NULL, &a.context), NULL);
    must(type_make_in(a.context, "tree_node", sizeof(tree_node), fields, 2, &a.type),
         haul_context_error(a.context));
    must(haul_type_commit(a.type), haul_context_error(a.context));
    must(haul_host_open(a.context, NULL, &a.device), haul_context_error(a.context));
    must(haul_arena_create(a.context, NULL, &a.arena), NULL);
    a.object = bench_map(a.count * sizeof *a.object);
    to = bench_map(a.count * sizeof(tree_node));
    from = bench_map(a.count * sizeof(tree_node));
    report_begin("allocate_64");
    for (i = 0; i < a.count; i++)
        must(haul_arena_new(a.arena, a.type, 1) ? HAUL_OK : HAUL_ERROR_MEMORY,
             haul_arena_error(a.arena));
    report_bookkeeping(&a);
    must(haul_arena_reset(a.arena), NULL);
    for (run = 0; run < runs; run++)
        one_round(&a, to, from);
    report_end();
    bench_unmap(from, a.count * sizeof(tree_node));
    bench_unmap(to, a.count * sizeof(tree_node));
    bench_unmap(a.object, a.count * sizeof *a.object);
    haul_arena_free(&a.arena);
    haul_device_close(&a.device);
    haul_type_free(&a.type);
}
