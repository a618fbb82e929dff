/* haul_random: random graphs of random types, against the reference copier.
 *
 *   haul_random [--graphs N] [--seed S] [--threads T,...] [--faults] [--every K] [--verbose]
 *
 * Graph i of a run with seed S is that of a run with seed S + i and one graph. --faults spoils each
 * graph in some places, and fails every fallible event of every K-th graph's journey (K is 50).
 * --threads 2,3,16 takes each graph through contexts of so many threads, one number after the
 * other, and compares what they do with what one thread does. Every second graph is then plain, as
 * threads can share it. Every 20th has a large array as root, because threads leave small graphs to
 * one of them (a build with HAUL_STRESS_THREADS has no large ones, and shares the small ones).
 * Threads share about every third large graph; the rest overlap, say, or need an ordered walk. Of
 * 1,000 graphs or more, 50 of them large, threads must have shared some.
 * --verbose prints each seed and its types. The last line is "N passed, N failed".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "haul/context.h"
#include "trial.h"

enum { TEAMS = 8, PLAIN_EVERY = 2, LARGE_EVERY = 20, MUST_SHARE = 1000 };

typedef struct settings {
    uint64_t graphs, seed, every;
    int faults, verbose;
    unsigned threads[TEAMS], teams; /* threads 0: as the library likes */
} settings;

static uint64_t current_seed;
static char current_threads[32]; /* as an argument; "": none */
static int finished;

/* A CHECK that fails ends the program; the seed is then still to be told. */
static void tell_seed(void)
{
    if (!finished)
        fprintf(stderr, "stopped in the graph of: haul_random --seed %llu --graphs 1 --faults%s\n",
                (unsigned long long)current_seed, current_threads);
}

/* "2,3,16" */
static int read_threads(const char *list, settings *s)
{
    char *end;
    s->teams = 0;
    do {
        unsigned long threads = strtoul(list, &end, 10);
        if (end == list || threads < 2 || threads > HAUL_THREADS_MAX || s->teams == TEAMS)
            return 0;
        s->threads[s->teams++] = (unsigned)threads;
        list = end + 1;
    } while (*end == ',');
    return *end == '\0';
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
        else if (strcmp(arguments[i], "--threads") == 0 && i + 1 < count) {
            if (!read_threads(arguments[++i], s))
                return 0;
        } else if (strcmp(arguments[i], "--faults") == 0)
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

static unsigned options_of(const trial_world *w, const settings *s, uint64_t i)
{
    unsigned options = s->faults && i % s->every == 0 ? TRIAL_FAULTS | TRIAL_SMALL : 0;
    options |= s->faults ? TRIAL_WRONG : 0;
    options |= s->verbose ? TRIAL_PRINT : 0;
    if (w->threads != 0 && (s->seed + i) % PLAIN_EVERY == 0)
        options |= TRIAL_PLAIN;
#ifndef HAUL_STRESS_THREADS
    if (w->threads != 0 && (s->seed + i) % LARGE_EVERY == 0)
        options |= TRIAL_LARGE;
#endif
    return options;
}

static int run_graph(trial_world *w, const settings *s, uint64_t i)
{
    char message[2048];
    choices c = choices_from_seed(s->seed + i);
    const unsigned options = options_of(w, s, i);
    current_seed = s->seed + i;
    current_threads[0] = '\0';
    if (w->threads != 0)
        snprintf(current_threads, sizeof current_threads, " --threads %u", w->threads);
    if (s->verbose) {
        printf("seed %llu\n", (unsigned long long)current_seed);
        fflush(stdout);
    }
    if (trial_run(w, &c, options, message, sizeof message))
        return 1;
    printf("FAILED: haul_random --seed %llu --graphs 1%s%s\n    %s\n",
           (unsigned long long)current_seed, current_threads,
           options & TRIAL_WRONG ? " --faults" : "", message);
    fflush(stdout);
    return 0;
}

static void tell_world(const trial_world *w)
{
    printf("%lu graphs in arenas, %lu of them by typed allocation too, "
           "%lu by typed and other allocations; %lu "
           "refused\n",
           w->arenas, w->typed_arenas, w->mixed_arenas, w->arenas_refused);
    printf("%lu graphs gathered and scattered by the device itself\n", w->crossed_directly);
    if (w->threads != 0)
        printf("%u threads: %lu graphs discovered by several; %lu wrong ones refused and %lu "
               "changed ones stale, as with one\n",
               w->threads, w->shared, w->refused, w->stale);
}

/* Where there is a table, threads share (an emulator's few addresses have none). */
static int has_shared(const trial_world *w, const settings *s)
{
#ifdef HAUL_EMULATED
    (void)w;
    (void)s;
    return 1;
#else
    if (w->threads == 0 || s->graphs < MUST_SHARE || w->shared != 0)
        return 1;
    printf("FAILED: %u threads have shared no graph\n", w->threads);
    return 0;
#endif
}

int main(int count, char **arguments)
{
    settings s = { 10000, (uint64_t)time(NULL), 50, 0, 0, { 0 }, 1 };
    trial_world world[TEAMS];
    uint64_t passed = 0, failed = 0;
    if (!read_settings(count, arguments, &s)) {
        fprintf(stderr, "usage: haul_random [--graphs N] [--seed S] [--threads T,...] [--faults] "
                        "[--every K] [--verbose]\n");
        return 2;
    }
    printf("haul_random --seed %llu --graphs %llu%s\n", (unsigned long long)s.seed,
           (unsigned long long)s.graphs, s.faults ? " --faults" : "");
    fflush(stdout);
    for (unsigned team = 0; team < s.teams; team++)
        if (!trial_open(&world[team], s.threads[team])) {
            fprintf(stderr, "the host device cannot be opened\n");
            return 1;
        }
    atexit(tell_seed);
    for (uint64_t i = 0; i < s.graphs && failed < 20; i++) {
        int good = 1;
        for (unsigned team = 0; team < s.teams && good; team++)
            good = run_graph(&world[team], &s, i);
        passed += good ? 1 : 0;
        failed += good ? 0 : 1;
    }
    finished = 1;
    for (unsigned team = 0; team < s.teams; team++) {
        tell_world(&world[team]);
        failed += has_shared(&world[team], &s) ? 0 : 1;
        trial_close(&world[team]);
    }
    printf("%llu passed, %llu failed\n", (unsigned long long)passed, (unsigned long long)failed);
    return failed != 0;
}
