/* Haul's device memory, made known to OpenACC: in compute regions, plain host pointers then lead to
 * it.
 *
 *     haul_openacc_watch(environment, &told);
 *     haul_environment_enter(environment, list, list_type, 1, NULL, NULL);
 *     #pragma acc parallel present(list[0:1])
 *
 * The header stands by itself, behind haul.h: a program that includes it is compiled for its own
 * run time of OpenACC, and the library links none. The current OpenACC device must be Haul's, and
 * stay the current one.
 *
 * libgomp takes longer for each range the more it has: 3.5 us at 2,000, 76 us at 20,000. So an
 * environment or a shipment has at most HAUL_OPENACC_MOST there; an arena is one. Larger graphs go
 * by `deviceptr` and haul_environment_device_pointer. docs/openmp-openacc.md says what OpenACC must
 * not do with such memory.
 *
 * acc_map_data ends the program if OpenACC has mapped a part of the range itself, and no call of
 * OpenACC finds that part. So Haul asks for single bytes, and refuses: for the last one, and from
 * the first on for one in 4; in ranges of more than 512 bytes, for at most 128 at equal distances.
 * What lies between two of them is not seen, and the program ends: a piece of 3 bytes, or in a
 * range of 128 KiB one of 1,023.
 */
#ifndef HAUL_OPENACC_H
#define HAUL_OPENACC_H

#include <openacc.h>

#include "haul/environment.h"
#include "haul/told.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef HAUL_OPENACC_MOST
#define HAUL_OPENACC_MOST 4096u
#endif

/* What OpenACC was told of; it must stay while the environment is watched. */
typedef struct haul_openacc {
    size_t ranges;
} haul_openacc;

/* 1: the current device has a memory of its own. Else acc_map_data would end the program. */
static inline int haul_openacc_has_device(void)
{
    const acc_device_t type = acc_get_device_type();
    return type != acc_device_none && type != acc_device_host && acc_get_num_devices(type) > 0;
}

/* ---- Environments. */

/* 1: OpenACC has a byte of the range; the head of this file says which are asked for. */
static inline int haul_openacc_has_part(const haul_shipped_range *range)
{
    char *const first = (char *)range->host;
    const size_t apart = ((range->bytes - 1) / 512 + 1) * 4;
    size_t at;
    for (at = 0; at < range->bytes; at += apart)
        if (acc_is_present(first + at, 1))
            return 1;
    return acc_is_present(first + range->bytes - 1, 1);
}

static inline int haul_openacc_comes(void *user, const haul_shipped_range *range)
{
    haul_openacc *told = (haul_openacc *)user;
    if (told->ranges == HAUL_OPENACC_MOST || haul_openacc_has_part(range))
        return 1;
    acc_map_data(range->host, range->device, range->bytes);
    told->ranges++;
    return 0;
}

/* acc_unmap_data would end the program where the range is not Haul's any more. */
static inline int haul_openacc_goes(void *user, const haul_shipped_range *range)
{
    haul_openacc *told = (haul_openacc *)user;
    if (acc_deviceptr(range->host) == range->device)
        acc_unmap_data(range->host);
    told->ranges -= told->ranges > 0;
    return 0;
}

static inline void *haul_openacc_find(void *user, const void *host, size_t bytes)
{
    void *const at = (void *)(uintptr_t)host;
    (void)user;
    return acc_is_present(at, bytes) ? acc_deviceptr(at) : (void *)0;
}

/* Maps all that is present, and from now on what enters; unmaps what leaves. What OpenACC has
 * mapped itself is not sent: pointers to it lead to OpenACC's copy, which must stay until what
 * leads there has left. All or none: an enter that brings more than HAUL_OPENACC_MOST ranges, a
 * range of which OpenACC has mapped a part, or a root that it has mapped, answers
 * HAUL_ERROR_CANCELLED, and nothing of it stays on the device; so does this call, and then nothing
 * is mapped. HAUL_ERROR_UNSUPPORTED, without a record: the current device is the host, or there is
 * none. Else as haul_environment_watch and haul_environment_set_finder, which this is: NULLs in
 * both end it. HAUL_ERROR_BUSY: call it again; until then OpenACC may be asked for its copies.
 * After any other failure it is not. The program must be compiled for OpenACC (-fopenacc). */
static inline haul_status haul_openacc_watch(haul_environment *environment, haul_openacc *told)
{
    haul_status status;
    if (!haul_openacc_has_device())
        return HAUL_ERROR_UNSUPPORTED;
    status = haul_environment_set_finder(environment, haul_openacc_find, NULL);
    if (status != HAUL_OK)
        return status;
    /* an earlier call counts what it unmaps */
    status = haul_environment_watch(environment, NULL, NULL, NULL);
    if (status == HAUL_OK) {
        told->ranges = 0;
        status = haul_environment_watch(environment, haul_openacc_comes, haul_openacc_goes, told);
    }
    if (status != HAUL_OK)
        haul_environment_set_finder(environment, NULL, NULL);
    return status;
}

/* ---- Shipments. */

static inline haul_told haul_openacc_told(haul_openacc *ranges)
{
    haul_told told;
    ranges->ranges = 0;
    told.comes = haul_openacc_comes;
    told.goes = haul_openacc_goes;
    told.user = ranges;
    told.extents = 0;
    return told;
}

/* Maps the extents of a shipment, or its arena by one call; a mirrored arena to itself. All or
 * none. *count, if it is not NULL, becomes the number of calls. HAUL_ERROR_UNSUPPORTED, without a
 * record: the current device is the host, or there is none. HAUL_ERROR_DEVICE: OpenACC has mapped a
 * part of an extent, or there are more than HAUL_OPENACC_MOST; the record names the extent. Else as
 * haul_shipment_extents. Dissociate before haul_reship and haul_shipment_free. */
static inline haul_status haul_openacc_associate(const haul_shipment *shipment, size_t *count)
{
    haul_openacc ranges;
    haul_told told = haul_openacc_told(&ranges);
    if (count)
        *count = 0;
    if (!haul_openacc_has_device())
        return HAUL_ERROR_UNSUPPORTED;
    return haul_told_associate(&told, shipment, count);
}

/* The reverse; the host's graph may have changed or gone. */
static inline haul_status haul_openacc_dissociate(const haul_shipment *shipment)
{
    haul_openacc ranges;
    haul_told told = haul_openacc_told(&ranges);
    if (!haul_openacc_has_device())
        return HAUL_ERROR_UNSUPPORTED;
    return haul_told_dissociate(&told, shipment);
}

/* haul_reship, which waits: the extents of the old memory are unmapped before, and those of the new
 * one mapped behind; after a failure of haul_reship, the old ones again. HAUL_ERROR_DEVICE:
 * haul_reship's own, or as of haul_openacc_associate. *count tells: after any failure it is 0 if
 * nothing is mapped. */
static inline haul_status haul_openacc_reship(haul_shipment *shipment, size_t *count)
{
    haul_openacc ranges;
    haul_told told = haul_openacc_told(&ranges);
    if (count)
        *count = 0;
    if (!haul_openacc_has_device())
        return HAUL_ERROR_UNSUPPORTED;
    return haul_told_reship(&told, shipment, count);
}

#ifdef __cplusplus
}
#endif
#endif
