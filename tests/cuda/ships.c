/* Whole graphs on the GPU: shipped, walked by a kernel through ordinary pointers, brought back; on
 * streams, on several GPUs, in several threads.
 */
#include <pthread.h>
#include <string.h>

#include "cuda/gpu.h"
#include "support/open.h"
#include "cuda/list.h"
#include "haul/experimental.h"

static haul_device *open_device_from(int plain_malloc, int ordinal, haul_context *context)
{
    test_device options;
    haul_cuda_options settings;
    haul_device *device = NULL;
    memset(&options, 0, sizeof options);
    memset(&settings, 0, sizeof settings);
    settings.ordinal = ordinal;
    settings.plain_malloc = plain_malloc;
    options.context = context;
    options.settings = &settings;
    CHECK_STATUS(test_open(haul_cuda_device(), &options, &device), HAUL_OK);
    return device;
}

static haul_device *open_device(int ordinal, haul_context *context)
{
    return open_device_from(0, ordinal, context);
}

static user_node *on_device(const haul_shipment *shipment, const test_list *list)
{
    return haul_device_pointer(shipment, list->head);
}

/* ---- One GPU. */

static size_t sent_beside_the_arena(const haul_shipment *shipment)
{
    haul_shipment_info told;
    haul_shipment_get_info(shipment, &told);
    return (size_t)told.bytes_to - told.arena_bytes;
}

static void walk_and_return(haul_shipment *shipment, test_list list, test_list expected)
{
    const double sum = list_sum(&list);
    user_walk(on_device(shipment, &list), list.walked, cudaStreamLegacy);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK(*list.walked == sum);
    list_walk(&expected);
    list_check(&list, &expected);
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    user_walk(on_device(shipment, &list), list.walked, cudaStreamLegacy);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK(*list.walked == list_sum(&expected));
    list_walk(&expected);
    list_check(&list, &expected);
}

static void ship_walk_and_return(size_t length)
{
    haul_device *device = open_device(0, NULL);
    test_list list = list_make(length), expected = list_make(length);
    haul_shipment *shipment = NULL;
    CHECK_STATUS(haul_ship(device, list.head, list.type, 1, NULL, &shipment), HAUL_OK);
    walk_and_return(shipment, list, expected);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    list_free(&list);
    list_free(&expected);
}

/* By one kernel, by a copy and a kernel, and in pieces. */
static void lists_of_any_length_are_walked_on_the_gpu_and_come_back(void)
{
    ship_walk_and_return(1);
    ship_walk_and_return(1000);
    ship_walk_and_return(20000);
    ship_walk_and_return(200000);
}

/* Half of the pages lie in device memory, the others where they are spilled. */
static void walk_spilled(haul_device *device, haul_place spill)
{
    test_list list = list_make(200000), expected = list_make(200000);
    haul_ship_options options;
    haul_shipment_info whole, told;
    haul_shipment *shipment = NULL;
    memset(&options, 0, sizeof options);
    options.spill = spill;
    CHECK_STATUS(haul_ship(device, list.head, list.type, 1, &options, &shipment), HAUL_OK);
    haul_shipment_get_info(shipment, &whole);
    haul_shipment_free(&shipment);
    options.budget_bytes = (size_t)whole.device_bytes / 2;
    CHECK_STATUS(haul_ship(device, list.head, list.type, 1, &options, &shipment), HAUL_OK);
    haul_shipment_get_info(shipment, &told);
    CHECK(told.device_bytes > 0 && told.device_bytes <= options.budget_bytes);
    CHECK_EQ(told.host_bytes + told.moving_bytes, whole.device_bytes - told.device_bytes);
    CHECK_EQ(told.host_bytes > 0, spill == HAUL_PLACE_HOST);
    walk_and_return(shipment, list, expected);
    haul_shipment_free(&shipment);
    list_free(&list);
    list_free(&expected);
}

static void lists_in_several_places_are_walked_on_the_gpu_and_come_back(void)
{
    haul_device *device = open_device(0, NULL);
    haul_device_info info;
    haul_device_get_info(device, &info);
    if (info.capabilities->place_bytes) {
        walk_spilled(device, HAUL_PLACE_HOST);
        walk_spilled(device, HAUL_PLACE_MOVING);
    }
    haul_device_close(&device);
}

