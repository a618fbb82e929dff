/* Zero copy: the device reads and writes a locked source itself.
 *
 * The slow obvious version is to pack: the host reads the source, checks and translates each
 * pointer, writes the arena into staging, and the device reads it from there. While the plan holds,
 * only the data changes. So lists are made once: the place of each run of bytes, and each pointer
 * as it was and as it becomes (pack/segments.c). The source's pages are locked (device/lock.c), and
 * from then on the device reads and writes the source itself.
 *
 * Before the order the host still compares counts, terminators and answers of callbacks. The device
 * compares pointers. If one has changed, the device finishes all the same and sets a word. Then the
 * host packs, and names the pointer or finds that it has its old value again. Only data returns; no
 * pointer of the host is written.
 *
 * A crossing is one order, whatever the graph: no staging, no copy by the host. The device also
 * writes the results: what it has read is no longer in the processor's caches, so a host that wrote
 * the results would fetch all of it again.
 */
#include "base/clock.h"
#include "device/deferred.h"
#include "device/lock.h"
#include "device/staging.h"
#include "device/streams.h"
#include "pack/pack.h"
#include "pack/progress.h"
#include "pack/segments.h"
#include "pack/verify.h"
#include "ship/pending.h"
#include "ship/transfer.h"
#include "ship/zero_copy.h"

static void refuse(haul_shipment *shipment, const char *why)
{
    haul__drop_zero_copy(shipment);
    haul__clear_error(&shipment->device->context->error);
    shipment->zero_copy.state = HAUL__REFUSED;
    shipment->info.packs_because = why;
}

void haul__drop_zero_copy(haul_shipment *shipment)
{
    haul__zero_copy *zero_copy = &shipment->zero_copy;
    if (zero_copy->lists.bytes > 0)
        haul__unload(shipment->device, &zero_copy->lists);
    if (haul__shipment_has_timed_out(shipment) && !shipment->timeout.fence)
        haul__leave_locked(shipment->device, &zero_copy->locked);
    else
        haul__unlock(shipment->device, &zero_copy->locked,
                     shipment->timeout.device ? 0 : shipment->timeout.fence);
    memset(zero_copy, 0, sizeof *zero_copy);
}

/* ---- The lists. */

static size_t attachments_at(const haul__zero_copy *zero_copy)
{
    return zero_copy->segment_count * sizeof(haul_segment);
}

static haul_status make_lists(haul_shipment *shipment)
{
    haul_device *device = shipment->device;
    const haul_allocator *allocator = &device->context->allocator;
    haul__range *lists = &shipment->zero_copy.lists;
    haul_status status = haul__allocate_aligned(device, 256, lists);
    unsigned char *memory;
    if (status != HAUL_OK) {
        lists->bytes = 0;
        return status;
    }
    memory = haul__allocate(allocator, lists->bytes, sizeof(uint64_t));
    if (!memory)
        return HAUL_ERROR_MEMORY;
    haul__write_segments(
        shipment->plan, shipment->range.address, (haul_segment *)(void *)memory,
        (haul_attachment *)(void *)(memory + attachments_at(&shipment->zero_copy)));
    status = haul__send_bytes(device, memory, lists->bytes, lists->address);
    if (status == HAUL_OK)
        status = haul__conclude(device, NULL, NULL, "transfer of ", lists->bytes,
                                " bytes of lists to the device");
    else
        haul__drain(device);
    haul__release(allocator, memory, lists->bytes);
    return status;
}

/* Makes locks and lists. On failure *what says which of them failed. */
static haul_status make(haul_shipment *shipment, const char **what)
{
    haul__zero_copy *zero_copy = &shipment->zero_copy;
    size_t segments, attachments;
    haul_status status;
    *what = haul__why_no_segments(shipment->plan);
    if (*what)
        return HAUL_ERROR_UNSUPPORTED;
    *what = "the pages: they cannot be locked, are locked already, or lie in too many runs";
    status = haul__lock_source(shipment->device, shipment->plan, &zero_copy->locked);
    if (status != HAUL_OK)
        return status;
    *what = "the lists: there is no memory for them";
    haul__count_segments(shipment->plan, &zero_copy->segment_count, &zero_copy->attachment_count);
    if (haul__multiply_overflows(zero_copy->segment_count, sizeof(haul_segment), &segments) ||
        haul__multiply_overflows(zero_copy->attachment_count, sizeof(haul_attachment),
                                 &attachments) ||
        haul__add_overflows(segments, attachments, &zero_copy->lists.bytes))
        return HAUL_ERROR_LIMIT;
    return make_lists(shipment);
}

