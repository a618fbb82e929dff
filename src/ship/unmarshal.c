/* Unmarshal: results from the device back into their objects.
 *
 * Bytes from the device are not trusted: they are data, or offsets that are checked. An arena that
 * fits the staging ring arrives whole before the first byte is written, so a device that fails
 * leaves the host unchanged.
 *
 * A larger arena comes back in pieces through the ring: while one piece is written to the objects,
 * the next ones cross. If the device fails halfway, the first pieces are written. Their bytes are
 * right, and the device still has all results, so the call can be repeated. The whole arena is
 * staged, in memory of its size, for options.all_or_nothing and for a return of pointers, which are
 * all checked before any is written. The device itself writes a locked source (zero_copy.c).
 *
 * Integers that counts, conditions and switches read must come back unchanged. If an arena does not
 * arrive whole, the pieces with such integers cross twice: first all of them are checked, then
 * everything is written.
 */
#include "base/clock.h"
#include "arena/contents.h"
#include "arena/contents_reads.h"
#include "arena/copy_back.h"
#include "arena/nursery.h"
#include "device/piece_sizes.h"
#include "device/staging.h"
#include "device/streams.h"
#include "pack/check_reads.h"
#include "pack/pack.h"
#include "pack/pieces.h"
#include "pack/plan.h"
#include "pack/progress.h"
#include "pack/scatter.h"
#include "ship/arena_transfer.h"
#include "ship/pending.h"
#include "ship/route.h"
#include "ship/told_copies.h"
#include "ship/transfer.h"
#include "ship/untrusted.h"
#include "ship/update.h"
#include "ship/zero_copy.h"

static haul_error *error_of(const haul_shipment *shipment)
{
    return &shipment->device->context->error;
}

static haul_status write_arena_pointers(haul_shipment *shipment, const unsigned char *arena,
                                        size_t *outside)
{
    haul__contents *contents = &shipment->contents;
    uint64_t base = shipment->range.address;
    haul_status status = haul__contents_check(contents, error_of(shipment));
    if (status == HAUL_OK)
        status = haul__contents_check_pointers(contents, arena, base, outside, error_of(shipment));
    if (status == HAUL_OK)
        status =
            haul__contents_check_reads(contents, arena, 0, contents->bytes, error_of(shipment));
    if (status == HAUL_OK)
        status = haul__nurseries_check(contents, arena, base, error_of(shipment));
    if (status != HAUL_OK)
        return status;
    haul__contents_scatter_pointers(contents, shipment->device->context, arena, base);
    haul__nurseries_scatter(contents, arena, base);
    return HAUL_OK;
}

static haul_status write_data(haul_shipment *shipment, const unsigned char *arena)
{
    haul_context *context = shipment->device->context;
    haul_status status;
    haul__phase_begin(shipment->device, "scatter");
    if (haul__is_arena(shipment))
        status = haul__contents_put_back(&shipment->contents, context, arena, 0,
                                         shipment->contents.bytes);
    else
        status = haul__scatter(shipment->plan, arena, shipment->options.let_counts_change);
    haul__phase_end(shipment->device);
    return status;
}

/* *outside counts the pointers that lead out and are left; NULL: there must be none. */
static haul_status write_with_pointers(haul_shipment *shipment, const unsigned char *arena,
                                       size_t *outside)
{
    uint64_t base = shipment->range.address;
    haul_status status;
    haul__phase_begin(shipment->device, "scatter");
    if (haul__is_arena(shipment))
        status = write_arena_pointers(shipment, arena, outside);
    else
        status = haul__check_pointers(shipment->plan, arena, base,
                                      shipment->options.let_counts_change, outside);
    if (status == HAUL_OK && !haul__is_arena(shipment))
        haul__scatter_pointers(shipment->plan, arena, base);
    haul__phase_end(shipment->device);
    return status;
}

static haul_status write_pointers(haul_shipment *shipment, const unsigned char *arena)
{
    const haul_status status = write_with_pointers(shipment, arena, NULL);
    if (status == HAUL_OK)
        shipment->info.pointers_left = 0;
    return status;
}

