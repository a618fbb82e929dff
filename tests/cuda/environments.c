/* Environments on the GPU: lists that stay there, are found by their host addresses, are walked by
 * a kernel through ordinary pointers, and come back when they leave.
 */
#include <pthread.h>
#include <string.h>

#include "cuda/gpu.h"
#include "cuda/list.h"
#include "support/open.h"

#define LENGTH 1000
#define THREADS 8
#define ROUNDS 50

static haul_device *device;
static haul_environment *env;
static test_list list, other, expected, other_expected;

static void begin(void)
{
    haul_cuda_options settings;
    test_device options;
    memset(&options, 0, sizeof options);
    memset(&settings, 0, sizeof settings);
    options.settings = &settings;
    CHECK_STATUS(test_open(haul_cuda_device(), &options, &device), HAUL_OK);
    CHECK_STATUS(haul_environment_create(device, &env), HAUL_OK);
    list = list_make(LENGTH);
    other = list_make(2 * LENGTH);
    expected = list_make(LENGTH);
    other_expected = list_make(2 * LENGTH);
}

static void end(void)
{
    haul_environment_free(&env);
    haul_device_close(&device);
    list_free(&list);
    list_free(&other);
    list_free(&expected);
    list_free(&other_expected);
}

static void enter(const test_list *entered)
{
    CHECK_STATUS(haul_environment_enter(env, entered->head, list.type, 1, NULL, NULL), HAUL_OK);
}

/* The list leaves, and comes back. */
static void leave(const test_list *entered)
{
    haul_exit_options back;
    memset(&back, 0, sizeof back);
    back.copyout = 1;
    CHECK_STATUS(haul_environment_exit(env, entered->head, &back, NULL), HAUL_OK);
    CHECK_PTR(haul_environment_device_pointer(env, entered->head), NULL);
}

/* Walks a list on the GPU, and checks the sum that the kernel finds. */
static void walk(const test_list *walked, double sum)
{
    user_walk(haul_environment_device_pointer(env, walked->head), walked->walked, cudaStreamLegacy);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(*walked->walked == sum);
}

static user_node *last_of(const test_list *of)
{
    user_node *node = of->head;
    while (node->next)
        node = node->next;
    return node;
}

static uint64_t word_on_gpu(const void *host)
{
    uint64_t word = 0;
    CHECK_CUDA(cudaMemcpy(&word, haul_environment_device_pointer(env, host), sizeof word,
                          cudaMemcpyDeviceToHost));
    return word;
}

/* ---- Enters and exits. */

static void an_entered_list_is_walked_on_the_gpu_and_comes_back(void)
{
    begin();
    enter(&list);
    walk(&list, list_sum(&list));
    list_check(&list, &expected); /* the host's nodes are as they were */
    leave(&list);
    list_walk(&expected);
    list_check(&list, &expected);
    end();
}

static void a_new_list_leads_into_a_present_one_on_the_gpu(void)
{
    user_node *last;
    begin();
    last = last_of(&list);
    enter(&other);
    last->next = other.head;
    enter(&list);
    walk(&list, list_sum(&list)); /* of both, since one leads to the other */
    leave(&list);
    last->next = NULL;
    list_walk(&expected);
    list_check(&list, &expected);
    list_check(&other, &other_expected); /* it is still on the GPU */
    leave(&other);
    list_walk(&other_expected);
    list_check(&other, &other_expected);
    end();
}

static void an_attached_pointer_leads_on_and_a_detached_one_is_null(void)
{
    user_node *last;
    begin();
    last = last_of(&list);
    enter(&list);
    enter(&other);
    last->next = other.head;
    CHECK_STATUS(haul_environment_attach(env, &last->next), HAUL_OK);
    walk(&list, list_sum(&list));
    CHECK_STATUS(haul_environment_detach(env, &last->next), HAUL_OK);
    last->next = NULL;
    list_walk(&expected);
    walk(&list, list_sum(&expected));
    leave(&other);
    list_walk(&other_expected);
    list_check(&other, &other_expected);
    leave(&list);
    list_walk(&expected);
    list_check(&list, &expected);
    end();
}

/* ---- Updates. */

static haul_update_part values_of_all_nodes(void)
{
    haul_update_part part;
    memset(&part, 0, sizeof part);
    part.type = list.type;
    part.offset = offsetof(user_node, value);
    part.bytes = sizeof list.head->value;
    return part;
}

/* The rows change on both sides, and stay as they are on each. */
static void one_member_of_all_nodes_crosses_alone(void)
{
    haul_update_part part;
    user_node *a, *b;
    begin();
    part = values_of_all_nodes();
    enter(&list);
    for (a = list.head, b = expected.head; a; a = a->next, b = b->next) {
        a->value += 7;
        b->value += 7;
        if (a->columns > 0)
            a->row[0] = -1;
    }
    CHECK_STATUS(haul_environment_update(env, &part, 1, HAUL_TO_DEVICE, NULL), HAUL_OK);
    walk(&list, list_sum(&expected));
    CHECK_STATUS(haul_environment_update(env, &part, 1, HAUL_TO_HOST, NULL), HAUL_OK);
    for (a = list.head, b = expected.head; a; a = a->next, b = b->next) {
        CHECK_EQ(a->value, 2 * b->value);
        CHECK(a->columns == 0 || a->row[0] == -1);
    }
    end();
}

