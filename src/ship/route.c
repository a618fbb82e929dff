/* The route of a crossing.
 *
 * A route without packing is best: the device takes a locked source itself, and an arena is copied
 * as it lies. Else one buffer is best, because nothing is sent, or written, before all of it is
 * ready. A graph that is too large for a buffer crosses in pieces, so that packing hides behind the
 * transfer.
 *
 * Two things need a whole buffer on the way back: results that are written later or only together,
 * and an ordered arena, whose pieces are not pieces of the source.
 */
#include "ship/route.h"

static haul_route way_back(const haul__journey *j)
{
    if (j->is_async || j->with_pointers || j->all_or_nothing)
        return HAUL_ROUTE_WHOLE;
    if (j->is_locked)
        return HAUL_ROUTE_LOCKED;
    if (j->is_direct)
        return HAUL_ROUTE_ARENA;
    return j->fits || j->is_ordered ? HAUL_ROUTE_WHOLE : HAUL_ROUTE_PIECES;
}

haul_route haul__route(const haul__journey *j)
{
    if (j->is_back)
        return way_back(j);
    if (j->is_arena)
        return j->is_edited ? HAUL_ROUTE_PIECES : HAUL_ROUTE_ARENA;
    if (j->is_locked && !j->is_async)
        return HAUL_ROUTE_LOCKED;
    return j->fits ? HAUL_ROUTE_WHOLE : HAUL_ROUTE_PIECES;
}
