/* A program to stop in: check.sh asks gdb where its pointers come from.
 */
#include <haul.h>

typedef struct node {
    struct node *next;
    char *name;
} node;

static haul_type *node_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, next, &node_type),
    HAUL_STRING(node, name),
};
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields) };

static int count;

typedef struct work {
    const node *there;
    const char *block;
    const int *elsewhere;
} work;

static void stop_here(void *argument)
{
    const work *w = (const work *)argument;
    count += w->there->next->name[0] == 'o' && w->block && w->elsewhere;
}

int main(void)
{
    char name[] = "one";
    node second = { NULL, NULL }, first = { NULL, NULL };
    haul_context *context = NULL;
    haul_device *device = NULL;
    haul_shipment *shipment = NULL;
    haul_arena *arena = NULL;
    work w;
    first.next = &second;
    second.name = name;
    if (haul_context_create(NULL, &context) != HAUL_OK ||
        haul_host_open(context, NULL, &device) != HAUL_OK ||
        HAUL_DESCRIBE(context, structs) != HAUL_OK ||
        haul_arena_create(context, NULL, &arena) != HAUL_OK ||
        haul_ship(device, &first, node_type, 1, NULL, &shipment) != HAUL_OK)
        return 1;
    w.there = (const node *)haul_device_pointer(shipment, &first);
    w.block = (const char *)haul_arena_bytes(arena, 64, 0);
    w.elsewhere = &count;
    if (haul_host_launch(device, stop_here, &w) != HAUL_OK)
        return 1;
    haul_shipment_free(&shipment);
    haul_arena_free(&arena);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&context);
    return count != 1;
}
