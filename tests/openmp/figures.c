/* The figures of environments, beside OpenMP's own directives and calls in the same run.
 *
 *     figures host|gpu [ROUNDS [PERCENT [OBJECTS]]]
 *
 * CSV as haul_bench has it on standard output; on standard error tables, and at the end of each the
 * figures that are wanted, with `yes` or `NO`. ROUNDS: 5. PERCENT: of a million nodes and of 128
 * MiB; 100. OBJECTS: that are associated; 100000.
 *
 * tests/bench/environments.h has what is measured. With gcc the run time's look-up is
 * acc_deviceptr, which reads the table that OpenMP writes: one call. Elsewhere it is a region with
 * use_device_ptr. Exits with 77 if Haul has no such device. Without a device of OpenMP the run time
 * is left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul.h>
#include <haul/cuda.h>
#include <haul/openmp.h>
#ifdef FIGURES_OPENACC
#include <openacc.h>
#endif
#ifdef FIGURES_CUDA
#include <cuda_runtime_api.h>
#endif

#include "associations.h"
#include "bench/environments.h"

static int target;
static haul_context *context;
static haul_device *device;

/* ---- The run time. */

static int watch(haul_environment *e, int on)
{
    haul_status status;
    if (on)
        return haul_openmp_watch(e, target) == HAUL_OK;
    status = haul_environment_watch(e, NULL, NULL, NULL);
    return haul_environment_set_finder(e, NULL, NULL) == HAUL_OK && status == HAUL_OK;
}

static void *device_pointer(void *host)
{
#ifdef FIGURES_OPENACC
    return acc_deviceptr(host);
#else
    return haul_openmp_copy_of(host, target);
#endif
}

static void enter(void *host, size_t bytes)
{
    char *at = host;
#pragma omp target enter data map(to : at [0:bytes]) device(target)
    (void)at;
}

static void leave(void *host, size_t bytes)
{
    char *at = host;
#pragma omp target exit data map(release : at [0:bytes]) device(target)
    (void)at;
}

static void update(void *host, size_t bytes, haul_direction direction)
{
    char *at = host;
    if (direction == HAUL_TO_DEVICE) {
#pragma omp target update to(at [0:bytes]) device(target)
    } else {
#pragma omp target update from(at [0:bytes]) device(target)
    }
    (void)at;
}

static const environment_rival openmp = { watch, device_pointer, enter, leave, update };

/* ---- Devices. */

#ifdef FIGURES_CUDA
static haul_status open_gpu(haul_context *in, haul_device **opened)
{
    return haul_cuda_open(in, NULL, opened);
}

static void must_copy(cudaError_t error)
{
    if (error != cudaSuccess)
        bench_die(cudaGetErrorString(error), NULL);
}

static double copy_on_gpu(size_t bytes, haul_direction direction)
{
    const int is_to = direction == HAUL_TO_DEVICE;
    void *host, *there;
    double started = 0;
    int turn;
    must_copy(cudaMallocHost(&host, bytes));
    must_copy(cudaMalloc(&there, bytes));
    memset(host, 1, bytes);
    for (turn = 0; turn < 3; turn++) {
        started = bench_milliseconds();
        must_copy(cudaMemcpyAsync(is_to ? there : host, is_to ? host : there, bytes,
                                  is_to ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, NULL));
        must_copy(cudaStreamSynchronize(NULL));
        started = bench_milliseconds() - started;
    }
    must_copy(cudaFree(there));
    must_copy(cudaFreeHost(host));
    return started;
}
#endif

static haul_status open_host(haul_context *in, haul_device **opened)
{
    return haul_host_open(in, NULL, opened);
}

/* A device of OpenMP, or -1. OpenACC comes first: libgomp ends the program if OpenMP has begun to
 * use the device before. */
static int begin_run_time(void)
{
#ifdef FIGURES_OPENACC
    if (acc_get_num_devices(acc_device_nvidia) < 1)
        return -1;
    acc_init(acc_device_nvidia);
#endif
    target = omp_get_default_device();
    return haul_openmp_has(target) ? target : -1;
}

/* ---- The table. */

typedef struct figure {
    const char *what, *technique, *phase;
    double wanted;           /* at most; 0: nobody asks */
    const char *of_run_time; /* its phase; NULL: there is none */
} figure;

static const figure figures[] = {
    { "look-up, in cache, ns", "look_up", "in_cache_ns", 5, "run_time_in_cache_ns" },
    { "the same, none waits for another", "look_up", "in_cache_independent_ns", 5, NULL },
    { "look-up, random, ns", "look_up", "random_ns", 15, "run_time_random_ns" },
    { "the same, none waits for another", "look_up", "random_independent_ns", 15, NULL },
    { "look-up, uneven, random, ns", "look_up_uneven", "random_ns", 15, NULL },
    { "the same, none waits for another", "look_up_uneven", "random_independent_ns", 15, NULL },
    { "enter and exit of a present graph, ns", "enter_and_exit", "present_ns", 1000,
      "run_time_block_ns" },
    { "half present, times first ship", "half_present", "times_ship", 1.3, NULL },
    { "half present, us", "half_present", "enter_us", 0, "run_time_blocks_us" },
    { "member, there, times raw", "member", "to_times_raw", 3, NULL },
    { "member, back, times raw", "member", "from_times_raw", 3, NULL },
    { "member, threads, there, times raw", "member_threads", "to_times_raw", 3, NULL },
    { "member, threads, back, times raw", "member_threads", "from_times_raw", 3, NULL },
    { "member, awake threads, there, times raw", "member_threads_awake", "to_times_raw", 3, NULL },
    { "member, awake threads, back, times raw", "member_threads_awake", "from_times_raw", 3, NULL },
    { "one object, there, us", "object", "to_us", 10, "run_time_to_us" },
    { "one object, back, us", "object", "from_us", 10, "run_time_from_us" },
    { "sync, times refresh", "sync", "times_refresh", 0.1, NULL },
    { "sync, tracked", "sync_tracked", "times_refresh", 0.1, NULL },
    { "sync, threads that sleep", "sync_threads", "times_refresh", 0.1, NULL },
    { "sync, threads that sleep, tracked", "sync_tracked_threads", "times_refresh", 0.1, NULL },
    { "sync, awake threads", "sync_threads_awake", "times_refresh", 0.1, NULL },
    { "sync, awake threads, tracked", "sync_tracked_threads_awake", "times_refresh", 0.1, NULL },
    { "16 callers, an enter, ns", "callers", "enter_ns", 1000, NULL },
    { "16 callers, an exit, ns", "callers", "exit_ns", 1000, NULL },
    { "16 callers, enter and exit, ns", "callers", "enter_and_exit_ns", 2000,
      "run_time_enter_and_exit_ns" },
    { "association, times own calls", "association", "haul_times_own", 1.5, NULL },
    { "association, us", "association", "haul_us", 0, "run_time_us" },
};

