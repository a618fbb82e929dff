/* hypre's sparse matrices, whose counts stand in sibling fields (CNT), and its multigrid levels,
 * where an array of pointers takes the counts of what it leads to from the same slot of another one
 * (PARA). Its vectors, and what a product exchanges, ask the caller (FAR).
 */
#define _DEFAULT_SOURCE
#include "journey.h"

/* ---- CNT: hypre's CSRMatrix. Its columns are j, or big_j where they are numbers of the whole
 * machine's. */

typedef struct CSRMatrix {
    int32_t *i, *j;
    int64_t *big_j;
    int32_t num_rows, num_cols, num_nonzeros;
    double *data;
    int32_t *rownnz;
    int32_t num_rownnz, owns_data, memory_location;
} CSRMatrix;

static haul_type *csr_type;

HAUL_FUNCTION(csr_columns, CSRMatrix, self->num_nonzeros) /* not asked for a NULL pointer */

static void csr_open(void)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(CSRMatrix, i, HAUL_COUNT_PLUS(CSRMatrix, num_rows, 1)),
        HAUL_ARRAY(CSRMatrix, j, HAUL_COUNT_FN(csr_columns)),
        HAUL_ARRAY(CSRMatrix, big_j, HAUL_COUNT_FN(csr_columns)),
        HAUL_ARRAY(CSRMatrix, data, HAUL_COUNT(CSRMatrix, num_nonzeros)),
        HAUL_ARRAY(CSRMatrix, rownnz, HAUL_COUNT(CSRMatrix, num_rownnz)),
    };
    csr_type = OPEN(CSRMatrix, fields);
}

/* Rows of 0 to 6 entries. The sum: each entry times its column, and the rows that have any. */
static void csr_fill(CSRMatrix *a, int rows, int columns, int is_big)
{
    int r, k;
    a->num_rows = rows;
    a->num_cols = columns;
    a->i = put_elements((size_t)rows + 1, sizeof *a->i);
    for (r = 0; r < rows; r++) {
        a->i[r + 1] = a->i[r] + chance(0, 6);
        a->num_rownnz += a->i[r + 1] > a->i[r];
    }
    a->num_nonzeros = a->i[rows];
    a->data = put_elements((size_t)a->num_nonzeros, sizeof *a->data);
    if (is_big)
        a->big_j = put_elements((size_t)a->num_nonzeros, sizeof *a->big_j);
    else
        a->j = put_elements((size_t)a->num_nonzeros, sizeof *a->j);
    a->rownnz = put_elements((size_t)a->num_rownnz, sizeof *a->rownnz);
    for (r = k = 0; r < rows; r++)
        if (a->i[r + 1] > a->i[r])
            a->rownnz[k++] = r;
    for (k = 0; k < a->num_nonzeros; k++) {
        int column = chance(0, columns - 1), value = chance(1, 99);
        if (is_big)
            a->big_j[k] = column;
        else
            a->j[k] = column;
        a->data[k] = value;
        the.told += (int64_t)value * column;
    }
    the.told += a->num_rownnz;
}

static int64_t csr_sum_and_scale(CSRMatrix *a)
{
    int64_t sum = a->num_rownnz;
    int n, k;
    for (n = 0; n < a->num_rownnz; n++)
        for (k = a->i[a->rownnz[n]]; k < a->i[a->rownnz[n] + 1]; k++) {
            sum += (int64_t)a->data[k] * (a->j ? a->j[k] : a->big_j[k]);
            a->data[k] *= 0.5;
        }
    return sum;
}

static int64_t csr_walk(void *root, size_t count)
{
    CSRMatrix *a = root;
    int64_t sum = 0;
    size_t m;
    for (m = 0; m < count; m++)
        sum += csr_sum_and_scale(&a[m]);
    return sum;
}

static CSRMatrix *csr_make(size_t count, int rows)
{
    CSRMatrix *a = put_elements(count, sizeof *a);
    size_t m;
    for (m = 0; m < count; m++)
        csr_fill(&a[m], rows + (int)m, 1000, m % 3 == 2);
    return a;
}

