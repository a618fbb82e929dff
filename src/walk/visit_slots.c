/* Visiting the slots and parts of one object: all that has no rule.
 */
#include "walk/visit.h"
#include "walk/checked.h"
#include "walk/follow.h"
#include "walk/listed_words.h"
#include "walk/log_order.h"
#include "walk/paths.h"
#include "walk/targets.h"

static haul_status visit_end(haul__discovery *d, const haul__object *o, const haul__slot *slot,
                             uintptr_t value)
{
    haul__array_end end = { 0, 0, 0, 0 };
    haul_status status;
    end.word = o->address + slot->offset;
    end.begin = o->address + slot->self + slot->index;
    end.bytes = value - haul__load_word((const void *)end.begin);
    status = haul__note_array_end(d, &end);
    return status == HAUL_OK ? haul__note_unfollowed(d, end.word, value) : status;
}

haul_status haul__visit_slot(haul__discovery *d, const haul__object *o, const haul__slot *slot)
{
    uintptr_t address = o->address + slot->offset, value = haul__load_word((const void *)address);
    haul__pointer p;
    haul_status status = HAUL_OK;
    if ((address & (HAUL__WORD - 1)) != 0)
        status = haul__note_explicit(d, address, value);
    if (status == HAUL_OK && d->recording) {
        if (d->sought.pointer == address)
            return haul__refuse(d, HAUL_ERROR_STALE, slot, "this pointer has changed");
        status = haul__meet_pointer(d, address, slot, 0);
    }
    if (status == HAUL_OK && d->order_log && (slot->flags & HAUL__SLOT_END))
        status = haul__log_pointer(d, HAUL__REFERENCE_END, address, value);
    if (status != HAUL_OK)
        return status;
    if (slot->flags & HAUL__SLOT_END)
        return visit_end(d, o, slot, value);
    memset(&p, 0, sizeof p);
    p.slot = slot;
    p.place = address;
    p.value = value;
    p.self = o->address + slot->self;
    p.index = slot->index;
    p.ancestor = o->ancestor;
    return haul__follow(d, &p);
}

haul_status haul__visit_rest(haul__discovery *d, const haul__object *o)
{
    const haul__walk *walk = o->walk;
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < walk->slot_count && status == HAUL_OK && walk->slots[i].offset < o->bytes; i++)
        if (!haul__is_lone_end(&walk->slots[i], o->bytes))
            status = haul__visit_slot(d, o, &walk->slots[i]);
    for (i = 0; i < walk->part_count && walk->parts[i].offset < o->bytes && status == HAUL_OK;
         i++) {
        const haul__part *part = &walk->parts[i];
        haul__entry entry;
        memset(&entry, 0, sizeof entry);
        entry.address = o->address + part->offset;
        entry.count = part->count;
        entry.stride = part->stride;
        entry.part = part->name ? part->name : "";
        entry.self = o->address;
        entry.ancestor = *o->ancestor;
        entry.parent = d->at_entry;
        entry.parent_element = d->at_element;
        entry.what = HAUL__OBJECTS;
        status = haul__met_type_of(d, part->type, &entry.met_type);
        if (status == HAUL_OK && part->count)
            status = haul__reach(d, &entry);
    }
    return status;
}
