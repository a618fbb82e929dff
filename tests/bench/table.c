/* The table for people: a row for each series, beside memcpy and beside the hash packer.
 */
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

void table_print(FILE *out, const char *workload)
{
    double hash = report_median("hash", "total");
    const report_series *one;
    int i;
    fprintf(out, "\n%s\n  %-18s %-20s %14s %9s %9s\n", workload, "technique", "phase", "median ms", "x memcpy",
            hash > 0 ? "x hash" : "");
    for (i = 0; (one = report_at(i)) != NULL; i++)
        print_row(out, one, hash);
}
