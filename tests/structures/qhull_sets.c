/* Sets of qhull (CTX): of vertices, of ridges, of facets, and of points, as the field says that
 * leads to one.
 */
#define _DEFAULT_SOURCE
#include "qhull_set.h"

enum { DIMENSION = 3, FACETS = 300, POINTS = 5000 };

typedef struct vertexT {
    struct vertexT *next;
    coordT *point;
    setT *neighbors; /* of facets */
    unsigned id, visitid;
} vertexT;

typedef struct ridgeT {
    setT *vertices;
    struct facetT *top, *bottom;
    unsigned id;
} ridgeT;

typedef struct facetT {
    struct facetT *next;
    setT *vertices, *ridges, *neighbors;
    setT *outsideset; /* of points */
    double furthestdist;
    unsigned id;
} facetT;

typedef struct qhT {
    int hull_dim, num_points;
    coordT *first_point;
    facetT *facet_list; /* the last one, of id 0, is no facet */
    vertexT *vertex_list;
} qhT;

/* What a point in a set leads to: hull_dim coordinates. */
typedef struct pointT {
    coordT x[1];
} pointT;

/* ---- Types. */

static haul_type *vertexT_type, *ridgeT_type, *facetT_type, *pointT_type, *qhT_type;
static haul_type *vertices, *ridges, *facets, *points;

HAUL_FUNCTION(dimension, pointT, ((const qhT *)here->root)->hull_dim)
HAUL_FUNCTION(all_coordinates, qhT, (int64_t)self->num_points * self->hull_dim)

/* What a facet's vertices are said to be. */
static void hull_open(haul_type *const *facet_vertices)
{
    static const haul_field vertex_fields[] = { HAUL_OBJECT(vertexT, next, &vertexT_type),
                                                HAUL_ADDRESS(vertexT, point,
                                                             .target = &pointT_type),
                                                HAUL_OBJECT(vertexT, neighbors, &facets) };
    static const haul_field ridge_fields[] = { HAUL_OBJECT(ridgeT, vertices, &vertices),
                                               HAUL_OBJECT(ridgeT, top, &facetT_type),
                                               HAUL_OBJECT(ridgeT, bottom, &facetT_type) };
    static const haul_field point_fields[] = { HAUL_TAIL(pointT, x, HAUL_COUNT_FN(dimension)) };
    static const haul_field hull_fields[] = {
        HAUL_ARRAY(qhT, first_point, HAUL_COUNT_FN(all_coordinates)),
        HAUL_OBJECT(qhT, facet_list, &facetT_type), HAUL_OBJECT(qhT, vertex_list, &vertexT_type)
    };
    const haul_field facet_fields[] = { HAUL_OBJECT(facetT, next, &facetT_type),
                                        HAUL_OBJECT(facetT, vertices, facet_vertices),
                                        HAUL_OBJECT(facetT, ridges, &ridges),
                                        HAUL_OBJECT(facetT, neighbors, &facets),
                                        HAUL_OBJECT(facetT, outsideset, &points) };
    set_open(0);
    vertexT_type = OPEN(vertexT, vertex_fields);
    ridgeT_type = OPEN(ridgeT, ridge_fields);
    facetT_type = OPEN(facetT, facet_fields);
    pointT_type = OPEN(pointT, point_fields);
    qhT_type = OPEN(qhT, hull_fields);
    vertices = set_of(vertexT_type);
    ridges = set_of(ridgeT_type);
    facets = set_of(facetT_type);
    points = set_of(pointT_type);
}

