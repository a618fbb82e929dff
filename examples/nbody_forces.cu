/* The CUDA kernel of nbody_tree: one thread for each body. */
#include "nbody_forces.h"

static __global__ void pull_kernel(void *cluster, long bodies)
{
    const long index = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (index < bodies)
        pull_body(cluster, index);
}

extern "C" const char *pull_on_gpu(void *cluster, long bodies)
{
    const unsigned threads = 128;
    pull_kernel<<<(unsigned)((bodies + threads - 1) / threads), threads>>>(cluster, bodies);
    cudaError_t error = cudaGetLastError();
    if (!error)
        error = cudaDeviceSynchronize();
    return error ? cudaGetErrorString(error) : NULL;
}
