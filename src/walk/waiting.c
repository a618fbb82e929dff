/* The lists of pointers that wait until owners have been found.
 */
#include "walk/waiting.h"

haul_status haul__let_wait(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                           const haul__field_value *w)
{
    const haul__pointer p = haul__ruled_pointer(d, o, ruled, w);
    const haul_type *target = w->slot->target;
    const int leads_nowhere =
        w->slot->levels == 1 && (!target || !haul__type_walk(target)->has_slots);
    haul__waiting *one = HAUL__LIST_ADD(d->allocator, &d->waiting[leads_nowhere].list);
    if (!one)
        return HAUL_ERROR_MEMORY;
    one->word = *w;
    one->ruled = ruled;
    one->self = p.self;
    one->index = p.index;
    one->count = one->bytes = 0;
    one->is_borrowed = 0;
    one->nearest = p.nearest;
    one->ancestor = *p.ancestor;
    one->root = d->root;
    one->entry = d->at_entry;
    one->element = d->at_element;
    one->visited = d->visited;
    return HAUL_OK;
}

void haul__waiting_close(haul__discovery *d)
{
    HAUL__LIST_RELEASE(d->allocator, &d->waiting[0].list);
    HAUL__LIST_RELEASE(d->allocator, &d->waiting[1].list);
}
