/* The fetch queue: objects with rules or of brief types, between the worklist and their marks.
 *
 * Evaluating and marking such an object at its turn would wait for memory: for its bytes, its cell,
 * its slot bits and, if it has holes, its byte masks. So an object whose turn has come enters a
 * short queue while all of these are fetched, and the object that entered HAUL__FETCH_QUEUE objects
 * before is marked and visited.
 */
#include "walk/ruled.h"
#include "map/mixed.h"
#include "map/side.h"
#include "walk/brief.h"
#include "walk/exclude.h"
#include "walk/extent.h"
#include "walk/mark_elements.h"
#include "walk/visit.h"

/* A prefetch never faults, so neither the address nor the block need be valid. */
static void fetch(const haul__discovery *d, uintptr_t address, const haul__met_type *met)
{
    const uintptr_t entry = d->map->flat ? d->map->flat[address >> HAUL__BLOCK_SHIFT] : 0;
    haul__block *block = haul__block_in(entry);
    const unsigned granule = haul__granule_in_block(address);
    const uint16_t *masks;
    haul__prefetch(address + met->first_byte);
    haul__prefetch(address + met->last_byte);
    if (!block || !(entry & 1u))
        return;
    haul__prefetch_write((uintptr_t)&block->cells[haul__cell_number(address)]);
    if ((entry & HAUL__FORM_MASK) == HAUL__MIXED)
        haul__prefetch_write((uintptr_t)&haul__slots(block)[haul__cell_number(address)]);
    masks = haul__masks(block, granule / HAUL__PAGE_GRANULES);
    if (masks)
        haul__prefetch_write((uintptr_t)&masks[granule % HAUL__PAGE_GRANULES]);
}

/* Marks and visits an object with rules the general way. */
static haul_status visit_ruled(haul__discovery *d, const haul__entry *entry, const haul__walk *walk)
{
    haul__object o = haul__object_of(entry, walk, 0, HAUL__NOTED);
    int is_new = 0;
    const haul_status status = haul__take_ruled(d, entry, &o, &is_new);
    if (status != HAUL_OK || !is_new)
        return status;
    d->found->objects++;
    d->met_types[entry->met_type].general++;
    return haul__visit_rest(d, &o);
}

/* The same for one without rules. */
static haul_status visit_loose(haul__discovery *d, const haul__entry *entry, const haul__walk *walk)
{
    haul__object o = haul__object_of(entry, walk, 0, HAUL__NOTED);
    haul__marked marked = { 0, 0, 0 };
    uintptr_t end = 0;
    haul_status status = haul__check_extent(d, entry, walk->true_upper > 0 ? walk->true_upper : 1,
                                            walk->alignment, &end);
    if (status == HAUL_OK)
        status = haul__mark_elements(d, entry, 0, end, &marked);
    if (status != HAUL_OK || marked.first == marked.end)
        return status;
    d->found->objects++;
    d->met_types[entry->met_type].general++;
    return haul__visit_rest(d, &o);
}

static haul_status visit_general(haul__discovery *d, uintptr_t object, uint32_t number)
{
    const haul__walk *walk = d->met_types[number].walk;
    haul__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.address = object;
    entry.count = 1;
    entry.met_type = number;
    entry.stride = walk->extent;
    entry.parent = SIZE_MAX;
    entry.what = HAUL__OBJECTS;
    return haul__is_ruled(walk) ? visit_ruled(d, &entry, walk) : visit_loose(d, &entry, walk);
}

static haul_status visit_first(haul__discovery *d, haul__candidates *c, uint64_t what)
{
    const uint32_t number = HAUL__ENTRY_TYPE(what);
    const haul__walk *walk = d->met_types[number].walk;
    const uintptr_t object = HAUL__ENTRY_ADDRESS(what);
    int done = 0;
    haul_status status = HAUL_OK;
    if (HAUL__LIKELY(d->met_types[number].is_brief))
        status = haul__take_brief(d, c, object, number, &done);
    if (status == HAUL_OK && !done)
        status = visit_general(d, object, number);
    return status == HAUL_OK && walk->excluded_count
               ? haul__exclude_fields(d, walk, object, walk->extent)
               : status;
}

haul_status haul__fetch_push(haul__discovery *d, haul__candidates *c, uintptr_t element,
                             uint32_t number)
{
    const uint64_t what = (uint64_t)element | (uint64_t)number << 48;
    const size_t last = (d->fetching_first + d->fetching_count) % HAUL__FETCH_QUEUE;
    uint64_t first;
    d->found->objects--; /* it counts later, if it is new */
    if (d->met_types[number].is_brief)
        haul__fetch_brief(d, element, &d->met_types[number]);
    else
        fetch(d, element, &d->met_types[number]);
    if (d->fetching_count < HAUL__FETCH_QUEUE) {
        d->fetching[last] = what;
        d->fetching_count++;
        return HAUL_OK;
    }
    first = d->fetching[d->fetching_first];
    d->fetching[d->fetching_first] = what;
    d->fetching_first = (d->fetching_first + 1) % HAUL__FETCH_QUEUE;
    return visit_first(d, c, first);
}

haul_status haul__fetch_drain(haul__discovery *d)
{
    uint64_t near[HAUL__CANDIDATES], over[HAUL__CANDIDATES];
    haul__candidates c = { near, over, 0, 0, HAUL__NOT_UNIFORM };
    haul_status status = HAUL_OK;
    while (d->fetching_count && status == HAUL_OK) {
        const uint64_t first = d->fetching[d->fetching_first];
        d->fetching_first = (d->fetching_first + 1) % HAUL__FETCH_QUEUE;
        d->fetching_count--;
        status = visit_first(d, &c, first);
        if (status == HAUL_OK)
            status = haul__settle(d, &c);
    }
    return status;
}
