/* Refresh, an update of everything: sends the present contents by the existing plan.
 *
 * A refresh knows the device's base: gather writes device addresses, and the device has nothing to
 * patch. Gather also compares every pointer and count with the plan, so a changed one is found
 * before anything is sent. A graph that crosses in pieces is compared as a whole before the first
 * piece is gathered. From the second refresh on the device itself reads a locked source
 * (zero_copy.c).
 */
#include "base/clock.h"
#include "device/piece_sizes.h"
#include "device/staging.h"
#include "device/streams.h"
#include "pack/pack.h"
#include "pack/plan.h"
#include "pack/progress.h"
#include "pack/verify.h"
#include "ship/arena_transfer.h"
#include "ship/pending.h"
#include "ship/rebuild.h"
#include "ship/route.h"
#include "ship/transfer.h"
#include "ship/update.h"
#include "ship/zero_copy.h"

/* The largest refresh that crosses whole. Larger: less of the transfer is hidden behind packing.
 * Smaller: more sources are read twice, because pieces need a check of the whole source before the
 * first is sent. */
#define WHOLE_BYTES HAUL__SECOND_BYTES

/* A pointer has changed, and gather has named a place near it. The arena on the device still has
 * the old pointers: a comparison finds the changed one. If that fails, the first error record
 * stays. */
static void name_stale_pointer(haul_shipment *shipment)
{
    haul_device *device = shipment->device;
    haul_error *error = &device->context->error, found = *error;
    haul__staging staging;
    haul_status status;
    if (!haul__stale_wants_arena(shipment->plan))
        return;
    status = haul__stage(device, shipment->range.arena_bytes, 0, &staging);
    if (status == HAUL_OK) {
        status = haul__shipment_receive(shipment, staging.data, 0, shipment->range.arena_bytes);
        if (status == HAUL_OK)
            status = haul__explain_stale(shipment->plan, staging.data, shipment->range.address);
        haul__unstage(device, &staging);
    }
    if (status != HAUL_OK)
        *error = found;
}

static haul_status conclude(haul_shipment *shipment, const haul_async *async)
{
    return haul__conclude(shipment->device, async, &shipment->work, "transfer of ",
                          shipment->range.arena_bytes, " bytes to the device");
}

/* Sends the list again: if an earlier transfer failed, it may not have arrived. */
static haul_status rebuild(haul_shipment *shipment, const haul_async *async)
{
    haul_status status = haul__send_dependents(shipment->device, shipment->plan, &shipment->range);
    if (status == HAUL_OK)
        return haul__rebuild(shipment->device, shipment->plan, &shipment->range, async);
    haul__drain(shipment->device);
    return status;
}

static haul_status refresh_whole(haul_shipment *shipment, const haul__listener *listener,
                                 const haul_async *async, haul__sending *sending)
{
    haul_device *device = shipment->device;
    haul__staging staging;
    double start;
    haul_status status = haul__stage(device, shipment->range.arena_bytes, 0, &staging);
    if (status != HAUL_OK)
        return status;
    haul__phase_begin(device, "pack");
    start = haul__seconds();
    status = haul__gather(shipment->plan, staging.data, shipment->range.address,
                          shipment->range.address, 1, listener);
    sending->packed = haul__seconds() - start;
    haul__phase_end(device);
    if (status == HAUL_OK)
        status = haul__send_whole(device, shipment->plan, shipment->range.arena_bytes, staging.data,
                                  shipment->range.address, sending);
    if (status == HAUL_OK)
        status = rebuild(shipment, async);
    if (status == HAUL_OK)
        status = conclude(shipment, async);
    haul__unstage_until(device, &staging, status == HAUL_OK ? &shipment->work : NULL);
    return status;
}

static haul_status refresh_in_pieces(haul_shipment *shipment, const haul__listener *listener,
                                     const haul_async *async, haul__sending *sending)
{
    double start = haul__seconds();
    haul_status status = haul__verify(shipment->plan, listener);
    sending->packed = haul__seconds() - start;
    if (status != HAUL_OK)
        return status;
    status = haul__send_arena(shipment->device, shipment->plan, shipment->range.address,
                              shipment->range.address, listener, sending);
    if (status != HAUL_OK) {
        haul__drain(shipment->device);
        return status;
    }
    status = rebuild(shipment, async);
    return status == HAUL_OK ? conclude(shipment, async) : status;
}

static void tell_times(haul_shipment *shipment, double start, const haul__sending *sending)
{
    haul_shipment_info *info = &shipment->info;
    info->transfers_to++;
    haul__count_crossed(info, &shipment->range, 0, shipment->range.arena_bytes, 0);
    info->bytes_to -= sending->saved;
    info->pack_seconds = sending->packed;
    info->transfer_seconds = haul__seconds() - start - sending->packed;
    info->relocate_seconds = 0;
}

static haul_status pack_again(haul_shipment *shipment, haul_route route, const haul_async *async)
{
    const haul__listener *listener = haul__context_listener(shipment->device->context);
    const double start = haul__seconds();
    haul__sending sending = { 0, 0, shipment->range.placing_count > 0 };
    haul_status status;
    haul__context_wake_pool(shipment->device->context, shipment->range.arena_bytes);
    status = route == HAUL_ROUTE_WHOLE ? refresh_whole(shipment, listener, async, &sending)
                                       : refresh_in_pieces(shipment, listener, async, &sending);
    if (status == HAUL_ERROR_STALE)
        name_stale_pointer(shipment);
    if (status == HAUL_OK)
        tell_times(shipment, start, &sending);
    return status;
}

haul_status haul__refresh(haul_shipment *shipment, const haul_async *async)
{
    const haul_device *device = shipment->device;
    const size_t bytes = shipment->range.arena_bytes;
    const double start = haul__seconds();
    haul_route *route = &shipment->info.to_device;
    haul__journey journey;
    haul_status status = HAUL_OK;
    const haul__sending nothing = { 0, 0, 0 };
    int done = 0;
    memset(&journey, 0, sizeof journey);
    journey.is_async = async != NULL;
    journey.is_ordered = haul__plan_is_ordered(shipment->plan);
    journey.is_locked = haul__is_locked(shipment);
    journey.fits = haul__crosses_whole(device, bytes) ||
                   (device->capabilities.chunk_bytes == 0 && bytes <= WHOLE_BYTES);
    *route = haul__route(&journey);
    if (*route == HAUL_ROUTE_LOCKED) /* the device reads the source; if it cannot, the host packs */
        status = haul__pull(shipment, &done);
    if (status == HAUL_OK && done)
        tell_times(shipment, start, &nothing);
    if (status != HAUL_OK || done)
        return status;
    journey.is_locked = 0;
    *route = haul__route(&journey);
    status = pack_again(shipment, *route, async);
    if (status == HAUL_OK && shipment->options.lock_source && !async &&
        shipment->zero_copy.state == HAUL__UNTRIED)
        status = haul__prepare_zero_copy(shipment);
    return status;
}
