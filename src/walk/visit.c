/* Visiting objects, and arrays of objects and pointers: each pointer is followed.
 *
 * This is the general way, for objects that the innermost loop (drain.c) is not made for. Arrays of
 * simple objects, and of pointers to them or to plain bytes, are marked in line as there.
 */
#include "walk/visit.h"
#include "base/multiples.h"
#include "walk/ancestors.h"
#include "walk/brief.h"
#include "walk/changed.h"
#include "walk/checked.h"
#include "walk/follow.h"
#include "walk/mark_inline.h"
#include "walk/news.h"
#include "walk/paths.h"
#include "walk/plain_arrays.h"
#include "walk/read_set.h"
#include "walk/ruled.h"
#include "walk/visit_records.h"

#define TARGETS_AHEAD 16u /* in arrays of pointers, the general way */
#define ELEMENTS_AHEAD 4u /* in arrays of objects */
#define SIMPLE_AHEAD 32u  /* in arrays of simple objects */

/* An array of pointers, each to one simple object. */
HAUL__HOT static haul_status visit_single(haul__discovery *d, const haul__entry *entry,
                                          uint32_t number)
{
    haul_status status = HAUL_OK;
    size_t i;
    uint64_t near[HAUL__CANDIDATES], over[HAUL__CANDIDATES];
    haul__candidates c = { near, over, 0, 0, (uint64_t)number << 48 };
    for (i = 0; i < entry->count && status == HAUL_OK; i += HAUL__ROW) {
        status = haul__collect_row(d, &c, entry->address + i * HAUL__WORD, entry->count - i);
        if (haul__are_many(&c) && status == HAUL_OK)
            status = haul__settle(d, &c);
        if (status == HAUL_OK)
            status = haul__news(d);
    }
    return status == HAUL_OK ? haul__settle(d, &c) : status;
}

/* The first pointer of an array. */
static haul__pointer first_pointer(const haul__entry *entry)
{
    haul__pointer p;
    memset(&p, 0, sizeof p);
    p.slot = entry->slot;
    p.level = entry->level;
    p.place = entry->address;
    p.self = entry->self;
    p.nearest = entry->nearest;
    p.ancestor = &entry->ancestor;
    return p;
}

/* An array of pointers to short arrays of plain bytes, or to strings. */
static haul_status visit_plain_arrays(haul__discovery *d, const haul__entry *entry,
                                      const haul__plain_array *array)
{
    haul__pointer p = first_pointer(entry);
    haul_status status = HAUL_OK;
    for (; p.index < entry->count && status == HAUL_OK; p.index++, p.place += HAUL__WORD) {
        int met;
        /* which way an array takes must not depend on the room that happens to be left */
        if (HAUL__UNLIKELY(d->found->read_capacity - d->found->read_count < array->field_count) &&
            !haul__reads_fit(d, array->field_count))
            return HAUL_ERROR_MEMORY;
        p.value = haul__load_word((const void *)p.place);
        met = haul__follow_plain_array(d, array, p.value, p.self);
        if (!met || d->pending_count == HAUL__PENDING)
            status = haul__mark_pending(d);
        haul__visit_one(d, p.place, HAUL__WORD, NULL);
        if (!met && status == HAUL_OK)
            status = haul__follow(d, &p);
        if (status == HAUL_OK)
            status = haul__news_of_element(d, p.index);
    }
    return status == HAUL_OK ? haul__mark_pending(d) : status;
}

/* Short arrays that a callback counts. */
static haul_status visit_called_arrays(haul__discovery *d, const haul__entry *entry,
                                       const haul__plain_array *array)
{
    haul__pointer p = first_pointer(entry);
    haul_status status = HAUL_OK;
    for (; p.index < entry->count && status == HAUL_OK; p.index++, p.place += HAUL__WORD) {
        haul__visit_one(d, p.place, HAUL__WORD, NULL);
        status = haul__follow_called_array(d, array, &p);
        if (status == HAUL_OK)
            status = haul__news_of_element(d, p.index);
    }
    return status == HAUL_OK ? haul__mark_pending(d) : status;
}

