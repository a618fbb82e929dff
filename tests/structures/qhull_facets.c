/* qhull's facets. One word of a facet has six meanings, which bit-fields tell apart; a
 * key that khash has deleted is told by two bits of a word that serves sixteen places.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { FACETS = 6000 };

typedef struct facetT facetT;

struct facetT {
    double offset;
    double *normal; /* shared by facets that a triangulation has made of one */
    union {
        double area;        /* isarea */
        facetT *replace;    /* visible, and no newfacet */
        facetT *samecycle;  /* cycledone */
        facetT *newcycle;   /* newfacet */
        facetT *trivisible; /* visible and tricoplanar */
        facetT *triowner;   /* tricoplanar, and keepcentrum is not set */
    } f;
    facetT *previous, *next;
    unsigned visitid, id;
    unsigned nummerge : 9, tricoplanar : 1, newfacet : 1, visible : 1, toporient : 1,
        simplicial : 1, seen : 1;
    unsigned isarea : 1, cycledone : 1, keepcentrum : 1;
};

typedef struct qhT {
    int hull_dim;
    facetT *facet_list;
    unsigned num_facets;
} qhT;

static haul_type *facetT_type, *qhT_type;

HAUL_FUNCTION(facet_has_area, facetT, (self->isarea) != 0)
HAUL_FUNCTION(facet_is_not_visible, facetT, !self->visible)
HAUL_FUNCTION(facet_is_replaced, facetT, !self->isarea && self->visible && !self->tricoplanar)
HAUL_FUNCTION(facet_is_of_a_cycle, facetT, !self->isarea && !self->visible && self->cycledone)
HAUL_FUNCTION(facet_is_new, facetT,
              !self->isarea && !self->visible && !self->cycledone && self->newfacet)
HAUL_FUNCTION(facet_has_a_trivisible, facetT, !self->isarea && self->visible && self->tricoplanar)
HAUL_FUNCTION(facet_has_an_owner, facetT,
              !self->isarea && !self->visible && !self->cycledone && !self->newfacet &&
                  self->tricoplanar && !self->keepcentrum)

static int64_t dimension(const haul_here *here)
{
    return ((const qhT *)here->root)->hull_dim;
}

static void qhull_open(haul_function *has_area, haul_function *is_replaced)
{
    const haul_field facet_fields[] = {
        HAUL_ARRAY(facetT, normal, HAUL_COUNT_FN(dimension)),
        HAUL_RAW(facetT, f.area, .when = HAUL_WHEN_FN(has_area)),
        HAUL_OBJECT(facetT, f.replace, &facetT_type, .when = HAUL_WHEN_FN(is_replaced)),
        HAUL_OBJECT(facetT, f.samecycle, &facetT_type, .when = HAUL_WHEN_FN(facet_is_of_a_cycle)),
        HAUL_OBJECT(facetT, f.newcycle, &facetT_type, .when = HAUL_WHEN_FN(facet_is_new)),
        HAUL_OBJECT(facetT, f.trivisible, &facetT_type,
                    .when = HAUL_WHEN_FN(facet_has_a_trivisible)),
        HAUL_OBJECT(facetT, f.triowner, &facetT_type, .when = HAUL_WHEN_FN(facet_has_an_owner)),
        HAUL_OBJECT(facetT, previous, &facetT_type),
        HAUL_OBJECT(facetT, next, &facetT_type),
    };
    static const haul_field qh_fields[] = { HAUL_OBJECT(qhT, facet_list, &facetT_type) };
    facetT_type = OPEN(facetT, facet_fields);
    qhT_type = OPEN(qhT, qh_fields);
    type_close(qhT_type);
}

static void qhull_close(void)
{
    haul_type_free(&qhT_type);
    haul_type_free(&facetT_type);
}

/* What the bits of facet i are, and which facet it leads to; 0: none, its word is of no meaning. */
typedef struct plan_of_facet {
    int kind;
    unsigned to;
} plan_of_facet;

