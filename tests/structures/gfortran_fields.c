/* Fields of two programs in Fortran, whose arrays are descriptors as gfortran has them: UMT's zones
 * and quadratures (CNT EXPR FAR FAM PARR SHARE COND), and the state of ICON's dynamical core (EXPR
 * FAM PARR ROWS SHARE WID COND); and pointers to components and to sections in any direction, alone
 * and beside what they point into.
 *
 * A descriptor ends in as many dimensions as its array has. Pointers that were never associated are
 * not null: they are what was there before, and only the program's configuration says so.
 */
#define _DEFAULT_SOURCE
#include "gfortran.h"
#include "journey.h"

enum { BT_INTEGER = 1, BT_REAL = 3, BT_DERIVED = 5 };

/* Of declared reals and integers, and of whole arrays of either precision, whose elem_len is right.
 */
HAUL_FUNCTION(first_byte, gfc_any, gfc_first_byte(self))
HAUL_FUNCTION(bytes_of_reals, gfc_any, gfc_bytes(self, sizeof(double)))
HAUL_FUNCTION(bytes_of_integers, gfc_any, gfc_bytes(self, sizeof(int32_t)))
HAUL_FUNCTION(bytes_of_either, gfc_any, gfc_bytes(self, self->dtype.elem_len))

#define FROM_THE_LOWEST .base_fn = first_byte
#define PLAIN(bytes) HAUL_BYTES(gfc_any, base_addr, HAUL_COUNT_FN(bytes), FROM_THE_LOWEST)

static const haul_field real_fields[] = { PLAIN(bytes_of_reals) };
static const haul_field integer_fields[] = { PLAIN(bytes_of_integers) };
static const haul_field either_fields[] = { PLAIN(bytes_of_either) };
static haul_type *gfc_1_type, *gfc_2_type, *gfc_3_type, *gfc_4_type, *integers_1_type,
    *integers_3_type, *either_3_type, *either_4_type;

static void descriptors_open(void)
{
    gfc_1_type = OPEN(gfc_1, real_fields);
    gfc_2_type = OPEN(gfc_2, real_fields);
    gfc_3_type = OPEN(gfc_3, real_fields);
    gfc_4_type = OPEN(gfc_4, real_fields);
    integers_1_type = type_open("integers_1", sizeof(gfc_1), integer_fields, 1);
    integers_3_type = type_open("integers_3", sizeof(gfc_3), integer_fields, 1);
    either_3_type = type_open("either_3", sizeof(gfc_3), either_fields, 1);
    either_4_type = type_open("either_4", sizeof(gfc_4), either_fields, 1);
}

