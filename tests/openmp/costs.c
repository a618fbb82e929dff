/* The cost of making a graph known to OpenMP, beside the run time's own calls for the same bytes.
 *
 *     costs host|gpu MOST     CSV on standard output: microseconds, medians of 7 rounds, for graphs
 *                             of 100 objects, ten times as many, and so on up to MOST
 *
 * A list of nodes, each with an array of three doubles, all malloc'ed one by one. `own` is a loop
 * over an array of extents that calls omp_target_associate_ptr; `haul` is haul_openmp_associate,
 * which finds the extents. Both take turns. `arena` is haul_openmp_associate of as many nodes in an
 * arena. Exits with 1 if a call fails, or if the numbers of extents differ.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <haul.h>
#include <haul/cuda.h>
#include <haul/openmp.h>

enum { ROUNDS = 7 };

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
    return times[ROUNDS / 2];
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

/* ---- The run time's own calls. */

typedef struct ranges {
    haul_shipped_range *all;
    size_t count, room;
} ranges;

static int keep(void *user, const haul_shipped_range *range)
{
    ranges *r = user;
    must("room for a range", r->count < r->room);
    r->all[r->count++] = *range;
    return 0;
}

static double own_associate(const ranges *r)
{
    const double begin = microseconds();
    for (size_t i = 0; i < r->count; i++)
        must("omp_target_associate_ptr", omp_target_associate_ptr(r->all[i].host, r->all[i].device,
                                                                  r->all[i].bytes, 0, target) == 0);
    return microseconds() - begin;
}

static double own_dissociate(const ranges *r)
{
    const double begin = microseconds();
    for (size_t i = 0; i < r->count; i++)
        must("omp_target_disassociate_ptr",
             omp_target_disassociate_ptr(r->all[i].host, target) == 0);
    return microseconds() - begin;
}

/* ---- Haul's. */

static double haul_associate(const haul_shipment *s, size_t *count)
{
    const double begin = microseconds();
    must("haul_openmp_associate", haul_openmp_associate(s, target, count) == HAUL_OK);
    return microseconds() - begin;
}

static double haul_dissociate(const haul_shipment *s)
{
    const double begin = microseconds();
    must("haul_openmp_dissociate", haul_openmp_dissociate(s, target) == HAUL_OK);
    return microseconds() - begin;
}

static double arena_associate(size_t length)
{
    haul_arena *arena = NULL;
    haul_shipment *s = NULL;
    size_t count = 0;
    double time;
    must("arena", haul_arena_create(context, NULL, &arena) == HAUL_OK);
    make_list(arena, length);
    must("ship of the arena",
         haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &s) == HAUL_OK);
    time = haul_associate(s, &count);
    must("one range for an arena", count == 1);
    haul_dissociate(s);
    haul_shipment_free(&s);
    haul_arena_free(&arena);
    return time;
}

static void measure(size_t length)
{
    double own[ROUNDS], haul[ROUNDS], own_back[ROUNDS], haul_back[ROUNDS], ship[ROUNDS];
    node *const list = make_list(NULL, length);
    ranges r = { malloc(2 * length * sizeof *r.all), 0, 2 * length };
    haul_shipment *s = NULL;
    size_t count;
    must("memory", r.all != NULL);
    for (int i = 0; i < ROUNDS; i++) {
        const double begin = microseconds();
        must("ship", haul_ship(device, list, node_type, 1, NULL, &s) == HAUL_OK);
        ship[i] = microseconds() - begin;
        r.count = 0;
        must("extents", haul_shipment_extents(s, keep, &r) == HAUL_OK);
        own[i] = own_associate(&r);
        own_back[i] = own_dissociate(&r);
        haul[i] = haul_associate(s, &count);
        must("as many extents", count == r.count);
        haul_back[i] = haul_dissociate(s);
        haul_shipment_free(&s);
    }
    printf("%lu,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f\n", (unsigned long)r.count, median(ship), median(own),
           median(haul), median(own_back), median(haul_back), arena_associate(length));
    free(r.all);
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
    printf("objects,ship,own_associate,haul_associate,own_dissociate,haul_dissociate,arena\n");
    measure(10); /* the first use of everything; not a figure */
    for (size_t length = 50; 2 * length <= most; length *= 10)
        measure(length);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&context);
    return 0;
}
