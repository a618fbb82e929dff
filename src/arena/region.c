/* Regions: memory for an arena and its tables, reserved or allocated.
 */
#include "arena/region.h"
#include "base/memory.h"

static void release_allocated(const haul__region *region)
{
    haul__release(region->user, region->memory, region->bytes);
}

static void release_reserved(const haul__region *region)
{
    haul__unreserve(region->user, region->memory, region->bytes);
}

int haul__region_reserve(haul_allocator *allocator, size_t bytes, haul__region *region)
{
    region->memory = haul__reserve(allocator, bytes, 1);
    region->bytes = bytes;
    region->release = release_reserved;
    region->user = allocator;
    region->grows = 1;
    return region->memory != NULL;
}

int haul__region_allocate(haul_allocator *allocator, size_t bytes, haul__region *region)
{
    region->memory = haul__allocate_zeroed(allocator, bytes);
    region->bytes = bytes;
    region->release = release_allocated;
    region->user = allocator;
    region->grows = 0;
    return region->memory != NULL;
}

int haul__region_get(haul_allocator *allocator, size_t bytes, haul__region *region)
{
    return haul__region_reserve(allocator, bytes, region) ||
           haul__region_allocate(allocator, bytes, region);
}

void haul__region_release(haul__region *region)
{
    if (region->memory)
        region->release(region);
    region->memory = NULL;
}
