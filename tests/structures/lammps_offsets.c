/* Arrays of LAMMPS, whose indices begin where the domain does. create1d_offset answers
 * array - nlo; in three dimensions each level is shifted so, over one block of rows and one of
 * values.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

typedef struct pppm {
    int nxlo_out, nxhi_out, nylo_out, nyhi_out, nzlo_out, nzhi_out;
    int order, nxlo_fft, nxhi_fft;
    double *fkx;             /* fkx[nxlo_fft..nxhi_fft] */
    double **rho1d;          /* rho1d[0..2][-order / 2..order / 2] */
    double ***density_brick; /* [nzlo_out..nzhi_out][nylo_out..nyhi_out][nxlo_out..nxhi_out] */
} pppm;

typedef struct brick_row {
    double *x;
} brick_row;

typedef struct brick_plane {
    brick_row *y;
} brick_plane;

typedef struct rho_row {
    double *k;
} rho_row;

static haul_type *pppm_type, *brick_plane_type, *brick_row_type, *rho_row_type;

/* The levels below the first know the bounds from the root only. */
static const pppm *domain(const haul_here *here)
{
    return here->root;
}

HAUL_FUNCTION(fkx_count, pppm, self->nxhi_fft - self->nxlo_fft + 1)
HAUL_FUNCTION(plane_count, pppm, self->nzhi_out - self->nzlo_out + 1)
HAUL_FUNCTION(row_count, brick_plane, domain(here)->nyhi_out - domain(here)->nylo_out + 1)
HAUL_FUNCTION(value_count, brick_row, domain(here)->nxhi_out - domain(here)->nxlo_out + 1)
HAUL_FUNCTION(rho_count, rho_row, domain(here)->order / 2 * 2 + 1)
HAUL_FUNCTION(fkx_base, pppm, self->nxlo_fft *(int64_t)sizeof(double))
HAUL_FUNCTION(plane_base, pppm, self->nzlo_out *(int64_t)sizeof(brick_plane))
HAUL_FUNCTION(row_base, brick_plane, domain(here)->nylo_out *(int64_t)sizeof(brick_row))
HAUL_FUNCTION(value_base, brick_row, domain(here)->nxlo_out *(int64_t)sizeof(double))
HAUL_FUNCTION(rho_base, rho_row, -(domain(here)->order / 2) * (int64_t)sizeof(double))
HAUL_FUNCTION(plane_base_in_elements, pppm, self->nzlo_out)

static void pppm_open(haul_function *base_of_fkx, haul_function *base_of_planes)
{
    static const haul_field row_fields[] = { HAUL_ARRAY(brick_row, x, HAUL_COUNT_FN(value_count),
                                                        .base_fn = value_base) };
    static const haul_field rho_fields[] = { HAUL_ARRAY(rho_row, k, HAUL_COUNT_FN(rho_count),
                                                        .base_fn = rho_base) };
    static const haul_field plane_fields[] = { HAUL_ADDRESS(
        brick_plane, y, .target = &brick_row_type, .count = HAUL_COUNT_FN(row_count),
        .base_fn = row_base) };
    const haul_field fields[] = {
        HAUL_ARRAY(pppm, fkx, HAUL_COUNT_FN(fkx_count), .base_fn = base_of_fkx),
        HAUL_ADDRESS(pppm, rho1d, .target = &rho_row_type, .count = HAUL_FIXED(3)),
        HAUL_ADDRESS(pppm, density_brick, .target = &brick_plane_type,
                     .count = HAUL_COUNT_FN(plane_count), .base_fn = base_of_planes),
    };
    brick_row_type = OPEN(brick_row, row_fields);
    rho_row_type = OPEN(rho_row, rho_fields);
    brick_plane_type = OPEN(brick_plane, plane_fields);
    pppm_type = OPEN(pppm, fields);
    type_close(pppm_type);
}

static void pppm_close(void)
{
    haul_type_free(&pppm_type);
    haul_type_free(&brick_plane_type);
    haul_type_free(&brick_row_type);
    haul_type_free(&rho_row_type);
}

/* `lo` elements of so many bytes in front of a block. */
static void *shifted(void *block, int lo, size_t bytes)
{
    return (void *)((uintptr_t)block - (uintptr_t)(intptr_t)lo * bytes);
}

