/* The CUDA runtime's calls that the comparators make, counted. Nothing here is clever: what a call
 * costs is what is measured. A call that fails ends the program.
 */
#include <stdio.h>
#include <string.h>

#include "gpu.h"

gpu_counts gpu_counted;

void gpu_must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        gpu_die(what, cudaGetErrorString(error));
}

static void called(cudaError_t error, const char *what)
{
    gpu_counted.calls++;
    gpu_must(error, what);
}

/* -------------------------------------------------------------------------------------------------
 * The card
 */
int gpu_present(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

void gpu_describe(char *text, size_t bytes)
{
    struct cudaDeviceProp card;
    int driver = 0, runtime = 0;
    gpu_must(cudaGetDeviceProperties(&card, 0), "cudaGetDeviceProperties");
    gpu_must(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    gpu_must(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    snprintf(text, bytes, "%s, %.0f GiB, %d multiprocessors, driver for CUDA %d.%d, runtime %d.%d",
             card.name, (double)card.totalGlobalMem / (1 << 30), card.multiProcessorCount,
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

size_t gpu_free_bytes(void)
{
    size_t available = 0, all = 0;
    gpu_must(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
    return available;
}

int gpu_can_prefetch(void)
{
    int can = 0;
    gpu_must(cudaDeviceGetAttribute(&can, cudaDevAttrConcurrentManagedAccess, 0),
             "cudaDeviceGetAttribute");
    return can;
}

/* -------------------------------------------------------------------------------------------------
 * Memory
 */
uint64_t gpu_allocate(size_t bytes)
{
    void *memory = NULL;
    called(cudaMalloc(&memory, bytes), "cudaMalloc");
    return (uint64_t)(uintptr_t)memory;
}

void gpu_release(uint64_t address)
{
    called(cudaFree((void *)(uintptr_t)address), "cudaFree");
}

void *gpu_allocate_pinned(size_t bytes)
{
    void *memory = NULL;
    called(cudaMallocHost(&memory, bytes), "cudaMallocHost");
    return memory;
}

void gpu_release_pinned(void *memory)
{
    called(cudaFreeHost(memory), "cudaFreeHost");
}

void *gpu_allocate_managed(size_t bytes)
{
    void *memory = NULL;
    called(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal), "cudaMallocManaged");
    return memory;
}

void gpu_release_managed(void *memory)
{
    called(cudaFree(memory), "cudaFree");
}

/* -------------------------------------------------------------------------------------------------
 * Copies
 */
static void count_to(size_t bytes)
{
    gpu_counted.transfers_to++;
    gpu_counted.bytes_to += (double)bytes;
}

void gpu_copy_to(uint64_t to, const void *from, size_t bytes)
{
    count_to(bytes);
    called(cudaMemcpy((void *)(uintptr_t)to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

void gpu_start_copy_to(uint64_t to, const void *from, size_t bytes)
{
    count_to(bytes);
    called(cudaMemcpyAsync((void *)(uintptr_t)to, from, bytes, cudaMemcpyHostToDevice, 0),
           "cudaMemcpyAsync");
}

void gpu_copy_from(void *to, uint64_t from, size_t bytes)
{
    gpu_counted.transfers_from++;
    gpu_counted.bytes_from += (double)bytes;
    called(cudaMemcpy(to, (const void *)(uintptr_t)from, bytes, cudaMemcpyDeviceToHost),
           "cudaMemcpy");
}

/* cudaMemcpy to the device may return when pageable memory has been staged: the wait says that it
 * has arrived. */
void gpu_wait(void)
{
    called(cudaStreamSynchronize(0), "cudaStreamSynchronize");
}

void gpu_prefetch(void *memory, size_t bytes, int to_device)
{
#if CUDART_VERSION >= 13000
    struct cudaMemLocation there;
    memset(&there, 0, sizeof(there));
    there.type = to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
    called(cudaMemPrefetchAsync(memory, bytes, there, 0, 0), "cudaMemPrefetchAsync");
#else
    called(cudaMemPrefetchAsync(memory, bytes, to_device ? 0 : cudaCpuDeviceId, 0),
           "cudaMemPrefetchAsync");
#endif
}
