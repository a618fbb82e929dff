/* haul_random: random graphs of random types, against the reference copier.
 *
 *   haul_random [--graphs N] [--seed S] [--faults] [--every K] [--verbose]
 *
 * Graph i of a run with seed S is that of a run with seed S + i and one graph. --faults spoils each
 * graph in some places, and fails every fallible event of every K-th graph's journey (K is 50).
 * --verbose prints each seed and its types. The last line is "N passed, N failed".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trial.h"

typedef struct settings {
    uint64_t graphs, seed, every;
    int faults, verbose;
} settings;

static uint64_t current_seed;
static int finished;

/* A CHECK that fails ends the program; the seed is then still to be told. */
static void tell_seed(void)
{
    if (!finished)
        fprintf(stderr, "stopped in the graph of: haul_random --seed %llu --graphs 1 --faults\n",
                (unsigned long long)current_seed);
}

static int read_settings(int count, char **arguments, settings *s)
{
    for (int i = 1; i < count; i++) {
        uint64_t *number = NULL;
        if (strcmp(arguments[i], "--graphs") == 0)
            number = &s->graphs;
        else if (strcmp(arguments[i], "--seed") == 0)
            number = &s->seed;
        else if (strcmp(arguments[i], "--every") == 0)
            number = &s->every;
        else if (strcmp(arguments[i], "--faults") == 0)
            s->faults = 1;
        else if (strcmp(arguments[i], "--verbose") == 0)
            s->verbose = 1;
        else
            return 0;
        if (number != NULL && i + 1 == count)
            return 0;
        if (number != NULL)
            *number = strtoull(arguments[++i], NULL, 0);
    }
    return s->every != 0;
}

static int run_graph(trial_world *w, const settings *s, uint64_t i)
{
    char message[2048];
    choices c = choices_from_seed(s->seed + i);
    unsigned options = s->faults && i % s->every == 0 ? TRIAL_FAULTS | TRIAL_SMALL : 0;
    options |= s->faults ? TRIAL_WRONG : 0;
    current_seed = s->seed + i;
    if (s->verbose) {
        options |= TRIAL_PRINT;
        printf("seed %llu\n", (unsigned long long)current_seed);
        fflush(stdout);
    }
    if (trial_run(w, &c, options, message, sizeof message))
        return 1;
    printf("FAILED: haul_random --seed %llu --graphs 1%s\n    %s\n",
           (unsigned long long)current_seed, options & TRIAL_WRONG ? " --faults" : "", message);
    fflush(stdout);
    return 0;
}

int main(int count, char **arguments)
{
    settings s = { 10000, (uint64_t)time(NULL), 50, 0, 0 };
    trial_world world;
    uint64_t passed = 0, failed = 0;
    if (!read_settings(count, arguments, &s)) {
        fprintf(stderr,
                "usage: haul_random [--graphs N] [--seed S] [--faults] [--every K] [--verbose]\n");
        return 2;
    }
    printf("haul_random --seed %llu --graphs %llu%s\n", (unsigned long long)s.seed,
           (unsigned long long)s.graphs, s.faults ? " --faults" : "");
    fflush(stdout);
    if (!trial_open(&world)) {
        fprintf(stderr, "the host device cannot be opened\n");
        return 1;
    }
    atexit(tell_seed);
    for (uint64_t i = 0; i < s.graphs && failed < 20; i++) {
        if (run_graph(&world, &s, i))
            passed++;
        else
            failed++;
    }
    trial_close(&world);
    finished = 1;
    printf("%lu graphs in arenas, %lu of them by typed allocation too, "
           "%lu by typed and other allocations; %lu "
           "refused\n",
           world.arenas, world.typed_arenas, world.mixed_arenas, world.arenas_refused);
    printf("%lu graphs gathered and scattered by the device itself\n", world.crossed_directly);
    printf("%llu passed, %llu failed\n", (unsigned long long)passed, (unsigned long long)failed);
    return failed != 0;
}
