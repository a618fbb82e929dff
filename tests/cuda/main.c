/* haul_cuda_tests [name...]: what only a GPU can show. Without arguments all tests; else those
 * whose names begin so. Exit code 1 when a test fails, 77 when there is no GPU. Tests that need
 * more GPUs than there are say so.
 *
 * Each test runs in a process of its own: a pending error, an open capture, a device that is lost
 * stay behind in it. CUDA does not survive a fork, so this process never calls it; even the GPUs
 * are counted in a child.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/gpu.h"

static const struct {
    const char *name;
    const gpu_test *tests;
} suites[] = { { "memory", memory_tests }, { "errors", error_tests },
               { "order", order_tests },   { "patch", patch_tests },
               { "ships", ship_tests },    { "lost", lost_tests },
               { "absent", absent_tests }, { "environments", environment_tests } };

#define SUITES (sizeof suites / sizeof suites[0])
#define SKIPPED 77
#define TEST_SECONDS 120

static unsigned passed, failed, skipped;

/* ---- Processes. */

/* The exit code of a child that does `work` with `test`; -1: it had none. */
static int in_a_child(int (*work)(const gpu_test *test), const gpu_test *test)
{
    int status = 0, code;
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        alarm(TEST_SECONDS);
        code = work(test);
        fflush(stdout);
        _exit(code);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    if (WIFSIGNALED(status))
        printf("\n    ended by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int count_gpus(const gpu_test *test)
{
    int count = haul_cuda_count();
    (void)test;
    return count < 100 ? count : 100;
}

static int run_here(const gpu_test *test)
{
    return check_run(test->run);
}

/* ---- Tests. */

static void print_sentence(const char *suite, const char *name)
{
    printf("%s: ", suite);
    for (; *name; name++)
        putchar(*name == '_' ? ' ' : *name);
    printf(" ... ");
}

static void run(const char *suite, const gpu_test *test, int gpus)
{
    int bad;
    print_sentence(suite, test->name);
    if (test->gpus > gpus) {
        printf("SKIPPED: needs %d GPUs\n", test->gpus);
        skipped++;
        return;
    }
    bad = in_a_child(run_here, test) != 0;
    printf("%s\n", bad ? "FAILED" : "ok");
    if (bad)
        failed++;
    else
        passed++;
}

static int is_wanted(const char *suite, const char *test, int count, char **names)
{
    char full[256];
    int i;
    snprintf(full, sizeof full, "%s/%s", suite, test);
    for (i = 1; i < count; i++)
        if (strncmp(full, names[i], strlen(names[i])) == 0)
            return 1;
    return count < 2;
}

int main(int count, char **names)
{
    const gpu_test *test;
    size_t i;
    int gpus;
    /* A kernel that is loaded when it is first started would wait for one that is held. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    gpus = in_a_child(count_gpus, NULL);
    if (gpus <= 0) {
        printf("skipped: no GPU\n");
        return SKIPPED;
    }
    for (i = 0; i < SUITES; i++)
        for (test = suites[i].tests; test->name; test++)
            if (is_wanted(suites[i].name, test->name, count, names))
                run(suites[i].name, test, gpus);
    if (skipped > 0)
        printf("%u SKIPPED\n", skipped);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
