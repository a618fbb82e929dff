/* Device memory from the pool, from cudaMalloc and from the user, and pinned memory (D1, D2, D3,
 * D9).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu.h"

#define MEGABYTE ((uint64_t)1 << 20)

static size_t free_memory(void)
{
    size_t left, all;
    CHECK_CUDA(cudaMemGetInfo(&left, &all));
    return left;
}

/* ---- Too much. */

static void demand_too_much(void *state)
{
    haul_device_capabilities capabilities;
    haul_address address = 7;
    uint64_t sizes[3];
    char number[32];
    int i;
    gpu->capabilities(state, &capabilities, sizeof capabilities);
    sizes[0] = free_memory() + 64 * MEGABYTE; /* less than there is in all, more than is free */
    sizes[1] = capabilities.memory_bytes;
    sizes[2] = (uint64_t)1 << 62;
    for (i = 0; i < 3; i++) {
        CHECK_STATUS(gpu->allocate(state, sizes[i], 256, &address), HAUL_ERROR_DEVICE_MEMORY);
        CHECK_EQ(address, 7);
        snprintf(number, sizeof number, "%llu bytes wanted", (unsigned long long)sizes[i]);
        CHECK_HAS(gpu->message(state), number);
        CHECK_HAS(gpu->message(state), "free");
        CHECK_CUDA(cudaGetLastError());
        gpu->release(state, gpu_get(state, MEGABYTE), MEGABYTE);
    }
}

static void out_of_memory_is_said_with_sizes_and_leaves_no_error_D1_D2(void)
{
    haul_cuda_options settings;
    memset(&settings, 0, sizeof settings);
    for (settings.plain_malloc = 0; settings.plain_malloc <= 1; settings.plain_malloc++) {
        void *state = gpu_open_with(&settings);
        demand_too_much(state);
        gpu_close(state);
    }
}

static void pinned_memory_that_is_not_there_is_no_device_failure_D3(void)
{
    void *state = gpu_open(0), *memory = NULL;
    CHECK_STATUS(gpu->stage(state, (size_t)1 << 60, &memory), HAUL_ERROR_MEMORY);
    CHECK_PTR(memory, NULL);
    CHECK_HAS(gpu->message(state), "cudaHostAlloc");
    CHECK_CUDA(cudaGetLastError());
    gpu_close(state);
}

/* D3: what the library then takes instead of pinned memory. */
static void copies_from_and_to_plain_memory_arrive(void)
{
    enum { BYTES = 3000001 };
    void *state = gpu_open(0);
    unsigned char *sent = malloc(BYTES), *got = calloc(1, BYTES);
    haul_address address = gpu_get(state, BYTES);
    size_t i;
    CHECK(sent && got);
    for (i = 0; i < BYTES; i++)
        sent[i] = (unsigned char)(i * 2654435761u >> 13);
    CHECK_STATUS(gpu->copy_to(state, address, sent, BYTES), HAUL_OK);
    CHECK_STATUS(gpu->copy_from(state, got, address, BYTES), HAUL_OK);
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    CHECK_BYTES(got, sent, BYTES);
    gpu->release(state, address, BYTES);
    free(sent);
    free(got);
    gpu_close(state);
}

/* ---- The pool. */

static void a_device_that_is_closed_leaves_no_memory_behind(void)
{
    size_t before;
    int round;
    gpu_close(gpu_open(0));
    before = free_memory();
    for (round = 0; round < 3; round++) {
        void *state = gpu_open(0);
        haul_address address = gpu_get(state, 300 * MEGABYTE);
        CHECK(free_memory() + 200 * MEGABYTE < before);
        gpu->release(state, address, 300 * MEGABYTE);
        gpu_close(state);
    }
    CHECK(free_memory() + 32 * MEGABYTE > before);
}

static void released_memory_stays_in_the_pool_as_far_as_the_settings_say(void)
{
    int keeps;
    for (keeps = 0; keeps < 2; keeps++) {
        haul_cuda_options settings;
        haul_address address;
        size_t before;
        void *state;
        memset(&settings, 0, sizeof settings);
        settings.pool_bytes = keeps ? 400 * MEGABYTE : 1;
        state = gpu_open_with(&settings);
        before = free_memory();
        address = gpu_get(state, 300 * MEGABYTE);
        gpu->release(state, address, 300 * MEGABYTE);
        CHECK_STATUS(gpu->wait(state), HAUL_OK);
        CHECK_EQ(free_memory() + 200 * MEGABYTE < before, keeps);
        gpu_close(state);
    }
}

static void memory_that_was_released_is_given_to_who_asks_for_as_much(void)
{
    void *state = gpu_open(0);
    haul_address first = gpu_get(state, 3 * MEGABYTE), second;
    gpu->release(state, first, 3 * MEGABYTE);
    second = gpu_get(state, 2 * MEGABYTE);
    CHECK_EQ(gpu_get(state, 3 * MEGABYTE), first);
    gpu->release(state, first, 3 * MEGABYTE);
    gpu->release(state, second, 2 * MEGABYTE);
    CHECK_EQ(gpu_get(state, 3 * MEGABYTE), first);
    CHECK_EQ(gpu_get(state, 2 * MEGABYTE), second);
    gpu->release(state, first, 3 * MEGABYTE);
    gpu->release(state, second, 2 * MEGABYTE);
    gpu_close(state);
}

