/* A graph as haul_image_write lays it out, checked from front to back.
 *
 * The slow obvious version is the walk (validate.c). It takes any graph: objects that overlap, that
 * begin within others, that are arrays for one pointer and single objects for the next. But a
 * writer puts each object behind the first one that leads to it, at a granule of its own. So most
 * images can be checked in one pass over the arena. Each granule has a code (kinds.h). Roots get
 * their codes first. Then, at each granule in turn:
 *
 *   free         It must be zeros.
 *   an object    All granules behind its first one must be free. The bits must tell its pointers.
 *   an array     It goes on as long as codes say so. Its elements are as objects.
 *
 * Each pointer is followed: where its target must lie, codes are free, and get those of the target;
 * or they are those of the target already. Anything else ends the scan, and the walk decides.
 *
 * Why it is right: an object is visited behind its beginning, so with all it leads to ahead of it
 * nothing is left out; a new target behind it ends the scan. An array has codes on all its
 * granules, over free ones only; an object has one, and no code is written within it once it has
 * been visited. So neither overlaps another, and each has one meaning: no number that counts lies
 * in the data of another object. What the walk refuses, the scan does not accept; it need not
 * accept all that the walk does.
 *
 * Why it is fast: the arena is read in order, while it comes into its block (fill.c), so it is
 * still in a cache. Only codes are read at random, 1/128 of an arena of objects of one kind, and
 * whether a target is new is no branch. Objects of one kind in a row are visited in a loop that
 * knows where the next one begins before it has read its code.
 */
#include "image/scan.h"

#include "base/status.h"
#include "image/kinds.h"
#include "type/field.h"

#define LOOKS_MOST 8u              /* times that large arrays may be looked at again, at most */
#define OBJECTS_AHEAD 8u           /* whose targets' codes are fetched */
#define STRING_PIECE ((size_t)256) /* bytes of a string that are waited for together */

/* The codes. A copy stays in registers while codes are written. */
typedef struct code_table {
    uint64_t *at;
    const unsigned char *block; /* which they describe */
    unsigned shift, inside;     /* as those of the kinds */
    unsigned width_shift;       /* 1 << this: bits of a code */
    unsigned mask;              /* of a code */
    uint64_t all_inside;        /* codes of granules that all go on with arrays */
} code_table;

typedef struct scan {
    const haul__claimed *claimed;
    const unsigned char *block;
    size_t bytes; /* of the block */
    haul__filling *filling;
    size_t there; /* bytes of the arena that have come */
    int is_right;
    haul__kinds kinds;
    code_table codes;
    size_t granules, end; /* of the arena; the first one behind what begins `here` */
    size_t here;          /* the granule that is visited */
    size_t work, most;    /* bytes of arrays that were looked at, and may be */
} scan;

/* ---- Bytes. */

/* Waits until the first `end` bytes have come. 0: something is wrong with them. */
HAUL__INLINE int wait_for(scan *s, size_t end)
{
    if (HAUL__LIKELY(end <= s->there))
        return 1;
    if (!haul__fill_to(s->filling, end))
        return 0;
    s->there = s->filling->there < s->bytes ? s->filling->there : s->bytes;
    return 1;
}

/* ---- Codes. */

HAUL__INLINE size_t bit_of(const code_table *t, size_t granule)
{
    return granule << t->width_shift;
}

/* The codes of granules from this one on, as many as a word holds: the first one in the lowest
 * bits. Behind the arena all are free. */
HAUL__INLINE uint64_t codes_from(const code_table *t, size_t granule)
{
    const size_t bit = bit_of(t, granule);
    const uint64_t *at = &t->at[bit / 64];
    return at[0] >> bit % 64 | at[1] << 1 << (63 - bit % 64);
}

HAUL__INLINE unsigned code_at(const code_table *t, size_t granule)
{
    const size_t bit = bit_of(t, granule);
    return (unsigned)(t->at[bit / 64] >> bit % 64) & t->mask;
}

/* The bits of a word of codes that stand for granules of [first, end). */
static uint64_t bits_in_word(const code_table *t, size_t word, size_t first, size_t end)
{
    const size_t from = bit_of(t, first), to = bit_of(t, end);
    uint64_t bits = UINT64_MAX;
    if (from > word * 64)
        bits &= UINT64_MAX << (from - word * 64);
    if (to < word * 64 + 64)
        bits &= UINT64_MAX >> (word * 64 + 64 - to);
    return bits;
}

static size_t word_of(const scan *s, size_t granule)
{
    return bit_of(&s->codes, granule) / 64;
}

