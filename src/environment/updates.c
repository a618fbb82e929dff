/* Updates: the bytes of all parts, side by side in one buffer, cross in one transfer.
 *
 *     | data of all strips | the list for the device |      staging memory
 *
 * The host gathers or scatters on its side (batches.c), the device on its own. Only data is listed,
 * so no pointer, skipped byte or neighbour of a part is read or written: nothing needs to be
 * fetched first. To the device a large buffer goes in pieces: while the device reads one, the host
 * gathers the next. From the device everything arrives, and is checked, before the host's objects
 * are written: at the end of the call, or of an asynchronous one by a later call (outstanding.c).
 */
#include "environment/updates.h"
#include "device/deferred.h"
#include "device/device.h"
#include "device/piece_sizes.h"
#include "device/staging.h"
#include "environment/outstanding.h"
#include "environment/strips.h"
#include "ship/pending.h"
#include "ship/update.h"

/* ---- On the way. */

/* The sums over all strips of a batch. */
typedef struct sums {
    size_t bytes, packed_bytes, strips;
} sums;

static sums sum(const haul__batch *batch)
{
    sums s = { 0, 0, 0 };
    size_t i;
    for (i = 0; i < batch->all.count; i++) {
        s.bytes += batch->all.at[i]->bytes;
        s.packed_bytes += batch->all.at[i]->packed_bytes;
        s.strips += batch->all.at[i]->there.count;
    }
    return s;
}

/* Writes the list for the device, behind the data. */
static haul_strip *write_list(const haul__batch *batch, unsigned char *packed, const sums *s)
{
    haul_strip *list = (haul_strip *)(void *)(packed + s->packed_bytes), *to = list;
    size_t i, k, at = 0;
    for (i = 0; i < batch->all.count; i++) {
        const haul__strips *strips = batch->all.at[i];
        for (k = 0; k < strips->there.count; k++, to++) {
            *to = strips->there.at[k];
            to->packed += at;
        }
        at += strips->packed_bytes;
    }
    return list;
}

/* One run crosses by a copy; more by strips. */
static int is_one_run(const haul_strip *list, const sums *s)
{
    return s->strips == 1 && list->count == 1;
}

static haul_status send(const haul__batch *batch, unsigned char *packed, const sums *s)
{
    haul_device *device = batch->e->device;
    const haul_strip *list = write_list(batch, packed, s);
    const size_t piece = haul__piece_bytes(device, s->packed_bytes);
    haul_status status = HAUL_OK;
    size_t first, next, end;
    for (first = 0; first < s->strips && status == HAUL_OK; first = next) {
        next = first + 1;
        while (next < s->strips && list[next].packed - list[first].packed < piece)
            next++;
        end = next < s->strips ? (size_t)list[next].packed : s->packed_bytes;
        haul__batch_copy(batch, packed, (size_t)list[first].packed, end);
        status = is_one_run(list, s)
                     ? haul__copy_to(device, list->first, packed, s->bytes)
                     : haul__scatter_strips(device, list + first, next - first, packed, end);
    }
    return status;
}

static haul_status fetch(const haul__batch *batch, unsigned char *packed, const sums *s)
{
    haul_device *device = batch->e->device;
    const haul_strip *list = write_list(batch, packed, s);
    return is_one_run(list, s)
               ? haul__copy_from(device, packed, list->first, s->bytes)
               : haul__gather_strips(device, packed, s->packed_bytes, list, s->strips);
}

/* Orders the transfer. Asynchronous: *work is behind it. */
static haul_status cross(const haul__batch *batch, const haul_async *async, unsigned char *packed,
                         const sums *s, haul__work *work)
{
    haul_environment *e = batch->e;
    const int is_back = batch->direction == HAUL_TO_HOST;
    haul_status status = is_back ? fetch(batch, packed, s) : send(batch, packed, s);
    if (status == HAUL_OK)
        status = haul__conclude(e->device, async, work, "copy of ", s->bytes,
                                is_back ? " bytes from the device" : " bytes to the device");
    if (status != HAUL_OK || is_back)
        return status;
    e->info.transfers_to++;
    e->info.bytes_to += s->bytes;
    return HAUL_OK;
}

/* The memory of the last large update serves again: pinning takes longer than the transfer. A
 * buffer that is kept is no buffer of the ring. */
static haul_status stage(haul_environment *e, size_t bytes, int is_kept, haul__staging *staging)
{
    if (!is_kept && (bytes <= haul__piece_most(e->device) || bytes > e->staged.bytes))
        return haul__stage(e->device, bytes, 0, staging);
    memset(staging, 0, sizeof *staging);
    if (bytes > e->staged.bytes) {
        const haul_status status = haul__memory_get(e->device, bytes, &staging->own);
        if (status != HAUL_OK)
            return status;
    } else {
        staging->own = e->staged;
        memset(&e->staged, 0, sizeof e->staged);
    }
    staging->data = staging->own.memory;
    staging->plain = staging->own.plain;
    return HAUL_OK;
}

