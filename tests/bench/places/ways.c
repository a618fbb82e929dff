/* Where the arrays of a workload lie. Each way gives the kernels a table of the arrays' addresses.
 */
#include <haul.h>

#include <string.h>

#include "places.h"

/* ---- By hand. */

static void make_table(places_run *run)
{
    void *table = cuda_device(sizeof run->made);
    cuda_copy(table, run->made, sizeof run->made);
    run->table = table;
}

static void fetch(places_run *run, void *result)
{
    const places_array *made = &run->made[run->it->result];
    cuda_copy(result, made->at, (size_t)made->bytes);
}

static int make(places_run *run, void *(*get)(size_t bytes))
{
    unsigned i;
    for (i = 0; i < run->it->count; i++) {
        const places_array *array = &run->it->arrays[i];
        run->made[i].bytes = array->bytes;
        run->made[i].at = get((size_t)array->bytes);
        cuda_copy(run->made[i].at, array->at, (size_t)array->bytes);
    }
    make_table(run);
    return 1;
}

static void drop(places_run *run, void (*release)(void *memory))
{
    unsigned i;
    for (i = 0; i < run->it->count; i++)
        release(run->made[i].at);
    cuda_drop((void *)(uintptr_t)run->table);
}

static int open_device(places_run *run)
{
    run->device_bytes = places_bytes(run->it);
    return make(run, cuda_device);
}

static int open_bus(places_run *run)
{
    run->host_bytes = places_bytes(run->it);
    return make(run, cuda_pinned);
}

/* The host writes them first, so that they lie there before kernels use them. */
static void *managed_on_host(size_t bytes)
{
    return memset(cuda_managed(bytes), 0, bytes);
}

static int open_managed(places_run *run)
{
    run->moving_bytes = places_bytes(run->it);
    return make(run, managed_on_host);
}

static void close_device(places_run *run)
{
    drop(run, cuda_drop);
}

static void close_bus(places_run *run)
{
    drop(run, cuda_drop_pinned);
}

/* ---- Haul. */

static haul_context *context;
static haul_device *device;
static haul_type *array_type;
static const haul_field array_fields[] = {
    HAUL_ARRAY(places_array, at, HAUL_COUNT(places_array, bytes)),
};
static const haul_struct array_struct = HAUL_STRUCT(places_array, &array_type, array_fields);

static void must(haul_status status)
{
    if (status != HAUL_OK)
        bench_die("haul", haul_context_error(context));
}

void places_haul_open(void)
{
    must(haul_context_create(NULL, &context));
    must(haul_cuda_open(context, NULL, &device));
    must(haul_describe(context, &array_struct, 1));
}

void places_haul_close(void)
{
    haul_device_close(&device);
    haul_type_free(&array_type);
    haul_context_free(&context);
}

/* What the workload says of its arrays; of the table itself, the most. */
static double rank(void *user, const haul_shipped_range *range, size_t pointers)
{
    const places_workload *it = user;
    unsigned i;
    (void)pointers;
    for (i = 0; i < it->count; i++)
        if (range->host == it->arrays[i].at)
            return it->rank[i];
    return 1000;
}

static int open_haul(places_run *run, haul_rank *rank_by, haul_place spill)
{
    haul_ship_options options;
    haul_shipment_info info;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.budget_bytes = run->budget;
    options.spill = spill;
    options.rank = rank_by;
    options.rank_user = (void *)(uintptr_t)run->it;
    status = haul_ship(device, (void *)(uintptr_t)run->it->arrays, array_type, run->it->count,
                       &options, &run->shipment);
    if (status == HAUL_ERROR_DEVICE_MEMORY)
        return 0;
    must(status);
    haul_shipment_get_info(run->shipment, &info);
    run->device_bytes = info.device_bytes;
    run->host_bytes = info.host_bytes;
    run->moving_bytes = info.moving_bytes;
    run->table = haul_device_pointer(run->shipment, run->it->arrays);
    return 1;
}

static int open_haul_by_pointers(places_run *run)
{
    return open_haul(run, NULL, HAUL_PLACE_HOST);
}

static int open_haul_by_rank(places_run *run)
{
    return open_haul(run, rank, HAUL_PLACE_HOST);
}

static int open_haul_moving(places_run *run)
{
    return open_haul(run, rank, HAUL_PLACE_MOVING);
}

/* The result comes back into the host's array, the others stay on the device. */
static void fetch_haul(places_run *run, void *result)
{
    const places_array *from = &run->it->arrays[run->it->result];
    haul_update_options all;
    memset(&all, 0, sizeof all);
    all.host = from->at;
    all.bytes = (size_t)from->bytes;
    must(haul_update_host(run->shipment, &all, NULL));
    memcpy(result, from->at, (size_t)from->bytes);
}

static void close_haul(places_run *run)
{
    haul_shipment_free(&run->shipment);
}

const places_way places_ways[] = {
    { "device", 1, open_device, fetch, close_device },
    { "bus", 0, open_bus, fetch, close_bus },
    { "managed", 0, open_managed, fetch, close_device },
    { "haul_by_pointers", 0, open_haul_by_pointers, fetch_haul, close_haul },
    { "haul_by_rank", 0, open_haul_by_rank, fetch_haul, close_haul },
    { "haul_moving", 0, open_haul_moving, fetch_haul, close_haul },
};
const size_t places_way_count = sizeof places_ways / sizeof *places_ways;
