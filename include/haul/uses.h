/* Counting what kernels use, for the hints of a ship (haul_place_hint in ship.h).
 *
 * In a profile build, which defines HAUL_COUNT_USES, HAUL_USE counts the bytes that a kernel
 * reaches through it; in any other build it is the bare expression and costs nothing:
 *
 *     next[i] = HAUL_USE(&m->uses[0], m->mass[i]) + HAUL_USE(&m->uses[1], m->speed[i]);
 *
 * A counter is a uint64_t that kernels can write, one for each hint: a member of the graph, say,
 * that comes back with the results. The program then sets the hints' uses, and haul_uses_write
 * keeps them for builds that do not count.
 *
 * This header is for both sides: C99, C++, and CUDA functions of host and device. Any number of
 * threads may count at once.
 */
#ifndef HAUL_USES_H
#define HAUL_USES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define HAUL__USES_API static inline __host__ __device__
#else
#define HAUL__USES_API static inline
#endif

/* Adds `bytes` to a counter. Any thread. */
HAUL__USES_API void haul_count_use(uint64_t *counter, size_t bytes)
{
#if defined(__CUDACC__) && defined(__CUDA_ARCH__)
    (void)atomicAdd((unsigned long long *)counter, (unsigned long long)bytes);
#else
    (void)__atomic_fetch_add(counter, (uint64_t)bytes, __ATOMIC_RELAXED);
#endif
}

/* `what`, an lvalue but no bit field, whose bytes are counted: to be read, or written, or both. */
#ifdef HAUL_COUNT_USES
#define HAUL_USE(counter, what) (*(haul_count_use((counter), sizeof(what)), &(what)))
#else
#define HAUL_USE(counter, what) (what)
#endif

#endif
