/* The CUDA runtime's calls. A call that fails ends the program. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "places.h"

static cudaStream_t streams[2];
static cudaEvent_t told[2], kernels;

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

int cuda_present(void)
{
    int count = 0, i;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
        return 0;
    for (i = 0; i < 2; i++) {
        must(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking), "a stream");
        must(cudaEventCreateWithFlags(&told[i], cudaEventDisableTiming), "an event");
    }
    must(cudaEventCreateWithFlags(&kernels, cudaEventDisableTiming), "an event");
    return 1;
}

void cuda_describe(char *text, size_t bytes)
{
    struct cudaDeviceProp card;
    int driver = 0, runtime = 0;
    must(cudaGetDeviceProperties(&card, 0), "cudaGetDeviceProperties");
    must(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    must(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    snprintf(text, bytes, "%s, %.0f GiB, driver for CUDA %d.%d, runtime %d.%d", card.name,
             (double)card.totalGlobalMem / (1 << 30), driver / 1000, driver % 1000 / 10,
             runtime / 1000, runtime % 1000 / 10);
}

size_t cuda_free_bytes(void)
{
    size_t available = 0, all = 0;
    must(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
    return available;
}

void *cuda_device(size_t bytes)
{
    void *memory = NULL;
    must(cudaMalloc(&memory, bytes), "cudaMalloc");
    return memory;
}

void *cuda_pinned(size_t bytes)
{
    void *memory = NULL;
    must(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped), "cudaHostAlloc");
    return memory;
}

void *cuda_managed(size_t bytes)
{
    void *memory = NULL;
    must(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal), "cudaMallocManaged");
    return memory;
}

void cuda_drop(void *memory)
{
    must(cudaFree(memory), "cudaFree");
}

void cuda_drop_pinned(void *memory)
{
    must(cudaFreeHost(memory), "cudaFreeHost");
}

void cuda_copy(void *to, const void *from, size_t bytes)
{
    must(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

void cuda_start_copy(int stream, void *to, const void *from, size_t bytes)
{
    must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, streams[stream]), "cudaMemcpyAsync");
}

void cuda_kernels_wait_for(int stream)
{
    must(cudaEventRecord(told[stream], streams[stream]), "cudaEventRecord");
    must(cudaStreamWaitEvent(cudaStreamLegacy, told[stream], 0), "cudaStreamWaitEvent");
}

void cuda_wait_for_kernels(int stream)
{
    must(cudaEventRecord(kernels, cudaStreamLegacy), "cudaEventRecord");
    must(cudaStreamWaitEvent(streams[stream], kernels, 0), "cudaStreamWaitEvent");
}

void cuda_clear(void *memory, size_t bytes)
{
    must(cudaMemsetAsync(memory, 0, bytes, cudaStreamLegacy), "cudaMemsetAsync");
}

void cuda_wait(void)
{
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}
