/* The number of GPUs. */
#include <errno.h>

#include <cuda_runtime_api.h>

#include "haul/cuda.h"

int haul_cuda_count(void)
{
    int count = 0, saved = errno;
    cudaError_t pending = cudaPeekAtLastError();
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        count = 0;
        if (pending == cudaSuccess)
            cudaGetLastError();
    }
    errno = saved;
    return count;
}