haul_status haul__prepare_zero_copy(haul_shipment *shipment)
{
    const char *what = "the device: it cannot read host memory in place";
    haul_status status =
        shipment->device->table.pull ? make(shipment, &what) : HAUL_ERROR_UNSUPPORTED;
    if (status == HAUL_OK) {
        shipment->zero_copy.state = HAUL__READY;
        shipment->info.packs_because = NULL;
    } else if (status == HAUL_ERROR_UNSUPPORTED || status == HAUL_ERROR_LIMIT ||
               status == HAUL_ERROR_MEMORY || status == HAUL_ERROR_DEVICE_MEMORY) {
        refuse(shipment, what);
    } else {
        haul__drop_zero_copy(shipment);
        return status;
    }
    return HAUL_OK;
}

int haul__is_locked(const haul_shipment *shipment)
{
    return shipment->zero_copy.state == HAUL__READY;
}

/* ---- The orders. */

/* HAUL_ERROR_UNSUPPORTED: the device refuses, and nothing is under way. */
static haul_status order(haul_shipment *shipment,
                         haul_status (*verb)(void *state, const haul_crossing *crossing),
                         uint32_t *changed, const char *what)
{
    haul_device *device = shipment->device;
    const haul__zero_copy *zero_copy = &shipment->zero_copy;
    haul_crossing crossing;
    haul_status status;
    crossing.arena = shipment->range.address;
    crossing.bytes = shipment->range.arena_bytes;
    crossing.lists = zero_copy->lists.address;
    crossing.segment_count = zero_copy->segment_count;
    crossing.attachments_at = attachments_at(zero_copy);
    crossing.attachment_count = zero_copy->attachment_count;
    crossing.locked = zero_copy->locked.ranges;
    crossing.locked_count = zero_copy->locked.count;
    crossing.changed = changed;
    crossing.word_bytes = sizeof(void *);
    haul__phase_begin(device, "transfer");
    status = verb(device->state, &crossing);
    haul__phase_end(device);
    if (status == HAUL_OK) {
        status = haul__conclude(device, NULL, NULL, what, crossing.bytes, " bytes by the device");
    } else {
        haul__device_failed(device, status, what, crossing.bytes, " bytes by the device");
        haul__drain(device);
    }
    return status;
}

static haul_status will_not(haul_shipment *shipment)
{
    refuse(shipment,
           "the device: it does not know these pointers, or has no memory that both can write");
    return HAUL_OK;
}

static haul_status gather_on_device(haul_shipment *shipment, int *done)
{
    haul__staging word;
    haul_status status = haul__stage_word(shipment->device, &word);
    if (status != HAUL_OK)
        return status;
    status = word.data ? order(shipment, shipment->device->table.pull,
                               (uint32_t *)(void *)word.data, "gathering of ")
                       : HAUL_ERROR_UNSUPPORTED;
    *done = !haul__unstage_word(shipment->device, &word) && status == HAUL_OK;
    return status;
}

haul_status haul__pull(haul_shipment *shipment, int *done)
{
    const haul__listener *listener = haul__context_listener(shipment->device->context);
    const size_t bytes = shipment->range.arena_bytes;
    haul_status status;
    *done = 0;
    if (!haul__is_locked(shipment))
        return HAUL_OK;
    status = haul__tell(shipment->device->context, listener, 0, bytes);
    if (status == HAUL_OK)
        status = haul__verify_counts(shipment->plan);
    if (status == HAUL_OK)
        status = gather_on_device(shipment, done);
    if (status == HAUL_ERROR_UNSUPPORTED)
        return will_not(shipment);
    if (status == HAUL_OK && *done)
        status = haul__tell(shipment->device->context, listener, bytes, bytes);
    if (status == HAUL_OK && *done)
        shipment->info.pulls++;
    return status;
}

haul_status haul__push(haul_shipment *shipment, int *done)
{
    haul_shipment_info *info = &shipment->info;
    haul_context *context = shipment->device->context;
    const double start = haul__seconds();
    haul_status status;
    *done = 0;
    if (!haul__is_locked(shipment))
        return HAUL_OK;
    status = haul__tell(context, haul__context_listener(context), 0, shipment->range.arena_bytes);
    if (status == HAUL_OK)
        status = order(shipment, shipment->device->table.push, NULL, "scattering of ");
    if (status == HAUL_ERROR_UNSUPPORTED)
        return will_not(shipment);
    if (status != HAUL_OK)
        return status;
    *done = 1;
    info->pushes++;
    info->transfers_from++;
    haul__count_crossed(info, &shipment->range, 0, shipment->range.arena_bytes, 1);
    info->return_seconds = haul__seconds() - start;
    info->scatter_seconds = 0;
    return HAUL_OK;
}
