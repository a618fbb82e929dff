/* Updates: one host range, to the device or back.
 *
 * An update transfers the smallest piece of the arena that holds the data of the range. If the
 * piece holds nothing else, it is one copy. Else it also holds pointers, which kernels may have
 * changed, skipped fields, which belong to the device, or neighbours of the range: then an update
 * to the device fetches the piece, writes the data over it and sends it back. That is two
 * transfers, and no other byte changes.
 */
#include "device/staging.h"
#include "arena/contents.h"
#include "arena/copy_back.h"
#include "device/streams.h"
#include "pack/check_reads.h"
#include "pack/dependents.h"
#include "pack/range_data.h"
#include "ship/pending.h"
#include "ship/transfer.h"
#include "ship/update.h"

typedef struct host_range {
    uintptr_t first, end; /* of the host range */
    haul__span span;
    size_t at, skew; /* the data's offset in the arena, and within its granule */
} host_range;

/* The part of the range that lies in the arena. 0: none. */
static int find_in_arena(const haul__contents *contents, host_range *result)
{
    uintptr_t base = (uintptr_t)contents->base, end = base + contents->bytes;
    uintptr_t first = result->first > base ? result->first : base,
              last = result->end < end ? result->end : end;
    if (first >= last)
        return 0;
    result->span.offset = result->span.data_offset = (size_t)(first - base);
    result->span.bytes = result->span.data_bytes = (size_t)(last - first);
    result->span.is_solid =
        haul__is_solid(contents, result->span.offset, result->span.offset + result->span.bytes);
    return 1;
}

/* The piece for a host range. `excluded`: the exclusion that applies to this direction. */
static haul_status find(const haul_shipment *shipment, unsigned excluded, const void *host,
                        size_t bytes, host_range *result)
{
    haul_error *error = &shipment->device->context->error;
    haul_status status =
        haul__is_arena(shipment) ? haul__contents_check(&shipment->contents, error) : HAUL_OK;
    if (status != HAUL_OK)
        return status;
    result->first = (uintptr_t)host;
    if (haul__add_overflows(result->first, bytes, &result->end))
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "the end of the range wraps");
    if (haul__is_arena(shipment)
            ? !find_in_arena(&shipment->contents, result)
            : !haul__find_span(shipment->plan, excluded, result->first, result->end, &result->span))
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "no byte of the range is in the shipment");
    result->at = result->span.data_offset;
    result->skew = result->at % HAUL__STAGE_ALIGNMENT;
    return HAUL_OK;
}

/* Writes the data of the range over `memory`, a copy of the piece from the start of its granule. */
static void put_data(const haul_shipment *shipment, const host_range *one, void *memory)
{
    const haul__contents *contents = &shipment->contents;
    size_t at = one->at - one->skew;
    if (haul__is_arena(shipment) && one->span.is_solid)
        memcpy((unsigned char *)memory + one->skew, contents->base + one->at, one->span.data_bytes);
    else if (haul__is_arena(shipment))
        haul__copy_going(contents, (unsigned char *)((uintptr_t)memory - at), contents->base,
                         one->at, one->at + one->span.data_bytes);
    else
        haul__gather_data(shipment->plan, one->first, one->end, memory, at);
}

static int must_check(const haul_shipment *shipment)
{
    return !shipment->options.let_counts_change && haul__has_read_set(shipment->plan);
}

/* Writes the arrived bytes, unless a count or terminator among them has changed. */
static haul_status put_data_back(haul_shipment *shipment, const haul__return *back)
{
    const size_t skew = back->at % HAUL__STAGE_ALIGNMENT;
    haul_status status = HAUL_OK;
    if (haul__is_arena(shipment))
        return haul__contents_put_back(&shipment->contents, shipment->device->context, back->data,
                                       back->at, back->bytes);
    if (must_check(shipment))
        status = haul__check_range(shipment->plan, back->first, back->end, back->data, back->at,
                                   back->bytes);
    if (status == HAUL_OK)
        haul__scatter_data(shipment->plan, back->first, back->end, back->data - skew,
                           back->at - skew);
    return status;
}

