/* Locked host memory, which the device reads and writes in place.
 *
 * The host device reaches all host memory, so a lock is only a note. It is refused where a GPU
 * would refuse it: for unmapped pages, for pages that are locked already, and for a mirror. Pull
 * and push follow haul/device.h segment by segment; if a segment has a mask, byte by byte.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "allocations.h"
#include "locked.h"
#include "mirror.h"

#define LOCK_BYTES ((size_t)4096)

/* ---- Locks. */

static void release_locks(haul__host *host)
{
    if (host->locks)
        host->allocator.release(host->allocator.user, host->locks,
                                host->lock_capacity * sizeof *host->locks);
    host->locks = NULL;
    host->lock_capacity = 0;
}

void haul__host_drop_locks(haul__host *host)
{
    host->lock_count = 0;
    release_locks(host);
}

static int is_locked(const haul__host *host, const unsigned char *memory, size_t bytes)
{
    size_t i;
    for (i = 0; i < host->lock_count; i++)
        if (memory < host->locks[i].memory + host->locks[i].bytes &&
            host->locks[i].memory < memory + bytes)
            return 1;
    return 0;
}

static haul_status lock(haul__host *host, void *memory, size_t bytes)
{
    const size_t before = (uintptr_t)memory % host->page;
    /* msync tells whether every page is mapped; for memory without a file it does nothing else */
    const int mapped = msync((unsigned char *)memory - before, bytes + before, MS_ASYNC) == 0;
    if ((uintptr_t)memory % LOCK_BYTES != 0 || bytes % LOCK_BYTES != 0)
        return haul__host_fail(host, HAUL_ERROR_ARGUMENT, "lock", "not whole pages");
    if (is_locked(host, memory, bytes))
        return haul__host_fail(host, HAUL_ERROR_UNSUPPORTED, "lock",
                               "some of it is locked already");
    if (!mapped)
        return haul__host_fail(host, HAUL_ERROR_UNSUPPORTED, "lock", "some of it is not mapped");
    if (haul__host_is_mirror(host, memory, bytes))
        return haul__host_fail(host, HAUL_ERROR_UNSUPPORTED, "lock",
                               "the device has memory at these addresses");
    if (!haul__host_grow(host, (void **)&host->locks, &host->lock_capacity, host->lock_count,
                         sizeof *host->locks))
        return haul__host_fail(host, HAUL_ERROR_MEMORY, "lock",
                               "no host memory for the table of locks");
    host->locks[host->lock_count].memory = memory;
    host->locks[host->lock_count++].bytes = bytes;
    host->counters.bytes_locked += bytes;
    return HAUL_OK;
}

haul_status haul__host_lock(void *state, void *memory, size_t bytes)
{
    const int saved = errno;
    const haul_status status = lock(state, memory, bytes);
    errno = saved;
    return status;
}

void haul__host_unlock(void *state, void *memory, size_t bytes)
{
    haul__host *host = state;
    const int saved = errno;
    size_t i;
    for (i = 0; i < host->lock_count; i++)
        if (host->locks[i].memory == (unsigned char *)memory && host->locks[i].bytes == bytes)
            break;
    if (i == host->lock_count) /* made by another device, which has closed */
        return;
    host->counters.bytes_locked -= bytes;
    host->locks[i] = host->locks[--host->lock_count];
    if (host->lock_count == 0)
        release_locks(host);
    errno = saved;
}

/* ---- Crossings. */

