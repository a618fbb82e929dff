/* Associations, beside the run time's own calls for the same bytes (associations.h).
 *
 * The three ways take turns in all six orders, twice: the heap, as one leaves it, decides over a
 * third of the next one's time.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "associations.h"
#include <haul/openmp.h>

enum { ROUNDS = 12 };

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
    fprintf(stderr, "%s failed: %s\n", what, context ? haul_context_error(context)->text : "");
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
    case ASSOCIATION_OWN:
        for (i = 0; i < g->count; i++)
            must("omp_target_associate_ptr",
                 omp_target_associate_ptr(g->ranges[i].host, g->ranges[i].device,
                                          g->ranges[i].bytes, 0, target) == 0);
        break;
    case ASSOCIATION_HAUL:
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
    case ASSOCIATION_OWN:
        for (i = 0; i < g->count; i++)
            must("omp_target_disassociate_ptr",
                 omp_target_disassociate_ptr(g->ranges[i].host, target) == 0);
        break;
    case ASSOCIATION_HAUL:
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

void measure_associations(haul_device *with, int of, size_t length, associations *found)
{
    double ship[ROUNDS], there[ASSOCIATION_WAYS][ROUNDS], back[ASSOCIATION_WAYS][ROUNDS], begin;
    graph g = { NULL, NULL, malloc(2 * length * sizeof *g.ranges), 0, 2 * length };
    size_t present = 0;
    node *list;
    device = with;
    context = haul_device_context(with);
    target = of;
    must("types", HAUL_DESCRIBE(context, structs) == HAUL_OK);
    must("memory", g.ranges != NULL);
    list = make_list(NULL, length);
    must("environment", haul_environment_create(device, &g.environment) == HAUL_OK);
    must("enter", haul_environment_enter(g.environment, list, node_type, 1, NULL, NULL) == HAUL_OK);
    for (int i = 0; i < ROUNDS; i++) {
        begin = microseconds();
        must("ship", haul_ship(device, list, node_type, 1, NULL, &g.shipment) == HAUL_OK);
        ship[i] = microseconds() - begin;
        g.count = 0;
        must("extents", haul_shipment_extents(g.shipment, keep, &g) == HAUL_OK);
        for (int turn = 0; turn < ASSOCIATION_WAYS; turn++) {
            const int way = (i + (i % 2 ? turn : 2 * turn)) % ASSOCIATION_WAYS;
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
    found->count = g.count;
    found->ship = median(ship);
    for (int way = 0; way < ASSOCIATION_WAYS; way++) {
        found->there[way] = median(there[way]);
        found->back[way] = median(back[way]);
    }
    found->arena = arena_associate(length);
    haul_environment_free(&g.environment);
    free(g.ranges);
    free_list(list);
    HAUL_FORGET(structs);
}