/* ---- Large arrays of pointers to strings.
 *
 * If pointers lead to strings at random, each string lies on another page, and its marks in another
 * line of the map. So a piece of the array is first sorted by parts of the address space, and the
 * strings of one part are followed together, in the order of their pointers. Objects that wait are
 * treated in the same way (worklist.c). */

#define SORTED_LEAST ((size_t)8192)
#define SORTED_MOST ((size_t)1 << 20) /* at once */
#define SORTED_PARTS 512u             /* a part is every 512th range of two blocks of the map */

HAUL__INLINE unsigned part_of(uintptr_t address)
{
    return (unsigned)(address >> (HAUL__BLOCK_SHIFT + 1)) % SORTED_PARTS;
}

/* Sorts pointers. 0: most lie in the part of the one before, and none is moved. */
static int sort_by_parts(const void *from, size_t count, uintptr_t *sorted)
{
    size_t place[SORTED_PARTS] = { 0 }, before = 0, steps = 0, i;
    unsigned last = 0;
    for (i = 0; i < count; i++) {
        const unsigned part = part_of(haul__load_word((const char *)from + i * HAUL__WORD));
        place[part]++;
        steps += part != last;
        last = part;
    }
    if (steps < count / 4)
        return 0;
    for (i = 0; i < SORTED_PARTS; i++) {
        const size_t here = place[i];
        place[i] = before;
        before += here;
    }
    for (i = 0; i < count; i++) {
        const uintptr_t value = haul__load_word((const char *)from + i * HAUL__WORD);
        const size_t at = place[part_of(value)]++;
        sorted[at < count ? at : count - 1] = value; /* whatever changes meanwhile */
    }
    return 1;
}

static haul_status visit_strings(haul__discovery *d, const haul__entry *entry,
                                 const haul__plain_array *array)
{
    const size_t room = entry->count < SORTED_MOST ? entry->count : SORTED_MOST;
    uintptr_t *sorted = haul__allocate_zeroed(d->allocator, room * sizeof *sorted);
    haul__entry piece = *entry;
    haul_status status = sorted ? HAUL_OK : HAUL_ERROR_MEMORY;
    size_t at;
    for (at = 0; at < entry->count && status == HAUL_OK; at += piece.count) {
        piece.address = entry->address + at * HAUL__WORD;
        piece.count = entry->count - at < room ? entry->count - at : room;
        if (sort_by_parts((const void *)piece.address, piece.count, sorted))
            piece.address = (uintptr_t)sorted;
        status = visit_plain_arrays(d, &piece, array);
    }
    haul__release(d->allocator, sorted, room * sizeof *sorted);
    return status;
}

/* ---- Arrays of objects, and the general way. */

/* Do all pointers of an array's elements lead to objects of the same type? In order, those that
 * were found before are logged, too. */
static int may_lead_back(const haul__discovery *d, const haul__entry *entry)
{
    const haul__met_type *met = &d->met_types[entry->met_type];
    return entry->count > 1 && met->uniform != HAUL__NOT_UNIFORM &&
           HAUL__ENTRY_TYPE(met->uniform) == entry->met_type && !met->hint && !d->in_order &&
           (entry->stride & (met->walk->alignment - 1)) == 0;
}

/* An array of such objects. All of it is marked, so a pointer to one of its elements brings nothing
 * new. The others become candidates. */
