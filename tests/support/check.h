/* What tests are written with: TEST, and the CHECK family.
 *
 *     TEST(graph, a_cycle_is_visited_once) { ... CHECK_EQ(found, 3); }
 *
 * A test's name is its sentence, with underscores for spaces. A check that fails prints file, line
 * and values, and ends its test at once, wherever in the call tree it stands. Tests put themselves
 * on a list before main begins. Two programs run them: runner.c in one process, for builds that
 * Criterion cannot be linked into (MemorySanitizer, 32 bits, small stacks) or does not listen to
 * (it prints what LeakSanitizer finds, and passes); and criterion/main.c, a process for each test.
 *
 * In a second thread, a check that fails ends that thread and fails the test. In a program with a
 * main of its own it ends the program with exit code 1.
 */
#ifndef HAUL_TESTS_CHECK_H
#define HAUL_TESTS_CHECK_H

#include <stdint.h>

#include "haul/status.h"

typedef struct check_test {
    const char *suite, *name;
    void (*run)(void);
    struct check_test *next;
} check_test;

extern check_test *check_tests; /* the list */

void check_register(check_test *test);
int check_run(void (*test)(void)); /* 1: failed */
/* Calls `end` after the test under way, even if it fails. One function at most. */
void check_at_end(void (*end)(void));

#define TEST(suite, name)                                                                          \
    static void suite##_##name##_run(void);                                                        \
    static void suite##_##name##_register(void) __attribute__((constructor));                      \
    static void suite##_##name##_register(void)                                                    \
    {                                                                                              \
        static check_test test = { #suite, #name, suite##_##name##_run, NULL };                    \
        check_register(&test);                                                                     \
    }                                                                                              \
    static void suite##_##name##_run(void)

/* An expression that is not 0. */
#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, "%s", #condition))
/* Two integers of any types with the same value. */
#define CHECK_EQ(a, b) check_equal(__FILE__, __LINE__, #a " == " #b, (uintmax_t)(a), (uintmax_t)(b))
/* Two pointers. */
#define CHECK_PTR(a, b)                                                                            \
    check_same(__FILE__, __LINE__, #a " == " #b, (const void *)(a), (const void *)(b))
/* Two strings; a NULL is equal to a NULL. */
#define CHECK_STR(a, b) check_strings(__FILE__, __LINE__, #a " is " #b, (a), (b))
/* A string that holds another. */
#define CHECK_HAS(text, part) check_has(__FILE__, __LINE__, #text " has " #part, (text), (part))
/* `bytes` bytes at a and b. */
#define CHECK_BYTES(a, b, bytes) check_bytes(__FILE__, __LINE__, #a " is " #b, (a), (b), (bytes))
/* The status that a call answers. */
#define CHECK_STATUS(call, expected) check_status(__FILE__, __LINE__, #call, (call), (expected))
/* That function(argument) touches memory it must not: 1 if it was stopped by SIGSEGV or SIGBUS. One
 * thread only. */
#define CHECK_FAULTS(function, argument) CHECK(check_faults((function), (argument)))

/* Words that a failing check adds to its own: the round of a loop, the fault that was injected.
 * NULL: none. */
void check_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

void check_failed(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
void check_equal(const char *file, int line, const char *text, uintmax_t a, uintmax_t b);
void check_same(const char *file, int line, const char *text, const void *a, const void *b);
void check_strings(const char *file, int line, const char *text, const char *a, const char *b);
void check_has(const char *file, int line, const char *text, const char *all, const char *part);
void check_bytes(const char *file, int line, const char *text, const void *a, const void *b,
                 size_t bytes);
void check_status(const char *file, int line, const char *text, haul_status got,
                  haul_status expected);
int check_faults(void (*function)(void *), void *argument);
/* Ends a child of fork() at once; the lines that it has run are counted (tests/coverage.sh). */
void check_leave(int code) __attribute__((noreturn));

#endif
