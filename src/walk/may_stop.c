/* Pointers to one simple object, in a walk that stops at what has a copy elsewhere.
 *
 * Most pointers of nodes are such. Unless the object has a copy, it is marked in line, as in a walk
 * that does not stop, and its range is listed.
 */
#include "walk/may_stop.h"
#include "walk/mark_inline.h"
#include "walk/new_ranges.h"

haul_status haul__follow_or_stop(haul__discovery *d, uintptr_t value, const haul__edge *edge)
{
    const haul__elsewhere *elsewhere = d->found->elsewhere;
    const uint32_t number = HAUL__ENTRY_TYPE(edge->tag);
    const haul__met_type *met = &d->met_types[number];
    const size_t lower = met->walk->true_lower;
    haul__meeting meeting;
    int fresh;
    if (HAUL__TOO_HIGH(value))
        return haul__reach_one(d, value, number);
    meeting = elsewhere->meet(elsewhere->user, value + lower, met->walk->true_upper - lower);
    if (meeting == HAUL__WHOLE)
        return HAUL_OK;
    if (meeting != HAUL__HERE)
        return haul__reach_one(d, value, number); /* it asks again, and says why */
    fresh = haul__start_in_cell(value) < edge->near_starts
                ? haul__mark_near(d->map->flat, value, met)
                : haul__mark_over(d->map->flat, value, met);
    if (fresh < 0)
        return haul__reach_one(d, value, number);
    if (!fresh)
        return HAUL_OK;
    d->found->bytes += met->simple.bytes;
    return haul__list_one(d, value, number) && haul__queue_push(d, value, number, 1)
               ? HAUL_OK
               : HAUL_ERROR_MEMORY;
}