HAUL__HOT static haul_status visit_grid(haul__discovery *d, const haul__entry *entry)
{
    const haul__met_type *met = &d->met_types[entry->met_type];
    const haul__multiples grid = haul__multiples_of(entry->stride);
    const uintptr_t first = entry->address, bytes = entry->count * entry->stride;
    const uint32_t near_starts = met->edges->near_starts;
    const size_t pointers = met->edge_count;
    size_t offset[HAUL__EDGES], i, at;
    uint64_t near[HAUL__CANDIDATES], over[HAUL__CANDIDATES];
    haul__candidates c = { near, over, 0, 0, met->uniform };
    haul_status status = HAUL_OK;
    for (at = 0; at < pointers; at++)
        offset[at] = met->edges[at].offset;
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        const uintptr_t element = first + i * entry->stride;
        for (at = 0; at < pointers && status == HAUL_OK; at++) {
            const uintptr_t value = haul__load_word((const void *)(element + offset[at]));
            if (HAUL__LIKELY(value - first < bytes && haul__is_multiple(&grid, value - first)))
                continue;
            if (!HAUL__TOO_HIGH(value))
                haul__collect(&c, d->map->flat, value, c.tag, near_starts);
            else
                status = haul__reach_one(d, value, entry->met_type);
        }
        if (haul__are_many(&c) && status == HAUL_OK)
            status = haul__settle(d, &c);
        if (status == HAUL_OK)
            status = haul__news_of_element(d, i);
    }
    return status == HAUL_OK ? haul__settle(d, &c) : status;
}

/* An array of simple objects. */
HAUL__HOT static haul_status visit_simple(haul__discovery *d, const haul__entry *entry)
{
    const haul__met_type *met = &d->met_types[entry->met_type];
    const size_t first_byte = met->first_byte, last_byte = met->last_byte;
    haul_status status = HAUL_OK;
    size_t i;
    uint64_t near[HAUL__CANDIDATES], over[HAUL__CANDIDATES];
    haul__candidates c = { near, over, 0, 0, HAUL__NOT_UNIFORM };
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        uintptr_t element = entry->address + i * entry->stride;
        haul__prefetch(element + SIMPLE_AHEAD * entry->stride + first_byte);
        haul__prefetch(element + SIMPLE_AHEAD * entry->stride + last_byte);
        status = haul__visit_simple(d, &c, element, entry->met_type);
        if (haul__are_many(&c) && status == HAUL_OK)
            status = haul__settle(d, &c);
        if (status == HAUL_OK)
            status = haul__news_of_element(d, i);
    }
    if (status == HAUL_OK)
        status = haul__settle(d, &c);
    return status == HAUL_OK ? haul__mark_pending(d) : status;
}

/* Fetches a pointer's target and its cell. Strings are read before they are marked. */
HAUL__INLINE void prefetch_target(const haul__discovery *d, uintptr_t value)
{
    haul__prefetch(value);
    if (d->map->flat && value <= HAUL__HIGHEST)
        haul__prefetch(haul__cell_place(d->map->flat[value >> HAUL__BLOCK_SHIFT], value));
}

static haul_status visit_each(haul__discovery *d, const haul__entry *entry)
{
    haul__pointer p = first_pointer(entry);
    haul_status status = HAUL_OK;
    for (; p.index < entry->count && status == HAUL_OK; p.index++, p.place += HAUL__WORD) {
        if (p.index + TARGETS_AHEAD < entry->count)
            prefetch_target(d,
                            haul__load_word((const void *)(p.place + TARGETS_AHEAD * HAUL__WORD)));
        d->at_element = p.index;
        haul__visit_one(d, p.place, HAUL__WORD, NULL);
        if (d->recording && d->sought.pointer == p.place)
            return haul__refuse(d, HAUL_ERROR_STALE, NULL, "this pointer has changed");
        if (d->recording)
            status = haul__meet_pointer(d, p.place, p.slot, p.level);
        p.value = haul__load_word((const void *)p.place);
        if (status == HAUL_OK)
            status = haul__follow(d, &p);
        if (status == HAUL_OK)
            status = haul__news_of_element(d, p.index);
    }
    return status;
}

