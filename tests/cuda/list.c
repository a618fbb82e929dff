/* The list of list.h.
 */
#include <stdlib.h>

#include "cuda/gpu.h"
#include "cuda/list.h"

static haul_type *node_type;
static const haul_ref node_refs[] = { HAUL_OBJECT(user_node, next, &node_type),
                                      HAUL_ARRAY(user_node, row, HAUL_N(user_node, columns)) };

static user_node *make_node(size_t i, user_node *next)
{
    user_node *node = malloc(sizeof *node);
    uint64_t column;
    CHECK(node != NULL);
    node->next = next;
    node->value = i;
    node->columns = i % 4;
    node->row = node->columns ? malloc(node->columns * sizeof(double)) : NULL;
    for (column = 0; column < node->columns; column++)
        node->row[column] = (double)(i * 10 + column);
    return node;
}

test_list list_make(size_t length)
{
    test_list list = { NULL, NULL, 0, NULL };
    CHECK_STATUS(haul_type_create("node", sizeof(user_node), node_refs, 2, &node_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
    list.type = node_type;
    list.length = length;
    while (length-- > 0)
        list.head = make_node(length, list.head);
    CHECK_CUDA(cudaHostAlloc((void **)&list.walked, sizeof(double), cudaHostAllocPortable | cudaHostAllocMapped));
    *list.walked = 0;
    return list;
}

void list_free(test_list *list)
{
    while (list->head) {
        user_node *next = list->head->next;
        free(list->head->row);
        free(list->head);
        list->head = next;
    }
    haul_type_free(&list->type);
    CHECK_CUDA(cudaFreeHost(list->walked));
}

double list_sum(const test_list *list)
{
    const user_node *node;
    uint64_t i;
    double sum = 0;
    for (node = list->head; node; node = node->next) {
        sum += (double)node->value;
        for (i = 0; i < node->columns; i++)
            sum += node->row[i];
    }
    return sum;
}

void list_walk(test_list *list)
{
    user_node *node;
    uint64_t i;
    for (node = list->head; node; node = node->next) {
        node->value *= 2;
        for (i = 0; i < node->columns; i++)
            node->row[i]++;
    }
}

void list_check(const test_list *list, const test_list *expected)
{
    const user_node *a = list->head, *b = expected->head;
    for (; a && b; a = a->next, b = b->next) {
        CHECK_EQ(a->value, b->value);
        CHECK_EQ(a->columns, b->columns);
        if (a->columns > 0)
            CHECK_BYTES(a->row, b->row, a->columns * sizeof(double));
    }
    CHECK(!a && !b);
}
