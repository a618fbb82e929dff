/* What C99 lacks and every compiler has: bit counting, prefetch, atomics, streaming stores. The only file that names a
 * compiler or a processor.
 */
#ifndef HAUL_BASE_COMPILER_H
#define HAUL_BASE_COMPILER_H

#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAUL__SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define HAUL__SANITIZED 1
#endif
#endif

/* On a function that counts or shifts bits in its innermost loop: compile it a second time for processors with the
 * instructions for that, and let the loader choose. Not under sanitizers, whose runtime is not up when the loader asks. */
#if defined(__x86_64__) && defined(__ELF__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&  \
    !defined(HAUL__SANITIZED) && !defined(HAUL_NO_CLONES)
#if __GNUC__ >= 12
#define HAUL__HOT __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define HAUL__HOT __attribute__((target_clones("default", "avx2")))
#endif
#else
#define HAUL__HOT
#endif

#if defined(__GNUC__)
#define HAUL__LIKELY(x) __builtin_expect(!!(x), 1)
#define HAUL__UNLIKELY(x) __builtin_expect(!!(x), 0)
#define HAUL__INLINE static inline __attribute__((always_inline))
#define HAUL__NOINLINE __attribute__((noinline))
#define haul__prefetch(p) __builtin_prefetch((const void *)(p), 0, 3)
#define haul__prefetch_once(p) __builtin_prefetch((const void *)(p), 0, 0) /* will not be needed again soon */
#define haul__prefetch_write(p) __builtin_prefetch((const void *)(p), 1, 3)
#define haul__bits32(x) ((unsigned)__builtin_popcount(x))
#define haul__bits64(x) ((unsigned)__builtin_popcountll(x))
#define haul__lowest32(x) ((unsigned)__builtin_ctz(x))     /* x != 0 */
#define haul__lowest64(x) ((unsigned)__builtin_ctzll(x))   /* x != 0 */
#define haul__highest64(x) (63u - (unsigned)__builtin_clzll(x)) /* x != 0 */
#define haul__atomic_swap(p, v) __atomic_exchange_n(p, v, __ATOMIC_ACQUIRE)
#define haul__atomic_store(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define haul__atomic_add(p, v) __atomic_add_fetch(p, v, __ATOMIC_ACQ_REL)
#define haul__atomic_load(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#else
#error "Haul needs a compiler with GNU builtins (gcc, clang); add yours here"
#endif

#endif
