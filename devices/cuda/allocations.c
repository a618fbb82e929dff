/* Device memory and staging.
 *
 * The slow obvious version is cudaMalloc, which takes hundreds of microseconds and stops the GPU.
 * By default memory comes from a stream-ordered pool instead. Released memory stays in the pool up
 * to a threshold, so memory for a small graph takes about a microsecond. The pool follows the order
 * of the selected stream: memory released while work on that stream uses it is given out again
 * behind that work. cudaFree has no order, so without a pool a release waits for the stream first.
 *
 * A microsecond is measured in a loop with warm caches. In a program that does other things
 * between, the pool takes 15 to 20 us for a request and as many for a release. So the last few
 * ranges that were released on the device's own stream are kept as spares for the next request of
 * the same size, on any stream. A program that ships the same graph repeatedly gets its own range
 * back. The pool counts spares as in use, so spares and pool together keep no more than the
 * threshold.
 *
 * Memory in several places (places.c) comes from neither pool nor callbacks. Its release waits for
 * the selected stream.
 *
 * CUDA's allocators align to 256 bytes. For a larger alignment more memory is allocated, and a list
 * notes the address to give back. Types with such an alignment are rare, so a plain list is enough.
 */
#include <stdio.h>
#include <string.h>

#include "allocations.h"
#include "places.h"

/* The pool's default threshold: this part of the GPU's memory, but at least KEPT_LEAST bytes.
 * Memory that went back to the driver takes hundreds of microseconds to get again, whatever its
 * size. */
#define KEPT_PART 64u
#define KEPT_LEAST ((uint64_t)64 << 20)

static int has_callbacks(const haul__gpu *gpu)
{
    return gpu->options.allocate != NULL;
}

static uint64_t kept_bytes(const haul__gpu *gpu)
{
    uint64_t part = gpu->memory_bytes / KEPT_PART;
    if (gpu->options.pool_bytes)
        return gpu->options.pool_bytes;
    return part > KEPT_LEAST ? part : KEPT_LEAST;
}

cudaError_t haul__gpu_make_pool(haul__gpu *gpu)
{
    struct cudaMemPoolProps properties;
    uint64_t kept = kept_bytes(gpu);
    int supported = 0;
    cudaError_t error;
    if (has_callbacks(gpu) || gpu->options.plain_malloc)
        return cudaSuccess;
    error =
        cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, gpu->options.ordinal);
    if (error != cudaSuccess || !supported)
        return error;
    memset(&properties, 0, sizeof properties);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = gpu->options.ordinal;
    error = cudaMemPoolCreate(&gpu->pool, &properties);
    if (error == cudaSuccess)
        error = cudaMemPoolSetAttribute(gpu->pool, cudaMemPoolAttrReleaseThreshold, &kept);
    return error;
}

/* ---- The owner of an address. */

int haul__gpu_ask_owner(const haul__gpu_visit *visit, const void *address,
                        struct cudaPointerAttributes *owner)
{
    cudaError_t error = cudaPointerGetAttributes(owner, address);
    haul__gpu_forgive(visit, error);
    return error == cudaSuccess;
}

static int is_ours(haul__gpu *gpu, const haul__gpu_visit *visit, haul_address address)
{
    struct cudaPointerAttributes owner;
    return haul__gpu_ask_owner(visit, (const void *)(uintptr_t)address, &owner) &&
           (owner.type == cudaMemoryTypeManaged ||
            (owner.type == cudaMemoryTypeDevice && owner.device == gpu->options.ordinal));
}

/* ---- Checked ranges. Most calls use the same ranges again, or the one just allocated. */

static int is_checked(const haul__gpu_range *range, haul_address address, uint64_t bytes)
{
    uint64_t at = address - range->address;
    return at <= range->bytes && bytes <= range->bytes - at;
}

static void remember(haul__gpu *gpu, haul_address address, uint64_t bytes)
{
    gpu->checked[1] = gpu->checked[0];
    gpu->checked[0].address = address;
    gpu->checked[0].bytes = bytes;
}

