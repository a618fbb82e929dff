/* Reads by address: lists of chance against qsort, by any number of threads and parts, and without
 * memory.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>

#include "pack/plan_struct.h"
#include "pack/take_reads.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/random.h"
#include "support/short_forms.h"
#include "support/types.h"

enum { MOST = 3000, TRIALS = LARGE(300, 60) };

/* ---- Memory that runs out. */

static size_t left, held; /* allocations that are granted; bytes */

static void *give(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    (void)user;
    if (left == 0 || posix_memalign(&memory, alignment < 8 ? 8 : alignment, bytes) != 0)
        return NULL;
    left--;
    held += bytes;
    return memory;
}

static void take_back(void *user, void *memory, size_t bytes)
{
    (void)user;
    held -= bytes;
    free(memory);
}

static haul_allocator scarce(void)
{
    haul_allocator allocator;
    memset(&allocator, 0, sizeof allocator);
    allocator.allocate = give;
    allocator.release = take_back;
    left = SIZE_MAX;
    held = 0;
    return allocator;
}

/* ---- Lists of chance. */

typedef struct model {
    uint64_t list[2 * MOST], words[MOST], sorted[MOST];
    haul__far_read far[MOST];
    size_t listed, reads, kept, fars;
} model;

static model the;

/* A heap's addresses, few different ones, any of 48 bits, those in order, two heaps far apart. */
static uintptr_t an_address(random_source *random, int kind, size_t i)
{
    const uint64_t most = sizeof(uintptr_t) > 4 ? UINT64_C(0xffffffffffff) : UINT32_MAX;
    switch (kind) {
    case 0:
        return (uintptr_t)0x7f00 * 0x10000 + 8 * (uintptr_t)random_below(random, 1u << 14);
    case 1:
        return (uintptr_t)random_below(random, 5);
    case 2:
        return (uintptr_t)(random_next(random) & most);
    case 3:
        return 8 * i;
    default:
        return (uintptr_t)((random_one_in(random, 2) ? most : most / 3) & ~(uint64_t)0xffff) +
               4 * (uintptr_t)random_below(random, 1000);
    }
}

/* A value that is small, or far and like a read that is marked, or far. */
static int64_t a_value(random_source *random, size_t far_ones)
{
    if (!far_ones || random_below(random, 8) >= far_ones)
        return (int64_t)random_below(random, 2) - 1;
    return random_one_in(random, 2) ? (int64_t)((uint64_t)HAUL__READ_FAR << 50 | 77)
                                    : (int64_t)random_between(random, 1u << 14, 1u << 20);
}

static int by_address(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    const uintptr_t at = HAUL__READ_ADDRESS(x), other = HAUL__READ_ADDRESS(y);
    return at != other ? (at < other ? -1 : 1) : (x < y ? -1 : x > y);
}

static void draw(random_source *random, size_t count, int kind, size_t far_ones)
{
    size_t i;
    the.listed = the.reads = the.kept = the.fars = 0;
    for (i = 0; i < count; i++) {
        const int64_t value = a_value(random, far_ones);
        const uint64_t read =
            haul__read_of(an_address(random, kind, i), 1u << random_below(random, 2) * 3, value);
        if (!haul__read_is_small(value)) {
            the.list[the.listed++] = (uint64_t)value;
            the.far[the.fars].place = HAUL__READ_PLACE(read);
            the.far[the.fars++].value = value;
        }
        the.list[the.listed++] = the.words[the.reads++] = read;
    }
    memcpy(the.sorted, the.words, sizeof the.sorted);
    qsort(the.sorted, count, sizeof *the.sorted, by_address);
    for (i = 0; i < count; i++)
        if (the.kept == 0 || the.sorted[i] != the.sorted[the.kept - 1])
            the.sorted[the.kept++] = the.sorted[i];
}

