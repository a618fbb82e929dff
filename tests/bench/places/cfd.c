/* CFD: the Euler equations of a compressible gas in a mesh of tetrahedra, by finite volumes (after
 * Corrigan, Camelli, Lohner and Wallin, 2009), with forward Euler steps and fluxes by Rusanov.
 *
 * The mesh: cubes whose corners are moved at random, each cut into six tetrahedra around its
 * diagonal. A tetrahedron goes from corner to corner along the three axes in some order, which
 * names it. Elements are renumbered at random within windows, as by a mesh generator, whose
 * neighbours are near and in no order. The floor is a wall, and a stream flows along the x axis.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "places.h"

enum { STEPS = 4, TETRAHEDRA = 6, WINDOW = 1024, VARIABLES = 5 };
static const float courant = 0.5f;
static const float far_field[VARIABLES] = CFD_FAR_FIELD;

typedef struct cfd {
    uint64_t seed;
    uint32_t side;     /* cubes */
    uint32_t *numbers; /* of the elements, by cube and order of axes */
    float *expected;
} cfd;

static float *floats(const places_workload *it, unsigned number)
{
    return (float *)(void *)it->arrays[number].at;
}

/* ---- The mesh. */

static void number_elements(const places_workload *it)
{
    const cfd *c = it->own;
    bench_random random = { c->seed };
    uint64_t i, window;
    for (i = 0; i < it->number[0]; i++)
        c->numbers[i] = (uint32_t)i;
    for (window = 0; window < it->number[0]; window += WINDOW)
        for (i = it->number[0] - window < WINDOW ? it->number[0] - window : WINDOW; i > 1; i--) {
            uint32_t *last = &c->numbers[window + i - 1];
            uint32_t *other = &c->numbers[window + bench_below(&random, i)];
            const uint32_t number = *last;
            *last = *other;
            *other = number;
        }
}

/* A corner of the mesh, moved by up to an eighth. */
static void place_corner(const cfd *c, const uint32_t at[3], float corner[3])
{
    bench_random random = { c->seed ^ ((uint64_t)at[0] << 42 | (uint64_t)at[1] << 21 | at[2]) };
    unsigned axis;
    for (axis = 0; axis < 3; axis++)
        corner[axis] = (float)at[axis] + (float)(bench_next(&random) >> 40) / (1 << 26) - 0.125f;
}

static void subtract(const float a[3], const float b[3], float result[3])
{
    unsigned axis;
    for (axis = 0; axis < 3; axis++)
        result[axis] = a[axis] - b[axis];
}

/* The normal of the face opposite to a corner, which leads outwards; its length is the area. */
static void set_normal(float corners[4][3], unsigned opposite, float normal[3])
{
    const float *a = corners[(opposite + 1) % 4];
    float along[3], across[3], inwards[3], sign;
    unsigned axis;
    subtract(corners[(opposite + 2) % 4], a, along);
    subtract(corners[(opposite + 3) % 4], a, across);
    subtract(corners[opposite], a, inwards);
    for (axis = 0; axis < 3; axis++)
        normal[axis] = along[(axis + 1) % 3] * across[(axis + 2) % 3] -
                       along[(axis + 2) % 3] * across[(axis + 1) % 3];
    sign = normal[0] * inwards[0] + normal[1] * inwards[1] + normal[2] * inwards[2];
    for (axis = 0; axis < 3; axis++)
        normal[axis] *= sign > 0 ? -0.5f : 0.5f;
}

static uint32_t element_of(const cfd *c, const uint32_t cube[3], unsigned a, unsigned b, unsigned d)
{
    const uint64_t number = ((uint64_t)cube[2] * c->side + cube[1]) * c->side + cube[0];
    return c->numbers[number * TETRAHEDRA + 2 * a + (b > d)];
}

/* The element of a cube that goes along the axes a, b, d. Behind the faces at its ends are elements
 * of other cubes; behind those at its sides, of its own cube. */
