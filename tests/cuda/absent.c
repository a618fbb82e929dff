/* A machine that lacks something: no GPU in sight (D10), no code for the one that is there, a
 * launch that it refuses (D11). Each is HAUL_ERROR_UNSUPPORTED, leaves no error behind, and the
 * host device goes on.
 *
 * What is lacking is taken away by the driver's own environment variables, before the process first
 * calls CUDA.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu.h"
#include "haul/host.h"

/* `pending`: what CUDA has said of itself before. Where it finds no GPU it says so for good. */
static void check_there_is_no_gpu_but_a_host(cudaError_t pending)
{
    haul_allocator allocator = gpu_allocator();
    haul_cuda_options settings;
    haul_context *context;
    haul_device *device = NULL;
    void *state = NULL;
    memset(&settings, 0, sizeof settings);
    CHECK_STATUS(gpu->open(&settings, &allocator, &state), HAUL_ERROR_UNSUPPORTED);
    CHECK_PTR(state, NULL);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_cuda_open(context, NULL, &device), HAUL_ERROR_UNSUPPORTED);
    CHECK_PTR(device, NULL);
    CHECK_EQ(cudaPeekAtLastError(), pending);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    haul_device_close(&device);
    haul_context_free(&context);
}

static void without_a_gpu_in_sight_there_is_no_device_D10(void)
{
    cudaError_t pending;
    CHECK_EQ(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0);
    pending = cudaPeekAtLastError();
    CHECK_EQ(haul_cuda_count(), 0);
    CHECK_PTR(haul_cuda_find(NULL, &pending, sizeof pending), NULL);
    check_there_is_no_gpu_but_a_host(pending);
}

/* As on a GPU that is older than all code in the library: what was compiled for it may not be used,
 * and what a driver could compile may not be compiled. */
static void without_code_for_the_gpu_there_is_no_device_D11(void)
{
    CHECK_EQ(setenv("CUDA_FORCE_PTX_JIT", "1", 1), 0);
    CHECK_EQ(setenv("CUDA_DISABLE_PTX_JIT", "1", 1), 0);
    CHECK_EQ(setenv("CUDA_MODULE_LOADING", "LAZY", 1), 0);
    CHECK(haul_cuda_count() > 0);
    check_there_is_no_gpu_but_a_host(cudaSuccess);
}

/* No arguments of ours make CUDA refuse a launch of ours, so a launch of the user's is refused, and
 * the answer to that very error looked at: devices/cuda/verb.c. Of which error it is, drivers have
 * different opinions. */
haul_status haul__gpu_status(cudaError_t error);

static void a_launch_that_the_gpu_refuses_is_not_supported_D11(void)
{
    cudaError_t refused = user_launch_wrongly();
    CHECK(refused == cudaErrorInvalidConfiguration || refused == cudaErrorInvalidValue);
    (void)cudaGetLastError();
    CHECK_STATUS(haul__gpu_status(cudaErrorInvalidConfiguration), HAUL_ERROR_UNSUPPORTED);
    CHECK_STATUS(haul__gpu_status(cudaErrorLaunchOutOfResources), HAUL_ERROR_UNSUPPORTED);
    CHECK_STATUS(haul__gpu_status(cudaErrorInvalidValue), HAUL_ERROR_ARGUMENT);
    CHECK_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

const gpu_test absent_tests[] = { GPU_TEST(without_a_gpu_in_sight_there_is_no_device_D10),
                                  GPU_TEST(without_code_for_the_gpu_there_is_no_device_D11),
                                  GPU_TEST(a_launch_that_the_gpu_refuses_is_not_supported_D11),
                                  GPU_TESTS_END };
