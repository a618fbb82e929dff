/* Visiting by aims: the pointers of ranges go to the districts of their targets.
 *
 * The counts of arrays are read here, and noted in the thread's own read set. Pointers whose count
 * is asked for are put aside (asides.c).
 */
#include "type/field.h"
#include "walk/aliases.h"
#include "walk/asides.h"
#include "walk/by_aim.h"
#include "walk/mark_inline.h"
#include "walk/outer_arrays.h"
#include "walk/why.h"

#define FETCHED_AT_ONCE 16u /* words of entries whose ranges are fetched together */
#define SINGLES_AT_ONCE 8u  /* single objects that are fetched together */
#define FEW_EDGES ((size_t)4)
#define EDGES_BESIDE ((size_t)8) /* of objects beside outer arrays */
#define MOST_ELEMENTS ((int64_t)INT32_MAX)

/* ---- Counts. */

/* Notes a count, once for neighbours with the same one. */
static void note_read(haul__sharer *own, uintptr_t address, unsigned width, int64_t value)
{
    const uint64_t read = haul__read_of(address, width, value);
    haul__parcel *open = own->reads;
    if (open->count && HAUL__READ_PLACE(open->entry[open->count - 1]) == HAUL__READ_PLACE(read))
        return;
    if (open->count + 2 > HAUL__PARCEL) {
        open = haul__take_spare(own);
        open->next = own->reads;
        open->count = 0;
        own->reads = open;
    }
    own->read_words += haul__read_is_small(value) ? 1 : 2;
    if (!haul__read_is_small(value))
        open->entry[open->count++] = (uint64_t)value;
    open->entry[open->count++] = read;
}

/* *bytes of an array, from the count fields of its object. 0: the walk must stop, and knows why. */
static int read_count(haul__share *share, haul__sharer *own, uint64_t aim, uintptr_t object,
                      uint64_t *bytes)
{
    const haul__plain_array *array = &share->aims->list.at[aim].count;
    int64_t total = array->multiply;
    unsigned i;
    for (i = 0; i < array->field_count; i++) {
        const uintptr_t at = object + array->field[i].offset;
        const int64_t stored = haul__load_count(at, array->field[i].width);
        const int64_t count = stored & array->field[i].bits;
        if (HAUL__UNLIKELY(count < 0 || count > MOST_ELEMENTS)) {
            haul__give_up(share, HAUL__WHY_LONG_ARRAY, aim);
            return 0;
        }
        total *= count;
        if (HAUL__UNLIKELY(total > MOST_ELEMENTS)) {
            haul__give_up(share, HAUL__WHY_LONG_ARRAY, aim);
            return 0;
        }
        note_read(own, at, array->field[i].width, stored);
    }
    total += array->add;
    if (HAUL__UNLIKELY(total < 0 ||
                       (uint64_t)total > own->walk.context->options.max_array_elements)) {
        haul__give_up(share, HAUL__WHY_FAULT, aim);
        return 0;
    }
    *bytes = (uint64_t)total * (uint64_t)array->unit;
    return 1;
}

/* The same, if a step may overflow. Without a pointer, *bytes only tells whether the count is 0. */
static int read_wide(haul__share *share, haul__sharer *own, uint64_t aim, uintptr_t object,
                     uintptr_t value, uint64_t *bytes)
{
    const haul__plain_array *array = &share->aims->list.at[aim].count;
    const haul_count *shape = &array->slot->shape[array->level];
    int64_t total = shape->fields ? shape->times : 0, field;
    int is_right = 1;
    unsigned i;
    for (i = 0; i < shape->fields && is_right; i++) {
        haul_integer place = shape->field[i];
        place.offset = array->field[i].offset;
        is_right = haul__read_field((const void *)object, &place, &field) && field >= 0 &&
                   !haul__product_overflows(total, field, &total);
        note_read(own, object + place.offset, place.bytes,
                  haul__read_stored((const void *)object, &place));
    }
    is_right = is_right && !haul__sum_overflows(total, shape->plus, &total) && total >= 0 &&
               (uint64_t)total <= SIZE_MAX;
    if (is_right && value)
        is_right = (uint64_t)total <= own->walk.context->options.max_array_elements &&
                   (uint64_t)total <= (uint64_t)HAUL__HIGHEST / (uint64_t)array->unit;
    if (HAUL__UNLIKELY(!is_right)) {
        haul__give_up(share, HAUL__WHY_FAULT, aim);
        return 0;
    }
    *bytes = value ? (uint64_t)total * (uint64_t)array->unit : total != 0;
    return 1;
}

