/* Transfers: staging, copies in one go, and a whole graph onto the device.
 *
 * A graph crosses once. Arena, bitmap and odd offsets are gathered into one host buffer, laid out as they will lie on
 * the device, sent as one transfer, and patched there by one relocation. That is fast because a device is fed best by
 * one large copy from memory that it can read by itself, and because adding a base to every marked word is work that
 * the device does at the speed of its own memory.
 *
 * A device may report late: a copy that has "succeeded" fails at the next wait. So nothing here is called done before
 * a wait has said so, and a failed copy is waited for, too, before its staging goes: the device may still be reading.
 */
#include "ship/ship.h"

haul_status haul__stage(haul_device *device, size_t bytes, size_t skew, haul__staging *staging)
{
    const haul_device_table *table = &device->table;
    haul_context *context = device->context;
    haul_status status;
    if (haul__add_overflows(bytes, skew, &staging->bytes))
        return haul__fail(&context->error, HAUL_ERROR_LIMIT, "a staging buffer larger than the address space");
    staging->plain = 0;
    staging->memory = NULL;
    status = table->stage(device->state, staging->bytes, &staging->memory);
    if (status == HAUL_OK && (!staging->memory || (uintptr_t)staging->memory % HAUL__STAGE_ALIGNMENT != 0)) {
        if (staging->memory)
            table->unstage(device->state, staging->memory, staging->bytes);
        status = HAUL_ERROR_MEMORY;
    }
    if (status == HAUL_ERROR_DEVICE_LOST)
        return haul__device_failed(device, status, "staging of ", staging->bytes, " bytes");
    if (status != HAUL_OK) {
        staging->plain = 1;
        staging->memory = haul__allocate(&context->allocator, staging->bytes, HAUL__STAGE_ALIGNMENT);
        if (!staging->memory)
            return haul__device_failed(device, status, "staging of ", staging->bytes, " bytes");
    }
    staging->data = (unsigned char *)staging->memory + skew;
    return HAUL_OK;
}

void haul__unstage(haul_device *device, haul__staging *staging)
{
    if (staging->plain)
        haul__release(&device->context->allocator, staging->memory, staging->bytes);
    else
        device->table.unstage(device->state, staging->memory, staging->bytes);
}

static size_t chunk_of(const haul_device *device, size_t left)
{
    size_t chunk = device->capabilities.chunk_bytes;
    return chunk != 0 && chunk < left ? chunk : left;
}

/* Waits in any case; the first failure counts. */
static haul_status settle(haul_device *device, haul_status status, const char *before, uint64_t bytes,
                          const char *after)
{
    if (status != HAUL_OK) {
        haul__device_failed(device, status, before, bytes, after);
        device->table.wait(device->state);
        return status;
    }
    status = device->table.wait(device->state);
    return status == HAUL_OK ? HAUL_OK : haul__device_failed(device, status, before, bytes, after);
}

haul_status haul__send(haul_device *device, haul_address to, const void *from, size_t bytes)
{
    haul_status status = HAUL_OK;
    size_t done, chunk;
    for (done = 0; done < bytes && status == HAUL_OK; done += chunk) {
        chunk = chunk_of(device, bytes - done);
        status = device->table.copy_to(device->state, to + done, (const unsigned char *)from + done, chunk);
    }
    return settle(device, status, "copy of ", bytes, " bytes to the device");
}

haul_status haul__receive(haul_device *device, void *to, haul_address from, size_t bytes)
{
    haul_status status = HAUL_OK;
    size_t done, chunk;
    for (done = 0; done < bytes && status == HAUL_OK; done += chunk) {
        chunk = chunk_of(device, bytes - done);
        status = device->table.copy_from(device->state, (unsigned char *)to + done, from + done, chunk);
    }
    return settle(device, status, "copy of ", bytes, " bytes from the device");
}

haul_status haul__shipment_send(haul_shipment *shipment, size_t at, const void *from, size_t bytes)
{
    haul_status status = haul__send(shipment->device, shipment->range.address + at, from, bytes);
    if (status != HAUL_OK)
        return status;
    shipment->statistics.transfers_to++;
    shipment->statistics.bytes_to += bytes;
    return HAUL_OK;
}

haul_status haul__shipment_receive(haul_shipment *shipment, void *to, size_t at, size_t bytes)
{
    haul_status status = haul__receive(shipment->device, to, shipment->range.address + at, bytes);
    if (status != HAUL_OK)
        return status;
    shipment->statistics.transfers_from++;
    shipment->statistics.bytes_from += bytes;
    return HAUL_OK;
}

