/* Sorting reads by address, by all threads of a pool.
 *
 * The slow obvious version compares. This one is a radix sort from the lowest digit, which moves
 * each read once for a digit. Digits are laid over those bits alone in which the addresses differ:
 * some 25 in a heap of 100 MB, so three digits are enough.
 *
 * The list is cut into parts. For each digit threads count the parts' reads by digit; from that the
 * caller works out where the reads of each part and digit go; then threads move them. The reads of
 * a part keep their order, and the parts theirs. So each step is stable, however many parts there
 * are, and the result is that of one thread.
 *
 * A walk by several threads finds the reads of one address in any order. So these are sorted by
 * their other bits, too: the result depends on the set of reads alone.
 */
#include "pack/sort_reads.h"
#include "base/sort.h"
#include "map/found.h"

#define DIGIT_BITS 9u /* with more bits, the ends of all runs no longer fit into a cache */
#define DIGITS ((size_t)1 << DIGIT_BITS)
#define READ_WORK ((size_t)32) /* bytes of work that a read is in one loop */

void haul__run_parts(const haul__read_crew *crew, size_t reads, haul__pool_work *work, void *user)
{
    (void)haul__pool_run(crew->pool, reads * READ_WORK, 0, crew->parts, 1, work, user);
}

/* ---- A look at all. */

typedef struct looked {
    uint64_t any, all; /* bits that some addresses have, and that all have */
    size_t lower;      /* the first address that is lower than the one before, or the list's end */
    size_t same;       /* the first one that is the same as the one before */
} looked;

typedef struct looking {
    const uint64_t *words;
    size_t count, parts;
    looked of[HAUL__READ_PARTS];
} looking;

static void look_at_part(const looking *l, size_t first, size_t end, looked *part)
{
    uint64_t before = first ? HAUL__READ_ADDRESS(l->words[first - 1]) : 0;
    size_t i;
    part->any = 0;
    part->all = UINT64_MAX;
    part->lower = part->same = l->count;
    for (i = first; i < end; i++) {
        const uint64_t address = HAUL__READ_ADDRESS(l->words[i]);
        part->any |= address;
        part->all &= address;
        if (HAUL__UNLIKELY(address < before) && i < part->lower)
            part->lower = i;
        if (HAUL__UNLIKELY(address == before) && i > 0 && i < part->same)
            part->same = i;
        before = address;
    }
}

static void look(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    looking *l = user;
    (void)number;
    (void)scratch;
    for (; first < end; first++)
        look_at_part(l, haul__read_part(l->count, l->parts, first),
                     haul__read_part(l->count, l->parts, first + 1), &l->of[first]);
}

static looked look_at_all(const haul__read_crew *crew, const uint64_t *words, size_t count)
{
    looking l;
    looked all = { 0, UINT64_MAX, count, count };
    size_t i;
    l.words = words;
    l.count = count;
    l.parts = crew->parts;
    haul__run_parts(crew, count, look, &l);
    for (i = crew->parts; i-- > 0;) {
        all.any |= l.of[i].any;
        all.all &= l.of[i].all;
        all.lower = l.of[i].lower < count ? l.of[i].lower : all.lower;
        all.same = l.of[i].same < count ? l.of[i].same : all.same;
    }
    return all;
}

/* ---- By one digit. */

static size_t digit_of(uint64_t word, unsigned shift)
{
    return (size_t)(HAUL__READ_ADDRESS(word) >> shift) & (DIGITS - 1);
}

typedef struct digit_step {
    const uint64_t *from;
    uint64_t *to; /* NULL: they are counted */
    size_t count, parts;
    unsigned shift;
    size_t *places; /* for each part and digit: a number of reads, then the next one's place */
} digit_step;

static void count_part(const uint64_t *words, size_t count, unsigned shift, size_t *numbers)
{
    size_t i;
    memset(numbers, 0, DIGITS * sizeof *numbers);
    for (i = 0; i < count; i++)
        numbers[digit_of(words[i], shift)]++;
}

