/* The CUDA device: its table, and how one is opened and closed (haul/cuda.h).
 *
 * The runtime is linked statically and loads the driver at its first call. So a program with this
 * device starts on any machine; without a driver there are 0 GPUs.
 */
#include <string.h>

#include "allocations.h"
#include "answer.h"
#include "copy.h"
#include "gpus.h"
#include "locked.h"
#include "mirror.h"
#include "patch.h"
#include "places.h"
#include "ranges.h"
#include "streams.h"
#include "strips.h"

static haul_status check_options(const haul_cuda_options *options)
{
    if (!options->allocate != !options->release || !(options->timeout_seconds >= 0) ||
        options->ordinal < 0)
        return HAUL_ERROR_ARGUMENT;
    return options->ordinal < haul_cuda_count() ? HAUL_OK : HAUL_ERROR_UNSUPPORTED;
}

/* Makes all CUDA objects of an open device. Its own stream is a blocking one: it keeps the order of
 * the legacy default stream. */
static cudaError_t make_things(haul__gpu *gpu)
{
    size_t left;
    cudaError_t error = haul__gpu_kernels_load();
    if (error == cudaSuccess)
        error = cudaMemGetInfo(&left, &gpu->memory_bytes);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&gpu->processors, cudaDevAttrMultiProcessorCount,
                                       gpu->options.ordinal);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(
            &gpu->reaches_host, cudaDevAttrCanUseHostPointerForRegisteredMem, gpu->options.ordinal);
    if (error == cudaSuccess)
        error = haul__gpu_can_place(gpu->options.ordinal, &gpu->can_place);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&gpu->own, cudaStreamDefault);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&gpu->side, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&gpu->joined, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&gpu->crossing, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = haul__gpu_make_pool(gpu);
    return error;
}

static void drop_things(haul__gpu *gpu, const haul__gpu_visit *visit)
{
    haul__gpu_drop_fences(gpu);
    if (gpu->lost)
        return;
    haul__gpu_drop_answers(gpu, visit);
    haul__gpu_drop_spares(gpu, visit);
    if (gpu->pool)
        haul__gpu_forgive(visit, cudaMemPoolDestroy(gpu->pool));
    if (gpu->crossing)
        haul__gpu_forgive(visit, cudaEventDestroy(gpu->crossing));
    if (gpu->joined)
        haul__gpu_forgive(visit, cudaEventDestroy(gpu->joined));
    if (gpu->side)
        haul__gpu_forgive(visit, cudaStreamDestroy(gpu->side));
    if (gpu->own)
        haul__gpu_forgive(visit, cudaStreamDestroy(gpu->own));
}

static haul_status set_up(haul__gpu *gpu)
{
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "open", &visit);
    if (status == HAUL_OK) {
        status = haul__gpu_check(gpu, &visit, make_things(gpu), "setting up the GPU", 0);
        if (status != HAUL_OK)
            drop_things(gpu, &visit);
        else
            haul__gpu_make_answers(gpu, &visit);
    }
    gpu->stream = gpu->own;
    return haul__gpu_leave(gpu, &visit, status);
}

static haul_status cuda_open(const void *settings, const haul_allocator *allocator, void **state)
{
    const haul_cuda_options *options = settings;
    haul__gpu *gpu;
    haul_status status = check_options(options);
    if (status != HAUL_OK || !allocator || !allocator->allocate || !allocator->release)
        return status != HAUL_OK ? status : HAUL_ERROR_ARGUMENT;
    gpu = allocator->allocate(allocator->user, sizeof *gpu, sizeof(uint64_t));
    if (!gpu)
        return HAUL_ERROR_MEMORY;
    memset(gpu, 0, sizeof *gpu);
    gpu->magic = HAUL__GPU_MAGIC;
    gpu->allocator = *allocator;
    gpu->options = *options;
    gpu->fences.first = gpu->fences.next = 1;
    haul__gpu_range_open(gpu);
    status = set_up(gpu);
    if (status == HAUL_OK) {
        *state = gpu;
        return HAUL_OK;
    }
    haul__gpu_range_close(gpu);
    allocator->release(allocator->user, gpu, sizeof *gpu);
    return status;
}

static void cuda_close(void *state)
{
    haul__gpu *gpu = state;
    haul_allocator allocator = gpu->allocator;
    haul__gpu_visit visit;
    (void)haul__gpu_enter(gpu, "close", &visit);
    drop_things(gpu, &visit);
    (void)haul__gpu_leave(gpu, &visit, HAUL_OK);
    haul__gpu_range_close(gpu);
    if (gpu->shifted)
        allocator.release(allocator.user, gpu->shifted,
                          gpu->shifted_capacity * sizeof *gpu->shifted);
    gpu->magic = 0;
    allocator.release(allocator.user, gpu, sizeof *gpu);
}

/* chunk_bytes is 0: the copy engine takes any size, and the library cuts copies to overlap them. */
static void cuda_capabilities(void *state, haul_device_capabilities *capabilities, size_t bytes)
{
    const haul__gpu *gpu = state;
    (void)bytes; /* the library has all these members: they were there when the table was made */
    capabilities->memory_bytes = gpu->memory_bytes;
    capabilities->allocate_alignment = HAUL__GPU_ALIGNMENT;
    capabilities->chunk_bytes = 0;
    capabilities->patch_bytes = HAUL__GPU_PATCH_BYTES;
    capabilities->send_bytes = HAUL__GPU_SEND_BYTES;
    capabilities->fetch_bytes = HAUL__GPU_FETCH_BYTES;
    capabilities->budget_bytes = gpu->options.budget_bytes;
    capabilities->place_bytes = gpu->can_place ? HAUL__GPU_PLACE_BYTES : 0;
}

static const char *cuda_message(void *state)
{
    const haul__gpu *gpu = state;
    return gpu->message;
}

static const haul_device_table cuda_table = {
    .table_bytes = sizeof(haul_device_table),
    .settings_bytes = sizeof(haul_cuda_options),
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .capabilities = cuda_capabilities,
    .allocate = haul__gpu_allocate,
    .release = haul__gpu_release,
    .stage = haul__gpu_stage,
    .unstage = haul__gpu_unstage,
    .copy_to = haul__gpu_copy_to,
    .copy_from = haul__gpu_copy_from,
    .relocate = haul__gpu_relocate,
    .select = haul__gpu_select,
    .fence = haul__gpu_fence,
    .poll = haul__gpu_poll,
    .await = haul__gpu_await,
    .wait = haul__gpu_wait,
    .message = cuda_message,
    .send = haul__gpu_send,
    .fetch = haul__gpu_fetch,
    .mirror = haul__gpu_mirror,
    .unmirror = haul__gpu_unmirror,
    .lock = haul__gpu_lock,
    .unlock = haul__gpu_unlock,
    .pull = haul__gpu_pull,
    .push = haul__gpu_push,
    .across = haul__gpu_across,
    .signal = haul__gpu_signal,
    .phase_begin = haul__gpu_phase_begin,
    .phase_end = haul__gpu_phase_end,
    .refusal = haul__gpu_refusal,
    .allocate_in_places = haul__gpu_allocate_in_places,
    .gather_strips = haul__gpu_gather_strips,
    .scatter_strips = haul__gpu_scatter_strips,
    .clear = haul__gpu_clear,
    .free_bytes = haul__gpu_free_bytes,
};

const haul_device_table *haul_cuda_device(void)
{
    return &cuda_table;
}
