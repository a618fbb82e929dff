/* Relocation: the pointers of an arena follow it to its addresses.
 *
 * The bitmap and the list lie in device memory, where a kernel can overwrite them. So each word is
 * looked up as any other range, and nothing outside device memory is patched.
 */
#include <string.h>

#include "allocations.h"
#include "copies.h"
#include "patch.h"

/* Adds delta to a word that leads into the range that moves. 1: it leads elsewhere, and is not
 * null. */
static uint32_t patch(unsigned char *word, const haul_relocation *relocation)
{
    uint64_t wide;
    uint32_t narrow;
    if (relocation->word_bytes == sizeof wide) {
        memcpy(&wide, word, sizeof wide);
        if (wide == 0 || wide - relocation->from > relocation->bytes)
            return wide != 0;
        wide += relocation->delta;
        memcpy(word, &wide, sizeof wide);
    } else {
        memcpy(&narrow, word, sizeof narrow);
        if (narrow == 0 || (uint32_t)(narrow - (uint32_t)relocation->from) > relocation->bytes)
            return narrow != 0;
        narrow += (uint32_t)relocation->delta;
        memcpy(word, &narrow, sizeof narrow);
    }
    return 0;
}

static uint64_t load64(const unsigned char *memory)
{
    uint64_t word;
    memcpy(&word, memory, sizeof word);
    return word;
}

/* Patches the words of one bitmap word. An empty byte of it is skipped in one step, because
 * pointers are sparse in most arenas. */
static uint32_t relocate_words(unsigned char *word, uint64_t bits,
                               const haul_relocation *relocation)
{
    const unsigned word_bytes = relocation->word_bytes;
    uint32_t outside = 0;
    while (bits) {
        if ((bits & 0xff) == 0) {
            bits >>= 8;
            word += 8 * word_bytes;
            continue;
        }
        if (bits & 1)
            outside |= patch(word, relocation);
        bits >>= 1;
        word += word_bytes;
    }
    return outside;
}

static uint32_t relocate_marked(unsigned char *arena, const unsigned char *bitmap,
                                const haul_relocation *relocation)
{
    uint64_t at;
    uint32_t outside = 0;
    for (at = 0; at < relocation->words; at += 64) {
        uint64_t bits = load64(bitmap + at / 8);
        if (relocation->words - at < 64)
            bits &= ((uint64_t)1 << (relocation->words - at)) - 1;
        outside |= relocate_words(arena + (size_t)at * relocation->word_bytes, bits, relocation);
    }
    return outside;
}

/* The word at an offset of the list, in device memory or in a copy of the arena's first `bytes`
 * bytes. NULL: there is none. Kernels can overwrite the list, so no offset is trusted. */
static unsigned char *explicit_word(const haul__host *host, const haul_relocation *relocation,
                                    uint64_t offset, unsigned char *copy, size_t bytes)
{
    if (!copy)
        return haul__host_view(host, relocation->arena + offset, relocation->word_bytes);
    return bytes >= relocation->word_bytes && offset <= bytes - relocation->word_bytes
               ? copy + offset
               : NULL;
}

/* All offsets are checked before any word is patched; and once more while patching, because a patch
 * may overwrite the list. */
static haul_status relocate_explicit(haul__host *host, const haul_relocation *relocation,
                                     unsigned char *copy, size_t bytes, uint32_t *outside)
{
    const unsigned char *offsets =
        haul__host_view(host, relocation->offsets, relocation->offset_count * 8);
    uint64_t i;
    int patches;
    for (patches = 0; patches < 2; patches++)
        for (i = 0; i < relocation->offset_count; i++) {
            unsigned char *word =
                explicit_word(host, relocation, load64(offsets + 8 * i), copy, bytes);
            if (!word)
                return haul__host_fail_range(host, "relocate",
                                             relocation->arena + load64(offsets + 8 * i),
                                             relocation->word_bytes);
            if (patches)
                *outside |= patch(word, relocation);
        }
    return HAUL_OK;
}

/* Patches the arena, or a copy of its first `bytes` bytes. `copy` NULL: the arena. */
static haul_status relocate_in(haul__host *host, const haul_relocation *relocation,
                               unsigned char *copy, size_t bytes)
{
    uint64_t words = relocation->words, limit = UINT64_MAX / 16,
             bitmap_bytes = (words / 64 + (words % 64 != 0)) * 8;
    unsigned char *arena = NULL, *bitmap = NULL;
    uint32_t outside = 0;
    haul_status status = HAUL_OK;
    if (relocation->word_bytes != 8 && relocation->word_bytes != 4)
        return haul__host_fail(host, HAUL_ERROR_UNSUPPORTED, "relocate",
                               "words of neither 8 nor 4 bytes");
    if (words > limit || relocation->offset_count > limit)
        return haul__host_fail_range(host, "relocate", relocation->arena, words);
    if (words > 0) {
        arena = haul__host_view(host, relocation->arena, words * relocation->word_bytes);
        bitmap = haul__host_view(host, relocation->bitmap, bitmap_bytes);
        if (!arena)
            return haul__host_fail_range(host, "relocate", relocation->arena,
                                         words * relocation->word_bytes);
        if (!bitmap)
            return haul__host_fail_range(host, "relocate", relocation->bitmap, bitmap_bytes);
    }
    if (relocation->offset_count > 0 &&
        !haul__host_view(host, relocation->offsets, relocation->offset_count * 8))
        return haul__host_fail_range(host, "relocate", relocation->offsets,
                                     relocation->offset_count * 8);
    host->counters.relocations++;
    if (words > 0)
        outside = relocate_marked(copy ? copy : arena, bitmap, relocation);
    if (relocation->offset_count > 0)
        status = relocate_explicit(host, relocation, copy, bytes, &outside);
    if (outside && relocation->outside)
        *relocation->outside = 1;
    return status;
}

haul_status haul__host_relocate(void *state, const haul_relocation *relocation)
{
    haul__host *host = state;
    if (relocation->after > host->fences)
        return haul__host_fail(host, HAUL_ERROR_ARGUMENT, "relocate", "there is no such fence");
    return relocate_in(host, relocation, NULL, 0);
}

haul_status haul__host_send(void *state, const haul_relocation *relocation, const void *from,
                            size_t bytes)
{
    haul_status status = haul__host_copy_to(state, relocation->arena, from, bytes);
    return status == HAUL_OK ? haul__host_relocate(state, relocation) : status;
}

haul_status haul__host_fetch(void *state, void *to, const haul_relocation *relocation, size_t bytes)
{
    haul_status status = haul__host_copy_from(state, to, relocation->arena, bytes);
    return status == HAUL_OK ? relocate_in(state, relocation, to, bytes) : status;
}
