/* Lists.
 */
#include "support/check.h"
#include "support/lists.h"
#include "support/types.h"

haul_type *list_type(haul_context *context)
{
    haul_type *type;
    const haul_field fields[] = { HAUL_OBJECT(list_node, next, &type) };
    CHECK_STATUS(type_make_in(context ? context : type_context(), "list_node", sizeof(list_node),
                              fields, 1, &type),
                 HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    return type;
}

void list_link(list_node *nodes, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        nodes[i].next = i + 1 < count ? &nodes[i + 1] : NULL;
}

void list_add_one(void *first)
{
    list_node *at;
    for (at = first; at; at = at->next)
        at->value++;
}
