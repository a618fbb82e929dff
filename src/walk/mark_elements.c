/* Marking a pointer's target the general way: range by range, with the slots in each.
 */
#include "walk/mark_elements.h"
#include "map/mark_hole.h"
#include "map/mark_runs.h"
#include "walk/mark_inline.h"
#include "walk/met_types.h"
#include "walk/news.h"
#include "walk/paths.h"

#define SHORT_STRIDE HAUL__CELL_BYTES /* longer ones are marked run by run */

/* Adds a range that was marked, of which at most `bytes` bytes are new, to *marked. */
static haul_status note_marked(haul__discovery *d, const haul__slot *slot, haul_status status,
                               haul__marked range, size_t bytes, haul__marked *marked)
{
    if (status == HAUL_ERROR_GRAPH) {
        status = haul__refuse(d, status, slot,
                              "a word is a pointer for one description and data for another");
        haul__name_other(d, range.conflict);
        marked->conflict = range.conflict;
        return status;
    }
    if (status == HAUL_OK && range.first != range.end) {
        if (marked->first == marked->end || range.first < marked->first)
            marked->first = range.first;
        if (marked->end < range.end)
            marked->end = range.end;
        d->found->bytes += bytes;
    }
    return status;
}

haul_status haul__mark_range(haul__discovery *d, const haul__slot *slot, uintptr_t first,
                             uintptr_t end, haul__pattern *pattern, haul__marked *marked)
{
    haul__marked range;
    const haul_status status = haul__mark(d->map, first, end, pattern, &range);
    return note_marked(d, slot, status, range, (size_t)(range.end - range.first), marked);
}

haul_status haul__mark_line(haul__discovery *d, const haul__slot *slot, uintptr_t first,
                            size_t count, size_t run, size_t stride, haul__marked *marked)
{
    haul__pattern pattern;
    haul__marked range;
    haul_status status = HAUL_OK;
    size_t bytes;
    if (stride <= SHORT_STRIDE && count > 1) {
        status = haul__mark_runs(d->map, first, count, run, stride, &range, &bytes);
        return note_marked(d, slot, status, range, bytes, marked);
    }
    memset(&pattern, 0, sizeof pattern);
    for (; count-- > 0 && status == HAUL_OK; first += stride)
        status = haul__mark_range(d, slot, first, first + run, &pattern, marked);
    return status;
}

/* Marks an element that lies in one cell of a uniform block of its type. 0: it does not, or was
 * marked before. */
HAUL__INLINE int mark_start(const haul__map *map, uintptr_t address, const haul__met_type *met)
{
    const uintptr_t entry = map->flat[address >> HAUL__BLOCK_SHIFT];
    const uint64_t wanted = met->mark << haul__granule_in_cell(address);
    haul__cell *cell;
    if ((entry & HAUL__FORM_MASK) != met->form)
        return 0;
    cell = haul__cell_of(haul__block_in(entry), address);
    if ((haul__load_cell(cell) & wanted) != 0)
        return 0;
    haul__store_cell(cell, haul__load_cell(cell) | wanted);
    return 1;
}

int haul__mark_starts(haul__discovery *d, const haul__entry *entry, haul__marked *marked)
{
    const haul__met_type *met = &d->met_types[entry->met_type];
    const uint32_t near_starts = d->map->flat ? haul__near_starts(met) : 0;
    size_t element;
    for (element = 0; element < entry->count; element++) {
        const uintptr_t address = entry->address + element * entry->stride;
        const uint32_t form = address & (HAUL__GRANULE - 1) ? met->ragged.form : met->form;
        int fresh = haul__start_in_cell(address) < near_starts && mark_start(d->map, address, met);
        if (!fresh && form != HAUL__NO_FORM)
            fresh = haul__mark_simple(d->map, address, form);
        if (fresh <= 0)
            return fresh;
        if (marked->first == marked->end)
            marked->first = address;
        marked->end = address + met->simple.bytes;
        d->found->bytes += met->simple.bytes;
    }
    return 1;
}

