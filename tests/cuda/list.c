/* The list of list.h.
 */
#include <stdlib.h>

#include "cuda/gpu.h"
#include "cuda/list.h"
#include "support/types.h"

static haul_type *node_type;
static const haul_field node_fields[] = { HAUL_OBJECT(user_node, next, &node_type),
                                          HAUL_ARRAY(user_node, row,
                                                     HAUL_COUNT(user_node, columns)) };

static void *get(haul_arena *arena, size_t bytes)
{
    void *memory = arena ? haul_arena_bytes(arena, bytes, 0) : malloc(bytes);
    CHECK(memory != NULL);
    return memory;
}

static user_node *make_node(haul_arena *arena, size_t i, size_t columns, user_node *next)
{
    user_node *node = arena ? haul_arena_new(arena, node_type, 1) : malloc(sizeof *node);
    uint64_t column;
    CHECK(node != NULL);
    node->next = next;
    node->value = i;
    node->columns = columns;
    node->row = columns ? get(arena, columns * sizeof(double)) : NULL;
    for (column = 0; column < columns; column++)
        node->row[column] = (double)(i * 10 + column);
    return node;
}

static test_list empty_list(void)
{
    test_list list = { NULL, NULL, 0, NULL, NULL };
    CHECK_STATUS(type_make("node", sizeof(user_node), node_fields, 2, &node_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(node_type), HAUL_OK);
    list.type = node_type;
    CHECK_CUDA(cudaHostAlloc((void **)&list.walked, sizeof(double),
                             cudaHostAllocPortable | cudaHostAllocMapped));
    *list.walked = 0;
    return list;
}

test_list list_make(size_t length)
{
    test_list list = empty_list();
    list.length = length;
    while (length-- > 0)
        list.head = make_node(NULL, length, length % 4, list.head);
    return list;
}

test_list list_make_in(haul_arena *arena, size_t length, size_t columns)
{
    test_list list = empty_list();
    list.arena = arena;
    list.length = length;
    while (length-- > 0)
        list.head = make_node(arena, length, columns, list.head);
    return list;
}

test_list list_make_wide(size_t length, size_t columns)
{
    return list_make_in(NULL, length, columns);
}

void list_free(test_list *list)
{
    while (list->head && !list->arena) {
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
