/* The checks of check.h, the list of tests, and how a check that fails ends its test: by a jump
 * back to check_run. A program that never calls it, because it has a main of its own, ends.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"

/* ---- The list, in the order of the files. */

check_test *check_tests;
static check_test **list_end = &check_tests;

void check_register(check_test *test)
{
    *list_end = test;
    list_end = &test->next;
}

/* ---- How a test ends: `give_up` does not return. */

static int running;
static volatile int test_failed;
static jmp_buf runner;
static pthread_t runner_thread;
static pid_t runner_process;
static void (*at_end)(void);

int check_run(void (*test)(void))
{
    runner_thread = pthread_self();
    runner_process = getpid();
    test_failed = 0;
    running = 1;
    if (setjmp(runner) == 0)
        test();
    running = 0;
    if (at_end)
        at_end();
    at_end = NULL;
    return test_failed;
}

void check_at_end(void (*end)(void))
{
    at_end = end;
}

static void give_up(const char *message)
{
    printf("\n    %s\n", message);
    fflush(stdout);
    if (!running)
        exit(1);
    if (getpid() != runner_process)
        check_leave(1); /* a child of a test: the tests behind it are its parent's */
    test_failed = 1;
    if (!pthread_equal(pthread_self(), runner_thread))
        pthread_exit(NULL);
    longjmp(runner, 1);
}

/* ---- The checks. */

static __thread char current_note[512];

void check_note(const char *format, ...)
{
    va_list arguments;
    current_note[0] = '\0';
    if (!format)
        return;
    va_start(arguments, format);
    vsnprintf(current_note, sizeof current_note, format, arguments);
    va_end(arguments);
}

void check_failed(const char *file, int line, const char *format, ...)
{
    char message[2048];
    size_t length;
    va_list arguments;
    snprintf(message, sizeof message, "%s:%d: failed: ", file, line);
    length = strlen(message);
    va_start(arguments, format);
    vsnprintf(message + length, sizeof message - length, format, arguments);
    va_end(arguments);
    length = strlen(message);
    if (current_note[0])
        snprintf(message + length, sizeof message - length, " [%s]", current_note);
    current_note[0] = '\0';
    give_up(message);
    for (;;) /* give_up has jumped or exited */
        pthread_exit(NULL);
}

void check_equal(const char *file, int line, const char *text, uintmax_t a, uintmax_t b)
{
    if (a != b)
        check_failed(file, line, "%s: %jd (0x%jx) and %jd (0x%jx)", text, (intmax_t)a, a,
                     (intmax_t)b, b);
}

void check_same(const char *file, int line, const char *text, const void *a, const void *b)
{
    if (a != b)
        check_failed(file, line, "%s: %p and %p", text, a, b);
}

void check_strings(const char *file, int line, const char *text, const char *a, const char *b)
{
    if (a != b && (!a || !b || strcmp(a, b) != 0))
        check_failed(file, line, "%s: \"%s\" and \"%s\"", text, a ? a : "(null)", b ? b : "(null)");
}

void check_has(const char *file, int line, const char *text, const char *all, const char *part)
{
    if (!all || !strstr(all, part))
        check_failed(file, line, "%s: \"%s\" and \"%s\"", text, all ? all : "(null)", part);
}

void check_bytes(const char *file, int line, const char *text, const void *a, const void *b,
                 size_t bytes)
{
    const unsigned char *x = a, *y = b;
    size_t i;
    if (memcmp(a, b, bytes) == 0) /* far faster than the loop in a build with sanitizers */
        return;
    for (i = 0; i < bytes; i++)
        if (x[i] != y[i])
            check_failed(file, line, "%s: byte %zu of %zu is 0x%02x and 0x%02x", text, i, bytes,
                         x[i], y[i]);
}

void check_status(const char *file, int line, const char *text, haul_status got,
                  haul_status expected)
{
    if (got != expected)
        check_failed(file, line, "%s: %s, expected %s", text, haul_status_name(got),
                     haul_status_name(expected));
}

/* ---- Faults that are meant. */

static sigjmp_buf before_fault;

static void on_fault(int number)
{
    (void)number;
    siglongjmp(before_fault, 1);
}

int check_faults(void (*function)(void *), void *argument)
{
    struct sigaction action, segv, bus;
    volatile int faulted = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_fault;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &segv);
    sigaction(SIGBUS, &action, &bus);
    if (sigsetjmp(before_fault, 1) == 0)
        function(argument);
    else
        faulted = 1;
    sigaction(SIGSEGV, &segv, NULL);
    sigaction(SIGBUS, &bus, NULL);
    return faulted;
}

#if defined(HAUL_COVERAGE) && defined(__clang__)
int __llvm_profile_write_file(void);
#define WRITE_COUNTS() __llvm_profile_write_file()
#elif defined(HAUL_COVERAGE)
void __gcov_dump(void);
#define WRITE_COUNTS() __gcov_dump()
#else
#define WRITE_COUNTS() ((void)0)
#endif

void check_leave(int code)
{
    WRITE_COUNTS();
    _exit(code);
}
