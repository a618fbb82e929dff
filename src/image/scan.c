/* A graph as haul_image_write lays it out, checked from front to back.
 *
 * The slow obvious version is the walk (validate.c). It takes any graph: objects that overlap, that
 * begin within others, that are arrays for one pointer and single objects for the next. But a
 * writer puts each object behind the first one that leads to it, at a granule of its own. So most
 * images can be checked in one pass over the arena. Each granule has a code (kinds.h). Roots get
 * their codes first. Then, at each granule in turn:
 *
 *   free         It must be zeros.
 *   a beginning  The bits must tell its pointers. Each is followed: where its target must lie, all
 *                codes are free, and get those of the target; or they are those of the target
 *                already. Anything else ends the scan, and the walk decides.
 *
 * Why it is right: an object is visited behind its beginning, so with all it leads to ahead of it
 * nothing is left out; a new target behind it ends the scan. Codes are written for whole objects,
 * over free ones only. So objects never overlap, and each has one meaning: no number that counts
 * lies in the data of another object. What the walk refuses, the scan does not accept; it need not
 * accept all that the walk does.
 *
 * Why it is fast: the arena is read in order, while it comes into its block (fill.c), so it is
 * still in a cache. Only codes are read at random, 1/64 of the arena, and whether a target is new
 * is no branch.
 */
#include "image/scan.h"

#include "base/status.h"
#include "image/kinds.h"
#include "type/field.h"

#define LOOKS_MOST 8u              /* times that large arrays may be looked at again, at most */
#define OBJECTS_AHEAD 8u           /* whose targets' codes are fetched */
#define STRING_PIECE ((size_t)256) /* bytes of a string that are waited for together */

