/* A graph as haul_image_write lays it out, checked from front to back.
 *
 * The slow obvious version is the walk (haul__validate). It takes any graph: objects that overlap,
 * that begin within others, that are arrays for one pointer and single objects for the next. But a
 * writer puts each object behind the first one that leads to it, at a granule of its own. So most
 * images can be checked in one pass over the arena. Each granule has a code (kinds.h). Roots get
 * their codes first. Then, at each granule in turn:
 *
 *   free         It must be zeros.
 *   an object    All granules behind its first one must be free. The bits must tell its pointers.
 *                Rows with rules are asked for their meaning (arms.c).
 *   an array     It goes on as long as codes say so. Its elements are as objects.
 *
 * Each pointer is followed: where its target must lie, codes are free, and get those of the target;
 * or they are those of the target already. Anything else ends the scan, and the walk decides.
 *
 * A borrowed pointer is not followed. Where it leads, an object of its type must begin in the end.
 * If one has begun when the pointer is visited, it has its code; if one may begin there later, all
 * borrowed pointers are looked at once more, when all codes are there.
 *
 * Why it is right: an object is visited behind its beginning, so with all it leads to ahead of it
 * nothing is left out; a new target behind it ends the scan. An array has codes on all its
 * granules, over free ones only; an object has one, and no code is written within it once it has
 * been visited. So neither overlaps another, and each has one meaning: no number that counts lies
 * in the data of another object. What the walk refuses, the scan does not accept; it need not
 * accept all that the walk does.
 *
 * Why it is fast: the arena is read in order, while it comes into its block (fill.c), so it is
 * still in a cache. Only codes are read at random, 1/128 of an arena of objects of one kind; where
 * they are more than a second-level cache has, they are fetched ahead. Whether a target is new is
 * no branch. Objects of one kind in a row are visited in a loop that knows where the next one
 * begins before it has read its code.
 */
#include "image/scan.h"

#include "base/status.h"
#include "image/arms.h"

#define LOOKS_MOST 8u                /* times that large arrays may be looked at again, at most */
#define OBJECTS_AHEAD 8u             /* whose targets' codes are fetched */
#define NEAR_CODES ((size_t)1 << 20) /* bytes of codes that a second-level cache has anyway */

/* ---- Bits and zeros. */

/* Words whose bits differ from what they should be must be 0: a pointer to no elements is null in
 * an image, with a bit or without. They get the bits that the types imply: an arena keeps them. */
static HAUL__NOINLINE int are_zeros(const haul__scan *s, size_t word, uint64_t differ)
{
    for (; differ; differ &= differ - 1) {
        const size_t at = word + haul__lowest64(differ);
        if (haul__load_word(s->block + at * HAUL__WORD))
            return 0;
        if (s->claimed->offsets->kept)
            s->claimed->offsets->kept[at / 64] ^= (uint64_t)1 << at % 64;
    }
    return 1;
}

/* Are the bits of `count` words, at most 64, those of `wanted`? */
HAUL__INLINE int check_few_bits(const haul__scan *s, const uint64_t *bitmap, size_t word,
                                size_t count, uint64_t wanted)
{
    const unsigned shift = word % 64;
    const uint64_t bits = bitmap[word / 64] >> shift | bitmap[(word + count - 1) / 64]
                                                           << 1 << (63 - shift);
    const uint64_t differ = (bits ^ wanted) << (64 - count) >> (64 - count);
    return HAUL__LIKELY(differ == 0) || are_zeros(s, word, differ);
}

/* NULL: all are as `others`. */
HAUL__INLINE int check_bits(const haul__scan *s, size_t word, size_t count,
                            const uint64_t *pointers, uint64_t others)
{
    size_t i;
    for (i = 0; i < count; i += 64)
        if (!check_few_bits(s, s->claimed->offsets->bitmap, word + i,
                            count - i < 64 ? count - i : 64, pointers ? pointers[i / 64] : others))
            return 0;
    return 1;
}

static int is_zero(const unsigned char *at, size_t bytes)
{
    size_t i;
    unsigned char any = 0;
    for (i = 0; i < bytes; i++)
        any |= at[i];
    return any == 0;
}

HAUL__INLINE int check_gaps(const haul__kind *kind, const unsigned char *element)
{
    size_t i;
    for (i = 0; i < kind->gap_count; i++)
        if (!is_zero(element + kind->gaps[i].offset, kind->gaps[i].bytes))
            return 0;
    return 1;
}

/* ---- Visits. */

/* Fetches the codes of what the object at an offset leads to, if it has come. Other threads may
 * still write what has not. */
