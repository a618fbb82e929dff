/* Copies of shipments: from one device to another, without the host.
 *
 * The arena is copied byte for byte. Its pointers are then wrong by one distance, and a patch from
 * the old base moves them; words that a kernel has pointed elsewhere stay. The marks are copied
 * along. If the old range has none, because the host had patched its pointers, they are made from
 * the plan, without a byte of the source. If an arena's marks are incomplete, they are sent from
 * the arena. No device can patch pointers with high tags: the runs that contain them are copied to
 * the host, moved there, and sent back.
 */
#include "base/clock.h"
#include "arena/arena_words.h"
#include "device/deferred.h"
#include "device/piece_sizes.h"
#include "device/staging.h"
#include "device/streams.h"
#include "pack/plan.h"
#include "pack/plan_space.h"
#include "ship/arena_transfer.h"
#include "ship/pending.h"
#include "ship/rebuild.h"
#include "ship/transfer.h"

static haul_status check(const haul_shipment *shipment, haul_device *device)
{
    const haul_device *source = shipment->device;
    haul_error *error = &source->context->error;
    if (!haul__device_is_valid(device))
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "the device to copy to is NULL or closed");
    if (device->context != source->context)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "the two devices have different contexts: open both with one");
    if (!source->table.across || device->table.across != source->table.across ||
        device->table.open != source->table.open)
        return haul__fail(error, HAUL_ERROR_UNSUPPORTED,
                          "no copies from a device \"%s\" to a device \"%s\"", source->table.name,
                          device->table.name);
    if (!haul__device_is_here(device))
        return haul__device_refuse(device);
    return haul__is_arena(shipment) ? haul__contents_check(&shipment->contents, error) : HAUL_OK;
}

/* Copies bytes [first, end) of the range. */
static haul_status order_across(const haul_shipment *shipment, haul_shipment *copy, size_t first,
                                size_t end)
{
    haul_device *device = copy->device;
    haul_status status =
        device->table.across(device->state, copy->range.address + first, shipment->device->state,
                             shipment->range.address + first, end - first);
    return status == HAUL_OK ? HAUL_OK
                             : haul__device_failed(device, status, "copy of ", end - first,
                                                   " bytes from device to device");
}

/* Copies arena and marks. Before a list of pointers there is a gap, which is not copied. */
static haul_status order_along(const haul_shipment *shipment, haul_shipment *copy)
{
    haul__range *range = &copy->range;
    haul_status status;
    range->listed = shipment->range.listed;
    range->grown = shipment->range.grown;
    if (range->listed == 0)
        return order_across(shipment, copy, 0, range->bytes);
    status = order_across(shipment, copy, 0, range->arena_bytes);
    return status == HAUL_OK ? order_across(shipment, copy, haul__listed_at(range), range->bytes)
                             : status;
}

static haul_status order(const haul_shipment *shipment, haul_shipment *copy)
{
    const haul__range *old = &shipment->range, *range = &copy->range;
    int along = haul__marks_hold(shipment) && range->bytes == old->bytes;
    haul_status status =
        along ? order_along(shipment, copy) : order_across(shipment, copy, 0, range->arena_bytes);
    if (status == HAUL_OK)
        status = haul__send_dependents(copy->device, shipment->plan, range);
    if (status != HAUL_OK || !haul__is_patched(range))
        return status;
    if (!along)
        status = haul__is_arena(copy) ? haul__arena_send_marks(copy)
                                      : haul__send_marks(copy->device, copy->plan, &copy->range);
    if (status != HAUL_OK)
        return status;
    return haul__is_arena(copy) ? haul__arena_relocate(copy, old->address)
                                : haul__relocate(copy->device, &copy->range, old->address);
}

static haul_status move_run(haul_device *device, const haul__space *space,
                            const haul__tagged_run *run, uint64_t from)
{
    const haul_address at = space->final_base + run->at;
    haul__staging staging;
    haul_status status = haul__stage(device, run->bytes, 0, &staging);
    if (status != HAUL_OK)
        return status;
    status = haul__copy_from(device, staging.data, at, run->bytes);
    if (status == HAUL_OK)
        status =
            haul__conclude(device, NULL, NULL, "copy of ", run->bytes, " bytes from the device");
    if (status == HAUL_OK)
        status = haul__move_tagged(space, run, staging.data, from);
    if (status == HAUL_OK)
        status = haul__copy_to(device, at, staging.data, run->bytes);
    if (status == HAUL_OK)
        status = haul__conclude(device, NULL, NULL, "copy of ", run->bytes, " bytes to the device");
    haul__unstage(device, &staging);
    return status;
}

