/* Notes of an open host device: the message of its last failure, its counters, growing tables. */
#include <stdio.h>
#include <string.h>

#include "host.h"

haul_status haul__host_fail(haul__host *host, haul_status status, const char *verb,
                            const char *what)
{
    snprintf(host->message, sizeof host->message, "%s: %s", verb, what);
    return status;
}

haul_status haul__host_fail_range(haul__host *host, const char *verb, haul_address address,
                                  uint64_t bytes)
{
    snprintf(host->message, sizeof host->message, "%s: 0x%llx + %llu bytes is not device memory",
             verb, (unsigned long long)address, (unsigned long long)bytes);
    return HAUL_ERROR_DEVICE;
}

int haul__host_grow(haul__host *host, void **array, size_t *capacity, size_t count,
                    size_t element_bytes)
{
    const size_t doubled = *capacity ? *capacity * 2 : 16;
    void *grown;
    if (count < *capacity)
        return 1;
    grown = host->allocator.allocate(host->allocator.user, doubled * element_bytes, sizeof(void *));
    if (!grown)
        return 0;
    if (*array) {
        memcpy(grown, *array, count * element_bytes);
        host->allocator.release(host->allocator.user, *array, *capacity * element_bytes);
    }
    *array = grown;
    *capacity = doubled;
    return 1;
}

haul_status haul__host_has_memory(haul__host *host, const char *verb, uint64_t bytes)
{
    if (bytes > host->memory_bytes || host->counters.bytes_live > host->memory_bytes - bytes)
        return haul__host_fail(host, HAUL_ERROR_DEVICE_MEMORY, verb,
                               "more than the machine's memory");
    return HAUL_OK;
}

void haul__host_count(haul__host *host, uint64_t bytes)
{
    host->counters.allocations++;
    host->counters.bytes_allocated += bytes;
    host->counters.bytes_live += bytes;
}

void haul__host_discount(haul__host *host, uint64_t bytes)
{
    host->counters.bytes_live -= bytes;
}
