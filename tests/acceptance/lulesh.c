/* A program after LULESH: an explicit hydrodynamic step on a mesh of hexahedra. Its domain is a
 * struct of 49 arrays, with a list of elements for each region of another material.
 *
 * The domain stays on the device. After each step the host reads what bounds the next step, draws
 * a line of energies, and heats a few elements of that line. A second domain makes the same steps
 * in the host's memory, and has the right answers.
 *
 * With OpenMP the loops are target regions, which get the host's pointers (tests/openmp/check.sh).
 * Without, they are functions of the host device, which get the device's.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include <haul.h>

#include "accept.h"

#ifdef _OPENMP
#include <haul/openmp.h>
#define LOOP _Pragma("omp target teams distribute parallel for if(target : at->is_there)") for
#else
#define LOOP for
#endif
#define FOR_ALL(work, n)                                                                           \
    LOOP(int i = 0; i < (n); i++)                                                                  \
    work(d, i)

enum { EDGE = 10, STEPS = 24, REGIONS = 5, CORNERS = 8, FACES = 6, FACE_NODES = 4, HEATED = 4 };

typedef struct Domain {
    double time, deltatime, hourglass, monoq;
    int cycle, numElem, numNode, numSymm, numReg, numComm;
    double *x, *y, *z, *xd, *yd, *zd, *xdd, *ydd, *zdd, *fx, *fy, *fz, *nodalMass;
    int *symmX, *symmY, *symmZ;
    int *nodeElemStart, *nodeElemCornerList;
    int *nodelist, *lxim, *lxip, *letam, *letap, *lzetam, *lzetap;
    double *e, *p, *q, *v, *volo, *vnew, *delv, *vdov, *arealg, *ss, *elemMass;
    double *cornerX, *cornerY, *cornerZ; /* forces of an element on its corners */
    double *delv_xi, *delv_eta, *delv_zeta;
    int *regElemSize, *regNumList, **regElemlist;
    double *regCourant, *regHydro; /* the largest steps that each region allows */
    double *commDataSend, *commDataRecv;
} Domain;

static haul_type *domain_type, *policy;
HAUL_FUNCTION(corners_of_nodes, Domain, self->nodeElemStart[self->numNode])
HAUL_FUNCTION(region_size, Domain, self->regElemSize[here->index])

#define OF(m, count) HAUL_ARRAY(Domain, m, HAUL_COUNT(Domain, count))
#define OF3(a, b, c, count) OF(a, count), OF(b, count), OF(c, count)
#define OF_CORNERS(m) HAUL_ARRAY(Domain, m, HAUL_COUNT_TIMES(Domain, numElem, CORNERS))
static const haul_field domain_fields[] = {
    OF3(x, y, z, numNode),
    OF3(xd, yd, zd, numNode),
    OF3(xdd, ydd, zdd, numNode),
    OF3(fx, fy, fz, numNode),
    OF(nodalMass, numNode),
    OF3(symmX, symmY, symmZ, numSymm),
    HAUL_ARRAY(Domain, nodeElemStart, HAUL_COUNT_PLUS(Domain, numNode, 1)),
    HAUL_ARRAY(Domain, nodeElemCornerList, HAUL_COUNT_FN(corners_of_nodes)),
    OF_CORNERS(nodelist),
    OF3(lxim, letam, lzetam, numElem),
    OF3(lxip, letap, lzetap, numElem),
    OF3(e, p, q, numElem),
    OF3(v, volo, vnew, numElem),
    OF3(delv, vdov, arealg, numElem),
    OF3(ss, elemMass, regNumList, numElem),
    OF_CORNERS(cornerX),
    OF_CORNERS(cornerY),
    OF_CORNERS(cornerZ),
    OF3(delv_xi, delv_eta, delv_zeta, numElem),
    OF3(regElemSize, regCourant, regHydro, numReg),
    HAUL_ARRAYS(Domain, regElemlist, HAUL_COUNT(Domain, numReg), HAUL_COUNT_FN(region_size)),
    OF(commDataSend, numComm),
    OF(commDataRecv, numComm),
};
static const haul_struct structs[] = { HAUL_STRUCT(Domain, &domain_type, domain_fields) };