/* Where the parts of the range lie. Without `patched`, there is only the arena. 1: does not fit a size_t. */
static int lay_out(const haul_plan *plan, int patched, haul__range *range)
{
    size_t odd_bytes;
    memset(range, 0, sizeof *range);
    range->arena_bytes = range->bytes = haul_plan_bytes(plan);
    if (!patched)
        return 0;
    range->bitmap_bytes = haul_plan_bitmap_bytes(plan);
    range->odd_count = haul__plan_odd_count(plan);
    if (haul__add_overflows(range->arena_bytes, 7, &range->bitmap_at))
        return 1;
    range->bitmap_at &= ~(size_t)7;
    return haul__add_overflows(range->bitmap_at, range->bitmap_bytes, &range->odd_at) ||
           haul__multiply_overflows(range->odd_count, 8, &odd_bytes) ||
           haul__add_overflows(range->odd_at, odd_bytes, &range->bytes);
}

static size_t alignment_of(const haul_plan *plan)
{
    size_t alignment = haul_plan_alignment(plan);
    return alignment > 256 ? alignment : 256;
}

/* A device that breaks its promise is found here, not by a kernel that reads beside its data. */
static haul_status allocate_range(haul_device *device, size_t alignment, haul__range *range)
{
    haul_status status = device->table.allocate(device->state, range->bytes, alignment, &range->address);
    if (status != HAUL_OK)
        return haul__device_failed(device, status, "allocation of ", range->bytes, " bytes of device memory");
    if (range->address % alignment == 0 && range->address != 0 && range->address <= UINTPTR_MAX - range->bytes)
        return HAUL_OK;
    haul__unload(device, range);
    return haul__fail(&device->context->error, HAUL_ERROR_DEVICE,
                      "the device gave memory that is misaligned, or out of reach of a pointer");
}

void haul__unload(haul_device *device, haul__range *range)
{
    device->table.release(device->state, range->address, range->bytes);
}

/* Bitmap and odd offsets travel, and offsets are packed, only when the device patches. */
static haul_status gather(haul_plan *plan, const haul__range *range, unsigned char *memory,
                          const haul_ship_options *options)
{
    haul__listener listener = haul__shipment_listener(options);
    haul__listener *heard = listener.progress ? &listener : NULL;
    if (range->bytes == range->arena_bytes)
        return haul__gather(plan, memory, range->address, NULL, NULL, heard);
    memset(memory + range->arena_bytes, 0, range->bitmap_at - range->arena_bytes);
    return haul__gather(plan, memory, 0, (uint64_t *)(void *)(memory + range->bitmap_at),
                        (uint64_t *)(void *)(memory + range->odd_at), heard);
}

static haul_status relocate(haul_device *device, const haul__range *range)
{
    haul_relocation relocation;
    uint64_t bits = (uint64_t)range->bitmap_bytes * 8;
    memset(&relocation, 0, sizeof relocation);
    relocation.arena = range->address;
    relocation.words = range->arena_bytes / sizeof(void *);
    if (relocation.words > bits)
        relocation.words = bits;
    relocation.bitmap = range->address + range->bitmap_at;
    relocation.delta = range->address;
    relocation.odd = range->address + range->odd_at;
    relocation.odd_count = range->odd_count;
    relocation.word_bytes = sizeof(void *);
    return settle(device, device->table.relocate(device->state, &relocation), "relocation of ", range->arena_bytes,
                  " bytes on the device");
}

/* Gathers into staging, sends, patches. */
static haul_status fill(haul_device *device, haul_plan *plan, const haul_ship_options *options,
                        const haul__range *range, haul_shipment_statistics *statistics)
{
    haul__staging staging;
    double start, packed, sent;
    haul_status status = haul__stage(device, range->bytes, 0, &staging);
    if (status != HAUL_OK)
        return status;
    start = haul__seconds();
    status = gather(plan, range, staging.data, options);
    packed = sent = haul__seconds();
    if (status == HAUL_OK) {
        status = haul__send(device, range->address, staging.data, range->bytes);
        sent = haul__seconds();
    }
    if (status == HAUL_OK && range->bytes > range->arena_bytes)
        status = relocate(device, range);
    haul__unstage(device, &staging);
    if (status != HAUL_OK)
        return status;
    statistics->pack_seconds = packed - start;
    statistics->transfer_seconds = sent - packed;
    statistics->relocate_seconds = range->bytes > range->arena_bytes ? haul__seconds() - sent : 0;
    statistics->transfers_to++;
    statistics->bytes_to += range->bytes;
    statistics->base = range->address;
    return HAUL_OK;
}

haul_status haul__load(haul_device *device, haul_plan *plan, const haul_ship_options *options, haul__range *range,
                       haul_shipment_statistics *statistics)
{
    haul_plan_statistics planned;
    haul_status status;
    haul_plan_get_statistics(plan, &planned);
    if (lay_out(plan, !options->relocate_on_host && planned.pointers > 0, range))
        return haul__fail(&device->context->error, HAUL_ERROR_LIMIT, "a graph larger than the address space");
    status = allocate_range(device, alignment_of(plan), range);
    if (status != HAUL_OK)
        return status;
    status = fill(device, plan, options, range, statistics);
    if (status != HAUL_OK)
        haul__unload(device, range);
    else
        haul_plan_get_statistics(plan, &statistics->plan);
    return status;
}
