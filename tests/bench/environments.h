/* The workload "environment": what its files share, and what a program says of the device.
 * haul_bench measures the host device; tests/openmp/figures.c a GPU, beside a run time with a table
 * of its own.
 *
 *     environments.c        look-ups, enters, syncs; opens all, and closes it
 *     environment_calls.c   updates, and calls of many threads
 */
#ifndef ENVIRONMENTS_H
#define ENVIRONMENTS_H

#include "bench.h"

/* What a run time offers for one block of memory at a time. */
typedef struct environment_rival {
    /* Tells it of all that is present, or of nothing any more. 0: it has failed. */
    int (*watch)(haul_environment *e, int on);
    void *(*device_pointer)(void *host);
    void (*enter)(void *host, size_t bytes); /* sends what is absent, and counts */
    void (*leave)(void *host, size_t bytes);
    void (*update)(void *host, size_t bytes, haul_direction direction);
} environment_rival;

typedef struct environment_setting {
    haul_status (*open)(haul_context *context, haul_device **device);
    /* Milliseconds of one copy between the device and pinned memory. */
    double (*raw_copy)(size_t bytes, haul_direction direction);
    const environment_rival *rival; /* NULL: there is none */
} environment_setting;

/* One memcpy between two blocks that were used before. */
double measure_copy_on_host(size_t bytes, haul_direction direction);

/* All sections, each with its own rounds, which are printed when it ends. */
void measure_environments_on(const environment_setting *setting, int runs, double scale);

/* ---- For the two files. */

/* 128 bytes. */
typedef struct environment_node {
    struct environment_node *next, *other;
    double values[14];
} environment_node;
extern haul_type *environment_node_type, *environment_value_type;

typedef struct environments {
    const environment_setting *setting;
    haul_context *context;
    haul_device *device;
    haul_environment *e;
    unsigned threads; /* of the context */
    double spin;      /* seconds that they wait awake */
    environment_node *nodes;
    environment_node **asked; /* in an order of chance */
    size_t count;
} environments;

void environments_must(const environments *all, haul_status status);
void environments_enter(environments *all, void *root, const haul_type *type, size_t count);
void environments_leave(environments *all, const void *root);
/* Links the nodes in order; `is_uneven`: passing by a quarter of them, of chance. What is asked for
 * are nodes of the chain. */
void environments_link(environments *all, int is_uneven);

/* One member of all nodes; `all->nodes` are linked. `name`: of the rows. */
void measure_member(environments *all, const char *name);
void measure_object(environments *all);
void measure_callers(environments *all);

#endif
