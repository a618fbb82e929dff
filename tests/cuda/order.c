/* Streams, fences and events: what is in order with what, and waits that give up (D13).
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu.h"

enum { WORDS = 50000 };
#define BYTES (WORDS * sizeof(uint64_t))

static uint64_t *numbers(void)
{
    uint64_t *words = malloc(BYTES), i;
    CHECK(words != NULL);
    for (i = 0; i < WORDS; i++)
        words[i] = i * 11400714819323198485u;
    return words;
}

static void check_sums(const uint64_t *got, const uint64_t *words, uint64_t delta)
{
    size_t i;
    for (i = 0; i < WORDS; i++)
        CHECK_EQ(got[i], words[i] + delta);
}

/* ---- In order. */

static void plain_kernels_are_in_order_with_a_devices_own_stream(void)
{
    void *state = gpu_open(0);
    haul_address address = gpu_get(state, BYTES);
    uint64_t *words = numbers(), *staged = gpu_stage(state, BYTES), *back = gpu_stage(state, BYTES);
    int round;
    for (round = 1; round <= 50; round++) {
        memcpy(staged, words, BYTES);
        CHECK_STATUS(gpu->copy_to(state, address, staged, BYTES), HAUL_OK);
        user_add_plainly(gpu_pointer(address), WORDS, (uint64_t)round);
        CHECK_STATUS(gpu->copy_from(state, back, address, BYTES), HAUL_OK);
        CHECK_STATUS(gpu->wait(state), HAUL_OK);
        check_sums(back, words, (uint64_t)round);
    }
    gpu->unstage(state, staged, BYTES);
    gpu->unstage(state, back, BYTES);
    gpu->release(state, address, BYTES);
    free(words);
    gpu_close(state);
}

/* The stream is held first, so that nothing of it can have happened by luck. */
static void verbs_are_in_order_with_kernels_on_the_selected_stream(void)
{
    void *state = gpu_open(0);
    cudaStream_t stream = gpu_make_stream();
    haul_address address = gpu_get(state, BYTES);
    uint64_t *words = numbers(), *staged = gpu_stage(state, BYTES), *back = gpu_stage(state, BYTES),
             fence;
    gpu_hold hold;
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    memcpy(staged, words, BYTES);
    memset(back, 0, BYTES);
    CHECK_STATUS(gpu->select(state, stream), HAUL_OK);
    hold = gpu_hold_stream(stream);
    CHECK_STATUS(gpu->copy_to(state, address, staged, BYTES), HAUL_OK);
    user_add(gpu_pointer(address), WORDS, 1, stream);
    user_add(gpu_pointer(address), WORDS, 2, stream);
    CHECK_STATUS(gpu->copy_from(state, back, address, BYTES), HAUL_OK);
    CHECK_STATUS(gpu->fence(state, &fence), HAUL_OK);
    CHECK_STATUS(gpu->poll(state, fence), HAUL_ERROR_PENDING);
    CHECK_CUDA(cudaPeekAtLastError());
    CHECK_EQ(back[WORDS - 1], 0);
    gpu_let_go(&hold);
    CHECK_STATUS(gpu->await(state, fence), HAUL_OK);
    CHECK_STATUS(gpu->poll(state, fence), HAUL_OK);
    check_sums(back, words, 3);
    CHECK_STATUS(gpu->select(state, NULL), HAUL_OK);
    gpu->unstage(state, staged, BYTES);
    gpu->unstage(state, back, BYTES);
    gpu->release(state, address, BYTES);
    free(words);
    gpu_close(state);
    CHECK_CUDA(cudaStreamDestroy(stream));
}

static void a_held_stream_holds_no_other(void)
{
    void *state = gpu_open(0);
    cudaStream_t held = gpu_make_stream(), other = gpu_make_stream();
    haul_address address = gpu_get(state, BYTES);
    uint64_t *words = numbers(), fence;
    gpu_hold hold;
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    CHECK_STATUS(gpu->select(state, held), HAUL_OK);
    hold = gpu_hold_stream(held);
    CHECK_STATUS(gpu->fence(state, &fence), HAUL_OK);
    CHECK_STATUS(gpu->select(state, other), HAUL_OK);
    CHECK_STATUS(gpu->copy_to(state, address, words, BYTES), HAUL_OK);
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    CHECK_STATUS(gpu->select(state, NULL), HAUL_OK);
    CHECK(gpu_holds(state, address, words, BYTES));
    CHECK_STATUS(gpu->poll(state, fence), HAUL_ERROR_PENDING);
    gpu_let_go(&hold);
    CHECK_STATUS(gpu->poll(state, fence), HAUL_OK);
    gpu->release(state, address, BYTES);
    free(words);
    gpu_close(state);
    CHECK_CUDA(cudaStreamDestroy(held));
    CHECK_CUDA(cudaStreamDestroy(other));
}

