/* A shipment's handle: made without a range, completed once its graph is on the device. */
#include <stdio.h>

#include "base/sized.h"
#include "pack/plan.h"
#include "ship/shipment.h"
#include "walk/discover.h"

#define SHIPMENT_MAGIC 0x48537631u

int haul__shipment_is_valid(const haul_shipment *shipment)
{
    return shipment && shipment->magic == SHIPMENT_MAGIC;
}

haul_status haul__shipment_enter_device(haul_shipment *shipment)
{
    return haul__shipment_is_valid(shipment) ? haul__device_enter(shipment->device)
                                             : HAUL_ERROR_ARGUMENT;
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

/* The place that an address of the device or of the host belongs to. */
static int explain(haul__resident *resident, haul_address address, void **host, char *path)
{
    const haul_shipment *shipment = (const haul_shipment *)resident;
    const haul__contents *contents = &shipment->contents;
    const uint64_t place = address - shipment->range.address;
    const int is_there = place < shipment->range.arena_bytes;
    void *at = (void *)(uintptr_t)address;
    size_t offset;
    path[0] = '\0';
    if (is_there && haul__is_arena(shipment))
        at = contents->base + place;
    else if (is_there && haul_plan_address(shipment->plan, (size_t)place, &at) != HAUL_OK)
        return 0;
    if (!haul__is_arena(shipment)) {
        if (haul_plan_offset(shipment->plan, at, &offset) != HAUL_OK)
            return 0;
        haul__plan_path(shipment->plan, (uintptr_t)at, 0, path);
    } else {
        offset = (size_t)((uintptr_t)at - (uintptr_t)contents->base);
        if (offset >= contents->bytes)
            return 0;
        if (!contents->root.type ||
            !haul__path_within(shipment->device->context, &contents->root, contents->base,
                               contents->bytes, (uintptr_t)at, path))
            snprintf(path, HAUL_PATH_BYTES, "arena+%zu", offset);
    }
    *host = at;
    return 1;
}

void haul_shipment_get_source_sized(const haul_shipment *shipment, haul_source *source,
                                    size_t source_bytes)
{
    haul_source ours;
    memset(&ours, 0, sizeof ours);
    if (haul__shipment_is_valid(shipment) && !haul__is_arena(shipment)) {
        ours.kind = HAUL_SOURCE_PLAN;
        ours.plan = shipment->plan;
    } else if (haul__shipment_is_valid(shipment)) {
        ours.kind = shipment->contents.root.type ? HAUL_SOURCE_ARENA_ROOT : HAUL_SOURCE_ARENA;
        ours.root = shipment->contents.root;
        ours.arena = shipment->contents.arena;
    }
    haul__write_info(source, source_bytes, &ours, sizeof ours);
}

void haul__shipment_complete(haul_shipment *shipment, haul_device *device, haul_plan *plan)
{
    haul__device_hold(device);
    shipment->device = device;
    shipment->plan = plan;
    shipment->marks_are_there = haul__is_patched(&shipment->range);
    shipment->magic = SHIPMENT_MAGIC;
    shipment->resident.explain = explain;
    haul__device_add(device, &shipment->resident);
}