static void memory_that_was_released_is_given_to_another_stream_behind_its_last_use(void)
{
    void *state = gpu_open(0);
    cudaStream_t stream = gpu_make_stream();
    haul_address address = gpu_get(state, MEGABYTE);
    unsigned char *ones = malloc(MEGABYTE);
    CHECK(ones != NULL);
    memset(ones, 1, MEGABYTE);
    CHECK_STATUS(gpu->copy_to(state, address, ones, MEGABYTE), HAUL_OK);
    gpu->release(state, address, MEGABYTE);
    CHECK_STATUS(gpu->select(state, stream), HAUL_OK);
    CHECK_EQ(gpu_get(state, MEGABYTE), address);
    memset(ones, 2, MEGABYTE);
    CHECK_STATUS(gpu->copy_to(state, address, ones, MEGABYTE), HAUL_OK);
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    CHECK_STATUS(gpu->select(state, NULL), HAUL_OK);
    CHECK(gpu_holds(state, address, ones, MEGABYTE));
    gpu->release(state, address, MEGABYTE);
    gpu_close(state);
    free(ones);
    CHECK_CUDA(cudaStreamDestroy(stream));
}

/* More than is free beside it. */
static void what_is_kept_is_let_go_when_memory_runs_out_D1(void)
{
    size_t before = free_memory(), most = before / 10 * 6;
    haul_cuda_options settings;
    haul_address address;
    void *state;
    memset(&settings, 0, sizeof settings);
    settings.pool_bytes = before;
    state = gpu_open_with(&settings);
    gpu->release(state, gpu_get(state, most), most);
    address = gpu_get(state, most + MEGABYTE);
    gpu->release(state, address, most + MEGABYTE);
    gpu_close(state);
    CHECK(free_memory() + 64 * MEGABYTE > before);
}

/* cudaMalloc and cudaFree would wait for the kernel that is held. */
static void the_pool_gives_and_takes_while_the_gpu_works(void)
{
    void *state = gpu_open(0);
    haul_address first = gpu_get(state, MEGABYTE);
    gpu_hold hold;
    double begin;
    int i;
    gpu->release(state, first, MEGABYTE);
    hold = gpu_hold_stream(cudaStreamLegacy);
    begin = gpu_seconds();
    for (i = 0; i < 100; i++)
        gpu->release(state, gpu_get(state, MEGABYTE / 2), MEGABYTE / 2);
    CHECK(gpu_seconds() - begin < 1);
    gpu_let_go(&hold);
    gpu_close(state);
}

static void any_alignment_is_kept_and_given_back_whole(void)
{
    enum { COUNT = 40 };
    void *state = gpu_open(0);
    haul_address at[COUNT];
    size_t alignment, i;
    for (alignment = 512; alignment <= MEGABYTE; alignment *= 2) {
        for (i = 0; i < COUNT; i++) {
            CHECK_STATUS(gpu->allocate(state, 1000 + i, alignment, &at[i]), HAUL_OK);
            CHECK_EQ(at[i] % alignment, 0);
        }
        for (i = 0; i < COUNT; i++)
            gpu->release(state, at[i * 7 % COUNT], 1000 + i * 7 % COUNT);
    }
    gpu_close(state);
}

/* ---- The user's. */

typedef struct user_memory {
    int gives;              /* 0: nothing; 1: device memory; 2: host memory; 3: misaligned memory */
    uint64_t blocks, bytes; /* live */
    void *stream;           /* of the last call */
} user_memory;

static void *give(void *user, size_t bytes, void *stream)
{
    user_memory *mine = user;
    void *memory = NULL;
    mine->stream = stream;
    if (mine->gives == 0)
        return NULL;
    if (mine->gives == 2)
        memory = malloc(bytes);
    else if (cudaMalloc(&memory, bytes + 256) != cudaSuccess)
        return NULL;
    mine->blocks++;
    mine->bytes += bytes;
    return mine->gives == 3 ? (char *)memory + 8 : memory;
}

static void take_back(void *user, void *memory, size_t bytes, void *stream)
{
    user_memory *mine = user;
    mine->stream = stream;
    mine->blocks--;
    mine->bytes -= bytes;
    if (mine->gives == 2)
        free(memory);
    else
        CHECK_CUDA(cudaStreamSynchronize(stream));
    if (mine->gives != 2)
        CHECK_CUDA(cudaFree(mine->gives == 3 ? (char *)memory - 8 : memory));
}

