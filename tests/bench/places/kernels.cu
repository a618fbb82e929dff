// The kernels of all workloads. They are plain: the places of the arrays are measured, not they.

// An array counts its uses in a profile build (HAUL_COUNT_USES).

#include <haul/uses.h>

#include "arrays.h"

namespace
{

const unsigned THREADS = 256, WARP = 32, BLOCKS = 2048;

#ifdef HAUL_COUNT_USES
__device__ uint64_t counters[PLACES_COUNTERS];
#endif

template <class T> struct used {
    T *at;
    unsigned number;
    __device__ T &operator[](uint64_t i) const
    {
        return HAUL_USE(&counters[number], at[i]);
    }
    __device__ used operator-(uint64_t elements) const
    {
        return { at - elements, number };
    }
};

template <class T> __device__ used<T> array(const places_array *arrays, unsigned number)
{
    return { reinterpret_cast<T *>(arrays[number].at), number };
}

// ---- Breadth first. A warp takes 32 vertices and then, together, the edges of each that waits. So
// edges are read in the order of memory. Two warps may give a vertex the same level: that is no
// race that matters, and needs no atomics, which memory on the host may lack.

__global__ void bfs_start(const places_array *arrays, uint64_t vertices, uint64_t source)
{
    const used<uint32_t> levels = array<uint32_t>(arrays, BFS_LEVELS);
    for (uint64_t v = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; v < vertices;
         v += uint64_t(gridDim.x) * blockDim.x)
        levels[v] = v == source ? 0 : BFS_UNREACHED;
}

__global__ void bfs_step(const places_array *arrays, uint64_t first, uint64_t end, uint64_t edge,
                         uint32_t level, uint32_t *grown)
{
    const used<uint64_t> offsets = array<uint64_t>(arrays, BFS_OFFSETS);
    const used<uint32_t> targets = array<uint32_t>(arrays, BFS_TARGETS);
    const used<uint32_t> levels = array<uint32_t>(arrays, BFS_LEVELS);
    const unsigned lane = threadIdx.x % WARP;
    const uint64_t warps = uint64_t(gridDim.x) * blockDim.x / WARP;
    bool found = false;
    for (uint64_t v = first + (blockIdx.x * uint64_t(blockDim.x) + threadIdx.x) / WARP * WARP;
         v < end; v += warps * WARP) {
        const bool waits = v + lane < end && levels[v + lane] == level;
        for (unsigned all = __ballot_sync(~0u, waits); all; all &= all - 1) {
            const uint64_t from = v + __ffs(all) - 1, to = offsets[from + 1];
            for (uint64_t e = offsets[from] + lane; e < to; e += WARP) {
                const uint32_t target = targets[e - edge];
                if (levels[target] == BFS_UNREACHED) {
                    levels[target] = level + 1;
                    found = true;
                }
            }
        }
    }
    if (found)
        *grown = 1;
}

__global__ void bfs_find(const places_array *arrays, const uint64_t *starts, uint32_t level,
                         uint32_t *waiting)
{
    const used<uint32_t> levels = array<uint32_t>(arrays, BFS_LEVELS);
    for (uint64_t v = starts[blockIdx.y] + blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
         v < starts[blockIdx.y + 1]; v += uint64_t(gridDim.x) * blockDim.x)
        if (levels[v] == level)
            waiting[blockIdx.y] = 1;
}

// ---- SRAD.

__global__ void srad_start(const places_array *arrays, srad_rows all)
{
    const used<float> image = array<float>(arrays, SRAD_IMAGE);
    const used<float> copy = array<float>(arrays, SRAD_COPY);
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < all.rows * all.columns;
         i += uint64_t(gridDim.x) * blockDim.x)
        copy[i] = expf(image[i] / 255);
}

// One block, so that the sums do not depend on the order of blocks.
__global__ void srad_sum(const places_array *arrays, uint64_t columns, uint64_t side, double *sums)
{
    __shared__ double part[2][THREADS];
    const used<float> copy = array<float>(arrays, SRAD_COPY);
    double sum = 0, squares = 0;
    for (uint64_t i = threadIdx.x; i < side * side; i += THREADS) {
        const double pixel = copy[i / side * columns + i % side];
        sum += pixel;
        squares += pixel * pixel;
    }
    part[0][threadIdx.x] = sum;
    part[1][threadIdx.x] = squares;
    __syncthreads();
    if (threadIdx.x >= 2)
        return;
    sum = 0;
    for (unsigned i = 0; i < THREADS; i++)
        sum += part[threadIdx.x][i];
    sums[threadIdx.x] = sum;
}

