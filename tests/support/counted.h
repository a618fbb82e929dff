/* A context's memory, counted: how many bytes it holds, the most that it has held, and how often it
 * has asked.
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
    if (posix_memalign(&memory, alignment < sizeof memory ? sizeof memory : alignment, bytes))
        return NULL;
    c->calls++;
    c->held += bytes;
    c->most = c->held > c->most ? c->held : c->most;
    return memory;
}

static inline void counted_release(void *user, void *memory, size_t bytes)
{
    ((counted *)user)->held -= bytes;
    free(memory);
}

/* A new context that allocates by *c, which begins at 0 and must outlive it. */
static inline haul_status counted_open(counted *c, haul_context **context)
{
    haul_context_options options;
    memset(&options, 0, sizeof options);
    memset(c, 0, sizeof *c);
    options.allocate = counted_allocate;
    options.release = counted_release;
    options.allocator_user = c;
    return haul_context_create(&options, context);
}

#endif
