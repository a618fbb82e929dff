/* Names on a profiler's time line: each verb is an NVTX range, in the domain "haul", and lies
 * within the range of the library's phase that called it.
 *
 * NVTX is a header of the CUDA toolkit. It has a table of its own and looks once in the environment
 * for a profiler; without one a range costs a comparison. A build without the header has no ranges.
 */
#include "ranges.h"

#ifdef HAUL_CUDA_RANGES

#include <nvtx3/nvToolsExt.h>

void haul__gpu_range_open(haul__gpu *gpu)
{
    gpu->domain = nvtxDomainCreateA("haul");
}

void haul__gpu_range_close(haul__gpu *gpu)
{
    if (gpu->domain)
        nvtxDomainDestroy(gpu->domain);
    gpu->domain = NULL;
}

void haul__gpu_range_begin(haul__gpu *gpu, const char *name)
{
    nvtxEventAttributes_t attributes = { 0 };
    if (!gpu->domain)
        return;
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    nvtxDomainRangePushEx(gpu->domain, &attributes);
}

void haul__gpu_range_end(haul__gpu *gpu)
{
    if (gpu->domain)
        nvtxDomainRangePop(gpu->domain);
}

#else

void haul__gpu_range_open(haul__gpu *gpu)
{
    (void)gpu;
}

void haul__gpu_range_close(haul__gpu *gpu)
{
    (void)gpu;
}

void haul__gpu_range_begin(haul__gpu *gpu, const char *name)
{
    (void)gpu;
    (void)name;
}

void haul__gpu_range_end(haul__gpu *gpu)
{
    (void)gpu;
}

#endif

void haul__gpu_phase_begin(void *state, const char *name)
{
    haul__gpu_range_begin(state, name);
}

void haul__gpu_phase_end(void *state)
{
    haul__gpu_range_end(state);
}
