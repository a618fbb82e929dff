/* haul_bench_places: what it costs to use a graph that exceeds a budget of device memory.
 *
 * For each workload and each budget (the graph has `factor` times its bytes) each way loads the
 * graph and runs it several times. All of the GPU's memory except the budget and some room is taken
 * away first. The room is for tables, staging and what CUDA keeps for itself; memory that moves may
 * use it, too. Where managed memory does not fit at once, its pages move back and forth for
 * seconds, so it is left out unless it is asked for. The results of the first and the last run are
 * compared with a reference that the host has computed.
 *
 * haul_bench_places_profile is the same program, built with HAUL_COUNT_USES. It runs each workload
 * once and writes how many bytes of each array the kernels have used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "places.h"

enum { SKIPPED = 77, RUNS_MAX = 32 };

typedef struct command {
    const char *workload, *way, *profile, *image;
    unsigned scale, side, cubes, runs, threads;
    unsigned room; /* MiB */
    uint64_t seed;
    double factors[16];
    unsigned factor_count;
} command;

size_t places_bytes(const places_workload *it)
{
    size_t bytes = 0;
    unsigned i;
    for (i = 0; i < it->count; i++)
        bytes += (size_t)it->arrays[i].bytes;
    return bytes;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *times, unsigned count)
{
    qsort(times, count, sizeof *times, compare);
    return times[count / 2];
}

static void print_row(const places_workload *it, double factor, const char *way, double load,
                      double first, double other, const places_run *run, int is_right)
{
    printf("%s,%.2f,%s,%.1f,%.2f,%.2f,%.0f,%.0f,%.0f,%s\n", it->name, factor, way, load, first,
           other, (double)run->device_bytes / 1e6, (double)run->host_bytes / 1e6,
           (double)run->moving_bytes / 1e6, is_right ? "right" : "WRONG");
    fflush(stdout);
}

/* Leaves so many bytes of the GPU's memory; NULL: there are no more anyway. */
static void *take_the_rest(size_t left)
{
    const size_t available = cuda_free_bytes();
    return available > left ? cuda_device(available - left) : NULL;
}

static int try_way(const places_workload *it, const places_way *way, double factor, size_t budget,
                   const command *c, void *result)
{
    double times[RUNS_MAX], load, first = 0;
    void *ballast = way->is_unbound ? NULL : take_the_rest(budget + ((size_t)c->room << 20));
    places_run run;
    int is_right = 1, fits;
    unsigned i;
    if (way->moves_at_will && !c->way && places_bytes(it) > cuda_free_bytes()) {
        printf("# %s,%.2f,%s: left out, it does not fit\n", it->name, factor, way->name);
        if (ballast)
            cuda_drop(ballast);
        return 1;
    }
    memset(&run, 0, sizeof run);
    run.it = it;
    run.budget = budget;
    load = bench_milliseconds();
    fits = way->open(&run);
    cuda_wait();
    load = bench_milliseconds() - load;
    for (i = 0; fits && i < c->runs; i++) {
        const double start = bench_milliseconds();
        it->run(it, run.table);
        cuda_wait();
        times[i] = bench_milliseconds() - start;
        first = i == 0 ? times[0] : first;
        if (i > 0 && i + 1 < c->runs)
            continue;
        way->fetch(&run, result);
        is_right &= it->is_right(it, result);
    }
    if (fits) {
        print_row(it, factor, way->name, load, first, median(times, c->runs), &run, is_right);
        way->close(&run);
    } else {
        printf("# %s,%.2f,%s: not within the budget\n", it->name, factor, way->name);
    }
    if (ballast)
        cuda_drop(ballast);
    return is_right;
}

static int try_chunks(const places_workload *it, double factor, size_t budget, const command *c,
                      void *result)
{
    double times[RUNS_MAX], first = 0;
    int is_right = 1;
    places_run run;
    unsigned i;
    memset(&run, 0, sizeof run);
    run.device_bytes = budget;
    run.host_bytes = places_bytes(it);
    for (i = 0; i < c->runs; i++) {
        times[i] = it->chunked(it, budget, result);
        if (times[i] < 0) {
            printf("# %s,%.2f,chunks: not within the budget\n", it->name, factor);
            return 1;
        }
        first = i == 0 ? times[0] : first;
        is_right &= it->is_right(it, result);
    }
    print_row(it, factor, "chunks", 0, first, median(times, c->runs), &run, is_right);
    return is_right;
}

static int is_wanted(const char *way, const command *c)
{
    return !c->way || strcmp(c->way, way) == 0;
}

/* In a build that counts uses: one run in device memory, whose uses are written. */
static int profile_workload(places_workload *it, const command *c)
{
    uint64_t before[PLACES_COUNTERS], after[PLACES_COUNTERS];
    places_run run;
    double start;
    unsigned i;
    memset(&run, 0, sizeof run);
    run.it = it;
    if (!places_count_uses(before) || !places_ways[0].open(&run))
        return 0;
    start = bench_milliseconds();
    it->run(it, run.table);
    cuda_wait();
    start = bench_milliseconds() - start;
    places_count_uses(after);
    for (i = 0; i < it->count; i++)
        it->uses[i] = after[i] - before[i];
    places_write_profile(it, c->profile);
    printf("# %s: a profile in %.1f ms\n", it->name, start);
    places_ways[0].close(&run);
    return 1;
}

