/* OpenFOAM. A list is a size and a pointer, of anything; a matrix refers to its mesh and may
 * lack its lower or upper half; a patch is of the class that its table of virtual functions says;
 * parcels are linked through their base, which lies behind that table's address, and the ends of
 * their list lead to themselves.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { CELLS = 500, PATCHES = 12, PARCELS = 700 };

typedef struct UList {
    int size;
    void *v;
} UList;

typedef struct mesh {
    UList lower, upper; /* of int: addresses of a face's cells */
    UList boundary;     /* a PtrList: of patch * */
} mesh;

typedef struct patch patch;

typedef struct patch_class {
    double (*value)(const patch *);
} patch_class;

struct patch {
    const patch_class *virtuals;
    const mesh *of;
    UList cells; /* of int */
};

typedef struct fixed_patch {
    patch base;
    UList values; /* of double */
} fixed_patch;

typedef struct scalarField {
    int count; /* of references */
    UList list;
} scalarField;

typedef struct lduMatrix {
    const mesh *of;
    scalarField *lowerPtr, *diagPtr, *upperPtr;
} lduMatrix;

typedef struct dl_link {
    struct dl_link *prev, *next;
} dl_link;

typedef struct parcel {
    const void *virtuals;
    dl_link link;
    const mesh *of;
    double position[3];
    int cell;
} parcel;

typedef struct cloud {
    dl_link *first, *last;
    int nElmts;
} cloud;

typedef struct foam {
    mesh *of;
    lduMatrix symmetric, full;
    cloud parcels;
} foam;

static haul_type *list_element, *ulist_type, *int_type, *double_type, *ints_type, *doubles_type,
    *patch_pointer, *patches_type, *mesh_type, *patch_type, *fixed_type, *field_type, *matrix_type,
    *link_type, *parcel_type, *foam_type;

static double patch_value(const patch *p)
{
    const int *cells = p->cells.v;
    return cells[0];
}

static double fixed_value(const patch *p)
{
    const fixed_patch *fixed = (const fixed_patch *)(const void *)p;
    const double *values = fixed->values.v;
    return values[fixed->values.size - 1];
}

static const patch_class patch_virtuals = { patch_value }, fixed_virtuals = { fixed_value };

enum { PLAIN, FIXED };
static const haul_case patch_kinds[] = { { PLAIN, &patch_type, 0 }, { FIXED, &fixed_type, 0 } };

static int64_t patch_kind(const haul_here *here)
{
    const patch *p = here->target;
    return p->virtuals == &patch_virtuals ? PLAIN : p->virtuals == &fixed_virtuals ? FIXED : -1;
}

static haul_type *list_of(haul_type *of)
{
    haul_type *instance;
    CHECK_STATUS(haul_type_instance(ulist_type, 1, &list_element, &of, &instance), HAUL_OK);
    return instance;
}

static void foam_open(int64_t base)
{
    static const haul_field ulist_fields[] = { HAUL_ADDRESS(UList, v, .target = &list_element,
                                                            .count = HAUL_COUNT(UList, size)) };
    static const haul_field pointer_fields[] = { { .name = "patch",
                                                   .kind = HAUL_FIELD_POINTER,
                                                   .bytes = sizeof(void *),
                                                   .type_switch =
                                                       HAUL_SWITCH_FN(patch_kind, patch_kinds) } };
    static const haul_field mesh_fields[] = { HAUL_EMBED(mesh, lower, &ints_type),
                                              HAUL_EMBED(mesh, upper, &ints_type),
                                              HAUL_EMBED(mesh, boundary, &patches_type) };
    static const haul_field patch_fields[] = {
        HAUL_ADDRESS(patch, virtuals, .ownership = HAUL_EXTERNAL),
        HAUL_OBJECT(patch, of, &mesh_type), HAUL_EMBED(patch, cells, &ints_type)
    };
    static const haul_field fixed_fields[] = { HAUL_EMBED(fixed_patch, base, &patch_type),
                                               HAUL_EMBED(fixed_patch, values, &doubles_type) };
    static const haul_field field_fields[] = { HAUL_EMBED(scalarField, list, &doubles_type) };
    static const haul_field matrix_fields[] = { HAUL_OBJECT(lduMatrix, of, &mesh_type),
                                                HAUL_OBJECT(lduMatrix, lowerPtr, &field_type),
                                                HAUL_OBJECT(lduMatrix, diagPtr, &field_type),
                                                HAUL_OBJECT(lduMatrix, upperPtr, &field_type) };
    static const haul_field parcel_fields[] = {
        HAUL_ADDRESS(parcel, virtuals, .ownership = HAUL_EXTERNAL),
        HAUL_EMBED(parcel, link, &link_type), HAUL_OBJECT(parcel, of, &mesh_type)
    };
    const haul_field link_fields[] = {
        HAUL_ADDRESS(dl_link, prev, .target = &parcel_type, .base = base),
        HAUL_ADDRESS(dl_link, next, .target = &parcel_type, .base = base)
    };
    const haul_field foam_fields[] = {
        HAUL_OBJECT(foam, of, &mesh_type),
        HAUL_EMBED(foam, symmetric, &matrix_type),
        HAUL_EMBED(foam, full, &matrix_type),
        HAUL_ADDRESS(foam, parcels.first, .target = &parcel_type, .base = base),
        HAUL_ADDRESS(foam, parcels.last, .target = &parcel_type, .base = base),
    };
    CHECK_STATUS(haul_type_parameter(type_context(), "T", &list_element), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "int", sizeof(int), &int_type), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "double", sizeof(double), &double_type), HAUL_OK);
    ulist_type = OPEN(UList, ulist_fields);
    patch_pointer = type_open("patch *", sizeof(void *), pointer_fields, 1);
    ints_type = list_of(int_type);
    doubles_type = list_of(double_type);
    patches_type = list_of(patch_pointer);
    mesh_type = OPEN(mesh, mesh_fields);
    patch_type = OPEN(patch, patch_fields);
    fixed_type = OPEN(fixed_patch, fixed_fields);
    field_type = OPEN(scalarField, field_fields);
    matrix_type = OPEN(lduMatrix, matrix_fields);
    link_type = OPEN(dl_link, link_fields);
    parcel_type = OPEN(parcel, parcel_fields);
    foam_type = OPEN(foam, foam_fields);
    type_close(foam_type);
}

