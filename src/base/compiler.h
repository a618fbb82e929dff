/* Extensions of compilers that C99 lacks: bit counting, prefetch, atomics. No other file except
 * stream.c and digest_wide.c names a compiler or a processor.
 */
#ifndef HAUL_BASE_COMPILER_H
#define HAUL_BASE_COMPILER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAUL__SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
    __has_feature(thread_sanitizer)
#define HAUL__SANITIZED 1
#endif
#endif

/* For a function that counts or shifts bits in its innermost loop. It is compiled a second time,
 * for processors with instructions for that, and the loader chooses one of the two. Static
 * functions only: a shared library would export others. Not under sanitizers, whose runtime has not
 * started when the loader chooses. Only with glibc: the loader of musl cannot choose, and a call
 * would jump to nowhere. (string.h of glibc defines __GLIBC__; musl-gcc defines __gnu_linux__
 * too.) */
#if defined(__x86_64__) && defined(__ELF__) && defined(__linux__) && defined(__GLIBC__) &&         \
    defined(__GNUC__) && !defined(__clang__) && !defined(HAUL__SANITIZED) &&                       \
    !defined(HAUL_NO_CLONES)
#if __GNUC__ >= 12
#define HAUL__HOT __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define HAUL__HOT __attribute__((target_clones("default", "avx2")))
#endif
#else
#define HAUL__HOT
#endif

#define HAUL__LINE ((size_t)64) /* bytes of a cache line */

