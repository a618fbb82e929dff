/* The allocator: the functions that give the library its host memory.
 *
 * All host memory that Haul takes comes from such functions, given when a context or a type is
 * made. NULL in their place means malloc and free, and mmap for address ranges. `user` must outlive
 * every object that was made with them. They are called in the threads that call Haul. Several
 * threads may call them at once, if they use objects that share them (arenas of one context, say).
 *
 * The functions may change errno: a call of the library that succeeds restores it.
 *
 * In a process that has locked all its future memory (mlockall with MCL_FUTURE), a range of the
 * default allocator is locked page by page as it is touched. RLIMIT_MEMLOCK then counts the whole
 * range; if the limit refuses the range, the library does without.
 */
#ifndef HAUL_MEMORY_H
#define HAUL_MEMORY_H

#include "haul/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_allocator {
    void *user;
    /* Answers `bytes` uninitialised bytes (never 0) at a multiple of `alignment` (a power of two),
     * or NULL: out of memory. A result that is not aligned is given back and reported as
     * HAUL_ERROR_MEMORY. */
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    /* Takes back what allocate gave, with the same size. Never called with NULL. Cannot fail. */
    void (*release)(void *user, void *memory, size_t bytes);
    /* Optional, both or neither: a large range of zeros that costs memory only where it is touched.
     * NULL from `reserve` is no failure: the library then works with less, a little slower. */
    void *(*reserve)(void *user, size_t bytes);
    void (*unreserve)(void *user, void *memory, size_t bytes);
} haul_allocator;

#ifdef __cplusplus
}
#endif
#endif