typedef struct scan {
    const haul__claimed *claimed;
    const unsigned char *block;
    size_t bytes; /* of the block */
    haul__filling *filling;
    size_t there; /* bytes of the arena that have come */
    int is_right;
    haul__kinds kinds;
    uint64_t *codes;
    size_t code_words;    /* and one more behind them */
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

static unsigned code_at(const scan *s, size_t granule)
{
    const size_t bit = granule * s->kinds.width;
    return (unsigned)(s->codes[bit / 64] >> bit % 64) & ((1u << s->kinds.width) - 1u);
}

/* The bits of a word of codes that stand for granules of [first, end). */
static uint64_t bits_in_word(const scan *s, size_t word, size_t first, size_t end)
{
    const size_t from = first * s->kinds.width, to = end * s->kinds.width;
    uint64_t bits = UINT64_MAX;
    if (from > word * 64)
        bits &= UINT64_MAX << (from - word * 64);
    if (to < word * 64 + 64)
        bits &= UINT64_MAX >> (word * 64 + 64 - to);
    return bits;
}

/* A word of codes that all go on. */
static uint64_t all_inside(const scan *s)
{
    return UINT64_MAX / ((1u << s->kinds.width) - 1u);
}

static size_t word_of(const scan *s, size_t granule)
{
    return granule * s->kinds.width / 64;
}

/* The first granule from `first` on, which is not the last one, whose code differs from that of
 * `as`; or the arena's end. */
static size_t end_of_run(const scan *s, size_t first, uint64_t as)
{
    size_t word = word_of(s, first), last = word_of(s, s->granules - 1);
    uint64_t differ = (s->codes[word] ^ as) & bits_in_word(s, word, first, s->granules);
    while (!differ && word < last) {
        word++;
        differ = (s->codes[word] ^ as) & bits_in_word(s, word, first, s->granules);
    }
    return differ ? (word * 64 + haul__lowest64(differ)) / s->kinds.width : s->granules;
}

/* The first granule behind an array that begins here. */
static size_t end_of_array(const scan *s, size_t first)
{
    return first + 1 < s->granules ? end_of_run(s, first + 1, all_inside(s)) : s->granules;
}

/* Are all granules free? If so they get the codes. */
static int take_free(scan *s, size_t first, size_t end, unsigned code)
{
    const uint64_t inside = all_inside(s);
    const size_t last = word_of(s, end - 1);
    size_t word;
    for (word = word_of(s, first); word <= last; word++)
        if (s->codes[word] & bits_in_word(s, word, first, end))
            return 0;
    for (word = word_of(s, first); word <= last; word++)
        s->codes[word] |= inside & bits_in_word(s, word, first, end);
    s->codes[word_of(s, first)] ^= (uint64_t)(HAUL__CODE_INSIDE ^ code)
                                   << first * s->kinds.width % 64;
    return 1;
}

/* ---- Targets. Each function answers 0 if the walk must decide. */

/* One object, whose codes fit into a word. */
HAUL__INLINE int mark_one(scan *s, const haul__one *one, uintptr_t value)
{
    const size_t offset = value - (uintptr_t)s->block, bit = offset >> s->kinds.shift;
    const unsigned shift = bit % 64;
    uint64_t *at = &s->codes[bit / 64];
    uint64_t low, high, found_low, found_high;
    int is_known, is_other, is_behind;
    if (HAUL__UNLIKELY((value & one->misaligned) != 0 ||
                       offset - HAUL__GRANULE > one->room - HAUL__GRANULE))
        return 0;
    low = one->pattern << shift;
    high = one->pattern >> 1 >> (63 - shift);
    found_low = at[0] & one->mask << shift;
    found_high = at[1] & one->mask >> 1 >> (63 - shift);
    is_known = (found_low | found_high) != 0;
    is_other = ((found_low ^ low) | (found_high ^ high)) != 0;
    is_behind = offset < s->end * HAUL__GRANULE;
    if (HAUL__UNLIKELY((is_known & is_other) | ((is_known ^ 1) & is_behind)))
        return 0;
    at[0] |= low;
    at[1] |= high;
    return 1;
}

/* One object or one array, in as many granules. */
static int mark_long(scan *s, unsigned code, size_t granule, size_t count)
{
    if (code_at(s, granule) != HAUL__CODE_FREE) {
        s->work += count * HAUL__GRANULE;
        return s->work <= s->most && code_at(s, granule) == code &&
               end_of_array(s, granule) == granule + count;
    }
    return granule >= s->end && take_free(s, granule, granule + count, code);
}

/* The offset of a target in the arena; 0: it does not begin with a granule, or not all of it lies
 * in the arena. */
HAUL__INLINE size_t place_of(const scan *s, uintptr_t value, size_t bytes)
{
    const size_t offset = value - (uintptr_t)s->block;
    return offset % HAUL__GRANULE == 0 && haul__fits(offset, bytes, s->bytes) ? offset : 0;
}

static int mark_object(scan *s, unsigned code, const haul__kind *kind, uintptr_t value)
{
    size_t offset;
    if (kind->one.mask)
        return mark_one(s, &kind->one, value);
    offset = place_of(s, value, kind->granules * HAUL__GRANULE);
    return offset && (value & (kind->alignment - 1)) == 0 &&
           mark_long(s, code, offset / HAUL__GRANULE, kind->granules);
}

static int mark_objects(scan *s, unsigned code, const haul__kind *kind, uintptr_t value,
                        size_t count, size_t bytes)
{
    size_t i;
    if (count > 1)
        s->work += bytes;
    for (i = 0; i < count; i++)
        if (!mark_object(s, code, kind, value + i * kind->stride))
            return 0;
    return s->work <= s->most;
}

/* Bytes behind the array, in its last granule, must be zeros. */
static int mark_array(scan *s, unsigned code, const haul__kind *kind, uintptr_t value, size_t bytes)
{
    const size_t whole = (bytes + HAUL__GRANULE - 1) & ~(size_t)(HAUL__GRANULE - 1);
    const size_t offset = place_of(s, value, whole);
    size_t i;
    if (offset == 0 || (value & (kind->alignment - 1)) != 0 ||
        (bytes < whole && !wait_for(s, offset + whole)))
        return 0;
    for (i = bytes; i < whole; i++)
        if (s->block[offset + i])
            return 0;
    return mark_long(s, code, offset / HAUL__GRANULE, whole / HAUL__GRANULE);
}

/* `count` elements of `unit` bytes each. */
static int mark(scan *s, unsigned code, uintptr_t value, size_t count, size_t unit)
{
    const haul__kind *kind;
    size_t bytes;
    if (code == HAUL__CODE_FREE || count > s->claimed->context->options.max_array_elements ||
        haul__multiply_overflows(count, unit, &bytes) || bytes == 0 || bytes > s->bytes)
        return 0;
    kind = haul__kind_by_code(&s->kinds, code);
    return kind->of == HAUL__KIND_OBJECT ? mark_objects(s, code, kind, value, count, bytes)
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
static int count_string(scan *s, uintptr_t value, size_t *count)
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
static HAUL__NOINLINE int follow_counted(scan *s, const haul__link *link, uintptr_t value,
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
        return shape->kind != HAUL_COUNT_KIND_PRODUCT || !count || !shape->fields || link->level ||
               (link->slot->flags & HAUL__SLOT_EACH);
    if (shape->kind == HAUL_COUNT_KIND_TERMINATED && !count_string(s, value, &count))
        return 0;
    return count == 0 ||
           mark(s, link->code, value, count,
                link->level + 1u == link->slot->levels ? link->slot->unit : HAUL__WORD);
}

/* A pointer to one object whose codes do not fit into a word. */
static HAUL__NOINLINE int follow_long(scan *s, const haul__link *link, uintptr_t value)
{
    return !value || (link->code != HAUL__CODE_FREE &&
                      mark_object(s, link->code, haul__kind_by_code(&s->kinds, link->code), value));
}

HAUL__INLINE int follow(scan *s, const haul__link *link, const unsigned char *element)
{
    const uintptr_t value = haul__load_word(element + link->offset);
    if (HAUL__LIKELY(link->one.mask != 0))
        return !value || mark_one(s, &link->one, value);
    return link->is_one ? follow_long(s, link, value) : follow_counted(s, link, value, element);
}

/* ---- Bits and zeros. */

/* Up to 64 bits of the image's bitmap. */
HAUL__INLINE uint64_t bits_at(const scan *s, size_t word, size_t count)
{
    const uint64_t *at = &s->claimed->offsets->bitmap[word / 64];
    const unsigned shift = word % 64;
    uint64_t bits = at[0] >> shift;
    if (shift + count > 64)
        bits |= at[1] << (64 - shift);
    return count < 64 ? bits & ~(UINT64_MAX << count) : bits;
}

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

/* Are the bits of `count` words those of `pointers`? NULL: all are as `others`. */
HAUL__INLINE int check_bits(const scan *s, size_t word, size_t count, const uint64_t *pointers,
                            uint64_t others)
{
    size_t i;
    for (i = 0; i < count; i += 64) {
        const size_t piece = count - i < 64 ? count - i : 64;
        const uint64_t wanted = pointers ? pointers[i / 64] : others;
        const uint64_t differ = bits_at(s, word + i, piece) ^ (wanted & UINT64_MAX >> (64 - piece));
        if (HAUL__UNLIKELY(differ != 0) && !are_zeros(s, word + i, differ))
            return 0;
    }
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

/* Fetches the codes of what an object leads to. Other threads may still write what has not come. */
HAUL__INLINE void fetch_codes(const scan *s, const haul__kind *kind, size_t offset)
{
    const unsigned char *block = s->block;
    size_t i;
    if (offset + kind->granules * HAUL__GRANULE > s->there)
        return;
    for (i = 0; i < kind->link_count; i++) {
        const size_t target =
            haul__load_word(block + offset + kind->links[i].offset) - (uintptr_t)block;
        haul__prefetch_write((uintptr_t)s->codes + (target >> s->kinds.shift) / 8);
    }
}

HAUL__INLINE int visit_links(scan *s, const haul__kind *kind, const unsigned char *element)
{
    size_t i;
    for (i = 0; i < kind->link_count; i++)
        if (!follow(s, &kind->links[i], element))
            return 0;
    return 1;
}

HAUL__INLINE int visit_object(scan *s, const haul__kind *kind)
{
    const unsigned char *element = s->block + s->here * HAUL__GRANULE;
    s->end = s->here + kind->granules;
    if (kind->link_count > 1)
        fetch_codes(s, kind,
                    s->end * HAUL__GRANULE + OBJECTS_AHEAD * kind->granules * HAUL__GRANULE);
    return wait_for(s, s->end * HAUL__GRANULE) &&
           check_bits(s, 2 * s->here, 2 * kind->granules, kind->pointers, 0) &&
           check_gaps(kind, element) && visit_links(s, kind, element);
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
        if (!follow(s, kind->links, at))
            return 0;
    return 1;
}

static int visit_array(scan *s, const haul__kind *kind)
{
    s->end = end_of_array(s, s->here);
    if (!wait_for(s, s->end * HAUL__GRANULE))
        return 0;
    if (kind->of == HAUL__KIND_POINTERS)
        return visit_pointers(s, kind);
    if (kind->of == HAUL__KIND_ARRAY)
        return visit_objects(s, kind);
    return check_bits(s, 2 * s->here, 2 * (s->end - s->here), NULL, 0);
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
        const unsigned code = code_at(s, s->here);
        const haul__kind *kind;
        int is_right;
        if (code == HAUL__CODE_FREE) {
            is_right = visit_free(s);
        } else {
            kind = haul__kind_by_code(&s->kinds, code);
            is_right = kind->of == HAUL__KIND_OBJECT ? visit_object(s, kind) : visit_array(s, kind);
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
    haul_status status;
    s->granules = s->bytes / HAUL__GRANULE;
    s->code_words = word_of(s, s->granules - 1) + 1;
    s->most = s->bytes <= SIZE_MAX / (2 * LOOKS_MOST) ? s->bytes * LOOKS_MOST : 0;
    s->codes = haul__allocate_zeroed(allocator, (s->code_words + 1) * sizeof *s->codes);
    if (!s->codes)
        return haul__fail(&s->claimed->context->error, HAUL_ERROR_MEMORY,
                          "out of memory for the checks of an image");
    status = haul__fill(s->filling, read_along, s);
    haul__release(allocator, s->codes, (s->code_words + 1) * sizeof *s->codes);
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
