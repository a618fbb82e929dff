/* Sorting by addresses, against haul__sort.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/sort_by_address.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST = 3000, TRIALS = LARGE(400, 40) };

typedef struct record {
    uintptr_t address;
    uint64_t second;
    uint32_t payload;
} record;

static int allows;

static void *give(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    (void)user;
    return allows && posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void take_back(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

static int comes_before(const void *a, const void *b)
{
    const record *x = a, *y = b;
    return x->address != y->address ? x->address < y->address : x->second > y->second;
}

/* A heap's addresses, few different ones, any, or those in order. */
static uintptr_t an_address(random_source *random, int kind, size_t i)
{
    switch (kind) {
    case 0:
        return (uintptr_t)0x7f00 * 0x10000 + 16 * (uintptr_t)random_below(random, 1u << 14);
    case 1:
        return (uintptr_t)random_below(random, 5);
    case 2:
        return (uintptr_t)random_below(random, UINT32_MAX) *
               (uintptr_t)random_below(random, UINT32_MAX);
    default:
        return 8 * i;
    }
}

TEST(sort_by_address, it_does_what_haul_sort_does_with_and_without_memory)
{
    static record records[MOST], expected[MOST];
    random_source random = random_start("sorting by addresses agrees with haul__sort");
    haul_allocator allocator;
    int trial;
    memset(&allocator, 0, sizeof allocator);
    allocator.allocate = give;
    allocator.release = take_back;
    for (trial = 0; trial < TRIALS; trial++) {
        const size_t count = (size_t)random_below(&random, trial % 2 ? MOST : 80);
        const int kind = (int)random_below(&random, 4);
        size_t i;
        memset(records, 0, sizeof records);
        for (i = 0; i < count; i++) {
            records[i].address = an_address(&random, kind, i);
            records[i].second = random_below(&random, 1000000);
            records[i].payload = (uint32_t)(records[i].address * 31 + records[i].second * 7);
        }
        memcpy(expected, records, sizeof records);
        haul__sort(expected, count, sizeof *expected, comes_before);
        allows = (int)random_below(&random, 4) != 0;
        haul__sort_by_address(&allocator, records, count, sizeof *records, comes_before);
        for (i = 0; i < count; i++)
            CHECK(records[i].address == expected[i].address &&
                  records[i].second == expected[i].second &&
                  records[i].payload == expected[i].payload);
    }
}

/* ---- A sort that may be given up. */

typedef struct watching {
    size_t looks, most, stop_at; /* the most comparisons between two looks; 0: it never stops */
} watching;

static size_t compared;

static int counts(const void *a, const void *b)
{
    compared++;
    return *(const uint32_t *)a < *(const uint32_t *)b;
}

static int looks(void *user)
{
    watching *w = user;
    w->most = compared > w->most ? compared : w->most;
    compared = 0;
    return ++w->looks != w->stop_at;
}

/* Without an order, from the last to the first, and few different ones. */
static uint64_t draw_numbers(random_source *random, uint32_t *numbers, size_t count, int kind)
{
    uint64_t sum = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        numbers[i] = kind == 0   ? (uint32_t)random_below(random, UINT32_MAX)
                     : kind == 1 ? (uint32_t)(count - i)
                                 : (uint32_t)random_below(random, 7);
        sum += numbers[i];
    }
    return sum;
}

TEST(sort_by_address, a_watched_sort_is_asked_often_and_ends_soon_when_it_is_told_to)
{
    enum { NUMBERS = LARGE(400000, 100000), BETWEEN = 60000 };
    uint32_t *numbers = malloc(NUMBERS * sizeof *numbers);
    random_source random = random_start("watched sorts");
    int kind;
    CHECK(numbers != NULL);
    for (kind = 0; kind < 3; kind++) {
        watching w = { 0, 0, 0 };
        size_t i, all;
        uint64_t sum = draw_numbers(&random, numbers, NUMBERS, kind), after = 0;
        compared = 0;
        CHECK(haul__sort_watched(numbers, NUMBERS, sizeof *numbers, counts, looks, &w));
        CHECK(w.most < NUMBERS + BETWEEN && compared < NUMBERS + BETWEEN);
        CHECK(w.looks > NUMBERS / BETWEEN);
        for (i = 1; i < NUMBERS; i++)
            CHECK(numbers[i - 1] <= numbers[i]);
        all = w.looks;
        sum = draw_numbers(&random, numbers, NUMBERS, kind);
        memset(&w, 0, sizeof w);
        w.stop_at = 1 + (size_t)random_below(&random, (uint32_t)(all / 2));
        CHECK(!haul__sort_watched(numbers, NUMBERS, sizeof *numbers, counts, looks, &w));
        CHECK_EQ(w.looks, w.stop_at);
        CHECK(compared < NUMBERS + BETWEEN);
        for (i = 0; i < NUMBERS; i++)
            after += numbers[i];
        CHECK_EQ(after, sum);
    }
    free(numbers);
}
