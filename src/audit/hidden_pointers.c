/* The search for words that no row describes and that hold an address in the graph.
 *
 * It goes through each entry in order of discovery, each element, each run of bytes that are sent,
 * and each word of the grid that lies wholly in the run and in no slot. A value outside the span of
 * the graph's addresses is no pointer into it: that one comparison leaves out nearly all data. The
 * others are looked up in the map. Only hits cost memory. Ranges may overlap, so the search notes
 * each word that it has reported. Hits at the same place of a type are one finding, because a
 * forgotten row shows in every object.
 */
#include <stdio.h>

#include "audit/place.h"
#include "audit/report.h"
#include "audit/searches.h"
#include "audit/tally.h"
#include "map/exclusions.h"
#include "map/forms.h"
#include "walk/readable.h"

typedef struct suspect {
    size_t entry, element;
    uintptr_t address, value;
    const haul_type *type; /* type of the innermost struct; NULL: plain data */
    size_t offset;         /* of the word in that struct */
    size_t times;
} suspect;

typedef struct search {
    haul__audit *audit;
    haul__tally tally; /* (address, SEEN); (type or row, offset): 1 + number of the suspect */
    HAUL__LIST(suspect) suspects;
    size_t entry; /* the current one */
} search;

#define SEEN UINTPTR_MAX /* is no offset */

static haul_status suspicious(search *s, const haul__entry *entry, size_t element,
                              uintptr_t address, uintptr_t value)
{
    const void *owner =
        entry->slot && entry->slot->shape ? (const void *)&entry->slot->shape[entry->level] : NULL;
    size_t *number = haul__tally_of(&s->tally, address, SEEN);
    suspect found, *added;
    if (!number)
        return HAUL_ERROR_MEMORY;
    if (*number)
        return HAUL_OK;
    *number = 1;
    memset(&found, 0, sizeof found);
    if (entry->what == HAUL__OBJECTS) {
        haul__byte byte = haul__audit_byte(s->audit, s->entry, element, address);
        if (byte.has_row)
            return HAUL_OK; /* a row says that it is data */
        owner = found.type = byte.type;
        found.offset = byte.offset;
    } else {
        element = (size_t)(address - entry->address) / entry->stride;
    }
    s->audit->info.hidden_pointers++;
    found.entry = s->entry;
    found.element = element;
    found.address = address;
    found.value = value;
    found.times = 1;
    if (!s->audit->options.every_word) {
        number = haul__tally_of(&s->tally, (uintptr_t)owner, found.offset);
        if (!number)
            return HAUL_ERROR_MEMORY;
        if (*number) {
            s->suspects.at[*number - 1].times++;
            return HAUL_OK;
        }
    }
    added = HAUL__LIST_ADD(s->audit->allocator, &s->suspects);
    if (!added)
        return HAUL_ERROR_MEMORY;
    *added = found;
    *number = s->suspects.count;
    return HAUL_OK;
}

/* Are all bytes of the word described and sent, and is it no pointer? Objects shorter than their
 * struct, unions and lists in a tail are known only by their marks, and only marked bytes may be
 * read. */
static int is_data(const haul__audit *a, uintptr_t at)
{
    const haul__block *block;
    if (haul__known_bytes(&a->walk, at, HAUL__WORD, 1) < HAUL__WORD)
        return 0;
    block = haul__map_find(&a->found.map, at);
    if (haul__excluded_mask(block, haul__granule_in_block(at), HAUL__UNSENT) >>
            (at & (HAUL__GRANULE - 1)) &
        ((1u << HAUL__WORD) - 1u))
        return 0;
    return !(haul__placed_slots(&a->found.map, block, haul__cell_number(at)) >>
                 haul__word_in_cell(at) &
             1);
}

/* Searches [first, end), which lies in one element. Slots are sorted by offset and skipped, from
 * *slot on. */
