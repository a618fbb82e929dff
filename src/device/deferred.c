/* Deferred release: memory, locks and arenas that a device may still use when a call gives them
 * back.
 *
 * When a wait of a call times out, the device's work goes on. Whatever the call then gives back, on
 * the host or the device, is listed with the fence behind that work. It is released when the fence
 * has been reached, at the latest when the device closes. If the wait of the close times out, too,
 * the memory is left to the system: a new owner would have it while the old work still writes.
 */
#include "arena/arena.h"
#include "device/deferred.h"
#include "device/device.h"
#include "device/streams.h"

static void release_kept(haul_device *device, haul__deferred *kept)
{
    if (kept->bytes)
        device->table.release(device->state, kept->address, kept->bytes);
    device->held_bytes -= kept->held;
    haul__memory_release(device, &kept->memory);
    haul__unlock_source(device, &kept->locked);
    if (kept->is_lent)
        kept->region->lent--;
    if (kept->arena)
        haul__arena_drop(kept->arena);
}

/* `status`: what a poll of its fence has answered. Unlock only when the work is known to have
 * finished; otherwise the device could write into memory that has a new owner. */
static int may_be_used(const haul__deferred *kept, haul_status status)
{
    if (kept->locked.count == 0)
        return status == HAUL_ERROR_PENDING;
    return status != HAUL_OK && status != HAUL_ERROR_DEVICE_LOST;
}

/* Waits for a fence. An error may belong to other work, and is reported only once: a second wait
 * tells about this fence. */
static haul_status await_over(haul_device *device, uint64_t fence)
{
    haul_status status = haul__await(device, fence);
    return status == HAUL_OK || status == HAUL_ERROR_PENDING ? status : haul__await(device, fence);
}

/* Leaves a thing to the system: it is never released. An arena stays held. */
static void leave(haul_device *device, haul__deferred *kept)
{
    haul__leave_locked(device, &kept->locked);
    if (kept->region)
        kept->region->is_left = 1;
}

/* Without memory for the list: waits for the fence, and leaves the thing to the system if the wait
 * fails. */
static void keep(haul_device *device, haul__deferred *kept, uint64_t fence)
{
    if (!haul__grow(&device->context->allocator, &device->deferred, &device->deferred_capacity,
                    device->deferred_count + 1, sizeof *device->deferred)) {
        if (may_be_used(kept, await_over(device, fence)))
            leave(device, kept);
        else
            release_kept(device, kept);
        return;
    }
    kept->fence = fence;
    device->deferred[device->deferred_count++] = *kept;
}

void haul__memory_put_until(haul_device *device, haul__memory *memory, uint64_t fence)
{
    haul__deferred kept;
    memset(&kept, 0, sizeof kept);
    kept.memory = *memory;
    keep(device, &kept, fence);
    memory->memory = NULL;
    memory->bytes = 0;
}

static void collect(haul_device *device,
                    haul_status (*is_reached)(haul_device *device, uint64_t fence))
{
    size_t i, left = 0;
    for (i = 0; i < device->deferred_count; i++) {
        if (may_be_used(&device->deferred[i], is_reached(device, device->deferred[i].fence)))
            device->deferred[left++] = device->deferred[i];
        else
            release_kept(device, &device->deferred[i]);
    }
    device->deferred_count = left;
    if (left > 0 || !device->deferred)
        return;
    haul__release(&device->context->allocator, device->deferred,
                  device->deferred_capacity * sizeof *device->deferred);
    device->deferred = NULL;
    device->deferred_capacity = 0;
}

void haul__deferred_collect(haul_device *device)
{
    if (device->deferred_count > 0 && haul__select(device, NULL) == HAUL_OK)
        collect(device, haul__poll);
    haul__clear_error(&device->context->error);
}

void haul__deferred_await(haul_device *device)
{
    if (device->deferred_count > 0 && haul__select(device, NULL) == HAUL_OK)
        collect(device, await_over);
}

void haul__memory_put(haul_device *device, haul__memory *memory)
{
    if (device->timed_out && memory->memory)
        haul__memory_put_until(device, memory, device->timeout_fence);
    else
        haul__memory_release(device, memory);
}

void haul__unload(haul_device *device, haul__range *range)
{
    haul__deferred kept;
    memset(&kept, 0, sizeof kept);
    if (range->mirror) {
        kept.region = &range->mirror->region;
        kept.is_lent = 1;
    } else {
        kept.address = range->address;
        kept.bytes = range->bytes;
        kept.held = haul__placed_bytes(range, 0, range->bytes, HAUL_PLACE_DEVICE);
    }
    haul__drop_placings(device, range);
    if (device->timed_out)
        keep(device, &kept, device->timeout_fence);
    else
        release_kept(device, &kept);
}

/* An arena in memory of this device holds the device and waits before it frees that memory; here it
 * is only listed. Any other arena is held. */
void haul__defer_arena(haul_device *device, haul_arena *arena)
{
    haul__deferred kept;
    if (!arena || !device->timed_out)
        return;
    memset(&kept, 0, sizeof kept);
    if (arena->region.pinned && arena->region.user == device) {
        kept.region = &arena->region;
    } else {
        kept.arena = arena;
        haul__arena_hold(arena);
    }
    keep(device, &kept, device->timeout_fence);
}

int haul__await_region(haul_device *device, const haul__region *region)
{
    size_t i, left = 0;
    int is_done = !region->is_left;
    haul__select(device, NULL);
    for (i = 0; i < device->deferred_count; i++) {
        if (device->deferred[i].region != region)
            device->deferred[left++] = device->deferred[i];
        else if (await_over(device, device->deferred[i].fence) == HAUL_ERROR_PENDING)
            is_done = 0;
    }
    device->deferred_count = left;
    if (region->mirrored == 0)
        return is_done;
    device->timed_out = 0;
    haul__drain(device);
    return is_done && !device->timed_out;
}

void haul__unlock(haul_device *device, haul__locked *locked, uint64_t fence)
{
    haul__deferred kept;
    memset(&kept, 0, sizeof kept);
    kept.locked = *locked;
    if (fence == 0 || !may_be_used(&kept, await_over(device, fence))) {
        haul__unlock_source(device, locked);
        return;
    }
    memset(locked, 0, sizeof *locked);
    keep(device, &kept, fence);
}

/* If the last wait times out, too, its things are left to the system. */
void haul__deferred_close(haul_device *device)
{
    size_t i;
    haul__select(device, NULL);
    collect(device, await_over);
    for (i = 0; i < device->deferred_count; i++)
        leave(device, &device->deferred[i]);
    if (device->deferred)
        haul__release(&device->context->allocator, device->deferred,
                      device->deferred_capacity * sizeof *device->deferred);
}
