/* Sparse matrices of GSL. What p holds depends on the storage: a column for each element; or where
 * columns, or rows, begin. Triplets have a tree, whose nodes come from pools, lead into data, and
 * are compared by a function that is given the matrix.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

enum { COO = 0, CSC = 1, CSR = 2, SIDE = 25, ELEMENTS = 150, POOL = 100 };

typedef struct gsl_spmatrix gsl_spmatrix;

typedef struct avl_node {
    struct avl_node *avl_link[2];
    void *avl_data; /* an element */
    signed char avl_balance;
} avl_node;

typedef struct bst_allocator {
    void *(*alloc)(size_t bytes, void *params);
    void (*free)(void *block, void *params);
} bst_allocator;

typedef struct avl_table {
    avl_node *avl_root;
    int (*avl_compare)(const void *a, const void *b, void *param);
    void *avl_param; /* the matrix */
    const bst_allocator *avl_alloc;
    size_t avl_count;
} avl_table;

typedef struct spmatrix_pool {
    struct spmatrix_pool *next;
    void *block_ptr;
    unsigned char *free_slot;
} spmatrix_pool;

struct gsl_spmatrix {
    size_t size1, size2;
    int *i;
    double *data;
    int *p;
    size_t nzmax, nz;
    avl_table *tree;
    spmatrix_pool *pool;
    size_t node_size;
    union {
        void *work_void;
        int *work_int;
        double *work_double;
    } work;
    int sptype;
    size_t spflags;
};

typedef struct sparse {
    int count;
    gsl_spmatrix *matrix[3];
} sparse;

static haul_type *node_type, *table_type, *pool_type, *spmatrix_type, *sparse_type;

HAUL_FUNCTION(places_of_p, gsl_spmatrix,
              self->sptype == COO   ? self->nzmax
              : self->sptype == CSC ? self->size2 + 1
                                    : self->size1 + 1)
HAUL_FUNCTION(work_bytes, gsl_spmatrix,
              sizeof(int) * (self->size1 > self->size2 ? self->size1 : self->size2))
HAUL_FUNCTION(used_nodes, spmatrix_pool,
              (size_t)(self->free_slot - (unsigned char *)self->block_ptr) / sizeof(avl_node))

static void *no_alloc(size_t bytes, void *params)
{
    (void)bytes;
    return params;
}

static void no_free(void *block, void *params)
{
    (void)block, (void)params;
}

static const bst_allocator allocator = { no_alloc, no_free };
static const test_static known_allocator = { &allocator, sizeof allocator, HAUL_STATIC_KEEP };

