/* The host device: host memory that behaves like a device's (haul/host.h).
 *
 * Every verb is done when it returns: a fence is reached when it is made, `wait` never fails, and
 * the only stream is the device's own. An event is an int of the user's, which is set to 1.
 * Addresses are checked against the table of allocations.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "allocations.h"
#include "locked.h"
#include "mirror.h"
#include "opening.h"
#include "pages.h"
#include "strict.h"

#define ALIGNMENT_MIN 16u
#define STAGE_ALIGNMENT 64u
/* up to here the patch finds the copied bytes in the second-level cache */
#define SEND_BYTES ((size_t)256 << 10)
/* a single patch is always faster than two, but larger arenas return in parts, as on a GPU */
#define FETCH_BYTES ((size_t)8 << 20)

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

/* Are launches strict? The environment asks for it where it works. */
static int is_strict(const haul_host_options *options)
{
    const char *wish = getenv("HAUL_HOST_STRICT");
    if (options && options->strict)
        return options->strict > 0;
    return wish && wish[0] && strcmp(wish, "0") != 0 && haul__host_can_be_strict();
}

static haul_status host_open(const void *settings, const haul_allocator *allocator, void **state)
{
    const int saved = errno;
    const haul_host_options *options = settings;
    haul__host *host;
    if (!allocator || !allocator->allocate || !allocator->release)
        return HAUL_ERROR_ARGUMENT;
    if (options && options->strict > 0 && !haul__host_can_be_strict())
        return HAUL_ERROR_UNSUPPORTED;
    host = allocator->allocate(allocator->user, sizeof *host, sizeof(uint64_t));
    if (!host)
        return HAUL_ERROR_MEMORY;
    memset(host, 0, sizeof *host);
    host->magic = HAUL__HOST_MAGIC;
    host->process = (long)getpid();
    host->allocator = *allocator;
    host->page = (size_t)sysconf(_SC_PAGESIZE);
    host->memory_bytes = physical_memory(host->page);
    host->is_file = !haul__host_can_remap(host->page);
    host->is_strict = is_strict(options);
    host->budget_bytes = options ? options->budget_bytes : 0;
    host->file = -1;
    pthread_mutex_init(&host->mutex, NULL);
    errno = saved;
    *state = host;
    return HAUL_OK;
}

static void host_close(void *state)
{
    haul__host *host = state;
    haul_allocator allocator = host->allocator;
    int saved = errno;
    pthread_mutex_destroy(&host->mutex);
    haul__host_drop_blocks(host);
    haul__host_drop_locks(host);
    haul__host_close_file(host);
    host->magic = 0;
    allocator.release(allocator.user, host, sizeof *host);
    errno = saved;
}

/* The library has all these members: they were there when the table was made. */
static void host_capabilities(void *state, haul_device_capabilities *capabilities, size_t bytes)
{
    const haul__host *host = state;
    (void)bytes;
    capabilities->memory_bytes = host->memory_bytes;
    capabilities->allocate_alignment = ALIGNMENT_MIN;
    capabilities->chunk_bytes = 0;
    capabilities->send_bytes = SEND_BYTES;
    capabilities->fetch_bytes = FETCH_BYTES;
    capabilities->budget_bytes = host->budget_bytes;
    capabilities->place_bytes = host->page;
}

