/* Staging: one buffer for one call. A buffer of up to a piece comes from the ring; a larger one has
 * memory of its own.
 */
#include "device/deferred.h"
#include "device/device.h"
#include "device/piece_sizes.h"
#include "device/staging.h"

haul_status haul__stage(haul_device *device, size_t bytes, size_t skew, haul__staging *staging)
{
    haul_status status;
    size_t total;
    memset(staging, 0, sizeof *staging);
    if (haul__add_overflows(bytes, skew, &total))
        return haul__fail(&device->context->error, HAUL_ERROR_LIMIT,
                          "a staging buffer larger than the address space");
    status = total <= haul__piece_most(device) ? haul__ring_take(device, total, &staging->buffer)
                                               : haul__memory_get(device, total, &staging->own);
    if (status != HAUL_OK)
        return status;
    staging->plain = staging->buffer ? staging->buffer->memory.plain : staging->own.plain;
    staging->data =
        (unsigned char *)(staging->buffer ? staging->buffer->memory.memory : staging->own.memory) +
        skew;
    return HAUL_OK;
}

void haul__unstage(haul_device *device, haul__staging *staging)
{
    if (staging->buffer)
        haul__ring_put(device, staging->buffer);
    else
        haul__memory_put(device, &staging->own);
}

void haul__unstage_until(haul_device *device, haul__staging *staging, const haul__work *work)
{
    if (!work || !work->is_pending)
        haul__unstage(device, staging);
    else if (staging->buffer)
        haul__ring_put_until(device, staging->buffer, work->fence);
    else
        haul__memory_put_until(device, &staging->own, work->fence);
}

haul_status haul__stage_word(haul_device *device, haul__staging *staging)
{
    haul_status status = haul__stage(device, sizeof(uint32_t), 0, staging);
    if (status != HAUL_OK)
        return status;
    memset(staging->data, 0, sizeof(uint32_t));
    if (staging->plain) {
        haul__unstage(device, staging);
        staging->data = NULL;
    }
    return HAUL_OK;
}

int haul__unstage_word(haul_device *device, haul__staging *staging)
{
    uint32_t word = 0;
    if (!staging->data)
        return 0;
    memcpy(&word, staging->data, sizeof word);
    haul__unstage(device, staging);
    return word != 0;
}
