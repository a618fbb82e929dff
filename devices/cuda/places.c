/* Memory in several places: managed memory with advice.
 *
 * One managed allocation is one run of addresses, for kernels and copies alike. CUDA keeps each of
 * its pages on one side:
 *
 *     device    prefers the GPU, and is moved there at once: kernels find it as any other memory
 *     host      prefers the host, and the GPU has it mapped: kernels read and write it over the bus
 *     moving    no advice: a page moves to the side that touches it
 *
 * CUDA could keep more moving pages than the GPU has room for, by moving others out. Kernels that
 * use such memory at random then wait for pages most of the time. So the allocation is refused
 * unless the GPU has room for all device and moving pages at once.
 */
#include "places.h"

#if CUDART_VERSION < 13000
#define cudaMemAdvise cudaMemAdvise_v2
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_v2
#endif

cudaError_t haul__gpu_can_place(int ordinal, int *can)
{
    return cudaDeviceGetAttribute(can, cudaDevAttrConcurrentManagedAccess, ordinal);
}

uint64_t haul__gpu_placed_need(const haul_placing *placings, size_t count)
{
    uint64_t need = 0, at = 0;
    size_t i;
    for (i = 0; i < count; at = placings[i++].end)
        need += placings[i].place == HAUL_PLACE_HOST ? 0 : placings[i].end - at;
    return need;
}

haul_status haul__gpu_take_managed(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t bytes,
                                   void **memory)
{
    return haul__gpu_check(gpu, visit,
                           cudaMallocManaged(memory, (size_t)bytes, cudaMemAttachGlobal),
                           "cudaMallocManaged", bytes);
}

static cudaError_t place_run(const haul__gpu *gpu, void *at, size_t bytes, haul_place place)
{
    const struct cudaMemLocation device = { .type = cudaMemLocationTypeDevice,
                                            .id = gpu->options.ordinal };
    const struct cudaMemLocation host = { .type = cudaMemLocationTypeHost, .id = 0 };
    const struct cudaMemLocation to = place == HAUL_PLACE_HOST ? host : device;
    cudaError_t error;
    if (place == HAUL_PLACE_MOVING)
        return cudaSuccess;
    error = cudaMemAdvise(at, bytes, cudaMemAdviseSetPreferredLocation, to);
    if (error == cudaSuccess && place == HAUL_PLACE_HOST)
        error = cudaMemAdvise(at, bytes, cudaMemAdviseSetAccessedBy, device);
    return error == cudaSuccess ? cudaMemPrefetchAsync(at, bytes, to, 0, gpu->stream) : error;
}

haul_status haul__gpu_place(haul__gpu *gpu, const haul__gpu_visit *visit, haul_address address,
                            const haul_placing *placings, size_t count)
{
    uint64_t at = 0;
    size_t i;
    haul_status status = HAUL_OK;
    for (i = 0; i < count && status == HAUL_OK; at = placings[i++].end)
        status = haul__gpu_check(gpu, visit,
                                 place_run(gpu, (void *)(uintptr_t)(address + at),
                                           (size_t)(placings[i].end - at), placings[i].place),
                                 "advice on managed memory", placings[i].end - at);
    return status;
}

void haul__gpu_drop_managed(haul__gpu *gpu, const haul__gpu_visit *visit, void *memory)
{
    haul__gpu_forgive(visit, cudaStreamSynchronize(gpu->stream));
    haul__gpu_forgive(visit, cudaFree(memory));
}
