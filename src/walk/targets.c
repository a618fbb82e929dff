/* The list of targets, for the checks of strangers' graphs (validate/claims.c).
 */
#include "walk/targets.h"
#include "base/base.h"
#include "base/list.h"
#include "walk/extent.h"

/* The word, which is listed now. NULL: nobody asks for it, or it leads nowhere, or *status tells
 * that there is no memory. */
static haul__word_target *list_word(haul__discovery *d, uintptr_t place, uintptr_t value,
                                    haul_status *status)
{
    haul__word_target *added;
    *status = HAUL_OK;
    if (!d->bounds || !value)
        return NULL;
    added = HAUL__LIST_ADD(d->allocator, &d->targets);
    if (!added) {
        *status = HAUL_ERROR_MEMORY;
        return NULL;
    }
    memset(added, 0, sizeof *added);
    added->place = place;
    added->value = value;
    return added;
}

static haul__word_target *list_pointer(haul__discovery *d, const haul__pointer *p, size_t count,
                                       haul_status *status)
{
    const haul_count *shape = &p->slot->shape[p->level];
    const size_t unit = haul__unit_of(p->slot, p->level);
    haul__word_target *added = list_word(d, p->place, p->value, status);
    if (!added)
        return NULL;
    if (shape->kind == HAUL_COUNT_KIND_TERMINATED ||
        haul__multiply_overflows(count, unit, &added->bytes))
        added->bytes = unit; /* what is too large is refused when it is reached */
    added->slot = p->slot;
    added->level = (uint16_t)p->level;
    if (shape->kind == HAUL_COUNT_KIND_UNTIL)
        added->more = p->self + shape->field[0].offset;
    return added;
}

haul_status haul__note_unfollowed(haul__discovery *d, uintptr_t place, uintptr_t value)
{
    haul_status status;
    list_word(d, place, value, &status);
    return status;
}

haul_status haul__note_target(haul__discovery *d, const haul__pointer *p, size_t count)
{
    haul_status status;
    list_pointer(d, p, count, &status);
    return status;
}

haul_status haul__note_span(haul__discovery *d, const haul__pointer *p, size_t bytes)
{
    haul_status status;
    haul__word_target *added = list_pointer(d, p, 1, &status);
    if (added) {
        added->is_section = 1;
        added->more = bytes;
    }
    return status;
}

haul_status haul__note_borrowed(haul__discovery *d, uintptr_t place, uintptr_t value,
                                const haul__slot *slot)
{
    haul_status status;
    haul__word_target *added = list_word(d, place, value, &status);
    if (added) {
        added->slot = slot;
        added->is_borrowed = 1;
    }
    return status;
}

/* What the slot says of the elements. A borrowed pointer is not followed. */
typedef struct elements {
    int is_terminated;
    int64_t sentinel; /* that ends them */
    const haul_type *type;
    unsigned levels; /* that are left */
} elements;

static elements elements_of(const haul__word_target *t)
{
    elements e = { 0, 0, NULL, 0 };
    const haul__slot *slot = t->slot;
    if (!slot || t->is_borrowed)
        return e;
    e.is_terminated = slot->shape[t->level].kind == HAUL_COUNT_KIND_TERMINATED;
    if (e.is_terminated)
        e.sentinel = haul__narrow(slot->shape[t->level].plus, haul__unit_of(slot, t->level));
    if (t->bytes) {
        e.levels = slot->levels - t->level;
        e.type = e.levels == 1 ? slot->target : NULL;
    }
    return e;
}

int haul__is_same_target(const haul__word_target *a, const haul__word_target *b)
{
    const elements x = elements_of(a), y = elements_of(b);
    return a->value == b->value && a->bytes == b->bytes && x.is_terminated == y.is_terminated &&
           x.sentinel == y.sentinel && x.type == y.type && x.levels == y.levels;
}