static void a_sync_sends_what_the_host_has_changed(void)
{
    begin();
    enter(&list);
    enter(&other);
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    list.head->next->value = 1000000;
    last_of(&other)->value = 2000000;
    CHECK_STATUS(haul_environment_sync(env, NULL), HAUL_OK);
    walk(&list, list_sum(&list));
    walk(&other, list_sum(&other));
    end();
}

/* ---- Streams and threads. */

static void enters_and_exits_on_a_stream_come_in_its_order(void)
{
    haul_exit_options back;
    haul_async on;
    gpu_hold hold;
    cudaStream_t stream;
    double sum;
    void *head;
    begin();
    memset(&back, 0, sizeof back);
    memset(&on, 0, sizeof on);
    back.copyout = 1;
    on.stream = stream = gpu_make_stream();
    sum = list_sum(&list);
    hold = gpu_hold_stream(stream);
    CHECK_STATUS(haul_environment_enter(env, list.head, list.type, 1, NULL, &on), HAUL_OK);
    head = haul_environment_device_pointer(env, list.head);
    CHECK(head != NULL);
    user_walk(head, list.walked, stream);
    CHECK_STATUS(haul_environment_exit(env, list.head, &back, &on), HAUL_OK);
    CHECK_STATUS(haul_environment_poll(env), HAUL_ERROR_PENDING);
    list_check(&list, &expected); /* nothing is written before the wait */
    gpu_let_go(&hold);
    CHECK_STATUS(haul_environment_wait(env), HAUL_OK);
    CHECK(*list.walked == sum);
    list_walk(&expected);
    list_check(&list, &expected);
    CHECK_CUDA(cudaStreamDestroy(stream));
    end();
}

static void *enter_and_leave(void *wrong)
{
    int i;
    for (i = 0; i < ROUNDS; i++) {
        haul_status status;
        do
            status = haul_environment_enter(env, list.head, list.type, 1, NULL, NULL);
        while (status == HAUL_ERROR_BUSY);
        if (status != HAUL_OK || !haul_environment_device_pointer(env, list.head))
            ++*(int *)wrong;
        do
            status = haul_environment_exit(env, list.head, NULL, NULL);
        while (status == HAUL_ERROR_BUSY);
        if (status != HAUL_OK)
            ++*(int *)wrong;
    }
    return NULL;
}

static void threads_that_enter_and_leave_one_list_count_exactly(void)
{
    pthread_t threads[THREADS];
    int wrong[THREADS], i;
    begin();
    for (i = 0; i < THREADS; i++) {
        wrong[i] = 0;
        CHECK(pthread_create(&threads[i], NULL, enter_and_leave, &wrong[i]) == 0);
    }
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK_EQ(wrong[i], 0);
    }
    CHECK_PTR(haul_environment_device_pointer(env, list.head), NULL);
    enter(&list);
    walk(&list, list_sum(&list));
    end();
}

/* ---- Poison. */

static void a_kernel_that_follows_poison_faults(void)
{
    const void *named = NULL;
    char path[HAUL_PATH_BYTES];
    user_node *last;
    begin();
    last = last_of(&list);
    CHECK_STATUS(haul_environment_set_detached(env, HAUL_DETACHED_POISON), HAUL_OK);
    enter(&list);
    enter(&other);
    last->next = other.head;
    CHECK_STATUS(haul_environment_attach(env, &last->next), HAUL_OK);
    CHECK_STATUS(haul_environment_detach(env, &last->next), HAUL_OK);
    CHECK_STATUS(haul_environment_name_poison(env, word_on_gpu(&last->next), &named, path),
                 HAUL_OK);
    CHECK(named == &last->next);
    CHECK(path[0] != 0);
    user_walk(haul_environment_device_pointer(env, list.head), list.walked, cudaStreamLegacy);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK_STATUS(haul_environment_update_host(env, list.head, 0, NULL), HAUL_ERROR_DEVICE_LOST);
    haul_environment_free(&env);
    haul_device_close(&device);
}

const gpu_test environment_tests[] = {
    GPU_TEST(an_entered_list_is_walked_on_the_gpu_and_comes_back),
    GPU_TEST(a_new_list_leads_into_a_present_one_on_the_gpu),
    GPU_TEST(an_attached_pointer_leads_on_and_a_detached_one_is_null),
    GPU_TEST(one_member_of_all_nodes_crosses_alone),
    GPU_TEST(a_sync_sends_what_the_host_has_changed),
    GPU_TEST(enters_and_exits_on_a_stream_come_in_its_order),
    GPU_TEST(threads_that_enter_and_leave_one_list_count_exactly),
    GPU_TEST(a_kernel_that_follows_poison_faults),
    GPU_TESTS_END
};
