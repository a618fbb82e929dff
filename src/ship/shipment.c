/* Shipments: shipped again, asked for addresses and figures, freed.
 *
 * A shipment is a plan and a range on a device. The plan knows the offset of each source byte in
 * the arena, and the range has the arena's address: a device address is their sum. Everything new
 * is complete before anything is handed out or replaced, so a failure only drops the new parts.
 */
#include "base/sized.h"
#include "device/deferred.h"
#include "arena/arena.h"
#include "arena/contents.h"
#include "device/streams.h"
#include "pack/plan.h"
#include "ship/arena_transfer.h"
#include "ship/pending.h"
#include "ship/places.h"
#include "ship/transfer.h"
#include "ship/zero_copy.h"
#include "walk/hints.h"

/* ---- Again. */

static haul_status reship(haul_shipment *shipment, const haul_async *async)
{
    haul_device *device = shipment->device;
    haul_shipment_info info = shipment->info;
    haul__range range;
    const haul__hints hints = { shipment->options.hints, shipment->options.hint_count };
    const int has_hints = haul__are_hints_needed(device, &shipment->options);
    haul_plan *plan;
    haul_status status = haul__plan_again(shipment->plan, has_hints ? &hints : NULL, &plan);
    if (status != HAUL_OK)
        return status;
    status = haul__load(device, plan, &shipment->options, async, &range, &shipment->work, &info);
    if (status != HAUL_OK) {
        haul__plan_drop(plan);
        return status;
    }
    haul__drop_zero_copy(shipment);
    haul__unload(device, &shipment->range);
    haul__plan_drop(shipment->plan);
    shipment->plan = plan;
    shipment->range = range;
    shipment->info = info;
    shipment->info.packs_because = NULL;
    shipment->marks_are_there = haul__is_patched(&range);
    return HAUL_OK;
}

/* The old range goes, so earlier work is finished in an asynchronous call, too. */
haul_status haul_reship_sized(haul_shipment *shipment, const haul_async *async, size_t async_bytes)
{
    haul_async where;
    const haul_status is_read = haul__read_options(&where, sizeof where, async, async_bytes);
    haul_status status = haul__shipment_enter(shipment, NULL);
    if (status != HAUL_OK)
        return status;
    if (is_read != HAUL_OK)
        status = haul__fail(&shipment->device->context->error, is_read, HAUL__NEWER_OPTIONS);
    else if (async)
        status = haul__select_for(shipment->device, &where);
    if (status == HAUL_OK && haul__is_arena(shipment))
        status = haul__arena_reship(shipment, async ? &where : NULL);
    else if (status == HAUL_OK)
        status = reship(shipment, async ? &where : NULL);
    haul__shipment_leave(shipment);
    return status;
}

/* ---- Look-ups. */

void *haul_device_pointer(const haul_shipment *shipment, const void *host)
{
    size_t offset;
    if (!haul__shipment_is_valid(shipment) || !host)
        return NULL;
    if (haul__is_arena(shipment)) {
        offset = (size_t)((uintptr_t)host - (uintptr_t)shipment->contents.base);
        if (offset > shipment->contents.bytes)
            return NULL;
    } else if (haul_plan_offset(shipment->plan, host, &offset) != HAUL_OK) {
        return NULL;
    }
    return (void *)(uintptr_t)(shipment->range.address + offset);
}

void *haul_host_pointer(const haul_shipment *shipment, const void *device)
{
    void *host;
    uint64_t offset;
    if (!haul__shipment_is_valid(shipment) || (uintptr_t)device < shipment->range.address)
        return NULL;
    offset = (uintptr_t)device - shipment->range.address;
    if (offset > shipment->range.arena_bytes)
        return NULL;
    if (haul__is_arena(shipment))
        return shipment->contents.base + offset;
    return haul_plan_address(shipment->plan, (size_t)offset, &host) == HAUL_OK ? host : NULL;
}

void haul_shipment_get_info_sized(const haul_shipment *shipment, haul_shipment_info *info,
                                  size_t info_bytes)
{
    haul_shipment_info ours;
    haul_plan_info found;
    memset(&ours, 0, sizeof ours);
    if (haul__shipment_is_valid(shipment)) {
        const haul__range *range = &shipment->range;
        ours = shipment->info;
        ours.device_bytes = haul__placed_bytes(range, 0, range->bytes, HAUL_PLACE_DEVICE);
        ours.host_bytes = haul__placed_bytes(range, 0, range->bytes, HAUL_PLACE_HOST);
        ours.moving_bytes = haul__placed_bytes(range, 0, range->bytes, HAUL_PLACE_MOVING);
        found = shipment->found;
        if (shipment->plan)
            haul__plan_info(shipment->plan, &found);
        ours.objects = found.objects;
        ours.pointers = found.pointers;
        ours.null_pointers = found.null_pointers;
        ours.graph_bytes = found.graph_bytes;
        ours.arena_bytes = found.arena_bytes;
        ours.bitmap_bytes = found.bitmap_bytes;
        ours.bookkeeping_bytes = found.bookkeeping_bytes;
        ours.discover_seconds = found.discover_seconds;
        ours.layout_seconds = found.layout_seconds;
    }
    if (info)
        haul__write_info(info, info_bytes, &ours, sizeof ours);
}

haul__freed *haul__shipment_end(haul_shipment *last)
{
    haul_device *device = last->device;
    haul_arena *arena = last->contents.arena;
    haul__device_remove(device, &last->resident);
    haul__device_settle(device);
    haul__select(device, NULL);
    haul__shipment_abandon(last);
    haul__drop_zero_copy(last);
    haul__shipment_unload(last);
    if (last->plan)
        haul__plan_drop(last->plan);
    haul__defer_arena(device, arena);
    haul__contents_release(&last->contents);
    haul__release(&device->context->allocator, last, sizeof *last);
    haul__device_drop(device);
    return arena ? haul__arena_let_go(arena) : NULL;
}

static haul__freed *finish(void *object)
{
    return haul__shipment_end(object);
}

void haul_shipment_free(haul_shipment **shipment)
{
    haul_shipment *last = shipment ? *shipment : NULL;
    if (!last)
        return;
    *shipment = NULL;
    if (!haul__shipment_is_valid(last))
        return;
    last->magic = 0;
    haul__free(&last->freed, last->device->context, finish, last);
}
