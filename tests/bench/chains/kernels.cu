// One thread for each element, as a compiler of directives makes of `for (i...) a[i] *= factor`.
// The number of steps is a constant, so the machine code has one load for each step.

#include "levels.h"

namespace
{

const unsigned THREADS = 128;

unsigned blocks_for(size_t n)
{
    return static_cast<unsigned>((n + THREADS - 1) / THREADS);
}

__global__ void chain(double *a, size_t n, double factor)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        a[i] *= factor;
}

template <int STEPS> __global__ void walk(const level *root, size_t n, double factor)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n)
        return;
#pragma unroll
    for (int step = 0; step < STEPS; step++)
        root = root->next;
    root->a[i] *= factor;
}

__global__ void dense(const level *root, size_t last, size_t n, double factor)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        root->next[last].next[last].next[last].a[i] *= factor;
}

__global__ void nothing()
{
}

} // namespace

void scale_by_chain(double *a, size_t n, double factor, cudaStream_t stream)
{
    chain<<<blocks_for(n), THREADS, 0, stream>>>(a, n, factor);
}

void scale_by_walk(const level *root, int steps, size_t n, double factor, cudaStream_t stream)
{
    static void (*const kernels[])(const level *, size_t, double) = {
        walk<0>, walk<1>, walk<2>, walk<3>, walk<4>, walk<5>, walk<6>, walk<7>, walk<8>,
    };
    kernels[steps]<<<blocks_for(n), THREADS, 0, stream>>>(root, n, factor);
}

void scale_by_dense(const level *root, size_t children, size_t n, double factor,
                    cudaStream_t stream)
{
    dense<<<blocks_for(n), THREADS, 0, stream>>>(root, children - 1, n, factor);
}

void do_nothing(cudaStream_t stream)
{
    nothing<<<1, THREADS, 0, stream>>>();
}
