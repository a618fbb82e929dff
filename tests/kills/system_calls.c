#define _POSIX_C_SOURCE 200809L
#include "kills/system_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

calls_record calls;
static int is_armed;
static struct {
    size_t at;
    calls_fate fate;
    int error;
} plan;

void calls_arm(size_t at, calls_fate fate, int error)
{
    memset(&calls, 0, sizeof calls);
    plan.at = at;
    plan.fate = fate;
    plan.error = error;
    is_armed = 1;
}

void calls_disarm(void)
{
    is_armed = 0;
}

static int befalls(calls_fate fate)
{
    return is_armed && plan.at && calls.count >= plan.at && plan.fate == fate &&
           (calls.count == plan.at || fate == CALLS_FAIL_FROM);
}

/* 1: the call fails. May not return. */
static int enter(char letter)
{
    if (!is_armed)
        return 0;
    if (calls.count < sizeof calls.letters - 1)
        calls.letters[calls.count] = letter;
    if (++calls.count == plan.at)
        calls.hit = letter;
    if (befalls(CALLS_KILL))
        kill(getpid(), SIGKILL);
    if (!befalls(CALLS_FAIL) && !befalls(CALLS_FAIL_FROM))
        return 0;
    errno = calls.count == plan.at ? plan.error : ENOTSUP;
    return 1;
}

/* ---- The calls. On some systems open has two names. */

int __real_open(const char *path, int flags, ...);
ssize_t __real_write(int descriptor, const void *data, size_t bytes);
ssize_t __real_read(int descriptor, void *data, size_t bytes);
int __real_fsync(int descriptor);
int __real_close(int descriptor);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_write(int descriptor, const void *data, size_t bytes);
ssize_t __wrap_read(int descriptor, void *data, size_t bytes);
int __wrap_fsync(int descriptor);
int __wrap_close(int descriptor);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);

#define WITH_MODE(flags, mode)                                                                     \
    va_list arguments;                                                                             \
    unsigned mode = 0;                                                                             \
    va_start(arguments, flags);                                                                    \
    if ((flags)&O_CREAT)                                                                           \
        mode = va_arg(arguments, unsigned);                                                        \
    va_end(arguments)

int __wrap_open(const char *path, int flags, ...)
{
    WITH_MODE(flags, mode);
    return enter('o') ? -1 : __real_open(path, flags, mode);
}

#ifdef __GLIBC__ /* of 32 bits, or with large files */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

int __wrap_open64(const char *path, int flags, ...)
{
    WITH_MODE(flags, mode);
    return enter('o') ? -1 : __real_open64(path, flags, mode);
}
#endif

ssize_t __wrap_write(int descriptor, const void *data, size_t bytes)
{
    if (enter('w'))
        return -1;
    if (befalls(CALLS_NONE))
        return 0;
    if (befalls(CALLS_SHORT))
        bytes = 1;
    if (befalls(CALLS_KILL_HALF) && __real_write(descriptor, data, bytes / 2) >= 0)
        kill(getpid(), SIGKILL);
    return __real_write(descriptor, data, bytes);
}

ssize_t __wrap_read(int descriptor, void *data, size_t bytes)
{
    if (enter('d'))
        return -1;
    if (befalls(CALLS_NONE))
        return 0;
    return __real_read(descriptor, data, befalls(CALLS_SHORT) && bytes ? 1 : bytes);
}

int __wrap_fsync(int descriptor)
{
    return enter('f') ? -1 : __real_fsync(descriptor);
}

int __wrap_close(int descriptor)
{
    const int fails = enter('c'), why = errno, closed = __real_close(descriptor);
    if (!fails)
        return closed;
    errno = why;
    return -1;
}

int __wrap_rename(const char *from, const char *to)
{
    return enter('r') ? -1 : __real_rename(from, to);
}

int __wrap_unlink(const char *path)
{
    return enter('u') ? -1 : __real_unlink(path);
}
