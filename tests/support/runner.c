/* The plain runner of check.h: tests put themselves on a list before main begins.
 */
#include <stdio.h>
#include <string.h>

#include "support/check.h"

#ifdef HAUL_PLAIN_CHECKS

static check_test *tests;

void check_register(check_test *test)
{
    check_test **at = &tests;
    while (*at)
        at = &(*at)->next;
    *at = test;
}

static void print_sentence(const check_test *test)
{
    const char *c;
    printf("%s: ", test->suite);
    for (c = test->name; *c; c++)
        putchar(*c == '_' ? ' ' : *c);
    printf(" ... ");
    fflush(stdout);
}

static int run(const check_test *test)
{
    int failed;
    print_sentence(test);
    failed = check_run(test->run);
    printf("%s\n", failed ? "FAILED" : "ok");
    fflush(stdout);
    return failed;
}

static int is_wanted(const check_test *test, int count, char **names)
{
    char full[512];
    int i;
    snprintf(full, sizeof full, "%s/%s", test->suite, test->name);
    for (i = 1; i < count; i++)
        if (strncmp(full, names[i], strlen(names[i])) == 0)
            return 1;
    return count < 2;
}

int main(int count, char **names)
{
    const check_test *test;
    unsigned passed = 0, failed = 0;
    for (test = tests; test; test = test->next) {
        if (!is_wanted(test, count, names))
            continue;
        if (run(test))
            failed++;
        else
            passed++;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}

#else

typedef int runner_is_criterion;

#endif
