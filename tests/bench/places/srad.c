/* SRAD: speckle-reducing anisotropic diffusion (Yu and Acton, 2002) of an image, with forward Euler
 * steps and a sample region in a corner that tells the speckle. The image comes from a file, or is
 * noise by the seed.
 */
#include <math.h>
#include <stdio.h>
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
    const srad_rows all = { 0, it->number[0], 0, it->number[0], it->number[1] };
    return all;
}

static size_t pixels_of(const places_workload *it)
{
    return it->number[0] * it->number[1];
}

static float speckle_of(const double sums[2])
{
    const double count = (double)SAMPLE * SAMPLE, mean = sums[0] / count;
    return (float)((sums[1] / count - mean * mean) / (mean * mean));
}

/* ---- The reference: as the kernels, in the same precision. */

static float pixel_coefficient(const float *copy, srad_rows all, size_t i, float speckle,
                               float d[4])
{
    const size_t row = i / all.columns, column = i % all.columns;
    const float here = copy[i];
    float gradient, laplace, half, q, c;
    d[0] = copy[row > 0 ? i - all.columns : i] - here;
    d[1] = copy[row + 1 < all.rows ? i + all.columns : i] - here;
    d[2] = copy[column > 0 ? i - 1 : i] - here;
    d[3] = copy[column + 1 < all.columns ? i + 1 : i] - here;
    gradient = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3]) / (here * here);
    laplace = (d[0] + d[1] + d[2] + d[3]) / here;
    half = 1 + 0.25f * laplace;
    q = (0.5f * gradient - laplace * laplace / 16) / (half * half);
    c = 1 / (1 + (q - speckle) / (speckle * (1 + speckle)));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

static float sample_on_host(const float *copy, size_t columns)
{
    double sums[2] = { 0, 0 };
    size_t i;
    for (i = 0; i < SAMPLE * SAMPLE; i++) {
        const double pixel = copy[i / SAMPLE * columns + i % SAMPLE];
        sums[0] += pixel;
        sums[1] += pixel * pixel;
    }
    return speckle_of(sums);
}

static void diffuse_on_host(const places_workload *it)
{
    const srad_rows whole = rows_of(it);
    const size_t all = pixels_of(it), row = whole.columns;
    const float *image = (const float *)(const void *)it->arrays[SRAD_IMAGE].at;
    const srad *s = it->own;
    float *c = bench_map(all * sizeof *c), *next = bench_map(all * sizeof *next), d[4];
    size_t i;
    int step;
    for (i = 0; i < all; i++)
        s->expected[i] = expf(image[i] / 255);
    for (step = 0; step < STEPS; step++) {
        const float speckle = sample_on_host(s->expected, row);
        for (i = 0; i < all; i++)
            c[i] = pixel_coefficient(s->expected, whole, i, speckle, d);
        for (i = 0; i < all; i++) {
            pixel_coefficient(s->expected, whole, i, speckle, d);
            next[i] = s->expected[i] + 0.25f * lambda *
                                           (c[i] * d[0] + c[i + row < all ? i + row : i] * d[1] +
                                            c[i] * d[2] + c[i % row + 1 < row ? i + 1 : i] * d[3]);
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
    for (i = 0; i < pixels_of(it); i++)
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
    const size_t row = b->it->number[1] * sizeof(float);
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
    const uint64_t rows = b->it->number[0], columns = b->it->number[1],
                   row = columns * sizeof(float),
                   end = first + b->height < rows ? first + b->height : rows,
                   last = end + 2 < rows ? end + 2 : rows;
    srad_rows part = rows_of(b->it);
    part.first = first;
    part.origin = first > 0 ? first - 1 : 0;
    cuda_copy(b->made[SRAD_COPY].at, b->copies[0] + part.origin * columns,
              (last - part.origin) * row);
    part.end = end + 1 < rows ? end + 1 : rows; /* the last row needs the next one's coefficients */
    places_srad_coefficients(b->table, part, speckle);
    part.end = end;
    places_srad_update(b->table, part, lambda);
    cuda_copy(b->copies[1] + first * columns, b->made[SRAD_COPY].at + (first - part.origin) * row,
              (end - first) * row);
}

static double chunked(const places_workload *it, size_t budget, void *result)
{
    const size_t row = it->number[1] * sizeof(float),
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
    for (i = 0; i < pixels_of(it); i++)
        b.copies[0][i] = expf(image[i] / 255);
    start = bench_milliseconds();
    for (step = 0; step < STEPS; step++) {
        float *before = b.copies[0];
        const float speckle = sample_on_host(before, it->number[1]);
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

/* A grey image in the format PGM, with a byte for each pixel ("P5 columns rows 255", a blank,
 * bytes). */
static unsigned char *read_image(const char *path, uint64_t *rows, uint64_t *columns)
{
    FILE *file = fopen(path, "rb");
    unsigned width = 0, height = 0;
    unsigned char *bytes;
    if (!file || fscanf(file, "P5 %u %u 255", &width, &height) != 2 || fgetc(file) == EOF ||
        width < SAMPLE || height < SAMPLE || width > 1u << 16 || height > 1u << 16)
        bench_die("no grey image in the format PGM, with 128 x 128 pixels or more", NULL);
    *rows = height;
    *columns = width;
    bytes = bench_allocate((size_t)width * height);
    if (fread(bytes, width, height, file) != height)
        bench_die("the image ends early", NULL);
    fclose(file);
    return bytes;
}

static void fill_image(const places_workload *it, const unsigned char *bytes, uint64_t seed)
{
    float *image = (float *)(void *)it->arrays[SRAD_IMAGE].at;
    bench_random random = { seed };
    size_t i;
    for (i = 0; i < pixels_of(it); i++)
        image[i] = bytes ? bytes[i] : (float)(bench_next(&random) >> 56);
}

void srad_make(places_workload *it, const char *path, uint64_t side, uint64_t seed)
{
    /* bytes that kernels read or write in one step, for each byte */
    static const double ranks[SRAD_ARRAYS] = { 0.25, 6, 4, 2, 2, 2, 2 };
    srad *s = bench_allocate(sizeof *s);
    unsigned char *bytes;
    size_t each;
    memset(it, 0, sizeof *it);
    it->name = "srad";
    it->number[0] = it->number[1] = side;
    bytes = path ? read_image(path, &it->number[0], &it->number[1]) : NULL;
    each = pixels_of(it) * sizeof(float);
    for (it->count = 0; it->count < SRAD_ARRAYS; it->count++) {
        it->arrays[it->count].at = bench_map(each);
        it->arrays[it->count].bytes = (int64_t)each;
        it->rank[it->count] = ranks[it->count];
    }
    it->result = SRAD_COPY;
    it->run = run;
    it->chunked = chunked;
    it->is_right = is_right;
    it->own = s;
    fill_image(it, bytes, seed);
    free(bytes);
    s->expected = bench_map(each);
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
