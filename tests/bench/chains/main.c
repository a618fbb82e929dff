/* haul_bench_chains: one array at the end of a chain of pointers, shipped by its chain, with its
 * whole graph, and in unified memory.
 *
 * The structures are Linear and Dense of the deep-copy benchmark (Ghane, Chandrasekaran, Cheung
 * 2019); the kernel uses the last level's array alone. Each round runs every way twice, in
 * turn, on the same graph, and the second run counts. Each element of the array is compared with
 * what the host has computed. A kernel's time is that of one of 64 in a captured graph, which
 * multiply by 2 and 1/2 in turn; so it has a launch in it, as the empty kernel's time shows. What
 * is left without a launch is counted inside of a kernel of its own, in cycles.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <haul.h>

#include "bench/bench.h"
#include "levels.h"

enum { SKIPPED = 77, KERNELS = 64, CLOCKED_MOST = 10000, PATH_MAX_BYTES = 128, DENSE_STEPS = 3 };

static haul_type *level_type;
static const haul_field level_fields[] = {
    HAUL_ARRAY(level, a, HAUL_COUNT(level, a_count)),
    HAUL_OBJECTS(level, next, &level_type, HAUL_COUNT(level, next_count)),
};
static const haul_struct structs[] = { HAUL_STRUCT(level, &level_type, level_fields) };

/* A structure on the host, or in managed memory. */
typedef struct structure {
    level *root, *last;
    void **block; /* of it, in the order of allocation */
    size_t block_count;
} structure;

typedef struct bench {
    char name[64];
    size_t levels, children, n; /* children 1: Linear */
    int is_full;                /* every level has its array */
    structure host, unified;
    double *pinned; /* the array of the limit's copy */
    haul_device *device;
    haul_chain *chain;
    cudaStream_t stream;
    int rounds;
} bench;

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "haul_bench_chains: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void must_haul(const bench *b, haul_status status, const char *what)
{
    if (status != HAUL_OK)
        bench_die(what, haul_context_error(haul_device_context(b->device)));
}

/* -------------------------------------------------------------------------------------------------
 * The structures
 */
static void *allocate(structure *s, size_t bytes, int is_managed)
{
    void *memory = NULL;
    if (is_managed)
        must(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal), "cudaMallocManaged");
    else
        memory = bench_allocate(bytes);
    memset(memory, 0, bytes);
    s->block = realloc(s->block, (s->block_count + 1) * sizeof *s->block);
    if (!s->block)
        bench_die("out of memory", NULL);
    s->block[s->block_count++] = memory;
    return memory;
}

static void give_array(const bench *b, structure *s, level *at, int is_managed)
{
    size_t i;
    at->a = allocate(s, b->n * sizeof *at->a, is_managed);
    at->a_count = (int)b->n;
    for (i = 0; i < b->n; i++)
        at->a[i] = (double)(i + 1);
}

/* Level by level: the parents are those of the level before. */
static void make(const bench *b, structure *s, int is_managed)
{
    size_t depth, i, width = 1;
    level **row = bench_allocate(sizeof(level *));
    memset(s, 0, sizeof *s);
    s->root = row[0] = allocate(s, sizeof(level), is_managed);
    for (depth = 1; depth <= b->levels; depth++) {
        level **below = bench_allocate(width * b->children * sizeof(level *));
        for (i = 0; i < width; i++) {
            size_t child;
            if (b->is_full || (depth == b->levels && i + 1 == width))
                give_array(b, s, row[i], is_managed);
            if (depth == b->levels)
                continue;
            row[i]->next = allocate(s, b->children * sizeof(level), is_managed);
            row[i]->next_count = (int)b->children;
            for (child = 0; child < b->children; child++)
                below[i * b->children + child] = &row[i]->next[child];
        }
        s->last = row[width - 1];
        free(row);
        row = below;
        width *= b->children;
    }
    free(row);
}

static void drop(structure *s, int is_managed)
{
    size_t i;
    for (i = 0; i < s->block_count; i++)
        if (is_managed)
            must(cudaFree(s->block[i]), "cudaFree");
        else
            free(s->block[i]);
    free(s->block);
}

/* Every element is `factor` times what it was, and becomes that again. */
static void check(const bench *b, double *a, double factor, const char *way)
{
    size_t i;
    for (i = 0; i < b->n; i++) {
        if (a[i] != factor * (double)(i + 1)) {
            fprintf(stderr, "haul_bench_chains: %s: %s: element %zu is %g\n", b->name, way, i,
                    a[i]);
            exit(1);
        }
        a[i] = (double)(i + 1);
    }
}

