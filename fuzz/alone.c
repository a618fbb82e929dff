/* haul_fuzz: the fuzz targets without an engine.
 *
 *     haul_fuzz TARGET FILE|FOLDER...                            replays inputs, once each
 *     haul_fuzz TARGET --random N [--seed S] [--seconds T] [--jobs J] [--hang T] [--keep FOLDER]
 *               [FILE|FOLDER...]                                 N drawn inputs, in all processes
 *     haul_fuzz TARGET --random 1 --seed S [FILE|FOLDER...]      one of them again
 *
 * TARGET: a name, or "all" for one after the other. --seconds: ends each target's inputs after so
 * many. --random 0: no limit but that. Files and folders are what drawn inputs begin as; of "all",
 * a folder is the one that holds the targets' corpora. Input i of a run with seed S is that of a
 * run with seed S + i. The last line is "N passed, N failed".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign.h"

static const fuzz_target *const targets[] = { &fuzz_load,     &fuzz_types,     &fuzz_graph,
                                              &fuzz_badgraph, &fuzz_mutate,    &fuzz_differential,
                                              &fuzz_results,  &fuzz_sequences, &fuzz_wire };
enum { TARGETS = sizeof targets / sizeof *targets };

typedef struct settings {
    campaign of;
    const char *target, *paths[64];
    size_t path_count;
    int is_random;
} settings;

static int read_settings(int count, char **arguments, settings *s)
{
    int i;
    memset(s, 0, sizeof *s);
    s->of.seed = 1;
    s->of.hang_seconds = 60;
    if (count < 2)
        return 0;
    s->target = arguments[1];
    for (i = 2; i < count; i++) {
        const char *value = i + 1 < count ? arguments[i + 1] : "";
        if (strncmp(arguments[i], "--", 2) != 0) {
            if (s->path_count == sizeof s->paths / sizeof *s->paths)
                return 0;
            s->paths[s->path_count++] = arguments[i];
            continue;
        }
        if (strcmp(arguments[i], "--random") == 0) {
            s->of.runs = strtoull(value, NULL, 0);
            s->is_random = 1;
        } else if (strcmp(arguments[i], "--seed") == 0)
            s->of.seed = strtoull(value, NULL, 0);
        else if (strcmp(arguments[i], "--seconds") == 0)
            s->of.seconds = strtod(value, NULL);
        else if (strcmp(arguments[i], "--jobs") == 0)
            s->of.jobs = (unsigned)strtoul(value, NULL, 0);
        else if (strcmp(arguments[i], "--hang") == 0)
            s->of.hang_seconds = (unsigned)strtoul(value, NULL, 0);
        else if (strcmp(arguments[i], "--keep") == 0)
            s->of.keep = value;
        else
            return 0;
        if (*value == '\0')
            return 0;
        i++;
    }
    if (s->is_random && s->of.runs == 0)
        s->of.runs = s->of.seconds > 0 ? UINT64_MAX - s->of.seed : 0;
    return s->is_random ? s->of.runs != 0 : s->path_count != 0;
}

/* The corpus of a target; 0: it cannot be read. */
static int open_corpus(const settings *s, const fuzz_target *target, corpus *c)
{
    const int is_all = strcmp(s->target, "all") == 0;
    size_t i;
    for (i = 0; i < s->path_count; i++) {
        char path[4096];
        snprintf(path, sizeof path, is_all ? "%s/%s" : "%s", s->paths[i], target->name);
        if (!corpus_add(c, path)) {
            fprintf(stderr, "cannot read %s\n", path);
            return 0;
        }
    }
    corpus_sort(c);
    return 1;
}

static int run_target(settings *s, const fuzz_target *target, campaign_result *sum)
{
    corpus from = { NULL, 0, 0 };
    campaign_result r = { 0, 0, 0, 0 };
    size_t i;
    if (!open_corpus(s, target, &from))
        return 0;
    s->of.target = target;
    s->of.from = &from;
    if (s->is_random)
        r = campaign_run(&s->of);
    for (i = 0; i < from.count && !s->is_random; i++, r.runs++)
        r.accepted += (uint64_t)target->run(from.files[i].data, from.files[i].bytes);
    if (!s->is_random)
        printf("%s: %llu inputs, %llu of them accepted\n", target->name, (unsigned long long)r.runs,
               (unsigned long long)r.accepted);
    corpus_free(&from);
    sum->runs += r.runs;
    sum->failed += r.failed;
    sum->is_interrupted = r.is_interrupted;
    return 1;
}

int main(int count, char **arguments)
{
    settings s;
    campaign_result sum = { 0, 0, 0, 0 };
    size_t i, found = 0;
    if (!read_settings(count, arguments, &s)) {
        fprintf(stderr, "usage: haul_fuzz TARGET [--random N] [--seed S] [--seconds T] [--jobs J]\n"
                        "                 [--hang T] [--keep FOLDER] [FILE|FOLDER...]\n");
        return 2;
    }
    for (i = 0; i < TARGETS && !sum.is_interrupted; i++) {
        if (strcmp(s.target, "all") != 0 && strcmp(s.target, targets[i]->name) != 0)
            continue;
        found++;
        if (!run_target(&s, targets[i], &sum))
            return 2;
    }
    if (found == 0) {
        fprintf(stderr, "haul_fuzz: there is no target %s; there are all", s.target);
        for (i = 0; i < TARGETS; i++)
            fprintf(stderr, ", %s", targets[i]->name);
        fputc('\n', stderr);
        return 2;
    }
    printf("%llu passed, %llu failed\n", (unsigned long long)(sum.runs - sum.failed),
           (unsigned long long)sum.failed);
    return sum.failed != 0;
}
