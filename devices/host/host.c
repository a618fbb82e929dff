/* The host device: host memory that behaves like a device's (haul/host.h).
 *
 * Each allocation is pages that are mapped twice:
 *
 *     private view    | slack | the bytes          |            read and write, always; for the table's verbs
 *     public view   # | slack | the bytes          | #          no access, except inside a launch; the addresses
 *
 * `#` is a guard page that no launch opens, and the slack is less than a page: the bytes end where the mapping ends
 * (up to the alignment), so that a kernel that runs past its arena faults too, and an arena's base is aligned as much
 * as was asked for and not by accident more.
 *
 * Every verb is done when it returns, which the contract allows: fences are reached when they are made, `wait` has
 * nothing to report, and there is one stream, the device's own. An event is an int of the user's, set to 1. Addresses
 * are checked against the live allocations: they are few, and a scan of them is nothing beside a copy.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host.h"

#define ALIGNMENT_MIN 16u
#define STAGE_ALIGNMENT 64u
#define SEND_BYTES ((size_t)256 << 10) /* up to here copy and patch meet in the second-level cache */
#define FETCH_BYTES ((size_t)8 << 20)  /* one patch is always better than two; larger arenas return as they do on a GPU */

haul_status haul__host_fail(haul__host *host, haul_status status, const char *verb, const char *what)
{
    snprintf(host->message, sizeof host->message, "%s: %s", verb, what);
    return status;
}

haul_status haul__host_fail_range(haul__host *host, const char *verb, haul_address address, uint64_t bytes)
{
    snprintf(host->message, sizeof host->message, "%s: 0x%llx + %llu bytes is not device memory", verb,
             (unsigned long long)address, (unsigned long long)bytes);
    return HAUL_ERROR_DEVICE;
}

/* ---- Blocks. */

static haul_address block_address(const haul__host *host, const haul__host_block *b)
{
    return (haul_address)(uintptr_t)(b->public_map + host->page + b->slack);
}

unsigned char *haul__host_view(const haul__host *host, haul_address address, uint64_t bytes)
{
    size_t i;
    for (i = 0; i < host->block_count; i++) {
        const haul__host_block *b = &host->blocks[i];
        uint64_t at = address - block_address(host, b);
        if (at <= b->bytes && bytes <= b->bytes - at)
            return b->private_map + b->slack + (size_t)at;
    }
    return NULL;
}

static void release_table(haul__host *host)
{
    if (host->blocks)
        host->allocator.release(host->allocator.user, host->blocks, host->block_capacity * sizeof *host->blocks);
    host->blocks = NULL;
    host->block_capacity = 0;
}

int haul__host_grow(haul__host *host, void **array, size_t *capacity, size_t count, size_t element_bytes)
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

