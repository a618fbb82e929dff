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

HAUL__HOT static haul_status visit_records(haul__discovery *d, const haul__entry *entry)
{
    const haul__met_type *met = &d->met_types[entry->met_type];
    const haul__edge *const edges = met->edges;
    const haul__plain_array *const arrays = met->arrays;
    const uint32_t count = met->edge_count;
    const size_t first_byte = met->first_byte, last_byte = met->last_byte;
    haul_status status = HAUL_OK;
    haul__ends own = haul__ends_of(d);
    uint32_t k;
    size_t i;
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        const uintptr_t element = entry->address + i * entry->stride;
        haul__prefetch(element + RECORDS_AHEAD * entry->stride + first_byte);
        haul__prefetch(element + RECORDS_AHEAD * entry->stride + last_byte);
        for (k = 0; k < count && status == HAUL_OK; k++) {
            const uintptr_t value = haul__load_word((const void *)(element + edges[k].offset));
            const int met_in_line = haul__follow_short(d, &own, &arrays[k], value, element);
            if (HAUL__LIKELY(met_in_line && own.pending < HAUL__PENDING))
                continue;
            haul__put_back(d, &own);
            status = met_in_line ? haul__mark_pending(d)
                                 : haul__visit_edge(d, element, entry->met_type, &edges[k]);
            own = haul__ends_of(d);
        }
        if (HAUL__UNLIKELY(i % HAUL__NEWS_ELEMENTS == HAUL__NEWS_ELEMENTS - 1) &&
            status == HAUL_OK) {
            haul__put_back(d, &own);
            status = haul__news(d);
            own = haul__ends_of(d);
        }
    }
    haul__put_back(d, &own);
    return status == HAUL_OK ? haul__mark_pending(d) : status;
}

haul_status haul__visit_records(haul__discovery *d, const haul__entry *entry)
{
    return visit_records(d, entry);
}