static uint64_t load_word(const unsigned char *at, unsigned word_bytes)
{
    uint64_t wide;
    uint32_t narrow;
    if (word_bytes == sizeof wide) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

static void store_word(unsigned char *at, unsigned word_bytes, uint64_t value)
{
    const uint32_t narrow = (uint32_t)value;
    if (word_bytes == sizeof value)
        memcpy(at, &value, sizeof value);
    else
        memcpy(at, &narrow, sizeof narrow);
}

/* From the source into the arena. 1: a pointer has changed. */
static int pull_word(unsigned char *arena, const haul_segment *segment, uint32_t at,
                     const haul_attachment *attachment, unsigned word_bytes)
{
    const unsigned char *from = (const unsigned char *)(uintptr_t)segment->from;
    unsigned char *to = arena + segment->to;
    uint32_t byte;
    if (attachment) {
        store_word(to + at, word_bytes, attachment->in_arena);
        return load_word(from + at, word_bytes) != attachment->on_host;
    }
    if (segment->mask == UINT16_MAX)
        memcpy(to + at, from + at, word_bytes);
    else
        for (byte = at; byte < at + word_bytes; byte++)
            to[byte] = segment->mask >> byte & 1 ? from[byte] : 0;
    return 0;
}

/* From the arena into the source, except pointers. Equal bytes are not written: they may lie on a
 * page that is not writable. */
static int push_word(unsigned char *arena, const haul_segment *segment, uint32_t at,
                     const haul_attachment *attachment, unsigned word_bytes)
{
    unsigned char *to = (unsigned char *)(uintptr_t)segment->from;
    const unsigned char *from = arena + segment->to;
    uint32_t byte;
    if (attachment)
        return 0;
    if (segment->mask == UINT16_MAX && memcmp(to + at, from + at, word_bytes) == 0)
        return 0;
    for (byte = at; byte < at + word_bytes; byte++)
        if ((segment->mask == UINT16_MAX || segment->mask >> byte & 1) && to[byte] != from[byte])
            to[byte] = from[byte];
    return 0;
}

/* Is the range locked? *last: the index of the last range found. */
static int lies_in_locks(const haul_crossing *crossing, uint64_t from, uint64_t bytes,
                         uint64_t *last)
{
    uint64_t tried;
    for (tried = 0; tried < crossing->locked_count; tried++, ++*last) {
        const haul_interval *lock;
        if (*last >= crossing->locked_count)
            *last = 0;
        lock = &crossing->locked[*last];
        if (from >= lock->begin && from <= lock->end && bytes <= lock->end - from)
            return 1;
    }
    return 0;
}

/* Does the segment lie in locked memory and in the arena, and its attachments in their list?
 * Kernels can overwrite the lists, so nothing in them is trusted. */
static int is_good(const haul_segment *segment, const haul_crossing *crossing, uint64_t *last)
{
    const uint64_t pair = 2 * (uint64_t)crossing->word_bytes;
    uint64_t slots = segment->slots, count = 0;
    for (; slots; slots &= slots - 1)
        count++;
    if (segment->from % pair != 0 || segment->to % pair != 0 || segment->bytes % pair != 0 ||
        segment->to > crossing->bytes || segment->bytes > crossing->bytes - segment->to ||
        !lies_in_locks(crossing, segment->from, segment->bytes, last))
        return 0;
    if (count > 0 && (segment->bytes > 64 * crossing->word_bytes ||
                      segment->first > crossing->attachment_count ||
                      count > crossing->attachment_count - segment->first))
        return 0;
    return segment->bytes == pair || segment->mask == UINT16_MAX;
}

typedef struct lists {
    unsigned char *arena;
    const haul_segment *segments;
    const haul_attachment *attachments;
} lists;

static haul_status find_lists(haul__host *host, const char *verb, const haul_crossing *crossing,
                              lists *found)
{
    const uint64_t bytes =
        crossing->attachments_at + crossing->attachment_count * sizeof(haul_attachment);
    const unsigned char *list = haul__host_view(host, crossing->lists, bytes);
    uint64_t last = 0, i;
    found->arena = haul__host_view(host, crossing->arena, crossing->bytes);
    if (!found->arena)
        return haul__host_fail_range(host, verb, crossing->arena, crossing->bytes);
    if (!list || crossing->segment_count * sizeof(haul_segment) > crossing->attachments_at)
        return haul__host_fail_range(host, verb, crossing->lists, bytes);
    found->segments = (const haul_segment *)(const void *)list;
    found->attachments = (const haul_attachment *)(const void *)(list + crossing->attachments_at);
    for (i = 0; i < crossing->segment_count; i++)
        if (!is_good(&found->segments[i], crossing, &last))
            return haul__host_fail(
                host, HAUL_ERROR_DEVICE, verb,
                "a segment is misaligned, or leads out of locked memory, the arena or the list of "
                "attachments");
    return HAUL_OK;
}

typedef int cross_word(unsigned char *arena, const haul_segment *segment, uint32_t at,
                       const haul_attachment *attachment, unsigned word_bytes);

/* *changed: a pointer has changed. */
static haul_status cross(haul__host *host, const char *verb, const haul_crossing *crossing,
                         cross_word *each, int *changed)
{
    const unsigned bytes = crossing->word_bytes;
    lists found = { NULL, NULL, NULL };
    haul_status status = find_lists(host, verb, crossing, &found);
    uint64_t i;
    *changed = 0;
    if (status != HAUL_OK)
        return status;
    for (i = 0; i < crossing->segment_count; i++) {
        const haul_segment *segment = &found.segments[i];
        const haul_attachment *next = found.attachments + segment->first;
        uint32_t at;
        for (at = 0; at < segment->bytes; at += bytes) {
            const int is_slot = at / bytes < 64 && (segment->slots >> at / bytes & 1);
            *changed |= each(found.arena, segment, at, is_slot ? next++ : NULL, bytes);
        }
    }
    return HAUL_OK;
}

haul_status haul__host_pull(void *state, const haul_crossing *crossing)
{
    haul__host *host = state;
    int changed;
    haul_status status = cross(host, "pull", crossing, pull_word, &changed);
    if (changed)
        *crossing->changed = 1;
    host->counters.pulls += status == HAUL_OK;
    return status;
}

haul_status haul__host_push(void *state, const haul_crossing *crossing)
{
    haul__host *host = state;
    int changed;
    haul_status status = cross(host, "push", crossing, push_word, &changed);
    host->counters.pushes += status == HAUL_OK;
    return status;
}
