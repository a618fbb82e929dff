/* The plainest graph: a list. For tests of calls, devices and handles, to which it does not matter
 * what a graph looks like.
 */
#ifndef HAUL_TESTS_LISTS_H
#define HAUL_TESTS_LISTS_H

#include "haul.h"

typedef struct list_node {
    struct list_node *next;
    int64_t value;
} list_node;

/* Its type, committed. NULL: in the context of types.h. */
haul_type *list_type(haul_context *context);

/* Makes a list of an array, in its order; the values stay. */
void list_link(list_node *nodes, size_t count);

/* A kernel for haul_host_launch: adds 1 to each value of the list that begins here. */
void list_add_one(void *first);

#endif
