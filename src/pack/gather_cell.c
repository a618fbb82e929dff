/* The slow path for pointers: the target's cell alone does not tell the place.
 */
#include "pack/gather_cell.h"

HAUL__NOINLINE uintptr_t haul__place_rarely(haul__sweep *s, uintptr_t slot, uintptr_t value)
{
    uint64_t place = haul__translate_in(s->map, s->flat, value);
    if (!place && !s->lost && !haul__was_empty(s->found, slot))
        s->lost = slot;
    return (uintptr_t)(place ? s->base + place : 0);
}