static haul_status write_inner_pointers(haul_shipment *shipment, const unsigned char *arena)
{
    size_t outside = 0;
    const haul_status status = write_with_pointers(shipment, arena, &outside);
    if (status == HAUL_OK)
        shipment->info.pointers_left = outside;
    return status;
}

static haul_status write_untrusted_data(haul_shipment *shipment, const unsigned char *arena)
{
    return haul__write_untrusted(shipment, arena, 0);
}

static haul_status write_untrusted_pointers(haul_shipment *shipment, const unsigned char *arena)
{
    const haul_status status = haul__write_untrusted(shipment, arena, 1);
    if (status == HAUL_OK)
        shipment->info.pointers_left = 0;
    return status;
}

typedef haul_status write_arena(haul_shipment *shipment, const unsigned char *arena);

/* Asks the listener, before anything is written. */
static haul_status ask(const haul_shipment *shipment)
{
    haul_context *context = shipment->device->context;
    return haul__tell(context, haul__context_listener(context), 0, shipment->range.arena_bytes);
}

/* ---- Whole. */

static haul_status bring_back_whole(haul_shipment *shipment, write_arena *write)
{
    haul_device *device = shipment->device;
    haul_shipment_info *info = &shipment->info;
    const size_t bytes = shipment->range.arena_bytes;
    double start, arrived;
    haul__staging staging;
    haul_status status = ask(shipment);
    if (status == HAUL_OK)
        status = haul__prepare_write(shipment);
    if (status != HAUL_OK)
        return status;
    status = haul__stage(device, bytes, 0, &staging);
    if (status != HAUL_OK) {
        haul__end_write(shipment);
        return status;
    }
    start = haul__seconds();
    haul__context_wake_pool(device->context, bytes);
    status = haul__copy_from_told(shipment, staging.data, 0, bytes, 1);
    if (status == HAUL_OK) {
        /* While the device sends, the host fetches the lines that it will write. Several threads
         * fetch theirs themselves. Arenas are written from front to back: there it was slower. */
        if (!haul__is_arena(shipment) && !haul__context_pool(device->context, bytes))
            haul__fetch_scattered(shipment->plan);
        status = haul__shipment_arrive(shipment, 0, bytes);
    }
    if (status == HAUL_OK) {
        arrived = haul__seconds();
        status = write(shipment, staging.data);
        info->return_seconds = arrived - start;
        info->scatter_seconds = haul__seconds() - arrived;
    }
    haul__unstage(device, &staging);
    haul__end_write(shipment);
    return status;
}

/* ---- In pieces. */

/* The size of pieces that are checked for fields that must not change. One thread finds them in its
 * second-level cache when it writes them; several threads write larger ones. */
#define CHECK_PIECE_BYTES ((size_t)1 << 20)

/* A piece on its way. The queue of them is as long as the ring. */
typedef struct coming {
    haul__piece piece;
    haul__buffer *buffer;
    uint64_t fence;
} coming;

typedef struct return_queue {
    haul_shipment *shipment;
    size_t most;
    int looks; /* only checks integers that counts, conditions and switches read; writes nothing */
    haul__piece last; /* that was ordered */
    coming queue[HAUL__RING_BUFFERS];
    size_t first, count;
    size_t written; /* bytes */
    double scattered;
} return_queue;

static haul_status order_piece(return_queue *r, const haul__piece *piece)
{
    haul_device *device = r->shipment->device;
    coming *next = &r->queue[(r->first + r->count) % HAUL__RING_BUFFERS];
    haul_status status = haul__ring_take(device, piece->bytes, &next->buffer);
    if (status != HAUL_OK)
        return status;
    next->piece = *piece;
    r->count++;
    status = haul__copy_from(device, next->buffer->memory.memory,
                             r->shipment->range.address + piece->at, piece->bytes);
    if (status != HAUL_OK)
        return status;
    return haul__fence_behind(device, piece->bytes, &next->fence);
}

