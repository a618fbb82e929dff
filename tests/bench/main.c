/* haul_bench: how long Haul takes to pack graphs, beside packers written by hand and beside one
 * memcpy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct options {
    int runs, big, table_only;
    double scale;
    const char *only;
} options;

static void usage(void)
{
    size_t i;
    fprintf(stderr,
            "usage: haul_bench [--runs N] [--only WORKLOAD] [--scale PERCENT] [--big] [--table]\n"
            "  --runs N         rounds, of which the median counts (7)\n"
            "  --only WORKLOAD  this one, big or not\n"
            "  --scale PERCENT  smaller or larger graphs, 0.001 to 1000 (100)\n"
            "  --big            the workloads marked * too: they need some 6 GB of memory\n"
            "  --table          no CSV, and the table on standard output\n"
            "workloads:");
    for (i = 0; i < workload_maker_count; i++)
        fprintf(stderr, " %s%s", workload_makers[i].name, workload_makers[i].big ? "*" : "");
    fprintf(stderr, " sizes mixed rules ordered images discovery replan environment allocate_64\n");
}

static int is_workload(const char *name)
{
    size_t i;
    for (i = 0; i < workload_maker_count; i++)
        if (strcmp(workload_makers[i].name, name) == 0)
            return 1;
    return strcmp(name, "sizes") == 0 || strcmp(name, "mixed") == 0 || strcmp(name, "rules") == 0 ||
           strcmp(name, "ordered") == 0 || strcmp(name, "images") == 0 ||
           strcmp(name, "discovery") == 0 || strcmp(name, "replan") == 0 ||
           strcmp(name, "environment") == 0 || strcmp(name, "allocate_64") == 0;
}

/* Takes one option and its value, if it has one; 0 when it is not understood. */
static int take_option(options *chosen, char ***argument)
{
    const char *name = *(*argument)++, *value = **argument;
    if (strcmp(name, "--big") == 0)
        return chosen->big = 1;
    if (strcmp(name, "--table") == 0)
        return chosen->table_only = 1;
    if (!value)
        return 0;
    ++*argument;
    if (strcmp(name, "--runs") == 0)
        return (chosen->runs = atoi(value)) > 0 && chosen->runs <= 10000;
    if (strcmp(name, "--scale") == 0)
        return (chosen->scale = atof(value) / 100) >= 1e-5 && chosen->scale <= 10;
    if (strcmp(name, "--only") == 0)
        return is_workload(chosen->only = value);
    return 0;
}

static int is_chosen(const options *chosen, const char *name, int big)
{
    return chosen->only ? strcmp(chosen->only, name) == 0 : chosen->big || !big;
}

static void open_report(const options *chosen)
{
    if (!chosen->table_only)
        printf("# haul_bench: medians of %d interleaved rounds, scale %g %%, %d-bit pointers\n",
               chosen->runs, 100 * chosen->scale, (int)(8 * sizeof(void *)));
    report_open(chosen->table_only ? NULL : stdout, chosen->table_only ? stdout : stderr, "memcpy",
                table_print);
}

int main(int argument_count, char **arguments)
{
    options chosen = { 7, 0, 0, 1.0, NULL };
    char **argument = arguments + (argument_count > 0);
    size_t i;
    while (*argument)
        if (!take_option(&chosen, &argument)) {
            usage();
            return 2;
        }
    open_report(&chosen);
    for (i = 0; i < workload_maker_count; i++) {
        workload it;
        if (!is_chosen(&chosen, workload_makers[i].name, workload_makers[i].big))
            continue;
        workload_make(&it, &workload_makers[i], chosen.scale);
        measure(&it, chosen.runs);
        workload_free(&it);
    }
    workload_free_types();
    if (is_chosen(&chosen, "sizes", 0))
        measure_sizes(chosen.runs, chosen.scale);
    if (is_chosen(&chosen, "mixed", 0))
        measure_mixed(chosen.runs, chosen.scale);
    if (is_chosen(&chosen, "rules", 0))
        measure_rules(chosen.runs, chosen.scale);
    if (is_chosen(&chosen, "ordered", 0))
        measure_ordered(chosen.runs, chosen.scale);
    if (is_chosen(&chosen, "images", 0))
        measure_images(chosen.runs, chosen.scale);
    if (is_chosen(&chosen, "discovery", 0))
        measure_discovery(chosen.runs, chosen.scale);
    if (is_chosen(&chosen, "replan", 0))
        measure_replan(chosen.runs, chosen.scale);
    if (is_chosen(&chosen, "environment", 0))
        measure_environments(chosen.runs, chosen.scale);
    if (is_chosen(&chosen, "allocate_64", 0))
        measure_arena(chosen.runs, chosen.scale);
    return 0;
}
