/* Small allocations of the host device: slots of one size share a map, with a guard page behind
 * each.
 *
 *     public view   # | slot | # | slot | # ... | #      no access, except inside a launch
 *
 * The obvious way, a map for each allocation, takes four of the system's mappings, and a process
 * has 65,530. Here a few hundred allocations share four. The bytes of an allocation end where its
 * slot ends, up to the alignment.
 *
 * A launch opens only the slots in use, so a kernel that runs past an allocation faults. Each open
 * slot costs mappings. With more than HAUL__HOST_GUARDED slots in use the system would run out of
 * them: then maps are opened as a whole, guard pages included, and such a kernel first meets a
 * guard page, which nobody uses.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "allocations.h"
#include "pages.h"

#define SMALL_BYTES ((size_t)64 << 10)
#define REGION_PAGES 256u /* of slots, without guards */

static size_t slot_pages(unsigned kind)
{
    return (size_t)1 << kind;
}

/* The kind of slot for `bytes`: its pages are the smallest power of two that holds them.
 * HAUL__HOST_KINDS: no slot is so large. */
static unsigned kind_for(const haul__host *host, uint64_t bytes)
{
    unsigned kind = 0;
    if (bytes > SMALL_BYTES)
        return HAUL__HOST_KINDS;
    while (kind < HAUL__HOST_KINDS && slot_pages(kind) * host->page < bytes)
        kind++;
    return kind;
}

int haul__host_is_small(const haul__host *host, uint64_t bytes)
{
    return kind_for(host, bytes) < HAUL__HOST_KINDS;
}

/* ---- Regions. Those with a free slot are listed by kind. */

static void enlist(haul__host *host, haul__host_region *region)
{
    region->previous = NULL;
    region->next = host->open[region->kind];
    if (region->next)
        region->next->previous = region;
    host->open[region->kind] = region;
}

static void delist(haul__host *host, haul__host_region *region)
{
    if (region->previous)
        region->previous->next = region->next;
    else
        host->open[region->kind] = region->next;
    if (region->next)
        region->next->previous = region->previous;
}

static haul_status add_region(haul__host *host, unsigned kind)
{
    const unsigned count = REGION_PAGES >> kind;
    const size_t stride = (slot_pages(kind) + 1) * host->page;
    haul__host_region *region = host->allocator.allocate(
        host->allocator.user, haul__host_region_bytes(count), sizeof(void *));
    haul__host_block *b;
    haul_status status;
    unsigned i;
    if (!region)
        return haul__host_fail(host, HAUL_ERROR_MEMORY, "allocate",
                               "no host memory for the table of allocations");
    b = haul__host_new_block(host, "allocate", 0, &status);
    if (b && !haul__host_fill_block(host, count * stride, host->page, b))
        status = haul__host_fail(host, HAUL_ERROR_DEVICE_MEMORY, "allocate", strerror(errno));
    if (status != HAUL_OK) {
        host->allocator.release(host->allocator.user, region, haul__host_region_bytes(count));
        return status;
    }
    memset(region, 0, haul__host_region_bytes(count));
    region->count = count;
    region->public_at = b->public_map + host->page;
    region->private_at = b->private_map;
    region->stride = stride;
    region->kind = kind;
    for (i = 0; i < count; i++)
        region->slots[i].slack = i + 1;
    b->region = region;
    b->bytes = 0;
    haul__host_add_block(host);
    enlist(host, region);
    return HAUL_OK;
}

/* ---- Slots. */

static haul_address address_of(const haul__host_region *region, unsigned i)
{
    return (haul_address)(uintptr_t)(region->public_at + i * region->stride +
                                     region->slots[i].slack);
}

haul_status haul__host_take_slot(haul__host *host, size_t bytes, size_t alignment,
                                 haul_address *address)
{
    const unsigned kind = kind_for(host, bytes);
    haul_status status = host->open[kind] ? HAUL_OK : add_region(host, kind);
    haul__host_region *region = host->open[kind];
    haul__host_slot *slot;
    unsigned i;
    if (status != HAUL_OK)
        return status;
    i = region->first_free;
    slot = &region->slots[i];
    region->first_free = slot->slack;
    slot->bytes = (uint32_t)bytes;
    slot->slack = (uint32_t)((slot_pages(kind) * host->page - bytes) & ~(alignment - 1));
    host->slots_live++;
    if (++region->live == region->count)
        delist(host, region);
    *address = address_of(region, i);
    return HAUL_OK;
}

/* The number of the slot in use that has the address, guard page included; region->count: none. */
static unsigned slot_at(const haul__host_region *region, haul_address address)
{
    const uint64_t i = (address - (haul_address)(uintptr_t)region->public_at) / region->stride;
    return i < region->count && region->slots[i].bytes ? (unsigned)i : region->count;
}

static unsigned char *slot_view(const haul__host_region *region, haul_address address,
                                uint64_t bytes)
{
    const unsigned i = slot_at(region, address);
    const haul__host_slot *slot = &region->slots[i];
    uint64_t at;
    if (i == region->count)
        return NULL;
    at = address - address_of(region, i);
    if (at > slot->bytes || bytes > slot->bytes - at)
        return NULL;
    return region->private_at + i * region->stride + slot->slack + (size_t)at;
}

unsigned char *haul__host_view(const haul__host *host, haul_address address, uint64_t bytes)
{
    const haul__host_block *b = haul__host_find(host, address);
    uint64_t at;
    if (!b)
        return NULL;
    if (b->region)
        return slot_view(b->region, address, bytes);
    at = address - haul__host_address(host, b);
    return at <= b->bytes && bytes <= b->bytes - at ? b->private_map + b->slack + (size_t)at : NULL;
}

uint64_t haul__host_free_slot(haul__host *host, haul__host_block *block, haul_address address)
{
    haul__host_region *region = block->region;
    const unsigned i = slot_at(region, address);
    haul__host_slot *slot = &region->slots[i];
    uint64_t bytes;
    if (i == region->count || address_of(region, i) != address)
        return 0;
    bytes = slot->bytes;
    slot->bytes = 0;
    slot->slack = region->first_free;
    host->slots_live--;
    if (region->live-- == region->count)
        enlist(host, region);
    region->first_free = i;
    if (region->live == 0) {
        delist(host, region);
        haul__host_remove_block(host, block);
    } else {
        (void)madvise(region->private_at + i * region->stride,
                      slot_pages(region->kind) * host->page, MADV_REMOVE);
    }
    return bytes;
}

/* ---- Launches. */

int haul__host_open_slots(const haul__host *host, const haul__host_region *region)
{
    const size_t bytes = slot_pages(region->kind) * host->page;
    int opened = host->slots_live <= HAUL__HOST_GUARDED;
    unsigned i;
    for (i = 0; opened && i < region->count; i++) {
        const size_t skipped = region->slots[i].slack & ~(host->page - 1);
        if (region->slots[i].bytes)
            opened = mprotect(region->public_at + i * region->stride + skipped, bytes - skipped,
                              PROT_READ | PROT_WRITE) == 0;
    }
    return opened ||
           mprotect(region->public_at, region->count * region->stride, PROT_READ | PROT_WRITE) == 0;
}