/* A patch of 64 words, none of them marked, that may run beside what is ordered from now on. */
static void patch_beside(void *state, haul_address address)
{
    haul_relocation patch;
    memset(&patch, 0, sizeof patch);
    patch.arena = address;
    patch.words = 64;
    patch.bitmap = address + 64 * 8;
    patch.word_bytes = 8;
    CHECK_STATUS(gpu->fence(state, &patch.after), HAUL_OK);
    CHECK_STATUS(gpu->relocate(state, &patch), HAUL_OK);
}

static void a_patch_that_waits_for_a_held_stream_holds_no_other(void)
{
    void *state = gpu_open(0);
    cudaStream_t held = gpu_make_stream(), other = gpu_make_stream();
    haul_address address = gpu_get(state, BYTES);
    gpu_hold hold;
    uint64_t fence;
    CHECK_CUDA(cudaMemset(gpu_pointer(address), 0, BYTES));
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    CHECK_STATUS(gpu->select(state, held), HAUL_OK);
    hold = gpu_hold_stream(held);
    patch_beside(state, address);
    CHECK_STATUS(gpu->fence(state, &fence), HAUL_OK);
    CHECK_STATUS(gpu->select(state, other), HAUL_OK);
    patch_beside(state, address + 64 * 9);
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    CHECK_STATUS(gpu->poll(state, fence), HAUL_ERROR_PENDING);
    gpu_let_go(&hold);
    CHECK_STATUS(gpu->await(state, fence), HAUL_OK);
    CHECK_STATUS(gpu->select(state, NULL), HAUL_OK);
    patch_beside(state, address);
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    gpu->release(state, address, BYTES);
    gpu_close(state);
    CHECK_CUDA(cudaStreamDestroy(held));
    CHECK_CUDA(cudaStreamDestroy(other));
}

static void both_default_streams_can_be_selected(void)
{
    void *streams[2], *state = gpu_open(0);
    haul_address address = gpu_get(state, BYTES);
    uint64_t *words = numbers();
    int i;
    streams[0] = cudaStreamLegacy;
    streams[1] = cudaStreamPerThread;
    for (i = 0; i < 2; i++) {
        CHECK_STATUS(gpu->wait(state), HAUL_OK);
        CHECK_STATUS(gpu->select(state, streams[i]), HAUL_OK);
        CHECK_STATUS(gpu->copy_to(state, address, words, BYTES), HAUL_OK);
        user_add(gpu_pointer(address), WORDS, 5, streams[i]);
        user_add(gpu_pointer(address), WORDS, (uint64_t)0 - 5, streams[i]);
        CHECK(gpu_holds(state, address, words, BYTES));
    }
    CHECK_STATUS(gpu->select(state, NULL), HAUL_OK);
    gpu->release(state, address, BYTES);
    free(words);
    gpu_close(state);
}

/* The user's kernel on another stream waits for the event alone. */
static void an_event_orders_a_stream_of_the_users_behind_ours(void)
{
    void *state = gpu_open(0);
    cudaStream_t ours = gpu_make_stream(), theirs = gpu_make_stream();
    haul_address address = gpu_get(state, BYTES);
    uint64_t *words = numbers(), *staged = gpu_stage(state, BYTES), *back = gpu_stage(state, BYTES);
    cudaEvent_t event;
    gpu_hold hold;
    CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    memcpy(staged, words, BYTES);
    CHECK_STATUS(gpu->select(state, ours), HAUL_OK);
    hold = gpu_hold_stream(ours);
    CHECK_STATUS(gpu->copy_to(state, address, staged, BYTES), HAUL_OK);
    CHECK_STATUS(gpu->signal(state, event), HAUL_OK);
    CHECK_EQ(cudaEventQuery(event), cudaErrorNotReady);
    (void)cudaGetLastError();
    CHECK_CUDA(cudaStreamWaitEvent(theirs, event, 0));
    user_add(gpu_pointer(address), WORDS, 7, theirs);
    CHECK_CUDA(cudaMemcpyAsync(back, gpu_pointer(address), BYTES, cudaMemcpyDeviceToHost, theirs));
    gpu_let_go(&hold);
    check_sums(back, words, 7);
    CHECK_STATUS(gpu->select(state, NULL), HAUL_OK);
    gpu->unstage(state, staged, BYTES);
    gpu->unstage(state, back, BYTES);
    gpu->release(state, address, BYTES);
    free(words);
    gpu_close(state);
    CHECK_CUDA(cudaEventDestroy(event));
    CHECK_CUDA(cudaStreamDestroy(ours));
    CHECK_CUDA(cudaStreamDestroy(theirs));
}

