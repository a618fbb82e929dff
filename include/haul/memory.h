/* The allocator: the functions that give the library its host memory.
 *
 * All host memory that Haul takes comes from such functions, given when a context is made. NULL in
 * their place means malloc and free, and mmap for address ranges. `user` must outlive the context
 * and every object that was made from it.
 *
 * They are called in the threads that call Haul, and by several at once if these use objects of one
 * context: arenas, say, or types. A type is released in the thread that drops its last hold, by
 * haul_type_free or by freeing a plan, arena or shipment that uses it, also while another thread's
 * call on the context is under way.
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
