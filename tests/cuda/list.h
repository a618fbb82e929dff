/* A list that is shipped, and what its walk on the GPU (user_walk) makes of it.
 */
#ifndef HAUL_TESTS_CUDA_LIST_H
#define HAUL_TESTS_CUDA_LIST_H

#include "cuda/kernels.h"
#include "haul.h"

typedef struct test_list {
    haul_type *type;
    user_node *head;
    size_t length;
    double *walked;    /* pinned: what the last walk found */
    haul_arena *arena; /* it stands in; NULL: in memory of malloc's */
} test_list;

/* Node i has the value i and i % 4 columns. */
test_list list_make(size_t length);
/* Each node has so many columns; and so has each of a list that stands in an arena, and goes with
 * it. */
test_list list_make_wide(size_t length, size_t columns);
test_list list_make_in(haul_arena *arena, size_t length, size_t columns);
void list_free(test_list *list);

/* The sum that the next walk must find. */
double list_sum(const test_list *list);
/* Does to the list on the host what a walk does to it on the GPU. */
void list_walk(test_list *list);
/* Checks that the list is as `expected` of the same length. */
void list_check(const test_list *list, const test_list *expected);

#endif
