/* Devices, buffers and held streams for the tests: gpu.h.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/gpu.h"

/* ---- The allocator that counts; from several threads, too. */

static long live_blocks, live_bytes;
static int open_devices;

static void *count_allocate(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    (void)user;
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes) !=
        0)
        return NULL;
    __atomic_add_fetch(&live_blocks, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&live_bytes, (long)bytes, __ATOMIC_RELAXED);
    return memory;
}

static void count_release(void *user, void *memory, size_t bytes)
{
    (void)user;
    __atomic_sub_fetch(&live_blocks, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&live_bytes, (long)bytes, __ATOMIC_RELAXED);
    free(memory);
}

haul_allocator gpu_allocator(void)
{
    haul_allocator allocator;
    memset(&allocator, 0, sizeof allocator);
    allocator.allocate = count_allocate;
    allocator.release = count_release;
    return allocator;
}

/* ---- Devices. */

void *gpu_open_with(const haul_cuda_options *settings)
{
    haul_allocator allocator = gpu_allocator();
    void *state = NULL;
    CHECK_STATUS(gpu->open(settings, &allocator, &state), HAUL_OK);
    CHECK(state != NULL);
    open_devices++;
    return state;
}

void *gpu_open(int ordinal)
{
    haul_cuda_options settings;
    memset(&settings, 0, sizeof settings);
    settings.ordinal = ordinal;
    return gpu_open_with(&settings);
}

void gpu_close(void *state)
{
    gpu->close(state);
    if (--open_devices > 0)
        return;
    CHECK_EQ(live_blocks, 0);
    CHECK_EQ(live_bytes, 0);
}

haul_address gpu_get(void *state, uint64_t bytes)
{
    haul_address address = 0;
    CHECK_STATUS(gpu->allocate(state, bytes, 16, &address), HAUL_OK);
    return address;
}

void *gpu_stage(void *state, size_t bytes)
{
    void *memory = NULL;
    CHECK_STATUS(gpu->stage(state, bytes, &memory), HAUL_OK);
    return memory;
}

int gpu_holds(void *state, haul_address address, const void *bytes, size_t count)
{
    void *got = malloc(count);
    int same = got && gpu->copy_from(state, got, address, count) == HAUL_OK &&
               gpu->wait(state) == HAUL_OK && memcmp(got, bytes, count) == 0;
    free(got);
    return same;
}

/* ---- Streams. */

cudaStream_t gpu_make_stream(void)
{
    cudaStream_t stream;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

gpu_hold gpu_hold_stream(cudaStream_t stream)
{
    gpu_hold hold;
    CHECK_CUDA(cudaHostAlloc((void **)&hold.flag, sizeof *hold.flag,
                             cudaHostAllocPortable | cudaHostAllocMapped));
    *hold.flag = 0;
    user_hold(hold.flag, stream);
    CHECK_CUDA(cudaPeekAtLastError());
    return hold;
}

void gpu_let_go(gpu_hold *hold)
{
    __atomic_store_n(hold->flag, 1, __ATOMIC_SEQ_CST);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaFreeHost(hold->flag));
}

double gpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