/* No budget counts pages that move, because any allocation can have their room. */
static void pages_that_move_give_way_to_an_allocation(void)
{
    haul_device *device = open_device(0, NULL);
    test_list list = list_make(1000000), expected = list_make(1000000);
    haul_ship_options options;
    haul_shipment_info told;
    haul_device_info info;
    haul_shipment *shipment = NULL;
    size_t left = 0, all = 0;
    void *late = NULL;
    haul_device_get_info(device, &info);
    memset(&options, 0, sizeof options);
    options.spill = HAUL_PLACE_MOVING;
    options.budget_bytes = info.capabilities->place_bytes;
    if (info.capabilities->place_bytes) {
        CHECK_STATUS(haul_ship(device, list.head, list.type, 1, &options, &shipment), HAUL_OK);
        haul_shipment_get_info(shipment, &told);
        CHECK(told.moving_bytes > (size_t)32 << 20);
        user_walk(on_device(shipment, &list), list.walked, cudaStreamLegacy);
        CHECK_CUDA(cudaDeviceSynchronize()); /* the pages have moved to the GPU */
        CHECK_CUDA(cudaMemGetInfo(&left, &all));
        CHECK_CUDA(cudaMalloc(&late, left + (size_t)told.moving_bytes / 2));
        list_walk(&expected);
        CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
        list_check(&list, &expected);
        CHECK_CUDA(cudaFree(late));
    }
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    list_free(&list);
    list_free(&expected);
}

/* Two pointers a node go as a list of their offsets. */
static void few_pointers_among_much_data_are_patched_by_a_list(void)
{
    haul_device *device = open_device(0, NULL);
    test_list list = list_make_wide(500, 2000), expected = list_make_wide(500, 2000);
    haul_shipment *shipment = NULL;
    CHECK_STATUS(haul_ship(device, list.head, list.type, 1, NULL, &shipment), HAUL_OK);
    CHECK_EQ(sent_beside_the_arena(shipment), 500 * 2 * 8);
    walk_and_return(shipment, list, expected);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    list_free(&list);
    list_free(&expected);
}

static haul_arena *make_arena(haul_device *device, int mirrored)
{
    haul_arena_options options;
    haul_arena_info made;
    haul_arena *arena = NULL;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = (size_t)32 << 20;
    options.pinned = !mirrored;
    options.mirrored = mirrored;
    CHECK_STATUS(test_arena(device, &options, &arena), HAUL_OK);
    haul_arena_get_info(arena, &made);
    CHECK(made.pinned && made.mirrored == mirrored);
    return arena;
}

/* `beside`: the bytes of marks that must have been sent; 0: any. */
static void ship_arena_and_return(size_t length, size_t width, int is_direct, size_t beside)
{
    haul_device *device = open_device(0, NULL);
    test_list list, expected = list_make_wide(length, width);
    haul_arena *arena = make_arena(device, 0);
    haul_ship_options how;
    haul_shipment *shipment = NULL;
    memset(&how, 0, sizeof how);
    list = list_make_in(arena, length, width);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), &how, NULL, &shipment), HAUL_OK);
    if (is_direct)
        CHECK_STATUS(haul_return_directly(shipment), HAUL_OK);
    if (beside)
        CHECK_EQ(sent_beside_the_arena(shipment), beside);
    walk_and_return(shipment, list, expected);
    haul_shipment_free(&shipment);
    list_free(&list);
    list_free(&expected);
    haul_arena_free(&arena);
    haul_device_close(&device);
}

/* Of an arena too large to be patched as one there are pointers before and behind the cut; it
 * returns in parts where they are many. Smaller ones are patched on their way back. */
static void an_arenas_marks_are_patched_and_looked_at_and_patched_back(void)
{
    int is_direct;
    for (is_direct = 0; is_direct < 2; is_direct++) {
        ship_arena_and_return(600, 2000, is_direct, 600 * 2 * 8);
        ship_arena_and_return(100, 2000, is_direct, 100 * 2 * 8);
        ship_arena_and_return(200, 2000, is_direct, 200 * 2 * 8);
        ship_arena_and_return(40000, 10, is_direct, 0);
        ship_arena_and_return(120000, 10, is_direct, 0);
        ship_arena_and_return(1000, 10, is_direct, 0);
    }
}

/* ---- Mirrored arenas. */

static void walk_in_a_mirror(haul_device *device, size_t length, size_t width, haul_outside outside,
                             int is_direct)
{
    test_list list, expected = list_make_wide(length, width);
    haul_arena *arena = make_arena(device, 1);
    haul_ship_options how;
    haul_shipment *shipment = NULL;
    memset(&how, 0, sizeof how);
    how.outside = outside;
    list = list_make_in(arena, length, width);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), &how, NULL, &shipment), HAUL_OK);
    if (is_direct)
        CHECK_STATUS(haul_return_directly(shipment), HAUL_OK);
    CHECK_PTR(on_device(shipment, &list), list.head);
    if (outside == HAUL_OUTSIDE_KEEP)
        CHECK_EQ(sent_beside_the_arena(shipment), 0);
    walk_and_return(shipment, list, expected);
    haul_shipment_free(&shipment);
    list_free(&list);
    list_free(&expected);
    haul_arena_free(&arena);
}

