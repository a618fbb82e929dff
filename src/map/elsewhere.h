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

/* What an answer of `meet` tells of the addresses around it: in `bytes` bytes from `begin` on, the
 * ranges with copies have equal bytes at equal distances. */
typedef struct haul__surroundings {
    uintptr_t begin;
    size_t bytes;         /* 0: nothing is known */
    int32_t first;        /* where the first range begins, from `begin` */
    uint32_t count, each; /* ranges, and the bytes of one */
    uint32_t stride;      /* from one to the next; less than 4096 */
    uint32_t inverse;     /* x * inverse >> HAUL__SURROUNDINGS_SHIFT: x / stride, below 2^13 */
} haul__surroundings;

#define HAUL__SURROUNDINGS_SHIFT 26u

typedef struct haul__elsewhere {
    void *user;
    /* A pointer of discovery leads to `bytes` bytes, at least one. */
    haul__meeting (*meet)(void *user, uintptr_t address, size_t bytes);
    /* The copy's address; 0: the byte has none. Any thread. */
    uintptr_t (*copy_of)(void *user, uintptr_t address);
    const haul__surroundings *around; /* what the last answers of `meet` tell; NULL: never any */
} haul__elsewhere;

/* The number of the range that begins at or before a byte, and the distance to it. A byte before
 * the first one: a number beyond them all. */
HAUL__INLINE uint32_t haul__number_around(const haul__surroundings *s, uint32_t byte,
                                          uint32_t *in_range)
{
    const uint32_t x = byte - (uint32_t)s->first,
                   i = (uint32_t)((uint64_t)x * s->inverse >> HAUL__SURROUNDINGS_SHIFT);
    *in_range = x - i * s->stride;
    return i;
}

/* Does it tell that no byte of a range has a copy? */
HAUL__INLINE int haul__is_clear_around(const haul__surroundings *s, uintptr_t address, size_t bytes)
{
    const uintptr_t from = address - s->begin;
    uint32_t in_range, i;
    if (from >= s->bytes || bytes > s->bytes - from)
        return 0;
    if ((int32_t)from < s->first)
        return (int32_t)(from + bytes) <= s->first;
    i = haul__number_around(s, (uint32_t)from, &in_range);
    if (i + 1 < s->count)
        return in_range >= s->each && bytes <= s->stride - in_range;
    return i >= s->count || in_range >= s->each;
}

#endif
