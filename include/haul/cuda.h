/* The CUDA device: an NVIDIA GPU's memory.
 *
 *     haul_cuda_options options = { 0 };
 *     options.ordinal = 1;                                    the second GPU
 *     haul_cuda_open(context, &options, &device);
 *
 * This header needs no CUDA header: a stream is a cudaStream_t and an event a cudaEvent_t, passed
 * as void *. Handles of the runtime and of the driver are the same and serve alike. The functions
 * below exist in every build of Haul; a build without CUDA has no GPU.
 *
 * Streams. Each open device has a stream of its own, which is in order with the legacy default
 * stream: after haul_ship, a plain `kernel<<<grid, block>>>(...)` reads the shipped graph, and a
 * haul_unmarshal after it brings back what the kernel wrote, with no synchronisation in between.
 * Kernels on streams made with cudaStreamNonBlocking, or in programs built with a default stream
 * for each thread, are not in that order: pass their stream to the asynchronous calls, or
 * synchronise it. cudaStreamLegacy and cudaStreamPerThread are accepted as streams. A handle of a
 * destroyed stream or event is undefined behaviour, as in CUDA.
 *
 * Errors. A call leaves the calling thread's current GPU, its capture mode and its pending CUDA
 * error unchanged. If an error of the caller is pending (cudaPeekAtLastError), a call does nothing,
 * answers HAUL_ERROR_DEVICE and says so; the error stays for the caller's cudaGetLastError. After
 * some errors CUDA refuses all further work in the process. The device is then lost: each later
 * call answers HAUL_ERROR_DEVICE_LOST at once, and frees release everything that needs no device.
 *
 * Capture. A call refuses a stream that is being captured into a graph (HAUL_ERROR_ARGUMENT). It
 * refuses cudaStreamLegacy while a stream in order with it is being captured. The capture goes on
 * undisturbed. A capture of another stream, in any mode and thread, does not hinder a call.
 */
#ifndef HAUL_CUDA_H
#define HAUL_CUDA_H

#include "haul/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Device memory from an allocator of yours: RMM, Umpire, your own pool.
 *
 * `allocate` answers `bytes` bytes of memory that the GPU can read and write, at a multiple of 256,
 * or NULL: not enough. The memory may be used on `stream` at once. `release` takes back memory of
 * allocate, with the same size, while work on `stream` may still use it: a release that is not in
 * stream order must wait for the stream first. It is called for a lost device, too. Both are called
 * with the GPU current, from the thread that called Haul, and must not call back into the device;
 * no C++ exception may leave them. (Neither mirrored arenas nor shipments in several places take
 * memory from here or from a pool: the driver must place it.) */
typedef void *haul_cuda_allocate(void *user, size_t bytes, void *stream);
typedef void haul_cuda_release(void *user, void *memory, size_t bytes, void *stream);

/* Zeros, or NULL in their place: the first GPU, with a pool of its own. */
typedef struct haul_cuda_options {
    int ordinal; /* which GPU, as cudaSetDevice counts them */
    /* If not 0: device memory comes from cudaMalloc and goes with cudaFree, as on a GPU without
     * pools. 0: it comes from a stream-ordered pool of the device's own. Ignored if there are
     * callbacks. */
    int plain_malloc;
    /* The timeout of a wait. A wait that times out answers HAUL_ERROR_PENDING; the work goes on,
     * and can be waited for again. 0: no timeout. A wait without a timeout on the device's own
     * stream may keep a core busy for 200 us before it waits as cudaSetDeviceFlags says, unless
     * that was given cudaDeviceScheduleBlockingSync or -Yield before the device was opened. To CUDA
     * such a wait is no synchronization: a kernel's printf may come later. */
    double timeout_seconds;
    /* The most bytes of released memory that the pool keeps for later shipments, until the device
     * is closed. 0: a 64th of the GPU's memory. A shipment that does not fit waits for the driver,
     * some 0.2 ms for 128 MB. */
    size_t pool_bytes;
    haul_cuda_allocate *allocate; /* both or neither */
    haul_cuda_release *release;
    void *user;
    /* The most bytes of device memory that shipments, the lists of locked sources and mirrored
     * arenas may hold; 0: no limit. What the pool keeps, and CUDA's own memory, come on top. */
    size_t budget_bytes;
} haul_cuda_options;

/* The table of the CUDA device, for haul_device_open and for devices that wrap it. Static, never
 * NULL; any thread. */
HAUL_API const haul_device_table *haul_cuda_device(void);

/* Opens a GPU in `context`. `options` may be NULL. HAUL_ERROR_UNSUPPORTED: there is no such GPU, no
 * driver, or no code for this GPU in the library. HAUL_ERROR_ARGUMENT: a negative ordinal, one of
 * the callbacks alone, a timeout that is negative or not a number. Other errors as of
 * haul_device_open. */
static inline haul_status haul_cuda_open(haul_context *context, const haul_cuda_options *options,
                                         haul_device **device)
{
    return haul_device_open_sized(context, haul_cuda_device(), options, sizeof *options, device);
}

/* The number of GPUs; 0 if there is no driver, or on any other failure. Any thread. */
HAUL_API int haul_cuda_count(void);

/* A finder (haul_environment_set_finder; `user` is ignored): memory of a GPU, and managed memory,
 * is its own copy. An environment then sends neither, and reads neither: a pointer that leads there
 * on the host leads there on the device. NULL: `memory` is other memory, or the bytes are not in
 * one allocation of such memory; of a build without CUDA always. Any thread. */
HAUL_API void *haul_cuda_find(void *user, const void *memory, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