#define ROWS3(does, a, b, c)                                                                       \
    { .path = #a, .action = (does) }, { .path = #b, .action = (does) },                            \
    {                                                                                              \
        .path = #c, .action = (does)                                                               \
    }
static const haul_policy_row rows[] = {
    ROWS3(HAUL_COPYIN, symmX, symmY, symmZ),
    ROWS3(HAUL_COPYIN, nodeElemStart, nodeElemCornerList, nodelist),
    ROWS3(HAUL_COPYIN, lxim, letam, lzetam),
    ROWS3(HAUL_COPYIN, lxip, letap, lzetap),
    ROWS3(HAUL_COPYIN, nodalMass, elemMass, volo),
    ROWS3(HAUL_CREATE, fx, fy, fz), /* room to work in */
    { .path = "vnew", .action = HAUL_CREATE },
    ROWS3(HAUL_CREATE, xdd, ydd, zdd),
    ROWS3(HAUL_CREATE, cornerX, cornerY, cornerZ),
    ROWS3(HAUL_CREATE, delv_xi, delv_eta, delv_zeta),
    ROWS3(HAUL_COPYOUT, regCourant, regHydro, delv),
    ROWS3(HAUL_SHALLOW, regNumList, commDataSend, commDataRecv), /* the host's own */
};

/* ---- The mesh: a cube of EDGE elements along each edge, with symmetry planes at 0. */

enum { NODES_EDGE = EDGE + 1, NODES = NODES_EDGE * NODES_EDGE * NODES_EDGE };
enum { ELEMENTS = EDGE * EDGE * EDGE };

static int node_of(int k, int corner)
{
    static const int at[CORNERS][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 },
                                        { 0, 0, 1 }, { 1, 0, 1 }, { 1, 1, 1 }, { 0, 1, 1 } };
    const int i = k % EDGE + at[corner][0], j = k / EDGE % EDGE + at[corner][1];
    return i + NODES_EDGE * (j + NODES_EDGE * (k / EDGE / EDGE + at[corner][2]));
}

static double *reals(int count, double value)
{
    double *a = heap_malloc((size_t)count * sizeof *a);
    int i;
    for (i = 0; i < count; i++)
        a[i] = value;
    return a;
}

static int *integers(int count)
{
    int *a = heap_malloc((size_t)count * sizeof *a);
    memset(a, 0, (size_t)count * sizeof *a);
    return a;
}

static void make_nodes(Domain *d)
{
    const double h = 1.125 / EDGE;
    int n;
    double **zeros[] = { &d->xd,  &d->yd, &d->zd, &d->xdd, &d->ydd,
                         &d->zdd, &d->fx, &d->fy, &d->fz,  &d->nodalMass };
    for (n = 0; n < 10; n++)
        *zeros[n] = reals(NODES, 0);
    d->x = reals(NODES, 0);
    d->y = reals(NODES, 0);
    d->z = reals(NODES, 0);
    for (n = 0; n < NODES; n++) {
        d->x[n] = h * (n % NODES_EDGE);
        d->y[n] = h * (n / NODES_EDGE % NODES_EDGE);
        d->z[n] = h * (n / NODES_EDGE / NODES_EDGE);
    }
    d->symmX = integers(d->numSymm);
    d->symmY = integers(d->numSymm);
    d->symmZ = integers(d->numSymm);
    for (n = 0; n < d->numSymm; n++) {
        const int low = n % NODES_EDGE, high = n / NODES_EDGE;
        d->symmX[n] = NODES_EDGE * (low + NODES_EDGE * high);
        d->symmY[n] = low + NODES_EDGE * NODES_EDGE * high;
        d->symmZ[n] = n;
    }
}

