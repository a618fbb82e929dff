/* A list in a region of OpenMP or OpenACC: no map clause, and no pointer but the host's.
 *
 *     gcc -fopenmp list_with_pragmas.c ...       or  -fopenacc, or clang with -fopenmp-targets
 *
 * An environment sends the whole list in one transfer and tells the run time where each node is.
 * So the region's pointer to the first node leads to its copy, whose `next` leads on.
 *
 * Prints two claims with yes or NO; exits with 77 where the run time has no device.
 */
#include "pragmas.h"

enum { LENGTH = 1000 };

typedef struct node {
    struct node *next;
    long value;
} node;

static haul_type *node_type;
static const haul_field node_fields[] = { HAUL_OBJECT(node, next, &node_type) };
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields) };

static int ran_on_the_host = 1;

static void square_all(void *first)
{
    node *list = first;
    int host = 1;
#ifdef _OPENACC
#pragma acc parallel num_gangs(1) present(list [0:1]) copyout(host)
#else
#pragma omp target map(from : host)
#endif
    {
        for (node *at = list; at; at = at->next)
            at->value *= at->value;
        host = ON_THE_HOST;
    }
    ran_on_the_host = host;
}

static int is_squared(const node *at)
{
    long i = 1;
    while (at && at->value == i * i) {
        at = at->next;
        i++;
    }
    return !at && i == LENGTH + 1;
}

int main(void)
{
    const haul_exit_options back = { .copyout = 1 };
    pragmas p;
    node *list = NULL, *next;
    int right;
    haul_status status = open_pragmas(&p, structs, 1);
    if (status == HAUL_ERROR_UNSUPPORTED)
        return skipped(&p);
    for (long i = LENGTH; i > 0; i--) {
        next = list;
        list = allocate(sizeof *list);
        list->next = next;
        list->value = i;
    }
    status =
        status ? status : haul_environment_enter(p.environment, list, node_type, 1, NULL, NULL);
    status = status ? status : run_regions(&p, square_all, list);
    status = status ? status : haul_environment_exit(p.environment, list, &back, NULL);
    if (status)
        return failed("squaring a list", status, haul_context_error(p.context));
    right = claim("the region ran on the device", !ran_on_the_host) &
            claim("the list is squared, and linked as before", is_squared(list));
    HAUL_FORGET(structs);
    close_pragmas(&p);
    for (; list; list = next) {
        next = list->next;
        free(list);
    }
    return right ? 0 : 1;
}
