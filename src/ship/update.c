/* Refresh and update: contents again, by the plan that exists.
 *
 * A refresh packs with the device's base known, so that pointers are patched while they are copied
 * and nothing is left to do on the device. Gather compares every pointer and count with the plan on
 * the way: what no longer fits is found before anything is sent. An arena that crosses in pieces is
 * verified first, for the same promise. A source that is locked is read by the device itself, after
 * the first time (direct.c).
 *
 * An update moves the smallest piece of the arena that holds the range's data. Where the piece
 * holds nothing else, it is one copy. Else it may hold pointers, which the device may have rewired,
 * skipped fields, which are its own, and neighbours: then an update to the device reads the piece,
 * writes the range's data over it and sends it back. That is two transfers, and no byte outside the
 * range is ever changed.
 */
#include "base/clock.h"
#include "ship/ship.h"
#include "type/type.h"

/* Up to here a refresh crosses whole. Larger: what is sent hides behind less packing. Smaller: more
 * of the source is read twice. */
#define WHOLE_BYTES HAUL__SECOND_BYTES

static const haul_async own_stream = { NULL, NULL };

static void count_to(haul_shipment *shipment, size_t bytes)
{
    shipment->statistics.transfers_to++;
    shipment->statistics.bytes_to += bytes;
}

/* ---- Refresh. */

/* A pointer has changed, and gather has named a place near it. The device still has what each
 * pointer was; with that the place can be named exactly. Whatever comes of it, the failure is the
 * one that was found first. */
static void name_stale_pointer(haul_shipment *shipment)
{
    haul_device *device = shipment->device;
    haul_error *error = &device->context->error, found = *error;
    haul__staging staging;
    haul_status status;
    if (!haul__stale_wants_arena(shipment->plan))
        return;
    status = haul__stage(device, shipment->range.arena_bytes, 0, &staging);
    if (status == HAUL_OK) {
        status = haul__shipment_receive(shipment, staging.data, 0, shipment->range.arena_bytes);
        if (status == HAUL_OK)
            status = haul__explain_stale(shipment->plan, staging.data, shipment->range.address);
        haul__unstage(device, &staging);
    }
    if (status != HAUL_OK)
        *error = found;
}

static haul_status conclude(haul_shipment *shipment, const haul_async *async)
{
    return haul__conclude(shipment->device, async, &shipment->work, "transfer of ",
                          shipment->range.arena_bytes, " bytes to the device");
}

/* The list goes along: it may not have arrived either, if the arena did not. */
static haul_status rebuild(haul_shipment *shipment, const haul_async *async)
{
    haul_status status = haul__send_dependents(shipment->device, shipment->plan, &shipment->range);
    if (status == HAUL_OK)
        return haul__rebuild(shipment->device, shipment->plan, &shipment->range, async);
    haul__drain(shipment->device);
    return status;
}

static haul_status refresh_whole(haul_shipment *shipment, const haul__listener *listener,
                                 const haul_async *async, double *packed)
{
    haul_device *device = shipment->device;
    haul__staging staging;
    double start;
    haul_status status = haul__stage(device, shipment->range.arena_bytes, 0, &staging);
    if (status != HAUL_OK)
        return status;
    haul__phase_begin(device, "pack");
    start = haul__seconds();
    status = haul__gather(shipment->plan, staging.data, shipment->range.address,
                          shipment->range.address, 1, listener);
    *packed = haul__seconds() - start;
    haul__phase_end(device);
    if (status == HAUL_OK)
        status = haul__copy_to(device, shipment->range.address, staging.data,
                               shipment->range.arena_bytes);
    if (status == HAUL_OK)
        status = rebuild(shipment, async);
    if (status == HAUL_OK)
        status = conclude(shipment, async);
    haul__unstage_until(device, &staging, status == HAUL_OK ? &shipment->work : NULL);
    return status;
}

/* No piece is sent before all is known to be as the plan has it: several cost a second look at the
 * source. */
static int refreshes_whole(const haul_shipment *shipment)
{
    const haul_device *device = shipment->device;
    const size_t bytes = shipment->range.arena_bytes;
    return haul__crosses_whole(device, bytes) ||
           (device->capabilities.chunk_bytes == 0 && bytes <= WHOLE_BYTES);
}

