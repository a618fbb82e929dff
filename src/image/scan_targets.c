/* Targets of a scan: what a pointer leads to gets its code, or has it already.
 *
 * Where a target must lie, codes are free, or they are those of the target. What is counted is
 * counted as the walk does; whatever is unusual is left to it.
 */
#include "image/scan_targets.h"

#include "type/field.h"

#define STRING_PIECE ((size_t)256) /* bytes of a string that are waited for together */
#define SHORT_GRANULES 4u          /* of a string, at most, that is looked at fast */

/* Has this array been met? Where something lies, or behind the scan, no other one is right. */
static HAUL__NOINLINE int is_array(haul__scan *s, unsigned code, size_t granule, size_t count)
{
    s->work += count * HAUL__GRANULE;
    return s->work <= s->most && haul__code_at(&s->codes, granule) == code &&
           haul__end_of_array(&s->codes, granule) == granule + count;
}

static HAUL__NOINLINE int mark_long(haul__scan *s, unsigned code, size_t granule, size_t count)
{
    const size_t end = granule + count, last = haul__word_of(&s->codes, end - 1);
    size_t word;
    if (granule < s->end || !haul__are_free(&s->codes, granule, end))
        return is_array(s, code, granule, count);
    for (word = haul__word_of(&s->codes, granule); word <= last; word++)
        s->codes.at[word] |=
            s->codes.all_inside & haul__bits_in_word(&s->codes, word, granule, end);
    s->codes.at[haul__word_of(&s->codes, granule)] ^= (uint64_t)(s->codes.inside ^ code)
                                                      << haul__bit_of(&s->codes, granule) % 64;
    return 1;
}

