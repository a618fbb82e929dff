/* The kernels: relocate and send against the plainest loop on the host, over random arenas, larger
 * and stranger than those of the contract.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu.h"
#include "support/random.h"

/* An arena as a shipment lays it out: words, bitmap, explicit relocations, their offsets. */
typedef struct arena {
    size_t words, offset_count, bitmap_at, offsets_at, bytes;
    unsigned word_bytes;
    unsigned char *host;
    haul_relocation order;
} arena;

static random_source source;

static uint64_t load(const unsigned char *at, unsigned word_bytes)
{
    uint64_t word = 0;
    memcpy(&word, at, word_bytes);
    return word;
}

static void patch(const haul_relocation *order, unsigned char *at)
{
    uint64_t mask = order->word_bytes == 8 ? UINT64_MAX : UINT32_MAX,
             word = load(at, order->word_bytes);
    if (word == 0 || ((word - order->from) & mask) > order->bytes)
        return;
    word += order->delta;
    memcpy(at, &word, order->word_bytes);
}

static void patch_plainly(const arena *a, unsigned char *bytes)
{
    uint64_t i;
    for (i = 0; i < a->words; i++)
        if (load(a->host + a->bitmap_at + i / 64 * 8, 8) >> i % 64 & 1)
            patch(&a->order, bytes + i * a->word_bytes);
    for (i = 0; i < a->offset_count; i++)
        patch(&a->order, bytes + load(a->host + a->offsets_at + 8 * i, 8));
}

/* Words that lead into the range, beside it, to its edges, or nowhere. */
static void choose(arena *a, unsigned char *at)
{
    uint64_t range = a->order.bytes == UINT64_MAX ? UINT64_MAX : a->order.bytes + 1;
    uint64_t word = a->order.from + random_next(&source) % range;
    size_t which = random_below(&source, 8);
    if (which == 0)
        word = 0;
    else if (which == 1)
        word = a->order.from + a->order.bytes + random_below(&source, 2);
    else if (which == 2)
        word = a->order.from - random_below(&source, 2);
    memcpy(at, &word, a->word_bytes);
}

/* About `density` of 64 words are marked, and some bits behind the last word, which must be
 * ignored. */
static void mark(arena *a, size_t density)
{
    size_t i;
    for (i = 0; i < (a->words + 63) / 64 * 64; i++)
        if (i >= a->words || random_below(&source, 64) < density)
            a->host[a->bitmap_at + i / 8] |= (unsigned char)(1u << i % 8);
}

static arena make_arena(size_t words, unsigned word_bytes, size_t density, size_t offset_count)
{
    arena a;
    size_t i, listed_from = words * word_bytes + 1;
    memset(&a, 0, sizeof a);
    a.words = words;
    a.word_bytes = word_bytes;
    a.offset_count = offset_count;
    a.bitmap_at = (listed_from + offset_count * (word_bytes + 1) + 7) & ~(size_t)7;
    a.offsets_at = a.bitmap_at + (words + 63) / 64 * 8;
    a.bytes = a.offsets_at + offset_count * 8 + random_below(&source, 16);
    a.host = calloc(1, a.bytes);
    CHECK(a.host != NULL);
    a.order.from = random_one_in(&source, 2) ? 0 : random_next(&source) >> 20;
    a.order.bytes = random_one_in(&source, 8) ? UINT64_MAX : random_below(&source, 1000000);
    a.order.delta = random_next(&source);
    for (i = 0; i < words; i++)
        choose(&a, a.host + i * word_bytes);
    mark(&a, density);
    for (i = 0; i < offset_count; i++) {
        uint64_t at = listed_from + i * (word_bytes + 1);
        choose(&a, a.host + at);
        memcpy(a.host + a.offsets_at + 8 * i, &at, 8);
    }
    return a;
}

static void place(arena *a, haul_address address)
{
    a->order.arena = address;
    a->order.words = a->words;
    a->order.bitmap = address + a->bitmap_at;
    a->order.offsets = address + a->offsets_at;
    a->order.offset_count = a->offset_count;
    a->order.word_bytes = a->word_bytes;
}

static void check_arena(void *state, arena *a, haul_address address)
{
    unsigned char *expected = malloc(a->bytes);
    CHECK(expected != NULL);
    memcpy(expected, a->host, a->bytes);
    patch_plainly(a, expected);
    CHECK(gpu_holds(state, address, expected, a->bytes));
    free(expected);
}

/* ---- Relocate. */

static void try_relocate(void *state, size_t words, unsigned word_bytes, size_t density,
                         size_t offset_count)
{
    arena a = make_arena(words, word_bytes, density, offset_count);
    haul_address address = gpu_get(state, a.bytes);
    check_note("%zu words of %u bytes, %zu of 64 marked, %zu listed", words, word_bytes, density,
               offset_count);
    place(&a, address);
    CHECK_STATUS(gpu->copy_to(state, address, a.host, a.bytes), HAUL_OK);
    CHECK_STATUS(gpu->relocate(state, &a.order), HAUL_OK);
    check_arena(state, &a, address);
    gpu->release(state, address, a.bytes);
    free(a.host);
}

