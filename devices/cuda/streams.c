/* Streams, fences and waiting.
 *
 * A fence is a number and an event. Numbers grow; the event of number n is in a ring at n %
 * capacity. Fences of different streams are reached in any order. The start of the ring advances
 * when the oldest fence has been reached; all fences before it have been. A full ring grows.
 *
 *     events   | 16 | 17 |  . |  . | 12 | 13 | 14 | 15 |        first 12, next 18, capacity 8
 *
 * One more stream, the side stream, takes work that can begin before the selected stream is done:
 *
 *     selected   ... fence, copy ─────────── (waits) ... later work
 *     side              └─ (waits) kernel ──┘
 *
 * A wait without a timeout first spins on the stream's answer (answer.c), for as long as a small
 * graph takes, and then waits by CUDA. A wait with a timeout polls: for the same time without a
 * pause, then with short pauses.
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

#include "answer.h"
#include "streams.h"

#define FENCES_AT_FIRST 16u
/* A wait spins or polls so long without a pause. Larger: faster answers for work of that length,
 * and a busy core. */
#define EAGER_SECONDS 200e-6
#define REST_NANOSECONDS 20000

/* ---- Selecting a stream. */

/* The capture state is asked first: of a capturing stream CUDA answers nothing else. */
static haul_status check_stream(haul__gpu *gpu, const haul__gpu_visit *visit, cudaStream_t stream)
{
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    int ordinal = gpu->options.ordinal;
    cudaError_t error = cudaStreamIsCapturing(stream, &capture);
    if (error == cudaErrorStreamCaptureImplicit) {
        haul__gpu_forgive(visit, error);
        return haul__gpu_fail(
            gpu, visit, HAUL_ERROR_ARGUMENT,
            "the legacy default stream, while a stream that is in order with it is being captured");
    }
    if (capture != cudaStreamCaptureStatusNone)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT, "the stream is being captured");
    if (error == cudaSuccess && stream != cudaStreamLegacy && stream != cudaStreamPerThread)
        error = cudaStreamGetDevice(stream, &ordinal);
    if (error != cudaSuccess)
        return haul__gpu_check(gpu, visit, error, "looking at the stream", 0);
    if (ordinal != gpu->options.ordinal)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT, "the stream is another GPU's");
    return HAUL_OK;
}

haul_status haul__gpu_select(void *state, void *stream)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status;
    if (!stream && !gpu->lost) {
        gpu->stream = gpu->own;
        return HAUL_OK;
    }
    status = haul__gpu_enter(gpu, "select", &visit);
    if (status == HAUL_OK)
        status = check_stream(gpu, &visit, stream);
    if (status == HAUL_OK)
        gpu->stream = stream;
    return haul__gpu_leave(gpu, &visit, status);
}

haul_status haul__gpu_signal(void *state, void *event)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "signal", &visit);
    if (status == HAUL_OK)
        status =
            haul__gpu_check(gpu, &visit, cudaEventRecord(event, gpu->stream), "cudaEventRecord", 0);
    return haul__gpu_leave(gpu, &visit, status);
}

/* ---- The ring. */

static cudaEvent_t *event_of(const haul__gpu_fences *fences, uint64_t fence)
{
    return &fences->events[fence % fences->capacity];
}

static void pass_reached(haul__gpu_fences *fences, const haul__gpu_visit *visit)
{
    cudaError_t error = cudaSuccess;
    while (fences->first < fences->next && error == cudaSuccess) {
        error = cudaEventQuery(*event_of(fences, fences->first));
        if (error == cudaSuccess)
            fences->first++;
    }
    haul__gpu_forgive(visit, error);
}