static void a_mirrored_arena_is_walked_where_it_lies_here_and_comes_back(void)
{
    haul_device *device = open_device(0, NULL);
    int way;
    for (way = 0; way < 4; way++) {
        const haul_outside outside = way < 2 ? HAUL_OUTSIDE_REFUSE : HAUL_OUTSIDE_KEEP;
        walk_in_a_mirror(device, 1, 0, outside, way % 2);
        walk_in_a_mirror(device, 1000, 10, outside, way % 2);
        walk_in_a_mirror(device, 40000, 10, outside, way % 2);
        walk_in_a_mirror(device, 120000, 10, outside, way % 2);
        walk_in_a_mirror(device, 600, 2000, outside, way % 2);
    }
    haul_device_close(&device);
    device = open_device_from(1, 0, NULL);
    walk_in_a_mirror(device, 1000, 10, HAUL_OUTSIDE_REFUSE, 1);
    haul_device_close(&device);
}

/* While the kernel waits the host writes to its bytes at the addresses that the kernel will
 * read. */
static void the_host_writes_to_its_bytes_while_a_kernel_reads_its_own(void)
{
    haul_device *device = open_device(0, NULL);
    haul_arena *arena = make_arena(device, 1);
    test_list list = list_make_in(arena, 20000, 10);
    const double sum = list_sum(&list);
    cudaStream_t stream = gpu_make_stream();
    haul_shipment *shipment = NULL;
    user_node *node;
    gpu_hold hold;
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    hold = gpu_hold_stream(stream);
    user_walk(on_device(shipment, &list), list.walked, stream);
    for (node = list.head; node; node = node->next)
        node->value = 1000000;
    gpu_let_go(&hold);
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(*list.walked == sum);
    for (node = list.head; node; node = node->next)
        CHECK_EQ(node->value, 1000000);
    haul_shipment_free(&shipment);
    CHECK_CUDA(cudaStreamDestroy(stream));
    list_free(&list);
    haul_arena_free(&arena);
    haul_device_close(&device);
}

/* On this GPU or another, from its window. */
static void ship_a_mirror_elsewhere(haul_device *home, haul_device *device, int ordinal,
                                    size_t length)
{
    haul_arena *arena = make_arena(home, 1);
    test_list list = list_make_in(arena, length, 10), expected = list_make_wide(length, 10);
    haul_ship_options how;
    haul_shipment *first = NULL, *shipment = NULL;
    memset(&how, 0, sizeof how);
    CHECK_STATUS(haul_ship_from(home, haul_from_arena(arena), &how, NULL, &first), HAUL_OK);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), &how, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(haul_return_directly(shipment), HAUL_OK);
    CHECK(on_device(shipment, &list) != list.head);
    CHECK_CUDA(cudaSetDevice(ordinal));
    walk_and_return(shipment, list, expected);
    CHECK_CUDA(cudaSetDevice(0));
    haul_shipment_free(&shipment);
    haul_shipment_free(&first);
    list_free(&list);
    list_free(&expected);
    haul_arena_free(&arena);
}

static void a_mirrored_arena_is_shipped_a_second_time_elsewhere(void)
{
    haul_device *home = open_device(0, NULL), *device = open_device(0, haul_device_context(home));
    ship_a_mirror_elsewhere(home, home, 0, 1000);
    ship_a_mirror_elsewhere(home, device, 0, 1000);
    ship_a_mirror_elsewhere(home, device, 0, 120000);
    haul_device_close(&device);
    haul_device_close(&home);
}

static void a_mirrored_arena_is_shipped_to_another_gpu_from_its_window(void)
{
    haul_device *home = open_device(0, NULL), *device = open_device(1, haul_device_context(home));
    ship_a_mirror_elsewhere(home, device, 1, 1000);
    ship_a_mirror_elsewhere(home, device, 1, 120000);
    haul_device_close(&device);
    haul_device_close(&home);
}

/* From device to device. The source is walked first: the copy has what kernels wrote. Frees both
 * shipments, and the lists. */
