/* Errors after which CUDA refuses all further work: the device is lost (D6, D7, D17).
 */
#include <string.h>

#include "cuda/gpu.h"
#include "support/open.h"
#include "cuda/list.h"

enum { BYTES = 4096 };

/* All that can be asked of a lost device is answered at once, and it can be closed. */
static void check_lost(void *state, haul_address address, void *staged)
{
    double begin = gpu_seconds();
    haul_address other;
    void *memory;
    uint64_t fence;
    CHECK_STATUS(gpu->allocate(state, 100, 16, &other), HAUL_ERROR_DEVICE_LOST);
    CHECK_STATUS(gpu->stage(state, 100, &memory), HAUL_ERROR_DEVICE_LOST);
    CHECK_STATUS(gpu->copy_to(state, address, staged, BYTES), HAUL_ERROR_DEVICE_LOST);
    CHECK_STATUS(gpu->copy_from(state, staged, address, BYTES), HAUL_ERROR_DEVICE_LOST);
    CHECK_STATUS(gpu->select(state, NULL), HAUL_ERROR_DEVICE_LOST);
    CHECK_STATUS(gpu->fence(state, &fence), HAUL_ERROR_DEVICE_LOST);
    CHECK_STATUS(gpu->await(state, 1), HAUL_ERROR_DEVICE_LOST);
    CHECK_STATUS(gpu->wait(state), HAUL_ERROR_DEVICE_LOST);
    gpu->release(state, address, BYTES);
    gpu->unstage(state, staged, BYTES);
    CHECK(gpu_seconds() - begin < 0.001);
    CHECK(*gpu->message(state) != 0);
    gpu_close(state);
}

/* D6: a listed pointer far outside. */
static void a_fault_in_our_own_kernel_loses_the_device(void)
{
    void *state = gpu_open(0), *staged = gpu_stage(state, BYTES);
    haul_address address = gpu_get(state, BYTES);
    uint64_t nowhere = (uint64_t)1 << 46, fence;
    haul_relocation relocation;
    memset(&relocation, 0, sizeof relocation);
    memset(staged, 0, BYTES);
    memcpy(staged, &nowhere, sizeof nowhere);
    relocation.arena = address;
    relocation.offsets = address;
    relocation.offset_count = 1;
    relocation.word_bytes = 8;
    CHECK_STATUS(gpu->copy_to(state, address, staged, BYTES), HAUL_OK);
    CHECK_STATUS(gpu->relocate(state, &relocation), HAUL_OK);
    CHECK_STATUS(gpu->fence(state, &fence), HAUL_OK);
    CHECK_STATUS(gpu->await(state, fence), HAUL_ERROR_DEVICE_LOST);
    CHECK_HAS(gpu->message(state), "cudaErrorIllegalAddress");
    check_lost(state, address, staged);
}

static void a_fault_in_the_users_kernel_is_not_blamed_on_us(void (*spoil)(cudaStream_t stream))
{
    void *state = gpu_open(0), *staged = gpu_stage(state, BYTES);
    haul_address address = gpu_get(state, BYTES);
    haul_status status;
    memset(staged, 0, BYTES);
    CHECK_STATUS(gpu->wait(state), HAUL_OK);
    spoil(cudaStreamLegacy);
    status = gpu->copy_to(state, address, staged, BYTES);
    if (status == HAUL_OK)
        status = gpu->wait(state);
    CHECK_STATUS(status, HAUL_ERROR_DEVICE_LOST);
    CHECK(strstr(gpu->message(state), "work given to this device before has failed") ||
          strstr(gpu->message(state), "not Haul's"));
    check_lost(state, address, staged);
}

static void a_users_kernel_that_faults_loses_the_device(void)
{
    a_fault_in_the_users_kernel_is_not_blamed_on_us(user_fault);
}

static void a_users_kernel_that_traps_loses_the_device(void)
{
    a_fault_in_the_users_kernel_is_not_blamed_on_us(user_trap);
}

/* D7: the user has seen it himself, and it is still his to see. */
static void a_fault_that_the_user_has_met_is_an_earlier_error(void)
{
    void *state = gpu_open(0), *staged = gpu_stage(state, BYTES);
    haul_address address = gpu_get(state, BYTES);
    user_fault(cudaStreamLegacy);
    CHECK_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    CHECK_STATUS(gpu->copy_to(state, address, staged, BYTES), HAUL_ERROR_DEVICE_LOST);
    CHECK_EQ(cudaPeekAtLastError(), cudaErrorIllegalAddress);
    CHECK_HAS(gpu->message(state), "not Haul's");
    check_lost(state, address, staged);
}

/* D17: the host's objects are as they were, and go elsewhere. */
static void what_was_on_a_lost_device_can_be_shipped_to_another(void)
{
    haul_device *lost = NULL, *host = NULL;
    test_list list = list_make(3000), expected = list_make(3000);
    haul_shipment *shipment = NULL, *again = NULL;
    CHECK_STATUS(test_open(haul_cuda_device(), NULL, &lost), HAUL_OK);
    CHECK_STATUS(haul_ship(lost, list.head, list.type, 1, NULL, &shipment), HAUL_OK);
    user_walk(haul_device_pointer(shipment, list.head), list.walked, cudaStreamLegacy);
    user_fault(cudaStreamLegacy);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_ERROR_DEVICE_LOST);
    list_check(&list, &expected);
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_ERROR_DEVICE_LOST);
    CHECK_STATUS(test_open(haul_host_device(), NULL, &host), HAUL_OK);
    CHECK_STATUS(haul_ship(host, list.head, list.type, 1, NULL, &again), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(again), HAUL_OK);
    list_check(&list, &expected);
    haul_shipment_free(&again);
    haul_device_close(&host);
    haul_shipment_free(&shipment);
    haul_device_close(&lost);
}

const gpu_test lost_tests[] = { GPU_TEST(a_fault_in_our_own_kernel_loses_the_device),
                                GPU_TEST(a_users_kernel_that_faults_loses_the_device),
                                GPU_TEST(a_users_kernel_that_traps_loses_the_device),
                                GPU_TEST(a_fault_that_the_user_has_met_is_an_earlier_error),
                                GPU_TEST(what_was_on_a_lost_device_can_be_shipped_to_another),
                                GPU_TESTS_END };
