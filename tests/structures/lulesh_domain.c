/* LULESH. Vectors are three pointers. Symmetry planes have nodes only in domains that touch
 * them; buffers for neighbours are there only if there are any. The corners of all nodes are one
 * list, as long as the last of the places where each node's begin; elements of region r are
 * regElemSize[r].
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum {
    EDGE = 6,
    NUM_ELEM = EDGE * EDGE * EDGE,
    NUM_NODE = (EDGE + 1) * (EDGE + 1) * (EDGE + 1),
    REGIONS = 5
};
enum { MAX_FIELDS = 6, CACHE_REALS = 16 };

typedef int Index_t;

typedef struct real_vector {
    double *begin, *end, *room;
} real_vector;

typedef struct index_vector {
    Index_t *begin, *end, *room;
} index_vector;

typedef struct Domain {
    real_vector x, y, z, e, p;
    index_vector symmX, symmY, nodelist;
    Index_t numReg, *regElemSize, *regNumList, **regElemlist;
    Index_t numElem, numNode, maxPlaneSize, rowMin, rowMax;
    Index_t *nodeElemStart, *nodeElemCornerList;
    double *commDataSend, *commDataRecv;
} Domain;

static haul_type *real_vector_type, *index_vector_type, *lulesh_type;

HAUL_FUNCTION(region_size, Domain, self->regElemSize[here->index])
HAUL_FUNCTION(corners, Domain, self->nodeElemStart[self->numNode])
HAUL_FUNCTION(corners_but_one, Domain, self->nodeElemStart[self->numNode - 1])
HAUL_FUNCTION(comm_room, Domain,
              (self->rowMin + self->rowMax) * MAX_FIELDS *
                  ((self->maxPlaneSize + CACHE_REALS - 1) & -CACHE_REALS))

static void lulesh_open(haul_function *corner_count)
{
    static const haul_field real_fields[] = {
        HAUL_ARRAY(real_vector, begin, HAUL_UNTIL(real_vector, room)),
        HAUL_ADDRESS(real_vector, end, .ownership = HAUL_BORROWED)
    };
    static const haul_field index_fields[] = {
        HAUL_ARRAY(index_vector, begin, HAUL_UNTIL(index_vector, room)),
        HAUL_ADDRESS(index_vector, end, .ownership = HAUL_BORROWED)
    };
    const haul_field fields[] = {
        HAUL_EMBED(Domain, x, &real_vector_type),
        HAUL_EMBED(Domain, y, &real_vector_type),
        HAUL_EMBED(Domain, z, &real_vector_type),
        HAUL_EMBED(Domain, e, &real_vector_type),
        HAUL_EMBED(Domain, p, &real_vector_type),
        HAUL_EMBED(Domain, symmX, &index_vector_type),
        HAUL_EMBED(Domain, symmY, &index_vector_type),
        HAUL_EMBED(Domain, nodelist, &index_vector_type),
        HAUL_ARRAY(Domain, regElemSize, HAUL_COUNT(Domain, numReg)),
        HAUL_ARRAY(Domain, regNumList, HAUL_COUNT(Domain, numElem)),
        HAUL_ARRAYS(Domain, regElemlist, HAUL_COUNT(Domain, numReg), HAUL_COUNT_FN(region_size)),
        HAUL_ARRAY(Domain, nodeElemStart, HAUL_COUNT_PLUS(Domain, numNode, 1)),
        HAUL_ARRAY(Domain, nodeElemCornerList, HAUL_COUNT_FN(corner_count)),
        HAUL_ARRAY(Domain, commDataSend, HAUL_COUNT_FN(comm_room)),
        HAUL_ARRAY(Domain, commDataRecv, HAUL_COUNT_FN(comm_room)),
    };
    real_vector_type = OPEN(real_vector, real_fields);
    index_vector_type = OPEN(index_vector, index_fields);
    lulesh_type = OPEN(Domain, fields);
    type_close(lulesh_type);
}

static void lulesh_close(void)
{
    haul_type_free(&lulesh_type);
    haul_type_free(&index_vector_type);
    haul_type_free(&real_vector_type);
}

static void reals_make(real_vector *v, int count)
{
    int i, room = count + 3;
    v->begin = PUT_ARRAY(double, room);
    v->end = v->begin + count;
    v->room = v->begin + room;
    for (i = 0; i < count; i++)
        v->begin[i] = i;
}

static void indices_make(index_vector *v, int count)
{
    v->begin = PUT_ARRAY(Index_t, count + 2);
    v->end = v->begin + count;
    v->room = v->begin + count + 2;
}

/* Node c of element k. */
static int node_of(int k, int c)
{
    int i = k % EDGE + (c & 1), j = k / EDGE % EDGE + (c >> 1 & 1), l = k / EDGE / EDGE + (c >> 2);
    return i + (EDGE + 1) * (j + (EDGE + 1) * l);
}

static void corners_make(Domain *d)
{
    int next[NUM_NODE], k, c, n;
    d->nodeElemStart = PUT_ARRAY(Index_t, NUM_NODE + 1);
    for (k = 0; k < NUM_ELEM; k++)
        for (c = 0; c < 8; c++)
            d->nodeElemStart[node_of(k, c) + 1]++;
    for (n = 0; n < NUM_NODE; n++) {
        next[n] = d->nodeElemStart[n];
        d->nodeElemStart[n + 1] += d->nodeElemStart[n];
    }
    d->nodeElemCornerList = PUT_ARRAY(Index_t, d->nodeElemStart[NUM_NODE]);
    for (k = 0; k < NUM_ELEM; k++)
        for (c = 0; c < 8; c++)
            d->nodeElemCornerList[next[node_of(k, c)]++] = 8 * k + c;
}

