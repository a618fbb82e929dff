/* How an arena crosses.
 *
 *     host:    | used bytes                | room                    device:   | used bytes | bitmap |
 *     small:   | used bytes | bitmap |        one copy, then zeros again
 *     large:   copied from where it lies; the bitmap goes through staging meanwhile
 *
 * Then the device patches, from the host's base instead of 0, and once more for each other arena that pointers lead
 * into. What there is to look at on the host, pointers that lead out, is looked at while the bytes cross.
 */
#include <stdio.h>

#include "ship/ship.h"

/* ---- Pointers that lead out. */

static haul_status refuse_outside(const haul__contents *contents, haul_error *error)
{
    size_t at = 0;
    char path[HAUL_PATH_BYTES];
    uintptr_t value;
    if (!haul__next_outside(contents, &at))
        return HAUL_OK;
    value = haul__word_at(contents->base + at);
    haul__fail(error, HAUL_ERROR_GRAPH, "the pointer %p, at byte %zu of the arena, leads out of what is shipped",
               (void *)value, at);
    snprintf(path, sizeof path, "arena+%zu", at);
    haul__set_path(error->path, path);
    return HAUL_ERROR_GRAPH;
}

/* Those of one piece of staging become null. */
static void null_outside(const haul__contents *contents, unsigned char *memory, size_t first, size_t end)
{
    size_t at;
    for (at = first; haul__next_outside(contents, &at) && at < end; at += sizeof(void *))
        memset(memory + (at - first), 0, sizeof(void *));
}

/* ---- Orders. */

/* Copies `bytes` through the ring, edited on the way where pointers lead out. */
static haul_status send_staged(haul_shipment *shipment, const unsigned char *from, size_t bytes, size_t to, int edited)
{
    haul_device *device = shipment->device;
    size_t most = haul__piece_bytes(device, bytes) & ~(HAUL_ARENA_GRANULE - 1), at, now;
    haul_status status = HAUL_OK;
    for (at = 0; at < bytes && status == HAUL_OK; at += now) {
        haul__buffer *buffer;
        now = most < bytes - at ? most : bytes - at;
        status = haul__take(device, now, &buffer);
        if (status != HAUL_OK)
            return status;
        memcpy(buffer->memory.memory, from + at, now);
        if (edited)
            null_outside(&shipment->contents, buffer->memory.memory, at, at + now);
        status = haul__send_buffer(device, buffer, shipment->range.address + to + at, now);
    }
    return status;
}

static haul_status send_bitmap(haul_shipment *shipment)
{
    return send_staged(shipment, (const unsigned char *)shipment->contents.slots, shipment->range.bitmap_bytes,
                       shipment->range.bitmap_at, 0);
}

/* Pointers into other arenas; both ways: from the host's addresses to the device's, or back. */
static haul_status relocate_neighbours(haul_shipment *shipment, int back)
{
    const haul__contents *contents = &shipment->contents;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < contents->neighbour_count && status == HAUL_OK; i++) {
        const haul__neighbour *other = &contents->neighbours[i];
        uint64_t from = back ? other->device : other->host, to = back ? other->host : other->device;
        status = haul__relocate_by(shipment->device, &shipment->range, from, other->bytes, to - from);
    }
    return status;
}

static haul_status relocate(haul_shipment *shipment)
{
    haul_status status = haul__relocate(shipment->device, &shipment->range, (uintptr_t)shipment->contents.base);
    return status == HAUL_OK ? relocate_neighbours(shipment, 0) : status;
}

static haul_status relocate_back(haul_shipment *shipment)
{
    const haul__range *range = &shipment->range;
    haul_status status = haul__relocate_by(shipment->device, range, range->address, range->arena_bytes,
                                           (uintptr_t)shipment->contents.base - range->address);
    return status == HAUL_OK ? relocate_neighbours(shipment, 1) : status;
}

/* Is there room behind a small arena for its bitmap, so that both are one copy? */
static int has_room(const haul_shipment *shipment)
{
    const haul__contents *contents = &shipment->contents;
    return haul__is_patched(&shipment->range) && contents->bytes == haul__arena_used(contents->arena) &&
           shipment->range.bytes <= contents->arena->capacity &&
           haul__crosses_whole(shipment->device, shipment->range.bytes);
}

static haul_status order_as_one(haul_shipment *shipment)
{
    haul_device *device = shipment->device;
    const haul__range *range = &shipment->range;
    unsigned char *base = shipment->contents.base;
    haul_status status;
    if (shipment->contents.arena->region.pinned && range->bytes <= device->capabilities.send_bytes) {
        status = haul__send_as_one(device, range, (uintptr_t)base, base);
        return status == HAUL_OK ? relocate_neighbours(shipment, 0) : status;
    }
    status = haul__copy_to(device, range->address, base, range->bytes);
    return status == HAUL_OK ? relocate(shipment) : status;
}

static haul_status conclude(haul_shipment *shipment, const haul_async *async)
{
    return haul__conclude(shipment->device, async, &shipment->work, "transfer of ", shipment->range.bytes,
                          " bytes to the device");
}

