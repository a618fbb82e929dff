/* The order log: each range that a pointer leads to is logged, even if none of its bytes is new.
 *
 * New bytes alone would not do: an array over two objects that were found before marks nothing, yet
 * the two must stay side by side. A range with new bytes cannot have been logged before. A hash
 * over bounds finds other ranges that are in the log. So a range is logged twice at most, and once
 * more for each further type, and many pointers to few objects cost no more than the objects.
 */
#include "walk/log_order.h"
#include "walk/met_types.h"

/* Is it logged as of this type, with no less demands? */
static int is_range(const void *reached, size_t number, const void *range)
{
    const haul__reached *one = (const haul__reached *)reached + number, *other = range;
    return one->first == other->first && one->end == other->end && one->type == other->type &&
           one->asked >= other->asked && one->kept >= other->kept && one->hoped >= other->hoped;
}

/* A range that was logged just now is logged again: its entry gets the demands of both. 0: it was
 * not the last one. */
static int join_last(haul__order_log *log, const haul__reached *range)
{
    haul__reached *last;
    if (!log->gives_places || log->reached.count == 0)
        return 0;
    last = &log->reached.at[log->reached.count - 1];
    if (last->first != range->first || last->end != range->end || last->type != range->type)
        return 0;
    haul__add_demands(last, range);
    log->bytes -= last->end - last->first;
    log->end = log->end_before;
    haul__give_place(log, last);
    return 1;
}

/* log2 of the largest power of two up to `most` that divides `bytes`. */
static unsigned lowest_bit(size_t bytes, size_t most)
{
    unsigned log = 0;
    while (((size_t)1 << log) < most && !(bytes >> log & 1))
        log++;
    return log;
}

/* `unit`: bytes of an element. */
static void set_demands(haul__reached *range, size_t asked, size_t kept, size_t unit)
{
    range->asked = lowest_bit(asked, HAUL_ALIGNMENT_MAX) & 15u;
    range->kept = lowest_bit(kept, HAUL_ALIGNMENT_MAX) & 15u;
    range->hoped = lowest_bit(unit, HAUL__GRANULE) & 15u;
}

haul_status haul__log_range(haul__discovery *d, const haul__entry *entry, uintptr_t end,
                            size_t alignment, int is_new)
{
    const haul__met_type *met =
        entry->what == HAUL__OBJECTS ? &d->met_types[entry->met_type] : NULL;
    haul__reached range;
    range.first = entry->address;
    range.end = end;
    range.type = met ? met->demands.type : 0;
    set_demands(&range, alignment, met ? met->walk->placement : alignment, entry->stride);
    return is_new ? haul__log_new(d, &range) : haul__log_known(d, &range);
}

haul_status haul__log_known(haul__discovery *d, const haul__reached *range)
{
    haul__order_log *order_log = d->order_log;
    const uint64_t hash = haul__hash(range->first * 3 + (range->end - range->first));
    haul_status status;
    if (haul__index_find(&order_log->known, hash, order_log->reached.at, range, is_range) !=
        SIZE_MAX)
        return HAUL_OK;
    if (join_last(order_log, range))
        return HAUL_OK;
    status = haul__log_new(d, range);
    if (status == HAUL_OK && range->first != range->end &&
        !haul__index_add(d->allocator, &order_log->known, hash, order_log->reached.count - 1))
        status = HAUL_ERROR_MEMORY;
    return status;
}

void haul__array_demands(const haul__walk *walk, size_t unit, haul__reached *range)
{
    const size_t alignment = walk ? walk->alignment : 1;
    set_demands(range, alignment, alignment, unit);
}

void haul__demands_of(const haul__walk *walk, haul__reached *range)
{
    set_demands(range, walk->alignment, walk->placement, walk->extent);
}

haul_status haul__log_reference(haul__discovery *d, haul__reference *reference)
{
    haul__order_log *order_log = d->order_log;
    haul__reference *added;
    if (!d->recording) {
        reference->object = d->visited;
    } else if (d->at_entry != SIZE_MAX) {
        const haul__entry *entry = &d->entries.at[d->at_entry];
        reference->object.first = entry->address + d->at_element * entry->stride;
        reference->object.end = reference->object.first + entry->stride;
        reference->object.rows =
            entry->what == HAUL__OBJECTS ? d->met_types[entry->met_type].walk : NULL;
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