static void descriptors_close(void)
{
    haul_type **all[] = { &gfc_1_type,      &gfc_2_type,      &gfc_3_type,    &gfc_4_type,
                          &integers_1_type, &integers_3_type, &either_3_type, &either_4_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

/* An array of derived type. */
#define ELEMENTS_OF(name, type) HAUL_FUNCTION(name, gfc_any, gfc_elements(self, sizeof(type)))

static haul_type *array_of(const char *name, haul_type *const *element, haul_function *count)
{
    const haul_count shape = HAUL_COUNT_FN(count);
    haul_field row = HAUL_ADDRESS(gfc_1, base_addr, .count = HAUL_ONE, FROM_THE_LOWEST);
    row.target = element;
    row.count = shape;
    return type_open(name, sizeof(gfc_1), &row, 1);
}

/* a(1:n1, 1:n2, ...), not yet of any memory. */
static gfc_any *shape_set(void *descriptor, int type, size_t elem_len, int rank, const int *extent)
{
    gfc_any *a = descriptor;
    intptr_t stride = 1;
    int d;
    a->dtype.type = (signed char)type;
    a->dtype.elem_len = elem_len;
    a->dtype.rank = (signed char)rank;
    a->span = (intptr_t)elem_len;
    a->offset = 0;
    for (d = 0; d < rank; d++) {
        a->dim[d].stride = stride;
        a->dim[d].lbound = 1;
        a->dim[d].ubound = extent[d];
        a->offset -= stride;
        stride *= extent[d];
    }
    return a;
}

/* Small integers, whatever the type. */
static void allocate(void *descriptor, int type, size_t elem_len, int rank, int n1, int n2, int n3,
                     int n4)
{
    int extent[4];
    gfc_any *a;
    extent[0] = n1, extent[1] = n2, extent[2] = n3, extent[3] = n4;
    a = shape_set(descriptor, type, elem_len, rank, extent);
    a->base_addr = put((size_t)gfc_bytes(a, elem_len), 16);
}

static void *at(const void *descriptor, intptr_t i, intptr_t j, intptr_t k, intptr_t l)
{
    const gfc_any *a = descriptor;
    intptr_t index[4], place = a->offset;
    int d;
    index[0] = i, index[1] = j, index[2] = k, index[3] = l;
    for (d = 0; d < a->dtype.rank; d++)
        place += index[d] * a->dim[d].stride;
    return (unsigned char *)a->base_addr + place * a->span;
}

static double *real_at(const void *descriptor, intptr_t i, intptr_t j, intptr_t k, intptr_t l)
{
    return at(descriptor, i, j, k, l);
}

static void make_undefined(void *descriptor)
{
    gfc_any *a = descriptor;
    a->base_addr = (void *)(uintptr_t)17;
    a->offset = 4711;
    a->dtype.rank = 1;
    a->dtype.elem_len = sizeof(double);
    a->dim[0].ubound = 999;
}

/* ---- UMT. Zones are reached through an array of pointers, and share corners' coordinates with
 * their neighbours. Areas and radii of corners are defined in two dimensions only.
 */

enum { ZONES = 70, CORNERS = 8, FACES = 3, SETS = 4, CELL_POINTS = 4 };

typedef struct ZoneData {
    int nCorner, nCFaces, c0, nFaces;
    gfc_1 volume;  /* (nCorner) */
    gfc_3 A_fp;    /* (ndim, nCFaces, nCorner) */
    gfc_3 connect; /* (3, nCFaces, nCorner), integers: the corner beyond each face */
    gfc_1 area, radius;
    gfc_2 *px; /* (ndim, corners of all zones) */
} ZoneData;

typedef struct ZonePointer {
    ZoneData *p;
} ZonePointer;

typedef struct Quadrature {
    int numAngles;
    gfc_1 weight; /* (numAngles) */
    gfc_2 omega;  /* (ndim, numAngles) */
} Quadrature;

typedef struct Geometry {
    int ndim, ncornr;
    gfc_1 zones; /* of ZonePointer */
    gfc_1 quadSet;
} Geometry;

static haul_type *ZoneData_type, *ZonePointer_type, *Quadrature_type, *Geometry_type, *zones_type,
    *sets_type;

ELEMENTS_OF(zones_of, ZonePointer)
ELEMENTS_OF(sets_of, Quadrature)
HAUL_FUNCTION(is_flat, ZoneData, ((const Geometry *)here->root)->ndim == 2)
HAUL_FUNCTION(in_any_dimension, ZoneData, 1)

static void umt_open(haul_function *is_there)
{
    const haul_field zone_fields[] = {
        HAUL_EMBED(ZoneData, volume, &gfc_1_type),
        HAUL_EMBED(ZoneData, A_fp, &gfc_3_type),
        HAUL_EMBED(ZoneData, connect, &integers_3_type),
        HAUL_EMBED(ZoneData, area, &gfc_1_type, .when = HAUL_WHEN_FN(is_there)),
        HAUL_EMBED(ZoneData, radius, &gfc_1_type, .when = HAUL_WHEN_FN(is_there)),
        HAUL_OBJECT(ZoneData, px, &gfc_2_type),
    };
    static const haul_field pointer_fields[] = { HAUL_OBJECT(ZonePointer, p, &ZoneData_type) };
    static const haul_field set_fields[] = { HAUL_EMBED(Quadrature, weight, &gfc_1_type),
                                             HAUL_EMBED(Quadrature, omega, &gfc_2_type) };
    static const haul_field geometry_fields[] = { HAUL_EMBED(Geometry, zones, &zones_type),
                                                  HAUL_EMBED(Geometry, quadSet, &sets_type) };
    descriptors_open();
    ZoneData_type = OPEN(ZoneData, zone_fields);
    ZonePointer_type = OPEN(ZonePointer, pointer_fields);
    Quadrature_type = OPEN(Quadrature, set_fields);
    zones_type = array_of("zones", &ZonePointer_type, zones_of);
    sets_type = array_of("sets", &Quadrature_type, sets_of);
    Geometry_type = OPEN(Geometry, geometry_fields);
    type_close(Geometry_type);
}

static void umt_close(void)
{
    haul_type_free(&Geometry_type);
    haul_type_free(&sets_type);
    haul_type_free(&zones_type);
    haul_type_free(&Quadrature_type);
    haul_type_free(&ZonePointer_type);
    haul_type_free(&ZoneData_type);
    descriptors_close();
}

static ZoneData *zone_make(int z, int ndim, gfc_2 *px)
{
    ZoneData *zone = PUT(ZoneData);
    int c, f;
    zone->nCorner = CORNERS - z % 3;
    zone->nCFaces = FACES;
    zone->c0 = z * CORNERS;
    zone->px = px;
    allocate(&zone->volume, BT_REAL, 8, 1, zone->nCorner, 1, 1, 1);
    allocate(&zone->A_fp, BT_REAL, 8, 3, ndim, FACES, zone->nCorner, 1);
    allocate(&zone->connect, BT_INTEGER, 4, 3, 3, FACES, zone->nCorner, 1);
    for (c = 1; c <= zone->nCorner; c++)
        for (f = 1; f <= FACES; f++) {
            *real_at(&zone->A_fp, ndim, f, c, 0) = 10 * c + f;
            *(int32_t *)at(&zone->connect, 2, f, c, 0) = (z + f) % ZONES + 1;
        }
    if (ndim == 2) {
        allocate(&zone->area, BT_REAL, 8, 1, zone->nCorner, 1, 1, 1);
        allocate(&zone->radius, BT_REAL, 8, 1, zone->nCorner, 1, 1, 1);
        *real_at(&zone->radius, zone->nCorner, 0, 0, 0) = z;
    } else {
        make_undefined(&zone->area);
        make_undefined(&zone->radius);
    }
    return zone;
}

static void sets_make(Geometry *g)
{
    int s, m;
    allocate(&g->quadSet, BT_DERIVED, sizeof(Quadrature), 1, SETS, 1, 1, 1);
    for (s = 1; s <= SETS; s++) {
        Quadrature *q = at(&g->quadSet, s, 0, 0, 0);
        q->numAngles = 6 * s;
        allocate(&q->weight, BT_REAL, 8, 1, q->numAngles, 1, 1, 1);
        allocate(&q->omega, BT_REAL, 8, 2, g->ndim, q->numAngles, 1, 1);
        for (m = 1; m <= q->numAngles; m++) {
            *real_at(&q->weight, m, 0, 0, 0) = s;
            *real_at(&q->omega, g->ndim, m, 0, 0) = m;
        }
    }
}

static Geometry *umt_make(int ndim, uint64_t *seen)
{
    Geometry *g = PUT(Geometry);
    gfc_2 *px = PUT(gfc_2);
    int z, c, f;
    g->ndim = ndim;
    g->ncornr = ZONES * CORNERS;
    allocate(px, BT_REAL, 8, 2, ndim, g->ncornr, 1, 1);
    allocate(&g->zones, BT_DERIVED, sizeof(ZonePointer), 1, ZONES, 1, 1, 1);
    sets_make(g);
    for (z = 0; z < ZONES; z++) {
        int sum = 0, corners = CORNERS - z % 3;
        ((ZonePointer *)at(&g->zones, z + 1, 0, 0, 0))->p = zone_make(z, ndim, px);
        for (c = 1; c <= corners; c++)
            for (f = 1; f <= FACES; f++)
                sum += 10 * c + f + 100 * ((z + f) % ZONES);
        see(seen, (uint64_t)sum);
        see(seen, ndim == 2 ? (uint64_t)z : 0);
    }
    for (z = 1; z <= SETS; z++)
        see(seen, (uint64_t)(z * (6 * z) * (6 * z + 1) / 2));
    return g;
}

static void meet_zone(const Geometry *g, ZoneData *zone, uint64_t *seen)
{
    int c, f, sum = 0;
    for (c = 1; c <= zone->nCorner; c++)
        for (f = 1; f <= zone->nCFaces; f++) {
            int other = *(int32_t *)at(&zone->connect, 2, f, c, 0);
            ZoneData *beyond = ((ZonePointer *)at(&g->zones, other, 0, 0, 0))->p;
            sum += (int)*real_at(&zone->A_fp, g->ndim, f, c, 0) + 100 * (beyond->c0 / CORNERS);
            *real_at(&beyond->volume, 1, 0, 0, 0) += 1;
        }
    see(seen, (uint64_t)sum);
    see(seen, g->ndim == 2 ? (uint64_t)*real_at(&zone->radius, zone->nCorner, 0, 0, 0) : 0);
    *real_at(zone->px, 1, zone->c0 + 1, 0, 0) = sum;
    if (g->ndim == 2)
        *real_at(&zone->area, 1, 0, 0, 0) = sum;
}

static void umt_walk(void *argument)
{
    visit *v = argument;
    Geometry *g = v->root;
    int z, s, m;
    for (z = 1; z <= ZONES; z++) {
        ZoneData *zone = ((ZonePointer *)at(&g->zones, z, 0, 0, 0))->p;
        meet_zone(g, zone, &v->seen);
        if (g->ndim != 2 && !v->is_host && zone->area.base_addr)
            see(&v->seen, 0);
    }
    for (s = 1; s <= SETS; s++) {
        Quadrature *q = at(&g->quadSet, s, 0, 0, 0);
        int64_t sum = 0;
        for (m = 1; m <= q->numAngles; m++)
            sum +=
                (int64_t)(*real_at(&q->weight, m, 0, 0, 0) * *real_at(&q->omega, g->ndim, m, 0, 0));
        see(&v->seen, (uint64_t)sum);
    }
}

static void umt_travel(int ndim)
{
    journey j = { .walk = umt_walk };
    site_start(90);
    umt_open(is_flat);
    j.root = umt_make(ndim, &j.seen);
    j.type = Geometry_type;
    travel(&j);
    umt_close();
    site_end();
}

TEST(structures_gfortran,
     UMT_zones_have_areas_and_radii_in_two_dimensions_and_undefined_ones_in_three)
{
    umt_travel(2);
    umt_travel(3);
}

TEST(structures_gfortran, UMT_an_undefined_pointer_that_is_followed_in_three_dimensions_is_refused)
{
    uint64_t seen = 0;
    site_start(90);
    umt_open(in_any_dimension);
    refuse_graph(umt_make(3, &seen), Geometry_type, HAUL_ERROR_GRAPH,
                 "root.zones.base_addr[0].p.area.base_addr", NULL,
                 "outside any process's address range");
    umt_close();
    site_end();
}

/* ---- ICON. A list of variables owns all fields; the states' pointers are associated with parts of
 * them. A tracer is a section of the array of all tracers. Tendencies are of single precision where
 * the model was built so, and turbulent energy is there only if the turbulence scheme wants it.
 */

enum { NPROMA = 6, NLEV = 5, NBLKS = 4, TRACERS = 3, TIME_LEVELS = 2 };

typedef struct list_element {
    int element_len, n;
    gfc_4 field;
    struct list_element *next;
} list_element;

typedef struct t_ptr_2d3d {
    gfc_3 p_3d;
    gfc_2 p_2d;
} t_ptr_2d3d;

typedef struct t_nh_prog {
    gfc_3 w, rho, tke;
    gfc_4 tracer;
    gfc_1 tracer_ptr; /* of t_ptr_2d3d */
} t_nh_prog;

typedef struct t_nh_diag {
    gfc_3 ddt_vn; /* of single or double precision */
    gfc_2 pres_sfc;
} t_nh_diag;

typedef struct t_nh_state {
    gfc_1 prog; /* of t_nh_prog, a time level each */
    t_nh_diag diag;
    list_element *first;
} t_nh_state;

typedef struct icon {
    int has_tke, domains;
    t_nh_state **state;
} icon;

static haul_type *list_element_type, *t_ptr_2d3d_type, *t_nh_prog_type, *t_nh_diag_type,
    *t_nh_state_type, *icon_type, *pointers_type, *progs_type;

ELEMENTS_OF(pointers_of, t_ptr_2d3d)
ELEMENTS_OF(progs_of, t_nh_prog)
HAUL_FUNCTION(has_tke, t_nh_prog, (((const icon *)here->root)->has_tke) != 0)

static void icon_open(void)
{
    static const haul_field element_fields[] = { HAUL_EMBED(list_element, field, &either_4_type),
                                                 HAUL_OBJECT(list_element, next,
                                                             &list_element_type) };
    static const haul_field pointer_fields[] = { HAUL_EMBED(t_ptr_2d3d, p_3d, &gfc_3_type),
                                                 HAUL_EMBED(t_ptr_2d3d, p_2d, &gfc_2_type) };
    static const haul_field prog_fields[] = {
        HAUL_EMBED(t_nh_prog, w, &gfc_3_type),
        HAUL_EMBED(t_nh_prog, rho, &gfc_3_type),
        HAUL_EMBED(t_nh_prog, tke, &gfc_3_type, .when = HAUL_WHEN_FN(has_tke)),
        HAUL_EMBED(t_nh_prog, tracer, &gfc_4_type),
        HAUL_EMBED(t_nh_prog, tracer_ptr, &pointers_type),
    };
    static const haul_field diag_fields[] = { HAUL_EMBED(t_nh_diag, ddt_vn, &either_3_type),
                                              HAUL_EMBED(t_nh_diag, pres_sfc, &gfc_2_type) };
    static const haul_field state_fields[] = { HAUL_EMBED(t_nh_state, prog, &progs_type),
                                               HAUL_EMBED(t_nh_state, diag, &t_nh_diag_type),
                                               HAUL_OBJECT(t_nh_state, first, &list_element_type) };
    static const haul_field icon_fields[] = { HAUL_POINTERS(icon, state, &t_nh_state_type,
                                                            HAUL_COUNT(icon, domains)) };
    descriptors_open();
    list_element_type = OPEN(list_element, element_fields);
    t_ptr_2d3d_type = OPEN(t_ptr_2d3d, pointer_fields);
    t_nh_prog_type = OPEN(t_nh_prog, prog_fields);
    t_nh_diag_type = OPEN(t_nh_diag, diag_fields);
    t_nh_state_type = OPEN(t_nh_state, state_fields);
    pointers_type = array_of("pointers", &t_ptr_2d3d_type, pointers_of);
    progs_type = array_of("progs", &t_nh_prog_type, progs_of);
    icon_type = OPEN(icon, icon_fields);
    type_close(icon_type);
}

static void icon_close(void)
{
    haul_type **all[] = { &icon_type,      &progs_type,     &pointers_type,   &t_nh_state_type,
                          &t_nh_diag_type, &t_nh_prog_type, &t_ptr_2d3d_type, &list_element_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
    descriptors_close();
}

/* A field of a list, with four dimensions; `pointer` is associated with the first `rank` of them,
 * the others at 1. */
static void add_field(t_nh_state *s, void *pointer, int rank, size_t elem_len, int n4)
{
    static const int extent[] = { NPROMA, NLEV, NBLKS };
    list_element *e = PUT(list_element);
    int shape[4];
    memcpy(shape, extent, sizeof extent);
    shape[3] = n4;
    allocate(&e->field, BT_REAL, elem_len, 4, NPROMA, NLEV, NBLKS, n4);
    e->next = s->first;
    s->first = e;
    shape_set(pointer, BT_REAL, elem_len, rank, shape)->base_addr = e->field.base_addr;
}

/* tracer_ptr(t)%p_3d => tracer(:,:,:,t); p_2d => tracer(:,nlev,:,t). */
static void point_to_tracer(t_ptr_2d3d *pointer, const gfc_4 *tracer, int t)
{
    static const int extent[] = { NPROMA, NLEV, NBLKS }, flat[] = { NPROMA, NBLKS };
    shape_set(&pointer->p_3d, BT_REAL, 8, 3, extent)->base_addr = at(tracer, 1, 1, 1, t);
    shape_set(&pointer->p_2d, BT_REAL, 8, 2, flat)->base_addr = at(tracer, 1, NLEV, 1, t);
    pointer->p_2d.dim[1].stride = NPROMA * NLEV;
    pointer->p_2d.offset = -1 - NPROMA * NLEV;
}

static void prog_make(t_nh_state *s, t_nh_prog *p, int has, int number)
{
    int t;
    add_field(s, &p->w, 3, 8, 1);
    add_field(s, &p->rho, 3, 8, 1);
    add_field(s, &p->tracer, 4, 8, TRACERS);
    allocate(&p->tracer_ptr, BT_DERIVED, sizeof(t_ptr_2d3d), 1, TRACERS, 1, 1, 1);
    if (has)
        add_field(s, &p->tke, 3, 8, 1);
    else
        make_undefined(&p->tke);
    *real_at(&p->w, NPROMA, NLEV, NBLKS, 0) = number;
    for (t = 1; t <= TRACERS; t++) {
        point_to_tracer(at(&p->tracer_ptr, t, 0, 0, 0), &p->tracer, t);
        *real_at(&p->tracer, 2, NLEV, 3, t) = 10 * number + t;
    }
}

/* Domain 2 has tendencies of single precision. */
static icon *icon_make(int has, uint64_t *seen)
{
    icon *model = PUT(icon);
    int d, l, t;
    model->has_tke = has;
    model->domains = 2;
    model->state = PUT_ARRAY(t_nh_state *, 2);
    for (d = 0; d < 2; d++) {
        t_nh_state *s = model->state[d] = PUT(t_nh_state);
        allocate(&s->prog, BT_DERIVED, sizeof(t_nh_prog), 1, TIME_LEVELS, 1, 1, 1);
        add_field(s, &s->diag.ddt_vn, 3, d ? 4 : 8, 1);
        allocate(&s->diag.pres_sfc, BT_REAL, 8, 2, NPROMA, NBLKS, 1, 1);
        for (l = 1; l <= TIME_LEVELS; l++) {
            prog_make(s, at(&s->prog, l, 0, 0, 0), has, 10 * d + l);
            see(seen, (uint64_t)(10 * d + l));
            for (t = 1; t <= TRACERS; t++) {
                see(seen, (uint64_t)(10 * (10 * d + l) + t));
                see(seen, (uint64_t)(10 * (10 * d + l) + t + 1));
            }
        }
    }
    return model;
}

static void meet_prog(t_nh_prog *p, int has, uint64_t *seen)
{
    int t;
    see(seen, (uint64_t)*real_at(&p->w, NPROMA, NLEV, NBLKS, 0));
    for (t = 1; t <= TRACERS; t++) {
        t_ptr_2d3d *pointer = at(&p->tracer_ptr, t, 0, 0, 0);
        see(seen, (uint64_t)*real_at(&pointer->p_3d, 2, NLEV, 3, 0));
        *real_at(&pointer->p_2d, 2, 3, 0, 0) += 1; /* the same element */
        see(seen, (uint64_t)*real_at(&p->tracer, 2, NLEV, 3, t));
    }
    *real_at(&p->rho, 1, 1, 2, 0) = 5;
    if (has)
        *real_at(&p->tke, 1, 2, 1, 0) = 6;
}

static void icon_walk(void *argument)
{
    visit *v = argument;
    icon *model = v->root;
    int d, l;
    for (d = 0; d < model->domains; d++) {
        t_nh_state *s = model->state[d];
        for (l = 1; l <= TIME_LEVELS; l++)
            meet_prog(at(&s->prog, l, 0, 0, 0), model->has_tke, &v->seen);
        if (s->diag.ddt_vn.dtype.elem_len == 4)
            *(float *)at(&s->diag.ddt_vn, 3, 2, 1, 0) = 1.5f;
        else
            *real_at(&s->diag.ddt_vn, 3, 2, 1, 0) = 2.5;
        *real_at(&s->diag.pres_sfc, 1, NBLKS, 0, 0) = 3;
    }
}

static void icon_travel(int has)
{
    journey j = { .walk = icon_walk };
    site_start(91);
    icon_open();
    j.root = icon_make(has, &j.seen);
    j.type = icon_type;
    travel(&j);
    icon_close();
    site_end();
}

TEST(structures_gfortran,
     ICON_tracers_are_sections_of_one_array_there_and_energy_is_where_the_scheme_wants_it)
{
    icon_travel(1);
    icon_travel(0);
}

/* ---- Views. type :: particle; real(8) :: x, y; integer(4) :: kind; end type. Pointers to one
 * component of all particles, and to sections that go backwards. Where the particles have no
 * descriptor, only the views lead to them.
 */

enum { PARTICLES = 40, GRID_X = 6, GRID_Y = 9 };

typedef struct particle {
    double x, y;
    int32_t kind, pad;
} particle;

typedef struct views {
    gfc_1 particles;
    gfc_1 y, kinds;  /* y => particles%y; kinds => particles(PARTICLES:1:-3)%kind */
    gfc_1 backwards; /* => particles(PARTICLES:1:-1) */
    gfc_2 turned;    /* => grid(GRID_X:1:-2, 2:GRID_Y:3) */
    gfc_1 nothing;   /* => particles(5:4:-1)%y */
} views;

static haul_type *particle_type, *particles_type, *views_type;

ELEMENTS_OF(particles_of, particle)

static void views_open(int has_particles)
{
    static const haul_field fields[] = { HAUL_EMBED(views, y, &gfc_1_type),
                                         HAUL_EMBED(views, kinds, &integers_1_type),
                                         HAUL_EMBED(views, turned, &gfc_2_type),
                                         HAUL_EMBED(views, nothing, &gfc_1_type),
                                         HAUL_EMBED(views, particles, &particles_type),
                                         HAUL_EMBED(views, backwards, &particles_type) };
    descriptors_open();
    particle_type = type_open("particle", sizeof(particle), NULL, 0);
    particles_type = array_of("particles", &particle_type, particles_of);
    views_type = type_open("views", sizeof(views), fields, has_particles ? 6 : 4);
    type_close(views_type);
}

static void views_close(void)
{
    haul_type_free(&views_type);
    haul_type_free(&particles_type);
    haul_type_free(&particle_type);
    descriptors_close();
}

/* A pointer of one dimension: the first element, and how many spans on the next one is. Of a
 * component of an allocated array elem_len is the whole's, as gfortran has it. */
static void view_set(gfc_1 *view, int type, size_t elem_len, void *first, int count,
                     intptr_t stride)
{
    shape_set(view, type, elem_len, 1, &count)->base_addr = first;
    view->span = sizeof(particle);
    view->dim[0].stride = stride;
    view->offset = -stride;
}

static views *views_make(int has_particles, uint64_t *seen)
{
    views *v = PUT(views);
    particle *all = PUT_ARRAY(particle, PARTICLES);
    double *grid = PUT_ARRAY(double, GRID_X *GRID_Y);
    const int turned[] = { GRID_X / 2, (GRID_Y + 1) / 3 };
    int i, j;
    if (has_particles)
        view_set(&v->particles, BT_DERIVED, sizeof(particle), all, PARTICLES, 1);
    view_set(&v->y, BT_REAL, sizeof(double), &all[0].y, PARTICLES, 1);
    view_set(&v->kinds, BT_INTEGER, sizeof(particle), &all[PARTICLES - 1].kind, (PARTICLES + 2) / 3,
             -3);
    if (has_particles)
        view_set(&v->backwards, BT_DERIVED, sizeof(particle), &all[PARTICLES - 1], PARTICLES, -1);
    view_set(&v->nothing, BT_REAL, sizeof(double), &all[4].y, 0, -1);
    shape_set(&v->turned, BT_REAL, sizeof(double), 2, turned)->base_addr =
        &grid[GRID_X + GRID_X - 1];
    v->turned.dim[0].stride = -2;
    v->turned.dim[1].stride = 3 * GRID_X;
    v->turned.offset = 2 - 3 * GRID_X;
    for (i = 0; i < PARTICLES; i++) {
        all[i].y = i;
        all[i].kind = 100 + i;
        see(seen, (uint64_t)i);
    }
    for (i = PARTICLES - 1; i >= 0; i -= 3)
        see(seen, (uint64_t)(100 + i));
    for (j = 1; j < GRID_Y; j += 3)
        for (i = GRID_X - 1; i >= 0; i -= 2)
            see(seen, (uint64_t)(grid[i + GRID_X * j] = 10 * j + i));
    return v;
}

static void views_walk(void *argument)
{
    visit *seen = argument;
    views *v = seen->root;
    int i, j;
    for (i = 1; i <= PARTICLES; i++) {
        see(&seen->seen, (uint64_t)*real_at(&v->y, i, 0, 0, 0));
        *real_at(&v->y, i, 0, 0, 0) += 1;
    }
    for (i = 1; i <= (PARTICLES + 2) / 3; i++)
        see(&seen->seen, (uint64_t)((*(int32_t *)at(&v->kinds, i, 0, 0, 0))++));
    for (j = 1; j <= (GRID_Y + 1) / 3; j++)
        for (i = 1; i <= GRID_X / 2; i++) {
            see(&seen->seen, (uint64_t)*real_at(&v->turned, i, j, 0, 0));
            *real_at(&v->turned, i, j, 0, 0) = 0;
        }
    for (i = 1; v->particles.base_addr && i <= PARTICLES; i++)
        if (at(&v->particles, i, 0, 0, 0) != at(&v->backwards, PARTICLES + 1 - i, 0, 0, 0))
            see(&seen->seen, 0);
}

static void views_travel(int has_particles)
{
    journey j = { .walk = views_walk };
    site_start(92);
    views_open(has_particles);
    j.root = views_make(has_particles, &j.seen);
    j.type = views_type;
    travel(&j);
    views_close();
    site_end();
}

TEST(structures_gfortran,
     components_of_all_elements_and_reversed_sections_travel_beside_their_arrays_and_alone)
{
    views_travel(1);
    views_travel(0);
}

TEST(structures_gfortran, a_component_of_derived_type_is_refused_as_an_array_of_that_type)
{
    uint64_t seen = 0;
    views *v;
    site_start(92);
    views_open(1);
    v = views_make(1, &seen);
    v->particles.span = 3 * sizeof(particle);
    v->particles.dtype.elem_len = 3 * sizeof(particle);
    refuse_graph(v, views_type, HAUL_ERROR_GRAPH, "root.particles.base_addr", NULL, "-1");
    views_close();
    site_end();
}
