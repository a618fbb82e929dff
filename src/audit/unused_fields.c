/* The search for fields whose pointers never led anywhere.
 *
 * A field is known by its shapes. They exist once, in the field's own type, however often that type
 * is embedded. Each level of a field counts for itself. A field is used as soon as one of its
 * pointers leads into the graph.
 *
 * Fields with rules are judged without the user's functions. A word is taken to lead somewhere
 * unless it is null, an integer, or excluded by another field that says that this one does not
 * hold. So every report is true, but some unused fields are not reported.
 */
#include "audit/unused_fields.h"
#include "type/field.h"
#include "walk/ruled_field.h"

/* A place where a field stands. NULL: out of memory. */
static haul__noted *note(haul__audit *a, size_t entry, const haul__slot *slot, unsigned level,
                         size_t element, uintptr_t address)
{
    const void *place = slot->shape ? (const void *)&slot->shape[level] : slot;
    haul__noted *noted = haul__audit_note(a, HAUL_AUDIT_UNUSED_FIELD, place, 0);
    if (!noted || noted->times)
        return noted;
    a->info.fields++;
    noted->slot = slot;
    noted->level = level;
    noted->entry = entry;
    noted->element = element;
    noted->address = address;
    noted->bytes = HAUL__WORD;
    return noted;
}

static haul_status look_at(haul__audit *a, size_t entry, const haul__slot *slot, unsigned level,
                           size_t element, uintptr_t address)
{
    haul__noted *noted = note(a, entry, slot, level, element, address);
    uintptr_t value;
    if (!noted)
        return HAUL_ERROR_MEMORY;
    noted->times++;
    if (!noted->is_finding)
        return HAUL_OK;
    value = haul__load_word((const void *)address);
    noted->was_set |= value != 0;
    noted->is_finding = !value || !haul__audit_leads_in(a, value);
    return HAUL_OK;
}

/* ---- Fields with rules. */

/* Is it a pointer that is followed? Do the field and those that it reads lie before the end of the
 * object? */
static int is_searched(const haul__ruled *ruled, size_t end)
{
    return ruled->kind == HAUL__RULED_POINTER && !(ruled->slot.flags & HAUL__SLOT_END) &&
           ruled->slot.shape && haul__leads_in(&ruled->rule->said) && ruled->slot.offset < end &&
           ruled->bytes <= end - ruled->slot.offset && !haul__reads_beyond(ruled, end);
}

static haul_status look_at_ruled(haul__audit *a, size_t entry, const haul__ruled *ruled,
                                 size_t element, const haul__object *o)
{
    const haul_field *rule = &ruled->rule->said;
    uintptr_t address = o->address + ruled->slot.offset;
    haul__noted *noted = note(a, entry, &ruled->slot, 0, element, address);
    uint64_t word = 0;
    uint32_t half;
    if (!noted)
        return HAUL_ERROR_MEMORY;
    noted->times++;
    noted->has_rule = 1;
    if (rule->when.kind == HAUL_WHEN_KIND_FUNCTION)
        noted->is_finding = 0; /* the function is not called: the field may hold */
    if (!noted->is_finding)
        return HAUL_OK;
    if ((rule->when.kind == HAUL_WHEN_KIND_FIELD || rule->when.kind == HAUL_WHEN_KIND_NOT) &&
        !haul__when_holds(&rule->when, (const void *)o->self)) {
        noted->was_set = 1; /* the word may be anything, and must not be read */
        return HAUL_OK;
    }
    if (ruled->bytes == sizeof word) {
        memcpy(&word, (const void *)address, sizeof word);
    } else {
        memcpy(&half, (const void *)address, sizeof half);
        word = half;
    }
    noted->was_set |= word != 0;
    noted->is_finding = (word & ~(uint64_t)rule->tag_bits) == 0 || word < rule->integers_below ||
                        (rule->integers_from && word >= rule->integers_from);
    return HAUL_OK;
}

/* ---- Entries. */

static haul_status search_entry(haul__audit *a, size_t number)
{
    const haul__entry *entry = &a->walk.entries.at[number];
    const haul__walk *walk =
        entry->what == HAUL__OBJECTS ? a->walk.met_types[entry->met_type].walk : NULL;
    const size_t end = haul__audit_end(a, entry);
    haul_status status = HAUL_OK;
    size_t i, k;
    for (i = 0; entry->what == HAUL__POINTERS && i < entry->count && status == HAUL_OK; i++)
        status = look_at(a, number, entry->slot, entry->level, i, entry->address + i * HAUL__WORD);
    for (i = 0; walk && i < entry->count && status == HAUL_OK; i++) {
        const haul__object o = haul__object_of(entry, walk, i, HAUL__DRY);
        for (k = 0; k < walk->slot_count && status == HAUL_OK; k++)
            if (!(walk->slots[k].flags & HAUL__SLOT_END) && walk->slots[k].offset < end)
                status =
                    look_at(a, number, &walk->slots[k], 0, i, o.address + walk->slots[k].offset);
        for (k = 0; k < walk->ruled_count && status == HAUL_OK; k++)
            if (is_searched(&walk->ruled[k], end))
                status = look_at_ruled(a, number, &walk->ruled[k], i, &o);
    }
    return status;
}

haul_status haul__audit_fields(haul__audit *a)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < a->walk.entries.count && status == HAUL_OK; i++)
        if (!a->walk.entries.at[i].is_again)
            status = search_entry(a, i);
    return status;
}
