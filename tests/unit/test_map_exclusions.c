/* Exclusions (map/exclusions.h) beside a plain list with a byte for each byte. No memory lies at
 * these addresses.
 *
 * Faults by number (docs/testing.md): H1, H2.
 */
#include <stdlib.h>
#include <string.h>

#include "map/exclusions.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/random.h"

enum { BLOCKS = 3 };
#define BYTES (BLOCKS * HAUL__BLOCK_BYTES)
#define BASE ((uintptr_t)64 * HAUL__BLOCK_BYTES)

typedef struct list {
    haul_allocator allocator;
    haul__map map;
    unsigned char *ways; /* HAUL__UNSENT and HAUL__UNRETURNED of each byte */
} list;

static list list_open(const haul_allocator *allocator)
{
    list l;
    memset(&l, 0, sizeof l);
    l.allocator = haul__allocator_or_default(allocator);
    haul__map_open(&l.map, &l.allocator);
    l.ways = calloc(BYTES, 1);
    CHECK(l.ways != NULL);
    return l;
}

static void list_close(list *l)
{
    haul__map_close(&l->map);
    free(l->ways);
}

/* 0: out of memory. */
static int exclude(list *l, size_t first, size_t end, unsigned ways)
{
    size_t i;
    for (i = first; i < end; i++)
        l->ways[i] |= (unsigned char)ways;
    return haul__exclude(&l->map, BASE + first, BASE + end, ways);
}

/* Fields of some bytes on any boundary, objects of some words, and now and then whole pages. */
static int exclude_something(list *l, random_source *random)
{
    static const unsigned ways[3] = { HAUL__UNSENT, HAUL__UNRETURNED,
                                      HAUL__UNSENT | HAUL__UNRETURNED };
    const unsigned way = ways[random_below(random, 3)];
    const size_t kind = random_below(random, 100);
    size_t first = random_below(random, BYTES), bytes = random_between(random, 1, 200);
    if (kind < 40)
        bytes = random_between(random, 1, 2 * sizeof(void *));
    else if (kind < 80)
        first -= first % sizeof(void *), bytes -= bytes % sizeof(void *);
    else if (kind < 82)
        bytes = random_between(random, 1, 3 * HAUL__PAGE_BYTES);
    return exclude(l, first, first + bytes < BYTES ? first + bytes : BYTES, way);
}

/* The bytes of a granule that the list excludes from a direction. */
static unsigned listed_mask(const list *l, size_t granule, unsigned direction)
{
    unsigned mask = 0, byte;
    for (byte = 0; byte < HAUL__GRANULE; byte++)
        mask |= (l->ways[granule * HAUL__GRANULE + byte] & direction ? 1u : 0u) << byte;
    return mask;
}

static void check_direction(const list *l, unsigned direction)
{
    const size_t granules = BYTES / HAUL__GRANULE;
    size_t i;
    for (i = 0; i < granules; i++) {
        const uintptr_t address = BASE + i * HAUL__GRANULE;
        const haul__block *block = haul__map_find(&l->map, address);
        const unsigned granule = haul__granule_in_block(address),
                       mask = listed_mask(l, i, direction);
        CHECK_EQ(block ? haul__excluded_mask(block, granule, direction) : 0, mask);
        CHECK_EQ(haul__is_excluded(&l->map, address, direction), mask & 1);
        if (mask)
            CHECK(haul__has_exclusions(block) &&
                  (haul__excluded_granules(block, granule / 32, direction) >> granule % 32 & 1));
        if (block && haul__page_is_excluded(block, granule / HAUL__PAGE_GRANULES, direction))
            CHECK_EQ(mask, HAUL__FULL_MASK);
    }
}

