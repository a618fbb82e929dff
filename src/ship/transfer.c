/* Transfers: a whole graph to the device, as one or in pieces.
 *
 * The slow obvious version: gather arena, bitmap and explicit relocations into one host buffer,
 * laid out as on the device, copy it, and let the device add the base to every marked word. Small
 * graphs cross in this way. Their cost is that of the orders, so copy and patch are one order if
 * the device offers that.
 *
 * A large graph is packed and sent at the same time: gather fills one buffer of the staging ring
 * while the device reads the others. The shorter of packing and transfer is hidden, and the pinned
 * memory does not grow with the graph. The marks follow from the plan alone: the bitmap, or a list
 * of the pointers' offsets if that is shorter (arena_marks.c says when). They go last, and the
 * patch behind them.
 *
 * A device may report a failure afterwards: a copy that "succeeded" fails at the next wait. So
 * nothing here counts as done before a wait has succeeded.
 */
#include "base/clock.h"
#include "device/deferred.h"
#include "device/piece_sizes.h"
#include "device/staging.h"
#include "device/streams.h"
#include "map/found.h"
#include "pack/bitmap.h"
#include "pack/dependents.h"
#include "pack/pack.h"
#include "pack/pieces.h"
#include "pack/plan.h"
#include "pack/progress.h"
#include "ship/hinted.h"
#include "ship/largest_types.h"
#include "ship/places.h"
#include "ship/rebuild.h"
#include "ship/route.h"
#include "ship/squeeze.h"
#include "ship/transfer.h"

/* the fewest words of a piece of marks, however small the device wants pieces */
#define WORDS_MIN ((size_t)8)
/* words of a bitmap that one thread makes at once: those of a mebibyte of the arena */
#define WORDS_CHUNK ((size_t)2048)

void haul__count_crossed(haul_shipment_info *info, const haul__range *range, size_t at,
                         size_t bytes, int is_back)
{
    const uint64_t on_host = haul__placed_bytes(range, at, at + bytes, HAUL_PLACE_HOST);
    const uint64_t moving = haul__placed_bytes(range, at, at + bytes, HAUL_PLACE_MOVING);
    *(is_back ? &info->bytes_from : &info->bytes_to) += bytes;
    *(is_back ? &info->host_bytes_from : &info->host_bytes_to) += on_host;
    *(is_back ? &info->moving_bytes_from : &info->moving_bytes_to) += moving;
}

void haul__count_sent(haul_shipment_info *info, const haul__range *range)
{
    const size_t lists = range->listed ? (size_t)haul__listed_at(range) : range->arena_bytes;
    info->transfers_to++;
    haul__count_crossed(info, range, 0, range->arena_bytes, 0);
    haul__count_crossed(info, range, lists, range->bytes - lists, 0);
}

haul_status haul__shipment_order(haul_shipment *shipment, void *to, size_t at, size_t bytes)
{
    return haul__copy_from(shipment->device, to, shipment->range.address + at, bytes);
}

haul_status haul__shipment_arrive(haul_shipment *shipment, size_t at, size_t bytes)
{
    haul_status status =
        haul__conclude(shipment->device, NULL, NULL, "copy of ", bytes, " bytes from the device");
    if (status != HAUL_OK)
        return status;
    shipment->info.transfers_from++;
    haul__count_crossed(&shipment->info, &shipment->range, at, bytes, 1);
    return HAUL_OK;
}

haul_status haul__shipment_receive(haul_shipment *shipment, void *to, size_t at, size_t bytes)
{
    haul_status status = haul__shipment_order(shipment, to, at, bytes);
    return status == HAUL_OK ? haul__shipment_arrive(shipment, at, bytes) : status;
}

/* ---- The range. */

/* Appends `count` words of 8 bytes to the range. 1: the size overflows. */
static int lay_out_words(size_t count, size_t *at, haul__range *range)
{
    size_t bytes;
    if (haul__add_overflows(range->bytes, 7, at))
        return 1;
    *at &= ~(size_t)7;
    return haul__multiply_overflows(count, sizeof(uint64_t), &bytes) ||
           haul__add_overflows(*at, bytes, &range->bytes);
}

