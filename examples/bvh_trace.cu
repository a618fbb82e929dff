/* The CUDA kernel of bvh_picture: one thread for each pixel. */
#include "bvh_trace.h"

static __global__ void trace_kernel(void *scene, long pixels)
{
    const long index = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (index < pixels)
        trace_pixel(scene, index);
}

extern "C" const char *trace_on_gpu(void *scene, long pixels)
{
    const unsigned threads = 128;
    trace_kernel<<<(unsigned)((pixels + threads - 1) / threads), threads>>>(scene, pixels);
    cudaError_t error = cudaGetLastError();
    if (!error)
        error = cudaDeviceSynchronize();
    return error ? cudaGetErrorString(error) : NULL;
}