HAUL__INLINE void fetch_codes(const haul__scan *s, const haul__codes *t, const haul__link *links,
                              size_t count, size_t offset, size_t bytes)
{
    size_t i;
    if (offset + bytes > s->there)
        return;
    for (i = 0; i < count; i++) {
        const uintptr_t value = haul__load_word(t->block + offset + links[i].offset);
        haul__prefetch_write((uintptr_t)t->at + ((value - (uintptr_t)t->block) >> t->shift) / 8);
    }
}

/* Does an object begin here, and nothing within it? */
static int is_large_object(const haul__scan *s, const haul__kind *kind, size_t here)
{
    return haul__code_at(&s->codes, here) == kind->one.code &&
           haul__are_free(&s->codes, here + 1, here + kind->granules);
}

/* Objects of one kind, one behind the other. Where the next one begins depends on no byte of the
 * one before, so the processor works on several. */
HAUL__INLINE int visit_row(haul__scan *s, const haul__kind *kind)
{
    const haul__codes t = s->codes;
    const uint64_t *const bitmap = s->claimed->offsets->bitmap, *const pointers = kind->pointers;
    const haul__link *const links = kind->links;
    const uint64_t mask = kind->mask, code = kind->one.code, wanted = pointers ? pointers[0] : 0;
    const size_t granules = kind->granules, bytes = granules * HAUL__GRANULE;
    const size_t link_count = kind->link_count;
    const int has_gaps = kind->gap_count != 0, fetches = s->is_far && link_count > 1;
    size_t here = s->here, i;
    while (here < s->codes.granules &&
           (HAUL__LIKELY(mask != 0) ? (haul__codes_from(&t, here) & mask) == code
                                    : is_large_object(s, kind, here))) {
        const unsigned char *element = t.block + here * HAUL__GRANULE;
        const size_t word = 2 * here, end = (here += granules) * HAUL__GRANULE;
        s->end = here;
        if (fetches)
            fetch_codes(s, &t, links, link_count, end + OBJECTS_AHEAD * bytes, bytes);
        if (!haul__scan_wait(s, end) ||
            (HAUL__LIKELY(mask != 0) ? !check_few_bits(s, bitmap, word, 2 * granules, wanted)
                                     : !check_bits(s, word, 2 * granules, pointers, 0)) ||
            (has_gaps && !check_gaps(kind, element)))
            return 0;
        for (i = 0; i < link_count; i++)
            if (!haul__scan_pointer(s, &t, &links[i], element, end))
                return 0;
    }
    return here != s->here;
}

HAUL__INLINE int visit_links(haul__scan *s, const haul__kind *kind, const unsigned char *element)
{
    size_t i;
    for (i = 0; i < kind->link_count; i++)
        if (!haul__scan_pointer(s, &s->codes, &kind->links[i], element, s->end * HAUL__GRANULE))
            return 0;
    return 1;
}

/* The elements of an array of objects. Behind the last one there may be room for more, which are
 * zeros and have no meaning, but do no harm. */
static int visit_objects(haul__scan *s, const haul__kind *kind)
{
    const unsigned char *element = s->block + s->here * HAUL__GRANULE;
    size_t count = (s->end - s->here) * HAUL__GRANULE / kind->stride;
    const size_t words = kind->stride / HAUL__WORD;
    size_t word = 2 * s->here;
    if (!kind->pointers && !check_bits(s, word, 2 * (s->end - s->here), NULL, 0))
        return 0;
    for (; count-- > 0; element += kind->stride, word += words)
        if ((kind->pointers && !check_bits(s, word, words, kind->pointers, 0)) ||
            !check_gaps(kind, element) || !visit_links(s, kind, element))
            return 0;
    return 1;
}

static int visit_pointers(haul__scan *s, const haul__kind *kind)
{
    const unsigned char *at = s->block + s->here * HAUL__GRANULE;
    const unsigned char *end = s->block + s->end * HAUL__GRANULE;
    if (!check_bits(s, 2 * s->here, 2 * (s->end - s->here), NULL, UINT64_MAX))
        return 0;
    for (; at < end; at += HAUL__WORD)
        if (!haul__scan_pointer(s, &s->codes, kind->links, at, s->end * HAUL__GRANULE))
            return 0;
    return 1;
}

/* The first granule from `first` on that neither begins an array of this code nor goes on with one;
 * or the arena's end. */
HAUL__INLINE size_t end_of_arrays(const haul__scan *s, size_t first, unsigned code)
{
    const haul__codes *t = &s->codes;
    const uint64_t lowest = UINT64_MAX / t->mask; /* bits of codes */
    uint64_t others = 0;
    size_t word = haul__word_of(&s->codes, first);
    const size_t last = haul__word_of(&s->codes, s->codes.granules - 1);
    for (; word <= last; word++) {
        uint64_t a = t->at[word] ^ lowest * code, b = t->at[word] ^ t->all_inside;
        unsigned i;
        for (i = 1; i < 1u << t->width_shift; i *= 2) {
            a |= a >> i;
            b |= b >> i;
        }
        others = a & b & lowest & haul__bits_in_word(t, word, first, s->codes.granules);
        if (others)
            return (word * 64 + haul__lowest64(others)) >> t->width_shift;
    }
    return s->codes.granules;
}