static haul_status mark_dense(haul__discovery *d, const haul__entry *entry, const haul__walk *walk,
                              uintptr_t end, haul__marked *marked)
{
    haul__pattern pattern;
    int done;
    if ((entry->address & (HAUL__GRANULE - 1)) != 0 &&
        !haul__met_type_ragged(d, &d->met_types[entry->met_type]))
        return HAUL_ERROR_MEMORY;
    done = d->met_types[entry->met_type].form != HAUL__NO_FORM ? haul__mark_starts(d, entry, marked)
                                                               : 0;
    if (done)
        return done < 0 ? HAUL_ERROR_MEMORY : HAUL_OK;
    pattern.kind = walk->slot_count ? HAUL__TYPE_SLOTS : HAUL__NO_SLOTS;
    pattern.slots = walk->slots;
    pattern.slot_count = walk->slot_count;
    pattern.stride = entry->stride;
    pattern.element = entry->address;
    pattern.next = 0;
    pattern.left = entry->count;
    if (walk->slot_count && walk->slot_count * HAUL__WORD == walk->extent &&
        walk->alignment >= HAUL__WORD)
        pattern.kind = HAUL__ALL_SLOTS;
    return haul__mark_range(d, entry->slot, entry->address, end, &pattern, marked);
}

/* Takes the next range of a run, from `at` on, with its slots, from number *slot on. The end of a
 * pair whose begin lies behind `limit` is data, and a range by itself. Answers the range's end. */
static size_t take_part(const haul__walk *walk, size_t at, size_t end, size_t limit, size_t *slot,
                        haul__pattern *pattern)
{
    pattern->slots = walk->slots + *slot;
    pattern->slot_count = 0;
    for (; *slot < walk->slot_count && walk->slots[*slot].offset < end;
         ++*slot, pattern->slot_count++)
        if (haul__is_lone_end(&walk->slots[*slot], limit)) {
            if (walk->slots[*slot].offset > at)
                return walk->slots[*slot].offset;
            ++*slot;
            return end - at < HAUL__WORD ? end : at + HAUL__WORD;
        }
    return end;
}

haul_status haul__mark_element(haul__discovery *d, const haul__slot *by, const haul__walk *walk,
                               uintptr_t element, size_t limit, haul__marked *marked)
{
    haul_status status = HAUL_OK;
    size_t run, slot = 0, at, stop;
    for (run = 0; run < walk->run_count && walk->runs[run].offset < limit && status == HAUL_OK;
         run++) {
        size_t end = walk->runs[run].offset + walk->runs[run].bytes;
        if (end > limit)
            end = limit;
        for (at = walk->runs[run].offset; at < end && status == HAUL_OK; at = stop) {
            haul__pattern pattern;
            stop = take_part(walk, at, end, limit, &slot, &pattern);
            pattern.kind = pattern.slot_count ? HAUL__TYPE_SLOTS : HAUL__NO_SLOTS;
            pattern.stride = 0;
            pattern.element = element;
            pattern.next = 0;
            pattern.left = 1;
            status = haul__mark_range(d, by, element + at, element + stop, &pattern, marked);
        }
    }
    return status;
}

uintptr_t haul__end_of_runs(const haul__entry *entry, const haul__walk *walk)
{
    const uintptr_t last = entry->address + (entry->count - 1) * entry->stride;
    return walk->span > HAUL__HIGHEST - last ? HAUL__HIGHEST : last + walk->span;
}

haul_status haul__mark_elements(haul__discovery *d, const haul__entry *entry, int dense,
                                uintptr_t end, haul__marked *marked)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    const size_t placed = walk->placement <= HAUL__GRANULE ? 0 : dense ? 1 : entry->count;
    haul_status status = HAUL_OK;
    size_t i;
    if (dense)
        status = mark_dense(d, entry, walk, end, marked);
    /* elements with holes: all bytes get a place, so that every distance within one is kept */
    else if (!haul__mark_hole(d->map, entry->address, haul__end_of_runs(entry, walk)))
        return HAUL_ERROR_MEMORY;
    for (i = 0; !dense && i < entry->count && status == HAUL_OK; i++) {
        status = haul__mark_element(d, entry->slot, walk, entry->address + i * entry->stride,
                                    SIZE_MAX, marked);
        if (status == HAUL_OK)
            status = haul__news_of_element(d, i);
    }
    if (status == HAUL_OK)
        haul__mark_array(d->map, entry->address, haul__end_of_runs(entry, walk));
    for (i = 0; i < placed && status == HAUL_OK; i++)
        if (!haul__mark_placement(d->map, entry->address + i * entry->stride, walk->placement))
            status = HAUL_ERROR_MEMORY;
    return status;
}
