/* Samples in, medians out: CSV, and each program's own table for people.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"

enum { SERIES_MAX = 640 };

static struct {
    FILE *csv, *table;
    const char *limit;
    void (*print_table)(FILE *out, const char *workload);
    const char *workload;
    int count;
    report_series all[SERIES_MAX];
} report;

/* -------------------------------------------------------------------------------------------------
 * Samples
 */
static report_series *find(const char *technique, const char *phase)
{
    int i;
    for (i = 0; i < report.count; i++)
        if (strcmp(report.all[i].technique, technique) == 0 &&
            strcmp(report.all[i].phase, phase) == 0)
            return &report.all[i];
    return NULL;
}

static report_series *find_or_make(const char *technique, const char *phase)
{
    report_series *one = find(technique, phase);
    if (one)
        return one;
    if (report.count == SERIES_MAX)
        bench_die("too many series", NULL);
    one = &report.all[report.count++];
    memset(one, 0, sizeof(*one));
    one->technique = technique;
    one->phase = phase;
    return one;
}

void report_add(const char *technique, const char *phase, double number, const char *against)
{
    report_series *one = find_or_make(technique, phase);
    one->against = against;
    if (one->count == one->room) {
        one->room = one->room ? 2 * one->room : 16;
        one->sample = realloc(one->sample, (size_t)one->room * sizeof(double));
        if (!one->sample)
            bench_die("out of memory", NULL);
    }
    one->sample[one->count++] = number;
}

void report_sample(const char *technique, const char *phase, double milliseconds)
{
    report_add(technique, phase, milliseconds, "total");
}

void report_value(const char *technique, const char *phase, double value)
{
    report_add(technique, phase, value, REPORT_VALUE);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const report_series *one)
{
    int half = one->count / 2;
    qsort(one->sample, (size_t)one->count, sizeof(double), by_size);
    return one->count % 2 ? one->sample[half] : (one->sample[half - 1] + one->sample[half]) / 2;
}

const report_series *report_at(int i)
{
    return i < report.count ? &report.all[i] : NULL;
}

double report_median(const char *technique, const char *phase)
{
    const report_series *one = find(technique, phase);
    return one ? one->median : 0;
}

double report_ratio(const report_series *one)
{
    double limit = one->against ? report_median(report.limit, one->against) : 0;
    return limit > 0 ? one->median / limit : 0;
}

/* -------------------------------------------------------------------------------------------------
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

void report_open(FILE *csv, FILE *table, const char *limit,
                 void (*print_table)(FILE *out, const char *workload))
{
    struct utsname system;
    report.csv = csv;
    report.table = table;
    report.limit = limit;
    report.print_table = print_table;
    if (!csv)
        return;
    if (uname(&system) >= 0)
        fprintf(csv, "# system: %s %s %s\n", system.sysname, system.release, system.machine);
    print_processor(csv);
    print_compiler(csv);
    fprintf(csv,
            "# ratio: median against that of %s, one copy of the graph's "
            "bytes in this run; 0: no ratio\n",
            limit);
    fprintf(csv, "workload,technique,phase,median_ms,ratio\n");
    fflush(csv);
}

/* -------------------------------------------------------------------------------------------------
 * A workload
 */
void report_begin(const char *workload)
{
    report.workload = workload;
    report.count = 0;
}

void report_left_out(const char *technique, const char *why)
{
    if (report.csv)
        fprintf(report.csv, "# %s: without %s: %s\n", report.workload, technique, why);
    fprintf(report.table, "%s: without %s: %s\n", report.workload, technique, why);
}

static void print_csv(const report_series *one)
{
    if (one->against == REPORT_VALUE)
        fprintf(report.csv, "%s,%s,%s,%.10g,0\n", report.workload, one->technique, one->phase,
                one->median);
    else
        fprintf(report.csv, "%s,%s,%s,%.5f,%.3f\n", report.workload, one->technique, one->phase,
                one->median, report_ratio(one));
}

void report_end(void)
{
    int i;
    for (i = 0; i < report.count; i++)
        report.all[i].median = median(&report.all[i]);
    for (i = 0; i < report.count && report.csv; i++)
        print_csv(&report.all[i]);
    if (report.csv)
        fflush(report.csv);
    report.print_table(report.table, report.workload);
    fflush(report.table);
    for (i = 0; i < report.count; i++)
        free(report.all[i].sample);
}