/* ---- Across, on one GPU: two devices with a stream each. */

static void across_waits_for_the_other_device_and_its_memory_may_go_at_once(void)
{
    void *here = gpu_open(0), *there = gpu_open(0);
    cudaStream_t stream = gpu_make_stream();
    uint64_t *words = numbers(), *staged = gpu_stage(here, BYTES);
    haul_address source, target = gpu_get(here, BYTES), next;
    gpu_hold hold;
    memcpy(staged, words, BYTES);
    CHECK_STATUS(gpu->wait(here), HAUL_OK);
    CHECK_STATUS(gpu->select(there, stream), HAUL_OK);
    source = gpu_get(there, BYTES);
    hold = gpu_hold_stream(stream);
    CHECK_STATUS(gpu->copy_to(there, source, staged, BYTES), HAUL_OK);
    CHECK_STATUS(gpu->across(here, target, there, source, BYTES), HAUL_OK);
    gpu->release(there, source, BYTES);
    next = gpu_get(there, BYTES);
    user_add(gpu_pointer(next), WORDS, 99, stream); /* often the same memory */
    gpu_let_go(&hold);
    CHECK(gpu_holds(here, target, words, BYTES));
    gpu->release(there, next, BYTES);
    CHECK_STATUS(gpu->select(there, NULL), HAUL_OK);
    gpu_close(there);
    gpu->unstage(here, staged, BYTES);
    gpu->release(here, target, BYTES);
    free(words);
    gpu_close(here);
    CHECK_CUDA(cudaStreamDestroy(stream));
}

