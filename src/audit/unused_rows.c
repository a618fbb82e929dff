/* The search for rows whose pointers never led anywhere.
 *
 * A row is known by its shapes. They exist once, in the row's own type, however often that type is
 * embedded. Each level of a row counts for itself. A row is used as soon as one of its pointers
 * leads into the graph.
 *
 * Rows with rules are judged without the user's functions. A word is taken to lead somewhere unless
 * it is null, an integer, or excluded by a field that says that the row does not hold. So every
 * report is true, but some unused rows are not reported.
 */
#include <stdio.h>

#include "audit/report.h"
#include "audit/searches.h"
#include "audit/tally.h"
#include "walk/paths.h"
#include "walk/ruled_field.h"
#include "type/field.h"

typedef struct row {
    const haul__slot *slot; /* of the first pointer looked at */
    size_t entry, element;  /* of that pointer */
    uintptr_t address;
    size_t looked_at, not_null;
    unsigned level;
    int has_rule, leads;
} row;

typedef struct search {
    haul__audit *audit;
    haul__tally tally; /* key (shape, 0); value 1 + number of the row */
    HAUL__LIST(row) rows;
    size_t entry;
} search;

static row *row_of(search *s, const haul__slot *slot, unsigned level, size_t element,
                   uintptr_t address)
{
    size_t *number = haul__tally_of(&s->tally, (uintptr_t)&slot->shape[level], 0);
    row *made;
    if (!number)
        return NULL;
    if (*number)
        return &s->rows.at[*number - 1];
    made = HAUL__LIST_ADD(s->audit->allocator, &s->rows);
    if (!made)
        return NULL;
    *number = s->rows.count;
    memset(made, 0, sizeof *made);
    made->slot = slot;
    made->level = level;
    made->entry = s->entry;
    made->element = element;
    made->address = address;
    return made;
}

static haul_status look_at(search *s, const haul__slot *slot, unsigned level, size_t element,
                           uintptr_t address)
{
    row *r = row_of(s, slot, level, element, address);
    uintptr_t value;
    if (!r)
        return HAUL_ERROR_MEMORY;
    if (r->leads)
        return HAUL_OK;
    value = haul__load_word((const void *)address);
    r->looked_at++;
    r->not_null += value != 0;
    r->leads = value && haul__audit_leads_in(s->audit, value);
    return HAUL_OK;
}

/* ---- Rows with rules. */

static int is_followed(const haul__ruled *ruled)
{
    return ruled->kind == HAUL__RULED_POINTER && !(ruled->slot.flags & HAUL__SLOT_END) &&
           ruled->slot.shape && haul__leads_in(&ruled->rule->said);
}

/* Do the row and the fields that it reads lie before the end of the object? */
static int lies_before(const haul__ruled *ruled, size_t end)
{
    return ruled->slot.offset < end && ruled->bytes <= end - ruled->slot.offset &&
           !haul__reads_beyond(ruled, end);
}

/* 0: a field of the struct says that the row does not hold. Then its word may be anything, and must
 * not be read. */
static int may_hold(const haul_when *when, uintptr_t self)
{
    return (when->kind != HAUL_WHEN_KIND_FIELD && when->kind != HAUL_WHEN_KIND_NOT) ||
           haul__when_holds(when, (const void *)self);
}

static int may_lead(const haul_field *rule, uint64_t word)
{
    return (word & ~(uint64_t)rule->tag_bits) != 0 && word >= rule->integers_below &&
           (!rule->integers_from || word < rule->integers_from);
}

/* A pointer or a distance, of 4 or 8 bytes. */
static uint64_t load_word(uintptr_t address, size_t bytes)
{
    uint64_t word = 0;
    uint32_t half;
    if (bytes == sizeof word) {
        memcpy(&word, (const void *)address, sizeof word);
        return word;
    }
    memcpy(&half, (const void *)address, sizeof half);
    return half;
}

