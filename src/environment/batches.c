/* Batches on the host's side: gathered into a buffer, or checked and scattered from it.
 *
 * The buffer holds the runs of all strips side by side, so each thread copies a part of it.
 */
#include "environment/outstanding.h"
#include "environment/strips.h"
#include "pack/check_reads.h"

/* Bytes of the buffer that a thread copies at a time, or more. A piece has chunks for all threads;
 * a run of 8 bytes takes a line of the host's memory. */
#define GRAIN ((size_t)8 << 10)

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

void haul__batch_copy(const haul__batch *batch, unsigned char *packed, size_t first, size_t end)
{
    haul_environment *e = batch->e;
    copier c = { NULL, packed, batch->direction };
    size_t i, at = 0;
    haul__phase_begin(e->device, batch->direction == HAUL_TO_DEVICE ? "pack" : "scatter");
    for (i = 0; i < batch->all.count && at < end; i++) {
        const size_t bytes = batch->all.at[i]->packed_bytes, from = first > at ? first - at : 0,
                     to = end - at < bytes ? end - at : bytes;
        c.strips = batch->all.at[i];
        c.packed = packed + at;
        if (from < to)
            haul__pool_run(haul__context_pool(e->context, bytes), bytes, from, to, GRAIN,
                           copy_chunk, &c);
        at += bytes;
    }
    haul__phase_end(e->device);
}

/* Refuses counts and terminators that the device has changed. */
static haul_status check_runs(const haul__strip *strip, const unsigned char *packed)
{
    const haul_shipment *shipment = strip->group->shipment;
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
            status = check_runs(&strips->list.at[k], packed);
        packed += strips->packed_bytes;
    }
    return status;
}

haul_status haul__batch_write(const haul__batch *batch, unsigned char *packed)
{
    haul_environment *e = batch->e;
    const haul_status status = check_all(batch, packed);
    size_t i;
    if (status != HAUL_OK)
        return status;
    haul__batch_copy(batch, packed, 0, SIZE_MAX);
    e->info.transfers_from++;
    for (i = 0; i < batch->all.count; i++)
        e->info.bytes_from += batch->all.at[i]->bytes;
    return HAUL_OK;
}