static void relocate_agrees_with_the_plain_loop_on_any_arena(void)
{
    void *state = gpu_open(0);
    unsigned word_bytes;
    int round;
    source = random_start("relocation on the GPU");
    for (word_bytes = 4; word_bytes <= 8; word_bytes += 4)
        for (round = 0; round < 300; round++)
            try_relocate(state, random_below(&source, round % 50 ? 5000 : 3000000), word_bytes,
                         random_below(&source, 65), round % 3 ? random_below(&source, 2000) : 0);
    check_note(NULL);
    gpu_close(state);
}

/* More blocks than are started at once, and gaps of many bitmap words. */
static void relocate_agrees_on_large_sparse_and_dense_arenas(void)
{
    void *state = gpu_open(0);
    source = random_start("large relocations on the GPU");
    try_relocate(state, ((size_t)1 << 24) + 12345, 8, 1, 0);
    try_relocate(state, ((size_t)1 << 24) + 77, 8, 64, 100000);
    try_relocate(state, ((size_t)1 << 25) + 1, 4, 20, 0);
    try_relocate(state, 0, 8, 0, 300000);
    check_note(NULL);
    gpu_close(state);
}

/* ---- Send. */

enum { ROOM = 512 << 10 };

/* Sends from `from`, which holds the arena's bytes, into memory full of 0xEE; nothing behind the
 * arena changes. */
static void try_send_from(void *state, arena *a, void *from, haul_address address)
{
    unsigned char behind[64];
    void *poison = malloc(a->bytes + sizeof behind);
    CHECK(poison != NULL);
    memset(poison, 0xEE, a->bytes + sizeof behind);
    memset(behind, 0xEE, sizeof behind);
    CHECK_STATUS(gpu->copy_to(state, address, poison, a->bytes + sizeof behind), HAUL_OK);
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    memcpy(from, a->host, a->bytes);
    place(a, address);
    CHECK_STATUS(gpu->send(state, &a->order, from, a->bytes), HAUL_OK);
    check_arena(state, a, address);
    CHECK(gpu_holds(state, address + a->bytes, behind, sizeof behind));
    CHECK_BYTES(from, a->host, a->bytes);
    free(poison);
}

static void send_agrees_with_the_plain_loop_at_any_size(void)
{
    void *state = gpu_open(0), *staged = gpu_stage(state, ROOM);
    haul_address address = gpu_get(state, ROOM);
    int round;
    source = random_start("sends to the GPU");
    for (round = 0; round < 600; round++) {
        unsigned word_bytes = round % 4 ? 8 : 4;
        size_t words = random_below(&source, round % 10 ? 2000 : 32000),
               listed = random_below(&source, 300);
        arena a = make_arena(words, word_bytes, random_below(&source, 65), round % 3 ? 0 : listed);
        check_note("round %d: %zu bytes, %zu listed", round, a.bytes, a.offset_count);
        try_send_from(state, &a, staged, address);
        free(a.host);
    }
    check_note(NULL);
    gpu->unstage(state, staged, ROOM);
    gpu->release(state, address, ROOM);
    gpu_close(state);
}

/* What one kernel cannot do goes the other way: plain memory, memory off the grid of 16 bytes, too
 * many bytes. */
static void send_takes_whatever_it_is_given(void)
{
    void *state = gpu_open(0);
    unsigned char *staged = gpu_stage(state, ROOM + 64), *plain = malloc(ROOM);
    haul_address address = gpu_get(state, ROOM + 64);
    arena a;
    CHECK(plain != NULL);
    source = random_start("odd sends to the GPU");
    a = make_arena(3000, 8, 30, 5);
    try_send_from(state, &a, plain, address);
    try_send_from(state, &a, staged + 8, address);
    try_send_from(state, &a, staged, address + 8);
    free(a.host);
    a = make_arena(50000, 8, 30, 5);
    try_send_from(state, &a, staged, address);
    free(a.host);
    a = make_arena(0, 8, 0, 0);
    try_send_from(state, &a, staged, address);
    free(a.host);
    free(plain);
    gpu->unstage(state, staged, ROOM + 64);
    gpu->release(state, address, ROOM + 64);
    gpu_close(state);
}

/* The staging is written again for each: the GPU must not read an old copy of it. */
static void send_reads_the_staging_as_it_is_each_time(void)
{
    void *state = gpu_open(0);
    uint64_t *staged = gpu_stage(state, 4096), i, round, fence;
    haul_address address = gpu_get(state, 4096);
    haul_relocation order;
    memset(&order, 0, sizeof order);
    order.arena = address;
    order.word_bytes = 8;
    for (round = 0; round < 200; round++) {
        for (i = 0; i < 512; i++)
            staged[i] = round * 1000 + i;
        CHECK_STATUS(gpu->send(state, &order, staged, 4096), HAUL_OK);
        CHECK_STATUS(gpu->fence(state, &fence), HAUL_OK);
        CHECK_STATUS(gpu->await(state, fence), HAUL_OK);
        CHECK(gpu_holds(state, address, staged, 4096));
    }
    gpu->unstage(state, staged, 4096);
    gpu->release(state, address, 4096);
    gpu_close(state);
}

const gpu_test patch_tests[] = { GPU_TEST(relocate_agrees_with_the_plain_loop_on_any_arena),
                                 GPU_TEST(relocate_agrees_on_large_sparse_and_dense_arenas),
                                 GPU_TEST(send_agrees_with_the_plain_loop_at_any_size),
                                 GPU_TEST(send_takes_whatever_it_is_given),
                                 GPU_TEST(send_reads_the_staging_as_it_is_each_time),
                                 GPU_TESTS_END };
