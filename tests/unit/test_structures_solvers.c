/* What solvers keep: PETSc's Mat and Mat_SeqAIJ (CNT, EXPR, FAR, CAP, ROWS, SHARE, BACK, POLY,
 * COND, FUNC), METIS' graph_t (CNT, EXPR, SHARE, BACK, COND), OpenFOAM's lists, patches and
 * lduMatrix (CNT, PARR, SHARE, BACK, HOOK, POLY, CTX, COND, FUNC).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"

/* ---- PETSc. What a matrix' data is, its type's name says; how many rows it has, the layout that
 * the matrix leads to, and that others share. Values, columns and row starts may come from one
 * malloc, or the latter two be another matrix' own. */

enum { ROWS = 300, COLUMNS = 400, RANKS = 4, LDA_MORE = 5 };

typedef struct Mat Mat;

typedef struct PetscLayout {
    int comm; /* a handle */
    int size, n, N, rstart, rend;
    int *range; /* size + 1 */
    int refcnt;
} PetscLayout;

typedef struct MatOps {
    double (*mult)(Mat *);
    void (*scale)(Mat *, double);
} MatOps;

struct Mat {
    char *type_name;
    MatOps ops[1];
    PetscLayout *rmap, *cmap;
    void *data;
    int assembled;
};

typedef struct Mat_SeqAIJ {
    int singlemalloc, maxnz;
    int *imax, *ilen;
    int free_imax_ilen, free_ij, free_a, nz;
    int *i, *j, *diag;
    double *a, *solve_work;
    Mat *parent; /* the matrix whose i, j, imax, ilen these are */
} Mat_SeqAIJ;

typedef struct Mat_SeqDense {
    double *v;
    int lda, *pivots;
} Mat_SeqDense;

typedef struct mats {
    int n;
    Mat **mat;
} mats;

static haul_type *layout_type, *ops_type, *mat_type, *aij_type, *dense_type, *mats_type;

static const Mat *mat_of(const haul_here *here)
{
    return here->ancestor;
}

enum { AIJ, DENSE };
static const haul_case mat_kinds[] = { { AIJ, &aij_type, 0 }, { DENSE, &dense_type, 0 } };

HAUL_FUNCTION(mat_kind, Mat, strcmp(self->type_name, "seqaij") == 0 ? AIJ : DENSE)
HAUL_FUNCTION(aij_rows, Mat_SeqAIJ, mat_of(here) ? mat_of(here)->rmap->n : -1)
HAUL_FUNCTION(aij_starts, Mat_SeqAIJ, mat_of(here) ? mat_of(here)->rmap->n + 1 : -1)
HAUL_FUNCTION(dense_values, Mat_SeqDense, (int64_t)self->lda *mat_of(here)->cmap->n)
HAUL_FUNCTION(dense_rows, Mat_SeqDense, mat_of(here)->rmap->n)