/* An array in as many granules. */
HAUL__INLINE int mark_granules(haul__scan *s, unsigned code, size_t granule, size_t count)
{
    const size_t bit = haul__bit_of(&s->codes, granule), bits = haul__bit_of(&s->codes, count);
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
HAUL__INLINE size_t place_of(const haul__scan *s, uintptr_t value, size_t bytes)
{
    const size_t offset = value - (uintptr_t)s->block;
    return offset % HAUL__GRANULE == 0 && haul__fits(offset, bytes, s->bytes) ? offset : 0;
}

/* Has nothing these bytes, which are whole granules? */
static int are_new(const haul__scan *s, uintptr_t value, size_t bytes)
{
    const size_t offset = place_of(s, value, bytes);
    return offset != 0 &&
           haul__are_free(&s->codes, offset / HAUL__GRANULE, (offset + bytes) / HAUL__GRANULE);
}

/* Arrays of objects with rules, that tell their types, or that are lent, do not overlap: the walk
 * counts how often the numbers that are read there are covered, and at how many ranges a borrowed
 * pointer makes it look. */
static int must_be_new(const haul__kind *kind, size_t count)
{
    return kind->is_lent || (count > 1 && (kind->arms || kind->is_told));
}

static int mark_objects(haul__scan *s, const haul__kind *kind, uintptr_t value, size_t count,
                        size_t bytes)
{
    size_t i;
    if (count > 1)
        s->work += bytes;
    if (must_be_new(kind, count) && !are_new(s, value, bytes))
        return 0;
    for (i = 0; i < count; i++)
        if (!haul__scan_one(&s->codes, &kind->one, value + i * kind->stride,
                            s->end * HAUL__GRANULE))
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

/* The elements' size is no multiple of a granule, so their alignment is below one, and what begins
 * with a granule is aligned. Bytes behind the array, in its last granule, must be zeros. */
HAUL__INLINE int mark_array(haul__scan *s, unsigned code, uintptr_t value, size_t bytes)
{
    const size_t whole = (bytes + HAUL__GRANULE - 1) & ~(size_t)(HAUL__GRANULE - 1);
    const size_t offset = place_of(s, value, whole);
    if (offset == 0)
        return 0;
    if (bytes < whole &&
        (!haul__scan_wait(s, offset + whole) ||
         !ends_in_zeros(s->block + offset + whole - HAUL__GRANULE, bytes % HAUL__GRANULE)))
        return 0;
    return mark_granules(s, code, offset / HAUL__GRANULE, whole / HAUL__GRANULE);
}

/* `count` elements of `unit` bytes each. */
HAUL__INLINE int mark(haul__scan *s, unsigned code, uintptr_t value, size_t count, size_t unit)
{
    const haul__kind *kind;
    size_t bytes;
    if (code == HAUL__CODE_FREE || count > s->claimed->context->options.max_array_elements ||
        haul__multiply_overflows(count, unit, &bytes) || bytes == 0 || bytes > s->bytes)
        return 0;
    kind = haul__kind_by_code(&s->kinds, code);
    return kind->of == HAUL__KIND_OBJECT ? mark_objects(s, kind, value, count, bytes)
                                         : mark_array(s, code, value, bytes);
}

int haul__scan_target(haul__scan *s, unsigned code, uintptr_t value, size_t count, size_t unit)
{
    return mark(s, code, value, count, unit);
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
HAUL__INLINE int count_string(haul__scan *s, uintptr_t value, size_t *count)
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
        if (!haul__scan_wait(s, stop))
            return 0;
        end = memchr(s->block + at, 0, stop - at);
    }
    if (!end)
        return 0;
    *count = (size_t)(end - (s->block + offset)) + 1;
    s->work += *count;
    return s->work <= s->most;
}

/* A bit in each byte of a word that is not 0. */
HAUL__INLINE uintptr_t nonzero_bytes(const unsigned char *at)
{
    const uintptr_t ones = UINTPTR_MAX / 255, word = haul__load_word(at);
    return (((word & ones * 127) + ones * 127) | word) >> 7 & ones;
}

/* Is no byte of a granule 0? */
HAUL__INLINE size_t is_full(const unsigned char *granule)
{
    return (nonzero_bytes(granule) & nonzero_bytes(granule + HAUL__WORD)) == UINTPTR_MAX / 255;
}

/* The granules of a string that ends soon, among bytes that have come, and has zeros behind its
 * end; 0: it must be looked at slowly. How many there are is no branch, since lengths differ from
 * string to string. In the last one, if the bytes behind as many as are not 0 are zeros, those
 * stand first. */
HAUL__INLINE size_t short_granules(const haul__scan *s, size_t offset)
{
    const haul_context_options *options = &s->claimed->context->options;
    const unsigned char *at;
    size_t full, count;
    uintptr_t used;
    if (HAUL__UNLIKELY(offset % HAUL__GRANULE != 0 ||
                       !haul__fits(offset, SHORT_GRANULES * HAUL__GRANULE, s->there)))
        return 0; /* also for NULL, whose offset is none */
    at = s->block + offset;
    full = is_full(at);
    count = 1 + full;
    full &= is_full(at + HAUL__GRANULE);
    count += full;
    full &= is_full(at + 2 * HAUL__GRANULE);
    count += full;
    at += (count - 1) * HAUL__GRANULE;
    used = nonzero_bytes(at) + nonzero_bytes(at + HAUL__WORD);
    used = used * (UINTPTR_MAX / 255) >> (8 * sizeof used - 8);
    if (HAUL__UNLIKELY(used == HAUL__GRANULE || count * HAUL__GRANULE > options->max_scan_bytes ||
                       count * HAUL__GRANULE > options->max_array_elements ||
                       !ends_in_zeros(at, used)))
        return 0;
    return count;
}

HAUL__HOT static int follow_counted(haul__scan *s, const haul__link *link, uintptr_t value,
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

HAUL__HOT static int follow_text(haul__scan *s, const haul__link *link, uintptr_t value,
                                 const unsigned char *self)
{
    const size_t offset = value - (uintptr_t)s->block;
    const size_t granules = short_granules(s, offset);
    if (granules)
        return mark_granules(s, link->code, offset / HAUL__GRANULE, granules);
    return follow_counted(s, link, value, self);
}

int haul__scan_counted(haul__scan *s, const haul__link *link, uintptr_t value,
                       const unsigned char *self)
{
    return link->is_text ? follow_text(s, link, value, self) : follow_counted(s, link, value, self);
}