static void make_element(const places_workload *it, const uint32_t cube[3], unsigned a, unsigned b,
                         unsigned d)
{
    const cfd *c = it->own;
    const unsigned axes[3] = { a, b, d };
    const uint64_t element = element_of(c, cube, a, b, d);
    uint32_t *next = (uint32_t *)(void *)it->arrays[CFD_NEIGHBOURS].at + element * CFD_FACES;
    uint32_t at[3] = { cube[0], cube[1], cube[2] }, there[3] = { cube[0], cube[1], cube[2] };
    float corners[4][3];
    unsigned i;
    for (i = 0; i < 4; i++) {
        place_corner(c, at, corners[i]);
        at[axes[i % 3]]++;
    }
    for (i = 0; i < CFD_FACES; i++)
        set_normal(corners, i, floats(it, CFD_NORMALS) + (element * CFD_FACES + i) * 3);
    there[a]++;
    next[0] = there[a] < c->side ? element_of(c, there, b, d, a) : CFD_FAR;
    there[a]--;
    next[1] = element_of(c, cube, b, a, d);
    next[2] = element_of(c, cube, a, d, b);
    next[3] = d == 2 ? CFD_WALL : CFD_FAR;
    if (there[d]-- > 0)
        next[3] = element_of(c, there, d, a, b);
}

static void make_mesh(const places_workload *it)
{
    const uint32_t side = ((const cfd *)it->own)->side;
    uint32_t cube[3];
    unsigned axis;
    for (cube[2] = 0; cube[2] < side; cube[2]++)
        for (cube[1] = 0; cube[1] < side; cube[1]++)
            for (cube[0] = 0; cube[0] < side; cube[0]++)
                for (axis = 0; axis < 3; axis++) {
                    const unsigned second = (axis + 1) % 3, third = (axis + 2) % 3;
                    make_element(it, cube, axis, second, third);
                    make_element(it, cube, axis, third, second);
                }
}

/* ---- The reference: as the kernels, in the same precision. */

static void read_state(float *const *arrays, uint64_t element, float state[VARIABLES])
{
    state[0] = arrays[CFD_DENSITY][element];
    memcpy(state + 1, arrays[CFD_MOMENTUM] + 3 * element, 3 * sizeof *state);
    state[4] = arrays[CFD_ENERGY][element];
}

static float pressure_of(const float s[VARIABLES])
{
    return 0.4f * (s[4] - 0.5f * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]) / s[0]);
}

/* Adds what crosses a face in this state. Answers the speed of its waves, times the area. */
static float add_flux(const float s[VARIABLES], const float normal[3], float flux[VARIABLES])
{
    const float pressure = pressure_of(s),
                across = (s[1] * normal[0] + s[2] * normal[1] + s[3] * normal[2]) / s[0],
                area = sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    unsigned axis;
    flux[0] += s[0] * across;
    for (axis = 0; axis < 3; axis++)
        flux[1 + axis] += s[1 + axis] * across + pressure * normal[axis];
    flux[4] += (s[4] + pressure) * across;
    return fabsf(across) + sqrtf(1.4f * pressure / s[0]) * area;
}

/* What crosses the faces of an element in a unit of time; *step: the time by the volume. */
static void sum_faces(float *const *arrays, const uint32_t *neighbours, uint64_t element,
                      float sum[VARIABLES], float *step)
{
    float here[VARIABLES], there[VARIABLES], waves = 0;
    unsigned face, i;
    memset(sum, 0, VARIABLES * sizeof *sum);
    read_state(arrays, element, here);
    for (face = 0; face < CFD_FACES; face++) {
        const uint32_t next = neighbours[element * CFD_FACES + face];
        const float *normal = arrays[CFD_NORMALS] + (element * CFD_FACES + face) * 3;
        float both[VARIABLES] = { 0 }, wave = add_flux(here, normal, both), other;
        if (next == CFD_WALL) {
            for (i = 0; i < 3; i++)
                sum[1 + i] -= pressure_of(here) * normal[i];
            waves += wave;
            continue;
        }
        if (next == CFD_FAR)
            memcpy(there, far_field, sizeof there);
        else
            read_state(arrays, next, there);
        other = add_flux(there, normal, both);
        wave = wave > other ? wave : other;
        for (i = 0; i < VARIABLES; i++)
            sum[i] -= 0.5f * (both[i] - wave * (there[i] - here[i]));
        waves += wave;
    }
    *step = courant / waves;
}

