/* Following one pointer: its target is counted, checked and marked, and put on the worklist if any
 * of it is new.
 *
 * The pointer is read once, before it comes here. From then on the value that was read counts, not
 * the word.
 */
#include "walk/follow.h"
#include "walk/ancestors.h"
#include "walk/brief_marks.h"
#include "walk/changed.h"
#include "walk/checked.h"
#include "walk/exclude.h"
#include "walk/extent.h"
#include "walk/hints.h"
#include "walk/listed_words.h"
#include "walk/log_order.h"
#include "walk/mark_elements.h"
#include "walk/memo.h"
#include "walk/met_types.h"
#include "walk/new_ranges.h"
#include "walk/news.h"
#include "walk/outer_arrays.h"
#include "walk/paths.h"
#include "walk/pools.h"
#include "walk/read_set.h"
#include "walk/readable.h"
#include "walk/ruled.h"
#include "walk/share.h"
#include "walk/stops.h"
#include "walk/targets.h"

/* A pointer to no elements may lead to a copy, or to the end of one: then the walk stops there. It
 * leads there in the copy, too, so the enter must hold it. */
static haul_status stop_at_empty(haul__discovery *d, const haul__slot *slot, uintptr_t value)
{
    int stops = 1;
    haul_status status = HAUL_OK;
    if (value)
        status = haul__stops_at(d, slot, value, 1, &stops);
    if (status == HAUL_OK && !stops)
        status = haul__stops_at(d, slot, value - 1, 1, &stops);
    return status;
}

/* Lists a pointer to no elements. It may lead anywhere, and gather must not take it for a changed
 * one. */
static haul_status note_empty(haul__discovery *d, uintptr_t place, uintptr_t value)
{
    haul__found *found = d->found;
    if (!haul__grow(d->allocator, &found->empty, &found->empty_capacity, found->empty_count + 1,
                    sizeof *found->empty))
        return HAUL_ERROR_MEMORY;
    found->empty[found->empty_count++] = place;
    return d->order_log ? haul__log_pointer(d, HAUL__REFERENCE_PLACE, place, value) : HAUL_OK;
}

/* Queues an object with rules, or of a brief type; it is marked at its turn. One that was queued
 * lately is not queued again. */
static haul_status queue_unmarked(haul__discovery *d, uintptr_t address, uint32_t number)
{
    uint64_t what = (uint64_t)address | (uint64_t)number << 48;
    size_t at = (size_t)(haul__hash(what) >> 32) & (HAUL__QUEUED - 1);
    if (d->queued[at] == what)
        return HAUL_OK;
    d->queued[at] = what;
    return haul__queue_push(d, address, number, 1) ? HAUL_OK : HAUL_ERROR_MEMORY;
}

haul_status haul__queue_brief(haul__discovery *d, uintptr_t address, uint32_t number)
{
    haul__entry entry;
    if (address <= HAUL__HIGHEST)
        return queue_unmarked(d, address, number);
    memset(&entry, 0, sizeof entry); /* it is refused */
    entry.address = address;
    entry.count = 1;
    entry.met_type = number;
    entry.stride = d->met_types[number].walk->extent;
    entry.parent = SIZE_MAX;
    entry.what = HAUL__OBJECTS;
    return haul__reach(d, &entry);
}

/* An object whose size is asked for is reached at once, because its address may be wrong; and so is
 * one that does not end within all addresses, before its bytes are excluded. */
static int can_queue(const haul__discovery *d, const haul__entry *entry)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    return !haul__is_general(d) && !d->in_order && entry->count == 1 && !walk->is_wide &&
           (!haul__is_noted(walk) || d->met_types[entry->met_type].is_brief) &&
           !((d->named || entry->is_asked) && haul__is_sized(walk)) &&
           entry->met_type <= UINT16_MAX && entry->address <= HAUL__HIGHEST - walk->extent;
}

/* The directions that the target is excluded from. */
static unsigned ways_of(const haul__discovery *d, const haul__pointer *p)
{
    return d->within
               ? 0
               : p->slot->flags & (haul__is_last_level(p) ? HAUL__EXCLUDED : HAUL__UNRETURNED);
}