static void mats_open(const haul_field *starts)
{
    static const haul_field layout_fields[] = { HAUL_ARRAY(PetscLayout, range,
                                                           HAUL_COUNT_PLUS(PetscLayout, size, 1)) };
    static const haul_field ops_fields[] = { HAUL_ADDRESS(MatOps, mult, .ownership = HAUL_EXTERNAL),
                                             HAUL_ADDRESS(MatOps, scale,
                                                          .ownership = HAUL_EXTERNAL) };
    static const haul_field mat_fields[] = {
        HAUL_STRING(Mat, type_name), HAUL_EMBED(Mat, ops, &ops_type),
        HAUL_OBJECT(Mat, rmap, &layout_type), HAUL_OBJECT(Mat, cmap, &layout_type),
        HAUL_ADDRESS(Mat, data, .type_switch = HAUL_SWITCH_FN(mat_kind, mat_kinds))
    };
    static const haul_field dense_fields[] = {
        HAUL_ARRAY(Mat_SeqDense, v, HAUL_COUNT_FN(dense_values), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(Mat_SeqDense, pivots, HAUL_COUNT_FN(dense_rows), .ancestor = HAUL_PARENT)
    };
    static const haul_field mats_fields[] = { HAUL_POINTERS(mats, mat, &mat_type,
                                                            HAUL_COUNT(mats, n)) };
    const haul_field aij_fields[] = {
        HAUL_ARRAY(Mat_SeqAIJ, imax, HAUL_COUNT_FN(aij_rows), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(Mat_SeqAIJ, ilen, HAUL_COUNT_FN(aij_rows), .ancestor = HAUL_PARENT),
        *starts,
        HAUL_ARRAY(Mat_SeqAIJ, j, HAUL_COUNT(Mat_SeqAIJ, maxnz)),
        HAUL_ARRAY(Mat_SeqAIJ, diag, HAUL_COUNT_FN(aij_rows), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(Mat_SeqAIJ, a, HAUL_COUNT(Mat_SeqAIJ, maxnz)),
        HAUL_ARRAY(Mat_SeqAIJ, solve_work, HAUL_COUNT_FN(aij_rows), .ancestor = HAUL_PARENT),
        HAUL_OBJECT(Mat_SeqAIJ, parent, &mat_type),
    };
    layout_type = YARD_TYPE(PetscLayout, layout_fields);
    ops_type = YARD_TYPE(MatOps, ops_fields);
    mat_type = YARD_TYPE(Mat, mat_fields);
    aij_type = YARD_TYPE(Mat_SeqAIJ, aij_fields);
    dense_type = YARD_TYPE(Mat_SeqDense, dense_fields);
    mats_type = YARD_TYPE(mats, mats_fields);
    yard_commit(mats_type);
}

static void mats_end(void)
{
    YARD_END(&layout_type, &ops_type, &mat_type, &aij_type, &dense_type, &mats_type);
}

static double aij_mult(Mat *m)
{
    const Mat_SeqAIJ *a = m->data;
    double sum = 0;
    int r, k;
    for (r = 0; r < m->rmap->n; r++)
        for (k = a->i[r]; k < a->i[r] + a->ilen[r]; k++)
            sum += a->a[k] * a->j[k];
    return sum;
}

static void aij_scale(Mat *m, double by)
{
    Mat_SeqAIJ *a = m->data;
    int k;
    for (k = 0; k < a->nz; k++)
        a->a[k] *= by;
    for (k = 0; k < m->rmap->n; k++)
        a->solve_work[k] = a->a[a->diag[k]];
}

static double dense_mult(Mat *m)
{
    const Mat_SeqDense *d = m->data;
    double sum = 0;
    int r, c;
    for (c = 0; c < m->cmap->n; c++)
        for (r = 0; r < m->rmap->n; r++)
            sum += d->v[c * d->lda + r];
    return sum;
}

static void dense_scale(Mat *m, double by)
{
    Mat_SeqDense *d = m->data;
    int i;
    for (i = 0; i < m->rmap->n; i++)
        d->v[d->pivots[i]] *= by;
}

static PetscLayout *layout_make(int n)
{
    PetscLayout *l = yard_take(1, sizeof *l);
    l->comm = 0x44000000;
    l->size = RANKS;
    l->n = n;
    l->N = n * RANKS;
    l->range = yard_take(RANKS + 1, sizeof *l->range);
    return l;
}

static Mat *mat_make(const char *type, PetscLayout *rows, PetscLayout *columns)
{
    int is_aij = strcmp(type, "seqaij") == 0;
    Mat *m = yard_take(1, sizeof *m);
    m->type_name = yard_text(type);
    m->rmap = rows;
    m->cmap = columns;
    rows->refcnt++;
    columns->refcnt++;
    m->ops->mult = is_aij ? aij_mult : dense_mult;
    m->ops->scale = is_aij ? aij_scale : dense_scale;
    return m;
}

/* Rows of 5 places, of which 1 to 5 are in use. */
static void pattern_make(Mat_SeqAIJ *a, int rows)
{
    int r, k;
    a->imax = yard_take((size_t)rows, sizeof *a->imax);
    a->ilen = yard_take((size_t)rows, sizeof *a->ilen);
    for (r = 0; r < rows; r++) {
        a->i[r + 1] = a->i[r] + 5;
        a->imax[r] = 5;
        a->ilen[r] = yard_int(1, 5);
        for (k = 0; k < 5; k++)
            a->j[r * 5 + k] = yard_int(0, COLUMNS - 1);
    }
}

static Mat *aij_make(PetscLayout *rows, PetscLayout *columns, Mat *parent)
{
    Mat *m = mat_make("seqaij", rows, columns);
    Mat_SeqAIJ *a = m->data = yard_take(1, sizeof *a);
    size_t n = (size_t)rows->n;
    int r, k;
    a->nz = rows->n * 5;
    a->maxnz = a->nz + 50;
    if (parent) {
        const Mat_SeqAIJ *of = parent->data;
        a->i = of->i;
        a->j = of->j;
        a->imax = of->imax;
        a->ilen = of->ilen;
        a->parent = parent;
        a->a = yard_take((size_t)a->maxnz, sizeof *a->a);
    } else {
        size_t room = (size_t)a->maxnz;
        a->singlemalloc = 1;
        a->a = yard_take(1, room * (sizeof *a->a + sizeof *a->j) + (n + 1) * sizeof *a->i);
        a->j = (int *)(void *)(a->a + room);
        a->i = a->j + room;
        pattern_make(a, rows->n);
    }
    a->solve_work = yard_take(n, sizeof *a->solve_work);
    a->diag = yard_take(n, sizeof *a->diag);
    for (r = 0; r < rows->n; r++) {
        a->diag[r] = a->i[r];
        for (k = a->i[r]; k < a->i[r] + a->ilen[r]; k++) {
            a->a[k] = yard_int(1, 9);
            yard.told += (int64_t)a->a[k] * a->j[k];
        }
    }
    return m;
}

static Mat *dense_make(PetscLayout *rows, PetscLayout *columns)
{
    Mat *m = mat_make("seqdense", rows, columns);
    Mat_SeqDense *d = m->data = yard_take(1, sizeof *d);
    int r, c;
    d->lda = rows->n + LDA_MORE;
    d->v = yard_take((size_t)d->lda * (size_t)columns->n, sizeof *d->v);
    d->pivots = yard_take((size_t)rows->n, sizeof *d->pivots);
    for (c = 0; c < columns->n; c++)
        for (r = 0; r < rows->n; r++) {
            d->v[c * d->lda + r] = yard_int(0, 9);
            yard.told += (int64_t)d->v[c * d->lda + r];
        }
    for (r = 0; r < rows->n; r++)
        d->pivots[r] = r;
    return m;
}

static mats *mats_make(void)
{
    mats *all = yard_take(1, sizeof *all);
    PetscLayout *rows = layout_make(ROWS), *columns = layout_make(COLUMNS), *few = layout_make(20);
    all->n = 4;
    all->mat = yard_take(4, sizeof *all->mat);
    all->mat[0] = aij_make(rows, columns, NULL);
    all->mat[1] = aij_make(rows, rows, all->mat[0]);
    all->mat[2] = dense_make(few, rows);
    all->mat[3] = aij_make(few, columns, NULL);
    return all;
}

static int64_t mats_walk(void *root, size_t count)
{
    mats *all = root;
    double sum = 0;
    int m;
    (void)count;
    for (m = 0; m < all->n; m++) {
        sum += all->mat[m]->ops->mult(all->mat[m]);
        all->mat[m]->ops->scale(all->mat[m], 0.5);
    }
    return all->mat[0]->rmap == all->mat[1]->cmap ? (int64_t)sum : -1;
}

TEST(structures,
     PETSc_matrices_that_take_their_sizes_from_shared_layouts_and_their_kinds_from_names)
{
    const haul_field starts =
        HAUL_ARRAY(Mat_SeqAIJ, i, HAUL_COUNT_FN(aij_starts), .ancestor = HAUL_PARENT);
    yard_open(1 << 20, 120);
    mats_open(&starts);
    yard_prove(mats_make(), mats_type, 1, mats_walk);
    mats_end();
}

TEST(structures, PETSc_a_size_that_forgets_to_ask_for_the_parent_is_refused)
{
    const haul_field starts = HAUL_ARRAY(Mat_SeqAIJ, i, HAUL_COUNT_FN(aij_starts));
    yard_open(1 << 20, 121);
    mats_open(&starts);
    yard_refuse(mats_make(), mats_type, 1, HAUL_ERROR_GRAPH, "root.mat[0].data.i",
                "its callback answered -1");
    mats_end();
}

/* ---- METIS. Levels of a graph, each half of the finer one. The finest level's structure is the
 * caller's, who holds it too; a level has what its place asks for. */

enum { LEVELS = 5, FINEST = 640, CONSTRAINTS = 2 };

typedef struct graph_t {
    int nvtxs, nedges, ncon;
    int *xadj, *vwgt, *vsize, *adjncy, *adjwgt, *tvwgt;
    float *invtvwgt;
    int free_xadj, free_vwgt, free_vsize, free_adjncy, free_adjwgt;
    int *label, *cmap; /* cmap: to the coarser level, if there is one */
    int mincut, minvol, *where, *pwgts, nbnd, *bndptr, *bndind, *id, *ed;
    void *ckrinfo, *vkrinfo, *nrinfo;
    struct graph_t *coarser, *finer;
} graph_t;

typedef struct partition {
    int nvtxs, *xadj, *adjncy, *part; /* the caller's; part is the finest level's where */
    graph_t *graph;
} partition;

static haul_type *graph_type, *partition_type;

HAUL_FUNCTION(vertices, graph_t, self->nvtxs)
HAUL_FUNCTION(caller_edges, partition, self->xadj[self->nvtxs])

static void metis_open(void)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(graph_t, xadj, HAUL_COUNT_PLUS(graph_t, nvtxs, 1)),
        HAUL_ARRAY(graph_t, vwgt, HAUL_COUNT(graph_t, nvtxs, ncon)),
        HAUL_ARRAY(graph_t, vsize, HAUL_COUNT_FN(vertices)),
        HAUL_ARRAY(graph_t, adjncy, HAUL_COUNT(graph_t, nedges)),
        HAUL_ARRAY(graph_t, adjwgt, HAUL_COUNT(graph_t, nedges)),
        HAUL_ARRAY(graph_t, tvwgt, HAUL_COUNT(graph_t, ncon)),
        HAUL_ARRAY(graph_t, invtvwgt, HAUL_COUNT(graph_t, ncon)),
        HAUL_ARRAY(graph_t, label, HAUL_COUNT_FN(vertices)),
        HAUL_ARRAY(graph_t, cmap, HAUL_COUNT_FN(vertices)),
        HAUL_ARRAY(graph_t, where, HAUL_COUNT(graph_t, nvtxs)),
        HAUL_OBJECT(graph_t, coarser, &graph_type),
        HAUL_OBJECT(graph_t, finer, &graph_type),
    };
    static const haul_field partition_fields[] = {
        HAUL_ARRAY(partition, xadj, HAUL_COUNT_PLUS(partition, nvtxs, 1)),
        HAUL_ARRAY(partition, adjncy, HAUL_COUNT_FN(caller_edges)),
        HAUL_ARRAY(partition, part, HAUL_COUNT(partition, nvtxs)),
        HAUL_OBJECT(partition, graph, &graph_type),
    };
    graph_type = YARD_TYPE(graph_t, fields);
    partition_type = YARD_TYPE(partition, partition_fields);
    yard_commit(partition_type);
}

static int *ints_make(int count)
{
    return yard_take((size_t)count, sizeof(int));
}

/* A ring with chords. */
static graph_t *level_make(int n, graph_t *finer)
{
    graph_t *g = yard_take(1, sizeof *g);
    int v, k;
    g->nvtxs = n;
    g->nedges = 3 * n;
    g->ncon = CONSTRAINTS;
    g->xadj = ints_make(n + 1);
    g->adjncy = ints_make(g->nedges);
    g->adjwgt = ints_make(g->nedges);
    g->vwgt = ints_make(n * CONSTRAINTS);
    g->tvwgt = ints_make(CONSTRAINTS);
    g->invtvwgt = yard_take(CONSTRAINTS, sizeof *g->invtvwgt);
    g->where = ints_make(n);
    for (v = 0; v < n; v++) {
        g->xadj[v + 1] = 3 * v + 3;
        g->vwgt[v * CONSTRAINTS] = yard_int(1, 5);
        for (k = 0; k < 3; k++) {
            g->adjncy[3 * v + k] = k == 0   ? (v + 1) % n
                                   : k == 1 ? (v + n - 1) % n
                                            : yard_int(0, n - 1);
            g->adjwgt[3 * v + k] = yard_int(1, 9);
            yard.told += (int64_t)g->adjwgt[3 * v + k] * g->adjncy[3 * v + k];
        }
    }
    if (finer) {
        g->finer = finer;
        finer->coarser = g;
        finer->cmap = ints_make(finer->nvtxs);
        for (v = 0; v < finer->nvtxs; v++)
            finer->cmap[v] = v / 2;
        g->free_xadj = g->free_adjncy = 1;
    } else {
        g->vsize = ints_make(n);
        g->label = ints_make(n);
    }
    return g;
}

static partition *partition_make(void)
{
    partition *p = yard_take(1, sizeof *p);
    graph_t *g = p->graph = level_make(FINEST, NULL);
    int level;
    p->nvtxs = FINEST;
    p->xadj = g->xadj;
    p->adjncy = g->adjncy;
    p->part = g->where;
    for (level = 1; level < LEVELS; level++)
        g = level_make(FINEST >> level, g);
    for (level = 0; level < g->nvtxs; level++)
        g->where[level] = level % 2;
    return p;
}

/* Down to the coarsest level, and with its halves up again. */
static int64_t partition_walk(void *root, size_t count)
{
    partition *p = root;
    graph_t *g = p->graph;
    int64_t sum = 0;
    int v, k;
    (void)count;
    for (;; g = g->coarser) {
        for (v = 0; v < g->nvtxs; v++)
            for (k = g->xadj[v]; k < g->xadj[v + 1]; k++)
                sum += (int64_t)g->adjwgt[k] * g->adjncy[k];
        if (!g->coarser)
            break;
    }
    for (g = g->finer; g; g = g->finer)
        for (v = 0; v < g->nvtxs; v++)
            g->where[v] = g->coarser->where[g->cmap[v]];
    return p->part[FINEST - 1] == 1 && p->part[0] == 0 ? sum : -1;
}

TEST(structures, METIS_levels_of_a_graph_whose_finest_one_is_the_callers)
{
    yard_open(1 << 20, 122);
    metis_open();
    yard_prove(partition_make(), partition_type, 1, partition_walk);
    YARD_END(&graph_type, &partition_type);
}

/* ---- OpenFOAM. A list is a size and a pointer, of anything; a matrix refers to its mesh and may
 * lack its lower or upper half; a patch is of the class that its table of virtual functions says;
 * parcels are linked through their base, which lies behind that table's address, and the ends of
 * their list lead to themselves. */

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
    ulist_type = YARD_TYPE(UList, ulist_fields);
    patch_pointer = yard_type("patch *", sizeof(void *), pointer_fields, 1);
    ints_type = list_of(int_type);
    doubles_type = list_of(double_type);
    patches_type = list_of(patch_pointer);
    mesh_type = YARD_TYPE(mesh, mesh_fields);
    patch_type = YARD_TYPE(patch, patch_fields);
    fixed_type = YARD_TYPE(fixed_patch, fixed_fields);
    field_type = YARD_TYPE(scalarField, field_fields);
    matrix_type = YARD_TYPE(lduMatrix, matrix_fields);
    link_type = YARD_TYPE(dl_link, link_fields);
    parcel_type = YARD_TYPE(parcel, parcel_fields);
    foam_type = YARD_TYPE(foam, foam_fields);
    yard_commit(foam_type);
}

