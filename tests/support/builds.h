/* What kind of build this is: with which sanitizer, and whether it is a slow one. There large cases
 * are made smaller: LARGE(n, m) is n in a release build of 64 bits, and m in all others.
 */
#ifndef HAUL_TESTS_BUILDS_H
#define HAUL_TESTS_BUILDS_H

#include <stdint.h>

#ifdef __SANITIZE_ADDRESS__
#define BUILD_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define BUILD_TSAN 1
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define BUILD_ASAN 1
#endif
#if __has_feature(memory_sanitizer)
#define BUILD_MSAN 1
#endif
#if __has_feature(thread_sanitizer)
#define BUILD_TSAN 1
#endif
#endif

#if defined(BUILD_ASAN) || defined(BUILD_MSAN) || defined(BUILD_TSAN)
#define BUILD_SANITIZED 1
#else
#define BUILD_SANITIZED 0
#endif

/* Are addresses numbers that data may well hold? A sanitizer's heap lies at round addresses in
 * mappings of terabytes, an emulator's below 4 GiB. Then only words that lead into memory of the
 * test's own tell a hidden pointer. */
#if BUILD_SANITIZED || defined(HAUL_EMULATED)
#define BUILD_LIKELY_ADDRESSES 1
#else
#define BUILD_LIKELY_ADDRESSES 0
#endif

/* Are addresses numbers of 4 bytes? Random words of 4 bytes are addresses by chance then, wherever
 * these lead. */
#if defined(HAUL_EMULATED) || UINTPTR_MAX >> 31 < 2
#define BUILD_SHORT_ADDRESSES 1
#else
#define BUILD_SHORT_ADDRESSES 0
#endif

#if BUILD_SANITIZED || defined(HAUL_COVERAGE) || BUILD_SHORT_ADDRESSES
#define LARGE(full, smaller) (smaller)
#else
#define LARGE(full, smaller) (full)
#endif

#endif