haul_status haul__follow_counted(haul__discovery *d, const haul__pointer *p, size_t count)
{
    const haul__slot *slot = p->slot;
    const haul_count *shape = &slot->shape[p->level];
    haul__entry entry;
    haul_status status;
    if (!count) {
        status = note_empty(d, p->place, p->value);
        if (status == HAUL_OK && shape->kind == HAUL_COUNT_KIND_UNTIL)
            status = note_empty(d, p->self + shape->field[0].offset, p->value);
        return status == HAUL_OK && d->found->elsewhere ? stop_at_empty(d, slot, p->value) : status;
    }
    memset(&entry, 0, sizeof entry);
    entry.address = p->value;
    entry.count = count;
    if (!haul__is_last_level(p)) {
        entry.nearest = p->nearest;
        entry.what = HAUL__POINTERS;
        entry.level = (uint8_t)(p->level + 1);
    } else if (slot->target) {
        entry.what = HAUL__OBJECTS;
        status = haul__met_type_of(d, slot->target, &entry.met_type);
        if (status != HAUL_OK)
            return status;
        if (haul__is_ruled(d->met_types[entry.met_type].walk) ||
            d->met_types[entry.met_type].is_brief) {
            entry.is_asked = ways_of(d, p) != 0;
            if (!d->named && can_queue(d, &entry))
                return queue_unmarked(d, p->value, entry.met_type);
        }
    } else {
        entry.what = HAUL__PLAIN;
        entry.level = (uint8_t)p->level;
    }
    entry.self = p->self;
    entry.stride = haul__unit_of(slot, p->level);
    entry.slot = slot;
    entry.index = p->index;
    entry.line = p->line;
    if (p->ancestor)
        entry.ancestor = *p->ancestor;
    entry.parent = d->at_entry;
    entry.parent_element = d->at_element;
    return haul__reach(d, &entry);
}

haul_status haul__follow_measured(haul__discovery *d, const haul__pointer *p, size_t count)
{
    const unsigned ways = ways_of(d, p);
    haul_status status = haul__note_target(d, p, count);
    if (status != HAUL_OK || !p->value ||
        (count == HAUL__KNOWN && p->slot->shape[p->level].kind == HAUL_COUNT_KIND_TERMINATED))
        return status;
    status = haul__follow_counted(d, p, count);
    return status == HAUL_OK && ways && count && !d->has_stopped
               ? haul__exclude_target(d, p, count, ways)
               : status;
}

haul_status haul__follow(haul__discovery *d, const haul__pointer *p)
{
    size_t count;
    const int is_exact = ways_of(d, p) || (d->named && haul__hint_for(d, p->slot, NULL));
    haul_status status = haul__count_of(d, p, is_exact ? HAUL__EXACT : HAUL__NOTED, &count);
    if (status == HAUL_OK)
        status = haul__follow_measured(d, p, count);
    return HAUL__UNLIKELY(d->passing != NULL) ? haul__pass_over(d, status) : status;
}

/* Checks the extent of an object with a size of its own: first of the head that the size is read
 * from, then of the whole. A wrong size is left for the visit; *bytes is then the head. */
static haul_status check_sized(haul__discovery *d, const haul__entry *entry, const haul__walk *walk,
                               size_t *bytes, int *must_visit)
{
    haul__object o = haul__object_of(entry, walk, 0, HAUL__DRY);
    size_t head = haul__head_bytes(walk);
    uintptr_t end;
    haul_status status;
    if (entry->count != 1)
        return haul__refuse(d, HAUL_ERROR_GRAPH, entry->slot,
                            "%zu objects of type %s, which have no fixed size: one at a time",
                            entry->count, walk->name);
    status = haul__check_extent(d, entry, head, walk->alignment, &end);
    if (status != HAUL_OK)
        return status;
    status = haul__find_size(d, &o, entry->slot);
    *bytes = o.bytes;
    if (status == HAUL_OK && *bytes > 0)
        return haul__check_extent(d, entry, *bytes, walk->alignment, &end);
    *must_visit |= status != HAUL_OK;
    *bytes = head;
    return status == HAUL_ERROR_MEMORY ? status : HAUL_OK;
}