__global__ void srad_coefficients(const places_array *arrays, srad_rows p, float speckle)
{
    const used<float> copy = array<float>(arrays, SRAD_COPY) - p.origin * p.columns;
    const uint64_t before = p.origin * p.columns, last = p.columns;
    for (uint64_t i = p.first * last + blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
         i < p.end * last; i += uint64_t(gridDim.x) * blockDim.x) {
        const uint64_t row = i / last, column = i % last;
        const float here = copy[i], north = copy[row > 0 ? i - last : i] - here,
                    south = copy[row + 1 < p.rows ? i + last : i] - here,
                    west = copy[column > 0 ? i - 1 : i] - here,
                    east = copy[column + 1 < last ? i + 1 : i] - here;
        const float gradient =
                        (north * north + south * south + west * west + east * east) / (here * here),
                    laplace = (north + south + west + east) / here, half = 1 + 0.25f * laplace,
                    q = (0.5f * gradient - laplace * laplace / 16) / (half * half),
                    c = 1 / (1 + (q - speckle) / (speckle * (1 + speckle)));
        array<float>(arrays, SRAD_NORTH)[i - before] = north;
        array<float>(arrays, SRAD_SOUTH)[i - before] = south;
        array<float>(arrays, SRAD_WEST)[i - before] = west;
        array<float>(arrays, SRAD_EAST)[i - before] = east;
        array<float>(arrays, SRAD_COEFFICIENT)[i - before] = c < 0 ? 0 : c > 1 ? 1 : c;
    }
}

__global__ void srad_update(const places_array *arrays, srad_rows p, float lambda)
{
    const used<float> c = array<float>(arrays, SRAD_COEFFICIENT) - p.origin * p.columns;
    const uint64_t before = p.origin * p.columns, last = p.columns;
    for (uint64_t i = p.first * last + blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
         i < p.end * last; i += uint64_t(gridDim.x) * blockDim.x) {
        const float south = c[i / last + 1 < p.rows ? i + last : i],
                    east = c[i % last + 1 < last ? i + 1 : i];
        array<float>(arrays, SRAD_COPY)[i - before] +=
            0.25f * lambda *
            (c[i] * array<float>(arrays, SRAD_NORTH)[i - before] +
             south * array<float>(arrays, SRAD_SOUTH)[i - before] +
             c[i] * array<float>(arrays, SRAD_WEST)[i - before] +
             east * array<float>(arrays, SRAD_EAST)[i - before]);
    }
}

// ---- CFD. A thread takes an element at a time.

const unsigned VARIABLES = 5;
__constant__ const float far_field[VARIABLES] = CFD_FAR_FIELD;

__global__ void cfd_start(const places_array *arrays, uint64_t elements)
{
    for (uint64_t e = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; e < elements;
         e += uint64_t(gridDim.x) * blockDim.x) {
        const float density = CFD_START_DENSITY(e);
        array<float>(arrays, CFD_DENSITY)[e] = density;
        for (unsigned i = 0; i < 3; i++)
            array<float>(arrays, CFD_MOMENTUM)[3 * e + i] =
                density / far_field[0] * far_field[1 + i];
        array<float>(arrays, CFD_ENERGY)[e] = far_field[4];
    }
}

__device__ void read_state(const places_array *arrays, uint64_t e, float *state)
{
    state[0] = array<float>(arrays, CFD_DENSITY)[e];
    for (unsigned i = 0; i < 3; i++)
        state[1 + i] = array<float>(arrays, CFD_MOMENTUM)[3 * e + i];
    state[4] = array<float>(arrays, CFD_ENERGY)[e];
}

__device__ float pressure_of(const float *s)
{
    return 0.4f * (s[4] - 0.5f * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]) / s[0]);
}

// Adds what crosses a face in this state. Answers the speed of its waves, times the area.
__device__ float add_flux(const float *s, const float *normal, float *flux)
{
    const float pressure = pressure_of(s),
                across = (s[1] * normal[0] + s[2] * normal[1] + s[3] * normal[2]) / s[0],
                area = sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    flux[0] += s[0] * across;
    for (unsigned i = 0; i < 3; i++)
        flux[1 + i] += s[1 + i] * across + pressure * normal[i];
    flux[4] += (s[4] + pressure) * across;
    return fabsf(across) + sqrtf(1.4f * pressure / s[0]) * area;
}

