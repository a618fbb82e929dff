/* Breadth-first search in an R-MAT graph (Chakrabarti, Zhan, Faloutsos 2004; the probabilities of
 * Graph 500), with 16 edges for each vertex, each in both directions.
 *
 * The edges are drawn twice from one seed: first they are counted, then they are placed. So no list
 * of them is kept. An edge takes a fixed number of draws, so threads share them, and the graph does
 * not depend on their number. Only the order of a vertex's targets does.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "places.h"

enum { EDGES_EACH = 16, CHUNKS_MAX = 256, BITS_OF_A_DRAW = 4 };

typedef struct bfs {
    uint64_t seed;
    unsigned scale, threads;
    uint32_t *expected;
    uint32_t *queue;
} bfs;

/* Vertices of many edges have low numbers; this mixes the numbers. */
static uint64_t mix(uint64_t vertex, unsigned scale)
{
    const uint64_t mask = ((uint64_t)1 << scale) - 1;
    vertex = vertex * 0x9e3779b97f4a7c15u & mask;
    vertex ^= vertex >> (scale / 2 + 1);
    return vertex * 0xbf58476d1ce4e5b9u & mask;
}

static void draw_edge(bench_random *random, unsigned scale, uint64_t ends[2])
{
    uint64_t from = 0, to = 0, bits = 0;
    unsigned i;
    for (i = 0; i < scale; i++) {
        unsigned draw;
        bits = i % BITS_OF_A_DRAW == 0 ? bench_next(random) : bits >> 16;
        draw = (unsigned)(bits & 0xffff); /* 0.57, 0.19, 0.19, 0.05 of 65536 */
        from = from << 1 | (draw >= 49807);
        to = to << 1 | (draw >= 62259 || (draw >= 37355 && draw < 49807));
    }
    ends[0] = mix(from, scale);
    ends[1] = mix(to, scale);
}

static void add_array(places_workload *it, unsigned number, size_t bytes, double rank)
{
    it->arrays[number].at = bench_map(bytes);
    it->arrays[number].bytes = (int64_t)bytes;
    it->rank[number] = rank;
    it->count = number + 1;
}

typedef struct drawing {
    const places_workload *it;
    uint64_t first, end; /* edges */
    int is_placing;      /* offsets[v] becomes the place of each target of v; else their number */
    pthread_t thread;
} drawing;

static uint64_t add(uint64_t *counter, uint64_t what)
{
    return __atomic_fetch_add(counter, what, __ATOMIC_RELAXED);
}

static void *draw_part(void *argument)
{
    const drawing *d = argument;
    const bfs *b = d->it->own;
    uint64_t *offsets = (uint64_t *)(void *)d->it->arrays[BFS_OFFSETS].at, ends[2], e;
    uint32_t *targets = (uint32_t *)(void *)d->it->arrays[BFS_TARGETS].at;
    bench_random random = { b->seed };
    bench_skip(&random, d->first * ((b->scale + BITS_OF_A_DRAW - 1) / BITS_OF_A_DRAW));
    for (e = d->first; e < d->end; e++) {
        draw_edge(&random, b->scale, ends);
        if (d->is_placing) {
            targets[add(&offsets[ends[0]], UINT64_MAX) - 1] = (uint32_t)ends[1];
            targets[add(&offsets[ends[1]], UINT64_MAX) - 1] = (uint32_t)ends[0];
        } else {
            add(&offsets[ends[0]], 1);
            add(&offsets[ends[1]], 1);
        }
    }
    return NULL;
}

static void draw_edges(const places_workload *it, int is_placing)
{
    const bfs *b = it->own;
    const uint64_t edges = it->number[1] / 2;
    drawing *parts = bench_allocate(b->threads * sizeof *parts);
    unsigned i;
    for (i = 0; i < b->threads; i++) {
        parts[i].it = it;
        parts[i].first = edges * i / b->threads;
        parts[i].end = edges * (i + 1) / b->threads;
        parts[i].is_placing = is_placing;
        if (pthread_create(&parts[i].thread, NULL, draw_part, &parts[i]) != 0)
            bench_die("no thread", NULL);
    }
    for (i = 0; i < b->threads; i++)
        pthread_join(parts[i].thread, NULL);
    free(parts);
}

static void draw_graph(const places_workload *it)
{
    uint64_t *offsets = (uint64_t *)(void *)it->arrays[BFS_OFFSETS].at, v, sum = 0;
    draw_edges(it, 0);
    for (v = 0; v <= it->number[0]; v++) { /* to the end of each vertex's edges */
        sum += v < it->number[0] ? offsets[v] : 0;
        offsets[v] = sum;
    }
    draw_edges(it, 1);
}

/* ---- The reference. */