/* Arrays of plain bytes, one behind the other. */
HAUL__INLINE int visit_plain(haul__scan *s, unsigned code)
{
    s->end = end_of_arrays(s, s->here, code);
    return haul__scan_wait(s, s->end * HAUL__GRANULE) &&
           check_bits(s, 2 * s->here, 2 * (s->end - s->here), NULL, 0);
}

static int visit_array(haul__scan *s, const haul__kind *kind)
{
    s->end = haul__end_of_array(&s->codes, s->here);
    return haul__scan_wait(s, s->end * HAUL__GRANULE) &&
           (kind->of == HAUL__KIND_POINTERS ? visit_pointers(s, kind) : visit_objects(s, kind));
}

/* Visits an element with rules, which begins at `word` of the arena and has `words` words. */
static int visit_arms(haul__scan *s, const haul__kind *kind, const unsigned char *element,
                      size_t word, size_t words)
{
    uint64_t wanted[HAUL__ARMS_WORDS] = { 0 };
    if (kind->pointers)
        memcpy(wanted, kind->pointers, kind->pointer_words * sizeof *wanted);
    return haul__scan_arms(s, kind, element, wanted) && check_bits(s, word, words, wanted, 0) &&
           visit_links(s, kind, element);
}

/* The same, of an object or an array. */
static int visit_ruled(haul__scan *s, const haul__kind *kind)
{
    const unsigned char *element = s->block + s->here * HAUL__GRANULE;
    const size_t words = kind->stride / HAUL__WORD;
    size_t word = 2 * s->here, count;
    if (kind->of == HAUL__KIND_OBJECT) {
        if (!is_large_object(s, kind, s->here))
            return 0;
        s->end = s->here + kind->granules;
        return haul__scan_wait(s, s->end * HAUL__GRANULE) &&
               visit_arms(s, kind, element, word, 2 * kind->granules);
    }
    s->end = haul__end_of_array(&s->codes, s->here);
    count = (s->end - s->here) * HAUL__GRANULE / kind->stride;
    if (!haul__scan_wait(s, s->end * HAUL__GRANULE))
        return 0;
    for (; count-- > 0; element += kind->stride, word += words)
        if (!visit_arms(s, kind, element, word, words))
            return 0;
    return 1;
}

/* Granules of nothing. */
static int visit_free(haul__scan *s)
{
    s->end = haul__end_of_run(&s->codes, s->here, 0);
    return haul__scan_wait(s, s->end * HAUL__GRANULE) &&
           is_zero(s->block + s->here * HAUL__GRANULE, (s->end - s->here) * HAUL__GRANULE);
}

HAUL__HOT static int visit_all(haul__scan *s)
{
    for (; s->here < s->codes.granules; s->here = s->end) {
        const unsigned code = haul__code_at(&s->codes, s->here);
        const haul__kind *kind;
        int is_right;
        if (code == HAUL__CODE_FREE) {
            is_right = visit_free(s);
        } else {
            kind = haul__kind_by_code(&s->kinds, code);
            is_right = kind->arms                      ? visit_ruled(s, kind)
                       : kind->of == HAUL__KIND_OBJECT ? visit_row(s, kind)
                       : kind->of == HAUL__KIND_PLAIN  ? visit_plain(s, code)
                                                       : visit_array(s, kind);
        }
        if (!is_right)
            return 0;
    }
    return 1;
}

/* ---- Borrowed pointers that lead ahead. */

static int settle_elements(haul__scan *s, const haul__kind *kind, size_t begin, size_t end)
{
    const unsigned char *element = s->block + begin * HAUL__GRANULE;
    size_t count = kind->of == HAUL__KIND_ARRAY ? (end - begin) * HAUL__GRANULE / kind->stride : 1;
    for (; kind->borrows && count > 0; count--, element += kind->stride)
        if (!haul__scan_borrowed(s, kind, element))
            return 0;
    return 1;
}

/* All codes are there: what has none by now has nothing. */
static int settle_all(haul__scan *s)
{
    size_t here, end;
    for (here = 0; here < s->codes.granules; here = end) {
        const unsigned code = haul__code_at(&s->codes, here);
        const haul__kind *kind =
            code == HAUL__CODE_FREE ? NULL : haul__kind_by_code(&s->kinds, code);
        if (!kind)
            end = haul__end_of_run(&s->codes, here, 0);
        else
            end = kind->of == HAUL__KIND_OBJECT ? here + kind->granules
                                                : haul__end_of_array(&s->codes, here);
        if (kind && !settle_elements(s, kind, here, end))
            return 0;
    }
    return 1;
}

