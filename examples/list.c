/* A linked list on the device: a kernel squares its values, and they come back into the same nodes.
 *
 * Only the pointer needs a field; the value travels by default. `next` is never written on the
 * host.
 *
 * Prints the number of nodes and the bytes of their arena, then two claims with yes or NO.
 */
#include "common.h"

enum { LENGTH = 1000 };

typedef struct node {
    double value;
    struct node *next;
} node;

static haul_context *haul;
static haul_type *node_type;
static const haul_field node_fields[] = { HAUL_OBJECT(node, next, &node_type) };
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields) };

static node *make_list(int length)
{
    node *head = NULL;
    for (int i = length; i > 0; i--) {
        node *one = allocate(sizeof(node));
        one->value = i;
        one->next = head;
        head = one;
    }
    return head;
}

/* What runs on the device: it follows `next` as any C function would. */
static void square_all(void *head)
{
    for (node *at = head; at; at = at->next)
        at->value *= at->value;
}

static int is_squared(const node *at)
{
    int i = 0;
    for (; at; at = at->next) {
        i++;
        if (at->value < (double)i * i || at->value > (double)i * i)
            return 0;
    }
    return i == LENGTH;
}

static int run(haul_device *device, node *head)
{
    haul_shipment *shipment = NULL;
    haul_shipment_info numbers;
    haul_status status = haul_ship(device, head, node_type, 1, NULL, &shipment);
    int right;
    if (status)
        return failed("shipping the list", status, haul_context_error(haul));
    status = haul_host_launch(device, square_all, haul_device_pointer(shipment, head));
    if (!status)
        status = haul_unmarshal(shipment);
    if (status) {
        haul_shipment_free(&shipment);
        return failed("working on the device", status, haul_context_error(haul));
    }
    haul_shipment_get_info(shipment, &numbers);
    printf("list: %lu nodes in one arena of %lu bytes\n", (unsigned long)numbers.objects,
           (unsigned long)numbers.arena_bytes);
    right = claim("every value is its own square, in the original nodes", is_squared(head)) &
            claim("one transfer went there, one came back",
                  numbers.transfers_to == 1 && numbers.transfers_from == 1);
    haul_shipment_free(&shipment);
    return right ? 0 : 1;
}

int main(void)
{
    haul_device *device = NULL;
    node *head = make_list(LENGTH);
    int result;
    haul_status status = haul_context_create(NULL, &haul);
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (!status)
        status = haul_host_open(haul, NULL, &device);
    result =
        status ? failed("opening the device", status, haul_context_error(haul)) : run(device, head);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    while (head) {
        node *next = head->next;
        free(head);
        head = next;
    }
    return result;
}
