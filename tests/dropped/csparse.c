/* CXSparse: solvers by Cholesky, LU and QR, which CXSparse itself uses there. This file is compiled
 * for each of its four forms, which CS_LONG and CS_COMPLEX choose.
 */
#include <stdlib.h>
#include <string.h>

#include "acceptance/csparse_types.h"
#include "library.h"
#include "support/check.h"

enum { SIDE = 8, N = SIDE * SIDE, ROOM = 3 * N };

typedef enum method { CHOLESKY, LU, QR, METHODS } method;

typedef struct work {
    solver *s[METHODS];
    uint64_t digest;
    CS_ENTRY x[METHODS][ROOM], t[ROOM];
} work;

/* ---- Solving, by functions that do not allocate. */

static void solve(const solver *s, method m, CS_ENTRY *x, CS_ENTRY *t)
{
    CS_INT k;
    cs_ipvec(m == LU ? s->N->pinv : s->S->pinv, s->b, t, s->A->m);
    for (k = 0; m == QR && k < s->A->n; k++)
        cs_happly(s->N->L, k, s->N->B[k], t);
    if (m != QR)
        cs_lsolve(s->N->L, t);
    if (m == CHOLESKY) {
        cs_ltsolve(s->N->L, t);
        cs_pvec(s->S->pinv, t, x, s->A->n);
    } else {
        cs_usolve(s->N->U, t);
        cs_ipvec(s->S->q, t, x, s->A->n);
    }
}

/* What solving does not read. */
static void digest(uint64_t *d, const solver *s)
{
    const size_t n = (size_t)s->A->n * sizeof(CS_INT);
    library_digest(d, s->triplets->p, (size_t)s->triplets->nz * sizeof(CS_INT));
    library_digest(d, s->triplets->i, (size_t)s->triplets->nz * sizeof(CS_INT));
    library_digest(d, s->triplets->x, (size_t)s->triplets->nz * sizeof(CS_ENTRY));
    library_digest(d, s->A->p, n + sizeof(CS_INT));
    library_digest(d, s->A->i, (size_t)s->A->nzmax * sizeof(CS_INT));
    library_digest(d, s->A->x, (size_t)s->A->nzmax * sizeof(CS_ENTRY));
    library_digest(d, s->S->parent, s->S->parent ? n : 0);
    library_digest(d, s->S->cp, s->S->cp ? n : 0);
    library_digest(d, s->S->leftmost, s->S->leftmost ? n : 0);
    library_digest(d, s->D->p, n);
    library_digest(d, s->D->q, n);
    library_digest(d, s->D->r, ((size_t)s->D->nb + 1) * sizeof(CS_INT));
    library_digest(d, s->D->s, ((size_t)s->D->nb + 1) * sizeof(CS_INT));
}

static void look(void *argument)
{
    work *w = argument;
    int m;
    for (m = CHOLESKY; m < METHODS; m++) {
        memset(w->t, 0, sizeof w->t);
        solve(w->s[m], (method)m, w->x[m], w->t);
        digest(&w->digest, w->s[m]);
    }
}

/* ---- Building, shipping, looking. */

/* A square of SIDE places: 4 on the diagonal and -1 to the neighbours. */
static cs *make_triplets(void)
{
    cs *t = cs_spalloc(N, N, 1, 1, 1);
    CS_INT row;
    for (row = 0; row < N; row++) {
        cs_entry(t, row, row, 4.5);
        if (row % SIDE) {
            cs_entry(t, row, row - 1, -1);
            cs_entry(t, row - 1, row, -1);
        }
        if (row >= SIDE) {
            cs_entry(t, row, row - SIDE, -1);
            cs_entry(t, row - SIDE, row, -1);
        }
    }
    cs_sprealloc(t, 0); /* to its entries: the rest was never set */
    return t;
}

static solver *make(method m)
{
    solver *s = calloc(1, sizeof *s);
    int i;
    s->triplets = make_triplets();
    s->A = cs_compress(s->triplets);
    s->S = m == CHOLESKY ? cs_schol(1, s->A) : cs_sqr(m == LU ? 2 : 3, s->A, m == QR);
    s->N = m == CHOLESKY ? cs_chol(s->A, s->S)
           : m == LU     ? cs_lu(s->A, s->S, 1e-3)
                         : cs_qr(s->A, s->S);
    s->D = cs_dmperm(s->A, 0);
    s->b = calloc(N, sizeof *s->b);
    for (i = 0; i < N; i++)
        s->b[i] = 1 + i % 17;
    CHECK(s->S && s->N && s->D && s->S->m2 <= ROOM);
    return s;
}

static void drop(solver *s)
{
    cs_spfree(s->triplets);
    cs_spfree(s->A);
    cs_sfree(s->S);
    cs_nfree(s->N);
    cs_dfree(s->D);
    free(s->b);
    free(s);
}

#if defined(CS_LONG) && defined(CS_COMPLEX)
TEST(libraries_csparse_cl, solvers_by_cholesky_lu_and_qr)
#elif defined(CS_LONG)
TEST(libraries_csparse_dl, solvers_by_cholesky_lu_and_qr)
#elif defined(CS_COMPLEX)
TEST(libraries_csparse_ci, solvers_by_cholesky_lu_and_qr)
#else
TEST(libraries_csparse_di, solvers_by_cholesky_lu_and_qr)
#endif
{
    static work here, there;
    haul_root roots[METHODS];
    haul_device *device = library_device();
    haul_shipment *shipment;
    int m;
    memset(&here, 0, sizeof here);
    memset(&there, 0, sizeof there);
    CHECK_STATUS(HAUL_DESCRIBE(haul_device_context(device), structs), HAUL_OK);
    for (m = CHOLESKY; m < METHODS; m++) {
        here.s[m] = make((method)m);
        roots[m] = (haul_root){ here.s[m], solver_type, 1 };
    }
    shipment = library_ship(device, roots, METHODS, NULL);
    for (m = CHOLESKY; m < METHODS; m++)
        there.s[m] = haul_device_pointer(shipment, here.s[m]);
    look(&here);
    CHECK_STATUS(haul_host_launch(device, look, &there), HAUL_OK);
    CHECK_EQ(there.digest, here.digest);
    CHECK_BYTES(there.x, here.x, sizeof here.x);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    for (m = CHOLESKY; m < METHODS; m++)
        drop(here.s[m]);
}
