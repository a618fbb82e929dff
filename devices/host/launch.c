/* Launches: a function of the program runs as a kernel, with the device's memory open to it. And
 * the counters, which are asked for in the same way, by the device.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "opening.h"
#include "strict.h"

/* The state of a host device; NULL for another device. The name is compared as a pointer, so that a
 * wrapper of this table (to count, or to fail), which keeps name and state, passes too. */
static haul__host *state_of(haul_device *device)
{
    haul_device_info info;
    haul__host *host;
    haul_device_get_info(device, &info);
    if (info.name != haul_host_device()->name)
        return NULL;
    host = haul_device_state(device);
    return host && host->magic == HAUL__HOST_MAGIC ? host : NULL;
}

/* Memory that is allocated during a launch stays closed to it. */
static int show(haul__host *host, int open)
{
    int shown;
    pthread_mutex_lock(&host->mutex);
    shown = haul__host_open_memory(host, open);
    pthread_mutex_unlock(&host->mutex);
    return shown;
}

static haul_status launch(haul__host *host, void (*function)(void *argument), void *argument,
                          char *text, size_t room)
{
    const int opened = show(host, 1);
    if (opened)
        function(argument);
    if (show(host, 0) && opened)
        return HAUL_OK;
    snprintf(text, room, "the system refuses to %s the device's memory",
             opened ? "close" : "give access to");
    return HAUL_ERROR_DEVICE;
}

/* Describes a launch that the kernel has ended by following a pointer in device memory: by the path
 * of the pointer, if it came with a shipment. */
static haul_status fail_at(haul_device *device, haul_status status, const haul__host_fault *fault)
{
    char text[HAUL_TEXT_BYTES];
    size_t i;
    for (i = 0; i < fault->word_count; i++) {
        haul__host_say(fault, &fault->words[i], text, sizeof text);
        if (haul_device_fail_at(device, status, text, fault->words[i].at))
            return status;
    }
    haul__host_say(fault, &fault->words[0], text, sizeof text);
    return haul_device_fail(device, status, text);
}

static const char no_host[] =
    "the device is not the host device, whose table haul_host_device gives";

haul_status haul_host_launch(haul_device *device, void (*function)(void *argument), void *argument)
{
    haul__host *host = state_of(device);
    haul__host_fault fault;
    char text[HAUL_TEXT_BYTES];
    haul_status status;
    int saved = errno;
    if (!host || !function)
        return haul_device_fail(device, HAUL_ERROR_ARGUMENT,
                                host ? "the function to launch is NULL" : no_host);
    if (host->process != (long)getpid())
        return haul_device_fail(
            device, HAUL_ERROR_STATE,
            "the device was opened by another process, which has its pages: after a fork a child "
            "opens its own");
    if (__atomic_exchange_n(&host->launching, 1, __ATOMIC_ACQUIRE))
        return HAUL_ERROR_BUSY;
    fault.word_count = 0;
    status = host->is_strict ? haul__host_launch_strictly(host, function, argument,
                                                          (uintptr_t)__builtin_frame_address(0),
                                                          &fault, text, sizeof text)
                             : launch(host, function, argument, text, sizeof text);
    host->counters.strict_launches += host->is_strict != 0;
    __atomic_store_n(&host->launching, 0, __ATOMIC_RELEASE);
    errno = saved;
    if (fault.word_count)
        return fail_at(device, status, &fault);
    return status == HAUL_OK ? HAUL_OK : haul_device_fail(device, status, text);
}

haul_status haul_host_get_counters_sized(haul_device *device, haul_host_counters *counters,
                                         size_t counters_bytes)
{
    const haul__host *host = state_of(device);
    const size_t common = counters_bytes < sizeof *counters ? counters_bytes : sizeof *counters;
    if (!host || !counters)
        return haul_device_fail(device, HAUL_ERROR_ARGUMENT,
                                host ? "the address of the counters is NULL" : no_host);
    memcpy(counters, &host->counters, common);
    memset((unsigned char *)counters + common, 0, counters_bytes - common);
    return HAUL_OK;
}
