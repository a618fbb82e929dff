/* The drop-in forms (malloc, calloc, realloc, free) against a list of live blocks: contents stay,
 * sizes are right, and an address that is no block is refused.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/random.h"
#include "support/open.h"

#define GRANULE HAUL_ARENA_GRANULE

enum { BLOCKS = 200, STEPS = 20000 };

typedef struct block {
    unsigned char *at, mark;
    size_t bytes;
} block;

static haul_context *the_context;
static haul_arena *the_arena;
static random_source the_random;
static block blocks[BLOCKS];
static size_t count, marked; /* before `marked`: from before the checkpoint */

static void start(const haul_arena_options *options)
{
    count = marked = 0;
    CHECK_STATUS(haul_context_create(NULL, &the_context), HAUL_OK);
    CHECK_STATUS(haul_arena_create(the_context, options, &the_arena), HAUL_OK);
}

static void end(void)
{
    haul_arena_free(&the_arena);
    haul_context_free(&the_context);
}

/* Within a group of 64 granules, about as long as one, and over many. */
static size_t any_size(void)
{
    switch (random_below(&the_random, 8)) {
    case 0:
        return random_below(&the_random, 64 * GRANULE * 20);
    case 1:
        return GRANULE * (62 + random_below(&the_random, 5));
    case 2:
        return random_below(&the_random, 5);
    default:
        return random_below(&the_random, 300);
    }
}

static void fill(block *b, size_t from, size_t bytes)
{
    if (bytes > from)
        memset(b->at + from, b->mark, bytes - from);
    b->bytes = bytes;
}

static void check_block(const block *b, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes; i++)
        if (b->at[i] != b->mark)
            CHECK_EQ(b->at[i], b->mark);
}

static void check_no_block(void *memory)
{
    CHECK_STATUS(haul_arena_free_block(the_arena, memory), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_arena_error(the_arena)->text, "no block of this arena");
    CHECK_PTR(haul_arena_realloc(the_arena, memory, 1), NULL);
    CHECK_EQ(haul_arena_block_bytes(the_arena, memory), 0);
}

static void take(void)
{
    block *b = &blocks[count++];
    b->bytes = any_size();
    b->mark = (unsigned char)random_between(&the_random, 1, 255);
    b->at = haul_arena_malloc(the_arena, b->bytes);
    CHECK(b->at != NULL);
    CHECK(haul_arena_block_bytes(the_arena, b->at) >= b->bytes);
    fill(b, 0, b->bytes);
}

static void resize(block *b)
{
    const size_t bytes = any_size(), kept = bytes < b->bytes ? bytes : b->bytes;
    unsigned char *before = b->at;
    b->at = haul_arena_realloc(the_arena, b->at, bytes);
    CHECK(b->at != NULL);
    check_block(b, kept);
    fill(b, kept, bytes);
    if (b->at != before)
        check_no_block(before);
}

static void give_back(block *b)
{
    check_block(b, b->bytes);
    if (b->bytes > GRANULE)
        check_no_block(b->at + GRANULE);
    CHECK_STATUS(haul_arena_free_block(the_arena, b->at), HAUL_OK);
    check_no_block(b->at);
    *b = blocks[--count];
}

static void play(int reuse)
{
    haul_arena_options options;
    haul_arena_mark mark;
    int step;
    memset(&options, 0, sizeof options);
    options.reuse = reuse;
    start(&options);
    mark = haul_arena_checkpoint(the_arena);
    for (step = 0; step < STEPS; step++) {
        const size_t what = random_below(&the_random, 1000);
        if (what == 0) {
            CHECK_STATUS(haul_arena_rollback(the_arena, mark), HAUL_OK);
            count = marked;
        } else if (what == 1 && count < BLOCKS / 2) {
            mark = haul_arena_checkpoint(the_arena);
            marked = count;
        } else if (what < 50) {
            void *plain = haul_arena_bytes(the_arena, 1 + any_size(), 0);
            CHECK(plain != NULL);
            check_no_block(plain);
        } else if (what < 400 && count < BLOCKS) {
            take();
        } else if (count > marked) {
            block *b = &blocks[random_between(&the_random, marked, count - 1)];
            if (what < 650)
                resize(b);
            else
                give_back(b);
        }
    }
    for (marked = 0; count > 0;)
        give_back(&blocks[random_below(&the_random, count)]);
    end();
}

TEST(arena_blocks, in_any_order_of_calls_sizes_and_contents_are_right)
{
    the_random = random_start("blocks of the drop-in forms");
    play(0);
    play(1);
}