static haul_status look_at_ruled(search *s, const haul__ruled *ruled, size_t element,
                                 const haul__object *o)
{
    const haul_field *rule = &ruled->rule->said;
    uintptr_t address = o->address + ruled->slot.offset;
    row *r = row_of(s, &ruled->slot, 0, element, address);
    uint64_t word;
    if (!r)
        return HAUL_ERROR_MEMORY;
    if (r->leads)
        return HAUL_OK;
    r->has_rule = 1;
    r->looked_at++;
    r->leads =
        rule->when.kind == HAUL_WHEN_KIND_FUNCTION; /* a function is not called: the row may hold */
    if (r->leads)
        return HAUL_OK;
    if (!may_hold(&rule->when, o->self)) {
        r->not_null++;
        return HAUL_OK;
    }
    word = load_word(address, ruled->bytes);
    r->not_null += word != 0;
    r->leads = may_lead(rule, word);
    return HAUL_OK;
}

/* ---- Entries. */

static haul_status search_element(search *s, const haul__walk *walk, const haul__entry *entry,
                                  size_t element, size_t end)
{
    haul__object o = haul__object_of(entry, walk, element, HAUL__DRY);
    haul_status status = HAUL_OK;
    size_t k;
    for (k = 0; k < walk->slot_count && status == HAUL_OK; k++)
        if (!(walk->slots[k].flags & HAUL__SLOT_END) && walk->slots[k].offset < end)
            status = look_at(s, &walk->slots[k], 0, element, o.address + walk->slots[k].offset);
    for (k = 0; k < walk->ruled_count && status == HAUL_OK; k++)
        if (is_followed(&walk->ruled[k]) && lies_before(&walk->ruled[k], end))
            status = look_at_ruled(s, &walk->ruled[k], element, &o);
    return status;
}

static haul_status search_entry(search *s, const haul__entry *entry)
{
    const haul__walk *walk =
        entry->what == HAUL__OBJECTS ? s->audit->walk.met_types[entry->met_type].walk : NULL;
    haul_status status = HAUL_OK;
    size_t i, end = haul__audit_end(s->audit, entry);
    if (entry->is_again)
        return HAUL_OK;
    for (i = 0; entry->what == HAUL__POINTERS && i < entry->count && status == HAUL_OK; i++)
        status = look_at(s, entry->slot, entry->level, i, entry->address + i * HAUL__WORD);
    for (i = 0; walk && i < entry->count && status == HAUL_OK; i++)
        status = search_element(s, walk, entry, i, end);
    return status;
}

static haul_status tell(haul__audit *a, const row *r)
{
    static const char *const empty[] = { "NULL", "NULL or led to no elements",
                                         "NULL, an integer or something else" };
    haul_audit_finding finding;
    if (!haul__audit_is_wanted(a, a->info.unused_rows++))
        return HAUL_OK;
    memset(&finding, 0, sizeof finding);
    finding.kind = HAUL_AUDIT_UNUSED_ROW;
    finding.is_hint = 1;
    finding.address = (const void *)r->address;
    finding.bytes = HAUL__WORD;
    finding.times = r->looked_at;
    if (!haul__name_place(&a->walk, r->entry, r->element, r->slot, finding.path))
        return HAUL_ERROR_MEMORY;
    snprintf(finding.text, sizeof finding.text,
             "described as a pointer, it was %s in all of %zu place%s%s",
             empty[r->not_null ? 1 + r->has_rule : 0], r->looked_at, r->looked_at == 1 ? "" : "s",
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
    for (; s.entry < a->walk.entries.count && status == HAUL_OK; s.entry++)
        status = search_entry(&s, &a->walk.entries.at[s.entry]);
    haul__tally_close(&s.tally);
    a->info.rows = s.rows.count;
    for (i = 0; i < s.rows.count && status == HAUL_OK; i++)
        if (!s.rows.at[i].leads)
            status = tell(a, &s.rows.at[i]);
    HAUL__LIST_RELEASE(a->allocator, &s.rows);
    return status;
}
