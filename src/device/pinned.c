/* Pinned memory: host memory that the device copies fast. A device that refuses gets plain memory
 * of the allocator instead, except when it is lost.
 */
#include "device/device.h"
#include "device/pinned.h"
#include "device/streams.h"

haul_status haul__memory_get(haul_device *device, size_t bytes, haul__memory *result)
{
    const haul_device_table *table = &device->table;
    haul_status status;
    result->memory = NULL;
    result->bytes = bytes;
    result->plain = 0;
    status = table->stage(device->state, bytes, &result->memory);
    if (status == HAUL_OK &&
        (!result->memory || (uintptr_t)result->memory % HAUL__STAGE_ALIGNMENT != 0)) {
        if (result->memory)
            table->unstage(device->state, result->memory, bytes);
        status = HAUL_ERROR_MEMORY;
    }
    if (status == HAUL_OK) {
        haul__atomic_store(&device->pinned_bytes, device->pinned_bytes + bytes);
        return HAUL_OK;
    }
    result->memory = NULL;
    if (status != HAUL_ERROR_DEVICE_LOST) {
        result->plain = 1;
        result->memory = haul__allocate(&device->context->allocator, bytes, HAUL__STAGE_ALIGNMENT);
    }
    return result->memory ? HAUL_OK
                          : haul__device_failed(device, status, "staging of ", bytes, " bytes");
}

void haul__memory_release(haul_device *device, haul__memory *memory)
{
    if (memory->memory && memory->plain) {
        haul__release(&device->context->allocator, memory->memory, memory->bytes);
    } else if (memory->memory) {
        device->table.unstage(device->state, memory->memory, memory->bytes);
        haul__atomic_store(&device->pinned_bytes, device->pinned_bytes - memory->bytes);
    }
    memory->memory = NULL;
    memory->bytes = 0;
}
