/* Leftovers: one thread walks on from the few objects that a shared walk (share.c) leaves over.
 *
 * Why it is right: threads find overlaps by the starts in uniform blocks. One thread marks in line
 * only what a start tells, or what overlaps nothing. All else takes the general way, and is looked
 * at there. Objects of another form make a block mixed, in which no start tells anything: so all
 * blocks must be uniform in the end.
 */
#include "walk/leftover.h"
#include "map/mark.h"
#include "walk/mark_inline.h"
#include "walk/share.h"

int haul__are_uniform(const haul__map *map)
{
    size_t i;
    for (i = 0; i < map->block_count; i++) {
        const haul__block *block = haul__block_in(map->flat[map->numbers[i]]);
        if (!haul__is_uniform(block) || block->side)
            return 0;
    }
    return 1;
}

static haul_status give_up(haul__discovery *d, const haul__walk *walk)
{
    d->alone.why = HAUL__WHY_OVERLAP;
    d->alone.walk = walk;
    d->alone.slot = NULL;
    return HAUL_ERROR_GRAPH;
}

haul_status haul__check_leftover(haul__discovery *d, uintptr_t address, uint32_t number)
{
    const haul__met_type *met = &d->met_types[number];
    const uint32_t form = address & (HAUL__GRANULE - 1) ? met->ragged.form : met->form;
    if (HAUL__TOO_HIGH(address) || !haul__can_start(met, address, form) ||
        !haul__any_live(d->map, address, address + met->simple.bytes) ||
        (d->map->flat[address >> HAUL__BLOCK_SHIFT] & 1 &&
         haul__is_start(d->map->flat, address, form)))
        return HAUL_OK;
    return give_up(d, met->walk);
}

haul_status haul__end_leftovers(haul__discovery *d)
{
    d->has_shared = 0;
    return haul__are_uniform(d->map) ? HAUL_OK : give_up(d, NULL);
}
