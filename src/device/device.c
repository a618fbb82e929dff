/* Device handles: a back end's table, the state that it opened, and a context.
 *
 * A handle counts its holders: the caller, shipments, and arenas in the device's memory. A device
 * that is closed lives until the last of them has let go. The table is copied and checked once, so
 * that no call needs to check whether a required verb is present.
 */
#include <inttypes.h>

#include "base/sized.h"
#include "device/deferred.h"
#include "device/device.h"
#include "device/lock.h"

#define DEVICE_MAGIC 0x48447631u

int haul__device_is_valid(const haul_device *device)
{
    return device && device->magic == DEVICE_MAGIC;
}

void haul__device_hold(haul_device *device)
{
    haul__atomic_add(&device->holders, 1);
}

void haul__device_drop(haul_device *device)
{
    haul_context *context = device->context;
    if (haul__atomic_add(&device->holders, -1) != 0)
        return;
    device->magic = 0;
    haul__device_settle(device);
    haul__deferred_close(device);
    haul__ring_close(device);
    haul__leave_locks(device);
    device->table.close(device->state);
    haul__release(&context->allocator, device, sizeof *device);
    haul__context_drop(context);
}

haul_status haul__device_enter(haul_device *device)
{
    haul_status status = haul__context_enter(device->context);
    if (status != HAUL_OK)
        return status;
    if (!haul__device_is_here(device)) {
        status = haul__device_refuse(device);
        haul__context_leave(device->context);
        return status;
    }
    device->timed_out = device->is_unfenced = 0;
    haul__deferred_collect(device);
    return HAUL_OK;
}

/* A size that no table has: the struct is not one of this version. */
#define TABLE_BYTES_MAX ((size_t)4096)

static haul_status read_table(haul_error *error, const haul_device_table *theirs,
                              haul_device_table *table)
{
    if (!theirs)
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "the device's table is NULL");
    if (theirs->table_bytes > TABLE_BYTES_MAX ||
        haul__read_options(table, sizeof *table, theirs, theirs->table_bytes) != HAUL_OK)
        return haul__fail(error, HAUL_ERROR_VERSION,
                          "the device's table has %zu bytes, and verbs that this version of the "
                          "library lacks",
                          theirs->table_bytes);
    if (!table->name || !table->open || !table->close || !table->capabilities || !table->allocate ||
        !table->release || !table->stage || !table->unstage || !table->copy_to ||
        !table->copy_from || !table->relocate || !table->select || !table->fence || !table->poll ||
        !table->await || !table->wait || !table->message || !table->lock != !table->pull ||
        !table->unlock != !table->pull || !table->push != !table->pull ||
        !table->mirror != !table->unmirror || !table->gather_strips != !table->scatter_strips)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "the device's table lacks its name, a verb that every device has, or one "
                          "of a pair");
    return HAUL_OK;
}

/* Settings of the back end's size: what the caller's header and the back end both know. */
static haul_status open_with(haul_device *device, const void *settings, size_t settings_bytes)
{
    const haul_allocator *allocator = &device->context->allocator;
    const size_t bytes = device->table.settings_bytes;
    void *read = haul__allocate(allocator, bytes ? bytes : 1, 2 * sizeof(void *));
    char why[HAUL_TEXT_BYTES / 2] = "";
    haul_status status;
    if (!read)
        return haul__fail(&device->context->error, HAUL_ERROR_MEMORY,
                          "no memory to open the device \"%s\"", device->table.name);
    status = haul__read_options(read, bytes, settings, settings_bytes);
    if (status != HAUL_OK)
        haul__fail(&device->context->error, status, HAUL__NEWER_OPTIONS);
    else
        status = device->table.open(read, allocator, &device->state);
    if (status != HAUL_OK && status != HAUL_ERROR_VERSION) {
        if (device->table.refusal)
            device->table.refusal(read, status, why, sizeof why);
        haul__fail(&device->context->error, status, "the device \"%s\" could not be opened%s%s",
                   device->table.name, *why ? ": " : "", why);
    }
    haul__release(allocator, read, bytes ? bytes : 1);
    return status;
}

/* On success the handle takes a hold on `context`. */
static haul_status open_in(haul_context *context, const haul_device_table *table,
                           const void *settings, size_t settings_bytes, haul_device **result)
{
    haul_device *device = haul__allocate_zeroed(&context->allocator, sizeof *device);
    haul_status status;
    if (!device)
        return haul__fail(&context->error, HAUL_ERROR_MEMORY, "no memory for a device handle");
    device->context = context;
    status = read_table(&context->error, table, &device->table);
    if (status == HAUL_OK)
        status = open_with(device, settings, settings_bytes);
    if (status != HAUL_OK) {
        haul__release(&context->allocator, device, sizeof *device);
        return status;
    }
    device->process = haul__process();
    device->holders = 1;
    device->whole_bytes = HAUL__RING_BYTES;
    device->magic = DEVICE_MAGIC;
    device->table.capabilities(device->state, &device->capabilities, sizeof device->capabilities);
    if (!device->table.send)
        device->capabilities.send_bytes = 0;
    if (!device->table.fetch)
        device->capabilities.fetch_bytes = 0;
    if (!device->table.allocate_in_places)
        device->capabilities.place_bytes = 0;
    haul__context_hold(context);
    *result = device;
    return HAUL_OK;
}

