/* A shipment's handle: made without a range, completed once its graph is on the device. */
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

void haul__shipment_complete(haul_shipment *shipment, haul_device *device, haul_plan *plan)
{
    haul__device_hold(device);
    shipment->device = device;
    shipment->plan = plan;
    shipment->marks_are_there = haul__is_patched(&shipment->range);
    shipment->magic = MAGIC;
}
