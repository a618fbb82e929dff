/* The slow path for pointers: the target's cell alone does not tell the place.
 */
#include "layout/lists.h"
#include "map/forms.h"
#include "pack/gather_cell.h"

/* The copy elsewhere of a byte that is not live in the graph itself; one past a byte is one past
 * the copy of that byte, if it has one: the graph's own bytes may share its granule. But an object
 * may begin there with bytes that do not travel. `has_none`: the byte has no copy. */
HAUL__INLINE uintptr_t copy_of(const haul__sweep *s, uintptr_t value, int has_none)
{
    const haul__elsewhere *elsewhere = s->found->elsewhere;
    const uintptr_t copy = has_none ? 0 : elsewhere->copy_of(elsewhere->user, value);
    return copy || haul__is_described(s->map, value) ? copy : haul__copied_end(s->found, value);
}

HAUL__HOT static HAUL__NOINLINE uintptr_t place_of(haul__sweep *s, uintptr_t slot, uintptr_t value,
                                                   int has_none)
{
    const uint64_t own =
        s->found->elsewhere && !has_none ? haul__place_of_own(s->map, s->flat, value) : 0;
    const uintptr_t copy = own || !s->found->elsewhere ? 0 : copy_of(s, value, has_none);
    const uint64_t place = copy ? 0 : own ? own : haul__translate_in(s->map, s->flat, value);
    if (!copy && !place && !s->lost && !haul__was_empty(s->found, slot))
        s->lost = slot;
    return copy ? copy : (uintptr_t)(place ? s->base + place : 0);
}

/* Does the address's block have cells? If cells tell places, its own has told that it has none. */
HAUL__INLINE int has_cells(const haul__sweep *s, uintptr_t value)
{
    return value > HAUL__HIGHEST || (s->flat[value >> HAUL__BLOCK_SHIFT] & 1u) != 0;
}

static HAUL__NOINLINE uintptr_t place_unknown(haul__sweep *s, uintptr_t slot, uintptr_t value)
{
    const haul__elsewhere *elsewhere = s->found->elsewhere;
    const uintptr_t copy = elsewhere->copy_of(elsewhere->user, value);
    return HAUL__LIKELY(copy != 0) ? copy : place_of(s, slot, value, 1);
}

/* Most such pointers lead to a copy elsewhere, where discovery has stopped. */
HAUL__NOINLINE uintptr_t haul__place_rarely(haul__sweep *s, uintptr_t slot, uintptr_t value)
{
    const haul__elsewhere *elsewhere = s->found->elsewhere;
    uintptr_t delta;
    if (!elsewhere || s->needs_lookup || !has_cells(s, value))
        return place_of(s, slot, value, 0);
    if (HAUL__LIKELY(haul__find_known(elsewhere, value, &delta)))
        return value + delta;
    return place_unknown(s, slot, value);
}