static void across_refuses_what_is_no_device(void)
{
    void *state = gpu_open(0);
    haul_address address = gpu_get(state, 256);
    uint64_t nothing[64] = { 0 };
    CHECK_STATUS(gpu->across(state, address, nothing, address + 128, 128), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(gpu->across(state, address, NULL, address + 128, 128), HAUL_ERROR_ARGUMENT);
    gpu->release(state, address, 256);
    gpu_close(state);
}

/* ---- Waiting. */

/* From some microseconds to some milliseconds: such as are done at once, soon, and after the host
 * has stopped looking. */
static void check_waits(void *state)
{
    haul_address address = gpu_get(state, BYTES);
    uint64_t *words = numbers(), *staged = gpu_stage(state, BYTES), *back = gpu_stage(state, BYTES);
    uint64_t kernels, round, sum;
    for (kernels = 0; kernels <= 1000; kernels = 3 * kernels + 1) {
        memcpy(staged, words, BYTES);
        memset(back, 0, BYTES);
        CHECK_STATUS(gpu->copy_to(state, address, staged, BYTES), HAUL_OK);
        for (round = 1, sum = 0; round <= kernels; sum += round++)
            user_add_plainly(gpu_pointer(address), WORDS, round);
        CHECK_STATUS(gpu->copy_from(state, back, address, BYTES), HAUL_OK);
        CHECK_STATUS(gpu->wait(state), HAUL_OK);
        check_sums(back, words, sum);
        CHECK_STATUS(gpu->wait(state), HAUL_OK);
    }
    gpu->unstage(state, staged, BYTES);
    gpu->unstage(state, back, BYTES);
    gpu->release(state, address, BYTES);
    free(words);
}

static void a_wait_ends_when_all_is_done_however_long_it_takes(void)
{
    void *state = gpu_open(0);
    check_waits(state);
    gpu_close(state);
}

static void a_wait_ends_too_where_cuda_was_told_to_let_other_threads_run(void)
{
    static const unsigned flags[] = { cudaDeviceScheduleBlockingSync, cudaDeviceScheduleYield };
    size_t i;
    for (i = 0; i < 2; i++) {
        void *state;
        CHECK_CUDA(cudaSetDeviceFlags(flags[i]));
        state = gpu_open(0);
        check_waits(state);
        gpu_close(state);
    }
}

/* D13. */
static void a_wait_that_takes_too_long_is_pending_and_can_be_waited_for_again(void)
{
    haul_cuda_options settings;
    void *state;
    cudaStream_t stream = gpu_make_stream();
    uint64_t fence;
    gpu_hold hold;
    double begin;
    memset(&settings, 0, sizeof settings);
    settings.timeout_seconds = 0.05;
    state = gpu_open_with(&settings);
    CHECK_STATUS(gpu->select(state, stream), HAUL_OK);
    hold = gpu_hold_stream(stream);
    CHECK_STATUS(gpu->fence(state, &fence), HAUL_OK);
    begin = gpu_seconds();
    CHECK_STATUS(gpu->await(state, fence), HAUL_ERROR_PENDING);
    CHECK_STATUS(gpu->wait(state), HAUL_ERROR_PENDING);
    CHECK(gpu_seconds() - begin > 0.09 && gpu_seconds() - begin < 2);
    CHECK(*gpu->message(state) != 0);
    CHECK_CUDA(cudaGetLastError());
    gpu_let_go(&hold);
    CHECK_STATUS(gpu->await(state, fence), HAUL_OK);
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    CHECK_STATUS(gpu->select(state, NULL), HAUL_OK);
    gpu_close(state);
    CHECK_CUDA(cudaStreamDestroy(stream));
}

static void any_number_of_fences_may_be_ahead_on_several_streams(void)
{
    enum { FENCES = 1000 };
    static uint64_t fences[FENCES];
    void *state = gpu_open(0);
    cudaStream_t held = gpu_make_stream(), open = gpu_make_stream();
    gpu_hold hold;
    size_t i;
    hold = gpu_hold_stream(held);
    for (i = 0; i < FENCES; i++) {
        CHECK_STATUS(gpu->select(state, i % 2 ? open : held), HAUL_OK);
        CHECK_STATUS(gpu->fence(state, &fences[i]), HAUL_OK);
        CHECK(i == 0 || fences[i] > fences[i - 1]);
    }
    for (i = 1; i < FENCES; i += 2)
        CHECK_STATUS(gpu->await(state, fences[i]), HAUL_OK);
    for (i = 0; i < FENCES; i += 2)
        CHECK_STATUS(gpu->poll(state, fences[i]), HAUL_ERROR_PENDING);
    gpu_let_go(&hold);
    for (i = FENCES; i-- > 0;)
        CHECK_STATUS(gpu->await(state, fences[i]), HAUL_OK);
    for (i = 0; i < FENCES; i++) {
        CHECK_STATUS(gpu->fence(state, &fences[0]), HAUL_OK);
        CHECK_STATUS(gpu->await(state, fences[0]), HAUL_OK);
    }
    CHECK_STATUS(gpu->select(state, NULL), HAUL_OK);
    gpu_close(state);
    CHECK_CUDA(cudaStreamDestroy(held));
    CHECK_CUDA(cudaStreamDestroy(open));
}

const gpu_test order_tests[] = {
    GPU_TEST(plain_kernels_are_in_order_with_a_devices_own_stream),
    GPU_TEST(verbs_are_in_order_with_kernels_on_the_selected_stream),
    GPU_TEST(a_held_stream_holds_no_other),
    GPU_TEST(a_patch_that_waits_for_a_held_stream_holds_no_other),
    GPU_TEST(both_default_streams_can_be_selected),
    GPU_TEST(an_event_orders_a_stream_of_the_users_behind_ours),
    GPU_TEST(across_waits_for_the_other_device_and_its_memory_may_go_at_once),
    GPU_TEST(across_refuses_what_is_no_device),
    GPU_TEST(a_wait_ends_when_all_is_done_however_long_it_takes),
    GPU_TEST(a_wait_ends_too_where_cuda_was_told_to_let_other_threads_run),
    GPU_TEST(a_wait_that_takes_too_long_is_pending_and_can_be_waited_for_again),
    GPU_TEST(any_number_of_fences_may_be_ahead_on_several_streams),
    GPU_TESTS_END
};
