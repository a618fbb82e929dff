/* Every small damage of small images: each cut; each flipped bit; numbers at their bounds in each
 * place and width; each pointer to each byte; each pair of numbers of the head and of the tables at
 * each pair of bounds. The checksums fit, so all of it reaches the checks of the contents.
 *
 *     haul_damage [--every N] [--part I/N] [--seed N]
 *
 * Then as many images with several damages that the seed chooses (draw.c).
 *
 * --every: one damage in N, for slow builds; the seed chooses which. --part: the I-th of N shares.
 * Prints how many damaged images there were, and how many were accepted; an accepted one has met
 * the contract (oracle.h).
 */
#include <stdio.h>
#include <stdlib.h>

#include "images/oracle.h"

#define GRAPHS 2u              /* of each shape */
#define DRAWN ((size_t)100000) /* images of each shape with several damages */

static const int64_t bounds[] = {
    0,          1,          2,          3,          4,         7,         8,     15,    16,
    17,         127,        128,        255,        256,       32767,     32768, 65535, 65536,
    2147483647, 2147483648, 4294967295, 4294967296, INT64_MAX, INT64_MIN, -1,    -2,    -16,
};
#define BOUNDS (sizeof bounds / sizeof *bounds)

typedef struct run {
    oracle o;
    image_bytes whole, damaged;
    size_t every, share, shares;
    uint64_t seed;
    unsigned long seen, judged, accepted, own, broken;
} run;

/* The seed chooses the first one, so another commit tries other damages. */
static int is_chosen(const run *r, unsigned long number)
{
    return number % (r->every * r->shares) == r->share * r->every + r->seed % r->every;
}

static void judge(run *r, const char *what, size_t at, int64_t value)
{
    verdict v;
    if (!is_chosen(r, r->seen++))
        return;
    image_sign(&r->damaged);
    v = oracle_judge(&r->o, r->damaged.at, r->damaged.count);
    r->judged++;
    r->accepted += v == ACCEPTED;
    if (v != BROKEN)
        return;
    r->broken++;
    printf("%s, %s at byte %zu, %lld: %s\n", r->o.shape->name, what, at, (long long)value,
           r->o.message);
}

/* Does an earlier bound look the same in so many bytes? */
static int is_repeated(size_t n, size_t width)
{
    const uint64_t mask = width < 8 ? (UINT64_C(1) << 8 * width) - 1 : UINT64_MAX;
    size_t i;
    for (i = 0; i < n; i++)
        if (((uint64_t)bounds[i] & mask) == ((uint64_t)bounds[n] & mask))
            return 1;
    return 0;
}

static void put_number(unsigned char *to, int64_t value, size_t width)
{
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    if (width == 1)
        *to = (unsigned char)value;
    else
        memcpy(to,
               width == 2   ? (const void *)&two
               : width == 4 ? (const void *)&four
                            : &value,
               width);
}

static void put_back(run *r)
{
    bytes_set(&r->damaged, r->whole.at, r->whole.count);
}

static void cut_everywhere(run *r)
{
    size_t i;
    for (i = 0; i < r->whole.count; i++) {
        bytes_set(&r->damaged, r->whole.at, i);
        judge(r, "cut", i, 0);
    }
    put_back(r);
}

static void flip_bits(run *r)
{
    size_t i;
    unsigned bit;
    for (i = 0; i < r->whole.count; i++)
        for (bit = 0; bit < 8; bit++) {
            r->damaged.at[i] ^= (unsigned char)(1u << bit);
            judge(r, "flipped bit", i, bit);
            put_back(r);
        }
}

static void put_bounds(run *r)
{
    size_t i, n, width;
    for (width = 1; width <= 8; width *= 2)
        for (n = 0; n < BOUNDS; n++)
            for (i = 0; i + width <= r->whole.count && !is_repeated(n, width); i++) {
                put_number(r->damaged.at + i, bounds[n], width);
                if (memcmp(r->damaged.at + i, r->whole.at + i, width) == 0)
                    continue;
                judge(r, "number", i, bounds[n]);
                put_back(r);
            }
}

static void retarget(run *r)
{
    size_t count, i, at, bytes;
    const haul__image_section *s = image_sections(&r->whole, &count);
    while (s->kind != HAUL__SECTION_ARENA)
        s++;
    bytes = (size_t)s->bytes;
    for (i = 0; i + sizeof at <= bytes; i += sizeof at) {
        unsigned char *word = r->damaged.at + s->offset + i;
        memcpy(&at, word, sizeof at);
        if (at == 0 || at > bytes)
            continue;
        for (at = 1; at <= bytes; at++) {
            memcpy(word, &at, sizeof at);
            judge(r, "pointer", i, (int64_t)at);
            put_back(r);
        }
    }
}

/* ---- Pairs. */

typedef struct number {
    size_t at, width;
} number;

#define NUMBERS 64u

/* A table's row: its numbers have these widths. */
static size_t add_row(number *to, size_t count, size_t at, const uint8_t *widths)
{
    for (; *widths && count < NUMBERS; at += *widths++) {
        to[count].at = at;
        to[count++].width = *widths;
    }
    return count;
}

