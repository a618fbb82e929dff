/* A tree in a parallel region of OpenMP or OpenACC: a thread for each leaf climbs to the root.
 *
 * A forest has an array of pointers to its leaves; a node has a parent and an array of weights. The
 * region is one loop over the leaves, as the host would write it, without a map clause.
 *
 * Prints two claims with yes or NO; exits with 77 where the run time has no device.
 */
#include "pragmas.h"

enum { LEAVES = 1024, NODES = 2 * LEAVES - 1, WEIGHTS = 3 };

typedef struct node {
    struct node *parent;
    long *weights, sum;
} node;

typedef struct forest {
    node **leaves;
    int count;
} forest;

static haul_type *node_type, *forest_type;
static const haul_field node_fields[] = { HAUL_OBJECT(node, parent, &node_type),
                                          HAUL_ARRAY(node, weights, HAUL_FIXED(WEIGHTS)) };
static const haul_field forest_fields[] = { HAUL_POINTERS(forest, leaves, &node_type,
                                                          HAUL_COUNT(forest, count)) };
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields),
                                       HAUL_STRUCT(forest, &forest_type, forest_fields) };

static long weights[NODES][WEIGHTS];
static node nodes[NODES]; /* a heap: the parent of node i is node (i - 1) / 2 */
static node *leaves[LEAVES];
static int ran_on_the_host = 1;

static void climb(void *of)
{
    forest *f = of;
    const int count = f->count;
    int host = 1;
#ifdef _OPENACC
#pragma acc parallel loop present(f [0:1]) reduction(min : host)
#else
#pragma omp target teams distribute parallel for reduction(min : host) map(tofrom : host)
#endif
    for (int i = 0; i < count; i++) {
        long sum = 0;
        for (const node *at = f->leaves[i]; at; at = at->parent)
            for (int k = 0; k < WEIGHTS; k++)
                sum += at->weights[k];
        f->leaves[i]->sum = sum;
        host = ON_THE_HOST;
    }
    ran_on_the_host = host;
}

static int is_right(void)
{
    for (int i = LEAVES - 1; i < NODES; i++) {
        long sum = 0;
        for (int at = i + 1; at > 0; at /= 2) /* counted from 1, the parent of i is i / 2 */
            sum += at * (0 + 1 + 2);
        if (nodes[i].sum != sum)
            return 0;
    }
    return 1;
}

int main(void)
{
    const haul_exit_options back = { .copyout = 1 };
    forest f = { leaves, LEAVES };
    pragmas p;
    int right;
    haul_status status = open_pragmas(&p, structs, 2);
    if (status == HAUL_ERROR_UNSUPPORTED)
        return skipped(&p);
    for (int i = 0; i < NODES; i++) {
        nodes[i].parent = i > 0 ? &nodes[(i - 1) / 2] : NULL;
        nodes[i].weights = weights[i];
        for (int k = 0; k < WEIGHTS; k++)
            weights[i][k] = (long)(i + 1) * k;
        if (i >= LEAVES - 1)
            leaves[i - (LEAVES - 1)] = &nodes[i];
    }
    status =
        status ? status : haul_environment_enter(p.environment, &f, forest_type, 1, NULL, NULL);
    status = status ? status : run_regions(&p, climb, &f);
    status = status ? status : haul_environment_exit(p.environment, &f, &back, NULL);
    if (status)
        return failed("climbing a tree", status, haul_context_error(p.context));
    right = claim("the region ran on the device", !ran_on_the_host) &
            claim("each leaf has the sum of the weights above it", is_right());
    HAUL_FORGET(structs);
    close_pragmas(&p);
    return right ? 0 : 1;
}
