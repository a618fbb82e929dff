/* LAMMPS. Each array is a table of rows and one block that they lie in: so much of each
 * row, as many as another array says, or a brick whose indices do not begin at 0, so that the
 * pointers of all three levels lie beside what they are for. A brick is described as three types:
 * of a pointer to planes, to rows, and to numbers.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

typedef struct brick_row {
    double *x;
} brick_row;

typedef struct brick_plane {
    brick_row *y;
} brick_plane;

typedef struct lammps {
    int32_t nlocal, nmax;
    double **x;
    int32_t *num_bond, **bond_atom;
    int32_t nxlo_out, nxhi_out, nylo_out, nyhi_out, nzlo_out, nzhi_out;
    double ***density_brick;
} lammps;

enum { ATOMS = 700, ATOMS_MAX = 1024 };

static haul_type *row_type, *plane_type;

HAUL_FUNCTION(bonds_of_atom, lammps, self->num_bond[here->index])
HAUL_FUNCTION(z_bias, lammps, (int64_t)sizeof(void *) * self->nzlo_out)
HAUL_FUNCTION(z_count, lammps, self->nzhi_out - self->nzlo_out + 1)

static const lammps *system_of(const haul_here *here)
{
    return here->root;
}

HAUL_FUNCTION(y_bias, void, (int64_t)sizeof(void *) * system_of(here)->nylo_out)
HAUL_FUNCTION(y_count, void, system_of(here)->nyhi_out - system_of(here)->nylo_out + 1)
HAUL_FUNCTION(x_bias, void, (int64_t)sizeof(double) * system_of(here)->nxlo_out)
HAUL_FUNCTION(x_count, void, system_of(here)->nxhi_out - system_of(here)->nxlo_out + 1)

#define LAMMPS_ROWS(width)                                                                         \
    HAUL_ARRAYS(lammps, x, HAUL_COUNT(lammps, nmax), HAUL_FIXED(width)),                           \
        HAUL_ARRAY(lammps, num_bond, HAUL_COUNT(lammps, nlocal)),                                  \
        HAUL_ARRAYS(lammps, bond_atom, HAUL_COUNT(lammps, nlocal), HAUL_COUNT_FN(bonds_of_atom))

static haul_type *lammps_open(void)
{
    static const haul_field row_fields[] = { HAUL_ARRAY(brick_row, x, HAUL_COUNT_FN(x_count),
                                                        .base_fn = x_bias) };
    static const haul_field plane_fields[] = { HAUL_ADDRESS(
        brick_plane, y, .target = &row_type, .count = HAUL_COUNT_FN(y_count), .base_fn = y_bias) };
    static const haul_field fields[] = {
        LAMMPS_ROWS(3),
        HAUL_ADDRESS(lammps, density_brick, .target = &plane_type, .count = HAUL_COUNT_FN(z_count),
                     .base_fn = z_bias),
    };
    haul_type *type = OPEN(lammps, fields);
    row_type = OPEN(brick_row, row_fields);
    plane_type = OPEN(brick_plane, plane_fields);
    type_close(type);
    return type;
}

static void lammps_close(haul_type **type)
{
    haul_type_free(type);
    haul_type_free(&row_type);
    haul_type_free(&plane_type);
    site_end();
}

/* An address that may lie outside of its block. */
static void *beside(void *block, int64_t elements, size_t bytes)
{
    return (void *)((uintptr_t)block - (uintptr_t)(elements * (int64_t)bytes));
}

static void brick_make(lammps *s)
{
    int nx = s->nxhi_out - s->nxlo_out + 1, ny = s->nyhi_out - s->nylo_out + 1,
        nz = s->nzhi_out - s->nzlo_out + 1;
    int i;
    double *data = put_elements((size_t)(nx * ny * nz), sizeof *data);
    double **rows = put_elements((size_t)(ny * nz), sizeof *rows);
    double ***planes = put_elements((size_t)nz, sizeof *planes);
    for (i = 0; i < nx * ny * nz; i++)
        the.told += (int64_t)(data[i] = chance(0, 999));
    for (i = 0; i < ny * nz; i++)
        rows[i] = beside(data + i * nx, s->nxlo_out, sizeof *data);
    for (i = 0; i < nz; i++)
        planes[i] = beside(rows + i * ny, s->nylo_out, sizeof *rows);
    s->density_brick = beside(planes, s->nzlo_out, sizeof *planes);
}

