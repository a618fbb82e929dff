/* What belongs to the caller stays as it was: pending errors (D7), the current GPU (D8), captures
 * (D12); and wrong pointers and handles are refused before they do harm (D9).
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu.h"

/* ---- Every verb that answers a status, on one device; each should answer the same. */

enum { VERBS = 13, BYTES = 4096 };

typedef struct all_verbs {
    void *state;
    haul_address address;
    void *staged;
    uint64_t fence;
    cudaStream_t stream;
    cudaEvent_t event;
} all_verbs;

static all_verbs all_verbs_on(int ordinal)
{
    all_verbs v;
    CHECK_CUDA(cudaSetDevice(ordinal));
    v.stream = gpu_make_stream();
    CHECK_CUDA(cudaEventCreate(&v.event));
    v.state = gpu_open(ordinal);
    v.address = gpu_get(v.state, BYTES);
    v.staged = gpu_stage(v.state, BYTES);
    memset(v.staged, 0, BYTES);
    CHECK_STATUS(gpu->fence(v.state, &v.fence), HAUL_OK);
    return v;
}

static void drop_all_verbs(all_verbs *v)
{
    gpu->unstage(v->state, v->staged, BYTES);
    gpu->release(v->state, v->address, BYTES);
    gpu_close(v->state);
    CHECK_CUDA(cudaEventDestroy(v->event));
    CHECK_CUDA(cudaStreamDestroy(v->stream));
}

/* An arena of 8 words, none of them marked. */
static haul_relocation small_relocation(haul_address arena)
{
    haul_relocation relocation;
    memset(&relocation, 0, sizeof relocation);
    relocation.arena = arena;
    relocation.words = 8;
    relocation.bitmap = arena + 64;
    relocation.bytes = UINT64_MAX;
    relocation.word_bytes = 8;
    return relocation;
}

static haul_status do_verb(all_verbs *v, int verb)
{
    haul_relocation relocation = small_relocation(v->address);
    haul_status status;
    haul_address address;
    uint64_t fence;
    void *memory;
    switch (verb) {
    case 0:
        status = gpu->allocate(v->state, 100, 16, &address);
        if (status == HAUL_OK)
            gpu->release(v->state, address, 100);
        return status;
    case 1:
        status = gpu->stage(v->state, 100, &memory);
        if (status == HAUL_OK)
            gpu->unstage(v->state, memory, 100);
        return status;
    case 2:
        return gpu->copy_to(v->state, v->address, v->staged, BYTES);
    case 3:
        return gpu->copy_from(v->state, v->staged, v->address, BYTES);
    case 4:
        return gpu->relocate(v->state, &relocation);
    case 5:
        return gpu->send(v->state, &relocation, v->staged, 72);
    case 6:
        return gpu->across(v->state, v->address, v->state, v->address + 1024, 1024);
    case 7:
        status = gpu->select(v->state, v->stream);
        return status == HAUL_OK ? gpu->select(v->state, NULL) : status;
    case 8:
        return gpu->fence(v->state, &fence);
    case 9:
        status = gpu->poll(v->state, v->fence);
        return status == HAUL_ERROR_PENDING ? HAUL_OK : status;
    case 10:
        return gpu->await(v->state, v->fence);
    case 11:
        return gpu->wait(v->state);
    default:
        return gpu->signal(v->state, v->event);
    }
}

/* ---- D7. */

/* An error of the caller's, pending from here on. */
static cudaError_t make_an_error(void)
{
    cudaError_t error = user_launch_wrongly();
    CHECK(error != cudaSuccess);
    return error;
}

static void an_error_of_the_callers_is_reported_as_such_and_stays(void)
{
    all_verbs v = all_verbs_on(0);
    cudaError_t error = make_an_error();
    int verb;
    for (verb = 0; verb < VERBS; verb++) {
        check_note("verb %d", verb);
        CHECK_STATUS(do_verb(&v, verb), HAUL_ERROR_DEVICE);
        CHECK_HAS(gpu->message(v.state), "an earlier error on this device, not Haul's");
        CHECK_HAS(gpu->message(v.state), cudaGetErrorName(error));
        CHECK_EQ(cudaPeekAtLastError(), error);
    }
    CHECK(haul_cuda_count() > 0);
    CHECK_EQ(cudaGetLastError(), error);
    for (verb = 0; verb < VERBS; verb++) {
        check_note("verb %d", verb);
        CHECK_STATUS(do_verb(&v, verb), HAUL_OK);
        CHECK_CUDA(cudaPeekAtLastError());
    }
    check_note(NULL);
    drop_all_verbs(&v);
}

