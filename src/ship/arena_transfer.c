/* Transfers of arenas.
 *
 *     host:    | used bytes                | room         device:   | used bytes | bitmap |
 *     small:   | used bytes | bitmap |        one copy; then the host clears the bitmap
 *     large:   copied from the arena; meanwhile its marks go through staging (arena_marks.c)
 *     larger:  | bytes before the cut | marks | rest |
 *                                             | patch before the cut | patch of the rest |
 *
 * Then the device patches from the host's base, and once more for each other arena that pointers
 * lead into. A larger arena is cut: what lies before the cut is patched while the rest crosses.
 *
 * A direct return goes the other way: the device patches its pointers for the host, the arena is
 * copied to its place, and the device patches them back. In pinned memory, up to fetch_bytes, all
 * of it is one order (`fetch`). In a larger arena with many pointers the patches run beside the
 * copies of three parts:
 *
 *                     | first                    | middle      | last         |
 *     | patch: first  | patch: middle and last   | first again | middle again | last again |
 *
 * A mirrored arena has device memory at its own addresses, so all of this is one copy each way. To
 * a verb an address of that arena means the device's bytes; the host's bytes are given by the
 * arena's window.
 *
 * A pointer that leads out of everything that is shipped is external, and is refused by default. A
 * check of each pointer by the host takes several times as long as the transfer. So the device,
 * which reads all pointers to patch them, sets a word of the host's memory if one is external; only
 * then does the host search for it, to name it. In three cases the host checks all pointers, while
 * the bytes cross: in small arenas, which would need staging for that word alone; if there are
 * other arenas or explicit relocations; and in asynchronous calls.
 */
#include <stdio.h>

#include "base/clock.h"
#include "arena/arena_words.h"
#include "arena/edits.h"
#include "arena/nursery.h"
#include "arena/pointers.h"
#include "arena/room.h"
#include "device/piece_sizes.h"
#include "device/staging.h"
#include "device/streams.h"
#include "pack/progress.h"
#include "ship/arena_transfer.h"
#include "ship/pending.h"
#include "ship/route.h"
#include "ship/told_copies.h"
#include "ship/transfer.h"
#include "haul/experimental.h"

/* The smallest arena whose pointers the device checks. For a smaller one, the first refresh would
 * pin a whole buffer of this size for one word. */
#define ASK_BYTES HAUL__FIRST_BYTES

/* The bytes that cross while the host checks one pointer that is not in its caches (6 ns). */
#define LOOK_BYTES ((size_t)512)

/* CUT_BYTES: the smallest arena that is cut; in a smaller one a patch takes no longer than its
 * launch. REST_PART: the rest is this fraction of the arena, and so are the first and the last part
 * of a return. A larger rest leaves more to patch at the end (a quarter: 1.033 of a raw copy, an
 * eighth 1.028, a sixteenth and a thirty-second 1.026). */
#define CUT_BYTES ((size_t)8 << 20)
#define REST_PART 16u

/* ---- External pointers. */

static haul_status refuse_outside(const haul__contents *contents, haul_error *error)
{
    size_t at = 0, i = 0;
    char path[HAUL_PATH_BYTES];
    uintptr_t value;
    if (!haul__next_outside(contents, &at)) {
        if (!haul__next_explicit_outside(contents, &i))
            return HAUL_OK;
        at = haul__word_at(contents, i);
    }
    value = haul__load_word(contents->base + at);
    haul__fail(error, HAUL_ERROR_GRAPH,
               "the pointer %p leads out of the shipped arena; it stands at byte %zu",
               (void *)value, at);
    snprintf(path, sizeof path, "arena+%zu", at);
    haul__set_path(error->path, path);
    return HAUL_ERROR_GRAPH;
}

/* ---- Orders. */

/* The address of byte `at` of the contents, for the device's verbs. */
static unsigned char *window(const haul_shipment *shipment, size_t at)
{
    const haul__contents *contents = &shipment->contents;
    return haul__arena_window(contents->arena, contents->base + at);
}

static void write_edited(const haul_shipment *shipment, size_t at, size_t bytes,
                         unsigned char *memory)
{
    const haul__contents *contents = &shipment->contents;
    haul__pool_copy(haul__context_pool(shipment->device->context, bytes), memory,
                    contents->base + at, bytes);
    haul__edit(contents, memory, at, bytes);
}