/* An element at a face of the mesh is its own neighbour there. */
static void make_neighbours(Domain *d)
{
    int k;
    int **all[] = { &d->lxim, &d->lxip, &d->letam, &d->letap, &d->lzetam, &d->lzetap };
    for (k = 0; k < 6; k++)
        *all[k] = integers(ELEMENTS);
    for (k = 0; k < ELEMENTS; k++) {
        const int i = k % EDGE, j = k / EDGE % EDGE, l = k / EDGE / EDGE;
        d->lxim[k] = k - (i > 0);
        d->lxip[k] = k + (i < EDGE - 1);
        d->letam[k] = k - EDGE * (j > 0);
        d->letap[k] = k + EDGE * (j < EDGE - 1);
        d->lzetam[k] = k - EDGE * EDGE * (l > 0);
        d->lzetap[k] = k + EDGE * EDGE * (l < EDGE - 1);
    }
}

static void make_elements(Domain *d)
{
    const double volume = pow(1.125 / EDGE, 3);
    int i;
    double **zeros[] = { &d->e,    &d->p,  &d->q,       &d->vnew,     &d->delv,
                         &d->vdov, &d->ss, &d->delv_xi, &d->delv_eta, &d->delv_zeta };
    double **corners[] = { &d->cornerX, &d->cornerY, &d->cornerZ };
    for (i = 0; i < 10; i++)
        *zeros[i] = reals(ELEMENTS, 0);
    for (i = 0; i < 3; i++)
        *corners[i] = reals(CORNERS * ELEMENTS, 0);
    d->v = reals(ELEMENTS, 1);
    d->volo = reals(ELEMENTS, volume);
    d->elemMass = reals(ELEMENTS, volume);
    d->arealg = reals(ELEMENTS, 1.125 / EDGE);
    d->e[0] = 3;
    d->nodelist = integers(CORNERS * ELEMENTS);
    for (i = 0; i < CORNERS * ELEMENTS; i++) {
        d->nodelist[i] = node_of(i / CORNERS, i % CORNERS);
        d->nodalMass[d->nodelist[i]] += volume / CORNERS;
    }
    make_neighbours(d);
}

static void make_corners(Domain *d)
{
    int i, *next = integers(NODES);
    d->nodeElemStart = integers(NODES + 1);
    d->nodeElemCornerList = integers(CORNERS * ELEMENTS);
    for (i = 0; i < CORNERS * ELEMENTS; i++)
        d->nodeElemStart[d->nodelist[i] + 1]++;
    for (i = 0; i < NODES; i++) {
        next[i] = d->nodeElemStart[i];
        d->nodeElemStart[i + 1] += d->nodeElemStart[i];
    }
    for (i = 0; i < CORNERS * ELEMENTS; i++)
        d->nodeElemCornerList[next[d->nodelist[i]]++] = i;
    heap_free(next);
}

static void make_regions(Domain *d)
{
    int k, r;
    d->regElemSize = integers(REGIONS);
    d->regNumList = integers(ELEMENTS);
    d->regElemlist = heap_malloc(REGIONS * sizeof *d->regElemlist);
    d->regCourant = reals(REGIONS, 0);
    d->regHydro = reals(REGIONS, 0);
    for (k = 0; k < ELEMENTS; k++)
        d->regElemSize[d->regNumList[k] = k / 3 * k % 7 % (REGIONS - 1)]++;
    for (r = 0; r < REGIONS; r++) { /* the last one has no elements */
        d->regElemlist[r] = d->regElemSize[r] ? integers(d->regElemSize[r]) : NULL;
        d->regElemSize[r] = 0;
    }
    for (k = 0; k < ELEMENTS; k++) {
        r = d->regNumList[k];
        d->regElemlist[r][d->regElemSize[r]++] = k;
    }
}

static Domain *make(heap *in)
{
    Domain *d;
    heap_use(in);
    d = heap_malloc(sizeof *d);
    memset(d, 0, sizeof *d);
    d->deltatime = 2e-3;
    d->hourglass = 0.5;
    d->monoq = 0.25;
    d->numElem = ELEMENTS;
    d->numNode = NODES;
    d->numSymm = NODES_EDGE * NODES_EDGE;
    d->numReg = REGIONS;
    d->numComm = 3 * NODES_EDGE * NODES_EDGE;
    make_nodes(d);
    make_elements(d);
    make_corners(d);
    make_regions(d);
    d->commDataSend = reals(d->numComm, 7);
    d->commDataRecv = reals(d->numComm, 8);
    heap_use(NULL);
    return d;
}

