/* The structures of five graphs of the workload "discovery", for the host and for kernels. */
#ifndef BENCH_DISCOVERY_SHAPES_H
#define BENCH_DISCOVERY_SHAPES_H

#include <stddef.h>
#include <stdint.h>

/* A chained hash table. A key is one letter, KEY_LEAST to KEY_MOST times. */
enum { KEY_LEAST = 6, KEY_MOST = 38 };
#define KEY_LETTER(length) ((char)('a' + (length) % 26))

enum { CHAIN_ENTRY_WORDS = 3 };
typedef struct chain_entry {
    struct chain_entry *next;
    char *key;
    void *opaque; /* data, for Haul */
    uint64_t data[CHAIN_ENTRY_WORDS];
} chain_entry;

typedef struct chain_table {
    chain_entry **bucket;
    size_t bucket_count;
} chain_table;

typedef struct particle {
    float position[3], mass;
} particle;

typedef struct octree_node {
    struct octree_node *child[8], *parent;
    particle *particles; /* of a leaf */
    int32_t particle_count;
    float half_width;
} octree_node;

/* Inputs go to the device, results come back. */
typedef struct task {
    struct task *child[2];
    double *input, *result;
    int32_t input_count, result_count;
    double tolerance, residual;
} task;

struct mesh_edge;
typedef struct mesh_vertex {
    double position[3];
    struct mesh_edge **edge;
    int32_t edge_count;
} mesh_vertex;

typedef struct mesh_edge {
    mesh_vertex *end[2];
    double length;
} mesh_edge;

typedef struct mesh {
    mesh_vertex **vertex;
    size_t vertex_count;
} mesh;

typedef struct grid_cell {
    struct grid_cell *near[4];
    double value[4];
} grid_cell;

/* Its cells lie in one array, and lead to each other there. */
typedef struct grid {
    grid_cell *cell;
    size_t cell_count;
} grid;

#endif
