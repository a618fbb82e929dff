/* The slow path for pointers: the target's cell alone does not tell the place.
 */
#include "pack/gather_cell.h"

HAUL__NOINLINE uintptr_t haul__place_rarely(haul__sweep *s, uintptr_t slot, uintptr_t value)
{
    uintptr_t copy = haul__copied_byte(s->found, value);
    uint64_t place = copy ? 0 : haul__translate_in(s->map, s->flat, value);
    if (!copy && !place)
        copy = haul__copied_end(s->found, value);
    if (!copy && !place && !s->lost && !haul__was_empty(s->found, slot))
        s->lost = slot;
    return copy ? copy : (uintptr_t)(place ? s->base + place : 0);
}
