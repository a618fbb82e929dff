/* Clock, random numbers and memory of the bench.
 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "bench.h"

double bench_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

double bench_processor_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* splitmix64, whose state counts in such steps */
#define STEP UINT64_C(0x9e3779b97f4a7c15)

uint64_t bench_next(bench_random *random)
{
    uint64_t z = random->state += STEP;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

size_t bench_below(bench_random *random, size_t limit)
{
    return (size_t)(bench_next(random) % limit);
}

void bench_skip(bench_random *random, uint64_t draws)
{
    random->state += draws * STEP;
}

void bench_die(const char *what, const haul_error *error)
{
    fprintf(stderr, "haul_bench: %s\n", what);
    if (error && error->status)
        fprintf(stderr, "  %s at %s: %s\n", haul_status_name(error->status), error->path,
                error->text);
    exit(1);
}

void *bench_map_untouched(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        bench_die("out of memory", NULL);
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

void *bench_map(size_t bytes)
{
    return memset(bench_map_untouched(bytes), 0, bytes);
}

void bench_unmap(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

void *bench_allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory)
        bench_die("out of memory", NULL);
    return memory;
}

void bench_forget_blocks(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
