/* Host memory: the default allocator over malloc and mmap, arrays that grow, reserved ranges.
 *
 * An allocator may change errno even if it succeeds (malloc does when brk fails and mmap serves). A
 * call of the library leaves errno as it was, so it is restored here.
 */
#define _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/memory.h"

/* the first bytes of a filled range get no huge pages: a small use stays small */
#define SMALL_PAGES_BYTES ((size_t)4 << 20)
/* Blocks of this size and above ask for huge pages, and begin with one, so that only their end has
 * small ones. At the first touch of small pages the system works longer than the library takes to
 * fill them. */
#define LARGE_BLOCK_BYTES ((size_t)4 << 20)
#define HUGE_PAGE_BYTES ((size_t)2 << 20) /* advice begins and ends at multiples of it */

static void ask_for_huge_pages(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t mask = HUGE_PAGE_BYTES - 1, first = ((uintptr_t)memory + mask) & ~mask,
                    end = ((uintptr_t)memory + bytes) & ~mask;
    (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}

static void *default_allocate(void *user, size_t bytes, size_t alignment)
{
    const int is_large = bytes >= LARGE_BLOCK_BYTES;
    void *memory = NULL;
    (void)user;
    if (is_large && alignment < HUGE_PAGE_BYTES)
        alignment = HUGE_PAGE_BYTES;
    if (alignment <= 2 * sizeof(void *))
        memory = malloc(bytes);
    else if (posix_memalign(&memory, alignment, bytes) != 0)
        memory = NULL;
    if (memory && is_large)
        ask_for_huge_pages(memory, bytes);
    return memory;
}

static void default_release(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

/* A locked range would become resident as a whole. So it is reserved without access, which makes no
 * page resident. Then pages are locked as they are touched or, if the system cannot do that, not at
 * all. */
static void lock_on_touch(void *memory, size_t bytes)
{
#ifdef MLOCK_ONFAULT
    if (mlock2(memory, bytes, MLOCK_ONFAULT) == 0)
        return;
#endif
    (void)munlock(memory, bytes);
}

static void *default_reserve(void *user, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    (void)user;
    if (memory == MAP_FAILED)
        return NULL;
    /* Of locked memory (mlockall with MCL_FUTURE) MS_INVALIDATE fails. */
    if (msync(memory, 1, MS_ASYNC | MS_INVALIDATE) != 0 && errno == EBUSY)
        lock_on_touch(memory, bytes);
    if (mprotect(memory, bytes, PROT_READ | PROT_WRITE) == 0)
        return memory;
    munmap(memory, bytes);
    return NULL;
}

static void default_unreserve(void *user, void *memory, size_t bytes)
{
    (void)user;
    munmap(memory, bytes);
}

static const haul_allocator default_allocator = { NULL, default_allocate, default_release,
                                                  default_reserve, default_unreserve };

haul_allocator haul__allocator_or_default(const haul_allocator *allocator)
{
    return allocator ? *allocator : default_allocator;
}

int haul__allocator_is_complete(const haul_allocator *allocator)
{
    return !allocator || (allocator->allocate && allocator->release &&
                          !allocator->reserve == !allocator->unreserve);
}

void *haul__allocate(const haul_allocator *allocator, size_t bytes, size_t alignment)
{
    const int saved = errno;
    void *memory;
    if (bytes == 0)
        return NULL;
    memory = allocator->allocate(allocator->user, bytes, alignment);
    if (memory && ((uintptr_t)memory & (alignment - 1)) != 0) {
        allocator->release(allocator->user, memory, bytes);
        memory = NULL;
    }
    errno = saved;
    return memory;
}

void *haul__allocate_zeroed(const haul_allocator *allocator, size_t bytes)
{
    void *memory = haul__allocate(allocator, bytes, 2 * sizeof(void *));
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

void haul__release(const haul_allocator *allocator, void *memory, size_t bytes)
{
    const int saved = errno;
    if (memory)
        allocator->release(allocator->user, memory, bytes);
    errno = saved;
}

void *haul__reserve(const haul_allocator *allocator, size_t bytes, int is_filled)
{
    const int saved = errno;
    void *memory = allocator->reserve ? allocator->reserve(allocator->user, bytes) : NULL;
#ifdef MADV_NOHUGEPAGE
    if (memory)
        (void)madvise(memory, is_filled && bytes > SMALL_PAGES_BYTES ? SMALL_PAGES_BYTES : bytes,
                      MADV_NOHUGEPAGE);
#endif
    errno = saved;
    return memory;
}

void haul__unreserve(const haul_allocator *allocator, void *memory, size_t bytes)
{
    const int saved = errno;
    allocator->unreserve(allocator->user, memory, bytes);
    errno = saved;
}

int haul__grow(const haul_allocator *allocator, void *array, size_t *capacity, size_t needed,
               size_t element_bytes)
{
    size_t wanted;
    if (needed <= *capacity)
        return 1;
    wanted = *capacity > SIZE_MAX / 2 ? needed : *capacity * 2;
    if (wanted < needed)
        wanted = needed;
    return haul__grow_to(allocator, array, capacity, wanted < 8 ? 8 : wanted, element_bytes);
}

int haul__grow_to(const haul_allocator *allocator, void *array, size_t *capacity, size_t wanted,
                  size_t element_bytes)
{
    size_t bytes;
    void *data, *grown;
    if (haul__multiply_overflows(wanted, element_bytes, &bytes))
        return 0;
    grown = haul__allocate(allocator, bytes, 2 * sizeof(void *));
    if (!grown)
        return 0;
    memcpy(&data, array, sizeof data); /* a pointer of any type: all have one representation */
    if (data) {
        memcpy(grown, data, *capacity * element_bytes);
        haul__release(allocator, data, *capacity * element_bytes);
    }
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return 1;
}
