/* The graphs of the workload "discovery", and the walks by hand over them. */
#ifndef BENCH_DISCOVERY_H
#define BENCH_DISCOVERY_H

#include "bench.h"

/* A chained hash table. */
typedef struct chain_entry {
    struct chain_entry *next;
    char *key;
    void *opaque; /* data, for Haul */
    uint64_t hash, value[2];
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

typedef struct discovered discovered;

/* Visits what lies behind the starts [first, end). It reads each pointer and each count, each
 * string to its end, and a byte of each other array. `queue` has room for as many addresses as
 * there are objects. Answers the number of objects as Haul counts them: an array is one. */
typedef size_t discovered_walk(discovered *it, size_t first, size_t end, const void **queue);

struct discovered {
    const char *name;
    haul_type *type;
    void *root;
    size_t root_count;
    size_t starts;      /* buckets, strings, records, vertices, or subtrees; 1: it has one thread */
    void **start;       /* of a tree: its subtrees */
    size_t above;       /* objects that lie behind no start */
    size_t most;        /* objects, at most */
    unsigned char *met; /* of a random graph: by the number of the node */
    discovered_walk *walk;
    workload shared; /* a graph of the other workloads; name NULL: it is none */
    void **block;    /* what malloc gave for the others, in order */
    size_t block_count;
    haul_type *others[2]; /* types that `type` leads to, of the others */
};

enum { DISCOVERED = 9 };
/* discovery_graphs.c: the i-th graph */
void discovered_make(discovered *made, int i, double scale);
void discovered_free(discovered *it);

/* discovery_walks.c */
discovered_walk walk_list, walk_tree, walk_graph, walk_strings, walk_records, walk_chains,
    walk_octree, walk_mesh;

#endif
