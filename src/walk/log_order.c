/* Recording a trail: every range is noted when a pointer leads to it, new or not, each once.
 *
 * What is new would not be enough: an array that lies on two objects which were found before marks
 * nothing, and yet it is what says that the two must stay side by side. So ranges are known by
 * their bounds, in a hash, and a graph of many pointers to few objects costs what its objects cost.
 */
#include "walk/log_order.h"
#include "walk/met_types.h"

#define KNOWN_MIN ((size_t)256)

static int is_same(const haul__reached *a, const haul__reached *b)
{
    return a->first == b->first && a->end == b->end && a->asked == b->asked && a->kept == b->kept &&
           a->hoped == b->hoped;
}

/* Where it stands among the known, or a free place. */
static size_t *place_of(const haul__order_log *trail, const haul__reached *range)
{
    const size_t mask = trail->known_capacity - 1;
    const uint64_t mixed = (uint64_t)range->first * 3 + (range->end - range->first);
    size_t at = (size_t)((mixed * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (trail->known[at] && !is_same(&trail->reached[trail->known[at] - 1], range))
        at = (at + 1) & mask;
    return &trail->known[at];
}

static int make_room(const haul_allocator *allocator, haul__order_log *trail)
{
    size_t capacity = trail->known_capacity ? 2 * trail->known_capacity : KNOWN_MIN, i;
    size_t *known;
    if (trail->reached_count < trail->known_capacity / 2)
        return 1;
    known = haul__allocate_zeroed(allocator, capacity * sizeof *known);
    if (!known)
        return 0;
    haul__release(allocator, trail->known, trail->known_capacity * sizeof *trail->known);
    trail->known = known;
    trail->known_capacity = capacity;
    for (i = 0; i < trail->reached_count; i++)
        *place_of(trail, &trail->reached[i]) = i + 1;
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
                            size_t alignment)
{
    haul__order_log *trail = d->trail;
    void *reached = trail->reached;
    haul__reached range;
    size_t *known;
    range.first = entry->address;
    range.end = end;
    range.turn = trail->reached_count;
    range.asked = lowest_bit(alignment, HAUL_ALIGNMENT_MAX);
    range.kept = range.asked;
    if (entry->what == HAUL__OBJECTS)
        range.kept = lowest_bit(d->kinds[entry->kind].walk->placement, HAUL_ALIGNMENT_MAX);
    range.hoped = lowest_bit(entry->stride, HAUL__GRANULE);
    if (!make_room(d->allocator, trail))
        return HAUL_ERROR_MEMORY;
    known = place_of(trail, &range);
    if (*known)
        return HAUL_OK;
    if (!haul__grow(d->allocator, &reached, &trail->reached_capacity, trail->reached_count + 1,
                    sizeof *trail->reached))
        return HAUL_ERROR_MEMORY;
    trail->reached = reached;
    trail->reached[trail->reached_count++] = range;
    *known = trail->reached_count;
    return HAUL_OK;
}

haul_status haul__log_reference(haul__discovery *d, haul__reference *mention)
{
    haul__order_log *trail = d->trail;
    void *mentions = trail->mentions;
    if (d->at_entry != SIZE_MAX) {
        const haul__entry *entry = &d->entries[d->at_entry];
        mention->object = entry->address + d->at_element * entry->stride;
        mention->object_end = mention->object + entry->stride;
    }
    if (!haul__grow(d->allocator, &mentions, &trail->mention_capacity, trail->mention_count + 1,
                    sizeof *trail->mentions))
        return HAUL_ERROR_MEMORY;
    trail->mentions = mentions;
    trail->mentions[trail->mention_count++] = *mention;
    return HAUL_OK;
}

haul_status haul__log_pointer(haul__discovery *d, haul__reference_kind kind, uintptr_t word,
                              uintptr_t value)
{
    haul__reference mention;
    if (!value)
        return HAUL_OK;
    memset(&mention, 0, sizeof mention);
    mention.kind = kind;
    mention.word = word;
    mention.value = mention.target = value;
    return haul__log_reference(d, &mention);
}
