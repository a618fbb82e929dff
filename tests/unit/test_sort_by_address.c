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
