/* Arenas in memory of a device: pinned, for fast copies, or mirrored, with device memory at the
 * same addresses. If the device has no such memory, the arena gets ordinary memory.
 */
#include "arena/arena.h"
#include "base/sized.h"
#include "device/deferred.h"
#include "device/device.h"
#include "device/range.h"
#include "device/streams.h"

#define OFFSETS_ROOM ((size_t)4096) /* for the offsets of a few explicit relocations */

/* If timed-out work still uses the memory, it is left to the system. */
static void release_staged(const haul__region *region)
{
    haul_device *device = region->user;
    haul__device_settle(device);
    if (haul__await_region(device, region))
        device->table.unstage(device->state, region->memory, region->bytes);
    haul__device_drop(device);
}

static void release_mirrored(const haul__region *region)
{
    haul_device *device = region->user;
    const haul_mirror mirror = { region->memory, region->window, region->mirrored };
    haul__device_settle(device);
    if (haul__await_region(device, region)) {
        device->table.unmirror(device->state, &mirror);
        device->held_bytes -= mirror.bytes;
    }
    haul__device_drop(device);
}

/* Pinned memory. HAUL_OK with region->memory NULL: the device has none to give. */
static haul_status get_staged(haul_device *device, const haul_arena_options *options,
                              haul__region *region)
{
    size_t bytes;
    haul_status status;
    if (haul__add_overflows(haul__arena_default_fixed_bytes(options), HAUL_ALIGNMENT_MAX, &bytes))
        return HAUL_OK;
    status = device->table.stage(device->state, bytes, &region->memory);
    if (status == HAUL_ERROR_DEVICE_LOST)
        return haul__device_failed(device, status, "staging of ", bytes, " bytes");
    if (status != HAUL_OK || !region->memory) {
        region->memory = NULL;
        return HAUL_OK;
    }
    memset(region->memory, 0, bytes);
    region->bytes = bytes;
    region->release = release_staged;
    region->user = device;
    region->pinned = 1;
    haul__device_hold(device);
    return HAUL_OK;
}

/* Mirrored memory, with room on the device for marks behind the arena's capacity. */
static haul_status get_mirrored(haul_device *device, const haul_arena_options *options,
                                haul__region *region)
{
    const size_t fixed = haul__arena_default_fixed_bytes(options);
    const size_t marks = fixed / HAUL__MARK_BYTES * sizeof(uint64_t) + OFFSETS_ROOM;
    haul_mirror mirror;
    size_t bytes;
    haul_status status;
    if (!device->table.mirror || haul__add_overflows(fixed, marks, &bytes) ||
        bytes > haul__device_left(device))
        return HAUL_OK;
    status = device->table.mirror(device->state, bytes, &mirror);
    if (status == HAUL_ERROR_DEVICE_LOST)
        return haul__device_failed(device, status, "mirroring of ", bytes, " bytes");
    if (status != HAUL_OK)
        return HAUL_OK;
    region->memory = mirror.memory;
    region->bytes = fixed;
    region->release = release_mirrored;
    region->user = device;
    region->pinned = 1;
    region->window = mirror.window;
    region->mirrored = mirror.bytes;
    device->held_bytes += mirror.bytes;
    haul__device_hold(device);
    return HAUL_OK;
}

/* In memory that the device gives; in ordinary memory, if it has none. */
static haul_status make_on_device(haul_device *device, const haul_arena_options *options,
                                  haul_arena **arena)
{
    haul__region region;
    haul_status status = HAUL_OK;
    memset(&region, 0, sizeof region);
    if (options->mirrored)
        status = get_mirrored(device, options, &region);
    if (status == HAUL_OK && !region.memory)
        status = get_staged(device, options, &region);
    if (status != HAUL_OK)
        return status;
    status = haul__arena_make(device->context, options, region.memory ? &region : NULL, arena);
    if (status == HAUL_OK)
        return HAUL_OK;
    if (region.memory)
        region.release(&region);
    return haul__fail(&device->context->error, status, "%s", haul__arena_why_not(status));
}

/* An arena in ordinary memory can be made while another call uses the context. */
static haul_status create(haul_context *context, const haul_arena_options *options,
                          haul_arena **arena)
{
    const haul_device *device = options->device;
    const char *why_not = NULL;
    haul_status status;
    if (device && !haul__device_is_valid(device))
        why_not = "the arena's device has been closed";
    else if (device && device->context != context)
        why_not = "the arena's device belongs to another context";
    else if (!device && (options->pinned || options->mirrored))
        why_not = "a pinned or mirrored arena needs a device";
    if (why_not)
        return haul__context_refuse(context, HAUL_ERROR_ARGUMENT, why_not);
    if (!options->pinned && !options->mirrored) {
        status = haul__arena_make(context, options, NULL, arena);
        return status == HAUL_OK
                   ? status
                   : haul__context_refuse(context, status, haul__arena_why_not(status));
    }
    status = haul__device_enter(options->device);
    if (status != HAUL_OK)
        return status;
    status = make_on_device(options->device, options, arena);
    haul__context_leave(context);
    return status;
}

haul_status haul_arena_create_sized(haul_context *context, const haul_arena_options *options,
                                    size_t options_bytes, unsigned layout, haul_arena **arena)
{
    haul_arena_options chosen;
    if (arena)
        *arena = NULL;
    if (!haul__context_is_valid(context))
        return HAUL_ERROR_ARGUMENT;
    if (!arena)
        return haul__context_refuse(context, HAUL_ERROR_ARGUMENT,
                                    "the address of the new arena is NULL");
    if (layout != HAUL_ARENA_LAYOUT)
        return haul__context_refuse(context, HAUL_ERROR_VERSION,
                                    "inline allocation was compiled for arenas of another layout");
    if (haul__read_options(&chosen, sizeof chosen, options, options_bytes) != HAUL_OK)
        return haul__context_refuse(context, HAUL_ERROR_VERSION, HAUL__NEWER_OPTIONS);
    return create(context, &chosen, arena);
}