static haul_status log_range(haul__discovery *d, const haul__entry *entry, uintptr_t end,
                             size_t alignment, int is_new)
{
    const haul_status status = is_new ? haul__list_entry(d, entry) : HAUL_OK;
    return status == HAUL_OK && d->order_log ? haul__log_range(d, entry, end, alignment, is_new)
                                             : status;
}

static haul_status meet_object(haul__discovery *d, const haul__entry *entry)
{
    const haul_type *type = d->met_types[entry->met_type].type;
    if (!d->recording || !d->context->options.checked ||
        haul_type_combiner(type) != HAUL_COMBINER_STRUCT_FIELDS)
        return HAUL_OK;
    return haul__meet(d, entry->address, HAUL__AS_OBJECT, type,
                      d->met_types[entry->met_type].walk->extent, entry->slot);
}

/* Checked mode: compares a further parent with the first one, and sets is_again if the objects must
 * be visited again for other ancestors. */
static haul_status meet_again(haul__discovery *d, haul__entry *entry)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    haul_status status = HAUL_OK;
    int is_again = 0;
    if (!walk->is_wide || !d->recording || d->passing || !d->context->options.checked)
        return HAUL_OK;
    if (walk->with_parent)
        status = haul__meet_parent(d, entry);
    if (status == HAUL_OK && walk->needs)
        status = haul__meet_ancestors(d, entry, &is_again);
    entry->is_again = (uint8_t)is_again;
    return status;
}

/* Objects of types with rules (ruled_visit.c): queued, or marked at once. A long object is asked
 * for its size once; the size becomes its entry's stride. */
static haul_status reach_ruled(haul__discovery *d, haul__entry *entry)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    const haul_type *type = d->met_types[entry->met_type].type;
    size_t bytes = walk->extent, whole, i;
    haul__marked marked = { 0, 0, 0 };
    uintptr_t end = 0;
    int must_visit = walk->has_parts, is_noted;
    haul_status status;
    if (can_queue(d, entry))
        return queue_unmarked(d, entry->address, entry->met_type);
    status = meet_object(d, entry);
    if (status == HAUL_OK)
        status = meet_again(d, entry);
    must_visit |= entry->is_again;
    if (status != HAUL_OK || (haul__is_sized(walk) && !entry->is_again && !d->named &&
                              haul__memo_has(d, HAUL__MEMO_SIZED, entry->address, 0, type)))
        return status;
    status = haul__is_sized(walk) ? check_sized(d, entry, walk, &bytes, &must_visit)
                                  : haul__check_extent(d, entry, bytes, walk->alignment, &end);
    if (status == HAUL_OK && haul__is_sized(walk) && bytes >= HAUL__MEMO_BYTES)
        status = haul__memo_add(d, HAUL__MEMO_SIZED, entry->address, 0, type);
    if (status != HAUL_OK)
        return status;
    if (haul__is_sized(walk))
        entry->stride = bytes;
    whole = (entry->count - 1) * entry->stride + bytes;
    end = entry->address + whole;
    is_noted = whole >= HAUL__MEMO_BYTES || walk->has_parts;
    if (is_noted && !entry->is_again &&
        haul__memo_has(d, HAUL__MEMO_EXTENT, entry->address, whole, type))
        return log_range(d, entry, end, walk->alignment, 0);
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        haul__object o = haul__object_of(entry, walk, i, HAUL__DRY);
        int fresh = HAUL__APART;
        o.bytes = bytes;
        if (d->met_types[entry->met_type].is_brief)
            status = haul__brief_mark_element(d, entry->met_type, o.address, &fresh);
        must_visit |= fresh > 0;
        if (status == HAUL_OK && fresh < 0)
            status = haul__evaluate(d, &o, &must_visit);
        if (status == HAUL_OK && fresh < 0)
            status = haul__mark_ruled(d, entry, &o, &marked, &must_visit);
        if (status == HAUL_OK)
            status = haul__news_of_element(d, i);
    }
    if (status == HAUL_OK)
        haul__mark_array(d->map, entry->address, end);
    if (status == HAUL_OK && is_noted)
        status = haul__memo_add(d, HAUL__MEMO_EXTENT, entry->address, whole, type);
    if (status == HAUL_OK)
        status = log_range(d, entry, end, walk->alignment, marked.first != marked.end);
    if (status != HAUL_OK || (marked.first == marked.end && !must_visit))
        return status;
    return haul__push_entry(d, entry);
}

