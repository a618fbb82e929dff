/* Samples in, medians out: CSV on standard output, a table for people on standard error.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bench.h"

enum { SERIES_MAX = 32 };

typedef struct series {
    const char *technique, *phase;
    double *sample;
    int count;
    int is_value; /* a number, not a time */
} series;

static struct {
    const char *workload;
    int room, table_only;
    int count;
    series all[SERIES_MAX];
} report;

/* ------------------------------------------------------------------------------------------------------------------
 * Samples
 */
static series *series_of(const char *technique, const char *phase)
{
    series *one;
    int i;
    for (i = 0; i < report.count; i++)
        if (strcmp(report.all[i].technique, technique) == 0 && strcmp(report.all[i].phase, phase) == 0)
            return &report.all[i];
    if (report.count == SERIES_MAX)
        bench_die("too many series", NULL);
    one = &report.all[report.count++];
    memset(one, 0, sizeof(*one));
    one->technique = technique;
    one->phase = phase;
    one->sample = bench_allocate((size_t)report.room * sizeof(double));
    return one;
}

void report_sample(const char *technique, const char *phase, double milliseconds)
{
    series *one = series_of(technique, phase);
    if (one->count < report.room)
        one->sample[one->count++] = milliseconds;
}

void report_value(const char *technique, const char *phase, double value)
{
    report_sample(technique, phase, value);
    series_of(technique, phase)->is_value = 1;
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

void report_open(int runs, double scale, int table_only)
{
    struct utsname system;
    report.table_only = table_only;
    if (table_only)
        return;
    printf("# haul_bench: medians of %d interleaved rounds, scale %g %%, %d-bit pointers\n", runs, 100 * scale,
           (int)(8 * sizeof(void *)));
    if (uname(&system) >= 0)
        printf("# system: %s %s %s\n", system.sysname, system.release, system.machine);
    print_processor(stdout);
    print_compiler(stdout);
    printf("# ratio: median against one memcpy of the graph's bytes in this run; 0 where the number is no time\n");
    printf("workload,technique,phase,median_ms,ratio\n");
    fflush(stdout);
}

void report_begin(const char *workload_name, int runs)
{
    report.workload = workload_name;
    report.room = 2 * runs;
    report.count = 0;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Rows
 */
static void print_csv(const series *one, double ms, double limit)
{
    if (one->is_value)
        printf("%s,%s,%s,%.3f,0\n", report.workload, one->technique, one->phase, ms);
    else
        printf("%s,%s,%s,%.4f,%.3f\n", report.workload, one->technique, one->phase, ms, ms / limit);
}

static void print_row(FILE *out, const series *one, double ms, double limit, double hash)
{
    if (one->is_value)
        fprintf(out, "  %-14s %-20s %14.2f\n", one->technique, one->phase, ms);
    else if (hash > 0)
        fprintf(out, "  %-14s %-20s %14.3f %9.2f %9.2f\n", one->technique, one->phase, ms, ms / limit, ms / hash);
    else
        fprintf(out, "  %-18s %-16s %14.3f %9.2f\n", one->technique, one->phase, ms, ms / limit);
}

static int has_series(const char *technique)
{
    int i;
    for (i = 0; i < report.count; i++)
        if (strcmp(report.all[i].technique, technique) == 0)
            return 1;
    return 0;
}

void report_end(void)
{
    FILE *out = report.table_only ? stdout : stderr;
    double limit = median(series_of("memcpy", "total")), hash = has_series("hash") ? median(series_of("hash", "total")) : 0;
    int i;
    fprintf(out, "\n%s\n  %-14s %-20s %14s %9s %9s\n", report.workload, "technique", "phase", "median ms", "x memcpy",
            "x hash");
    for (i = 0; i < report.count; i++) {
        double ms = median(&report.all[i]);
        if (!report.table_only)
            print_csv(&report.all[i], ms, limit);
        print_row(out, &report.all[i], ms, limit, hash);
        free(report.all[i].sample);
    }
    fflush(stdout);
}