#if defined(__GNUC__)
#ifndef HAUL_NO_CLONES
#define HAUL__LIKELY(x) __builtin_expect(!!(x), 1)
#define HAUL__UNLIKELY(x) __builtin_expect(!!(x), 0)
#define HAUL__INLINE static inline __attribute__((always_inline))
#else /* one function, whose branches and conditions are counted once */
#define HAUL__LIKELY(x) (!!(x))
#define HAUL__UNLIKELY(x) (!!(x))
#define HAUL__INLINE static inline
#endif
#define HAUL__NOINLINE __attribute__((noinline))
#define haul__prefetch(p) __builtin_prefetch((const void *)(p), 0, 3)
/* for bytes that are not needed again soon */
#define haul__prefetch_once(p) __builtin_prefetch((const void *)(p), 0, 0)
/* into the second-level cache */
#define haul__prefetch_early(p) __builtin_prefetch((const void *)(p), 0, 2)
#define haul__prefetch_write(p) __builtin_prefetch((const void *)(p), 1, 3)
#define haul__bits32(x) ((unsigned)__builtin_popcount(x))
#define haul__bits64(x) ((unsigned)__builtin_popcountll(x))
#define haul__lowest32(x) ((unsigned)__builtin_ctz(x))          /* x != 0 */
#define haul__lowest64(x) ((unsigned)__builtin_ctzll(x))        /* x != 0 */
#define haul__highest64(x) (63u - (unsigned)__builtin_clzll(x)) /* x != 0 */
#define haul__atomic_swap(p, v) __atomic_exchange_n(p, v, __ATOMIC_ACQUIRE)
#define haul__atomic_store(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define haul__atomic_add(p, v) __atomic_add_fetch(p, v, __ATOMIC_ACQ_REL)
#define haul__atomic_load(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
/* *p becomes v if it is *was; else *was becomes *p, and the answer is 0. */
#define haul__atomic_replace(p, was, v)                                                            \
    __atomic_compare_exchange_n(p, was, v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#if defined(__x86_64__) || defined(__i386__)
/* for a loop that waits for another thread */
#define haul__relax() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define haul__relax() __asm__ volatile("yield")
#else
#define haul__relax() ((void)0)
#endif
#else
#error "Haul needs a compiler with GNU builtins (gcc, clang); add yours here"
#endif

/* The address of the thread's block, in one load: by x86's ABI it is the block's first word. */
#if defined(__linux__) && defined(__x86_64__) && !defined(__ILP32__)
HAUL__INLINE uintptr_t haul__thread_address(void)
{
    uintptr_t address;
    __asm__("movq %%fs:0, %0" : "=r"(address));
    return address;
}
#define HAUL__HAS_THREAD_ADDRESS 1
#endif

/* Vectors that one move loads or stores. */
typedef unsigned char haul__wide __attribute__((vector_size(32)));
typedef unsigned char haul__half __attribute__((vector_size(16)));

#define HAUL__MOVE(kind, to, from)                                                                 \
    do {                                                                                           \
        kind moved;                                                                                \
        memcpy(&moved, from, sizeof moved);                                                        \
        memcpy(to, &moved, sizeof moved);                                                          \
    } while (0)

/* A copy of a few words or granules. A compiler that knows a size to be small may turn memcpy into
 * a string instruction, which takes longer to start than such a copy takes in all. The last move
 * may overlap the one before: that is cheaper than handling a rest. */
HAUL__INLINE void haul__copy_few(unsigned char *to, const unsigned char *from, size_t bytes)
{
    size_t at;
    if (bytes >= sizeof(haul__wide)) {
        for (at = 0; at + sizeof(haul__wide) < bytes; at += sizeof(haul__wide))
            HAUL__MOVE(haul__wide, to + at, from + at);
        HAUL__MOVE(haul__wide, to + bytes - sizeof(haul__wide), from + bytes - sizeof(haul__wide));
    } else if (bytes >= sizeof(haul__half)) {
        HAUL__MOVE(haul__half, to, from);
        HAUL__MOVE(haul__half, to + bytes - sizeof(haul__half), from + bytes - sizeof(haul__half));
    } else {
        for (at = 0; at < bytes; at += sizeof(void *))
            HAUL__MOVE(void *, to + at, from + at);
    }
}

/* Do `bytes` bytes, at least those of one haul__wide, differ? Faster than a call of memcmp up to a
 * few hundred bytes. */
HAUL__INLINE int haul__differ_few(const unsigned char *a, const unsigned char *b, size_t bytes)
{
    haul__wide left, right, differ = { 0 };
    uint64_t words[sizeof(haul__wide) / sizeof(uint64_t)];
    size_t at;
    for (at = 0; at < bytes; at += sizeof left) {
        const size_t from = at + sizeof left < bytes ? at : bytes - sizeof left;
        memcpy(&left, a + from, sizeof left);
        memcpy(&right, b + from, sizeof right);
        differ |= left ^ right;
    }
    memcpy(words, &differ, sizeof words);
    return (words[0] | words[1] | words[2] | words[3]) != 0;
}

/* Memory that nobody may touch, marked as such for AddressSanitizer. */
#if defined(__SANITIZE_ADDRESS__)
#define HAUL__POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAUL__POISONS 1
#endif
#endif
#ifdef HAUL__POISONS
#include <sanitizer/asan_interface.h>
#define haul__poison(p, bytes) __asan_poison_memory_region(p, bytes)
#define haul__unpoison(p, bytes) __asan_unpoison_memory_region(p, bytes)
#define haul__is_poisoned(p) __asan_address_is_poisoned(p)
#else
#define HAUL__POISONS 0
#define haul__poison(p, bytes) ((void)(p), (void)(bytes))
#define haul__unpoison(p, bytes) ((void)(p), (void)(bytes))
#define haul__is_poisoned(p) ((void)(p), 0)
#endif

/* Have all these bytes been set, and may they be read? Only sanitizers know; elsewhere: 1. */
#if HAUL__POISONS
#define haul__are_set(p, bytes) (!__asan_region_is_poisoned((void *)(uintptr_t)(p), bytes))
#endif
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define haul__are_set(p, bytes) (__msan_test_shadow(p, bytes) < 0)
#endif
#endif
#ifndef haul__are_set
#define haul__are_set(p, bytes) ((void)(p), (void)(bytes), 1)
#endif

#endif
