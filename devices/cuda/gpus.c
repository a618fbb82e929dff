/* The number of GPUs, and what is missing if one cannot be opened. */
#include <errno.h>
#include <stdio.h>

#include <cuda_runtime_api.h>

#include "gpus.h"

/* The runtime's answer, and the caller's pending error as it was. */
static cudaError_t count_gpus(int *count)
{
    int saved = errno;
    cudaError_t pending = cudaPeekAtLastError(), error = cudaGetDeviceCount(count);
    if (error != cudaSuccess) {
        *count = 0;
        if (pending == cudaSuccess)
            cudaGetLastError();
    }
    errno = saved;
    return error;
}

int haul_cuda_count(void)
{
    int count;
    (void)count_gpus(&count);
    return count;
}

#define MAJOR(version) ((version) / 1000)
#define MINOR(version) ((version) % 1000 / 10)

static void say_no_driver(char *text, size_t bytes)
{
    int driver = 0, runtime = 0;
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        snprintf(
            text, bytes,
            "there is no NVIDIA driver: install one, or open the host device (nvidia-smi tells "
            "whether it works)");
    else
        snprintf(text, bytes,
                 "the driver is for CUDA %d.%d, and Haul was built with %d.%d: update the driver",
                 MAJOR(driver), MINOR(driver), MAJOR(runtime), MINOR(runtime));
}

static void say_no_code(int ordinal, char *text, size_t bytes)
{
    int major = 0, minor = 0;
    (void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal);
    (void)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal);
    snprintf(text, bytes,
             "Haul has no code for GPU %d (compute capability %d.%d), or another process has it to "
             "itself: build with -DCMAKE_CUDA_ARCHITECTURES=%d%d, or look at nvidia-smi",
             ordinal, major, minor, major, minor);
}

void haul__gpu_refusal(const void *settings, haul_status status, char *text, size_t bytes)
{
    const haul_cuda_options *options = settings;
    int count;
    cudaError_t error = count_gpus(&count);
    if (status == HAUL_ERROR_ARGUMENT)
        snprintf(text, bytes,
                 "options->ordinal or ->timeout_seconds is negative, or one of ->allocate and "
                 "->release is missing");
    else if (status != HAUL_ERROR_UNSUPPORTED)
        snprintf(text, bytes, "GPU %d has failed", options->ordinal);
    else if (error == cudaErrorInsufficientDriver)
        say_no_driver(text, bytes);
    else if (count == 0)
        snprintf(
            text, bytes,
            "the driver shows no GPU: look at nvidia-smi and CUDA_VISIBLE_DEVICES, or open the "
            "host device");
    else if (options->ordinal >= count)
        snprintf(text, bytes, "options->ordinal is %d, but haul_cuda_count() is %d",
                 options->ordinal, count);
    else
        say_no_code(options->ordinal, text, bytes);
}