/* Relocates pointers into other arenas, from the host's addresses to the device's, or back. Own
 * pointers were relocated first, so they no longer fall into a neighbour's range. A mirrored
 * arena's own pointers do not move; two cases follow: its base must not be taken for one past the
 * end of a neighbour that ends there, and a neighbour that is this same arena needs no patch. */
static haul_status relocate_neighbours(haul_shipment *shipment, int back)
{
    const haul__contents *contents = &shipment->contents;
    const uint64_t own = shipment->range.address;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < contents->neighbour_count && status == HAUL_OK; i++) {
        const haul__neighbour *other = &contents->neighbours[i];
        const uint64_t from = back ? other->device : other->host,
                       to = back ? other->host : other->device;
        uint64_t bytes = other->bytes;
        haul_relocation relocation;
        if (shipment->range.mirror && from + bytes == own)
            bytes--;
        relocation = haul__relocation_of(&shipment->range, from, bytes,
                                         shipment->range.mirror && from == own ? 0 : to - from);
        status = haul__patch(shipment->device, &relocation);
    }
    return status;
}

/* Do own pointers reach beyond the contents? */
static int reaches_out(const haul__contents *contents)
{
    return contents->before || contents->behind;
}

/* Can a device with marks check for external pointers? */
static int is_for_device(const haul__contents *contents)
{
    return contents->outside == HAUL_OUTSIDE_REFUSE && contents->neighbour_count == 0 &&
           contents->explicit_count == 0 && contents->bytes >= ASK_BYTES && !reaches_out(contents);
}

/* A mirrored arena needs no patch. If it has few pointers, the host checks them while the bytes
 * cross. In a large arena even counting the pointers takes longer than an order to the device. */
int haul__device_checks(const haul__contents *contents)
{
    const size_t few = contents->bytes / LOOK_BYTES;
    return is_for_device(contents) &&
           (contents->bytes >= CUT_BYTES || haul__count_marked(contents, few) > few);
}

/* The relocation of own pointers: into the contents, and the room beside them, from base `from` to
 * base `to`. */
static haul_relocation own_relocation(const haul_shipment *shipment, uint64_t from, uint64_t to)
{
    const haul__contents *contents = &shipment->contents;
    return haul__relocation_of(&shipment->range, from - contents->before,
                               contents->before + contents->bytes + contents->behind, to - from);
}

static haul_status relocate_own(haul_shipment *shipment, uint64_t from, uint64_t to)
{
    haul_relocation own = own_relocation(shipment, from, to);
    return haul__patch(shipment->device, &own);
}

/* Objects that kernels have made, and that have not come back yet, have bits in their nursery
 * only. */
haul_status haul__arena_relocate(haul_shipment *shipment, uint64_t from)
{
    const haul__contents *contents = &shipment->contents;
    const uint64_t address = shipment->range.address;
    haul_status status = relocate_own(shipment, from, address);
    haul_relocation relocation;
    size_t i;
    memset(&relocation, 0, sizeof relocation);
    relocation.from = from;
    relocation.bytes = contents->bytes;
    relocation.delta = address - from;
    relocation.word_bytes = sizeof(void *);
    for (i = 0; i < contents->arena->nursery_count && status == HAUL_OK; i++) {
        const haul__nursery_place *place = &contents->arena->nurseries[i];
        if (contents->own || place->at >= contents->bytes)
            continue;
        relocation.arena = address + place->memory;
        relocation.words = place->capacity / sizeof(void *);
        relocation.bitmap = address + place->at + sizeof(haul_nursery);
        status = haul__patch(shipment->device, &relocation);
    }
    return status;
}

/* Relocates all pointers for the device, or back for the host. */
static haul_status relocate(haul_shipment *shipment, int back)
{
    const uint64_t host = (uintptr_t)shipment->contents.base, device = shipment->range.address;
    haul_status status = relocate_own(shipment, back ? device : host, back ? host : device);
    return status == HAUL_OK ? relocate_neighbours(shipment, back) : status;
}

static haul_status order_as_one(haul_shipment *shipment)
{
    haul_device *device = shipment->device;
    const haul__range *range = &shipment->range;
    haul_status status;
    if (shipment->contents.arena->region.pinned &&
        range->bytes <= device->capabilities.send_bytes && !reaches_out(&shipment->contents)) {
        status = haul__send_as_one(device, range, (uintptr_t)shipment->contents.base,
                                   window(shipment, 0));
        return status == HAUL_OK ? relocate_neighbours(shipment, 0) : status;
    }
    status = haul__copy_to(device, range->address, window(shipment, 0), range->bytes);
    return status == HAUL_OK ? relocate(shipment, 0) : status;
}

