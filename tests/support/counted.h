/* A context's memory, counted: how many bytes it holds, the most that it has held, and how often it
 * has asked. Threads of the context may ask at once; the most is exact if one thread asks.
 */
#ifndef HAUL_TESTS_COUNTED_H
#define HAUL_TESTS_COUNTED_H

#include <stdlib.h>
#include <string.h>

#include "haul/context.h"

typedef struct counted {
    size_t held, most; /* bytes */
    size_t calls;      /* of allocate */
} counted;

static inline void *counted_allocate(void *user, size_t bytes, size_t alignment)
{
    counted *c = (counted *)user;
    void *memory = NULL;
    size_t held;
    if (posix_memalign(&memory, alignment < sizeof memory ? sizeof memory : alignment, bytes))
        return NULL;
    held = __atomic_add_fetch(&c->held, bytes, __ATOMIC_RELAXED);
    __atomic_add_fetch(&c->calls, 1, __ATOMIC_RELAXED);
    if (held > __atomic_load_n(&c->most, __ATOMIC_RELAXED))
        __atomic_store_n(&c->most, held, __ATOMIC_RELAXED);
    return memory;
}

static inline void counted_release(void *user, void *memory, size_t bytes)
{
    __atomic_sub_fetch(&((counted *)user)->held, bytes, __ATOMIC_RELAXED);
    free(memory);
}

/* A new context of so many threads that allocates by *c, which begins at 0 and must outlive it. */
static inline haul_status counted_open_threads(counted *c, unsigned threads, haul_context **context)
{
    haul_context_options options;
    memset(&options, 0, sizeof options);
    memset(c, 0, sizeof *c);
    options.threads = threads;
    options.allocate = counted_allocate;
    options.release = counted_release;
    options.allocator_user = c;
    options.any_thread = 1;
    return haul_context_create(&options, context);
}

/* The same with one thread. */
static inline haul_status counted_open(counted *c, haul_context **context)
{
    return counted_open_threads(c, 1, context);
}

#endif