static haul_status move_tagged(const haul_shipment *copy, const haul_shipment *shipment)
{
    haul_device *device = copy->device;
    const uint64_t to = copy->range.address;
    haul__tagged_run run = { 0, 0, 0, 0 };
    haul_status status = HAUL_OK;
    haul__space space;
    if (!haul__is_arena(copy) && !shipment->plan)
        return HAUL_OK;
    space = haul__is_arena(copy)
                ? haul__contents_space(&copy->contents, to, &device->context->error)
                : haul__plan_space(shipment->plan, to, to);
    while (status == HAUL_OK && haul__next_tagged_run(&space, haul__piece_most(device), &run))
        status = move_run(device, &space, &run, shipment->range.address);
    return status;
}

static haul_status fill(haul_shipment *copy, const haul_shipment *shipment)
{
    haul_device *device = copy->device;
    double start = haul__seconds();
    haul_status status = order(shipment, copy);
    haul_shipment_info *info = &copy->info;
    if (status == HAUL_OK)
        status = move_tagged(copy, shipment);
    if (status == HAUL_OK)
        status = haul__rebuild(device, shipment->plan, &copy->range, NULL);
    if (status == HAUL_OK)
        status = haul__conclude(device, NULL, NULL, "copy of ", copy->range.bytes,
                                " bytes from device to device");
    else
        haul__drain(device);
    if (status != HAUL_OK)
        return status;
    copy->found = shipment->found;
    info->base = copy->range.address;
    haul__count_sent(info, &copy->range);
    info->transfer_seconds = haul__seconds() - start;
    return HAUL_OK;
}

static haul_status load(haul_shipment *copy, const haul_shipment *shipment)
{
    haul_status status = HAUL_OK;
    if (haul__is_arena(copy)) {
        haul__arena_lay_out(copy);
        status = haul__arena_allocate(copy);
    } else {
        status = haul__lay_out(copy->device, copy->plan, 1, &copy->range);
        if (status == HAUL_OK)
            status = haul__allocate_range(copy->device, copy->plan, &copy->options, &copy->range);
    }
    if (status != HAUL_OK)
        return status;
    status = fill(copy, shipment);
    if (status != HAUL_OK)
        haul__unload(copy->device, &copy->range);
    return status;
}

/* An open copy without a range, of the same plan or the same contents. */
static haul_status open_copy(const haul_shipment *shipment, haul_device *device,
                             haul_shipment **result)
{
    haul_shipment *copy = haul__shipment_new(device, &shipment->options);
    haul_status status = HAUL_OK;
    if (!copy)
        return HAUL_ERROR_MEMORY;
    copy->device = device;
    copy->plan = shipment->plan;
    if (haul__is_arena(shipment))
        status = haul__contents_copy(&copy->contents, &shipment->contents, &device->context->error);
    if (status == HAUL_OK)
        *result = copy;
    else
        haul__shipment_discard(device, copy);
    return status;
}

static haul_status copy_to(haul_shipment *shipment, haul_device *device, haul_shipment **result)
{
    haul_shipment *copy;
    haul_status status = check(shipment, device);
    if (status != HAUL_OK)
        return status;
    device->timed_out = device->is_unfenced = 0;
    status = haul__select(device, NULL);
    if (status != HAUL_OK)
        return status;
    status = open_copy(shipment, device, &copy);
    if (status != HAUL_OK)
        return status;
    status = load(copy, shipment);
    if (status != HAUL_OK) {
        haul__note_timeout(shipment, device);
        haul__defer_arena(device, copy->contents.arena);
        haul__contents_close(&copy->contents);
        haul__shipment_discard(device, copy);
        return status;
    }
    if (shipment->plan)
        haul__plan_hold(shipment->plan);
    haul__shipment_complete(copy, device, shipment->plan);
    *result = copy;
    return HAUL_OK;
}

haul_status haul_shipment_copy(haul_shipment *shipment, haul_device *device, haul_shipment **copy)
{
    haul_status status;
    if (copy)
        *copy = NULL;
    status = haul__shipment_enter(shipment, NULL);
    if (status != HAUL_OK)
        return status;
    status = copy ? copy_to(shipment, device, copy)
                  : haul__fail(&shipment->device->context->error, HAUL_ERROR_ARGUMENT,
                               "the address of the new shipment is NULL");
    haul__shipment_leave(shipment);
    return status;
}