/* As far as the arena has grown. (A device that is late still reads there.) */
static void poison_again(const haul_arena *arena, unsigned char *memory, size_t bytes)
{
    size_t grown = (size_t)(arena->end - memory);
    haul__poison(memory, bytes < grown ? bytes : grown);
}

/* The bitmap behind the arena, for the time of the copy. */
static haul_status send_as_one(haul_shipment *shipment)
{
    const haul__range *range = &shipment->range;
    unsigned char *behind = shipment->contents.base + range->arena_bytes;
    size_t bytes = range->bytes - range->arena_bytes;
    haul_status status;
    haul__unpoison(behind, bytes);
    memcpy(shipment->contents.base + range->bitmap_at, shipment->contents.slots, range->bitmap_bytes);
    status = order_as_one(shipment);
    if (status == HAUL_OK)
        status = conclude(shipment, NULL);
    memset(behind, 0, bytes);
    if (!shipment->device->is_late)
        poison_again(shipment->contents.arena, behind, bytes);
    return status;
}

/* Must pointers be made null on the way? */
static int is_edited(const haul__contents *contents)
{
    size_t at = 0;
    return contents->outside == HAUL_OUTSIDE_NULL && haul__next_outside(contents, &at);
}

static haul_status order_bytes(haul_shipment *shipment)
{
    const haul__contents *contents = &shipment->contents;
    if (is_edited(contents))
        return send_staged(shipment, contents->base, contents->bytes, 0, 1);
    return haul__copy_to(shipment->device, shipment->range.address, contents->base, contents->bytes);
}

static haul_status order_in_parts(haul_shipment *shipment, int with_bitmap)
{
    haul_device *device = shipment->device;
    haul_status status = order_bytes(shipment);
    if (status == HAUL_OK && shipment->contents.outside == HAUL_OUTSIDE_REFUSE)
        status = refuse_outside(&shipment->contents, &device->context->error);
    if (status == HAUL_OK && haul__is_patched(&shipment->range) && with_bitmap)
        status = send_bitmap(shipment);
    if (status == HAUL_OK && haul__is_patched(&shipment->range))
        status = relocate(shipment);
    if (status != HAUL_OK)
        haul__drain(device);
    return status;
}

haul_status haul__arena_send(haul_shipment *shipment)
{
    const haul__contents *contents = &shipment->contents;
    haul_status status = HAUL_OK;
    if (has_room(shipment) && !is_edited(contents)) {
        if (contents->outside == HAUL_OUTSIDE_REFUSE)
            status = refuse_outside(contents, &shipment->device->context->error);
        return status == HAUL_OK ? send_as_one(shipment) : status;
    }
    status = order_in_parts(shipment, 1);
    return status == HAUL_OK ? conclude(shipment, NULL) : status;
}

/* ---- Again, and back. */

haul_status haul__arena_refresh(haul_shipment *shipment, const haul_async *async)
{
    haul_status status = haul__contents_check(&shipment->contents, &shipment->device->context->error);
    double start = haul__seconds();
    if (status == HAUL_OK)
        status = order_in_parts(shipment, !shipment->bitmap_is_there);
    if (status == HAUL_OK)
        status = conclude(shipment, async);
    if (status != HAUL_OK)
        return status;
    shipment->bitmap_is_there = haul__is_patched(&shipment->range);
    shipment->statistics.transfers_to++;
    shipment->statistics.bytes_to += shipment->range.arena_bytes;
    shipment->statistics.transfer_seconds = haul__seconds() - start;
    return HAUL_OK;
}

int haul__arena_returns_directly(const haul_shipment *shipment)
{
    return haul__is_arena(shipment) && shipment->contents.direct && shipment->contents.kept_count == 0;
}

/* Pointers become the host's, all is copied, pointers become the device's again. */
static haul_status order_return(haul_shipment *shipment)
{
    haul_device *device = shipment->device;
    const haul__range *range = &shipment->range;
    haul_status status = HAUL_OK;
    if (haul__is_patched(&shipment->range) && !shipment->bitmap_is_there)
        status = send_bitmap(shipment);
    if (status == HAUL_OK && haul__is_patched(&shipment->range))
        status = relocate_back(shipment);
    if (status == HAUL_OK)
        status = haul__copy_from(device, shipment->contents.base, range->address, range->arena_bytes);
    if (status == HAUL_OK && haul__is_patched(&shipment->range))
        status = relocate(shipment);
    if (status != HAUL_OK)
        haul__drain(device);
    return status;
}

haul_status haul__arena_bring_back(haul_shipment *shipment)
{
    haul_shipment_statistics *statistics = &shipment->statistics;
    double start = haul__seconds();
    haul_status status = haul__contents_check(&shipment->contents, &shipment->device->context->error);
    if (status == HAUL_OK)
        status = order_return(shipment);
    if (status == HAUL_OK)
        status = haul__conclude(shipment->device, NULL, NULL, "copy of ", shipment->range.arena_bytes,
                                " bytes from the device");
    if (status != HAUL_OK)
        return status;
    statistics->return_seconds = haul__seconds() - start;
    statistics->scatter_seconds = 0;
    statistics->transfers_from++;
    statistics->bytes_from += shipment->range.arena_bytes;
    return HAUL_OK;
}
