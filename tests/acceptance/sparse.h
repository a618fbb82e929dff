/* What the programs for sparse matrices share: memory that can be taken away, shipments, matrices,
 * and the account.
 *
 * A library's objects are built in a pool: one range of addresses, whose allocations are known to
 * the byte. While a graph is packed or audited the pool is read-only; while the library works on
 * the relocated copy it is inaccessible, and whoever still follows a pointer to the original
 * faults. What the library allocates meanwhile is malloc's.
 */
#ifndef HAUL_TESTS_SPARSE_H
#define HAUL_TESTS_SPARSE_H

#include "haul.h"

/* ---- The account. A case is a line; it passes if all that is checked in it holds. */

void case_begin(const char *format, ...);
void case_note(const char *format, ...); /* more words on the line */
void case_end(void);
int check(int holds, const char *format, ...); /* `holds`; says what did not */
int check_call(haul_status status, haul_context *context, const char *what);
/* The one that types are made in. */
haul_context *types_context(void);
int account(void); /* the last line; the exit status of the program */

/* ---- The pool. */

void pool_open(void);  /* from now on pool_allocate takes from the pool */
void pool_shut(void);  /* and from now on from malloc */
void pool_empty(void); /* forgets all that was taken from the pool */

/* malloc's four, for the libraries' hooks. Memory goes back to where it came from. */
void *pool_allocate(size_t bytes);
void *pool_allocate_zeros(size_t count, size_t bytes);
void *pool_reallocate(void *block, size_t bytes);
void pool_release(void *block);

/* as asked for; 0: no block of the pool begins there */
size_t pool_find(void *user, const void *address, const void **begin);

/* ---- Matrices, as entries in any order. */

typedef struct entries {
    size_t rows, columns, count, capacity;
    int is_lower; /* symmetric or Hermitian, and only the lower triangle is here */
    int *row, *column;
    double *real, *imaginary;
} entries;

uint64_t random_seed(int count, char **words); /* --seed N, or HAUL_SEED, or 1 */
double random_unit(uint64_t *state);           /* in [0, 1) */

/* of a square or a cube, shifted by a little: definite */
entries laplacian(size_t side, int dimensions);
entries hermitian(size_t side); /* of a square in a magnetic field: definite */
entries random_definite(size_t n, size_t per_row, uint64_t seed);
entries convection(size_t side); /* unsymmetric, with an imaginary part for who wants it */
entries gradient(size_t side);   /* more rows than columns */
/* A real one, symmetric or not, as asked for: of the first such file among the program's words, or
 * that a Debian package brought. Harwell and Boeing's form, RSA or RUA. Its name; NULL, and no
 * rows: there is none. */
const char *matrix_from_file(int count, char **words, int is_symmetric, entries *matrix);
void entries_free(entries *e);

/* ---- Shipping. */

typedef struct passage {
    haul_device *device;
    haul_shipment *shipment;
} passage;

/* `argument` is what callbacks see. 0: it failed, and the account says how. The context is a
 * checked one. */
int passage_open(passage *p, const haul_root *roots, size_t count, void *argument);
/* with the pool out of reach */
int passage_work(passage *p, void (*work)(void *argument), void *argument);
int passage_return(passage *p);
void passage_close(passage *p);

/* ---- Auditing, and what has to be refused. */

#define FINDINGS 32
typedef struct findings {
    haul_audit_info summary;
    haul_audit_finding found[FINDINGS];
    size_t count;
} findings;

/* Every block of the pool is to be described to its last byte when `exact`. */
int audit(const haul_root *roots, size_t count, void *argument, int exact, findings *f);
/* Nothing but hints at rows that these objects do not use. */
void check_audit_is_clean(const haul_root *roots, size_t count, void *argument, int exact);
/* The audit tells of this kind, once, at this path, in words that hold these. */
void check_audit_tells(const haul_root *roots, size_t count, haul_audit_kind kind, const char *path,
                       const char *words);
/* There is no plan for these. other_path may be NULL. */
void check_refused(const haul_root *roots, size_t count, const char *path, const char *other_path,
                   const char *words);

#endif