static void hull_close(void)
{
    haul_type **all[] = { &qhT_type,    &vertices,      &ridges,      &facets,
                          &points,      &vertexT_type,  &ridgeT_type, &facetT_type,
                          &pointT_type, &setelemT_type, &setT_type,   &element };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

/* ---- A ring of facets: each shares two of its three vertices, and a ridge, with the next one. */

static setT *set_make(int maxsize)
{
    setT *set = set_room_make(maxsize);
    set->e[maxsize].i = 1;
    return set;
}

static void set_append(setT *set, void *what)
{
    int size = set_size(set);
    CHECK(size < set->maxsize);
    set->e[set->maxsize].i = size + 2;
    set->e[size].p = what;
    if (size + 1 == set->maxsize)
        set->e[set->maxsize].p = NULL;
}

/* The last one takes its place; what was there stays behind the end. */
static void set_remove_first(setT *set)
{
    int last = set_size(set) - 1;
    void *gone = set->e[0].p;
    set->e[0].p = set->e[last].p;
    set->e[last].p = NULL;
    set->e[set->maxsize].p = NULL;
    set->e[set->maxsize].i = last + 1;
    if (last + 1 < set->maxsize)
        set->e[last + 1].p = gone;
}

static void facet_fill(qhT *qh, facetT *const *facet, vertexT *const *vertex, ridgeT *const *ridge,
                       size_t i)
{
    size_t next = (i + 1) % FACETS, before = (i + FACETS - 1) % FACETS, k;
    facetT *f = facet[i];
    for (k = 0; k < 3; k++) {
        set_append(f->vertices, vertex[(i + k) % FACETS]);
        set_append(vertex[(i + k) % FACETS]->neighbors, f);
    }
    set_append(f->neighbors, facet[before]);
    set_append(f->neighbors, facet[next]);
    set_append(f->ridges, ridge[before]);
    set_append(f->ridges, ridge[i]);
    for (k = 0; k < i % 20; k++)
        set_append(f->outsideset, &qh->first_point[(i * 17 + k * 5) % POINTS * DIMENSION]);
    if (i % 20 > 2)
        set_remove_first(f->outsideset);
    set_append(ridge[i]->vertices, vertex[next]);
    set_append(ridge[i]->vertices, vertex[(i + 2) % FACETS]);
    ridge[i]->top = f;
    ridge[i]->bottom = facet[next];
}

static qhT *hull_make(void)
{
    static facetT *facet[FACETS + 1];
    static vertexT *vertex[FACETS];
    static ridgeT *ridge[FACETS];
    qhT *qh = PUT(qhT);
    size_t i;
    qh->hull_dim = DIMENSION;
    qh->num_points = POINTS;
    qh->first_point = PUT_ARRAY(coordT, POINTS * DIMENSION);
    for (i = 0; i < POINTS * DIMENSION; i++)
        qh->first_point[i] = (double)i;
    for (i = 0; i < FACETS; i++) {
        facet[i] = PUT(facetT);
        facet[i]->id = (unsigned)i + 1;
        facet[i]->vertices = set_make(3); /* full; the others have room */
        facet[i]->neighbors = set_make(4);
        facet[i]->ridges = set_make(5);
        facet[i]->outsideset = set_make(24);
        vertex[i] = PUT(vertexT);
        vertex[i]->id = (unsigned)i;
        vertex[i]->point = &qh->first_point[i * DIMENSION];
        vertex[i]->neighbors = set_make(3);
        ridge[i] = PUT(ridgeT);
        ridge[i]->id = (unsigned)i;
        ridge[i]->vertices = set_make(2);
    }
    facet[FACETS] = PUT(facetT);
    for (i = 0; i < FACETS; i++) {
        facet_fill(qh, facet, vertex, ridge, i);
        facet[i]->next = facet[i + 1];
        vertex[i]->next = i + 1 < FACETS ? vertex[i + 1] : NULL;
    }
    qh->facet_list = facet[0];
    qh->vertex_list = vertex[0];
    return qh;
}

/* What a walk sees of points: those outside of facet i, without the first and with the last in its
 * place. */
static void foresee_points(uint64_t *seen, size_t i)
{
    size_t n = i % 20, k;
    for (k = 0; k < n - (n > 2); k++)
        see_real(seen,
                 (double)((i * 17 + (n > 2 && k == 0 ? n - 1 : k) * 5) % POINTS * DIMENSION + 2));
}

static uint64_t foresee(void)
{
    uint64_t seen = 0;
    size_t i, k;
    for (i = 0; i < FACETS; i++) {
        for (k = 0; k < 3; k++)
            see(&seen, (i + k) % FACETS);
        see(&seen, (i + FACETS - 1) % FACETS + 1);
        see(&seen, (i + 1) % FACETS + 1);
        see(&seen, (i + 1) % FACETS + 1); /* over the ridge */
        foresee_points(&seen, i);
    }
    return seen;
}

static void hull_walk(void *argument)
{
    visit *v = argument;
    qhT *qh = v->root;
    facetT *f;
    vertexT *w;
    int k;
    for (f = qh->facet_list; f->id; f = f->next) {
        for (k = 0; k < set_size(f->vertices); k++)
            see(&v->seen, ((vertexT *)f->vertices->e[k].p)->id);
        for (k = 0; k < set_size(f->neighbors); k++)
            see(&v->seen, ((facetT *)f->neighbors->e[k].p)->id);
        see(&v->seen, ((ridgeT *)f->ridges->e[1].p)->bottom->id);
        for (k = 0; k < set_size(f->outsideset); k++) {
            coordT *x = f->outsideset->e[k].p;
            see_real(&v->seen, x[2]);
            f->furthestdist += x[0];
        }
    }
    for (w = qh->vertex_list; w; w = w->next)
        for (k = 0; k < set_size(w->neighbors); k++)
            w->visitid += ((facetT *)w->neighbors->e[k].p)->id;
}

TEST(structures_qhull, sets_of_facets_vertices_ridges_and_points_are_one_description)
{
    journey j = { .walk = hull_walk };
    site_start(26);
    hull_open(&vertices);
    type_close(qhT_type);
    CHECK_STR(haul_type_name(points), "setT<pointT>");
    j.root = hull_make();
    j.type = qhT_type;
    j.seen = foresee();
    travel(&j);
    hull_close();
    site_end();
}

TEST(structures_qhull, a_set_that_is_described_as_one_of_other_things_is_refused_with_both_paths)
{
    site_start(26);
    hull_open(&ridges);
    type_close(qhT_type);
    refuse_graph(hull_make(), qhT_type, HAUL_ERROR_GRAPH, "root.facet_list.vertices.e[0].p",
                 "root.vertex_list", "one address is reached as a ridgeT and as a vertexT");
    hull_close();
    site_end();
}

TEST(structures_qhull, a_set_of_which_nobody_says_what_it_holds_is_refused)
{
    hull_open(&setT_type);
    refuse_type(qhT_type, "setT", "a container that has instances");
    hull_close();
}
