/* The order log: each range that a pointer leads to is logged, even if none of its bytes is new.
 *
 * New bytes alone would not do: an array over two objects that were found before marks nothing, yet
 * the two must stay side by side. A range with new bytes cannot have been logged before. A hash
 * over bounds finds other ranges that are in the log. So a range is logged twice at most, and many
 * pointers to few objects cost no more than the objects.
 */
#include "walk/log_order.h"
#include "walk/met_types.h"

#define KNOWN_MIN ((size_t)256)

/* The range's place in the hash, or a free one. */
static size_t *place_of(const haul__order_log *order_log, const haul__reached *range)
{
    const size_t mask = order_log->known_capacity - 1;
    const uint64_t mixed = (uint64_t)range->first * 3 + (range->end - range->first);
    size_t at = (size_t)((mixed * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    for (; order_log->known[at]; at = (at + 1) & mask) {
        const haul__reached *other = &order_log->reached.at[order_log->known[at] - 1];
        if (other->first == range->first && other->end == range->end &&
            other->asked == range->asked && other->kept == range->kept &&
            other->hoped == range->hoped)
            break;
    }
    return &order_log->known[at];
}

static int make_room(const haul_allocator *allocator, haul__order_log *order_log)
{
    size_t capacity = order_log->known_capacity ? 2 * order_log->known_capacity : KNOWN_MIN;
    size_t *known, *old, old_capacity, i;
    if (order_log->known_count < order_log->known_capacity / 2)
        return 1;
    known = haul__allocate_zeroed(allocator, capacity * sizeof *known);
    if (!known)
        return 0;
    old = order_log->known;
    old_capacity = order_log->known_capacity;
    order_log->known = known;
    order_log->known_capacity = capacity;
    for (i = 0; i < old_capacity; i++)
        if (old[i])
            *place_of(order_log, &order_log->reached.at[old[i] - 1]) = old[i];
    haul__release(allocator, old, old_capacity * sizeof *old);
    return 1;
}

/* log2 of the largest power of two up to `most` that divides `bytes`. */
static uint8_t lowest_bit(size_t bytes, size_t most)
{
    uint8_t log = 0;
    while (((size_t)1 << log) < most && !(bytes >> log & 1))
        log++;
    return log;
}

haul_status haul__log_range(haul__discovery *d, const haul__entry *entry, uintptr_t end,
                            size_t alignment, int is_new)
{
    haul__reached range;
    range.first = entry->address;
    range.end = end;
    range.asked = lowest_bit(alignment, HAUL_ALIGNMENT_MAX);
    range.kept = range.asked;
    if (entry->what == HAUL__OBJECTS)
        range.kept = lowest_bit(d->met_types[entry->met_type].walk->placement, HAUL_ALIGNMENT_MAX);
    range.hoped = lowest_bit(entry->stride, HAUL__GRANULE);
    return is_new ? haul__log_new(d, &range) : haul__log_known(d, &range);
}

haul_status haul__log_new(haul__discovery *d, const haul__reached *range)
{
    haul__order_log *order_log = d->order_log;
    haul__reached *added;
    if (range->first == range->end)
        return HAUL_OK;
    added = HAUL__LIST_ADD(d->allocator, &order_log->reached);
    if (!added)
        return HAUL_ERROR_MEMORY;
    *added = *range;
    added->turn = (uint32_t)(order_log->reached.count - 1);
    return HAUL_OK;
}

haul_status haul__log_known(haul__discovery *d, const haul__reached *range)
{
    haul__order_log *order_log = d->order_log;
    size_t *known;
    haul_status status;
    if (!make_room(d->allocator, order_log))
        return HAUL_ERROR_MEMORY;
    known = place_of(order_log, range);
    if (*known)
        return HAUL_OK;
    status = haul__log_new(d, range);
    if (status == HAUL_OK && range->first != range->end) {
        *known = order_log->reached.count;
        order_log->known_count++;
    }
    return status;
}

void haul__array_demands(const haul__walk *walk, size_t unit, haul__reached *range)
{
    range->asked = range->kept = walk ? lowest_bit(walk->alignment, HAUL_ALIGNMENT_MAX) : 0;
    range->hoped = lowest_bit(unit, HAUL__GRANULE);
}

void haul__demands_of(const haul__walk *walk, haul__reached *range)
{
    range->asked = lowest_bit(walk->alignment, HAUL_ALIGNMENT_MAX);
    range->kept = lowest_bit(walk->placement, HAUL_ALIGNMENT_MAX);
    range->hoped = lowest_bit(walk->extent, HAUL__GRANULE);
}

haul_status haul__log_reference(haul__discovery *d, haul__reference *reference)
{
    haul__order_log *order_log = d->order_log;
    haul__reference *added;
    if (!d->recording) {
        reference->object = d->visited;
        reference->object_end = d->visited_end;
    } else if (d->at_entry != SIZE_MAX) {
        const haul__entry *entry = &d->entries.at[d->at_entry];
        reference->object = entry->address + d->at_element * entry->stride;
        reference->object_end = reference->object + entry->stride;
    }
    added = HAUL__LIST_ADD(d->allocator, &order_log->references);
    if (!added)
        return HAUL_ERROR_MEMORY;
    *added = *reference;
    return HAUL_OK;
}

haul_status haul__log_pointer(haul__discovery *d, haul__reference_kind kind, uintptr_t word,
                              uintptr_t value)
{
    haul__reference reference;
    if (!value)
        return HAUL_OK;
    memset(&reference, 0, sizeof reference);
    reference.kind = kind;
    reference.word = word;
    reference.value = reference.target = value;
    return haul__log_reference(d, &reference);
}