/* The first granule from `first` on, which is not the last one, whose code differs from that of
 * `as`; or the arena's end. */
static size_t end_of_run(const scan *s, size_t first, uint64_t as)
{
    size_t word = word_of(s, first), last = word_of(s, s->granules - 1);
    uint64_t differ = (s->codes.at[word] ^ as) & bits_in_word(&s->codes, word, first, s->granules);
    while (!differ && word < last) {
        word++;
        differ = (s->codes.at[word] ^ as) & bits_in_word(&s->codes, word, first, s->granules);
    }
    return differ ? (word * 64 + haul__lowest64(differ)) >> s->codes.width_shift : s->granules;
}

/* The first granule behind an array that begins here. */
HAUL__INLINE size_t end_of_array(const scan *s, size_t first)
{
    const uint64_t differ = codes_from(&s->codes, first + 1) ^ s->codes.all_inside;
    if (HAUL__LIKELY(differ != 0))
        return first + 1 + (haul__lowest64(differ) >> s->codes.width_shift);
    return end_of_run(s, first + 1, s->codes.all_inside);
}

static int are_free(const scan *s, size_t first, size_t end)
{
    const size_t last = word_of(s, end - 1);
    size_t word;
    for (word = word_of(s, first); word <= last; word++)
        if (s->codes.at[word] & bits_in_word(&s->codes, word, first, end))
            return 0;
    return 1;
}

/* ---- Targets. Each function answers 0 if the walk must decide. */

/* One object. Only its first granule gets a code: the others must be free when it is visited. A
 * new one must lie at offset `end` or behind it. */
HAUL__INLINE int mark_one(const code_table *t, const haul__one *one, uintptr_t value, size_t end)
{
    const size_t offset = value - (uintptr_t)t->block, bit = offset >> t->shift;
    uint64_t *at = &t->at[bit / 64];
    uint64_t found;
    int is_known, is_other, is_behind;
    if (HAUL__UNLIKELY((value & one->misaligned) != 0 || offset - HAUL__GRANULE > one->room))
        return 0;
    found = *at >> bit % 64 & t->mask;
    is_known = found != HAUL__CODE_FREE;
    is_other = found != one->code;
    is_behind = offset < end;
    if (HAUL__UNLIKELY((is_known & is_other) | ((is_known ^ 1) & is_behind)))
        return 0;
    *at |= one->code << bit % 64;
    return 1;
}

/* Has this array been met? Where something lies, or behind the scan, no other one is right. */
static HAUL__NOINLINE int is_array(scan *s, unsigned code, size_t granule, size_t count)
{
    s->work += count * HAUL__GRANULE;
    return s->work <= s->most && code_at(&s->codes, granule) == code &&
           end_of_array(s, granule) == granule + count;
}

static HAUL__NOINLINE int mark_long(scan *s, unsigned code, size_t granule, size_t count)
{
    const size_t end = granule + count, last = word_of(s, end - 1);
    size_t word;
    if (granule < s->end || !are_free(s, granule, end))
        return is_array(s, code, granule, count);
    for (word = word_of(s, granule); word <= last; word++)
        s->codes.at[word] |= s->codes.all_inside & bits_in_word(&s->codes, word, granule, end);
    s->codes.at[word_of(s, granule)] ^= (uint64_t)(s->codes.inside ^ code)
                                        << bit_of(&s->codes, granule) % 64;
    return 1;
}

/* An array in as many granules. */
HAUL__INLINE int mark_granules(scan *s, unsigned code, size_t granule, size_t count)
{
    const size_t bit = bit_of(&s->codes, granule), bits = bit_of(&s->codes, count);
    const unsigned shift = bit % 64;
    uint64_t *at = &s->codes.at[bit / 64];
    uint64_t mask, codes, found;
    if (HAUL__UNLIKELY(bits > 64))
        return mark_long(s, code, granule, count);
    mask = UINT64_MAX >> (64 - bits);
    found = (at[0] & mask << shift) | (at[1] & mask >> 1 >> (63 - shift));
    if (HAUL__UNLIKELY((found != 0) | (granule < s->end)))
        return is_array(s, code, granule, count);
    codes = (s->codes.all_inside & mask) ^ s->codes.inside ^ code;
    at[0] |= codes << shift;
    at[1] |= codes >> 1 >> (63 - shift);
    return 1;
}

/* The offset of a target in the arena; 0: it does not begin with a granule, or not all of it lies
 * in the arena. */
