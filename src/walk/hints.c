/* Hints that a discovery notes (hints.h).
 */
#include "walk/hints.h"
#include "walk/memo.h"

/* Is the slot a row of the type's objects? */
static int has_slot(const haul_type *type, const haul__slot *slot)
{
    const haul__walk *walk = haul__type_walk(type);
    size_t i;
    if ((uintptr_t)slot - (uintptr_t)walk->slots < walk->slot_count * sizeof *slot)
        return 1;
    for (i = 0; i < walk->ruled_count; i++)
        if (slot == &walk->ruled[i].slot || (uintptr_t)slot - (uintptr_t)walk->ruled[i].cases <
                                                haul__case_count(&walk->ruled[i]) * sizeof *slot)
            return 1;
    return 0;
}

int haul__names_slot(const haul_place_hint *hint, const haul__slot *slot)
{
    return hint->field && slot && strcmp(slot->name, hint->field) == 0 &&
           has_slot(hint->type, slot);
}

uint32_t haul__hint_for(const haul__discovery *d, const haul__slot *slot, const haul_type *type)
{
    size_t i;
    for (i = 0; d->hints && i < d->hints->count; i++) {
        const haul_place_hint *hint = &d->hints->at[i];
        if (hint->field ? haul__names_slot(hint, slot) : hint->type == type)
            return (uint32_t)(i + 1);
    }
    return 0;
}

static uint32_t first_of(uint32_t a, uint32_t b)
{
    return !a || (b && b < a) ? b : a;
}

/* Many pointers may lead to one large range, which is named once. */
static int name_once(haul__discovery *d, uint32_t hint, uintptr_t address, size_t bytes)
{
    const haul_place_hint *as = &d->hints->at[hint - 1];
    if (bytes < HAUL__MEMO_BYTES)
        return haul__hint_range(d, hint, address, address + bytes);
    if (haul__memo_has(d, HAUL__MEMO_NAMED, address, bytes, as))
        return 1;
    return haul__hint_range(d, hint, address, address + bytes) &&
           haul__memo_add(d, HAUL__MEMO_NAMED, address, bytes, as) == HAUL_OK;
}

int haul__hint_entry(haul__discovery *d, const haul__entry *entry)
{
    const haul__met_type *met =
        entry->what == HAUL__OBJECTS ? &d->met_types[entry->met_type] : NULL;
    const size_t stride = entry->stride;
    size_t whole, part, i;
    uint32_t hint;
    if (HAUL__LIKELY(!d->named))
        return 1;
    hint = first_of(met ? met->hint : 0, haul__hint_for(d, entry->slot, NULL));
    if (!hint || !entry->count || haul__multiply_overflows(entry->count, stride, &whole) ||
        entry->address < HAUL__LOWEST || entry->address > HAUL__HIGHEST)
        return 1;
    if (!met || !haul__is_dense(met->walk) || stride != met->walk->extent)
        whole = haul__entry_bytes(d, entry);
    if (!whole || whole > HAUL__HIGHEST - entry->address)
        return 1;
    part = entry->run && entry->run < stride ? entry->run : whole;
    if (part >= whole)
        return name_once(d, hint, entry->address, whole);
    for (i = 0; i < entry->count; i++)
        if (!haul__hint_range(d, hint, entry->address + i * stride,
                              entry->address + i * stride + part))
            return 0;
    return 1;
}
