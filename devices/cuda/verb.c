/* Entering and leaving a verb, and the meaning of CUDA's errors.
 *
 * A library must not change four things of the calling thread: the current GPU, the last CUDA
 * error, the capture mode, and errno. A visit saves them at the start of a verb and restores them
 * at its end, on every path, because each verb has one exit.
 *
 * The last CUDA error may be the caller's or ours. If it is set on entry, it is the caller's: the
 * verb fails with that message and leaves the error in place. If it is not set on entry, an error
 * is ours and is cleared. After some errors CUDA refuses all work for the rest of the process: the
 * device is lost, and no verb calls CUDA any more.
 *
 * The capture mode is relaxed during a visit. Otherwise, while any thread captures a stream, CUDA
 * would refuse calls such as cudaMalloc and invalidate the capture.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ranges.h"

static const struct {
    cudaError_t error;
    haul_status status;
} statuses[] = {
    { cudaSuccess, HAUL_OK },
    { cudaErrorNotReady, HAUL_ERROR_PENDING },
    { cudaErrorMemoryAllocation, HAUL_ERROR_DEVICE_MEMORY },
    /* a wrong handle or pointer */
    { cudaErrorInvalidValue, HAUL_ERROR_ARGUMENT },
    { cudaErrorInvalidResourceHandle, HAUL_ERROR_ARGUMENT },
    { cudaErrorInvalidHostPointer, HAUL_ERROR_ARGUMENT },
    { cudaErrorInvalidDevicePointer, HAUL_ERROR_ARGUMENT },
    { cudaErrorInvalidMemcpyDirection, HAUL_ERROR_ARGUMENT },
    { cudaErrorStreamCaptureUnsupported, HAUL_ERROR_ARGUMENT },
    { cudaErrorStreamCaptureInvalidated, HAUL_ERROR_ARGUMENT },
    { cudaErrorStreamCaptureMerge, HAUL_ERROR_ARGUMENT },
    { cudaErrorStreamCaptureUnmatched, HAUL_ERROR_ARGUMENT },
    { cudaErrorStreamCaptureUnjoined, HAUL_ERROR_ARGUMENT },
    { cudaErrorStreamCaptureIsolation, HAUL_ERROR_ARGUMENT },
    { cudaErrorStreamCaptureImplicit, HAUL_ERROR_ARGUMENT },
    { cudaErrorStreamCaptureWrongThread, HAUL_ERROR_ARGUMENT },
    { cudaErrorCapturedEvent, HAUL_ERROR_ARGUMENT },
    /* no driver, no GPU, no code for it, or no permission */
    { cudaErrorInitializationError, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorStubLibrary, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorInsufficientDriver, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorCallRequiresNewerDriver, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorNoDevice, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorInvalidDevice, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorDevicesUnavailable, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorInvalidDeviceFunction, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorInvalidKernelImage, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorNoKernelImageForDevice, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorInvalidPtx, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorUnsupportedPtxVersion, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorJitCompilerNotFound, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorJitCompilationDisabled, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorInvalidConfiguration, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorLaunchOutOfResources, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorNotPermitted, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorNotSupported, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorSystemNotReady, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorSystemDriverMismatch, HAUL_ERROR_UNSUPPORTED },
    { cudaErrorCompatNotSupportedOnDevice, HAUL_ERROR_UNSUPPORTED },
    /* nothing more can be done in this process */
    { cudaErrorCudartUnloading, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorECCUncorrectable, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorNvlinkUncorrectable, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorContained, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorIllegalAddress, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorLaunchTimeout, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorContextIsDestroyed, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorAssert, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorHardwareStackError, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorIllegalInstruction, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorMisalignedAddress, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorInvalidAddressSpace, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorInvalidPc, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorLaunchFailure, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorTensorMemoryLeak, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorMpsClientTerminated, HAUL_ERROR_DEVICE_LOST },
    { cudaErrorExternalDevice, HAUL_ERROR_DEVICE_LOST },
};

haul_status haul__gpu_status(cudaError_t error)
{
    size_t i;
    for (i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].error == error)
            return statuses[i].status;
    return HAUL_ERROR_DEVICE;
}

/* ---- Words. */