static void foam_end(void)
{
    YARD_END(&list_element, &ulist_type, &int_type, &double_type, &ints_type, &doubles_type,
             &patch_pointer, &patches_type, &mesh_type, &patch_type, &fixed_type, &field_type,
             &matrix_type, &link_type, &parcel_type, &foam_type);
}

static void list_start(UList *l, int size, size_t bytes)
{
    l->size = size;
    l->v = yard_take((size_t)size, bytes);
}

static void cells_make(UList *l, int size)
{
    int i;
    list_start(l, size, sizeof(int));
    for (i = 0; i < size; i++)
        ((int *)l->v)[i] = yard_int(0, CELLS - 1);
}

/* For so many matrices, of which each adds 1 to each. */
static scalarField *scalars_make(int size, int matrices)
{
    scalarField *f = yard_take(1, sizeof *f);
    int i;
    list_start(&f->list, size, sizeof(double));
    f->count = matrices - 1;
    for (i = 0; i < size; i++) {
        int value = yard_int(0, 99);
        ((double *)f->list.v)[i] = value;
        yard.told += value * matrices + matrices - 1;
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
    fixed_patch *p = yard_take(1, is_fixed ? sizeof *p : sizeof p->base);
    p->base.virtuals = is_fixed ? &fixed_virtuals : &patch_virtuals;
    p->base.of = m;
    cells_make(&p->base.cells, 20);
    if (is_fixed) {
        list_start(&p->values, 20, sizeof(double));
        ((double *)p->values.v)[19] = 1000;
    }
    yard.told += is_fixed ? 1000 : ((int *)p->base.cells.v)[0];
    return &p->base;
}

static void parcels_make(cloud *c, const mesh *m)
{
    for (; c->nElmts < PARCELS; c->nElmts++) {
        parcel *p = yard_take(1, sizeof *p);
        p->virtuals = &patch_virtuals;
        p->of = m;
        p->cell = yard_int(0, CELLS - 1);
        p->link.prev = c->last ? c->last : &p->link;
        p->link.next = &p->link;
        if (c->last)
            c->last->next = &p->link;
        else
            c->first = &p->link;
        c->last = &p->link;
        yard.told += p->cell;
    }
}

static int64_t matrix_see(lduMatrix *m)
{
    return (int64_t)(scalars_sum(m->diagPtr) + scalars_sum(m->lowerPtr) + scalars_sum(m->upperPtr));
}

static foam *foam_make(void)
{
    foam *f = yard_take(1, sizeof *f);
    mesh *m = f->of = yard_take(1, sizeof *m);
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

TEST(structures,
     OpenFOAM_lists_of_anything_patches_by_their_virtual_tables_and_parcels_by_links_within_them)
{
    yard_open(1 << 20, 123);
    foam_open(HAUL_CONTAINER_OF(parcel, link));
    yard_prove(foam_make(), foam_type, 1, foam_walk);
    foam_end();
}

TEST(structures, OpenFOAM_a_link_taken_for_the_beginning_of_its_parcel_is_refused)
{
    yard_open(1 << 20, 124);
    foam_open(0);
    yard_refuse(foam_make(), foam_type, 1, HAUL_ERROR_GRAPH, "root.parcels.first.link.next",
                "one address is reached as a parcel and as a mesh");
    foam_end();
}
