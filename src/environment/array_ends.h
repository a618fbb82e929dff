/* Ends of arrays of present objects, as the host has them now.
 */
#ifndef HAUL_ENVIRONMENT_ARRAY_ENDS_H
#define HAUL_ENVIRONMENT_ARRAY_ENDS_H

#include "environment/environment.h"
#include "layout/lists.h"
#include "pack/plan.h"

HAUL__INLINE const haul__found *haul__group_found(const haul_environment *e, uint32_t group)
{
    return haul__plan_found(e->groups.at[group]->shipment->plan);
}

HAUL__INLINE uintptr_t haul__array_of(const haul__array_end *end)
{
    return haul__load_word((const void *)end->begin);
}

/* Of the array as it is now; modulo 2^64, if it is none. */
HAUL__INLINE uintptr_t haul__array_bytes(const haul__array_end *end)
{
    return haul__load_word((const void *)end->word) - haul__array_of(end);
}

/* Is the word a slot that ends an array now? */
HAUL__INLINE int haul__is_array_end(const haul__array_end *end)
{
    return !end->is_limit && end->word % HAUL__WORD == 0 && haul__array_of(end) &&
           haul__array_bytes(end) <= HAUL__HIGHEST;
}

/* The end that stands in the group at this address; NULL: none does. */
HAUL__INLINE const haul__array_end *haul__array_end_now(const haul_environment *e, uint32_t group,
                                                        uintptr_t slot)
{
    const haul__array_end *end = haul__array_end_at(haul__group_found(e, group), slot);
    return end && haul__is_array_end(end) ? end : NULL;
}

#endif
