/* The second search: rows whose pointers never led anywhere.
 *
 * A row is known by its shapes, which exist once, in the type that the row stands in, however often that type is
 * embedded; each level of it counts for itself. Once one of its pointers leads into the graph a row is done with.
 */
#include <stdio.h>

#include "audit/audit.h"

typedef struct row {
    const haul__slot *slot; /* of the first pointer that was looked at */
    size_t entry, element;  /* where it is */
    uintptr_t address;
    size_t looked_at, not_null;
    unsigned level;
    int leads;
} row;

typedef struct search {
    haul__audit *audit;
    haul__tally tally; /* (shape, 0): 1 + number of the row */
    row *rows;
    size_t count, capacity;
    size_t entry;
} search;

static row *row_of(search *s, const haul__slot *slot, unsigned level, size_t element, uintptr_t address)
{
    size_t *number = haul__tally_of(&s->tally, (uintptr_t)&slot->shape[level], 0);
    void *rows = s->rows;
    row *made;
    if (!number)
        return NULL;
    if (*number)
        return &s->rows[*number - 1];
    if (!haul__grow(s->audit->allocator, &rows, &s->capacity, s->count + 1, sizeof *s->rows))
        return NULL;
    s->rows = rows;
    made = &s->rows[s->count++];
    *number = s->count;
    memset(made, 0, sizeof *made);
    made->slot = slot;
    made->level = level;
    made->entry = s->entry;
    made->element = element;
    made->address = address;
    return made;
}

static haul_status look_at(search *s, const haul__slot *slot, unsigned level, size_t element, uintptr_t address)
{
    row *r = row_of(s, slot, level, element, address);
    uintptr_t value;
    if (!r)
        return HAUL_ERROR_MEMORY;
    if (r->leads)
        return HAUL_OK;
    memcpy(&value, (const void *)address, sizeof value);
    r->looked_at++;
    r->not_null += value != 0;
    r->leads = value && haul__audit_leads_in(s->audit, value);
    return HAUL_OK;
}

static haul_status search_entry(search *s, const haul__entry *entry)
{
    const haul__walk *walk = entry->what == HAUL__OBJECTS ? s->audit->walk.kinds[entry->kind].walk : NULL;
    haul_status status = HAUL_OK;
    size_t i, k, end = haul__audit_end(s->audit, entry);
    for (i = 0; entry->what == HAUL__POINTERS && i < entry->count && status == HAUL_OK; i++)
        status = look_at(s, entry->slot, entry->level, i, entry->address + i * HAUL__WORD);
    for (i = 0; walk && i < entry->count && status == HAUL_OK; i++)
        for (k = 0; k < walk->slot_count && status == HAUL_OK; k++)
            if (!(walk->slots[k].flags & HAUL__SLOT_END) && walk->slots[k].offset < end)
                status = look_at(s, &walk->slots[k], 0, i, entry->address + i * entry->stride + walk->slots[k].offset);
    return status;
}

static haul_status tell(haul__audit *a, const row *r)
{
    haul_audit_finding finding;
    if (!haul__audit_is_wanted(a, a->summary.unused_rows++))
        return HAUL_OK;
    memset(&finding, 0, sizeof finding);
    finding.kind = HAUL_AUDIT_UNUSED_ROW;
    finding.is_hint = 1;
    finding.address = (const void *)r->address;
    finding.bytes = HAUL__WORD;
    finding.times = r->looked_at;
    if (!haul__name_place(&a->walk, r->entry, r->element, r->slot, finding.path))
        return HAUL_ERROR_MEMORY;
    snprintf(finding.text, sizeof finding.text, "described as a pointer, it was %s in all of %zu place%s%s",
             r->not_null ? "NULL or led to no elements" : "NULL", r->looked_at, r->looked_at == 1 ? "" : "s",
             r->level ? ", as an array's element" : "");
    haul__audit_tell(a, &finding);
    return HAUL_OK;
}

haul_status haul__audit_rows(haul__audit *a)
{
    haul_status status = HAUL_OK;
    search s;
    size_t i;
    memset(&s, 0, sizeof s);
    s.audit = a;
    s.tally.allocator = a->allocator;
    for (; s.entry < a->walk.entry_count && status == HAUL_OK; s.entry++)
        status = search_entry(&s, &a->walk.entries[s.entry]);
    haul__tally_close(&s.tally);
    a->summary.rows = s.count;
    for (i = 0; i < s.count && status == HAUL_OK; i++)
        if (!s.rows[i].leads)
            status = tell(a, &s.rows[i]);
    haul__release(a->allocator, s.rows, s.capacity * sizeof *s.rows);
    return status;
}