/* -------------------------------------------------------------------------------------------------
 * Kernels
 */
/* With the array's address, or else with the root's; without both: an empty kernel. */
static void scale(const bench *b, double *a, const level *root, double factor)
{
    if (!a && !root)
        do_nothing(b->stream);
    else if (a)
        scale_by_chain(a, b->n, factor, b->stream);
    else if (b->children > 1)
        scale_by_dense(root, b->children, b->n, factor, b->stream);
    else
        scale_by_walk(root, (int)b->levels - 1, b->n, factor, b->stream);
}

static void time_kernel(const bench *b, const char *way, double *a, const level *root)
{
    cudaGraph_t graph;
    cudaGraphExec_t all;
    cudaEvent_t begin, end;
    float milliseconds = 0;
    int i;
    must(cudaStreamBeginCapture(b->stream, cudaStreamCaptureModeThreadLocal), "capture");
    for (i = 0; i < KERNELS; i++)
        scale(b, a, root, i % 2 ? 0.5 : 2);
    must(cudaStreamEndCapture(b->stream, &graph), "capture");
    must(cudaGraphInstantiateWithFlags(&all, graph, 0), "cudaGraphInstantiate");
    must(cudaEventCreate(&begin), "cudaEventCreate");
    must(cudaEventCreate(&end), "cudaEventCreate");
    must(cudaGraphLaunch(all, b->stream), "cudaGraphLaunch");
    for (i = 0; i < b->rounds; i++) {
        must(cudaEventRecord(begin, b->stream), "cudaEventRecord");
        must(cudaGraphLaunch(all, b->stream), "cudaGraphLaunch");
        must(cudaEventRecord(end, b->stream), "cudaEventRecord");
        must(cudaEventSynchronize(end), "kernels");
        must(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
        report_add(way, "kernel", (double)milliseconds / KERNELS, "kernel");
    }
    must(cudaEventDestroy(begin), "cudaEventDestroy");
    must(cudaEventDestroy(end), "cudaEventDestroy");
    must(cudaGraphExecDestroy(all), "cudaGraphExecDestroy");
    must(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

static void clock_once(const bench *b, double *a, const level *root, double factor,
                       unsigned long long *cycles)
{
    if (a)
        clock_chain(a, b->n, factor, cycles, b->stream);
    else if (b->children > 1)
        clock_dense(root, b->children, b->n, factor, cycles, b->stream);
    else
        clock_walk(root, (int)b->levels - 1, b->n, factor, cycles, b->stream);
}

/* Each kernel runs alone, behind one that has brought everything into the caches. */
static void clock_kernel(const bench *b, const char *way, double *a, const level *root)
{
    unsigned long long *cycles = NULL, most = 0;
    int i;
    if (b->n > CLOCKED_MOST)
        return;
    must(cudaMalloc((void **)&cycles, sizeof *cycles), "cudaMalloc");
    for (i = 0; i < b->rounds; i++) {
        clock_once(b, a, root, 2, cycles);
        must(cudaMemsetAsync(cycles, 0, sizeof *cycles, b->stream), "cudaMemset");
        clock_once(b, a, root, 0.5, cycles);
        must(cudaMemcpyAsync(&most, cycles, sizeof most, cudaMemcpyDeviceToHost, b->stream),
             "copy");
        must(cudaStreamSynchronize(b->stream), "kernels");
        report_add(way, "cycles", (double)most, REPORT_VALUE);
    }
    must(cudaFree(cycles), "cudaFree");
}

static void run_kernel(const bench *b, double *a, const level *root)
{
    scale(b, a, root, 2);
    must(cudaStreamSynchronize(b->stream), "kernel");
}

/* -------------------------------------------------------------------------------------------------
 * The ways. Each makes one round trip with one kernel; in the last round it also times kernels.
 */
static void note(int round, const char *way, const char *phase, double since)
{
    if (round > 0)
        report_add(way, phase, bench_milliseconds() - since, phase);
}

static void by_haul(const bench *b, int round, const char *way, haul_source source, int is_chain)
{
    haul_shipment *shipment = NULL;
    haul_root target = { NULL, NULL, 0 };
    double *a = NULL, begin = bench_milliseconds();
    size_t count;
    must_haul(b, haul_ship_from(b->device, source, NULL, NULL, &shipment), way);
    if (is_chain) {
        must_haul(b, haul_chain_resolve_on(shipment, b->chain, b->host.root, &target, 1, &count),
                  way);
        a = target.address;
    }
    note(round, way, "to", begin);
    run_kernel(b, a, is_chain ? NULL : haul_device_pointer(shipment, b->host.root));
    begin = bench_milliseconds();
    must_haul(b, haul_unmarshal(shipment), way);
    note(round, way, "from", begin);
    check(b, b->host.last->a, 2, way);
    if (round == b->rounds) {
        const level *root = is_chain ? NULL : haul_device_pointer(shipment, b->host.root);
        time_kernel(b, way, a, root);
        clock_kernel(b, way, a, root);
    }
    haul_shipment_free(&shipment);
}

static void by_graph(const bench *b, int round, const char *way)
{
    by_haul(b, round, way, haul_from_object(b->host.root, level_type), 0);
}

static void by_chain(const bench *b, int round, const char *way)
{
    by_haul(b, round, way, haul_from_chains(b->host.root, &b->chain, 1), 1);
}

/* The array alone, out of pinned memory: the limit. */
static void by_copy(const bench *b, int round, const char *way)
{
    const size_t bytes = b->n * sizeof(double);
    void *there = NULL;
    double begin;
    memcpy(b->pinned, b->host.last->a, bytes);
    must(cudaMalloc(&there, bytes), "cudaMalloc");
    begin = bench_milliseconds();
    must(cudaMemcpyAsync(there, b->pinned, bytes, cudaMemcpyHostToDevice, b->stream), "copy");
    must(cudaStreamSynchronize(b->stream), "copy");
    note(round, way, "to", begin);
    run_kernel(b, there, NULL);
    if (round == b->rounds) {
        time_kernel(b, way, there, NULL);
        clock_kernel(b, way, there, NULL);
    }
    begin = bench_milliseconds();
    must(cudaMemcpyAsync(b->pinned, there, bytes, cudaMemcpyDeviceToHost, b->stream), "copy");
    must(cudaStreamSynchronize(b->stream), "copy");
    note(round, way, "from", begin);
    check(b, b->pinned, 2, way);
    must(cudaFree(there), "cudaFree");
}

/* Managed memory: the kernel itself fetches the pages, and the host's reading brings them back. */
static void by_unified(const bench *b, int round, const char *way)
{
    double begin = bench_milliseconds();
    run_kernel(b, NULL, b->unified.root);
    note(round, way, "first_kernel", begin);
    begin = bench_milliseconds();
    check(b, b->unified.last->a, 2, way);
    note(round, way, "host_reads", begin);
    if (round == b->rounds) {
        time_kernel(b, way, NULL, b->unified.root);
        clock_kernel(b, way, NULL, b->unified.root);
    }
}

static void print_table(FILE *out, const char *workload)
{
    static const char *const ways[] = { "empty", "raw", "graph", "chain", "unified" };
    size_t i;
    fprintf(out, "%s\n", workload);
    for (i = 0; i < sizeof ways / sizeof *ways; i++)
        if (report_median(ways[i], "kernel") > 0)
            fprintf(out,
                    "  %-8s to %10.4f  from %10.4f  kernel %8.5f (%.2f of graph's)  cycles %6.0f\n",
                    ways[i], report_median(ways[i], "to"), report_median(ways[i], "from"),
                    report_median(ways[i], "kernel"),
                    report_median(ways[i], "kernel") / report_median("graph", "kernel"),
                    report_median(ways[i], "cycles"));
}

/* -------------------------------------------------------------------------------------------------
 * A structure by all ways
 */
static void write_path(const bench *b, char *path, size_t bytes)
{
    size_t i, at = 0;
    for (i = 1; i < b->levels; i++)
        at += (size_t)snprintf(path + at, bytes - at, "next[%zu].", b->children - 1);
    snprintf(path + at, bytes - at, "a");
}

/* The first run brings back into the caches what other ways have driven out; it is not timed. */
static void run_twice(const bench *b, int round, void (*way)(const bench *, int, const char *),
                      const char *name)
{
    way(b, 0, name);
    way(b, round, name);
}

static void measure_structure(bench *b)
{
    haul_context *context = haul_device_context(b->device);
    const int has_unified = b->children < 16 || b->n <= 1000;
    char path[PATH_MAX_BYTES];
    int round;
    write_path(b, path, sizeof path);
    make(b, &b->host, 0);
    if (has_unified)
        make(b, &b->unified, 1);
    must(cudaMallocHost((void **)&b->pinned, b->n * sizeof(double)), "cudaMallocHost");
    must_haul(b, haul_chain_create(context, level_type, path, &b->chain), path);
    report_begin(b->name);
    time_kernel(b, "empty", NULL, NULL);
    for (round = 1; round <= b->rounds; round++) {
        run_twice(b, round, by_copy, "raw");
        run_twice(b, round, by_graph, "graph");
        run_twice(b, round, by_chain, "chain");
        if (has_unified)
            run_twice(b, round, by_unified, "unified");
    }
    report_end();
    haul_chain_free(&b->chain);
    must(cudaFreeHost(b->pinned), "cudaFreeHost");
    drop(&b->host, 0);
    if (has_unified)
        drop(&b->unified, 1);
}

static void measure_linear(bench *b, size_t k, size_t n, int is_full)
{
    snprintf(b->name, sizeof b->name, "linear_k%zu_n%zu_%s", k, n,
             is_full ? "allinit_LLused" : "LLinit_LLused");
    b->levels = k - 1;
    b->children = 1;
    b->n = n;
    b->is_full = is_full;
    measure_structure(b);
}

static void measure_dense(bench *b, size_t q, size_t n)
{
    snprintf(b->name, sizeof b->name, "dense_q%zu_n%zu_selective", q, n);
    b->levels = DENSE_STEPS + 1;
    b->children = q;
    b->n = n;
    b->is_full = 1;
    measure_structure(b);
}

/* -------------------------------------------------------------------------------------------------
 * Command line
 */
static void measure_all(bench *b, int is_quick)
{
    size_t k, n;
    int is_full;
    for (k = 2; k <= 10; k += is_quick ? 8 : 1)
        for (n = 1000; n <= (is_quick ? 1000 : 1000000); n *= 10)
            for (is_full = 0; is_full <= 1; is_full++)
                measure_linear(b, k, n, is_full);
    for (n = 10; n <= (is_quick ? 10 : 1000); n *= 10)
        measure_dense(b, 16, n);
}

static void open_device(bench *b)
{
    haul_context *context = NULL;
    if (haul_context_create(NULL, &context) != HAUL_OK)
        bench_die("there is no context", NULL);
    if (haul_cuda_open(context, NULL, &b->device) != HAUL_OK)
        bench_die("there is no device", haul_context_error(context));
    must_haul(b, HAUL_DESCRIBE(context, structs), "level");
    haul_context_free(&context);
    must(cudaStreamCreate(&b->stream), "cudaStreamCreate");
}

static void open_report(FILE *csv, int rounds)
{
    struct cudaDeviceProp card;
    char date[32];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    must(cudaGetDeviceProperties(&card, 0), "cudaGetDeviceProperties");
    if (csv)
        fprintf(csv, "# haul_bench_chains: medians of %d interleaved rounds, %s\n# card: %s\n",
                rounds, date, card.name);
    report_open(csv, stdout, "raw", print_table);
}

int main(int count, char **arguments)
{
    const int is_quick = count == 2 && strcmp(arguments[1], "--quick") == 0;
    FILE *csv = NULL;
    bench b;
    int cards = 0;
    if (count > 2 || (count == 2 && arguments[1][0] == '-' && !is_quick)) {
        fprintf(stderr, "usage: haul_bench_chains [FILE.csv | --quick]\n");
        return 2;
    }
    if (cudaGetDeviceCount(&cards) != cudaSuccess || cards == 0) {
        printf("skipped: no GPU\n");
        return SKIPPED;
    }
    memset(&b, 0, sizeof b);
    b.rounds = is_quick ? 2 : 31;
    if (count == 2 && !is_quick && !(csv = fopen(arguments[1], "w")))
        bench_die(arguments[1], NULL);
    open_device(&b);
    open_report(csv, b.rounds);
    measure_all(&b, is_quick);
    must(cudaStreamDestroy(b.stream), "cudaStreamDestroy");
    HAUL_FORGET(structs);
    haul_device_close(&b.device);
    if (csv && fclose(csv) != 0)
        bench_die(arguments[1], NULL);
    return 0;
}