/* `count` 0: all of it is the device's own. */
static haul_status allocate_block(haul__host *host, uint64_t bytes, size_t alignment,
                                  const haul_placing *placings, size_t count, haul_address *address)
{
    haul__host_block *b;
    haul_status status;
    uint64_t at = 0;
    size_t i;
    if (alignment < ALIGNMENT_MIN)
        alignment = ALIGNMENT_MIN;
    if (bytes == 0 || (alignment & (alignment - 1)) != 0 || alignment > host->page)
        return haul__host_fail(host, HAUL_ERROR_UNSUPPORTED, "allocate",
                               "0 bytes, or an alignment above a page");
    if (count == 0 && haul__host_is_small(host, bytes)) {
        status = haul__host_has_memory(host, "allocate", bytes);
        if (status == HAUL_OK)
            status = haul__host_take_slot(host, (size_t)bytes, alignment, address);
        if (status == HAUL_OK)
            haul__host_count(host, bytes);
        return status;
    }
    b = haul__host_new_block(host, "allocate", bytes, &status);
    if (!b)
        return status;
    if (!haul__host_fill_block(host, (size_t)bytes, alignment, b))
        return haul__host_fail(host, HAUL_ERROR_DEVICE_MEMORY, "allocate", strerror(errno));
    for (i = 0; i < count; at = placings[i++].end) {
        b->on_host += placings[i].place == HAUL_PLACE_HOST ? placings[i].end - at : 0;
        b->moving += placings[i].place == HAUL_PLACE_MOVING ? placings[i].end - at : 0;
    }
    host->counters.bytes_on_host += b->on_host;
    host->counters.bytes_moving += b->moving;
    *address = haul__host_address(host, b);
    haul__host_count(host, bytes);
    haul__host_add_block(host);
    return HAUL_OK;
}

static haul_status host_allocate_in_places(void *state, uint64_t bytes, size_t alignment,
                                           const haul_placing *placings, size_t count,
                                           haul_address *address)
{
    haul__host *host = state;
    int saved = errno;
    haul_status status;
    pthread_mutex_lock(&host->mutex);
    status = allocate_block(host, bytes, alignment, placings, count, address);
    pthread_mutex_unlock(&host->mutex);
    errno = saved;
    return status;
}

static haul_status host_allocate(void *state, uint64_t bytes, size_t alignment,
                                 haul_address *address)
{
    return host_allocate_in_places(state, bytes, alignment, NULL, 0, address);
}

