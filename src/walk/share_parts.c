/* The parts of the map that threads mark in (map/stock.h).
 */
#include "walk/share_parts.h"

void haul__give_parts(haul__discovery *d, haul__share *share)
{
    haul__map *part[HAUL__POOL_CHUNKS];
    size_t i;
    for (i = 0; i < share->sharer_count; i++) {
        haul__sharer *sharer = &share->sharer[i];
        part[i] = &sharer->found.map;
        sharer->walk.context = d->context;
        sharer->walk.allocator = d->allocator;
        sharer->walk.found = &sharer->found;
        sharer->walk.map = part[i];
        sharer->walk.met_types = d->met_types;
        sharer->walk.met_type_count = d->met_type_count;
        sharer->walk.named = d->named;
    }
    haul__map_split(d->map, part, share->sharer_count);
}

int haul__share_run(haul__discovery *d, haul__share *share, haul__pool_work *work, void *user)
{
    int has_room = 1;
    size_t i;
    haul__give_parts(d, share);
    haul__pool_run(d->context->pool, SIZE_MAX, 0, share->sharer_count, 1, work, user);
    for (i = 0; i < share->sharer_count; i++)
        has_room &= haul__map_join(d->map, &share->sharer[i].found.map);
    return has_room;
}
