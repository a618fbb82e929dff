/* The graphs of the workload "discovery", and the walks by hand over them. */
#ifndef BENCH_DISCOVERY_H
#define BENCH_DISCOVERY_H

#include "base/pool.h"
#include "bench.h"
#include "discovery_shapes.h"

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

enum { DISCOVERED = 11 };
/* discovery_graphs.c: the i-th graph; a hash table, an octree and a mesh of such a size */
void discovered_make(discovered *made, int i, double scale);
void discovered_make_table(discovered *made, size_t entries);
void discovered_make_octree(discovered *made, size_t nodes);
void discovered_make_mesh(discovered *made, size_t vertices);
/* The number of an octree's nodes that stand before the first one with particles, breadth first. */
size_t discovered_octree_leaf(size_t nodes);
void discovered_free(discovered *it);

/* discovery_walks.c */
discovered_walk walk_list, walk_tree, walk_graph, walk_strings, walk_records, walk_chains,
    walk_octree, walk_tasks, walk_mesh, walk_grid;

/* by_hand.c: such a walk by one thread, and by those of a pool */
enum { WALKERS = HAUL__POOL_CHUNKS };
typedef struct by_hand {
    discovered *it;
    const void **queue; /* room for `most` addresses for each chunk; pages are touched as needed */
    size_t count[WALKERS];
} by_hand;
void by_hand_open(by_hand *all, discovered *it);
void by_hand_close(by_hand *all);
/* By the caller alone if `pool` is NULL. Milliseconds. Ends the program unless it has met so many
 * objects. */
double by_hand_walk(by_hand *all, haul__pool *pool, size_t objects);
/* As many threads as there are processors, the caller among them; NULL: it is alone. */
haul__pool *by_hand_pool(void);

#endif
