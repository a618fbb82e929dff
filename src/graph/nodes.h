/* A graph to be written: the ranges of a recorded walk, and the pointers between them.
 *
 * Each entry of the walk is a range. Elements inside a range (embedded arrays that are walked by
 * themselves, arms, tails) have entries too; they belong to the range around them, their owner.
 */
#ifndef HAUL_GRAPH_NODES_H
#define HAUL_GRAPH_NODES_H

#include "walk/met_types.h"
#include "walk/worklist.h"

#define HAUL__NOWHERE SIZE_MAX

/* A range, by its addresses. */
typedef struct haul__range_of_node {
    uintptr_t begin, end;
    uintptr_t reach; /* the furthest end of this span and of those before it */
    size_t entry;
} haul__range_of_node;

typedef struct haul__nodes {
    haul_context *context;
    haul_allocator *allocator;
    haul__found found;
    haul__discovery walk;
    size_t count;               /* entries of the walk */
    size_t *owners;             /* of each entry: itself, if it is a range */
    haul__range_of_node *spans; /* of the ranges, by address */
    size_t span_count;
} haul__nodes;

/* A pointer of an element. */
typedef struct haul__arrow {
    size_t entry, element; /* it stands there */
    const haul__slot *slot;
    unsigned level;
    int is_null, is_alias;
    size_t target; /* the range that it leads to; HAUL__NOWHERE: none */
} haul__arrow;

/* The name of a field, written from its end. */
typedef struct haul__steps {
    char text[HAUL_PATH_BYTES];
    size_t first;
} haul__steps;

/* Walks the graph of a source and hands it to `write`, inside the context's guard. */
haul_status haul__nodes_visit(haul_context *context, const haul_source *source, size_t bytes,
                              haul_status (*write)(haul__nodes *nodes, void *user), void *user);
/* By address; of spans with one address the longest comes first. For haul__sort. */
int haul__is_span_before(const void *a, const void *b);
/* Hands over each pointer of an entry's elements. Ends of pairs are left out. */
haul_status haul__nodes_arrows(haul__nodes *nodes, size_t entry,
                               haul_status (*take)(void *user, const haul__arrow *arrow),
                               void *user);
/* The type of an entry's elements: "mesh", "(data)", "(pointers)". */
const char *haul__node_type(const haul__nodes *nodes, size_t entry);
/* The same as a number below the count: types, pointers, plain elements. */
size_t haul__node_type_number(const haul__nodes *nodes, size_t entry);
size_t haul__node_type_count(const haul__nodes *nodes);
/* The name of a pointer within the elements of a range: "[3].corner[2].next". */
const char *haul__arrow_name(const haul__nodes *nodes, const haul__arrow *arrow,
                             haul__steps *steps);
/* The field that a pointer belongs to, for all elements of a type: ".corner[].next". Answers the
 * entry of that type's elements. */
size_t haul__arrow_field(const haul__nodes *nodes, const haul__arrow *arrow, haul__steps *steps);

#endif