static void regions_make(Domain *d)
{
    int k, r;
    d->numReg = REGIONS;
    d->regElemSize = PUT_ARRAY(Index_t, REGIONS);
    d->regNumList = PUT_ARRAY(Index_t, NUM_ELEM);
    d->regElemlist = PUT_ARRAY(Index_t *, REGIONS);
    for (k = 0; k < NUM_ELEM; k++)
        d->regElemSize[d->regNumList[k] = k * k % 7 % REGIONS]++;
    for (r = 0; r < REGIONS; r++) {
        d->regElemlist[r] = d->regElemSize[r] ? PUT_ARRAY(Index_t, d->regElemSize[r]) : NULL;
        d->regElemSize[r] = 0;
    }
    for (k = 0; k < NUM_ELEM; k++) {
        r = d->regNumList[k];
        d->regElemlist[r][d->regElemSize[r]++] = k;
    }
}

/* At the lower end in y, with a neighbour above in z. */
static Domain *lulesh_make(void)
{
    Domain *d = PUT(Domain);
    int k, c;
    d->numElem = NUM_ELEM;
    d->numNode = NUM_NODE;
    d->maxPlaneSize = (EDGE + 1) * (EDGE + 1);
    d->rowMax = 1;
    reals_make(&d->x, NUM_NODE);
    reals_make(&d->y, NUM_NODE);
    reals_make(&d->z, NUM_NODE);
    reals_make(&d->e, NUM_ELEM);
    reals_make(&d->p, NUM_ELEM);
    indices_make(&d->symmY, d->maxPlaneSize);
    indices_make(&d->nodelist, 8 * NUM_ELEM);
    for (k = 0; k < NUM_ELEM; k++)
        for (c = 0; c < 8; c++)
            d->nodelist.begin[8 * k + c] = node_of(k, c);
    corners_make(d);
    regions_make(d);
    d->commDataSend = PUT_ARRAY(double, MAX_FIELDS * 64);
    d->commDataRecv = PUT_ARRAY(double, MAX_FIELDS * 64);
    d->commDataRecv[MAX_FIELDS * 64 - 1] = 9;
    return d;
}

/* Each node gathers the energies of the elements round it: those of which it is a corner. */
static uint64_t lulesh_foresee(void)
{
    static int64_t gathered[NUM_NODE];
    uint64_t seen = 0;
    int k, c, n, r;
    memset(gathered, 0, sizeof gathered);
    for (k = 0; k < NUM_ELEM; k++)
        for (c = 0; c < 8; c++)
            gathered[node_of(k, c)] += k;
    for (n = 0; n < NUM_NODE; n++)
        see(&seen, (uint64_t)gathered[n]);
    for (r = 0; r < REGIONS; r++)
        for (k = 0; k < NUM_ELEM; k++)
            if (k * k % 7 % REGIONS == r)
                see(&seen, (uint64_t)k);
    see(&seen, 9);
    return seen;
}

static void lulesh_walk(void *argument)
{
    visit *v = argument;
    Domain *d = v->root;
    int n, c, r, k;
    for (n = 0; n < d->z.end - d->z.begin; n++) {
        int64_t gathered = 0;
        for (c = d->nodeElemStart[n]; c < d->nodeElemStart[n + 1]; c++) {
            int corner = d->nodeElemCornerList[c];
            gathered += d->nodelist.begin[corner] == n ? (int64_t)d->e.begin[corner / 8] : 1 << 20;
        }
        see(&v->seen, (uint64_t)gathered);
        d->x.begin[n] = (double)gathered;
    }
    for (r = 0; r < d->numReg; r++)
        for (k = 0; k < d->regElemSize[r]; k++) {
            see(&v->seen, (uint64_t)d->regElemlist[r][k]);
            d->p.begin[d->regElemlist[r][k]] += r;
        }
    see(&v->seen, (uint64_t)d->commDataRecv[MAX_FIELDS * 64 - 1]);
    d->commDataSend[MAX_FIELDS * 64 - 1] = 8;
    *d->y.end = 5; /* there is room */
    if (d->symmX.begin || d->symmY.end - d->symmY.begin != d->maxPlaneSize)
        see(&v->seen, 0);
}

TEST(structures_lulesh,
     LULESH_nodes_gather_from_the_corners_of_elements_and_regions_have_lists_of_their_own)
{
    journey j = { .walk = lulesh_walk };
    site_start(72);
    lulesh_open(corners);
    j.root = lulesh_make();
    j.type = lulesh_type;
    j.seen = lulesh_foresee();
    travel(&j);
    lulesh_close();
    site_end();
}

/* Eight of 1728 corners too few: only an allocator that knows its blocks to the byte could tell.
 * The walk there reads what no row described. */
TEST(structures_lulesh,
     LULESH_a_list_described_up_to_its_last_node_is_told_by_an_audit_that_knows_blocks_exactly)
{
    site_start(72);
    lulesh_open(corners_but_one);
    audit_of_exact_blocks_tells(lulesh_make(), lulesh_type, 1, "root.nodeElemCornerList[0]",
                                "of its block of");
    lulesh_close();
    site_end();
}
