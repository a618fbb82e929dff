/* CHOLMOD: matrices of each kind of number, packed and not, and factors of each form. */
#include <stdlib.h>
#include <string.h>

#include "acceptance/cholmod_types.h"
#include "acceptance/sparse.h"
#include "library.h"
#include "support/check.h"

/* cholmod_types.c asks for these two. */
static haul_context *the_context;

haul_context *types_context(void)
{
    return the_context;
}

int check_call(haul_status status, haul_context *context, const char *what)
{
    (void)context;
    (void)what;
    return status == HAUL_OK;
}

enum { SIDE = 12, N = SIDE * SIDE, FACTORS = 4 };

typedef struct objects {
    cholmod_sparse *real, *zomplex;
    cholmod_dense *right, *imaginary;
    cholmod_triplet *triplet, *split;
    cholmod_factor *factor[FACTORS];
    uint64_t digest;
} objects;

/* ---- What the library's header says is in them. All integers are int. */

static size_t number_bytes(int xtype)
{
    return xtype == CHOLMOD_PATTERN ? 0 : sizeof(double);
}

static void digest_numbers(uint64_t *digest, const void *x, const void *z, size_t count, int xtype)
{
    if (xtype != CHOLMOD_PATTERN)
        library_digest(digest, x, count * number_bytes(xtype));
    if (xtype == CHOLMOD_ZOMPLEX)
        library_digest(digest, z, count * sizeof(double));
}

static void digest_sparse(uint64_t *digest, const cholmod_sparse *a)
{
    library_digest(digest, a->p, (a->ncol + 1) * sizeof(int));
    library_digest(digest, a->i, a->nzmax * sizeof(int));
    if (!a->packed)
        library_digest(digest, a->nz, a->ncol * sizeof(int));
    digest_numbers(digest, a->x, a->z, a->nzmax, a->xtype);
}

static void digest_triplet(uint64_t *digest, const cholmod_triplet *t)
{
    library_digest(digest, t->i, t->nnz * sizeof(int));
    library_digest(digest, t->j, t->nnz * sizeof(int));
    digest_numbers(digest, t->x, t->z, t->nnz, t->xtype);
}

static void digest_supernodal(uint64_t *digest, const cholmod_factor *l)
{
    library_digest(digest, l->super, (l->nsuper + 1) * sizeof(int));
    library_digest(digest, l->pi, (l->nsuper + 1) * sizeof(int));
    library_digest(digest, l->px, (l->nsuper + 1) * sizeof(int));
    library_digest(digest, l->s, l->ssize * sizeof(int));
    digest_numbers(digest, l->x, NULL, l->xsize, l->xtype);
}

static void digest_factor(uint64_t *digest, const cholmod_factor *l)
{
    library_digest(digest, l->Perm, l->n * sizeof(int));
    library_digest(digest, l->ColCount, l->n * sizeof(int));
    if (l->IPerm)
        library_digest(digest, l->IPerm, l->n * sizeof(int));
    if (l->is_super) {
        digest_supernodal(digest, l);
    } else if (l->xtype != CHOLMOD_PATTERN) {
        library_digest(digest, l->p, (l->n + 1) * sizeof(int));
        library_digest(digest, l->i, l->nzmax * sizeof(int));
        library_digest(digest, l->nz, l->n * sizeof(int));
        library_digest(digest, l->next, (l->n + 2) * sizeof(int));
        library_digest(digest, l->prev, (l->n + 2) * sizeof(int));
        digest_numbers(digest, l->x, l->z, l->nzmax, l->xtype);
    }
}

static void look(void *argument)
{
    objects *o = argument;
    int i;
    digest_sparse(&o->digest, o->real);
    digest_sparse(&o->digest, o->zomplex);
    digest_numbers(&o->digest, o->right->x, o->right->z, o->right->nzmax, o->right->xtype);
    digest_numbers(&o->digest, o->imaginary->x, o->imaginary->z, o->imaginary->nzmax,
                   o->imaginary->xtype);
    digest_triplet(&o->digest, o->triplet);
    digest_triplet(&o->digest, o->split);
    for (i = 0; i < FACTORS; i++)
        digest_factor(&o->digest, o->factor[i]);
}

/* ---- Building, shipping, looking. */

/* A square of SIDE places: 4 on the diagonal and -1 to the neighbours, lower triangle. */
static cholmod_triplet *make_triplet(int xtype, cholmod_common *c)
{
    cholmod_triplet *t = cholmod_allocate_triplet(N, N, 3 * N, -1, xtype, c);
    int row, *i = t->i, *j = t->j;
    for (row = 0; row < N; row++) {
        const int neighbour[3] = { 0, row % SIDE ? 1 : 0, row >= SIDE ? SIDE : 0 };
        int n;
        for (n = 0; n < 3; n++)
            if (n == 0 || neighbour[n]) {
                i[t->nnz] = row;
                j[t->nnz] = row - neighbour[n];
                if (xtype == CHOLMOD_ZOMPLEX)
                    ((double *)t->z)[t->nnz] = 0;
                ((double *)t->x)[t->nnz++] = n ? -1 : 4.5;
            }
    }
    return t;
}

