/* Arenas as memory: allocation, release, rollback, reset, and every call that is refused.
 *
 * Faults by number (docs/testing.md): H1, H2, H6 of arenas; misuse of each call.
 */
#include <pthread.h>

#include "arena_graphs.h"
#include "base/compiler.h"
#include "support/open.h"
#include "support/types.h"
#include "haul/experimental.h"

#define GRANULE HAUL_ARENA_GRANULE

static haul_context *the_context;
static haul_arena *the_arena;

static void start(const haul_arena_options *options)
{
    links_open();
    CHECK_STATUS(haul_context_create(NULL, &the_context), HAUL_OK);
    CHECK_STATUS(haul_arena_create(the_context, options, &the_arena), HAUL_OK);
    CHECK(the_arena != NULL);
}

static void end(void)
{
    haul_arena_free(&the_arena);
    CHECK_PTR(the_arena, NULL);
    haul_context_free(&the_context);
    links_close();
}

static haul_arena_info numbers(void)
{
    haul_arena_info now;
    haul_arena_get_info(the_arena, &now);
    return now;
}

static int is_zero(const void *memory, size_t bytes)
{
    const unsigned char *at = memory;
    for (; bytes > 0; bytes--, at++)
        if (*at)
            return 0;
    return 1;
}

static void check_refused(const void *memory, haul_status status, const char *words)
{
    CHECK_PTR(memory, NULL);
    CHECK_EQ(haul_arena_error(the_arena)->status, status);
    CHECK_HAS(haul_arena_error(the_arena)->text, words);
}

TEST(arena, allocations_are_zeroed_lie_side_by_side_and_on_granules)
{
    unsigned char *a, *b, *c;
    start(NULL);
    a = haul_arena_bytes(the_arena, 1, 0);
    b = haul_arena_new(the_arena, link_type, 1);
    c = haul_arena_new(the_arena, link_type, 3);
    CHECK(is_zero(a, 1) && is_zero(b, sizeof(link)) && is_zero(c, 3 * sizeof(link)));
    CHECK_PTR(b, a + GRANULE);
    CHECK_PTR(c, b + (sizeof(link) + GRANULE - 1) / GRANULE * GRANULE);
    CHECK_EQ((uintptr_t)a % HAUL_ALIGNMENT_MAX, 0);
    CHECK_EQ(numbers().allocations, 3);
    CHECK(haul_arena_contains(the_arena, c + 3 * sizeof(link) - 1));
    CHECK(!haul_arena_contains(the_arena, a - 1) && !haul_arena_contains(the_arena, &a));
    end();
}

TEST(arena, it_grows_without_moving)
{
    size_t i;
    unsigned char *first, *last = NULL;
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = 64 << 20;
    start(&options);
    first = haul_arena_bytes(the_arena, 100, 0);
    memset(first, 7, 100);
    for (i = 0; i < 5000; i++) {
        last = haul_arena_bytes(the_arena, 1000, 0);
        CHECK(last && is_zero(last, 1000));
        last[999] = (unsigned char)i;
    }
    CHECK_PTR(last, first + (100 + GRANULE - 1) / GRANULE * GRANULE +
                        4999 * ((1000 + GRANULE - 1) / GRANULE * GRANULE));
    CHECK_EQ(first[99], 7);
    CHECK(numbers().grows);
    CHECK(numbers().committed_bytes >= numbers().used_bytes);
    CHECK(numbers().committed_bytes < numbers().used_bytes + (1 << 20));
    end();
}

TEST(arena, alignments_up_to_a_page_are_kept)
{
    size_t alignment;
    start(NULL);
    for (alignment = 1; alignment <= HAUL_ALIGNMENT_MAX; alignment *= 2) {
        CHECK(haul_arena_bytes(the_arena, 1, 0) != NULL);
        CHECK_EQ((uintptr_t)haul_arena_bytes(the_arena, 10, alignment) % alignment, 0);
    }
    check_refused(haul_arena_bytes(the_arena, 10, 3), HAUL_ERROR_ARGUMENT, "power of two");
    check_refused(haul_arena_bytes(the_arena, 10, 12), HAUL_ERROR_ARGUMENT, "power of two");
    check_refused(haul_arena_bytes(the_arena, 10, 8192), HAUL_ERROR_ARGUMENT, "power of two");
    end();
}