/* CUDA notes it as the thread's last error, and hardly anybody takes it away. */
static void a_query_that_was_not_ready_is_no_error(void)
{
    all_verbs v = all_verbs_on(0);
    cudaStream_t held = gpu_make_stream();
    gpu_hold hold = gpu_hold_stream(held);
    int verb;
    CHECK_EQ(cudaStreamQuery(held), cudaErrorNotReady);
    gpu_let_go(&hold);
    for (verb = 0; verb < VERBS; verb++) {
        check_note("verb %d", verb);
        CHECK_STATUS(do_verb(&v, verb), HAUL_OK);
    }
    check_note(NULL);
    (void)cudaGetLastError();
    CHECK_CUDA(cudaStreamDestroy(held));
    drop_all_verbs(&v);
}

static void an_error_of_the_callers_keeps_a_device_from_opening(void)
{
    haul_allocator allocator = gpu_allocator();
    haul_cuda_options settings;
    void *state = NULL;
    cudaError_t error = make_an_error();
    memset(&settings, 0, sizeof settings);
    CHECK_STATUS(gpu->open(&settings, &allocator, &state), HAUL_ERROR_DEVICE);
    CHECK_PTR(state, NULL);
    CHECK_EQ(cudaGetLastError(), error);
    gpu_close(gpu_open(0));
}

static size_t free_memory(void)
{
    size_t left, all;
    CHECK_CUDA(cudaMemGetInfo(&left, &all));
    return left;
}

static void what_is_given_back_goes_in_spite_of_an_error_of_the_callers(void)
{
    const uint64_t much = (uint64_t)256 << 20;
    haul_cuda_options settings;
    haul_address address;
    cudaError_t error;
    void *state, *staged;
    size_t before;
    memset(&settings, 0, sizeof settings);
    settings.plain_malloc = 1;
    state = gpu_open_with(&settings);
    staged = gpu_stage(state, BYTES);
    before = free_memory();
    address = gpu_get(state, much);
    CHECK(free_memory() + much / 2 < before);
    error = make_an_error();
    gpu->release(state, address, much);
    gpu->unstage(state, staged, BYTES);
    CHECK_EQ(cudaGetLastError(), error);
    CHECK(free_memory() + much / 2 > before);
    error = make_an_error();
    gpu_close(state);
    CHECK_EQ(cudaGetLastError(), error);
}

/* The caller's error comes up while work of ours is under way: that is finished all the same. */
static void a_wait_ends_the_work_before_it_reports_the_callers_error(void)
{
    enum { MANY = 64 << 20 };
    void *state = gpu_open(0);
    haul_address address = gpu_get(state, MANY);
    unsigned char *staged = gpu_stage(state, MANY), *back = gpu_stage(state, MANY);
    cudaError_t error;
    memset(staged, 0x5A, MANY);
    CHECK_STATUS(gpu->copy_to(state, address, staged, MANY), HAUL_OK);
    CHECK_STATUS(gpu->copy_from(state, back, address, MANY), HAUL_OK);
    error = make_an_error();
    CHECK_STATUS(gpu->wait(state), HAUL_ERROR_DEVICE);
    CHECK_BYTES(back, staged, MANY);
    CHECK_EQ(cudaGetLastError(), error);
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    gpu->unstage(state, staged, MANY);
    gpu->unstage(state, back, MANY);
    gpu->release(state, address, MANY);
    gpu_close(state);
}

/* ---- D8. */

static int current(void)
{
    int ordinal = -1;
    CHECK_CUDA(cudaGetDevice(&ordinal));
    return ordinal;
}

