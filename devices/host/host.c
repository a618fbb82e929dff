/* The host device: host memory that behaves like a device's (haul/host.h).
 *
 * Every verb is done when it returns: a fence is reached when it is made, `wait` never fails, and
 * the only stream is the device's own. An event is an int of the user's, which is set to 1.
 * Addresses are checked against the table of allocations.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocations.h"
#include "copies.h"
#include "locked.h"
#include "mirror.h"
#include "pages.h"
#include "patch.h"
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
    .copy_to = haul__host_copy_to,
    .copy_from = haul__host_copy_from,
    .relocate = haul__host_relocate,
    .select = host_select,
    .fence = host_fence,
    .poll = host_reached,
    .await = host_reached,
    .wait = host_wait,
    .message = host_message,
    .send = haul__host_send,
    .fetch = haul__host_fetch,
    .mirror = haul__host_mirror,
    .unmirror = haul__host_unmirror,
    .lock = haul__host_lock,
    .unlock = haul__host_unlock,
    .pull = haul__host_pull,
    .push = haul__host_push,
    .across = haul__host_across,
    .signal = host_signal,
    .allocate_in_places = host_allocate_in_places,
    .gather_strips = haul__host_gather_strips,
    .scatter_strips = haul__host_scatter_strips,
    .clear = haul__host_clear,
};

const haul_device_table *haul_host_device(void)
{
    return &host_table;
}
