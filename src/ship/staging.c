/* Staging: host memory that copies go through, and memory that the device is not done with.
 *
 * Memory from which a device copies fast is dear to get: pinning 4 MiB takes longer than sending
 * them. So a device has a ring of buffers, made when they are first needed and kept until it
 * closes. A buffer that an order reads or writes carries the fence behind that order; whoever needs
 * one takes a free one, else the oldest whose fence has been reached, else makes another, and only
 * when all are in use waits for the oldest.
 *
 * A device may also be late: a wait has given up, and the work goes on. What the call then gives
 * back, on either side, is kept with the fence behind the work, and released when that has been
 * reached: at the latest when the device closes. Memory of a device that is late even then is left
 * to the system; anything else would hand it to a new owner while the old one writes.
 */
#include "ship/ship.h"

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
    if (status == HAUL_OK)
        return HAUL_OK;
    result->memory = NULL;
    if (status != HAUL_ERROR_DEVICE_LOST) {
        result->plain = 1;
        result->memory = haul__allocate(&device->context->allocator, bytes, HAUL__STAGE_ALIGNMENT);
    }
    return result->memory ? HAUL_OK
                          : haul__device_failed(device, status, "staging of ", bytes, " bytes");
}

static void release_memory(haul_device *device, haul__memory *memory)
{
    if (memory->memory && memory->plain)
        haul__release(&device->context->allocator, memory->memory, memory->bytes);
    else if (memory->memory)
        device->table.unstage(device->state, memory->memory, memory->bytes);
    memory->memory = NULL;
    memory->bytes = 0;
}

/* ---- Kept memory. */

static void release_kept(haul_device *device, haul__kept *kept)
{
    if (kept->bytes)
        device->table.release(device->state, kept->address, kept->bytes);
    release_memory(device, &kept->memory);
    haul__unlock_source(device, &kept->locked);
    if (kept->is_lent)
        kept->region->lent--;
    if (kept->arena)
        haul__arena_drop(kept->arena);
}

/* Locks are given up when it is known that the work is done: what the device then writes may be
 * anybody's. */
static int may_be_used(const haul__kept *kept, haul_status status)
{
    if (kept->locked.count == 0)
        return status == HAUL_ERROR_PENDING;
    return status != HAUL_OK && status != HAUL_ERROR_DEVICE_LOST;
}

/* A failure that has come up meanwhile may be another's, and is told once: what is asked for again
 * tells of itself. */
static haul_status await_over(haul_device *device, uint64_t fence)
{
    haul_status status = haul__await(device, fence);
    return status == HAUL_OK || status == HAUL_ERROR_PENDING ? status : haul__await(device, fence);
}

void haul__leave_locked(haul_device *device, haul__locked *locked)
{
    if (locked->ranges)
        haul__release(&device->context->allocator, locked->ranges,
                      locked->capacity * sizeof *locked->ranges);
    memset(locked, 0, sizeof *locked);
}

/* It stays for good; an arena that is held stays so. */
static void leave(haul_device *device, haul__kept *kept)
{
    haul__leave_locked(device, &kept->locked);
    if (kept->region)
        kept->region->is_left = 1;
}

/* Where there is no room to note it, it is waited for; if that is in vain, it is left to the
 * system. */
static void keep(haul_device *device, haul__kept *kept, uint64_t fence)
{
    if (!haul__grow(&device->context->allocator, (void **)&device->kept, &device->kept_capacity,
                    device->kept_count + 1, sizeof *device->kept)) {
        if (may_be_used(kept, await_over(device, fence)))
            leave(device, kept);
        else
            release_kept(device, kept);
        return;
    }
    kept->fence = fence;
    device->kept[device->kept_count++] = *kept;
}

static void keep_memory(haul_device *device, haul__memory *memory, uint64_t fence)
{
    haul__kept kept;
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
    for (i = 0; i < device->kept_count; i++) {
        if (may_be_used(&device->kept[i], is_reached(device, device->kept[i].fence)))
            device->kept[left++] = device->kept[i];
        else
            release_kept(device, &device->kept[i]);
    }
    device->kept_count = left;
    if (left > 0 || !device->kept)
        return;
    haul__release(&device->context->allocator, device->kept,
                  device->kept_capacity * sizeof *device->kept);
    device->kept = NULL;
    device->kept_capacity = 0;
}

void haul__collect(haul_device *device)
{
    if (device->kept_count > 0 && haul__select(device, NULL) == HAUL_OK)
        collect(device, haul__poll);
    haul__clear_error(&device->context->error);
}

void haul__memory_put(haul_device *device, haul__memory *memory)
{
    if (device->is_late && memory->memory)
        keep_memory(device, memory, device->late_fence);
    else
        release_memory(device, memory);
}

static void take_range(const haul__range *range, haul__kept *kept)
{
    memset(kept, 0, sizeof *kept);
    if (range->mirror) {
        kept->region = &range->mirror->region;
        kept->is_lent = 1;
    } else {
        kept->address = range->address;
        kept->bytes = range->bytes;
    }
}

void haul__unload(haul_device *device, haul__range *range)
{
    haul__kept kept;
    take_range(range, &kept);
    if (device->is_late)
        keep(device, &kept, device->late_fence);
    else
        release_kept(device, &kept);
}

/* Memory that the device itself has given lives as long as the arena, and the arena holds the
 * device: it is waited for before it goes. Any other arena is held. */
void haul__keep_arena(haul_device *device, haul_arena *arena)
{
    haul__kept kept;
    if (!arena || !device->is_late)
        return;
    memset(&kept, 0, sizeof kept);
    if (arena->region.pinned && arena->region.user == device) {
        kept.region = &arena->region;
    } else {
        kept.arena = arena;
        haul__arena_hold(arena);
    }
    keep(device, &kept, device->late_fence);
}

