/* Copies: to the GPU, from it, and from another GPU.
 *
 * All are CUDA's asynchronous copies on the selected stream. From pinned memory they run at the
 * speed of the bus, beside other work. From plain memory CUDA stages the bytes before it returns.
 *
 * A copy between two devices concerns two streams; an event each way keeps them in order:
 *
 *     from's stream   ... work ──┐                 ┌── (waits) ... later work, release
 *     this stream                └── (waits) copy ─┘
 */
#include "copy.h"

haul_status haul__gpu_copy_to(void *state, haul_address to, const void *from, size_t bytes)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "copy_to", &visit);
    if (status == HAUL_OK)
        status = haul__gpu_check(gpu, &visit,
                                 cudaMemcpyAsync((void *)(uintptr_t)to, from, bytes,
                                                 cudaMemcpyHostToDevice, gpu->stream),
                                 "cudaMemcpyAsync", bytes);
    return haul__gpu_leave(gpu, &visit, status);
}

haul_status haul__gpu_copy_from(void *state, void *to, haul_address from, size_t bytes)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "copy_from", &visit);
    if (status == HAUL_OK)
        status = haul__gpu_check(gpu, &visit,
                                 cudaMemcpyAsync(to, (const void *)(uintptr_t)from, bytes,
                                                 cudaMemcpyDeviceToHost, gpu->stream),
                                 "cudaMemcpyAsync", bytes);
    return haul__gpu_leave(gpu, &visit, status);
}

haul_status haul__gpu_clear(void *state, haul_address at, uint64_t bytes)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "clear", &visit);
    if (status == HAUL_OK)
        status = haul__gpu_check(
            gpu, &visit, cudaMemsetAsync((void *)(uintptr_t)at, 0, (size_t)bytes, gpu->stream),
            "cudaMemsetAsync", bytes);
    return haul__gpu_leave(gpu, &visit, status);
}

/* ---- Across. */

/* Gives `gpu` direct access to the memory of `from`, once. If that is not possible, copies go by
 * way of the host. A pool has an access list of its own. */
static void introduce(haul__gpu *gpu, const haul__gpu_visit *visit, haul__gpu *from)
{
    struct cudaMemAccessDesc access = { { cudaMemLocationTypeDevice, 0 },
                                        cudaMemAccessFlagsProtReadWrite };
    int own = gpu->options.ordinal, other = from->options.ordinal, possible = 0;
    uint64_t bit = own < 64 ? (uint64_t)1 << own : 0;
    if (own == other || (from->peers & bit))
        return;
    from->peers |= bit;
    haul__gpu_forgive(visit, cudaDeviceCanAccessPeer(&possible, own, other));
    if (!possible)
        return;
    /* CUDA reports an error if access is enabled already */
    haul__gpu_forgive(visit, cudaDeviceEnablePeerAccess(other, 0));
    access.location.id = own;
    if (from->pool)
        haul__gpu_forgive(visit, cudaMemPoolSetAccess(from->pool, &access, 1));
}

/* Records an event on the other device's stream, or makes that stream wait for ours. Handles such
 * as cudaStreamLegacy mean a stream of the current GPU, so the other GPU is made current. A failure
 * is noted in the other device's state, too: that device may be lost. */
static haul_status on_the_other(haul__gpu *gpu, const haul__gpu_visit *visit, haul__gpu *from,
                                int mark)
{
    cudaError_t error = cudaSetDevice(from->options.ordinal);
    haul_status status;
    if (error == cudaSuccess)
        error = mark ? cudaEventRecord(from->crossing, from->stream)
                     : cudaStreamWaitEvent(from->stream, gpu->crossing, 0);
    status = haul__gpu_check(from, visit, error, "ordering the other device's stream", 0);
    if (status != HAUL_OK)
        haul__gpu_fail(gpu, visit, status, from->message);
    error = cudaSetDevice(gpu->options.ordinal);
    return status != HAUL_OK ? status : haul__gpu_check(gpu, visit, error, "cudaSetDevice", 0);
}

static cudaError_t copy_across(haul__gpu *gpu, haul_address to, const haul__gpu *from,
                               haul_address at, size_t bytes)
{
    void *target = (void *)(uintptr_t)to;
    const void *source = (const void *)(uintptr_t)at;
    int own = gpu->options.ordinal, other = from->options.ordinal;
    if (own == other)
        return cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, gpu->stream);
    return cudaMemcpyPeerAsync(target, own, source, other, bytes, gpu->stream);
}

static haul_status across(haul__gpu *gpu, const haul__gpu_visit *visit, haul_address to,
                          haul__gpu *from, haul_address at, size_t bytes)
{
    haul_status status;
    if (!from || from->magic != HAUL__GPU_MAGIC)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT,
                              "the other device is no open CUDA device");
    if (from->lost)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_DEVICE_LOST, "the other device is lost");
    introduce(gpu, visit, from);
    status = on_the_other(gpu, visit, from, 1);
    if (status == HAUL_OK)
        status = haul__gpu_check(gpu, visit, cudaStreamWaitEvent(gpu->stream, from->crossing, 0),
                                 "cudaStreamWaitEvent", 0);
    if (status == HAUL_OK)
        status = haul__gpu_check(gpu, visit, copy_across(gpu, to, from, at, bytes),
                                 "cudaMemcpyPeerAsync", bytes);
    if (status == HAUL_OK)
        status = haul__gpu_check(gpu, visit, cudaEventRecord(gpu->crossing, gpu->stream),
                                 "cudaEventRecord", 0);
    return status == HAUL_OK ? on_the_other(gpu, visit, from, 0) : status;
}

haul_status haul__gpu_across(void *state, haul_address to, void *from_state, haul_address from,
                             size_t bytes)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "across", &visit);
    if (status == HAUL_OK)
        status = across(gpu, &visit, to, from_state, from, bytes);
    return haul__gpu_leave(gpu, &visit, status);
}