static void flow_on_host(const places_workload *it)
{
    const uint32_t *neighbours = (const uint32_t *)(const void *)it->arrays[CFD_NEIGHBOURS].at;
    const cfd *c = it->own;
    float *arrays[CFD_ARRAYS];
    uint64_t e;
    unsigned i;
    int step;
    for (i = 0; i < CFD_ARRAYS; i++)
        arrays[i] = floats(it, i);
    for (e = 0; e < it->number[0]; e++) {
        const float density = CFD_START_DENSITY(e);
        arrays[CFD_DENSITY][e] = density;
        for (i = 0; i < 3; i++)
            arrays[CFD_MOMENTUM][3 * e + i] = density / far_field[0] * far_field[1 + i];
        arrays[CFD_ENERGY][e] = far_field[4];
    }
    for (step = 0; step < STEPS; step++) {
        for (e = 0; e < it->number[0]; e++)
            sum_faces(arrays, neighbours, e, arrays[CFD_FLUXES] + e * VARIABLES,
                      &arrays[CFD_STEPS][e]);
        for (e = 0; e < it->number[0]; e++) {
            const float *sum = arrays[CFD_FLUXES] + e * VARIABLES, by = arrays[CFD_STEPS][e];
            arrays[CFD_DENSITY][e] += by * sum[0];
            for (i = 0; i < 3; i++)
                arrays[CFD_MOMENTUM][3 * e + i] += by * sum[1 + i];
            arrays[CFD_ENERGY][e] += by * sum[4];
        }
    }
    memcpy(c->expected, arrays[CFD_DENSITY], (size_t)it->arrays[CFD_DENSITY].bytes);
}

static int is_right(const places_workload *it, const void *result)
{
    const cfd *c = it->own;
    const float *got = result;
    uint64_t e;
    for (e = 0; e < it->number[0]; e++)
        if (!(fabsf(got[e] - c->expected[e]) <= 1e-3f * c->expected[e]))
            return 0;
    return 1;
}

/* ---- On the GPU. */

static void run(const places_workload *it, const places_array *table)
{
    int step;
    places_cfd_start(table, it->number[0]);
    for (step = 0; step < STEPS; step++) {
        places_cfd_fluxes(table, 0, it->number[0], 0, courant);
        places_cfd_update(table, it->number[0]);
    }
    cuda_wait();
}

/* ---- By chunks: the mesh crosses in each step, into one of two buffers while the other is used.
 * All else stays on the GPU. */

typedef struct chunks {
    const places_workload *it;
    uint64_t each;            /* elements */
    unsigned char *pinned[2]; /* neighbours, normals */
    places_array made[2][CFD_ARRAYS];
    places_array *tables[2];
} chunks;

static uint64_t element_bytes(const places_workload *it, unsigned number)
{
    return (uint64_t)it->arrays[number].bytes / it->number[0];
}

static void open_chunks(chunks *c)
{
    unsigned i, side;
    for (i = 0; i < CFD_ARRAYS; i++) {
        const uint64_t all = i > CFD_NORMALS ? c->it->number[0] : c->each;
        for (side = 0; side < 2; side++) {
            places_array *made = &c->made[side][i];
            made->bytes = (int64_t)(all * element_bytes(c->it, i));
            made->at =
                side && i > CFD_NORMALS ? c->made[0][i].at : cuda_device((size_t)made->bytes);
        }
        if (i > CFD_NORMALS)
            continue;
        c->pinned[i] = cuda_pinned((size_t)c->it->arrays[i].bytes);
        memcpy(c->pinned[i], c->it->arrays[i].at, (size_t)c->it->arrays[i].bytes);
    }
    for (side = 0; side < 2; side++) {
        c->tables[side] = cuda_device(sizeof c->made[side]);
        cuda_copy(c->tables[side], c->made[side], sizeof c->made[side]);
    }
}

static void close_chunks(const chunks *c)
{
    unsigned i, side;
    for (side = 0; side < 2; side++) {
        cuda_drop(c->tables[side]);
        for (i = 0; i < CFD_ARRAYS; i++)
            if (side == 0 || i <= CFD_NORMALS)
                cuda_drop(c->made[side][i].at);
        cuda_drop_pinned(c->pinned[side]);
    }
}

static uint64_t end_of(const chunks *c, uint64_t first)
{
    return c->it->number[0] - first < c->each ? c->it->number[0] : first + c->each;
}