static void copy_shipment_and_walk(haul_shipment *shipment, haul_device *to, int ordinal,
                                   test_list list, test_list expected)
{
    haul_shipment *copy = NULL;
    user_walk(on_device(shipment, &list), list.walked, cudaStreamLegacy);
    CHECK_STATUS(haul_shipment_copy(shipment, to, &copy), HAUL_OK);
    haul_shipment_free(&shipment);
    list_check(&list, &expected);
    list_walk(&expected);
    CHECK_CUDA(cudaSetDevice(ordinal));
    user_walk(on_device(copy, &list), list.walked, cudaStreamLegacy);
    CHECK_STATUS(haul_unmarshal(copy), HAUL_OK);
    CHECK_CUDA(cudaSetDevice(0));
    CHECK(*list.walked == list_sum(&expected));
    list_walk(&expected);
    list_check(&list, &expected);
    haul_shipment_free(&copy);
    list_free(&list);
    list_free(&expected);
}

static void copy_a_mirror(haul_device *from, haul_device *to, int ordinal)
{
    haul_arena *arena = make_arena(from, 1);
    test_list list = list_make_in(arena, 20000, 10);
    haul_shipment *shipment = NULL;
    CHECK_STATUS(haul_ship_from(from, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    copy_shipment_and_walk(shipment, to, ordinal, list, list_make_wide(20000, 10));
    haul_arena_free(&arena);
}

static void the_shipment_of_a_mirrored_arena_is_copied_to_another_gpu(void)
{
    haul_device *from = open_device(0, NULL), *to = open_device(1, haul_device_context(from));
    copy_a_mirror(from, to, 1);
    copy_a_mirror(from, from, 0);
    haul_device_close(&to);
    haul_device_close(&from);
}

static void a_graph_in_a_mirrored_arena_is_packed_where_its_source_is_to_be_locked(void)
{
    haul_device *device = open_device(0, NULL);
    haul_arena *arena = make_arena(device, 1);
    test_list list = list_make_in(arena, 1000, 10), expected = list_make_wide(1000, 10);
    haul_ship_options options;
    haul_shipment_info told;
    haul_shipment *shipment = NULL;
    memset(&options, 0, sizeof options);
    options.lock_source = 1;
    CHECK_STATUS(haul_ship(device, list.head, list.type, 1, &options, &shipment), HAUL_OK);
    walk_and_return(shipment, list, expected);
    haul_shipment_get_info(shipment, &told);
    CHECK(told.packs_because != NULL);
    haul_shipment_free(&shipment);
    list_free(&list);
    list_free(&expected);
    haul_arena_free(&arena);
    haul_device_close(&device);
}

static void mirrored_arenas_leave_no_memory_behind(void)
{
    haul_device *device = open_device(0, NULL);
    size_t before, after, all;
    int round;
    walk_in_a_mirror(device, 1000, 10, HAUL_OUTSIDE_REFUSE, 1);
    CHECK_CUDA(cudaMemGetInfo(&before, &all));
    for (round = 0; round < 30; round++)
        walk_in_a_mirror(device, 1000, 10, HAUL_OUTSIDE_REFUSE, 1);
    CHECK_CUDA(cudaMemGetInfo(&after, &all));
    CHECK_EQ(after, before);
    haul_device_close(&device);
}

/* Of a lost GPU's arena the host's bytes are still the host's. */
static void a_mirrored_arena_outlives_its_gpu_D6(void)
{
    haul_device *device = open_device(0, NULL);
    haul_arena *arena = make_arena(device, 1);
    test_list list = list_make_in(arena, 1000, 10);
    const double sum = list_sum(&list);
    haul_shipment *shipment = NULL;
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    user_trap(cudaStreamLegacy);
    CHECK(haul_update_device(shipment, NULL, NULL) != HAUL_OK);
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_ERROR_DEVICE_LOST);
    CHECK(list_sum(&list) == sum);
    list.head->value = 7;
    CHECK_EQ(list.head->value, 7);
    haul_shipment_free(&shipment);
    haul_type_free(&list.type);
    haul_arena_free(&arena);
    haul_device_close(&device);
}

/* ---- Order. */

/* Everything is ordered while the stream is held, and the list is changed as soon as each call
 * returns. */
static void asynchronous_calls_are_in_order_with_kernels_on_their_stream(void)
{
    haul_device *device = open_device(0, NULL);
    test_list list = list_make(1000), expected = list_make(1000);
    cudaStream_t stream = gpu_make_stream();
    haul_async on = { NULL, NULL };
    haul_shipment *shipment = NULL;
    double sum;
    gpu_hold hold;
    CHECK_STATUS(haul_ship(device, list.head, list.type, 1, NULL, &shipment), HAUL_OK);
    on.stream = stream;
    hold = gpu_hold_stream(stream);
    list_walk(&list);
    list_walk(&expected);
    CHECK_STATUS(haul_update_device(shipment, NULL, &on), HAUL_OK);
    sum = list_sum(&list);
    list_walk(&list); /* nobody sees this one: what comes back overwrites it */
    user_walk(on_device(shipment, &list), list.walked, stream);
    CHECK_STATUS(haul_update_host(shipment, NULL, &on), HAUL_OK);
    CHECK_STATUS(haul_poll(shipment), HAUL_ERROR_PENDING);
    gpu_let_go(&hold);
    CHECK_STATUS(haul_wait(shipment), HAUL_OK);
    CHECK_STATUS(haul_poll(shipment), HAUL_OK);
    CHECK(*list.walked == sum);
    list_walk(&expected);
    list_check(&list, &expected);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    CHECK_CUDA(cudaStreamDestroy(stream));
    list_free(&list);
    list_free(&expected);
}

static void an_asynchronous_ship_tells_the_users_event(void)
{
    haul_device *device = open_device(0, NULL);
    test_list list = list_make(5000);
    cudaStream_t ours = gpu_make_stream(), theirs = gpu_make_stream();
    cudaEvent_t event;
    haul_async on = { NULL, NULL };
    haul_shipment *shipment = NULL;
    double sum = list_sum(&list);
    CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    on.stream = ours;
    on.event = event;
    CHECK_STATUS(
        haul_ship_from(device, haul_from_object(list.head, list.type), NULL, &on, &shipment),
        HAUL_OK);
    list_walk(&list);
    CHECK_CUDA(cudaStreamWaitEvent(theirs, event, 0));
    user_walk(on_device(shipment, &list), list.walked, theirs);
    CHECK_CUDA(cudaStreamSynchronize(theirs));
    CHECK(*list.walked == sum);
    CHECK_STATUS(haul_wait(shipment), HAUL_OK);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    CHECK_CUDA(cudaEventDestroy(event));
    CHECK_CUDA(cudaStreamDestroy(ours));
    CHECK_CUDA(cudaStreamDestroy(theirs));
    list_free(&list);
}

/* D7: the caller's own error, as the library tells it. */
static void an_error_of_the_callers_is_told_by_the_library(void)
{
    haul_device *device = open_device(0, NULL);
    test_list list = list_make(100);
    haul_shipment *shipment = NULL;
    cudaError_t error = user_launch_wrongly();
    CHECK_STATUS(haul_ship(device, list.head, list.type, 1, NULL, &shipment), HAUL_ERROR_DEVICE);
    CHECK_PTR(shipment, NULL);
    CHECK_HAS(haul_context_error(haul_device_context(device))->text, "not Haul's");
    CHECK_EQ(cudaGetLastError(), error);
    CHECK_STATUS(haul_ship(device, list.head, list.type, 1, NULL, &shipment), HAUL_OK);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    list_free(&list);
}

/* ---- Copies from device to device. */

static void copy_and_walk_lists(haul_device *from, haul_device *to, int ordinal, test_list list,
                                test_list expected)
{
    haul_shipment *shipment = NULL;
    CHECK_STATUS(haul_ship(from, list.head, list.type, 1, NULL, &shipment), HAUL_OK);
    copy_shipment_and_walk(shipment, to, ordinal, list, expected);
}

/* With a bitmap, and with a list of pointers. */
static void copy_and_walk(haul_device *from, haul_device *to, int ordinal)
{
    copy_and_walk_lists(from, to, ordinal, list_make(3000), list_make(3000));
    copy_and_walk_lists(from, to, ordinal, list_make_wide(300, 1000), list_make_wide(300, 1000));
}

static void a_shipment_is_copied_between_two_devices_on_one_gpu(void)
{
    haul_device *from = open_device(0, NULL), *to = open_device(0, haul_device_context(from));
    copy_and_walk(from, to, 0);
    copy_and_walk(from, from, 0);
    haul_device_close(&to);
    haul_device_close(&from);
}

static void a_shipment_is_copied_between_two_gpus(void)
{
    haul_device *from = open_device(0, NULL), *to = open_device(1, haul_device_context(from));
    copy_and_walk(from, to, 1);
    haul_device_close(&to);
    haul_device_close(&from);
}

/* Haul lets the GPUs reach each other's memory when they first meet; the user takes it back. Then a
 * copy goes by way of the host. */
static void gpus_that_cannot_reach_each_other_copy_all_the_same_D16(void)
{
    haul_device *from = open_device_from(1, 0, NULL);
    haul_device *to = open_device_from(1, 1, haul_device_context(from));
    cudaError_t error;
    copy_and_walk(from, to, 1);
    CHECK_CUDA(cudaSetDevice(1));
    error = cudaDeviceDisablePeerAccess(0);
    CHECK(error == cudaSuccess || error == cudaErrorPeerAccessNotEnabled);
    (void)cudaGetLastError();
    CHECK_EQ(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
    (void)cudaGetLastError();
    CHECK_CUDA(cudaSetDevice(0));
    copy_and_walk(from, to, 1);
    haul_device_close(&to);
    haul_device_close(&from);
}

static void one_plan_is_shipped_to_each_of_two_gpus(void)
{
    haul_device *devices[2];
    test_list list = list_make(3000);
    haul_shipment *shipments[2] = { NULL, NULL };
    haul_plan *plan = NULL;
    haul_root root;
    int i, current = -1;
    devices[0] = open_device(0, NULL);
    devices[1] = open_device(1, haul_device_context(devices[0]));
    root.address = list.head;
    root.type = list.type;
    root.count = 1;
    CHECK_STATUS(
        haul_plan_create(haul_device_context(devices[0]), haul_from_roots(&root, 1), NULL, &plan),
        HAUL_OK);
    for (i = 0; i < 2; i++)
        CHECK_STATUS(haul_ship_from(devices[i], haul_from_plan(plan), NULL, NULL, &shipments[i]),
                     HAUL_OK);
    for (i = 0; i < 2; i++) {
        CHECK_CUDA(cudaSetDevice(i));
        *list.walked = 0;
        user_walk(on_device(shipments[i], &list), list.walked, cudaStreamLegacy);
        CHECK_CUDA(cudaDeviceSynchronize());
        CHECK(*list.walked == list_sum(&list));
        CHECK_CUDA(cudaGetDevice(&current));
        CHECK_EQ(current, i);
    }
    CHECK_CUDA(cudaSetDevice(0));
    for (i = 0; i < 2; i++)
        haul_shipment_free(&shipments[i]);
    haul_plan_free(&plan);
    haul_device_close(&devices[1]);
    haul_device_close(&devices[0]);
    list_free(&list);
}

/* ---- Locked sources. */

static haul_shipment *ship_locked(haul_device *device, const test_list *list)
{
    haul_ship_options options;
    haul_shipment *shipment = NULL;
    memset(&options, 0, sizeof options);
    options.lock_source = 1;
    CHECK_STATUS(haul_ship(device, list->head, list->type, 1, &options, &shipment), HAUL_OK);
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    return shipment;
}

static haul_shipment_info told(const haul_shipment *shipment)
{
    haul_shipment_info statistics;
    haul_shipment_get_info(shipment, &statistics);
    return statistics;
}

/* The walk is on a stream that no other one is in order with: what a call has returned from is
 * there for all. */
static void refresh_walk_and_return(size_t length, int rounds)
{
    haul_device *device = open_device(0, NULL);
    test_list list = list_make(length), expected = list_make(length);
    haul_shipment *shipment = ship_locked(device, &list);
    cudaStream_t stream;
    int round;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK_STR(told(shipment).packs_because, NULL);
    for (round = 0; round < rounds; round++) {
        double sum = list_sum(&expected);
        CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
        user_walk(on_device(shipment, &list), list.walked, stream);
        CHECK_CUDA(cudaStreamSynchronize(stream));
        CHECK(*list.walked == sum);
        CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
        list_walk(&expected);
        list_check(&list, &expected);
    }
    CHECK_EQ(told(shipment).pulls, rounds);
    CHECK_EQ(told(shipment).pushes, rounds);
    haul_shipment_free(&shipment);
    CHECK_CUDA(cudaHostRegister(list.head, sizeof *list.head, 0)); /* nobody's any more */
    CHECK_CUDA(cudaHostUnregister(list.head));
    CHECK_CUDA(cudaStreamDestroy(stream));
    haul_device_close(&device);
    list_free(&list);
    list_free(&expected);
}

static void a_locked_source_is_gathered_and_scattered_by_the_gpu(void)
{
    refresh_walk_and_return(1, 20);
    refresh_walk_and_return(7, 20);
    refresh_walk_and_return(3000, 20);
    refresh_walk_and_return(200000, 4);
}

static void a_changed_pointer_of_a_locked_source_is_named(void)
{
    haul_device *device = open_device(0, NULL);
    test_list list = list_make(500);
    haul_shipment *shipment = ship_locked(device, &list);
    user_node *third = list.head->next->next;
    list.head->next->next = list.head;
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(haul_device_context(device))->path, "root.next.next");
    list.head->next->next = third;
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(shipment).pulls, 1);
    user_walk(on_device(shipment, &list), list.walked, cudaStreamLegacy);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    list_free(&list);
}