/* Those of the head, of the list of sections, of the root and of the first word; no checksums. */
static size_t list_numbers(const image_bytes *image, number *to)
{
    static const uint8_t head[] = { 4, 2, 2, 8, 8, 4, 4, 8, 8, 0 }, section[] = { 4, 4, 8, 8, 0 },
                         root[] = { 8, 8, 4, 4, 0 }, word[] = { 8, 8, 0 };
    size_t sections, i;
    const haul__image_section *s = image_sections(image, &sections);
    size_t count = add_row(to, 0, offsetof(haul__image_head, version), head);
    for (i = 0; i < sections; i++)
        count = add_row(to, count, sizeof(haul__image_head) + i * sizeof *s, section);
    for (i = 0; i < sections; i++)
        if (s[i].kind == HAUL__SECTION_ROOTS || s[i].kind == HAUL__SECTION_WORDS)
            count = add_row(to, count, (size_t)s[i].offset,
                            s[i].kind == HAUL__SECTION_ROOTS ? root : word);
    return count;
}

/* A message has the first one's place, and the rest as one number. */
static void put_pair(run *r, const number *a, const number *b)
{
    size_t n, m;
    for (n = 0; n < BOUNDS; n++)
        for (m = 0; m < BOUNDS && !is_repeated(n, a->width); m++) {
            if (is_repeated(m, b->width))
                continue;
            put_number(r->damaged.at + a->at, bounds[n], a->width);
            put_number(r->damaged.at + b->at, bounds[m], b->width);
            judge(r, "pair of numbers", a->at, (int64_t)((b->at * BOUNDS + n) * BOUNDS + m));
            put_back(r);
        }
}

static void put_pairs(run *r)
{
    number all[NUMBERS];
    const size_t count = list_numbers(&r->whole, all);
    size_t i, k;
    for (i = 0; i < count; i++)
        for (k = 0; k < i; k++)
            put_pair(r, &all[k], &all[i]);
}

static void draw(run *r)
{
    size_t i;
    for (i = 0; i < DRAWN; i++) {
        choices c = choices_from_seed(r->seed + i);
        if (is_chosen(r, r->seen))
            oracle_draw(&r->o, &c, &r->damaged);
        judge(r, "seed", 0, (int64_t)(r->seed + i));
    }
}

/* Images of right graphs whose structs have grown since. */
static void grow(run *r)
{
    size_t i;
    for (i = 0; i < DRAWN / r->every / r->shares; i += 10) {
        const uint64_t seed = r->seed + r->share + i;
        r->judged++;
        if (oracle_compare_grown(&r->o, choices_from_seed(seed)) == ACCEPTED)
            continue;
        r->broken++;
        printf("%s, grown, seed %llu: %s\n", r->o.shape->name, (unsigned long long)seed,
               r->o.message);
    }
}

static int damage_shape(run *r, const shape *of)
{
    uint64_t seed;
    if (!oracle_open(&r->o, of))
        return 0;
    for (seed = 1; seed <= GRAPHS; seed++) {
        choices c = choices_from_seed(seed);
        oracle_build(&r->o, &c, &r->whole);
        put_back(r);
        if (oracle_judge(&r->o, r->whole.at, r->whole.count) != ACCEPTED) {
            printf("%s: a right graph is refused: %s %s\n", of->name,
                   haul_context_error(r->o.context)->path, haul_context_error(r->o.context)->text);
            r->broken++;
        }
        cut_everywhere(r);
        flip_bits(r);
        put_bounds(r);
        retarget(r);
        if (seed == 1)
            put_pairs(r);
    }
    draw(r);
    grow(r);
    r->own += r->o.own;
    oracle_close(&r->o);
    return 1;
}

int main(int count, char **arguments)
{
    static const shape *const shapes[] = { &plain_shape, &mesh_shape, &value_shape, &space_shape };
    static run r;
    size_t i;
    r.every = r.shares = 1;
    for (i = 1; i + 1 < (size_t)count; i += 2) {
        if (strcmp(arguments[i], "--every") == 0)
            r.every = strtoul(arguments[i + 1], NULL, 10);
        else if (strcmp(arguments[i], "--seed") == 0)
            r.seed = strtoull(arguments[i + 1], NULL, 10);
        else if (strcmp(arguments[i], "--part") == 0 &&
                 sscanf(arguments[i + 1], "%zu/%zu", &r.share, &r.shares) == 2)
            r.share--;
        else
            break;
    }
    if (i != (size_t)count || r.every == 0 || r.share >= r.shares) {
        fprintf(stderr, "usage: haul_damage [--every N] [--part I/N] [--seed N]\n");
        return 2;
    }
    for (i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!damage_shape(&r, shapes[i]))
            return 1;
    bytes_free(&r.whole);
    bytes_free(&r.damaged);
    printf("%lu damaged images, %lu of them accepted, %lu in the library's own form\n", r.judged,
           r.accepted, r.own);
    printf("%lu passed, %lu failed\n", r.judged - r.broken, r.broken);
    return r.broken != 0;
}
