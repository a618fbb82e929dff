/* The first door: where the library's memory comes from.
 *
 * All host memory that Haul takes comes from one such table, given when a context, a type or a
 * device is made. NULL in its place means malloc and free, and mmap for address ranges. The table
 * is copied; `user` must outlive what was made with it. Its functions are called in the threads
 * that call Haul: by several at once, where several use what was made with it (arenas of one
 * context, say).
 *
 * What the functions do to errno stays here: a call of the library that succeeds leaves errno as it
 * was.
 *
 * By default a range is locked page by page as it is touched, in a process that has locked all its
 * memory to come (mlockall with MCL_FUTURE); RLIMIT_MEMLOCK then counts all of it, and what it
 * refuses the library does without.
 */
#ifndef HAUL_MEMORY_H
#define HAUL_MEMORY_H

#include "haul/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_allocator {
    void *user;
    /* `bytes` > 0 uninitialised bytes at a multiple of `alignment` (a power of two), or NULL: out
     * of memory. A result that is not aligned is given back and reported as HAUL_ERROR_MEMORY. */
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    /* Takes back what allocate gave, with the same size. Never called with NULL. Cannot fail. */
    void (*release)(void *user, void *memory, size_t bytes);
    /* Optional, both or neither: a large range of zeros that costs memory only where it is touched.
     * NULL from `reserve` is no failure: the library then does with less, a little slower. */
    void *(*reserve)(void *user, size_t bytes);
    void (*unreserve)(void *user, void *memory, size_t bytes);
} haul_allocator;

#ifdef __cplusplus
}
#endif
#endif
