/* Structures of the Olden programs: em3d's graph (CNT CAP PARR ROWS SHARE BACK), health's villages
 * (SHARE BACK HOOK), voronoi's edges (ROWS SHARE BACK ALGN), and bh's tree of bodies and cells (FAR
 * PARR SHARE BACK POLY COND).
 */
#define _DEFAULT_SOURCE
#include "structures_b.h"

/* ---- em3d. Two lists of nodes; each node reads values in nodes of the other list, through
 * pointers to the values themselves. How many nodes one leads to is a number of the whole
 * program's. Of its room for values and coefficients the first from_length places are filled.
 */

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
    journey j = { NULL, NULL, 0, em3d_walk, NULL, 0 };
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

/* ---- health. A village holds the heads of its lists; the first patient of a list leads back to
 * the head, in the middle of the village, and each patient to the village he lives in. Patients go
 * from list to list.
 */

enum { VILLAGES = 85, PATIENTS = 900 };

typedef struct Village Village;

typedef struct Patient {
    int hosps_visited, time, time_left;
    Village *home_village;
} Patient;

typedef struct List {
    struct List *forward, *back;
    Patient *patient;
} List;

typedef struct Hosp {
    int personnel, free_personnel, num_waiting_patients;
    List waiting, assess, inside, up;
} Hosp;

struct Village {
    Village *forward[4], *back;
    List returned;
    Hosp hosp;
    int label;
    long seed;
};

static haul_type *Patient_type, *List_type, *Hosp_type, *Village_type;

static void health_open(void)
{
    static const haul_field patient_fields[] = { HAUL_OBJECT(Patient, home_village,
                                                             &Village_type) };
    static const haul_field list_fields[] = { HAUL_OBJECT(List, forward, &List_type),
                                              HAUL_OBJECT(List, back, &List_type),
                                              HAUL_OBJECT(List, patient, &Patient_type) };
    static const haul_field hosp_fields[] = { HAUL_EMBED(Hosp, waiting, &List_type),
                                              HAUL_EMBED(Hosp, assess, &List_type),
                                              HAUL_EMBED(Hosp, inside, &List_type),
                                              HAUL_EMBED(Hosp, up, &List_type) };
    static const haul_field village_fields[] = {
        HAUL_EACH(Village, forward, .target = &Village_type),
        HAUL_OBJECT(Village, back, &Village_type),
        HAUL_EMBED(Village, returned, &List_type),
        HAUL_EMBED(Village, hosp, &Hosp_type),
    };
    Patient_type = OPEN(Patient, patient_fields);
    List_type = OPEN(List, list_fields);
    Hosp_type = OPEN(Hosp, hosp_fields);
    Village_type = OPEN(Village, village_fields);
    type_close(Village_type);
}

static void health_close(void)
{
    haul_type_free(&Village_type);
    haul_type_free(&Hosp_type);
    haul_type_free(&List_type);
    haul_type_free(&Patient_type);
}

static void list_append(List *at, List *link)
{
    while (at->forward)
        at = at->forward;
    at->forward = link;
    link->back = at;
    link->forward = NULL;
}

static void list_leave(List *link)
{
    link->back->forward = link->forward;
    if (link->forward)
        link->forward->back = link->back;
}

static Village *health_make(uint64_t *seen)
{
    static Village *all[VILLAGES];
    static int first[VILLAGES];
    int i, at;
    for (i = 0; i < VILLAGES; i++) {
        all[i] = PUT(Village);
        all[i]->label = i;
        first[i] = 0;
        if (i > 0) {
            all[i]->back = all[(i - 1) / 4];
            all[(i - 1) / 4]->forward[(i - 1) % 4] = all[i];
        }
    }
    for (i = 0; i < PATIENTS; i++) {
        List *link = PUT(List);
        link->patient = PUT(Patient);
        at = i % VILLAGES;
        link->patient->home_village = all[i * 31 % VILLAGES];
        link->patient->time = i + 1;
        first[at] = first[at] ? first[at] : i + 1;
        list_append(&all[at]->hosp.waiting, link);
    }
    for (i = 0; i < VILLAGES; i++) {
        see(seen, (uint64_t)i);
        see(seen, (uint64_t)first[i]);
        see(seen, (uint64_t)((first[i] - 1) * 31 % VILLAGES));
    }
    return all[0];
}