static haul_status conclude(haul_shipment *shipment, const haul_async *async)
{
    return haul__conclude(shipment->device, async, &shipment->work, "transfer of ",
                          shipment->range.bytes, " bytes to the device");
}

/* Checks for external pointers on the host, while the bytes cross. */
static haul_status look_meanwhile(haul_shipment *shipment)
{
    if (shipment->contents.outside != HAUL_OUTSIDE_REFUSE)
        return HAUL_OK;
    return refuse_outside(&shipment->contents, &shipment->device->context->error);
}

/* The marks stand behind the arena's bytes for the time of the copy, so the call waits for it. */
static haul_status send_as_one(haul_shipment *shipment)
{
    const haul__range *range = &shipment->range;
    const haul__contents *contents = &shipment->contents;
    unsigned char *behind = contents->base + range->arena_bytes;
    size_t bytes = range->bytes - range->arena_bytes, grown;
    haul_status status;
    haul__unpoison(behind, bytes);
    haul__write_marks(shipment, contents->base);
    status = order_as_one(shipment);
    if (status == HAUL_OK) {
        status = look_meanwhile(shipment);
        if (status != HAUL_OK)
            haul__drain(shipment->device);
    }
    if (status == HAUL_OK)
        status = conclude(shipment, NULL);
    memset(behind, 0, bytes);
    contents->arena->was_read_after_timeout |= shipment->device->timed_out;
    grown = (size_t)(contents->arena->end - behind);
    if (!contents->arena->was_read_after_timeout) /* else timed-out work may still read them */
        haul__poison(behind, bytes < grown ? bytes : grown);
    return status;
}

/* Sends bytes [first, end) of the arena; the whole arena if it is edited. */
static haul_status order_bytes(haul_shipment *shipment, size_t first, size_t end, int tells)
{
    const haul__contents *contents = &shipment->contents;
    if (contents->is_edited)
        return haul__send_written(shipment, write_edited, contents->bytes, 0,
                                  haul__piece_bytes(shipment->device, contents->bytes), tells);
    return haul__copy_to_told(shipment, first, window(shipment, first), end - first, tells);
}

/* The offset of the cut; the end of the arena if there is no cut. An explicit relocation could lie
 * across a cut, and an edited arena goes through staging. */
static size_t cut_of(const haul_shipment *shipment)
{
    const haul__contents *contents = &shipment->contents;
    if (contents->bytes < CUT_BYTES || contents->is_edited || contents->explicit_count > 0 ||
        !haul__is_patched(&shipment->range))
        return contents->bytes;
    return haul__whole_marks(contents->bytes - contents->bytes / REST_PART);
}

/* Sends the rest, and patches all. The words before the cut are patched behind the fence of their
 * copy, while the rest crosses. */
static haul_status order_rest(haul_shipment *shipment, size_t cut, const haul_relocation *patch,
                              int tells)
{
    haul_relocation first, rest;
    uint64_t fence;
    haul_status status = haul__fence_behind(shipment->device, cut, &fence);
    if (status == HAUL_OK)
        status = order_bytes(shipment, cut, shipment->contents.bytes, tells);
    if (status != HAUL_OK)
        return status;
    haul__cut_marks(shipment, patch, cut, &first, &rest);
    first.after = fence;
    status = haul__patch(shipment->device, &first);
    return status == HAUL_OK ? haul__patch(shipment->device, &rest) : status;
}

/* `outside`: the word that the device sets for an external pointer. NULL: the host checks. */
static haul_status order_in_parts(haul_shipment *shipment, int with_marks, uint32_t *outside,
                                  int tells)
{
    const haul__contents *contents = &shipment->contents;
    const haul__range *range = &shipment->range;
    const size_t cut = cut_of(shipment);
    haul_status status = order_bytes(shipment, 0, cut, tells);
    if (status == HAUL_OK && with_marks && haul__is_patched(range))
        status = haul__arena_send_marks(shipment);
    if (status == HAUL_OK && haul__is_patched(range)) {
        haul_relocation patch = own_relocation(shipment, (uintptr_t)contents->base, range->address);
        patch.outside = outside;
        status = cut < contents->bytes ? order_rest(shipment, cut, &patch, tells)
                                       : haul__patch(shipment->device, &patch);
        if (status == HAUL_OK)
            status = relocate_neighbours(shipment, 0);
    }
    if (status == HAUL_OK && !outside)
        status = look_meanwhile(shipment);
    if (status != HAUL_OK)
        haul__drain(shipment->device);
    return status;
}

