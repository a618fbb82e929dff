/* CFI_cdesc_t, the descriptors by which C and Fortran pass arrays. A descriptor ends in as many
 * dimensions as its rank says. A section leads into its parent's block, at the element that comes
 * first, which is not the lowest where a stride is negative. What elements are follows from the
 * type's code and width.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum {
    CFI_INT = 1,
    CFI_DOUBLE = 28,
    CFI_STRUCT = 42,
    ALLOCATABLE = 1,
    POINTER = 0,
    N = 24,
    M = 10
};

typedef struct CFI_dim_t {
    ptrdiff_t lower_bound, extent, sm;
} CFI_dim_t;

typedef struct CFI_cdesc_t {
    void *base_addr;
    size_t elem_len;
    int version;
    int8_t rank, attribute;
    int16_t type;
    CFI_dim_t dim[1];
} CFI_cdesc_t;

typedef struct cell {
    char *name;
    int64_t value;
} cell;

typedef struct module {
    CFI_cdesc_t *whole, *reversed, *every_third, *cells, *some_cells, *narrow, *scalar,
        *unallocated, *empty;
} module;

static haul_type *desc_type, *cell_type, *module_type;

static int64_t cfi_is_empty(const CFI_cdesc_t *d)
{
    int k;
    for (k = 0; k < d->rank; k++)
        if (d->dim[k].extent == 0)
            return 1;
    return 0;
}

/* From the first element to the lowest one. */
static int64_t cfi_low(const haul_here *here)
{
    const CFI_cdesc_t *d = here->self;
    int64_t low = 0;
    int k;
    for (k = 0; k < d->rank; k++)
        if (d->dim[k].sm < 0 && !cfi_is_empty(d))
            low += (d->dim[k].extent - 1) * d->dim[k].sm;
    return low;
}

static int64_t cfi_span(const CFI_cdesc_t *d)
{
    int64_t span = (int64_t)d->elem_len;
    int k;
    for (k = 0; k < d->rank; k++)
        span += (d->dim[k].extent - 1) * (d->dim[k].sm < 0 ? -d->dim[k].sm : d->dim[k].sm);
    return cfi_is_empty(d) ? 0 : span;
}

HAUL_FUNCTION(cfi_bytes, CFI_cdesc_t, cfi_span(self))
HAUL_FUNCTION(cfi_elements, CFI_cdesc_t, cfi_span(self) / (int64_t)self->elem_len)

static void cfi_open(haul_function *low)
{
    static const haul_field cell_fields[] = { HAUL_STRING(cell, name) };
    static const haul_field module_fields[] = {
        HAUL_OBJECT(module, whole, &desc_type),       HAUL_OBJECT(module, reversed, &desc_type),
        HAUL_OBJECT(module, every_third, &desc_type), HAUL_OBJECT(module, cells, &desc_type),
        HAUL_OBJECT(module, some_cells, &desc_type),  HAUL_OBJECT(module, narrow, &desc_type),
        HAUL_OBJECT(module, scalar, &desc_type),      HAUL_OBJECT(module, unallocated, &desc_type),
        HAUL_OBJECT(module, empty, &desc_type),
    };
    const haul_field desc_fields[] = {
        HAUL_BYTES(CFI_cdesc_t, base_addr, HAUL_COUNT_FN(cfi_bytes),
                   .when = HAUL_DIFFERS(CFI_cdesc_t, type, CFI_STRUCT), .base_fn = low),
        HAUL_ADDRESS(CFI_cdesc_t, base_addr, .target = &cell_type,
                     .count = HAUL_COUNT_FN(cfi_elements),
                     .when = HAUL_EQUALS(CFI_cdesc_t, type, CFI_STRUCT), .base_fn = low),
        HAUL_TAIL(CFI_cdesc_t, dim, HAUL_COUNT(CFI_cdesc_t, rank))
    };
    cell_type = OPEN(cell, cell_fields);
    desc_type = OPEN(CFI_cdesc_t, desc_fields);
    module_type = OPEN(module, module_fields);
    type_close(module_type);
}

static CFI_cdesc_t *desc_make(int rank, int type, size_t elem_len, int attribute)
{
    CFI_cdesc_t *d = put_elements(1, offsetof(CFI_cdesc_t, dim) + (size_t)rank * sizeof(CFI_dim_t));
    d->rank = (int8_t)rank;
    d->type = (int16_t)type;
    d->elem_len = elem_len;
    d->attribute = (int8_t)attribute;
    return d;
}

static void dim_set(CFI_dim_t *d, ptrdiff_t extent, ptrdiff_t sm)
{
    d->lower_bound = 1;
    d->extent = extent;
    d->sm = sm;
}

