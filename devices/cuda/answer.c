/* Answers: a fast way to learn that a stream is done.
 *
 * The slow obvious version is cudaStreamSynchronize. It returns 1 to 2 us after the last byte, a
 * tenth of the time of a small graph. Here the stream is ordered to write a number to a word of
 * pinned memory, behind all its earlier work, and the host reads the word. The number also proves
 * that the work has succeeded, because a failed stream writes nothing more. Without an answer in
 * time, the host asks CUDA, which knows the reason.
 *
 * The order is a function of the driver, not of the runtime. The runtime gives its address, so
 * nothing is linked. There are no answers if the driver lacks the function, or if the user's flags
 * forbid CUDA to spin. The user's streams have none either: CUDA would not know that we waited for
 * a user's stream, and compute-sanitizer would report memory freed in another stream's order as
 * still in use.
 *
 * An answer, like all work on the device's own stream, comes behind earlier work on the legacy
 * default stream: if another thread has put work there, the wait includes it.
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

#include "answer.h"

double haul__gpu_seconds(void)
{
    struct timespec now = { 0, 0 };
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#if CUDART_VERSION >= 12050

#define WRITE_SINCE 12000u /* the driver version of the function */
#define ASKS_A_LOOK 64u    /* reads of the word for each look at the clock */

static int may_be_busy(const haul__gpu_visit *visit)
{
    unsigned flags = 0;
    cudaError_t error = cudaGetDeviceFlags(&flags);
    haul__gpu_forgive(visit, error);
    flags &= cudaDeviceScheduleMask;
    return error == cudaSuccess && flags != cudaDeviceScheduleBlockingSync &&
           flags != cudaDeviceScheduleYield;
}

void haul__gpu_make_answers(haul__gpu *gpu, const haul__gpu_visit *visit)
{
    void *word = NULL, *on_gpu = NULL, *done = NULL;
    cudaError_t error;
    if (!may_be_busy(visit) || !haul__gpu_find_entry(visit, "cuStreamWriteValue32", WRITE_SINCE,
                                                     &gpu->write, sizeof gpu->write))
        return;
    error = cudaHostAlloc(&word, sizeof *gpu->answer, cudaHostAllocMapped);
    haul__gpu_forgive(visit, error);
    if (error != cudaSuccess)
        return;
    gpu->answer = word;
    *gpu->answer = 0;
    /* for kernels that write the number themselves: the word's address, a count of ended blocks */
    error = cudaHostGetDevicePointer(&on_gpu, gpu->answer, 0);
    if (error == cudaSuccess)
        error = cudaMalloc(&done, sizeof *gpu->done);
    if (error == cudaSuccess)
        error = cudaMemset(done, 0, sizeof *gpu->done);
    haul__gpu_forgive(visit, error);
    gpu->answer_on_gpu = error == cudaSuccess ? on_gpu : NULL;
    gpu->done = done;
}

int haul__gpu_may_answer(haul__gpu *gpu, haul__gpu_answer *answer)
{
    memset(answer, 0, sizeof *answer);
    if (!gpu->answer_on_gpu || gpu->stream != gpu->own || gpu->freed_on)
        return 0;
    answer->where = gpu->answer_on_gpu;
    answer->number = ++gpu->answered;
    answer->done = gpu->done;
    return 1;
}

int haul__gpu_has_answered(haul__gpu *gpu, int ordered, double seconds)
{
    const uint32_t number = ordered ? gpu->answered : gpu->answered + 1;
    double until;
    unsigned asks;
    if (!gpu->answer || gpu->stream != gpu->own)
        return 0;
    gpu->answered = number;
    if (!ordered && gpu->write(gpu->stream, (uintptr_t)gpu->answer, number, 0) != 0)
        return 0;
    until = haul__gpu_seconds() + seconds;
    do {
        for (asks = 0; asks < ASKS_A_LOOK; asks++)
            if (__atomic_load_n(gpu->answer, __ATOMIC_ACQUIRE) == number)
                return 1;
    } while (haul__gpu_seconds() < until);
    return 0;
}

#else

void haul__gpu_make_answers(haul__gpu *gpu, const haul__gpu_visit *visit)
{
    (void)gpu;
    (void)visit;
}

int haul__gpu_may_answer(haul__gpu *gpu, haul__gpu_answer *answer)
{
    (void)gpu;
    memset(answer, 0, sizeof *answer);
    return 0;
}

int haul__gpu_has_answered(haul__gpu *gpu, int ordered, double seconds)
{
    (void)gpu;
    (void)ordered;
    (void)seconds;
    return 0;
}

#endif

void haul__gpu_drop_answers(haul__gpu *gpu, const haul__gpu_visit *visit)
{
    if (gpu->answer)
        haul__gpu_forgive(visit, cudaFreeHost(gpu->answer));
    if (gpu->done)
        haul__gpu_forgive(visit, cudaFree(gpu->done));
    gpu->answer = gpu->answer_on_gpu = gpu->done = NULL;
}
