/* What a walk over a changed graph may read.
 *
 * A changed pointer may lead anywhere: the device may have written it. It is followed if all that
 * it leads to belonged to objects when the plan was made, whatever objects these were. Then the
 * memory is the program's, though the walk may take it for something else.
 */
#include "walk/changed.h"
#include "walk/extent.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/paths.h"
#include "walk/read_set.h"
#include "walk/readable.h"

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
