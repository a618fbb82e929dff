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
 * libgomp takes longer for each range the more it has: 3.5 us at 2,000, 76 us at 20,000. So there
 * are at most HAUL_OPENACC_MOST; larger graphs go by `deviceptr` and
 * haul_environment_device_pointer. docs/openmp-openacc.md says what OpenACC must not do with such
 * memory.
 */
#ifndef HAUL_OPENACC_H
#define HAUL_OPENACC_H

#include <openacc.h>

#include "haul/environment.h"

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

static inline int haul_openacc_comes(void *user, const haul_shipped_range *range)
{
    haul_openacc *told = (haul_openacc *)user;
    if (told->ranges == HAUL_OPENACC_MOST || acc_is_present(range->host, range->bytes))
        return 1;
    acc_map_data(range->host, range->device, range->bytes);
    told->ranges++;
    return 0;
}

static inline int haul_openacc_goes(void *user, const haul_shipped_range *range)
{
    acc_unmap_data(range->host);
    ((haul_openacc *)user)->ranges--;
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
 * leads there has left. All or none: an enter that brings more than HAUL_OPENACC_MOST ranges, or a
 * root that OpenACC has already, answers HAUL_ERROR_CANCELLED, and nothing of it stays on the
 * device; so does this call, and then nothing is mapped. HAUL_ERROR_UNSUPPORTED, without a record:
 * the current device is the host, or there is none. Else as haul_environment_watch and
 * haul_environment_set_finder, which this is. HAUL_ERROR_BUSY: call it again;
 * until then OpenACC may be asked for its copies. After any other failure it is not. */
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

#ifdef __cplusplus
}
#endif
#endif