static int grow(haul__gpu *gpu)
{
    const haul_allocator *allocator = &gpu->allocator;
    haul__gpu_fences grown = gpu->fences;
    uint64_t fence;
    grown.capacity = grown.capacity ? grown.capacity * 2 : FENCES_AT_FIRST;
    grown.events =
        allocator->allocate(allocator->user, grown.capacity * sizeof *grown.events, sizeof(void *));
    if (!grown.events)
        return 0;
    memset(grown.events, 0, grown.capacity * sizeof *grown.events);
    for (fence = grown.first; fence < grown.next; fence++)
        *event_of(&grown, fence) = *event_of(&gpu->fences, fence);
    if (gpu->fences.events)
        allocator->release(allocator->user, gpu->fences.events,
                           gpu->fences.capacity * sizeof *gpu->fences.events);
    gpu->fences = grown;
    return 1;
}

/* The event of fence number `next`. */
static haul_status take_event(haul__gpu *gpu, const haul__gpu_visit *visit, cudaEvent_t *event)
{
    haul__gpu_fences *fences = &gpu->fences;
    haul_status status = HAUL_OK;
    if (fences->capacity > 0 && fences->next - fences->first == fences->capacity)
        pass_reached(fences, visit);
    if (fences->next - fences->first == fences->capacity && !grow(gpu))
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_MEMORY, "no host memory for the fences");
    if (!*event_of(fences, fences->next))
        status = haul__gpu_check(
            gpu, visit,
            cudaEventCreateWithFlags(event_of(fences, fences->next), cudaEventDisableTiming),
            "cudaEventCreate", 0);
    *event = *event_of(fences, fences->next);
    return status;
}

haul_status haul__gpu_fence(void *state, uint64_t *fence)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    cudaEvent_t event = NULL;
    haul_status status = haul__gpu_enter(gpu, "fence", &visit);
    if (status == HAUL_OK)
        status = take_event(gpu, &visit, &event);
    if (status == HAUL_OK)
        status =
            haul__gpu_check(gpu, &visit, cudaEventRecord(event, gpu->stream), "cudaEventRecord", 0);
    if (status == HAUL_OK)
        *fence = gpu->fences.next++;
    return haul__gpu_leave(gpu, &visit, status);
}

void haul__gpu_drop_fences(haul__gpu *gpu)
{
    haul__gpu_fences *fences = &gpu->fences;
    size_t i;
    for (i = 0; i < fences->capacity && !gpu->lost; i++)
        if (fences->events[i])
            (void)cudaEventDestroy(fences->events[i]);
    if (fences->events)
        gpu->allocator.release(gpu->allocator.user, fences->events,
                               fences->capacity * sizeof *fences->events);
    memset(fences, 0, sizeof *fences);
}

/* ---- The side stream. */

static haul_status check_fence(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t fence)
{
    if (fence != 0 && fence < gpu->fences.next)
        return HAUL_OK;
    return haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT, "there is no such fence");
}

int haul__gpu_may_branch(haul__gpu *gpu, const haul__gpu_visit *visit)
{
    cudaError_t error = cudaSuccess;
    if (gpu->joined_by && gpu->joined_by != gpu->stream)
        error = cudaEventQuery(gpu->joined);
    haul__gpu_forgive(visit, error);
    return error == cudaSuccess;
}

haul_status haul__gpu_branch(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t fence)
{
    haul_status status = check_fence(gpu, visit, fence);
    if (status == HAUL_OK && fence >= gpu->fences.first)
        status = haul__gpu_check(gpu, visit,
                                 cudaStreamWaitEvent(gpu->side, *event_of(&gpu->fences, fence), 0),
                                 "cudaStreamWaitEvent", 0);
    return status;
}

haul_status haul__gpu_join(haul__gpu *gpu, const haul__gpu_visit *visit)
{
    cudaError_t error = cudaEventRecord(gpu->joined, gpu->side);
    gpu->joined_by = gpu->stream;
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(gpu->stream, gpu->joined, 0);
    if (error == cudaSuccess)
        return HAUL_OK;
    haul__gpu_forgive(visit, cudaStreamSynchronize(gpu->side));
    return haul__gpu_check(gpu, visit, error, "joining two streams", 0);
}

/* ---- Waiting: for an event or, if it is NULL, for the selected stream. */

