/* What the tests on a GPU share: the list of tests, devices that are opened and checked, a stream
 * that is held.
 *
 * Each test runs in a process of its own: it may leave CUDA as it likes.
 */
#ifndef HAUL_TESTS_CUDA_GPU_H
#define HAUL_TESTS_CUDA_GPU_H

#include <cuda_runtime_api.h>

#include "cuda/kernels.h"
#include "haul/cuda.h"
#include "support/check.h"

typedef struct gpu_test {
    const char *name; /* its sentence, with underscores */
    void (*run)(void);
    int gpus; /* that it needs */
} gpu_test;

#define GPU_TEST(name)                                                                             \
    {                                                                                              \
#name, name, 1                                                                             \
    }
#define GPU_TEST_ON_TWO(name)                                                                      \
    {                                                                                              \
#name, name, 2                                                                             \
    }
#define GPU_TESTS_END                                                                              \
    {                                                                                              \
        NULL, NULL, 0                                                                              \
    }

extern const gpu_test memory_tests[], error_tests[], order_tests[], patch_tests[], ship_tests[],
    lost_tests[], absent_tests[], environment_tests[];

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess)

/* Opens GPU `ordinal`, or what the settings say, behind an allocator that counts. gpu_close of the
 * last one checks that all host memory has come back. */
void *gpu_open(int ordinal);
void *gpu_open_with(const haul_cuda_options *settings);
void gpu_close(void *state);
haul_allocator gpu_allocator(void);

/* The verbs of the table, shorter. */
#define gpu (haul_cuda_device())
haul_address gpu_get(void *state, uint64_t bytes);
void *gpu_stage(void *state, size_t bytes);
/* 1 if the GPU holds these bytes there. */
int gpu_holds(void *state, haul_address address, const void *bytes, size_t count);
#define gpu_pointer(address) ((void *)(uintptr_t)(address))

cudaStream_t gpu_make_stream(void);

/* Work on a stream does not go on until it is let go. */
typedef struct gpu_hold {
    int *flag;
} gpu_hold;
gpu_hold gpu_hold_stream(cudaStream_t stream);
void gpu_let_go(gpu_hold *hold);

double gpu_seconds(void);

#endif