/* An arena of the user's is cut anywhere between granules. */
static int next_piece(const return_queue *r, haul__piece *piece)
{
    size_t all = r->shipment->range.arena_bytes;
    if (!haul__is_arena(r->shipment))
        return haul__next_piece(r->shipment->plan, r->most, piece);
    piece->at += piece->bytes;
    piece->bytes = all - piece->at < r->most ? all - piece->at : r->most;
    return piece->bytes > 0;
}

/* Does the graph have fields that must come back unchanged? */
static int must_look(const haul_shipment *shipment)
{
    if (haul__is_arena(shipment))
        return haul__contents_have_reads(&shipment->contents, 0, shipment->contents.bytes);
    return !shipment->options.let_counts_change && haul__has_read_set(shipment->plan);
}

/* Is the piece fetched? Not if nothing of it returns, or nothing of it is to be checked. */
static int is_wanted(const return_queue *r, const haul__piece *piece)
{
    const haul_shipment *shipment = r->shipment;
    if (haul__is_arena(shipment))
        return !r->looks || haul__contents_have_reads(&shipment->contents, piece->at, piece->bytes);
    return (!r->looks || haul__piece_is_read(shipment->plan, piece)) &&
           haul__piece_returns(shipment->plan, piece);
}

/* Orders pieces until the queue is full. */
static haul_status order_pieces(return_queue *r)
{
    const size_t most = haul__ring_buffers(r->shipment->device);
    haul_status status = HAUL_OK;
    while (status == HAUL_OK && r->count < most) {
        haul__piece next = r->last;
        if (!next_piece(r, &next))
            break;
        if (is_wanted(r, &next)) {
            status = order_piece(r, &next);
            if (status == HAUL_OK)
                haul__count_crossed(&r->shipment->info, &r->shipment->range, next.at, next.bytes,
                                    1);
        }
        r->last = next;
    }
    return status;
}

static haul_status await_fence(return_queue *r, uint64_t fence)
{
    haul_device *device = r->shipment->device;
    haul_status status = haul__await(device, fence);
    return status == HAUL_OK
               ? HAUL_OK
               : haul__device_failed(device, status, "copy of ", r->shipment->range.arena_bytes,
                                     " bytes from the device");
}

/* May an arrived piece be written? */
static haul_status check_piece(const return_queue *r, const coming *one)
{
    const haul_shipment *shipment = r->shipment;
    if (haul__is_arena(shipment))
        return haul__contents_check_reads(&shipment->contents, one->buffer->memory.memory,
                                          one->piece.at, one->piece.bytes, error_of(shipment));
    return must_look(shipment)
               ? haul__check_piece(shipment->plan, &one->piece, one->buffer->memory.memory)
               : HAUL_OK;
}

/* Checks the first piece of the queue, writes it, or both; then drops it. */
static haul_status take_first(return_queue *r, int checks, int writes)
{
    const haul_shipment *shipment = r->shipment;
    const coming *first = &r->queue[r->first];
    const double start = haul__seconds();
    haul_status status;
    haul__phase_begin(r->shipment->device, "scatter");
    status = checks ? check_piece(r, first) : HAUL_OK;
    if (status == HAUL_OK && writes) {
        if (haul__is_arena(shipment))
            haul__contents_scatter(&shipment->contents, shipment->device->context,
                                   first->buffer->memory.memory, first->piece.at,
                                   first->piece.bytes);
        else
            haul__scatter_piece(shipment->plan, &first->piece, first->buffer->memory.memory);
        r->written += first->piece.bytes;
    }
    haul__phase_end(r->shipment->device);
    r->scattered += haul__seconds() - start;
    if (status == HAUL_OK) {
        haul__ring_put(shipment->device, first->buffer);
        r->first = (r->first + 1) % HAUL__RING_BUFFERS;
        r->count--;
    }
    return status;
}

static haul_status may_write(const return_queue *r)
{
    haul_status status = ask(r->shipment);
    if (status == HAUL_OK && haul__is_arena(r->shipment))
        status = haul__contents_check(&r->shipment->contents, error_of(r->shipment));
    return status;
}

