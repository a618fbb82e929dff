/* Structures of GSL: interpolations and splines, whose states are of a kind that a constant table
 * says (CNT FAR POLY STAT FUNC), and matrices: views into another one's block, and sparse ones with
 * a search tree over their elements (CNT EXPR CAP ROWS SHARE BACK UNI COND FUNC). Generators are in
 * test_structures_statics.c.
 */
#define _DEFAULT_SOURCE
#include "structures_b.h"
#include "support/open.h"

/* ---- Splines. A state has no sizes: the interpolation that leads to it has. A linear one has no
 * state. */

typedef struct gsl_interp_type {
    const char *name;
    unsigned min_size;
    double (*eval)(const void *state, const double *x, const double *y, size_t size,
                   size_t interval, double at);
} gsl_interp_type;

typedef struct gsl_interp {
    const gsl_interp_type *type;
    double xmin, xmax;
    size_t size;
    void *state;
} gsl_interp;

typedef struct gsl_spline {
    gsl_interp *interp;
    double *x, *y;
    size_t size;
} gsl_spline;

typedef struct cspline_state {
    double *c, *g, *diag, *offdiag;
} cspline_state;

typedef struct akima_state {
    double *b, *c, *d, *_m; /* _m has two places more at either end */
} akima_state;

typedef struct splines {
    int count;
    gsl_spline **all;
} splines;

enum { SPLINES = 60 };

static double linear_eval(const void *state, const double *x, const double *y, size_t size,
                          size_t k, double at)
{
    (void)state, (void)size;
    return y[k] + (y[k + 1] - y[k]) * (at - x[k]);
}

static double cspline_eval(const void *state, const double *x, const double *y, size_t size,
                           size_t k, double at)
{
    const cspline_state *s = state;
    return y[k] + s->c[k] * (at - x[k]) + s->g[k] + s->diag[size - 1] + s->offdiag[size - 1];
}

static double akima_eval(const void *state, const double *x, const double *y, size_t size, size_t k,
                         double at)
{
    const akima_state *s = state;
    double d = at - x[k];
    return y[k] + d * (s->b[k] + d * (s->c[k] + d * s->d[k])) + s->_m[size + 3];
}

static const gsl_interp_type linear = { "linear", 2, linear_eval },
                             cspline = { "cspline", 3, cspline_eval },
                             akima = { "akima", 5, akima_eval };
static const test_static known_types[] = { { &linear, sizeof linear, HAUL_STATIC_KEEP },
                                           { &cspline, sizeof cspline, HAUL_STATIC_KEEP },
                                           { &akima, sizeof akima, HAUL_STATIC_KEEP } };

static haul_type *cspline_type, *akima_type, *interp_type, *spline_type, *splines_type;

static int64_t size_of_parent(const haul_here *here)
{
    return here->ancestor ? (int64_t)((const gsl_interp *)here->ancestor)->size : -1;
}

static int64_t size_of_parent_and_4(const haul_here *here)
{
    return here->ancestor ? (int64_t)((const gsl_interp *)here->ancestor)->size + 4 : -1;
}

HAUL_FUNCTION(kind_of_state, gsl_interp, self->type == &cspline ? 0 : self->type == &akima ? 1 : 2)

