/* Memory that a map keeps for the next plan, and how threads get shares of it (map/spare.h).
 */

#define _DEFAULT_SOURCE
#include <stdlib.h>
#include "map/side.h"
#include "map/spare.h"
#include "map/stock.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/types.h"

enum { PARTS = 4 };

/* Marks `count` blocks and forgets them; the map keeps their memory. */
static void keep_blocks(haul__map *map, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        CHECK(haul__map_touch(map, (uintptr_t)(i + 64) << HAUL__BLOCK_SHIFT) != NULL);
    haul__map_clear(map);
}

/* Threads take blocks in turn, as long as there are any. They go to another map. */
static void take_in_turn(haul__map *part, haul__map *to, size_t *taken)
{
    size_t i, last;
    do
        for (i = 0, last = 0; i < PARTS; i++) {
            haul__block *block = haul__spare_pop(&part[i], HAUL__SIZE_BARE);
            if (block)
                haul__spare_keep(to, HAUL__SIZE_BARE, block);
            taken[i] += block != NULL;
            last += block != NULL;
        }
    while (last);
}

static void deal_out(size_t blocks, size_t least)
{
    const haul_allocator allocator = haul__allocator_or_default(NULL);
    haul__map map, other, part[PARTS], *parts[PARTS];
    size_t i, sum = 0, taken[PARTS] = { 0 };
    haul__map_open(&map, &allocator);
    haul__map_open(&other, &allocator);
    for (i = 0; i < PARTS; i++)
        parts[i] = &part[i];
    keep_blocks(&map, blocks);
    haul__map_split(&map, parts, PARTS);
    take_in_turn(part, &other, taken);
    for (i = 0; i < PARTS; i++) {
        CHECK(taken[i] >= least);
        sum += taken[i];
        CHECK(haul__map_join(&map, parts[i]));
    }
    CHECK(sum == blocks);
    haul__map_close(&other);
    haul__map_close(&map);
}

/* What a part has taken and not used goes back, and the next split finds all of it. */
static void give_back(size_t blocks, size_t used)
{
    const haul_allocator allocator = haul__allocator_or_default(NULL);
    haul__map map, other, part[PARTS], *parts[PARTS];
    size_t i, k, left = 0, turn;
    void *memory;
    haul__map_open(&map, &allocator);
    haul__map_open(&other, &allocator);
    for (i = 0; i < PARTS; i++)
        parts[i] = &part[i];
    keep_blocks(&map, blocks);
    for (turn = 0; turn < 3; turn++) {
        haul__map_split(&map, parts, PARTS);
        for (i = 0; i < PARTS; i++)
            for (k = 0; k < used * i; k++) {
                memory = haul__spare_pop(&part[i], HAUL__SIZE_BARE);
                if (memory)
                    haul__spare_keep(&part[PARTS - 1 - i], HAUL__SIZE_BARE, memory);
            }
        for (i = 0; i < PARTS; i++)
            CHECK(haul__map_join(&map, parts[i]));
    }
    for (; (memory = haul__spare_pop(&map, HAUL__SIZE_BARE)) != NULL; left++)
        haul__spare_keep(&other, HAUL__SIZE_BARE, memory);
    CHECK(left == blocks);
    haul__map_close(&other);
    haul__map_close(&map);
}

TEST(map_spare, every_thread_gets_a_share_of_few_blocks_and_of_many)
{
    deal_out(PARTS, 1);
    deal_out(20, 5);
    deal_out(1000, 200);
}

TEST(map_spare, what_threads_have_not_used_is_kept)
{
    give_back(PARTS, 1);
    give_back(200, 30);
    give_back(1000, 70);
}

/* ---- */

typedef struct record {
    int16_t *first;
    char *second;
    int32_t first_count;
    int64_t second_count;
} record;

enum { RECORDS = 4000, MOST = 100 };

/* Every array of odd length ends within a granule, so its block has a side with prefixes. */
TEST(map_spare, a_second_plan_finds_the_memory_for_its_masks_kept)
{
    const haul_field fields[] = {
        HAUL_ARRAY(record, first, HAUL_COUNT(record, first_count)),
        HAUL_ARRAY(record, second, HAUL_COUNT(record, second_count)),
    };
    haul_type *type;
    record *records = calloc(RECORDS, sizeof *records);
    size_t i, before, asked[2];
    int turn;
    counted memory;
    haul_context *context;
    CHECK_STATUS(counted_open(&memory, &context), HAUL_OK);
    CHECK(records != NULL);
    CHECK_STATUS(type_make("record", sizeof(record), fields, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (i = 0; i < RECORDS; i++) {
        records[i].first_count = (int32_t)(1 + i % MOST);
        records[i].second_count = (int64_t)(1 + i * 7 % MOST);
        records[i].first = calloc(MOST, sizeof *records[i].first);
        records[i].second = calloc(MOST, 1);
        CHECK(records[i].first && records[i].second);
    }
    for (turn = 0; turn < 2; turn++) {
        haul_root root = { records, type, RECORDS };
        haul_plan_info info;
        haul_plan *plan;
        before = memory.calls;
        CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
        asked[turn] = memory.calls - before;
        haul_plan_get_info(plan, &info);
        CHECK(info.objects == 2 * RECORDS + 1);
        haul_plan_free(&plan);
    }
    CHECK(asked[0] > asked[1] + 20);
    CHECK(asked[1] < 20);
    haul_context_free(&context);
    haul_type_free(&type);
    for (i = 0; i < RECORDS; i++) {
        free(records[i].first);
        free(records[i].second);
    }
    free(records);
}

/* ---- Threads that fold blocks take sides for them, which the map keeps. */

typedef struct knot {
    struct knot *next;
    int64_t count;
    double *values; /* count of them, behind the knot */
} knot;

enum { KNOTS = 200 * 1024, APART = 80, PLANS = 8 }; /* in 250 blocks: enough for threads to fold */

TEST(map_spare, memory_does_not_grow_from_plan_to_plan_whatever_the_number_of_threads)
{
    static haul_type *knot_type;
    const haul_field fields[] = { HAUL_OBJECT(knot, next, &knot_type),
                                  HAUL_ARRAY(knot, values, HAUL_COUNT(knot, count)) };
    unsigned threads;
    size_t i;
    void *memory = NULL;
    CHECK(posix_memalign(&memory, HAUL__BLOCK_BYTES, KNOTS * APART) == 0);
    memset(memory, 0, KNOTS * APART);
    for (i = 0; i < KNOTS; i++) {
        char *const at = (char *)memory + i * APART;
        knot *k = (knot *)(void *)at;
        k->next = i + 1 < KNOTS ? (knot *)(void *)(at + APART) : NULL;
        k->count = 3;
        k->values = (double *)(void *)(at + 32 + i % 2 * 16);
    }
    knot_type = TYPE_NEW(knot, fields);
    CHECK_STATUS(haul_type_commit(knot_type), HAUL_OK);
    for (threads = 1; threads <= 4; threads += 3) {
        size_t before = 0;
        haul_context *context;
        counted memory_of;
        CHECK_STATUS(counted_open_threads(&memory_of, threads, &context), HAUL_OK);
        for (i = 0; i < PLANS; i++) {
            haul_plan *plan;
            CHECK_STATUS(
                haul_plan_create(context, haul_from_object(memory, knot_type), NULL, &plan),
                HAUL_OK);
            haul_plan_free(&plan);
            if (i == 2)
                before = memory_of.held;
        }
        CHECK_EQ(memory_of.held, before);
        haul_context_free(&context);
        CHECK_EQ(memory_of.held, 0);
    }
    haul_type_free(&knot_type);
    free(memory);
}