/* Lists a pointer to no elements. */
static int note_empty(haul__share *share, haul__sharer *own, uintptr_t place)
{
    haul__found *found = &own->found;
    if (!haul__grow(own->walk.allocator, &found->empty, &found->empty_capacity,
                    found->empty_count + 1, sizeof *found->empty)) {
        haul__end_round(share, HAUL__NEEDS_MEMORY);
        return 0;
    }
    found->empty[found->empty_count++] = place;
    return 1;
}

/* ---- Pointers. */

/* Sends a pointer to the district of its target, unless it is NULL. 0: it is no address. */
HAUL__INLINE int send_pointer(haul__share *share, haul__sharer *own, const haul__aimed_edge *edge,
                              uintptr_t value, uint64_t bytes)
{
    const unsigned number = edge->first_outlet + haul__district_number(value);
    haul__outlet *outlet = &own->outlet[number];
    if (HAUL__TOO_HIGH(value)) {
        haul__give_up(share, HAUL__WHY_FAULT, edge->tag >> 48);
        return 0;
    }
    if (HAUL__UNLIKELY(edge->may_be_inner) &&
        haul__is_in_outer(share->aims, edge->tag >> 48, value, bytes))
        return 1;
    outlet->at[0] = (uint64_t)value | edge->tag;
    outlet->at[1] = bytes;
    haul__prefetch_write((uintptr_t)outlet->at + HAUL__OUTLET_AHEAD);
    outlet->at += value ? edge->words : 0;
    if (HAUL__UNLIKELY(outlet->at == outlet->end))
        haul__renew_outlet(share, own, number);
    return 1;
}

/* Puts aside a pointer whose count is asked for. 0: there are so many that one thread is faster. */
static int let_ask(haul__share *share, haul__sharer *own, const haul__aimed_edge *edge,
                   uintptr_t object, uintptr_t value)
{
    const haul__slot *slot = share->aims->list.at[edge->tag >> 48].slot;
    size_t asked;
    if (!value)
        return 1; /* no function is called for NULL */
    asked = haul__atomic_add(&share->asides, (size_t)1);
    if (HAUL__UNLIKELY(haul__are_many_asked(asked, haul__atomic_load(&share->objects)))) {
        haul__give_up(share, haul__why_uncounted(&slot->shape[0]), edge->tag >> 48);
        return 0;
    }
    haul__put_aside(own, (uint64_t)(object + edge->offset) | edge->tag);
    haul__put_aside(own, HAUL__TO_ASK);
    return 1;
}

/* Follows a pointer to an array whose count depends on fields, or is 0 or above a limit. */
static HAUL__NOINLINE int follow_counted(haul__share *share, haul__sharer *own,
                                         const haul__aimed_edge *edge, uintptr_t object,
                                         uintptr_t value)
{
    const haul__aim *aim = &share->aims->list.at[edge->tag >> 48];
    const haul__plain_array *array = &aim->count;
    uint64_t bytes;
    if (aim->is_asked)
        return let_ask(share, own, edge, object, value);
    if (!value && !array->field_count)
        return 1; /* the limits are for targets */
    if (HAUL__UNLIKELY(!(aim->is_wide
                             ? read_wide(share, own, edge->tag >> 48, object, value, &bytes)
                             : read_count(share, own, edge->tag >> 48, object, &bytes))))
        return 0;
    if (value && bytes)
        return send_pointer(share, own, edge, value, bytes);
    if (value)
        return note_empty(share, own, object + edge->offset);
    if (bytes && array->needs_pointer)
        haul__give_up(share, HAUL__WHY_FAULT, edge->tag >> 48);
    return !bytes || !array->needs_pointer;
}

