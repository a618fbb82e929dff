/* Shipments: a graph put on a device, replaced, looked up, and let go.
 *
 * A shipment is a plan and a range on a device. The plan knows where each source byte lies in the arena, the range
 * knows where the arena lies: a device address is a sum of the two, and its reverse a difference. Everything is made
 * before anything is handed out or replaced, so that a failure has only to be undone.
 */
#include "ship/ship.h"

#define MAGIC 0x48537631u

int haul__shipment_is_valid(const haul_shipment *shipment)
{
    return shipment && shipment->magic == MAGIC;
}

haul_status haul__shipment_enter(haul_shipment *shipment)
{
    if (!haul__shipment_is_valid(shipment))
        return HAUL_ERROR_ARGUMENT;
    return haul__context_enter(shipment->device->context);
}

void haul__shipment_leave(haul_shipment *shipment)
{
    haul__context_leave(shipment->device->context);
}

haul__listener haul__shipment_listener(const haul_ship_options *options)
{
    haul__listener listener;
    listener.progress = options->progress;
    listener.user = options->progress_user;
    return listener;
}

/* Takes over the caller's hold on the plan when it succeeds. */
static haul_status ship_plan(haul_device *device, haul_plan *plan, const haul_ship_options *options,
                             haul_shipment **result)
{
    haul_context *context = device->context;
    haul_shipment *shipment = haul__allocate_zeroed(&context->allocator, sizeof *shipment);
    haul_status status;
    if (!shipment)
        return haul__fail(&context->error, HAUL_ERROR_MEMORY, "no memory for a shipment handle");
    if (options)
        shipment->options = *options;
    status = haul__load(device, plan, &shipment->options, &shipment->range, &shipment->statistics);
    if (status != HAUL_OK) {
        haul__release(&context->allocator, shipment, sizeof *shipment);
        return status;
    }
    haul__device_hold(device);
    shipment->device = device;
    shipment->plan = plan;
    shipment->magic = MAGIC;
    *result = shipment;
    return HAUL_OK;
}

static haul_status ship_roots(haul_device *device, const haul_root *roots, size_t count,
                              const haul_ship_options *options, haul_shipment **result)
{
    haul_plan *plan;
    haul_status status = haul__plan_make(device->context, roots, count, &plan);
    if (status != HAUL_OK)
        return status;
    status = ship_plan(device, plan, options, result);
    if (status != HAUL_OK)
        haul__plan_drop(plan);
    return status;
}

/* Clears the result, and enters. */
static haul_status begin(haul_device *device, haul_shipment **result)
{
    if (!result)
        return HAUL_ERROR_ARGUMENT;
    *result = NULL;
    if (!haul__device_is_valid(device))
        return HAUL_ERROR_ARGUMENT;
    return haul__context_enter(device->context);
}

haul_status haul_ship_roots(haul_device *device, const haul_root *roots, size_t count,
                            const haul_ship_options *options, haul_shipment **result)
{
    haul_status status = begin(device, result);
    if (status != HAUL_OK)
        return status;
    status = ship_roots(device, roots, count, options, result);
    haul__context_leave(device->context);
    return status;
}

haul_status haul_ship(haul_device *device, void *root, const haul_type *type, size_t count,
                      const haul_ship_options *options, haul_shipment **result)
{
    haul_root one;
    one.address = root;
    one.type = type;
    one.count = count;
    return haul_ship_roots(device, &one, 1, options, result);
}

haul_status haul_ship_plan(haul_device *device, haul_plan *plan, const haul_ship_options *options,
                           haul_shipment **result)
{
    haul_status status = begin(device, result);
    if (status != HAUL_OK)
        return status;
    if (!haul__plan_is_valid(plan) || haul__plan_context(plan) != device->context) {
        status = haul__fail(&device->context->error, HAUL_ERROR_ARGUMENT, "a plan of the device's context is needed");
    } else {
        status = ship_plan(device, plan, options, result);
        if (status == HAUL_OK)
            haul__plan_hold(plan);
    }
    haul__context_leave(device->context);
    return status;
}

static haul_status replan(haul_shipment *shipment)
{
    haul_device *device = shipment->device;
    haul_shipment_statistics statistics = shipment->statistics;
    haul__range range;
    haul_plan *plan;
    size_t count;
    const haul_root *roots = haul__plan_roots(shipment->plan, &count);
    haul_status status = haul__plan_make(device->context, roots, count, &plan);
    if (status != HAUL_OK)
        return status;
    status = haul__load(device, plan, &shipment->options, &range, &statistics);
    if (status != HAUL_OK) {
        haul__plan_drop(plan);
        return status;
    }
    haul__unload(device, &shipment->range);
    haul__plan_drop(shipment->plan);
    shipment->plan = plan;
    shipment->range = range;
    shipment->statistics = statistics;
    return HAUL_OK;
}

haul_status haul_replan(haul_shipment *shipment)
{
    haul_status status = haul__shipment_enter(shipment);
    if (status != HAUL_OK)
        return status;
    status = replan(shipment);
    haul__shipment_leave(shipment);
    return status;
}

haul_address haul_device_address(const haul_shipment *shipment, const void *host)
{
    size_t offset;
    if (!haul__shipment_is_valid(shipment) || !host)
        return 0;
    if (haul_plan_offset(shipment->plan, host, &offset) != HAUL_OK)
        return 0;
    return shipment->range.address + offset;
}

void *haul_device_pointer(const haul_shipment *shipment, const void *host)
{
    return (void *)(uintptr_t)haul_device_address(shipment, host);
}

void *haul_host_pointer(const haul_shipment *shipment, haul_address device)
{
    void *host;
    uint64_t offset;
    if (!haul__shipment_is_valid(shipment) || device < shipment->range.address)
        return NULL;
    offset = device - shipment->range.address;
    if (offset > shipment->range.arena_bytes)
        return NULL;
    return haul_plan_address(shipment->plan, (size_t)offset, &host) == HAUL_OK ? host : NULL;
}

void haul_shipment_get_statistics(const haul_shipment *shipment, haul_shipment_statistics *statistics)
{
    if (!statistics)
        return;
    memset(statistics, 0, sizeof *statistics);
    if (haul__shipment_is_valid(shipment))
        *statistics = shipment->statistics;
}

void haul_shipment_free(haul_shipment **shipment)
{
    haul_shipment *last;
    haul_device *device;
    if (!shipment)
        return;
    last = *shipment;
    *shipment = NULL;
    if (!haul__shipment_is_valid(last))
        return;
    device = last->device;
    last->magic = 0;
    haul__unload(device, &last->range);
    haul__plan_drop(last->plan);
    haul__release(&device->context->allocator, last, sizeof *last);
    haul__device_drop(device);
}