haul_status haul__lay_out(haul_device *device, const haul_plan *plan, int patched,
                          haul__range *range)
{
    int overflows = 0;
    memset(range, 0, sizeof *range);
    range->arena_bytes = range->bytes = haul__plan_bytes(plan);
    range->list_count = haul__plan_dependent_count(plan);
    if (patched && haul__plan_pointers(plan) > 0) {
        range->bitmap_bytes = haul__plan_bitmap_bytes(plan);
        range->explicit_count = haul__plan_explicit_count(plan);
        overflows =
            lay_out_words(range->bitmap_bytes / sizeof(uint64_t), &range->bitmap_at, range) ||
            lay_out_words(range->explicit_count, &range->explicit_at, range);
    }
    if (!overflows && range->list_count > 0)
        overflows = lay_out_words(range->list_count, &range->list_at, range);
    return overflows ? haul__fail(&device->context->error, HAUL_ERROR_LIMIT,
                                  "a graph larger than the address space")
                     : HAUL_OK;
}

static haul_status place_range(haul_device *device, haul_plan *plan,
                               const haul_ship_options *options, haul__range *range)
{
    range->most = options->budget_bytes;
    return haul__choose_places(device, plan, options, range);
}

static haul_status allocate_placed(haul_device *device, haul_plan *plan, haul__range *range)
{
    const size_t alignment = haul__plan_alignment(plan);
    const haul_status status =
        haul__allocate_aligned(device, alignment > 256 ? alignment : 256, range);
    if (status == HAUL_ERROR_DEVICE_MEMORY)
        haul__name_largest_types(device->context, plan);
    return status;
}

haul_status haul__allocate_range(haul_device *device, haul_plan *plan,
                                 const haul_ship_options *options, haul__range *range)
{
    const haul_status status = place_range(device, plan, options, range);
    return status == HAUL_OK ? allocate_placed(device, plan, range) : status;
}

/* ---- Pieces. */

/* The whole arena as one piece, and how it would cross. */
static haul__squeezed try_whole(const haul_device *device, const haul_plan *plan, haul__piece *all)
{
    memset(all, 0, sizeof *all);
    haul__next_piece(plan, SIZE_MAX, all);
    return haul__try_squeeze(device, plan, all, HAUL__SQUEEZE_LEAST);
}

static haul_status send_piece(haul__gathering *gathering, haul_device *device,
                              const haul__piece *piece, haul_address to, haul__sending *sending)
{
    haul__squeezed squeezed = { 0, 0, 0, 0 };
    double start;
    haul__buffer *buffer;
    haul_status status = haul__ring_take(device, piece->bytes, &buffer);
    if (status != HAUL_OK)
        return status;
    haul__phase_begin(device, "pack");
    start = haul__seconds();
    if (!sending->sends_all)
        squeezed = haul__try_squeeze(device, gathering->plan, piece, HAUL__SQUEEZE_PIECE_LEAST);
    gathering->spares = squeezed.saved > 0;
    status = haul__gather_piece(gathering, piece, buffer->memory.memory);
    sending->packed += haul__seconds() - start;
    haul__phase_end(device);
    if (status != HAUL_OK) {
        haul__ring_put(device, buffer);
        return status;
    }
    sending->saved += squeezed.saved;
    if (!squeezed.saved)
        return haul__send_buffer(device, buffer, to + piece->at, piece->bytes);
    haul__squeeze(gathering->plan, piece, &squeezed, buffer->memory.memory, to + piece->at);
    return haul__ring_put_behind(
        device, buffer, piece->bytes,
        haul__send_squeezed(device, piece, &squeezed, buffer->memory.memory, to + piece->at));
}

/* Bytes that cross between two reports, in the largest pieces of an arena: 64 MiB, or 32. */
#define TOLD_PIECES ((size_t)8)

/* Sends bytes that are packed already. The listener hears that they are, and may still cancel. */
static haul_status send_and_tell(haul_device *device, const haul_plan *plan,
                                 const unsigned char *arena, haul_address to,
                                 const haul__listener *listener)
{
    const size_t bytes = haul__plan_bytes(plan), total = haul__plan_told_bytes(plan);
    const size_t most = listener ? TOLD_PIECES * haul__piece_limit(device) : bytes;
    haul_status status = HAUL_OK;
    size_t at, now;
    for (at = 0; at < bytes && status == HAUL_OK; at += now) {
        now = bytes - at < most ? bytes - at : most;
        status = haul__send_bytes(device, arena + at, now, to + at);
        if (status == HAUL_OK && at + now < bytes)
            status = haul__tell(device->context, listener, total, total);
    }
    return status;
}

