/* haul_bench_gpu: how long graphs of pointers take to a GPU and back, by Haul, by the techniques of
 * the literature, and by one raw copy of the same bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

enum { SKIPPED = 77 };

typedef struct command {
    gpu_options options;
    gpu_set set;
    const char *only, *csv;
    size_t huge;
    size_t run; /* workloads */
} command;

static void usage(void)
{
    fprintf(stderr,
            "usage: haul_bench_gpu [--only WORKLOAD] [--technique T,...] "
            "[--runs N] [--csv FILE] [--quick | --full]\n"
            "                      [--cell SECONDS] [--patience SECONDS] [--list]\n"
            "  --only WORKLOAD     those whose names begin so; or one "
            "that is in no set, by its whole name\n"
            "  --technique T,...   these, and the limits\n"
            "  --runs N            rounds at most, of which the median counts (31)\n"
            "  --csv FILE          CSV there and the table on standard "
            "output; else CSV on standard output\n"
            "  --quick             a smoke test: small graphs, 2 rounds\n"
            "  --full              the whole grid of Linear and Dense\n"
            "  --cell SECONDS      for one technique and workload, beyond its first runs (0.4)\n"
            "  --patience SECONDS  what would take longer for a single run is left out (12)\n"
            "  --huge NODES        a tree of so many, and nothing else; 400000000 need 32 GB\n"
            "  --list              the names of the workloads\n");
}

/* Takes one option and its value, if it has one; 0 when it is not understood. */
static int take_option(command *chosen, char ***argument)
{
    const char *name = *(*argument)++, *value = **argument;
    if (strcmp(name, "--quick") == 0) {
        chosen->options.runs = 2;
        return (chosen->set = GPU_SET_QUICK) != 0;
    }
    if (strcmp(name, "--full") == 0)
        return (chosen->set = GPU_SET_FULL) != 0;
    if (!value)
        return 0;
    ++*argument;
    if (strcmp(name, "--only") == 0)
        return (chosen->only = value) != NULL;
    if (strcmp(name, "--technique") == 0)
        return (chosen->options.techniques = value) != NULL;
    if (strcmp(name, "--csv") == 0)
        return (chosen->csv = value) != NULL;
    if (strcmp(name, "--huge") == 0)
        return (chosen->huge = strtoull(value, NULL, 10)) > 0;
    if (strcmp(name, "--runs") == 0)
        return (chosen->options.runs = atoi(value)) > 0;
    if (strcmp(name, "--cell") == 0)
        return (chosen->options.cell_seconds = atof(value)) > 0;
    if (strcmp(name, "--patience") == 0)
        return (chosen->options.patience = atof(value)) > 0;
    return 0;
}

static void print_name(const char *name, void *user)
{
    (void)user;
    printf("%s\n", name);
}

static void run_workload(command *chosen, const char *name)
{
    static gpu_workload it; /* its kinds hold addresses in it */
    if (!gpu_workload_make(&it, name))
        gpu_die(name, "no such workload");
    gpu_measure(&it, &chosen->options);
    gpu_workload_free(&it);
    chosen->run++;
}

static void run_if_chosen(const char *name, void *user)
{
    command *chosen = user;
    if (!chosen->only || strncmp(chosen->only, name, strlen(chosen->only)) == 0)
        run_workload(chosen, name);
}

static void run_all(command *chosen)
{
    gpu_report_open(chosen->csv, chosen->options.runs);
    if (chosen->huge) {
        gpu_measure_huge(chosen->huge, chosen->options.runs);
        gpu_report_close();
        return;
    }
    gpu_haul_open();
    gpu_workload_names(chosen->set, run_if_chosen, chosen);
    if (chosen->run == 0)
        run_workload(chosen, chosen->only);
    gpu_haul_close();
    gpu_report_close();
}

int main(int argument_count, char **arguments)
{
    command chosen = { { 31, NULL, 0.4, 12 }, GPU_SET_USUAL, NULL, NULL, 0, 0 };
    char **argument = arguments + (argument_count > 0);
    while (*argument) {
        if (strcmp(*argument, "--list") == 0) {
            gpu_workload_names(chosen.set, print_name, NULL);
            return 0;
        }
        if (!take_option(&chosen, &argument)) {
            usage();
            return 2;
        }
    }
    if (!gpu_present()) {
        printf("skipped: no GPU\n");
        return SKIPPED;
    }
    run_all(&chosen);
    return 0;
}
