/* The ranges that a discovery finds.
 *
 * A range that brings no new byte lies in others, so it is not listed. Those that are may overlap.
 */
#include "walk/new_ranges.h"
#include "walk/met_types.h"

static haul_status list(haul__discovery *d, uintptr_t begin, size_t bytes, size_t padding,
                        const haul__entry *entry)
{
    const haul__met_type *met = &d->met_types[entry->met_type];
    haul__new_range here, *range = &here;
    if (!d->listing->take)
        range = HAUL__LIST_ADD(d->allocator, &d->listing->list);
    if (!range)
        return HAUL_ERROR_MEMORY;
    range->begin = begin;
    range->bytes = bytes;
    range->padding = padding;
    /* not a type that commit made up, for pointers with a rule each */
    range->type = entry->what == HAUL__OBJECTS && !met->walk->is_slot ? met->type : NULL;
    range->count = entry->count;
    range->slot = entry->slot;
    if (d->listing->take)
        d->listing->take(d->listing->user, range);
    return HAUL_OK;
}

/* The padding behind the last of an array of structs, as C has it. It has a granule together with
 * bytes of the struct. */
static size_t padding_of(const haul__walk *walk, const haul__entry *entry)
{
    const uintptr_t end = entry->address + entry->count * entry->stride;
    const size_t padding = walk->extent - walk->true_upper;
    if (haul__is_sized(walk) || entry->stride != walk->extent || walk->true_upper == 0 ||
        walk->true_upper > walk->extent || padding >= HAUL__WORD)
        return 0;
    return (end - padding - 1) / HAUL__GRANULE == (end - 1) / HAUL__GRANULE ? padding : 0;
}

haul_status haul__list_entry(haul__discovery *d, const haul__entry *entry)
{
    const haul__walk *walk =
        entry->what == HAUL__OBJECTS ? d->met_types[entry->met_type].walk : NULL;
    const size_t lower = walk ? walk->true_lower : 0, bytes = haul__entry_bytes(d, entry),
                 padding = walk ? padding_of(walk, entry) : 0;
    haul_status status = HAUL_OK;
    size_t i;
    if (!d->listing || bytes <= lower)
        return HAUL_OK;
    if (!entry->run || entry->run == entry->stride)
        return list(d, entry->address + lower, bytes - lower + padding, padding, entry);
    for (i = 0; i < entry->count && status == HAUL_OK; i++)
        status = list(d, entry->address + i * entry->stride, entry->run, 0, entry);
    return status;
}