/* Marks the elements of an array of a brief type without rules. */
static haul_status mark_brief_elements(haul__discovery *d, const haul__entry *entry,
                                       haul__marked *marked)
{
    const size_t bytes = d->met_types[entry->met_type].walk->extent;
    haul__entry element = *entry;
    haul_status status = HAUL_OK;
    size_t i;
    element.count = 1;
    for (i = 0; i < entry->count && status == HAUL_OK; i++, element.address += entry->stride) {
        int fresh;
        status = haul__brief_mark_element(d, entry->met_type, element.address, &fresh);
        if (status == HAUL_OK && fresh < 0)
            status = haul__mark_elements(d, &element, 0, 0, marked);
        if (fresh > 0 && marked->first == marked->end)
            marked->first = element.address;
        if (fresh > 0)
            marked->end = element.address + bytes;
        if (status == HAUL_OK)
            status = haul__news_of_element(d, i);
    }
    haul__mark_array(d->map, entry->address,
                     haul__end_of_runs(entry, d->met_types[entry->met_type].walk));
    return status;
}

static haul_status note_off_grid(haul__discovery *d, const haul__entry *entry, int *any)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; walk->is_off_grid && i < entry->count && status == HAUL_OK; i++)
        status = haul__note_off_grid(d, walk, entry->address + i * entry->stride, walk->span, any);
    return status;
}

static haul_status reach_objects(haul__discovery *d, haul__entry *entry)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    const haul_type *type = d->met_types[entry->met_type].type;
    const int is_brief = (int)d->met_types[entry->met_type].is_brief;
    size_t upper = walk->true_upper > 0 ? walk->true_upper : 1, whole;
    int dense = haul__is_dense(walk) && entry->stride == walk->extent, is_noted;
    int must_visit = 0;
    haul__marked marked = { 0, 0, 0 };
    uintptr_t end = 0, logged_end;
    haul_status status;
    if (is_brief && can_queue(d, entry))
        return queue_unmarked(d, entry->address, entry->met_type);
    status = haul__check_extent(d, entry, dense ? walk->extent : upper, walk->alignment, &end);
    if (status != HAUL_OK)
        return status;
    status = meet_object(d, entry);
    if (status == HAUL_OK)
        status = meet_again(d, entry);
    if (status != HAUL_OK)
        return status;
    logged_end = dense ? end : haul__end_of_runs(entry, walk);
    if (d->bounds && logged_end > d->bounds->end) /* an image's own type may claim any hole */
        return haul__refuse_unreadable(d, entry->slot);
    whole = (size_t)((end > logged_end ? end : logged_end) - entry->address);
    is_noted = whole >= HAUL__MEMO_BYTES || walk->part_count;
    if (is_noted && !entry->is_again &&
        haul__memo_has(d, HAUL__MEMO_EXTENT, entry->address, whole, type))
        return log_range(d, entry, logged_end, walk->alignment, 0);
    if (is_noted)
        status = haul__memo_add(d, HAUL__MEMO_EXTENT, entry->address, whole, type);
    if (status == HAUL_OK)
        status = is_brief && !dense ? mark_brief_elements(d, entry, &marked)
                                    : haul__mark_elements(d, entry, dense, end, &marked);
    if (status == HAUL_OK)
        status = log_range(d, entry, logged_end, walk->alignment, marked.first != marked.end);
    if (status == HAUL_OK)
        status = note_off_grid(d, entry, &must_visit);
    if (status != HAUL_OK ||
        (marked.first == marked.end && !walk->part_count && !entry->is_again && !must_visit))
        return status;
    if (d->recording)
        return haul__push_entry(d, entry);
    if (!walk->has_slots && !walk->part_count) {
        d->found->objects++;
        return HAUL_OK;
    }
    if (dense && !must_visit) { /* visited from the first new byte to the last one */
        const size_t first = (size_t)(marked.first - entry->address) / entry->stride;
        const size_t last = (size_t)(marked.end - 1 - entry->address) / entry->stride;
        entry->address += first * entry->stride;
        entry->count = last + 1 - first;
    }
    /* a brief object from the queue is visited only if it has not been marked */
    if (entry->count == 1 && entry->met_type <= UINT16_MAX && !walk->is_wide && !is_brief)
        return haul__queue_push(d, entry->address, entry->met_type, 1) ? HAUL_OK
                                                                       : HAUL_ERROR_MEMORY;
    return haul__push_entry(d, entry);
}