static void splines_open(haul_function *akima_margin)
{
    static const haul_case states[] = { { 0, &cspline_type, 0 }, { 1, &akima_type, 0 } };
    static const haul_field cspline_fields[] = {
        HAUL_ARRAY(cspline_state, c, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(cspline_state, g, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(cspline_state, diag, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(cspline_state, offdiag, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
    };
    const haul_field akima_fields[] = {
        HAUL_ARRAY(akima_state, b, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(akima_state, c, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(akima_state, d, HAUL_COUNT_FN(size_of_parent), .ancestor = HAUL_PARENT),
        HAUL_ARRAY(akima_state, _m, HAUL_COUNT_FN(akima_margin), .ancestor = HAUL_PARENT),
    };
    static const haul_field interp_fields[] = {
        HAUL_ADDRESS(gsl_interp, type, .ownership = HAUL_BORROWED, .maybe_static = 1),
        HAUL_ADDRESS(gsl_interp, state, .type_switch = HAUL_SWITCH_FN(kind_of_state, states))
    };
    static const haul_field spline_fields[] = {
        HAUL_OBJECT(gsl_spline, interp, &interp_type),
        HAUL_ARRAY(gsl_spline, x, HAUL_COUNT(gsl_spline, size)),
        HAUL_ARRAY(gsl_spline, y, HAUL_COUNT(gsl_spline, size))
    };
    static const haul_field splines_fields[] = { HAUL_POINTERS(splines, all, &spline_type,
                                                               HAUL_COUNT(splines, count)) };
    cspline_type = OPEN(cspline_state, cspline_fields);
    akima_type = OPEN(akima_state, akima_fields);
    interp_type = OPEN(gsl_interp, interp_fields);
    spline_type = OPEN(gsl_spline, spline_fields);
    splines_type = OPEN(splines, splines_fields);
    type_close(splines_type);
    the.known.statics = known_types;
    the.known.static_count = COUNT_OF(known_types);
}

static void splines_close(void)
{
    haul_type_free(&splines_type);
    haul_type_free(&spline_type);
    haul_type_free(&interp_type);
    haul_type_free(&akima_type);
    haul_type_free(&cspline_type);
}

static double *constants(size_t count, double value)
{
    double *all = PUT_ARRAY(double, count);
    size_t i;
    for (i = 0; i < count; i++)
        all[i] = value;
    return all;
}

static void *cspline_make(size_t size)
{
    cspline_state *s = PUT(cspline_state);
    s->c = constants(size, 2);
    s->g = constants(size, 3);
    s->diag = constants(size, 4);
    s->offdiag = constants(size, 5);
    return s;
}

static void *akima_make(size_t size)
{
    akima_state *s = PUT(akima_state);
    s->b = constants(size, 1);
    s->c = constants(size, 2);
    s->d = constants(size, 3);
    s->_m = constants(size + 4, 4);
    return s;
}

/* x is 0, 1, ..; y is 10 x. */
static gsl_spline *spline_make(int kind, size_t size)
{
    gsl_spline *s = PUT(gsl_spline);
    size_t i;
    s->size = size;
    s->x = PUT_ARRAY(double, size);
    s->y = PUT_ARRAY(double, size);
    for (i = 0; i < size; i++)
        s->y[i] = 10 * (s->x[i] = (double)i);
    s->interp = PUT(gsl_interp);
    s->interp->type = kind == 0 ? &linear : kind == 1 ? &cspline : &akima;
    s->interp->size = size;
    s->interp->xmax = (double)size - 1;
    s->interp->state = kind == 0 ? NULL : kind == 1 ? cspline_make(size) : akima_make(size);
    return s;
}

/* At 2 behind the beginning of each interval. */
static splines *splines_make(uint64_t *seen)
{
    static const int at_2[] = { 20, 2 * 2 + 3 + 4 + 5, 2 * 1 + 4 * 2 + 8 * 3 + 4 };
    splines *s = PUT(splines);
    int i, k;
    s->count = SPLINES;
    s->all = PUT_ARRAY(gsl_spline *, SPLINES);
    for (i = 0; i < SPLINES; i++) {
        size_t size = random_between(&the.random, 5, 30);
        s->all[i] = spline_make(i % 3, size);
        for (k = 0; k + 1 < (int)size; k++)
            see(seen, (uint64_t)(10 * k + at_2[i % 3]));
    }
    return s;
}

static void splines_walk(void *argument)
{
    visit *v = argument;
    splines *s = v->root;
    int i;
    size_t k;
    for (i = 0; i < s->count; i++) {
        gsl_spline *one = s->all[i];
        const gsl_interp *interp = one->interp;
        for (k = 0; k + 1 < interp->size; k++)
            see(&v->seen, (uint64_t)interp->type->eval(interp->state, one->x, one->y, one->size, k,
                                                       one->x[k] + 2));
        for (k = 0; k < one->size; k++)
            one->y[k] += 1;
        if (interp->type == &akima)
            ((akima_state *)interp->state)->_m[0] = 9;
    }
}

TEST(structures_gsl,
     splines_are_evaluated_there_by_the_tables_of_their_types_from_states_without_sizes)
{
    journey j = { NULL, NULL, 0, splines_walk, NULL, 0 };
    site_start(80);
    splines_open(size_of_parent_and_4);
    j.root = splines_make(&j.seen);
    j.type = splines_type;
    travel(&j);
    splines_close();
    site_end();
}

/* ---- Matrices and vectors: size, distance of rows or elements, and the block they are a part of.
 * A view of a plain array has no block.
 */

enum { ROWS = 12, COLUMNS = 10 };

typedef struct gsl_block {
    size_t size;
    double *data;
} gsl_block;

typedef struct gsl_matrix {
    size_t size1, size2, tda;
    double *data;
    gsl_block *block;
    int owner;
} gsl_matrix;

typedef struct gsl_vector {
    size_t size, stride;
    double *data;
    gsl_block *block;
    int owner;
} gsl_vector;

typedef struct views {
    gsl_vector column, diagonal;
    gsl_matrix part, of_array;
    gsl_matrix *whole; /* last, so that its views are met before it */
} views;

static haul_type *block_type, *matrix_type, *vector_type, *views_type;

HAUL_FUNCTION(matrix_reach, gsl_matrix,
              self->size1 && self->size2 ? (self->size1 - 1) * self->tda + self->size2 : 0)
HAUL_FUNCTION(vector_reach, gsl_vector, self->size ? (self->size - 1) * self->stride + 1 : 0)

static void views_open(void)
{
    static const haul_field block_fields[] = { HAUL_ARRAY(gsl_block, data,
                                                          HAUL_COUNT(gsl_block, size)) };
    static const haul_field matrix_fields[] = { HAUL_ARRAY(gsl_matrix, data,
                                                           HAUL_COUNT_FN(matrix_reach)),
                                                HAUL_OBJECT(gsl_matrix, block, &block_type) };
    static const haul_field vector_fields[] = { HAUL_ARRAY(gsl_vector, data,
                                                           HAUL_COUNT_FN(vector_reach)),
                                                HAUL_OBJECT(gsl_vector, block, &block_type) };
    static const haul_field views_fields[] = {
        HAUL_EMBED(views, column, &vector_type), HAUL_EMBED(views, diagonal, &vector_type),
        HAUL_EMBED(views, part, &matrix_type),   HAUL_EMBED(views, of_array, &matrix_type),
        HAUL_OBJECT(views, whole, &matrix_type),
    };
    block_type = OPEN(gsl_block, block_fields);
    matrix_type = OPEN(gsl_matrix, matrix_fields);
    vector_type = OPEN(gsl_vector, vector_fields);
    views_type = OPEN(views, views_fields);
    type_close(views_type);
}

static void views_close(void)
{
    haul_type_free(&views_type);
    haul_type_free(&vector_type);
    haul_type_free(&matrix_type);
    haul_type_free(&block_type);
}

static void set_matrix(gsl_matrix *m, size_t size1, size_t size2, size_t tda, double *data,
                       gsl_block *block)
{
    m->size1 = size1;
    m->size2 = size2;
    m->tda = tda;
    m->data = data;
    m->block = block;
}

static void set_vector(gsl_vector *v, size_t size, size_t stride, double *data, gsl_block *block)
{
    v->size = size;
    v->stride = stride;
    v->data = data;
    v->block = block;
}

/* Element (i, j) of the whole is 100 i + j; the array's elements are 0, 1, .. */
static views *views_make(void)
{
    views *w = PUT(views);
    gsl_block *block = PUT(gsl_block);
    double *array = PUT_ARRAY(double, 3 * 7);
    size_t i;
    block->size = ROWS * COLUMNS;
    block->data = PUT_ARRAY(double, ROWS *COLUMNS);
    for (i = 0; i < ROWS * COLUMNS; i++)
        block->data[i] = (double)(100 * (i / COLUMNS) + i % COLUMNS);
    for (i = 0; i < 3 * 7; i++)
        array[i] = (double)i;
    w->whole = PUT(gsl_matrix);
    set_matrix(w->whole, ROWS, COLUMNS, COLUMNS, block->data, block);
    w->whole->owner = 1;
    set_matrix(&w->part, 4, 3, COLUMNS, block->data + 5 * COLUMNS + 6, block);
    set_matrix(&w->of_array, 3, 5, 7, array + 2, NULL);
    set_vector(&w->column, ROWS, COLUMNS, block->data + 4, block);
    set_vector(&w->diagonal, COLUMNS, COLUMNS + 1, block->data, block);
    return w;
}

static double *element(const gsl_matrix *m, size_t i, size_t j)
{
    return m->data + i * m->tda + j;
}

static uint64_t views_foresee(void)
{
    uint64_t seen = 0;
    int i, j;
    for (i = 0; i < 4; i++)
        for (j = 0; j < 3; j++)
            see(&seen, (uint64_t)(100 * (i + 5) + j + 6));
    for (i = 0; i < 3; i++)
        for (j = 0; j < 5; j++)
            see(&seen, (uint64_t)(7 * i + j + 2));
    for (i = 0; i < ROWS; i++)
        see(&seen, (uint64_t)(100 * i + 4));
    for (i = 0; i < COLUMNS; i++)
        see(&seen, (uint64_t)(101 * i));
    return seen;
}

static void meet_matrix(const gsl_matrix *m, uint64_t *seen)
{
    size_t i, j;
    for (i = 0; i < m->size1; i++)
        for (j = 0; j < m->size2; j++)
            see(seen, (uint64_t)*element(m, i, j));
}

/* Changes are made through views, and seen in the whole. */
static void views_walk(void *argument)
{
    visit *v = argument;
    views *w = v->root;
    size_t i;
    meet_matrix(&w->part, &v->seen);
    meet_matrix(&w->of_array, &v->seen);
    for (i = 0; i < w->column.size; i++)
        see(&v->seen, (uint64_t)w->column.data[i * w->column.stride]);
    for (i = 0; i < w->diagonal.size; i++)
        see(&v->seen, (uint64_t)w->diagonal.data[i * w->diagonal.stride]);
    *element(&w->part, 3, 2) = 7777;
    *element(&w->of_array, 2, 4) += 1;
    w->column.data[11 * w->column.stride] = 88;
    if (*element(w->whole, 8, 8) != 7777 || *element(w->whole, 11, 4) != 88 ||
        w->part.block != w->whole->block)
        see(&v->seen, 0);
}

TEST(structures_gsl, views_of_a_matrix_are_parts_of_its_block_there_too)
{
    journey j = { NULL, NULL, 0, views_walk, NULL, 0 };
    site_start(81);
    views_open();
    j.root = views_make();
    j.type = views_type;
    j.seen = views_foresee();
    travel(&j);
    views_close();
    site_end();
}

/* ---- Sparse matrices. What p holds depends on the storage: a column for each element; or where
 * columns, or rows, begin. Triplets have a tree, whose nodes come from pools, lead into data, and
 * are compared by a function that is given the matrix.
 */

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
    journey j = { NULL, NULL, 0, sparse_walk, NULL, 0 };
    site_start(82);
    sparse_open();
    j.root = sparse_make(&j.seen);
    j.type = sparse_type;
    travel(&j);
    sparse_close();
    site_end();
}