TEST(structures_hypre, sparse_matrices_whose_sizes_stand_beside_their_arrays)
{
    CSRMatrix *a;
    site_start(1);
    csr_open();
    type_close(csr_type);
    a = csr_make(40, 500);
    travel_and_sum(a, csr_type, 40, csr_walk);
    a->num_nonzeros = -5;
    refuse_ship(a, csr_type, 40, HAUL_ERROR_GRAPH, "root[0].j", "its callback answered -5");
    a->j = NULL;
    refuse_ship(a, csr_type, 40, HAUL_ERROR_GRAPH, "root[0].data",
                "count -5 in the field at offset");
    haul_type_free(&csr_type);
    site_end();
}

TEST(structures_hypre, the_wrong_sibling_for_a_count_is_told_by_the_block_it_leads_to)
{
    static const haul_field short_fields[] = { HAUL_ARRAY(CSRMatrix, data,
                                                          HAUL_COUNT(CSRMatrix, num_rows)) };
    static const haul_field long_fields[] = { HAUL_ARRAY(CSRMatrix, rownnz,
                                                         HAUL_COUNT(CSRMatrix, num_rows)) };
    haul_type *type;
    CSRMatrix *a;
    char words[100];
    site_start(2);
    a = csr_make(1, 500);
    type = OPEN(CSRMatrix, short_fields);
    type_close(type);
    snprintf(words, sizeof words, "only the first 4000 bytes of its block of %d are described",
             a->num_nonzeros * 8);
    audit_tells(a, type, 1, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.data[0]", words);
    haul_type_free(&type);
    type = OPEN(CSRMatrix, long_fields);
    type_close(type);
    audit_tells(a, type, 1, HAUL_AUDIT_BEYOND_BLOCK, "root.rownnz[0]",
                "described as 2000 bytes, but its block of");
    haul_type_free(&type);
    site_end();
}

/* ---- PARA: hypre's multigrid hierarchy. What a level's markers count is the rows of that level's
 * matrix; the coarsest level has neither markers nor an interpolation, and its slots hold
 * anything. */

typedef struct ParCSRMatrix {
    CSRMatrix *diag, *offd;
    int64_t *col_map_offd; /* of as many as offd has columns */
    int64_t *row_starts;   /* one for all matrices of a level */
    int32_t num_procs, global_num_rows;
} ParCSRMatrix;

typedef struct Vector {
    double *data;
    int32_t size, owns_data;
} Vector;

enum { CYCLES = 4 };

typedef struct ParAMGData {
    int32_t num_levels, max_levels;
    ParCSRMatrix **A_array, **P_array;
    Vector **F_array, **U_array;
    int32_t **CF_marker_array;
    int32_t num_grid_sweeps[CYCLES];
    int32_t **grid_relax_points; /* of as many as the cycle has sweeps */
} ParAMGData;

static haul_type *par_type, *vector_type;

HAUL_FUNCTION(offd_columns, ParCSRMatrix, self->offd->num_cols)
HAUL_FUNCTION(level_rows, ParAMGData, self->A_array[here->index]->diag->num_rows)
HAUL_FUNCTION(cycle_sweeps, ParAMGData, self->num_grid_sweeps[here->index])

#define AMG_ROWS(levels, markers)                                                                  \
    HAUL_POINTERS(ParAMGData, A_array, &par_type, HAUL_COUNT(ParAMGData, num_levels)),             \
        HAUL_POINTERS(ParAMGData, P_array, &par_type, levels),                                     \
        HAUL_POINTERS(ParAMGData, F_array, &vector_type, HAUL_COUNT(ParAMGData, num_levels)),      \
        HAUL_POINTERS(ParAMGData, U_array, &vector_type, HAUL_COUNT(ParAMGData, num_levels)),      \
        HAUL_ARRAYS(ParAMGData, CF_marker_array, HAUL_COUNT_PLUS(ParAMGData, num_levels, -1),      \
                    markers),                                                                      \
        HAUL_ARRAYS(ParAMGData, grid_relax_points, HAUL_FIXED(CYCLES),                             \
                    HAUL_COUNT_FN(cycle_sweeps))

static void amg_open(void)
{
    static const haul_field par_fields[] = {
        HAUL_OBJECT(ParCSRMatrix, diag, &csr_type),
        HAUL_OBJECT(ParCSRMatrix, offd, &csr_type),
        HAUL_ARRAY(ParCSRMatrix, col_map_offd, HAUL_COUNT_FN(offd_columns)),
        HAUL_ARRAY(ParCSRMatrix, row_starts, HAUL_COUNT_PLUS(ParCSRMatrix, num_procs, 1)),
    };
    static const haul_field vector_fields[] = { HAUL_ARRAY(Vector, data,
                                                           HAUL_COUNT(Vector, size)) };
    csr_open();
    par_type = OPEN(ParCSRMatrix, par_fields);
    vector_type = OPEN(Vector, vector_fields);
}

static void amg_close(haul_type **type)
{
    haul_type_free(type);
    haul_type_free(&par_type);
    haul_type_free(&vector_type);
    haul_type_free(&csr_type);
    site_end();
}

static ParCSRMatrix *par_make(int rows, int columns, int64_t *row_starts)
{
    ParCSRMatrix *a = put_elements(1, sizeof *a);
    int k;
    a->diag = put_elements(1, sizeof *a->diag);
    a->offd = put_elements(1, sizeof *a->offd);
    csr_fill(a->diag, rows, columns, 0);
    csr_fill(a->offd, rows, 64, 1);
    a->col_map_offd = put_elements(64, sizeof *a->col_map_offd);
    for (k = 0; k < 64; k++) {
        a->col_map_offd[k] = chance(0, 9999);
        the.told += a->col_map_offd[k];
    }
    a->num_procs = 8;
    a->row_starts = row_starts;
    return a;
}

static Vector *vector_make(int size)
{
    Vector *v = put_elements(1, sizeof *v);
    v->size = size;
    v->data = put_elements((size_t)size, sizeof *v->data);
    return v;
}

static int level_size(int level)
{
    return 4000 >> level;
}

static void amg_make_level(ParAMGData *amg, int level)
{
    int64_t *row_starts = put_elements(9, sizeof *row_starts);
    int rows = level_size(level);
    amg->A_array[level] = par_make(rows, rows, row_starts);
    amg->F_array[level] = vector_make(rows);
    amg->U_array[level] = vector_make(rows);
    if (level + 1 == amg->num_levels)
        return;
    amg->P_array[level] = par_make(rows, level_size(level + 1), row_starts);
}

static int32_t *markers_make(int rows)
{
    int32_t *markers = put_elements((size_t)rows, sizeof *markers);
    int i;
    for (i = 0; i < rows; i++)
        markers[i] = i % 2 ? 1 : -1;
    return markers;
}

static ParAMGData *amg_make(void)
{
    ParAMGData *amg = put_elements(1, sizeof *amg);
    int level, k;
    amg->num_levels = 6;
    amg->A_array = put_room(6 * sizeof *amg->A_array);
    amg->P_array = put_room(6 * sizeof *amg->P_array);
    amg->F_array = put_room(6 * sizeof *amg->F_array);
    amg->U_array = put_room(6 * sizeof *amg->U_array);
    amg->CF_marker_array = put_room(6 * sizeof *amg->CF_marker_array);
    for (level = 0; level < 6; level++)
        amg_make_level(amg, level);
    amg->grid_relax_points = put_elements(CYCLES, sizeof *amg->grid_relax_points);
    for (k = 0; k < CYCLES; k++) {
        amg->num_grid_sweeps[k] = k * 3; /* the first has none, and no array */
        if (k > 0)
            amg->grid_relax_points[k] = put_elements((size_t)k * 3, sizeof(int32_t));
    }
    for (level = 0; level + 1 < 6; level++)
        amg->CF_marker_array[level] = markers_make(level_size(level));
    return amg;
}

static int64_t par_walk(ParCSRMatrix *a)
{
    int64_t sum = csr_sum_and_scale(a->diag) + csr_sum_and_scale(a->offd);
    int k;
    for (k = 0; k < a->offd->num_cols; k++)
        sum += a->col_map_offd[k];
    return sum;
}

/* Restricts: a coarse point hands its number down. -1: the levels do not fit together. */
static int64_t amg_walk(void *root, size_t count)
{
    ParAMGData *amg = root;
    int64_t sum = 0;
    int level, i, k, coarse;
    (void)count;
    for (level = 0; level < amg->num_levels; level++) {
        sum += par_walk(amg->A_array[level]);
        if (level + 1 == amg->num_levels)
            break;
        sum += par_walk(amg->P_array[level]);
        if (amg->P_array[level]->row_starts != amg->A_array[level]->row_starts)
            return -1;
        for (i = coarse = 0; i < amg->A_array[level]->diag->num_rows; i++)
            if (amg->CF_marker_array[level][i] > 0)
                amg->U_array[level + 1]->data[coarse++] = i;
        if (coarse != amg->F_array[level + 1]->size)
            return -1;
    }
    for (i = 0; i < CYCLES; i++)
        for (k = 0; k < amg->num_grid_sweeps[i]; k++)
            amg->grid_relax_points[i][k] = i;
    return sum;
}

TEST(structures_hypre, levels_whose_arrays_are_as_long_as_the_matrix_of_the_same_level)
{
    static const haul_field fields[] = { AMG_ROWS(HAUL_COUNT_PLUS(ParAMGData, num_levels, -1),
                                                  HAUL_COUNT_FN(level_rows)) };
    haul_type *type;
    ParAMGData *amg;
    site_start(3);
    amg_open();
    type = OPEN(ParAMGData, fields);
    type_close(type);
    amg = amg_make();
    travel_and_sum(amg, type, 1, amg_walk);
    amg_close(&type);
}

HAUL_FUNCTION(finest_rows, ParAMGData, self->A_array[0]->diag->num_rows)

TEST(structures_hypre, counts_that_forget_their_slot_or_count_a_slot_too_many_are_refused_or_told)
{
    static const haul_field same_fields[] = { AMG_ROWS(HAUL_COUNT_PLUS(ParAMGData, num_levels, -1),
                                                       HAUL_COUNT_FN(finest_rows)) };
    static const haul_field long_fields[] = { AMG_ROWS(HAUL_COUNT(ParAMGData, num_levels),
                                                       HAUL_COUNT_FN(level_rows)) };
    haul_type *type;
    ParAMGData *amg;
    site_start(4);
    amg_open();
    amg = amg_make();
    type = OPEN(ParAMGData, same_fields);
    type_close(type);
    audit_tells(amg, type, 1, HAUL_AUDIT_BEYOND_BLOCK, "root.CF_marker_array[1][0]",
                "described as 16000 bytes, but its block of 8000 bytes");
    haul_type_free(&type);
    type = OPEN(ParAMGData, long_fields);
    type_close(type);
    refuse_ship(amg, type, 1, HAUL_ERROR_GRAPH, "root.P_array[5]",
                "outside any process's address range");
    amg_close(&type);
}

/* ---- FAR, SHARE, FUNC: hypre's ParVector and the plan of what a matrix' product exchanges. A
 * partitioning belongs to the matrix and to vectors alike, and has as many parts as there are
 * processes in the communicator: the caller says. */

enum { PROCESSES = 8, SENDS = 3 };

typedef struct ParCSRCommPkg {
    void *comm; /* a handle */
    int32_t num_sends, *send_procs, *send_map_starts, *send_map_elmts;
    int32_t num_recvs, *recv_procs, *recv_vec_starts;
} ParCSRCommPkg;

typedef struct ParVector {
    void *comm;
    int64_t global_size, first_index, last_index, *partitioning;
    Vector *local_vector;
    int32_t owns_data, owns_partitioning;
} ParVector;

typedef struct product {
    ParCSRMatrix *A;
    ParCSRCommPkg *exchange;
    ParVector *x, *y;
} product;

static haul_type *exchange_type, *par_vector_type, *product_type;

HAUL_FUNCTION(sent_elements, ParCSRCommPkg, self->send_map_starts[self->num_sends])
HAUL_FUNCTION(processes, ParVector, here->argument ? *(const int *)here->argument + 1 : -1)

static void product_open(void)
{
    static const haul_field exchange_fields[] = {
        HAUL_ADDRESS(ParCSRCommPkg, comm, .ownership = HAUL_EXTERNAL),
        HAUL_ARRAY(ParCSRCommPkg, send_procs, HAUL_COUNT(ParCSRCommPkg, num_sends)),
        HAUL_ARRAY(ParCSRCommPkg, send_map_starts, HAUL_COUNT_PLUS(ParCSRCommPkg, num_sends, 1)),
        HAUL_ARRAY(ParCSRCommPkg, send_map_elmts, HAUL_COUNT_FN(sent_elements)),
        HAUL_ARRAY(ParCSRCommPkg, recv_procs, HAUL_COUNT(ParCSRCommPkg, num_recvs)),
        HAUL_ARRAY(ParCSRCommPkg, recv_vec_starts, HAUL_COUNT_PLUS(ParCSRCommPkg, num_recvs, 1)),
    };
    static const haul_field par_vector_fields[] = {
        HAUL_ADDRESS(ParVector, comm, .ownership = HAUL_EXTERNAL),
        HAUL_ARRAY(ParVector, partitioning, HAUL_COUNT_FN(processes)),
        HAUL_OBJECT(ParVector, local_vector, &vector_type)
    };
    static const haul_field product_fields[] = { HAUL_OBJECT(product, A, &par_type),
                                                 HAUL_OBJECT(product, exchange, &exchange_type),
                                                 HAUL_OBJECT(product, x, &par_vector_type),
                                                 HAUL_OBJECT(product, y, &par_vector_type) };
    amg_open();
    exchange_type = OPEN(ParCSRCommPkg, exchange_fields);
    par_vector_type = OPEN(ParVector, par_vector_fields);
    product_type = OPEN(product, product_fields);
    type_close(product_type);
}

static void product_end(void)
{
    haul_type_free(&exchange_type);
    haul_type_free(&par_vector_type);
    amg_close(&product_type);
}

static ParVector *par_vector_make(int rows, int64_t *partitioning)
{
    ParVector *v = put_elements(1, sizeof *v);
    v->comm = &the;
    v->partitioning = partitioning;
    v->local_vector = vector_make(rows);
    return v;
}

static ParCSRCommPkg *exchange_make(int rows)
{
    ParCSRCommPkg *e = put_elements(1, sizeof *e);
    int i;
    e->comm = &the;
    e->num_sends = e->num_recvs = SENDS;
    e->send_procs = put_elements(SENDS, sizeof(int32_t));
    e->recv_procs = put_elements(SENDS, sizeof(int32_t));
    e->send_map_starts = put_elements(SENDS + 1, sizeof(int32_t));
    e->recv_vec_starts = put_elements(SENDS + 1, sizeof(int32_t));
    for (i = 1; i <= SENDS; i++)
        e->send_map_starts[i] = 20 * i;
    e->send_map_elmts = put_elements(20 * SENDS, sizeof(int32_t));
    for (i = 0; i < 20 * SENDS; i++) {
        e->send_map_elmts[i] = chance(0, rows - 1);
        the.told += e->send_map_elmts[i];
    }
    return e;
}

static product *product_make(int rows)
{
    product *p = put_elements(1, sizeof *p);
    int64_t *starts = put_elements(PROCESSES + 1, sizeof *starts);
    p->A = par_make(rows, rows, starts);
    p->exchange = exchange_make(rows);
    p->x = par_vector_make(rows, starts);
    p->y = par_vector_make(rows, starts);
    return p;
}

static int64_t product_walk(void *root, size_t count)
{
    product *p = root;
    const CSRMatrix *a = p->A->diag;
    int64_t sum = 0;
    int i;
    (void)count;
    for (i = 0; i < p->exchange->send_map_starts[p->exchange->num_sends]; i++)
        sum += p->exchange->send_map_elmts[i];
    for (i = 0; i < a->i[a->num_rows]; i++)
        p->y->local_vector->data[a->j[i] % p->y->local_vector->size] += a->data[i];
    sum += par_walk(p->A);
    return p->x->partitioning == p->A->row_starts && p->y->partitioning == p->A->row_starts ? sum
                                                                                            : -1;
}

TEST(structures_hypre, vectors_and_a_matrix_share_a_partitioning_that_is_as_long_as_the_caller_says)
{
    int processes_there = PROCESSES;
    site_start(5);
    the.options.argument = &processes_there;
    product_open();
    travel_and_sum(product_make(600), product_type, 1, product_walk);
    the.options.argument = NULL;
    refuse_ship(product_make(20), product_type, 1, HAUL_ERROR_GRAPH, "root.x.partitioning",
                "its callback answered -1");
    product_end();
}