haul_status haul_device_open_sized(haul_context *context, const haul_device_table *table,
                                   const void *settings, size_t settings_bytes,
                                   haul_device **device)
{
    haul_status status;
    if (!device)
        return haul__context_refuse(context, HAUL_ERROR_ARGUMENT,
                                    "the address of the new device is NULL");
    *device = NULL;
    status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    status = open_in(context, table, settings, settings_bytes, device);
    haul__context_leave(context);
    return status;
}

/* An arena that the device's late work reads may hold another device, which may hold this one in
 * the same way: both would stay open. So the things whose work has ended go now. */
static haul__freed *drop_callers(void *object)
{
    haul_device *device = object;
    haul__device_settle(device);
    haul__deferred_await(device);
    haul__device_drop(device);
    return NULL;
}

void haul_device_close(haul_device **device)
{
    haul_device *closed = device ? *device : NULL;
    if (!closed)
        return;
    *device = NULL;
    if (haul__device_is_valid(closed))
        haul__free(&closed->freed, closed->context, drop_callers, closed);
}

haul_context *haul_device_context(const haul_device *device)
{
    return haul__device_is_valid(device) ? device->context : NULL;
}

void haul_device_get_info_sized(const haul_device *device, haul_device_info *info,
                                size_t info_bytes)
{
    haul_device_info ours = { "", NULL };
    if (!info)
        return;
    if (haul__device_is_valid(device)) {
        ours.name = device->table.name;
        ours.capabilities = &device->capabilities;
    }
    haul__write_info(info, info_bytes, &ours, sizeof ours);
}

void *haul_device_state(const haul_device *device)
{
    return haul__device_is_valid(device) ? device->state : NULL;
}

uint64_t haul__device_left(const haul_device *device)
{
    const uint64_t budget = device->capabilities.budget_bytes;
    if (budget == 0)
        return UINT64_MAX;
    return budget > device->held_bytes ? budget - device->held_bytes : 0;
}

uint64_t haul__device_free(const haul_device *device)
{
    if (device->table.free_bytes)
        return device->table.free_bytes(device->state);
    return device->capabilities.memory_bytes ? device->capabilities.memory_bytes : UINT64_MAX;
}

void haul__device_add(haul_device *device, haul__resident *resident)
{
    resident->previous = NULL;
    resident->next = device->residents;
    if (resident->next)
        resident->next->previous = resident;
    device->residents = resident;
}

void haul__device_remove(haul_device *device, haul__resident *resident)
{
    if (resident->previous)
        resident->previous->next = resident->next;
    else
        device->residents = resident->next;
    if (resident->next)
        resident->next->previous = resident->previous;
}

haul_status haul_device_fail(haul_device *device, haul_status status, const char *text)
{
    return haul__device_is_valid(device) ? haul__context_refuse(device->context, status, text)
                                         : status;
}

static int explain(haul_device *device, haul_address address, void **host, char *path)
{
    haul__resident *at;
    int found = 0;
    for (at = device->residents; at && !found; at = at->next)
        found = at->explain(at, address, host, path);
    return found;
}

int haul_device_fail_at(haul_device *device, haul_status status, const char *text,
                        haul_address address)
{
    void *host;
    int found;
    if (!haul__device_is_valid(device) || haul__context_enter(device->context) != HAUL_OK)
        return 0;
    haul__fail(&device->context->error, status, "%s", text);
    found = explain(device, address, &host, device->context->error.path) &&
            device->context->error.path[0];
    haul__context_leave(device->context);
    return found;
}

haul_status haul_device_where(haul_device *device, const void *pointer, void **host, char *path)
{
    char text[HAUL_PATH_BYTES] = "";
    void *from = NULL;
    haul_status status;
    if (host)
        *host = NULL;
    if (path)
        path[0] = '\0';
    if (!haul__device_is_valid(device))
        return HAUL_ERROR_ARGUMENT;
    status = haul__context_enter(device->context);
    if (status != HAUL_OK)
        return status;
    if (!explain(device, (haul_address)(uintptr_t)pointer, &from, text))
        status =
            haul__fail(&device->context->error, HAUL_ERROR_ARGUMENT,
                       "no shipment of the device has the address 0x%" PRIxPTR, (uintptr_t)pointer);
    if (host)
        *host = from;
    if (path)
        memcpy(path, text, sizeof text);
    haul__context_leave(device->context);
    return status;
}
