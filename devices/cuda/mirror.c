/* Mirrors: GPU memory and host memory at the same addresses.
 *
 * A process and its GPUs share one address space. In a range that the driver has reserved for the
 * GPU the host's page tables are empty. Here they get pages of the host: shared memory that is
 * mapped a second time at other addresses, the window. To CUDA an address of the range means the
 * GPU's bytes, so copies name the host's bytes by the window.
 *
 *     address     host's page tables    GPU's page tables
 *     memory      pages of the host     memory of the GPU
 *     window      the same pages        the same pages (registered)
 *
 * No manual promises this. So a test runs before a range is given out: it writes a word on each
 * side, and each side must find its own. If system or driver behave otherwise, there is no mirror.
 *
 * These functions are the driver's, not the runtime's; see answer.c.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "allocations.h"
#include "mirror.h"

#if CUDART_VERSION >= 12050

#include <cuda.h>

#define MEMORY_SINCE 11000u /* the driver's version of the entries */

typedef struct orders {
    CUresult(CUDAAPI *reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
    CUresult(CUDAAPI *unreserve)(CUdeviceptr, size_t);
    CUresult(CUDAAPI *create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,
                              unsigned long long);
    CUresult(CUDAAPI *release)(CUmemGenericAllocationHandle);
    CUresult(CUDAAPI *map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
                           unsigned long long);
    CUresult(CUDAAPI *unmap)(CUdeviceptr, size_t);
    CUresult(CUDAAPI *allow)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
    CUresult(CUDAAPI *granularity)(size_t *, const CUmemAllocationProp *,
                                   CUmemAllocationGranularity_flags);
} orders;

static int find(const haul__gpu_visit *visit, const char *name, void *order, size_t bytes)
{
    return haul__gpu_find_entry(visit, name, MEMORY_SINCE, order, bytes);
}

static int find_orders(const haul__gpu_visit *visit, orders *o)
{
    return find(visit, "cuMemAddressReserve", &o->reserve, sizeof o->reserve) &&
           find(visit, "cuMemAddressFree", &o->unreserve, sizeof o->unreserve) &&
           find(visit, "cuMemCreate", &o->create, sizeof o->create) &&
           find(visit, "cuMemRelease", &o->release, sizeof o->release) &&
           find(visit, "cuMemMap", &o->map, sizeof o->map) &&
           find(visit, "cuMemUnmap", &o->unmap, sizeof o->unmap) &&
           find(visit, "cuMemSetAccess", &o->allow, sizeof o->allow) &&
           find(visit, "cuMemGetAllocationGranularity", &o->granularity, sizeof o->granularity);
}

/* ---- The GPU's side. */

static CUmemAllocationProp properties(const haul__gpu *gpu)
{
    CUmemAllocationProp all;
    memset(&all, 0, sizeof all);
    all.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    all.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    all.location.id = gpu->options.ordinal;
    return all;
}

static int round_up(const haul__gpu *gpu, const orders *o, size_t *bytes)
{
    const CUmemAllocationProp all = properties(gpu);
    size_t unit = 0;
    if (o->granularity(&unit, &all, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) != CUDA_SUCCESS ||
        unit == 0 || *bytes > SIZE_MAX - unit)
        return 0;
    *bytes = (*bytes + unit - 1) / unit * unit;
    return 1;
}

/* Gives access to this GPU and to all that can reach its memory, as with memory of a pool. 0: even
 * this GPU is refused. */
static int allow_all(const haul__gpu *gpu, const haul__gpu_visit *visit, const orders *o,
                     CUdeviceptr address, size_t bytes)
{
    CUmemAccessDesc one;
    int count = haul_cuda_count(), other, reaches;
    memset(&one, 0, sizeof one);
    one.location = properties(gpu).location;
    one.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (o->allow(address, bytes, &one, 1) != CUDA_SUCCESS)
        return 0;
    for (other = 0; other < count; other++) {
        reaches = 0;
        if (other != gpu->options.ordinal)
            haul__gpu_forgive(visit,
                              cudaDeviceCanAccessPeer(&reaches, other, gpu->options.ordinal));
        one.location.id = other;
        if (reaches)
            (void)o->allow(address, bytes, &one, 1);
    }
    return 1;
}

static int get_memory(const haul__gpu *gpu, const haul__gpu_visit *visit, const orders *o,
                      CUdeviceptr address, size_t bytes)
{
    const CUmemAllocationProp all = properties(gpu);
    CUmemGenericAllocationHandle memory;
    CUresult mapped;
    if (o->create(&memory, bytes, &all, 0) != CUDA_SUCCESS)
        return 0;
    mapped = o->map(address, bytes, 0, memory, 0);
    (void)o->release(memory); /* the driver frees it at the unmap */
    if (mapped != CUDA_SUCCESS)
        return 0;
    if (allow_all(gpu, visit, o, address, bytes))
        return 1;
    (void)o->unmap(address, bytes);
    return 0;
}

/* ---- The host's side. */

/* Removes the host's pages: the range is empty again, as the driver reserved it. */
static void drop_pages(const haul_mirror *mirror)
{
    (void)mmap(mirror->memory, mirror->bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    munmap(mirror->window, mirror->bytes);
}

/* Maps shared pages at the window and at the range. For mremap, old size 0 means: map the same
 * pages once more. */
static int get_pages(haul_mirror *mirror)
{
    void *window =
        mmap(NULL, mirror->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (window == MAP_FAILED)
        return 0;
    mirror->window = window;
    if (mremap(window, 0, mirror->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, mirror->memory) ==
        mirror->memory)
        return 1;
    drop_pages(mirror);
    return 0;
}

/* ---- Both. */

/* The test: does each side keep its own word, and does a copy bring over the GPU's? */
static int is_twofold(const haul__gpu *gpu, const haul__gpu_visit *visit, const haul_mirror *mirror)
{
    volatile uint64_t *words = mirror->memory, *window = mirror->window;
    cudaError_t error;
    int is_right;
    words[0] = 1;
    error = cudaMemsetAsync(mirror->memory, 2, sizeof *words, gpu->own);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync((void *)(uintptr_t)&window[1], mirror->memory, sizeof *words,
                                cudaMemcpyDeviceToHost, gpu->own);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(gpu->own);
    haul__gpu_forgive(visit, error);
    is_right = error == cudaSuccess && words[0] == 1 && window[0] == 1 &&
               words[1] == UINT64_C(0x0202020202020202);
    words[0] = words[1] = 0;
    return is_right;
}

static haul_status pin_and_try(haul__gpu *gpu, const haul__gpu_visit *visit,
                               const haul_mirror *mirror)
{
    haul_status status =
        haul__gpu_check(gpu, visit,
                        cudaHostRegister(mirror->window, mirror->bytes,
                                         cudaHostRegisterPortable | cudaHostRegisterMapped),
                        "cudaHostRegister", mirror->bytes);
    if (status != HAUL_OK || is_twofold(gpu, visit, mirror))
        return status;
    haul__gpu_forgive(visit, cudaHostUnregister(mirror->window));
    return haul__gpu_fail(gpu, visit, HAUL_ERROR_UNSUPPORTED,
                          "host and GPU cannot both have the addresses");
}

static haul_status fill_range(haul__gpu *gpu, const haul__gpu_visit *visit, const orders *o,
                              haul_mirror *mirror)
{
    const CUdeviceptr address = (CUdeviceptr)(uintptr_t)mirror->memory;
    haul_status status;
    if (!get_memory(gpu, visit, o, address, mirror->bytes))
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_DEVICE_MEMORY,
                              "no memory of the GPU for a mirror");
    if (get_pages(mirror)) {
        status = pin_and_try(gpu, visit, mirror);
        if (status != HAUL_OK)
            drop_pages(mirror);
    } else {
        status = haul__gpu_fail(gpu, visit, HAUL_ERROR_MEMORY, "no host memory for a mirror");
    }
    if (status != HAUL_OK)
        (void)o->unmap(address, mirror->bytes);
    return status;
}

static haul_status make(haul__gpu *gpu, const haul__gpu_visit *visit, size_t bytes,
                        haul_mirror *mirror)
{
    CUdeviceptr address = 0;
    orders o;
    haul_status status;
    if (!gpu->reaches_host || !find_orders(visit, &o) || !round_up(gpu, &o, &bytes))
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_UNSUPPORTED, "the driver cannot place memory");
    if (o.reserve(&address, bytes, 0, 0, 0) != CUDA_SUCCESS)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_DEVICE_MEMORY, "no addresses for a mirror");
    mirror->memory = (void *)(uintptr_t)address;
    mirror->bytes = bytes;
    status = fill_range(gpu, visit, &o, mirror);
    if (status != HAUL_OK)
        (void)o.unreserve(address, bytes);
    return status;
}

