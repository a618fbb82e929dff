/* Multiples of a number: is a distance one of them? A multiplication tells.
 *
 * An odd number has an inverse modulo 2^64. A multiple times that inverse is the quotient, so it is
 * at most the largest quotient. The product takes each value once, so that of any other distance is
 * larger. An even number is an odd one times a power of two: the product is rotated by the power.
 * Low bits, which a multiple does not have, become high ones.
 */
#ifndef HAUL_BASE_MULTIPLES_H
#define HAUL_BASE_MULTIPLES_H

#include "base/base.h"

typedef struct haul__multiples {
    uint64_t inverse, most; /* of the odd part; the largest quotient */
    unsigned shift;         /* the power of two */
} haul__multiples;

/* Those of `number`, which is not 0. */
HAUL__INLINE haul__multiples haul__multiples_of(uint64_t number)
{
    haul__multiples of;
    uint64_t odd;
    unsigned right;
    of.shift = haul__lowest64(number);
    of.most = UINT64_MAX / number;
    odd = number >> of.shift;
    of.inverse = odd; /* right in three bits; each step doubles that */
    for (right = 3; right < 64; right *= 2)
        of.inverse *= 2 - odd * of.inverse;
    return of;
}

HAUL__INLINE int haul__is_multiple(const haul__multiples *of, uint64_t distance)
{
    const uint64_t product = distance * of->inverse;
    return (product >> of->shift | product << (63 - of->shift) << 1) <= of->most;
}

#endif