/* The same, if nothing is unusual about the count: it is one field, and small. */
HAUL__INLINE int follow_short(haul__share *share, haul__sharer *own, const haul__aimed_edge *edge,
                              uintptr_t object, uintptr_t value)
{
    const haul__plain_array *array = &share->aims->list.at[edge->tag >> 48].count;
    const uintptr_t place = object + array->field[0].offset;
    haul__parcel *open = own->reads;
    int64_t stored, count;
    uint64_t read;
    if (HAUL__UNLIKELY(!array->is_short || !value || open->count == HAUL__PARCEL))
        return follow_counted(share, own, edge, object, value);
    stored = haul__load_count(place, array->field[0].width);
    count = stored & array->field[0].bits;
    read = (place | array->width_mark) | (uint64_t)stored << 50;
    if (HAUL__UNLIKELY((uint64_t)count - array->least > array->span))
        return follow_counted(share, own, edge, object, value);
    if (!open->count || HAUL__READ_PLACE(open->entry[open->count - 1] ^ read)) {
        open->entry[open->count++] = read;
        own->read_words++;
    }
    return send_pointer(share, own, edge, value, (uint64_t)(count * array->scale + array->shift));
}

/* Follows one pointer of an object, whose value is known. */
HAUL__INLINE int follow_value(haul__share *share, haul__sharer *own, const haul__aimed_edge *edge,
                              uintptr_t object, uintptr_t value)
{
    return HAUL__LIKELY(edge->is_fixed) ? send_pointer(share, own, edge, value, edge->bytes)
                                        : follow_short(share, own, edge, object, value);
}

HAUL__INLINE int follow(haul__share *share, haul__sharer *own, const haul__aimed_edge *edge,
                        uintptr_t object)
{
    return follow_value(share, own, edge, object,
                        haul__load_word((const void *)(object + edge->offset)));
}

/* Follows the pointers of an object that has many. Mostly all of them or few of them are NULL, so
 * the others are listed first. */
HAUL__INLINE int visit_large(haul__share *share, haul__sharer *own, const haul__aimed_edge *edges,
                             size_t count, uintptr_t object)
{
    uint8_t listed[HAUL__EDGES];
    size_t found = 0, i;
    for (i = 0; i < count; i++) {
        listed[found] = (uint8_t)i;
        found +=
            (haul__load_word((const void *)(object + edges[i].offset)) != 0) | !edges[i].is_fixed;
    }
    for (i = 0; i < found; i++)
        if (HAUL__UNLIKELY(!follow(share, own, &edges[listed[i]], object)))
            return 0;
    return 1;
}

/* ---- Objects of brief types. */

static haul_status note_field(void *own, uintptr_t address, unsigned bytes, int64_t value)
{
    note_read(own, address, bytes, value);
    return HAUL_OK;
}

/* Lists a borrowed pointer in the thread's own part of the walk. 0: out of memory. */
static HAUL__NOINLINE int note_alias(haul__sharer *own, const haul__brief_row *row,
                                     const haul__brief_target *target, uintptr_t object,
                                     uintptr_t value)
{
    haul__field_value w;
    memset(&w, 0, sizeof w);
    w.slot = target->slot;
    w.at = object + row->offset;
    w.value = value;
    w.address = value & ~row->tags;
    return haul__note_alias(&own->walk, &w) == HAUL_OK;
}

HAUL__HOT static int visit_brief(haul__share *share, haul__sharer *own, const haul__met_type *met,
                                 uintptr_t object, const haul__brief_meaning *m)
{
    const haul__brief *brief = met->brief;
    const haul__aimed_edge *edges =
        share->aims->edges.at + share->aims->first.at[met - share->types];
    size_t i;
    if (brief->row_count)
        (void)haul__brief_note(brief, object, m, note_field, own);
    for (i = 0; i < m->count; i++) {
        const haul__brief_row *row = m->pointer[i].row;
        const haul__brief_target *target = m->pointer[i].target;
        const uintptr_t value = m->pointer[i].value;
        if (!row->is_alias) {
            if (HAUL__UNLIKELY(!follow_value(
                    share, own, &edges[brief->slot_count + (size_t)(target - brief->targets)],
                    object, value & ~row->tags)))
                return 0;
        } else if (HAUL__UNLIKELY(!note_alias(own, row, target, object, value))) {
            haul__end_round(share, HAUL__NEEDS_MEMORY);
            return 0;
        }
    }
    for (i = 0; i < brief->slot_count; i++)
        if (HAUL__UNLIKELY(!follow(share, own, &edges[i], object)))
            return 0;
    return 1;
}

int haul__visit_brief_by_aim(haul__share *share, haul__sharer *own, const haul__met_type *met,
                             uintptr_t object, const haul__brief_meaning *m)
{
    return visit_brief(share, own, met, object, m);
}

