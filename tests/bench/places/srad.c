/* SRAD: speckle-reducing anisotropic diffusion (Yu and Acton, 2002) of a noisy image, with forward
 * Euler steps and a sample region in a corner that tells the speckle.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "places.h"

enum { STEPS = 4, SAMPLE = 128, BANDS_MAX = 256 };
static const float lambda = 0.5f;

typedef struct srad {
    float *expected;
} srad;

static srad_rows rows_of(const places_workload *it)
{
    const srad_rows all = { 0, it->number[0], 0, it->number[0], it->number[0] };
    return all;
}

static float speckle_of(const double sums[2])
{
    const double count = (double)SAMPLE * SAMPLE, mean = sums[0] / count;
    return (float)((sums[1] / count - mean * mean) / (mean * mean));
}

/* ---- The reference: as the kernels, in the same precision. */

static float pixel_coefficient(const float *copy, size_t side, size_t i, float speckle, float d[4])
{
    const size_t row = i / side, column = i % side;
    const float here = copy[i];
    float gradient, laplace, half, q, c;
    d[0] = copy[row > 0 ? i - side : i] - here;
    d[1] = copy[row + 1 < side ? i + side : i] - here;
    d[2] = copy[column > 0 ? i - 1 : i] - here;
    d[3] = copy[column + 1 < side ? i + 1 : i] - here;
    gradient = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3]) / (here * here);
    laplace = (d[0] + d[1] + d[2] + d[3]) / here;
    half = 1 + 0.25f * laplace;
    q = (0.5f * gradient - laplace * laplace / 16) / (half * half);
    c = 1 / (1 + (q - speckle) / (speckle * (1 + speckle)));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

static float sample_on_host(const float *copy, size_t side)
{
    double sums[2] = { 0, 0 };
    size_t i;
    for (i = 0; i < SAMPLE * SAMPLE; i++) {
        const double pixel = copy[i / SAMPLE * side + i % SAMPLE];
        sums[0] += pixel;
        sums[1] += pixel * pixel;
    }
    return speckle_of(sums);
}

static void diffuse_on_host(const places_workload *it)
{
    const size_t side = it->number[0], all = side * side;
    const float *image = (const float *)(const void *)it->arrays[SRAD_IMAGE].at;
    const srad *s = it->own;
    float *c = bench_map(all * sizeof *c), *next = bench_map(all * sizeof *next), d[4];
    size_t i;
    int step;
    for (i = 0; i < all; i++)
        s->expected[i] = expf(image[i] / 255);
    for (step = 0; step < STEPS; step++) {
        const float speckle = sample_on_host(s->expected, side);
        for (i = 0; i < all; i++)
            c[i] = pixel_coefficient(s->expected, side, i, speckle, d);
        for (i = 0; i < all; i++) {
            pixel_coefficient(s->expected, side, i, speckle, d);
            next[i] =
                s->expected[i] + 0.25f * lambda *
                                     (c[i] * d[0] + c[i / side + 1 < side ? i + side : i] * d[1] +
                                      c[i] * d[2] + c[i % side + 1 < side ? i + 1 : i] * d[3]);
        }
        memcpy(s->expected, next, all * sizeof *next);
    }
    bench_unmap(c, all * sizeof *c);
    bench_unmap(next, all * sizeof *next);
}

static int is_right(const places_workload *it, const void *result)
{
    const srad *s = it->own;
    const float *got = result;
    size_t i;
    for (i = 0; i < it->number[0] * it->number[0]; i++)
        if (!(fabsf(got[i] - s->expected[i]) <= 1e-3f * s->expected[i]))
            return 0;
    return 1;
}

/* ---- On the GPU. */

static float sample(const places_array *table, uint64_t columns, double *sums)
{
    double got[2];
    places_srad_sum(table, columns, SAMPLE, sums);
    cuda_copy(got, sums, sizeof got);
    return speckle_of(got);
}

static void run(const places_workload *it, const places_array *table)
{
    const srad_rows all = rows_of(it);
    double *sums = cuda_device(2 * sizeof *sums);
    int step;
    places_srad_start(table, all);
    for (step = 0; step < STEPS; step++) {
        places_srad_coefficients(table, all, sample(table, all.columns, sums));
        places_srad_update(table, all, lambda);
    }
    cuda_wait();
    cuda_drop(sums);
}

/* ---- By chunks: bands of rows cross, with a row before and two behind. Coefficients and
 * differences live for one band only, so of the arrays the working copy alone crosses. */

typedef struct bands {
    const places_workload *it;
    uint64_t height;  /* rows of a band */
    float *copies[2]; /* pinned: before a step, and behind it */
    places_array made[SRAD_ARRAYS];
    places_array *table;
    double *sums;
} bands;

