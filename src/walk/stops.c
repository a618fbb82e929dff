/* Where a discovery stops.
 *
 * A range with a copy is neither marked nor visited: its own pointers were followed when the copy
 * was made. It cannot be longer than its copy. A longer one would need all of its bytes side by
 * side, and so another place for those that are there.
 */
#include "walk/stops.h"
#include "walk/paths.h"

static haul__meeting meet(const haul__elsewhere *elsewhere, uintptr_t address, size_t bytes)
{
    uint32_t i;
    switch (haul__told_around(elsewhere, address, bytes, &i)) {
    case HAUL__CLEAR:
        return HAUL__HERE;
    case HAUL__COPIED:
        return haul__stop_around(elsewhere, address, bytes, i);
    default:
        return elsewhere->meet(elsewhere->user, address, bytes);
    }
}

haul_status haul__stops_at(haul__discovery *d, const haul__slot *slot, uintptr_t address,
                           size_t bytes, int *stops)
{
    const haul__elsewhere *elsewhere = d->found->elsewhere;
    const haul__meeting met = elsewhere ? meet(elsewhere, address, bytes) : HAUL__HERE;
    *stops = met == HAUL__WHOLE;
    if (met == HAUL__NOT_NOTED)
        return HAUL_ERROR_MEMORY;
    return met == HAUL__REACHES_OUT
               ? haul__refuse(d, HAUL_ERROR_GRAPH, slot,
                              "%zu bytes begin in an object that is on the device already, and "
                              "reach out of it: the object cannot move",
                              bytes)
               : HAUL_OK;
}

int haul__has_copy(const haul__discovery *d, uintptr_t address)
{
    const haul__elsewhere *elsewhere = d->found->elsewhere;
    return elsewhere && elsewhere->copy_of(elsewhere->user, address) != 0;
}