/* All pieces are in the queue: writes them after the last has arrived. */
static haul_status write_after_all(return_queue *r)
{
    haul_status status = HAUL_OK;
    size_t i;
    if (r->count > 0)
        status = await_fence(r, r->queue[(r->first + r->count - 1) % HAUL__RING_BUFFERS].fence);
    for (i = 0; i < r->count && status == HAUL_OK; i++)
        status = check_piece(r, &r->queue[(r->first + i) % HAUL__RING_BUFFERS]);
    if (status == HAUL_OK)
        status = may_write(r);
    while (status == HAUL_OK && r->count > 0)
        status = take_first(r, 0, 1);
    return status;
}

/* Writes pieces as they arrive. (Fields that were checked before are checked again, because a
 * kernel may have changed them meanwhile.) */
static haul_status write_as_they_come(return_queue *r)
{
    haul_context *context = r->shipment->device->context;
    haul_status status = HAUL_OK;
    size_t done;
    while (status == HAUL_OK && r->count > 0) {
        status = await_fence(r, r->queue[r->first].fence);
        if (status == HAUL_OK && r->written == 0 && !r->looks)
            status = may_write(r);
        done = r->looks ? 0 : r->queue[r->first].piece.at + r->queue[r->first].piece.bytes;
        if (status == HAUL_OK)
            status = take_first(r, 1, !r->looks);
        if (status == HAUL_OK)
            status = order_pieces(r);
        if (status == HAUL_OK)
            status = haul__tell(context, haul__context_listener(context), done,
                                r->shipment->range.arena_bytes);
    }
    return status;
}

/* Waits for the pieces on their way and drops them. */
static void give_up(return_queue *r)
{
    haul_device *device = r->shipment->device;
    haul_error found = device->context->error;
    haul__drain(device);
    for (; r->count > 0; r->count--, r->first = (r->first + 1) % HAUL__RING_BUFFERS)
        haul__ring_put(device, r->queue[r->first].buffer);
    if (r->written > 0)
        haul__fail(&device->context->error, found.status,
                   "%s; %zu bytes of the results had been written", found.text, r->written);
}

static return_queue begin(haul_shipment *shipment, size_t most, int looks)
{
    return_queue r;
    memset(&r, 0, sizeof r);
    r.shipment = shipment;
    r.most = most;
    r.looks = looks;
    return r;
}

static size_t checked_piece(const haul_device *device)
{
    const size_t limit = haul__piece_limit(device);
    return limit < CHECK_PIECE_BYTES ? limit : CHECK_PIECE_BYTES;
}

/* Fetches and checks all pieces with fields that must not change. *are: there are any. */
static haul_status look_at_all(haul_shipment *shipment, int *are)
{
    return_queue r = begin(shipment, checked_piece(shipment->device), 1);
    haul_status status = HAUL_OK;
    *are = 0;
    if (!must_look(shipment))
        return HAUL_OK;
    if (!haul__is_arena(shipment))
        status = haul__prepare_read_set(shipment->plan);
    if (status == HAUL_OK)
        status = order_pieces(&r);
    *are = r.count > 0;
    if (status == HAUL_OK)
        status = write_as_they_come(&r);
    if (status != HAUL_OK)
        give_up(&r);
    return status;
}

/* Do all pieces that return fit the ring? */
static int fits_the_ring(haul_shipment *shipment)
{
    const size_t most = haul__ring_buffers(shipment->device);
    return_queue r = begin(shipment, haul__piece_limit(shipment->device), 0);
    size_t count = 0;
    while (count <= most && next_piece(&r, &r.last))
        count += (size_t)is_wanted(&r, &r.last);
    return count <= most;
}

