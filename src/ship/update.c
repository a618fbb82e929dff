/* Refresh and update: contents again, by the plan that exists.
 *
 * A refresh packs with the device's base known, so that pointers are patched while they are copied and nothing is
 * left to do on the device. Gather compares every pointer and count with the plan on the way: what no longer fits is
 * found before anything is sent.
 *
 * An update moves the smallest piece of the arena that holds the range. The piece may hold bytes that are not the
 * range's: pointers, which the device may have rewired, skipped fields, which are its own, and neighbours. So an
 * update to the device reads the piece, writes the range's data over it and sends it back. That is two transfers, and
 * no byte outside the range is ever changed.
 */
#include "ship/ship.h"

/* A pointer has changed, and gather has named a place near it. The device still has what each pointer was; with that
 * the place can be named exactly. Whatever comes of it, the failure is the one that was found first. */
static void name_stale_pointer(haul_shipment *shipment, unsigned char *memory)
{
    haul_error *error = &shipment->device->context->error, found = *error;
    if (!haul__stale_wants_arena(shipment->plan))
        return;
    if (haul__shipment_receive(shipment, memory, 0, shipment->range.arena_bytes) == HAUL_OK)
        haul__explain_stale(shipment->plan, memory, shipment->range.address);
    else
        *error = found;
}

static haul_status send_again(haul_shipment *shipment, unsigned char *memory)
{
    haul__listener listener = haul__shipment_listener(&shipment->options);
    haul_shipment_statistics *statistics = &shipment->statistics;
    double start = haul__seconds(), packed;
    haul_status status = haul__gather(shipment->plan, memory, shipment->range.address, NULL, NULL,
                                      listener.progress ? &listener : NULL);
    if (status == HAUL_ERROR_STALE)
        name_stale_pointer(shipment, memory);
    if (status != HAUL_OK)
        return status;
    packed = haul__seconds();
    status = haul__shipment_send(shipment, 0, memory, shipment->range.arena_bytes);
    if (status != HAUL_OK)
        return status;
    statistics->pack_seconds = packed - start;
    statistics->transfer_seconds = haul__seconds() - packed;
    statistics->relocate_seconds = 0;
    haul_plan_get_statistics(shipment->plan, &statistics->plan);
    return HAUL_OK;
}

static haul_status refresh(haul_shipment *shipment)
{
    haul__staging staging;
    haul_status status = haul__stage(shipment->device, shipment->range.arena_bytes, 0, &staging);
    if (status != HAUL_OK)
        return status;
    status = send_again(shipment, staging.data);
    haul__unstage(shipment->device, &staging);
    return status;
}

haul_status haul_refresh(haul_shipment *shipment)
{
    haul_status status = haul__shipment_enter(shipment);
    if (status != HAUL_OK)
        return status;
    status = refresh(shipment);
    haul__shipment_leave(shipment);
    return status;
}

typedef struct piece {
    uintptr_t first, end; /* of the host range */
    size_t offset, bytes; /* in the arena */
    haul__staging staging;
} piece;

static haul_status find(const haul_shipment *shipment, const void *host, size_t bytes, piece *result)
{
    haul_error *error = &shipment->device->context->error;
    int pointers;
    result->first = (uintptr_t)host;
    if (haul__add_overflows(result->first, bytes, &result->end))
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "the end of the range wraps");
    if (!haul__span(shipment->plan, result->first, result->end, &result->offset, &result->bytes, &pointers))
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "no byte of the range is in the shipment");
    return HAUL_OK;
}

/* The device's copy of the piece, in staging that is the caller's on success. */
static haul_status fetch(haul_shipment *shipment, const void *host, size_t bytes, piece *result)
{
    haul_status status = find(shipment, host, bytes, result);
    if (status == HAUL_OK)
        status = haul__stage(shipment->device, result->bytes, result->offset % HAUL__STAGE_ALIGNMENT,
                             &result->staging);
    if (status != HAUL_OK)
        return status;
    status = haul__shipment_receive(shipment, result->staging.data, result->offset, result->bytes);
    if (status != HAUL_OK)
        haul__unstage(shipment->device, &result->staging);
    return status;
}

haul_status haul_update_device(haul_shipment *shipment, const void *host, size_t bytes)
{
    piece one;
    haul_status status = haul__shipment_enter(shipment);
    if (status != HAUL_OK)
        return status;
    status = fetch(shipment, host, bytes, &one);
    if (status == HAUL_OK) {
        haul__gather_data(shipment->plan, one.first, one.end, one.staging.data, one.offset);
        status = haul__shipment_send(shipment, one.offset, one.staging.data, one.bytes);
        haul__unstage(shipment->device, &one.staging);
    }
    haul__shipment_leave(shipment);
    return status;
}

haul_status haul_update_host(haul_shipment *shipment, void *host, size_t bytes)
{
    piece one;
    haul_status status = haul__shipment_enter(shipment);
    if (status != HAUL_OK)
        return status;
    status = fetch(shipment, host, bytes, &one);
    if (status == HAUL_OK) {
        haul__scatter_data(shipment->plan, one.first, one.end, one.staging.data, one.offset);
        haul__unstage(shipment->device, &one.staging);
    }
    haul__shipment_leave(shipment);
    return status;
}
