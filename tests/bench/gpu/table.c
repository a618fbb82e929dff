/* The table for people: a row for each technique. And whose samples are taken just now.
 */
#include <stdlib.h>
#include <time.h>

#include "gpu.h"

static FILE *csv;
static const char *current; /* technique */

void gpu_die(const char *what, const char *why)
{
    fprintf(stderr, "haul_bench_gpu: %s: %s\n", what, why);
    exit(1);
}

/* -------------------------------------------------------------------------------------------------
 * Samples
 */
void gpu_report_technique(const char *name)
{
    current = name;
}

void gpu_sample(const char *phase, double number, const char *against)
{
    if (current)
        report_add(current, phase, number, against);
}

/* -------------------------------------------------------------------------------------------------
 * Rows
 */
static void print_row(FILE *out, const char *technique)
{
    double to = report_median(technique, "to"), from = report_median(technique, "from");
    if (to <= 0)
        return;
    fprintf(out, "  %-18s %11.4f %8.2f %11.4f %11.4f %8.2f %10.0f %10.0f %10.0f %10.2f\n",
            technique, to, to / report_median(GPU_LIMIT, "to"), report_median(technique, "kernel"),
            from, from / report_median(GPU_LIMIT, "from"), report_median(technique, "transfers_to"),
            report_median(technique, "transfers_from"), report_median(technique, "calls_to"),
            report_median(technique, "bytes_to") / 1e6);
}

static void print_table(FILE *out, const char *workload)
{
    const gpu_technique *technique;
    size_t i;
    fprintf(out, "\n%s: %.0f objects, %.0f pointers, %.3f MB\n", workload,
            report_median("graph", "objects"), report_median("graph", "pointers"),
            report_median("graph", "bytes") / 1e6);
    fprintf(out, "  %-18s %11s %8s %11s %11s %8s %10s %10s %10s %10s\n", "technique", "to ms",
            "x raw", "kernel ms", "from ms", "x raw", "copies to", "back", "calls to", "MB to");
    for (i = 0; (technique = gpu_technique_at(i)) != NULL; i++)
        print_row(out, technique->name);
}

/* -------------------------------------------------------------------------------------------------
 * Head and end
 */
static void print_driver(FILE *out)
{
    char line[256];
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file && fgets(line, sizeof(line), file))
        fprintf(out, "# driver: %s", line);
    if (file)
        fclose(file);
}

void gpu_report_open(const char *csv_path, int runs)
{
    char text[256], date[32];
    time_t now = time(NULL);
    csv = csv_path ? fopen(csv_path, "w") : stdout;
    if (!csv)
        gpu_die(csv_path, "cannot be written");
    strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
    gpu_describe(text, sizeof(text));
    fprintf(csv, "# haul_bench_gpu: medians of up to %d interleaved rounds, %s\n# card: %s\n", runs,
            date, text);
    print_driver(csv);
    report_open(csv, csv_path ? stdout : stderr, GPU_LIMIT, print_table);
}

void gpu_report_close(void)
{
    if (csv != stdout && fclose(csv) != 0)
        gpu_die("report", "cannot be written");
}

void gpu_report_begin(const gpu_workload *it)
{
    report_begin(it->name);
    report_value("graph", "objects", (double)it->objects);
    report_value("graph", "pointers", (double)it->pointers);
    report_value("graph", "bytes", (double)it->graph_bytes);
    gpu_report_technique(NULL);
}
