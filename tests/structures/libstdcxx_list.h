/* std::list<T *> as libstdc++ has it: a circle through a head that lies in the list object, in
 * front of the size. What a link leads to is a node, or that head: told by its address alone, which
 * only the list knows. So the list is the ancestor of its nodes, and of its own links.
 *
 *     list | head: next, prev | size |        list_node | base: next, prev | value |
 *
 * The tables describe lists of any T: a test makes list_value_type, a type or a parameter.
 */
#ifndef HAUL_TESTS_LIBSTDCXX_LIST_H
#define HAUL_TESTS_LIBSTDCXX_LIST_H

#include "haul/describe.h"

typedef struct node_base {
    struct node_base *next, *prev;
} node_base;

typedef struct list {
    node_base head;
    size_t size;
} list;

typedef struct list_node {
    node_base base;
    void *value;
} list_node;

static haul_type *list_value_type, *list_node_type, *list_type;

HAUL_FUNCTION(is_head, void, here->target == (const void *)&((const list *)here->ancestor)->head)

static const haul_case list_cases[] = { { 0, &list_node_type, 0 },
                                        { 1, &list_type, HAUL_CONTAINER_OF(list, head) } };
#define BY_LIST .ancestor = &list_type, .type_switch = HAUL_SWITCH_FN(is_head, list_cases)
static const haul_field list_node_fields[] = {
    HAUL_ADDRESS(list_node, base.next, BY_LIST), HAUL_ADDRESS(list_node, base.prev, BY_LIST),
    HAUL_ADDRESS(list_node, value, .target = &list_value_type)
};
static const haul_field list_fields[] = { HAUL_ADDRESS(list, head.next, BY_LIST),
                                          HAUL_ADDRESS(list, head.prev, BY_LIST) };

static inline void list_clear(list *l)
{
    l->head.next = l->head.prev = &l->head;
    l->size = 0;
}

/* Links a node in at the end. */
static inline void list_append(list *l, list_node *n)
{
    n->base.prev = l->head.prev;
    n->base.next = &l->head;
    l->head.prev = n->base.prev->next = &n->base;
    l->size++;
}

#endif
