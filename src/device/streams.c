/* Streams: orders to a device, and when they are done.
 *
 * A device executes the orders of one stream in sequence. A fence is a place in that sequence. A
 * synchronous call waits at its end. An asynchronous call makes a fence and returns.
 *
 * A device reports a failure to the next call that waits or asks, and the failure may belong to an
 * earlier order on another stream. So each failure is counted, and all work that was under way at
 * that time counts as failed.
 *
 * After a failed order the stream is drained before any memory is released: the device may still be
 * reading it.
 */
#include <inttypes.h>

#include "device/device.h"
#include "device/streams.h"

void haul__phase_begin(haul_device *device, const char *name)
{
    if (device->table.phase_begin)
        device->table.phase_begin(device->state, name);
}

void haul__phase_end(haul_device *device)
{
    if (device->table.phase_end)
        device->table.phase_end(device->state);
}

haul_status haul__device_failed(haul_device *device, haul_status status, const char *before,
                                uint64_t bytes, const char *after)
{
    const char *words = device->table.message(device->state);
    if (!words)
        words = "";
    return haul__fail(&device->context->error, status, "%s%" PRIu64 "%s failed%s%s", before, bytes,
                      after, *words ? ": " : "", words);
}

/* ---- Fences. */

/* A user's stream stays selected after the call, which saves an order. By the next call it may have
 * been destroyed or be capturing, so every call selects first. Only the device's own stream needs
 * no re-selection. */
haul_status haul__select(haul_device *device, void *stream)
{
    haul_status status;
    if (!stream && !device->stream)
        return HAUL_OK;
    status = device->table.select(device->state, stream);
    if (status != HAUL_OK)
        return haul__fail(&device->context->error, status, "selecting the stream failed: %s",
                          device->table.message(device->state));
    device->stream = stream;
    return HAUL_OK;
}

haul_status haul__select_for(haul_device *device, const haul_async *async)
{
    if (async && async->event && !device->table.signal)
        return haul__fail(&device->context->error, HAUL_ERROR_UNSUPPORTED,
                          "the device \"%s\" signals no events: let haul_async.event be NULL",
                          device->table.name);
    return haul__select(device, async ? async->stream : NULL);
}

/* Counts a failure. Every answer of the device about its work passes here. */
static haul_status heard(haul_device *device, haul_status status)
{
    if (status == HAUL_OK || status == HAUL_ERROR_PENDING)
        return status;
    device->failures++;
    device->failure = status;
    return status;
}

haul_status haul__fence(haul_device *device, uint64_t *fence)
{
    return device->table.fence(device->state, fence);
}

haul_status haul__fence_behind(haul_device *device, size_t bytes, uint64_t *fence)
{
    haul_status status = haul__fence(device, fence);
    return status == HAUL_OK ? HAUL_OK
                             : haul__device_failed(device, status, "the fence behind a copy of ",
                                                   bytes, " bytes");
}

haul_status haul__await(haul_device *device, uint64_t fence)
{
    return heard(device, device->table.await(device->state, fence));
}

haul_status haul__poll(haul_device *device, uint64_t fence)
{
    return heard(device, device->table.poll(device->state, fence));
}

/* Without a fence, only a lost device is known to have stopped. */
haul_status haul__ask_for_fence(haul_device *device, uint64_t unused)
{
    haul_status status = heard(device, haul__fence(device, &unused));
    return status == HAUL_ERROR_DEVICE_LOST ? status : HAUL_ERROR_PENDING;
}

/* ---- Waiting. */

/* Waits for the selected stream, and frees the buffers that were busy with it. */
static haul_status wait(haul_device *device)
{
    haul_status status = heard(device, device->table.wait(device->state));
    size_t i;
    for (i = 0; i < HAUL__RING_BUFFERS && status != HAUL_ERROR_PENDING; i++)
        if (device->ring[i].use == HAUL__BUSY && device->ring[i].stream == device->stream)
            device->ring[i].use = HAUL__FREE;
    return status;
}

/* A wait timed out: makes a fence, by which later calls learn that the work is done. If the device
 * cannot make one, later calls ask it again (haul__ask_for_fence). */
static void note_timeout(haul_device *device, haul_status status)
{
    if (status != HAUL_ERROR_PENDING)
        return;
    if (!device->timed_out && !device->is_unfenced)
        device->timeout_failures = device->failures;
    device->timed_out = haul__fence(device, &device->timeout_fence) == HAUL_OK;
    device->is_unfenced = !device->timed_out;
}

void haul__drain(haul_device *device)
{
    note_timeout(device, wait(device));
}

/* Signals the event, then makes the fence. If work was already pending, both become one, with the
 * earlier count of failures. */
