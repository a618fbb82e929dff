/* The kernels of pull.h.
 */
#include "cuda/latency/pull.h"

/* What the host may do when it has been told needs no more than that all loads from its memory are
 * done; but what a flag says should hold for stores too, so there are fences. */
static __device__ __forceinline__ void tell(const pull_flag &flag)
{
    if (!flag.told)
        return;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    __threadfence();
    if (atomicAdd(flag.arrived, 1) != gridDim.x - 1)
        return;
    *flag.arrived = 0;
    __threadfence_system();
    *(volatile unsigned *)flag.told = flag.ticket;
}

static __global__ void nothing(const pull_flag flag)
{
    tell(flag);
}

template <unsigned vectors>
static __global__ void pull(uint4 *to, const uint4 *from, uint64_t count, const pull_flag flag)
{
    uint64_t first = (uint64_t)blockIdx.x * blockDim.x * vectors + threadIdx.x;
    uint4 values[vectors];
#pragma unroll
    for (unsigned i = 0; i < vectors; i++)
        if (first + i * blockDim.x < count)
            values[i] = from[first + i * blockDim.x];
#pragma unroll
    for (unsigned i = 0; i < vectors; i++)
        if (first + i * blockDim.x < count)
            to[first + i * blockDim.x] = values[i];
    tell(flag);
}

extern "C" void pull_nothing(const pull_flag *flag, cudaStream_t stream)
{
    nothing<<<1, 32, 0, stream>>>(*flag);
}

extern "C" void pull_start(void *to, const void *from, size_t bytes, unsigned threads,
                           unsigned vectors, const pull_flag *flag, cudaStream_t stream)
{
    uint64_t count = bytes / sizeof(uint4);
    unsigned blocks =
        (unsigned)((count + (uint64_t)threads * vectors - 1) / ((uint64_t)threads * vectors));
    uint4 *target = (uint4 *)to;
    const uint4 *source = (const uint4 *)from;
    if (vectors == 1)
        pull<1><<<blocks, threads, 0, stream>>>(target, source, count, *flag);
    else if (vectors == 2)
        pull<2><<<blocks, threads, 0, stream>>>(target, source, count, *flag);
    else
        pull<4><<<blocks, threads, 0, stream>>>(target, source, count, *flag);
}