static void memory_that_the_user_has_registered_is_packed(void)
{
    haul_device *device = open_device(0, NULL);
    test_list list = list_make(100);
    haul_shipment *shipment;
    CHECK_CUDA(cudaHostRegister(list.head, sizeof *list.head, 0));
    shipment = ship_locked(device, &list);
    CHECK_HAS(told(shipment).packs_because, "locked");
    CHECK_EQ(cudaGetLastError(), cudaSuccess);
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    CHECK_EQ(told(shipment).pulls, 0);
    haul_shipment_free(&shipment);
    CHECK_CUDA(cudaHostUnregister(list.head));
    haul_device_close(&device);
    list_free(&list);
}

static void two_gpus_gather_from_one_locked_source(void)
{
    haul_device *devices[2];
    test_list list = list_make(3000), expected = list_make(3000);
    haul_shipment *shipments[2];
    int i;
    devices[0] = open_device(0, NULL);
    devices[1] = open_device(1, haul_device_context(devices[0]));
    for (i = 0; i < 2; i++)
        shipments[i] = ship_locked(devices[i], &list);
    for (i = 0; i < 6; i++) {
        double sum = list_sum(&expected);
        CHECK_STATUS(haul_update_device(shipments[i % 2], NULL, NULL), HAUL_OK);
        CHECK_CUDA(cudaSetDevice(i % 2));
        user_walk(on_device(shipments[i % 2], &list), list.walked, cudaStreamLegacy);
        CHECK_CUDA(cudaDeviceSynchronize());
        CHECK(*list.walked == sum);
        CHECK_CUDA(cudaSetDevice(0));
        CHECK_STATUS(haul_unmarshal(shipments[i % 2]), HAUL_OK);
        list_walk(&expected);
        list_check(&list, &expected);
        if (i == 3)
            haul_shipment_free(&shipments[0]), shipments[0] = ship_locked(devices[0], &list);
    }
    CHECK_EQ(told(shipments[1]).pulls, 3);
    for (i = 0; i < 2; i++)
        haul_shipment_free(&shipments[i]);
    haul_device_close(&devices[1]);
    haul_device_close(&devices[0]);
    list_free(&list);
    list_free(&expected);
}

