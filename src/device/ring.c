/* The ring: staging buffers that copies go through.
 *
 * Pinning memory is slow: 4 MiB take longer to pin than to send. So a device has a ring of buffers,
 * made at their first use and kept until it closes. A buffer that an order reads or writes has the
 * fence behind that order. A call takes a free buffer, else the oldest if its fence has been
 * reached, else makes a new one. It waits for the oldest only when all are in use.
 */
#include "device/device.h"
#include "device/piece_sizes.h"
#include "device/streams.h"

size_t haul__ring_buffers(const haul_device *device)
{
    const size_t piece = haul__piece_limit(device), count = (HAUL__RING_BYTES + piece - 1) / piece;
    return count < HAUL__RING_BUFFERS ? count : HAUL__RING_BUFFERS;
}

static haul__buffer *find_free(haul_device *device, size_t bytes)
{
    haul__buffer *found = NULL;
    size_t i;
    for (i = 0; i < HAUL__RING_BUFFERS; i++) {
        haul__buffer *buffer = &device->ring[i];
        if (buffer->use != HAUL__FREE || !buffer->memory.memory)
            continue;
        if (buffer->memory.bytes >= bytes)
            return buffer;
        found = found ? found : buffer;
    }
    return found;
}

static haul__buffer *find_unmade(haul_device *device)
{
    const size_t count = haul__ring_buffers(device);
    size_t i;
    for (i = 0; i < count; i++)
        if (device->ring[i].use == HAUL__FREE && !device->ring[i].memory.memory)
            return &device->ring[i];
    return NULL;
}

static haul__buffer *find_oldest(haul_device *device)
{
    haul__buffer *oldest = NULL;
    size_t i;
    for (i = 0; i < HAUL__RING_BUFFERS; i++)
        if (device->ring[i].use == HAUL__BUSY && (!oldest || device->ring[i].fence < oldest->fence))
            oldest = &device->ring[i];
    return oldest;
}

/* The oldest buffer if its fence has been reached, else a new one, else the oldest after a wait. */
static haul_status find_used(haul_device *device, haul__buffer *oldest, haul__buffer **result)
{
    haul_status status = haul__poll(device, oldest->fence);
    *result = status == HAUL_ERROR_PENDING ? find_unmade(device) : NULL;
    if (*result)
        return HAUL_OK;
    if (status == HAUL_ERROR_PENDING)
        status = haul__await(device, oldest->fence);
    if (status != HAUL_ERROR_PENDING)
        oldest->use = HAUL__FREE;
    *result = oldest;
    return status == HAUL_OK
               ? HAUL_OK
               : haul__device_failed(device, status, "a copy before this one, of up to ",
                                     oldest->memory.bytes, " bytes,");
}

/* How much to pin for `bytes`: one of a few sizes, so that buffers fit most uses, and no more than
 * a piece for what fits one. */
static size_t size_for(const haul_device *device, size_t bytes)
{
    static const size_t sizes[] = { HAUL__FIRST_BYTES, HAUL__SECOND_BYTES, HAUL__POOL_PIECE_BYTES,
                                    HAUL__PIECE_BYTES };
    const size_t piece = haul__piece_limit(device);
    size_t i;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (bytes <= sizes[i])
            return i > 0 && bytes <= piece && piece < sizes[i] ? piece : sizes[i];
    return bytes;
}

haul_status haul__ring_take(haul_device *device, size_t bytes, haul__buffer **result)
{
    haul__buffer *buffer = find_free(device, bytes);
    haul__buffer *oldest = buffer ? NULL : find_oldest(device);
    haul_status status = HAUL_OK;
    if (oldest)
        status = find_used(device, oldest, &buffer);
    else if (!buffer)
        buffer = find_unmade(device);
    if (status != HAUL_OK)
        return status;
    if (!buffer)
        return haul__fail(&device->context->error, HAUL_ERROR_MEMORY,
                          "all staging buffers are in use");
    if (buffer->memory.bytes < bytes)
        haul__memory_release(device, &buffer->memory);
    if (!buffer->memory.memory)
        status = haul__memory_get(device, size_for(device, bytes), &buffer->memory);
    if (status != HAUL_OK)
        return status;
    buffer->use = HAUL__TAKEN;
    *result = buffer;
    return HAUL_OK;
}

void haul__ring_put_until(haul_device *device, haul__buffer *buffer, uint64_t fence)
{
    buffer->use = HAUL__BUSY;
    buffer->fence = fence;
    buffer->stream = device->stream;
}

void haul__ring_put(haul_device *device, haul__buffer *buffer)
{
    buffer->use = HAUL__FREE;
    if (device->timed_out)
        haul__ring_put_until(device, buffer, device->timeout_fence);
}

haul_status haul__ring_put_behind(haul_device *device, haul__buffer *buffer, size_t bytes,
                                  haul_status ordered)
{
    uint64_t fence;
    haul_status status = ordered;
    if (status == HAUL_OK) {
        status = haul__fence_behind(device, bytes, &fence);
        if (status == HAUL_OK) {
            haul__ring_put_until(device, buffer, fence);
            return HAUL_OK;
        }
        haul__drain(device);
    }
    haul__ring_put(device, buffer);
    return status;
}

void haul__ring_close(haul_device *device)
{
    size_t i;
    for (i = 0; i < HAUL__RING_BUFFERS; i++) {
        haul__buffer *buffer = &device->ring[i];
        if (buffer->use == HAUL__BUSY && haul__await(device, buffer->fence) == HAUL_ERROR_PENDING)
            continue;
        haul__memory_release(device, &buffer->memory);
    }
}

/* ---- Sending. */

haul_status haul__send_buffer(haul_device *device, haul__buffer *buffer, haul_address to,
                              size_t bytes)
{
    return haul__ring_put_behind(device, buffer, bytes,
                                 haul__copy_to(device, to, buffer->memory.memory, bytes));
}

haul_status haul__send_bytes(haul_device *device, const void *memory, size_t bytes, haul_address to)
{
    const unsigned char *from = memory;
    const size_t most = haul__piece_bytes(device, bytes);
    haul_status status = HAUL_OK;
    size_t at, now;
    for (at = 0; at < bytes && status == HAUL_OK; at += now) {
        haul__buffer *buffer;
        now = most < bytes - at ? most : bytes - at;
        status = haul__ring_take(device, now, &buffer);
        if (status != HAUL_OK)
            break;
        haul__pool_copy(haul__context_pool(device->context, now), buffer->memory.memory, from + at,
                        now);
        status = haul__send_buffer(device, buffer, to + at, now);
    }
    return status;
}