static void open_bands(bands *b)
{
    const size_t row = b->it->number[0] * sizeof(float);
    unsigned i;
    for (i = 0; i < 2; i++)
        b->copies[i] = cuda_pinned((size_t)b->it->arrays[SRAD_COPY].bytes);
    for (i = 0; i < SRAD_ARRAYS; i++) {
        b->made[i].bytes = (int64_t)((b->height + 3) * row);
        b->made[i].at = i == SRAD_IMAGE ? NULL : cuda_device((size_t)b->made[i].bytes);
    }
    b->table = cuda_device(sizeof b->made);
    cuda_copy(b->table, b->made, sizeof b->made);
    b->sums = cuda_device(2 * sizeof *b->sums);
}

static void close_bands(const bands *b)
{
    unsigned i;
    for (i = 0; i < 2; i++)
        cuda_drop_pinned(b->copies[i]);
    for (i = SRAD_COPY; i < SRAD_ARRAYS; i++)
        cuda_drop(b->made[i].at);
    cuda_drop(b->table);
    cuda_drop(b->sums);
}

static void diffuse_band(const bands *b, uint64_t first, float speckle)
{
    const uint64_t side = b->it->number[0], row = side * sizeof(float),
                   end = first + b->height < side ? first + b->height : side,
                   last = end + 2 < side ? end + 2 : side;
    srad_rows part = rows_of(b->it);
    part.first = first;
    part.origin = first > 0 ? first - 1 : 0;
    cuda_copy(b->made[SRAD_COPY].at, b->copies[0] + part.origin * side, (last - part.origin) * row);
    part.end = end + 1 < side ? end + 1 : side; /* the last row needs the next one's coefficients */
    places_srad_coefficients(b->table, part, speckle);
    part.end = end;
    places_srad_update(b->table, part, lambda);
    cuda_copy(b->copies[1] + first * side, b->made[SRAD_COPY].at + (first - part.origin) * row,
              (end - first) * row);
}

static double chunked(const places_workload *it, size_t budget, void *result)
{
    const size_t row = it->number[0] * sizeof(float),
                 rows = budget / (row * (SRAD_ARRAYS - 1)); /* without the image */
    const float *image = (const float *)(const void *)it->arrays[SRAD_IMAGE].at;
    bands b;
    double start;
    uint64_t first;
    size_t i;
    int step;
    memset(&b, 0, sizeof b);
    if (rows < SAMPLE + 3)
        return -1;
    b.it = it;
    b.height = rows - 3 < it->number[0] ? rows - 3 : it->number[0];
    open_bands(&b);
    for (i = 0; i < it->number[0] * it->number[0]; i++)
        b.copies[0][i] = expf(image[i] / 255);
    start = bench_milliseconds();
    for (step = 0; step < STEPS; step++) {
        float *before = b.copies[0];
        const float speckle = sample_on_host(before, it->number[0]);
        for (first = 0; first < it->number[0]; first += b.height)
            diffuse_band(&b, first, speckle);
        b.copies[0] = b.copies[1];
        b.copies[1] = before;
    }
    start = bench_milliseconds() - start;
    memcpy(result, b.copies[0], (size_t)it->arrays[SRAD_COPY].bytes);
    close_bands(&b);
    return start;
}

/* ---- The workload. */

void srad_make(places_workload *it, uint64_t side, uint64_t seed)
{
    /* bytes that kernels read or write in one step, for each byte */
    static const double ranks[SRAD_ARRAYS] = { 0.25, 6, 4, 2, 2, 2, 2 };
    const size_t bytes = side * side * sizeof(float);
    bench_random random = { seed };
    srad *s = bench_allocate(sizeof *s);
    float *image;
    size_t i;
    memset(it, 0, sizeof *it);
    it->name = "srad";
    it->number[0] = side;
    for (it->count = 0; it->count < SRAD_ARRAYS; it->count++) {
        it->arrays[it->count].at = bench_map(bytes);
        it->arrays[it->count].bytes = (int64_t)bytes;
        it->rank[it->count] = ranks[it->count];
    }
    it->result = SRAD_COPY;
    it->run = run;
    it->chunked = chunked;
    it->is_right = is_right;
    it->own = s;
    image = (float *)(void *)it->arrays[SRAD_IMAGE].at;
    for (i = 0; i < side * side; i++)
        image[i] = (float)(bench_next(&random) >> 56);
    s->expected = bench_map(bytes);
    diffuse_on_host(it);
}

void srad_free(places_workload *it)
{
    srad *s = it->own;
    unsigned i;
    for (i = 0; i < it->count; i++)
        bench_unmap(it->arrays[i].at, (size_t)it->arrays[i].bytes);
    bench_unmap(s->expected, (size_t)it->arrays[SRAD_COPY].bytes);
    free(s);
}