/* ---- Threads: each has its own device. */

typedef struct worker {
    pthread_t thread;
    int ordinal;
    test_list list, expected;
    int right;
} worker;

static int ship_again_and_again(worker *w)
{
    test_device options;
    haul_cuda_options settings;
    haul_device *device = NULL;
    cudaStream_t stream;
    int round, right;
    memset(&options, 0, sizeof options);
    memset(&settings, 0, sizeof settings);
    settings.ordinal = w->ordinal;
    options.settings = &settings;
    if (cudaSetDevice(w->ordinal) != cudaSuccess || cudaStreamCreate(&stream) != cudaSuccess ||
        test_open(haul_cuda_device(), &options, &device) != HAUL_OK)
        return 0;
    right = 1;
    for (round = 0; round < 30 && right; round++) {
        haul_async on = { NULL, NULL };
        haul_shipment *shipment = NULL;
        on.stream = stream;
        right = haul_ship_from(device, haul_from_object(w->list.head, w->list.type), NULL, &on,
                               &shipment) == HAUL_OK;
        if (!right)
            break;
        user_walk(on_device(shipment, &w->list), w->list.walked, stream);
        right = haul_update_host(shipment, NULL, &on) == HAUL_OK &&
                haul_wait(shipment) == HAUL_OK && *w->list.walked == list_sum(&w->expected);
        list_walk(&w->expected);
        haul_shipment_free(&shipment);
    }
    haul_device_close(&device);
    return cudaStreamDestroy(stream) == cudaSuccess && right;
}

