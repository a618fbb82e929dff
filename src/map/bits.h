/* Ranges of bits; conversions between a bit a granule and a bit a word.
 */
#ifndef HAUL_MAP_BITS_H
#define HAUL_MAP_BITS_H

#include "base/base.h"

/* The bits from `low` to `high`, both included and below the width. */
HAUL__INLINE uint32_t haul__range32(unsigned low, unsigned high)
{
    return (UINT32_MAX >> (31u - high)) & (UINT32_MAX << low);
}

HAUL__INLINE uint64_t haul__range64(unsigned low, unsigned high)
{
    return (UINT64_MAX >> (63u - high)) & (UINT64_MAX << low);
}

/* The first `count` bits; all 64 if `count` is larger. */
HAUL__INLINE uint64_t haul__first_words(size_t count)
{
    return count == 0 ? 0 : UINT64_MAX >> (64u - (count < 64 ? count : 64));
}

/* Each bit doubled: both words of each granule. */
HAUL__INLINE uint64_t haul__words_of(uint32_t granules)
{
    uint64_t x = granules;
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = (x | x << 2) & UINT64_C(0x3333333333333333);
    x = (x | x << 1) & UINT64_C(0x5555555555555555);
    return x | x << 1;
}

/* The even bits: the granules whose low word is set. */
HAUL__INLINE uint32_t haul__granules_of(uint64_t even)
{
    uint64_t x = even & UINT64_C(0x5555555555555555);
    x = (x | x >> 1) & UINT64_C(0x3333333333333333);
    x = (x | x >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = (x | x >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (uint32_t)(x | x >> 16);
}

/* The granules with at least one word set; those with both. */
HAUL__INLINE uint32_t haul__any_word(uint64_t words)
{
    return haul__granules_of(words | words >> 1);
}

HAUL__INLINE uint32_t haul__both_words(uint64_t words)
{
    return haul__granules_of(words & words >> 1);
}

#endif