static void facet_fill(facetT *f, plan_of_facet p, facetT *const *all)
{
    f->f.area = 1.5; /* what is no pointer and no area either */
    switch (p.kind) {
    case 0:
        f->isarea = 1;
        f->f.area = p.to / 4.0;
        return;
    case 1:
        f->visible = 1;
        break;
    case 2:
        f->cycledone = 1;
        break;
    case 3:
        f->newfacet = 1;
        break;
    case 4:
        f->visible = f->tricoplanar = 1;
        break;
    case 5:
        f->tricoplanar = 1;
        break;
    default:
        return;
    }
    f->f.replace = all[p.to];
}

static qhT *qhull_make(uint64_t *seen)
{
    static facetT *all[FACETS + 1]; /* ends in the sentinel, whose id is 0 */
    static plan_of_facet plans[FACETS];
    qhT *qh = PUT(qhT);
    unsigned i;
    for (i = 0; i <= FACETS; i++) {
        all[i] = PUT(facetT);
        all[i]->id = i < FACETS ? i + 1 : 0;
        all[i]->nummerge = i % 512;
    }
    for (i = 0; i < FACETS; i++) {
        plans[i].kind = (int)random_below(&the.random, 7);
        plans[i].to = (unsigned)random_below(&the.random, FACETS);
        all[i]->next = all[i + 1];
        all[i + 1]->previous = all[i];
        all[i]->normal = i % 3 ? all[i - 1]->normal : PUT_ARRAY(double, 5);
        all[i]->normal[i % 3] = i;
        facet_fill(all[i], plans[i], all);
    }
    qh->hull_dim = 5;
    qh->facet_list = all[0];
    qh->num_facets = FACETS;
    for (i = 0; i < FACETS; i++) {
        see(seen, (uint64_t)plans[i].kind);
        see(seen, plans[i].kind == 6 ? 0 : plans[i].kind ? plans[i].to + 1 : plans[i].to);
        see_real(seen, i - i % 3);
    }
    return qh;
}

static int facet_kind(const facetT *f)
{
    if (f->isarea)
        return 0;
    if (f->visible)
        return f->tricoplanar ? 4 : 1;
    return f->cycledone ? 2 : f->newfacet ? 3 : f->tricoplanar ? 5 : 6;
}

static void qhull_walk(void *argument)
{
    visit *v = argument;
    facetT *f;
    for (f = ((qhT *)v->root)->facet_list; f->id; f = f->next) {
        int kind = facet_kind(f);
        see(&v->seen, (uint64_t)kind);
        see(&v->seen, kind == 6 ? 0 : kind ? f->f.replace->id : (uint64_t)(f->f.area * 4));
        see_real(&v->seen, f->normal[0]);
        if (kind == 0)
            f->f.area *= 2;
        else if (kind != 6)
            f->f.replace->visitid++;
        f->seen = 1;
        f->nummerge++;
    }
}

TEST(structures_qhull,
     a_word_whose_meaning_bit_fields_tell_is_an_area_or_leads_to_a_facet_or_is_nothing)
{
    journey j = { .walk = qhull_walk };
    site_start(20);
    qhull_open(facet_has_area, facet_is_replaced);
    j.root = qhull_make(&j.seen);
    j.type = qhT_type;
    travel(&j);
    qhull_close();
    site_end();
}

TEST(structures_qhull, arms_whose_bits_are_mistaken_are_refused_with_their_paths)
{
    uint64_t seen = 0;
    qhT *qh;
    facetT *area;
    site_start(20);
    qh = qhull_make(&seen);
    area = qh->facet_list;
    memset(&area->f, 0, sizeof area->f);
    area->isarea = 1;
    area->visible = area->cycledone = area->newfacet = area->tricoplanar = 0;
    area->f.area = 0.1;
    qhull_open(facet_has_area, facet_is_not_visible);
    refuse_graph(qh, qhT_type, HAUL_ERROR_GRAPH, "root.facet_list.f.replace",
                 "root.facet_list.f.area", "it and field f.area both hold, and they overlap");
    qhull_close();
    qhull_open(facet_is_replaced, facet_has_area);
    refuse_graph(qh, qhT_type, HAUL_ERROR_GRAPH, "root.facet_list.f.replace", "",
                 sizeof(void *) == 8 ? "outside any process's address range" : "");
    qhull_close();
    site_end();
}
