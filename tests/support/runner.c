/* The plain runner of check.h's tests.
 *
 *   PROGRAM [--times] [--part K/N] [PREFIX...]
 *
 * runs those whose name, suite/test, begins with one of the prefixes; of these the K-th and each
 * N-th after it. With --times the name and the processors' seconds of each test go to stderr.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/check.h"

static void print_sentence(const check_test *test)
{
    const char *c;
    printf("%s: ", test->suite);
    for (c = test->name; *c; c++)
        putchar(*c == '_' ? ' ' : *c);
    printf(" ... ");
    fflush(stdout);
}

static int run(const check_test *test, int times)
{
    clock_t before = clock();
    int failed;
    print_sentence(test);
    failed = check_run(test->run);
    printf("%s\n", failed ? "FAILED" : "ok");
    fflush(stdout);
    if (times)
        fprintf(stderr, "%9.3f %s/%s\n", (double)(clock() - before) / CLOCKS_PER_SEC, test->suite,
                test->name);
    return failed;
}

typedef struct wish {
    char **names;
    int count;
    unsigned part, parts;
    int times;
} wish;

static int read_wish(int count, char **arguments, wish *w)
{
    int at = 1;
    w->part = w->parts = 1;
    w->times = count > 1 && strcmp(arguments[1], "--times") == 0;
    at += w->times;
    if (count > at + 1 && strcmp(arguments[at], "--part") == 0) {
        if (sscanf(arguments[at + 1], "%u/%u", &w->part, &w->parts) != 2 || w->part < 1 ||
            w->part > w->parts)
            return 0;
        at += 2;
    }
    w->names = arguments + at;
    w->count = count - at;
    return 1;
}

static int has_name(const check_test *test, const wish *w)
{
    char full[512];
    int i;
    snprintf(full, sizeof full, "%s/%s", test->suite, test->name);
    for (i = 0; i < w->count; i++)
        if (strncmp(full, w->names[i], strlen(w->names[i])) == 0)
            return 1;
    return w->count == 0;
}

int main(int count, char **arguments)
{
    const check_test *test;
    unsigned passed = 0, failed = 0, number = 0;
    wish w;
    if (!read_wish(count, arguments, &w)) {
        fprintf(stderr, "usage: %s [--times] [--part K/N] [PREFIX...]\n", arguments[0]);
        return 2;
    }
    for (test = check_tests; test; test = test->next) {
        if (!has_name(test, &w) || number++ % w.parts != w.part - 1)
            continue;
        if (run(test, w.times))
            failed++;
        else
            passed++;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