static void destroy(Domain *d)
{
    double **real;
    int **integer, r;
    for (r = 0; r < REGIONS; r++)
        heap_free(d->regElemlist[r]);
    heap_free(d->regElemlist);
    for (real = &d->x; real <= &d->nodalMass; real++)
        heap_free(*real);
    for (integer = &d->symmX; integer <= &d->lzetap; integer++)
        heap_free(*integer);
    for (real = &d->e; real <= &d->delv_zeta; real++)
        heap_free(*real);
    heap_free(d->regElemSize);
    heap_free(d->regNumList);
    for (real = &d->regCourant; real <= &d->commDataRecv; real++)
        heap_free(*real);
    heap_free(d);
}

/* ---- The step, for one node, one element, or one region. */

#ifdef _OPENMP
#pragma omp declare target
#endif

typedef struct point {
    double x, y, z;
} point;

static point point_of(const double *x, const double *y, const double *z, int n)
{
    point at;
    at.x = x[n];
    at.y = y[n];
    at.z = z[n];
    return at;
}

static point cross(point a, point b, double factor)
{
    point c;
    c.x = factor * (a.y * b.z - a.z * b.y);
    c.y = factor * (a.z * b.x - a.x * b.z);
    c.z = factor * (a.x * b.y - a.y * b.x);
    return c;
}

static point difference(point a, point b)
{
    point c;
    c.x = a.x - b.x;
    c.y = a.y - b.y;
    c.z = a.z - b.z;
    return c;
}

/* Two faces for each direction, the lower one first; nodes are in order round the normal. */
static const int face_corners[FACES][FACE_NODES] = {
    { 0, 4, 7, 3 }, { 1, 2, 6, 5 }, { 0, 1, 5, 4 }, { 3, 7, 6, 2 }, { 0, 3, 2, 1 }, { 4, 5, 6, 7 }
};

static int node_at(const Domain *d, int k, int f, int i)
{
    return d->nodelist[CORNERS * k + face_corners[f][i]];
}

static point place_at(const Domain *d, int k, int f, int i)
{
    return point_of(d->x, d->y, d->z, node_at(d, k, f, i));
}

static point normal_of(const Domain *d, int k, int f)
{
    return cross(difference(place_at(d, k, f, 2), place_at(d, k, f, 0)),
                 difference(place_at(d, k, f, 3), place_at(d, k, f, 1)), 0.5);
}

static void element_force(Domain *d, int k)
{
    const double pressure = d->p[k] + d->q[k];
    int f, i;
    for (i = CORNERS * k; i < CORNERS * (k + 1); i++)
        d->cornerX[i] = d->cornerY[i] = d->cornerZ[i] = 0;
    for (f = 0; f < FACES; f++) {
        const point normal = normal_of(d, k, f);
        for (i = 0; i < FACE_NODES; i++) {
            const int corner = CORNERS * k + face_corners[f][i];
            d->cornerX[corner] += pressure * normal.x / FACE_NODES;
            d->cornerY[corner] += pressure * normal.y / FACE_NODES;
            d->cornerZ[corner] += pressure * normal.z / FACE_NODES;
        }
    }
}

static void node_gather(Domain *d, int n)
{
    int i;
    d->fx[n] = d->fy[n] = d->fz[n] = 0;
    for (i = d->nodeElemStart[n]; i < d->nodeElemStart[n + 1]; i++) {
        d->fx[n] += d->cornerX[d->nodeElemCornerList[i]];
        d->fy[n] += d->cornerY[d->nodeElemCornerList[i]];
        d->fz[n] += d->cornerZ[d->nodeElemCornerList[i]];
    }
    d->xdd[n] = d->fx[n] / d->nodalMass[n];
    d->ydd[n] = d->fy[n] / d->nodalMass[n];
    d->zdd[n] = d->fz[n] / d->nodalMass[n];
}

static void plane_hold(Domain *d, int i)
{
    d->xdd[d->symmX[i]] = 0;
    d->ydd[d->symmY[i]] = 0;
    d->zdd[d->symmZ[i]] = 0;
}

