/* Records: structs whose pointers all lead to short arrays that one field counts.
 *
 * They are followed as plain_arrays.c does it. But nothing else happens in this loop, so the end of
 * the reads and that of the pending arrays stay in registers. Anything unusual takes the general
 * way, pointer by pointer.
 */
#include "walk/visit_records.h"
#include "walk/news.h"
#include "walk/plain_arrays.h"
#include "walk/visit_edge.h"

#define RECORDS_AHEAD 32u

/* The ends that grow. They are put back before any other function is called. */
typedef struct ends {
    const uintptr_t *flat;
    uint64_t *reads;
    size_t count, capacity, pending;
} ends;

HAUL__INLINE ends ends_of(const haul__discovery *d)
{
    ends own;
    own.flat = d->map->flat;
    own.reads = d->found->reads;
    own.count = d->found->read_count;
    own.capacity = d->found->read_capacity;
    own.pending = d->pending_count;
    return own;
}

HAUL__INLINE void put_back(haul__discovery *d, const ends *own)
{
    d->found->read_count = own->count;
    d->pending_count = own->pending;
}

/* 0: nothing was done, for something is unusual. */
HAUL__INLINE int follow(haul__discovery *d, ends *own, const haul__plain_array *array,
                        uintptr_t value, uintptr_t element)
{
    const uintptr_t place = element + array->field[0].offset;
    const int64_t stored = haul__load_count(place, array->field[0].width);
    const int64_t count = stored & array->field[0].bits;
    const uint64_t read = (place | array->width_mark) | (uint64_t)stored << 50;
    haul__pending *pending = &d->pending[own->pending];
    if (HAUL__UNLIKELY(!haul__is_short(array, value, count) || own->count == own->capacity))
        return 0;
    if (!own->count || HAUL__READ_PLACE(own->reads[own->count - 1] ^ read))
        own->reads[own->count++] = read;
    haul__fetch_cell(own->flat, value);
    pending->first = value;
    pending->end = value + (uintptr_t)(count * array->scale + array->shift);
    pending->array = array;
    own->pending++;
    return 1;
}

HAUL__HOT static haul_status visit_records(haul__discovery *d, const haul__entry *entry)
{
    const haul__met_type *met = &d->met_types[entry->met_type];
    const haul__edge *const edges = met->edges;
    const haul__plain_array *const arrays = met->arrays;
    const uint32_t count = met->edge_count;
    const size_t first_slot = met->first_slot, last_slot = met->last_slot;
    haul_status status = HAUL_OK;
    ends own = ends_of(d);
    uint32_t k;
    size_t i;
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        const uintptr_t element = entry->address + i * entry->stride;
        haul__prefetch(element + RECORDS_AHEAD * entry->stride + first_slot);
        haul__prefetch(element + RECORDS_AHEAD * entry->stride + last_slot);
        for (k = 0; k < count && status == HAUL_OK; k++) {
            const uintptr_t value = haul__load_word((const void *)(element + edges[k].offset));
            const int met_in_line = follow(d, &own, &arrays[k], value, element);
            if (HAUL__LIKELY(met_in_line && own.pending < HAUL__PENDING))
                continue;
            put_back(d, &own);
            status = met_in_line ? haul__mark_pending(d)
                                 : haul__visit_edge(d, element, entry->met_type, &edges[k]);
            own = ends_of(d);
        }
        if (HAUL__UNLIKELY(i % HAUL__NEWS_ELEMENTS == HAUL__NEWS_ELEMENTS - 1) &&
            status == HAUL_OK) {
            put_back(d, &own);
            status = haul__news(d);
            own = ends_of(d);
        }
    }
    put_back(d, &own);
    return status == HAUL_OK ? haul__mark_pending(d) : status;
}

haul_status haul__visit_records(haul__discovery *d, const haul__entry *entry)
{
    return visit_records(d, entry);
}
