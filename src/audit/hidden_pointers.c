/* The search for words that no field describes and that hold addresses.
 *
 * It goes through each entry in order of discovery, each element, each run of bytes that are sent,
 * and each word of the grid that lies wholly in the run and in no slot. A word that leads into the
 * graph is looked up in the map, any other word in the memory of the process. Only hits cost
 * memory. Ranges may overlap, so the search notes each word that it has reported. Hits at the same
 * place of a type are one finding, because a forgotten field shows in every object.
 */
#include "audit/hidden_pointers.h"
#include "map/exclusions.h"
#include "map/forms.h"
#include "walk/readable.h"

static haul_status suspicious(haul__audit *a, const haul__entry *entry, haul__suspect *found)
{
    size_t *seen = haul__tally_of(&a->seen, found->address, 0);
    int leads_to_block;
    if (!seen)
        return HAUL_ERROR_MEMORY;
    if ((*seen)++ > 0)
        return HAUL_OK; /* the word was seen in another range */
    if (entry->what != HAUL__OBJECTS)
        found->element = (size_t)(found->address - entry->address) / entry->stride;
    else if (haul__byte_at(&a->walk, found->number, found->element, found->address).has_field)
        return HAUL_OK; /* a field says that it is data */
    /* Words of 4 bytes look like addresses often enough. There, only the first byte of a block
     * counts. */
    leads_to_block = found->memory.kind == HAUL_MEMORY_BLOCK &&
                     (sizeof(uintptr_t) > 4 || found->value == found->memory.begin);
    return haul__audit_note_word(a,
                                 found->memory.kind && !leads_to_block ? HAUL_AUDIT_OUTSIDE_ADDRESS
                                                                       : HAUL_AUDIT_HIDDEN_POINTER,
                                 found);
}

/* Is it an address? */
static int leads_somewhere(const haul__audit *a, uintptr_t value, haul_memory *memory)
{
    memory->kind = 0;
    if (value - a->lowest <= a->highest - a->lowest && haul__audit_leads_in(a, value))
        return 1;
    return value && haul__audit_memory(a, value, memory);
}

/* Are all bytes of the word described and sent, and is it no pointer? Objects shorter than their
 * struct, unions and lists in a tail are known only by their marks, and only marked bytes may be
 * read. */
static int is_data(const haul__audit *a, uintptr_t at)
{
    const haul__block *block;
    if (haul__known_bytes(&a->walk, at, HAUL__WORD, HAUL__LIVE) < HAUL__WORD)
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
static haul_status search_run(haul__audit *a, size_t number, const haul__walk *walk, size_t element,
                              uintptr_t first, uintptr_t end, size_t *slot)
{
    const haul__entry *entry = &a->walk.entries.at[number];
    const uintptr_t base = entry->address + element * entry->stride;
    uintptr_t at = (first + HAUL__WORD - 1) & ~(uintptr_t)(HAUL__WORD - 1);
    haul_status status = HAUL_OK;
    haul__suspect found;
    memset(&found, 0, sizeof found);
    found.number = number;
    found.element = element;
    for (; status == HAUL_OK && at < end && end - at >= HAUL__WORD; at += HAUL__WORD) {
        while (walk && *slot < walk->slot_count &&
               base + walk->slots[*slot].offset + HAUL__WORD <= at)
            ++*slot;
        if (walk && *slot < walk->slot_count &&
            base + walk->slots[*slot].offset < at + HAUL__WORD &&
            !haul__is_lone_end(&walk->slots[*slot], haul__audit_end(a, entry)))
            continue;
        if (!is_data(a, at))
            continue;
        found.address = at;
        found.value = haul__load_word((const void *)at);
        a->info.words++;
        if (leads_somewhere(a, found.value, &found.memory))
            status = suspicious(a, entry, &found);
    }
    return status;
}

static haul_status search_objects(haul__audit *a, size_t number)
{
    const haul__entry *entry = &a->walk.entries.at[number];
    const haul__walk *walk = a->walk.met_types[entry->met_type].walk;
    haul_status status = HAUL_OK;
    size_t i, run, limit = haul__audit_end(a, entry);
    for (i = 0; i < entry->count && status == HAUL_OK; i++) {
        uintptr_t element = entry->address + i * entry->stride;
        size_t slot = 0;
        for (run = 0; run < walk->run_count && walk->runs[run].offset < limit && status == HAUL_OK;
             run++) {
            size_t first = walk->runs[run].offset, end = first + walk->runs[run].bytes;
            status = search_run(a, number, walk, i, element + first,
                                element + (end < limit ? end : limit), &slot);
        }
    }
    return status;
}

/* Searched as one run, or by the elements of a section. */
static haul_status search_plain(haul__audit *a, size_t number)
{
    const haul__entry *entry = &a->walk.entries.at[number];
    const size_t whole = haul__entry_bytes(&a->walk, entry),
                 bytes = entry->run ? entry->run : whole;
    haul_status status = HAUL_OK;
    size_t at, none = 0;
    for (at = 0; at < whole && status == HAUL_OK; at += entry->run ? entry->stride : whole)
        status =
            search_run(a, number, NULL, 0, entry->address + at, entry->address + at + bytes, &none);
    return status;
}

haul_status haul__audit_words(haul__audit *a)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < a->walk.entries.count && status == HAUL_OK; i++) {
        const haul__entry *entry = &a->walk.entries.at[i];
        if (entry->is_again)
            continue;
        a->info.objects++;
        if (entry->what == HAUL__OBJECTS)
            status = search_objects(a, i);
        else if (entry->what == HAUL__PLAIN)
            status = search_plain(a, i);
    }
    return status;
}