void haul__gpu_forget(haul__gpu *gpu, haul_address address, uint64_t bytes)
{
    unsigned i;
    for (i = 0; i < 2; i++)
        if (gpu->checked[i].address - address < bytes)
            gpu->checked[i].bytes = 0;
}

haul_status haul__gpu_check_memory(haul__gpu *gpu, const haul__gpu_visit *visit,
                                   haul_address address, uint64_t bytes)
{
    char words[128];
    if (is_checked(&gpu->checked[0], address, bytes) ||
        is_checked(&gpu->checked[1], address, bytes))
        return HAUL_OK;
    if (address + bytes >= address && is_ours(gpu, visit, address) &&
        is_ours(gpu, visit, address + bytes - 1)) {
        remember(gpu, address, bytes);
        return HAUL_OK;
    }
    snprintf(words, sizeof words, "0x%llx + %llu bytes is no memory of GPU %d",
             (unsigned long long)address, (unsigned long long)bytes, gpu->options.ordinal);
    return haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT, words);
}

/* ---- Spare memory, in the order of the device's own stream. */

/* Removes a spare from the list. */
static void remove_spare(haul__gpu *gpu, size_t at)
{
    gpu->spare_count--;
    memmove(&gpu->spares[at], &gpu->spares[at + 1],
            (gpu->spare_count - at) * sizeof gpu->spares[0]);
}

/* Gives memory to the pool. What exceeds the threshold goes to the driver when CUDA next waits for
 * a stream. */
static void free_in_order(haul__gpu *gpu, const haul__gpu_visit *visit, void *memory,
                          cudaStream_t stream)
{
    haul__gpu_forgive(visit, cudaFreeAsync(memory, stream));
    if (stream != gpu->own || !gpu->freed_on)
        gpu->freed_on = stream;
}

static void drop_oldest(haul__gpu *gpu, const haul__gpu_visit *visit)
{
    free_in_order(gpu, visit, gpu->spares[0].memory, gpu->own);
    remove_spare(gpu, 0);
}

void haul__gpu_drop_spares(haul__gpu *gpu, const haul__gpu_visit *visit)
{
    while (gpu->spare_count > 0)
        drop_oldest(gpu, visit);
}

/* Orders the selected stream behind the work of the device's own. 0: CUDA refuses. */
static int comes_behind_own(haul__gpu *gpu, const haul__gpu_visit *visit)
{
    cudaError_t error = cudaSuccess;
    if (gpu->stream != gpu->own) {
        error = cudaEventRecord(gpu->crossing, gpu->own);
        if (error == cudaSuccess)
            error = cudaStreamWaitEvent(gpu->stream, gpu->crossing, 0);
    }
    haul__gpu_forgive(visit, error);
    return error == cudaSuccess;
}

static int take_spare(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t bytes, void **memory)
{
    size_t i = gpu->spare_count;
    while (i > 0 && gpu->spares[i - 1].bytes != bytes)
        i--;
    if (i == 0 || !comes_behind_own(gpu, visit))
        return 0;
    *memory = gpu->spares[i - 1].memory;
    remove_spare(gpu, i - 1);
    return 1;
}

static uint64_t spare_bytes(const haul__gpu *gpu)
{
    uint64_t bytes = 0;
    size_t i;
    for (i = 0; i < gpu->spare_count; i++)
        bytes += gpu->spares[i].bytes;
    return bytes;
}

static int keep_spare(haul__gpu *gpu, const haul__gpu_visit *visit, void *memory, uint64_t bytes)
{
    const uint64_t most = kept_bytes(gpu);
    if (gpu->stream != gpu->own || bytes > most)
        return 0;
    while (gpu->spare_count == HAUL__GPU_SPARES || spare_bytes(gpu) > most - bytes)
        drop_oldest(gpu, visit);
    gpu->spares[gpu->spare_count].memory = memory;
    gpu->spares[gpu->spare_count++].bytes = bytes;
    return 1;
}

/* ---- Taking and giving back, for each allocator. */

