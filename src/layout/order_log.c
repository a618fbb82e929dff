#include "layout/order_log.h"

void haul__order_log_close(const haul_allocator *allocator, haul__order_log *trail)
{
    haul__release(allocator, trail->reached, trail->reached_capacity * sizeof *trail->reached);
    haul__release(allocator, trail->known, trail->known_capacity * sizeof *trail->known);
    haul__release(allocator, trail->mentions, trail->mention_capacity * sizeof *trail->mentions);
    memset(trail, 0, sizeof *trail);
}
