/* A shipment's handle: made without a range, completed once its graph is on the device. */
#include <stdio.h>

#include "pack/plan.h"
#include "ship/shipment.h"

#define MAGIC 0x48537631u

int haul__shipment_is_valid(const haul_shipment *shipment)
{
    return shipment && shipment->magic == MAGIC;
}

haul_shipment *haul__shipment_new(haul_device *device, const haul_ship_options *options)
{
    haul_shipment *shipment = haul__allocate_zeroed(&device->context->allocator, sizeof *shipment);
    if (!shipment)
        haul__fail(&device->context->error, HAUL_ERROR_MEMORY, "no memory for a shipment handle");
    else
        shipment->options = *options;
    return shipment;
}

void haul__shipment_discard(haul_device *device, haul_shipment *shipment)
{
    haul__release(&device->context->allocator, shipment, sizeof *shipment);
}

/* The path of the place that a byte of the range comes from. */
static int explain(haul__resident *resident, haul_address address)
{
    haul_shipment *shipment = (haul_shipment *)resident;
    const uint64_t offset = address - shipment->range.address;
    char *path = shipment->device->context->error.path;
    void *host;
    if (address < shipment->range.address || offset >= shipment->range.arena_bytes)
        return 0;
    if (haul__is_arena(shipment)) {
        snprintf(path, HAUL_PATH_BYTES, "arena+%llu", (unsigned long long)offset);
        return 1;
    }
    return haul_plan_address(shipment->plan, (size_t)offset, &host) == HAUL_OK &&
           haul__plan_path(shipment->plan, (uintptr_t)host, path);
}

void haul__shipment_complete(haul_shipment *shipment, haul_device *device, haul_plan *plan)
{
    haul__device_hold(device);
    shipment->device = device;
    shipment->plan = plan;
    shipment->marks_are_there = haul__is_patched(&shipment->range);
    shipment->magic = MAGIC;
    shipment->resident.explain = explain;
    haul__device_add(device, &shipment->resident);
}