/* The row of an array of pointers may bar its targets from a direction. Then a known array is
 * visited for this row, too, unless it has been: another row may have reached it before. */
static haul_status visit_for_ways(haul__discovery *d, haul__entry *entry, size_t bytes,
                                  const void *as)
{
    const unsigned ways = d->within ? 0 : entry->slot->flags & HAUL__EXCLUDED;
    haul_status status;
    if (!ways || haul__memo_has(d, HAUL__MEMO_EXCLUDED + ways, entry->address, bytes, as))
        return HAUL_OK;
    status = haul__memo_add(d, HAUL__MEMO_EXCLUDED + ways, entry->address, bytes, as);
    if (status == HAUL_OK)
        status = haul__spend(d, bytes);
    entry->is_again = 1;
    return status == HAUL_OK ? haul__push_entry(d, entry) : status;
}

static haul_status reach_pointers(haul__discovery *d, haul__entry *entry)
{
    haul__pattern pattern;
    haul__marked marked = { 0, 0, 0 };
    const void *as = &entry->slot->shape[entry->level];
    uintptr_t end = 0;
    size_t whole;
    int is_again = 0;
    haul_status status = haul__check_extent(d, entry, HAUL__WORD, HAUL__WORD, &end);
    if (status != HAUL_OK)
        return status;
    if (d->recording) {
        status = haul__meet_pointer(d, entry->address, entry->slot, entry->level);
        if (status == HAUL_OK && d->context->options.checked)
            status = haul__meet_ancestors(d, entry, &is_again);
        if (status != HAUL_OK)
            return status;
        entry->is_again = (uint8_t)is_again;
    }
    whole = (size_t)(end - entry->address);
    if (whole >= HAUL__MEMO_BYTES && !is_again &&
        haul__memo_has(d, HAUL__MEMO_EXTENT, entry->address, whole, as)) {
        status = log_range(d, entry, end, HAUL__WORD, 0);
        return status == HAUL_OK ? visit_for_ways(d, entry, whole, as) : status;
    }
    memset(&pattern, 0, sizeof pattern);
    pattern.kind = HAUL__ALL_SLOTS;
    status = haul__mark_range(d, entry->slot, entry->address, end, &pattern, &marked);
    if (status == HAUL_OK && whole >= HAUL__MEMO_BYTES)
        status = haul__memo_add(d, HAUL__MEMO_EXTENT, entry->address, whole, as);
    if (status == HAUL_OK)
        status = log_range(d, entry, end, HAUL__WORD, marked.first != marked.end);
    if (status != HAUL_OK)
        return status;
    return marked.first == marked.end && !is_again ? visit_for_ways(d, entry, whole, as)
                                                   : haul__push_entry(d, entry);
}

haul_status haul__note_terminator(haul__discovery *d, const haul__entry *entry, int is_new)
{
    const haul_count *shape = &entry->slot->shape[entry->level];
    uintptr_t at = entry->address + (entry->count - 1) * entry->stride;
    size_t bytes = entry->count * entry->stride;
    int64_t value = haul__narrow(shape->plus, entry->stride);
    haul_status status = HAUL_OK;
    if (!is_new) {
        if (haul__memo_has(d, HAUL__MEMO_TERMINATOR, at, 0, NULL))
            return HAUL_OK;
        status = haul__memo_add(d, HAUL__MEMO_TERMINATOR, at, 0, NULL);
        if (status != HAUL_OK)
            return status;
    }
    if (entry->stride == 1 && value == 0)
        status = haul__mark_end(d->map, at) ? HAUL_OK : HAUL_ERROR_MEMORY;
    else
        status = haul__note_read(d, at, (unsigned)entry->stride, value);
    if (status == HAUL_OK && bytes >= HAUL__MEMO_BYTES)
        status = haul__memo_add(d, HAUL__MEMO_STRING, entry->address, entry->stride,
                                value ? entry->slot->shape : NULL);
    return status;
}

