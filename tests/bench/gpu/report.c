/* Samples in, medians out: CSV, and a table for people.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "gpu.h"

enum { SERIES_MAX = 640 };

typedef struct series {
    const char *technique, *phase;
    gpu_ratio ratio;
    double *sample, median;
    int count, room;
} series;

static struct {
    FILE *csv, *table;
    const gpu_workload *it;
    const char *technique;
    int count;
    series all[SERIES_MAX];
} report;

void gpu_die(const char *what, const char *why)
{
    fprintf(stderr, "haul_bench_gpu: %s: %s\n", what, why);
    exit(1);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Samples
 */
void gpu_report_technique(const char *name)
{
    report.technique = name;
}

static series *find(const char *technique, const char *phase)
{
    int i;
    for (i = 0; i < report.count; i++)
        if (strcmp(report.all[i].technique, technique) == 0 && strcmp(report.all[i].phase, phase) == 0)
            return &report.all[i];
    return NULL;
}

static series *find_or_make(const char *technique, const char *phase)
{
    series *one = find(technique, phase);
    if (one)
        return one;
    if (report.count == SERIES_MAX)
        gpu_die("report", "too many series");
    one = &report.all[report.count++];
    memset(one, 0, sizeof(*one));
    one->technique = technique;
    one->phase = phase;
    return one;
}

void gpu_sample(const char *phase, double milliseconds, gpu_ratio ratio)
{
    series *one;
    if (!report.technique)
        return;
    one = find_or_make(report.technique, phase);
    one->ratio = ratio;
    if (one->count == one->room) {
        one->room = one->room ? 2 * one->room : 16;
        one->sample = realloc(one->sample, (size_t)one->room * sizeof(double));
        if (!one->sample)
            gpu_die("report", "out of memory");
    }
    one->sample[one->count++] = milliseconds;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const series *one)
{
    int half = one->count / 2;
    qsort(one->sample, (size_t)one->count, sizeof(double), by_size);
    return one->count % 2 ? one->sample[half] : (one->sample[half - 1] + one->sample[half]) / 2;
}

static double median_of(const char *technique, const char *phase)
{
    const series *one = find(technique, phase);
    return one ? one->median : 0;
}

static double limit_of(gpu_ratio ratio)
{
    static const char *const phase[3] = { "to", "from", "total" };
    return ratio <= GPU_RATIO_TOTAL ? median_of("raw_pinned", phase[ratio]) : 0;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Heads
 */
static void print_processor(FILE *out)
{
    char line[256], *colon;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "model name", 10) == 0 && (colon = strchr(line, ':')) != NULL) {
            fprintf(out, "# processor:%s", colon + 1);
            break;
        }
    if (file)
        fclose(file);
    fprintf(out, "# cores: %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
}

static void print_driver(FILE *out)
{
    char line[256];
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file && fgets(line, sizeof(line), file))
        fprintf(out, "# driver: %s", line);
    if (file)
        fclose(file);
}

static void print_compiler(FILE *out)
{
#if defined(__clang__)
    fprintf(out, "# compiler: clang %s\n", __clang_version__);
#elif defined(__GNUC__)
    fprintf(out, "# compiler: gcc %s\n", __VERSION__);
#else
    fprintf(out, "# compiler: unknown\n");
#endif
}

static void print_head(FILE *out, int runs)
{
    struct utsname system;
    char text[256], date[32];
    time_t now = time(NULL);
    strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
    gpu_describe(text, sizeof(text));
    fprintf(out, "# haul_bench_gpu: medians of up to %d interleaved rounds, %s\n# card: %s\n", runs, date, text);
    print_driver(out);
    if (uname(&system) >= 0)
        fprintf(out, "# system: %s %s %s\n", system.sysname, system.release, system.machine);
    print_processor(out);
    print_compiler(out);
    fprintf(out, "# ratio: median against the same phase of raw_pinned, one copy of the graph's bytes; 0: no ratio\n");
    fprintf(out, "workload,technique,phase,median_ms,ratio\n");
    fflush(out);
}

void gpu_report_open(const char *csv_path, int runs)
{
    report.csv = csv_path ? fopen(csv_path, "w") : stdout;
    report.table = csv_path ? stdout : stderr;
    if (!report.csv)
        gpu_die(csv_path, "cannot be written");
    print_head(report.csv, runs);
}

void gpu_report_close(void)
{
    if (report.csv != stdout && fclose(report.csv) != 0)
        gpu_die("report", "cannot be written");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Rows
 */
void gpu_report_begin(const gpu_workload *it)
{
    report.it = it;
    report.count = 0;
    report.technique = NULL;
}

void gpu_report_left_out(const char *technique, const char *why)
{
    fprintf(report.csv, "# %s: without %s: %s\n", report.it->name, technique, why);
    fprintf(report.table, "%s: without %s: %s\n", report.it->name, technique, why);
}

static void print_csv(const series *one)
{
    const gpu_workload *it = report.it;
    double limit = limit_of(one->ratio);
    if (one->ratio == GPU_RATIO_VALUE)
        fprintf(report.csv, "%s,%s,%s,%.0f,0\n", it->name, one->technique, one->phase, one->median);
    else
        fprintf(report.csv, "%s,%s,%s,%.5f,%.3f\n", it->name, one->technique, one->phase, one->median,
                limit > 0 ? one->median / limit : 0);
}

static void print_row(const char *technique)
{
    double to = median_of(technique, "to"), from = median_of(technique, "from");
    if (!find(technique, "to"))
        return;
    fprintf(report.table, "  %-18s %11.4f %8.2f %11.4f %11.4f %8.2f %10.0f %10.0f %10.0f %10.2f\n", technique, to,
            to / limit_of(GPU_RATIO_TO), median_of(technique, "kernel"), from, from / limit_of(GPU_RATIO_FROM),
            median_of(technique, "transfers_to"), median_of(technique, "transfers_from"),
            median_of(technique, "calls_to"), median_of(technique, "bytes_to") / 1e6);
}

static void print_table(void)
{
    const gpu_workload *it = report.it;
    size_t i;
    fprintf(report.table, "\n%s: %zu objects, %zu pointers, %.3f MB\n", it->name, it->objects, it->pointers,
            (double)it->graph_bytes / 1e6);
    fprintf(report.table, "  %-18s %11s %8s %11s %11s %8s %10s %10s %10s %10s\n", "technique", "to ms", "x raw",
            "kernel ms", "from ms", "x raw", "copies to", "back", "calls to", "MB to");
    for (i = 0; i < gpu_copier_count; i++)
        print_row(gpu_copiers[i].name);
    for (i = 0; i < gpu_haul_way_count; i++)
        print_row(gpu_haul_ways[i].name);
    fflush(report.table);
}

void gpu_report_end(void)
{
    const gpu_workload *it = report.it;
    int i;
    for (i = 0; i < report.count; i++)
        report.all[i].median = median(&report.all[i]);
    fprintf(report.csv, "%s,graph,objects,%zu,0\n%s,graph,pointers,%zu,0\n%s,graph,bytes,%zu,0\n", it->name,
            it->objects, it->name, it->pointers, it->name, it->graph_bytes);
    for (i = 0; i < report.count; i++)
        print_csv(&report.all[i]);
    fflush(report.csv);
    print_table();
    for (i = 0; i < report.count; i++)
        free(report.all[i].sample);
}
