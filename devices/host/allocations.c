/* The host device's memory: pages that are mapped twice, and the table of allocations.
 *
 *     private view    | slack | the bytes          |     for the verbs: always open
 *     public view   # | slack | the bytes          | #   the device addresses: open in a launch
 *
 * `#` is a guard page that no launch opens. The slack is less than a page: the bytes end where the
 * mapping ends (up to the alignment). So a kernel that runs past its arena faults, and an arena has
 * the alignment that was asked for, never more by accident.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "allocations.h"
#include "pages.h"

/* ---- Maps. */

void haul__host_unmap(const haul__host *host, const haul__host_block *b)
{
    if (b->private_map)
        haul__host_forget(host, b->private_map, b->map_bytes);
    if (b->window)
        haul__host_forget(host, b->window, b->map_bytes);
    if (b->public_map)
        munmap(b->public_map, b->map_bytes + 2 * host->page);
}

int haul__host_fill_block(haul__host *host, size_t bytes, size_t alignment, haul__host_block *b)
{
    b->bytes = bytes;
    b->map_bytes = (bytes + host->page - 1) & ~(host->page - 1);
    b->slack = (b->map_bytes - bytes) & ~(alignment - 1);
    b->public_map = haul__host_reserve(host, b->map_bytes);
    b->private_map = haul__host_pages(host, b->map_bytes);
    if (b->public_map && b->private_map &&
        haul__host_show(host, b->private_map, b->map_bytes, b->public_map + host->page) &&
        mprotect(b->public_map + host->page, b->map_bytes, PROT_NONE) == 0)
        return 1;
    haul__host_unmap(host, b);
    return 0;
}

/* ---- The table. */

haul_address haul__host_address(const haul__host *host, const haul__host_block *b)
{
    return (haul_address)(uintptr_t)(b->public_map + host->page + b->slack);
}

/* The index of the only block that can hold `address`. */
static size_t place_of(const haul__host *host, haul_address address)
{
    size_t low = 0, high = host->block_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((haul_address)(uintptr_t)host->blocks[middle].public_map > address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

haul__host_block *haul__host_find(const haul__host *host, haul_address address)
{
    const size_t i = place_of(host, address);
    haul__host_block *b = i < host->block_count ? &host->blocks[i] : NULL;
    if (!b || address - (haul_address)(uintptr_t)b->public_map >= b->map_bytes + 2 * host->page)
        return NULL;
    return b;
}

static void release_table(haul__host *host)
{
    if (host->blocks)
        host->allocator.release(host->allocator.user, host->blocks,
                                host->block_capacity * sizeof *host->blocks);
    host->blocks = NULL;
    host->block_capacity = 0;
}

haul__host_block *haul__host_new_block(haul__host *host, const char *verb, uint64_t bytes,
                                       haul_status *status)
{
    haul__host_block *b;
    *status = haul__host_has_memory(host, verb, bytes);
    if (*status == HAUL_OK && !haul__host_grow(host, (void **)&host->blocks, &host->block_capacity,
                                               host->block_count, sizeof *host->blocks))
        *status = haul__host_fail(host, HAUL_ERROR_MEMORY, verb,
                                  "no host memory for the table of allocations");
    if (*status != HAUL_OK)
        return NULL;
    b = &host->blocks[host->block_count];
    memset(b, 0, sizeof *b);
    return b;
}

void haul__host_add_block(haul__host *host)
{
    const haul__host_block added = host->blocks[host->block_count];
    const size_t i = place_of(host, (haul_address)(uintptr_t)added.public_map);
    memmove(&host->blocks[i + 1], &host->blocks[i], (host->block_count - i) * sizeof *host->blocks);
    host->blocks[i] = added;
    host->block_count++;
}

void haul__host_remove_block(haul__host *host, haul__host_block *block)
{
    const size_t behind = (size_t)(host->blocks + host->block_count - block) - 1;
    haul__host_unmap(host, block);
    if (block->region)
        host->allocator.release(host->allocator.user, block->region,
                                haul__host_region_bytes(block->region->count));
    memmove(block, block + 1, behind * sizeof *block);
    host->block_count--;
    if (host->block_count == 0)
        release_table(host);
}

void haul__host_drop_blocks(haul__host *host)
{
    while (host->block_count > 0)
        haul__host_remove_block(host, &host->blocks[host->block_count - 1]);
    release_table(host);
}
