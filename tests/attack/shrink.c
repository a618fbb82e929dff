/* Sequences in processes of their own, and the shortest one that still fails.
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"

enum { SECONDS_MAX = 120 };

static int is_listening;

random_source sequence_random(const sequence *s, unsigned i)
{
    random_source random =
        random_from(s->seed ^ (uint64_t)i << 40 ^ (i < s->steps ? s->more[i] : 0));
    random_next(&random);
    return random;
}

void attack_listen(int verbose)
{
    is_listening = verbose;
}

void attack_say(const char *format, ...)
{
    va_list arguments;
    if (!is_listening)
        return;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

/* A check that fails ends the program with all that it had: that is no leak. */
static int has_passed;

static void leave_at_once(void)
{
    if (!has_passed)
        _exit(1);
}

typedef enum voice { SILENT, FAILURES, CALLS } voice;

/* 1: it passed. */
static int passes(const attack *a, const sequence *s, voice v)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (v == SILENT &&
            (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)))
            _exit(2);
        attack_listen(v == CALLS);
        alarm(SECONDS_MAX);
        atexit(leave_at_once);
        a->run(s);
        has_passed = 1;
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 0;
    if (v != SILENT && WIFSIGNALED(status))
        printf("    ended by signal %d (%d: more than %d s)\n", WTERMSIG(status), SIGALRM,
               SECONDS_MAX);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void shrink(const attack *a, sequence *s)
{
    for (unsigned width = s->steps / 2; width > 0; width /= 2) {
        for (unsigned first = 0; first < s->steps; first += width) {
            sequence shorter = *s;
            for (unsigned i = first; i < s->steps && i < first + width; i++)
                shorter.left_out[i] = 1;
            if (memcmp(&shorter, s, sizeof shorter) != 0 && !passes(a, &shorter, SILENT))
                *s = shorter;
        }
    }
}

int attack_run(const attack *a, sequence *s, int verbose)
{
    unsigned left = 0;
    if (passes(a, s, verbose ? CALLS : FAILURES))
        return 1;
    printf("FAILED: haul_attack --only %s --sequences 1 --seed %llu\n", a->name,
           (unsigned long long)s->seed);
    shrink(a, s);
    for (unsigned i = 0; i < s->steps; i++)
        left += !s->left_out[i];
    printf("What is left of it, %u of %u steps:\n", left, s->steps);
    if (passes(a, s, CALLS))
        printf("This passes now: it does not fail each time.\n");
    return 0;
}
