/* Memory of the source that has copies outside of the graph at hand: discovery stops there, and a
 * pointer into it becomes the address of that copy.
 */
#ifndef HAUL_MAP_ELSEWHERE_H
#define HAUL_MAP_ELSEWHERE_H

#include "base/index.h"
#include "base/list.h"

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
    uintptr_t begin;       /* of the page; 0: none is known, and the first page has no copies */
    int32_t first;         /* where the first range begins, from `begin` */
    uint32_t count, each;  /* ranges, and the bytes of one */
    uint32_t stride;       /* from one to the next; less than a page */
    uint32_t inverse;      /* x * inverse >> HAUL__SURROUNDINGS_SHIFT: x / stride, below 2^13 */
    uint32_t group;        /* of all ranges */
    uintptr_t delta, step; /* from the first range to its copy; from one delta to the next */
} haul__surroundings;

/* What discovery stopped at: all or a part of a range with a copy. */
typedef struct haul__stop {
    uintptr_t begin, end;
    uintptr_t delta; /* from its addresses to those of the copy */
    uint32_t group;  /* of the range */
} haul__stop;

/* The address of one, 0: none, the distance to the copy, and the most bytes that a stop there has
 * had. */
typedef struct haul__known_stop {
    uintptr_t address, delta;
    size_t bytes;
} haul__known_stop;

#define HAUL__STOPS_KNOWN 1024u /* a power of two */

/* All stops of a discovery. */
typedef struct haul__stop_list {
    HAUL__LIST(haul__stop) all;
    /* The next range of the row that the last answer of `meet` told of: a stop there needs no
     * question. 0: none is expected. `last`: the last one that ends in the page. */
    uintptr_t next, last, stride;
    size_t next_bytes;
    uintptr_t next_delta, step;
    uint32_t next_group;
    haul__known_stop known[HAUL__STOPS_KNOWN]; /* some of them, by a hash */
} haul__stop_list;

typedef struct haul__elsewhere {
    void *user;
    /* A pointer of discovery leads to `bytes` bytes, at least one. A stop is noted. */
    haul__meeting (*meet)(void *user, uintptr_t address, size_t bytes);
    /* The copy's address; 0: the byte has none. Any thread. */
    uintptr_t (*copy_of)(void *user, uintptr_t address);
    /* what the last answers of `meet` tell, each page at its place (haul__place_around); NULL:
     * never any */
    const haul__surroundings *around;
    haul__stop_list *stops; /* of the discovery under way; NULL: `around` is NULL, too */
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

/* Does an address of the page lie before its ranges? */
HAUL__INLINE int haul__is_before_ranges(const haul__surroundings *s, uintptr_t address)
{
    return (int32_t)(address - s->begin) < s->first;
}

HAUL__INLINE haul__told haul__tell_around(const haul__surroundings *s, uintptr_t address,
                                          size_t bytes, uint32_t *i)
{
    const uintptr_t from = address - s->begin, page = (uintptr_t)1 << HAUL__SURROUNDINGS_PAGE;
    uint32_t x, in_range;
    if (from >= page || bytes > page - from)
        return HAUL__UNTOLD;
    x = (uint32_t)from - (uint32_t)s->first;
    *i = (uint32_t)((uint64_t)x * s->inverse >> HAUL__SURROUNDINGS_SHIFT);
    in_range = x - *i * s->stride;
    if (*i < s->count && in_range < s->each)
        return bytes <= s->each - in_range ? HAUL__COPIED : HAUL__UNTOLD;
    if (HAUL__UNLIKELY((int32_t)x < 0)) /* before the first range: then *i is no number of one */
        return (int32_t)(from + bytes) <= s->first ? HAUL__CLEAR : HAUL__UNTOLD;
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

/* ---- Stops. */

HAUL__INLINE size_t haul__place_known(uintptr_t address)
{
    return (size_t)(haul__hash(address) >> 32) & (HAUL__STOPS_KNOWN - 1);
}

/* Is a stop known? A larger object may begin there, too: a struct with the address of its first
 * member. */
HAUL__INLINE int haul__is_known(const haul__known_stop *known, uintptr_t address, size_t bytes)
{
    return known->address == address && bytes <= known->bytes;
}

/* Notes a stop, unless it is known. 0: the list has no room. */
HAUL__INLINE int haul__note_stop(haul__stop_list *stops, uintptr_t address, size_t bytes,
                                 uintptr_t delta, uint32_t group)
{
    haul__known_stop *known = &stops->known[haul__place_known(address)];
    haul__stop *stop;
    if (haul__is_known(known, address, bytes))
        return 1;
    if (HAUL__UNLIKELY(stops->all.count == stops->all.capacity))
        return 0;
    stop = &stops->all.at[stops->all.count++];
    known->address = address;
    known->delta = delta;
    known->bytes = bytes;
    stop->begin = address;
    stop->end = address + bytes;
    stop->delta = delta;
    stop->group = group;
    return 1;
}

/* As `meet`, if `around` tells that all of the bytes have a copy, that of range i. */
HAUL__INLINE haul__meeting haul__stop_around(const haul__elsewhere *elsewhere, uintptr_t address,
                                             size_t bytes, uint32_t i)
{
    const haul__surroundings *s = &elsewhere->around[haul__place_around(address)];
    return HAUL__LIKELY(
               haul__note_stop(elsewhere->stops, address, bytes, s->delta + i * s->step, s->group))
               ? HAUL__WHOLE
               : elsewhere->meet(elsewhere->user, address, bytes);
}

/* Is that the range which is expected? Then it is noted. */
HAUL__INLINE int haul__stop_expected(const haul__elsewhere *elsewhere, uintptr_t address,
                                     size_t bytes)
{
    haul__stop_list *stops = elsewhere->stops;
    if (HAUL__UNLIKELY(!stops) || address != stops->next || bytes != stops->next_bytes ||
        !haul__note_stop(stops, address, bytes, stops->next_delta, stops->next_group))
        return 0;
    stops->next = address < stops->last ? address + stops->stride : 0;
    stops->next_delta += stops->step;
    return 1;
}

/* The distance from a known stop to its copy. 0: it is not known. */
HAUL__INLINE int haul__find_known(const haul__elsewhere *elsewhere, uintptr_t address,
                                  uintptr_t *delta)
{
    const haul__known_stop *known;
    if (HAUL__UNLIKELY(!elsewhere->stops))
        return 0;
    known = &elsewhere->stops->known[haul__place_known(address)];
    *delta = known->delta;
    return known->address == address;
}

#endif
