/* Where the arrays of a workload lie. Each way gives the kernels a table of the arrays' addresses.
 */
#include <haul.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* The table of a workload's arrays, in which each is a field by itself. */
#define MEMBERS(n)                                                                                 \
    unsigned char *at##n;                                                                          \
    int64_t bytes##n;
#define ROW(n) HAUL_ARRAY(eight, at##n, HAUL_COUNT(eight, bytes##n))

typedef struct eight {
    MEMBERS(0) MEMBERS(1) MEMBERS(2) MEMBERS(3) MEMBERS(4) MEMBERS(5) MEMBERS(6) MEMBERS(7)
} eight;

static haul_context *context;
static haul_device *device;
static haul_type *table_type;
static haul_place_hint hints[PLACES_ARRAYS_MAX + 1];
static const haul_field table_fields[PLACES_ARRAYS_MAX] = { ROW(0), ROW(1), ROW(2), ROW(3),
                                                            ROW(4), ROW(5), ROW(6), ROW(7) };
static const haul_struct table_struct = HAUL_STRUCT(eight, &table_type, table_fields);

static void must(haul_status status)
{
    if (status != HAUL_OK)
        bench_die("haul", haul_context_error(context));
}

/* The pool keeps nothing that a way before has released: nobody has more than the budget. */
void places_haul_open(void)
{
    haul_cuda_options options;
    memset(&options, 0, sizeof options);
    options.pool_bytes = 1;
    must(haul_context_create(NULL, &context));
    must(haul_cuda_open(context, &options, &device));
    must(haul_describe(context, &table_struct, 1));
}

void places_haul_close(void)
{
    haul_device_close(&device);
    haul_type_free(&table_type);
    haul_context_free(&context);
}

/* What the workload says of its arrays, or a profile; of the table itself, the most. */
static void set_hints(const places_workload *it, int by_profile)
{
    unsigned i;
    for (i = 0; i < it->count; i++) {
        hints[i].type = table_type;
        hints[i].field = table_fields[i].name;
        hints[i].uses =
            by_profile ? it->uses[i] : (uint64_t)(it->rank[i] * (double)it->arrays[i].bytes);
    }
    hints[i].type = table_type;
    hints[i].field = NULL;
    hints[i].uses = UINT64_MAX;
}

static void name_profile(const places_workload *it, const char *prefix, char path[256])
{
    if (snprintf(path, 256, "%s-%s", prefix, it->name) >= 256)
        bench_die(prefix, NULL);
}

void places_write_profile(const places_workload *it, const char *prefix)
{
    char path[256];
    haul_file file;
    int descriptor;
    name_profile(it, prefix, path);
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    file = haul_file_descriptor(descriptor);
    set_hints(it, 1);
    must(haul_uses_write(context, hints, it->count, &file));
    close(descriptor);
}

void places_read_profile(places_workload *it, const char *prefix)
{
    char path[256], text[4096];
    ssize_t bytes;
    unsigned i;
    int descriptor;
    name_profile(it, prefix, path);
    descriptor = open(path, O_RDONLY);
    bytes = read(descriptor, text, sizeof text);
    close(descriptor);
    set_hints(it, 0);
    must(haul_uses_read(context, text, bytes > 0 ? (size_t)bytes : 0, hints, it->count));
    for (i = 0; i < it->count; i++)
        it->uses[i] = hints[i].uses;
    it->has_profile = 1;
}

enum hint_source { NO_HINTS, BY_RANK, BY_PROFILE };

static int open_haul(places_run *run, enum hint_source source, haul_place spill)
{
    haul_ship_options options;
    haul_shipment_info info;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.budget_bytes = run->budget;
    options.spill = spill;
    if (source != NO_HINTS) {
        set_hints(run->it, source == BY_PROFILE);
        options.hints = hints;
        options.hint_count = run->it->count + 1;
    }
    status = haul_ship(device, (void *)(uintptr_t)run->it->arrays, table_type, 1, &options,
                       &run->shipment);
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
    return open_haul(run, NO_HINTS, HAUL_PLACE_HOST);
}

static int open_haul_by_uses(places_run *run)
{
    return open_haul(run, BY_RANK, HAUL_PLACE_HOST);
}

static int open_haul_by_profile(places_run *run)
{
    return open_haul(run, BY_PROFILE, HAUL_PLACE_HOST);
}

static int open_haul_moving(places_run *run)
{
    return open_haul(run, BY_RANK, HAUL_PLACE_MOVING);
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
    { "device", 1, 0, 0, open_device, fetch, close_device },
    { "bus", 0, 0, 0, open_bus, fetch, close_bus },
    { "managed", 0, 0, 1, open_managed, fetch, close_device },
    { "haul_by_pointers", 0, 0, 0, open_haul_by_pointers, fetch_haul, close_haul },
    { "haul_by_uses", 0, 0, 0, open_haul_by_uses, fetch_haul, close_haul },
    { "haul_by_profile", 0, 1, 0, open_haul_by_profile, fetch_haul, close_haul },
    { "haul_moving", 0, 0, 0, open_haul_moving, fetch_haul, close_haul },
};
const size_t places_way_count = sizeof places_ways / sizeof *places_ways;