/* Fetches the piece first if it holds more than the range. */
static haul_status send_piece(haul_shipment *shipment, const haul_async *async,
                              const host_range *one, haul__staging *staging)
{
    haul_device *device = shipment->device;
    size_t bytes = one->span.data_bytes;
    haul_status status = one->span.is_solid
                             ? HAUL_OK
                             : haul__shipment_receive(shipment, staging->data, one->at, bytes);
    if (status != HAUL_OK)
        return status;
    put_data(shipment, one, staging->data - one->skew);
    status = haul__copy_to(device, shipment->range.address + one->at, staging->data, bytes);
    if (status == HAUL_OK)
        status = haul__conclude(device, async, &shipment->work, "copy of ", bytes,
                                " bytes to the device");
    if (status == HAUL_OK) {
        shipment->info.transfers_to++;
        haul__count_crossed(&shipment->info, &shipment->range, one->at, bytes, 0);
    }
    return status;
}

/* No byte of the range crosses; the event is signalled all the same. */
static haul_status tell_alone(haul_shipment *shipment, const haul_async *async)
{
    if (!async || !async->event)
        return HAUL_OK;
    return haul__conclude(shipment->device, async, &shipment->work, "event of an update of ", 0,
                          " bytes");
}

/* The staging needs room for the data only: put_data writes nothing behind it in the last
 * granule. */
haul_status haul__send_range(haul_shipment *shipment, const void *host, size_t bytes,
                             const haul_async *async)
{
    haul__staging staging;
    host_range one;
    haul_status status = find(shipment, HAUL__UNSENT, host, bytes, &one);
    if (status == HAUL_OK && !haul__is_arena(shipment))
        status = haul__refuse_dependents(shipment->plan, one.first, one.end,
                                         "update everything instead");
    if (status != HAUL_OK || one.span.data_bytes == 0)
        return status == HAUL_OK ? tell_alone(shipment, async) : status;
    status = haul__stage(shipment->device, one.span.data_bytes, one.skew, &staging);
    if (status != HAUL_OK)
        return status;
    status = send_piece(shipment, async, &one, &staging);
    haul__unstage_until(shipment->device, &staging,
                        status == HAUL_OK && async ? &shipment->work : NULL);
    return status;
}

haul_status haul__return_range(haul_shipment *shipment, const void *host, size_t bytes)
{
    haul__staging staging;
    haul__return back;
    host_range one;
    haul_status status = find(shipment, HAUL__UNRETURNED, host, bytes, &one);
    if (status != HAUL_OK || one.span.data_bytes == 0)
        return status;
    status = haul__stage(shipment->device, one.span.data_bytes, one.skew, &staging);
    if (status != HAUL_OK)
        return status;
    status = haul__shipment_receive(shipment, staging.data, one.at, one.span.data_bytes);
    if (status == HAUL_OK) {
        memset(&back, 0, sizeof back);
        back.data = staging.data;
        back.at = one.at;
        back.bytes = one.span.data_bytes;
        back.first = one.first;
        back.end = one.end;
        status = put_data_back(shipment, &back);
    }
    haul__unstage(shipment->device, &staging);
    return status;
}

haul_status haul__return_range_later(haul_shipment *shipment, const void *host, size_t bytes,
                                     const haul_async *async)
{
    haul__return what;
    host_range one;
    haul_status status = find(shipment, HAUL__UNRETURNED, host, bytes, &one);
    if (status != HAUL_OK || one.span.data_bytes == 0)
        return status == HAUL_OK ? tell_alone(shipment, async) : status;
    if (!haul__is_arena(shipment) && must_check(shipment))
        status = haul__prepare_update(shipment->plan);
    if (status != HAUL_OK)
        return status;
    memset(&what, 0, sizeof what);
    what.write = put_data_back;
    what.at = one.at;
    what.bytes = one.span.data_bytes;
    what.first = one.first;
    what.end = one.end;
    status = haul__return_memory(shipment, what.bytes + one.skew, &what.memory);
    if (status != HAUL_OK)
        return status;
    what.data = (unsigned char *)what.memory.memory + one.skew;
    return haul__return_later(shipment, async, &what);
}