typedef struct tailed {
    struct tailed *next;
    int count;
    char text[];
} tailed;

TEST(arena, a_tail_lies_behind_its_object)
{
    haul_type *type;
    const haul_field fields[] = { HAUL_OBJECT(tailed, next, &type) };
    tailed *t;
    start(NULL);
    CHECK_STATUS(type_make("tailed", sizeof(tailed), fields, 1, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    t = haul_arena_new_tail(the_arena, type, 100);
    memset(t->text, 'x', 100);
    CHECK((char *)haul_arena_bytes(the_arena, 1, 0) >= (char *)t + sizeof *t + 100);
    check_refused(haul_arena_new_tail(the_arena, type, SIZE_MAX - 4), HAUL_ERROR_LIMIT, "overflow");
    haul_type_free(&type);
    end();
}

TEST(arena, a_full_arena_names_its_limit_and_stays_as_it_is)
{
    haul_arena_options options;
    size_t used;
    memset(&options, 0, sizeof options);
    options.limit_bytes = 10000;
    start(&options);
    while (haul_arena_bytes(the_arena, 64, 0))
        ;
    used = numbers().used_bytes;
    CHECK_EQ(used, 9984);
    check_refused(haul_arena_bytes(the_arena, 64, 0), HAUL_ERROR_LIMIT, "limit_bytes is 10000");
    check_refused(haul_arena_new(the_arena, link_type, 1), HAUL_ERROR_LIMIT, "limit_bytes");
    CHECK_EQ(numbers().used_bytes, used);
    CHECK(haul_arena_bytes(the_arena, 16, 0) != NULL);
    end();
    memset(&options, 0, sizeof options);
    options.reserve_bytes = 100000;
    start(&options);
    check_refused(haul_arena_bytes(the_arena, 100001, 0), HAUL_ERROR_LIMIT, "");
    CHECK(haul_arena_bytes(the_arena, 99000, 0) != NULL);
    check_refused(haul_arena_bytes(the_arena, 2000, 0), HAUL_ERROR_LIMIT,
                  "reserve_bytes is 100000");
    end();
}

TEST(arena, overflow_zero_and_types_that_are_none_are_refused)
{
    haul_type *open;
    start(NULL);
    CHECK_STATUS(type_make("open", 8, NULL, 0, &open), HAUL_OK);
    check_refused(haul_arena_new(the_arena, link_type, SIZE_MAX / 8), HAUL_ERROR_LIMIT, "overflow");
    check_refused(haul_arena_new(the_arena, link_type, SIZE_MAX / sizeof(link)), HAUL_ERROR_LIMIT,
                  "");
    check_refused(haul_arena_new(the_arena, link_type, 0), HAUL_ERROR_ARGUMENT, "0 objects");
    check_refused(haul_arena_new(the_arena, NULL, 1), HAUL_ERROR_ARGUMENT, "NULL or freed");
    check_refused(haul_arena_new(the_arena, open, 1), HAUL_ERROR_STATE, "not committed");
    check_refused(haul_arena_bytes(the_arena, 0, 0), HAUL_ERROR_ARGUMENT, "0 bytes");
    check_refused(haul_arena_bytes(the_arena, SIZE_MAX, 0), HAUL_ERROR_LIMIT, "full");
    check_refused(haul_arena_bytes(the_arena, SIZE_MAX - 20, 0), HAUL_ERROR_LIMIT, "full");
    CHECK_PTR(haul_arena_new(NULL, link_type, 1), NULL);
    CHECK_PTR(haul_arena_bytes(NULL, 1, 0), NULL);
    CHECK_PTR(haul_arena_bytes(NULL, 1, 16), NULL);
    CHECK_PTR(haul_arena_new_tail(NULL, link_type, 1), NULL);
    CHECK_PTR(haul_arena_new_pointers(NULL, 1), NULL);
    CHECK_EQ(numbers().used_bytes, 0);
    CHECK_EQ(haul_arena_error(NULL)->status, HAUL_ERROR_ARGUMENT);
    CHECK(haul_arena_bytes(the_arena, 256, 0) != NULL);
    check_refused(haul_arena_bytes(the_arena, SIZE_MAX - 100, 0), HAUL_ERROR_LIMIT, "full");
    check_refused(haul_arena_new_nursery(the_arena, SIZE_MAX), HAUL_ERROR_LIMIT, "full");
    check_refused(haul_arena_new_nursery(the_arena, SIZE_MAX / 2), HAUL_ERROR_LIMIT, "full");
    CHECK_EQ(numbers().used_bytes, 256);
    haul_type_free(&open);
    end();
}

TEST(arena, making_one_checks_its_arguments)
{
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    CHECK_STATUS(haul_context_create(NULL, &the_context), HAUL_OK);
    CHECK_STATUS(haul_arena_create(the_context, NULL, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_create(NULL, NULL, &the_arena), HAUL_ERROR_ARGUMENT);
    CHECK_PTR(the_arena, NULL);
    options.reserve_bytes = SIZE_MAX;
    CHECK_STATUS(haul_arena_create(the_context, &options, &the_arena), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(test_arena(NULL, NULL, &the_arena), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(test_arena(NULL, NULL, NULL), HAUL_ERROR_ARGUMENT);
    haul_arena_free(&the_arena);
    haul_arena_free(NULL);
    haul_context_free(&the_context);
}

TEST(arena, it_keeps_its_context_and_its_types)
{
    haul_type *type;
    start(NULL);
    CHECK_STATUS(haul_type_bytes(type_context(), "bytes", 24, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK(haul_arena_new(the_arena, type, 1) != NULL);
    haul_type_free(&type);
    haul_context_free(&the_context);
    CHECK(haul_arena_bytes(the_arena, 5000000, 0) != NULL);
    end();
}

TEST(arena, of_none_the_statistics_are_zeros)
{
    haul_arena_info statistics;
    memset(&statistics, 1, sizeof statistics);
    haul_arena_get_info(NULL, &statistics);
    CHECK_EQ(statistics.used_bytes, 0);
    CHECK_EQ(statistics.capacity_bytes, 0);
    CHECK_PTR(statistics.base, NULL);
    haul_arena_get_info(NULL, NULL);
}

/* A bit a word; nothing to speak of for fields that do not travel. With words of 8 bytes: below 2
 * %. */
TEST(arena, bookkeeping_is_little_more_than_a_bit_for_each_word)
{
    haul_arena_info now;
    int i;
    start(NULL);
    CHECK(links_make(the_arena, 1000) != NULL);
    for (i = 0; i < 100000; i++)
        CHECK(haul_arena_new(the_arena, link_type, 1) != NULL);
    now = numbers();
    CHECK(now.bookkeeping_bytes * 8 * sizeof(void *) < now.used_bytes + now.used_bytes / 4);
    end();
}

/* ---- Going back. */

TEST(arena, rollback_gives_back_what_came_after_as_zeros)
{
    haul_arena_mark mark, inner;
    unsigned char *a, *b;
    start(NULL);
    CHECK(links_make(the_arena, 3) != NULL);
    mark = haul_arena_checkpoint(the_arena);
    a = haul_arena_bytes(the_arena, 1000, 0);
    memset(a, 0xff, 1000);
    inner = haul_arena_checkpoint(the_arena);
    CHECK(links_make(the_arena, 100) != NULL);
    CHECK_STATUS(haul_arena_rollback(the_arena, inner), HAUL_OK);
    CHECK_EQ(a[999], 0xff);
    CHECK_STATUS(haul_arena_rollback(the_arena, mark), HAUL_OK);
    b = haul_arena_bytes(the_arena, 5000, 0);
    CHECK_PTR(b, a);
    CHECK(is_zero(b, 5000));
    CHECK_EQ(numbers().peak_bytes > numbers().used_bytes, 1);
    end();
}

TEST(arena, reset_gives_back_everything_and_marks_before_it_are_refused)
{
    haul_arena_mark mark;
    void *first;
    start(NULL);
    first = links_make(the_arena, 50);
    mark = haul_arena_checkpoint(the_arena);
    CHECK_STATUS(haul_arena_reset(the_arena), HAUL_OK);
    CHECK_EQ(numbers().used_bytes, 0);
    CHECK_EQ(numbers().allocations, 0);
    CHECK_STATUS(haul_arena_rollback(the_arena, mark), HAUL_ERROR_STATE);
    CHECK_HAS(haul_arena_error(the_arena)->text, "reset");
    CHECK_PTR(haul_arena_new(the_arena, link_type, 1), first);
    CHECK(is_zero(first, sizeof(link)));
    CHECK_STATUS(haul_arena_reset(NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_rollback(NULL, mark), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_rollback(the_arena, haul_arena_checkpoint(NULL)), HAUL_ERROR_STATE);
    end();
}

TEST(arena, a_mark_that_was_cut_off_is_refused_in_a_checked_arena_even_after_growth)
{
    haul_arena_options options;
    haul_arena_mark low, high;
    memset(&options, 0, sizeof options);
    options.checked = 1;
    start(&options);
    CHECK(haul_arena_bytes(the_arena, 16, 0) != NULL);
    low = haul_arena_checkpoint(the_arena);
    CHECK(haul_arena_bytes(the_arena, 160, 0) != NULL);
    high = haul_arena_checkpoint(the_arena);
    CHECK_STATUS(haul_arena_rollback(the_arena, high), HAUL_OK);
    CHECK_STATUS(haul_arena_rollback(the_arena, low), HAUL_OK);
    CHECK_STATUS(haul_arena_rollback(the_arena, high), HAUL_ERROR_STATE);
    CHECK(haul_arena_bytes(the_arena, 1600, 0) != NULL);
    CHECK_STATUS(haul_arena_rollback(the_arena, high), HAUL_ERROR_STATE);
    CHECK_STATUS(haul_arena_rollback(the_arena, low), HAUL_OK);
    end();
}

TEST(arena, what_is_nobodys_is_poisoned_where_there_is_a_sanitizer_for_it)
{
    unsigned char *a, *b;
    haul_arena_mark mark;
    start(NULL);
    a = haul_arena_bytes(the_arena, 5, 0);
    mark = haul_arena_checkpoint(the_arena);
    b = haul_arena_new(the_arena, link_type, 1);
    CHECK(!haul__is_poisoned(a + 4) && !haul__is_poisoned(b) &&
          !haul__is_poisoned(b + sizeof(link) - 1));
    CHECK_EQ(haul__is_poisoned(a + 5) != 0, HAUL__POISONS);
    CHECK_EQ(haul__is_poisoned(b + 2 * sizeof(link)) != 0, HAUL__POISONS);
    CHECK_STATUS(haul_arena_rollback(the_arena, mark), HAUL_OK);
    CHECK_EQ(haul__is_poisoned(b) != 0, HAUL__POISONS);
    CHECK_STATUS(haul_arena_release(the_arena, a, 5), HAUL_OK);
    CHECK_EQ(haul__is_poisoned(a) != 0, HAUL__POISONS);
    end();
}

/* ---- Release and reuse. */

TEST(arena, the_last_allocation_goes_back_to_the_free_room)
{
    unsigned char *a, *b;
    start(NULL);
    a = haul_arena_bytes(the_arena, 100, 0);
    b = haul_arena_bytes(the_arena, 100, 0);
    memset(b, 1, 100);
    CHECK_STATUS(haul_arena_release(the_arena, b, 100), HAUL_OK);
    CHECK_PTR(haul_arena_bytes(the_arena, 30, 0), b);
    CHECK_STATUS(haul_arena_release(the_arena, a, 100), HAUL_OK);
    CHECK(haul_arena_bytes(the_arena, 100, 0) != (void *)a);
    CHECK_STATUS(haul_arena_release(the_arena, NULL, 100), HAUL_OK);
    end();
}

static void release_and_reuse(size_t bytes, size_t same)
{
    unsigned char *a = haul_arena_bytes(the_arena, bytes, 0), *b;
    CHECK(haul_arena_bytes(the_arena, 16, 0) != NULL);
    memset(a, 0xee, bytes);
    CHECK_STATUS(haul_arena_release(the_arena, a, bytes), HAUL_OK);
    b = haul_arena_bytes(the_arena, same, 0);
    CHECK_PTR(b, a);
    CHECK(is_zero(b, same));
}

TEST(arena, what_is_released_is_given_out_again_for_the_same_size_as_zeros)
{
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.reuse = 1;
    start(&options);
    release_and_reuse(1, GRANULE);
    release_and_reuse(60, 64);
    release_and_reuse(64 * GRANULE, 64 * GRANULE);
    release_and_reuse(64 * GRANULE + 1, 80 * GRANULE);
    release_and_reuse(1000000, 1000001);
    CHECK_EQ(numbers().reused, 5);
    CHECK_EQ(numbers().released, 5);
    end();
}

TEST(arena, nothing_before_a_checkpoint_goes_back_to_the_free_room)
{
    haul_arena_mark mark;
    char *a, *b;
    start(NULL);
    a = haul_arena_bytes(the_arena, 100, 0);
    b = haul_arena_malloc(the_arena, 100);
    mark = haul_arena_checkpoint(the_arena);
    CHECK(haul_arena_realloc(the_arena, b, 1000) != b);
    CHECK_STATUS(haul_arena_rollback(the_arena, mark), HAUL_OK);
    CHECK_STATUS(haul_arena_release(the_arena, a, 100), HAUL_OK);
    CHECK_STATUS(haul_arena_rollback(the_arena, mark), HAUL_OK);
    CHECK_EQ(haul_arena_checkpoint(the_arena).used, mark.used);
    end();
}

TEST(arena, a_rollback_takes_released_blocks_behind_the_mark_along)
{
    haul_arena_options options;
    haul_arena_mark mark;
    void *a, *b;
    memset(&options, 0, sizeof options);
    options.reuse = 1;
    start(&options);
    a = haul_arena_bytes(the_arena, 64, 0);
    mark = haul_arena_checkpoint(the_arena);
    b = haul_arena_bytes(the_arena, 64, 0);
    CHECK(haul_arena_bytes(the_arena, 64, 0) != NULL);
    CHECK_STATUS(haul_arena_release(the_arena, a, 64), HAUL_OK);
    CHECK_STATUS(haul_arena_release(the_arena, b, 64), HAUL_OK);
    CHECK_STATUS(haul_arena_rollback(the_arena, mark), HAUL_OK);
    CHECK_PTR(haul_arena_bytes(the_arena, 64, 0), a);
    CHECK_PTR(haul_arena_bytes(the_arena, 64, 0), b);
    CHECK_EQ(numbers().reused, 1);
    end();
}

TEST(arena, foreign_and_impossible_releases_are_refused)
{
    haul_arena_options options;
    unsigned char *a;
    int here;
    memset(&options, 0, sizeof options);
    options.checked = 1;
    start(&options);
    a = haul_arena_bytes(the_arena, 64, 0);
    CHECK(haul_arena_bytes(the_arena, 64, 0) != NULL);
    CHECK_STATUS(haul_arena_release(the_arena, &here, sizeof here), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_release(the_arena, a + 1, 16), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_release(the_arena, a + 16, 16), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_arena_error(the_arena)->text, "this arena has not allocated");
    CHECK_STATUS(haul_arena_release(the_arena, a, 0), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_release(the_arena, a, 1000), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_release(the_arena, a, SIZE_MAX), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_release(NULL, a, 64), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_release(the_arena, a, 64), HAUL_OK);
    CHECK_STATUS(haul_arena_release(the_arena, a, 64), HAUL_ERROR_ARGUMENT);
    end();
}

/* With the size that was asked for, as anything else; `behind` bytes lie behind it. */
static void release_a_nursery(int reuse, size_t behind)
{
    haul_arena_options options = { 0 };
    haul_nursery *nursery;
    unsigned char *memory;
    size_t before;
    options.reuse = reuse;
    start(&options);
    CHECK(haul_arena_new(the_arena, link_type, 1) != NULL);
    before = numbers().used_bytes;
    CHECK((nursery = haul_arena_new_nursery(the_arena, 5000)) != NULL);
    memory = nursery->memory;
    CHECK(behind == 0 || haul_arena_bytes(the_arena, behind, 0) != NULL);
    CHECK_STATUS(haul_arena_release(the_arena, nursery, 4000), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_arena_error(the_arena)->text, "pass the size of its allocation");
    CHECK_STATUS(haul_arena_release(the_arena, nursery, 5200), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_release(the_arena, nursery, SIZE_MAX), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_release(the_arena, memory, 5000), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_release(the_arena, memory + 2 * GRANULE, 16), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_release(the_arena, nursery, 5000), HAUL_OK);
    CHECK_EQ(numbers().used_bytes == before, behind == 0);
    if (reuse || behind == 0)
        CHECK_PTR(haul_arena_new_nursery(the_arena, 5000), nursery);
    end();
}

TEST(arena, a_nursery_is_released_with_the_bytes_that_were_asked_for)
{
    release_a_nursery(0, 0);
    release_a_nursery(0, 100);
    release_a_nursery(1, 0);
    release_a_nursery(1, 100);
}

TEST(arena, what_was_given_out_before_a_reset_is_foreign_after_it)
{
    haul_arena_options options;
    unsigned char *a, *block;
    memset(&options, 0, sizeof options);
    options.checked = 1;
    start(&options);
    CHECK(haul_arena_bytes(the_arena, 48, 0) != NULL);
    a = haul_arena_bytes(the_arena, 64, 0);
    block = haul_arena_malloc(the_arena, 100);
    CHECK_STATUS(haul_arena_reset(the_arena), HAUL_OK);
    CHECK_STATUS(haul_arena_release(the_arena, a, 64), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_free_block(the_arena, block), HAUL_ERROR_ARGUMENT);
    CHECK_PTR(haul_arena_realloc(the_arena, block, 10), NULL);
    CHECK(haul_arena_bytes(the_arena, 1000, 0) != NULL);
    CHECK_STATUS(haul_arena_release(the_arena, a, 64), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_free_block(the_arena, block), HAUL_ERROR_ARGUMENT);
    CHECK_EQ(haul_arena_contains(the_arena, a), 1);
    end();
}

/* ---- Drop-in forms. */

TEST(arena, blocks_are_resized_moved_and_freed_by_their_address_alone)
{
    haul_arena_options options;
    char *a, *b;
    int i, here[8] = { 0 };
    memset(&options, 0, sizeof options);
    options.reuse = 1;
    start(&options);
    a = haul_arena_malloc(the_arena, 10);
    strcpy(a, "nine char");
    a = haul_arena_realloc(the_arena, a, 100000);
    CHECK_STR(a, "nine char");
    b = haul_arena_malloc(the_arena, 0);
    CHECK(b != NULL && b != a);
    CHECK_PTR(haul_arena_realloc(the_arena, a, 50), a);
    CHECK_PTR(haul_arena_realloc(the_arena, a, SIZE_MAX / 2), NULL); /* it stays */
    CHECK_STR(a, "nine char");
    CHECK_PTR(haul_arena_realloc(the_arena, b, SIZE_MAX / 2), NULL); /* the last one too */
    CHECK_STATUS(haul_arena_free_block(the_arena, b), HAUL_OK);
    b = haul_arena_realloc(the_arena, NULL, 30);
    CHECK(b != NULL && b != a);
    b = haul_arena_realloc(the_arena, a, 200000);
    CHECK(b != a);
    CHECK_STR(b, "nine char");
    CHECK_STATUS(haul_arena_free_block(the_arena, a), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_free_block(the_arena, here + 4), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_free_block(the_arena, b + GRANULE), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_arena_free_block(the_arena, NULL), HAUL_OK);
    CHECK_STATUS(haul_arena_free_block(the_arena, b), HAUL_OK);
    CHECK_STATUS(haul_arena_free_block(the_arena, b), HAUL_ERROR_ARGUMENT);
    CHECK_PTR(haul_arena_calloc(the_arena, SIZE_MAX / 2, 3), NULL);
    for (i = 0; i < 1000; i++) {
        a = haul_arena_calloc(the_arena, 7, 9);
        CHECK(a && is_zero(a, 63));
        memset(a, 1, 63);
        CHECK_STATUS(haul_arena_free_block(the_arena, a), HAUL_OK);
    }
    CHECK_PTR(haul_arena_realloc(the_arena, here + 4, 8), NULL);
    CHECK_PTR(haul_arena_malloc(NULL, 8), NULL);
    CHECK_STATUS(haul_arena_free_block(NULL, NULL), HAUL_ERROR_ARGUMENT);
    end();
}

TEST(arena, the_last_block_grows_and_shrinks_in_its_place)
{
    char *a;
    size_t used;
    start(NULL);
    a = haul_arena_malloc(the_arena, 100);
    memset(a, 5, 100);
    CHECK_PTR(haul_arena_realloc(the_arena, a, 3000000), a);
    CHECK(a[99] == 5 && is_zero(a + 100, 2999900));
    memset(a, 6, 3000000);
    CHECK_PTR(haul_arena_realloc(the_arena, a, 10), a);
    used = numbers().used_bytes;
    CHECK_EQ(used, (10 + GRANULE - 1) / GRANULE * GRANULE);
    CHECK(is_zero(haul_arena_bytes(the_arena, 1000, 0), 1000));
    end();
}

HAUL_ARENA_HOOKS(tests);

TEST(arena, the_last_block_of_a_full_arena_does_not_grow_and_keeps_what_it_holds)
{
    haul_arena_options options = { 0 };
    unsigned char *first, *last;
    options.reserve_bytes = 1 << 16;
    start(&options);
    CHECK((first = haul_arena_malloc(the_arena, 40000)) != NULL);
    CHECK((last = haul_arena_malloc(the_arena, 20000)) != NULL);
    last[19999] = 7;
    check_refused(haul_arena_realloc(the_arena, last, 30000), HAUL_ERROR_LIMIT, "full");
    CHECK_EQ(last[19999], 7);
    CHECK_PTR(haul_arena_realloc(the_arena, last, 25000), last);
    CHECK_EQ(last[19999], 7);
    end();
}

TEST(arena, hooks_work_on_the_threads_target)
{
    haul_arena *other;
    char *a, *b;
    start(NULL);
    CHECK_PTR(tests_malloc(10), NULL);
    tests_free(NULL);
    CHECK_PTR(tests_use(the_arena), NULL);
    a = tests_malloc(10);
    CHECK(haul_arena_contains(the_arena, a));
    CHECK_STATUS(haul_arena_create(the_context, NULL, &other), HAUL_OK);
    CHECK_PTR(tests_use(other), the_arena);
    b = tests_calloc(2, 5);
    CHECK(haul_arena_contains(other, b));
    b = tests_realloc(b, 500);
    tests_free(b);
    CHECK_PTR(tests_use(NULL), other);
    haul_arena_free(&other);
    end();
}

/* An arena of its own, and a library that allocates through the hooks. */
static void *work_in_own_arena(void *argument)
{
    haul_arena *own = argument;
    int i, strays = tests_use(own) != NULL;
    for (i = 0; i < 1000; i++) {
        char *block = tests_malloc((size_t)i % 50);
        strays += !haul_arena_contains(own, block);
        block = tests_realloc(block, 100);
        strays += !haul_arena_contains(own, block);
        if (i % 3)
            tests_free(block);
    }
    tests_use(NULL);
    return strays ? argument : NULL;
}

TEST(arena, each_thread_has_a_target_of_its_own)
{
    pthread_t threads[3];
    haul_context *contexts[3];
    haul_arena *arenas[3];
    void *strayed;
    int i;
    start(NULL);
    tests_use(the_arena);
    for (i = 0; i < 3; i++) {
        CHECK_STATUS(haul_context_create(NULL, &contexts[i]), HAUL_OK);
        CHECK_STATUS(haul_arena_create(contexts[i], NULL, &arenas[i]), HAUL_OK);
        CHECK_EQ(pthread_create(&threads[i], NULL, work_in_own_arena, arenas[i]), 0);
    }
    for (i = 0; i < 3; i++) {
        CHECK_EQ(pthread_join(threads[i], &strayed), 0);
        CHECK_PTR(strayed, NULL);
        haul_arena_free(&arenas[i]);
        haul_context_free(&contexts[i]);
    }
    CHECK_PTR(tests_use(NULL), the_arena);
    CHECK_EQ(numbers().used_bytes, 0);
    end();
}

/* ---- Faults. */

TEST(arena, without_a_range_of_addresses_it_is_fixed_and_says_so_when_full)
{
    fault_plan plan = { .no_reserve = 1 };
    links_open();
    CHECK_STATUS(fault_open_context(&plan, NULL, &the_context), HAUL_OK);
    CHECK_STATUS(haul_arena_create(the_context, NULL, &the_arena), HAUL_OK);
    CHECK(!numbers().grows);
    CHECK(links_make(the_arena, 1000) != NULL);
    while (haul_arena_bytes(the_arena, 100000, 0))
        ;
    CHECK_EQ(haul_arena_error(the_arena)->status, HAUL_ERROR_LIMIT);
    CHECK_HAS(haul_arena_error(the_arena)->text, "reserve_bytes is");
    CHECK(numbers().used_bytes > 60u << 20);
    end();
    fault_check_clean(&plan);
}

static haul_arena_options the_options;

static void prepare_context(void *user, fault_plan *plan)
{
    (void)user;
    links_open();
    CHECK_STATUS(fault_open_context(plan, NULL, &the_context), HAUL_OK);
}

/* Typed, plain, released, given out again, rolled back: all that takes memory for itself. */
static haul_status work_in_arena(void *user)
{
    haul_arena_mark mark;
    void *block[20];
    int i;
    haul_status status = haul_arena_create(the_context, &the_options, &the_arena);
    (void)user;
    if (status != HAUL_OK) {
        CHECK_PTR(the_arena, NULL);
        return status;
    }
    mark = haul_arena_checkpoint(the_arena);
    if (!haul_arena_new_nursery(the_arena, 100))
        status = haul_arena_error(the_arena)->status;
    for (i = 0; i < 20 && status == HAUL_OK; i++) {
        block[i] = links_make(the_arena, 2) ? haul_arena_bytes(the_arena, 40, 0) : NULL;
        status = block[i] ? HAUL_OK : haul_arena_error(the_arena)->status;
    }
    for (i = 0; i < 20 && status == HAUL_OK; i++)
        status = haul_arena_release(the_arena, block[i], 40);
    if (status == HAUL_OK)
        status = haul_arena_rollback(the_arena, mark);
    haul_arena_free(&the_arena);
    return status;
}

static void finish_context(void *user)
{
    (void)user;
    haul_context_free(&the_context);
    links_close();
}

static void everything_fails_once(void)
{
    fault_operation operation = { .prepare = prepare_context,
                                  .run = work_in_arena,
                                  .finish = finish_context };
    the_options.reserve_bytes = 1 << 20;
    CHECK(fault_everywhere(&operation) > 5);
}

TEST(arena, every_allocation_that_it_makes_may_fail_H1_H2)
{
    memset(&the_options, 0, sizeof the_options);
    everything_fails_once();
    the_options.reuse = the_options.checked = 1;
    everything_fails_once();
}

/* ---- Any order of calls. */

typedef struct piece {
    unsigned char *at;
    size_t bytes;
    unsigned char mark;
} piece;

enum { PIECES = 300, STEPS = 20000 };

static void check_piece(const piece *p)
{
    size_t i;
    for (i = 0; i < p->bytes; i++)
        if (p->at[i] != p->mark)
            CHECK_EQ(p->at[i], p->mark);
}

/* What is given out is zeros, and nobody else writes to it until it goes back. */
static void any_order(int reuse, int checked)
{
    static piece pieces[PIECES];
    haul_arena_options options;
    haul_arena_mark mark;
    uint64_t state = 1;
    size_t count = 0, marked = 0, i;
    int step;
    memset(&options, 0, sizeof options);
    options.reuse = reuse;
    options.checked = checked;
    options.granularity = 4096;
    start(&options);
    mark = haul_arena_checkpoint(the_arena);
    for (step = 0; step < STEPS; step++) {
        size_t choice, bytes;
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        choice = (size_t)(state >> 33);
        bytes = choice % 7 == 0 ? choice % 5000 + 1 : choice % 150 + 1;
        if (choice % 1000 == 1) {
            CHECK_STATUS(haul_arena_rollback(the_arena, mark), HAUL_OK);
            count = marked;
        } else if (choice % 2 && count < PIECES) {
            piece *p = &pieces[count++];
            p->bytes = choice % 5 ? bytes : sizeof(link);
            p->at = choice % 5 ? haul_arena_bytes(the_arena, bytes, (size_t)1 << choice % 8)
                               : haul_arena_new(the_arena, link_type, 1);
            p->mark = (unsigned char)(step | 1);
            CHECK(p->at != NULL && is_zero(p->at, p->bytes));
            memset(p->at, p->mark, p->bytes);
        } else if (count > marked) {
            i = marked + choice % (count - marked);
            check_piece(&pieces[i]);
            CHECK_STATUS(haul_arena_release(the_arena, pieces[i].at, pieces[i].bytes), HAUL_OK);
            pieces[i] = pieces[--count];
        } else if (choice % 16 == 0) {
            mark = haul_arena_checkpoint(the_arena);
            marked = count;
        }
    }
    for (i = 0; i < count; i++)
        check_piece(&pieces[i]);
    CHECK(numbers().reused > 100 || !reuse);
    end();
}

TEST(arena, in_any_order_of_calls_memory_is_zeros_and_one_owners)
{
    any_order(0, 0);
    any_order(1, 0);
    any_order(0, 1);
    any_order(1, 1);
}
