/* haul_bench: what its files share. main.c reads options; workloads.c builds graphs; hash_packer.c
 * packs them by hand; measure.c times both in turn; check.c proves that both made the same graph;
 * sizes.c, mixed.c, rules.c, ordered.c, images.c, discovery.c and arena.c time nodes of many sizes,
 * mixed heaps, rows with rules, ordered plans, images, discovery beside walks by hand, and
 * allocation; report.c and table.c print.
 * haul_bench_gpu shares support.c, hash_packer.c, report.c, and the graphs and walks of discovery;
 * haul_bench_serializers images.c; haul_bench_places support.c. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <haul.h>

/* -------------------------------------------------------------------------------------------------
 * support.c: clock, random numbers, memory. What fails here ends the program with a message.
 */
double bench_milliseconds(void);
double bench_processor_milliseconds(void); /* what this process has had of them */

typedef struct bench_random {
    uint64_t state;
} bench_random;
uint64_t bench_next(bench_random *random);
size_t bench_below(bench_random *random, size_t limit);
void bench_skip(bench_random *random, uint64_t draws); /* as if so many had been drawn */

/* Zeroed memory of its own mapping, every page touched, in huge pages where the system has them.
 * Arenas and hash tables of both sides lie in it, so that no page fault and no difference of page
 * size is timed. */
void *bench_map(size_t bytes);
void *bench_map_untouched(size_t bytes); /* page faults are the user's */
void bench_unmap(void *memory, size_t bytes);
/* malloc, never NULL. */
void *bench_allocate(size_t bytes);
void bench_forget_blocks(void); /* what was freed is one piece again, or the system's */
void bench_die(const char *what, const haul_error *error);

/* -------------------------------------------------------------------------------------------------
 * hash_packer.c: the comparator. A pointer map as a good programmer writes it for one type and one
 * use: open addressing, load at most 0.5, 16 bytes an entry, multiplicative hashing, never cleared
 * (each pack has its stamp).
 */
typedef struct hash_entry {
    uint64_t key;   /* a source address */
    uint64_t value; /* stamp << 40 | offset in the arena */
} hash_entry;

typedef struct hash_map {
    hash_entry *entries;
    size_t bytes, mask;
    unsigned shift;
    uint64_t stamp;
} hash_map;

void hash_map_open(hash_map *map, size_t objects, int touched);
void hash_map_close(hash_map *map);
/* The value of `key`, or `fresh`, which it then has from now on: *is_new tells. */
uint64_t hash_map_meet(hash_map *map, uint64_t key, uint64_t fresh, int *is_new);

/* -------------------------------------------------------------------------------------------------
 * workloads.c: the graphs. Nodes are allocated one by one in order and linked in an order of
 * chance.
 */
typedef enum shape { SHAPE_NODES, SHAPE_TABLE, SHAPE_RECORDS } shape;

/* All node types: pointers first, then data. */
typedef struct list_node {
    struct list_node *next;
    char data[128 - sizeof(void *)];
} list_node;

typedef struct tree_node {
    struct tree_node *left, *right;
    char data[64 - 2 * sizeof(void *)];
} tree_node;

typedef struct graph_node {
    struct graph_node *edge[4];
    char data[64 - 4 * sizeof(void *)];
} graph_node;

/* A root with an array of pointers to items; three types of one layout, told apart by what an item
 * is. */
typedef struct table {
    size_t count;
    char **item;
} table;

typedef struct object_table {
    size_t count;
    graph_node **item;
} object_table;

typedef struct record {
    double *value;
    int32_t *index;
    int32_t value_count, index_count;
    double weight;
} record;

typedef struct workload workload;
struct workload {
    const char *name;
    shape shape;
    size_t node_bytes; /* of a node, or of a table's item; 0: the items are strings */
    unsigned pointers; /* of a node */
    haul_type *type;
    /* the same graph with counts in sibling fields; NULL: no functions count */
    haul_type *sibling_type;
    void *root;
    size_t root_count;
    size_t objects;         /* at most so many, root and pointer arrays included */
    size_t described_bytes; /* at most so many */
    void **heap;            /* what is to be freed, in the order of allocation */
    size_t heap_count;
    size_t item_bytes; /* of a table's array of pointers when it is a mapping of its own */
    int is_sized;      /* made by workload_make_sized */
};

