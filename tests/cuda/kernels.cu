/* The kernels of kernels.h, each on one thread but user_add.
 */
#include "cuda/kernels.h"

static __global__ void add(uint64_t *words, size_t count, uint64_t delta)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        words[i] += delta;
}

static __global__ void hold(const volatile int *flag)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (*flag == 0 && now - begin < 5000000000ull);
}

static __global__ void walk(user_node *list, double *sum)
{
    double total = 0;
    for (user_node *node = list; node; node = node->next) {
        total += (double)node->value;
        node->value *= 2;
        for (uint64_t i = 0; i < node->columns; i++)
            total += node->row[i]++;
    }
    *sum = total;
}

static __global__ void fault(int *nowhere)
{
    *nowhere = 1;
}

static __global__ void trap()
{
    __trap();
}

extern "C" void user_add(uint64_t *words, size_t count, uint64_t delta, cudaStream_t stream)
{
    add<<<64, 128, 0, stream>>>(words, count, delta);
}

extern "C" void user_add_plainly(uint64_t *words, size_t count, uint64_t delta)
{
    add<<<64, 128>>>(words, count, delta);
}

extern "C" void user_hold(const int *flag, cudaStream_t stream)
{
    hold<<<1, 1, 0, stream>>>(flag);
}

extern "C" void user_walk(user_node *list, double *sum, cudaStream_t stream)
{
    walk<<<1, 1, 0, stream>>>(list, sum);
}

extern "C" void user_fault(cudaStream_t stream)
{
    fault<<<1, 1, 0, stream>>>((int *)16);
}

extern "C" void user_trap(cudaStream_t stream)
{
    trap<<<1, 1, 0, stream>>>();
}

extern "C" cudaError_t user_launch_wrongly(void)
{
    trap<<<0, 1>>>();
    return cudaPeekAtLastError();
}