haul_status haul__gpu_mirror(void *state, size_t bytes, haul_mirror *mirror)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_mirror made;
    haul_status status = haul__gpu_enter(gpu, "mirror", &visit);
    if (status == HAUL_OK)
        status = make(gpu, &visit, bytes, &made);
    if (status == HAUL_OK)
        *mirror = made;
    return haul__gpu_leave(gpu, &visit, status);
}

/* If the GPU is lost, the driver keeps the GPU's side; the host's pages are freed all the same. */
void haul__gpu_unmirror(void *state, const haul_mirror *mirror)
{
    const CUdeviceptr address = (CUdeviceptr)(uintptr_t)mirror->memory;
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    orders o;
    (void)haul__gpu_enter(gpu, "unmirror", &visit);
    if (!gpu->lost)
        haul__gpu_forgive(&visit, cudaHostUnregister(mirror->window));
    drop_pages(mirror);
    if (!gpu->lost && find_orders(&visit, &o) && o.unmap(address, mirror->bytes) == CUDA_SUCCESS)
        (void)o.unreserve(address, mirror->bytes);
    haul__gpu_forget(gpu, (haul_address)address, mirror->bytes);
    (void)haul__gpu_leave(gpu, &visit, HAUL_OK);
}

#else

haul_status haul__gpu_mirror(void *state, size_t bytes, haul_mirror *mirror)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "mirror", &visit);
    (void)bytes;
    (void)mirror;
    if (status == HAUL_OK)
        status = haul__gpu_fail(gpu, &visit, HAUL_ERROR_UNSUPPORTED,
                                "Haul was built with a CUDA older than 12.5");
    return haul__gpu_leave(gpu, &visit, status);
}

void haul__gpu_unmirror(void *state, const haul_mirror *mirror)
{
    (void)state;
    (void)mirror;
}

#endif
