/* The bytes that a discovery may read: those that the user's `readable` allows; in the block of an
 * image, only those of the block; and in a graph that may have changed, only those that a map
 * describes.
 */
#include "walk/readable.h"
#include "map/forms.h"
#include "walk/paths.h"

/* The number of bytes from `address` on, `bytes` at most, within the bounds. */
static size_t bounded(const haul__discovery *d, uintptr_t address, size_t bytes)
{
    const haul__bounds *bounds = d->bounds;
    if (!bounds)
        return bytes;
    if (address < bounds->begin || address >= bounds->end)
        return 0;
    return bytes < bounds->end - address ? bytes : bounds->end - address;
}

haul_status haul__spend(haul__discovery *d, size_t bytes)
{
    if (!d->bounds)
        return HAUL_OK;
    if (bytes > d->bounds->work - d->work)
        return haul__refuse(d, HAUL_ERROR_LIMIT, NULL,
                            "ranges overlap so often that they would be read %zu bytes in all",
                            d->bounds->work);
    d->work += bytes;
    return HAUL_OK;
}

int haul__is_readable(const haul__discovery *d, uintptr_t address, size_t bytes)
{
    const haul_context_options *options = &d->context->options;
    return bounded(d, address, bytes) == bytes &&
           (!options->readable ||
            options->readable(options->readable_user, (const void *)address, bytes));
}

/* The number of bytes, from `address` to the end of its granule at most, that have a place in
 * d->within or, if `described`, are live there. */
static size_t known_in_granule(const haul__discovery *d, uintptr_t address, int described)
{
    const haul__block *block = address >= HAUL__LOWEST && address <= HAUL__HIGHEST
                                   ? haul__map_find(d->within, address)
                                   : NULL;
    size_t bytes = HAUL__GRANULE - (address & (HAUL__GRANULE - 1));
    uint32_t missing;
    if (!block || !haul__is_placed(block, address))
        return 0;
    if (!described)
        return bytes;
    missing = ~((uint32_t)haul__byte_mask(block, haul__granule_in_block(address)) >>
                (HAUL__GRANULE - bytes));
    return haul__lowest32(missing) < bytes ? haul__lowest32(missing) : bytes;
}

size_t haul__known_bytes(const haul__discovery *d, uintptr_t address, size_t bytes, int described)
{
    size_t known = 0;
    bytes = bounded(d, address, bytes);
    while (d->within && known < bytes) {
        size_t more = known_in_granule(d, address + known, described);
        known += more;
        if (more == 0 || ((address + known) & (HAUL__GRANULE - 1)) != 0)
            return known < bytes ? known : bytes;
    }
    return bytes;
}