static void node_move(Domain *d, int n)
{
    const double dt = d->deltatime;
    d->xd[n] += dt * d->xdd[n];
    d->yd[n] += dt * d->ydd[n];
    d->zd[n] += dt * d->zdd[n];
    d->x[n] += dt * d->xd[n];
    d->y[n] += dt * d->yd[n];
    d->z[n] += dt * d->zd[n];
}

/* How much faster the face f + 1 moves than the face f. */
static double spread(const Domain *d, const double *speed, int k, int f)
{
    double sum = 0;
    int i;
    for (i = 0; i < FACE_NODES; i++)
        sum += speed[node_at(d, k, f + 1, i)] - speed[node_at(d, k, f, i)];
    return sum / FACE_NODES;
}

static void element_volume(Domain *d, int k)
{
    double volume = 0;
    int f;
    for (f = 0; f < FACES; f++) {
        const point normal = normal_of(d, k, f);
        int i;
        for (i = 0; i < FACE_NODES; i++) {
            const point at = place_at(d, k, f, i);
            volume += (at.x * normal.x + at.y * normal.y + at.z * normal.z) / (3 * FACE_NODES);
        }
    }
    d->vnew[k] = volume / d->volo[k];
    d->delv[k] = d->vnew[k] - d->v[k];
    d->vdov[k] = d->delv[k] / (d->vnew[k] * d->deltatime);
    d->arealg[k] = cbrt(volume);
    d->delv_xi[k] = spread(d, d->xd, k, 0);
    d->delv_eta[k] = spread(d, d->yd, k, 2);
    d->delv_zeta[k] = spread(d, d->zd, k, 4);
}

/* 1 where the flow is smooth in this direction, 0 at a shock. */
static double smoothness(const double *delv, int k, int lower, int upper)
{
    const double ratio = 0.5 * (delv[lower] + delv[upper]) / (delv[k] - 1e-30);
    return ratio < 0 ? 0 : ratio > 1 ? 1 : ratio;
}

static void element_viscosity(Domain *d, int k)
{
    const double phi = (smoothness(d->delv_xi, k, d->lxim[k], d->lxip[k]) +
                        smoothness(d->delv_eta, k, d->letam[k], d->letap[k]) +
                        smoothness(d->delv_zeta, k, d->lzetam[k], d->lzetap[k])) /
                       3;
    const double jump = d->vdov[k] < 0 ? -d->vdov[k] * d->arealg[k] : 0;
    d->q[k] =
        (d->monoq * d->ss[k] * jump + 2 * jump * jump) * (1 - d->hourglass * phi) / d->vnew[k];
}

/* Each material is an ideal gas of its own. */
static void region_energy(Domain *d, int r)
{
    const double gamma = 1.4 + 0.05 * r;
    int i;
    d->regCourant[r] = d->regHydro[r] = 1e20;
    for (i = 0; i < d->regElemSize[r]; i++) {
        const int k = d->regElemlist[r][i];
        const double speed = fabs(d->vdov[k]) + 1e-20;
        double courant;
        d->e[k] -= (d->p[k] + d->q[k]) * d->delv[k];
        d->p[k] = (gamma - 1) * d->e[k] / d->vnew[k];
        d->ss[k] = sqrt(gamma * d->p[k] * d->vnew[k] * d->volo[k] / d->elemMass[k]) + 1e-9;
        d->v[k] = d->vnew[k];
        courant = d->arealg[k] / (d->ss[k] + d->arealg[k] * speed);
        d->regCourant[r] = courant < d->regCourant[r] ? courant : d->regCourant[r];
        d->regHydro[r] = 0.1 / speed < d->regHydro[r] ? 0.1 / speed : d->regHydro[r];
    }
}

#ifdef _OPENMP
#pragma omp end declare target
#endif

typedef struct run {
    Domain *domain;
    int is_there;
} run;

static void step(void *argument)
{
    run *at = argument;
    Domain *d = at->domain;
    FOR_ALL(element_force, ELEMENTS);
    FOR_ALL(node_gather, NODES);
    FOR_ALL(plane_hold, NODES_EDGE * NODES_EDGE);
    FOR_ALL(node_move, NODES);
    FOR_ALL(element_volume, ELEMENTS);
    FOR_ALL(element_viscosity, ELEMENTS);
    FOR_ALL(region_energy, REGIONS);
}