/* An ordered arena is packed whole before the first piece is sent. */
static haul_status send_ordered(haul_device *device, haul_plan *plan, uint64_t base,
                                haul_address to, const haul__listener *listener, double *packed)
{
    const haul_allocator *allocator = &device->context->allocator;
    const size_t bytes = haul__plan_bytes(plan);
    unsigned char *arena = haul__allocate(allocator, bytes, HAUL__STAGE_ALIGNMENT);
    const double start = haul__seconds();
    haul_status status;
    if (!arena)
        return haul__fail(&device->context->error, HAUL_ERROR_MEMORY,
                          "out of memory for an ordered arena");
    haul__phase_begin(device, "pack");
    status = haul__gather(plan, arena, base, to, 0, listener);
    *packed += haul__seconds() - start;
    haul__phase_end(device);
    if (status == HAUL_OK)
        status = send_and_tell(device, plan, arena, to, listener);
    haul__release(allocator, arena, bytes);
    return status;
}

haul_status haul__send_arena(haul_device *device, haul_plan *plan, uint64_t base, haul_address to,
                             const haul__listener *listener, haul__sending *sending)
{
    const size_t most = haul__piece_bytes(device, haul__plan_bytes(plan));
    haul__piece piece = { 0, 0, 0, 0 }, all;
    haul__gathering gathering;
    haul_status status;
    if (!sending->sends_all && !try_whole(device, plan, &all).saved)
        sending->sends_all = 1;
    if (haul__plan_is_ordered(plan))
        return send_ordered(device, plan, base, to, listener, &sending->packed);
    status = haul__gather_begin(&gathering, plan, base, to, 1, listener);
    while (status == HAUL_OK && haul__next_piece(plan, most, &piece))
        status = send_piece(&gathering, device, &piece, to, sending);
    return status == HAUL_OK ? haul__gather_end(&gathering) : status;
}

haul_status haul__send_whole(haul_device *device, const haul_plan *plan, size_t bytes,
                             unsigned char *memory, haul_address to, haul__sending *sending)
{
    haul__piece all;
    haul__squeezed squeezed = { 0, 0, 0, 0 };
    if (bytes == haul__plan_bytes(plan) && !sending->sends_all)
        squeezed = try_whole(device, plan, &all);
    if (!squeezed.saved)
        return haul__copy_to(device, to, memory, bytes);
    haul__squeeze(plan, &all, &squeezed, memory, to);
    sending->saved += squeezed.saved;
    return haul__send_squeezed(device, &all, &squeezed, memory, to);
}

/* The words in a piece of marks: as many bytes as in a piece of the arena, and at least
 * WORDS_MIN. */
static size_t words_of_piece(const haul_device *device, const haul_plan *plan)
{
    const size_t most = haul__piece_bytes(device, haul__plan_bytes(plan)) / sizeof(uint64_t);
    return most < WORDS_MIN ? WORDS_MIN : most;
}

typedef void write_words(const haul_plan *plan, size_t first, size_t count, uint64_t *words);

typedef struct writing {
    const haul_plan *plan;
    write_words *write;
    size_t at; /* the first word */
    uint64_t *words;
} writing;

static void write_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const writing *all = user;
    (void)number;
    (void)scratch;
    all->write(all->plan, all->at + first, end - first, all->words + first);
}

/* A bit of a bitmap takes about as long as a word of the arena. */
static void write_together(haul_context *context, writing *all, size_t chunk, size_t count)
{
    const size_t bytes = count * 64 * sizeof(void *);
    haul__pool_run(haul__context_pool(context, bytes), bytes, 0, count, chunk, write_chunk, all);
}

/* Sends `count` words of 64 bits, which `write` makes, `chunk` of them by one thread. */
static haul_status send_words(haul_device *device, const haul_plan *plan, write_words *write,
                              size_t chunk, size_t count, haul_address to)
{
    const size_t most = words_of_piece(device, plan);
    size_t at, now;
    haul_status status = HAUL_OK;
    for (at = 0; at < count && status == HAUL_OK; at += now) {
        haul__buffer *buffer;
        writing all = { plan, write, at, NULL };
        now = most < count - at ? most : count - at;
        status = haul__ring_take(device, now * sizeof(uint64_t), &buffer);
        if (status != HAUL_OK)
            break;
        haul__phase_begin(device, "pack");
        all.words = buffer->memory.memory;
        write_together(device->context, &all, chunk, now);
        haul__phase_end(device);
        status =
            haul__send_buffer(device, buffer, to + at * sizeof(uint64_t), now * sizeof(uint64_t));
    }
    return status;
}

