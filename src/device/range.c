/* Ranges: device memory for one graph, and the patch of its pointers. */
#include <inttypes.h>

#include "device/deferred.h"
#include "device/device.h"
#include "device/range.h"
#include "device/streams.h"

/* HAUL_ERROR_DEVICE_MEMORY: the range is larger than its own budget, or than the rest of the
 * device's. */
static haul_status check_budget(haul_device *device, const haul__range *range, uint64_t need)
{
    const uint64_t left = haul__device_left(device);
    if (range->most > 0 && need > range->most)
        return haul__fail(&device->context->error, HAUL_ERROR_DEVICE_MEMORY,
                          "%" PRIu64 " bytes of device memory are needed, and the shipment's "
                          "budget has %" PRIu64,
                          need, range->most);
    if (need > left)
        return haul__fail(&device->context->error, HAUL_ERROR_DEVICE_MEMORY,
                          "%" PRIu64 " bytes of device memory are needed, and %" PRIu64
                          " of the device's budget of %zu are left",
                          need, left, device->capabilities.budget_bytes);
    return HAUL_OK;
}

static haul_status allocate(haul_device *device, size_t alignment, haul__range *range)
{
    const haul_device_table *table = &device->table;
    const uint64_t need = haul__placed_bytes(range, 0, range->bytes, HAUL_PLACE_DEVICE);
    haul_status status = check_budget(device, range, need);
    if (status != HAUL_OK)
        return status;
    status = range->placings
                 ? table->allocate_in_places(device->state, range->bytes, alignment,
                                             range->placings, range->placing_count, &range->address)
                 : table->allocate(device->state, range->bytes, alignment, &range->address);
    if (status != HAUL_OK)
        return haul__device_failed(device, status, "allocation of ", range->bytes,
                                   " bytes of device memory");
    device->held_bytes += need;
    device->allocations++;
    return HAUL_OK;
}

/* Checks the device's answer: a bad address is noticed here, not by a kernel that reads wrong
 * bytes. */
haul_status haul__allocate_aligned(haul_device *device, size_t alignment, haul__range *range)
{
    const haul_status status = allocate(device, alignment, range);
    if (status != HAUL_OK) {
        haul__drop_placings(device, range);
        return status;
    }
    if (range->address % alignment == 0 && range->address != 0 &&
        range->address <= UINTPTR_MAX - range->bytes)
        return HAUL_OK;
    haul__unload(device, range);
    return haul__fail(&device->context->error, HAUL_ERROR_DEVICE,
                      "the device gave misaligned memory, or memory beyond the reach of a pointer");
}

haul_relocation haul__relocation_of(const haul__range *range, uint64_t from, uint64_t bytes,
                                    uint64_t delta)
{
    haul_relocation relocation;
    uint64_t bits = (uint64_t)range->bitmap_bytes * 8;
    memset(&relocation, 0, sizeof relocation);
    relocation.arena = range->address;
    relocation.from = from;
    relocation.bytes = bytes;
    relocation.delta = delta;
    relocation.word_bytes = sizeof(void *);
    if (range->listed > 0) {
        relocation.offsets = range->address + haul__listed_at(range);
        relocation.offset_count = range->listed;
        return relocation;
    }
    relocation.words = range->arena_bytes / sizeof(void *);
    if (relocation.words > bits)
        relocation.words = bits;
    relocation.bitmap = range->address + range->bitmap_at;
    relocation.offsets = range->address + range->explicit_at;
    relocation.offset_count = range->explicit_count;
    return relocation;
}

haul_status haul__relocate(haul_device *device, const haul__range *range, uint64_t from)
{
    haul_relocation relocation =
        haul__relocation_of(range, from, range->arena_bytes, range->address - from);
    return haul__patch(device, &relocation);
}

haul_status haul__send_as_one(haul_device *device, const haul__range *range, uint64_t from,
                              const void *memory)
{
    haul_relocation relocation =
        haul__relocation_of(range, from, range->arena_bytes, range->address - from);
    haul_status status;
    haul__phase_begin(device, "transfer");
    status = device->table.send(device->state, &relocation, memory, range->bytes);
    haul__phase_end(device);
    if (status == HAUL_OK)
        return HAUL_OK;
    haul__device_failed(device, status, "sending of ", range->bytes, " bytes to the device");
    haul__drain(device);
    return status;
}

haul_status haul__fetch_as_one(haul_device *device, const haul__range *range, uint64_t to,
                               unsigned char *memory)
{
    haul_relocation relocation =
        haul__relocation_of(range, range->address, range->arena_bytes, to - range->address);
    haul_status status;
    haul__phase_begin(device, "transfer");
    status = device->table.fetch(device->state, memory, &relocation, range->arena_bytes);
    haul__phase_end(device);
    if (status == HAUL_OK || status == HAUL_ERROR_UNSUPPORTED)
        return status;
    haul__device_failed(device, status, "fetching of ", range->arena_bytes,
                        " bytes from the device");
    haul__drain(device);
    return status;
}