TEST(arena_blocks, a_block_can_be_used_to_the_size_that_it_tells)
{
    unsigned char *one, *other;
    size_t bytes;
    start(NULL);
    CHECK_EQ(haul_arena_block_bytes(NULL, the_arena), 0);
    CHECK_EQ(haul_arena_block_bytes(the_arena, NULL), 0);
    one = haul_arena_malloc(the_arena, GRANULE + 1);
    other = haul_arena_malloc(the_arena, 0);
    bytes = haul_arena_block_bytes(the_arena, one);
    CHECK_EQ(bytes, 2 * GRANULE);
    CHECK_EQ(haul_arena_block_bytes(the_arena, other), GRANULE);
    memset(one, 1, bytes);
    CHECK_EQ(other[0], 0);
    CHECK_EQ(haul_arena_block_bytes(the_arena, one + GRANULE), 0);
    CHECK_EQ(haul_arena_block_bytes(the_arena, &bytes), 0);
    CHECK_STATUS(haul_arena_error(the_arena)->status, HAUL_OK);
    one = haul_arena_realloc(the_arena, one, 100 * GRANULE);
    CHECK_EQ(haul_arena_block_bytes(the_arena, one), 100 * GRANULE);
    end();
}

/* A kernel of the host device that grows a block of its own. */
typedef struct grown {
    void *block;
    size_t before, after;
} grown;

static void grow(void *argument)
{
    grown *g = argument;
    g->before = haul_arena_block_bytes(the_arena, g->block);
    g->block = haul_arena_realloc(the_arena, g->block, 4 * g->before);
    g->after = haul_arena_block_bytes(the_arena, g->block);
}

TEST(arena_blocks, a_kernel_of_the_host_device_can_grow_them)
{
    haul_host_options host = { .strict = -1 };
    haul_device *device;
    grown g;
    start(NULL);
    memset(&g, 0, sizeof g);
    g.block = haul_arena_malloc(the_arena, 3 * GRANULE);
    CHECK_STATUS(haul_host_open(the_context, &host, &device), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, grow, &g), HAUL_OK);
    CHECK_EQ(g.before, 3 * GRANULE);
    CHECK_EQ(g.after, 12 * GRANULE);
    haul_device_close(&device);
    end();
}

TEST(arena_blocks, a_string_that_grows_by_little_stays_where_it_is_and_costs_little)
{
    char *at, *text = NULL;
    size_t bytes;
    start(NULL);
    text = at = haul_arena_malloc(the_arena, 1);
    for (bytes = 1; bytes < LARGE(20000000, 2000000); bytes += 50)
        text = haul_arena_realloc(the_arena, text, bytes);
    CHECK_PTR(text, at);
    CHECK_STATUS(haul_arena_free_block(the_arena, text), HAUL_OK);
    end();
}

TEST(arena_blocks, they_lie_side_by_side)
{
    haul_arena_info now;
    char *a, *b;
    start(NULL);
    a = haul_arena_malloc(the_arena, 2 * GRANULE);
    b = haul_arena_malloc(the_arena, 1);
    CHECK_PTR(b, a + 2 * GRANULE);
    haul_arena_get_info(the_arena, &now);
    CHECK_EQ(now.used_bytes, 3 * GRANULE);
    end();
}

/* ---- Memory that cannot be had. */

static int is_closed;

static void *gate(void *user, size_t bytes, size_t alignment)
{
    void *memory;
    (void)user;
    if (is_closed || posix_memalign(&memory, alignment < 16 ? 16 : alignment, bytes) != 0)
        return NULL;
    return memory;
}

static void open_gate(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

TEST(arena_blocks, without_memory_for_their_sizes_none_is_given_and_the_reason_is_told)
{
    haul_context_options options;
    haul_arena_options small;
    haul_allocator allocator;
    void *b;
    memset(&small, 0, sizeof small);
    small.reserve_bytes = 1 << 16;
    memset(&options, 0, sizeof options);
    memset(&allocator, 0, sizeof allocator);
    allocator.allocate = gate;
    allocator.release = open_gate;
    test_allocator(&options, &allocator);
    CHECK_STATUS(haul_context_create(&options, &the_context), HAUL_OK);
    CHECK_STATUS(haul_arena_create(the_context, &small, &the_arena), HAUL_OK);
    is_closed = 1;
    CHECK_PTR(haul_arena_malloc(the_arena, 10), NULL);
    CHECK_EQ(haul_arena_error(the_arena)->status, HAUL_ERROR_MEMORY);
    CHECK_HAS(haul_arena_error(the_arena)->text, "sizes of blocks");
    is_closed = 0;
    b = haul_arena_malloc(the_arena, 10);
    CHECK(b != NULL);
    CHECK_STATUS(haul_arena_free_block(the_arena, b), HAUL_OK);
    end();
}
