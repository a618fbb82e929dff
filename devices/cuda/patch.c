/* Relocation, alone or together with a copy. Orders are checked here; their kernels are in
 * kernels.cu.
 *
 * A kernel with a wrong address loses the device for the whole process, so all addresses are
 * checked first.
 */
#include "allocations.h"
#include "patch.h"
#include "streams.h"

/* The most explicit relocations for the kernel of `send` and `fetch`. Each of its blocks reads the
 * whole list, for `send` over the bus. Larger: the list takes longer than the data. Smaller: more
 * packed structs need two orders. */
#define SEND_OFFSETS 256u

/* More words than any memory has. With fewer words, no size in this file overflows. */
#define WORDS_LIMIT (UINT64_MAX / 16)

static uint64_t bitmap_bytes(const haul_relocation *relocation)
{
    return (relocation->words / 64 + (relocation->words % 64 != 0)) * 8;
}

static haul_status check_form(haul__gpu *gpu, const haul__gpu_visit *visit,
                              const haul_relocation *relocation)
{
    if (relocation->word_bytes != 8 && relocation->word_bytes != 4)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_UNSUPPORTED, "words of neither 8 nor 4 bytes");
    if (relocation->words > WORDS_LIMIT || relocation->offset_count > WORDS_LIMIT)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT, "more words than there is memory");
    if (relocation->words > 0 &&
        (relocation->arena % relocation->word_bytes != 0 || relocation->bitmap % 8 != 0))
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT, "arena or bitmap is misaligned");
    if (relocation->offset_count > 0 && relocation->offsets % 8 != 0)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT,
                              "the list of explicit relocations is misaligned");
    if ((uintptr_t)relocation->outside % sizeof *relocation->outside != 0)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT,
                              "the word for pointers that lead outside is misaligned");
    return HAUL_OK;
}

static haul__gpu_patch patch_of(const haul_relocation *relocation)
{
    haul__gpu_patch patch;
    patch.arena = (unsigned char *)(uintptr_t)relocation->arena;
    patch.words = relocation->words;
    patch.bitmap = (const uint64_t *)(uintptr_t)relocation->bitmap;
    patch.from = relocation->from;
    patch.bytes = relocation->bytes;
    patch.delta = relocation->delta;
    patch.offsets = (const uint64_t *)(uintptr_t)relocation->offsets;
    patch.offset_count = relocation->offset_count;
    patch.outside = NULL;
    return patch;
}

/* ---- Relocate. */

/* Arena, bitmap and explicit relocations of a shipment are one range: the first check remembers it,
 * and the others find it there. */
static haul_status check_ranges(haul__gpu *gpu, const haul__gpu_visit *visit,
                                const haul_relocation *relocation)
{
    haul_status status = HAUL_OK;
    if (relocation->words > 0) {
        status = haul__gpu_check_memory(gpu, visit, relocation->arena,
                                        relocation->words * relocation->word_bytes);
        if (status == HAUL_OK)
            status =
                haul__gpu_check_memory(gpu, visit, relocation->bitmap, bitmap_bytes(relocation));
    }
    if (status == HAUL_OK && relocation->offset_count > 0)
        status =
            haul__gpu_check_memory(gpu, visit, relocation->offsets, relocation->offset_count * 8);
    return status;
}

static haul_status relocate(haul__gpu *gpu, const haul__gpu_visit *visit,
                            const haul_relocation *relocation)
{
    haul__gpu_patch patch = patch_of(relocation);
    haul_status status = check_form(gpu, visit, relocation);
    int beside;
    if (status != HAUL_OK || (relocation->words == 0 && relocation->offset_count == 0))
        return status;
    status = check_ranges(gpu, visit, relocation);
    if (status == HAUL_OK && relocation->outside) {
        patch.outside = (uint32_t *)(uintptr_t)haul__gpu_mapped(visit, relocation->outside);
        if (!patch.outside)
            status = haul__gpu_fail(gpu, visit, HAUL_ERROR_ARGUMENT,
                                    "the word for pointers that lead outside is not pinned");
    }
    beside = relocation->after && haul__gpu_may_branch(gpu, visit);
    if (status == HAUL_OK && beside)
        status = haul__gpu_branch(gpu, visit, relocation->after);
    if (status != HAUL_OK)
        return status;
    status =
        haul__gpu_check(gpu, visit,
                        haul__gpu_kernels_relocate(&patch, relocation->word_bytes, gpu->processors,
                                                   beside ? gpu->side : gpu->stream),
                        "the relocation kernel over an arena",
                        (relocation->words + relocation->offset_count) * relocation->word_bytes);
    return status == HAUL_OK && beside ? haul__gpu_join(gpu, visit) : status;
}

haul_status haul__gpu_relocate(void *state, const haul_relocation *relocation)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "relocate", &visit);
    if (status == HAUL_OK)
        status = relocate(gpu, &visit, relocation);
    return haul__gpu_leave(gpu, &visit, status);
}

