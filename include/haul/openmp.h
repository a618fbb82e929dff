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
 * What OpenMP must not do with such memory: `target update to` of a struct, or of an array of them,
 * writes the host's pointers over the device's. haul_environment_update_device does not.
 * docs/openmp-openacc.md has the whole list.
 */
#ifndef HAUL_OPENMP_H
#define HAUL_OPENMP_H

#include <omp.h>

#include "haul/environment.h"

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
 * of it, or if it has mapped the root, the enter answers HAUL_ERROR_CANCELLED, and nothing of it
 * stays on the device; so does this call, and then nothing is associated. HAUL_ERROR_UNSUPPORTED,
 * without a record: there is no such device. Else as haul_environment_watch and
 * haul_environment_set_finder, which this is: NULLs in both end it. HAUL_ERROR_BUSY: call it
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

/* How many extents of a shipment OpenMP was told of. For the functions below. */
typedef struct haul_openmp_told {
    int device;
    size_t count, most;
} haul_openmp_told;

static inline int haul_openmp_tell(void *user, const haul_shipped_range *extent)
{
    haul_openmp_told *told = (haul_openmp_told *)user;
    if (omp_target_associate_ptr(extent->host, extent->device, extent->bytes, 0, told->device))
        return 1;
    told->count++;
    return 0;
}

static inline int haul_openmp_untell(void *user, const haul_shipped_range *extent)
{
    haul_openmp_told *told = (haul_openmp_told *)user;
    if (told->count == told->most)
        return 1;
    told->count++;
    omp_target_disassociate_ptr(extent->host, told->device);
    return 0;
}

/* Associates the extents of a shipment, or its arena by one call; a mirrored arena with itself. All
 * or none. *count, if it is not NULL, becomes the number of associations. HAUL_ERROR_UNSUPPORTED,
 * without a record: there is no such device. HAUL_ERROR_DEVICE: OpenMP refuses an extent; the
 * record tells of a visitor that cancelled. Else as haul_shipment_extents. Dissociate before
 * haul_reship and haul_shipment_free. */
static inline haul_status haul_openmp_associate(const haul_shipment *shipment, int device,
                                                size_t *count)
{
    haul_openmp_told told = { 0, 0, SIZE_MAX };
    haul_status status;
    if (count)
        *count = 0;
    if (!haul_openmp_has(device))
        return HAUL_ERROR_UNSUPPORTED;
    told.device = device;
    status = haul_shipment_extents(shipment, haul_openmp_tell, &told);
    if (status == HAUL_OK && count)
        *count = told.count;
    if (status == HAUL_ERROR_CANCELLED) {
        told.most = told.count;
        told.count = 0;
        haul_shipment_extents(shipment, haul_openmp_untell, &told);
        return HAUL_ERROR_DEVICE;
    }
    return status;
}

/* The reverse; the host's graph may have changed or gone. */
static inline haul_status haul_openmp_dissociate(const haul_shipment *shipment, int device)
{
    haul_openmp_told told = { 0, 0, SIZE_MAX };
    if (!haul_openmp_has(device))
        return HAUL_ERROR_UNSUPPORTED;
    told.device = device;
    return haul_shipment_extents(shipment, haul_openmp_untell, &told);
}

/* haul_reship, which waits, with the associations: the extents of the old memory are dissociated
 * before, and those of the new one associated behind; after a failure of haul_reship, the old ones
 * again. HAUL_ERROR_DEVICE: haul_reship's own, or OpenMP refuses an extent. *count tells: after any
 * failure it is 0 if nothing is associated. */
static inline haul_status haul_openmp_reship(haul_shipment *shipment, int device, size_t *count)
{
    haul_status status, told;
    if (count)
        *count = 0;
    status = haul_openmp_dissociate(shipment, device);
    if (status != HAUL_OK)
        return status;
    status = haul_reship(shipment, NULL);
    told = haul_openmp_associate(shipment, device, count);
    return status != HAUL_OK ? status : told;
}

#ifdef __cplusplus
}
#endif
#endif
