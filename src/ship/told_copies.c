/* Copies of a shipment's bytes as they lie, with reports of progress.
 *
 * Without a listener a copy is one order to the device. With a listener it is cut into pieces, and
 * the listener hears when a piece has crossed. By then the next piece has been ordered, so the link
 * is never idle.
 */
#include "device/device.h"
#include "device/piece_sizes.h"
#include "device/streams.h"
#include "pack/progress.h"
#include "ship/told_copies.h"

/* A piece is so many of the pieces that a packed graph crosses in: 64 MiB, about 1 ms. */
#define MANY ((size_t)8)

typedef haul_status order(haul_shipment *shipment, size_t at, void *host, size_t bytes);

static haul_status order_to(haul_shipment *shipment, size_t at, void *host, size_t bytes)
{
    return haul__copy_to(shipment->device, shipment->range.address + at, host, bytes);
}

static haul_status order_from(haul_shipment *shipment, size_t at, void *host, size_t bytes)
{
    return haul__copy_from(shipment->device, host, shipment->range.address + at, bytes);
}

/* Bytes up to `done` cross before the fence. */
static haul_status await_and_tell(haul_shipment *shipment, uint64_t fence, size_t done)
{
    haul_context *context = shipment->device->context;
    const size_t total = shipment->range.arena_bytes;
    haul_status status = haul__await(shipment->device, fence);
    if (status != HAUL_OK)
        return haul__device_failed(shipment->device, status, "copy of ", total, " bytes");
    return haul__tell(context, haul__context_listener(context), done, total);
}

static haul_status copy(haul_shipment *shipment, size_t at, void *host, size_t bytes, int tells,
                        order *order_one)
{
    const size_t most = MANY * haul__piece_limit(shipment->device);
    uint64_t fence, before = 0;
    size_t done, now;
    haul_status status = HAUL_OK;
    if (!tells || !haul__context_listener(shipment->device->context))
        return order_one(shipment, at, host, bytes);
    for (done = 0; done < bytes && status == HAUL_OK; done += now) {
        now = bytes - done < most ? bytes - done : most;
        status = order_one(shipment, at + done, (unsigned char *)host + done, now);
        if (status == HAUL_OK)
            status = haul__fence_behind(shipment->device, now, &fence);
        if (status == HAUL_OK && done > 0)
            status = await_and_tell(shipment, before, at + done);
        before = fence;
    }
    if (status == HAUL_OK)
        status = await_and_tell(shipment, before, at + bytes);
    if (status != HAUL_OK)
        haul__drain(shipment->device);
    return status;
}

haul_status haul__copy_to_told(haul_shipment *shipment, size_t at, const void *from, size_t bytes,
                               int tells)
{
    return copy(shipment, at, (void *)(uintptr_t)from, bytes, tells, order_to);
}

haul_status haul__copy_from_told(haul_shipment *shipment, void *to, size_t at, size_t bytes,
                                 int tells)
{
    return copy(shipment, at, to, bytes, tells, order_from);
}