static haul_status no_memory(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t bytes)
{
    size_t left = 0, all = 0;
    haul__gpu_forgive(visit, cudaMemGetInfo(&left, &all));
    snprintf(gpu->message, sizeof gpu->message,
             "%s: %llu bytes wanted, %llu of %llu free on GPU %d%s", visit->verb,
             (unsigned long long)bytes, (unsigned long long)left, (unsigned long long)all,
             gpu->options.ordinal, has_callbacks(gpu) ? "; the given allocator has none" : "");
    return HAUL_ERROR_DEVICE_MEMORY;
}

static void give_back(haul__gpu *gpu, const haul__gpu_visit *visit, void *memory, uint64_t bytes)
{
    if (has_callbacks(gpu)) {
        gpu->options.release(gpu->options.user, memory, (size_t)bytes, gpu->stream);
        if (!gpu->lost)
            haul__gpu_forgive(visit, cudaPeekAtLastError());
    } else if (gpu->lost) {
        return;
    } else if (gpu->pool) {
        if (!keep_spare(gpu, visit, memory, bytes))
            free_in_order(gpu, visit, memory, gpu->stream);
    } else {
        haul__gpu_forgive(visit, cudaStreamSynchronize(gpu->stream));
        haul__gpu_forgive(visit, cudaFree(memory));
    }
}

static haul_status take_from_callbacks(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t bytes,
                                       void **memory)
{
    haul_status status;
    *memory = gpu->options.allocate(gpu->options.user, (size_t)bytes, gpu->stream);
    haul__gpu_forgive(visit, cudaPeekAtLastError());
    if (!*memory)
        return no_memory(gpu, visit, bytes);
    status = haul__gpu_check_memory(gpu, visit, (haul_address)(uintptr_t)*memory, bytes);
    if (status == HAUL_OK && (uintptr_t)*memory % HAUL__GPU_ALIGNMENT != 0)
        status = haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT,
                                "the given allocator's memory is misaligned");
    if (status != HAUL_OK)
        give_back(gpu, visit, *memory, bytes);
    return status;
}

static cudaError_t ask_cuda(haul__gpu *gpu, uint64_t bytes, void **memory)
{
    return gpu->pool ? cudaMallocFromPoolAsync(memory, (size_t)bytes, gpu->pool, gpu->stream)
                     : cudaMalloc(memory, (size_t)bytes);
}

static haul_status take(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t bytes, void **memory)
{
    cudaError_t error;
    if (has_callbacks(gpu))
        return take_from_callbacks(gpu, visit, bytes, memory);
    if (bytes > gpu->memory_bytes)
        return no_memory(gpu, visit, bytes);
    if (take_spare(gpu, visit, bytes, memory))
        return HAUL_OK;
    error = ask_cuda(gpu, bytes, memory);
    if (error == cudaErrorMemoryAllocation && gpu->spare_count > 0) {
        haul__gpu_forgive(visit, error);
        haul__gpu_drop_spares(gpu, visit);
        if (gpu->options.timeout_seconds <= 0)
            haul__gpu_forgive(visit, cudaStreamSynchronize(gpu->own));
        error = ask_cuda(gpu, bytes, memory);
    }
    if (error != cudaErrorMemoryAllocation)
        return haul__gpu_check(gpu, visit, error,
                               gpu->pool ? "cudaMallocFromPoolAsync" : "cudaMalloc", bytes);
    haul__gpu_forgive(visit, error);
    return no_memory(gpu, visit, bytes);
}

/* ---- The list of large alignments. */

static void drop_list(haul__gpu *gpu)
{
    if (gpu->shifted)
        gpu->allocator.release(gpu->allocator.user, gpu->shifted,
                               gpu->shifted_capacity * sizeof *gpu->shifted);
    gpu->shifted = NULL;
    gpu->shifted_capacity = 0;
}

static int make_room(haul__gpu *gpu)
{
    size_t capacity = gpu->shifted_capacity ? gpu->shifted_capacity * 2 : 16;
    haul__gpu_shifted *grown;
    if (gpu->shifted_count < gpu->shifted_capacity)
        return 1;
    grown =
        gpu->allocator.allocate(gpu->allocator.user, capacity * sizeof *grown, sizeof(uint64_t));
    if (!grown)
        return 0;
    if (gpu->shifted) {
        memcpy(grown, gpu->shifted, gpu->shifted_count * sizeof *grown);
        drop_list(gpu);
    }
    gpu->shifted = grown;
    gpu->shifted_capacity = capacity;
    return 1;
}