HAUL__INLINE size_t place_of(const scan *s, uintptr_t value, size_t bytes)
{
    const size_t offset = value - (uintptr_t)s->block;
    return offset % HAUL__GRANULE == 0 && haul__fits(offset, bytes, s->bytes) ? offset : 0;
}

static int mark_objects(scan *s, const haul__kind *kind, uintptr_t value, size_t count,
                        size_t bytes)
{
    size_t i;
    if (count > 1)
        s->work += bytes;
    for (i = 0; i < count; i++)
        if (!mark_one(&s->codes, &kind->one, value + i * kind->stride, s->end * HAUL__GRANULE))
            return 0;
    return s->work <= s->most;
}

/* Are the bytes of a granule behind the first `used` ones zeros? */
HAUL__INLINE int ends_in_zeros(const unsigned char *granule, size_t used)
{
    static const char masks[] = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                "\377\377\377\377\377\377\377\377"
                                "\377\377\377\377\377\377\377\377";
    const char *mask = masks + 16 - used;
    return !((haul__load_word(granule) & haul__load_word(mask)) |
             (haul__load_word(granule + HAUL__WORD) & haul__load_word(mask + HAUL__WORD)));
}

/* Bytes behind the array, in its last granule, must be zeros. */
HAUL__INLINE int mark_array(scan *s, unsigned code, const haul__kind *kind, uintptr_t value,
                            size_t bytes)
{
    const size_t whole = (bytes + HAUL__GRANULE - 1) & ~(size_t)(HAUL__GRANULE - 1);
    const size_t offset = place_of(s, value, whole);
    if (offset == 0 || (value & (kind->alignment - 1)) != 0)
        return 0;
    if (bytes < whole &&
        (!wait_for(s, offset + whole) ||
         !ends_in_zeros(s->block + offset + whole - HAUL__GRANULE, bytes % HAUL__GRANULE)))
        return 0;
    return mark_granules(s, code, offset / HAUL__GRANULE, whole / HAUL__GRANULE);
}

/* `count` elements of `unit` bytes each. */
HAUL__INLINE int mark(scan *s, unsigned code, uintptr_t value, size_t count, size_t unit)
{
    const haul__kind *kind;
    size_t bytes;
    if (code == HAUL__CODE_FREE || count > s->claimed->context->options.max_array_elements ||
        haul__multiply_overflows(count, unit, &bytes) || bytes == 0 || bytes > s->bytes)
        return 0;
    kind = haul__kind_by_code(&s->kinds, code);
    return kind->of == HAUL__KIND_OBJECT ? mark_objects(s, kind, value, count, bytes)
                                         : mark_array(s, code, kind, value, bytes);
}

/* ---- Counts. */

/* As the walk counts (walk/extent.c); an error is left to it. */
static int count_fields(const haul_count *shape, const void *self, size_t *count)
{
    int64_t total = shape->fields ? shape->times : 0, value;
    unsigned i;
    for (i = 0; i < shape->fields; i++)
        if (!haul__read_field(self, &shape->field[i], &value) || value < 0 ||
            haul__product_overflows(total, value, &total))
            return 0;
    if (haul__sum_overflows(total, shape->plus, &total) || total < 0 || (uint64_t)total > SIZE_MAX)
        return 0;
    *count = (size_t)total;
    return 1;
}

/* The zero byte of a string that begins at an offset, in a piece of bytes at a time, since only
 * those must have come. */
HAUL__INLINE int count_string(scan *s, uintptr_t value, size_t *count)
{
    const size_t offset = value - (uintptr_t)s->block;
    const size_t most = s->claimed->context->options.max_scan_bytes;
    const unsigned char *end = NULL;
    size_t at = offset, stop, limit;
    if (offset >= s->bytes)
        return 0;
    limit = most < s->bytes - offset ? offset + most : s->bytes;
    for (; !end && at < limit; at = stop) {
        stop = s->there > at && s->there < limit ? s->there
               : limit - at < STRING_PIECE       ? limit
                                                 : at + STRING_PIECE;
        if (!wait_for(s, stop))
            return 0;
        end = memchr(s->block + at, 0, stop - at);
    }
    if (!end)
        return 0;
    *count = (size_t)(end - (s->block + offset)) + 1;
    s->work += *count;
    return s->work <= s->most;
}