// Subtracts from the sum what crosses a face. Answers the speed of its waves, times the area.
__device__ float subtract_face(const places_array *arrays, uint32_t next, const float *normal,
                               const float *here, float *sum)
{
    float there[VARIABLES], both[VARIABLES] = { 0, 0, 0, 0, 0 };
    float wave = add_flux(here, normal, both);
    if (next == CFD_WALL) {
        for (unsigned i = 0; i < 3; i++)
            sum[1 + i] -= pressure_of(here) * normal[i];
        return wave;
    }
    if (next != CFD_FAR)
        read_state(arrays, next, there);
    for (unsigned i = 0; i < VARIABLES && next == CFD_FAR; i++)
        there[i] = far_field[i];
    wave = fmaxf(wave, add_flux(there, normal, both));
    for (unsigned i = 0; i < VARIABLES; i++)
        sum[i] -= 0.5f * (both[i] - wave * (there[i] - here[i]));
    return wave;
}

__global__ void cfd_fluxes(const places_array *arrays, uint64_t first, uint64_t end,
                           uint64_t origin, float courant)
{
    const used<uint32_t> neighbours = array<uint32_t>(arrays, CFD_NEIGHBOURS) - origin * CFD_FACES;
    const used<float> normals = array<float>(arrays, CFD_NORMALS) - origin * CFD_FACES * 3;
    for (uint64_t e = first + blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; e < end;
         e += uint64_t(gridDim.x) * blockDim.x) {
        float here[VARIABLES], sum[VARIABLES] = { 0, 0, 0, 0, 0 }, waves = 0;
        read_state(arrays, e, here);
        for (unsigned face = 0; face < CFD_FACES; face++) {
            const uint64_t at = e * CFD_FACES + face;
            const float normal[3] = { normals[at * 3], normals[at * 3 + 1], normals[at * 3 + 2] };
            waves += subtract_face(arrays, neighbours[at], normal, here, sum);
        }
        for (unsigned i = 0; i < VARIABLES; i++)
            array<float>(arrays, CFD_FLUXES)[e * VARIABLES + i] = sum[i];
        array<float>(arrays, CFD_STEPS)[e] = courant / waves;
    }
}

__global__ void cfd_update(const places_array *arrays, uint64_t elements)
{
    for (uint64_t e = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; e < elements;
         e += uint64_t(gridDim.x) * blockDim.x) {
        const used<float> sum = array<float>(arrays, CFD_FLUXES);
        const float by = array<float>(arrays, CFD_STEPS)[e];
        array<float>(arrays, CFD_DENSITY)[e] += by * sum[e * VARIABLES];
        for (unsigned i = 0; i < 3; i++)
            array<float>(arrays, CFD_MOMENTUM)[3 * e + i] += by * sum[e * VARIABLES + 1 + i];
        array<float>(arrays, CFD_ENERGY)[e] += by * sum[e * VARIABLES + 4];
    }
}

} // namespace

void places_bfs_start(const places_array *arrays, uint64_t vertices, uint64_t source)
{
    bfs_start<<<BLOCKS, THREADS>>>(arrays, vertices, source);
}

void places_bfs_step(const places_array *arrays, uint64_t first, uint64_t end, uint64_t edge,
                     uint32_t level, uint32_t *grown)
{
    bfs_step<<<BLOCKS, THREADS>>>(arrays, first, end, edge, level, grown);
}

void places_bfs_find(const places_array *arrays, const uint64_t *starts, uint32_t count,
                     uint32_t level, uint32_t *waiting)
{
    bfs_find<<<dim3(64, count), THREADS>>>(arrays, starts, level, waiting);
}

void places_srad_start(const places_array *arrays, srad_rows all)
{
    srad_start<<<BLOCKS, THREADS>>>(arrays, all);
}

void places_srad_sum(const places_array *arrays, uint64_t columns, uint64_t side, double *sums)
{
    srad_sum<<<1, THREADS>>>(arrays, columns, side, sums);
}

void places_srad_coefficients(const places_array *arrays, srad_rows part, float speckle)
{
    srad_coefficients<<<BLOCKS, THREADS>>>(arrays, part, speckle);
}

void places_srad_update(const places_array *arrays, srad_rows part, float lambda)
{
    srad_update<<<BLOCKS, THREADS>>>(arrays, part, lambda);
}

void places_cfd_start(const places_array *arrays, uint64_t elements)
{
    cfd_start<<<BLOCKS, THREADS>>>(arrays, elements);
}

void places_cfd_fluxes(const places_array *arrays, uint64_t first, uint64_t end, uint64_t origin,
                       float courant)
{
    cfd_fluxes<<<BLOCKS, THREADS>>>(arrays, first, end, origin, courant);
}

void places_cfd_update(const places_array *arrays, uint64_t elements)
{
    cfd_update<<<BLOCKS, THREADS>>>(arrays, elements);
}

int places_count_uses(uint64_t *uses)
{
#ifdef HAUL_COUNT_USES
    return cudaMemcpyFromSymbol(uses, counters, sizeof counters) == cudaSuccess;
#else
    (void)uses;
    return 0;
#endif
}
