/* Updates: the bytes of all parts, side by side in one buffer, cross in one transfer.
 *
 *     | data of all strips | the list for the device |      staging memory
 *
 * The host gathers or scatters on its side, the device on its own. Only data is listed, so no
 * pointer, skipped byte or neighbour of a part is read or written: nothing needs to be fetched
 * first. From the device everything arrives, and is checked, before the host's objects are written.
 */
#include "environment/updates.h"
#include "device/staging.h"
#include "environment/strips.h"
#include "pack/check_reads.h"
#include "ship/pending.h"

#define GRAIN ((size_t)64 << 10) /* bytes that a thread copies at a time, or more */

/* ---- On the host. */

typedef struct copier {
    const haul__strips *strips;
    unsigned char *packed;
    haul_direction direction;
} copier;

/* As in scatter, equal bytes are not written. */
static void copy_run(const haul__strip *strip, size_t k, const copier *c)
{
    unsigned char *packed = c->packed + strip->packed + k * strip->bytes;
    void *host = (void *)(strip->host + k * strip->host_stride);
    if (c->direction == HAUL_TO_DEVICE)
        memcpy(packed, host, strip->bytes);
    else if (strip->is_blind || memcmp(host, packed, strip->bytes) != 0)
        memcpy(host, packed, strip->bytes);
}

static int ends_by(const void *strips, size_t i, uint64_t place)
{
    const haul__strip *strip = &((const haul__strip *)strips)[i];
    return strip->packed + strip->bytes * strip->count <= place;
}

/* Copies the runs that begin in [first, end) of the buffer. */
static void copy_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const copier *c = user;
    const haul__strip *strips = c->strips->list.at;
    size_t i = haul__search(strips, 0, c->strips->list.count, first, ends_by);
    (void)number;
    (void)scratch;
    for (; i < c->strips->list.count && strips[i].packed < end; i++) {
        size_t k = first > strips[i].packed
                       ? (first - strips[i].packed + strips[i].bytes - 1) / strips[i].bytes
                       : 0;
        for (; k < strips[i].count && strips[i].packed + k * strips[i].bytes < end; k++)
            copy_run(&strips[i], k, c);
    }
}

static void copy_all(haul_environment *e, const copier *c)
{
    const size_t bytes = c->strips->packed_bytes;
    haul__phase_begin(e->device, c->direction == HAUL_TO_DEVICE ? "pack" : "scatter");
    haul__pool_run(haul__context_pool(e->context, bytes), bytes, 0, bytes, GRAIN, copy_chunk,
                   (void *)c);
    haul__phase_end(e->device);
}

/* Refuses counts and terminators that the device has changed. */
static haul_status check_runs(haul_environment *e, const haul__strip *strip,
                              const unsigned char *packed)
{
    const haul_shipment *shipment = e->groups.at[strip->group]->shipment;
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

/* ---- On the way. */

/* One run crosses by a copy; more by strips. */
static haul_status order(haul_environment *e, const haul__strips *strips, unsigned char *packed,
                         haul_strip *list, haul_direction direction)
{
    const haul__strip *first = strips->list.at;
    const int is_one = strips->list.count == 1 && first->count == 1;
    const size_t count = is_one ? 0 : haul__write_strips(strips, list);
    if (direction == HAUL_TO_DEVICE)
        return is_one ? haul__copy_to(e->device, first->device, packed, first->bytes)
                      : haul__scatter_strips(e->device, list, count, packed, strips->packed_bytes);
    return is_one ? haul__copy_from(e->device, packed, first->device, first->bytes)
                  : haul__gather_strips(e->device, packed, strips->packed_bytes, list, count);
}

static haul_status send(haul_environment *e, const haul__strips *strips, unsigned char *packed,
                        haul_strip *list)
{
    const copier c = { strips, packed, HAUL_TO_DEVICE };
    haul_status status;
    copy_all(e, &c);
    status = order(e, strips, packed, list, HAUL_TO_DEVICE);
    if (status == HAUL_OK)
        status = haul__conclude(e->device, NULL, NULL, "copy of ", strips->bytes,
                                " bytes to the device");
    if (status != HAUL_OK)
        return status;
    e->info.transfers_to++;
    e->info.bytes_to += strips->bytes;
    return HAUL_OK;
}

static haul_status bring(haul_environment *e, const haul__strips *strips, unsigned char *packed,
                         haul_strip *list)
{
    const copier c = { strips, packed, HAUL_TO_HOST };
    haul_status status = order(e, strips, packed, list, HAUL_TO_HOST);
    size_t i;
    if (status == HAUL_OK)
        status = haul__conclude(e->device, NULL, NULL, "copy of ", strips->bytes,
                                " bytes from the device");
    if (status != HAUL_OK)
        return status;
    e->info.transfers_from++;
    e->info.bytes_from += strips->bytes;
    for (i = 0; i < strips->list.count && status == HAUL_OK; i++)
        status = check_runs(e, &strips->list.at[i], packed);
    if (status == HAUL_OK)
        copy_all(e, &c);
    return status;
}

static haul_status move(haul_environment *e, haul__strips *strips, haul_direction direction)
{
    haul__staging staging;
    haul_strip *list;
    haul_status status;
    size_t bytes;
    haul__place_strips(strips);
    if (haul__multiply_overflows(haul__write_strips(strips, NULL), sizeof *list, &bytes) ||
        haul__add_overflows(bytes, strips->packed_bytes, &bytes))
        return haul__fail(&e->context->error, HAUL_ERROR_LIMIT,
                          "an update larger than the address space");
    status = haul__stage(e->device, bytes, 0, &staging);
    if (status != HAUL_OK)
        return status;
    list = (haul_strip *)(void *)(staging.data + strips->packed_bytes);
    status = direction == HAUL_TO_DEVICE ? send(e, strips, staging.data, list)
                                         : bring(e, strips, staging.data, list);
    haul__unstage(e->device, &staging);
    return status;
}

haul_status haul__update_parts(haul_environment *e, const haul_update_part *parts, size_t count,
                               haul_direction direction)
{
    haul__strips strips;
    haul_status status = HAUL_OK;
    size_t i;
    memset(&strips, 0, sizeof strips);
    for (i = 0; i < count && status == HAUL_OK; i++)
        status = haul__list_part(e, &parts[i], direction, &strips);
    for (i = 0; i < strips.list.count && status == HAUL_OK; i++)
        status = haul__shipment_finish(e->groups.at[strips.list.at[i].group]->shipment);
    if (status == HAUL_OK && strips.list.count)
        status = move(e, &strips, direction);
    for (i = 0; i < strips.list.count; i++)
        haul__note_timeout(e->groups.at[strips.list.at[i].group]->shipment, e->device);
    HAUL__LIST_RELEASE(&e->context->allocator, &strips.list);
    return status;
}