static haul_status bring_back_in_pieces(haul_shipment *shipment)
{
    haul_shipment_info *info = &shipment->info;
    const int fits = fits_the_ring(shipment);
    double start = haul__seconds();
    haul_status status;
    return_queue r = begin(shipment, haul__piece_limit(shipment->device), 0);
    int has_looked = 0;
    haul__context_wake_pool(shipment->device->context, shipment->range.arena_bytes);
    status = fits ? HAUL_OK : look_at_all(shipment, &has_looked);
    if (status != HAUL_OK)
        return status;
    if (has_looked && shipment->device->context->options.threads <= 1)
        r.most = checked_piece(shipment->device);
    status = order_pieces(&r);
    if (status == HAUL_OK)
        status = fits ? write_after_all(&r) : write_as_they_come(&r);
    if (status != HAUL_OK) {
        give_up(&r);
        return status;
    }
    info->scatter_seconds = r.scattered;
    info->return_seconds = haul__seconds() - start - r.scattered;
    info->transfers_from++;
    return HAUL_OK;
}

/* ---- Later. */

static haul_status write_data_later(haul_shipment *shipment, const haul__return *back)
{
    const haul_status status = ask(shipment);
    return status == HAUL_OK ? write_data(shipment, back->data) : status;
}

static haul_status write_pointers_later(haul_shipment *shipment, const haul__return *back)
{
    return write_pointers(shipment, back->data);
}

static haul_status write_inner_pointers_later(haul_shipment *shipment, const haul__return *back)
{
    return write_inner_pointers(shipment, back->data);
}

/* ---- All. */

static haul__journey journey_back(haul_shipment *shipment, const haul_update_options *how)
{
    haul__journey journey;
    const size_t bytes = shipment->range.arena_bytes;
    memset(&journey, 0, sizeof journey);
    journey.is_back = 1;
    journey.with_pointers = how->pointers;
    journey.all_or_nothing = how->all_or_nothing;
    journey.is_locked = haul__is_locked(shipment);
    journey.is_arena = haul__is_arena(shipment);
    journey.is_direct = haul__arena_returns_directly(shipment);
    journey.is_ordered = !journey.is_arena && haul__plan_is_ordered(shipment->plan);
    /* Up to device->whole_bytes all of it arrives before any of it is written: in the ring, or if
     * the device's pieces are so small that the ring cannot hold all of them, in one buffer. */
    journey.fits = bytes <= haul__piece_limit(shipment->device) ||
                   (bytes <= shipment->device->whole_bytes && !fits_the_ring(shipment));
    return journey;
}

haul_status haul__return_all(haul_shipment *shipment, const haul_update_options *how)
{
    haul_route *route = &shipment->info.to_host;
    haul__journey journey = journey_back(shipment, how);
    write_arena *write = !how->pointers       ? write_data
                         : how->leave_outside ? write_inner_pointers
                                              : write_pointers;
    haul_status status = HAUL_OK;
    int done = 0, has_looked;
    if (shipment->options.untrusted) {
        write = how->pointers ? write_untrusted_pointers : write_untrusted_data;
        journey.all_or_nothing = 1;
    }
    *route = haul__route(&journey);
    if (*route == HAUL_ROUTE_LOCKED) { /* the device writes the source */
        status = look_at_all(shipment, &has_looked);
        if (status == HAUL_OK)
            status = haul__push(shipment, &done);
    }
    if (status != HAUL_OK || done)
        return status;
    journey.is_locked = 0;
    *route = haul__route(&journey);
    if (*route == HAUL_ROUTE_ARENA)
        return haul__arena_bring_back(shipment);
    return *route == HAUL_ROUTE_PIECES ? bring_back_in_pieces(shipment)
                                       : bring_back_whole(shipment, write);
}

haul_status haul__return_all_later(haul_shipment *shipment, const haul_update_options *how,
                                   const haul_async *async)
{
    haul__journey journey = journey_back(shipment, how);
    haul__return what;
    haul_status status;
    journey.is_async = 1;
    shipment->info.to_host = haul__route(&journey);
    memset(&what, 0, sizeof what);
    what.write = !how->pointers       ? write_data_later
                 : how->leave_outside ? write_inner_pointers_later
                                      : write_pointers_later;
    what.is_whole = 1;
    what.bytes = shipment->range.arena_bytes;
    status = haul__return_memory(shipment, what.bytes, &what.memory);
    if (status != HAUL_OK)
        return status;
    what.data = what.memory.memory;
    return haul__return_later(shipment, async, &what);
}