/* Sends the pointers as a list. range->listed stays 0: they are too many. */
static haul_status send_list(haul_device *device, const haul_plan *plan, haul__range *range)
{
    const size_t most = haul__listed_most(range, words_of_piece(device, plan) * sizeof(uint64_t));
    haul__buffer *buffer;
    size_t count;
    haul_status status;
    if (most == 0)
        return HAUL_OK;
    status = haul__ring_take(device, most * sizeof(uint64_t), &buffer);
    if (status != HAUL_OK)
        return status;
    haul__phase_begin(device, "pack");
    count = haul__plan_offsets(plan, most, buffer->memory.memory);
    haul__phase_end(device);
    if (count == 0 || count == SIZE_MAX) {
        haul__ring_put(device, buffer);
        return HAUL_OK;
    }
    range->listed = count;
    return haul__send_buffer(device, buffer, range->address + haul__listed_at(range),
                             count * sizeof(uint64_t));
}

haul_status haul__send_marks(haul_device *device, const haul_plan *plan, haul__range *range)
{
    haul_status status;
    range->listed = 0;
    status = send_list(device, plan, range);
    if (status != HAUL_OK || range->listed > 0)
        return status;
    status = send_words(device, plan, haul__plan_bitmap, WORDS_CHUNK,
                        range->bitmap_bytes / sizeof(uint64_t), range->address + range->bitmap_at);
    return status == HAUL_OK
               ? send_words(device, plan, haul__plan_explicit, SIZE_MAX, range->explicit_count,
                            range->address + range->explicit_at)
               : status;
}

/* ---- A whole graph. */

typedef struct load {
    haul_device *device;
    haul_plan *plan;
    haul__range *range;
    const haul__listener *listener;
    const haul_async *async;
    haul__work *work;
    haul__sending sending;
    double relocated; /* time at which the copies were done and the patch began; 0: unknown */
} load;

static haul_status conclude(load *l)
{
    return haul__conclude(l->device, l->async, l->work, "transfer of ", l->range->bytes,
                          " bytes to the device");
}

/* Orders the patch. A synchronous call also waits for the copies, to time the patch alone. */
static haul_status patch_behind_copies(load *l)
{
    haul_device *device = l->device;
    uint64_t fence;
    haul_status status;
    if (l->async)
        return haul__relocate(device, l->range, 0);
    status = haul__fence(device, &fence);
    if (status == HAUL_OK) {
        status = haul__relocate(device, l->range, 0);
        if (status != HAUL_OK)
            return status;
        status = haul__await(device, fence);
        l->relocated = haul__seconds();
    }
    if (status == HAUL_OK)
        return HAUL_OK;
    haul__device_failed(device, status, "copy of ", l->range->bytes, " bytes to the device");
    haul__drain(device);
    return status;
}

static haul_status rebuild(load *l)
{
    return haul__rebuild(l->device, l->plan, l->range, l->async);
}

static haul_status fill_in_pieces(load *l)
{
    haul_device *device = l->device;
    const haul__range *range = l->range;
    haul_status status =
        haul__send_arena(device, l->plan, haul__is_patched(range) ? 0 : range->address,
                         range->address, l->listener, &l->sending);
    if (status == HAUL_OK && haul__is_patched(range))
        status = haul__send_marks(device, l->plan, l->range);
    if (status == HAUL_OK)
        status = haul__send_dependents(device, l->plan, range);
    if (status == HAUL_OK && haul__is_patched(range))
        status = patch_behind_copies(l);
    if (status != HAUL_OK) {
        haul__drain(device);
        return status;
    }
    status = rebuild(l);
    return status == HAUL_OK ? conclude(l) : status;
}

/* Gathers the whole range as it will lie on the device. */
static haul_status gather_whole(load *l, unsigned char *memory)
{
    const haul__range *range = l->range;
    double start = haul__seconds();
    haul_status status = haul__gather(l->plan, memory, haul__is_patched(range) ? 0 : range->address,
                                      range->address, 1, l->listener);
    if (status == HAUL_OK && haul__is_patched(range)) {
        memset(memory + range->arena_bytes, 0, range->bitmap_at - range->arena_bytes);
        haul__plan_bitmap(l->plan, 0, range->bitmap_bytes / sizeof(uint64_t),
                          (uint64_t *)(void *)(memory + range->bitmap_at));
        haul__plan_explicit(l->plan, 0, range->explicit_count,
                            (uint64_t *)(void *)(memory + range->explicit_at));
    }
    if (status == HAUL_OK && range->list_count > 0) {
        size_t end = haul__is_patched(range)
                         ? range->explicit_at + range->explicit_count * sizeof(uint64_t)
                         : range->arena_bytes;
        memset(memory + end, 0, range->list_at - end);
        haul__list_dependents(l->plan, range, 0, range->list_count,
                              (uint64_t *)(void *)(memory + range->list_at));
    }
    l->sending.packed = haul__seconds() - start;
    return status;
}

