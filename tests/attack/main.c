/* haul_attack: random sequences of calls, with faults anywhere, against a simple model.
 *
 *   haul_attack [--sequences N] [--seed S] [--only NAME] [--verbose]
 *
 * Sequence i of a run with seed S is that of a run with seed S + i and one sequence. --only: one of
 * "calls", "arenas", "garbage", "pairs", "threads", "shared". --verbose prints each call. The last
 * line is "N passed, N failed".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attack.h"

static const attack *const attacks[] = { &attack_calls, &attack_arenas,  &attack_garbage,
                                         &attack_pairs, &attack_threads, &attack_shared };

enum { ATTACKS = sizeof attacks / sizeof *attacks };

typedef struct settings {
    uint64_t sequences, seed;
    const char *only;
    int verbose;
} settings;

static int read_settings(int count, char **arguments, settings *s)
{
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(arguments[i], "--verbose") == 0) {
            s->verbose = 1;
            continue;
        }
        if (!value)
            return 0;
        if (strcmp(arguments[i], "--sequences") == 0)
            s->sequences = strtoull(value, NULL, 0);
        else if (strcmp(arguments[i], "--seed") == 0)
            s->seed = strtoull(value, NULL, 0);
        else if (strcmp(arguments[i], "--only") == 0)
            s->only = value;
        else
            return 0;
        i++;
    }
    return 1;
}

/* Which subject a seed is of. */
static const attack *attack_of(const settings *s, uint64_t seed)
{
    random_source random = random_from(seed);
    unsigned all = 0;
    for (int i = 0; i < ATTACKS; i++) {
        if (s->only && strcmp(attacks[i]->name, s->only) == 0)
            return attacks[i];
        all += attacks[i]->share;
    }
    size_t drawn = random_below(&random, all);
    int i = 0;
    while (drawn >= attacks[i]->share)
        drawn -= attacks[i++]->share;
    return attacks[i];
}

int main(int count, char **arguments)
{
    settings s = { 1000, (uint64_t)time(NULL), NULL, 0 };
    uint64_t passed = 0, failed = 0;
    if (!read_settings(count, arguments, &s)) {
        fprintf(stderr,
                "usage: haul_attack [--sequences N] [--seed S] [--only NAME] [--verbose]\n");
        return 2;
    }
    printf("haul_attack --seed %llu --sequences %llu\n", (unsigned long long)s.seed,
           (unsigned long long)s.sequences);
    for (uint64_t i = 0; i < s.sequences && failed < 5; i++) {
        sequence q;
        const attack *a = attack_of(&s, s.seed + i);
        memset(&q, 0, sizeof q);
        q.seed = s.seed + i;
        q.steps = a->steps;
        if (attack_run(a, &q, s.verbose))
            passed++;
        else
            failed++;
    }
    printf("%llu passed, %llu failed\n", (unsigned long long)passed, (unsigned long long)failed);
    return failed != 0;
}
