/* The bytes that a discovery may read: those that the user's `readable` allows; in the block of an
 * image, only those of the block; and in a graph that may have changed, only those that belong to
 * objects of the plan.
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
    if (bytes > d->work_most - d->work) {
        if (d->passing)
            d->passing->has_spent = 1;
        return haul__refuse(d, HAUL_ERROR_LIMIT, NULL,
                            "ranges overlap so often that they would be read %zu bytes in all",
                            d->work_most);
    }
    d->work += bytes;
    return HAUL_OK;
}

int haul__is_within_bounds(const haul__discovery *d, uintptr_t address, size_t bytes)
{
    return bounded(d, address, bytes) == bytes;
}

int haul__is_readable(const haul__discovery *d, uintptr_t address, size_t bytes)
{
    const haul_context_options *options = &d->context->options;
    return haul__is_within_bounds(d, address, bytes) &&
           (!options->readable ||
            options->readable(options->readable_user, (const void *)address, bytes));
}

/* The bytes of a placed granule that are not so, as a mask. */
static uint32_t missing_bytes(const haul__block *block, unsigned granule, haul__knowing what)
{
    uint32_t mask = haul__byte_mask(block, granule);
    if (what == HAUL__DESCRIBED)
        mask |= haul__hole_mask(block, granule);
    return ~mask & HAUL__FULL_MASK;
}

/* The number of bytes of [at, end), a range within a block, up to the first that is not so. */
static size_t known_in_block(const haul__block *block, uintptr_t at, uintptr_t end,
                             haul__knowing what)
{
    const int is_whole = what == HAUL__PLACED || !haul__has_masks(block);
    const uintptr_t first = at;
    uint32_t missing = 0;
    if (block->form == HAUL__FULL)
        return end - first;
    while (at < end && !missing && haul__is_placed(block, at)) {
        const unsigned byte = (unsigned)(at & (HAUL__GRANULE - 1));
        if (!is_whole)
            missing = missing_bytes(block, haul__granule_in_block(at), what) >> byte;
        at += missing ? haul__lowest32(missing) : HAUL__GRANULE - byte;
    }
    return (at < end ? at : end) - first;
}

size_t haul__known_bytes(const haul__discovery *d, uintptr_t address, size_t bytes,
                         haul__knowing what)
{
    size_t known = 0, more, here;
    bytes = bounded(d, address, bytes);
    if (!d->within)
        return bytes;
    if (address < HAUL__LOWEST || address > HAUL__HIGHEST)
        return 0;
    if (bytes > HAUL__HIGHEST - address)
        bytes = HAUL__HIGHEST - address;
    for (; known < bytes; known += more) {
        const uintptr_t at = address + known;
        const haul__block *block = haul__map_find(d->within, at);
        here = HAUL__BLOCK_BYTES - (at & (HAUL__BLOCK_BYTES - 1));
        if (here > bytes - known)
            here = bytes - known;
        more = block ? known_in_block(block, at, at + here, what) : 0;
        if (more < here)
            return known + more;
    }
    return known;
}