/* A list whose rows are on the GPU already, or in managed memory. The host could not read the
 * first. */
static void rows_on_the_gpu_and_managed_rows_are_not_sent(void)
{
    haul_device *device = open_device(0, NULL);
    test_list list = list_make(3);
    user_node *const nodes[] = { list.head, list.head->next, list.head->next->next };
    double *rows[3], sum = 0;
    haul_environment *e;
    haul_environment_info info;
    size_t i, k;
    for (i = 0; i < 3; i++)
        rows[i] = nodes[i]->row;
    for (i = 0; i < 3; i++) {
        sum += (double)nodes[i]->value;
        for (k = 0; k < nodes[i]->columns; k++)
            sum += rows[i][k];
    }
    for (i = 0; i < 2; i++) {
        const size_t bytes = (size_t)(nodes[i]->columns + 1) * sizeof(double);
        CHECK_CUDA(i ? cudaMallocManaged((void **)&nodes[i]->row, bytes, cudaMemAttachGlobal)
                     : cudaMalloc((void **)&nodes[i]->row, bytes));
        CHECK_CUDA(cudaMemcpy(nodes[i]->row, rows[i], bytes - sizeof(double), cudaMemcpyDefault));
        CHECK_PTR(haul_cuda_find(NULL, nodes[i]->row, bytes), nodes[i]->row);
    }
    CHECK_PTR(haul_cuda_find(NULL, rows[2], sizeof(double)), NULL);
    CHECK_PTR(haul_cuda_find(NULL, &sum, sizeof sum), NULL);
    CHECK_STATUS(haul_environment_create(device, &e), HAUL_OK);
    CHECK_STATUS(haul_environment_set_finder(e, haul_cuda_find, NULL), HAUL_OK);
    CHECK_STATUS(haul_environment_enter(e, list.head, list.type, 1, NULL, NULL), HAUL_OK);
    haul_environment_get_info(e, &info);
    CHECK_EQ(info.bytes, 3 * sizeof(user_node) + (size_t)nodes[2]->columns * sizeof(double));
    user_walk(haul_environment_device_pointer(e, list.head), list.walked, cudaStreamLegacy);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(*list.walked == sum);
    CHECK(nodes[1]->row[0] == rows[1][0] + 1);
    haul_environment_free(&e);
    for (i = 0; i < 2; i++) {
        CHECK_CUDA(cudaFree(nodes[i]->row));
        nodes[i]->row = rows[i];
    }
    CHECK_CUDA(cudaGetLastError());
    haul_device_close(&device);
    list_free(&list);
}