/* `is_managed`: memory in several places. */
static haul_status take_shifted(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t bytes,
                                size_t alignment, int is_managed, haul_address *address)
{
    haul__gpu_shifted *entry;
    haul_status status;
    void *memory;
    if (bytes > UINT64_MAX - alignment)
        return no_memory(gpu, visit, bytes);
    if (!make_room(gpu))
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_MEMORY,
                              "no host memory for the list of aligned memory");
    status = is_managed ? haul__gpu_take_managed(gpu, visit, bytes + alignment, &memory)
                        : take(gpu, visit, bytes + alignment, &memory);
    if (status != HAUL_OK)
        return status;
    entry = &gpu->shifted[gpu->shifted_count++];
    entry->base = (haul_address)(uintptr_t)memory;
    entry->bytes = bytes + alignment;
    entry->is_managed = is_managed;
    entry->address = (entry->base + alignment - 1) & ~((haul_address)alignment - 1);
    *address = entry->address;
    return HAUL_OK;
}

/* Replaces an address in the list by the allocator's, and removes it. 1: it was managed memory. */
static int unshift(haul__gpu *gpu, haul_address *address, uint64_t *bytes)
{
    int is_managed = 0;
    size_t i;
    for (i = 0; i < gpu->shifted_count; i++)
        if (gpu->shifted[i].address == *address) {
            *address = gpu->shifted[i].base;
            *bytes = gpu->shifted[i].bytes;
            is_managed = gpu->shifted[i].is_managed;
            gpu->shifted[i] = gpu->shifted[--gpu->shifted_count];
            break;
        }
    if (gpu->shifted_count == 0)
        drop_list(gpu);
    return is_managed;
}

static void unshift_and_give_back(haul__gpu *gpu, const haul__gpu_visit *visit,
                                  haul_address address, uint64_t bytes)
{
    if (!unshift(gpu, &address, &bytes))
        give_back(gpu, visit, (void *)(uintptr_t)address, bytes);
    else if (!gpu->lost)
        haul__gpu_drop_managed(gpu, visit, (void *)(uintptr_t)address);
}

/* ---- The verbs. */

static haul_status allocate(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t bytes,
                            size_t alignment, haul_address *address)
{
    haul_status status;
    void *memory;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT, "the alignment is no power of two");
    if (bytes > SIZE_MAX)
        return no_memory(gpu, visit, bytes);
    if (alignment > HAUL__GPU_ALIGNMENT)
        return take_shifted(gpu, visit, bytes, alignment, 0, address);
    status = take(gpu, visit, bytes, &memory);
    if (status == HAUL_OK)
        *address = (haul_address)(uintptr_t)memory;
    return status;
}

haul_status haul__gpu_allocate(void *state, uint64_t bytes, size_t alignment, haul_address *address)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "allocate", &visit);
    if (status == HAUL_OK)
        status = allocate(gpu, &visit, bytes, alignment, address);
    if (status == HAUL_OK)
        remember(gpu, *address, bytes);
    return haul__gpu_leave(gpu, &visit, status);
}

/* CUDA takes memory for itself when kernels run: their stacks, and what they print. If it needs
 * more than this, it pushes out pages that move: a kernel with stacks of 4 KiB ran so. */
#define FOR_KERNELS ((uint64_t)8 << 20)

/* Is there room for `bytes` bytes? If not, what pool and spares keep is given back first. */
static int has_room(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t bytes)
{
    size_t left = 0, all = 0;
    haul__gpu_forgive(visit, cudaMemGetInfo(&left, &all));
    if (bytes <= left || !gpu->pool)
        return bytes <= left;
    haul__gpu_drop_spares(gpu, visit);
    if (gpu->options.timeout_seconds <= 0)
        haul__gpu_forgive(visit, cudaStreamSynchronize(gpu->own));
    haul__gpu_forgive(visit, cudaMemPoolTrimTo(gpu->pool, 0));
    haul__gpu_forgive(visit, cudaMemGetInfo(&left, &all));
    return bytes <= left;
}