static void sparse_open(void)
{
    static const haul_field node_fields[] = { HAUL_EACH(avl_node, avl_link, .target = &node_type),
                                              HAUL_BYTES(avl_node, avl_data,
                                                         HAUL_FIXED(sizeof(double))) };
    static const haul_field table_fields[] = {
        HAUL_OBJECT(avl_table, avl_root, &node_type),
        HAUL_ADDRESS(avl_table, avl_compare, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(avl_table, avl_param, .target = &spmatrix_type),
        HAUL_ADDRESS(avl_table, avl_alloc, .ownership = HAUL_BORROWED, .maybe_static = 1),
    };
    static const haul_field pool_fields[] = {
        HAUL_OBJECT(spmatrix_pool, next, &pool_type),
        HAUL_ADDRESS(spmatrix_pool, block_ptr, .target = &node_type,
                     .count = HAUL_COUNT_FN(used_nodes)),
        HAUL_ADDRESS(spmatrix_pool, free_slot, .ownership = HAUL_BORROWED),
    };
    static const haul_field fields[] = {
        HAUL_ARRAY(gsl_spmatrix, i, HAUL_COUNT(gsl_spmatrix, nzmax)),
        HAUL_ARRAY(gsl_spmatrix, data, HAUL_COUNT(gsl_spmatrix, nzmax)),
        HAUL_ARRAY(gsl_spmatrix, p, HAUL_COUNT_FN(places_of_p)),
        HAUL_OBJECT(gsl_spmatrix, tree, &table_type),
        HAUL_OBJECT(gsl_spmatrix, pool, &pool_type),
        HAUL_BYTES(gsl_spmatrix, work.work_void, HAUL_COUNT_FN(work_bytes)),
    };
    static const haul_field sparse_fields[] = { HAUL_EACH(sparse, matrix,
                                                          .target = &spmatrix_type) };
    node_type = OPEN(avl_node, node_fields);
    table_type = OPEN(avl_table, table_fields);
    pool_type = OPEN(spmatrix_pool, pool_fields);
    spmatrix_type = OPEN(gsl_spmatrix, fields);
    sparse_type = OPEN(sparse, sparse_fields);
    type_close(sparse_type);
    the.known.statics = &known_allocator;
    the.known.static_count = 1;
}

static void sparse_close(void)
{
    haul_type_free(&sparse_type);
    haul_type_free(&spmatrix_type);
    haul_type_free(&pool_type);
    haul_type_free(&table_type);
    haul_type_free(&node_type);
}

static int compare_elements(const void *a, const void *b, void *param)
{
    const gsl_spmatrix *m = param;
    size_t k = (size_t)((const double *)a - m->data), l = (size_t)((const double *)b - m->data);
    return m->i[k] != m->i[l] ? m->i[k] - m->i[l] : m->p[k] - m->p[l];
}

static avl_node *node_make(gsl_spmatrix *m, double *data)
{
    unsigned char *at;
    if (!m->pool ||
        m->pool->free_slot == (unsigned char *)m->pool->block_ptr + POOL * sizeof(avl_node)) {
        spmatrix_pool *pool = PUT(spmatrix_pool);
        pool->next = m->pool;
        pool->block_ptr = pool->free_slot = put(POOL * sizeof(avl_node), sizeof(void *));
        m->pool = pool;
    }
    at = m->pool->free_slot;
    m->pool->free_slot += sizeof(avl_node);
    ((avl_node *)(void *)at)->avl_data = data;
    return (avl_node *)(void *)at;
}

/* NULL, and where it would hang. */
static avl_node **find(avl_table *t, const void *data)
{
    avl_node **at = &t->avl_root;
    int order;
    while (*at && (order = t->avl_compare(data, (*at)->avl_data, t->avl_param)) != 0)
        at = &(*at)->avl_link[order > 0];
    return at;
}

static gsl_spmatrix *spmatrix_make(int sptype, size_t room)
{
    gsl_spmatrix *m = PUT(gsl_spmatrix);
    m->size1 = SIDE;
    m->size2 = SIDE + 1;
    m->sptype = sptype;
    m->nzmax = room;
    m->node_size = sizeof(avl_node);
    m->i = PUT_ARRAY(int, room);
    m->data = PUT_ARRAY(double, room);
    m->p = PUT_ARRAY(int, sptype == COO ? room : sptype == CSC ? m->size2 + 1 : m->size1 + 1);
    m->work.work_int = PUT_ARRAY(int, m->size2);
    return m;
}

/* Element k stands at row 7 k modulo the rows, and at most once at one place. */
static gsl_spmatrix *triplets_make(void)
{
    gsl_spmatrix *m = spmatrix_make(COO, ELEMENTS + 20);
    int k;
    m->tree = PUT(avl_table);
    m->tree->avl_param = m;
    m->tree->avl_compare = compare_elements;
    m->tree->avl_alloc = &allocator;
    for (k = 0; k < ELEMENTS; k++) {
        m->i[k] = 7 * k % SIDE;
        m->p[k] = k / SIDE * 3 % (SIDE + 1);
        m->data[k] = k + 1;
        *find(m->tree, &m->data[k]) = node_make(m, &m->data[k]);
        m->nz = ++m->tree->avl_count;
    }
    return m;
}

/* One element in each of the first columns, or rows, two in the third. */
static gsl_spmatrix *compressed_make(int sptype)
{
    gsl_spmatrix *m = spmatrix_make(sptype, 10);
    size_t outer = sptype == CSC ? m->size2 : m->size1, j;
    for (j = 0; j < outer; j++) {
        m->p[j + 1] = m->p[j] + (j == 2 ? 2 : j < 5);
        if (m->p[j + 1] > m->p[j])
            m->i[m->p[j]] = (int)j + 3;
    }
    m->nz = (size_t)m->p[outer];
    for (j = 0; j < m->nz; j++)
        m->data[j] = 40 + (double)j;
    return m;
}

static sparse *sparse_make(uint64_t *seen)
{
    sparse *s = PUT(sparse);
    int k;
    s->matrix[COO] = triplets_make();
    s->matrix[CSC] = compressed_make(CSC);
    s->matrix[CSR] = compressed_make(CSR);
    for (k = 0; k < ELEMENTS; k++)
        see(seen, (uint64_t)k + 1);
    for (k = 0; k < 2 * 6; k++)
        see(seen, (uint64_t)(40 + k % 6));
    return s;
}

/* Every element by the tree; then those of every column, and row. */
static void sparse_walk(void *argument)
{
    visit *v = argument;
    sparse *s = v->root;
    gsl_spmatrix *m = s->matrix[COO];
    size_t k, j;
    int sptype, at;
    for (k = 0; k < m->nz; k++) {
        avl_node *n = *find(m->tree, &m->data[k]);
        see(&v->seen, n ? (uint64_t) * (double *)n->avl_data : 0);
        m->data[k] *= 2;
    }
    if (m->pool->free_slot !=
        (unsigned char *)m->pool->block_ptr + (ELEMENTS - POOL) * m->node_size)
        see(&v->seen, 0);
    for (sptype = CSC; sptype <= CSR; sptype++)
        for (m = s->matrix[sptype], j = 0; j < (sptype == CSC ? m->size2 : m->size1); j++)
            for (at = m->p[j]; at < m->p[j + 1]; at++) {
                see(&v->seen, (uint64_t)m->data[at]);
                m->work.work_int[j] += m->i[at];
            }
}

TEST(structures_gsl, sparse_matrices_find_their_elements_there_by_trees_that_lead_into_their_data)
{
    journey j = { .walk = sparse_walk };
    site_start(82);
    sparse_open();
    j.root = sparse_make(&j.seen);
    j.type = sparse_type;
    travel(&j);
    sparse_close();
    site_end();
}
