/* Updates: the bytes of all parts, side by side in one buffer, cross in one transfer.
 *
 *     | data of all strips | the list for the device |      staging memory
 *
 * The host gathers or scatters on its side, the device on its own. Only data is listed, so no
 * pointer, skipped byte or neighbour of a part is read or written: nothing needs to be fetched
 * first. From the device everything arrives, and is checked, before the host's objects are written.
 */
#include "environment/updates.h"
#include "device/deferred.h"
#include "device/device.h"
#include "device/piece_sizes.h"
#include "device/staging.h"
#include "environment/strips.h"
#include "pack/check_reads.h"
#include "ship/pending.h"

#define GRAIN ((size_t)32 << 10) /* bytes of the buffer that a thread copies at a time, or more */

/* ---- On the host. */

typedef struct copier {
    const haul__strips *strips;
    unsigned char *packed; /* the strips' part of the buffer */
    haul_direction direction;
} copier;

/* As in scatter, equal bytes are not written. */
HAUL__INLINE void copy_run(unsigned char *host, unsigned char *packed, size_t bytes, int is_blind,
                           haul_direction direction)
{
    if (direction == HAUL_TO_DEVICE)
        memcpy(packed, host, bytes);
    else if (is_blind || memcmp(host, packed, bytes) != 0)
        memcpy(host, packed, bytes);
}

/* Copies runs [first, end) of a strip. Known lengths are single loads and stores. */
static void copy_runs(const copier *c, const haul__strip *strip, size_t first, size_t end)
{
    unsigned char *host = (unsigned char *)(strip->host + first * strip->host_stride),
                  *packed = c->packed + strip->packed + first * strip->bytes;
    const uintptr_t stride = strip->host_stride;
    size_t k;
    for (k = first; k < end; k++) {
        if (strip->bytes == 8)
            copy_run(host, packed, 8, strip->is_blind, c->direction);
        else if (strip->bytes == 4)
            copy_run(host, packed, 4, strip->is_blind, c->direction);
        else
            copy_run(host, packed, strip->bytes, strip->is_blind, c->direction);
        host = (unsigned char *)((uintptr_t)host + stride);
        packed += strip->bytes;
    }
}

/* Copies the runs that begin in [first, end) of the buffer. */
static void copy_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const copier *c = user;
    const haul__strip *strips = c->strips->list.at;
    size_t i, from;
    (void)number;
    (void)scratch;
    for (i = haul__strip_at(c->strips, first); i < c->strips->list.count && strips[i].packed < end;
         i++) {
        const size_t to = haul__runs_in(&strips[i], first, end, &from);
        copy_runs(c, &strips[i], from, to);
    }
}

static void copy_all(const haul__batch *batch, unsigned char *packed)
{
    haul_environment *e = batch->e;
    copier c = { NULL, packed, batch->direction };
    size_t i;
    haul__phase_begin(e->device, batch->direction == HAUL_TO_DEVICE ? "pack" : "scatter");
    for (i = 0; i < batch->all.count; i++) {
        const size_t bytes = batch->all.at[i]->packed_bytes;
        c.strips = batch->all.at[i];
        haul__pool_run(haul__context_pool(e->context, bytes), bytes, 0, bytes, GRAIN, copy_chunk,
                       &c);
        c.packed += bytes;
    }
    haul__phase_end(e->device);
}

/* Refuses counts and terminators that the device has changed. */
static haul_status check_runs(const haul__batch *batch, const haul__strip *strip,
                              const unsigned char *packed)
{
    const haul_shipment *shipment = batch->e->groups.at[strip->group]->shipment;
    haul_status status = HAUL_OK;
    size_t k;
    if (shipment->options.let_counts_change || !haul__has_read_set(shipment->plan))
        return HAUL_OK;
    if (strip->count > 1)
        status = haul__prepare_read_set(shipment->plan);
    for (k = 0; k < strip->count && status == HAUL_OK; k++) {
        const uintptr_t host = strip->host + k * strip->host_stride;
        const uint64_t place = strip->device + k * strip->device_stride - shipment->range.address;
        status = haul__check_range(shipment->plan, host, host + strip->bytes,
                                   packed + strip->packed + k * strip->bytes, (size_t)place,
                                   strip->bytes);
    }
    return status;
}