unsigned char *haul__host_pages(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

/* To mremap that is a move of none of them. */
int haul__host_show(unsigned char *pages, size_t bytes, unsigned char *at)
{
    return mremap(pages, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == (void *)at;
}

unsigned char *haul__host_reserve(const haul__host *host, size_t bytes)
{
    void *map = mmap(NULL, bytes + 2 * host->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

void haul__host_unmap(const haul__host *host, const haul__host_block *b)
{
    if (b->private_map)
        munmap(b->private_map, b->map_bytes);
    if (b->window)
        munmap(b->window, b->map_bytes);
    if (b->public_map)
        munmap(b->public_map, b->map_bytes + 2 * host->page);
}

static int map(const haul__host *host, haul__host_block *b)
{
    b->public_map = haul__host_reserve(host, b->map_bytes);
    b->private_map = haul__host_pages(b->map_bytes);
    if (b->public_map && b->private_map && haul__host_show(b->private_map, b->map_bytes, b->public_map + host->page) &&
        mprotect(b->public_map + host->page, b->map_bytes, PROT_NONE) == 0)
        return 1;
    haul__host_unmap(host, b);
    return 0;
}

static int create_block(const haul__host *host, size_t bytes, size_t alignment, haul__host_block *b)
{
    b->bytes = bytes;
    b->map_bytes = (bytes + host->page - 1) & ~(host->page - 1);
    b->slack = (b->map_bytes - bytes) & ~(alignment - 1);
    return map(host, b);
}

/* ---- The verbs. */

static size_t physical_memory(size_t page)
{
    long pages = -1;
#ifdef _SC_PHYS_PAGES
    pages = sysconf(_SC_PHYS_PAGES);
#endif
    if (pages <= 0 || (size_t)pages > SIZE_MAX / 2 / page)
        return SIZE_MAX / 2;
    return (size_t)pages * page;
}

static haul_status host_open(const void *settings, const haul_allocator *allocator, void **state)
{
    haul__host *host;
    (void)settings;
    if (!allocator || !allocator->allocate || !allocator->release)
        return HAUL_ERROR_ARGUMENT;
    host = allocator->allocate(allocator->user, sizeof *host, sizeof(uint64_t));
    if (!host)
        return HAUL_ERROR_MEMORY;
    memset(host, 0, sizeof *host);
    host->magic = HAUL__HOST_MAGIC;
    host->allocator = *allocator;
    host->page = (size_t)sysconf(_SC_PAGESIZE);
    host->memory_bytes = physical_memory(host->page);
    *state = host;
    return HAUL_OK;
}

static void host_close(void *state)
{
    haul__host *host = state;
    haul_allocator allocator = host->allocator;
    int saved = errno;
    while (host->block_count > 0)
        haul__host_unmap(host, &host->blocks[--host->block_count]);
    release_table(host);
    haul__host_drop_locks(host);
    host->magic = 0;
    allocator.release(allocator.user, host, sizeof *host);
    errno = saved;
}

static void host_capabilities(void *state, haul_device_capabilities *capabilities)
{
    const haul__host *host = state;
    capabilities->memory_bytes = host->memory_bytes;
    capabilities->allocate_alignment = ALIGNMENT_MIN;
    capabilities->chunk_bytes = 0;
    capabilities->send_bytes = SEND_BYTES;
    capabilities->fetch_bytes = FETCH_BYTES;
}

haul__host_block *haul__host_new_block(haul__host *host, const char *verb, uint64_t bytes, haul_status *status)
{
    haul__host_block *b;
    *status = HAUL_OK;
    if (bytes > host->memory_bytes || host->counters.bytes_live > host->memory_bytes - bytes)
        *status = haul__host_fail(host, HAUL_ERROR_DEVICE_MEMORY, verb, "more than the machine's memory");
    else if (!haul__host_grow(host, (void **)&host->blocks, &host->block_capacity, host->block_count,
                              sizeof *host->blocks))
        *status = haul__host_fail(host, HAUL_ERROR_MEMORY, verb, "no host memory for the table of allocations");
    if (*status != HAUL_OK)
        return NULL;
    b = &host->blocks[host->block_count];
    memset(b, 0, sizeof *b);
    return b;
}

void haul__host_add_block(haul__host *host, uint64_t bytes)
{
    host->block_count++;
    host->counters.allocations++;
    host->counters.bytes_allocated += bytes;
    host->counters.bytes_live += bytes;
}

void haul__host_remove_block(haul__host *host, haul__host_block *block)
{
    host->counters.bytes_live -= block->bytes;
    haul__host_unmap(host, block);
    *block = host->blocks[--host->block_count];
    if (host->block_count == 0)
        release_table(host);
}

static haul_status allocate_block(haul__host *host, uint64_t bytes, size_t alignment, haul_address *address)
{
    haul__host_block *b;
    haul_status status;
    if (alignment < ALIGNMENT_MIN)
        alignment = ALIGNMENT_MIN;
    if (bytes == 0 || (alignment & (alignment - 1)) != 0 || alignment > host->page)
        return haul__host_fail(host, HAUL_ERROR_UNSUPPORTED, "allocate", "no bytes, or an alignment above a page");
    b = haul__host_new_block(host, "allocate", bytes, &status);
    if (!b)
        return status;
    if (!create_block(host, (size_t)bytes, alignment, b))
        return haul__host_fail(host, HAUL_ERROR_DEVICE_MEMORY, "allocate", strerror(errno));
    haul__host_add_block(host, bytes);
    *address = block_address(host, b);
    return HAUL_OK;
}

static haul_status host_allocate(void *state, uint64_t bytes, size_t alignment, haul_address *address)
{
    int saved = errno;
    haul_status status = allocate_block(state, bytes, alignment, address);
    errno = saved;
    return status;
}

static void host_release(void *state, haul_address address, uint64_t bytes)
{
    haul__host *host = state;
    int saved = errno;
    size_t i;
    for (i = 0; i < host->block_count; i++)
        if (block_address(host, &host->blocks[i]) == address)
            break;
    if (i < host->block_count)
        haul__host_remove_block(host, &host->blocks[i]);
    else
        haul__host_fail_range(host, "release", address, bytes);
    errno = saved;
}

static haul_status host_stage(void *state, size_t bytes, void **memory)
{
    haul__host *host = state;
    int saved = errno;
    void *staging = host->allocator.allocate(host->allocator.user, bytes, STAGE_ALIGNMENT);
    if (staging && ((uintptr_t)staging & (STAGE_ALIGNMENT - 1)) != 0) {
        host->allocator.release(host->allocator.user, staging, bytes);
        staging = NULL;
    }
    errno = saved;
    if (!staging)
        return haul__host_fail(host, HAUL_ERROR_MEMORY, "stage", "no host memory");
    *memory = staging;
    return HAUL_OK;
}

static void host_unstage(void *state, void *memory, size_t bytes)
{
    haul__host *host = state;
    int saved = errno;
    host->allocator.release(host->allocator.user, memory, bytes);
    errno = saved;
}

static haul_status host_copy_to(void *state, haul_address to, const void *from, size_t bytes)
{
    haul__host *host = state;
    unsigned char *at = haul__host_view(host, to, bytes);
    if (!at)
        return haul__host_fail_range(host, "copy_to", to, bytes);
    memcpy(at, from, bytes);
    host->counters.copies_to++;
    host->counters.bytes_to += bytes;
    return HAUL_OK;
}

static haul_status host_copy_from(void *state, void *to, haul_address from, size_t bytes)
{
    haul__host *host = state;
    const unsigned char *at = haul__host_view(host, from, bytes);
    if (!at)
        return haul__host_fail_range(host, "copy_from", from, bytes);
    memcpy(to, at, bytes);
    host->counters.copies_from++;
    host->counters.bytes_from += bytes;
    return HAUL_OK;
}

/* ---- Relocation. */

/* word += delta where it leads into the range that moves; null never does. 1: it leads elsewhere. */
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

/* The words of one bitmap word. Empty bytes are skipped in one step: pointers are sparse in most arenas. */
static uint32_t relocate_words(unsigned char *word, uint64_t bits, const haul_relocation *relocation)
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

static uint32_t relocate_marked(unsigned char *arena, const unsigned char *bitmap, const haul_relocation *relocation)
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

/* Odd pointers are checked before any is patched. `arena`: of the device's, or a copy of it. */
static haul_status relocate_odd(haul__host *host, unsigned char *arena, const haul_relocation *relocation,
                                uint32_t *outside)
{
    const unsigned char *odd = haul__host_view(host, relocation->odd, relocation->odd_count * 8);
    uint64_t i;
    for (i = 0; i < relocation->odd_count; i++)
        if (!haul__host_view(host, relocation->arena + load64(odd + 8 * i), relocation->word_bytes))
            return haul__host_fail_range(host, "relocate", relocation->arena + load64(odd + 8 * i),
                                         relocation->word_bytes);
    for (i = 0; i < relocation->odd_count; i++)
        *outside |= patch(arena + load64(odd + 8 * i), relocation);
    return HAUL_OK;
}

/* `copy`: what is patched in place of the arena; NULL: the arena. */
static haul_status relocate_in(haul__host *host, const haul_relocation *relocation, unsigned char *copy)
{
    uint64_t words = relocation->words, limit = UINT64_MAX / 16, bitmap_bytes = (words / 64 + (words % 64 != 0)) * 8;
    unsigned char *arena = NULL, *bitmap = NULL;
    uint32_t outside = 0;
    haul_status status = HAUL_OK;
    if (relocation->word_bytes != 8 && relocation->word_bytes != 4)
        return haul__host_fail(host, HAUL_ERROR_UNSUPPORTED, "relocate", "words of neither 8 nor 4 bytes");
    if (words > limit || relocation->odd_count > limit)
        return haul__host_fail_range(host, "relocate", relocation->arena, words);
    if (words > 0) {
        arena = haul__host_view(host, relocation->arena, words * relocation->word_bytes);
        bitmap = haul__host_view(host, relocation->bitmap, bitmap_bytes);
        if (!arena)
            return haul__host_fail_range(host, "relocate", relocation->arena, words * relocation->word_bytes);
        if (!bitmap)
            return haul__host_fail_range(host, "relocate", relocation->bitmap, bitmap_bytes);
    }
    if (relocation->odd_count > 0 && !haul__host_view(host, relocation->odd, relocation->odd_count * 8))
        return haul__host_fail_range(host, "relocate", relocation->odd, relocation->odd_count * 8);
    host->counters.relocations++;
    if (words > 0)
        outside = relocate_marked(copy ? copy : arena, bitmap, relocation);
    if (relocation->odd_count > 0)
        status = relocate_odd(host, copy ? copy : haul__host_view(host, relocation->arena, 1), relocation, &outside);
    if (outside && relocation->outside)
        *relocation->outside = 1;
    return status;
}

static haul_status host_relocate(void *state, const haul_relocation *relocation)
{
    haul__host *host = state;
    if (relocation->after > host->fences)
        return haul__host_fail(host, HAUL_ERROR_ARGUMENT, "relocate", "there is no such fence");
    return relocate_in(host, relocation, NULL);
}

static haul_status host_send(void *state, const haul_relocation *relocation, const void *from, size_t bytes)
{
    haul_status status = host_copy_to(state, relocation->arena, from, bytes);
    return status == HAUL_OK ? host_relocate(state, relocation) : status;
}

static haul_status host_fetch(void *state, void *to, const haul_relocation *relocation, size_t bytes)
{
    haul_status status = host_copy_from(state, to, relocation->arena, bytes);
    return status == HAUL_OK ? relocate_in(state, relocation, to) : status;
}

static haul_status host_across(void *state, haul_address to, void *from_state, haul_address from, size_t bytes)
{
    haul__host *host = state;
    const haul__host *other = from_state;
    unsigned char *into = haul__host_view(host, to, bytes);
    const unsigned char *out_of;
    if (!other || other->magic != HAUL__HOST_MAGIC)
        return haul__host_fail(host, HAUL_ERROR_UNSUPPORTED, "across", "the other device is no host device");
    out_of = haul__host_view(other, from, bytes);
    if (!into)
        return haul__host_fail_range(host, "across, to", to, bytes);
    if (!out_of)
        return haul__host_fail_range(host, "across, from", from, bytes);
    memcpy(into, out_of, bytes);
    host->counters.copies_across++;
    host->counters.bytes_across += bytes;
    return HAUL_OK;
}

/* ---- Order: everything has happened already. */

static haul_status host_select(void *state, void *stream)
{
    return !stream ? HAUL_OK
                   : haul__host_fail(state, HAUL_ERROR_ARGUMENT, "select", "a host device has no streams but its own");
}

static haul_status host_fence(void *state, uint64_t *fence)
{
    haul__host *host = state;
    *fence = ++host->fences;
    return HAUL_OK;
}

static haul_status host_reached(void *state, uint64_t fence)
{
    const haul__host *host = state;
    return fence <= host->fences ? HAUL_OK
                                 : haul__host_fail(state, HAUL_ERROR_ARGUMENT, "await", "there is no such fence");
}

static haul_status host_wait(void *state)
{
    (void)state;
    return HAUL_OK;
}

static haul_status host_signal(void *state, void *event)
{
    int *told = event;
    if (!told)
        return haul__host_fail(state, HAUL_ERROR_ARGUMENT, "signal", "no event");
    *told = 1;
    return HAUL_OK;
}

static const char *host_message(void *state)
{
    const haul__host *host = state;
    return host->message;
}

static const haul_device_table host_table = { HAUL_DEVICE_VERSION,
                                              (uint32_t)sizeof(haul_device_table),
                                              "host",
                                              host_open,
                                              host_close,
                                              host_capabilities,
                                              host_allocate,
                                              host_release,
                                              host_stage,
                                              host_unstage,
                                              haul__host_mirror,
                                              haul__host_unmirror,
                                              host_copy_to,
                                              host_copy_from,
                                              host_relocate,
                                              host_send,
                                              host_fetch,
                                              haul__host_lock,
                                              haul__host_unlock,
                                              haul__host_pull,
                                              haul__host_push,
                                              host_across,
                                              host_select,
                                              host_fence,
                                              host_reached,
                                              host_reached,
                                              host_wait,
                                              host_signal,
                                              NULL,
                                              NULL,
                                              host_message };

const haul_device_table *haul_host_device(void)
{
    return &host_table;
}

/* ---- Launches. */

/* The state of a host device; NULL for any other. The name is compared as a pointer: a table that stands before this
 * one (to count, or to fail) and hands the state through keeps both. */
static haul__host *state_of(haul_device *device)
{
    haul__host *host;
    if (!device || haul_device_name(device) != host_table.name)
        return NULL;
    host = haul_device_state(device);
    return host && host->magic == HAUL__HOST_MAGIC ? host : NULL;
}

/* Device memory where its addresses are; `open` 0: out of reach, or the host's own again. */
static int show(const haul__host *host, int open)
{
    size_t i;
    int failed = 0;
    for (i = 0; i < host->block_count; i++) {
        const haul__host_block *b = &host->blocks[i];
        if (b->window)
            failed |= !haul__host_turn(host, b, open);
        else if (mprotect(b->public_map + host->page, b->map_bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
            failed = 1;
    }
    return !failed;
}

static haul_status launch(haul__host *host, void (*function)(void *argument), void *argument)
{
    if (!show(host, 1)) {
        show(host, 0);
        return haul__host_fail(host, HAUL_ERROR_DEVICE, "launch", "the system refuses access to the memory");
    }
    host->launching = 1;
    function(argument);
    host->launching = 0;
    if (!show(host, 0))
        return haul__host_fail(host, HAUL_ERROR_DEVICE, "launch", "the system refuses to close the memory again");
    return HAUL_OK;
}

haul_status haul_host_launch(haul_device *device, void (*function)(void *argument), void *argument)
{
    haul__host *host = state_of(device);
    haul_status status;
    int saved = errno;
    if (!host || !function)
        return HAUL_ERROR_ARGUMENT;
    if (host->launching)
        return HAUL_ERROR_BUSY;
    status = launch(host, function, argument);
    errno = saved;
    return status;
}

haul_status haul_host_get_counters(haul_device *device, haul_host_counters *counters)
{
    const haul__host *host = state_of(device);
    if (!host || !counters)
        return HAUL_ERROR_ARGUMENT;
    *counters = host->counters;
    return HAUL_OK;
}