/* In order of depth, as a queue: the children of village i are 4 i + 1 to 4 i + 4. The first to
 * wait is assessed. */
static void health_walk(void *argument)
{
    visit *v = argument;
    Village *all[VILLAGES];
    int i, k, count = 1;
    all[0] = v->root;
    for (i = 0; i < count; i++) {
        List *link = all[i]->hosp.waiting.forward;
        see(&v->seen, (uint64_t)all[i]->label);
        see(&v->seen, link->back == &all[i]->hosp.waiting ? (uint64_t)link->patient->time : 0);
        see(&v->seen, (uint64_t)link->patient->home_village->label);
        link->patient->home_village->seed++;
        link->patient->hosps_visited++;
        list_leave(link);
        list_append(&all[i]->hosp.assess, link);
        for (k = 0; k < 4; k++)
            if (all[i]->forward[k])
                all[count++] = all[i]->forward[k];
    }
}

TEST(structures_olden,
     health_patients_leave_a_list_whose_head_lies_in_a_village_and_join_another_one)
{
    journey j = { NULL, NULL, 0, health_walk, NULL, 1 };
    site_start(61);
    health_open();
    j.root = health_make(&j.seen);
    j.type = Village_type;
    travel(&j);
    health_close();
    site_end();
}

/* ---- voronoi. Edges come in groups of four, at a multiple of the group's size: which of the four
 * a pointer leads to, and where the others are, is told by its low bits.
 */

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
    journey j = { NULL, NULL, 0, voronoi_walk, NULL, 0 };
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

/* ---- bh. A tree of cells and bodies, which a tag at the front of both tells apart. Each processor
 * has a list of bodies; how many processors there are is a number of the program's, and the places
 * of the others hold anything.
 */

enum { BODY = 1, CELL = 2, PROCESSORS = 11, PROCESSORS_MAX = 32, BODIES = 700, LEVELS = 7 };

#define NODE_HEAD                                                                                  \
    short type;                                                                                    \
    double mass, pos[3];                                                                           \
    int proc, new_proc

typedef struct bh_node {
    NODE_HEAD;
} bh_node;

typedef struct bh_body {
    NODE_HEAD;
    double vel[3], acc[3], new_acc[3], phi;
    struct bh_body *next, *proc_next;
} bh_body;

typedef struct bh_cell {
    NODE_HEAD;
    bh_node *subp[8];
    struct bh_cell *next;
} bh_cell;

typedef struct bh_tree {
    double rmin[3], rsize;
    bh_node *root;
    bh_body *bodytab[PROCESSORS_MAX], *bodiesperproc[PROCESSORS_MAX];
} bh_tree;

static haul_type *body_type, *cell_type, *tree_type;

HAUL_FUNCTION(is_processor, bh_tree,
              here->argument && (int)here->index < *(const int *)here->argument)

static void bh_open(size_t kinds)
{
    static const haul_case body_or_cell[] = { { BODY, &body_type, 0 }, { CELL, &cell_type, 0 } };
    haul_switch either = HAUL_SWITCH_TARGET(bh_node, type, body_or_cell);
    static const haul_field body_fields[] = { HAUL_OBJECT(bh_body, next, &body_type),
                                              HAUL_OBJECT(bh_body, proc_next, &body_type) };
    haul_field cell_fields[] = { HAUL_ADDRESS(bh_cell, subp),
                                 HAUL_OBJECT(bh_cell, next, &cell_type) };
    haul_field tree_fields[] = {
        HAUL_ADDRESS(bh_tree, root),
        HAUL_EACH(bh_tree, bodytab, .target = &body_type, .when = HAUL_WHEN_FN(is_processor)),
        HAUL_EACH(bh_tree, bodiesperproc, .target = &body_type, .when = HAUL_WHEN_FN(is_processor))
    };
    either.case_count = kinds;
    cell_fields[0].type_switch = tree_fields[0].type_switch = either;
    body_type = OPEN(bh_body, body_fields);
    cell_type = OPEN(bh_cell, cell_fields);
    tree_type = OPEN(bh_tree, tree_fields);
    type_close(tree_type);
}