static haul_status refresh_in_pieces(haul_shipment *shipment, const haul__listener *listener,
                                     const haul_async *async, double *packed)
{
    double start = haul__seconds();
    haul_status status = haul__verify(shipment->plan);
    *packed = haul__seconds() - start;
    if (status != HAUL_OK)
        return status;
    status = haul__send_arena(shipment->device, shipment->plan, shipment->range.address,
                              shipment->range.address, listener, packed);
    if (status != HAUL_OK) {
        haul__drain(shipment->device);
        return status;
    }
    status = rebuild(shipment, async);
    return status == HAUL_OK ? conclude(shipment, async) : status;
}

static void tell_times(haul_shipment *shipment, double start, double packed)
{
    haul_shipment_statistics *statistics = &shipment->statistics;
    count_to(shipment, shipment->range.arena_bytes);
    statistics->pack_seconds = packed;
    statistics->transfer_seconds = haul__seconds() - start - packed;
    statistics->relocate_seconds = 0;
}

static haul_status pack_again(haul_shipment *shipment, const haul__listener *heard,
                              const haul_async *async)
{
    double start = haul__seconds(), packed = 0;
    haul_status status;
    haul__context_wake_pool(shipment->device->context, shipment->range.arena_bytes);
    status = refreshes_whole(shipment) ? refresh_whole(shipment, heard, async, &packed)
                                       : refresh_in_pieces(shipment, heard, async, &packed);
    if (status == HAUL_ERROR_STALE)
        name_stale_pointer(shipment);
    if (status != HAUL_OK)
        return status;
    tell_times(shipment, start, packed);
    haul_plan_get_statistics(shipment->plan, &shipment->statistics.plan);
    return HAUL_OK;
}

static haul_status refresh(haul_shipment *shipment, const haul_async *async)
{
    const haul__listener listener = haul__shipment_listener(&shipment->options);
    const haul__listener *heard = listener.progress ? &listener : NULL;
    const int may_pull = shipment->options.lock_source && !async;
    const double start = haul__seconds();
    haul_status status;
    int done = 0;
    status = may_pull ? haul__pull(shipment, heard, &done) : HAUL_OK;
    if (status == HAUL_OK && done)
        tell_times(shipment, start, 0);
    if (status != HAUL_OK || done)
        return status;
    status = pack_again(shipment, heard, async);
    if (status == HAUL_OK && may_pull && shipment->direct.state == HAUL__UNTRIED)
        status = haul__prepare_direct(shipment);
    return status;
}

static haul_status call_refresh(haul_shipment *shipment, const haul_async *async)
{
    haul_status status = haul__shipment_enter(shipment, async);
    if (status != HAUL_OK)
        return status;
    status =
        haul__is_arena(shipment) ? haul__arena_refresh(shipment, async) : refresh(shipment, async);
    haul__shipment_leave(shipment);
    return status;
}

haul_status haul_refresh(haul_shipment *shipment)
{
    return call_refresh(shipment, NULL);
}

haul_status haul_refresh_async(haul_shipment *shipment, const haul_async *async)
{
    return call_refresh(shipment, async ? async : &own_stream);
}

/* ---- Updates. */

typedef struct piece {
    uintptr_t first, end; /* of the host range */
    haul__span span;
    size_t at, skew; /* of its data in the arena; from the granule that this lies in */
} piece;

/* The part of a range that lies in an arena, as it is there. */
static int find_in_arena(const haul__contents *contents, piece *result)
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

/* `bar`: what keeps bytes from going this way. */
static haul_status find(const haul_shipment *shipment, unsigned bar, const void *host, size_t bytes,
                        piece *result)
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
            : !haul__find_span(shipment->plan, bar, result->first, result->end, &result->span))
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "no byte of the range is in the shipment");
    result->at = result->span.data_offset;
    result->skew = result->at % HAUL__STAGE_ALIGNMENT;
    return HAUL_OK;
}

/* Writes the range's data over `memory`, a copy of the piece from its granule on. */
static void put_data(const haul_shipment *shipment, const piece *one, void *memory)
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
    return !shipment->options.let_counts_change && haul__has_reads(shipment->plan);
}