static void *work(void *argument)
{
    worker *w = argument;
    w->right = ship_again_and_again(w);
    return NULL;
}

static void devices_work_in_several_threads_at_once(void)
{
    enum { WORKERS = 4 };
    worker workers[WORKERS];
    int i, gpus = haul_cuda_count();
    for (i = 0; i < WORKERS; i++) {
        workers[i].ordinal = i % gpus;
        workers[i].list = list_make(200 + 700 * (size_t)i);
        workers[i].expected = list_make(200 + 700 * (size_t)i);
    }
    for (i = 0; i < WORKERS; i++)
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (i = 0; i < WORKERS; i++)
        CHECK_EQ(pthread_join(workers[i].thread, NULL), 0);
    for (i = 0; i < WORKERS; i++) {
        CHECK(workers[i].right);
        list_check(&workers[i].list, &workers[i].expected);
        list_free(&workers[i].list);
        list_free(&workers[i].expected);
    }
}

const gpu_test ship_tests[] = {
    GPU_TEST(rows_on_the_gpu_and_managed_rows_are_not_sent),
    GPU_TEST(lists_of_any_length_are_walked_on_the_gpu_and_come_back),
    GPU_TEST(lists_in_several_places_are_walked_on_the_gpu_and_come_back),
    GPU_TEST(pages_that_move_give_way_to_an_allocation),
    GPU_TEST(few_pointers_among_much_data_are_patched_by_a_list),
    GPU_TEST(an_arenas_marks_are_patched_and_looked_at_and_patched_back),
    GPU_TEST(a_mirrored_arena_is_walked_where_it_lies_here_and_comes_back),
    GPU_TEST(the_host_writes_to_its_bytes_while_a_kernel_reads_its_own),
    GPU_TEST(a_mirrored_arena_is_shipped_a_second_time_elsewhere),
    GPU_TEST_ON_TWO(a_mirrored_arena_is_shipped_to_another_gpu_from_its_window),
    GPU_TEST_ON_TWO(the_shipment_of_a_mirrored_arena_is_copied_to_another_gpu),
    GPU_TEST(a_graph_in_a_mirrored_arena_is_packed_where_its_source_is_to_be_locked),
    GPU_TEST(mirrored_arenas_leave_no_memory_behind),
    GPU_TEST(a_mirrored_arena_outlives_its_gpu_D6),
    GPU_TEST(asynchronous_calls_are_in_order_with_kernels_on_their_stream),
    GPU_TEST(an_asynchronous_ship_tells_the_users_event),
    GPU_TEST(an_error_of_the_callers_is_told_by_the_library),
    GPU_TEST(a_shipment_is_copied_between_two_devices_on_one_gpu),
    GPU_TEST_ON_TWO(a_shipment_is_copied_between_two_gpus),
    GPU_TEST_ON_TWO(gpus_that_cannot_reach_each_other_copy_all_the_same_D16),
    GPU_TEST_ON_TWO(one_plan_is_shipped_to_each_of_two_gpus),
    GPU_TEST(a_locked_source_is_gathered_and_scattered_by_the_gpu),
    GPU_TEST(a_changed_pointer_of_a_locked_source_is_named),
    GPU_TEST(memory_that_the_user_has_registered_is_packed),
    GPU_TEST_ON_TWO(two_gpus_gather_from_one_locked_source),
    GPU_TEST(devices_work_in_several_threads_at_once),
    GPU_TESTS_END
};