/* The listener is asked before anything crosses. */
static haul_status begin_sending(haul_shipment *shipment, const haul_async *async)
{
    haul_context *context = shipment->device->context;
    haul__journey journey;
    memset(&journey, 0, sizeof journey);
    journey.is_async = async != NULL;
    journey.is_arena = 1;
    journey.is_edited = shipment->contents.is_edited = haul__is_edited(&shipment->contents);
    shipment->info.to_device = haul__route(&journey);
    return haul__tell(context, async ? NULL : haul__context_listener(context), 0,
                      shipment->range.arena_bytes);
}

static haul_status send_in_parts(haul_shipment *shipment, int with_marks, const haul_async *async)
{
    haul_device *device = shipment->device;
    haul_error *error = &device->context->error;
    haul__staging word;
    haul_status status = haul__words_check(&shipment->contents, error);
    memset(&word, 0, sizeof word);
    if (status == HAUL_OK && !async && is_for_device(&shipment->contents) &&
        haul__is_patched(&shipment->range))
        status = haul__stage_word(device, &word);
    if (status != HAUL_OK)
        return status;
    status = order_in_parts(shipment, with_marks, (uint32_t *)(void *)word.data, async == NULL);
    if (status == HAUL_OK)
        status = conclude(shipment, async);
    return haul__unstage_word(device, &word) && status == HAUL_OK
               ? refuse_outside(&shipment->contents, error)
               : status;
}

haul_status haul__arena_send(haul_shipment *shipment, const haul_async *async)
{
    const haul__contents *contents = &shipment->contents;
    const haul__range *range = &shipment->range;
    haul_status status = begin_sending(shipment, async);
    if (status != HAUL_OK)
        return status;
    /* In a small arena the bitmap fits behind the bytes, so that both are one copy. */
    if (!async && haul__is_patched(range) && contents->bytes == haul__arena_used(contents->arena) &&
        range->bytes <= contents->arena->capacity &&
        haul__crosses_whole(shipment->device, range->bytes) && !contents->is_edited)
        return send_as_one(shipment);
    return send_in_parts(shipment, 1, async);
}

/* ---- Refresh and direct return. */

haul_status haul__arena_refresh(haul_shipment *shipment, const haul_async *async)
{
    haul_status status =
        haul__contents_check(&shipment->contents, &shipment->device->context->error);
    double start = haul__seconds();
    if (status == HAUL_OK)
        status = shipment->returns && haul__has_nurseries(&shipment->contents)
                     ? haul__shipment_finish(shipment)
                     : HAUL_OK;
    if (status == HAUL_OK) {
        haul__nurseries_repair(&shipment->contents);
        status = begin_sending(shipment, async);
        if (status == HAUL_OK)
            status = send_in_parts(shipment, !haul__marks_hold(shipment), async);
        if (status != HAUL_OK)
            shipment->marks_are_there = 0; /* those that were sent may not have arrived */
    }
    if (status != HAUL_OK)
        return status;
    haul__nurseries_settle(&shipment->contents);
    shipment->marks_are_there = haul__is_patched(&shipment->range);
    shipment->info.transfers_to++;
    haul__count_crossed(&shipment->info, &shipment->range, 0, shipment->range.arena_bytes, 0);
    shipment->info.transfer_seconds = haul__seconds() - start;
    return HAUL_OK;
}

int haul__arena_returns_directly(const haul_shipment *shipment)
{
    const haul__contents *contents = &shipment->contents;
    return haul__is_arena(shipment) && contents->direct && contents->staying_count == 0 &&
           !contents->is_edited;
}

/* Does a return need a patch? */
static int is_moved(const haul_shipment *shipment)
{
    return haul__is_patched(&shipment->range) &&
           (!shipment->range.mirror || shipment->contents.neighbour_count > 0);
}

/* Is one patch enough, and the memory pinned, so that copies run beside other work? (An arena that
 * returns directly has no explicit relocations.) */
static int has_one_patch(const haul_shipment *shipment)
{
    return is_moved(shipment) && shipment->contents.arena->region.pinned &&
           shipment->contents.neighbour_count == 0;
}

/* A return under way. After a failure, later orders are skipped. */
typedef struct way_back {
    haul_shipment *shipment;
    haul_status status;
} way_back;