/* Copies a chunk of the mesh to a side, behind the kernels that use that side. */
static void send(const chunks *c, uint64_t first, int side)
{
    unsigned i;
    cuda_wait_for_kernels(side);
    for (i = 0; i <= CFD_NORMALS; i++)
        cuda_start_copy(side, c->made[side][i].at, c->pinned[i] + first * element_bytes(c->it, i),
                        (end_of(c, first) - first) * element_bytes(c->it, i));
}

/* The next chunk crosses while one is used; behind the last comes the first of the next step. */
static void flow_in_chunks(const chunks *c)
{
    const uint64_t all = c->it->number[0];
    uint64_t first;
    int step, side = 0;
    places_cfd_start(c->tables[0], all);
    send(c, 0, side);
    for (step = 0; step < STEPS; step++) {
        for (first = 0; first < all; first = end_of(c, first)) {
            const uint64_t end = end_of(c, first);
            if (c->each < all && (end < all || step + 1 < STEPS))
                send(c, end < all ? end : 0, !side);
            cuda_kernels_wait_for(side);
            places_cfd_fluxes(c->tables[side], first, end, first, courant);
            side = c->each < all ? !side : side;
        }
        places_cfd_update(c->tables[0], all);
    }
    cuda_wait();
}

static double chunked(const places_workload *it, size_t budget, void *result)
{
    const size_t mesh = (size_t)(it->arrays[CFD_NEIGHBOURS].bytes + it->arrays[CFD_NORMALS].bytes);
    const size_t fixed = places_bytes(it) - mesh;
    chunks c;
    double start;
    memset(&c, 0, sizeof c);
    c.it = it;
    c.each = budget > fixed ? (budget - fixed) / 2 / (mesh / it->number[0]) : 0;
    c.each = c.each < it->number[0] ? c.each : it->number[0];
    if (c.each < WINDOW)
        return -1;
    open_chunks(&c);
    start = bench_milliseconds();
    flow_in_chunks(&c);
    start = bench_milliseconds() - start;
    cuda_copy(result, c.made[0][CFD_DENSITY].at, (size_t)it->arrays[CFD_DENSITY].bytes);
    close_chunks(&c);
    return start;
}

/* ---- The workload. */

void cfd_make(places_workload *it, unsigned side, uint64_t seed)
{
    static const struct {
        size_t bytes; /* of an element */
        double rank;  /* reads and writes of a byte in one step: a state is its neighbours', too */
    } of[CFD_ARRAYS] = { { CFD_FACES * sizeof(uint32_t), 1 },
                         { CFD_FACES * 3 * sizeof(float), 1 },
                         { sizeof(float), 7 },
                         { 3 * sizeof(float), 7 },
                         { sizeof(float), 7 },
                         { VARIABLES * sizeof(float), 2 },
                         { sizeof(float), 2 } };
    const uint64_t elements = (uint64_t)TETRAHEDRA * side * side * side;
    cfd *c = bench_allocate(sizeof *c);
    memset(it, 0, sizeof *it);
    it->name = "cfd";
    it->number[0] = elements;
    for (it->count = 0; it->count < CFD_ARRAYS; it->count++) {
        it->arrays[it->count].bytes = (int64_t)(elements * of[it->count].bytes);
        it->arrays[it->count].at = bench_map((size_t)it->arrays[it->count].bytes);
        it->rank[it->count] = of[it->count].rank;
    }
    it->result = CFD_DENSITY;
    it->run = run;
    it->chunked = chunked;
    it->is_right = is_right;
    it->own = c;
    c->seed = seed;
    c->side = side;
    c->numbers = bench_map(elements * sizeof *c->numbers);
    c->expected = bench_map(elements * sizeof *c->expected);
    number_elements(it);
    make_mesh(it);
    flow_on_host(it);
}

void cfd_free(places_workload *it)
{
    cfd *c = it->own;
    unsigned i;
    for (i = 0; i < it->count; i++)
        bench_unmap(it->arrays[i].at, (size_t)it->arrays[i].bytes);
    bench_unmap(c->numbers, it->number[0] * sizeof *c->numbers);
    bench_unmap(c->expected, it->number[0] * sizeof *c->expected);
    free(c);
}
