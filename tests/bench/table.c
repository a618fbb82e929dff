/* The table for people: a row for each series, beside memcpy and beside the hash packer.
 */
#include <string.h>

#include "bench.h"

static void print_row(FILE *out, const report_series *one, double hash)
{
    fprintf(out, "  %-18s %-20s", one->technique, one->phase);
    if (one->against == REPORT_VALUE)
        fprintf(out, " %14.2f\n", one->median);
    else if (hash > 0)
        fprintf(out, " %14.3f %9.2f %9.2f\n", one->median, report_ratio(one), one->median / hash);
    else
        fprintf(out, " %14.3f %9.2f\n", one->median, report_ratio(one));
}

/* Numbers that are no times, the same phases for each technique: a line for a technique, a column
 * for a phase. */
static void print_grid(FILE *out, const char *workload)
{
    const report_series *one, *first = report_at(0), *other;
    int i, k;
    fprintf(out, "\n%-20s", workload);
    for (k = 0; (other = report_at(k)) != NULL; k++)
        if (strcmp(other->technique, first->technique) == 0)
            fprintf(out, " %20s", other->phase);
    for (i = 0; (one = report_at(i)) != NULL; i++) {
        if (strcmp(one->phase, first->phase) != 0)
            continue;
        fprintf(out, "\n  %-18s", one->technique);
        for (k = 0; (other = report_at(k)) != NULL; k++)
            if (strcmp(other->technique, first->technique) == 0)
                fprintf(out, " %20.2f", report_median(one->technique, other->phase));
    }
    fprintf(out, "\n");
}

static void print_rows(FILE *out, const char *workload)
{
    double hash = report_median("hash", "total");
    const report_series *one;
    int i;
    fprintf(out, "\n%s\n  %-18s %-20s %14s %9s %9s\n", workload, "technique", "phase", "median ms",
            "x memcpy", hash > 0 ? "x hash" : "");
    for (i = 0; (one = report_at(i)) != NULL; i++)
        print_row(out, one, hash);
}

void table_print(FILE *out, const char *workload)
{
    if (strcmp(workload, "sizes") == 0 || strcmp(workload, "mixed") == 0 ||
        strcmp(workload, "ordered") == 0 || strcmp(workload, "images") == 0 ||
        strcmp(workload, "discovery") == 0 || strcmp(workload, "serializers") == 0)
        print_grid(out, workload);
    else
        print_rows(out, workload);
}