static cholmod_factor *make_factor(cholmod_sparse *a, int supernodal, cholmod_common *c)
{
    cholmod_factor *l;
    c->supernodal = supernodal;
    l = cholmod_analyze(a, c);
    cholmod_factorize(a, l, c);
    CHECK_EQ(c->status, CHOLMOD_OK);
    return l;
}

/* What a factor keeps for later entries holds no old addresses then. */
static void *allocate_zeros(size_t bytes)
{
    return calloc(1, bytes);
}

static void make(objects *o, cholmod_common *c)
{
    int k;
    c->prefer_zomplex = 1;
    c->final_ll = 0;
    o->triplet = make_triplet(CHOLMOD_REAL, c);
    o->split = make_triplet(CHOLMOD_ZOMPLEX, c);
    o->real = cholmod_triplet_to_sparse(o->triplet, 0, c);
    o->zomplex = cholmod_triplet_to_sparse(o->split, 0, c);
    o->right = cholmod_ones(N, 2, CHOLMOD_REAL, c);
    o->imaginary = cholmod_ones(N, 2, CHOLMOD_ZOMPLEX, c);
    o->factor[0] = make_factor(o->real, CHOLMOD_SIMPLICIAL, c);
    o->factor[1] = make_factor(o->zomplex, CHOLMOD_SIMPLICIAL, c);
    o->factor[2] = make_factor(o->real, CHOLMOD_SUPERNODAL, c);
    c->supernodal = CHOLMOD_SIMPLICIAL;
    o->factor[3] = cholmod_analyze(o->real, c);
    /* only a solver of sparse systems makes an inverse permutation */
    o->factor[3]->IPerm = cholmod_malloc(N, sizeof(int), c);
    memcpy(o->factor[3]->IPerm, o->factor[3]->Perm, N * sizeof(int));
    /* unpacked: each column has a length of its own */
    o->zomplex->nz = cholmod_malloc(N, sizeof(int), c);
    o->zomplex->packed = 0;
    for (k = 0; k < N; k++)
        ((int *)o->zomplex->nz)[k] = ((int *)o->zomplex->p)[k + 1] - ((int *)o->zomplex->p)[k];
}

static void drop(objects *o, cholmod_common *c)
{
    int i;
    for (i = 0; i < FACTORS; i++)
        cholmod_free_factor(&o->factor[i], c);
    cholmod_free_sparse(&o->real, c);
    cholmod_free_sparse(&o->zomplex, c);
    cholmod_free_dense(&o->right, c);
    cholmod_free_dense(&o->imaginary, c);
    cholmod_free_triplet(&o->triplet, c);
    cholmod_free_triplet(&o->split, c);
}

enum { ROOTS = 6 + FACTORS };

static void list_roots(const objects *o, haul_root *roots)
{
    int i;
    roots[0] = (haul_root){ o->real, sparse_type, 1 };
    roots[1] = (haul_root){ o->zomplex, sparse_type, 1 };
    roots[2] = (haul_root){ o->right, dense_type, 1 };
    roots[3] = (haul_root){ o->imaginary, dense_type, 1 };
    roots[4] = (haul_root){ o->triplet, triplet_type, 1 };
    roots[5] = (haul_root){ o->split, triplet_type, 1 };
    for (i = 0; i < FACTORS; i++)
        roots[6 + i] = (haul_root){ o->factor[i], factor_type, 1 };
}

static objects there_of(const objects *o, const haul_shipment *s)
{
    objects there;
    int i;
    there.digest = 0;
    there.real = haul_device_pointer(s, o->real);
    there.zomplex = haul_device_pointer(s, o->zomplex);
    there.right = haul_device_pointer(s, o->right);
    there.imaginary = haul_device_pointer(s, o->imaginary);
    there.triplet = haul_device_pointer(s, o->triplet);
    there.split = haul_device_pointer(s, o->split);
    for (i = 0; i < FACTORS; i++)
        there.factor[i] = haul_device_pointer(s, o->factor[i]);
    return there;
}

TEST(libraries_cholmod, matrices_and_factors_of_each_form)
{
    cholmod_common common;
    haul_root roots[ROOTS];
    haul_device *device = library_device();
    haul_shipment *shipment;
    objects here, there;
    memset(&here, 0, sizeof here);
    SuiteSparse_config.malloc_func = allocate_zeros;
    cholmod_start(&common);
    make(&here, &common);
    the_context = haul_device_context(device);
    CHECK(cholmod_types_open());
    list_roots(&here, roots);
    shipment = library_ship(device, roots, ROOTS, NULL);
    there = there_of(&here, shipment);
    look(&here);
    CHECK_STATUS(haul_host_launch(device, look, &there), HAUL_OK);
    CHECK_EQ(there.digest, here.digest);
    haul_shipment_free(&shipment);
    cholmod_types_close();
    haul_device_close(&device);
    drop(&here, &common);
    cholmod_finish(&common);
}