static haul_status go_on(haul_device *device, const haul_async *async, haul__work *work)
{
    uint64_t fence;
    haul_status status = async->event ? device->table.signal(device->state, async->event) : HAUL_OK;
    if (status == HAUL_OK)
        status = haul__fence(device, &fence);
    if (status != HAUL_OK)
        return status;
    if (!work->is_pending)
        work->failures = device->failures;
    work->is_pending = 1;
    work->fence = fence;
    work->stream = async->stream;
    return HAUL_OK;
}

haul_status haul__conclude(haul_device *device, const haul_async *async, haul__work *work,
                           const char *before, uint64_t bytes, const char *after)
{
    haul_status status = async ? go_on(device, async, work) : wait(device);
    if (status == HAUL_OK)
        return HAUL_OK;
    haul__device_failed(device, status, before, bytes, after);
    if (async)
        haul__drain(device);
    else
        note_timeout(device, status);
    return status;
}

/* ---- Orders. */

/* After the order of a copy. */
static haul_status end_copy(haul_device *device, haul_status status, size_t bytes, const char *way)
{
    haul__phase_end(device);
    if (status == HAUL_OK)
        return HAUL_OK;
    haul__device_failed(device, status, "copy of ", bytes, way);
    haul__drain(device);
    return status;
}

haul_status haul__copy_to(haul_device *device, haul_address to, const void *from, size_t bytes)
{
    haul__phase_begin(device, "transfer");
    return end_copy(device, device->table.copy_to(device->state, to, from, bytes), bytes,
                    " bytes to the device");
}

haul_status haul__copy_from(haul_device *device, void *to, haul_address from, size_t bytes)
{
    haul__phase_begin(device, "transfer");
    return end_copy(device, device->table.copy_from(device->state, to, from, bytes), bytes,
                    " bytes from the device");
}

haul_status haul__clear(haul_device *device, haul_address at, size_t bytes)
{
    haul__phase_begin(device, "transfer");
    return end_copy(device, device->table.clear(device->state, at, bytes), bytes,
                    " bytes of zeros on the device");
}

/* A run of a strip: its place on the device, and in the buffer. */
typedef haul_status copy_run(haul_device *device, haul_address at, unsigned char *packed,
                             size_t bytes);

static haul_status run_to_host(haul_device *device, haul_address at, unsigned char *packed,
                               size_t bytes)
{
    return haul__copy_from(device, packed, at, bytes);
}

static haul_status run_to_device(haul_device *device, haul_address at, unsigned char *packed,
                                 size_t bytes)
{
    return haul__copy_to(device, at, packed, bytes);
}

/* For a device that cannot move the strips by one order. */
static haul_status copy_runs(haul_device *device, const haul_strip *strips, size_t count,
                             unsigned char *packed, copy_run *copy)
{
    haul_status status = HAUL_OK;
    size_t i;
    uint32_t k;
    for (i = 0; i < count; i++)
        for (k = 0; k < strips[i].count && status == HAUL_OK; k++)
            status = copy(device, strips[i].first + k * strips[i].stride,
                          packed + strips[i].packed + (size_t)k * strips[i].bytes, strips[i].bytes);
    return status;
}

haul_status haul__gather_strips(haul_device *device, unsigned char *packed, size_t bytes,
                                const haul_strip *strips, size_t count)
{
    haul_status status = HAUL_ERROR_UNSUPPORTED;
    if (device->table.gather_strips) {
        haul__phase_begin(device, "transfer");
        status = device->table.gather_strips(device->state, packed, bytes, strips, count);
        if (status != HAUL_ERROR_UNSUPPORTED)
            return end_copy(device, status, bytes, " bytes from the device");
        haul__phase_end(device);
    }
    return copy_runs(device, strips, count, packed, run_to_host);
}

haul_status haul__scatter_strips(haul_device *device, const haul_strip *strips, size_t count,
                                 const unsigned char *packed, size_t bytes)
{
    haul_status status = HAUL_ERROR_UNSUPPORTED;
    if (device->table.scatter_strips) {
        haul__phase_begin(device, "transfer");
        status = device->table.scatter_strips(device->state, strips, count, packed, bytes);
        if (status != HAUL_ERROR_UNSUPPORTED)
            return end_copy(device, status, bytes, " bytes to the device");
        haul__phase_end(device);
    }
    return copy_runs(device, strips, count, (unsigned char *)(uintptr_t)packed, run_to_device);
}

haul_status haul__patch(haul_device *device, const haul_relocation *relocation)
{
    const uint64_t words = relocation->words + relocation->offset_count;
    haul_status status;
    if (words == 0 || (relocation->delta == 0 && !relocation->outside))
        return HAUL_OK;
    haul__phase_begin(device, "relocate");
    status = device->table.relocate(device->state, relocation);
    haul__phase_end(device);
    if (status == HAUL_OK)
        return HAUL_OK;
    haul__device_failed(device, status, "relocation of ", words * relocation->word_bytes,
                        " bytes on the device");
    haul__drain(device);
    return status;
}
