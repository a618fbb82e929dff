/* Calls of the operating system that a test counts, and one of which fails or kills the process.
 *
 * The linker leads these calls of the library and of the tests to system_calls.c first (--wrap).
 * Nothing happens there until a test arms it.
 */
#ifndef KILLS_SYSTEM_CALLS_H
#define KILLS_SYSTEM_CALLS_H

#include <stddef.h>

/* What befalls a call. */
typedef enum calls_fate {
    CALLS_FAIL,      /* it does nothing, and fails with `error`; close closes even so */
    CALLS_FAIL_FROM, /* so do all behind it, with ENOTSUP */
    CALLS_SHORT,     /* a write takes one byte of many, a read gives one; others are as usual */
    CALLS_NONE,      /* a write takes no byte, a read gives none; others are as usual */
    CALLS_KILL,      /* SIGKILL comes before it */
    CALLS_KILL_HALF  /* and, of a write, half of the bytes are there */
} calls_fate;

typedef struct calls_record {
    /* A letter for each: open, write, fsync, close, rename, unlink; d for read. */
    char letters[256];
    size_t count;
    char hit; /* the letter of the call that it befell; 0: none was reached */
} calls_record;

extern calls_record calls;

/* From now on calls are recorded. The fate befalls the `at`-th of them, counted from 1; 0: none. */
void calls_arm(size_t at, calls_fate fate, int error);
void calls_disarm(void);

#endif
