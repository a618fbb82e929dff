/* Real structures in which single bits say what a word is (BITS).
 */
#define _DEFAULT_SOURCE
#include "structures_b.h"

/* ---- BITS: qhull's facets. One word of a facet has six meanings, which bit-fields tell apart; a
 * key that khash has deleted is told by two bits of a word that serves sixteen places. */

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

TEST(structures_bits,
     BITS_a_word_whose_meaning_bit_fields_tell_is_an_area_or_leads_to_a_facet_or_is_nothing)
{
    journey j = { NULL, NULL, 0, qhull_walk, NULL, 0 };
    site_start(20);
    qhull_open(facet_has_area, facet_is_replaced);
    j.root = qhull_make(&j.seen);
    j.type = qhT_type;
    travel(&j);
    qhull_close();
    site_end();
}

TEST(structures_bits, BITS_arms_whose_bits_are_mistaken_are_refused_with_their_paths)
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

/* khash: keys and values in arrays beside each other, with two bits a place. The keys of places
 * that are not in use are whatever was there. */

enum { BUCKETS = 8192 };

typedef struct kh_str {
    uint32_t n_buckets, size, n_occupied, upper_bound, *flags;
    char **keys;
    int64_t *vals;
} kh_str;

static int kh_is_either(const uint32_t *flags, size_t i)
{
    return (int)(flags[i >> 4] >> ((i & 0xfU) << 1) & 3);
}

HAUL_FUNCTION(flag_words, kh_str, self->n_buckets < 16 ? 1 : self->n_buckets >> 4)
HAUL_FUNCTION(key_bytes, kh_str,
              kh_is_either(self->flags, here->index)
                  ? 0
                  : (int64_t)strlen((const char *)here->target) + 1)
HAUL_FUNCTION(few_flags, kh_str, self->n_buckets >> 6)
HAUL_FUNCTION(one_byte, kh_str, 1)

static haul_type *khash_open(haul_function *count, haul_function *bytes)
{
    const haul_field fields[] = { HAUL_ARRAY(kh_str, flags, HAUL_COUNT_FN(count)),
                                  HAUL_ARRAYS(kh_str, keys, HAUL_COUNT(kh_str, n_buckets),
                                              HAUL_COUNT_FN(bytes)),
                                  HAUL_ARRAY(kh_str, vals, HAUL_COUNT(kh_str, n_buckets)) };
    haul_field wide[3];
    haul_type *type;
    memcpy(wide, fields, sizeof wide);
    wide[1].element_bytes = sizeof(char);
    type = OPEN(kh_str, wide);
    type_close(type);
    return type;
}

static kh_str *khash_make(uint64_t *seen)
{
    kh_str *h = PUT(kh_str);
    char text[32];
    size_t i;
    h->n_buckets = BUCKETS;
    h->flags = PUT_ARRAY(uint32_t, BUCKETS >> 4);
    h->keys = PUT_ARRAY(char *, BUCKETS);
    h->vals = PUT_ARRAY(int64_t, BUCKETS);
    for (i = 0; i < BUCKETS; i++) {
        /* 2: empty, 1: deleted, else in use */
        unsigned state = (unsigned)random_below(&the.random, 4);
        state = state == 3 ? 0 : state;
        h->flags[i >> 4] |= state << ((i & 0xfU) << 1);
        h->vals[i] = (int64_t)random_below(&the.random, 1 << 30);
        if (state) {
            /* freed long ago */
            h->keys[i] = state == 1 ? (char *)the.memory + SITE_BYTES + i : NULL;
            continue;
        }
        snprintf(text, sizeof text, "key %u", (unsigned)i);
        h->keys[i] = put_text(text);
        h->size++;
        see_text(seen, text);
        see(seen, (uint64_t)h->vals[i]);
    }
    return h;
}

static void khash_walk(void *argument)
{
    visit *v = argument;
    kh_str *h = v->root;
    size_t i;
    for (i = 0; i < h->n_buckets; i++)
        if (!kh_is_either(h->flags, i)) {
            see_text(&v->seen, h->keys[i]);
            see(&v->seen, (uint64_t)h->vals[i]);
            h->keys[i][0] = 'K';
            h->vals[i]++;
        }
}

TEST(structures_bits, BITS_two_bits_a_place_say_which_keys_of_a_hash_table_are_there)
{
    journey j = { NULL, NULL, 0, khash_walk, NULL, 0 };
    haul_type *type;
    site_start(201);
    type = khash_open(flag_words, key_bytes);
    j.root = khash_make(&j.seen);
    j.type = type;
    travel(&j);
    haul_type_free(&type);
    site_end();
}

TEST(structures_bits,
     BITS_flags_that_are_not_looked_at_and_flags_of_which_most_are_forgotten_are_told)
{
    uint64_t seen = 0;
    haul_type *type;
    kh_str *h;
    site_start(201);
    h = khash_make(&seen);
    type = khash_open(flag_words, one_byte);
    refuse_graph(h, type, HAUL_ERROR_GRAPH, "root.keys[3]", "",
                 "the range it leads to is not readable");
    haul_type_free(&type);
    type = khash_open(few_flags, key_bytes);
    audit_tells(h, type, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.flags[0]",
                "only the first 512 bytes of its block of 2048");
    haul_type_free(&type);
    site_end();
}
