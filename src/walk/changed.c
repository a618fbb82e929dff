/* What a walk over a changed graph may read, and how much.
 *
 * A changed pointer may lead anywhere: the device may have written it. It is followed if all that
 * it leads to belonged to objects when the plan was made, whatever objects these were. Then the
 * memory is the program's, though the walk may take it for something else. In an arena all bytes
 * are the program's.
 *
 * What is wrong does not end the walk, so it could go on for as long as wrong pointers lead to
 * wrong objects. So each range that it reaches and each object that it visits counts as work.
 */
#include "walk/changed.h"
#include "walk/extent.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/paths.h"
#include "walk/read_set.h"
#include "walk/readable.h"

/* A large range is looked at once. The bytes that are known count as work. */
static haul_status knows_range(haul__discovery *d, uintptr_t address, size_t bytes, int *knows)
{
    const int is_large = bytes >= HAUL__MEMO_BYTES;
    haul_status status;
    size_t known;
    *knows = is_large && haul__memo_has(d, HAUL__MEMO_KNOWN, address, bytes, NULL);
    if (*knows)
        return HAUL_OK;
    known = haul__known_bytes(d, address, bytes, HAUL__DESCRIBED);
    *knows = known == bytes;
    status = haul__spend(d, is_large ? known : HAUL__GRANULE);
    return status == HAUL_OK && *knows && is_large
               ? haul__memo_add(d, HAUL__MEMO_KNOWN, address, bytes, NULL)
               : status;
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
static haul_status knows_entry(haul__discovery *d, const haul__entry *entry, int *knows)
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

/* Objects with rules are reached once, by each parent and ancestor that their rules may ask for.
 * They may refuse their evaluation whenever a pointer leads to them, and each time a visit would
 * find out why. */
static haul_status is_first(haul__discovery *d, const haul__entry *entry, int *is)
{
    const haul__met_type *met = &d->met_types[entry->met_type];
    size_t key = entry->count * entry->stride;
    *is = 1;
    if (entry->what != HAUL__OBJECTS || !haul__is_ruled(met->walk))
        return HAUL_OK;
    if (met->walk->is_wide)
        key += (size_t)haul__hash((uint64_t)entry->self ^ (uint64_t)entry->ancestor.object << 16);
    *is = !haul__memo_has(d, HAUL__MEMO_REACHED, entry->address, key, met->type);
    return *is ? haul__memo_add(d, HAUL__MEMO_REACHED, entry->address, key, met->type) : HAUL_OK;
}

haul_status haul__may_reach(haul__discovery *d, const haul__entry *entry, int *may)
{
    haul_status status = haul__spend(d, HAUL__GRANULE);
    *may = 0;
    if (status == HAUL_OK)
        status = is_first(d, entry, may);
    return status == HAUL_OK && *may && d->changed ? knows_entry(d, entry, may) : status;
}

haul_status haul__spend_visit(haul__discovery *d, const haul__entry *entry)
{
    size_t bytes;
    if (entry->what == HAUL__PLAIN)
        return HAUL_OK;
    if (haul__multiply_overflows(entry->count, entry->stride + HAUL__WORD, &bytes) ||
        haul__add_overflows(bytes, sizeof *entry, &bytes))
        bytes = SIZE_MAX;
    return haul__spend(d, bytes);
}

haul_status haul__check_integer(haul__discovery *d, const haul__slot *slot, uintptr_t base,
                                const haul_integer *place)
{
    const uintptr_t at = base + place->offset;
    haul_status status = HAUL_OK;
    int may = 0;
    if (HAUL__UNLIKELY(d->bounds != NULL) && !haul__is_within_bounds(d, at, place->bytes))
        return haul__refuse_unreadable(d, slot);
    if (HAUL__LIKELY(!d->passing) ||
        haul__known_bytes(d, at, place->bytes, HAUL__DESCRIBED) == place->bytes)
        return HAUL_OK;
    if (d->changed)
        status = haul__has_read_apart(d, at, place->bytes, &may);
    return status == HAUL_OK && !may ? haul__refuse_unreadable(d, slot) : status;
}
