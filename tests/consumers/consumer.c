/* A C project that uses the installed Haul: one list, there and back. Only public headers. */
#include <stdio.h>
#include <haul.h>

typedef struct node {
    struct node *next;
    double value;
} node;

static haul_type *node_type;
static const haul_field node_fields[] = { HAUL_OBJECT(node, next, &node_type) };
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields) };

static void double_all(void *argument)
{
    node *at;
    for (at = argument; at; at = at->next)
        at->value *= 2;
}

int main(void)
{
    node last = { NULL, 2.5 }, first = { NULL, 1.5 };
    haul_context *context = NULL;
    haul_device *device = NULL;
    haul_shipment *shipment = NULL;
    haul_status status;
    first.next = &last;

    status = haul_context_create(NULL, &context);
    if (status == HAUL_OK)
        status = HAUL_DESCRIBE(context, structs);
    if (status == HAUL_OK)
        status = haul_host_open(context, NULL, &device);
    if (status == HAUL_OK)
        status = haul_ship(device, &first, node_type, 1, NULL, &shipment);
    if (status == HAUL_OK)
        status = haul_host_launch(device, double_all, haul_device_pointer(shipment, &first));
    if (status == HAUL_OK)
        status = haul_unmarshal(shipment);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&context);

    printf("C: %s, %g %g, %d GPUs\n", haul_status_name(status), first.value, last.value,
           haul_cuda_count());
    return !(status == HAUL_OK && first.value == 3 && last.value == 5 && first.next == &last);
}