/* A pointer that is not one to exactly one object. `self`: the struct that its counts stand in. */
HAUL__HOT static int follow_counted(scan *s, const haul__link *link, uintptr_t value,
                                    const unsigned char *self)
{
    const haul_count *shape = &link->slot->shape[link->level];
    size_t count = 1;
    if (!link->is_known)
        return 0;
    if (shape->kind == HAUL_COUNT_KIND_PRODUCT &&
        !count_fields(shape, self + link->slot->self, &count))
        return 0;
    if (!value)
        return !count || !shape->fields || (link->slot->flags & HAUL__SLOT_EACH);
    if (shape->kind == HAUL_COUNT_KIND_TERMINATED && !count_string(s, value, &count))
        return 0;
    return count == 0 ||
           mark(s, link->code, value, count,
                link->level + 1u == link->slot->levels ? link->slot->unit : HAUL__WORD);
}

/* New objects lie at offset `end` or behind it. */
HAUL__INLINE int follow(scan *s, const code_table *t, const haul__link *link,
                        const unsigned char *element, size_t end)
{
    const uintptr_t value = haul__load_word(element + link->offset);
    if (HAUL__LIKELY(link->is_one))
        return !value || mark_one(t, &link->one, value, end);
    return follow_counted(s, link, value, element);
}

/* ---- Bits and zeros. */

/* Words whose bits differ from what they should be must be 0: a pointer to no elements is null in
 * an image, with a bit or without. They get the bits that the types imply: an arena keeps them. */
static HAUL__NOINLINE int are_zeros(const scan *s, size_t word, uint64_t differ)
{
    for (; differ; differ &= differ - 1) {
        const size_t at = word + haul__lowest64(differ);
        if (haul__load_word(s->block + at * HAUL__WORD))
            return 0;
        s->claimed->offsets->bitmap[at / 64] ^= (uint64_t)1 << at % 64;
    }
    return 1;
}

/* Are the bits of `count` words, at most 64, those of `wanted`? */
HAUL__INLINE int check_few_bits(const scan *s, const uint64_t *bitmap, size_t word, size_t count,
                                uint64_t wanted)
{
    const unsigned shift = word % 64;
    const uint64_t bits = bitmap[word / 64] >> shift | bitmap[(word + count - 1) / 64]
                                                           << 1 << (63 - shift);
    const uint64_t differ = (bits ^ wanted) << (64 - count) >> (64 - count);
    return HAUL__LIKELY(differ == 0) || are_zeros(s, word, differ);
}