static haul_status visit_pointers(haul__discovery *d, const haul__entry *entry)
{
    haul__plain_array array;
    uint32_t number = 0;
    int leads;
    haul_status status = haul__leads_to_one(d, entry->slot, entry->level, 0, &number, &leads);
    if (status == HAUL_OK && leads)
        return visit_single(d, entry, number);
    if (status == HAUL_OK)
        status = haul__prepare_plain_array(d, entry->slot, entry->level, &array);
    if (status != HAUL_OK)
        return status;
    if (array.why)
        return visit_each(d, entry);
    if (array.is_string && entry->count >= SORTED_LEAST && !d->in_order)
        return visit_strings(d, entry, &array);
    return array.is_called ? visit_called_arrays(d, entry, &array)
                           : visit_plain_arrays(d, entry, &array);
}

/* An array of a brief type with rules. */
HAUL__HOT static haul_status visit_brief(haul__discovery *d, const haul__entry *entry)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    haul_status status = HAUL_OK;
    size_t i;
    uint64_t near[HAUL__CANDIDATES], over[HAUL__CANDIDATES];
    haul__candidates c = { near, over, 0, 0, HAUL__NOT_UNIFORM };
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        haul__object o = haul__object_of(entry, walk, i, HAUL__NOTED);
        int done;
        status = haul__visit_brief(d, &c, o.address, entry->met_type, &done);
        if (status == HAUL_OK && !done) {
            d->met_types[entry->met_type].general++;
            status = haul__visit_ruled(d, &o);
            if (status == HAUL_OK)
                status = haul__visit_rest(d, &o);
        }
        if (haul__are_many(&c) && status == HAUL_OK)
            status = haul__settle(d, &c);
        if (status == HAUL_OK)
            status = haul__news_of_element(d, i);
    }
    if (status == HAUL_OK)
        status = haul__settle(d, &c);
    return status == HAUL_OK ? haul__mark_pending(d) : status;
}

static haul_status visit_objects(haul__discovery *d, const haul__entry *entry)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    haul_status status =
        haul__is_general(d) || !d->map->flat ? HAUL_OK : haul__met_type_edges(d, entry->met_type);
    const size_t fetched = walk->slot_count < 8 ? walk->slot_count : 8;
    haul__ancestor inherited;
    haul__object o;
    size_t i, slot;
    if (status == HAUL_OK && d->met_types[entry->met_type].edges && !haul__is_general(d) &&
        d->map->flat)
        return d->met_types[entry->met_type].is_record ? haul__visit_records(d, entry)
               : may_lead_back(d, entry)               ? visit_grid(d, entry)
                                                       : visit_simple(d, entry);
    if (status == HAUL_OK && d->met_types[entry->met_type].is_brief)
        return visit_brief(d, entry);
    d->met_types[entry->met_type].general += entry->count;
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        const uintptr_t ahead = entry->address + (i + ELEMENTS_AHEAD) * entry->stride;
        for (slot = 0; slot < fetched && i + ELEMENTS_AHEAD < entry->count; slot++)
            prefetch_target(d, haul__load_word((const void *)(ahead + walk->slots[slot].offset)));
        d->at_element = i;
        haul__visit_one(d, entry->address + i * entry->stride, entry->stride, walk);
        o = haul__object_of(entry, walk, i, HAUL__NOTED);
        if (walk->is_wide) {
            status = haul__inherit(d, entry, i, &inherited);
            o.ancestor = &inherited;
        }
        if (status == HAUL_OK && haul__is_ruled(walk))
            status = haul__visit_ruled(d, &o);
        if (status == HAUL_OK)
            status = haul__visit_rest(d, &o);
        if (HAUL__UNLIKELY(d->passing != NULL))
            status = haul__pass_over(d, status);
        if (status == HAUL_OK)
            status = haul__news_of_element(d, i);
    }
    return status;
}

haul_status haul__visit_entry(haul__discovery *d, const haul__entry *entry)
{
    const haul_status status =
        HAUL__UNLIKELY(d->passing != NULL) ? haul__spend_visit(d, entry) : HAUL_OK;
    d->found->objects += !entry->is_again;
    if (status != HAUL_OK)
        return status;
    if (entry->what == HAUL__POINTERS)
        return visit_pointers(d, entry);
    return entry->what == HAUL__OBJECTS ? visit_objects(d, entry) : HAUL_OK;
}