static haul_status found_pending(haul__gpu *gpu, const haul__gpu_visit *visit)
{
    snprintf(gpu->message, sizeof gpu->message,
             "%s: an earlier error on this device, not Haul's: %s (%s)", visit->verb,
             cudaGetErrorName(visit->pending), cudaGetErrorString(visit->pending));
    if (haul__gpu_status(visit->pending) != HAUL_ERROR_DEVICE_LOST)
        return HAUL_ERROR_DEVICE;
    gpu->lost = 1;
    return HAUL_ERROR_DEVICE_LOST;
}

haul_status haul__gpu_fail(haul__gpu *gpu, const haul__gpu_visit *visit, haul_status status,
                           const char *what)
{
    snprintf(gpu->message, sizeof gpu->message, "%s: %s", visit->verb, what);
    return status;
}

void haul__gpu_forgive(const haul__gpu_visit *visit, cudaError_t error)
{
    if (error != cudaSuccess && visit->pending == cudaSuccess)
        cudaGetLastError();
}

haul_status haul__gpu_check(haul__gpu *gpu, const haul__gpu_visit *visit, cudaError_t error,
                            const char *what, uint64_t bytes)
{
    char size[48] = "";
    haul_status status;
    if (error == cudaSuccess)
        return HAUL_OK;
    status = haul__gpu_status(error);
    if (bytes > 0)
        snprintf(size, sizeof size, " of %llu bytes", (unsigned long long)bytes);
    snprintf(gpu->message, sizeof gpu->message, "%s: %s%s%s: %s (%s)", visit->verb, what, size,
             status == HAUL_ERROR_DEVICE_LOST
                 ? " finds that work given to this device before has failed"
                 : "",
             cudaGetErrorName(error), cudaGetErrorString(error));
    if (status == HAUL_ERROR_DEVICE_LOST)
        gpu->lost = 1;
    else
        haul__gpu_forgive(visit, error);
    return status;
}

/* ---- Enter and leave. */

haul_status haul__gpu_enter(haul__gpu *gpu, const char *verb, haul__gpu_visit *visit)
{
    cudaError_t error;
    memset(visit, 0, sizeof *visit);
    visit->verb = verb;
    gpu->answers = 0;
    if (gpu->lost)
        return HAUL_ERROR_DEVICE_LOST;
    visit->entered = 1;
    visit->system_error = errno;
    visit->pending = cudaPeekAtLastError();
    /* the answer of a query, which CUDA notes as an error */
    if (visit->pending == cudaErrorNotReady)
        visit->pending = cudaSuccess;
    haul__gpu_range_begin(gpu, verb);
    error = cudaGetDevice(&visit->current);
    if (error != cudaSuccess)
        visit->current = -1;
    if (visit->current != gpu->options.ordinal)
        error = cudaSetDevice(gpu->options.ordinal);
    visit->mode = cudaStreamCaptureModeRelaxed;
    if (error == cudaSuccess)
        error = cudaThreadExchangeStreamCaptureMode(&visit->mode);
    visit->relaxed = error == cudaSuccess;
    if (visit->pending != cudaSuccess)
        return found_pending(gpu, visit);
    return haul__gpu_check(gpu, visit, error, "making the GPU current", 0);
}

haul_status haul__gpu_leave(haul__gpu *gpu, haul__gpu_visit *visit, haul_status status)
{
    int now = gpu->options.ordinal;
    if (!visit->entered)
        return status;
    if (visit->relaxed)
        haul__gpu_forgive(visit, cudaThreadExchangeStreamCaptureMode(&visit->mode));
    if (gpu->options.allocate) /* the user's callbacks can have changed the current GPU */
        haul__gpu_forgive(visit, cudaGetDevice(&now));
    if (visit->current >= 0 && now != visit->current)
        haul__gpu_forgive(visit, cudaSetDevice(visit->current));
    haul__gpu_range_end(gpu);
    errno = visit->system_error;
    return status;
}

/* ---- The driver's functions. */

#if CUDART_VERSION >= 12050

int haul__gpu_find_entry(const haul__gpu_visit *visit, const char *name, unsigned since,
                         void *entry, size_t bytes)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    void *address = NULL;
    cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &address, since, cudaEnableDefault, &found);
    haul__gpu_forgive(visit, error);
    if (error != cudaSuccess || found != cudaDriverEntryPointSuccess || !address)
        return 0;
    memcpy(entry, &address, bytes);
    return 1;
}

#endif