static void move_part(const uint64_t *words, size_t count, unsigned shift, size_t *places,
                      uint64_t *to)
{
    size_t i;
    for (i = 0; i < count; i++)
        to[places[digit_of(words[i], shift)]++] = words[i];
}

/* Counts the reads of parts; with a place to move them to, moves them. */
static void work_on_parts(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const digit_step *s = user;
    (void)number;
    (void)scratch;
    for (; first < end; first++) {
        const size_t at = haul__read_part(s->count, s->parts, first),
                     count = haul__read_part(s->count, s->parts, first + 1) - at;
        size_t *places = s->places + first * DIGITS;
        if (s->to)
            move_part(s->from + at, count, s->shift, places, s->to);
        else
            count_part(s->from + at, count, s->shift, places);
    }
}

static void sort_digit(const haul__read_crew *crew, digit_step *s, uint64_t *to)
{
    size_t digit, part, sum = 0;
    s->to = NULL;
    haul__run_parts(crew, s->count, work_on_parts, s);
    for (digit = 0; digit < DIGITS; digit++)
        for (part = 0; part < s->parts; part++) {
            const size_t many = s->places[part * DIGITS + digit];
            s->places[part * DIGITS + digit] = sum;
            sum += many;
        }
    s->to = to;
    haul__run_parts(crew, s->count, work_on_parts, s);
}

/* By all digits that have bits of `differ`. Answers the array that has the reads then. */
static uint64_t *sort_digits(const haul__read_crew *crew, digit_step *s, uint64_t *words,
                             uint64_t *spare, uint64_t differ)
{
    for (s->shift = 0; s->shift < 64 && differ >> s->shift; s->shift += DIGIT_BITS) {
        uint64_t *sorted = spare;
        while (!(differ >> s->shift & 1))
            s->shift++;
        s->from = words;
        sort_digit(crew, s, spare);
        spare = words;
        words = sorted;
    }
    return words;
}

/* ---- Each once. */

static int is_before(const void *a, const void *b)
{
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* Reads of one address, of which no two neighbours are the same. Answers their new end. */
static size_t settle(uint64_t *words, size_t first, size_t end)
{
    size_t i, left = first;
    if (end - first < 2)
        return end;
    haul__sort(words + first, end - first, sizeof *words, is_before);
    for (i = first; i < end; i++)
        if (left == first || words[i] != words[left - 1])
            words[left++] = words[i];
    return left;
}

/* Up to `first` no two addresses are the same. */
static size_t keep_each_once(uint64_t *words, size_t first, size_t count)
{
    size_t i, left = first, run = first; /* the first one that has the last address */
    for (i = first; i < count; i++) {
        const uint64_t word = words[i];
        if (left > run && word == words[left - 1])
            continue;
        if (left > run && HAUL__READ_ADDRESS(word) != HAUL__READ_ADDRESS(words[run]))
            run = left = settle(words, run, left);
        words[left++] = word;
    }
    return settle(words, run, left);
}

int haul__sort_reads(const haul_allocator *allocator, const haul__read_crew *crew, uint64_t **words,
                     size_t count, size_t *kept)
{
    const size_t bytes = count * sizeof **words, numbers = crew->parts * DIGITS * sizeof(size_t);
    looked all = look_at_all(crew, *words, count);
    *kept = count;
    if (all.lower < count) {
        uint64_t *spare = haul__allocate(allocator, bytes, sizeof *spare), *sorted;
        digit_step s;
        s.count = count;
        s.parts = crew->parts;
        s.places = haul__allocate(allocator, numbers, HAUL__LINE);
        if (!spare || !s.places) {
            haul__release(allocator, s.places, numbers);
            haul__release(allocator, spare, bytes);
            return 0;
        }
        sorted = sort_digits(crew, &s, *words, spare, all.any & ~all.all);
        haul__release(allocator, s.places, numbers);
        haul__release(allocator, sorted == spare ? *words : spare, bytes);
        *words = sorted;
        all = look_at_all(crew, sorted, count);
    }
    if (all.same < count)
        *kept = keep_each_once(*words, all.same - 1, count);
    return 1;
}