static int is_measured(const char *technique, const char *phase)
{
    const report_series *one;
    int i;
    for (i = 0; phase && (one = report_at(i)) != NULL; i++)
        if (strcmp(one->technique, technique) == 0 && strcmp(one->phase, phase) == 0)
            return 1;
    return 0;
}

static void print(FILE *out, const char *workload)
{
    size_t i;
    table_print(out, workload);
    fprintf(out, "\n  %-42s %10s %10s %10s\n", "", "wanted", "Haul", "run time");
    for (i = 0; i < sizeof figures / sizeof *figures; i++) {
        const figure *one = &figures[i];
        const double found = report_median(one->technique, one->phase);
        if (!is_measured(one->technique, one->phase))
            continue;
        fprintf(out, "  %-42s %10.4g %10.4g", one->what, one->wanted, found);
        if (is_measured(one->technique, one->of_run_time))
            fprintf(out, " %10.4g", report_median(one->technique, one->of_run_time));
        else
            fprintf(out, " %10s", "");
        fprintf(out, "  %s\n", one->wanted == 0 ? "" : found <= one->wanted ? "yes" : "NO");
    }
}

/* ---- Associations. */

/* A list of half as many nodes has so many objects. */
static void report_associations(size_t objects)
{
    associations found;
    measure_associations(device, target, 10, &found); /* the first use; not a figure */
    measure_associations(device, target, objects / 2, &found);
    report_begin("environment");
    report_value("association", "objects", (double)found.count);
    report_value("association", "haul_us", found.there[ASSOCIATION_HAUL]);
    report_value("association", "haul_end_us", found.back[ASSOCIATION_HAUL]);
    report_value("association", "watch_us", found.there[ASSOCIATION_WATCH]);
    report_value("association", "watch_end_us", found.back[ASSOCIATION_WATCH]);
    report_value("association", "run_time_us", found.there[ASSOCIATION_OWN]);
    report_value("association", "run_time_end_us", found.back[ASSOCIATION_OWN]);
    report_value("association", "haul_times_own",
                 found.there[ASSOCIATION_HAUL] / found.there[ASSOCIATION_OWN]);
    report_value("association", "watch_times_own",
                 found.there[ASSOCIATION_WATCH] / found.there[ASSOCIATION_OWN]);
    report_value("association", "ship_us", found.ship);
    report_value("association", "arena_us", found.arena);
    report_end();
}

/* ---- All. */

/* 0: Haul has no such device. */
static int choose(const char *name, environment_setting *setting)
{
    haul_status status = HAUL_ERROR_UNSUPPORTED;
    haul_context *probe = NULL;
    haul_device *opened = NULL;
    setting->open = open_host;
    setting->raw_copy = measure_copy_on_host;
    if (strcmp(name, "host") == 0)
        return 1;
#ifdef FIGURES_CUDA
    setting->open = open_gpu;
    setting->raw_copy = copy_on_gpu;
    status = haul_context_create(NULL, &probe);
    if (status == HAUL_OK)
        status = open_gpu(probe, &opened);
#endif
    haul_device_close(&opened);
    haul_context_free(&probe);
    return status == HAUL_OK;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 2 ? atoi(argv[2]) : 5;
    const double percent = argc > 3 ? atof(argv[3]) : 100;
    const size_t objects = argc > 4 ? (size_t)atol(argv[4]) : 100000;
    environment_setting setting;
    if (argc < 2 || rounds < 1 || percent <= 0 || objects < 2 ||
        (strcmp(argv[1], "gpu") != 0 && strcmp(argv[1], "host") != 0)) {
        fprintf(stderr, "usage: figures host|gpu [ROUNDS [PERCENT [OBJECTS]]]\n");
        return 2;
    }
    memset(&setting, 0, sizeof setting);
    if (!choose(argv[1], &setting)) {
        printf("skipped: there is no GPU\n");
        return 77;
    }
    if (haul_context_create(NULL, &context) != HAUL_OK || setting.open(context, &device) != HAUL_OK)
        bench_die("no device", NULL);
    setting.rival = begin_run_time() < 0 ? NULL : &openmp;
    printf("# figures %s: medians of %d rounds, %g %%\n", argv[1], rounds, percent);
    report_open(stdout, stderr, "memcpy", print);
    if (setting.rival)
        report_associations(objects);
    else
        printf("# SKIPPED the run time's own calls: it has no device\n");
    measure_environments_on(&setting, rounds, percent / 100);
    haul_device_close(&device);
    haul_context_free(&context);
    return 0;
}
