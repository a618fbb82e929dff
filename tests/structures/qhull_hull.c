/* qhull's hull as a whole (CNT EXPR FAR CAP TERM HDR FAM PARR ROWS SHARE BACK UNI BITS CTX COND
 * FUNC IDX). Its sets alone are in qhull_sets.c, all arms of a facet's union in
 * qhull_facets.c.
 *
 * Lists of facets and of vertices end in a sentinel. The neighbours of a facet are facets, or the
 * constants 1 and 2 while facets are merged. A set has its size behind its room; how long a point
 * or a normal is, the hull says. A facet that is a part of a larger one has its centre and normal
 * from that. Files and the place to return to on errors are the host's.
 */
#define _DEFAULT_SOURCE
#include <setjmp.h>

#include "qhull_set.h"

enum { DIMENSION = 3, FACETS = 240, POINTS = 900, CORNERS = 3 };
#define MERGE_RIDGE ((void *)(uintptr_t)1)
#define DUPLICATE_RIDGE ((void *)(uintptr_t)2)

typedef struct facetT facetT;

typedef struct vertexT {
    struct vertexT *next, *previous;
    coordT *point;
    setT *neighbors;
    unsigned id, visitid;
} vertexT;

typedef struct ridgeT {
    setT *vertices;
    facetT *top, *bottom;
    unsigned id;
} ridgeT;

struct facetT {
    coordT furthestdist, offset, *normal;
    union {
        double area;      /* isarea */
        facetT *replace;  /* visible, of the host's own bookkeeping */
        facetT *triowner; /* tricoplanar */
    } f;
    coordT *center;
    facetT *previous, *next;
    setT *vertices, *ridges, *neighbors, *outsideset;
    unsigned visitid, id;
    unsigned tricoplanar : 1, visible : 1, isarea : 1, keepcentrum : 1;
};

typedef struct qhT {
    int hull_dim, num_points, normal_size;
    coordT *first_point;
    facetT *facet_list, *facet_tail, *facet_next;
    vertexT *vertex_list, *vertex_tail;
    setT *other_points;
    FILE *fin, *ferr;
    jmp_buf errexit;
    char *rbox_command;
    char qhull_command[64];
} qhT;

typedef struct pointT {
    coordT x[1];
} pointT;

/* ---- Types. */

static haul_type *vertexT_type, *ridgeT_type, *facetT_type, *pointT_type, *qhT_type;
static haul_type *vertices, *ridges, *facets, *points;

static int64_t dimension(const haul_here *here)
{
    return ((const qhT *)here->root)->hull_dim;
}

HAUL_FUNCTION(all_coordinates, qhT, (int64_t)self->num_points * self->hull_dim)
HAUL_FUNCTION(has_area, facetT, (self->isarea) != 0)
HAUL_FUNCTION(is_replaced, facetT, self->visible && !self->isarea)
HAUL_FUNCTION(has_owner, facetT,
              self->tricoplanar && !self->visible && !self->isarea && !self->keepcentrum)

static void facets_open(void)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(facetT, normal, HAUL_COUNT_FN(dimension)),
        HAUL_RAW(facetT, f.area, .when = HAUL_WHEN_FN(has_area)),
        HAUL_OBJECT(facetT, f.replace, &facetT_type, .when = HAUL_WHEN_FN(is_replaced)),
        HAUL_OBJECT(facetT, f.triowner, &facetT_type, .when = HAUL_WHEN_FN(has_owner)),
        HAUL_ARRAY(facetT, center, HAUL_COUNT_FN(dimension)),
        HAUL_OBJECT(facetT, previous, &facetT_type),
        HAUL_OBJECT(facetT, next, &facetT_type),
        HAUL_OBJECT(facetT, vertices, &vertices),
        HAUL_OBJECT(facetT, ridges, &ridges),
        HAUL_OBJECT(facetT, neighbors, &facets),
        HAUL_OBJECT(facetT, outsideset, &points),
    };
    facetT_type = OPEN(facetT, fields);
}

