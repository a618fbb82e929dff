/* The CUDA kernel of tree_in_arena: one thread for each tree. */
#include "tree_balance.h"

static __global__ void grow_kernel(void *forest, long trees)
{
    const long index = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (index < trees)
        grow_tree(forest, index);
}

extern "C" const char *grow_on_gpu(void *forest, long trees)
{
    const unsigned threads = 64;
    grow_kernel<<<(unsigned)((trees + threads - 1) / threads), threads>>>(forest, trees);
    cudaError_t error = cudaGetLastError();
    if (!error)
        error = cudaDeviceSynchronize();
    return error ? cudaGetErrorString(error) : NULL;
}