static void unstage(haul_environment *e, haul__staging *staging, const haul__work *work)
{
    if (staging->buffer || work->is_pending)
        haul__unstage_until(e->device, staging, work);
    else
        haul__keep_staged(e, &staging->own);
}

static haul_status move(haul__batch *batch, const haul_async *async, const sums *s, size_t bytes)
{
    haul_environment *e = batch->e;
    const int is_back = batch->direction == HAUL_TO_HOST;
    haul__work work;
    haul__staging staging;
    haul__result *result = async && is_back ? haul__new_result(e) : NULL;
    haul_status status;
    memset(&work, 0, sizeof work);
    if (async && is_back && !result)
        return HAUL_ERROR_MEMORY;
    status = stage(e, bytes, result != NULL, &staging);
    if (status == HAUL_OK) {
        status = cross(batch, async, staging.data, s, &work);
        if (status == HAUL_OK && is_back && !async)
            status = haul__batch_write(batch, staging.data);
        if (work.is_pending)
            haul__note_batch(batch, &work);
        if (status == HAUL_OK && result) {
            haul__list_result(result, batch, &staging.own, &work);
            return HAUL_OK;
        }
        unstage(e, &staging, &work);
    }
    if (result)
        haul__release(&e->context->allocator, result, sizeof *result);
    return status;
}

/* Nothing crosses; the event is signalled all the same. */
static haul_status signal_alone(const haul__batch *batch, const haul_async *async)
{
    haul__work work;
    const haul_status status = haul__signal(batch->e, async, &work);
    if (work.is_pending)
        haul__note_batch(batch, &work);
    return status;
}

/* Moves the batch behind all that its groups have under way. */
static haul_status move_in_order(haul__batch *batch, const haul_async *async)
{
    haul_environment *e = batch->e;
    const sums s = sum(batch);
    haul_status status = HAUL_OK;
    size_t i, bytes;
    for (i = 0; i < batch->groups.count && status == HAUL_OK; i++)
        status = haul__come_behind(e, batch->groups.at[i], async);
    if (status == HAUL_OK)
        status = haul__select_for(e->device, async);
    if (status != HAUL_OK)
        return status;
    if (s.strips == 0)
        return signal_alone(batch, async);
    if (haul__multiply_overflows(s.strips, sizeof(haul_strip), &bytes) ||
        haul__add_overflows(bytes, s.packed_bytes, &bytes))
        return haul__fail(&e->context->error, HAUL_ERROR_LIMIT,
                          "an update larger than the address space");
    return move(batch, async, &s, bytes);
}

haul_status haul__move_batch(haul__batch *batch, const haul_async *async)
{
    haul_environment *e = batch->e;
    const haul_status status = move_in_order(batch, async);
    size_t i;
    for (i = 0; i < batch->groups.count; i++)
        haul__note_timeout(batch->groups.at[i]->shipment, e->device);
    return status;
}

haul_status haul__update_parts(haul_environment *e, const haul_update_part *parts, size_t count,
                               haul_direction direction, const haul_async *async)
{
    haul__batch batch;
    haul_status status;
    memset(&batch, 0, sizeof batch);
    batch.e = e;
    batch.direction = direction;
    status = haul__list_parts(&batch, parts, count);
    if (status == HAUL_OK)
        status = haul__move_batch(&batch, async);
    haul__drop_batch(&batch);
    return status;
}

haul_status haul__move_group(haul_environment *e, uint32_t number, haul_direction direction,
                             const haul_async *async)
{
    haul__batch batch;
    haul_status status;
    memset(&batch, 0, sizeof batch);
    batch.e = e;
    batch.direction = direction;
    status = haul__list_group(e, number, direction, SIZE_MAX, &batch.own);
    if (status == HAUL_OK)
        status = haul__add_group(&batch, number);
    if (status == HAUL_OK)
        status = haul__finish_batch(&batch);
    if (status == HAUL_OK)
        status = haul__move_batch(&batch, async);
    haul__drop_batch(&batch);
    return status;
}

static void count_transfers(haul_environment *e, const haul_shipment *shipment,
                            const haul_shipment_info *before)
{
    e->info.transfers_to += shipment->info.transfers_to - before->transfers_to;
    e->info.transfers_from += shipment->info.transfers_from - before->transfers_from;
    e->info.bytes_to += shipment->info.bytes_to - before->bytes_to;
    e->info.bytes_from += shipment->info.bytes_from - before->bytes_from;
}

haul_status haul__return_group(haul_environment *e, uint32_t number)
{
    haul__sent_group *group = e->groups.at[number];
    haul_shipment *shipment = group->shipment;
    const haul_shipment_info before = shipment->info;
    haul_update_options how;
    haul_status status;
    if (group->was_cut || group->cut)
        return haul__move_group(e, number, HAUL_TO_HOST, NULL);
    status = haul__come_behind(e, group, NULL);
    memset(&how, 0, sizeof how);
    if (status == HAUL_OK)
        status = haul__return_all(shipment, &how);
    haul__note_timeout(shipment, e->device);
    count_transfers(e, shipment, &before);
    return status;
}
