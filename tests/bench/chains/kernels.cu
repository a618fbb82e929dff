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

__device__ size_t element()
{
    return blockIdx.x * size_t(blockDim.x) + threadIdx.x;
}

__device__ void scale_chain(double *a, size_t n, double factor)
{
    const size_t i = element();
    if (i < n)
        a[i] *= factor;
}

template <int STEPS> __device__ void scale_walk(const level *root, size_t n, double factor)
{
    const size_t i = element();
    if (i >= n)
        return;
#pragma unroll
    for (int step = 0; step < STEPS; step++)
        root = root->next;
    root->a[i] *= factor;
}

__device__ void scale_dense(const level *root, size_t last, size_t n, double factor)
{
    const size_t i = element();
    if (i < n)
        root->next[last].next[last].next[last].a[i] *= factor;
}

__global__ void chain(double *a, size_t n, double factor)
{
    scale_chain(a, n, factor);
}

template <int STEPS> __global__ void walk(const level *root, size_t n, double factor)
{
    scale_walk<STEPS>(root, n, factor);
}

__global__ void dense(const level *root, size_t last, size_t n, double factor)
{
    scale_dense(root, last, n, factor);
}

// The same between two readings of the clock, in the kernel itself: the most cycles of any thread,
// until its element has been written. Neither a launch nor the wait for a processor is in them.
__device__ void note_cycles(long long begin, unsigned long long *cycles)
{
    __threadfence();
    const long long end = clock64();
    atomicMax(cycles, static_cast<unsigned long long>(end - begin));
}

__global__ void clocked_chain(double *a, size_t n, double factor, unsigned long long *cycles)
{
    const long long begin = clock64();
    scale_chain(a, n, factor);
    note_cycles(begin, cycles);
}

template <int STEPS>
__global__ void clocked_walk(const level *root, size_t n, double factor, unsigned long long *cycles)
{
    const long long begin = clock64();
    scale_walk<STEPS>(root, n, factor);
    note_cycles(begin, cycles);
}

__global__ void clocked_dense(const level *root, size_t last, size_t n, double factor,
                              unsigned long long *cycles)
{
    const long long begin = clock64();
    scale_dense(root, last, n, factor);
    note_cycles(begin, cycles);
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

void clock_chain(double *a, size_t n, double factor, unsigned long long *cycles,
                 cudaStream_t stream)
{
    clocked_chain<<<blocks_for(n), THREADS, 0, stream>>>(a, n, factor, cycles);
}

void clock_walk(const level *root, int steps, size_t n, double factor, unsigned long long *cycles,
                cudaStream_t stream)
{
    static void (*const kernels[])(const level *, size_t, double, unsigned long long *) = {
        clocked_walk<0>, clocked_walk<1>, clocked_walk<2>, clocked_walk<3>, clocked_walk<4>,
        clocked_walk<5>, clocked_walk<6>, clocked_walk<7>, clocked_walk<8>,
    };
    kernels[steps]<<<blocks_for(n), THREADS, 0, stream>>>(root, n, factor, cycles);
}

void clock_dense(const level *root, size_t children, size_t n, double factor,
                 unsigned long long *cycles, cudaStream_t stream)
{
    clocked_dense<<<blocks_for(n), THREADS, 0, stream>>>(root, children - 1, n, factor, cycles);
}
