/* Olden's voronoi. Edges come in groups of four, at a multiple of the group's size: which of the
 * four a pointer leads to, and where the others are, is told by its low bits.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { SPOKES = 200 };

typedef struct VERTEX {
    double x, y, norm;
    struct VERTEX *left, *right;
} VERTEX;

typedef struct edge_rec {
    VERTEX *v;
    struct edge_rec *next;
    uintptr_t wasseen, more;
} edge_rec;

typedef struct edge_group {
    edge_rec e[4];
} edge_group;

typedef struct delaunay {
    VERTEX *tree;
    edge_rec *left, *right;
} delaunay;

#define GROUP_MASK ((uintptr_t)sizeof(edge_group) - 1)

static haul_type *VERTEX_type, *edge_rec_type, *edge_group_type, *delaunay_type;

static int64_t to_group(const haul_here *here)
{
    return -(int64_t)((uintptr_t)here->target & GROUP_MASK);
}

static void voronoi_open(haul_function *group)
{
    static const haul_field vertex_fields[] = { HAUL_OBJECT(VERTEX, left, &VERTEX_type),
                                                HAUL_OBJECT(VERTEX, right, &VERTEX_type) };
    static const haul_field group_fields[] = { HAUL_EMBED(edge_group, e, &edge_rec_type) };
    const haul_field edge_fields[] = { HAUL_OBJECT(edge_rec, v, &VERTEX_type),
                                       HAUL_ADDRESS(edge_rec, next, .target = &edge_group_type,
                                                    .base_fn = group) };
    const haul_field delaunay_fields[] = {
        HAUL_OBJECT(delaunay, tree, &VERTEX_type),
        HAUL_ADDRESS(delaunay, left, .target = &edge_group_type, .base_fn = group),
        HAUL_ADDRESS(delaunay, right, .target = &edge_group_type, .base_fn = group)
    };
    VERTEX_type = OPEN(VERTEX, vertex_fields);
    edge_rec_type = OPEN(edge_rec, edge_fields);
    edge_group_type = OPEN(edge_group, group_fields, .alignment = sizeof(edge_group));
    delaunay_type = OPEN(delaunay, delaunay_fields);
    type_close(delaunay_type);
}

static void voronoi_close(void)
{
    haul_type_free(&delaunay_type);
    haul_type_free(&edge_group_type);
    haul_type_free(&edge_rec_type);
    haul_type_free(&VERTEX_type);
}

static edge_rec *turned(edge_rec *e, unsigned quarters)
{
    uintptr_t at = (uintptr_t)e;
    return (edge_rec *)((at & ~GROUP_MASK) | ((at + quarters * sizeof *e) & GROUP_MASK));
}

static edge_rec *edge_make(VERTEX *origin, VERTEX *destination)
{
    edge_group *g = put(sizeof *g, sizeof *g);
    g->e[0].v = origin;
    g->e[2].v = destination;
    g->e[0].next = &g->e[0];
    g->e[1].next = &g->e[3];
    g->e[2].next = &g->e[2];
    g->e[3].next = &g->e[1];
    return &g->e[0];
}

static void swap_next(edge_rec *a, edge_rec *b)
{
    edge_rec *next = a->next;
    a->next = b->next;
    b->next = next;
}

static void splice(edge_rec *a, edge_rec *b)
{
    edge_rec *alpha = turned(a->next, 1), *beta = turned(b->next, 1);
    swap_next(a, b);
    swap_next(alpha, beta);
}

/* A wheel: a hub, spokes to its rim, and the rim. Vertex 0 is the hub. */
static delaunay *voronoi_make(uint64_t *seen)
{
    static VERTEX *all[SPOKES + 1];
    static edge_rec *spoke[SPOKES];
    delaunay *d = PUT(delaunay);
    int i, next, last;
    for (i = 0; i <= SPOKES; i++) {
        all[i] = PUT(VERTEX);
        all[i]->x = i;
        if (i > 0)
            *(i % 2 ? &all[(i - 1) / 2]->left : &all[(i - 1) / 2]->right) = all[i];
    }
    for (i = 0; i < SPOKES; i++) {
        spoke[i] = edge_make(all[0], all[i + 1]);
        if (i > 0)
            splice(spoke[i - 1], spoke[i]);
    }
    for (i = 0; i < SPOKES; i++) {
        edge_rec *rim = edge_make(all[i + 1], all[(i + 1) % SPOKES + 1]);
        splice(turned(spoke[i], 2), rim);
        splice(turned(spoke[(i + 1) % SPOKES], 2), turned(rim, 2));
        next = (i + 1) % SPOKES + 1;
        last = (i + SPOKES - 1) % SPOKES + 1;
        see(seen, (uint64_t)(i + 1));
        see(seen, 3);
        see(seen, (uint64_t)(next + last)); /* and the hub, 0 */
    }
    d->tree = all[0];
    d->left = spoke[0];
    d->right = turned(spoke[SPOKES / 2], 2);
    return d;
}

/* Round an edge's origin: how many edges begin there, and what the numbers of the vertices at their
 * ends add up to.
 */
static void meet_ring(edge_rec *first, uint64_t *seen)
{
    edge_rec *e = first;
    int count = 0, sum = 0;
    do {
        count++;
        sum += (int)turned(e, 2)->v->x;
        e->wasseen++;
        e = e->next;
    } while (e != first && count <= SPOKES);
    first->v->norm = first->v->x + 1;
    see(seen, (uint64_t)count);
    see(seen, (uint64_t)sum);
}

static void voronoi_walk(void *argument)
{
    visit *v = argument;
    delaunay *d = v->root;
    edge_rec *e = d->left;
    do {
        edge_rec *back = turned(e, 2);
        see(&v->seen, (uint64_t)back->v->x);
        meet_ring(back, &v->seen);
        e = e->next;
    } while (e != d->left);
    if (d->tree->right->left->x != 5 || turned(turned(d->right, 3), 1) != d->right)
        see(&v->seen, 0);
}

TEST(structures_olden, voronoi_edges_find_the_others_of_their_group_by_the_bits_of_their_address)
{
    journey j = { .walk = voronoi_walk };
    site_start(63);
    voronoi_open(to_group);
    j.root = voronoi_make(&j.seen);
    j.type = delaunay_type;
    travel(&j);
    voronoi_close();
    site_end();
}

TEST(structures_olden, voronoi_an_edge_taken_for_the_first_of_its_group_is_misaligned)
{
    uint64_t seen = 0;
    site_start(63);
    voronoi_open(NULL);
    refuse_graph(voronoi_make(&seen), delaunay_type, HAUL_ERROR_GRAPH, "", NULL,
                 "a misaligned pointer");
    voronoi_close();
    site_end();
}
