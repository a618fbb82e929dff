/* The cost of making a graph known to OpenMP, beside the run time's own calls for the same bytes.
 *
 *     costs host|gpu MOST     CSV on standard output: microseconds, medians of 12 rounds, for
 *                             graphs of 100 objects, ten times as many, and so on up to MOST
 *
 * A list of nodes, each with an array of three doubles, all malloc'ed one by one. `own` is a loop
 * over an array of extents that calls omp_target_associate_ptr; `haul` is haul_openmp_associate,
 * which finds the extents; `watch` is haul_openmp_watch of an environment that has the same list,
 * and the end of it. `arena` is haul_openmp_associate of as many nodes in an arena.
 *
 * The three take turns in all six orders, twice: the heap, as one leaves it, decides over a third
 * of the next one's time.
 *
 * Exits with 1 if a call fails, or if the numbers of extents differ.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <haul.h>
#include <haul/cuda.h>
#include <haul/openmp.h>

enum { ROUNDS = 12, OWN = 0, HAUL, WATCH, WAYS };

typedef struct node {
    double value;
    struct node *next;
    double *data;
    long count;
} node;

static haul_type *node_type;
static const haul_field fields[] = { HAUL_OBJECT(node, next, &node_type),
                                     HAUL_ARRAY(node, data, HAUL_FIXED(3)) };
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, fields) };

static haul_context *context;
static haul_device *device;
static int target;

static void must(const char *what, int holds)
{
    if (holds)
        return;
    printf("%s failed: %s\n", what, context ? haul_context_error(context)->text : "");
    exit(1);
}

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times)
{
    qsort(times, ROUNDS, sizeof *times, compare);
    return (times[ROUNDS / 2 - 1] + times[ROUNDS / 2]) / 2;
}

/* ---- Lists, from malloc or from an arena. */

static node *make_list(haul_arena *arena, size_t length)
{
    node *first = NULL;
    while (length-- > 0) {
        node *one = arena ? haul_arena_new(arena, node_type, 1) : malloc(sizeof *one);
        must("memory", one != NULL);
        one->data = arena ? haul_arena_bytes(arena, 3 * sizeof(double), sizeof(double))
                          : malloc(3 * sizeof(double));
        must("memory", one->data != NULL);
        memset(one->data, 0, 3 * sizeof(double));
        one->value = 1;
        one->count = 3;
        one->next = first;
        first = one;
    }
    return first;
}

static void free_list(node *first)
{
    while (first) {
        node *next = first->next;
        free(first->data);
        free(first);
        first = next;
    }
}

/* ---- The ways: each adds all ranges to the run time's table, and takes them out again. */

typedef struct graph {
    haul_shipment *shipment;
    haul_environment *environment;
    haul_shipped_range *ranges;
    size_t count, room;
} graph;

static int keep(void *user, const haul_shipped_range *range)
{
    graph *g = user;
    must("room for a range", g->count < g->room);
    g->ranges[g->count++] = *range;
    return 0;
}

static void associate(graph *g, int way)
{
    size_t i, count;
    switch (way) {
    case OWN:
        for (i = 0; i < g->count; i++)
            must("omp_target_associate_ptr",
                 omp_target_associate_ptr(g->ranges[i].host, g->ranges[i].device,
                                          g->ranges[i].bytes, 0, target) == 0);
        break;
    case HAUL:
        must("haul_openmp_associate",
             haul_openmp_associate(g->shipment, target, &count) == HAUL_OK);
        must("as many extents", count == g->count);
        break;
    default:
        must("haul_openmp_watch", haul_openmp_watch(g->environment, target) == HAUL_OK);
    }
}

