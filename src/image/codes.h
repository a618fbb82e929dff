/* The codes of an arena's granules, while it is scanned: what begins with each, or goes on with it.
 */
#ifndef HAUL_IMAGE_CODES_H
#define HAUL_IMAGE_CODES_H

#include "image/kinds.h"

/* The codes. A copy stays in registers while codes are written. */
typedef struct haul__codes {
    uint64_t *at;
    const unsigned char *block; /* which they describe */
    unsigned shift, inside;     /* as those of the kinds */
    unsigned width_shift;       /* 1 << this: bits of a code */
    unsigned mask;              /* of a code */
    uint64_t all_inside;        /* codes of granules that all go on with arrays */
    size_t granules;            /* of the arena */
} haul__codes;

HAUL__INLINE size_t haul__bit_of(const haul__codes *t, size_t granule)
{
    return granule << t->width_shift;
}

/* A word of codes, from this granule's on, which has the lowest bits. Codes behind the arena are
 * free. */
HAUL__INLINE uint64_t haul__codes_from(const haul__codes *t, size_t granule)
{
    const size_t bit = haul__bit_of(t, granule);
    const uint64_t *at = &t->at[bit / 64];
    return at[0] >> bit % 64 | at[1] << 1 << (63 - bit % 64);
}

HAUL__INLINE unsigned haul__code_at(const haul__codes *t, size_t granule)
{
    const size_t bit = haul__bit_of(t, granule);
    return (unsigned)(t->at[bit / 64] >> bit % 64) & t->mask;
}

/* The bits of a word of codes that stand for granules of [first, end). */
HAUL__INLINE uint64_t haul__bits_in_word(const haul__codes *t, size_t word, size_t first,
                                         size_t end)
{
    const size_t from = haul__bit_of(t, first), to = haul__bit_of(t, end);
    uint64_t bits = UINT64_MAX;
    if (from > word * 64)
        bits &= UINT64_MAX << (from - word * 64);
    if (to < word * 64 + 64)
        bits &= UINT64_MAX >> (word * 64 + 64 - to);
    return bits;
}

HAUL__INLINE size_t haul__word_of(const haul__codes *t, size_t granule)
{
    return haul__bit_of(t, granule) / 64;
}

/* The first granule from `first` on, which is not the last one, whose code differs from that of
 * `as`; or the arena's end. */
HAUL__INLINE size_t haul__end_of_run(const haul__codes *t, size_t first, uint64_t as)
{
    size_t word = haul__word_of(t, first), last = haul__word_of(t, t->granules - 1);
    uint64_t differ = (t->at[word] ^ as) & haul__bits_in_word(t, word, first, t->granules);
    while (!differ && word < last) {
        word++;
        differ = (t->at[word] ^ as) & haul__bits_in_word(t, word, first, t->granules);
    }
    return differ ? (word * 64 + haul__lowest64(differ)) >> t->width_shift : t->granules;
}

/* The first granule behind an array that begins here. */
HAUL__INLINE size_t haul__end_of_array(const haul__codes *t, size_t first)
{
    const uint64_t differ = haul__codes_from(t, first + 1) ^ t->all_inside;
    if (HAUL__LIKELY(differ != 0))
        return first + 1 + (haul__lowest64(differ) >> t->width_shift);
    return haul__end_of_run(t, first + 1, t->all_inside);
}

HAUL__INLINE int haul__are_free(const haul__codes *t, size_t first, size_t end)
{
    const size_t last = haul__word_of(t, end - 1);
    size_t word;
    for (word = haul__word_of(t, first); word <= last; word++)
        if (t->at[word] & haul__bits_in_word(t, word, first, end))
            return 0;
    return 1;
}

#endif
