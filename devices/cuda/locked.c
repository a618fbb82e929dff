/* Locked host memory, which the GPU reads and writes in place.
 *
 * CUDA registers memory that the user has allocated: kernels of all GPUs then reach it at its own
 * address. If a GPU would have another address for it, locking is refused. CUDA registers a page
 * once, so a page that is already registered, by anybody, is refused. A crossing is one kernel.
 */
#include "allocations.h"
#include "answer.h"
#include "locked.h"

/* Is the address a mirror's? Kernels would find the GPU's bytes there. */
static int is_device_memory(const haul__gpu_visit *visit, const void *memory)
{
    struct cudaPointerAttributes owner;
    return haul__gpu_ask_owner(visit, memory, &owner) && owner.type == cudaMemoryTypeDevice;
}

static haul_status can_reach(haul__gpu *gpu, const haul__gpu_visit *visit)
{
    return gpu->reaches_host
               ? HAUL_OK
               : haul__gpu_fail(gpu, visit, HAUL_ERROR_UNSUPPORTED,
                                "the GPU has another address for locked memory than the host has");
}

haul_status haul__gpu_lock(void *state, void *memory, size_t bytes)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "lock", &visit);
    if (status == HAUL_OK)
        status = can_reach(gpu, &visit);
    if (status == HAUL_OK &&
        (is_device_memory(&visit, memory) || is_device_memory(&visit, (char *)memory + bytes - 1)))
        status = haul__gpu_fail(gpu, &visit, HAUL_ERROR_UNSUPPORTED,
                                "the GPU has memory at these addresses");
    if (status == HAUL_OK) {
        status = haul__gpu_check(
            gpu, &visit,
            cudaHostRegister(memory, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped),
            "cudaHostRegister", bytes);
        if (status != HAUL_OK && status != HAUL_ERROR_DEVICE_LOST)
            status = HAUL_ERROR_UNSUPPORTED; /* CUDA refuses these pages */
    }
    return haul__gpu_leave(gpu, &visit, status);
}

void haul__gpu_unlock(void *state, void *memory, size_t bytes)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    (void)bytes;
    (void)haul__gpu_enter(gpu, "unlock", &visit);
    if (!gpu->lost)
        haul__gpu_forgive(&visit, cudaHostUnregister(memory));
    (void)haul__gpu_leave(gpu, &visit, HAUL_OK);
}

static haul_status check(haul__gpu *gpu, const haul__gpu_visit *visit,
                         const haul_crossing *crossing)
{
    const uint64_t bytes =
        crossing->attachments_at + crossing->attachment_count * sizeof(haul_attachment);
    haul_status status;
    if (crossing->word_bytes != 8)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_UNSUPPORTED, "words of other than 8 bytes");
    if (crossing->arena % 16 != 0 || crossing->lists % 16 != 0 ||
        crossing->attachments_at % 16 != 0)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT,
                              "the arena or its lists are misaligned");
    if (crossing->segment_count > crossing->attachments_at / sizeof(haul_segment) ||
        crossing->attachment_count > UINT64_MAX / 32 || bytes < crossing->attachments_at)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT,
                              "the lists overlap, or are longer than memory");
    status = can_reach(gpu, visit);
    if (status == HAUL_OK && bytes > 0)
        status = haul__gpu_check_memory(gpu, visit, crossing->lists, bytes);
    return status == HAUL_OK ? haul__gpu_check_memory(gpu, visit, crossing->arena, crossing->bytes)
                             : status;
}

/* Starts the kernel. `changed` NULL: from the arena to the host. */
static haul_status cross(haul__gpu *gpu, const haul__gpu_visit *visit,
                         const haul_crossing *crossing, uint32_t *changed)
{
    haul__gpu_crossing lists;
    haul_status status;
    int answers;
    if (crossing->segment_count == 0)
        return HAUL_OK;
    lists.arena = (unsigned char *)(uintptr_t)crossing->arena;
    lists.segments = (const haul_segment *)(uintptr_t)crossing->lists;
    lists.segment_count = crossing->segment_count;
    lists.attachments =
        (const haul_attachment *)(uintptr_t)(crossing->lists + crossing->attachments_at);
    lists.changed = changed;
    answers = haul__gpu_may_answer(gpu, &lists.answer);
    status =
        haul__gpu_check(gpu, visit, haul__gpu_kernels_cross(&lists, gpu->processors, gpu->stream),
                        "the kernel that gathers or scatters an arena", crossing->bytes);
    gpu->answers = answers && status == HAUL_OK;
    return status;
}

haul_status haul__gpu_pull(void *state, const haul_crossing *crossing)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "pull", &visit);
    uint32_t *changed;
    if (status == HAUL_OK)
        status = check(gpu, &visit, crossing);
    if (status == HAUL_OK) {
        changed = (uint32_t *)(uintptr_t)haul__gpu_mapped(&visit, crossing->changed);
        status = changed ? cross(gpu, &visit, crossing, changed)
                         : haul__gpu_fail(gpu, &visit, HAUL_ERROR_UNSUPPORTED,
                                          "the word for changes is not pinned");
    }
    return haul__gpu_leave(gpu, &visit, status);
}

haul_status haul__gpu_push(void *state, const haul_crossing *crossing)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "push", &visit);
    if (status == HAUL_OK)
        status = check(gpu, &visit, crossing);
    if (status == HAUL_OK)
        status = cross(gpu, &visit, crossing, NULL);
    return haul__gpu_leave(gpu, &visit, status);
}