static int measure_workload(places_workload *it, const command *c)
{
    const size_t bytes = places_bytes(it);
    void *result = bench_map((size_t)it->arrays[it->result].bytes);
    int is_right = 1;
    unsigned f, w;
    if (c->profile)
        places_read_profile(it, c->profile);
    printf("# %s: %.0f MB, seed %llu\n", it->name, (double)bytes / 1e6,
           (unsigned long long)c->seed);
    for (f = 0; f < c->factor_count; f++) {
        const double factor = c->factors[f];
        const size_t budget = (size_t)((double)bytes / factor);
        for (w = 0; w < places_way_count; w++)
            if (is_wanted(places_ways[w].name, c) && (f == 0 || !places_ways[w].is_unbound) &&
                (it->has_profile || !places_ways[w].needs_profile))
                is_right &= try_way(it, &places_ways[w], factor, budget, c, result);
        if (is_wanted("chunks", c))
            is_right &= try_chunks(it, factor, budget, c, result);
    }
    bench_unmap(result, (size_t)it->arrays[it->result].bytes);
    return is_right;
}

static int is_chosen(const command *c, const char *workload)
{
    return !c->workload || strcmp(c->workload, workload) == 0;
}

static int measure_all(const command *c)
{
    static places_workload it; /* Haul's graph begins with its table of arrays */
    char card[256];
    uint64_t uses[PLACES_COUNTERS];
    int (*const work)(places_workload *, const command *) =
        places_count_uses(uses) ? profile_workload : measure_workload;
    int is_right = 1;
    cuda_describe(card, sizeof card);
    printf("# %s\n# %u runs; milliseconds and megabytes; %u MiB besides the budget\n", card,
           c->runs, c->room);
    printf("workload,factor,way,load,first,median,device,host,moving,result\n");
    places_haul_open();
    if (is_chosen(c, "bfs")) {
        bfs_make(&it, c->scale, c->threads, c->seed);
        is_right &= work(&it, c);
        bfs_free(&it);
    }
    if (is_chosen(c, "srad")) {
        srad_make(&it, c->image, c->side, c->seed);
        is_right &= work(&it, c);
        srad_free(&it);
    }
    if (is_chosen(c, "cfd")) {
        cfd_make(&it, c->cubes, c->seed);
        is_right &= work(&it, c);
        cfd_free(&it);
    }
    places_haul_close();
    return is_right;
}

static int usage(void)
{
    fprintf(stderr, "usage: haul_bench_places [--workload bfs|srad|cfd] [--way WAY] "
                    "[--profile PREFIX] [--scale N] [--side N | --image PGM] [--cubes N] "
                    "[--runs N] [--seed N] [--threads N] [--room N] [--factor F]... [--quick]\n"
                    "  --profile P  what haul_bench_places_profile writes, and haul_by_profile "
                    "reads: P-bfs, P-srad, P-cfd\n"
                    "  --scale N    bfs: 2^N vertices, 2^(N+5) targets (23)\n"
                    "  --side N     srad: an image of N x N (8192)\n"
                    "  --image PGM  srad: a grey image, in place of noise\n"
                    "  --cubes N    cfd: N^3 cubes, 6 elements each (128)\n"
                    "  --threads N  draw the graph of bfs (all processors)\n"
                    "  --room N     MiB that the GPU has besides the budget (256)\n"
                    "  --factor F   the graph has F times the budget (0.5 1 1.5 2 3 4)\n"
                    "  --quick      small graphs, 2 runs\n");
    return 2;
}

/* Takes one option and its value, if it has one; 0 when it is not understood. */
static int take_option(command *c, char ***argument)
{
    const char *name = *(*argument)++, *value = **argument;
    if (strcmp(name, "--quick") == 0) {
        c->scale = 16;
        c->side = 512;
        c->cubes = 16;
        c->runs = 2;
        return 1;
    }
    if (!value)
        return 0;
    ++*argument;
    if (strcmp(name, "--workload") == 0)
        return (c->workload = value) != NULL;
    if (strcmp(name, "--way") == 0)
        return (c->way = value) != NULL;
    if (strcmp(name, "--profile") == 0)
        return (c->profile = value) != NULL;
    if (strcmp(name, "--scale") == 0)
        return (c->scale = (unsigned)atoi(value)) >= 8 && c->scale <= 30;
    if (strcmp(name, "--side") == 0)
        return (c->side = (unsigned)atoi(value)) >= 256;
    if (strcmp(name, "--image") == 0)
        return (c->image = value) != NULL;
    if (strcmp(name, "--threads") == 0)
        return (c->threads = (unsigned)atoi(value)) > 0 && c->threads <= 1024;
    if (strcmp(name, "--room") == 0)
        return (c->room = (unsigned)atoi(value)) >= 256;
    if (strcmp(name, "--cubes") == 0)
        return (c->cubes = (unsigned)atoi(value)) >= 8 && c->cubes <= 512;
    if (strcmp(name, "--runs") == 0)
        return (c->runs = (unsigned)atoi(value)) > 0 && c->runs <= RUNS_MAX;
    if (strcmp(name, "--seed") == 0)
        return (c->seed = strtoull(value, NULL, 10)) != 0;
    if (strcmp(name, "--factor") == 0 && c->factor_count < 16)
        return (c->factors[c->factor_count++] = atof(value)) > 0;
    return 0;
}

int main(int argument_count, char **arguments)
{
    static const double usual[] = { 0.5, 1, 1.5, 2, 3, 4 };
    command c = { NULL, NULL, NULL, NULL, 23, 8192, 128, 5, 1, 256, 1, { 0 }, 0 };
    uint64_t uses[PLACES_COUNTERS];
    char **argument = arguments + (argument_count > 0);
    c.threads = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    while (*argument)
        if (!take_option(&c, &argument))
            return usage();
    if (!c.factor_count) {
        memcpy(c.factors, usual, sizeof usual);
        c.factor_count = sizeof usual / sizeof *usual;
    }
    if (!cuda_present()) {
        printf("skipped: no GPU\n");
        return SKIPPED;
    }
    if (places_count_uses(uses) && !c.profile)
        return usage();
    return measure_all(&c) ? 0 : 1;
}