/* ---- What the host does between steps. */

/* The next step is at most a quarter longer, and what all regions allow. */
static void choose_step(Domain *d)
{
    double dt = 1.25 * d->deltatime;
    int r;
    for (r = 0; r < d->numReg; r++) {
        dt = 0.3 * d->regCourant[r] < dt ? 0.3 * d->regCourant[r] : dt;
        dt = d->regHydro[r] < dt ? d->regHydro[r] : dt;
    }
    d->time += d->deltatime;
    d->deltatime = dt;
    d->cycle++;
}

/* The elements at x = 0, z = 0. */
static void heat_line(Domain *d)
{
    int j;
    for (j = 0; j < HEATED && d->cycle % 3 == 0; j++)
        d->e[EDGE * (EDGE - 1 - j)] += 0.125;
}

static int lines_agree(const Domain *d, const Domain *right)
{
    int j, agree = 1;
    for (j = 0; j < EDGE; j++)
        agree &= d->e[EDGE * j] == right->e[EDGE * j];
    return agree;
}

/* ---- The program. */

typedef struct world {
    heap *originals, *plain;
    haul_device *device;
    haul_environment *environment;
    Domain *domain, *right;
} world;

static void enter(world *w)
{
    accept_must(w->device, haul_environment_create(w->device, &w->environment),
                "there is an environment");
#ifdef _OPENMP
    accept_must(w->device, haul_openmp_watch(w->environment, omp_get_default_device()),
                "OpenMP is told");
#endif
    accept_must(w->device, haul_environment_enter(w->environment, w->domain, policy, 1, NULL, NULL),
                "it is entered");
    accept(accept_info(w->environment).transfers_to == 1 && accept_info(w->environment).groups == 1,
           "the domain is entered by one transfer: %zu ranges, %zu bytes",
           accept_info(w->environment).ranges, accept_info(w->environment).bytes);
    accept(haul_environment_presence(w->environment, w->domain->fx, NODES * sizeof(double)) ==
                   HAUL_PRESENT &&
               haul_environment_presence(w->environment, w->domain->commDataSend, 8) == HAUL_ABSENT,
           "room to work in is there, and the host's own arrays are not");
}

/* One transfer each way: times to the device with the heated line; bounds of the next step and the
 * line back. */
static void exchange(world *w, haul_direction direction)
{
    const Domain *d = w->domain;
    const haul_update_part line = {
        .host = d->e, .bytes = sizeof(double), .count = EDGE, .stride = EDGE * sizeof(double)
    };
    const haul_update_part there[] = {
        { .host = &d->time, .bytes = offsetof(Domain, hourglass) - offsetof(Domain, time) }, line
    };
    const haul_update_part back[] = { { .host = d->regCourant, .bytes = REGIONS * sizeof(double) },
                                      { .host = d->regHydro, .bytes = REGIONS * sizeof(double) },
                                      line };
    accept_must(w->device,
                direction == HAUL_TO_DEVICE
                    ? haul_environment_update(w->environment, there, 2, direction, NULL)
                    : haul_environment_update(w->environment, back, 3, direction, NULL),
                "parts are updated");
}

static int make_step(world *w)
{
    run there = { w->domain, 1 }, here = { w->right, 0 };
#ifndef _OPENMP
    there.domain = haul_environment_device_pointer(w->environment, w->domain);
#endif
    heat_line(w->domain);
    heat_line(w->right);
    exchange(w, HAUL_TO_DEVICE);
    if (!accept_there(w->device, w->originals, w->domain, step, &there))
        return 0;
    step(&here);
    exchange(w, HAUL_TO_HOST);
    choose_step(w->domain);
    choose_step(w->right);
    if (!lines_agree(w->domain, w->right) || w->domain->deltatime != w->right->deltatime)
        return 0;
    return 1;
}

