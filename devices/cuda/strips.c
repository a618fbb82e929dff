/* Strips: one kernel, which reads list and buffer over the bus, or writes the buffer.
 *
 * The addresses of the strips are not checked: a list can be long, and the library makes it from
 * arenas that it has allocated.
 */
#include "strips.h"
#include "kernels.h"
#include "allocations.h"

static haul_status move(haul__gpu *gpu, const haul__gpu_visit *visit, const haul_strip *strips,
                        size_t count, const void *packed, size_t bytes, int to_host)
{
    const haul_strip *list = (const haul_strip *)(uintptr_t)haul__gpu_mapped(visit, strips);
    unsigned char *buffer = (unsigned char *)(uintptr_t)haul__gpu_mapped(visit, packed);
    if (!list || !buffer)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_UNSUPPORTED, "memory that is not pinned");
    if (count == 0)
        return HAUL_OK;
    return haul__gpu_check(
        gpu, visit,
        haul__gpu_kernels_strips(list, count, buffer, to_host, gpu->processors, gpu->stream),
        "the kernel that moves strips", bytes);
}

haul_status haul__gpu_gather_strips(void *state, void *packed, size_t bytes,
                                    const haul_strip *strips, size_t count)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "gather_strips", &visit);
    if (status == HAUL_OK)
        status = move(gpu, &visit, strips, count, packed, bytes, 1);
    return haul__gpu_leave(gpu, &visit, status);
}

haul_status haul__gpu_scatter_strips(void *state, const haul_strip *strips, size_t count,
                                     const void *packed, size_t bytes)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "scatter_strips", &visit);
    if (status == HAUL_OK)
        status = move(gpu, &visit, strips, count, packed, bytes, 0);
    return haul__gpu_leave(gpu, &visit, status);
}
