/* Memory that the device has at addresses where the host has some too.
 *
 * Two files, and three views:
 *
 *     private view    | the device's bytes |         read and write, always; for the table's verbs
 *     window          | the host's bytes   |         the same
 *     public view   # | the host's bytes   | #       but inside a launch the device's: the addresses of both
 *
 * So the host that writes to its memory changes nothing on the device, nor the other way round, until bytes are copied; a
 * kernel that follows an unpatched pointer finds the device's bytes.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host.h"

static unsigned char *public_view(const haul__host *host, const haul__host_block *block)
{
    return block->public_map + host->page;
}

/* NULL: the system refuses. At `at`, if that is not NULL, whatever is there. */
static unsigned char *view(int file, size_t bytes, unsigned char *at)
{
    void *map = mmap(at, bytes, PROT_READ | PROT_WRITE, at ? MAP_SHARED | MAP_FIXED : MAP_SHARED, file, 0);
    return map == MAP_FAILED ? NULL : map;
}

int haul__host_turn(const haul__host *host, const haul__host_block *block, int to_device)
{
    return view(to_device ? block->there : block->here, block->map_bytes, public_view(host, block)) != NULL;
}

int haul__host_is_mirror(const haul__host *host, const unsigned char *memory, size_t bytes)
{
    size_t i;
    for (i = 0; i < host->block_count; i++) {
        const haul__host_block *b = &host->blocks[i];
        if (b->window && memory < public_view(host, b) + b->map_bytes && public_view(host, b) < memory + bytes)
            return 1;
    }
    return 0;
}

static int open_files(haul__host_block *b)
{
    b->here = haul__host_file();
    b->there = haul__host_file();
    return b->here >= 0 && b->there >= 0 && ftruncate(b->here, (off_t)b->map_bytes) == 0 &&
           ftruncate(b->there, (off_t)b->map_bytes) == 0;
}

static void close_files(haul__host_block *b)
{
    if (b->here >= 0)
        close(b->here);
    if (b->there >= 0)
        close(b->there);
}

/* The public view between its guards, which shows nothing yet. */
static int reserve(const haul__host *host, haul__host_block *b)
{
    void *map = mmap(NULL, b->map_bytes + 2 * host->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return 0;
    b->public_map = map;
    return 1;
}

static int open_views(const haul__host *host, haul__host_block *b)
{
    if (!reserve(host, b))
        return 0;
    b->private_map = view(b->there, b->map_bytes, NULL);
    b->window = view(b->here, b->map_bytes, NULL);
    if (b->private_map && b->window && haul__host_turn(host, b, 0))
        return 1;
    if (b->private_map)
        munmap(b->private_map, b->map_bytes);
    if (b->window)
        munmap(b->window, b->map_bytes);
    munmap(b->public_map, b->map_bytes + 2 * host->page);
    return 0;
}

/* `b` is empty. */
static haul_status mirror_block(haul__host *host, haul__host_block *b, size_t bytes)
{
    b->bytes = b->map_bytes = (bytes + host->page - 1) & ~(host->page - 1);
    if (open_files(b) && open_views(host, b))
        return HAUL_OK;
    haul__host_fail(host, HAUL_ERROR_DEVICE_MEMORY, "mirror", strerror(errno));
    close_files(b);
    return HAUL_ERROR_DEVICE_MEMORY;
}

haul_status haul__host_mirror(void *state, size_t bytes, haul_mirror *mirror)
{
    haul__host *host = state;
    haul__host_block *b;
    haul_status status;
    int saved = errno;
    if (bytes == 0 || bytes > SIZE_MAX / 4)
        return haul__host_fail(host, HAUL_ERROR_DEVICE_MEMORY, "mirror", "no bytes, or more than there can be");
    b = haul__host_new_block(host, "mirror", 2 * (uint64_t)bytes, &status);
    if (b)
        status = mirror_block(host, b, bytes);
    if (status == HAUL_OK) {
        mirror->memory = public_view(host, b);
        mirror->window = b->window;
        mirror->bytes = b->bytes;
        haul__host_add_block(host, b->bytes);
    }
    errno = saved;
    return status;
}

void haul__host_unmirror(void *state, const haul_mirror *mirror)
{
    haul__host *host = state;
    int saved = errno;
    size_t i = 0;
    while (i < host->block_count && host->blocks[i].window != mirror->window)
        i++;
    if (i < host->block_count)
        haul__host_remove_block(host, &host->blocks[i]);
    errno = saved;
}

void haul__host_drop_mirror(haul__host_block *block)
{
    munmap(block->window, block->map_bytes);
    close_files(block);
}
