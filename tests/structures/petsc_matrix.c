/* PETSc. What a matrix' data is, its type's name says; how many rows it has, the layout that
 * the matrix leads to, and that others share. Values, columns and row starts may come from one
 * malloc, or the latter two be another matrix' own.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

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
    layout_type = OPEN(PetscLayout, layout_fields);
    ops_type = OPEN(MatOps, ops_fields);
    mat_type = OPEN(Mat, mat_fields);
    aij_type = OPEN(Mat_SeqAIJ, aij_fields);
    dense_type = OPEN(Mat_SeqDense, dense_fields);
    mats_type = OPEN(mats, mats_fields);
    type_close(mats_type);
}

static void mats_end(void)
{
    SITE_END(&layout_type, &ops_type, &mat_type, &aij_type, &dense_type, &mats_type);
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
    PetscLayout *l = put_elements(1, sizeof *l);
    l->comm = 0x44000000;
    l->size = RANKS;
    l->n = n;
    l->N = n * RANKS;
    l->range = put_elements(RANKS + 1, sizeof *l->range);
    return l;
}

static Mat *mat_make(const char *type, PetscLayout *rows, PetscLayout *columns)
{
    int is_aij = strcmp(type, "seqaij") == 0;
    Mat *m = put_elements(1, sizeof *m);
    m->type_name = put_text(type);
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
    a->imax = put_elements((size_t)rows, sizeof *a->imax);
    a->ilen = put_elements((size_t)rows, sizeof *a->ilen);
    for (r = 0; r < rows; r++) {
        a->i[r + 1] = a->i[r] + 5;
        a->imax[r] = 5;
        a->ilen[r] = chance(1, 5);
        for (k = 0; k < 5; k++)
            a->j[r * 5 + k] = chance(0, COLUMNS - 1);
    }
}

static Mat *aij_make(PetscLayout *rows, PetscLayout *columns, Mat *parent)
{
    Mat *m = mat_make("seqaij", rows, columns);
    Mat_SeqAIJ *a = m->data = put_elements(1, sizeof *a);
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
        a->a = put_elements((size_t)a->maxnz, sizeof *a->a);
    } else {
        size_t room = (size_t)a->maxnz;
        a->singlemalloc = 1;
        a->a = put_elements(1, room * (sizeof *a->a + sizeof *a->j) + (n + 1) * sizeof *a->i);
        a->j = (int *)(void *)(a->a + room);
        a->i = a->j + room;
        pattern_make(a, rows->n);
    }
    a->solve_work = put_elements(n, sizeof *a->solve_work);
    a->diag = put_elements(n, sizeof *a->diag);
    for (r = 0; r < rows->n; r++) {
        a->diag[r] = a->i[r];
        for (k = a->i[r]; k < a->i[r] + a->ilen[r]; k++) {
            a->a[k] = chance(1, 9);
            the.told += (int64_t)a->a[k] * a->j[k];
        }
    }
    return m;
}

static Mat *dense_make(PetscLayout *rows, PetscLayout *columns)
{
    Mat *m = mat_make("seqdense", rows, columns);
    Mat_SeqDense *d = m->data = put_elements(1, sizeof *d);
    int r, c;
    d->lda = rows->n + LDA_MORE;
    d->v = put_elements((size_t)d->lda * (size_t)columns->n, sizeof *d->v);
    d->pivots = put_elements((size_t)rows->n, sizeof *d->pivots);
    for (c = 0; c < columns->n; c++)
        for (r = 0; r < rows->n; r++) {
            d->v[c * d->lda + r] = chance(0, 9);
            the.told += (int64_t)d->v[c * d->lda + r];
        }
    for (r = 0; r < rows->n; r++)
        d->pivots[r] = r;
    return m;
}

static mats *mats_make(void)
{
    mats *all = put_elements(1, sizeof *all);
    PetscLayout *rows = layout_make(ROWS), *columns = layout_make(COLUMNS), *few = layout_make(20);
    all->n = 4;
    all->mat = put_elements(4, sizeof *all->mat);
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

TEST(structures_petsc,
     PETSc_matrices_that_take_their_sizes_from_shared_layouts_and_their_kinds_from_names)
{
    const haul_field starts =
        HAUL_ARRAY(Mat_SeqAIJ, i, HAUL_COUNT_FN(aij_starts), .ancestor = HAUL_PARENT);
    site_start(120);
    mats_open(&starts);
    travel_and_sum(mats_make(), mats_type, 1, mats_walk);
    mats_end();
}

TEST(structures_petsc, PETSc_a_size_that_forgets_to_ask_for_the_parent_is_refused)
{
    const haul_field starts = HAUL_ARRAY(Mat_SeqAIJ, i, HAUL_COUNT_FN(aij_starts));
    site_start(121);
    mats_open(&starts);
    refuse_ship(mats_make(), mats_type, 1, HAUL_ERROR_GRAPH, "root.mat[0].data.i",
                "its callback answered -1");
    mats_end();
}