/* NULL: all are as `others`. */
HAUL__INLINE int check_bits(const scan *s, size_t word, size_t count, const uint64_t *pointers,
                            uint64_t others)
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
HAUL__INLINE void fetch_codes(const scan *s, const code_table *t, const haul__link *links,
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

/* Does nothing begin within the object that begins here? */
static int is_large_object(const scan *s, const haul__kind *kind, size_t here)
{
    return code_at(&s->codes, here) == kind->one.code &&
           are_free(s, here + 1, here + kind->granules);
}

/* Objects of one kind, one behind the other. Where the next one begins depends on no byte of the
 * one before, so the processor works on several. */
HAUL__INLINE int visit_row(scan *s, const haul__kind *kind)
{
    const code_table t = s->codes;
    const uint64_t *const bitmap = s->claimed->offsets->bitmap, *const pointers = kind->pointers;
    const haul__link *const links = kind->links;
    const uint64_t mask = kind->mask, code = kind->one.code, wanted = pointers ? pointers[0] : 0;
    const size_t granules = kind->granules, bytes = granules * HAUL__GRANULE;
    const size_t link_count = kind->link_count;
    const int has_gaps = kind->gap_count != 0;
    size_t here = s->here, i;
    while (here < s->granules && (HAUL__LIKELY(mask != 0) ? (codes_from(&t, here) & mask) == code
                                                          : is_large_object(s, kind, here))) {
        const unsigned char *element = t.block + here * HAUL__GRANULE;
        const size_t word = 2 * here, end = (here += granules) * HAUL__GRANULE;
        s->end = here;
        if (link_count > 1)
            fetch_codes(s, &t, links, link_count, end + OBJECTS_AHEAD * bytes, bytes);
        if (!wait_for(s, end) ||
            (HAUL__LIKELY(mask != 0) ? !check_few_bits(s, bitmap, word, 2 * granules, wanted)
                                     : !check_bits(s, word, 2 * granules, pointers, 0)) ||
            (has_gaps && !check_gaps(kind, element)))
            return 0;
        for (i = 0; i < link_count; i++)
            if (!follow(s, &t, &links[i], element, end))
                return 0;
    }
    return here != s->here;
}

HAUL__INLINE int visit_links(scan *s, const haul__kind *kind, const unsigned char *element)
{
    size_t i;
    for (i = 0; i < kind->link_count; i++)
        if (!follow(s, &s->codes, &kind->links[i], element, s->end * HAUL__GRANULE))
            return 0;
    return 1;
}

/* The elements of an array of objects. Behind the last one there may be room for more, which are
 * zeros and have no meaning, but do no harm. */
static int visit_objects(scan *s, const haul__kind *kind)
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

static int visit_pointers(scan *s, const haul__kind *kind)
{
    const unsigned char *at = s->block + s->here * HAUL__GRANULE;
    const unsigned char *end = s->block + s->end * HAUL__GRANULE;
    if (!check_bits(s, 2 * s->here, 2 * (s->end - s->here), NULL, UINT64_MAX))
        return 0;
    for (; at < end; at += HAUL__WORD)
        if (!follow(s, &s->codes, kind->links, at, s->end * HAUL__GRANULE))
            return 0;
    return 1;
}

/* The first granule from `first` on that neither begins an array of this code nor goes on with one;
 * or the arena's end. */
HAUL__INLINE size_t end_of_arrays(const scan *s, size_t first, unsigned code)
{
    const code_table *t = &s->codes;
    const uint64_t lowest = UINT64_MAX / t->mask; /* bits of codes */
    uint64_t others = 0;
    size_t word = word_of(s, first);
    const size_t last = word_of(s, s->granules - 1);
    for (; word <= last; word++) {
        uint64_t a = t->at[word] ^ lowest * code, b = t->at[word] ^ t->all_inside;
        unsigned i;
        for (i = 1; i < 1u << t->width_shift; i *= 2) {
            a |= a >> i;
            b |= b >> i;
        }
        others = a & b & lowest & bits_in_word(t, word, first, s->granules);
        if (others)
            return (word * 64 + haul__lowest64(others)) >> t->width_shift;
    }
    return s->granules;
}

/* Arrays of plain bytes, one behind the other. */
HAUL__INLINE int visit_plain(scan *s, unsigned code)
{
    s->end = end_of_arrays(s, s->here, code);
    return wait_for(s, s->end * HAUL__GRANULE) &&
           check_bits(s, 2 * s->here, 2 * (s->end - s->here), NULL, 0);
}

static int visit_array(scan *s, const haul__kind *kind)
{
    s->end = end_of_array(s, s->here);
    return wait_for(s, s->end * HAUL__GRANULE) &&
           (kind->of == HAUL__KIND_POINTERS ? visit_pointers(s, kind) : visit_objects(s, kind));
}

/* Granules of nothing. */
static int visit_free(scan *s)
{
    s->end = end_of_run(s, s->here, 0);
    return wait_for(s, s->end * HAUL__GRANULE) &&
           is_zero(s->block + s->here * HAUL__GRANULE, (s->end - s->here) * HAUL__GRANULE);
}

HAUL__HOT static int visit_all(scan *s)
{
    for (s->here = 0; s->here < s->granules; s->here = s->end) {
        const unsigned code = code_at(&s->codes, s->here);
        const haul__kind *kind;
        int is_right;
        if (code == HAUL__CODE_FREE) {
            is_right = visit_free(s);
        } else {
            kind = haul__kind_by_code(&s->kinds, code);
            is_right = kind->of == HAUL__KIND_OBJECT  ? visit_row(s, kind)
                       : kind->of == HAUL__KIND_PLAIN ? visit_plain(s, code)
                                                      : visit_array(s, kind);
        }
        if (!is_right)
            return 0;
    }
    return 1;
}

static int mark_roots(scan *s)
{
    const haul__claimed *claimed = s->claimed;
    size_t i;
    for (i = 0; i < claimed->root_count; i++)
        if (!mark(s, haul__kinds_of_root(&s->kinds, &claimed->roots[i]),
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
    scan *s = user;
    s->is_right = mark_roots(s) && visit_all(s);
}

static haul_status scan_all(scan *s)
{
    const haul_allocator *allocator = s->kinds.allocator;
    code_table *t = &s->codes;
    size_t bytes;
    haul_status status;
    s->granules = s->bytes / HAUL__GRANULE;
    s->most = s->bytes <= SIZE_MAX / (2 * LOOKS_MOST) ? s->bytes * LOOKS_MOST : 0;
    t->block = s->block;
    t->shift = s->kinds.shift;
    t->width_shift = haul__lowest32(s->kinds.width);
    t->inside = s->kinds.inside;
    t->mask = (1u << s->kinds.width) - 1;
    t->all_inside = UINT64_MAX / t->mask * t->inside;
    bytes = (word_of(s, s->granules) + 2) * sizeof *t->at; /* codes_from reads behind them */
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
    scan s;
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
