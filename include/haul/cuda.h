/* The CUDA device: an NVIDIA GPU's memory.
 *
 *     haul_device_options options = { 0 };
 *     haul_cuda_settings settings = { 0 };
 *     settings.ordinal = 1;                                   the second GPU
 *     options.settings = &settings;
 *     haul_device_open(haul_cuda_device(), &options, &device);
 *
 * This header needs no CUDA header: a stream is a cudaStream_t and an event a cudaEvent_t, passed
 * as void *. Handles of both are good from the runtime and from the driver (they are the same).
 * Both functions exist in every build of Haul; in one without CUDA there is no GPU.
 *
 * Streams. Each open device has a stream of its own, which is in order with the legacy default
 * stream: after haul_ship, a plain `kernel<<<grid, block>>>(...)` reads what was shipped, and a
 * haul_unmarshal after it brings back what the kernel wrote, with no synchronisation in between.
 * Kernels on streams that were made with cudaStreamNonBlocking, or of programs built with a default
 * stream for each thread, are in no such order: pass that stream to the asynchronous calls, or
 * synchronise it. cudaStreamLegacy and cudaStreamPerThread are accepted where a stream is. A handle
 * of a stream or an event that was destroyed is as undefined here as it is in CUDA.
 *
 * Errors. The calling thread's current GPU, its capture mode and its pending CUDA error are after
 * each call what they were before. Where an error of the caller's own is pending
 * (cudaPeekAtLastError), a call does nothing, answers HAUL_ERROR_DEVICE and says so; the error
 * stays for the caller's cudaGetLastError. An error after which CUDA refuses all further work in
 * the process makes the device lost: each later call answers HAUL_ERROR_DEVICE_LOST at once, and
 * what can be freed without the device is.
 *
 * Capture. A stream that is being captured into a graph is refused (HAUL_ERROR_ARGUMENT), and so is
 * cudaStreamLegacy while a stream that is in order with it is; the capture goes on undisturbed. A
 * capture of another stream, in whatever mode and thread, does not hinder a call.
 */
#ifndef HAUL_CUDA_H
#define HAUL_CUDA_H

#include "haul/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where device memory comes from, if no callbacks are given. */
/* a stream-ordered pool of the device's own; plain where the GPU has no pools */
#define HAUL_CUDA_ALLOCATE_POOL 0
#define HAUL_CUDA_ALLOCATE_PLAIN 1 /* cudaMalloc and cudaFree */

/* Device memory from an allocator of yours: RMM, Umpire, your own pool.
 *
 * `allocate` gives `bytes` bytes of memory that the GPU can read and write, at a multiple of 256,
 * or NULL: not enough. The memory may be used on `stream` at once. `release` takes back what
 * allocate gave, with the same size, while work on `stream` may still use it: a release that is not
 * in stream order waits for the stream first. It is called on a lost device too. (A mirrored
 * arena's memory comes neither from here nor from a pool: the driver must place it.) Both are
 * called with the GPU current, from the thread that called Haul, and must not call back into the
 * device; no C++ exception may leave them. */
typedef void *haul_cuda_allocate(void *user, size_t bytes, void *stream);
typedef void haul_cuda_release(void *user, void *memory, size_t bytes, void *stream);

/* Settings of one device; zeroed, or NULL in its place, they mean the first GPU with a pool of its
 * own. */
typedef struct haul_cuda_settings {
    int ordinal;   /* which GPU, as cudaSetDevice counts them */
    int allocator; /* HAUL_CUDA_ALLOCATE_POOL or _PLAIN; without meaning when callbacks are given */
    haul_cuda_allocate *allocate; /* both or neither */
    haul_cuda_release *release;
    void *user;
    /* A wait that lasts longer answers HAUL_ERROR_PENDING; the work goes on, and can be waited for
     * again. 0: a wait ends when the work does. Without a limit, on the device's own stream, it may
     * keep a core busy for 200 us before it waits as cudaSetDeviceFlags says; not where that was
     * given cudaDeviceScheduleBlockingSync or -Yield before the device was opened. What is waited
     * for so is no synchronization to CUDA: printf of a kernel may come later. */
    double patience_seconds;
    /* How many bytes of released memory the pool keeps for later shipments, until the device is
     * closed. 0: a 64th of the GPU's memory. Shipments that do not fit wait for the driver, some
     * 0.2 ms for 128 MB. */
    size_t pool_bytes;
} haul_cuda_settings;

/* The table of the CUDA device, for haul_device_open. Its settings are a haul_cuda_settings.
 * Opening answers HAUL_ERROR_UNSUPPORTED where there is no such GPU, no driver, or no code for this
 * GPU in the library; HAUL_ERROR_ARGUMENT for settings that make no sense. Static, never NULL; any
 * thread. */
HAUL_API const haul_device_table *haul_cuda_device(void);

/* How many GPUs there are; 0 when there is no driver, or on any other failure. Any thread. */
HAUL_API int haul_cuda_count(void);

#ifdef __cplusplus
}
#endif
#endif
