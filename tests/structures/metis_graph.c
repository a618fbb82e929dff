/* METIS. Levels of a graph, each half of the finer one. The finest level's structure is the
 * caller's, who holds it too; a level has what its place asks for.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { LEVELS = 5, FINEST = 640, CONSTRAINTS = 2 };

typedef struct graph_t {
    int nvtxs, nedges, ncon;
    int *xadj, *vwgt, *vsize, *adjncy, *adjwgt, *tvwgt;
    float *invtvwgt;
    int free_xadj, free_vwgt, free_vsize, free_adjncy, free_adjwgt;
    int *label, *cmap; /* cmap: to the coarser level, if there is one */
    int mincut, minvol, *where, *pwgts, nbnd, *bndptr, *bndind, *id, *ed;
    void *ckrinfo, *vkrinfo, *nrinfo;
    struct graph_t *coarser, *finer;
} graph_t;

typedef struct partition {
    int nvtxs, *xadj, *adjncy, *part; /* the caller's; part is the finest level's where */
    graph_t *graph;
} partition;

static haul_type *graph_type, *partition_type;

HAUL_FUNCTION(vertices, graph_t, self->nvtxs)
HAUL_FUNCTION(caller_edges, partition, self->xadj[self->nvtxs])

static void metis_open(void)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(graph_t, xadj, HAUL_COUNT_PLUS(graph_t, nvtxs, 1)),
        HAUL_ARRAY(graph_t, vwgt, HAUL_COUNT(graph_t, nvtxs, ncon)),
        HAUL_ARRAY(graph_t, vsize, HAUL_COUNT_FN(vertices)),
        HAUL_ARRAY(graph_t, adjncy, HAUL_COUNT(graph_t, nedges)),
        HAUL_ARRAY(graph_t, adjwgt, HAUL_COUNT(graph_t, nedges)),
        HAUL_ARRAY(graph_t, tvwgt, HAUL_COUNT(graph_t, ncon)),
        HAUL_ARRAY(graph_t, invtvwgt, HAUL_COUNT(graph_t, ncon)),
        HAUL_ARRAY(graph_t, label, HAUL_COUNT_FN(vertices)),
        HAUL_ARRAY(graph_t, cmap, HAUL_COUNT_FN(vertices)),
        HAUL_ARRAY(graph_t, where, HAUL_COUNT(graph_t, nvtxs)),
        HAUL_OBJECT(graph_t, coarser, &graph_type),
        HAUL_OBJECT(graph_t, finer, &graph_type),
    };
    static const haul_field partition_fields[] = {
        HAUL_ARRAY(partition, xadj, HAUL_COUNT_PLUS(partition, nvtxs, 1)),
        HAUL_ARRAY(partition, adjncy, HAUL_COUNT_FN(caller_edges)),
        HAUL_ARRAY(partition, part, HAUL_COUNT(partition, nvtxs)),
        HAUL_OBJECT(partition, graph, &graph_type),
    };
    graph_type = OPEN(graph_t, fields);
    partition_type = OPEN(partition, partition_fields);
    type_close(partition_type);
}

static int *ints_make(int count)
{
    return put_elements((size_t)count, sizeof(int));
}

/* A ring with chords. */
static graph_t *level_make(int n, graph_t *finer)
{
    graph_t *g = put_elements(1, sizeof *g);
    int v, k;
    g->nvtxs = n;
    g->nedges = 3 * n;
    g->ncon = CONSTRAINTS;
    g->xadj = ints_make(n + 1);
    g->adjncy = ints_make(g->nedges);
    g->adjwgt = ints_make(g->nedges);
    g->vwgt = ints_make(n * CONSTRAINTS);
    g->tvwgt = ints_make(CONSTRAINTS);
    g->invtvwgt = put_elements(CONSTRAINTS, sizeof *g->invtvwgt);
    g->where = ints_make(n);
    for (v = 0; v < n; v++) {
        g->xadj[v + 1] = 3 * v + 3;
        g->vwgt[v * CONSTRAINTS] = chance(1, 5);
        for (k = 0; k < 3; k++) {
            g->adjncy[3 * v + k] = k == 0   ? (v + 1) % n
                                   : k == 1 ? (v + n - 1) % n
                                            : chance(0, n - 1);
            g->adjwgt[3 * v + k] = chance(1, 9);
            the.told += (int64_t)g->adjwgt[3 * v + k] * g->adjncy[3 * v + k];
        }
    }
    if (finer) {
        g->finer = finer;
        finer->coarser = g;
        finer->cmap = ints_make(finer->nvtxs);
        for (v = 0; v < finer->nvtxs; v++)
            finer->cmap[v] = v / 2;
        g->free_xadj = g->free_adjncy = 1;
    } else {
        g->vsize = ints_make(n);
        g->label = ints_make(n);
    }
    return g;
}

static partition *partition_make(void)
{
    partition *p = put_elements(1, sizeof *p);
    graph_t *g = p->graph = level_make(FINEST, NULL);
    int level;
    p->nvtxs = FINEST;
    p->xadj = g->xadj;
    p->adjncy = g->adjncy;
    p->part = g->where;
    for (level = 1; level < LEVELS; level++)
        g = level_make(FINEST >> level, g);
    for (level = 0; level < g->nvtxs; level++)
        g->where[level] = level % 2;
    return p;
}

/* Down to the coarsest level, and with its halves up again. */
static int64_t partition_walk(void *root, size_t count)
{
    partition *p = root;
    graph_t *g = p->graph;
    int64_t sum = 0;
    int v, k;
    (void)count;
    for (;; g = g->coarser) {
        for (v = 0; v < g->nvtxs; v++)
            for (k = g->xadj[v]; k < g->xadj[v + 1]; k++)
                sum += (int64_t)g->adjwgt[k] * g->adjncy[k];
        if (!g->coarser)
            break;
    }
    for (g = g->finer; g; g = g->finer)
        for (v = 0; v < g->nvtxs; v++)
            g->where[v] = g->coarser->where[g->cmap[v]];
    return p->part[FINEST - 1] == 1 && p->part[0] == 0 ? sum : -1;
}

TEST(structures_metis, METIS_levels_of_a_graph_whose_finest_one_is_the_callers)
{
    site_start(122);
    metis_open();
    travel_and_sum(partition_make(), partition_type, 1, partition_walk);
    SITE_END(&graph_type, &partition_type);
}