static void search_on_host(const places_workload *it)
{
    const uint64_t *offsets = (const uint64_t *)(const void *)it->arrays[BFS_OFFSETS].at;
    const uint32_t *targets = (const uint32_t *)(const void *)it->arrays[BFS_TARGETS].at;
    const bfs *b = it->own;
    uint64_t first = 0, end = 1, e;
    memset(b->expected, 0xff, it->number[0] * sizeof *b->expected);
    b->expected[it->number[2]] = 0;
    b->queue[0] = (uint32_t)it->number[2];
    for (; first < end; first++) {
        const uint32_t v = b->queue[first];
        for (e = offsets[v]; e < offsets[v + 1]; e++)
            if (b->expected[targets[e]] == BFS_UNREACHED) {
                b->expected[targets[e]] = b->expected[v] + 1;
                b->queue[end++] = targets[e];
            }
    }
}

static int is_right(const places_workload *it, const void *result)
{
    const bfs *b = it->own;
    return memcmp(result, b->expected, it->number[0] * sizeof *b->expected) == 0;
}

/* ---- On the GPU. */

static void run(const places_workload *it, const places_array *table)
{
    uint32_t *grown = cuda_device(sizeof *grown), has_grown = 1, level;
    places_bfs_start(table, it->number[0], it->number[2]);
    for (level = 0; has_grown; level++) {
        cuda_clear(grown, sizeof *grown);
        places_bfs_step(table, 0, it->number[0], 0, level, grown);
        cuda_copy(&has_grown, grown, sizeof has_grown);
    }
    cuda_drop(grown);
}

/* ---- By chunks: offsets and levels stay on the GPU; of the targets, those chunks cross at each
 * level that have a waiting vertex, into one of two buffers while the other is searched. */

typedef struct chunks {
    const places_workload *it;
    uint64_t starts[CHUNKS_MAX + 1]; /* the first vertex of each */
    uint32_t count;
    unsigned char *pinned; /* the targets */
    places_array made[2][BFS_ARRAYS];
    places_array *tables[2];
    uint64_t *starts_there;
    uint32_t *waiting_there, *grown;
} chunks;

static uint64_t offset_of(const chunks *c, uint64_t vertex)
{
    return ((const uint64_t *)(const void *)c->it->arrays[BFS_OFFSETS].at)[vertex];
}

/* Cuts the vertices where `most` bytes of targets are full. 0: too many chunks. */
static int cut(chunks *c, size_t most)
{
    uint64_t v;
    for (v = 0; v < c->it->number[0]; v++)
        if ((offset_of(c, v + 1) - offset_of(c, c->starts[c->count])) * sizeof(uint32_t) > most) {
            if (v == c->starts[c->count] || c->count + 1 >= CHUNKS_MAX)
                return 0;
            c->starts[++c->count] = v;
        }
    c->starts[++c->count] = c->it->number[0];
    return 1;
}

static void open_chunks(chunks *c, size_t most)
{
    unsigned side, i;
    c->pinned = cuda_pinned((size_t)c->it->arrays[BFS_TARGETS].bytes);
    memcpy(c->pinned, c->it->arrays[BFS_TARGETS].at, (size_t)c->it->arrays[BFS_TARGETS].bytes);
    for (i = 0; i < BFS_ARRAYS; i++) {
        c->made[0][i].bytes = i == BFS_TARGETS ? (int64_t)most : c->it->arrays[i].bytes;
        c->made[0][i].at = cuda_device((size_t)c->made[0][i].bytes);
        c->made[1][i] = c->made[0][i];
    }
    c->made[1][BFS_TARGETS].at = cuda_device(most);
    cuda_copy(c->made[0][BFS_OFFSETS].at, c->it->arrays[BFS_OFFSETS].at,
              (size_t)c->it->arrays[BFS_OFFSETS].bytes);
    for (side = 0; side < 2; side++) {
        c->tables[side] = cuda_device(sizeof c->made[side]);
        cuda_copy(c->tables[side], c->made[side], sizeof c->made[side]);
    }
    c->starts_there = cuda_device(sizeof c->starts);
    cuda_copy(c->starts_there, c->starts, sizeof c->starts);
    c->waiting_there = cuda_device(CHUNKS_MAX * sizeof *c->waiting_there);
    c->grown = cuda_device(sizeof *c->grown);
}

static void close_chunks(chunks *c)
{
    unsigned side;
    for (side = 0; side < 2; side++) {
        cuda_drop(c->made[side][BFS_TARGETS].at);
        cuda_drop(c->tables[side]);
    }
    cuda_drop(c->made[0][BFS_OFFSETS].at);
    cuda_drop(c->made[0][BFS_LEVELS].at);
    cuda_drop(c->starts_there);
    cuda_drop(c->waiting_there);
    cuda_drop(c->grown);
    cuda_drop_pinned(c->pinned);
}