static void hull_open(uintptr_t integer_below)
{
    static const haul_field vertex_fields[] = {
        HAUL_OBJECT(vertexT, next, &vertexT_type),
        HAUL_OBJECT(vertexT, previous, &vertexT_type),
        HAUL_ADDRESS(vertexT, point, .target = &pointT_type),
        HAUL_OBJECT(vertexT, neighbors, &facets),
    };
    static const haul_field ridge_fields[] = { HAUL_OBJECT(ridgeT, vertices, &vertices),
                                               HAUL_OBJECT(ridgeT, top, &facetT_type),
                                               HAUL_OBJECT(ridgeT, bottom, &facetT_type) };
    static const haul_field point_fields[] = { HAUL_TAIL(pointT, x, HAUL_COUNT_FN(dimension)) };
    static const haul_field hull_fields[] = {
        HAUL_ARRAY(qhT, first_point, HAUL_COUNT_FN(all_coordinates)),
        HAUL_OBJECT(qhT, facet_list, &facetT_type),
        HAUL_OBJECT(qhT, facet_tail, &facetT_type),
        HAUL_OBJECT(qhT, facet_next, &facetT_type),
        HAUL_OBJECT(qhT, vertex_list, &vertexT_type),
        HAUL_OBJECT(qhT, vertex_tail, &vertexT_type),
        HAUL_OBJECT(qhT, other_points, &points),
        HAUL_ADDRESS(qhT, fin, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(qhT, ferr, .ownership = HAUL_EXTERNAL),
        HAUL_SKIP(qhT, errexit),
        HAUL_STRING(qhT, rbox_command),
    };
    set_open(integer_below);
    facets_open();
    vertexT_type = OPEN(vertexT, vertex_fields);
    ridgeT_type = OPEN(ridgeT, ridge_fields);
    pointT_type = OPEN(pointT, point_fields);
    qhT_type = OPEN(qhT, hull_fields);
    vertices = set_of(vertexT_type);
    ridges = set_of(ridgeT_type);
    facets = set_of(facetT_type);
    points = set_of(pointT_type);
    type_close(qhT_type);
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

/* ---- A ring of facets, each of which shares two corners and a ridge with the next. */

/* Behind the elements, and the NULL that ends them, stands what was there before. */
static setT *set_make(int maxsize, int size)
{
    setT *set = set_room_make(maxsize);
    int i;
    for (i = size + 1; i < maxsize; i++)
        set->e[i].p = (void *)(uintptr_t)17;
    if (size < maxsize)
        set->e[maxsize].i = size + 1;
    return set;
}

static coordT *coordinates_make(double first)
{
    coordT *x = PUT_ARRAY(coordT, DIMENSION);
    x[0] = first;
    return x;
}

/* Every sixth is a part of the one before: it has that one's normal and centre. */
static void facet_fill(qhT *qh, facetT *const *all, vertexT *const *vertex, ridgeT *const *ridge,
                       int i)
{
    facetT *f = all[i], *owner = i % 6 == 5 ? all[i - 1] : NULL;
    int before = (i + FACETS - 1) % FACETS, next = (i + 1) % FACETS, k;
    f->id = (unsigned)i + 1;
    f->normal = owner ? owner->normal : coordinates_make(i);
    f->center = owner ? owner->center : coordinates_make(2 * i);
    f->tricoplanar = owner != NULL;
    f->isarea = i % 6 == 0;
    f->visible = i % 6 == 1;
    f->f.area = i + 0.5; /* of no meaning where it is none */
    if (owner)
        f->f.triowner = owner;
    if (f->visible)
        f->f.replace = all[next];
    f->vertices = set_make(CORNERS, CORNERS);
    for (k = 0; k < CORNERS; k++)
        f->vertices->e[k].p = vertex[(i + k) % FACETS];
    f->neighbors = set_make(6, 4);
    f->neighbors->e[0].p = i % 4 == 3 ? MERGE_RIDGE : (void *)all[before];
    f->neighbors->e[1].p = all[next];
    f->neighbors->e[2].p = DUPLICATE_RIDGE;
    f->neighbors->e[3].p = all[i * 7 % FACETS];
    f->ridges = set_make(4, 2);
    f->ridges->e[0].p = ridge[before];
    f->ridges->e[1].p = ridge[i];
    if (i % 3 == 0) {
        f->outsideset = set_make(5, 1 + i % 5);
        for (k = 0; k < 1 + i % 5; k++)
            f->outsideset->e[k].p = &qh->first_point[(i + k) * DIMENSION];
    }
    ridge[i]->vertices = set_make(CORNERS - 1, CORNERS - 1);
    ridge[i]->vertices->e[0].p = vertex[next];
    ridge[i]->vertices->e[1].p = vertex[(i + 2) % FACETS];
    ridge[i]->top = f;
    ridge[i]->bottom = all[next];
}

static void vertex_fill(const qhT *qh, vertexT *v, facetT *const *all, int i)
{
    int k;
    v->id = (unsigned)i + 1;
    v->point = &qh->first_point[i * DIMENSION];
    v->neighbors = set_make(CORNERS, CORNERS);
    for (k = 0; k < CORNERS; k++)
        v->neighbors->e[k].p = all[(i + FACETS - k) % FACETS];
}

static qhT *hull_make(void)
{
    static facetT *facet[FACETS + 1];
    static vertexT *vertex[FACETS + 1];
    static ridgeT *ridge[FACETS];
    qhT *qh = PUT(qhT);
    int i;
    qh->hull_dim = DIMENSION;
    qh->num_points = POINTS;
    qh->first_point = PUT_ARRAY(coordT, POINTS * DIMENSION);
    for (i = 0; i < POINTS * DIMENSION; i++)
        qh->first_point[i] = i;
    for (i = 0; i <= FACETS; i++) {
        facet[i] = PUT(facetT);
        vertex[i] = PUT(vertexT);
        if (i < FACETS)
            ridge[i] = PUT(ridgeT);
    }
    for (i = 0; i < FACETS; i++) {
        facet_fill(qh, facet, vertex, ridge, i);
        vertex_fill(qh, vertex[i], facet, i);
        facet[i]->next = facet[i + 1], facet[i + 1]->previous = facet[i];
        vertex[i]->next = vertex[i + 1], vertex[i + 1]->previous = vertex[i];
    }
    qh->facet_list = qh->facet_next = facet[0], qh->facet_tail = facet[FACETS];
    qh->vertex_list = vertex[0], qh->vertex_tail = vertex[FACETS];
    qh->other_points = set_make(3, 1);
    qh->other_points->e[0].p = &qh->first_point[(POINTS - 1) * DIMENSION];
    qh->fin = stdin;
    qh->ferr = stderr;
    qh->rbox_command = put_text("rbox 900");
    memset(&qh->errexit, 0x11, sizeof qh->errexit);
    return qh;
}

static uint64_t hull_foresee(void)
{
    uint64_t seen = 0;
    int i, k;
    for (i = 0; i < FACETS; i++) {
        see(&seen, (uint64_t)(i % 6 == 5 ? i - 1 : i));
        see(&seen, i % 4 == 3 ? 0 : (uint64_t)(i + FACETS - 1) % FACETS + 1);
        see(&seen, (uint64_t)(i + 1) % FACETS + 1);
        see(&seen, 0);
        see(&seen, (uint64_t)(i * 7 % FACETS) + 1);
        see(&seen, (uint64_t)(i + 1) % FACETS + 1); /* over the ridge */
        for (k = 0; k < CORNERS; k++)
            see_real(&seen, (i + k) % FACETS * DIMENSION + 1);
        for (k = 0; i % 3 == 0 && k < 1 + i % 5; k++)
            see_real(&seen, (i + k) * DIMENSION + 2);
        if (i % 6 == 0)
            see_real(&seen, i + 0.5);
        if (i % 6 == 1 || i % 6 == 5)
            see(&seen, (uint64_t)(i % 6 == 1 ? i + 2 : i));
    }
    see_real(&seen, (POINTS - 1) * DIMENSION);
    see_text(&seen, "rbox 900");
    return seen;
}

static void meet_facet(facetT *f, uint64_t *seen)
{
    int k;
    see(seen, (uint64_t)f->normal[0]);
    for (k = 0; k < set_size(f->neighbors); k++) {
        void *neighbour = f->neighbors->e[k].p;
        see(seen, neighbour == MERGE_RIDGE || neighbour == DUPLICATE_RIDGE
                      ? 0
                      : ((facetT *)neighbour)->id);
    }
    see(seen, ((ridgeT *)f->ridges->e[1].p)->bottom->id);
    for (k = 0; k < set_size(f->vertices); k++) {
        vertexT *v = f->vertices->e[k].p;
        see_real(seen, v->point[1]);
        v->visitid += f->id;
    }
    for (k = 0; f->outsideset && k < set_size(f->outsideset); k++)
        see_real(seen, ((coordT *)f->outsideset->e[k].p)[2]);
    if (f->isarea)
        see_real(seen, f->f.area);
    else if (f->visible)
        see(seen, f->f.replace->id);
    else if (f->tricoplanar)
        see(seen, f->f.triowner->id);
    f->center[1] += 1;
    f->furthestdist = f->center[0];
}

static void hull_walk(void *argument)
{
    visit *v = argument;
    qhT *qh = v->root;
    facetT *f;
    vertexT *w;
    int count = 0;
    for (f = qh->facet_list; f->id; f = f->next)
        meet_facet(f, &v->seen);
    for (w = qh->vertex_tail->previous; w; w = w->previous)
        count += ((facetT *)w->neighbors->e[CORNERS - 1].p)->ridges != NULL;
    if (f != qh->facet_tail || count != FACETS || qh->ferr != stderr ||
        qh->facet_next != qh->facet_list)
        see(&v->seen, 1);
    see_real(&v->seen, *(coordT *)qh->other_points->e[0].p);
    see_text(&v->seen, qh->rbox_command);
    qh->qhull_command[0] = 'q';
}

TEST(structures_qhull, qhull_facets_vertices_ridges_and_sets_are_walked_there_to_their_sentinels)
{
    journey j = { .walk = hull_walk };
    site_start(120);
    hull_open(3);
    j.root = hull_make();
    j.type = qhT_type;
    j.seen = hull_foresee();
    travel(&j);
    hull_close();
    site_end();
}

TEST(structures_qhull, qhull_a_constant_that_stands_for_a_neighbour_is_refused_as_one)
{
    site_start(120);
    hull_open(2);
    refuse_graph(hull_make(), qhT_type, HAUL_ERROR_GRAPH, "root.facet_list.neighbors.e[2].p", NULL,
                 "outside any process's address range");
    hull_close();
    site_end();
}
