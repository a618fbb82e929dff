/* The placings of a range: which of its bytes lie where. */
#include "device/device.h"
#include "device/range.h"

static int ends_by(const void *placings, size_t i, uint64_t at)
{
    return ((const haul_placing *)placings)[i].end <= at;
}

uint64_t haul__placed_bytes(const haul__range *range, uint64_t at, uint64_t end, haul_place place)
{
    uint64_t bytes = 0, from = at;
    size_t i;
    if (!range->placings)
        return place == HAUL_PLACE_DEVICE ? end - at : 0;
    i = haul__search(range->placings, 0, range->placing_count, at, ends_by);
    for (; i < range->placing_count && from < end; from = range->placings[i++].end) {
        const haul_placing *placing = &range->placings[i];
        const uint64_t last = placing->end < end ? placing->end : end;
        bytes += placing->place == place ? last - from : 0;
    }
    return bytes;
}

void haul__drop_placings(haul_device *device, haul__range *range)
{
    haul__release(&device->context->allocator, range->placings,
                  range->placing_count * sizeof *range->placings);
    range->placings = NULL;
    range->placing_count = 0;
}