static void bh_close(void)
{
    haul_type_free(&tree_type);
    haul_type_free(&cell_type);
    haul_type_free(&body_type);
}

static int octant(const bh_node *n, int level)
{
    int k, which = 0;
    for (k = 0; k < 3; k++)
        which = 2 * which + ((int)n->pos[k] >> level & 1);
    return which;
}

/* `last`: the cell that was made before. */
static void load_body(bh_node **at, bh_node *body, bh_cell **last)
{
    int level = LEVELS;
    while (*at && (*at)->type == CELL)
        at = &((bh_cell *)*at)->subp[octant(body, --level)];
    while (*at) {
        bh_cell *c = PUT(bh_cell);
        c->type = CELL;
        c->next = *last;
        *last = c;
        c->subp[octant(*at, --level)] = *at;
        *at = (bh_node *)c;
        at = &c->subp[octant(body, level)];
    }
    *at = body;
}

/* No two bodies are at one place. */
static bh_tree *bh_make(uint64_t *seen)
{
    bh_tree *t = PUT(bh_tree);
    bh_cell *last = NULL;
    int i;
    for (i = 0; i < PROCESSORS_MAX; i++)
        t->bodytab[i] = t->bodiesperproc[i] = i < PROCESSORS ? NULL : (bh_body *)(uintptr_t)17;
    for (i = BODIES; i-- > 0;) {
        bh_body *b = PUT(bh_body);
        b->type = BODY;
        b->mass = 1 + (double)random_below(&the.random, 50);
        b->pos[0] = i * 37 % 128;
        b->pos[1] = i / 128 * 20 + (double)random_below(&the.random, 20);
        b->pos[2] = (double)random_below(&the.random, 128);
        b->next = t->bodytab[i % PROCESSORS];
        b->proc_next = t->bodiesperproc[i * 7 % PROCESSORS];
        t->bodytab[i % PROCESSORS] = t->bodiesperproc[i * 7 % PROCESSORS] = b;
        load_body(&t->root, (bh_node *)b, &last);
        see(seen, 0); /* found */
    }
    return t;
}

/* Every body by the tree. */
static void bh_walk(void *argument)
{
    visit *v = argument;
    bh_tree *t = v->root;
    bh_body *b;
    int i, level;
    for (i = PROCESSORS; i < PROCESSORS_MAX; i++)
        if (!v->is_host && t->bodytab[i])
            see(&v->seen, 2);
    for (i = 0; i < PROCESSORS; i++)
        for (b = t->bodytab[i]; b; b = b->next) {
            bh_node *n = t->root;
            for (level = LEVELS; n->type == CELL;) {
                bh_cell *c = (bh_cell *)n;
                c->mass += b->mass;
                n = c->subp[octant((bh_node *)b, --level)];
            }
            see(&v->seen, n == (bh_node *)b ? 0 : 1);
            b->acc[0] += b->mass;
            if (b->proc_next)
                b->proc_next->vel[1]++;
        }
}

TEST(structures_olden,
     bh_bodies_are_found_by_the_tree_of_cells_and_processors_that_are_none_have_no_list)
{
    journey j = { NULL, NULL, 0, bh_walk, NULL, 0 };
    int processors = PROCESSORS;
    site_start(64);
    the.options.argument = &processors;
    bh_open(2);
    j.root = bh_make(&j.seen);
    j.type = tree_type;
    travel(&j);
    bh_close();
    site_end();
}

TEST(structures_olden, bh_a_kind_of_node_that_was_forgotten_is_refused)
{
    int processors = PROCESSORS;
    uint64_t seen = 0;
    site_start(64);
    the.options.argument = &processors;
    bh_open(1);
    refuse_graph(bh_make(&seen), tree_type, HAUL_ERROR_GRAPH, "root.root", NULL,
                 "its `.type_switch` has no case for 2");
    bh_close();
    site_end();
}