static haul_status check_all(const haul__batch *batch, const unsigned char *packed)
{
    haul_status status = HAUL_OK;
    size_t i, k;
    for (i = 0; i < batch->all.count; i++) {
        const haul__strips *strips = batch->all.at[i];
        for (k = 0; k < strips->list.count && status == HAUL_OK; k++)
            status = check_runs(batch, &strips->list.at[k], packed);
        packed += strips->packed_bytes;
    }
    return status;
}

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
static haul_status order(const haul__batch *batch, unsigned char *packed, const sums *s)
{
    haul_device *device = batch->e->device;
    const haul_strip *list = write_list(batch, packed, s);
    const int is_one = s->strips == 1 && list->count == 1;
    if (batch->direction == HAUL_TO_DEVICE)
        return is_one ? haul__copy_to(device, list->first, packed, s->bytes)
                      : haul__scatter_strips(device, list, s->strips, packed, s->packed_bytes);
    return is_one ? haul__copy_from(device, packed, list->first, s->bytes)
                  : haul__gather_strips(device, packed, s->packed_bytes, list, s->strips);
}

static haul_status cross(const haul__batch *batch, unsigned char *packed, const sums *s)
{
    haul_environment *e = batch->e;
    const int is_back = batch->direction == HAUL_TO_HOST;
    haul_status status;
    if (!is_back)
        copy_all(batch, packed);
    status = order(batch, packed, s);
    if (status == HAUL_OK)
        status = haul__conclude(e->device, NULL, NULL, "copy of ", s->bytes,
                                is_back ? " bytes from the device" : " bytes to the device");
    if (status != HAUL_OK)
        return status;
    *(is_back ? &e->info.transfers_from : &e->info.transfers_to) += 1;
    *(is_back ? &e->info.bytes_from : &e->info.bytes_to) += s->bytes;
    if (!is_back)
        return HAUL_OK;
    status = check_all(batch, packed);
    if (status == HAUL_OK)
        copy_all(batch, packed);
    return status;
}

/* The memory of the last large update serves again: pinning takes longer than the transfer. */
static haul_status stage(haul_environment *e, size_t bytes, haul__staging *staging)
{
    if (bytes <= haul__piece_most(e->device) || bytes > e->staged.bytes)
        return haul__stage(e->device, bytes, 0, staging);
    memset(staging, 0, sizeof *staging);
    staging->own = e->staged;
    staging->data = e->staged.memory;
    staging->plain = e->staged.plain;
    memset(&e->staged, 0, sizeof e->staged);
    return HAUL_OK;
}

static void unstage(haul_environment *e, haul__staging *staging)
{
    if (!staging->buffer && !e->device->timed_out && !e->device->is_unfenced) {
        haul__memory_put(e->device, &e->staged);
        e->staged = staging->own;
    } else {
        haul__unstage(e->device, staging);
    }
}

static haul_status move(const haul__batch *batch)
{
    haul_device *device = batch->e->device;
    const sums s = sum(batch);
    haul__staging staging;
    haul_status status;
    size_t bytes;
    if (s.strips == 0)
        return HAUL_OK;
    if (haul__multiply_overflows(s.strips, sizeof(haul_strip), &bytes) ||
        haul__add_overflows(bytes, s.packed_bytes, &bytes))
        return haul__fail(&device->context->error, HAUL_ERROR_LIMIT,
                          "an update larger than the address space");
    status = stage(batch->e, bytes, &staging);
    if (status != HAUL_OK)
        return status;
    status = cross(batch, staging.data, &s);
    unstage(batch->e, &staging);
    return status;
}

haul_status haul__move_batch(haul__batch *batch)
{
    haul_environment *e = batch->e;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < batch->groups.count && status == HAUL_OK; i++)
        status = haul__shipment_finish(e->groups.at[batch->groups.at[i]]->shipment);
    if (status == HAUL_OK)
        status = move(batch);
    for (i = 0; i < batch->groups.count; i++)
        haul__note_timeout(e->groups.at[batch->groups.at[i]]->shipment, e->device);
    return status;
}

haul_status haul__update_parts(haul_environment *e, const haul_update_part *parts, size_t count,
                               haul_direction direction)
{
    haul__batch batch;
    haul_status status;
    memset(&batch, 0, sizeof batch);
    batch.e = e;
    batch.direction = direction;
    status = haul__list_parts(&batch, parts, count);
    if (status == HAUL_OK)
        status = haul__move_batch(&batch);
    haul__drop_batch(&batch);
    return status;
}

haul_status haul__send_group(haul_environment *e, uint32_t number)
{
    haul__batch batch;
    haul_status status;
    memset(&batch, 0, sizeof batch);
    batch.e = e;
    batch.direction = HAUL_TO_DEVICE;
    status = haul__list_group(e, number, SIZE_MAX, &batch.own);
    if (status == HAUL_OK)
        status = haul__add_group(&batch, number);
    if (status == HAUL_OK)
        status = haul__finish_batch(&batch);
    if (status == HAUL_OK)
        status = haul__move_batch(&batch);
    haul__drop_batch(&batch);
    return status;
}