static module *module_make(void)
{
    module *m = put_elements(1, sizeof *m);
    const ptrdiff_t of_double = sizeof(double), of_cell = sizeof(cell);
    double *a;
    cell *c;
    int i;
    m->whole = desc_make(2, CFI_DOUBLE, sizeof(double), ALLOCATABLE);
    a = m->whole->base_addr = put_elements(N * M, sizeof *a);
    for (i = 0; i < N * M; i++)
        a[i] = i;
    dim_set(&m->whole->dim[0], N, of_double);
    dim_set(&m->whole->dim[1], M, N * of_double);
    m->reversed = desc_make(2, CFI_DOUBLE, sizeof(double), POINTER); /* whole(n:1:-1, m:1:-2) */
    m->reversed->base_addr = &a[N * M - 1];
    dim_set(&m->reversed->dim[0], N, -of_double);
    dim_set(&m->reversed->dim[1], M / 2, -2 * N * of_double);
    m->every_third = desc_make(1, CFI_DOUBLE, sizeof(double), POINTER); /* whole(2::3, 4) */
    m->every_third->base_addr = &a[3 * N + 1];
    dim_set(&m->every_third->dim[0], N / 3, 3 * of_double);
    m->cells = desc_make(1, CFI_STRUCT, sizeof(cell), ALLOCATABLE);
    c = m->cells->base_addr = put_elements(N, sizeof *c);
    for (i = 0; i < N; i++) {
        c[i].name = put_text("a cell");
        c[i].value = i;
    }
    dim_set(&m->cells->dim[0], N, of_cell);
    m->some_cells = desc_make(1, CFI_STRUCT, sizeof(cell), POINTER);
    m->some_cells->base_addr = &c[N - 1];
    dim_set(&m->some_cells->dim[0], N / 2, -2 * of_cell);
    m->narrow = desc_make(1, CFI_INT, 2, ALLOCATABLE);
    m->narrow->base_addr = put_elements(N, 2);
    dim_set(&m->narrow->dim[0], N, 2);
    m->scalar = desc_make(0, CFI_DOUBLE, sizeof(double), POINTER);
    m->scalar->base_addr = &a[5];
    m->unallocated = desc_make(1, CFI_DOUBLE, sizeof(double), ALLOCATABLE);
    m->empty = desc_make(1, CFI_DOUBLE, sizeof(double), POINTER);
    m->empty->base_addr = a;
    dim_set(&m->empty->dim[0], 0, of_double);
    for (i = 0; i < N * M; i++)
        the.told += (i / N) % 2 ? 2 * i : i; /* reversed begins with the last, an odd row */
    for (i = 0; i < N / 3; i++)
        the.told += 3 * N + 1 + 3 * i;
    for (i = 0; i < N; i++)
        the.told += (i % 2 ? 2 * i + 12 : i + 6);
    the.told += 5;
    return m;
}

static void *cfi_at(const CFI_cdesc_t *d, ptrdiff_t i, ptrdiff_t k)
{
    return (char *)d->base_addr + i * d->dim[0].sm + (d->rank > 1 ? k * d->dim[1].sm : 0);
}

static int64_t cfi_sum(const CFI_cdesc_t *d)
{
    int64_t sum = 0;
    ptrdiff_t i, k;
    for (i = 0; i < d->dim[0].extent; i++)
        for (k = 0; k < (d->rank > 1 ? d->dim[1].extent : 1); k++)
            sum += d->type == CFI_DOUBLE ? (int64_t) * (double *)cfi_at(d, i, k)
                                         : ((cell *)cfi_at(d, i, k))->value +
                                               (int64_t)strlen(((cell *)cfi_at(d, i, k))->name);
    return sum;
}

static int64_t module_walk(void *root, size_t count)
{
    module *m = root;
    int64_t sum = cfi_sum(m->whole) + cfi_sum(m->reversed) + cfi_sum(m->every_third) +
                  cfi_sum(m->cells) + cfi_sum(m->some_cells) + cfi_sum(m->empty) +
                  (int64_t) * (double *)m->scalar->base_addr;
    ptrdiff_t i;
    (void)count;
    for (i = 0; i < m->every_third->dim[0].extent; i++)
        *(double *)cfi_at(m->every_third, i, 0) = 0;
    for (i = 0; i < N; i++)
        memcpy(cfi_at(m->narrow, i, 0), &m->narrow->rank, 1);
    return m->unallocated->base_addr ? -1 : sum;
}

TEST(structures_cfi, CFI_descriptors_of_any_rank_whose_sections_lead_into_the_blocks_of_others)
{
    site_start(130);
    cfi_open(cfi_low);
    travel_and_sum(module_make(), module_type, 1, module_walk);
    SITE_END(&module_type, &desc_type, &cell_type);
}

static int64_t no_base(const haul_here *here)
{
    (void)here;
    return 0;
}

TEST(structures_cfi, CFI_a_negative_stride_that_is_taken_to_lead_upwards_is_refused)
{
    site_start(131);
    cfi_open(no_base);
    refuse_ship(module_make()->reversed, desc_type, 1, HAUL_ERROR_GRAPH, "root.base_addr",
                "a word is a pointer for one description and data for another");
    SITE_END(&module_type, &desc_type, &cell_type);
}