/* "Not ready" is an answer, but CUDA notes it as the thread's last error: it is cleared. */
static cudaError_t ask(const haul__gpu *gpu, const haul__gpu_visit *visit, cudaEvent_t event)
{
    cudaError_t error = event ? cudaEventQuery(event) : cudaStreamQuery(gpu->stream);
    if (error == cudaErrorNotReady)
        haul__gpu_forgive(visit, error);
    return error;
}

/* CUDA's own wait is better for long work. And only when CUDA waits, the pool gives its surplus
 * back to the driver. */
static cudaError_t wait_without_limit(haul__gpu *gpu, int answers, cudaEvent_t event)
{
    if (event)
        return cudaEventSynchronize(event);
    if (!gpu->freed_on && haul__gpu_has_answered(gpu, answers, EAGER_SECONDS))
        return cudaSuccess;
    if (gpu->stream == gpu->freed_on)
        gpu->freed_on = NULL;
    return cudaStreamSynchronize(gpu->stream);
}

static cudaError_t wait_for(haul__gpu *gpu, const haul__gpu_visit *visit, int answers,
                            cudaEvent_t event)
{
    static const struct timespec rest = { 0, REST_NANOSECONDS };
    double begin, passed;
    cudaError_t error;
    if (gpu->options.timeout_seconds <= 0)
        return wait_without_limit(gpu, answers, event);
    begin = haul__gpu_seconds();
    while ((error = ask(gpu, visit, event)) == cudaErrorNotReady) {
        passed = haul__gpu_seconds() - begin;
        if (passed > gpu->options.timeout_seconds)
            break;
        if (passed > EAGER_SECONDS)
            nanosleep(&rest, NULL);
    }
    return error;
}

/* If an error of the caller is pending, the wait happens all the same, so that memory can be
 * reused. It does not poll then, because an answer "not ready" would replace the pending error. */
static haul_status wait_in_visit(haul__gpu *gpu, const haul__gpu_visit *visit, haul_status entered,
                                 int answers, cudaEvent_t event)
{
    haul_status status;
    if (entered != HAUL_OK &&
        (visit->pending == cudaSuccess || gpu->lost || gpu->options.timeout_seconds > 0))
        return entered;
    status = haul__gpu_check(gpu, visit, wait_for(gpu, visit, answers, event), "waiting", 0);
    return entered != HAUL_OK ? entered : status;
}

static haul_status reached(haul__gpu_fences *fences, uint64_t fence, haul_status status)
{
    if (status == HAUL_OK && fence == fences->first)
        fences->first++;
    return status;
}

haul_status haul__gpu_poll(void *state, uint64_t fence)
{
    haul__gpu *gpu = state;
    haul__gpu_fences *fences = &gpu->fences;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "poll", &visit);
    if (status == HAUL_OK)
        status = check_fence(gpu, &visit, fence);
    if (status == HAUL_OK && fence >= fences->first) {
        status = haul__gpu_check(gpu, &visit, cudaEventQuery(*event_of(fences, fence)),
                                 "cudaEventQuery", 0);
        status = reached(fences, fence, status);
    }
    return haul__gpu_leave(gpu, &visit, status);
}

haul_status haul__gpu_await(void *state, uint64_t fence)
{
    haul__gpu *gpu = state;
    haul__gpu_fences *fences = &gpu->fences;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "await", &visit);
    if (status == HAUL_OK)
        status = check_fence(gpu, &visit, fence);
    if (fence >= fences->first && fence < fences->next) {
        status = wait_in_visit(gpu, &visit, status, 0, *event_of(fences, fence));
        status = reached(fences, fence, status);
    }
    return haul__gpu_leave(gpu, &visit, status);
}

haul_status haul__gpu_wait(void *state)
{
    haul__gpu *gpu = state;
    const int answers = gpu->answers;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "wait", &visit);
    status = wait_in_visit(gpu, &visit, status, answers, NULL);
    return haul__gpu_leave(gpu, &visit, status);
}