static void make_steps(world *w)
{
    const haul_environment_info before = accept_info(w->environment);
    haul_environment_info after;
    int made = 0;
    while (made < STEPS && make_step(w))
        made++;
    after = accept_info(w->environment);
    accept(made == STEPS, "%d of %d steps choose the next step, and draw the line, as on the host",
           made, STEPS);
    accept(after.transfers_to - before.transfers_to == STEPS &&
               after.transfers_from - before.transfers_from == STEPS,
           "each needs one transfer there and one back");
    accept(
        after.bytes_to - before.bytes_to == STEPS * (2 + EDGE) * sizeof(double) &&
            after.bytes_from - before.bytes_from == STEPS * (2 * REGIONS + EDGE) * sizeof(double),
        "of %zu bytes and %zu", (2 + EDGE) * sizeof(double), (2 * REGIONS + EDGE) * sizeof(double));
}

/* Results are as on the host; what was not to come back is as it was. */
static void compare(const world *w)
{
    const Domain *d = w->domain, *right = w->right;
    const double *const nodes[][2] = { { d->x, right->x },   { d->y, right->y },
                                       { d->z, right->z },   { d->xd, right->xd },
                                       { d->yd, right->yd }, { d->zd, right->zd } };
    const double *const elements[][2] = { { d->e, right->e },       { d->p, right->p },
                                          { d->q, right->q },       { d->v, right->v },
                                          { d->delv, right->delv }, { d->vdov, right->vdov },
                                          { d->ss, right->ss },     { d->arealg, right->arealg } };
    int i, same = 1, zero = 1;
    for (i = 0; i < 6; i++)
        same &= memcmp(nodes[i][0], nodes[i][1], NODES * sizeof(double)) == 0;
    for (i = 0; i < 8; i++)
        same &= memcmp(elements[i][0], elements[i][1], ELEMENTS * sizeof(double)) == 0;
    accept(same, "after the exit all results are those of the host");
    for (i = 0; i < ELEMENTS; i++)
        zero &= d->vnew[i] == 0 && d->delv_xi[i] == 0 && d->cornerX[i] == 0;
    accept(zero && d->commDataSend[0] == 7, "room to work in was not brought back");
    accept(d->e[0] > 0 && d->e[0] < 3 && d->x[NODES - 1] > 1.125 - 1e-9,
           "the blast has spread: %g of 3 is left in its element", d->e[0]);
}

/* Two owners enter it; the first exit brings nothing back, the last one all. */
static void leave(world *w)
{
    const haul_exit_options back = { .copyout = 1 };
    const haul_environment_info before = accept_info(w->environment);
    accept_must(w->device, haul_environment_enter(w->environment, w->domain, policy, 1, NULL, NULL),
                "entered again");
    accept_must(w->device, haul_environment_exit(w->environment, w->domain, &back, NULL),
                "one owner exits");
    accept(accept_info(w->environment).transfers_to == before.transfers_to &&
               accept_info(w->environment).transfers_from == before.transfers_from &&
               accept_info(w->environment).groups == 1,
           "an owner that comes and goes moves nothing");
    accept_must(w->device, haul_environment_exit(w->environment, w->domain, &back, NULL),
                "the last owner exits");
    compare(w);
    accept_left(w->device, &w->environment);
}

int main(void)
{
    world w;
    memset(&w, 0, sizeof w);
    w.device = accept_device(0);
    w.originals = heap_open();
    w.plain = heap_open();
    accept_must(w.device, HAUL_DESCRIBE(haul_device_context(w.device), structs),
                "the domain is described");
    accept_must(w.device,
                haul_policy_create(domain_type, "step", rows, sizeof rows / sizeof *rows, &policy),
                "its policy is made");
    w.domain = make(w.originals);
    w.right = make(w.plain);
    accept_title("A domain of %d elements and %d nodes in %d regions", ELEMENTS, NODES, REGIONS);
    accept_audit(NULL, w.domain, domain_type, 1);
    enter(&w);
    make_steps(&w);
    leave(&w);
    destroy(w.domain);
    destroy(w.right);
    accept_heaps_end(w.originals, w.plain);
    haul_type_free(&policy);
    HAUL_FORGET(structs);
    haul_device_close(&w.device);
    return accept_done();
}
