/* Digests by vectors of 32 bytes: XXH3 once more, compiled for such a processor.
 *
 * The header takes the vectors that the compiler may use. So this file lets it use AVX2, and who
 * calls asks the processor first. Such a digest keeps up with a copy: one that is made of each few
 * kilobytes as they are copied, out of the first-level cache, costs 3 to 6 % of the copy. By
 * vectors of 16 bytes it costs a third, in any order.
 */
#include "base/digest_wide.h"

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#define XXH_PRIVATE_API
#define XXH_VECTOR 2 /* AVX2 */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#include <xxhash.h>

#define COPIED_BYTES ((size_t)8192) /* at a time */

uint64_t haul__digest_wide(const void *bytes, size_t count, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, count, seed);
}

uint64_t haul__digest_copy_wide(void *to, const void *from, size_t count, uint64_t seed)
{
    const unsigned char *next = from;
    unsigned char *at = to;
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset_withSeed(&state, seed);
    while (count > 0) {
        const size_t bytes = count < COPIED_BYTES ? count : COPIED_BYTES;
        memcpy(at, next, bytes);
        XXH3_64bits_update(&state, at, bytes);
        at += bytes;
        next += bytes;
        count -= bytes;
    }
    return XXH3_64bits_digest(&state);
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

int haul__has_wide_digests(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}

#else

int haul__has_wide_digests(void)
{
    return 0;
}

uint64_t haul__digest_wide(const void *bytes, size_t count, uint64_t seed)
{
    (void)bytes;
    (void)count;
    return seed;
}

uint64_t haul__digest_copy_wide(void *to, const void *from, size_t count, uint64_t seed)
{
    (void)to;
    (void)from;
    (void)count;
    return seed;
}

#endif