/* ---- Send. */

/* The address in staging, for the GPU, of a part of the arena's range. NULL: the part is not within
 * the bytes. */
static const uint64_t *in_staging(const haul_relocation *relocation, haul_address part,
                                  uint64_t part_bytes, const unsigned char *from, size_t bytes)
{
    uint64_t at = part - relocation->arena;
    return at <= bytes && part_bytes <= bytes - at ? (const uint64_t *)(const void *)(from + at)
                                                   : NULL;
}

/* Can one kernel copy and patch? If so, fills `patch` and `staging`. */
static int can_pull(const haul__gpu_visit *visit, const haul_relocation *relocation,
                    const void *from, size_t bytes, haul__gpu_patch *patch,
                    const unsigned char **staging)
{
    if (bytes > HAUL__GPU_SEND_BYTES || relocation->offset_count > SEND_OFFSETS ||
        relocation->arena % 16 != 0)
        return 0;
    *staging = haul__gpu_mapped(visit, from);
    if (!*staging || (uintptr_t)*staging % 16 != 0)
        return 0;
    *patch = patch_of(relocation);
    if (relocation->words > 0)
        patch->bitmap =
            in_staging(relocation, relocation->bitmap, bitmap_bytes(relocation), *staging, bytes);
    if (relocation->offset_count > 0)
        patch->offsets = in_staging(relocation, relocation->offsets, relocation->offset_count * 8,
                                    *staging, bytes);
    return (relocation->words == 0 || patch->bitmap) &&
           (relocation->offset_count == 0 || patch->offsets);
}

static haul_status send(haul__gpu *gpu, const haul__gpu_visit *visit,
                        const haul_relocation *relocation, const void *from, size_t bytes)
{
    haul__gpu_patch patch;
    const unsigned char *staging;
    haul_status status = check_form(gpu, visit, relocation);
    if (status == HAUL_OK)
        status = haul__gpu_check_memory(gpu, visit, relocation->arena, bytes);
    if (status != HAUL_OK)
        return status;
    if (can_pull(visit, relocation, from, bytes, &patch, &staging))
        return haul__gpu_check(
            gpu, visit,
            haul__gpu_kernels_send(&patch, relocation->word_bytes, staging, bytes, gpu->stream),
            "the kernel that pulls an arena", bytes);
    status = haul__gpu_check(gpu, visit,
                             cudaMemcpyAsync((void *)(uintptr_t)relocation->arena, from, bytes,
                                             cudaMemcpyHostToDevice, gpu->stream),
                             "cudaMemcpyAsync", bytes);
    return status == HAUL_OK ? relocate(gpu, visit, relocation) : status;
}

haul_status haul__gpu_send(void *state, const haul_relocation *relocation, const void *from,
                           size_t bytes)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "send", &visit);
    if (status == HAUL_OK)
        status = send(gpu, &visit, relocation, from, bytes);
    return haul__gpu_leave(gpu, &visit, status);
}

/* ---- Fetch. */

/* The kernel of `send` with swapped sides: from the arena to pinned memory. */
static haul_status fetch(haul__gpu *gpu, const haul__gpu_visit *visit, void *to,
                         const haul_relocation *relocation, size_t bytes)
{
    haul__gpu_patch patch = patch_of(relocation);
    haul_status status = check_form(gpu, visit, relocation);
    if (status == HAUL_OK)
        status = haul__gpu_check_memory(gpu, visit, relocation->arena, bytes);
    if (status == HAUL_OK)
        status = check_ranges(gpu, visit, relocation);
    if (status != HAUL_OK)
        return status;
    if (relocation->offset_count > SEND_OFFSETS)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_UNSUPPORTED,
                              "too many explicit relocations for each block to read");
    patch.arena = (unsigned char *)(uintptr_t)haul__gpu_mapped(visit, to);
    if (!patch.arena || (uintptr_t)patch.arena % 16 != 0 || relocation->arena % 16 != 0)
        return haul__gpu_fail(gpu, visit, HAUL_ERROR_UNSUPPORTED,
                              "memory that is not pinned, or misaligned");
    return haul__gpu_check(
        gpu, visit,
        haul__gpu_kernels_send(&patch, relocation->word_bytes,
                               (const unsigned char *)(uintptr_t)relocation->arena, bytes,
                               gpu->stream),
        "the kernel that pushes an arena", bytes);
}

haul_status haul__gpu_fetch(void *state, void *to, const haul_relocation *relocation, size_t bytes)
{
    haul__gpu *gpu = state;
    haul__gpu_visit visit;
    haul_status status = haul__gpu_enter(gpu, "fetch", &visit);
    if (status == HAUL_OK)
        status = fetch(gpu, &visit, to, relocation, bytes);
    return haul__gpu_leave(gpu, &visit, status);
}