static haul_status search_run(search *s, const haul__entry *entry, const haul__walk *walk,
                              size_t element, uintptr_t first, uintptr_t end, size_t *slot)
{
    const haul__audit *a = s->audit;
    const uintptr_t base = entry->address + element * entry->stride;
    uintptr_t at = (first + HAUL__WORD - 1) & ~(uintptr_t)(HAUL__WORD - 1);
    haul_status status = HAUL_OK;
    for (; status == HAUL_OK && at < end && end - at >= HAUL__WORD; at += HAUL__WORD) {
        uintptr_t value;
        while (walk && *slot < walk->slot_count &&
               base + walk->slots[*slot].offset + HAUL__WORD <= at)
            ++*slot;
        if (walk && *slot < walk->slot_count &&
            base + walk->slots[*slot].offset < at + HAUL__WORD &&
            !haul__is_lone_end(&walk->slots[*slot], haul__audit_end(a, entry)))
            continue;
        if (!is_data(a, at))
            continue;
        value = haul__load_word((const void *)at);
        s->audit->info.words++;
        if (value - a->lowest <= a->highest - a->lowest && haul__audit_leads_in(a, value))
            status = suspicious(s, entry, element, at, value);
    }
    return status;
}

static haul_status search_objects(search *s, const haul__entry *entry)
{
    const haul__walk *walk = s->audit->walk.met_types[entry->met_type].walk;
    haul_status status = HAUL_OK;
    size_t i, run, limit = haul__audit_end(s->audit, entry);
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        uintptr_t element = entry->address + i * entry->stride;
        size_t slot = 0;
        for (run = 0; run < walk->run_count && walk->runs[run].offset < limit && status == HAUL_OK;
             run++) {
            size_t first = walk->runs[run].offset, end = first + walk->runs[run].bytes;
            status = search_run(s, entry, walk, i, element + first,
                                element + (end < limit ? end : limit), &slot);
        }
    }
    return status;
}

/* Elements of plain data are searched as one run. */
static haul_status search_plain(search *s, const haul__entry *entry)
{
    size_t bytes = haul__entry_bytes(&s->audit->walk, entry), none = 0;
    return search_run(s, entry, NULL, 0, entry->address, entry->address + bytes, &none);
}

static haul_status search_entry(search *s, const haul__entry *entry)
{
    if (entry->is_again)
        return HAUL_OK;
    s->audit->info.objects++;
    if (entry->what == HAUL__OBJECTS)
        return search_objects(s, entry);
    return entry->what == HAUL__PLAIN ? search_plain(s, entry) : HAUL_OK;
}

static haul_status tell(haul__audit *a, const suspect *found)
{
    haul_audit_finding finding;
    haul_status status;
    memset(&finding, 0, sizeof finding);
    finding.kind = HAUL_AUDIT_HIDDEN_POINTER;
    finding.address = (const void *)found->address;
    finding.value = found->value;
    finding.bytes = sizeof found->value;
    finding.times = found->times;
    status = haul__audit_path(a, found->entry, found->element, found->address, finding.path);
    if (status == HAUL_OK)
        status = haul__audit_path_of(a, found->value, finding.other_path);
    if (status != HAUL_OK)
        return status;
    if (found->type)
        snprintf(finding.text, sizeof finding.text,
                 "the word at offset %zu of %s, which no row describes, holds "
                 "an address in the graph (%zu time%s)",
                 found->offset, haul_type_name(found->type), found->times,
                 found->times == 1 ? "" : "s");
    else
        snprintf(finding.text, sizeof finding.text,
                 "plain data that holds an address in the graph (%zu time%s)", found->times,
                 found->times == 1 ? "" : "s");
    haul__audit_tell(a, &finding);
    return HAUL_OK;
}

haul_status haul__audit_words(haul__audit *a)
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
    for (i = 0; i < s.suspects.count && haul__audit_is_wanted(a, i) && status == HAUL_OK; i++)
        status = tell(a, &s.suspects.at[i]);
    HAUL__LIST_RELEASE(a->allocator, &s.suspects);
    return status;
}