static void *open_with_mine(user_memory *mine, int gives)
{
    haul_cuda_options settings;
    memset(&settings, 0, sizeof settings);
    memset(mine, 0, sizeof *mine);
    mine->gives = gives;
    settings.allocate = give;
    settings.release = take_back;
    settings.user = mine;
    return gpu_open_with(&settings);
}

static void a_users_allocator_gets_back_what_it_gave_on_the_selected_stream(void)
{
    user_memory mine;
    void *state = open_with_mine(&mine, 1);
    cudaStream_t stream = gpu_make_stream();
    haul_address a, b;
    char bytes[100] = "mine";
    CHECK_STATUS(gpu->select(state, stream), HAUL_OK);
    CHECK_STATUS(gpu->allocate(state, 100, 16, &a), HAUL_OK);
    CHECK_PTR(mine.stream, stream);
    CHECK_EQ(mine.bytes, 100);
    CHECK_STATUS(gpu->select(state, NULL), HAUL_OK);
    CHECK_STATUS(gpu->allocate(state, 5000, 4096, &b), HAUL_OK);
    CHECK(mine.stream != stream);
    CHECK_EQ(b % 4096, 0);
    CHECK_EQ(mine.blocks, 2);
    CHECK_STATUS(gpu->copy_to(state, a, bytes, 100), HAUL_OK);
    CHECK(gpu_holds(state, a, bytes, 100));
    gpu->release(state, b, 5000);
    gpu->release(state, a, 100);
    CHECK_EQ(mine.blocks, 0);
    CHECK_EQ(mine.bytes, 0);
    gpu_close(state);
    CHECK_CUDA(cudaStreamDestroy(stream));
}

static void a_users_allocator_that_has_nothing_is_out_of_memory(void)
{
    user_memory mine;
    void *state = open_with_mine(&mine, 0);
    haul_address address;
    CHECK_STATUS(gpu->allocate(state, 12345, 16, &address), HAUL_ERROR_DEVICE_MEMORY);
    CHECK_HAS(gpu->message(state), "12345 bytes wanted");
    CHECK_CUDA(cudaGetLastError());
    gpu_close(state);
}

/* D9. */
static void memory_of_a_wrong_kind_is_refused_and_given_back(void)
{
    int gives;
    for (gives = 2; gives <= 3; gives++) {
        user_memory mine;
        void *state = open_with_mine(&mine, gives);
        haul_address address;
        CHECK_STATUS(gpu->allocate(state, 4096, 16, &address), HAUL_ERROR_ARGUMENT);
        CHECK(*gpu->message(state) != 0);
        CHECK_EQ(mine.blocks, 0);
        CHECK_EQ(mine.bytes, 0);
        CHECK_CUDA(cudaGetLastError());
        gpu_close(state);
    }
}

static void settings_that_make_no_sense_are_refused(void)
{
    haul_allocator allocator = gpu_allocator();
    haul_cuda_options settings;
    void *state = NULL;
    memset(&settings, 0, sizeof settings);
    settings.allocate = give;
    CHECK_STATUS(gpu->open(&settings, &allocator, &state), HAUL_ERROR_ARGUMENT);
    settings.allocate = NULL;
    settings.plain_malloc = 1;
    settings.timeout_seconds = -1;
    CHECK_STATUS(gpu->open(&settings, &allocator, &state), HAUL_ERROR_ARGUMENT);
    settings.timeout_seconds = 0;
    settings.ordinal = -1;
    CHECK_STATUS(gpu->open(&settings, &allocator, &state), HAUL_ERROR_ARGUMENT);
    settings.ordinal = haul_cuda_count();
    CHECK_STATUS(gpu->open(&settings, &allocator, &state), HAUL_ERROR_UNSUPPORTED);
    CHECK_PTR(state, NULL);
    CHECK_CUDA(cudaGetLastError());
}

const gpu_test memory_tests[] = {
    GPU_TEST(out_of_memory_is_said_with_sizes_and_leaves_no_error_D1_D2),
    GPU_TEST(pinned_memory_that_is_not_there_is_no_device_failure_D3),
    GPU_TEST(copies_from_and_to_plain_memory_arrive),
    GPU_TEST(a_device_that_is_closed_leaves_no_memory_behind),
    GPU_TEST(released_memory_stays_in_the_pool_as_far_as_the_settings_say),
    GPU_TEST(memory_that_was_released_is_given_to_who_asks_for_as_much),
    GPU_TEST(memory_that_was_released_is_given_to_another_stream_behind_its_last_use),
    GPU_TEST(what_is_kept_is_let_go_when_memory_runs_out_D1),
    GPU_TEST(the_pool_gives_and_takes_while_the_gpu_works),
    GPU_TEST(any_alignment_is_kept_and_given_back_whole),
    GPU_TEST(a_users_allocator_gets_back_what_it_gave_on_the_selected_stream),
    GPU_TEST(a_users_allocator_that_has_nothing_is_out_of_memory),
    GPU_TEST(memory_of_a_wrong_kind_is_refused_and_given_back),
    GPU_TEST(settings_that_make_no_sense_are_refused),
    GPU_TESTS_END
};