static double random_value(void)
{
    return (double)random_below(&the.random, 1000000) / 64;
}

static void fill_values(double *values, int count, uint64_t *seen)
{
    int i;
    for (i = 0; i < count; i++)
        see_real(seen, values[i] = random_value());
}

static void rho_make(pppm *p, uint64_t *seen)
{
    int row, width = p->order / 2 * 2 + 1;
    double *data = PUT_ARRAY(double, 3 * width);
    p->rho1d = PUT_ARRAY(double *, 3);
    for (row = 0; row < 3; row++) {
        p->rho1d[row] = shifted(data + row * width, -(p->order / 2), sizeof *data);
        fill_values(data + row * width, width, seen);
    }
}

static void brick_make(pppm *p, uint64_t *seen)
{
    int nz = p->nzhi_out - p->nzlo_out + 1, ny = p->nyhi_out - p->nylo_out + 1,
        nx = p->nxhi_out - p->nxlo_out + 1, i;
    double *data = PUT_ARRAY(double, nx *ny *nz), **rows = PUT_ARRAY(double *, ny *nz), ***planes;
    planes = PUT_ARRAY(double **, nz);
    for (i = 0; i < ny * nz; i++)
        rows[i] = shifted(data + i * nx, p->nxlo_out, sizeof *data);
    for (i = 0; i < nz; i++)
        planes[i] = shifted(rows + i * ny, p->nylo_out, sizeof *rows);
    p->density_brick = shifted(planes, p->nzlo_out, sizeof *planes);
    fill_values(data, nx * ny * nz, seen);
}

static pppm *pppm_make(uint64_t *seen)
{
    static const pppm bounds = { 37, 68, -3, 36, -1024, -1001, 5, -16, 15, NULL, NULL, NULL };
    pppm *p = PUT(pppm);
    double *fkx;
    *p = bounds;
    fkx = PUT_ARRAY(double, p->nxhi_fft - p->nxlo_fft + 1);
    p->fkx = shifted(fkx, p->nxlo_fft, sizeof *fkx);
    fill_values(fkx, p->nxhi_fft - p->nxlo_fft + 1, seen);
    rho_make(p, seen);
    brick_make(p, seen);
    return p;
}

static void meet_value(double *value, uint64_t *seen)
{
    see_real(seen, *value);
    *value += 1;
}

static void pppm_walk(void *argument)
{
    visit *v = argument;
    pppm *p = v->root;
    int i, y, z;
    for (i = p->nxlo_fft; i <= p->nxhi_fft; i++)
        meet_value(&p->fkx[i], &v->seen);
    for (y = 0; y < 3; y++)
        for (i = -(p->order / 2); i <= p->order / 2; i++)
            meet_value(&p->rho1d[y][i], &v->seen);
    for (z = p->nzlo_out; z <= p->nzhi_out; z++)
        for (y = p->nylo_out; y <= p->nyhi_out; y++)
            for (i = p->nxlo_out; i <= p->nxhi_out; i++)
                meet_value(&p->density_brick[z][y][i], &v->seen);
}

TEST(structures_lammps, arrays_whose_indices_begin_anywhere_are_indexed_there_as_they_are_here)
{
    journey j = { .walk = pppm_walk };
    site_start(16);
    pppm_open(fkx_base, plane_base);
    j.root = pppm_make(&j.seen);
    j.type = pppm_type;
    travel(&j);
    pppm_close();
    site_end();
}

static int64_t no_base(const haul_here *here)
{
    (void)here;
    return 0;
}

TEST(structures_lammps, a_bias_that_is_forgotten_or_counted_in_elements_is_refused)
{
    uint64_t seen = 0;
    pppm *p;
    site_start(16);
    pppm_open(no_base, plane_base);
    p = pppm_make(&seen);
    refuse_graph(p, pppm_type, HAUL_ERROR_GRAPH, "root.fkx", "",
                 "the range it leads to is not readable");
    pppm_close();
    pppm_open(fkx_base, plane_base_in_elements);
    p->nzlo_out++, p->nzhi_out++;
    p->density_brick--;
    refuse_graph(p, pppm_type, HAUL_ERROR_GRAPH, "root.density_brick", "", "a misaligned pointer");
    pppm_close();
    site_end();
}