/* Copies the targets of a chunk to a side, behind the kernels that use that side. */
static void send(const chunks *c, uint32_t chunk, int side)
{
    const uint64_t first = offset_of(c, c->starts[chunk]), end = offset_of(c, c->starts[chunk + 1]);
    cuda_wait_for_kernels(side);
    cuda_start_copy(side, c->made[side][BFS_TARGETS].at, c->pinned + first * sizeof(uint32_t),
                    (end - first) * sizeof(uint32_t));
}

/* One level. Its chunks cross while the ones before them are searched. */
static void step(const chunks *c, uint32_t level, int *resident)
{
    uint32_t waiting[CHUNKS_MAX], i;
    int side = 0;
    cuda_clear(c->waiting_there, CHUNKS_MAX * sizeof *c->waiting_there);
    places_bfs_find(c->tables[0], c->starts_there, c->count, level, c->waiting_there);
    cuda_copy(waiting, c->waiting_there, sizeof waiting);
    for (i = 0; i < c->count; i++) {
        if (!waiting[i])
            continue;
        if (c->count > 1 || !*resident)
            send(c, i, side);
        *resident = 1;
        cuda_kernels_wait_for(side);
        places_bfs_step(c->tables[side], c->starts[i], c->starts[i + 1], offset_of(c, c->starts[i]),
                        level, c->grown);
        side = c->count > 1 ? !side : 0;
    }
}

/* If all targets fit, one buffer has them all. */
static double chunked(const places_workload *it, size_t budget, void *result)
{
    const size_t fixed = (size_t)(it->arrays[BFS_OFFSETS].bytes + it->arrays[BFS_LEVELS].bytes);
    const size_t targets = (size_t)it->arrays[BFS_TARGETS].bytes;
    chunks *c = calloc(1, sizeof *c);
    uint32_t has_grown = 1, level;
    int resident = 0;
    size_t most;
    double start, milliseconds = -1;
    c->it = it;
    if (fixed < budget) {
        most = targets <= budget - fixed ? targets : (budget - fixed) / 2;
        if (cut(c, most)) {
            open_chunks(c, most);
            start = bench_milliseconds();
            places_bfs_start(c->tables[0], it->number[0], it->number[2]);
            for (level = 0; has_grown; level++) {
                cuda_clear(c->grown, sizeof *c->grown);
                step(c, level, &resident);
                cuda_copy(&has_grown, c->grown, sizeof has_grown);
            }
            milliseconds = bench_milliseconds() - start;
            cuda_copy(result, c->made[0][BFS_LEVELS].at, (size_t)it->arrays[BFS_LEVELS].bytes);
            close_chunks(c);
        }
    }
    free(c);
    return milliseconds;
}

/* ---- The workload. */

void bfs_make(places_workload *it, unsigned scale, unsigned threads, uint64_t seed)
{
    const uint64_t vertices = (uint64_t)1 << scale, edges = 2 * EDGES_EACH * vertices;
    bfs *b = bench_allocate(sizeof *b);
    memset(it, 0, sizeof *it);
    it->name = "bfs";
    it->number[0] = vertices;
    it->number[1] = edges;
    /* for each vertex: once its offsets, and its level at each level and for each edge */
    add_array(it, BFS_OFFSETS, (vertices + 1) * sizeof(uint64_t), 1);
    add_array(it, BFS_TARGETS, edges * sizeof(uint32_t), 1);
    add_array(it, BFS_LEVELS, vertices * sizeof(uint32_t), 2 * EDGES_EACH);
    it->result = BFS_LEVELS;
    it->run = run;
    it->chunked = chunked;
    it->is_right = is_right;
    it->own = b;
    b->seed = seed;
    b->scale = scale;
    b->threads = threads;
    b->expected = bench_map(vertices * sizeof *b->expected);
    b->queue = bench_map(vertices * sizeof *b->queue);
    draw_graph(it);
    while (((const uint64_t *)(const void *)it->arrays[BFS_OFFSETS].at)[it->number[2] + 1] -
               ((const uint64_t *)(const void *)it->arrays[BFS_OFFSETS].at)[it->number[2]] <
           EDGES_EACH)
        it->number[2]++; /* a vertex that leads far */
    search_on_host(it);
}

void bfs_free(places_workload *it)
{
    bfs *b = it->own;
    unsigned i;
    for (i = 0; i < it->count; i++)
        bench_unmap(it->arrays[i].at, (size_t)it->arrays[i].bytes);
    bench_unmap(b->expected, it->number[0] * sizeof *b->expected);
    bench_unmap(b->queue, it->number[0] * sizeof *b->queue);
    free(b);
}