typedef struct workload_maker {
    const char *name;
    int big; /* only when asked for */
    void (*make)(workload *made, double scale);
} workload_maker;

extern const workload_maker workload_makers[];
extern const size_t workload_maker_count;

void workload_make(workload *made, const workload_maker *maker, double scale);
/* `count` nodes of `bytes` bytes: a list (1 pointer), a tree (2) or a graph (4). Shuffled: linked
 * in an order of chance, the graph's pointers to any node. In heap order: linked in the order of
 * allocation, the graph's pointers to one of the next 64 nodes. workload_free frees its type
 * too. */
void workload_make_sized(workload *made, size_t count, size_t bytes, unsigned pointers,
                         int is_shuffled);
void workload_free(workload *it);
void workload_free_types(void);
/* Overwrites all contents that are no pointers, counts or terminators. */
void workload_scramble(workload *it);

/* -------------------------------------------------------------------------------------------------
 * hash_packer.c, check.c, measure.c
 */
typedef enum prefetching { PLAIN, PREFETCHED } prefetching;

/* Packs into `arena` in breadth-first order, pointers as offsets, the root at 16; answers the bytes
 * of the graph. `queue` has room for it->objects addresses. */
size_t hash_pack(const workload *it, hash_map *map, const void **queue, char *arena,
                 prefetching how);

/* Is `haul` (pointers as offsets, root at `root`) the same graph as `hash`, the other packer's
 * arena? Walks both. */
int check_isomorphic(const workload *it, const char *hash, const char *haul, size_t haul_bytes,
                     size_t root);

void measure(workload *it, int runs);
/* Packs and unpacks once, as measure does; what is wrong ends the program. */
void measure_check(workload *it);

/* sizes.c: the workload "sizes" */
void measure_sizes(int runs, double scale);

/* mixed.c: the workload "mixed" */
void measure_mixed(int runs, double scale);

/* rules.c: the workload "rules" */
void measure_rules(int runs, double scale);

/* ordered.c: the workload "ordered" */
void measure_ordered(int runs, double scale);

/* images.c: the workload "images" */
void measure_images(int runs, double scale);

/* discovery.c: the workload "discovery" */
void measure_discovery(int runs, double scale);
void measure_replan(int runs, double scale);

/* environments.c: the workload "environment", on the host device */
void measure_environments(int runs, double scale);

/* arena.c: the workload "allocate_64" */
void measure_arena(int runs, double scale);

/* -------------------------------------------------------------------------------------------------
 * report.c: series of samples, and their medians as CSV. One technique is the limit: ratios are
 * medians against those of its phases.
 */
/* against: a number that is no time; it goes into the column of medians as it is */
#define REPORT_VALUE NULL
#define REPORT_TIME "" /* a time that has no limit */

typedef struct report_series {
    const char *technique, *phase;
    const char *against; /* a phase of the limit */
    double *sample, median;
    int count, room;
} report_series;

/* Writes what is known of the machine and the columns' names. csv NULL: a table only. */
void report_open(FILE *csv, FILE *table, const char *limit,
                 void (*print_table)(FILE *out, const char *workload));
void report_begin(const char *workload);
void report_add(const char *technique, const char *phase, double number, const char *against);
/* against "total" */
void report_sample(const char *technique, const char *phase, double milliseconds);
void report_value(const char *technique, const char *phase, double value);
void report_left_out(const char *technique, const char *why);
/* Prints all, and forgets it. */
void report_end(void);

/* For tables: the i-th series (NULL: there are no more), and medians and ratios; 0: there is
 * none. */
const report_series *report_at(int i);
double report_median(const char *technique, const char *phase);
double report_ratio(const report_series *one);

/* table.c */
void table_print(FILE *out, const char *workload);

#endif