static haul_status reach_plain(haul__discovery *d, haul__entry *entry)
{
    haul__pattern pattern;
    haul__marked marked = { 0, 0, 0 };
    uintptr_t end = 0;
    size_t whole;
    haul_status status = haul__check_extent(d, entry, entry->stride, 1, &end);
    if (status != HAUL_OK)
        return status;
    whole = (size_t)(end - entry->address);
    if (entry->slot->flags & HAUL__SLOT_POOL) {
        status = log_range(d, entry, end, 1, 0);
        return status == HAUL_OK ? haul__note_pool(d, entry, whole) : status;
    }
    if (whole >= HAUL__MEMO_BYTES &&
        haul__memo_has(d, HAUL__MEMO_EXTENT, entry->address, whole, NULL))
        return log_range(d, entry, end, 1, 0);
    memset(&pattern, 0, sizeof pattern);
    status = haul__mark_range(d, entry->slot, entry->address, end, &pattern, &marked);
    if (status == HAUL_OK && whole >= HAUL__MEMO_BYTES)
        status = haul__memo_add(d, HAUL__MEMO_EXTENT, entry->address, whole, NULL);
    if (status == HAUL_OK && entry->slot->shape[entry->level].kind == HAUL_COUNT_KIND_TERMINATED)
        status = haul__note_terminator(d, entry, marked.first != marked.end);
    if (status == HAUL_OK)
        status = log_range(d, entry, end, 1, marked.first != marked.end);
    if (status != HAUL_OK || marked.first == marked.end)
        return status;
    if (status == HAUL_OK && d->recording)
        return haul__push_entry(d, entry);
    d->found->objects++;
    return status;
}

static HAUL__NOINLINE haul_status reach_noted(haul__discovery *d, haul__entry *entry)
{
    haul__entry reached = *entry;
    int is_ruled = haul__is_ruled(d->met_types[entry->met_type].walk);
    haul_status status = is_ruled ? reach_ruled(d, entry) : reach_objects(d, entry);
    return status == HAUL_OK ? haul__note_elements(d, &reached) : status;
}

static haul_status reach(haul__discovery *d, haul__entry *entry)
{
    switch (entry->what) {
    case HAUL__OBJECTS:
        if (HAUL__UNLIKELY(haul__is_noted(d->met_types[entry->met_type].walk)))
            return reach_noted(d, entry);
        return haul__is_ruled(d->met_types[entry->met_type].walk) ? reach_ruled(d, entry)
                                                                  : reach_objects(d, entry);
    case HAUL__POINTERS:
        return reach_pointers(d, entry);
    default:
        return reach_plain(d, entry);
    }
}

/* Takes a range without a new byte, once. Its bytes may have been marked for objects of another
 * type, so objects and pointers are visited as what they are now, too. */
static haul_status note_known(haul__discovery *d, haul__entry *entry)
{
    const void *as = entry->what == HAUL__OBJECTS ? (const void *)d->met_types[entry->met_type].type
                                                  : &entry->slot->shape[entry->level];
    const size_t bytes = haul__entry_bytes(d, entry);
    haul__entry *added;
    haul_status status;
    if (haul__memo_has(d, HAUL__MEMO_KNOWN, entry->address, bytes, as))
        return HAUL_OK;
    status = haul__memo_add(d, HAUL__MEMO_KNOWN, entry->address, bytes, as);
    if (status == HAUL_OK && entry->what != HAUL__PLAIN) {
        status = haul__spend(d, bytes);
        entry->is_again = 1;
        return status == HAUL_OK ? haul__push_entry(d, entry) : status;
    }
    added = status == HAUL_OK ? HAUL__LIST_ADD(d->allocator, &d->known) : NULL;
    if (!added)
        return HAUL_ERROR_MEMORY;
    *added = *entry;
    return HAUL_OK;
}

