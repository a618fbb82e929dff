/* Haul's device memory, made known to OpenMP: in target regions, plain host pointers then lead to
 * it.
 *
 *     haul_openmp_watch(environment, omp_get_default_device());
 *     haul_environment_enter(environment, list, list_type, 1, NULL, NULL);
 *     #pragma omp target                     no map: the whole list is present
 *     for (node *at = list; at; at = at->next) ...
 *     haul_environment_exit(environment, list, &back, NULL);
 *
 * The header stands by itself, behind haul.h: a program that includes it is compiled for its own
 * run time of OpenMP 4.5 or later, and the library links none. The OpenMP device must be Haul's:
 * the same GPU, or, with haul_host_device, one that runs on the host, in regions within
 * haul_host_launch.
 *
 * OpenMP's table has one line for each range. A line costs some 0.2 us with libgomp and 0.6 us with
 * libomptarget, more than sending the range. An arena is one line.
 *
 * libgomp refuses a range of which it has mapped a part itself. libomptarget refuses it only if
 * both begin at one address; else it has two lines for those bytes, and a region finds one of them.
 *
 * What OpenMP must not do with such memory: `target update to` of a struct, or of an array of them,
 * writes the host's pointers over the device's. haul_environment_update_device does not.
 * docs/openmp-openacc.md has the whole list.
 */
#ifndef HAUL_OPENMP_H
#define HAUL_OPENMP_H

#include <omp.h>

#include "haul/environment.h"
#include "haul/told.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 1: it is a device of OpenMP, not the host. */
static inline int haul_openmp_has(int device)
{
    return device >= 0 && device < omp_get_num_devices() && device != omp_get_initial_device();
}

/* ---- Environments. */

static inline int haul_openmp_comes(void *user, const haul_shipped_range *range)
{
    return omp_target_associate_ptr(range->host, range->device, range->bytes, 0,
                                    (int)(intptr_t)user);
}

static inline int haul_openmp_goes(void *user, const haul_shipped_range *range)
{
    return omp_target_disassociate_ptr(range->host, (int)(intptr_t)user);
}

/* OpenMP's copy of a mapped byte. */
static inline char *haul_openmp_copy_of(const char *host, int device)
{
    char *at = (char *)(uintptr_t)host;
    if (!omp_target_is_present(at, device))
        return NULL;
#pragma omp target data use_device_ptr(at) device(device)
    host = at;
    return (char *)(uintptr_t)host;
}

static inline void *haul_openmp_find(void *user, const void *host, size_t bytes)
{
    const int device = (int)(intptr_t)user;
    char *const first = haul_openmp_copy_of((const char *)host, device);
    char *const last =
        first ? haul_openmp_copy_of((const char *)host + bytes - 1, device) : (char *)NULL;
    return last && last == first + bytes - 1 ? first : (char *)NULL;
}

/* Associates all that is present, and from now on what enters; dissociates what leaves. What OpenMP
 * has mapped itself is not sent: pointers to it lead to OpenMP's copy, which must stay mapped until
 * what leads there has left. All or none: if OpenMP refuses a range, because it has mapped a part
 * of it (as above), or if it has mapped the root, the enter answers HAUL_ERROR_CANCELLED, and
 * nothing of it stays on the device; so does this call, and then nothing is associated.
 * HAUL_ERROR_UNSUPPORTED, without a record: there is no such device. Else as haul_environment_watch
 * and haul_environment_set_finder, which this is: NULLs in both end it. HAUL_ERROR_BUSY: call it
 * again; until then OpenMP may be asked for its copies. After any other failure it is not. The
 * program must be compiled for OpenMP (-fopenmp). */
static inline haul_status haul_openmp_watch(haul_environment *environment, int device)
{
    void *const user = (void *)(intptr_t)device;
    haul_status status;
    if (!haul_openmp_has(device))
        return HAUL_ERROR_UNSUPPORTED;
    status = haul_environment_set_finder(environment, haul_openmp_find, user);
    if (status != HAUL_OK)
        return status;
    status = haul_environment_watch(environment, haul_openmp_comes, haul_openmp_goes, user);
    if (status != HAUL_OK)
        haul_environment_set_finder(environment, NULL, NULL);
    return status;
}

/* ---- Shipments. */

static inline haul_told haul_openmp_told(int device)
{
    haul_told told;
    told.comes = haul_openmp_comes;
    told.goes = haul_openmp_goes;
    told.user = (void *)(intptr_t)device;
    told.extents = 0;
    return told;
}

/* Associates the extents of a shipment, or its arena by one call; a mirrored arena with itself. All
 * or none. *count, if it is not NULL, becomes the number of associations. HAUL_ERROR_UNSUPPORTED,
 * without a record: there is no such device. HAUL_ERROR_DEVICE: OpenMP refuses an extent, which the
 * record names. Else as haul_shipment_extents. Dissociate before haul_reship and
 * haul_shipment_free. */
static inline haul_status haul_openmp_associate(const haul_shipment *shipment, int device,
                                                size_t *count)
{
    haul_told told = haul_openmp_told(device);
    if (count)
        *count = 0;
    if (!haul_openmp_has(device))
        return HAUL_ERROR_UNSUPPORTED;
    return haul_told_associate(&told, shipment, count);
}

/* The reverse; the host's graph may have changed or gone. */
static inline haul_status haul_openmp_dissociate(const haul_shipment *shipment, int device)
{
    haul_told told = haul_openmp_told(device);
    if (!haul_openmp_has(device))
        return HAUL_ERROR_UNSUPPORTED;
    return haul_told_dissociate(&told, shipment);
}

/* haul_reship, which waits, with the associations: the extents of the old memory are dissociated
 * before, and those of the new one associated behind; after a failure of haul_reship, the old ones
 * again. HAUL_ERROR_DEVICE: haul_reship's own, or OpenMP refuses an extent. *count tells: after any
 * failure it is 0 if nothing is associated. */
static inline haul_status haul_openmp_reship(haul_shipment *shipment, int device, size_t *count)
{
    haul_told told = haul_openmp_told(device);
    if (count)
        *count = 0;
    if (!haul_openmp_has(device))
        return HAUL_ERROR_UNSUPPORTED;
    return haul_told_reship(&told, shipment, count);
}

#ifdef __cplusplus
}
#endif
#endif
