/* The list of targets, for the checks of strangers' graphs (validate/claims.c).
 */
#include "walk/targets.h"
#include "base/base.h"
#include "base/list.h"
#include "walk/extent.h"

haul_status haul__note_unfollowed(haul__discovery *d, uintptr_t place, uintptr_t value)
{
    haul__target *added;
    if (!d->bounds || !value)
        return HAUL_OK;
    added = HAUL__LIST_ADD(d->allocator, &d->targets);
    if (!added)
        return HAUL_ERROR_MEMORY;
    memset(added, 0, sizeof *added);
    added->place = place;
    added->value = value;
    return HAUL_OK;
}

haul_status haul__note_target(haul__discovery *d, const haul__pointer *p, size_t count)
{
    const haul_count *shape = &p->slot->shape[p->level];
    const size_t unit = haul__unit_of(p->slot, p->level);
    const haul_status status = haul__note_unfollowed(d, p->place, p->value);
    haul__target *added;
    if (status != HAUL_OK || !d->bounds || !p->value)
        return status;
    added = &d->targets.at[d->targets.count - 1];
    added->is_terminated = shape->kind == HAUL_COUNT_KIND_TERMINATED;
    added->sentinel = added->is_terminated ? haul__narrow(shape->plus, unit) : 0;
    if (added->is_terminated || haul__multiply_overflows(count, unit, &added->bytes))
        added->bytes = unit; /* what is too large is refused when it is reached */
    added->type = haul__is_last_level(p) && count > 0 ? p->slot->target : NULL;
    added->levels = count > 0 ? p->slot->levels - p->level : 0;
    return HAUL_OK;
}

int haul__is_same_target(const haul__target *a, const haul__target *b)
{
    return a->value == b->value && a->bytes == b->bytes && a->is_terminated == b->is_terminated &&
           a->sentinel == b->sentinel && a->type == b->type && a->levels == b->levels;
}