static int visit_brief_array(haul__share *share, haul__sharer *own, const haul__aim *aim,
                             uintptr_t first, uintptr_t end)
{
    const haul__met_type *met = &share->types[aim->met];
    haul__brief_meaning m;
    uintptr_t object;
    for (object = first; object < end; object += met->walk->extent) {
        if (HAUL__UNLIKELY(!haul__brief_read(met->brief, object, &m))) {
            haul__give_up(share, HAUL__WHY_RULES, (uint64_t)(aim - share->aims->list.at));
            return 0;
        }
        if (HAUL__UNLIKELY(!visit_brief(share, own, met, object, &m)))
            return 0;
    }
    return 1;
}

/* ---- Ranges and single objects. */

/* Does the pointer lead to an element of this outer array? */
HAUL__INLINE int is_in(const haul__outer_range *outer, uintptr_t value)
{
    const uint64_t offset = (uint64_t)value - outer->first;
    return offset < outer->bytes && haul__is_multiple(&outer->grid, offset);
}

/* Visits objects whose pointers may lead into outer arrays. For each pointer, the likely one is at
 * hand. */
HAUL__HOT static int visit_beside_outers(haul__share *share, haul__sharer *own,
                                         const haul__aim *aim, uintptr_t first, uintptr_t end)
{
    const haul__met_type *met = &share->types[aim->met];
    const haul__aimed_edge *edges = share->aims->edges.at + share->aims->first.at[aim->met];
    const size_t extent = met->walk->extent, count = met->edge_count;
    haul__outer_range outer[EDGES_BESIDE];
    uintptr_t object;
    size_t i;
    for (i = 0; i < count; i++)
        outer[i] = haul__outer_of(share->aims, &edges[i]);
    for (object = first; object < end; object += extent)
        for (i = 0; i < count; i++) {
            const uintptr_t value = haul__load_word((const void *)(object + edges[i].offset));
            if (HAUL__UNLIKELY(!is_in(&outer[i], value) &&
                               !follow_value(share, own, &edges[i], object, value)))
                return 0;
        }
    return 1;
}

HAUL__INLINE int visit_objects(haul__share *share, haul__sharer *own, const haul__aim *aim,
                               uintptr_t first, uintptr_t end)
{
    const haul__met_type *met = &share->types[aim->met];
    const haul__aimed_edge *edges = share->aims->edges.at + share->aims->first.at[aim->met];
    const size_t extent = met->walk->extent, count = met->edge_count;
    uintptr_t object;
    size_t i;
    if (HAUL__UNLIKELY(share->aims->outers.count) && count <= EDGES_BESIDE)
        return visit_beside_outers(share, own, aim, first, end);
    if (count > FEW_EDGES && count <= HAUL__EDGES) {
        for (object = first; object < end; object += extent)
            if (HAUL__UNLIKELY(!visit_large(share, own, edges, count, object)))
                return 0;
        return 1;
    }
    for (object = first; object < end; object += extent)
        for (i = 0; i < count; i++)
            if (HAUL__UNLIKELY(!follow(share, own, &edges[i], object)))
                return 0;
    return 1;
}

HAUL__INLINE int visit_pointers(haul__share *share, haul__sharer *own, const haul__aim *aim,
                                uintptr_t first, uintptr_t end)
{
    const haul__aimed_edge edge = haul__aimed_edge_of(share->aims, aim->next);
    const haul__outer_range outer = haul__outer_of(share->aims, &edge);
    uintptr_t place;
    for (place = first; place < end; place += HAUL__WORD) {
        const uintptr_t value = haul__load_word((const void *)place);
        if (HAUL__UNLIKELY(!is_in(&outer, value) && !follow_value(share, own, &edge, place, value)))
            return 0;
    }
    return 1;
}

/* Fetches a few ranges in a row (drain.c says why). */
HAUL__INLINE void fetch_ranges(const haul__share *share, const uint64_t *entry, size_t first,
                               size_t count)
{
    const size_t end = first + FETCHED_AT_ONCE < count ? first + FETCHED_AT_ONCE : count;
    for (; first < end; first += 2) {
        const haul__aim *aim = &share->aims->list.at[HAUL__ENTRY_TYPE(entry[first])];
        const haul__met_type *met = &share->types[aim->met];
        const uintptr_t address = HAUL__ENTRY_ADDRESS(entry[first]);
        const int is_array = aim->kind == HAUL__AIM_POINTERS;
        haul__prefetch_once(address + (is_array ? 0 : met->first_byte));
        haul__prefetch_once(address + (is_array ? HAUL__LINE : met->last_byte));
    }
}