/* Takes and sorts; with memory for `granted` allocations in the sort. 0: it had too little. */
static int take_and_sort(const haul_allocator *allocator, const haul__read_crew *crew,
                         size_t granted)
{
    const size_t bytes = the.reads * sizeof(uint64_t);
    haul__listed_reads listed;
    haul__read_set set;
    size_t kept = 0, i;
    int is_sorted;
    memset(&set, 0, sizeof set);
    left = SIZE_MAX;
    haul__list_reads(crew, the.list, the.listed, &listed);
    CHECK_EQ(listed.reads, the.reads);
    CHECK_EQ(listed.far, the.fars);
    set.words = haul__allocate(allocator, bytes, sizeof(uint64_t));
    set.far = haul__allocate(allocator, the.fars * sizeof *set.far, sizeof(uint64_t));
    if (the.reads)
        haul__take_reads(crew, &listed, &set);
    CHECK_EQ(set.count, the.reads);
    CHECK_EQ(set.far_count, the.fars);
    CHECK(!bytes || memcmp(set.words, the.words, bytes) == 0);
    for (i = 0; i < the.fars; i++)
        CHECK(set.far[i].place == the.far[i].place && set.far[i].value == the.far[i].value);
    left = granted;
    is_sorted = haul__sort_reads(allocator, crew, &set.words, the.reads, &kept);
    if (is_sorted) {
        CHECK_EQ(kept, the.kept);
        CHECK(!kept || memcmp(set.words, the.sorted, kept * sizeof *set.words) == 0);
    } else {
        CHECK(memcmp(set.words, the.words, bytes) == 0);
    }
    haul__release(allocator, set.words, bytes);
    haul__release(allocator, set.far, the.fars * sizeof *set.far);
    CHECK_EQ(held, 0);
    return is_sorted;
}

TEST(sort_reads, any_number_of_threads_and_parts_does_what_qsort_does)
{
    static const unsigned threads[] = { 1, 2, 3, 16 };
    static const size_t parts[] = { 1, 2, 3, 7, HAUL__READ_PARTS };
    random_source random = random_start("reads by address");
    const haul_allocator plain = haul__allocator_or_default(NULL), allocator = scarce();
    size_t t, p;
    int trial;
    for (t = 0; t < sizeof threads / sizeof *threads; t++) {
        haul__pool *pool = threads[t] > 1 ? haul__pool_new(&plain, threads[t] - 1, 0) : NULL;
        CHECK(pool || threads[t] == 1);
        for (trial = 0; trial < TRIALS; trial++) {
            const size_t count = (size_t)trial < 20 ? (size_t)trial / 5
                                                    : random_below(&random, trial % 4 ? 60 : MOST);
            draw(&random, count, trial % 5, random_below(&random, 9));
            for (p = 0; p < sizeof parts / sizeof *parts; p++) {
                const haul__read_crew crew = { pool, parts[p] };
                CHECK(take_and_sort(&allocator, &crew, SIZE_MAX));
            }
        }
        haul__pool_free(pool);
    }
}

TEST(sort_reads, without_memory_reads_stay_as_they_were)
{
    random_source random = random_start("reads by address without memory");
    const haul_allocator allocator = scarce();
    const haul__read_crew crew = { NULL, 3 };
    size_t granted;
    draw(&random, MOST, 2, 3);
    for (granted = 0; granted < 2; granted++)
        CHECK(!take_and_sort(&allocator, &crew, granted));
    CHECK(take_and_sort(&allocator, &crew, 2));
    draw(&random, MOST, 3, 0); /* in order: that takes none */
    CHECK(take_and_sort(&allocator, &crew, 0));
}

/* ---- Those of a plan. */

enum { ROWS = LARGE(60000, 20000) };

typedef struct row {
    int32_t *values; /* count */
    char *name;
    int64_t count;
} row;

typedef struct rows {
    row *all[ROWS];
} rows;