TEST(map_exclusions, each_byte_is_excluded_as_a_plain_list_has_it)
{
    random_source random = random_start("exclusions beside a list");
    unsigned round;
    for (round = 0; round < LARGE(40, 10); round++) {
        const size_t calls = random_between(&random, 1, 1500);
        list l = list_open(NULL);
        size_t call;
        for (call = 0; call < calls; call++)
            CHECK(exclude_something(&l, &random));
        check_direction(&l, HAUL__UNSENT);
        check_direction(&l, HAUL__UNRETURNED);
        list_close(&l);
    }
}

/* Other granules are copied as those of a block without exclusions are. */
TEST(map_exclusions, words_tell_their_granules_and_no_others)
{
    list l = list_open(NULL);
    const haul__block *block;
    CHECK(exclude(&l, 3 * HAUL__WORD, 5 * HAUL__WORD, HAUL__UNSENT));
    block = haul__map_find(&l.map, BASE);
    CHECK_EQ(haul__excluded_granules(block, 0, HAUL__UNSENT), 6);
    CHECK_EQ(haul__excluded_granules(block, 0, HAUL__UNSENT | HAUL__UNRETURNED), 6);
    CHECK_EQ(haul__excluded_granules(block, 0, HAUL__UNRETURNED), 0);
    CHECK_EQ(haul__excluded_granules(block, 1, HAUL__UNSENT), 0);
    list_close(&l);
}

TEST(map_exclusions, a_range_of_pages_excludes_each_of_them_as_a_whole)
{
    list l = list_open(NULL);
    const haul__block *block;
    CHECK(exclude(&l, HAUL__PAGE_BYTES - 1, HAUL__BLOCK_BYTES + 1, HAUL__UNRETURNED));
    block = haul__map_find(&l.map, BASE);
    CHECK(!haul__page_is_excluded(block, 0, HAUL__UNRETURNED));
    CHECK(haul__page_is_excluded(block, 1, HAUL__UNRETURNED));
    CHECK(haul__page_is_excluded(block, HAUL__PAGES - 1, HAUL__UNRETURNED));
    CHECK(!haul__page_is_excluded(block, 1, HAUL__UNSENT));
    CHECK(!haul__block_is_excluded(block, HAUL__UNRETURNED));
    CHECK(exclude(&l, 0, HAUL__PAGE_BYTES, HAUL__UNRETURNED));
    CHECK(haul__block_is_excluded(block, HAUL__UNRETURNED));
    CHECK(!haul__block_is_excluded(block, HAUL__UNSENT));
    list_close(&l);
}

/* ---- Memory that runs out. */

static list failing;
static uint64_t failing_seed;

static void failing_prepare(void *user, fault_plan *plan)
{
    const haul_allocator allocator = fault_allocator(plan);
    (void)user;
    failing = list_open(&allocator);
}

static haul_status failing_run(void *user)
{
    random_source random = random_from(failing_seed);
    unsigned call;
    (void)user;
    for (call = 0; call < 40; call++)
        if (!exclude_something(&failing, &random))
            return HAUL_ERROR_MEMORY;
    return HAUL_OK;
}

static void failing_reset(void *user)
{
    const haul_allocator allocator = failing.allocator;
    (void)user;
    list_close(&failing);
    failing = list_open(&allocator);
}

static void failing_check(void *user, haul_status status)
{
    if (status != HAUL_OK)
        failing_reset(user);
}

static void failing_finish(void *user)
{
    (void)user;
    list_close(&failing);
}

TEST(map_exclusions, a_map_that_memory_runs_out_on_is_closed_without_a_leak_H1_H2)
{
    random_source random = random_start("exclusions without memory");
    unsigned round, runs = 0;
    for (round = 0; round < LARGE(10, 3); round++) {
        fault_operation operation = { 0 };
        operation.prepare = failing_prepare;
        operation.run = failing_run;
        operation.check = failing_check;
        operation.undo = failing_reset;
        operation.finish = failing_finish;
        operation.modes = FAULT_MEMORY;
        failing_seed = random_next(&random);
        runs += fault_everywhere(&operation);
    }
    CHECK(runs > LARGE(100, 30));
}
