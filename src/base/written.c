/* Which pages have been written.
 *
 * Linux (6.7) protects pages against writes; the first write to each is noted and let through, in
 * some 0.5 us. A look at 32,768 pages takes less than 0.1 ms, and protects those that were written
 * again. Watched memory that is unmapped, or mapped anew, is not watched any more, and the look
 * says so. Writes that do not go through the processor's page tables, such as a network card's into
 * registered memory, are not noted.
 *
 * Names and numbers are those of the system's headers, which older ones lack.
 */
#define _GNU_SOURCE
#include "base/written.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(SYS_userfaultfd)
#define IS_KNOWN 1
#endif
#endif

#ifdef IS_KNOWN

/* linux/userfaultfd.h */
typedef struct api {
    uint64_t api, features, ioctls;
} api;
typedef struct registration {
    uint64_t start, bytes, mode, ioctls;
} registration;
#define USER_MODE_ONLY 1
#define API_VERSION UINT64_C(0xaa)
#define WP_UNPOPULATED (UINT64_C(1) << 13)
#define WP_ASYNC (UINT64_C(1) << 15)
#define MODE_WP (UINT64_C(1) << 1)
#define DO_API _IOWR(0xaa, 0x3f, api)
#define DO_REGISTER _IOWR(0xaa, 0x00, registration)

/* linux/fs.h */
typedef struct scan {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
} scan;
typedef struct region {
    uint64_t start, end, categories;
} region;
#define WP_MATCHING UINT64_C(1)
#define CHECK_WPASYNC UINT64_C(2)
#define IS_WRITTEN (UINT64_C(1) << 1)
#define DO_SCAN _IOWR('f', 16, scan)

#define REGIONS 64u /* that one look tells */

int haul__written_open(haul__written *w)
{
    const int saved = errno;
    api asked = { API_VERSION, WP_UNPOPULATED | WP_ASYNC, 0 };
    const long page = sysconf(_SC_PAGESIZE);
    w->is_open = 0;
    w->page = page > 0 ? (size_t)page : 4096;
    w->faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
    w->map = w->faults < 0 ? -1 : open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (w->map >= 0 && ioctl(w->faults, DO_API, &asked) == 0)
        w->is_open = 1;
    if (!w->is_open && w->map >= 0)
        close(w->map);
    if (!w->is_open && w->faults >= 0)
        close(w->faults);
    errno = saved;
    return w->is_open;
}

void haul__written_close(haul__written *w)
{
    const int saved = errno;
    if (w->is_open) {
        close(w->map);
        close(w->faults);
    }
    w->is_open = 0;
    errno = saved;
}

static void ignore(void *user, uintptr_t begin, uintptr_t end)
{
    (void)user;
    (void)begin;
    (void)end;
}

int haul__written_watch(const haul__written *w, uintptr_t begin, uintptr_t end)
{
    const int saved = errno;
    registration wanted = { begin, end - begin, MODE_WP, 0 };
    const int is_done = ioctl(w->faults, DO_REGISTER, &wanted) == 0;
    errno = saved;
    return is_done && haul__written_take(w, begin, end, ignore, NULL);
}

int haul__written_take(const haul__written *w, uintptr_t begin, uintptr_t end,
                       void (*tell)(void *user, uintptr_t begin, uintptr_t end), void *user)
{
    const int saved = errno;
    region regions[REGIONS];
    scan look = {
        sizeof look, WP_MATCHING | CHECK_WPASYNC, begin, end, 0, 0, REGIONS, 0, 0, IS_WRITTEN, 0,
        IS_WRITTEN
    };
    long count = 0, i;
    memset(regions, 0, sizeof regions); /* sanitizers do not see what the system writes there */
    look.vec = (uintptr_t)regions;
    while (look.start < look.end && count >= 0) {
        look.walk_end = look.start;
        count = ioctl(w->map, DO_SCAN, &look);
        for (i = 0; i < count; i++)
            tell(user, (uintptr_t)regions[i].start, (uintptr_t)regions[i].end);
        if (look.walk_end <= look.start)
            break;
        look.start = look.walk_end;
    }
    errno = saved;
    return look.start >= look.end && count >= 0;
}

#else

int haul__written_open(haul__written *w)
{
    w->is_open = 0;
    return 0;
}

void haul__written_close(haul__written *w)
{
    w->is_open = 0;
}

int haul__written_watch(const haul__written *w, uintptr_t begin, uintptr_t end)
{
    (void)w;
    (void)begin;
    (void)end;
    return 0;
}

int haul__written_take(const haul__written *w, uintptr_t begin, uintptr_t end,
                       void (*tell)(void *user, uintptr_t begin, uintptr_t end), void *user)
{
    (void)w;
    (void)begin;
    (void)end;
    (void)tell;
    (void)user;
    return 0;
}

#endif