static void patch_part(way_back *r, const haul_relocation *all, size_t from, size_t end,
                       uint64_t after)
{
    haul_relocation part = haul__part_of(all, from, end);
    part.after = after;
    if (r->status == HAUL_OK)
        r->status = haul__patch(r->shipment->device, &part);
}

static void copy_part(way_back *r, size_t from, size_t end)
{
    if (r->status == HAUL_OK)
        r->status =
            haul__copy_from_told(r->shipment, window(r->shipment, from), from, end - from, 1);
}

static uint64_t fence_off(way_back *r)
{
    uint64_t fence = 0;
    if (r->status == HAUL_OK)
        r->status = haul__fence_behind(r->shipment->device, r->shipment->range.arena_bytes, &fence);
    return fence;
}

/* Each part is patched for the host while the part before it crosses, and for the device again
 * while the part behind it crosses. So the first and the last part are small. */
static haul_status order_return_in_parts(haul_shipment *shipment)
{
    const uint64_t host = (uintptr_t)shipment->contents.base, device = shipment->range.address;
    const haul_relocation back = own_relocation(shipment, device, host),
                          again = own_relocation(shipment, host, device);
    const size_t bytes = shipment->range.arena_bytes, first = haul__whole_marks(bytes / REST_PART),
                 last = haul__whole_marks(bytes - first);
    way_back r = { shipment, HAUL_OK };
    uint64_t start, first_over, middle_over;
    start = fence_off(&r);
    patch_part(&r, &back, 0, first, 0);
    copy_part(&r, 0, first);
    first_over = fence_off(&r);
    patch_part(&r, &back, first, bytes, start);
    copy_part(&r, first, last);
    middle_over = fence_off(&r);
    patch_part(&r, &again, 0, first, first_over);
    copy_part(&r, last, bytes);
    patch_part(&r, &again, first, last, middle_over);
    patch_part(&r, &again, last, bytes, 0);
    return r.status;
}

static haul_status order_return_as_one(haul_shipment *shipment)
{
    haul_status status = HAUL_OK;
    if (is_moved(shipment))
        status = relocate(shipment, 1);
    if (status == HAUL_OK)
        status =
            haul__copy_from_told(shipment, window(shipment, 0), 0, shipment->range.arena_bytes, 1);
    return status == HAUL_OK && is_moved(shipment) ? relocate(shipment, 0) : status;
}

/* One fetch, or three orders: patch the pointers for the host, copy, patch them for the device. */
static haul_status order_return(haul_shipment *shipment)
{
    haul_status status = HAUL_OK;
    if (is_moved(shipment) && !haul__marks_hold(shipment))
        status = haul__arena_send_marks(shipment);
    if (status == HAUL_OK && has_one_patch(shipment) &&
        shipment->range.arena_bytes <= shipment->device->capabilities.fetch_bytes) {
        status = haul__fetch_as_one(shipment->device, &shipment->range,
                                    (uintptr_t)shipment->contents.base, window(shipment, 0));
        if (status != HAUL_ERROR_UNSUPPORTED)
            return status;
        status = HAUL_OK;
    }
    if (status == HAUL_OK && has_one_patch(shipment) && shipment->range.listed == 0 &&
        shipment->range.arena_bytes >= CUT_BYTES) /* a list is patched at once */
        status = order_return_in_parts(shipment);
    else if (status == HAUL_OK)
        status = order_return_as_one(shipment);
    if (status != HAUL_OK)
        haul__drain(shipment->device);
    return status;
}

haul_status haul__arena_bring_back(haul_shipment *shipment)
{
    haul_shipment_info *info = &shipment->info;
    haul_context *context = shipment->device->context;
    double start = haul__seconds();
    haul_status status = haul__contents_check(&shipment->contents, &context->error);
    if (status != HAUL_OK)
        return status;
    status = haul__tell(context, haul__context_listener(context), 0, shipment->range.arena_bytes);
    if (status != HAUL_OK)
        return status;
    status = order_return(shipment);
    if (status == HAUL_OK)
        status = haul__conclude(shipment->device, NULL, NULL, "copy of ",
                                shipment->range.arena_bytes, " bytes from the device");
    if (status != HAUL_OK) {
        shipment->marks_are_there = 0; /* a kernel may have overwritten the marks */
        return status;
    }
    shipment->marks_are_there |= is_moved(shipment);
    info->return_seconds = haul__seconds() - start;
    info->scatter_seconds = 0;
    info->transfers_from++;
    haul__count_crossed(info, &shipment->range, 0, shipment->range.arena_bytes, 1);
    return HAUL_OK;
}