/* May what has arrived be written? */
static haul_status check_back(haul_shipment *shipment, const haul__return *back)
{
    haul_error *error = &shipment->device->context->error;
    haul_status status = HAUL_OK;
    if (haul__is_arena(shipment)) {
        status = haul__contents_check(&shipment->contents, error);
        if (status == HAUL_OK)
            status = haul__contents_check_reads(&shipment->contents, back->data, back->at,
                                                back->bytes, error);
    } else if (must_check(shipment)) {
        status = haul__check_range(shipment->plan, back->first, back->end, back->data, back->at,
                                   back->bytes);
    }
    return status;
}

static haul_status put_data_back(haul_shipment *shipment, const haul__return *back)
{
    haul_status status = check_back(shipment, back);
    if (status != HAUL_OK)
        return status;
    if (haul__is_arena(shipment))
        haul__contents_scatter(&shipment->contents, shipment->device->context, back->data, back->at,
                               back->bytes);
    else
        haul__scatter_data(shipment->plan, back->first, back->end,
                           back->data - back->at % HAUL__STAGE_ALIGNMENT,
                           back->at - back->at % HAUL__STAGE_ALIGNMENT);
    return HAUL_OK;
}

/* Over what the device holds, where the piece is not the range's alone. */
static haul_status send_piece(haul_shipment *shipment, const haul_async *async, const piece *one,
                              haul__staging *staging)
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
    if (status == HAUL_OK)
        count_to(shipment, bytes);
    return status;
}

/* Nothing of the range travels: an event is told all the same. */
static haul_status tell_alone(haul_shipment *shipment, const haul_async *async)
{
    if (!async || !async->event)
        return HAUL_OK;
    return haul__conclude(shipment->device, async, &shipment->work, "event of an update of ", 0,
                          " bytes");
}

/* The last granule may reach beyond the data: a put writes data alone, so the room for it is not
 * needed. */
static haul_status update_device(haul_shipment *shipment, const void *host, size_t bytes,
                                 const haul_async *async)
{
    haul__staging staging;
    piece one;
    haul_status status = find(shipment, HAUL__UNSENT, host, bytes, &one);
    if (status == HAUL_OK && !haul__is_arena(shipment))
        status = haul__refuse_dependents(shipment->plan, one.first, one.end,
                                         "refresh the shipment instead");
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

static haul_status update_host(haul_shipment *shipment, void *host, size_t bytes)
{
    haul__staging staging;
    haul__return back;
    piece one;
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

static haul_status update_host_later(haul_shipment *shipment, void *host, size_t bytes,
                                     const haul_async *async)
{
    haul__return what;
    piece one;
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

static haul_status call_update_device(haul_shipment *shipment, const void *host, size_t bytes,
                                      const haul_async *async)
{
    haul_status status = haul__shipment_enter(shipment, async);
    if (status != HAUL_OK)
        return status;
    status = update_device(shipment, host, bytes, async);
    haul__shipment_leave(shipment);
    return status;
}

haul_status haul_update_device(haul_shipment *shipment, const void *host, size_t bytes)
{
    return call_update_device(shipment, host, bytes, NULL);
}

haul_status haul_update_device_async(haul_shipment *shipment, const void *host, size_t bytes,
                                     const haul_async *async)
{
    return call_update_device(shipment, host, bytes, async ? async : &own_stream);
}

haul_status haul_update_host(haul_shipment *shipment, void *host, size_t bytes)
{
    haul_status status = haul__shipment_enter(shipment, NULL);
    if (status != HAUL_OK)
        return status;
    status = update_host(shipment, host, bytes);
    haul__shipment_leave(shipment);
    return status;
}

haul_status haul_update_host_async(haul_shipment *shipment, void *host, size_t bytes,
                                   const haul_async *async)
{
    haul_status status;
    if (!async)
        async = &own_stream;
    status = haul__shipment_enter(shipment, async);
    if (status != HAUL_OK)
        return status;
    status = update_host_later(shipment, host, bytes, async);
    haul__shipment_leave(shipment);
    return status;
}
