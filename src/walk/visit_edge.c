/* Pointers and objects that the innermost loops leave over.
 */
#include "walk/visit_edge.h"
#include "walk/exclude.h"
#include "walk/follow.h"
#include "walk/mark_inline.h"
#include "walk/plain_arrays.h"
#include "walk/read_set.h"
#include "walk/ruled.h"
#include "walk/visit.h"
#include "walk/why.h"

/* Does the pointer of a row take the general way? No function is called for NULL. */
static size_t is_general(const haul__plain_array *array, uintptr_t place)
{
    if (array->is_called || array->why == HAUL__WHY_FUNCTION)
        return haul__load_word((const void *)place) != 0;
    return array->why != 0;
}

/* Follows a pointer that the innermost loop leaves over: to an array or a string. In line or the
 * general way. In order, those that wait are marked before it. */
HAUL__NOINLINE haul_status haul__visit_edge(haul__discovery *d, uintptr_t element, uint32_t number,
                                            const haul__edge *edge)
{
    const haul__met_type *met = &d->met_types[number];
    const size_t i = (size_t)(edge - met->edges);
    const haul__slot *slot = &met->walk->slots[i];
    haul__plain_array *array = &met->arrays[i];
    haul__object o;
    if (edge->brief && !edge->ways) {
        const uintptr_t value = haul__load_word((const void *)(element + edge->offset));
        return value ? haul__queue_brief(d, value, HAUL__ENTRY_TYPE(edge->tag)) : HAUL_OK;
    }
    array->general += is_general(array, element + slot->offset);
    haul__visit_one(d, element, met->walk->extent, met->walk);
    if (array->is_called && !array->why) {
        haul__pointer p;
        memset(&p, 0, sizeof p);
        p.slot = slot;
        p.place = element + slot->offset;
        p.self = element + slot->self;
        p.index = slot->index;
        return haul__follow_called_array(d, array, &p);
    }
    if (!array->why) {
        const uintptr_t value = haul__load_word((const void *)(element + edge->offset));
        haul_status status = HAUL_OK;
        int is_pending;
        if (!haul__reads_fit(d, array->field_count))
            return HAUL_ERROR_MEMORY;
        is_pending = haul__follow_plain_array(d, array, value, element);
        if (!is_pending || d->pending_count == HAUL__PENDING)
            status = haul__mark_pending(d);
        if (is_pending || status != HAUL_OK)
            return status;
    } else if (d->in_order && d->pending_count) {
        const haul_status status = haul__mark_pending(d);
        if (status != HAUL_OK)
            return status;
    }
    o = haul__single_object(element, d->met_types[number].walk);
    return haul__visit_slot(d, &o, slot);
}

haul_status haul__follow_barred(haul__discovery *d, uintptr_t value, const haul__edge *edge)
{
    const uint32_t number = HAUL__ENTRY_TYPE(edge->tag);
    const haul_status status = haul__exclude_later(d, value, number, edge->ways);
    return edge->brief && status == HAUL_OK ? haul__queue_brief(d, value, number) : status;
}

/* Visits an object whose type has no edges, or queues it to be fetched. */
HAUL__NOINLINE haul_status haul__visit_apart(haul__discovery *d, haul__candidates *c,
                                             uintptr_t element, uint32_t number)
{
    const haul__walk *walk = d->met_types[number].walk;
    haul__object o;
    if (haul__is_ruled(walk) || d->met_types[number].is_brief)
        return haul__fetch_push(d, c, element, number);
    d->met_types[number].general++;
    haul__visit_one(d, element, walk->extent, walk);
    o = haul__single_object(element, walk);
    return haul__visit_rest(d, &o);
}