static void the_current_gpu_stays_through_every_verb(void)
{
    all_verbs v = all_verbs_on(1);
    int verb;
    CHECK_CUDA(cudaSetDevice(0));
    for (verb = 0; verb < VERBS; verb++) {
        check_note("verb %d", verb);
        CHECK_STATUS(do_verb(&v, verb), HAUL_OK);
        CHECK_EQ(current(), 0);
        (void)make_an_error();
        CHECK_STATUS(do_verb(&v, verb), HAUL_ERROR_DEVICE);
        CHECK_EQ(current(), 0);
        (void)cudaGetLastError();
    }
    check_note(NULL);
    gpu_close(gpu_open(1));
    CHECK_EQ(current(), 0);
    drop_all_verbs(&v);
    CHECK_EQ(current(), 0);
}

/* ---- D9. */

static void host_pointers_and_freed_ones_are_no_device_memory(void)
{
    void *state = gpu_open(0), *freed;
    unsigned char *host = calloc(1, BYTES);
    haul_relocation relocation = small_relocation((haul_address)(uintptr_t)host);
    CHECK_STATUS(gpu->relocate(state, &relocation), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(gpu->message(state), "no memory of GPU 0");
    CHECK_STATUS(gpu->send(state, &relocation, host, 72), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(gpu->copy_to(state, (haul_address)(uintptr_t)host, host + 2048, 1024),
                 HAUL_ERROR_ARGUMENT);
    CHECK_CUDA(cudaMalloc(&freed, BYTES));
    CHECK_CUDA(cudaFree(freed));
    relocation = small_relocation((haul_address)(uintptr_t)freed);
    CHECK_STATUS(gpu->relocate(state, &relocation), HAUL_ERROR_ARGUMENT);
    relocation = small_relocation(0);
    CHECK_STATUS(gpu->relocate(state, &relocation), HAUL_ERROR_ARGUMENT);
    CHECK_CUDA(cudaGetLastError());
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    free(host);
    gpu_close(state);
}

static void memory_of_another_gpu_is_refused(void)
{
    void *here = gpu_open(0), *there = gpu_open(1);
    haul_address address = gpu_get(there, BYTES);
    haul_relocation relocation = small_relocation(address);
    CHECK_STATUS(gpu->relocate(here, &relocation), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(gpu->wait(here), HAUL_OK);
    gpu->release(there, address, BYTES);
    gpu_close(here);
    gpu_close(there);
}

static void relocations_that_make_no_sense_are_refused(void)
{
    void *state = gpu_open(0);
    haul_address address = gpu_get(state, BYTES);
    haul_relocation relocation = small_relocation(address);
    relocation.word_bytes = 2;
    CHECK_STATUS(gpu->relocate(state, &relocation), HAUL_ERROR_UNSUPPORTED);
    relocation = small_relocation(address + 4);
    CHECK_STATUS(gpu->relocate(state, &relocation), HAUL_ERROR_ARGUMENT);
    relocation = small_relocation(address);
    relocation.words = UINT64_MAX;
    CHECK_STATUS(gpu->relocate(state, &relocation), HAUL_ERROR_ARGUMENT);
    relocation = small_relocation(address);
    relocation.offsets = address + 1;
    relocation.offset_count = 1;
    CHECK_STATUS(gpu->relocate(state, &relocation), HAUL_ERROR_ARGUMENT);
    gpu->release(state, address, BYTES);
    gpu_close(state);
}

/* ---- D12. */

/* A kernel in a stream that is being captured, and memory for it. */
static uint64_t *begin_capture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    uint64_t *words;
    CHECK_CUDA(cudaMalloc((void **)&words, 800));
    CHECK_CUDA(cudaStreamBeginCapture(stream, mode));
    user_add(words, 100, 1, stream);
    return words;
}

/* The capture has not been broken, and holds two kernels and nothing else. */
static void end_capture(cudaStream_t stream, uint64_t *words)
{
    cudaGraph_t graph;
    size_t nodes = 0;
    user_add(words, 100, 2, stream);
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    CHECK_CUDA(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK_EQ(nodes, 2);
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK_CUDA(cudaFree(words));
}

static void a_stream_in_capture_is_refused_and_its_capture_goes_on(void)
{
    void *state = gpu_open(0);
    cudaStream_t stream = gpu_make_stream();
    uint64_t *words = begin_capture(stream, cudaStreamCaptureModeGlobal);
    CHECK_STATUS(gpu->select(state, stream), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(gpu->message(state), "captured");
    CHECK_CUDA(cudaPeekAtLastError());
    end_capture(stream, words);
    CHECK_STATUS(gpu->select(state, stream), HAUL_OK);
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    CHECK_STATUS(gpu->select(state, NULL), HAUL_OK);
    gpu_close(state);
    CHECK_CUDA(cudaStreamDestroy(stream));
}

static void the_legacy_stream_is_refused_while_a_blocking_one_is_captured(void)
{
    void *state = gpu_open(0);
    cudaStream_t stream;
    uint64_t *words;
    CHECK_CUDA(cudaStreamCreate(&stream));
    words = begin_capture(stream, cudaStreamCaptureModeGlobal);
    CHECK_STATUS(gpu->select(state, cudaStreamLegacy), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(gpu->message(state), "captured");
    CHECK_CUDA(cudaPeekAtLastError());
    end_capture(stream, words);
    gpu_close(state);
    CHECK_CUDA(cudaStreamDestroy(stream));
}

/* CUDA forbids the capturing thread such calls as cudaMalloc; Haul's own do not count among
 * them. */
static void a_capture_of_another_stream_is_not_disturbed(void)
{
    static const enum cudaStreamCaptureMode modes[] = { cudaStreamCaptureModeRelaxed,
                                                        cudaStreamCaptureModeThreadLocal,
                                                        cudaStreamCaptureModeGlobal };
    all_verbs v = all_verbs_on(0);
    cudaStream_t stream = gpu_make_stream();
    uint64_t *words;
    int i, verb;
    for (i = 0; i < 3; i++) {
        words = begin_capture(stream, modes[i]);
        for (verb = 0; verb < VERBS; verb++) {
            haul_status status = do_verb(&v, verb);
            check_note("capture mode %d, verb %d: %s", i, verb, gpu->message(v.state));
            CHECK_STATUS(status, HAUL_OK);
        }
        check_note("capture mode %d", i);
        gpu_close(gpu_open(0));
        end_capture(stream, words);
    }
    check_note(NULL);
    CHECK_CUDA(cudaStreamDestroy(stream));
    drop_all_verbs(&v);
}

static void a_stream_of_another_gpu_is_refused(void)
{
    void *state = gpu_open(0);
    cudaStream_t stream;
    CHECK_CUDA(cudaSetDevice(1));
    stream = gpu_make_stream();
    CHECK_CUDA(cudaSetDevice(0));
    CHECK_STATUS(gpu->select(state, stream), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(gpu->message(state), "another GPU");
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    CHECK_CUDA(cudaStreamDestroy(stream));
    gpu_close(state);
}

static void fences_and_events_that_are_not_there_are_refused(void)
{
    void *state = gpu_open(0);
    uint64_t fence;
    CHECK_STATUS(gpu->poll(state, 0), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(gpu->await(state, 1), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(gpu->fence(state, &fence), HAUL_OK);
    CHECK_STATUS(gpu->await(state, fence + 1), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(gpu->await(state, fence), HAUL_OK);
    CHECK_STATUS(gpu->signal(state, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_CUDA(cudaGetLastError());
    gpu_close(state);
}

const gpu_test error_tests[] = {
    GPU_TEST(an_error_of_the_callers_is_reported_as_such_and_stays),
    GPU_TEST(a_query_that_was_not_ready_is_no_error),
    GPU_TEST(an_error_of_the_callers_keeps_a_device_from_opening),
    GPU_TEST(what_is_given_back_goes_in_spite_of_an_error_of_the_callers),
    GPU_TEST(a_wait_ends_the_work_before_it_reports_the_callers_error),
    GPU_TEST_ON_TWO(the_current_gpu_stays_through_every_verb),
    GPU_TEST(host_pointers_and_freed_ones_are_no_device_memory),
    GPU_TEST_ON_TWO(memory_of_another_gpu_is_refused),
    GPU_TEST(relocations_that_make_no_sense_are_refused),
    GPU_TEST(a_stream_in_capture_is_refused_and_its_capture_goes_on),
    GPU_TEST(a_capture_of_another_stream_is_not_disturbed),
    GPU_TEST_ON_TWO(a_stream_of_another_gpu_is_refused),
    GPU_TEST(the_legacy_stream_is_refused_while_a_blocking_one_is_captured),
    GPU_TEST(fences_and_events_that_are_not_there_are_refused),
    GPU_TESTS_END
};
