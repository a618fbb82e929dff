/* A random graph of objects of a random universe, and a record of all memory that belongs to it.
 *
 * Every object lies in a block of its own, or among others in a slab, with random bytes before and
 * behind it. Blocks come from malloc, so that sanitizers watch their ends, or from a pool, where a
 * seed draws the same layout again. Pointers lead to fresh objects, to objects that exist (aliases,
 * cycles, themselves), into arrays, into other objects, one past the end, into statics, or nowhere.
 * No word is a pointer in one view and data in another.
 */
#ifndef RANDOM_GRAPH_H
#define RANDOM_GRAPH_H

#include "model.h"
#include "surroundings.h"

typedef struct graph_block {
    unsigned char *memory;
    unsigned char *shadow; /* what it held when the graph was complete */
    size_t bytes;
    int pooled; /* part of the graph's pool, or static: not a malloc block */
} graph_block;

typedef struct graph_region {
    unsigned char *address;
    size_t count; /* of elements; a terminator included */
    size_t element_bytes;
    int64_t sentinel; /* where one ends it */
    int type;         /* of typed regions, and of regions in the table of sizes */
    /* arrays of pointers: by which row, and on which level; late words: of which row */
    const model_field *row;
    unsigned level;
} graph_region;

typedef struct graph_list {
    graph_region *at;
    size_t count, capacity;
} graph_list;

typedef struct graph {
    model_oracle oracle; /* first: callbacks come back with its address */
    const model *model;
    graph_block *blocks;
    size_t block_count, block_capacity;
    graph_list typed[MODEL_TYPES];
    graph_list plain;   /* bytes without pointers */
    graph_list strings; /* terminated arrays of plain elements */
    graph_list rows;    /* arrays of pointers */
    graph_list sized;   /* whose size only the table of the callback knows */
    /* counts, terminated arrays, what rules read: changing them changes the graph */
    graph_list frozen;
    /* pointers that may lead to any described byte: null until all of these are known */
    graph_list late;
    graph_list queue; /* elements to be filled in */
    size_t queue_at;
    unsigned char *slab, *slab_end;
    /* half of the graphs: memory whose addresses modulo 64 KiB can be drawn again, with objects
     * across such borders; else NULL */
    unsigned char *pool_memory, *pool, *pool_end;
    const surroundings *around;
    unsigned char *statics, *statics_end; /* where objects go that are static; NULL: none has yet */
    int is_static;                        /* what is made now goes there */
    size_t left;                          /* bytes that may still be spent */
    int is_mixed_up; /* a plain graph, in which objects may lie within others */
    int mixed;       /* the same bytes are seen by two descriptions */
    haul_root roots[4];
    int root_type[4];
    size_t root_count;
} graph;

/* Draws a graph of about `bytes` bytes at most. Roots get their types' handles from the model. If
 * `row` is not 0, the first root is an array of so many elements, or as many as a few MB take; they
 * do not count as bytes. */
void graph_draw(choices *c, const model *m, const surroundings *around, size_t bytes, size_t row,
                graph *g);
void graph_free(graph *g);

/* Puts every block back to what it was when the graph was drawn. */
void graph_restore(graph *g);

/* 1: all of it is memory of the graph, or around it. */
int graph_has(const graph *g, const void *address, size_t bytes);
/* The same, fast if the memory lies in *block or soon behind it, as blocks do that a walk meets one
 * after the other. *block becomes the one that it lies in. */
int graph_has_near(const graph *g, size_t *block, const void *address, size_t bytes);
/* 1: it leads into the static range that is copied, or to its end. */
int graph_is_copied(const graph *g, const void *address);
/* The graph stays as it is from here on: what graph_restore puts back. */
void graph_keep(graph *g);

/* Pointers lie anywhere in packed structs. */
void *graph_read_pointer(const void *address);
void graph_write_pointer(void *address, const void *value);
/* Some of the tag bits: high ones, and low ones below `low`. */
uintptr_t graph_draw_tags(choices *c, uintptr_t tags, uint32_t low);
/* The low bytes of an integer. */
void graph_write(void *address, size_t bytes, int64_t value);

#endif