/* Does the range have a copy elsewhere? An object with a size of its own is judged by its head. */
static haul_status is_elsewhere(haul__discovery *d, const haul__entry *entry, int *is)
{
    const haul__walk *walk =
        entry->what == HAUL__OBJECTS ? d->met_types[entry->met_type].walk : NULL;
    const size_t lower = walk ? walk->true_lower : 0;
    size_t whole, bytes = SIZE_MAX;
    if (walk && haul__is_sized(walk) && entry->count > 1)
        return HAUL_OK; /* they are refused, wherever they lie */
    if (walk && haul__is_sized(walk))
        bytes = haul__head_bytes(walk);
    else if (!haul__multiply_overflows(entry->count, entry->stride, &whole))
        bytes = haul__entry_bytes(d, entry);
    return haul__stops_at(d, entry->slot, entry->address + lower, bytes > lower ? bytes - lower : 1,
                          is);
}

/* Other rows may find pointers in a pool, so it is never passed by. */
static int is_passed_by(const haul__discovery *d, const haul__entry *entry)
{
    const haul__listing *listing = d->listing;
    const haul__slot *slot = entry->slot;
    const haul_type *type;
    if (!listing->is_wanted || !slot || slot->flags & HAUL__SLOT_POOL)
        return 0;
    type = entry->what == HAUL__OBJECTS ? d->met_types[entry->met_type].type : slot->target;
    return !listing->is_wanted(listing->user, slot, type);
}

/* Many pointers are worth a walk by all threads, before they are marked. *is_over: this walk ends
 * soon, and the array must not be marked (outer_arrays.c). */
static HAUL__NOINLINE haul_status look_at_array(haul__discovery *d, const haul__entry *entry,
                                                int *is_over)
{
    const haul__walk *walk =
        entry->what == HAUL__OBJECTS ? d->met_types[entry->met_type].walk : NULL;
    const int has_pointers =
        entry->what == HAUL__POINTERS || (walk && (walk->slot_count || walk->ruled_count));
    haul_status status = haul__note_outer(d, entry);
    if (status == HAUL_OK && !d->wants_aims && has_pointers && haul__is_worth_aims(d, entry->count))
        status = haul__choose_aims(d);
    *is_over = d->wants_aims;
    return status == HAUL_ERROR_STATE && !d->was_shared ? HAUL_OK : status;
}

haul_status haul__reach(haul__discovery *d, haul__entry *entry)
{
    const size_t before = d->entries.count, count = entry->count;
    const uintptr_t address = entry->address;
    haul_status status = HAUL_OK;
    int is = 0, may = 1;
    if (HAUL__UNLIKELY(d->listing != NULL) && is_passed_by(d, entry))
        return HAUL_OK;
    if (HAUL__UNLIKELY(d->passing != NULL))
        status = haul__may_reach(d, entry, &may);
    if (status != HAUL_OK || !may)
        return status;
    if (HAUL__UNLIKELY(d->found->elsewhere != NULL)) {
        status = is_elsewhere(d, entry, &is);
        d->has_stopped = is;
    }
    if (HAUL__UNLIKELY(haul__may_be_outer(d, entry->count)) && status == HAUL_OK && !is)
        status = look_at_array(d, entry, &is);
    if (status != HAUL_OK || is)
        return status;
    status = reach(d, entry);
    if (HAUL__UNLIKELY(d->named != NULL) && status == HAUL_OK) {
        entry->address = address; /* a visit may begin and end with the new bytes */
        entry->count = count;
        if (!haul__hint_entry(d, entry)) /* all of them, with the size that it has then */
            return HAUL_ERROR_MEMORY;
    }
    if (HAUL__UNLIKELY(d->bounds != NULL) && status == HAUL_OK && d->entries.count == before)
        status = note_known(d, entry);
    return status;
}
