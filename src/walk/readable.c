/* The bytes that a discovery may read: those that the user's `readable` allows; in the block of an
 * image, only those of the block; and in a graph that may have changed, only those that belong to
 * objects of the plan.
 *
 * A changed pointer may lead anywhere: the device may have written it. It is followed if all that
 * it leads to belonged to objects when the plan was made, whatever objects these were. Then the
 * memory is the program's, though the walk may take it for something else.
 */
#include "walk/readable.h"
#include "map/forms.h"
#include "walk/extent.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/paths.h"
#include "walk/read_set.h"

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
    if (bytes > d->work_most - d->work)
        return haul__refuse(d, HAUL_ERROR_LIMIT, NULL,
                            "ranges overlap so often that they would be read %zu bytes in all",
                            d->work_most);
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

/* ---- In a map. */

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

/* ---- In a changed graph. */

/* A large range is looked at once, and counts as work. */
static haul_status knows_range(haul__discovery *d, uintptr_t address, size_t bytes, int *knows)
{
    const int is_large = bytes >= HAUL__MEMO_BYTES;
    *knows = is_large && haul__memo_has(d, HAUL__MEMO_KNOWN, address, bytes, NULL);
    if (*knows || (is_large && haul__spend(d, bytes) != HAUL_OK))
        return HAUL_OK;
    *knows = haul__known_bytes(d, address, bytes, HAUL__DESCRIBED) == bytes;
    return *knows && is_large ? haul__memo_add(d, HAUL__MEMO_KNOWN, address, bytes, NULL) : HAUL_OK;
}

/* The bytes of the last element that its visit may read. Without rules these are its runs, with all
 * that lies before and between them (haul__mark_elements). */
static size_t bytes_of_last(const haul__discovery *d, const haul__entry *entry)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    if (entry->what != HAUL__OBJECTS)
        return entry->stride;
    if (haul__is_sized(walk))
        return haul__head_bytes(walk);
    return haul__is_ruled(walk) || (haul__is_dense(walk) && entry->stride == walk->extent)
               ? walk->extent
               : walk->span;
}

/* Between objects with rules there may be bytes that belong to none. */
haul_status haul__knows(haul__discovery *d, const haul__entry *entry, int *knows)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    const size_t last = bytes_of_last(d, entry);
    haul_status status = HAUL_OK;
    size_t bytes, i;
    *knows = 0;
    if (!entry->count || haul__multiply_overflows(entry->count - 1, entry->stride, &bytes) ||
        haul__add_overflows(bytes, last, &bytes))
        return HAUL_OK;
    if (entry->what != HAUL__OBJECTS || !haul__is_ruled(walk) || entry->stride == last)
        return knows_range(d, entry->address, bytes, knows);
    for (i = 0, *knows = 1; i < entry->count && *knows && status == HAUL_OK; i++)
        status = knows_range(d, entry->address + i * entry->stride, last, knows);
    return status;
}

haul_status haul__check_integer(haul__discovery *d, const haul__slot *slot, uintptr_t base,
                                const haul_integer *place)
{
    const uintptr_t at = base + place->offset;
    haul_status status = HAUL_OK;
    int may = 1;
    if (HAUL__LIKELY(!d->changed) ||
        haul__known_bytes(d, at, place->bytes, HAUL__DESCRIBED) == place->bytes)
        return HAUL_OK;
    status = haul__has_read_apart(d, at, place->bytes, &may);
    return status == HAUL_OK && !may ? haul__refuse_unreadable(d, slot) : status;
}
