/* Copies between memories, and of strips.
 *
 * A strip is many runs of equal length at a stride; a look at all of them comes before the first
 * byte moves, so that a refusal leaves everything as it was.
 */
#include <string.h>

#include "allocations.h"
#include "copies.h"

haul_status haul__host_copy_to(void *state, haul_address to, const void *from, size_t bytes)
{
    haul__host *host = state;
    unsigned char *at = haul__host_view(host, to, bytes);
    if (!at)
        return haul__host_fail_range(host, "copy_to", to, bytes);
    memcpy(at, from, bytes);
    host->counters.copies_to++;
    host->counters.bytes_to += bytes;
    return HAUL_OK;
}

haul_status haul__host_copy_from(void *state, void *to, haul_address from, size_t bytes)
{
    haul__host *host = state;
    const unsigned char *at = haul__host_view(host, from, bytes);
    if (!at)
        return haul__host_fail_range(host, "copy_from", from, bytes);
    memcpy(to, at, bytes);
    host->counters.copies_from++;
    host->counters.bytes_from += bytes;
    return HAUL_OK;
}

haul_status haul__host_clear(void *state, haul_address at, uint64_t bytes)
{
    haul__host *host = state;
    unsigned char *zeros = haul__host_view(host, at, bytes);
    if (!zeros)
        return haul__host_fail_range(host, "clear", at, bytes);
    memset(zeros, 0, (size_t)bytes);
    return HAUL_OK;
}

haul_status haul__host_across(void *state, haul_address to, void *from_state, haul_address from,
                              size_t bytes)
{
    haul__host *host = state;
    const haul__host *other = from_state;
    unsigned char *into = haul__host_view(host, to, bytes);
    const unsigned char *out_of;
    if (!other || other->magic != HAUL__HOST_MAGIC)
        return haul__host_fail(host, HAUL_ERROR_UNSUPPORTED, "across",
                               "the other device is no host device");
    out_of = haul__host_view(other, from, bytes);
    if (!into)
        return haul__host_fail_range(host, "across, to", to, bytes);
    if (!out_of)
        return haul__host_fail_range(host, "across, from", from, bytes);
    memcpy(into, out_of, bytes);
    host->counters.copies_across++;
    host->counters.bytes_across += bytes;
    return HAUL_OK;
}

/* The runs of a strip in device memory. NULL: they are not all there, or have no such place in a
 * buffer of `bytes` bytes. */
static unsigned char *strip_view(haul__host *host, const haul_strip *strip, size_t bytes)
{
    const uint64_t packed = (uint64_t)strip->count * strip->bytes;
    if (!packed || packed > HAUL_STRIP_BYTES || strip->packed > bytes ||
        packed > bytes - strip->packed || strip->stride > UINT64_MAX / 2 / strip->count)
        return NULL;
    return haul__host_view(host, strip->first, (strip->count - 1) * strip->stride + strip->bytes);
}

/* Moves the runs of all strips, after a look at all of them. */
static haul_status move_strips(haul__host *host, const haul_strip *strips, size_t count,
                               unsigned char *to, const unsigned char *from, size_t bytes)
{
    size_t i;
    uint32_t k;
    for (i = 0; i < count; i++)
        if (!strip_view(host, &strips[i], bytes))
            return haul__host_fail_range(host, to ? "gather_strips" : "scatter_strips",
                                         strips[i].first, strips[i].bytes);
    for (i = 0; i < count; i++) {
        unsigned char *at = strip_view(host, &strips[i], bytes);
        uint64_t packed = strips[i].packed;
        for (k = 0; k < strips[i].count; k++, packed += strips[i].bytes, at += strips[i].stride)
            if (to)
                memcpy(to + packed, at, strips[i].bytes);
            else
                memcpy(at, from + packed, strips[i].bytes);
    }
    return HAUL_OK;
}

haul_status haul__host_gather_strips(void *state, void *packed, size_t bytes,
                                     const haul_strip *strips, size_t count)
{
    haul__host *host = state;
    const haul_status status = move_strips(host, strips, count, packed, NULL, bytes);
    host->counters.copies_from += status == HAUL_OK;
    host->counters.bytes_from += status == HAUL_OK ? bytes : 0;
    return status;
}

haul_status haul__host_scatter_strips(void *state, const haul_strip *strips, size_t count,
                                      const void *packed, size_t bytes)
{
    haul__host *host = state;
    const haul_status status = move_strips(host, strips, count, NULL, packed, bytes);
    host->counters.copies_to += status == HAUL_OK;
    host->counters.bytes_to += status == HAUL_OK ? bytes : 0;
    return status;
}