static haul_status fill_whole(load *l)
{
    haul_device *device = l->device;
    const haul__range *range = l->range;
    haul__staging staging;
    haul_status status = haul__stage(device, range->bytes, 0, &staging);
    if (status != HAUL_OK)
        return status;
    haul__phase_begin(device, "pack");
    status = gather_whole(l, staging.data);
    haul__phase_end(device);
    if (status == HAUL_OK && haul__is_patched(range) && !staging.plain &&
        range->bytes <= device->capabilities.send_bytes) {
        status = haul__send_as_one(device, range, 0, staging.data);
    } else if (status == HAUL_OK) {
        status = haul__send_whole(device, l->plan, range->bytes, staging.data, range->address,
                                  &l->sending);
        if (status == HAUL_OK && haul__is_patched(range))
            status = patch_behind_copies(l);
    }
    if (status == HAUL_OK)
        status = rebuild(l);
    if (status == HAUL_OK)
        status = conclude(l);
    haul__unstage_until(device, &staging, status == HAUL_OK ? l->work : NULL);
    return status;
}

static haul_status fill(load *l, haul_shipment_info *info)
{
    double start = haul__seconds(), all;
    haul__journey journey;
    haul_status status;
    memset(&journey, 0, sizeof journey);
    journey.is_async = l->async != NULL;
    journey.is_ordered = haul__plan_is_ordered(l->plan);
    journey.fits = haul__crosses_whole(l->device, l->range->bytes);
    info->to_device = haul__route(&journey);
    status = info->to_device == HAUL_ROUTE_WHOLE ? fill_whole(l) : fill_in_pieces(l);
    if (status != HAUL_OK)
        return status;
    all = haul__seconds();
    info->pack_seconds = l->sending.packed;
    info->relocate_seconds = l->relocated > 0 ? all - l->relocated : 0;
    info->transfer_seconds = all - start - l->sending.packed - info->relocate_seconds;
    haul__count_sent(info, l->range);
    info->bytes_to -= l->sending.saved;
    info->base = l->range->address;
    return HAUL_OK;
}

/* Is it large enough for the device to patch it? */
static int is_worth_patching(const haul_device *device, const haul_plan *plan)
{
    return haul__plan_bytes(plan) > device->capabilities.patch_bytes &&
           !haul__plan_found(plan)->elsewhere;
}

/* Does it cross as one piece that is squeezed, if no page lies elsewhere? Then it has no marks
 * behind it, and the host adds the base. */
static int is_squeezed_whole(const haul_device *device, const haul_plan *plan)
{
    haul__piece all;
    return haul__crosses_whole(device, haul__plan_bytes(plan)) &&
           try_whole(device, plan, &all).saved;
}

static haul_status lay_out_and_place(haul_device *device, haul_plan *plan,
                                     const haul_ship_options *options, int patched,
                                     haul__range *range)
{
    const haul_status status = haul__lay_out(device, plan, patched, range);
    return status == HAUL_OK ? place_range(device, plan, options, range) : status;
}

/* Lays the range out, and allocates it. A range with pages elsewhere is never squeezed. So if the
 * shorter range without marks gets such pages, it is laid out once more, with marks. */
static haul_status make_range(haul_device *device, haul_plan *plan,
                              const haul_ship_options *options, haul__range *range)
{
    const int patched = is_worth_patching(device, plan),
              squeezed = patched && is_squeezed_whole(device, plan);
    haul_status status = lay_out_and_place(device, plan, options, patched && !squeezed, range);
    if (status == HAUL_OK && squeezed && range->placing_count > 0) {
        haul__drop_placings(device, range);
        status = lay_out_and_place(device, plan, options, 1, range);
    }
    return status == HAUL_OK ? allocate_placed(device, plan, range) : status;
}

haul_status haul__load(haul_device *device, haul_plan *plan, const haul_ship_options *options,
                       const haul_async *async, haul__range *range, haul__work *work,
                       haul_shipment_info *info)
{
    haul_status status = make_range(device, plan, options, range);
    load l;
    haul__forget_notes(plan);
    if (status != HAUL_OK)
        return status;
    device->expected_bytes = range->bytes;
    memset(&l, 0, sizeof l);
    l.device = device;
    l.plan = plan;
    l.range = range;
    l.listener = haul__context_listener(device->context);
    l.async = async;
    l.work = work;
    l.sending.sends_all = range->placing_count > 0;
    status = fill(&l, info);
    if (status != HAUL_OK)
        haul__unload(device, range);
    return status;
}