static haul_status set_of(const haul_plan *plan, int with_ends, haul__read_set *set)
{
    const haul_allocator allocator = scarce();
    const haul_status status = haul__read_set_make(plan, with_ends, &allocator, set);
    CHECK_EQ(held, haul__read_set_bytes(set));
    return status;
}

static void check_sets(const haul__read_set *set, const haul__read_set *other)
{
    CHECK_EQ(set->count, other->count);
    CHECK_EQ(set->far_count, other->far_count);
    CHECK(memcmp(set->words, other->words, set->count * sizeof *set->words) == 0);
}

static void free_set(haul__read_set *set)
{
    const haul_allocator allocator = scarce();
    haul__read_set_free(&allocator, set);
}

/* Allocations: words, far reads, and the two of a sort. */
static void refuse_each(const haul_plan *plan, const haul__read_set *expected)
{
    haul_allocator allocator;
    haul__read_set set;
    size_t granted;
    haul_status status = HAUL_ERROR_MEMORY;
    for (granted = 0; status != HAUL_OK; granted++) {
        allocator = scarce();
        left = granted;
        status = haul__read_set_make(plan, 1, &allocator, &set);
        if (status == HAUL_OK)
            break;
        CHECK_STATUS(status, HAUL_ERROR_MEMORY);
        CHECK_EQ(held, 0);
        CHECK(!set.words && !set.far && !set.is_made);
    }
    CHECK_EQ(granted, 4);
    check_sets(&set, expected);
    haul__read_set_free(&allocator, &set);
}

TEST(sort_reads, the_set_of_a_plan_is_the_same_by_any_number_of_threads)
{
    static haul_type *row_type;
    static const haul_field row_fields[] = { HAUL_ARRAY(row, values, HAUL_COUNT(row, count)),
                                             HAUL_STRING(row, name) };
    static const haul_field fields[] = { HAUL_ADDRESS(rows, all, .target = &row_type) };
    static const unsigned threads[] = { 1, 2, 3, 16 };
    static int32_t values[9000];
    static char names[ROWS][2];
    random_source random = random_start("the reads of a plan");
    row *pool = calloc(ROWS, sizeof *pool);
    rows *r = calloc(1, sizeof *r);
    haul__read_set sets[4][2];
    haul_type *type;
    size_t i, t;
    CHECK(pool && r);
    row_type = TYPE_NEW(row, row_fields);
    type = TYPE_NEW(rows, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (i = 0; i < ROWS; i++) {
        pool[i].values = values;
        pool[i].name = names[i];
        names[i][0] = 'a';
        pool[i].count = i % 100 ? (int64_t)(i % 7) : 8500; /* far */
        r->all[i] = &pool[i];
    }
    for (i = ROWS - 1; i > 0; i--) {
        const size_t other = random_below(&random, i + 1);
        row *one = r->all[i];
        r->all[i] = r->all[other];
        r->all[other] = one;
    }
    for (t = 0; t < 4; t++) {
        haul_context_options options;
        haul_context *context;
        haul_plan *plan;
        int with_ends;
        memset(&options, 0, sizeof options);
        options.threads = threads[t];
        CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
        CHECK_STATUS(haul_plan_create(context, haul_from_object(r, type), NULL, &plan), HAUL_OK);
        for (with_ends = 0; with_ends < 2; with_ends++) {
            CHECK_STATUS(set_of(plan, with_ends, &sets[t][with_ends]), HAUL_OK);
            check_sets(&sets[t][with_ends], &sets[0][with_ends]);
        }
        CHECK(sets[t][0].count >= ROWS);
        refuse_each(plan, &sets[0][1]);
        haul_plan_free(&plan);
        haul_context_free(&context);
    }
    for (t = 0; t < 4; t++) {
        free_set(&sets[t][0]);
        free_set(&sets[t][1]);
    }
    haul_type_free(&type);
    haul_type_free(&row_type);
    free(pool);
    free(r);
}
