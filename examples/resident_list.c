/* A list that stays on the device while it grows: an environment sends what is new, and no more.
 *
 * Each round adds a node on the host and enters it. The pointer of the old last node, which is on
 * the device already, is made to lead there. Then a kernel walks the whole list. Prints the bytes
 * of the first and the last enter, and three claims with yes or NO.
 */
#include "common.h"

enum { FIRST = 1000, ROUNDS = 10 };

typedef struct node {
    struct node *next, *previous;
    long value;
} node;

static haul_type *node_type;
static const haul_field node_fields[] = { HAUL_OBJECT(node, next, &node_type),
                                          HAUL_OBJECT(node, previous, &node_type) };
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields) };

static void add_one(void *first) /* the kernel */
{
    for (node *at = first; at; at = at->next)
        at->value++;
}

static node *append(node *last)
{
    node *one = allocate(sizeof *one);
    one->next = NULL;
    one->previous = last;
    one->value = 0;
    if (last)
        last->next = one;
    return one;
}

static haul_status grow(haul_device *device, haul_environment *e, node *first, node **last)
{
    haul_status status;
    *last = append(*last);
    status = haul_environment_enter(e, *last, node_type, 1, NULL, NULL);
    return status ? status
                  : haul_host_launch(device, add_one, haul_environment_device_pointer(e, first));
}

int main(void)
{
    const haul_exit_options back = { .finalize = 1, .copyout = 1 };
    haul_environment_info begun, ended;
    haul_context *haul = NULL;
    haul_device *device = NULL;
    haul_environment *e = NULL;
    node *first = append(NULL), *last = first, *there;
    int right = 1, stayed;
    for (int i = 1; i < FIRST; i++)
        last = append(last);
    haul_status status = haul_context_create(NULL, &haul);
    status = status ? status : HAUL_DESCRIBE(haul, structs);
    status = status ? status : haul_host_open(haul, NULL, &device);
    status = status ? status : haul_environment_create(device, &e);
    status = status ? status : haul_environment_enter(e, first, node_type, 1, NULL, NULL);
    there = haul_environment_device_pointer(e, first);
    haul_environment_get_info(e, &begun);
    for (int i = 0; i < ROUNDS && !status; i++)
        status = grow(device, e, first, &last);
    haul_environment_get_info(e, &ended);
    stayed = haul_environment_device_pointer(e, first) == there;
    status = status ? status : haul_environment_exit(e, first, NULL, NULL);
    for (node *at = last; at != first && !status; at = at->previous) /* the newest leads to all */
        if (haul_environment_presence(e, at, sizeof *at) == HAUL_PRESENT)
            haul_environment_exit(e, at, &back, NULL);
    if (status)
        return failed("keeping the list on the device", status, haul_context_error(haul));
    for (node *at = first; at != last->previous; at = at->next)
        right &= at->value >= 1 && at->value <= ROUNDS;
    printf("resident_list: %lu bytes, then %lu in %d enters\n", (unsigned long)begun.bytes_to,
           (unsigned long)(ended.bytes_to - begun.bytes_to), ROUNDS);
    right = claim("each node was reached in each round since it came",
                  right && first->value == ROUNDS && last->value == 1) &
            claim("the list has stayed where it was", stayed) &
            claim("the nodes that came were sent alone",
                  (ended.bytes_to - begun.bytes_to) / ROUNDS < begun.bytes_to / 100);
    haul_environment_free(&e);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    while (last) {
        first = last->previous;
        free(last);
        last = first;
    }
    return right ? 0 : 1;
}