static void foam_end(void)
{
    SITE_END(&list_element, &ulist_type, &int_type, &double_type, &ints_type, &doubles_type,
             &patch_pointer, &patches_type, &mesh_type, &patch_type, &fixed_type, &field_type,
             &matrix_type, &link_type, &parcel_type, &foam_type);
}

static void list_start(UList *l, int size, size_t bytes)
{
    l->size = size;
    l->v = put_elements((size_t)size, bytes);
}

static void cells_make(UList *l, int size)
{
    int i;
    list_start(l, size, sizeof(int));
    for (i = 0; i < size; i++)
        ((int *)l->v)[i] = chance(0, CELLS - 1);
}

/* For so many matrices, of which each adds 1 to each. */
static scalarField *scalars_make(int size, int matrices)
{
    scalarField *f = put_elements(1, sizeof *f);
    int i;
    list_start(&f->list, size, sizeof(double));
    f->count = matrices - 1;
    for (i = 0; i < size; i++) {
        int value = chance(0, 99);
        ((double *)f->list.v)[i] = value;
        the.told += value * matrices + matrices - 1;
    }
    return f;
}

static double scalars_sum(scalarField *f)
{
    double sum = 0;
    int i;
    for (i = 0; f && i < f->list.size; i++)
        sum += ((double *)f->list.v)[i]++;
    return sum;
}

static patch *patch_make(const mesh *m, int is_fixed)
{
    fixed_patch *p = put_elements(1, is_fixed ? sizeof *p : sizeof p->base);
    p->base.virtuals = is_fixed ? &fixed_virtuals : &patch_virtuals;
    p->base.of = m;
    cells_make(&p->base.cells, 20);
    if (is_fixed) {
        list_start(&p->values, 20, sizeof(double));
        ((double *)p->values.v)[19] = 1000;
    }
    the.told += is_fixed ? 1000 : ((int *)p->base.cells.v)[0];
    return &p->base;
}

static void parcels_make(cloud *c, const mesh *m)
{
    for (; c->nElmts < PARCELS; c->nElmts++) {
        parcel *p = put_elements(1, sizeof *p);
        p->virtuals = &patch_virtuals;
        p->of = m;
        p->cell = chance(0, CELLS - 1);
        p->link.prev = c->last ? c->last : &p->link;
        p->link.next = &p->link;
        if (c->last)
            c->last->next = &p->link;
        else
            c->first = &p->link;
        c->last = &p->link;
        the.told += p->cell;
    }
}

static int64_t matrix_see(lduMatrix *m)
{
    return (int64_t)(scalars_sum(m->diagPtr) + scalars_sum(m->lowerPtr) + scalars_sum(m->upperPtr));
}

static foam *foam_make(void)
{
    foam *f = put_elements(1, sizeof *f);
    mesh *m = f->of = put_elements(1, sizeof *m);
    int i;
    cells_make(&m->lower, 3 * CELLS);
    cells_make(&m->upper, 3 * CELLS);
    list_start(&m->boundary, PATCHES, sizeof(patch *));
    for (i = 0; i < PATCHES; i++)
        ((patch **)m->boundary.v)[i] = patch_make(m, i % 2);
    f->symmetric.of = f->full.of = m;
    f->symmetric.diagPtr = scalars_make(CELLS, 2);
    f->symmetric.upperPtr = scalars_make(3 * CELLS, 1);
    f->full.diagPtr = f->symmetric.diagPtr;
    f->full.upperPtr = scalars_make(3 * CELLS, 1);
    f->full.lowerPtr = scalars_make(3 * CELLS, 1);
    parcels_make(&f->parcels, m);
    return f;
}

static int64_t foam_walk(void *root, size_t count)
{
    foam *f = root;
    patch **patches = f->of->boundary.v;
    dl_link *l;
    int64_t sum = matrix_see(&f->symmetric) + matrix_see(&f->full);
    int i;
    (void)count;
    for (i = 0; i < f->of->boundary.size; i++)
        sum +=
            patches[i]->of == f->of ? (int64_t)patches[i]->virtuals->value(patches[i]) : -1000000;
    for (l = f->parcels.first;; l = l->next) {
        parcel *p = (parcel *)(void *)((char *)l - offsetof(parcel, link));
        sum += p->of == f->of && (l == f->parcels.last) == (l->next == l) ? p->cell : -1000000;
        p->position[2] += 1;
        if (l == f->parcels.last)
            return sum;
    }
}

TEST(structures_openfoam,
     OpenFOAM_lists_of_anything_patches_by_their_virtual_tables_and_parcels_by_links_within_them)
{
    site_start(123);
    foam_open(HAUL_CONTAINER_OF(parcel, link));
    travel_and_sum(foam_make(), foam_type, 1, foam_walk);
    foam_end();
}

TEST(structures_openfoam, OpenFOAM_a_link_taken_for_the_beginning_of_its_parcel_is_refused)
{
    site_start(124);
    foam_open(0);
    refuse_ship(foam_make(), foam_type, 1, HAUL_ERROR_GRAPH, "root.parcels.first.link.next",
                "one address is reached as a parcel and as a mesh");
    foam_end();
}
