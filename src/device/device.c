/* Device handles: a back end's table, the state that it opened, and a context.
 *
 * A handle counts its holders: the caller and each shipment. A device that is closed while it has
 * shipments lives until the last of them is freed. The table is copied and checked once, so that no
 * call needs to check whether a verb is present.
 */
#include "device/deferred.h"
#include "device/device.h"
#include "device/lock.h"

#define MAGIC 0x48447631u

int haul__device_is_valid(const haul_device *device)
{
    return device && device->magic == MAGIC;
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

static haul_status check_table(haul_error *error, const haul_device_table *table)
{
    if (!table)
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "the device's table is NULL");
    if (table->version != HAUL_DEVICE_VERSION || table->table_bytes != sizeof *table)
        return haul__fail(error, HAUL_ERROR_VERSION,
                          "the device's table is of version %u and has %zu bytes, not %u and %zu: "
                          "build the device with "
                          "this version's headers",
                          (unsigned)table->version, (size_t)table->table_bytes,
                          (unsigned)HAUL_DEVICE_VERSION, sizeof *table);
    if (!table->name || !table->open || !table->close || !table->capabilities || !table->allocate ||
        !table->release || !table->stage || !table->unstage || !table->copy_to ||
        !table->copy_from || !table->relocate || !table->send || !table->fetch || !table->across ||
        !table->select || !table->fence || !table->poll || !table->await || !table->wait ||
        !table->signal || !table->message || !table->lock != !table->pull ||
        !table->unlock != !table->pull || !table->push != !table->pull ||
        !table->mirror != !table->unmirror)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "the device's table lacks its name, a function that every device has, or "
                          "one of a pair");
    return HAUL_OK;
}

/* The context to use, held. */
static haul_status take_context(const haul_device_options *options, haul_context **context)
{
    if (!options || !options->context)
        return haul_context_create(options ? &options->new_context : NULL, context);
    if (!haul__context_is_valid(options->context))
        return haul__fail(options->new_context.error, HAUL_ERROR_ARGUMENT,
                          "options->context is no living context");
    haul__context_hold(options->context);
    *context = options->context;
    return HAUL_OK;
}

/* On success the handle takes over the hold on `context`. */
static haul_status open_in(haul_context *context, const haul_device_table *table,
                           const void *settings, haul_device **result)
{
    haul_status status = check_table(&context->error, table);
    haul_device *device;
    if (status != HAUL_OK)
        return status;
    device = haul__allocate_zeroed(&context->allocator, sizeof *device);
    if (!device)
        return haul__fail(&context->error, HAUL_ERROR_MEMORY, "no memory for a device handle");
    status = table->open(settings, &context->allocator, &device->state);
    if (status != HAUL_OK) {
        haul__release(&context->allocator, device, sizeof *device);
        return haul__fail(&context->error, status, "the device \"%s\" could not be opened",
                          table->name);
    }
    device->table = *table;
    device->context = context;
    device->process = haul__process();
    device->holders = 1;
    device->whole_bytes = HAUL__RING_BYTES;
    device->magic = MAGIC;
    table->capabilities(device->state, &device->capabilities);
    *result = device;
    return HAUL_OK;
}

haul_status haul_device_open(const haul_device_table *table, const haul_device_options *options,
                             haul_device **result)
{
    haul_context *context;
    haul_status status;
    if (!result)
        return haul__fail(options ? options->new_context.error : NULL, HAUL_ERROR_ARGUMENT,
                          "the address of the new device is NULL");
    *result = NULL;
    status = take_context(options, &context);
    if (status != HAUL_OK)
        return status;
    status = haul__context_enter(context);
    if (status == HAUL_OK) {
        status = open_in(context, table, options ? options->settings : NULL, result);
        haul__context_leave(context);
    }
    if (status != HAUL_OK && options && !options->context && options->new_context.error)
        *options->new_context.error = context->error;
    if (status != HAUL_OK)
        haul__context_drop(context);
    return status;
}

static haul__freed *drop_callers(void *object)
{
    haul__device_drop(object);
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

haul_context *haul_device_context(haul_device *device)
{
    return haul__device_is_valid(device) ? device->context : NULL;
}

const haul_error *haul_device_error(const haul_device *device)
{
    return haul_context_error(haul__device_is_valid(device) ? device->context : NULL);
}

void haul_device_get_capabilities(const haul_device *device, haul_device_capabilities *capabilities)
{
    if (!capabilities)
        return;
    memset(capabilities, 0, sizeof *capabilities);
    if (haul__device_is_valid(device))
        *capabilities = device->capabilities;
}

const char *haul_device_name(const haul_device *device)
{
    return haul__device_is_valid(device) ? device->table.name : "";
}

void *haul_device_state(const haul_device *device)
{
    return haul__device_is_valid(device) ? device->state : NULL;
}

haul_status haul_device_fail(haul_device *device, haul_status status, const char *text)
{
    return haul__device_is_valid(device) ? haul__context_refuse(device->context, status, text)
                                         : status;
}
