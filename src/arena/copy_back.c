/* The way back: bytes from a device into an arena.
 *
 * An arena has the same layout on the device, so nothing is looked up. All words except pointers
 * are copied, 64 words at a time by one word of bits. Pointers, if they come back, are translated
 * by a sum; all are checked before the first is written.
 */
#include "arena/copy_back.h"
#include "arena/arena_words.h"
#include "arena/contents_reads.h"
#include "arena/pointers.h"
#include "arena/staying.h"
#include "base/stream.h"

#define GROUP (64 * HAUL__WORD)
#define BACK_AHEAD ((size_t)2048) /* bytes that are fetched ahead */

/* Copies words [first, end) of a group, except those marked in `slots`. */
HAUL__INLINE void copy_words(uint64_t slots, unsigned char *to, const unsigned char *from,
                             unsigned first, unsigned end)
{
    uint64_t words = ~slots & UINT64_MAX << first;
    if (end < 64)
        words &= ~(UINT64_MAX << end);
    while (words) {
        unsigned at = haul__lowest64(words);
        uint64_t rest = ~(words >> at);
        unsigned run = rest ? haul__lowest64(rest) : 64u;
        haul__copy_few(to + at * HAUL__WORD, from + at * HAUL__WORD, run * HAUL__WORD);
        words &= at + run < 64u ? UINT64_MAX << (at + run) : 0u;
    }
}

/* Copies bytes [first, end), which lie in one word, unless it is a pointer. */
static void copy_part(const haul__contents *c, unsigned char *to, const unsigned char *from,
                      size_t first, size_t end)
{
    if (first < end && !haul__is_slot(c, first / HAUL__WORD))
        memcpy(to + first, from + first, end - first);
}

static void copy_groups(const haul__contents *c, unsigned char *to, const unsigned char *from,
                        size_t first, size_t end)
{
    size_t group, count;
    for (group = first; group < end; group += count) {
        for (count = 0; group + count < end && !c->slots[group + count];)
            count++;
        if (count * GROUP >= HAUL__STREAM_BYTES) {
            haul__copy_changed(to + group * GROUP, from + group * GROUP, count * GROUP);
        } else if (count > 0) {
            memcpy(to + group * GROUP, from + group * GROUP, count * GROUP);
        } else {
            size_t at;
            /* Bytes from a device are in no cache, nor is a large arena. */
            for (at = BACK_AHEAD; at < BACK_AHEAD + GROUP; at += HAUL__LINE) {
                haul__prefetch((uintptr_t)from + group * GROUP + at);
                haul__prefetch_write((uintptr_t)to + group * GROUP + at);
            }
            copy_words(c->slots[group], to + group * GROUP, from + group * GROUP, 0, 64);
            count = 1;
        }
    }
}

/* Copies words [first, end) of one group. */
static void copy_some(const haul__contents *c, unsigned char *to, const unsigned char *from,
                      size_t first, size_t end)
{
    const size_t group = first / 64;
    if (first < end)
        copy_words(c->slots[group], to + group * GROUP, from + group * GROUP,
                   (unsigned)(first - group * 64), (unsigned)(end - group * 64));
}

static void copy_data(const haul__contents *c, unsigned char *to, const unsigned char *from,
                      size_t first, size_t end)
{
    const size_t word = (first + HAUL__WORD - 1) / HAUL__WORD, last = end / HAUL__WORD;
    const size_t group = (word + 63) / 64, behind = last / 64;
    if (word > last) {
        copy_part(c, to, from, first, end);
        return;
    }
    copy_part(c, to, from, first, word * HAUL__WORD);
    if (group > behind) {
        copy_some(c, to, from, word, last);
    } else {
        copy_some(c, to, from, word, group * 64);
        copy_groups(c, to, from, group, behind);
        copy_some(c, to, from, behind * 64, last);
    }
    copy_part(c, to, from, last * HAUL__WORD, end);
}

int haul__is_solid(const haul__contents *c, size_t first, size_t end)
{
    size_t word, i;
    for (i = haul__first_staying(c, first); i < c->staying_count && c->staying[i].at < end; i++)
        if (!c->staying[i].is_data)
            return 0;
    for (word = first / HAUL__WORD; word * HAUL__WORD < end; word++)
        if (haul__is_slot(c, word))
            return 0;
    return 1;
}