static void bonds_make(lammps *s)
{
    int i, all = 0;
    int32_t *data;
    s->num_bond = put_elements(ATOMS, sizeof *s->num_bond);
    s->bond_atom = put_elements(ATOMS, sizeof *s->bond_atom);
    for (i = 0; i < ATOMS; i++)
        all += s->num_bond[i] = chance(0, 4);
    data = put_elements((size_t)all, sizeof *data);
    for (i = 0; i < all; i++)
        the.told += data[i] = chance(0, ATOMS - 1);
    for (i = 0; i < ATOMS; i++) {
        s->bond_atom[i] = data;
        data += s->num_bond[i];
    }
}

static lammps *lammps_make(void)
{
    lammps *s = put_elements(1, sizeof *s);
    double *data = put_elements(3 * ATOMS_MAX, sizeof *data);
    int i;
    s->nlocal = ATOMS;
    s->nmax = ATOMS_MAX;
    s->x = put_elements(ATOMS_MAX, sizeof *s->x);
    for (i = 0; i < ATOMS_MAX; i++)
        s->x[i] = data + 3 * i;
    for (i = 0; i < 3 * ATOMS; i++)
        the.told += (int64_t)(data[i] = chance(0, 99));
    bonds_make(s);
    s->nxlo_out = -3, s->nxhi_out = 12;
    s->nylo_out = 5, s->nyhi_out = 14;
    s->nzlo_out = -2, s->nzhi_out = 9;
    brick_make(s);
    return s;
}

static int64_t brick_walk(lammps *s)
{
    int64_t sum = 0;
    int x, y, z;
    for (z = s->nzlo_out; z <= s->nzhi_out; z++)
        for (y = s->nylo_out; y <= s->nyhi_out; y++)
            for (x = s->nxlo_out; x <= s->nxhi_out; x++) {
                sum += (int64_t)s->density_brick[z][y][x];
                s->density_brick[z][y][x] += 0.5;
            }
    return sum;
}

/* Coordinates through their rows and, as LAMMPS does, in one go from the first. */
static int64_t lammps_walk(void *root, size_t count)
{
    lammps *s = root;
    double *all = s->x[0];
    int64_t sum = brick_walk(s);
    int i, k;
    (void)count;
    for (i = 0; i < s->nlocal; i++) {
        sum += s->x[i] == all + 3 * i ? (int64_t)(s->x[i][0] + s->x[i][1] + s->x[i][2]) : -1;
        for (k = 0; k < s->num_bond[i]; k++)
            sum += s->bond_atom[i][k]++;
    }
    for (i = 0; i < 3 * s->nmax; i++)
        all[i] += 0.25;
    return sum;
}

TEST(structures_lammps, of_one_block_even_ragged_and_those_whose_indices_begin_elsewhere)
{
    haul_type *type;
    site_start(31);
    type = lammps_open();
    travel_and_sum(lammps_make(), type, 1, lammps_walk);
    lammps_close(&type);
}

HAUL_FUNCTION(y_count_here, lammps, self->nyhi_out - self->nylo_out + 1)
HAUL_FUNCTION(x_count_here, lammps, self->nxhi_out - self->nxlo_out + 1)

TEST(structures_lammps, a_forgotten_bias_is_refused_and_rows_too_long_or_too_short_are_told)
{
    static const haul_field plain_fields[] = { HAUL_ADDRESS(
        lammps, density_brick, .levels = 3,
        .element_bytes = sizeof(***((lammps *)0)->density_brick), .count = HAUL_COUNT_FN(z_count),
        .count2 = HAUL_COUNT_FN(y_count_here), .count3 = HAUL_COUNT_FN(x_count_here)) };
    static const haul_field long_fields[] = { LAMMPS_ROWS(4) }, short_fields[] = { LAMMPS_ROWS(1) };
    haul_type *type;
    lammps *s;
    char words[80];
    site_start(32);
    s = lammps_make();
    type = OPEN(lammps, plain_fields);
    type_close(type);
    refuse_ship(s, type, 1, HAUL_ERROR_GRAPH, "root.density_brick[10]",
                "outside any process's address range");
    haul_type_free(&type);
    type = OPEN(lammps, long_fields);
    type_close(type);
    audit_tells(s, type, 1, HAUL_AUDIT_BEYOND_BLOCK, "root.x[1023][0]",
                "described as 32 bytes, but its block of 24576");
    haul_type_free(&type);
    type = OPEN(lammps, short_fields);
    type_close(type);
    s->nmax = 500; /* and fewer of them */
    snprintf(words, sizeof words, "only the first %d bytes of its block of 24576 are described",
             499 * 24 + 8);
    audit_tells(s, type, 1, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.x[0]", words);
    haul_type_free(&type);
    site_end();
}