static void dissociate(graph *g, int way)
{
    size_t i;
    switch (way) {
    case OWN:
        for (i = 0; i < g->count; i++)
            must("omp_target_disassociate_ptr",
                 omp_target_disassociate_ptr(g->ranges[i].host, target) == 0);
        break;
    case HAUL:
        must("haul_openmp_dissociate", haul_openmp_dissociate(g->shipment, target) == HAUL_OK);
        break;
    default:
        must("end of the watch",
             haul_environment_watch(g->environment, NULL, NULL, NULL) == HAUL_OK);
    }
}

static double arena_associate(size_t length)
{
    haul_arena *arena = NULL;
    haul_shipment *s = NULL;
    size_t count = 0;
    double begin, time;
    must("arena", haul_arena_create(context, NULL, &arena) == HAUL_OK);
    make_list(arena, length);
    must("ship of the arena",
         haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &s) == HAUL_OK);
    begin = microseconds();
    must("association of the arena", haul_openmp_associate(s, target, &count) == HAUL_OK);
    time = microseconds() - begin;
    must("one range for an arena", count == 1);
    must("its end", haul_openmp_dissociate(s, target) == HAUL_OK);
    haul_shipment_free(&s);
    haul_arena_free(&arena);
    return time;
}

static int count_range(void *user, const haul_shipped_range *range)
{
    (void)range;
    ++*(size_t *)user;
    return 0;
}

static void measure(size_t length)
{
    double ship[ROUNDS], there[WAYS][ROUNDS], back[WAYS][ROUNDS], begin;
    node *const list = make_list(NULL, length);
    graph g = { NULL, NULL, malloc(2 * length * sizeof *g.ranges), 0, 2 * length };
    size_t present = 0;
    must("memory", g.ranges != NULL);
    must("environment", haul_environment_create(device, &g.environment) == HAUL_OK);
    must("enter", haul_environment_enter(g.environment, list, node_type, 1, NULL, NULL) == HAUL_OK);
    for (int i = 0; i < ROUNDS; i++) {
        begin = microseconds();
        must("ship", haul_ship(device, list, node_type, 1, NULL, &g.shipment) == HAUL_OK);
        ship[i] = microseconds() - begin;
        g.count = 0;
        must("extents", haul_shipment_extents(g.shipment, keep, &g) == HAUL_OK);
        for (int turn = 0; turn < WAYS; turn++) {
            const int way = (i + (i % 2 ? turn : 2 * turn)) % WAYS;
            begin = microseconds();
            associate(&g, way);
            there[way][i] = microseconds() - begin;
            begin = microseconds();
            dissociate(&g, way);
            back[way][i] = microseconds() - begin;
        }
        haul_shipment_free(&g.shipment);
    }
    must("count of the watch",
         haul_environment_watch(g.environment, count_range, count_range, &present) == HAUL_OK &&
             present == g.count);
    printf("%lu,%.1f", (unsigned long)g.count, median(ship));
    for (int way = 0; way < WAYS; way++)
        printf(",%.1f,%.1f", median(there[way]), median(back[way]));
    printf(",%.1f\n", arena_associate(length));
    haul_environment_free(&g.environment);
    free(g.ranges);
    free_list(list);
}

int main(int argc, char **argv)
{
    const int gpu = argc > 1 && strcmp(argv[1], "gpu") == 0;
    const size_t most = argc > 2 ? (size_t)atol(argv[2]) : 100;
    target = omp_get_default_device();
    must("context", haul_context_create(NULL, &context) == HAUL_OK);
    must("types", HAUL_DESCRIBE(context, structs) == HAUL_OK);
    must("device", (gpu ? haul_cuda_open(context, NULL, &device)
                        : haul_host_open(context, NULL, &device)) == HAUL_OK);
    must("a device of OpenMP", haul_openmp_has(target));
    printf("objects,ship,own_associate,own_dissociate,haul_associate,haul_dissociate,watch,"
           "watch_end,arena\n");
    measure(10); /* the first use of everything; not a figure */
    for (size_t length = 50; 2 * length <= most; length *= 10)
        measure(length);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&context);
    return 0;
}