static void copy(const haul__contents *c, unsigned char *to, const unsigned char *from,
                 size_t first, size_t end, int goes)
{
    size_t i;
    for (i = haul__first_staying(c, first); i < c->staying_count && c->staying[i].at < end; i++) {
        if (goes && c->staying[i].is_data)
            continue;
        if (c->staying[i].at > first)
            copy_data(c, to, from, first, c->staying[i].at);
        first = c->staying[i].at + c->staying[i].bytes;
    }
    if (first < end)
        copy_data(c, to, from, first, end);
}

void haul__copy_going(const haul__contents *c, unsigned char *to, const unsigned char *from,
                      size_t first, size_t end)
{
    copy(c, to, from, first, end, 1);
}

typedef struct returning {
    const haul__contents *contents;
    const unsigned char *from;
} returning;

static void return_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const returning *r = user;
    (void)number;
    (void)scratch;
    copy(r->contents, r->contents->base, r->from, first, end, 0);
}

void haul__contents_scatter(const haul__contents *c, haul_context *context,
                            const unsigned char *memory, size_t at, size_t bytes)
{
    returning r;
    r.contents = c;
    r.from = (const unsigned char *)((uintptr_t)memory - at);
    haul__pool_run(haul__context_pool(context, bytes), bytes, at, at + bytes, GROUP, return_chunk,
                   &r);
}

haul_status haul__contents_put_back(const haul__contents *c, haul_context *context,
                                    const unsigned char *memory, size_t at, size_t bytes)
{
    haul_status status = haul__contents_check(c, &context->error);
    if (status == HAUL_OK)
        status = haul__contents_check_reads(c, memory, at, bytes, &context->error);
    if (status == HAUL_OK)
        haul__contents_scatter(c, context, memory, at, bytes);
    return status;
}

/* ---- With pointers. */

/* Does the word at `at` lie in a range that stays? Calls come in order of `at`; `*next` is the
 * range to look at. */
static int stays(const haul__contents *c, size_t at, size_t *next)
{
    while (*next < c->staying_count && c->staying[*next].at + c->staying[*next].bytes <= at)
        ++*next;
    return *next < c->staying_count && c->staying[*next].at <= at;
}

haul_status haul__contents_check_pointers(const haul__contents *c, const unsigned char *memory,
                                          uint64_t device, size_t *outside, haul_error *error)
{
    size_t group, words = c->bytes / HAUL__WORD, next = 0;
    for (group = 0; group * 64 < words; group++) {
        uint64_t slots;
        for (slots = c->slots[group]; slots; slots &= slots - 1) {
            size_t word = group * 64 + haul__lowest64(slots);
            uintptr_t value;
            if (word >= words || stays(c, word * HAUL__WORD, &next) ||
                haul__word_back(c, haul__load_word(c->base + word * HAUL__WORD),
                                haul__load_word(memory + word * HAUL__WORD), device, &value))
                continue;
            if (outside) {
                ++*outside;
                continue;
            }
            return haul__fail(
                error, HAUL_ERROR_GRAPH,
                "the device has left a pointer at byte %zu of the arena that leads out of it",
                word * HAUL__WORD);
        }
    }
    return haul__words_check_back(c, memory, device, outside, error);
}

void haul__contents_scatter_pointers(const haul__contents *c, haul_context *context,
                                     const unsigned char *memory, uint64_t device)
{
    size_t group, words = c->bytes / HAUL__WORD, next = 0;
    for (group = 0; group * 64 < words; group++) {
        uint64_t slots;
        for (slots = c->slots[group]; slots; slots &= slots - 1) {
            size_t word = group * 64 + haul__lowest64(slots);
            uintptr_t value;
            if (word < words && !stays(c, word * HAUL__WORD, &next) &&
                haul__word_back(c, haul__load_word(c->base + word * HAUL__WORD),
                                haul__load_word(memory + word * HAUL__WORD), device, &value))
                memcpy(c->base + word * HAUL__WORD, &value, sizeof value);
        }
    }
    haul__words_scatter(c, memory, device);
    haul__contents_scatter(c, context, memory, 0, c->bytes);
}
