/* The base of all rooms: standard headers, arithmetic that reports overflow, unaligned words.
 */
#ifndef HAUL_BASE_H
#define HAUL_BASE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "haul/status.h"
#include "base/compiler.h"

/* Each answers 1, and leaves *result alone, when the sum or product does not fit. Factors of half a
 * word need no division. */
static inline int haul__add_overflows(size_t a, size_t b, size_t *result)
{
    if (a > SIZE_MAX - b)
        return 1;
    *result = a + b;
    return 0;
}

static inline int haul__multiply_overflows(size_t a, size_t b, size_t *result)
{
    if ((a | b) >> (sizeof a * 4) != 0 && b != 0 && a > SIZE_MAX / b)
        return 1;
    *result = a * b;
    return 0;
}

static inline int haul__sum_overflows(int64_t a, int64_t b, int64_t *result)
{
    if ((b > 0 && a > INT64_MAX - b) || (b < 0 && a < INT64_MIN - b))
        return 1;
    *result = a + b;
    return 0;
}

static inline int haul__product_overflows(int64_t a, int64_t b, int64_t *result)
{
    const uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a,
                   y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    if ((x | y) >> 31 != 0 && y != 0 && x > INT64_MAX / y)
        return 1;
    *result = a * b;
    return 0;
}

/* Does [offset, offset + bytes) lie within `whole` bytes? */
static inline int haul__fits(size_t offset, size_t bytes, size_t whole)
{
    return offset <= whole && bytes <= whole - offset;
}

static inline int haul__is_power_of_two(size_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* The pointer-sized word at any address, aligned or not. */
HAUL__INLINE uintptr_t haul__load_word(const void *from)
{
    uintptr_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

#endif
