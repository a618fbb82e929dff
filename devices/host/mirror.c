/* Mirrors: device memory and host memory at the same addresses.
 *
 * Each side has pages of its own, and there are three views:
 *
 *     private view    | the device's bytes |   for the verbs: always open
 *     window          | the host's bytes   |   for the verbs: always open
 *     public view   # | the host's bytes   | # the addresses of both; in a launch the device's
 *
 * So a write by one side does not reach the other until the bytes are copied, and a kernel that
 * follows an unpatched pointer finds the device's bytes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "allocations.h"
#include "mirror.h"
#include "pages.h"

static unsigned char *public_view(const haul__host *host, const haul__host_block *block)
{
    return block->public_map + host->page;
}

int haul__host_turn(const haul__host *host, const haul__host_block *block, int to_device)
{
    return haul__host_show(host, to_device ? block->private_map : block->window, block->map_bytes,
                           public_view(host, block));
}

int haul__host_is_mirror(const haul__host *host, const unsigned char *memory, size_t bytes)
{
    size_t i;
    for (i = 0; i < host->block_count; i++) {
        const haul__host_block *b = &host->blocks[i];
        if (b->window && memory < public_view(host, b) + b->map_bytes &&
            public_view(host, b) < memory + bytes)
            return 1;
    }
    return 0;
}

/* Maps both sides for an empty block. */
static haul_status mirror_block(haul__host *host, haul__host_block *b, size_t bytes)
{
    b->bytes = b->map_bytes = (bytes + host->page - 1) & ~(host->page - 1);
    b->public_map = haul__host_reserve(host, b->map_bytes);
    b->private_map = haul__host_pages(host, b->map_bytes);
    b->window = haul__host_pages(host, b->map_bytes);
    if (b->public_map && b->private_map && b->window && haul__host_turn(host, b, 0))
        return HAUL_OK;
    haul__host_fail(host, HAUL_ERROR_DEVICE_MEMORY, "mirror", strerror(errno));
    haul__host_unmap(host, b);
    return HAUL_ERROR_DEVICE_MEMORY;
}

haul_status haul__host_mirror(void *state, size_t bytes, haul_mirror *mirror)
{
    haul__host *host = state;
    haul__host_block *b;
    haul_status status;
    int saved = errno;
    if (bytes == 0 || bytes > SIZE_MAX / 4)
        return haul__host_fail(host, HAUL_ERROR_DEVICE_MEMORY, "mirror",
                               "0 bytes, or more than the address space");
    pthread_mutex_lock(&host->mutex);
    b = haul__host_new_block(host, "mirror", 2 * (uint64_t)bytes,
                             &status); /* as much for the host's side */
    if (b)
        status = mirror_block(host, b, bytes);
    if (status == HAUL_OK) {
        mirror->memory = public_view(host, b);
        mirror->window = b->window;
        mirror->bytes = b->bytes;
        haul__host_count(host, b->bytes);
        haul__host_add_block(host);
    }
    pthread_mutex_unlock(&host->mutex);
    errno = saved;
    return status;
}

void haul__host_unmirror(void *state, const haul_mirror *mirror)
{
    haul__host *host = state;
    int saved = errno;
    size_t i = 0;
    pthread_mutex_lock(&host->mutex);
    while (i < host->block_count && host->blocks[i].window != mirror->window)
        i++;
    if (i < host->block_count) {
        haul__host_discount(host, host->blocks[i].bytes);
        haul__host_remove_block(host, &host->blocks[i]);
    }
    pthread_mutex_unlock(&host->mutex);
    errno = saved;
}