int haul__is_done_with(haul_device *device, const haul__region *region)
{
    size_t i, left = 0;
    int is_done = !region->is_left;
    haul__select(device, NULL);
    for (i = 0; i < device->kept_count; i++) {
        if (device->kept[i].region != region)
            device->kept[left++] = device->kept[i];
        else if (await_over(device, device->kept[i].fence) == HAUL_ERROR_PENDING)
            is_done = 0;
    }
    device->kept_count = left;
    if (region->mirrored == 0)
        return is_done;
    device->is_late = 0;
    haul__drain(device);
    return is_done && !device->is_late;
}

void haul__unlock(haul_device *device, haul__locked *locked, uint64_t fence)
{
    haul__kept kept;
    memset(&kept, 0, sizeof kept);
    kept.locked = *locked;
    if (fence == 0 || !may_be_used(&kept, await_over(device, fence))) {
        haul__unlock_source(device, locked);
        return;
    }
    memset(locked, 0, sizeof *locked);
    keep(device, &kept, fence);
}

/* ---- The ring. */

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

/* The oldest buffer, if the device is done with it; else a new one; else it is waited for. */
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

/* A buffer that nobody uses, of any size. */
static haul_status find(haul_device *device, size_t bytes, haul__buffer **result)
{
    haul__buffer *oldest;
    *result = find_free(device, bytes);
    if (*result)
        return HAUL_OK;
    oldest = find_oldest(device);
    if (oldest)
        return find_used(device, oldest, result);
    *result = find_unmade(device);
    return *result ? HAUL_OK
                   : haul__fail(&device->context->error, HAUL_ERROR_MEMORY,
                                "all staging buffers are in use");
}

/* What is pinned for so many bytes: one of a few sizes, so that buffers serve all, and of a piece
 * no more than that. */
static size_t size_for(const haul_device *device, size_t bytes)
{
    static const size_t sizes[] = { HAUL__FIRST_BYTES, HAUL__SECOND_BYTES, HAUL__TEAM_PIECE_BYTES,
                                    HAUL__PIECE_BYTES };
    const size_t piece = haul__piece_limit(device);
    size_t i;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (bytes <= sizes[i])
            return i > 0 && bytes <= piece && piece < sizes[i] ? piece : sizes[i];
    return bytes;
}

haul_status haul__take(haul_device *device, size_t bytes, haul__buffer **result)
{
    haul__buffer *buffer;
    haul_status status = find(device, bytes, &buffer);
    if (status != HAUL_OK)
        return status;
    if (buffer->memory.bytes < bytes)
        release_memory(device, &buffer->memory);
    if (!buffer->memory.memory)
        status = haul__memory_get(device, size_for(device, bytes), &buffer->memory);
    if (status != HAUL_OK)
        return status;
    buffer->use = HAUL__TAKEN;
    *result = buffer;
    return HAUL_OK;
}

void haul__put(haul_device *device, haul__buffer *buffer)
{
    buffer->use = HAUL__FREE;
    if (device->is_late)
        haul__put_until(device, buffer, device->late_fence);
}

void haul__put_until(haul_device *device, haul__buffer *buffer, uint64_t fence)
{
    buffer->use = HAUL__BUSY;
    buffer->fence = fence;
    buffer->stream = device->stream;
}

haul_status haul__put_after(haul_device *device, haul__buffer *buffer)
{
    uint64_t fence;
    haul_status status = haul__fence(device, &fence);
    if (status == HAUL_OK)
        haul__put_until(device, buffer, fence);
    return status;
}

void haul__ring_is_idle(haul_device *device)
{
    size_t i;
    for (i = 0; i < HAUL__RING_BUFFERS; i++)
        if (device->ring[i].use == HAUL__BUSY && device->ring[i].stream == device->stream)
            device->ring[i].use = HAUL__FREE;
}

/* What a device still uses that is late even now is left to the system; the notes of it are not. */
static void forget_kept(haul_device *device)
{
    size_t i;
    for (i = 0; i < device->kept_count; i++)
        leave(device, &device->kept[i]);
    if (device->kept)
        haul__release(&device->context->allocator, device->kept,
                      device->kept_capacity * sizeof *device->kept);
}

void haul__ring_close(haul_device *device)
{
    size_t i;
    haul__select(device, NULL);
    collect(device, await_over);
    for (i = 0; i < HAUL__RING_BUFFERS; i++) {
        haul__buffer *buffer = &device->ring[i];
        if (buffer->use == HAUL__BUSY && haul__await(device, buffer->fence) == HAUL_ERROR_PENDING)
            continue;
        release_memory(device, &buffer->memory);
    }
    forget_kept(device);
}

/* ---- One buffer for a call. */

haul_status haul__stage(haul_device *device, size_t bytes, size_t skew, haul__staging *staging)
{
    haul_status status;
    size_t total;
    memset(staging, 0, sizeof *staging);
    if (haul__add_overflows(bytes, skew, &total))
        return haul__fail(&device->context->error, HAUL_ERROR_LIMIT,
                          "a staging buffer larger than the address space");
    status = total <= haul__piece_most(device) ? haul__take(device, total, &staging->buffer)
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
        haul__put(device, staging->buffer);
    else
        haul__memory_put(device, &staging->own);
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

void haul__unstage_until(haul_device *device, haul__staging *staging, const haul__work *work)
{
    if (!work || !work->is_pending)
        haul__unstage(device, staging);
    else if (staging->buffer)
        haul__put_until(device, staging->buffer, work->fence);
    else
        keep_memory(device, &staging->own, work->fence);
}