static void host_release(void *state, haul_address address, uint64_t bytes)
{
    haul__host *host = state;
    haul__host_block *b;
    uint64_t released = 0;
    int saved = errno;
    pthread_mutex_lock(&host->mutex);
    b = haul__host_find(host, address);
    if (b && b->region) {
        released = haul__host_free_slot(host, b, address);
    } else if (b && !b->window && haul__host_address(host, b) == address) {
        released = b->bytes;
        host->counters.bytes_on_host -= b->on_host;
        host->counters.bytes_moving -= b->moving;
        haul__host_remove_block(host, b);
    }
    if (released)
        haul__host_discount(host, released);
    else
        haul__host_fail_range(host, "release", address, bytes);
    pthread_mutex_unlock(&host->mutex);
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

static haul_status host_relocate(void *state, const haul_relocation *relocation)
{
    haul__host *host = state;
    if (relocation->after > host->fences)
        return haul__host_fail(host, HAUL_ERROR_ARGUMENT, "relocate", "there is no such fence");
    return relocate_in(host, relocation, NULL, 0);
}

static haul_status host_send(void *state, const haul_relocation *relocation, const void *from,
                             size_t bytes)
{
    haul_status status = host_copy_to(state, relocation->arena, from, bytes);
    return status == HAUL_OK ? host_relocate(state, relocation) : status;
}

static haul_status host_fetch(void *state, void *to, const haul_relocation *relocation,
                              size_t bytes)
{
    haul_status status = host_copy_from(state, to, relocation->arena, bytes);
    return status == HAUL_OK ? relocate_in(state, relocation, to, bytes) : status;
}

static haul_status host_across(void *state, haul_address to, void *from_state, haul_address from,
                               size_t bytes)
{
    haul__host *host = state;
    const haul__host *other = from_state;
    unsigned char *into = haul__host_view(host, to, bytes);
    const unsigned char *out_of;
    if (!other || other->magic != HAUL__HOST_MAGIC)
        return haul__host_fail(host, HAUL_ERROR_UNSUPPORTED, "across",
                               "the other device is no host device");
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

/* ---- Strips. */

/* The runs of a strip in device memory. NULL: they are not all there, or have no such place in a
 * buffer of `bytes` bytes. */
static unsigned char *strip_view(haul__host *host, const haul_strip *strip, size_t bytes)
{
    const uint64_t packed = (uint64_t)strip->count * strip->bytes;
    if (!packed || packed > HAUL_STRIP_BYTES || strip->packed > bytes ||
        packed > bytes - strip->packed || strip->stride > UINT64_MAX / 2 / strip->count)
        return NULL;
    return haul__host_view(host, strip->first, (strip->count - 1) * strip->stride + strip->bytes);
}

/* Moves the runs of all strips, after a look at all of them. */
static haul_status move_strips(haul__host *host, const haul_strip *strips, size_t count,
                               unsigned char *to, const unsigned char *from, size_t bytes)
{
    size_t i;
    uint32_t k;
    for (i = 0; i < count; i++)
        if (!strip_view(host, &strips[i], bytes))
            return haul__host_fail_range(host, to ? "gather_strips" : "scatter_strips",
                                         strips[i].first, strips[i].bytes);
    for (i = 0; i < count; i++) {
        unsigned char *at = strip_view(host, &strips[i], bytes);
        uint64_t packed = strips[i].packed;
        for (k = 0; k < strips[i].count; k++, packed += strips[i].bytes, at += strips[i].stride)
            if (to)
                memcpy(to + packed, at, strips[i].bytes);
            else
                memcpy(at, from + packed, strips[i].bytes);
    }
    return HAUL_OK;
}

static haul_status host_gather_strips(void *state, void *packed, size_t bytes,
                                      const haul_strip *strips, size_t count)
{
    haul__host *host = state;
    const haul_status status = move_strips(host, strips, count, packed, NULL, bytes);
    host->counters.copies_from += status == HAUL_OK;
    host->counters.bytes_from += status == HAUL_OK ? bytes : 0;
    return status;
}

static haul_status host_scatter_strips(void *state, const haul_strip *strips, size_t count,
                                       const void *packed, size_t bytes)
{
    haul__host *host = state;
    const haul_status status = move_strips(host, strips, count, NULL, packed, bytes);
    host->counters.copies_to += status == HAUL_OK;
    host->counters.bytes_to += status == HAUL_OK ? bytes : 0;
    return status;
}

/* ---- Order: all work is done when its verb returns. */

static haul_status host_select(void *state, void *stream)
{
    return !stream ? HAUL_OK
                   : haul__host_fail(state, HAUL_ERROR_ARGUMENT, "select",
                                     "a host device has no streams but its own");
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
    return fence <= host->fences
               ? HAUL_OK
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

static const haul_device_table host_table = {
    .table_bytes = sizeof(haul_device_table),
    .settings_bytes = sizeof(haul_host_options),
    .name = "host",
    .open = host_open,
    .close = host_close,
    .capabilities = host_capabilities,
    .allocate = host_allocate,
    .release = host_release,
    .stage = host_stage,
    .unstage = host_unstage,
    .copy_to = host_copy_to,
    .copy_from = host_copy_from,
    .relocate = host_relocate,
    .select = host_select,
    .fence = host_fence,
    .poll = host_reached,
    .await = host_reached,
    .wait = host_wait,
    .message = host_message,
    .send = host_send,
    .fetch = host_fetch,
    .mirror = haul__host_mirror,
    .unmirror = haul__host_unmirror,
    .lock = haul__host_lock,
    .unlock = haul__host_unlock,
    .pull = haul__host_pull,
    .push = haul__host_push,
    .across = host_across,
    .signal = host_signal,
    .allocate_in_places = host_allocate_in_places,
    .gather_strips = host_gather_strips,
    .scatter_strips = host_scatter_strips,
};

const haul_device_table *haul_host_device(void)
{
    return &host_table;
}

/* ---- Launches. */

/* The state of a host device; NULL for another device. The name is compared as a pointer, so that a
 * wrapper of this table (to count, or to fail), which keeps name and state, passes too. */
static haul__host *state_of(haul_device *device)
{
    haul_device_info info;
    haul__host *host;
    haul_device_get_info(device, &info);
    if (info.name != host_table.name)
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
