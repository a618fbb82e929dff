/* Matrices and vectors of GSL: size, distance of rows or elements, and the block they are a part
 * of. A view of a plain array has no block.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

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
    journey j = { .walk = views_walk };
    site_start(81);
    views_open();
    j.root = views_make();
    j.type = views_type;
    j.seen = views_foresee();
    travel(&j);
    views_close();
    site_end();
}