HAUL__HOT static void visit_parcel_by_aim(haul__share *share, haul__sharer *own,
                                          const haul__parcel *parcel)
{
    const uint64_t *entry = parcel->entry;
    const size_t count = parcel->count;
    size_t i;
    fetch_ranges(share, entry, 0, count);
    fetch_ranges(share, entry, FETCHED_AT_ONCE, count);
    for (i = 0; i < count; i += 2) {
        const haul__aim *aim = &share->aims->list.at[HAUL__ENTRY_TYPE(entry[i])];
        const uintptr_t first = HAUL__ENTRY_ADDRESS(entry[i]);
        const uintptr_t end = first + (uintptr_t)entry[i + 1];
        if (i % FETCHED_AT_ONCE == 0)
            fetch_ranges(share, entry, i + 2 * FETCHED_AT_ONCE, count);
        if (!(aim->kind == HAUL__AIM_POINTERS ? visit_pointers(share, own, aim, first, end)
              : aim->kind == HAUL__AIM_BRIEF  ? visit_brief_array(share, own, aim, first, end)
                                              : visit_objects(share, own, aim, first, end)))
            return;
    }
}

/* Fetches a few single objects in a row. */
HAUL__INLINE void fetch_singles(const haul__share *share, const uint64_t *entry, size_t first,
                                size_t count)
{
    const size_t end = first + SINGLES_AT_ONCE < count ? first + SINGLES_AT_ONCE : count;
    for (; first < end; first++) {
        const haul__aim *aim = &share->aims->list.at[HAUL__ENTRY_TYPE(entry[first])];
        const haul__met_type *met = &share->types[aim->met];
        const uintptr_t address = HAUL__ENTRY_ADDRESS(entry[first]);
        haul__prefetch_once(address + met->first_byte);
        haul__prefetch_once(address + met->last_byte);
    }
}

/* Visits single objects. `only`: NULL, or the type of all of them. */
HAUL__INLINE void visit_singles_of(haul__share *share, haul__sharer *own,
                                   const haul__parcel *parcel, const haul__met_type *only)
{
    const haul__aims *aims = share->aims;
    const uint64_t *entry = parcel->entry;
    const size_t count = parcel->count;
    const size_t only_met = only ? (size_t)(only - share->types) : 0;
    const haul__aimed_edge *edges = aims->edges.at + aims->first.at[only_met];
    size_t edge_count = only ? only->edge_count : 0, i;
    fetch_singles(share, entry, 0, count);
    fetch_singles(share, entry, SINGLES_AT_ONCE, count);
    for (i = 0; i < count; i++) {
        const uintptr_t object = HAUL__ENTRY_ADDRESS(entry[i]);
        size_t at;
        if (!only) {
            const uint32_t met = aims->list.at[HAUL__ENTRY_TYPE(entry[i])].met;
            edges = aims->edges.at + aims->first.at[met];
            edge_count = share->types[met].edge_count;
        }
        if (i % SINGLES_AT_ONCE == 0)
            fetch_singles(share, entry, i + 2 * SINGLES_AT_ONCE, count);
        if (edge_count > FEW_EDGES && edge_count <= HAUL__EDGES) {
            if (HAUL__UNLIKELY(!visit_large(share, own, edges, edge_count, object)))
                return;
            continue;
        }
        for (at = 0; at < edge_count; at++)
            if (HAUL__UNLIKELY(!follow(share, own, &edges[at], object)))
                return;
    }
}

HAUL__HOT static void visit_singles(haul__share *share, haul__sharer *own,
                                    const haul__parcel *parcel)
{
    const haul__met_type *only = haul__only_met(share, parcel);
    if (only)
        visit_singles_of(share, own, parcel, only);
    else
        visit_singles_of(share, own, parcel, NULL);
}

void haul__visit_parcel_by_aim(haul__share *share, haul__sharer *own, const haul__parcel *parcel)
{
    if (parcel->kind == HAUL__RANGES)
        visit_parcel_by_aim(share, own, parcel);
    else
        visit_singles(share, own, parcel);
}
