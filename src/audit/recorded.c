/* Answers about a recorded walk, and notes of the searches.
 */
#include "audit/recorded.h"
#include "map/forms.h"

#define KIND_BITS 3u

int haul__audit_leads_in(const haul__audit *a, uintptr_t value)
{
    return haul__is_described(&a->found.map, value) || haul__is_described(&a->found.map, value - 1);
}

int haul__audit_memory(const haul__audit *a, uintptr_t address, haul_memory *memory)
{
    const haul_audit_options *options = &a->options;
    const void *begin = NULL;
    const int is_there = a->snapshot && a->process.find(a->snapshot, address, memory);
    size_t bytes = 0;
    if (a->snapshot && !is_there)
        return 0;
    if (options->block)
        bytes = options->block(options->block_user, (const void *)address, &begin);
    if (bytes == 0)
        return is_there;
    memset(memory, 0, sizeof *memory);
    memory->kind = HAUL_MEMORY_BLOCK;
    memory->is_told = 1;
    memory->begin = (uintptr_t)begin;
    memory->bytes = bytes;
    memory->name = "";
    return 1;
}

size_t haul__audit_end(const haul__audit *a, const haul__entry *entry)
{
    if (entry->what != HAUL__OBJECTS || !haul__is_sized(a->walk.met_types[entry->met_type].walk))
        return SIZE_MAX;
    return entry->stride;
}

const void *haul__audit_field_of(const haul__audit *a, const haul__entry *entry)
{
    if (entry->slot && entry->slot->shape)
        return &entry->slot->shape[entry->level];
    return a->walk.met_types[entry->met_type].type;
}

haul__noted *haul__audit_note(haul__audit *a, haul_audit_kind kind, const void *place,
                              size_t offset)
{
    size_t *number =
        haul__tally_of(&a->tally, (uintptr_t)place, offset << KIND_BITS | (size_t)kind);
    haul__noted *added;
    if (!number)
        return NULL;
    if (*number && !(a->options.every_word && kind == HAUL_AUDIT_HIDDEN_POINTER))
        return &a->noted.at[*number - 1];
    added = HAUL__LIST_ADD(a->allocator, &a->noted);
    if (!added)
        return NULL;
    *number = a->noted.count;
    memset(added, 0, sizeof *added);
    added->kind = kind;
    added->is_finding = 1;
    return added;
}

haul_status haul__audit_note_word(haul__audit *a, haul_audit_kind kind, const haul__suspect *found)
{
    const haul__entry *entry = &a->walk.entries.at[found->number];
    const int is_hint = kind == HAUL_AUDIT_OUTSIDE_ADDRESS;
    size_t *count = is_hint ? &a->info.outside_addresses : &a->info.hidden_pointers;
    haul__byte byte;
    haul__noted *noted;
    if (++*count > a->options.findings && a->options.every_word)
        return HAUL_OK;
    memset(&byte, 0, sizeof byte);
    if (entry->what == HAUL__OBJECTS)
        byte = haul__byte_at(&a->walk, found->number, found->element, found->address);
    noted = haul__audit_note(
        a, kind, byte.type ? (const void *)byte.type : haul__audit_field_of(a, entry), byte.offset);
    if (!noted)
        return HAUL_ERROR_MEMORY;
    if (noted->times++ > 0)
        return HAUL_OK;
    noted->entry = found->number;
    noted->element = found->element;
    noted->address = found->address;
    noted->value = found->value;
    noted->bytes = HAUL__WORD;
    noted->type = byte.type;
    noted->offset = byte.offset;
    noted->memory = found->memory;
    noted->is_left_out = found->is_left_out;
    return HAUL_OK;
}
