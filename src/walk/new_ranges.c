/* The ranges that a discovery finds.
 *
 * A range that brings no new byte lies in others, so it is not listed. Those that are may overlap.
 * Nodes are often found in order of address, at equal distances: such a row is one record.
 */
#include "walk/new_ranges.h"
#include "walk/met_types.h"

#define FAR_APART ((uintptr_t)4096) /* objects so far apart are no row */

static int is_clear(const haul__discovery *d, const haul__new_range *range)
{
    const haul__elsewhere *elsewhere = d->found->elsewhere;
    return elsewhere && haul__is_clear_around(elsewhere, range->begin, range->bytes);
}

static haul_status list(haul__discovery *d, const haul__new_range *range)
{
    haul__new_range *added;
    if (d->listing->is_wanted)
        return HAUL_OK;
    added = HAUL__LIST_ADD(d->allocator, &d->listing->list);
    if (!added)
        return HAUL_ERROR_MEMORY;
    *added = *range;
    d->listing->before = d->listing->last = d->listing->next = 0;
    d->listing->unclear += !is_clear(d, range);
    return HAUL_OK;
}

/* The padding behind the last of an array of structs that ends at `end`, as C has it. It has a
 * granule together with bytes of the struct. */
static size_t padding_of(const haul__walk *walk, size_t stride, uintptr_t end)
{
    const size_t padding = walk->extent - walk->true_upper;
    if (padding == 0 || haul__is_sized(walk) || stride != walk->extent || walk->true_upper == 0 ||
        walk->true_upper > walk->extent || padding >= HAUL__WORD)
        return 0;
    return (end - padding - 1) / HAUL__GRANULE == (end - 1) / HAUL__GRANULE ? padding : 0;
}

haul_status haul__list_entry(haul__discovery *d, const haul__entry *entry)
{
    const haul__met_type *met =
        entry->what == HAUL__OBJECTS ? &d->met_types[entry->met_type] : NULL;
    const size_t lower = met ? met->walk->true_lower : 0, bytes = haul__entry_bytes(d, entry);
    haul__new_range range;
    haul_status status = HAUL_OK;
    size_t i;
    if (!d->listing || bytes <= lower)
        return HAUL_OK;
    range.begin = entry->address + lower;
    range.padding =
        met ? padding_of(met->walk, entry->stride, entry->address + entry->count * entry->stride)
            : 0;
    range.bytes = bytes - lower + range.padding;
    /* not a type that commit made up, for pointers with a rule each */
    range.type = met && !met->walk->is_slot ? met->type : NULL;
    range.count = entry->count;
    range.times = 1;
    range.apart = 0;
    if (!entry->run || entry->run == entry->stride)
        return list(d, &range);
    range.bytes = entry->run;
    range.padding = 0;
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        range.begin = entry->address + i * entry->stride;
        status = list(d, &range);
    }
    return status;
}

/* Does the object make a row of the last two? By chance, three seldom are one. */
static int is_third(const haul__listing *listing, uintptr_t address, const haul__met_type *met)
{
    const uintptr_t apart = address - listing->last;
    const haul__new_range *last;
    if (!listing->before || apart != listing->last - listing->before ||
        met->type != listing->last_type || apart >= FAR_APART)
        return 0;
    last = &listing->list.at[listing->list.count - 1];
    return apart >= last->bytes && !last[0].padding && !last[-1].padding;
}

int haul__list_apart(haul__discovery *d, uintptr_t address, const haul__met_type *met)
{
    const haul__walk *walk = met->walk;
    haul__listing *listing = d->listing;
    const size_t padding = padding_of(walk, walk->extent, address + walk->extent);
    haul__new_range *range;
    listing->clear = 0;
    listing->unclear += padding != 0; /* the walk has asked for the object alone */
    if (!padding && is_third(listing, address, met)) {
        range = &listing->list.at[--listing->list.count - 1];
        range->times = 3;
        range->apart = address - listing->last;
        listing->next = address + range->apart;
        listing->before = listing->last = 0;
        return 1;
    }
    range = HAUL__LIST_ADD(d->allocator, &listing->list);
    if (!range)
        return 0;
    range->begin = address + walk->true_lower;
    range->padding = padding;
    range->bytes = walk->true_upper - walk->true_lower + padding;
    range->type = walk->is_slot ? NULL : met->type;
    range->count = 1;
    range->times = 1;
    range->apart = 0;
    listing->before = met->type == listing->last_type ? listing->last : 0;
    listing->last = address;
    listing->next = 0;
    listing->last_type = met->type;
    return 1;
}
