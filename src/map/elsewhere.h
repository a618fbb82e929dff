/* Memory of the source that has copies outside of the graph at hand: discovery stops there, and a
 * pointer into it becomes the address of that copy.
 */
#ifndef HAUL_MAP_ELSEWHERE_H
#define HAUL_MAP_ELSEWHERE_H

#include "base/base.h"

typedef enum haul__meeting {
    HAUL__HERE,        /* the range begins in no such memory */
    HAUL__WHOLE,       /* all of it has a copy, in one piece */
    HAUL__REACHES_OUT, /* its beginning has a copy, and its end has none */
    HAUL__NOT_NOTED    /* it has a copy, and there is no memory to note that */
} haul__meeting;

#define HAUL__SURROUNDINGS 64u      /* pages that are known at a time; a power of two */
#define HAUL__SURROUNDINGS_PAGE 12u /* bytes of a page, as a power of two */
#define HAUL__SURROUNDINGS_SHIFT 26u

/* What an answer of `meet` tells of the addresses around it: in their page the ranges with copies
 * have equal bytes at equal distances. */
typedef struct haul__surroundings {
    uintptr_t begin;      /* of the page; 0: none is known, and the first page has no copies */
    int32_t first;        /* where the first range begins, from `begin` */
    uint32_t count, each; /* ranges, and the bytes of one */
    uint32_t stride;      /* from one to the next; less than a page */
    uint32_t inverse;     /* x * inverse >> HAUL__SURROUNDINGS_SHIFT: x / stride, below 2^13 */
    const void *source;   /* where `meet` knows this from; only `meet` and `stop` read it */
} haul__surroundings;

typedef struct haul__elsewhere {
    void *user;
    /* A pointer of discovery leads to `bytes` bytes, at least one. */
    haul__meeting (*meet)(void *user, uintptr_t address, size_t bytes);
    /* The copy's address; 0: the byte has none. Any thread. */
    uintptr_t (*copy_of)(void *user, uintptr_t address);
    /* what the last answers of `meet` tell, each page at its place (haul__place_around); NULL:
     * never any */
    const haul__surroundings *around;
    /* As `meet`, if `around` tells that all of them have a copy, that of range i. */
    haul__meeting (*stop)(void *user, uintptr_t address, size_t bytes, uint32_t i);
} haul__elsewhere;

HAUL__INLINE size_t haul__place_around(uintptr_t address)
{
    return address >> HAUL__SURROUNDINGS_PAGE & (HAUL__SURROUNDINGS - 1);
}

/* What surroundings tell of a range. */
typedef enum haul__told {
    HAUL__UNTOLD,
    HAUL__CLEAR,  /* no byte of it has a copy */
    HAUL__COPIED, /* all of it has one: that of range *i */
} haul__told;

HAUL__INLINE haul__told haul__tell_around(const haul__surroundings *s, uintptr_t address,
                                          size_t bytes, uint32_t *i)
{
    const uintptr_t from = address - s->begin, page = (uintptr_t)1 << HAUL__SURROUNDINGS_PAGE;
    uint32_t x, in_range;
    if (from >= page || bytes > page - from)
        return HAUL__UNTOLD;
    if ((int32_t)from < s->first)
        return (int32_t)(from + bytes) <= s->first ? HAUL__CLEAR : HAUL__UNTOLD;
    x = (uint32_t)from - (uint32_t)s->first;
    *i = (uint32_t)((uint64_t)x * s->inverse >> HAUL__SURROUNDINGS_SHIFT);
    in_range = x - *i * s->stride;
    if (*i < s->count && in_range < s->each)
        return bytes <= s->each - in_range ? HAUL__COPIED : HAUL__UNTOLD;
    return *i + 1 >= s->count || bytes <= s->stride - in_range ? HAUL__CLEAR : HAUL__UNTOLD;
}

/* The same by all that is known around; *i is 0 unless a range tells it. */
HAUL__INLINE haul__told haul__told_around(const haul__elsewhere *elsewhere, uintptr_t address,
                                          size_t bytes, uint32_t *i)
{
    const haul__surroundings *around = elsewhere->around;
    *i = 0;
    return HAUL__LIKELY(around != NULL)
               ? haul__tell_around(&around[haul__place_around(address)], address, bytes, i)
               : HAUL__UNTOLD;
}

HAUL__INLINE int haul__is_clear_around(const haul__elsewhere *elsewhere, uintptr_t address,
                                       size_t bytes)
{
    uint32_t i;
    return haul__told_around(elsewhere, address, bytes, &i) == HAUL__CLEAR;
}

#endif