/* A root without a code stands before all others. */
static int settle(haul__scan *s)
{
    const haul__kind *first;
    if (!s->is_unsettled)
        return 1;
    first = &s->kinds.list.at[0];
    s->end = s->codes.granules;
    if (haul__kinds_have_lone_root(&s->kinds) && first->borrows &&
        !haul__scan_borrowed(s, first, s->claimed->roots[0].address))
        return 0;
    return settle_all(s);
}

/* A root without a code: what lies before it is zeros, and all else is behind it. */
static int visit_lone_root(haul__scan *s)
{
    const haul__kind *kind = &s->kinds.list.at[0];
    const unsigned char *element = s->claimed->roots[0].address;
    const size_t offset = (size_t)(element - s->block), begin = offset / HAUL__GRANULE;
    if (((uintptr_t)element & kind->one.misaligned) != 0 || offset - HAUL__GRANULE > kind->one.room)
        return 0;
    s->here = s->end = begin + kind->granules;
    if (!haul__scan_wait(s, s->end * HAUL__GRANULE) || !is_zero(s->block, offset))
        return 0;
    if (kind->arms)
        return visit_arms(s, kind, element, 2 * begin, 2 * kind->granules);
    return check_bits(s, 2 * begin, 2 * kind->granules, kind->pointers, 0) &&
           check_gaps(kind, element) && visit_links(s, kind, element);
}

static int mark_roots(haul__scan *s)
{
    const haul__claimed *claimed = s->claimed;
    size_t i;
    for (i = 0; i < claimed->root_count; i++)
        if (!haul__scan_target(s, haul__kinds_of_root(&s->kinds, &claimed->roots[i]),
                               (uintptr_t)claimed->roots[i].address, claimed->roots[i].count,
                               haul__type_walk(claimed->roots[i].type)->extent))
            return 0;
    return 1;
}

/* Does the context ask for nothing that only the walk can do? */
static int suits(const haul__claimed *claimed)
{
    const haul_context_options *options = &claimed->context->options;
    return !options->checked && !options->readable && claimed->offsets->word_count == 0 &&
           claimed->offsets->bytes / HAUL__GRANULE <= options->max_objects &&
           claimed->offsets->bytes <= options->max_bytes;
}

static void read_along(void *user)
{
    haul__scan *s = user;
    s->is_right = (haul__kinds_have_lone_root(&s->kinds) ? visit_lone_root(s) : mark_roots(s)) &&
                  visit_all(s) && settle(s);
}

static haul_status scan_all(haul__scan *s)
{
    const haul_allocator *allocator = s->kinds.allocator;
    haul__codes *t = &s->codes;
    size_t bytes;
    haul_status status;
    t->granules = s->bytes / HAUL__GRANULE;
    s->most = s->bytes <= SIZE_MAX / (2 * LOOKS_MOST) ? s->bytes * LOOKS_MOST : 0;
    t->block = s->block;
    t->shift = s->kinds.shift;
    t->width_shift = haul__lowest32(s->kinds.width);
    t->inside = s->kinds.inside;
    t->mask = (1u << s->kinds.width) - 1;
    t->all_inside = UINT64_MAX / t->mask * t->inside;
    bytes = (haul__word_of(t, t->granules) + 2) * sizeof *t->at; /* haul__codes_from reads on */
    s->is_far = bytes > NEAR_CODES;
    t->at = haul__allocate_zeroed(allocator, bytes);
    if (!t->at)
        return haul__fail(&s->claimed->context->error, HAUL_ERROR_MEMORY,
                          "out of memory for the checks of an image");
    status = haul__fill(s->filling, read_along, s);
    haul__release(allocator, t->at, bytes);
    return status;
}

haul_status haul__image_scan(const haul__claimed *claimed, haul__filling *filling, int *is_right)
{
    haul_status status;
    haul__scan s;
    *is_right = 0;
    if (!suits(claimed))
        return haul__fill(filling, NULL, NULL);
    memset(&s, 0, sizeof s);
    s.claimed = claimed;
    s.block = claimed->offsets->block;
    s.bytes = claimed->offsets->bytes;
    s.filling = filling;
    status = haul__kinds_open(&s.kinds, &claimed->context->allocator, claimed->roots,
                              claimed->root_count, claimed->offsets->bytes);
    status = status == HAUL_OK ? scan_all(&s)
                               : haul__fail(&claimed->context->error, status,
                                            "out of memory for the checks of an image");
    haul__kinds_close(&s.kinds);
    *is_right = s.is_right;
    return status;
}

haul_status haul__image_validate(const haul__claimed *claimed, haul__filling *filling)
{
    int is_right;
    const haul_status status = haul__image_scan(claimed, filling, &is_right);
    return status != HAUL_OK || is_right ? status : haul__validate(claimed, NULL);
}