static haul_status allocate_in_places(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t bytes,
                                      size_t alignment, const haul_placing *placings, size_t count,
                                      haul_address *address)
{
    const uint64_t need = haul__gpu_placed_need(placings, count);
    haul_status status;
    if (!has_room(gpu, visit, need))
        return no_memory(gpu, visit, need);
    if (alignment < HAUL__GPU_PLACE_BYTES)
        alignment = HAUL__GPU_PLACE_BYTES;
    status = take_shifted(gpu, visit, bytes, alignment, 1, address);
    if (status != HAUL_OK)
        return status;
    status = haul__gpu_place(gpu, visit, *address, placings, count);
    if (status != HAUL_OK)
        unshift_and_give_back(gpu, visit, *address, bytes);
    return status;
}

haul_status haul__gpu_allocate_in_places(void *state, uint64_t bytes, size_t alignment,
                                         const haul_placing *placings, size_t count,
                                         haul_address *address)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "allocate_in_places", &visit);
    if (status == HAUL_OK)
        status = allocate_in_places(gpu, &visit, bytes, alignment, placings, count, address);
    if (status == HAUL_OK)
        remember(gpu, *address, bytes);
    return haul__gpu_leave(gpu, &visit, status);
}

/* What pool and spares keep is free, too: has_room gives it back. A given allocator may hold any
 * part of the GPU's memory, and nobody can ask it. */
uint64_t haul__gpu_free_bytes(void *state)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    size_t left = 0, all = 0;
    uint64_t reserved = 0, used = 0, bytes;
    if (has_callbacks(gpu))
        return gpu->memory_bytes;
    (void)haul__gpu_enter(gpu, "free_bytes", &visit);
    haul__gpu_forgive(&visit, cudaMemGetInfo(&left, &all));
    bytes = left;
    if (gpu->pool) {
        haul__gpu_forgive(&visit, cudaMemPoolGetAttribute(
                                      gpu->pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
        haul__gpu_forgive(&visit,
                          cudaMemPoolGetAttribute(gpu->pool, cudaMemPoolAttrUsedMemCurrent, &used));
        bytes += (reserved > used ? reserved - used : 0) + spare_bytes(gpu);
    }
    (void)haul__gpu_leave(gpu, &visit, HAUL_OK);
    return bytes > FOR_KERNELS ? bytes - FOR_KERNELS : 0;
}

/* Memory is released even if an error of the caller is pending. */
void haul__gpu_release(void *state, haul_address address, uint64_t bytes)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    (void)haul__gpu_enter(gpu, "release", &visit);
    haul__gpu_forget(gpu, address, bytes);
    unshift_and_give_back(gpu, &visit, address, bytes);
    (void)haul__gpu_leave(gpu, &visit, HAUL_OK);
}

/* Pinned memory, mapped, so that the kernel of `send` can read it, and portable, so that several
 * GPUs can share it. */
haul_status haul__gpu_stage(void *state, size_t bytes, void **memory)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    void *pinned = NULL;
    haul_status status = haul__gpu_enter(gpu, "stage", &visit);
    if (status == HAUL_OK) {
        status = haul__gpu_check(
            gpu, &visit, cudaHostAlloc(&pinned, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
            "cudaHostAlloc", bytes);
        if (status == HAUL_OK)
            *memory = pinned;
        else if (status != HAUL_ERROR_DEVICE_LOST)
            status = HAUL_ERROR_MEMORY;
    }
    return haul__gpu_leave(gpu, &visit, status);
}

void haul__gpu_unstage(void *state, void *memory, size_t bytes)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    (void)bytes;
    (void)haul__gpu_enter(gpu, "unstage", &visit);
    if (!gpu->lost)
        haul__gpu_forgive(&visit, cudaFreeHost(memory));
    (void)haul__gpu_leave(gpu, &visit, HAUL_OK);
}

const unsigned char *haul__gpu_mapped(const haul__gpu_visit *visit, const void *memory)
{
    void *address = NULL;
    cudaError_t error = cudaHostGetDevicePointer(&address, (void *)(uintptr_t)memory, 0);
    haul__gpu_forgive(visit, error);
    return error == cudaSuccess ? address : NULL;
}
