/* Olden's em3d. Two lists of nodes; each node reads values in nodes of the other list, through
 * pointers to the values themselves. How many nodes one leads to is a number of the whole
 * program's. Of its room for values and coefficients the first from_length places are filled.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { SIDE = 150, DEGREE = 6, ROOM = 40 };

typedef struct node_t {
    double value;
    struct node_t *next, **to_nodes;
    double **from_values, *coeffs;
    int from_count, from_length;
} node_t;

typedef struct graph_t {
    node_t *e_nodes, *h_nodes;
} graph_t;

static haul_type *node_t_type, *graph_t_type;

HAUL_FUNCTION(degree, node_t, here->argument ? *(const int *)here->argument : -1)
HAUL_FUNCTION(value_is_set, node_t, here->index < (size_t)self->from_length)

static void em3d_open(const haul_field *each)
{
    const haul_field node_fields[] = {
        HAUL_OBJECT(node_t, next, &node_t_type),
        HAUL_POINTERS(node_t, to_nodes, &node_t_type, HAUL_COUNT_FN(degree)),
        HAUL_ARRAYS(node_t, from_values, HAUL_COUNT(node_t, from_count), HAUL_ONE,
                    .each_pointer = each),
        HAUL_ARRAY(node_t, coeffs, HAUL_COUNT(node_t, from_count)),
    };
    static const haul_field graph_fields[] = { HAUL_OBJECT(graph_t, e_nodes, &node_t_type),
                                               HAUL_OBJECT(graph_t, h_nodes, &node_t_type) };
    node_t_type = OPEN(node_t, node_fields);
    graph_t_type = OPEN(graph_t, graph_fields);
    type_close(graph_t_type);
}

static void em3d_close(void)
{
    haul_type_free(&graph_t_type);
    haul_type_free(&node_t_type);
}

/* The same graph by numbers: node k of side s reads from[s][k]. */
typedef struct em3d_plan {
    double value[2][SIDE], coeff[2][SIDE][ROOM];
    int from[2][SIDE][ROOM], count[2][SIDE], to[2][SIDE][DEGREE];
} em3d_plan;

static em3d_plan *em3d_draw(void)
{
    static em3d_plan plan;
    int s, k, d;
    memset(&plan, 0, sizeof plan);
    for (s = 0; s < 2; s++)
        for (k = 0; k < SIDE; k++)
            for (plan.value[s][k] = (double)random_below(&the.random, 100), d = 0; d < DEGREE;
                 d++) {
                int to = (int)((size_t)k + (size_t)d * 7 + random_below(&the.random, 7)) % SIDE,
                    place = plan.count[!s][to]++;
                CHECK(place < ROOM);
                plan.to[s][k][d] = to;
                plan.from[!s][to][place] = k;
                plan.coeff[!s][to][place] = (double)random_below(&the.random, 4);
            }
    return &plan;
}

static void em3d_fill(node_t *n, node_t *const *others, const em3d_plan *plan, int s, int k)
{
    int i;
    n->value = plan->value[s][k];
    n->from_length = plan->count[s][k];
    n->from_count = n->from_length + k % 3 + 1;
    n->to_nodes = PUT_ARRAY(node_t *, DEGREE);
    n->from_values = PUT_ARRAY(double *, n->from_count);
    n->coeffs = PUT_ARRAY(double, n->from_count);
    for (i = 0; i < DEGREE; i++)
        n->to_nodes[i] = others[plan->to[s][k][i]];
    for (i = 0; i < n->from_count; i++)
        n->from_values[i] =
            i < n->from_length ? &others[plan->from[s][k][i]]->value : (double *)(uintptr_t)17;
    memcpy(n->coeffs, plan->coeff[s][k], (size_t)n->from_length * sizeof(double));
}

static graph_t *em3d_make(const em3d_plan *plan)
{
    static node_t *all[2][SIDE];
    graph_t *g = PUT(graph_t);
    int s, k;
    for (k = 0; k < 2 * SIDE; k++)
        all[k & 1][k / 2] = PUT(node_t);
    for (s = 0; s < 2; s++)
        for (k = 0; k < SIDE; k++) {
            em3d_fill(all[s][k], all[!s], plan, s, k);
            all[s][k]->next = k + 1 < SIDE ? all[s][k + 1] : NULL;
        }
    g->e_nodes = all[0][0];
    g->h_nodes = all[1][0];
    return g;
}

static uint64_t em3d_foresee(em3d_plan *plan)
{
    uint64_t seen = 0;
    int s, k, i;
    for (s = 0; s < 2; s++)
        for (k = 0; k < SIDE; k++) {
            for (i = 0; i < plan->count[s][k]; i++)
                plan->value[s][k] -= plan->coeff[s][k][i] * plan->value[!s][plan->from[s][k][i]];
            see_real(&seen, plan->value[s][k]);
            for (i = 0; i < DEGREE; i++)
                see(&seen, (uint64_t)plan->count[!s][plan->to[s][k][i]]);
        }
    return seen;
}

static void compute_nodes(node_t *n, uint64_t *seen)
{
    int i;
    for (; n; n = n->next) {
        for (i = 0; i < n->from_length; i++)
            n->value -= n->coeffs[i] * *n->from_values[i];
        see_real(seen, n->value);
        for (i = 0; i < DEGREE; i++)
            see(seen, (uint64_t)n->to_nodes[i]->from_length);
    }
}

static void em3d_walk(void *argument)
{
    visit *v = argument;
    graph_t *g = v->root;
    compute_nodes(g->e_nodes, &v->seen);
    compute_nodes(g->h_nodes, &v->seen);
}

TEST(structures_olden, em3d_nodes_compute_from_the_values_within_other_nodes)
{
    static const haul_field is_set = { .when = HAUL_WHEN_FN(value_is_set) };
    journey j = { .walk = em3d_walk };
    int nodes = DEGREE;
    em3d_plan *plan;
    site_start(60);
    the.options.argument = &nodes;
    em3d_open(&is_set);
    plan = em3d_draw();
    j.root = em3d_make(plan);
    j.type = graph_t_type;
    j.seen = em3d_foresee(plan);
    travel(&j);
    em3d_close();
    site_end();
}

TEST(structures_olden, em3d_places_that_were_never_filled_are_refused_as_pointers)
{
    int nodes = DEGREE;
    graph_t *g;
    site_start(60);
    the.options.argument = &nodes;
    em3d_open(NULL);
    g = em3d_make(em3d_draw());
    refuse_graph(g, graph_t_type, HAUL_ERROR_GRAPH, "root.e_nodes.from_values[6]", NULL,
                 "outside any process's address range");
    em3d_close();
    site_end();
}
